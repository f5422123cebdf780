// L'Ecuyer's MRG32k3a: two recurrences modulo primes below 2^32, whose difference is the number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope::cuda::rand {

struct Mrg32k3a {
  static constexpr uint64_t p = 4294967087, q = 4294944443;
  std::array<uint64_t, 3> x{}, y{};  ///< modulo p and q, the oldest first

  static Mrg32k3a from(uint64_t seed);

  void step() {
    x = {x[1], x[2], (1403580 * x[1] + 810728 * (p - x[0])) % p};
    y = {y[1], y[2], (527612 * y[2] + 1370589 * (q - y[0])) % q};
  }
  /// From 1 to p.
  uint64_t next() {
    step();
    return x[2] > y[2] ? x[2] - y[2] : x[2] + p - y[2];
  }
};

/// As many subsequences as asked for, 2^76 numbers apart; the first begins `offset` numbers behind the
/// seed's.
std::vector<Mrg32k3a> mrg32k3a_streams(uint64_t seed, uint64_t offset, size_t count);

}  // namespace lanescope::cuda::rand
