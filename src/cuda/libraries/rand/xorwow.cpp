// See xorwow.hpp.
#include "cuda/libraries/rand/xorwow.hpp"

#include <memory>

namespace lanescope::cuda::rand {
namespace {

using State = std::array<uint32_t, 5>;
constexpr size_t bits = 160;

/// Its column i is what becomes of a state with bit i alone.
struct BitMatrix {
  std::array<State, bits> columns;

  State operator*(const State& state) const {
    State sum{};
    for (size_t i = 0; i < bits; ++i) {
      const uint32_t mask = -(state[i / 32] >> i % 32 & 1);
      for (size_t word = 0; word < 5; ++word) sum[word] ^= columns[i][word] & mask;
    }
    return sum;
  }
  [[nodiscard]] BitMatrix squared() const {
    BitMatrix square;
    for (size_t i = 0; i < bits; ++i) square.columns[i] = *this * columns[i];
    return square;
  }
};

/// 2^i steps, for i up to 67; made when they are needed first, within milliseconds.
const BitMatrix& xorwow_steps(size_t exponent) {
  static const auto* powers = [] {
    auto* all = new std::array<BitMatrix, 68>;
    for (size_t i = 0; i < bits; ++i) {
      Xorwow unit;
      unit.x[i / 32] = 1u << i % 32;
      unit.step();
      (*all)[0].columns[i] = unit.x;
    }
    for (size_t i = 1; i < all->size(); ++i) (*all)[i] = (*all)[i - 1].squared();
    return all;
  }();
  return (*powers)[exponent];
}

}  // namespace

std::vector<Xorwow> xorwow_streams(uint64_t seed, uint64_t offset, size_t count) {
  // The i-th of the results comes from subsequence i modulo their number: the first ones are one number
  // further.
  Xorwow state = Xorwow::from(seed);
  const uint64_t rows = offset / count;
  state.counter += Xorwow::increment * static_cast<uint32_t>(rows);
  for (size_t i = 0; i < 64; ++i) {
    if (rows >> i & 1) state.x = xorwow_steps(i) * state.x;
  }
  std::vector<Xorwow> streams;
  streams.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    streams.push_back(state);
    if (i < offset % count) streams.back().next();
    state.x = xorwow_steps(67) * state.x;
  }
  return streams;
}

}  // namespace lanescope::cuda::rand
