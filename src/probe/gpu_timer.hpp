// Latencies from the clock of a real GPU.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/driver.hpp"
#include "probe/measure.hpp"

namespace lanescope::probe {

class GpuTimer final : public Timer {
 public:
  explicit GpuTimer(gpu::Device& device);

  [[nodiscard]] int lanes() const override;
  /// Throws gpu::GpuError when the GPU fails.
  [[nodiscard]] std::vector<std::vector<double>> cycles(const Access& access,
                                                        std::span<const Offsets> patterns) override;

 private:
  struct Kernel {
    Access access;
    std::optional<gpu::Module> module;  ///< none: the assembler refuses it for this chip
  };
  const Kernel& kernel_of(const Access& access);

  gpu::Device& device_;
  gpu::Buffer memory_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace lanescope::probe
