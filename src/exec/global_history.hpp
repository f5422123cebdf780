// Who has accessed global memory since the last barrier of all threads, of one block or cluster: an access
// history (access_history.hpp) of the pieces that were accessed, which are numbered as they come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "exec/access_history.hpp"
#include "exec/block_shape.hpp"
#include "exec/order.hpp"
#include "exec/program.hpp"

namespace lanescope::exec {

class GlobalHistory {
 public:
  GlobalHistory(const Kernel& kernel, const Order& order)
      : shift_(piece_shift(kernel, ptx::Space::global)), accesses_(order, 0, false) {}

  [[nodiscard]] AccessHistory& accesses() { return accesses_; }
  [[nodiscard]] uint32_t shift() const { return shift_; }

  /// The order has begun a new epoch: nothing of before is known any more.
  void new_epoch() {
    accesses_.new_epoch();
    pages_.clear();
    page_ = {};
    next_ = 0;
  }
  /// Nobody has accessed the bytes yet: a kernel has allocated them.
  void forget(uint64_t address, uint64_t bytes) {
    const uint64_t end = (address + bytes) >> shift_;
    for (uint64_t piece = address >> shift_, next = 0; piece < end; piece = next) {
      next = std::min(end, ((piece >> pieces_shift) + 1) << pieces_shift);
      if (!pages_.contains(piece >> pieces_shift)) continue;
      for (; piece < next; ++piece) accesses_.forget(index_of(piece));
    }
  }

  /// Calls f(index, address) for each piece that lies in the bytes: of a bulk copy the first and the last one
  /// may lie there in part.
  template <class F>
  void each(uint64_t address, uint32_t bytes, F f) {
    const uint64_t first = (address + (uint64_t{1} << shift_) - 1) >> shift_,
                   end = (address + bytes) >> shift_;
    for (uint64_t piece = first; piece < end; ++piece) f(index_of(piece), piece << shift_);
  }

 private:
  static constexpr uint32_t pieces_shift = 5;  ///< pieces of a page
  struct Page {
    uint64_t number = UINT64_MAX;
    uint32_t first = 0;  ///< index of its first piece
  };

  const uint32_t shift_;
  AccessHistory accesses_;
  std::unordered_map<uint64_t, uint32_t> pages_;  ///< Page::first by number
  Page page_;                                     ///< the last one
  uint32_t next_ = 0;                             ///< index of the next piece that is new

  uint32_t index_of(uint64_t piece) {
    const uint64_t number = piece >> pieces_shift;
    if (page_.number != number) {
      const auto [page, is_new] = pages_.try_emplace(number, next_);
      if (is_new) accesses_.grow(next_ += 1u << pieces_shift);
      page_ = {number, page->second};
    }
    return page_.first + static_cast<uint32_t>(piece & ((1u << pieces_shift) - 1));
  }
};

}  // namespace lanescope::exec
