// What is sure to have happened, with nothing in between that undoes it, when a place of a function is
// reached: a forward data-flow problem over its blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "exec/unrolled_loop.hpp"
#include "merge/values.hpp"

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
  void unite(const Bits& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  friend bool operator==(const Bits&, const Bits&) = default;

 private:
  std::vector<uint64_t> words_;
};

/// Where an access stands among the loops of a function.
struct Place {
  uint32_t block = 0;
  /// A load in the first block of a loop, of an address that is the same in every iteration and of memory
  /// that nothing in the loop changes, is moved ahead of it.
  const exec::Loop* ahead_of = nullptr;
  /// The loop is unrolled: which of its copies ran last is not known behind it.
  const exec::Loop* stays_in = nullptr;
  bool lasts = false;  ///< the same is at its address in all iterations of the loops around it
  [[nodiscard]] bool is_in(const exec::Loop& loop) const { return &loop != ahead_of && loop.has[block]; }
};

class Places {
 public:
  /// `unrolled`: loops that are looked at as they are written.
  Places(const exec::Flow& flow, const exec::Loops& loops, const Values& values,
         const std::vector<exec::UnrolledLoop>& unrolled)
      : flow_(flow), loops_(loops), values_(values), unrolled_(unrolled) {}

  /// `constant`: of memory that does not change while the function runs. may_leave(loop): whether such a load
  /// is moved ahead of this loop.
  template <class MayLeave>
  [[nodiscard]] Place of(uint32_t instruction, bool constant, MayLeave may_leave) const {
    Place place{.block = flow_.block_of[instruction]};
    const uint32_t base = values_.address(instruction).base;
    place.lasts = constant && std::ranges::none_of(loops_.all, [&](const exec::Loop& loop) {
                    return loop.has[place.block] && values_.varies(base, loop.has);
                  });
    const exec::Loop* loop = loops_.innermost(place.block);
    if (loop == nullptr) return place;
    if (loop->header == place.block && !values_.varies(base, loop->has) && may_leave(*loop))
      place.ahead_of = loop;
    else if (std::ranges::any_of(unrolled_, [&](const exec::UnrolledLoop& u) {
               return flow_.blocks[loop->header].begin == u.first;
             }))
      place.stays_in = loop;
    return place;
  }

 private:
  const exec::Flow& flow_;
  const exec::Loops& loops_;
  const Values& values_;
  const std::vector<exec::UnrolledLoop>& unrolled_;
};

/// Whether what is known at one place is known at another one, which nothing in between undoes: not where
/// that is in a loop of its own.
[[nodiscard]] inline bool is_taken_along(const exec::Loops& loops, const Place& from, const Place& to) {
  return (from.stays_in == nullptr || to.is_in(*from.stays_in)) &&
         std::ranges::none_of(loops.all,
                              [&](const exec::Loop& loop) { return to.is_in(loop) && !from.is_in(loop); });
}

/// What the assembler forgets where it comes out of loops: all that was known before them, but, of loops of
/// one block, what lasts.
class BehindLoops {
 public:
  /// `places`: by access.
  BehindLoops(const exec::Loops& loops, const std::vector<Place>& places) {
    for (const exec::Loop& loop : loops.all) {
      Bits kept(places.size());
      for (uint32_t i = 0; i < places.size(); ++i)
        if (places[i].is_in(loop) || (places[i].lasts && loop.size == 1)) kept.add(i);
      for (uint32_t from = 0; from < loops.graph.after.size(); ++from)
        for (const uint32_t to : loops.graph.after[from])
          if (loop.has[from] && !loop.has[to])
            if (const auto [at, is_first] = kept_.emplace(to, kept); !is_first) at->second.intersect(kept);
    }
  }
  /// Of what is known at the end of the blocks before it, what still is where a block begins.
  void enter(uint32_t block, Bits& now) const {
    if (const auto kept = kept_.find(block); kept != kept_.end()) now.intersect(kept->second);
  }

 private:
  std::map<uint32_t, Bits> kept_;  ///< by block right behind a loop
};

/// For each access: those whose values are known when it runs. `order`: the blocks that are reached, in
/// reverse post-order. through(block, now, at) runs through a block from what is known at its begin, changes
/// it, and tells at(access) of each access before that counts.
template <class Through>
std::vector<Bits> find_available(const exec::Flow& flow, const exec::Loops& loops,
                                 const std::vector<uint32_t>& order, const std::vector<Place>& places,
                                 Through through) {
  const size_t blocks = flow.blocks.size(), count = places.size();
  const BehindLoops behind(loops, places);
  std::vector<Bits> out(blocks, Bits(count, true));
  // What is known where a block begins; `outside`: where a loop is entered.
  const auto known_at = [&](uint32_t block, const exec::Loop* outside) {
    Bits now(count, block != 0);
    for (const uint32_t from : loops.graph.before[block])
      if (outside == nullptr || !outside->has[from]) now.intersect(out[from]);
    behind.enter(block, now);
    return now;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t b : order) {
      Bits now = known_at(b, nullptr);
      through(b, now, [](uint32_t) {});
      if (now == out[b]) continue;
      out[b] = now;
      changed = true;
    }
  }
  std::vector<Bits> available(count, Bits(count));
  for (const uint32_t b : order) {
    Bits now = known_at(b, nullptr);
    through(b, now, [&](uint32_t access) {
      available[access] = now;
      if (const exec::Loop* loop = places[access].ahead_of; loop != nullptr)
        available[access].unite(known_at(b, loop));
    });
  }
  return available;
}

}  // namespace lanescope::merge
