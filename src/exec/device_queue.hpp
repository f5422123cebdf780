// What running kernels ask of the device's runtime (dynamic parallelism): grids to be launched, copies and
// sets. One queue serves a launch from the host with all grids that come of it.
//
// CUDA lets such grids start at any time after their launch, those of the tail stream after the launching
// grid with all its other work. Here all of them wait until the grid that launched them has ended: one of the
// orders that CUDA allows, since a kernel cannot wait for what it launched. Events and streams then need no
// waiting either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

/// Errors that the device's runtime returns; the numbers are those of cudaError_t.
enum class DeviceStatus : uint32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  pending_exceeded = 69,
  invalid_device_function = 98
};
[[nodiscard]] const char* name_of(DeviceStatus status);
[[nodiscard]] const char* text_of(DeviceStatus status);

/// Most generations of grids below the one that the host launched: each waits for the next to end, and an
/// H100 has room for 2048 such launches (cudaLimitDevRuntimePendingLaunchCount; measured with CUDA 13.0,
/// whose 24 levels of older documentation are no limit any more). A grid in the tail stream takes the place
/// of the one that launched it and is of the same generation. Launches side by side are not limited here:
/// 10,000 of one thread were not on an H100 either.
inline constexpr uint32_t most_generations = 2048;

struct DeviceWork {
  enum class Kind : uint8_t { launch, copy, set };
  Kind kind{};
  bool tail = false;  ///< launched into the tail stream
  uint32_t generation = 1;
  const Kernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<std::byte> params;
  uint64_t target = 0, source = 0, bytes = 0;  ///< copy, set
  uint8_t value = 0;                           ///< set
};

class DeviceQueue {
 public:
  using Thread = std::pair<uint64_t, uint32_t>;  ///< block and thread: each has an error of its own
  /// The kernel at an address, nullptr if there is none; throws lanescope::Error if it cannot be launched so.
  using Find = std::function<const Kernel*(uint64_t function, const DeviceWork& shape)>;

  DeviceQueue(Memory& memory, Find find) : memory_(memory), find_(std::move(find)) {}
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Called by host threads that run a grid.
  /// Device memory for the parameters of a grid to be launched; 0, and the thread has an error, if it cannot
  /// be.
  uint64_t parameter_buffer(Thread thread, uint64_t function, Dim3 grid, Dim3 block, uint32_t dynamic_shared);
  DeviceStatus launch(Thread thread, uint64_t buffer, uint64_t stream);
  DeviceStatus copy(Thread thread, uint64_t target, uint64_t source, uint64_t bytes, uint64_t stream);
  DeviceStatus set(Thread thread, uint64_t target, uint8_t value, uint64_t bytes, uint64_t stream);
  /// A stream's or an event's handle.
  uint64_t handle();
  DeviceStatus last_error(Thread thread, bool forget);
  /// Device address of a text.
  uint64_t text(const char* text);

  // Called between grids.
  /// What the grid that has ended asked for, in the order of the calls.
  std::vector<DeviceWork> take();
  /// The grid that runs next is of this generation.
  void begin(uint32_t generation) { generation_ = generation; }

 private:
  Memory& memory_;
  Find find_;
  uint32_t generation_ = 0;
  std::mutex mutex_;                        ///< of what follows
  std::map<uint64_t, DeviceWork> buffers_;  ///< given, by address
  std::vector<uint64_t> spent_;             ///< buffers of grids already launched
  std::vector<DeviceWork> work_;
  std::map<Thread, DeviceStatus> errors_;
  std::map<const char*, uint64_t> texts_;
  uint64_t handles_ = 0;

  DeviceStatus failed(Thread thread, DeviceStatus status);
  DeviceStatus enqueue(DeviceWork work, uint64_t stream);
  [[nodiscard]] bool covers(uint64_t address, uint64_t bytes, bool writable) const;
};

/// A host thread's share of a launch, with what its builtins need.
struct LaunchWorker : WorkerState {
  DeviceQueue* device = nullptr;
};

}  // namespace lanescope::exec
