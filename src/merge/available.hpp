// What is sure to have happened, with nothing in between that undoes it, when a place of a function is
// reached: a forward data-flow problem over its blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"

namespace lanescope::merge {

/// Bits by index.
class Bits {
 public:
  explicit Bits(size_t size = 0, bool all = false) : words_((size + 63) / 64, all ? ~uint64_t{0} : 0) {}
  void add(uint32_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  [[nodiscard]] bool has(uint32_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void intersect(const Bits& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  friend bool operator==(const Bits&, const Bits&) = default;

 private:
  std::vector<uint64_t> words_;
};

/// Whether the assembler takes a value that it has from one block into another one that is in other loops, if
/// nothing in between undoes it: into the first block of a loop, from right before it. `leaves`: also out of
/// loops.
[[nodiscard]] inline bool is_taken_along(const exec::Loops& loops, uint32_t from, uint32_t to, bool leaves) {
  size_t entered = 0;
  for (const exec::Loop& loop : loops.all) {
    if (loop.has[from] && !loop.has[to] && !leaves) return false;
    if (!loop.has[from] && loop.has[to]) ++entered;
  }
  return entered == 0 || (entered == 1 && loops.innermost(to)->header == to);
}

/// The same of global memory, which is `constant` (.nc) or not: what is known in a loop is not known in one
/// inside it.
[[nodiscard]] inline bool is_taken_along_of_global(const exec::Loops& loops, uint32_t from, uint32_t to,
                                                   bool constant) {
  if (exec::in_same_loops(loops.all, from, to)) return true;
  const auto around = std::ranges::count_if(loops.all, [&](const exec::Loop& loop) { return loop.has[to]; });
  return around <= 1 && is_taken_along(loops, from, to, constant);
}

/// What of global memory is still known where a block begins: right behind a loop only what is constant, and
/// in a loop around it nothing.
inline void forget_behind_loop(const exec::Loops& loops, uint32_t block, const Bits& constant, Bits& now) {
  const std::vector<uint32_t>& before = loops.graph.before[block];
  const bool is_behind = std::ranges::any_of(loops.all, [&](const exec::Loop& loop) {
    return !loop.has[block] && std::ranges::any_of(before, [&](uint32_t b) { return loop.has[b]; });
  });
  if (!is_behind) return;
  if (loops.innermost(block) == nullptr)
    now.intersect(constant);
  else
    now.clear();
}

/// For each of `count` accesses: those whose values are known when it runs. `order`: the blocks that are
/// reached, in reverse post-order. through(block, now, at) runs through a block from what is known at its
/// begin, changes it, and tells at(access) of each access before that counts.
template <class Through>
std::vector<Bits> find_available(const exec::Flow& flow, const std::vector<uint32_t>& order, size_t count,
                                 Through through) {
  const size_t blocks = flow.blocks.size();
  std::vector<Bits> in(blocks, Bits(count, true)), out(blocks, Bits(count, true));
  std::vector<std::vector<uint32_t>> before(blocks);
  for (const uint32_t b : order)
    for (const uint32_t to : flow.blocks[b].next)
      if (to < blocks) before[to].push_back(b);
  if (blocks != 0) in[0] = Bits(count);
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t b : order) {
      Bits now = b == 0 ? Bits(count) : Bits(count, true);
      if (b != 0)
        for (const uint32_t from : before[b]) now.intersect(out[from]);
      in[b] = now;
      through(b, now, [](uint32_t) {});
      if (now == out[b]) continue;
      out[b] = now;
      changed = true;
    }
  }
  std::vector<Bits> available(count, Bits(count));
  for (const uint32_t b : order) {
    Bits now = in[b];
    through(b, now, [&](uint32_t access) { available[access] = now; });
  }
  return available;
}

}  // namespace lanescope::merge
