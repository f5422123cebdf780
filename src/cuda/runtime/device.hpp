// The device that programs see: limits and properties of the architecture asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/runtime/api.hpp"
#include "lanescope/model/limits.hpp"

namespace lanescope::cuda {

/// Numbers of attributes (cudaDeviceAttr) that this runtime uses itself.
enum Attribute : int {
  attribute_max_threads_per_block = 1,
  attribute_max_shared_per_block = 8,
  attribute_registers_per_block = 12,
  attribute_clock_khz = 13,
  attribute_multiprocessors = 16,
  attribute_pci_bus = 33,
  attribute_pci_device = 34,
  attribute_memory_clock_khz = 36,
  attribute_memory_bus_bits = 37,
  attribute_l2_bytes = 38,
  attribute_max_threads_per_multiprocessor = 39,
  attribute_major = 75,
  attribute_minor = 76,
  attribute_max_shared_per_multiprocessor = 81,
  attribute_registers_per_multiprocessor = 82,
  attribute_cooperative_launch = 95,
  attribute_max_shared_optin = 97,
  attribute_max_blocks_per_multiprocessor = 106,
  attribute_reserved_shared = 111,
  attribute_cluster_launch = 120,
  attribute_oversized_shared = 150,
  attribute_locality_domain_multiprocessors = 157,
};
inline constexpr int attribute_count = 162;

/// Percent of the shared memory that a kernel prefers which says nothing.
constexpr int whole_carveout = 100;

class Device {
 public:
  /// `arch`: a name of the model, "sm_90". Architectures that run no CUDA, and those given by numbers, are
  /// sm_90 to the program.
  explicit Device(std::string_view arch);

  [[nodiscard]] const std::string& target() const { return target_; }  ///< "sm_90": what PTX is chosen by
  [[nodiscard]] int attribute(int number) const { return attributes_[static_cast<size_t>(number)]; }
  [[nodiscard]] bool has_attribute(int number) const { return number >= 1 && number < attribute_count; }
  [[nodiscard]] uint64_t global_bytes() const { return global_bytes_; }
  [[nodiscard]] DeviceProperties properties() const;

  [[nodiscard]] uint32_t shared_optin() const {
    return static_cast<uint32_t>(attribute(attribute_max_shared_optin));
  }
  /// Blocks of this shape that fit a multiprocessor. `registers` of a thread, 0: unknown, taken not to limit.
  [[nodiscard]] int resident_blocks(uint32_t threads, uint64_t shared_bytes, int registers,
                                    int carveout = whole_carveout) const;

 private:
  std::string target_;
  model::Limits limits_;
  uint64_t global_bytes_ = 0;
  std::array<int, attribute_count> attributes_{};
};

}  // namespace lanescope::cuda
