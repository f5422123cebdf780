// Matsumoto's and Nishimura's Mersenne Twister, and jumps in its sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lanescope::cuda::rand {

struct Mt19937 {
  static constexpr size_t length = 624;
  std::array<uint32_t, length> words{};

  /// Where the sequence of a seed begins.
  static Mt19937 from(uint32_t seed);

  /// The next word of a sequence, of three before it: 624, 623 and 227 places.
  static uint32_t follow(uint32_t first, uint32_t second, uint32_t middle) {
    const uint32_t both = (first & 0x80000000u) | (second & 0x7fffffffu);
    return middle ^ both >> 1 ^ (both & 1 ? matrix : 0);
  }
  /// 624 words further.
  void step();

  /// The number that a word becomes.
  static uint32_t tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
  }

  static constexpr uint32_t matrix = 0x9908b0df;
};

/// A jump ahead: which of the words that follow are added up.
class Mt19937Jump {
 public:
  [[nodiscard]] Mt19937 operator()(const Mt19937& from) const;
  /// Of the subsequences that cuRAND interleaves, 2^2048 words apart: 1, 2, 4, … 4096 of them. Made once, in
  /// some 200 ms.
  static const std::vector<Mt19937Jump>& between_streams();

 private:
  explicit Mt19937Jump(std::vector<size_t> places) : places_(std::move(places)) {}
  /// The exponents in t to the power of the distance, modulo the characteristic polynomial.
  std::vector<size_t> places_;
};

}  // namespace lanescope::cuda::rand
