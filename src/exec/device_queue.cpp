// See device_queue.hpp.
#include "exec/device_queue.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace lanescope::exec {

namespace {

/// cudaStreamTailLaunch.
constexpr uint64_t tail_stream = 3;
/// Handles begin above the numbers that name special streams.
constexpr uint64_t first_handle = 0x1000;

}  // namespace

const char* name_of(DeviceStatus status) {
  switch (status) {
    case DeviceStatus::success: return "cudaSuccess";
    case DeviceStatus::invalid_value: return "cudaErrorInvalidValue";
    case DeviceStatus::out_of_memory: return "cudaErrorMemoryAllocation";
    case DeviceStatus::invalid_configuration: return "cudaErrorInvalidConfiguration";
    case DeviceStatus::pending_exceeded: return "cudaErrorLaunchPendingCountExceeded";
    case DeviceStatus::invalid_device_function: return "cudaErrorInvalidDeviceFunction";
  }
  return "unrecognized error code";
}

const char* text_of(DeviceStatus status) {
  switch (status) {
    case DeviceStatus::success: return "no error";
    case DeviceStatus::invalid_value: return "invalid argument";
    case DeviceStatus::out_of_memory: return "out of memory";
    case DeviceStatus::invalid_configuration: return "invalid configuration argument";
    case DeviceStatus::pending_exceeded:
      return "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount";
    case DeviceStatus::invalid_device_function: return "invalid device function";
  }
  return "unrecognized error code";
}

DeviceQueue::~DeviceQueue() {
  for (const auto& [address, work] : buffers_) memory_.release(address);
  for (const uint64_t address : spent_) memory_.release(address);
  for (const auto& [text, address] : texts_) memory_.release(address);
}

DeviceStatus DeviceQueue::failed(Thread thread, DeviceStatus status) {
  if (status != DeviceStatus::success) {
    const std::lock_guard lock(mutex_);
    errors_[thread] = status;
  }
  return status;
}

uint64_t DeviceQueue::parameter_buffer(Thread thread, uint64_t function, Dim3 grid, Dim3 block,
                                       uint32_t dynamic_shared) {
  DeviceWork work;
  work.grid = grid;
  work.block = block;
  work.dynamic_shared = dynamic_shared;
  try {
    work.kernel = find_(function, work);
    if (work.kernel == nullptr) {
      failed(thread, DeviceStatus::invalid_device_function);
      return 0;
    }
  } catch (const Error&) {
    failed(thread, DeviceStatus::invalid_configuration);
    return 0;
  }
  try {
    const uint64_t address = memory_.allocate(std::max(work.kernel->param_bytes, 16u),
                                              "parameters of " + work.kernel->display_name);
    const std::lock_guard lock(mutex_);
    buffers_.emplace(address, std::move(work));
    return address;
  } catch (const Error&) {
    failed(thread, DeviceStatus::out_of_memory);
    return 0;
  }
}

DeviceStatus DeviceQueue::launch(Thread thread, uint64_t buffer, uint64_t stream) {
  DeviceWork work;
  {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(buffer);
    if (found != buffers_.end()) {
      work = std::move(found->second);
      buffers_.erase(found);
      // Host threads remember the allocations that they met: it stays until the grid has ended.
      spent_.push_back(buffer);
    }
  }
  if (work.kernel == nullptr) return failed(thread, DeviceStatus::invalid_value);
  work.params.resize(work.kernel->param_bytes);
  std::memcpy(work.params.data(), reinterpret_cast<const void*>(buffer), work.params.size());
  return failed(thread, enqueue(std::move(work), stream));
}

DeviceStatus DeviceQueue::enqueue(DeviceWork work, uint64_t stream) {
  work.tail = stream == tail_stream;
  work.generation = work.tail ? generation_ : generation_ + 1;
  if (work.kind == DeviceWork::Kind::launch && work.generation > most_generations)
    return DeviceStatus::pending_exceeded;
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  return DeviceStatus::success;
}

bool DeviceQueue::covers(uint64_t address, uint64_t bytes, bool writable) const {
  const auto found = memory_.find(address, bytes);
  return found && !(writable && found->read_only);
}

DeviceStatus DeviceQueue::copy(Thread thread, uint64_t target, uint64_t source, uint64_t bytes,
                               uint64_t stream) {
  if (bytes == 0) return DeviceStatus::success;
  if (!covers(target, bytes, true) || !covers(source, bytes, false))
    return failed(thread, DeviceStatus::invalid_value);
  DeviceWork work;
  work.kind = DeviceWork::Kind::copy;
  work.target = target;
  work.source = source;
  work.bytes = bytes;
  return failed(thread, enqueue(std::move(work), stream));
}

DeviceStatus DeviceQueue::set(Thread thread, uint64_t target, uint8_t value, uint64_t bytes,
                              uint64_t stream) {
  if (bytes == 0) return DeviceStatus::success;
  if (!covers(target, bytes, true)) return failed(thread, DeviceStatus::invalid_value);
  DeviceWork work;
  work.kind = DeviceWork::Kind::set;
  work.target = target;
  work.value = value;
  work.bytes = bytes;
  return failed(thread, enqueue(std::move(work), stream));
}

uint64_t DeviceQueue::handle() {
  const std::lock_guard lock(mutex_);
  return first_handle + 8 * handles_++;
}

DeviceStatus DeviceQueue::last_error(Thread thread, bool forget) {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return DeviceStatus::success;
  const DeviceStatus status = found->second;
  if (forget) errors_.erase(found);
  return status;
}

uint64_t DeviceQueue::text(const char* text) {
  const std::lock_guard lock(mutex_);
  uint64_t& address = texts_[text];
  if (address == 0) {
    address = memory_.allocate(std::strlen(text) + 1, "text of an error");
    std::memcpy(reinterpret_cast<void*>(address), text, std::strlen(text) + 1);
    memory_.set_read_only(address, true);
  }
  return address;
}

std::vector<DeviceWork> DeviceQueue::take() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, work] : buffers_) memory_.release(address);
  for (const uint64_t address : spent_) memory_.release(address);
  buffers_.clear();
  spent_.clear();
  errors_.clear();  // those of the threads of the grid that has ended
  return std::exchange(work_, {});
}

}  // namespace lanescope::exec
