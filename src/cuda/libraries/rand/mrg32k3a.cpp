// See mrg32k3a.hpp.
#include "cuda/libraries/rand/mrg32k3a.hpp"

namespace lanescope::cuda::rand {
namespace {

using Vector = std::array<uint64_t, 3>;

/// Its column i is what becomes of the state that has 1 at i alone.
template <uint64_t modulus>
struct Matrix {
  std::array<Vector, 3> columns;

  Vector operator*(const Vector& v) const {
    Vector sum{};
    for (size_t column = 0; column < 3; ++column) {
      for (size_t row = 0; row < 3; ++row) sum[row] = (sum[row] + columns[column][row] * v[column]) % modulus;
    }
    return sum;
  }
  [[nodiscard]] Matrix squared() const {
    return {*this * columns[0], *this * columns[1], *this * columns[2]};
  }
};

/// Both recurrences, 2^i steps at once.
struct Power {
  Matrix<Mrg32k3a::p> of_x;
  Matrix<Mrg32k3a::q> of_y;
  void advance(Mrg32k3a& state) const {
    state.x = of_x * state.x;
    state.y = of_y * state.y;
  }
};

const Power& steps(size_t exponent) {
  static const auto powers = [] {
    std::array<Power, 77> all;
    for (size_t i = 0; i < 3; ++i) {
      Mrg32k3a unit;
      unit.x[i] = unit.y[i] = 1;
      unit.step();
      all[0].of_x.columns[i] = unit.x;
      all[0].of_y.columns[i] = unit.y;
    }
    for (size_t i = 1; i < all.size(); ++i) all[i] = {all[i - 1].of_x.squared(), all[i - 1].of_y.squared()};
    return all;
  }();
  return powers[exponent];
}

}  // namespace

Mrg32k3a Mrg32k3a::from(uint64_t seed) {
  Mrg32k3a state{{12345, 12345, 12345}, {12345, 12345, 12345}};
  if (seed == 0) return state;
  const uint64_t low = static_cast<uint32_t>(seed) ^ 0x55555555u;
  const uint64_t high = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaau;
  for (size_t i = 0; i < 3; ++i) {
    state.x[i] = state.x[i] * (i == 1 ? high : low) % p;
    state.y[i] = state.y[i] * (i == 1 ? low : high) % q;
  }
  return state;
}

std::vector<Mrg32k3a> mrg32k3a_streams(uint64_t seed, uint64_t offset, size_t count) {
  Mrg32k3a state = Mrg32k3a::from(seed);
  for (size_t i = 0; i < 64; ++i) {
    if (offset / count >> i & 1) steps(i).advance(state);
  }
  std::vector<Mrg32k3a> streams;
  streams.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    streams.push_back(state);
    if (i < offset % count) streams.back().step();
    steps(76).advance(state);
  }
  return streams;
}

}  // namespace lanescope::cuda::rand
