// Marsaglia's XORWOW, and jumps in its sequence by powers of its transition matrix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope::cuda::rand {

struct Xorwow {
  std::array<uint32_t, 5> x{};
  uint32_t counter = 0;

  /// Where the sequence of a seed begins.
  static Xorwow from(uint64_t seed) {
    const uint32_t low = 1099087573u * (static_cast<uint32_t>(seed) ^ 0xaad26b49u);
    const uint32_t high = 2591861531u * (static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu);
    return {{123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
            6615241u + low + high};
  }

  /// The part that is linear over GF(2).
  void step() {
    const uint32_t t = x[0] ^ (x[0] >> 2);
    x = {x[1], x[2], x[3], x[4], x[4] ^ (x[4] << 4) ^ t ^ (t << 1)};
  }
  uint32_t next() {
    step();
    counter += increment;
    return x[4] + counter;
  }

  static constexpr uint32_t increment = 362437;
};

/// As many subsequences as asked for, 2^67 numbers apart; the first begins `offset` numbers behind the
/// seed's.
std::vector<Xorwow> xorwow_streams(uint64_t seed, uint64_t offset, size_t count);

}  // namespace lanescope::cuda::rand
