// The table of the driver's functions.
#pragma once

#include <span>
#include <string_view>

namespace lanescope::cuda {

struct EntryPoint {
  std::string_view name;
  int since;  ///< the version of CUDA that brought it, 12030: 12.3
  void* function;
};

/// All that exports.def lists, in its order.
[[nodiscard]] std::span<const EntryPoint> entry_points();

}  // namespace lanescope::cuda
