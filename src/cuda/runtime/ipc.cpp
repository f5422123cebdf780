// Memory and events for other processes (cudaIpc…). Memory that a process gives out lies from then on in a
// file without a name, which others find in /proc and map. What calls return was compared with an H200.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr uint64_t mark_of_memory = 0x6c616e6573636d31, mark_of_event = 0x6c616e6573636531;
constexpr uint64_t page = 4096;

/// What is mapped of another process.
struct Opened {
  IpcHandle handle{};
  uint64_t pages = 0, bytes = 0;  ///< where, and how much
  unsigned times = 0;
};

struct Shared {
  std::mutex mutex;
  std::map<uint64_t, Opened> opened;  ///< by where the memory begins here
  uint64_t serial = 0;

  /// Never destroyed: programs call CUDA in their last destructors.
  static Shared& get() {
    static auto* all = new Shared;
    return *all;
  }
};

bool is_own(const IpcHandle& handle) { return handle.process == static_cast<uint64_t>(getpid()); }

/// Which file that is, for handles of a process that is gone, and whose number another one has.
uint64_t token_of(int file) {
  struct stat of {};
  return fstat(file, &of) == 0 ? of.st_ino : 0;
}

/// The file of another process; -1 if it is gone.
int open_file(const IpcHandle& handle) {
  const int file =
      open(fmt::format("/proc/{}/fd/{}", handle.process, handle.file).c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0 && token_of(file) == handle.token) return file;
  if (file >= 0) close(file);
  return -1;
}

/// The file that stands for this process to those who are given an event: it has no content.
int file_of_process() {
  static const int file = memfd_create("lanescope", MFD_CLOEXEC);
  return file;
}

Status unmap(Runtime& runtime, std::map<uint64_t, Opened>::iterator of) {
  {
    const std::unique_lock lock(runtime.mutex);
    runtime.blocks.erase(of->first);
  }
  runtime.memory.detach(reinterpret_cast<void*>(of->first));
  const Opened opened = of->second;
  Shared::get().opened.erase(of);
  // Back to what the rest of the device's addresses are.
  if (mmap(reinterpret_cast<void*>(opened.pages), opened.bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return Status::memory_allocation;
  runtime.memory.give_back(opened.pages, opened.bytes);
  return Status::success;
}

}  // namespace

void Runtime::close_memory_of_processes() {
  Shared& shared = Shared::get();
  const std::lock_guard lock(shared.mutex);
  while (!shared.opened.empty()) (void)unmap(*this, shared.opened.begin());
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaIpcGetMemHandle(IpcHandle* out, void* pointer) {
  return call([&](Runtime& runtime) {
    Block block;
    if (out == nullptr || !runtime.find_block(reinterpret_cast<uint64_t>(pointer), block) ||
        block.type != MemoryType::device || block.pool != nullptr || block.mapped || block.of_process ||
        block.of_graph != Block::OfGraph::no)
      return Status::invalid_value;
    const std::lock_guard lock(Shared::get().mutex);
    if (!block.is_given) (void)runtime.wait_for_all();
    try {
      const auto [file, offset] = runtime.memory.share(block.base, block.size, !block.is_given);
      *out = {.mark = mark_of_memory,
              .process = static_cast<uint64_t>(getpid()),
              .file = static_cast<uint64_t>(file),
              .offset = offset,
              .size = block.size,
              .token = token_of(file)};
    } catch (const lanescope::Error&) {
      return Status::memory_allocation;
    }
    runtime.memory.wrote(block.base, block.size);  // by whom, nobody knows
    runtime.shares_memory = true;
    const std::unique_lock blocks_lock(runtime.mutex);
    runtime.blocks.at(block.base).is_given = true;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaIpcOpenMemHandle(void** out, IpcHandle handle, unsigned flags) {
  return call_at_once([&](Runtime& runtime) {
    constexpr unsigned lazy_peer_access = 1;
    if (out == nullptr || flags != lazy_peer_access || handle.mark != mark_of_memory)
      return Status::invalid_value;
    if (is_own(handle)) return Status::invalid_context;
    Shared& shared = Shared::get();
    const std::lock_guard lock(shared.mutex);
    for (auto& [base, opened] : shared.opened)
      if (std::memcmp(&opened.handle, &handle, sizeof handle) == 0) {
        ++opened.times;
        *out = reinterpret_cast<void*>(base);
        return Status::success;
      }
    const int file = open_file(handle);
    if (file < 0) return Status::invalid_value;
    const uint64_t first = handle.offset / page * page,
                   bytes = (handle.offset + handle.size + page - 1) / page * page - first;
    const uint64_t pages = runtime.memory.reserve(bytes, page);
    const bool is_mapped =
        pages != 0 && mmap(reinterpret_cast<void*>(pages), bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(first)) != MAP_FAILED;
    close(file);
    if (!is_mapped) {
      if (pages != 0) runtime.memory.give_back(pages, bytes);
      return Status::memory_allocation;
    }
    const uint64_t base = pages + (handle.offset - first);
    shared.opened[base] = {handle, pages, bytes, 1};
    runtime.memory.attach(reinterpret_cast<void*>(base), handle.size,
                          fmt::format("memory #{} of another process", ++shared.serial));
    Block block{base, handle.size};
    block.of_process = true;
    {
      const std::unique_lock blocks_lock(runtime.mutex);
      runtime.blocks[base] = block;
    }
    runtime.shares_memory = true;
    *out = reinterpret_cast<void*>(base);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaIpcCloseMemHandle(void* pointer) {
  return call_when_idle([&](Runtime& runtime) {
    Shared& shared = Shared::get();
    const std::lock_guard lock(shared.mutex);
    const auto found = shared.opened.find(reinterpret_cast<uint64_t>(pointer));
    if (found == shared.opened.end()) return Status::invalid_value;
    return --found->second.times == 0 ? unmap(runtime, found) : Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaIpcGetEventHandle(IpcHandle* out, Event* event) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || event == nullptr) return Status::invalid_value;
    if (!runtime.is_event(event) || (event->flags & Event::interprocess) == 0)
      return Status::invalid_resource_handle;
    const int file = file_of_process();
    if (file < 0) return Status::memory_allocation;
    event->of_processes = true;
    *out = {.mark = mark_of_event,
            .process = static_cast<uint64_t>(getpid()),
            .file = static_cast<uint64_t>(file),
            .offset = reinterpret_cast<uint64_t>(event),
            .token = token_of(file)};
    return Status::success;
  });
}

/// What a process has recorded is done, mostly, before it can tell another one; where it is not, that is said
/// when it is recorded. So what is opened is an event like any other.
LANESCOPE_CUDA_API Status cudaIpcOpenEventHandle(Event** out, IpcHandle handle) {
  return call([&](Runtime&) {
    if (out == nullptr || handle.mark != mark_of_event) return Status::invalid_value;
    if (is_own(handle)) return Status::invalid_context;
    const int file = open_file(handle);
    if (file < 0) return Status::map_failed;
    close(file);
    const Status status = cudaEventCreateWithFlags(out, Event::disable_timing);
    if (status == Status::success) (*out)->of_processes = true;
    return status;
  });
}
