// See poisson.hpp. Which value fills a column up is a matter of choice: this one gives the numbers that
// cuRAND gives.
#include "cuda/libraries/rand/poisson.hpp"

#include <cmath>

namespace lanescope::cuda::rand {

PoissonTable::PoissonTable(double mean) {
  const auto probability = [&](uint32_t value) {
    return std::exp(value * std::log(mean) - mean - std::lgamma(value + 1.0));
  };
  const auto mode = static_cast<uint32_t>(mean);
  first_ = mode;
  while (first_ > 0 && probability(first_ - 1) > 0) --first_;
  std::vector<double> left;  // of each value's probability, to be given to columns
  for (uint32_t value = first_; value <= mode || probability(value) > 0; ++value)
    left.push_back(probability(value));

  const size_t count = left.size();
  const double area = 1.0 / static_cast<double>(count);
  columns_.resize(count);
  std::vector<bool> is_full(count);
  std::vector<uint32_t> givers;
  for (uint32_t i = 0; i < count; ++i) {
    columns_[i].other = i;
    if (left[i] >= area) givers.push_back(i);
  }
  // Values that have too little for their column are filled up, round and round, by the last one that has too
  // much; by that it may become one of them.
  for (size_t i = 0, since = 0; !givers.empty() && since < count; i = (i + 1) % count, ++since) {
    if (is_full[i] || left[i] >= area) continue;
    const uint32_t giver = givers.back();
    columns_[i].other = giver;
    is_full[i] = true;
    left[giver] -= area - left[i];
    if (left[giver] < area) givers.pop_back();
    since = 0;
  }
  for (size_t i = 0; i < count; ++i) columns_[i].limit = static_cast<double>(i) * area + left[i];
}

}  // namespace lanescope::cuda::rand
