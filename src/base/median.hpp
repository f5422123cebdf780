// The middle of repeated measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lanescope {

/// The mean of the two in the middle where there are as many above as below; 0 of nothing.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace lanescope
