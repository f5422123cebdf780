// See gpu_timer.hpp.
#include "probe/gpu_timer.hpp"

#include <array>
#include <utility>

namespace lanescope::probe {
namespace {

constexpr uint32_t rounds = 9;

/// Global memory that the kernels read: a step more than they take, for the second load behind the last step.
constexpr uint64_t memory_bytes = uint64_t{global_steps + 1} * global_stride;

}  // namespace

GpuTimer::GpuTimer(gpu::Device& device) : device_(device), memory_(device.allocate(memory_bytes)) {
  device_.fill(memory_.address(), 0, memory_bytes);
}

int GpuTimer::lanes() const {
  constexpr int warp_size = 10;  // CU_DEVICE_ATTRIBUTE_WARP_SIZE
  return device_.attribute(warp_size);
}

const GpuTimer::Kernel& GpuTimer::kernel_of(const Access& access) {
  for (const auto& kernel : kernels_)
    if (kernel->access == access) return *kernel;
  auto kernel = std::make_unique<Kernel>(Kernel{access, std::nullopt});
  try {
    kernel->module = device_.load(ptx_of(access));
  } catch (const gpu::RefusedPtx&) {  // an instruction that this chip has not
    using model::Op;
    if (access.op == Op::load || access.op == Op::store || access.op == Op::atomic) throw;  // all have these
  }
  kernels_.push_back(std::move(kernel));
  return *kernels_.back();
}

std::vector<std::vector<double>> GpuTimer::cycles(const Access& access, std::span<const Offsets> patterns) {
  const Kernel& kernel = kernel_of(access);
  if (!kernel.module) return {};
  std::vector<uint32_t> rows;
  for (const Offsets& offsets : patterns) rows.insert(rows.end(), offsets.begin(), offsets.end());
  std::vector<uint64_t> results(patterns.size() * rounds);
  const uint64_t result_bytes = results.size() * sizeof(uint64_t);
  const gpu::Buffer table = device_.allocate(rows.size() * sizeof(uint32_t));
  const gpu::Buffer result = device_.allocate(result_bytes);
  device_.write(table.address(), rows.data(), rows.size() * sizeof(uint32_t));
  device_.fill(result.address(), 0, result_bytes);

  const uint64_t table_address = table.address(), result_address = result.address(),
                 memory_address = memory_.address();
  const auto count = static_cast<uint32_t>(patterns.size());
  const std::array<const void*, 5> parameters{&table_address, &result_address, &count, &rounds,
                                              &memory_address};
  gpu::Launch launch;
  launch.block = {32, 1, 1};
  device_.launch(kernel.module->function(kernel_name), launch, parameters);
  device_.wait();
  device_.read(results.data(), result.address(), result_bytes);

  std::vector<std::vector<double>> cycles(patterns.size());
  for (size_t round = 0; round < rounds; ++round)
    for (size_t i = 0; i < patterns.size(); ++i)
      cycles[i].push_back(static_cast<double>(results[round * patterns.size() + i]) / repeats_of(access));
  return cycles;
}

}  // namespace lanescope::probe
