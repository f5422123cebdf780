// Philox4x32-10 (Salmon, Moraes, Dror, Shaw): four numbers are a counter, encrypted in ten rounds.
#pragma once

#include <array>
#include <cstdint>

namespace lanescope::cuda::rand {

struct Philox {
  static constexpr uint64_t subsequences = 65536;

  /// The upper half of the counter is the subsequence.
  static std::array<uint32_t, 4> block(uint64_t seed, uint64_t subsequence, uint64_t row) {
    std::array<uint32_t, 4> c{static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32),
                              static_cast<uint32_t>(subsequence), static_cast<uint32_t>(subsequence >> 32)};
    auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t even = uint64_t{0xd2511f53} * c[0], odd = uint64_t{0xcd9e8d57} * c[2];
      c = {static_cast<uint32_t>(odd >> 32) ^ c[1] ^ low, static_cast<uint32_t>(odd),
           static_cast<uint32_t>(even >> 32) ^ c[3] ^ high, static_cast<uint32_t>(even)};
      low += 0x9e3779b9;
      high += 0xbb67ae85;
    }
    return c;
  }
};

}  // namespace lanescope::cuda::rand
