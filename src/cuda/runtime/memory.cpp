// Memory: device, pinned, managed, pitched, pools. A device address is a host address (exec::Memory), so
// pinned and managed memory come from the same place as the device's and need no translation.
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>
#include <utility>

#include "base/words.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr size_t row_alignment = 512;  ///< of cudaMallocPitch, as an H200 has it

size_t pitch_of(size_t width) { return (width + row_alignment - 1) / row_alignment * row_alignment; }

const char* name_of(MemoryType type) {
  switch (type) {
    case MemoryType::device: return "device memory";
    case MemoryType::managed: return "managed memory";
    default: return "pinned host memory";
  }
}

/// Memory of this machine, or of the container. What is allocated beyond it could never be written: the
/// system would end the process.
uint64_t host_bytes() {
  static const uint64_t bytes = [] {
    uint64_t all =
        static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    uint64_t limit = 0;  // a file without one says "max"
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit != 0) all = std::min(all, limit);
    return all;
  }();
  return bytes;
}

/// Whether the call comes from PyTorch, whose allocators keep what they have until the program ends: by the
/// first function on the way here that is of no library with the runtime's name.
bool is_called_by_pytorch() {
  void* frames[32];
  const int count = backtrace(frames, static_cast<int>(std::size(frames)));
  for (int i = 0; i < count; ++i) {
    Dl_info of{};
    if (dladdr(frames[i], &of) == 0 || of.dli_fname == nullptr) return false;
    std::string_view file = of.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);
    if (!file.starts_with("libcudart.so")) return file.starts_with("libc10") || file.starts_with("libtorch");
  }
  return false;
}

/// A call that takes memory at once. Of no bytes it gives a null pointer, whatever else is asked for.
/// Who gets nothing gets a null pointer, whatever the reason: of all functions that allocate, as on an H200.
void begin_with_null(void** out) {
  if (out != nullptr) *out = nullptr;
}

Status allocate(void** out, size_t size, MemoryType type, unsigned flags, unsigned most_flags) {
  begin_with_null(out);
  if (size == 0 && out != nullptr)
    return call([&](Runtime& runtime) { return runtime.allocate(0, type, 0, nullptr, out); });
  return call_at_once([&](Runtime& runtime) {
    return flags > most_flags ? Status::invalid_value : runtime.allocate(size, type, flags, nullptr, out);
  });
}

}  // namespace

Status Runtime::allocate(size_t size, MemoryType type, unsigned flags, Pool* pool, void** out) {
  if (out == nullptr) return Status::invalid_value;
  if (size == 0) {
    *out = nullptr;
    return Status::success;
  }
  if (type == MemoryType::device && size > free_bytes()) {
    static std::atomic<bool> said{false};
    if (size <= device.global_bytes() && device_bytes_ + size <= device.global_bytes() &&
        !said.exchange(true))
      say("device memory of " + std::to_string(size) +
          " bytes is refused: the device would have it, but this machine has " +
          std::to_string(host_bytes()) + " bytes in all");
    return Status::memory_allocation;
  }
  if (size > host_bytes()) return Status::memory_allocation;
  uint64_t base = 0;
  try {
    static std::atomic<uint64_t> serial{0};
    base = memory.allocate(size, std::string(name_of(type)) + " #" + std::to_string(++serial), 512,
                           exec::Memory::Owner::program);
  } catch (const Error&) {
    return Status::memory_allocation;
  }
  if (type != MemoryType::device) memory.wrote(base, size);  // the host can write it, and is not followed
  const bool of_pytorch = options.checks.leak && is_called_by_pytorch();
  const std::unique_lock lock(mutex);
  blocks[base] = {
      .base = base, .size = size, .type = type, .flags = flags, .of_pytorch = of_pytorch, .pool = pool};
  advised.erase(advised.lower_bound(base), advised.lower_bound(base + size));  // of what was here before
  if (type == MemoryType::device) device_bytes_ += size;
  if (pool != nullptr) {
    pool->used += size;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  *out = reinterpret_cast<void*>(base);
  return Status::success;
}

uint64_t Runtime::free_bytes() const {
  const uint64_t all = std::min(device.global_bytes(), host_bytes()), used = device_bytes_;
  return all > used ? all - used : 0;
}

uint64_t Runtime::told_free_bytes() const {
  const uint64_t all = std::min(device.global_bytes(), host_bytes() / 2), used = device_bytes_;
  return all > used ? all - used : 0;
}

Status Runtime::refuse_to_free(uint64_t address) const {
  Block block;
  std::string why;
  if (find_block(address, block)) {
    const std::string name = memory.find(address).value_or(exec::Allocation{}).name;
    why = address == block.base ? fmt::format("it is {}, which this call does not free", name)
                                : fmt::format("it is {} bytes into {}, which is freed by where it begins",
                                              address - block.base, name);
  } else {
    why = memory.neighbourhood(address, 0);
  }
  say_once(fmt::format("memory is not freed: address {:#x}: {}", address, why));
  return Status::invalid_value;
}

Status Runtime::release(void* pointer, std::initializer_list<MemoryType> types) {
  if (pointer == nullptr) return Status::success;
  const auto base = reinterpret_cast<uint64_t>(pointer);
  std::unique_lock lock(mutex);
  const auto found = blocks.find(base);
  const auto is_allowed = [&](const Block& block) {
    return !block.registered && !block.mapped && !block.of_process &&
           block.of_graph != Block::OfGraph::freed &&
           std::find(types.begin(), types.end(), block.type) != types.end();
  };
  if (found == blocks.end() || !is_allowed(found->second)) {
    lock.unlock();
    return refuse_to_free(base);
  }
  Block& block = found->second;
  if (block.of_graph != Block::OfGraph::no)
    return std::exchange(block.of_graph, Block::OfGraph::freed) == Block::OfGraph::taken
               ? Status::success
               : Status::invalid_value;
  if (block.type == MemoryType::device) device_bytes_ -= block.size;
  if (block.pool != nullptr && pools.contains(block.pool)) block.pool->used -= block.size;
  blocks.erase(found);
  lock.unlock();
  if (options.checks.unused)
    if (const auto allocation = memory.find(base)) note_unused(*allocation);
  memory.release(base);
  return Status::success;
}

void Runtime::note_unused(const exec::Allocation& a) {
  if (!a.written) return;
  constexpr uint64_t piece = uint64_t{1} << 30;
  uint64_t missing = 0;
  for (uint64_t at = 0; at < a.size; at += piece)
    missing += a.written->missing(at, static_cast<uint32_t>(std::min(piece, a.size - at)));
  if (missing == 0) return;
  const std::unique_lock lock(mutex);
  unused_memory[{missing, a.size}].add(a.name);
}

void Runtime::Named::add(const std::string& name) {
  constexpr size_t most = 10;
  if (++count <= most)
    names += (count == 1 ? "" : ", ") + name;
  else if (count == most + 1)
    names += ", …";
}

void Runtime::tell_unused() {
  using Alike = std::pair<std::pair<uint64_t, uint64_t>, Named>;
  std::vector<Alike> all(unused_memory.begin(), unused_memory.end());
  unused_memory.clear();
  std::ranges::stable_sort(all, std::greater{},
                           [](const Alike& a) { return a.first.first * a.second.count; });
  for (const auto& [bytes, of] : all) {
    const bool is_whole = bytes.first == bytes.second;
    const std::string size = counted(bytes.second, "byte");
    const std::string part = is_whole ? "" : fmt::format("{} of the {} of ", grouped(bytes.first), size);
    if (of.count == 1)
      memory_notes.push_back(
          fmt::format("Never written: {}{}{}.", part, of.names, is_whole ? " (" + size + ")" : ""));
    else
      memory_notes.push_back(fmt::format("Never written: {}{}{}{}: {}{}", part, is_whole ? "" : "each of ",
                                         counted(of.count, "allocation"), is_whole ? " of " + size : "",
                                         of.names, of.end()));
  }
}

void Runtime::look_at_memory_left() {
  const std::vector<exec::Allocation> unfreed = memory.unfreed();
  if (options.checks.unused)
    for (const exec::Allocation& a : unfreed) note_unused(a);
  tell_unused();
  if (!options.checks.leak) return;
  struct Left : Named {
    uint64_t bytes = 0;
  } of_program, of_pytorch;
  for (const exec::Allocation& a : unfreed) {
    Block block;
    Left& left = find_block(a.base, block) && block.of_pytorch ? of_pytorch : of_program;
    left.bytes += a.size;
    left.add(fmt::format("{} ({})", a.name, counted(a.size, "byte")));
  }
  const auto sum = [](const Left& left) {
    return counted(left.count, "allocation") + ", " + counted(left.bytes, "byte");
  };
  if (of_program.count != 0)
    memory_notes.push_back(
        fmt::format("Never freed: {}: {}{}", sum(of_program), of_program.names, of_program.end()));
  if (of_pytorch.count != 0)
    memory_notes.push_back(
        fmt::format("PyTorch had {}, when the program ended: tensors that were left, and what it keeps for "
                    "the next ones.",
                    sum(of_pytorch)));
}

void Runtime::set_of_graph(void* pointer, Block::OfGraph state) {
  {
    const std::unique_lock lock(mutex);
    blocks.at(reinterpret_cast<uint64_t>(pointer)).of_graph = state;
  }
  for (uint64_t& high : graph_bytes_high) high = std::max(high, graph_bytes());
}

uint64_t Runtime::graph_bytes() const {
  constexpr uint64_t chunk = 32 << 20;  // on an H100 and an H200
  uint64_t bytes = 0;
  const std::shared_lock lock(mutex);
  for (const auto& [base, block] : blocks)
    if (block.of_graph == Block::OfGraph::taken || block.of_graph == Block::OfGraph::freed)
      bytes += block.size;
  return (bytes + chunk - 1) / chunk * chunk;
}

bool Runtime::find_block(uint64_t address, Block& block) const {
  const std::shared_lock lock(mutex);
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return false;
  const Block& before = std::prev(after)->second;
  if (address - before.base >= before.size) return false;
  block = before;
  return true;
}

std::optional<MemoryType> Runtime::type_at(uint64_t address) const {
  Block block;
  if (find_block(address, block)) return block.type;
  const auto variable = memory.find(address);
  if (!variable) return std::nullopt;
  const std::shared_lock lock(mutex);
  return managed_variables.contains(variable->base) ? MemoryType::managed : MemoryType::device;
}

bool Runtime::claim(size_t size) {
  if (size > free_bytes()) return false;
  device_bytes_ += size;
  return true;
}

bool Runtime::covers(uint64_t address, uint64_t size, bool to_write) const {
  Block block;
  while (find_block(address, block)) {
    if (to_write && block.read_only) return false;
    const uint64_t left = block.size - (address - block.base);
    if (size <= left) return true;
    if (!block.mapped) return false;
    address += left;
    size -= left;
  }
  if (block.mapped) return false;
  return memory.find(address, size).has_value();  // a variable or an array
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaMalloc(void** out, size_t size) {
  return allocate(out, size, MemoryType::device, 0, 0);
}

LANESCOPE_CUDA_API Status cudaFree(void* pointer) {
  return call_when_idle([&](Runtime& runtime) {
    return runtime.release(pointer, {MemoryType::device, MemoryType::managed});
  });
}

LANESCOPE_CUDA_API Status cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  begin_with_null(out);
  return call([&](Runtime& runtime) {
    if (pitch == nullptr) return Status::invalid_value;
    if (width == 0 || height == 0) {
      *pitch = 0;
      return runtime.allocate(0, MemoryType::device, 0, nullptr, out);
    }
    if (const Status refused = refuse_while_capturing(); refused != Status::success) return refused;
    size_t bytes = 0;
    *pitch = pitch_of(width);
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return Status::invalid_value;
    return runtime.allocate(bytes, MemoryType::device, 0, nullptr, out);
  });
}

LANESCOPE_CUDA_API Status cudaMalloc3D(PitchedPointer* out, Sizes extent) {
  return call_at_once([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    size_t bytes = 0;
    out->pointer = nullptr;
    out->pitch = pitch_of(extent.width);
    if (__builtin_mul_overflow(out->pitch, extent.height, &bytes) ||
        __builtin_mul_overflow(bytes, extent.depth, &bytes))
      return Status::memory_allocation;
    const Status status = runtime.allocate(bytes, MemoryType::device, 0, nullptr, &out->pointer);
    if (status == Status::success) *out = {out->pointer, out->pitch, extent.width, extent.height};
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaHostAlloc(void** out, size_t size, unsigned flags) {
  constexpr unsigned all_flags = 7;
  return allocate(out, size, MemoryType::host, flags, all_flags);
}

LANESCOPE_CUDA_API Status cudaMallocHost(void** out, size_t size) { return cudaHostAlloc(out, size, 0); }

LANESCOPE_CUDA_API Status cudaFreeHost(void* pointer) {
  return call_when_idle([&](Runtime& runtime) { return runtime.release(pointer, {MemoryType::host}); });
}

LANESCOPE_CUDA_API Status cudaMallocManaged(void** out, size_t size, unsigned flags) {
  constexpr unsigned global = 1, host = 2;
  begin_with_null(out);
  if (size != 0 && flags != global && flags != host) return remember(Status::invalid_value);
  return allocate(out, size, MemoryType::managed, flags, host);
}

LANESCOPE_CUDA_API Status cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return call_at_once([&](Runtime& runtime) {
    constexpr unsigned portable = 1, mapped = 2, read_only = 8;
    if (pointer == nullptr || size == 0 || (flags & ~(portable | mapped | read_only)) != 0)
      return Status::invalid_value;
    const auto base = reinterpret_cast<uint64_t>(pointer);
    const std::unique_lock lock(runtime.mutex);
    const auto after = runtime.blocks.lower_bound(base);
    const bool meets_next = after != runtime.blocks.end() && after->first - base < size;
    const bool meets_last = after != runtime.blocks.begin() && [&] {
      const Block& before = std::prev(after)->second;
      return base - before.base < before.size;
    }();
    if (meets_next || meets_last) {
      const Block& met = meets_last ? std::prev(after)->second : after->second;
      return met.registered ? Status::host_memory_already_registered : Status::invalid_value;
    }
    runtime.blocks[base] = {
        .base = base, .size = size, .type = MemoryType::host, .flags = flags, .registered = true};
    runtime.memory.attach(pointer, size, "registered host memory");
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaHostUnregister(void* pointer) {
  return call_when_idle([&](Runtime& runtime) {
    Block block;
    const bool is_known = runtime.find_block(reinterpret_cast<uint64_t>(pointer), block);
    if (pointer == nullptr || (is_known && !block.registered)) return Status::invalid_value;
    if (!is_known) return Status::host_memory_not_registered;
    const std::unique_lock lock(runtime.mutex);
    const auto found = runtime.blocks.find(reinterpret_cast<uint64_t>(pointer));
    if (found == runtime.blocks.end()) return Status::invalid_value;  // not where it begins
    runtime.memory.detach(pointer);
    runtime.blocks.erase(found);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return call([&](Runtime& runtime) {
    Block block;
    if (out == nullptr || flags != 0 || !runtime.find_block(reinterpret_cast<uint64_t>(host), block) ||
        block.type != MemoryType::host)
      return Status::invalid_value;
    *out = host;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Runtime& runtime) {
    Block block;
    if (flags == nullptr || !runtime.find_block(reinterpret_cast<uint64_t>(host), block) ||
        block.type == MemoryType::device)
      return Status::invalid_value;
    *flags = block.flags | 2;  // all pinned memory is mapped
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaPointerGetAttributes(PointerAttributes* out, const void* pointer) {
  return ask([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    *out = {};
    out->locality_domain = -1;
    auto* address = const_cast<void*>(pointer);
    if (const auto type = runtime.type_at(reinterpret_cast<uint64_t>(pointer))) {
      out->type = *type;
      out->device_pointer = address;
      out->host_pointer = *type == MemoryType::device ? nullptr : address;
    } else {
      out->device = -2;
      out->host_pointer = address;
    }
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Runtime& runtime) {
    if (total != nullptr) *total = runtime.device.global_bytes();
    if (free != nullptr) *free = runtime.told_free_bytes();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamAttachMemAsync(Stream* stream, void* pointer, size_t bytes,
                                                   unsigned flags) {
  return about_stream(stream, [&](Runtime& runtime, Stream&) {
    constexpr unsigned global = 1, host = 2, single = 4;
    if (flags != 0 && flags != global && flags != host && flags != single) return Status::invalid_value;
    const auto allocation = runtime.memory.find(reinterpret_cast<uint64_t>(pointer));
    const bool is_managed =
        allocation && runtime.type_at(reinterpret_cast<uint64_t>(pointer)) == MemoryType::managed;
    const bool is_whole = allocation && reinterpret_cast<uint64_t>(pointer) == allocation->base &&
                          (bytes == 0 || bytes == allocation->size);
    const bool is_possible = flags != single || stream != nullptr;
    return is_managed && is_whole && is_possible ? Status::success : Status::invalid_value;
  });
}

// Memory in stream order, and its pools.

namespace {
/// Graphs can take and free memory; else it is done at once.
Status find_stream_of_memory(Runtime& runtime, Stream* handle, Stream*& stream) {
  const Status found = find_stream(runtime, handle, OnCaptured::is_recorded, stream);
  return found == Status::success && stream->capture == nullptr ? refuse_while_capturing() : found;
}
}  // namespace

LANESCOPE_CUDA_API Status cudaMallocFromPoolAsync(void** out, size_t size, Pool* pool, Stream* handle) {
  begin_with_null(out);
  return call([&](Runtime& runtime) {
    Stream* stream = nullptr;
    const Status found = find_stream_of_memory(runtime, handle, stream);
    if (found != Status::success) return found;
    if (pool == nullptr || out == nullptr) return Status::invalid_value;
    if (pool->properties.max_size != 0 && pool->used + size > pool->properties.max_size)
      return Status::memory_allocation;
    const MemoryType type = pool->properties.location.type == 2 ? MemoryType::host : MemoryType::device;
    const Status status = runtime.allocate(size, type, 0, pool, out);
    if (status != Status::success || stream->capture == nullptr || *out == nullptr) return status;
    runtime.set_of_graph(*out, Block::OfGraph::not_run);
    return runtime.submit(handle, AllocationWork{pool->properties, *out, size});
  });
}

LANESCOPE_CUDA_API Status cudaMallocAsync(void** out, size_t size, Stream* stream) {
  return cudaMallocFromPoolAsync(out, size, Runtime::get().current_pool, stream);
}

LANESCOPE_CUDA_API Status cudaFreeAsync(void* pointer, Stream* stream) {
  return call([&](Runtime& runtime) -> Status {
    Block block;
    Stream* from = nullptr;
    const Status found = find_stream_of_memory(runtime, stream, from);
    if (found != Status::success || pointer == nullptr) return found;
    const auto base = reinterpret_cast<uint64_t>(pointer);
    if (!runtime.find_block(base, block) || block.base != base) return runtime.refuse_to_free(base);
    if (block.type == MemoryType::managed && block.pool == nullptr) return Status::not_supported;
    if (block.type == MemoryType::host && block.pool == nullptr) return Status::invalid_value;
    if (from->capture != nullptr && block.of_graph == Block::OfGraph::no)
      return Status::invalid_value;  // a graph frees what graphs have allocated
    return runtime.submit(stream, FreeWork{pointer});
  });
}

LANESCOPE_CUDA_API Status cudaMemPoolCreate(Pool** out, const PoolProperties* properties) {
  return call_at_once([&](Runtime& runtime) {
    constexpr int nowhere = 0, device = 1, all_handle_types = 0xf;
    const auto is_somewhere = [&] {
      const MemoryLocation& location = properties->location;
      return location.type != nowhere && (location.type != device || location.id == 0);
    };
    if (out == nullptr || properties == nullptr || properties->allocation_type == 0 ||
        (properties->handle_types & ~all_handle_types) != 0 || !is_somewhere())
      return Status::invalid_value;
    *out = new Pool;
    (*out)->properties = *properties;
    const std::unique_lock lock(runtime.mutex);
    runtime.pools.insert(*out);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMemPoolDestroy(Pool* pool) {
  return call_at_once([&](Runtime& runtime) {
    if (pool == nullptr || pool->is_default) return Status::invalid_value;
    const std::unique_lock lock(runtime.mutex);
    if (runtime.pools.erase(pool) == 0) return Status::invalid_value;
    if (runtime.current_pool == pool) runtime.current_pool = &runtime.default_pool;
    for (auto& [base, block] : runtime.blocks)
      if (block.pool == pool) block.pool = nullptr;
    delete pool;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetDefaultMemPool(Pool** out, int device) {
  return query([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *out = &runtime.default_pool;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetMemPool(Pool** out, int device) {
  return query([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    *out = runtime.current_pool;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceSetMemPool(int device, Pool* pool) {
  return query([&](Runtime& runtime) {
    if (pool == nullptr) return Status::invalid_value;
    if (device != 0) return Status::invalid_device;
    runtime.current_pool = pool;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMemPoolTrimTo(Pool* pool, size_t) {
  return call_at_once([&](Runtime&) { return pool == nullptr ? Status::invalid_value : Status::success; });
}

namespace {
constexpr int reads_and_writes = 3;  ///< cudaMemAccessFlagsProtReadWrite
}  // namespace

namespace lanescope::cuda {
/// cudaMemAccessDesc
struct PoolAccess {
  MemoryLocation location;
  int flags;
};
}  // namespace lanescope::cuda

/// The device's own pools are its own to read and write; there is no other device. What is refused is what an
/// H100 refuses.
LANESCOPE_CUDA_API Status cudaMemPoolSetAccess(Pool* pool, const PoolAccess* accesses, size_t count) {
  return call_at_once([&](Runtime&) {
    if (pool == nullptr || (accesses == nullptr && count != 0)) return Status::invalid_value;
    for (size_t i = 0; i < count; ++i) {
      const auto& [location, flags] = accesses[i];
      if (flags != 0 && flags != reads_and_writes) return Status::not_supported;
      const bool is_own = location.type == pool->properties.location.type && flags == 0;
      if (location.type == 1 && (location.id != 0 || is_own)) return Status::invalid_device;
    }
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMemPoolGetAccess(int* flags, Pool* pool, MemoryLocation* location) {
  return call_at_once([&](Runtime&) {
    if (flags == nullptr || pool == nullptr || location == nullptr ||
        (location->type == 1 && location->id != 0))
      return Status::invalid_value;
    *flags = reads_and_writes;
    return Status::success;
  });
}

namespace {
/// cudaMemPoolAttr: 1…3 reuse policies (int); 4 release threshold, 5…8 reserved and used bytes, now and at
/// most.
bool is_policy(int attribute) { return attribute >= 1 && attribute <= 3; }
}  // namespace

LANESCOPE_CUDA_API Status cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return call_at_once([&](Runtime&) {
    if (pool == nullptr || value == nullptr || attribute < 1 || attribute > 15) return Status::invalid_value;
    const auto put = [&](auto number) {
      std::memcpy(value, &number, sizeof number);
      return Status::success;
    };
    switch (attribute) {  // what it was made with
      case 9: return put(pool->properties.allocation_type);
      case 10: return put(pool->properties.handle_types);
      case 11: return put(pool->properties.location.id);
      case 12: return put(pool->properties.location.type);
      case 13: return put(uint64_t{pool->properties.max_size});
      case 14: return put(0);   // no hardware that decompresses
      case 15: return put(-1);  // of no part of the device
      default: break;
    }
    if (is_policy(attribute)) return put(pool->reuse[attribute - 1]);
    const uint64_t number = attribute == 4   ? pool->release_threshold
                            : attribute == 5 ? pool->used
                            : attribute == 6 ? pool->used_high
                            : attribute == 7 ? pool->used
                                             : pool->used_high;
    return put(number);
  });
}

LANESCOPE_CUDA_API Status cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return call_at_once([&](Runtime&) {
    if (pool == nullptr || value == nullptr) return Status::invalid_value;
    if (is_policy(attribute)) {
      std::memcpy(&pool->reuse[attribute - 1], value, sizeof(int));
      return Status::success;
    }
    if (attribute == 4) {
      std::memcpy(&pool->release_threshold, value, sizeof(uint64_t));
      return Status::success;
    }
    uint64_t number = 0;
    if (attribute == 6 || attribute == 8) std::memcpy(&number, value, sizeof number);
    if ((attribute != 6 && attribute != 8) || number != 0) return Status::invalid_value;
    pool->used_high = pool->used;  // begins again
    return Status::success;
  });
}
