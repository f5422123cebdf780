// The state behind the CUDA runtime's functions: one object for a process. Functions are in the files of
// their areas (registration, memory, copies, streams, launches, …); each goes through call() or query()
// below, which keep CUDA's error state.
//
// Work is done when it is submitted: a stream's operations run on the calling thread, in the order of the
// calls. That is one of the orders which CUDA allows, so streams and events need no waiting; but for kernels
// that wait for the host (backlog.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "cuda/runtime/api.hpp"
#include "cuda/runtime/context.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/message.hpp"
#include "cuda/runtime/options.hpp"
#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "ptx/assembler.hpp"

namespace lanescope::cuda {

class Backlogs;
class LibraryCall;
class Recorder;
struct Ticket;
struct Binary;
struct Graph;
struct Capture;
struct Node;

/// A kernel of a program: what `cudaKernel_t` and `cudaFunction_t` point to.
struct Function {
  Binary* binary = nullptr;
  std::string name;                              ///< in the PTX
  const void* stub = nullptr;                    ///< the host function that stands for it
  std::atomic<const exec::Kernel*> kernel{};     ///< once decoded
  std::optional<uint32_t> dynamic_shared_limit;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize
  exec::Dim3 cluster{0, 0, 0};                   ///< cudaFuncAttributeRequiredClusterWidth, …; 0: not set
  int carveout = -1;                             ///< percent; -1: none set
  int cache_config = 0;                          ///< cudaFuncCache
  int cluster_scheduling = 0;
  int shared_memory_mode = LaunchAttribute::shared_by_function;
  bool non_portable_cluster = false;
  bool counted = true;  ///< its name passes --kernel
  /// It is empty in PTX that stands in for machine code where it is not: what is compiled for some chips
  /// alone, by __CUDA_ARCH__, has nothing but its end for others.
  bool is_left_out = false;
};

struct Variable {
  Binary* binary = nullptr;
  std::string name;
};

/// What a kernel is looked for. That one cannot be run here is told in both cases; where a program only asks,
/// nothing of it was left undone.
enum class For { run, question };

/// One registered fat binary: a translation unit, or with -rdc a whole program.
struct Binary {
  std::string name;  ///< for messages and where the PTX has no source lines
  const void* wrapper = nullptr;
  std::vector<std::span<const std::byte>> containers;
  std::vector<std::byte> owned;    ///< bytes of containers that a program loaded itself
  std::vector<std::string> texts;  ///< the PTX of its units, where a program gave that itself
  std::vector<std::unique_ptr<Function>> functions;
  struct Managed {
    void** host_pointer;
    std::string name;
  };
  std::vector<Managed> managed;
  bool registered = true;
  bool is_module = false;      ///< of the driver API: cuModuleLoad…, not cuLibraryLoad…
  unsigned max_registers = 0;  ///< of a thread, for kernels that say nothing of it themselves; 0: no limit

  std::mutex mutex;  ///< of what follows
  bool loaded = false;
  Status status = Status::success;  ///< of loading
  std::string defect;               ///< why it could not be loaded
  std::string stand_in;             ///< what is to be told if its PTX is another chip's; mostly ""
  std::shared_ptr<const ptx::Module> module;
  std::unique_ptr<exec::Image> image;
  std::optional<ptx::Assembly> assembly;  ///< once asked for
  /// The same of the machine code for this device that the program brings.
  std::optional<std::map<std::string, ptx::MachineNeeds>> machine_code;
};

/// Memory a program asked for, by its base address.
struct Block {
  uint64_t base = 0, size = 0;
  MemoryType type = MemoryType::device;
  unsigned flags = 0;
  bool registered = false;  ///< the program's own memory (cudaHostRegister)
  bool mapped = false;      ///< by cuMemMap; the next such block may begin where it ends
  bool read_only = false;   ///< mapped, and the device may not write
  bool is_given = false;    ///< to other processes, by cudaIpcGetMemHandle
  bool of_process = false;  ///< another one's, by cudaIpcOpenMemHandle
  bool of_pytorch = false;  ///< asked for by its allocators; known if leaks are looked for
  /// Of what a graph's node allocates, at the same address each time: whether the graph has run, and whether
  /// it has been freed since.
  enum class OfGraph : uint8_t { no, not_run, taken, freed } of_graph = OfGraph::no;
  struct Pool* pool = nullptr;
};

/// What a program has said of pages of managed memory. It changes nothing here, and is told when asked for.
struct Advised {
  bool read_mostly = false;
  bool accessed_by_device = false, accessed_by_host = false;
  MemoryLocation preferred{}, prefetched{};
};

/// Flags of cudaMalloc3DArray.
constexpr unsigned array_layered = 1, array_cubemap = 4, array_gather = 8;

struct Array {
  uint64_t base = 0;
  ChannelFormat format{};
  size_t width = 0, height = 0, depth = 0;  ///< in elements; 0: the dimension does not exist
  unsigned flags = 0;
  bool is_level = false;  ///< of a mipmapped array, to which it belongs
  [[nodiscard]] size_t pitch() const { return width * format.bytes(); }
  [[nodiscard]] size_t slice() const { return pitch() * (height == 0 ? 1 : height); }
  [[nodiscard]] size_t bytes() const { return slice() * (depth == 0 ? 1 : depth); }
};

/// An array and its reductions, each half as large as the one before.
struct MipmappedArray {
  std::vector<std::unique_ptr<Array>> levels;
};

struct Pool {
  PoolProperties properties{};
  uint64_t release_threshold = 0;
  uint64_t used = 0, used_high = 0;
  int reuse[3] = {1, 1, 1};
  bool is_default = false;
};

constexpr unsigned stream_non_blocking = 1;  ///< cudaStreamNonBlocking

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  Context* context = nullptr;                        ///< in which it was made; of a default stream none
  std::map<int, LaunchAttribute::Value> attributes;  ///< what was set: hints, which change nothing here
  std::shared_ptr<Capture> capture;                  ///< while work is recorded instead of done
  std::vector<Node*> capture_tail;                   ///< what the next node depends on
};

struct Event {
  static constexpr unsigned disable_timing = 2, interprocess = 4;  // flags: cudaEventDisableTiming …
  unsigned flags = 0;
  bool of_processes = false;  ///< of several: by cudaIpcGetEventHandle or cudaIpcOpenEventHandle
  std::shared_ptr<std::atomic<int64_t>> recorded_ns = std::make_shared<std::atomic<int64_t>>(-1);
  std::shared_ptr<const Ticket> ticket;  ///< of the last recording, where that was deferred
  std::shared_ptr<Capture> capture;      ///< recorded while capturing
  std::vector<Node*> capture_tail;
};

/// One rectangle of bytes to be moved; of memory whose rows and slices are apart.
struct CopyWork {
  uint64_t target = 0, source = 0;
  size_t width = 0, height = 1, depth = 1;  ///< bytes, rows, slices
  size_t target_pitch = 0, source_pitch = 0, target_slice = 0, source_slice = 0;
  CopyKind kind = CopyKind::automatic;
};
struct SetWork {
  uint64_t target = 0;
  uint32_t value = 0, element_bytes = 1;
  size_t width = 0, height = 1, depth = 1;  ///< elements, rows, slices
  size_t pitch = 0, slice = 0;
};
struct KernelWork {
  Function* function = nullptr;
  exec::Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<std::byte> params;
  bool cooperative = false;
  exec::Dim3 cluster{0, 0, 0};  ///< 0: none is asked for
  int cluster_mode = LaunchAttribute::cluster_by_function;
  int shared_memory_mode = LaunchAttribute::shared_by_function;
};
struct HostWork {
  HostFunction function = nullptr;
  StreamCallback callback = nullptr;  ///< cudaStreamAddCallback: this instead
  Stream* stream = nullptr;
  void* data = nullptr;
};
struct RecordWork {
  Event* event = nullptr;
};
struct WaitWork {
  Event* event = nullptr;
};
/// A word in memory that is written, or waited for until it has a value (cuStreamWriteValue32,
/// cuStreamWaitValue32 and their like).
struct Word {
  uint64_t address = 0, value = 0;
  uint32_t bytes = 4;  ///< or 8
};
struct WriteWordWork {
  Word word;
};
struct WaitWordWork {
  enum class Until : unsigned { at_least, equal, any_of, none_of };  ///< CUstreamWaitValue_flags
  Word word;
  Until until{};
};
struct FreeWork {
  void* pointer = nullptr;
};
struct AllocationWork {
  PoolProperties pool;
  void* pointer = nullptr;
  size_t bytes = 0;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
/// A graph's node that runs one of other graphs, or one as long as a condition holds.
struct ConditionWork {
  enum class Type : int { if_not_zero = 0, while_not_zero = 1, by_number = 2 };
  uint64_t handle = 0;  ///< address of the condition's word, which kernels set
  Type type{};
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<Graph*>> given;  ///< the array that cudaGraphAddNode gave
};
struct LibraryWork {
  std::shared_ptr<const LibraryCall> call;
};
/// What can be put into a stream or a graph.
using Work =
    std::variant<std::monostate, KernelWork, CopyWork, SetWork, HostWork, RecordWork, WaitWork, FreeWork,
                 AllocationWork, ChildWork, WriteWordWork, WaitWordWork, ConditionWork, LibraryWork>;

class Runtime {
 public:
  /// Made on first use, never destroyed: programs call CUDA in their last destructors.
  static Runtime& get();

  const Options options;
  const Device device;
  exec::Memory memory;
  std::unique_ptr<Recorder> recorder;
  Backlogs* backlogs;  ///< as the rest of this object, never destroyed: threads may be in it

  // registration.cpp
  Binary* register_binary(const void* wrapper);
  void unregister_binary(Binary* binary);

  // library.cpp
  /// A library: a binary that the program loads itself. `code` is a fat binary, the wrapper of one, or the
  /// PTX of units that join_units() put together. `why`: gets what is wrong with it.
  Status load_library(Binary** out, const void* code, size_t size, const std::string& name,
                      std::string* why = nullptr, unsigned max_registers = 0);
  Status load_library_file(Binary** out, const char* path, std::string* why = nullptr,
                           unsigned max_registers = 0);

  // registration.cpp
  void register_function(Binary* binary, const void* stub, const char* name);
  void register_variable(Binary* binary, const void* host, const char* name);
  /// By host stub or handle; nullptr if there is none.
  [[nodiscard]] Function* function(const void* stub_or_handle) const;
  /// Parses and places the binary's PTX when it is first needed; messages go to stderr.
  Status load(Binary& binary, For purpose = For::run);
  Status prepare(Function& function, For purpose = For::run);
  /// Registers that a thread of the kernel needs, as the assembler says; 0 where that is not known (`unknown`
  /// gets the reason).
  int registers(const Function& function, std::string* unknown = nullptr);
  /// All that the assembler says of the kernel; null where that is not known.
  const ptx::MachineNeeds* needs(const Function& function, std::string* unknown = nullptr);
  /// Asks the assembler, if it has not been asked; under the binary's lock.
  void assemble(Binary& binary) const;
  /// What the machine code says that the program brings for this very device; null if it brings none.
  const ptx::MachineNeeds* needs_in_machine_code(const Function& function) const;
  /// Whether the machine code for this device does something in this kernel.
  [[nodiscard]] bool does_work_in_machine_code(const Function& function) const;
  /// The PTX of all its translation units. `why`: gets what keeps one from having any; `instead`: what is to
  /// be told if it is another chip's.
  [[nodiscard]] std::vector<std::string> texts(const Binary& binary, std::string* why = nullptr,
                                               std::string* instead = nullptr) const;
  /// What stands for a kernel of the binary, also if the program has registered nothing for it.
  Function& function_of(Binary& binary, const exec::Kernel& kernel);
  Status variable(const void* host, uint64_t& address, size_t& size);
  void load_managed(Binary& binary);
  /// The PTX for this device in a fat binary, a text for each translation unit; none if none fits (`why`). It
  /// may be that of another chip, in place of machine code, if `instead` is given, which gets what is to be
  /// told.
  [[nodiscard]] std::vector<std::string> ptx_in(std::span<const std::byte> container, const std::string& name,
                                                std::string& why, std::string* instead) const;
  /// The PTX in machine code (a cubin), likewise.
  [[nodiscard]] static std::vector<std::string> ptx_in_cubin(std::span<const std::byte> cubin,
                                                             const std::string& name, std::string& why);

  // memory.cpp
  Status allocate(size_t size, MemoryType type, unsigned flags, Pool* pool, void** out);
  /// Says of what allocate() gave that it is a graph's, or what has become of it.
  void set_of_graph(void* pointer, Block::OfGraph state);
  /// Bytes that graphs have had since they were last trimmed, of which the driver takes 32 MiB at a time.
  [[nodiscard]] uint64_t graph_bytes() const;
  std::array<uint64_t, 2> graph_bytes_high{};  ///< the most, used and reserved
  /// Frees what allocate() gave; `types`: which are allowed.
  Status release(void* pointer, std::initializer_list<MemoryType> types);
  /// What the program has opened of other processes' memory is gone then (ipc.cpp).
  void close_memory_of_processes();
  /// Whether some of its memory is another process's as well, which may do what a kernel waits for.
  std::atomic<bool> shares_memory{false};
  /// Says why nothing is freed there.
  Status refuse_to_free(uint64_t address) const;
  /// Notes what the program has not freed, and never written of that, if it is asked for: before a reset of
  /// the device and at the end.
  void look_at_memory_left();
  /// Notes what has never been written of memory that is about to go, for tell_unused().
  void note_unused(const exec::Allocation& allocation);
  /// Makes a note of each kind of what has never been written, the most bytes first.
  void tell_unused();
  std::vector<std::string> memory_notes;
  /// How many allocations, and the first names among them.
  struct Named {
    size_t count = 0;
    std::string names;
    void add(const std::string& name);
    [[nodiscard]] const char* end() const { return names.ends_with("…") ? "" : "."; }
  };
  std::map<std::pair<uint64_t, uint64_t>, Named> unused_memory;  ///< by bytes never written, and in all
  /// Counts bytes of the device that allocate() does not give; false: there are not as many.
  bool claim(size_t size);
  void unclaim(size_t size) { device_bytes_ -= size; }
  /// The program's block that holds `address`.
  [[nodiscard]] bool find_block(uint64_t address, Block& block) const;
  /// What memory `address` is of; nothing of memory that the device does not know.
  [[nodiscard]] std::optional<MemoryType> type_at(uint64_t address) const;
  /// Whether the device knows all these bytes: allocations, registered memory and variables. `to_write`: and
  /// may write them.
  [[nodiscard]] bool covers(uint64_t address, uint64_t size, bool to_write = false) const;
  /// What can be allocated yet: of the device's memory, as far as this machine has it.
  [[nodiscard]] uint64_t free_bytes() const;
  /// What programs are told of that: no more than half of this machine's memory, for some take and write all
  /// that there is, keep as much beside it, and were ended by the system.
  [[nodiscard]] uint64_t told_free_bytes() const;

  // work.cpp
  Status submit(Stream* stream, Work work);
  /// Does it now; a kernel that waits for the host is left behind, in that stream.
  Status execute(const Work& work, const Stream& stream);
  /// Waits until all that was submitted is done; the error of what went wrong.
  Status wait_for_all();
  Status wait_for(const Stream& stream);
  Status wait_for(const Event& event);
  /// Whether what was submitted before is done.
  [[nodiscard]] bool is_done(const Stream& stream) const;
  [[nodiscard]] bool is_done(const Event& event) const;

  // copy.cpp, launch.cpp
  /// What does not make sense is said on stderr, once: CUDA keeps the cause to itself, and programs forget to
  /// look at errors.
  Status check(const CopyWork& work) const;
  Status check(const SetWork& work) const;
  /// Whether it makes sense but for where it goes; `bytes`: from its first to its last.
  static Status check_shape(const SetWork& work, uint64_t& bytes);
  /// Why the device cannot reach these bytes.
  [[nodiscard]] std::string obstacle(uint64_t address, uint64_t bytes) const;
  Status run(const CopyWork& work, const Stream& stream);
  Status run(const SetWork& work);
  Status run(const LibraryWork& work);
  Status run(const KernelWork& work, const Stream& stream);

  // stream.cpp
  /// nullptr for a handle that is none.
  [[nodiscard]] Stream* stream(Stream* handle);
  [[nodiscard]] bool is_event(const Event* event) const;

  mutable std::shared_mutex mutex;  ///< of the tables below
  std::vector<std::unique_ptr<Binary>> binaries;
  std::set<uint64_t> managed_variables;                  ///< their addresses
  std::unordered_map<const void*, Function*> functions;  ///< by stub and by handle
  std::unordered_map<const void*, Variable> variables;
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, Advised> advised;  ///< by where it begins, up to the next one or the allocation's end
  std::unordered_set<Array*> arrays;    ///< those of mipmapped arrays, too
  std::unordered_set<const MipmappedArray*> mipmapped_arrays;
  std::unordered_set<Stream*> streams;
  std::unordered_set<Event*> events;
  std::unordered_set<Pool*> pools;
  Pool default_pool, managed_pool, host_pool;
  Pool* current_pool = &default_pool;
  Stream legacy_stream;
  std::atomic<uint64_t> captures{0};  ///< going on

  /// Says that something of the program cannot be run here. The program may take no notice; the exit status
  /// of `lanescope run` says it all the same.
  void refuse(const std::string& why, For purpose = For::run);
  std::atomic<bool> has_refused{false};

  /// The error of a kernel: returned by every later call, as CUDA does, until the device is reset.
  std::atomic<Status> failure{Status::success};
  std::timed_mutex launches;    ///< kernels run one after the other
  uint64_t recorded_bytes = 0;  ///< by recordings of launches; of `launches`

 private:
  Runtime();
  Status defer(const Stream& stream, Work work);
  std::atomic<uint64_t> device_bytes_{0};
};

/// Of code in memory, which says itself where it ends.
inline constexpr size_t unknown_size = SIZE_MAX / 2;

/// PTX of translation units as one text, which load_library() links. The runtime has no form of its own for
/// what the driver's linker (cuLinkComplete) makes.
[[nodiscard]] std::string join_units(const std::vector<std::string>& units);

/// Message and result of a call that cannot be done here; said once for each `name`.
Status not_implemented(const char* name);
/// The same for the driver API, which knows no last error.
Status driver_not_implemented(const char* name);

/// Programs ask for it to know whether PTX of their toolkit can be loaded: that of every CUDA 13 can.
inline constexpr int driver_version = 13090;

/// Whether calls about the device can be answered: not before the driver is initialised, and not in a process
/// that has lost it, which is said once.
Status driver_status();

/// The calling thread's last error.
Status& last_error();

/// Whether the calling thread runs a host function of a stream, which may not call CUDA.
bool& in_host_function();

/// Calls of the runtime come by here, all but cudaRuntimeGetVersion, and those of the driver that it answers.
inline void begin_driver() {
  driver_is_up.store(true, std::memory_order_relaxed);
  if (!in_driver) runtime_is_up.store(true, std::memory_order_relaxed);
}

/// Result of a call: remembered if it is an error.
inline Status remember(Status status) {
  begin_driver();
  if (runtime_is_lost && !in_driver) status = driver_status();
  if (status != Status::success && status != Status::not_ready) last_error() = status;
  return status;
}

/// Runs a call that answers without the device: a kernel's failure does not matter to it.
template <typename F>
Status query(F&& body) {
  try {
    return remember(body(Runtime::get()));
  } catch (const std::bad_alloc&) {
    return remember(Status::memory_allocation);
  } catch (const Error& error) {
    Runtime::get().refuse(error.what());
    return remember(Status::unknown);
  }
}

/// Runs a call that asks of the device's memory, without a context.
template <typename F>
Status ask(F&& body) {
  return query([&](Runtime& runtime) -> Status {
    if (in_host_function()) return Status::not_permitted;
    if (driver_is_lost) return driver_status();
    const Status failed = runtime.failure;
    return failed != Status::success ? failed : body(runtime);
  });
}

/// Runs a call of the device.
template <typename F>
Status call(F&& body) {
  return ask([&](Runtime& runtime) -> Status {
    use_context();
    return body(runtime);
  });
}

/// What is known without the device, and yet takes its context.
inline Status in_context_of_device(Status status) {
  if (driver_is_lost) return remember(driver_status());
  use_context();
  return remember(status);
}

/// What is done at once and cannot become part of a graph, such as taking memory or asking whether an event
/// is done, may not be called while a stream is captured, unless cudaStreamBeginCapture or
/// cudaThreadExchangeStreamCaptureMode allowed it: it spoils the capture (capture.cpp).
[[nodiscard]] Status refuse_while_capturing();

/// Runs a call that does at once what no graph can hold.
template <typename F>
Status call_at_once(F&& body) {
  return call([&](Runtime& runtime) -> Status {
    const Status refused = refuse_while_capturing();
    return refused != Status::success ? refused : body(runtime);
  });
}

/// Runs a call that takes something away which unfinished work may use.
template <typename F>
Status call_when_idle(F&& body) {
  return call_at_once([&](Runtime& runtime) -> Status {
    const Status failed = runtime.wait_for_all();
    return failed != Status::success ? failed : body(runtime);
  });
}

/// Bytes of a thread's stack, as the program has set them (cudaLimitStackSize).
size_t stack_limit();
/// Bytes that malloc in kernels gives in all (cudaLimitMallocHeapSize).
size_t heap_limit();

/// Special stream handles.
inline Stream* legacy_handle() { return reinterpret_cast<Stream*>(1); }
inline Stream* per_thread_handle() { return reinterpret_cast<Stream*>(2); }

}  // namespace lanescope::cuda
