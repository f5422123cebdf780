// See mt19937.hpp.
#include "cuda/libraries/rand/mt19937.hpp"

#include <algorithm>
#include <cstring>

namespace lanescope::cuda::rand {
namespace {

constexpr size_t degree = 19937;
constexpr size_t polynomial_words = (degree + 63) / 64;
using Polynomial = std::vector<uint64_t>;  // over GF(2), bit by bit

/// Adds `bits` times t^place.
void add(Polynomial& to, uint64_t bits, size_t place) {
  to[place / 64] ^= bits << place % 64;
  if (place % 64 != 0) to[place / 64 + 1] ^= bits >> (64 - place % 64);
}

std::vector<size_t> exponents_below_degree(const Polynomial& p) {
  std::vector<size_t> all;
  for (size_t i = 0; i < degree; ++i) {
    if (p[i / 64] >> i % 64 & 1) all.push_back(i);
  }
  return all;
}

/// The exponents of the characteristic polynomial but the greatest, which is the degree. The next one is 227
/// less. It is that of Matsumoto's and Nishimura's paper, for words of 32 bits of which 31 are left out at
/// the end.
const std::vector<size_t>& characteristic() {
  static const auto exponents = [] {
    const auto times = [](const Polynomial& p, size_t i, size_t j) {  // t^i + t^j
      Polynomial product(polynomial_words + 1);
      for (size_t word = 0; word < polynomial_words - 10; ++word) {
        add(product, p[word], word * 64 + i);
        add(product, p[word], word * 64 + j);
      }
      return product;
    };
    Polynomial p(polynomial_words + 1);
    p[0] = 1;
    for (uint32_t i = 0; i < 31; ++i) {
      p = times(p, 623, 396);
      p[0] ^= Mt19937::matrix >> i & 1;
    }
    p = times(p, 624, 397);
    p[0] ^= Mt19937::matrix >> 31;
    return exponents_below_degree(p);
  }();
  return exponents;
}

Polynomial squared(const Polynomial& p) {
  // A square over GF(2) has each bit at twice its place.
  const auto spread = [](uint64_t half) {
    half = (half | half << 16) & 0x0000ffff0000ffff;
    half = (half | half << 8) & 0x00ff00ff00ff00ff;
    half = (half | half << 4) & 0x0f0f0f0f0f0f0f0f;
    half = (half | half << 2) & 0x3333333333333333;
    return (half | half << 1) & 0x5555555555555555;
  };
  Polynomial square(2 * polynomial_words + 1);
  for (size_t i = 0; i < polynomial_words; ++i) {
    square[2 * i] = spread(p[i] & 0xffffffff);
    square[2 * i + 1] = spread(p[i] >> 32);
  }
  // t^degree is the sum of the others. 64 bits are replaced at once: what they become lies below them.
  for (size_t word = 2 * polynomial_words; word-- > polynomial_words - 1;) {
    const size_t keep = word == polynomial_words - 1 ? degree % 64 : 0;
    const uint64_t high = square[word] >> keep;
    square[word] ^= high << keep;
    for (const size_t exponent : characteristic()) add(square, high, word * 64 + keep - degree + exponent);
  }
  square.resize(polynomial_words);
  return square;
}

/// Adds up, for each word, those of `sequence` that lie behind it at these places.
__attribute__((target_clones("avx2", "default"))) void add_up(const std::vector<size_t>& places,
                                                              const uint32_t* sequence, uint32_t* sums) {
  constexpr size_t lanes = 8, registers = 13, part = lanes * registers;
  static_assert(Mt19937::length % part == 0);
  using Register = uint32_t __attribute__((vector_size(lanes * sizeof(uint32_t))));
  for (size_t first = 0; first < Mt19937::length; first += part) {
    std::array<Register, registers> sum{};
    for (const size_t place : places) {
      for (size_t i = 0; i < registers; ++i) {
        Register next;
        std::memcpy(&next, sequence + place + first + i * lanes, sizeof(next));
        sum[i] ^= next;
      }
    }
    std::memcpy(sums + first, sum.data(), sizeof(sum));
  }
}

}  // namespace

Mt19937 Mt19937::from(uint32_t seed) {
  Mt19937 state;
  state.words[0] = seed;
  for (uint32_t i = 1; i < length; ++i)
    state.words[i] = 1812433253u * (state.words[i - 1] ^ state.words[i - 1] >> 30) + i;
  return state;
}

void Mt19937::step() {
  const auto at = [&](size_t i) { return words[i < length ? i : i - length]; };
  for (size_t i = 0; i < length; ++i) words[i] = follow(words[i], at(i + 1), at(i + 397));
}

const std::vector<Mt19937Jump>& Mt19937Jump::between_streams() {
  static const auto jumps = [] {
    Polynomial polynomial(polynomial_words);
    polynomial[0] = 2;  // t: one word further
    for (int i = 0; i < 2048; ++i) polynomial = squared(polynomial);
    std::vector<Mt19937Jump> all;
    for (int i = 0; i < 13; ++i, polynomial = squared(polynomial))
      all.push_back(Mt19937Jump(exponents_below_degree(polynomial)));
    return all;
  }();
  return jumps;
}

Mt19937 Mt19937Jump::operator()(const Mt19937& from) const {
  constexpr size_t length = Mt19937::length;
  std::vector<uint32_t> sequence(degree + length);
  std::copy(from.words.begin(), from.words.end(), sequence.begin());
  for (size_t i = length; i < sequence.size(); ++i)
    sequence[i] = Mt19937::follow(sequence[i - length], sequence[i - length + 1], sequence[i - length + 397]);
  Mt19937 to;
  add_up(places_, sequence.data(), to.words.data());
  return to;
}

}  // namespace lanescope::cuda::rand
