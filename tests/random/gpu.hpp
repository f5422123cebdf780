// A GPU that random programs run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/driver.hpp"
#include "random/program.hpp"

namespace lanescope::random {

class Gpu {
 public:
  /// Opens the first GPU. Throws gpu::GpuError.
  Gpu();

  /// "NVIDIA H200, CUDA 13.0".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Seconds spent so far in the assembler, and in everything else of run().
  [[nodiscard]] double assembling() const { return assembling_; }
  [[nodiscard]] double running() const { return running_; }
  /// Assembles `text` (optimising to `level`: 0, not at all, to 4) and runs each program once. Gives the
  /// outputs, or what the assembler says in `refusal`. Throws gpu::GpuError when a kernel fails or takes
  /// longer than ten seconds.
  [[nodiscard]] std::vector<std::vector<uint8_t>> run(const std::string& text,
                                                      const std::vector<const Program*>& programs,
                                                      std::string& refusal, unsigned level);

 private:
  gpu::Device device_;
  gpu::Buffer in_, out_;
  std::string name_;
  double assembling_ = 0, running_ = 0;
};

}  // namespace lanescope::random
