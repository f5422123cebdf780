// Poisson's distribution as a square histogram (Marsaglia, Tsang, Wang): as many columns of the same area as
// there are values, each with at most two of them, so that one uniform number decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lanescope::cuda::rand {

class PoissonTable {
 public:
  /// From this mean on cuRAND has another method, which is not known.
  static constexpr double too_large = 2000;

  /// For a mean above 0 and below too_large.
  explicit PoissonTable(double mean);

  [[nodiscard]] uint32_t operator()(uint32_t bits) const {
    constexpr double step = 1.0 / 4294967296;
    const double u = bits * step + step;
    const auto count = static_cast<double>(columns_.size());
    // u may be 1
    const size_t i = std::min(static_cast<size_t>(count * u), columns_.size() - 1);
    return first_ + (u < columns_[i].limit ? static_cast<uint32_t>(i) : columns_[i].other);
  }

 private:
  struct Column {
    double limit;    ///< below it the column's own value
    uint32_t other;  ///< and above it this one; both counted from the first
  };
  uint32_t first_ = 0;  ///< the smallest value whose probability is not 0 in double precision
  std::vector<Column> columns_;
};

}  // namespace lanescope::cuda::rand
