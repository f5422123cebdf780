// Launches as CUDA had them before version 4, which PyCUDA still begins with: the block, the parameters and
// the dynamic shared memory are set for a function one by one, and a launch says the grid.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/driver/driver.hpp"

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuLaunchKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, Stream* stream, void** arguments,
                                         void** extra);

namespace {

struct Steps {
  unsigned block[3] = {};
  unsigned shared = 0;
  std::vector<std::byte> parameters;
};

std::mutex steps_mutex;
std::map<const void*, Steps>& all_steps() {
  static auto* all = new std::map<const void*, Steps>;
  return *all;
}

/// Runs a function about what is set for a kernel.
template <typename F>
Status about_steps(const void* function, F&& body) {
  return about_object(function, [&] {
    const std::lock_guard lock(steps_mutex);
    return body(all_steps()[function]);
  });
}

Status set_parameters(const void* function, int offset, const void* bytes, unsigned size) {
  return about_steps(function, [&](Steps& steps) {
    if (offset < 0 || bytes == nullptr) return Status::invalid_value;
    const auto end = static_cast<size_t>(offset) + size;
    if (steps.parameters.size() < end) steps.parameters.resize(end);
    std::memcpy(steps.parameters.data() + offset, bytes, size);
    return Status::success;
  });
}

}  // namespace

LANESCOPE_CUDA_API Status cuFuncSetBlockShape(const void* function, int x, int y, int z) {
  return about_steps(function, [&](Steps& steps) {
    if (x <= 0 || y <= 0 || z <= 0) return Status::invalid_value;
    steps.block[0] = static_cast<unsigned>(x);
    steps.block[1] = static_cast<unsigned>(y);
    steps.block[2] = static_cast<unsigned>(z);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuFuncSetSharedSize(const void* function, unsigned bytes) {
  return about_steps(function, [&](Steps& steps) {
    steps.shared = bytes;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuParamSetSize(const void* function, unsigned bytes) {
  return about_steps(function, [&](Steps& steps) {
    steps.parameters.resize(bytes);
    return Status::success;
  });
}
LANESCOPE_CUDA_API Status cuParamSeti(const void* function, int offset, unsigned value) {
  return set_parameters(function, offset, &value, sizeof value);
}
LANESCOPE_CUDA_API Status cuParamSetf(const void* function, int offset, float value) {
  return set_parameters(function, offset, &value, sizeof value);
}
LANESCOPE_CUDA_API Status cuParamSetv(const void* function, int offset, void* bytes, unsigned size) {
  return set_parameters(function, offset, bytes, size);
}

LANESCOPE_CUDA_API Status cuLaunchGridAsync(const void* function, int width, int height, Stream* stream) {
  Steps steps;
  const Status known = about_steps(function, [&](const Steps& set) {
    steps = set;
    return width > 0 && height > 0 && steps.block[0] != 0 ? Status::success : Status::invalid_value;
  });
  if (known != Status::success) return known;
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
  size_t size = steps.parameters.size();
  void* extra[] = {reinterpret_cast<void*>(1), steps.parameters.data(), reinterpret_cast<void*>(2), &size,
                   nullptr};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        steps.block[0], steps.block[1], steps.block[2], steps.shared, stream, nullptr, extra);
}
LANESCOPE_CUDA_API Status cuLaunchGrid(const void* function, int width, int height) {
  return cuLaunchGridAsync(function, width, height, nullptr);
}
LANESCOPE_CUDA_API Status cuLaunch(const void* function) { return cuLaunchGrid(function, 1, 1); }
