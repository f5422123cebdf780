// Random numbers that are the same on every host, and operand values that are likely to find a mistake.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope::random {

/// SplitMix64's finaliser: spreads every bit of x over the result.
[[nodiscard]] constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// SplitMix64. The standard library's distributions differ from one implementation to the next; this does
/// not. Callers take care not to draw twice in one expression whose order C++ leaves open.
class Random {
 public:
  explicit constexpr Random(uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15ull)) {}

  constexpr uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ull;
    return mix(state_);
  }
  /// 0 … n - 1.
  constexpr uint32_t below(uint64_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  /// low … high.
  constexpr uint32_t between(uint32_t low, uint32_t high) { return low + below(uint64_t{high} - low + 1); }
  constexpr bool chance(uint32_t percent) { return below(100) < percent; }
  template <class Container>
  constexpr const auto& pick(const Container& choices) {
    return choices[below(choices.size())];
  }

 private:
  uint64_t state_;
};

/// What an operand's values should look like.
enum class Kind : uint8_t {
  integer,  ///< of 8, 16, 32 or 64 bits
  amount,   ///< a shift distance, a bit position, a length
  f32,
  f64,
  f16,  ///< four of them
  bf16  ///< four of them
};

/// 64 bits, of which a narrower operand takes the lowest; edges, near edges, and random bits.
[[nodiscard]] uint64_t value(Random& random, Kind kind);

}  // namespace lanescope::random
