// The few functions of the CUDA driver API that running a kernel takes, found in the driver's library when
// the program starts: it builds without the toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "random/program.hpp"

namespace lanescope::random {

/// A GPU could not do what was asked; after most errors it does nothing more for this process.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Gpu {
 public:
  /// Opens the first GPU. Throws GpuError.
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// "NVIDIA H200, CUDA 13.0".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Seconds spent so far in the assembler, and in everything else of run().
  [[nodiscard]] double assembling() const { return assembling_; }
  [[nodiscard]] double running() const { return running_; }
  /// What the assembler does by itself: optimise as far as it can.
  static constexpr unsigned full_optimisation = 4;
  /// Assembles `text` (optimising to `level`: 0, not at all, to 4) and runs each program once. Gives the
  /// outputs, or what the assembler says in `refusal`. Throws GpuError when a kernel fails or takes longer
  /// than ten seconds.
  [[nodiscard]] std::vector<std::vector<uint8_t>> run(const std::string& text,
                                                      const std::vector<const Program*>& programs,
                                                      std::string& refusal, unsigned level);

 private:
  struct Driver;
  void must(int result, const char* what) const;
  uint64_t grown(uint64_t& address, size_t& size, size_t wanted) const;

  Driver* driver_;
  double assembling_ = 0, running_ = 0;
  std::string name_;
  uint64_t in_ = 0, out_ = 0;
  size_t in_size_ = 0, out_size_ = 0;
};

}  // namespace lanescope::random
