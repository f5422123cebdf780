// Sets of a function's registers, as analyses of its flow have one for each block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope::exec {

/// A set of register indices as bits.
class RegisterSet {
 public:
  explicit RegisterSet(size_t size) : words_((size + 63) / 64) {}
  void add(uint32_t i) { words_[i / 64] |= 1ull << (i % 64); }
  void remove(uint32_t i) { words_[i / 64] &= ~(1ull << (i % 64)); }
  [[nodiscard]] bool has(uint32_t i) const { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
  /// Whether it was no subset.
  bool merge(const RegisterSet& other) {
    bool grown = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t sum = words_[i] | other.words_[i];
      grown |= sum != words_[i];
      words_[i] = sum;
    }
    return grown;
  }
  void each(auto&& f) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        f(static_cast<uint32_t>(i * 64 + static_cast<size_t>(__builtin_ctzll(rest))));
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace lanescope::exec
