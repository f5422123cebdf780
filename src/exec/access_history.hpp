// Who has accessed each piece of some memory, a block's shared memory or what global_history.hpp has, as far
// as later accesses may race with it: the last store, and all loads and atomic operations since. What the
// order of order.hpp forgets with its epoch is forgotten here, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/order.hpp"
#include "exec/warp_access.hpp"

namespace lanescope::exec {

class AccessHistory {
 public:
  /// The time of what a copy does that nobody has waited for.
  static constexpr uint32_t in_flight = 0xffffffffu;

  struct Store {
    uint32_t by = Order::nobody;  ///< thread or agent
    uint32_t time = 0;            ///< of its warp, or the agent's own; or in_flight
    uint32_t access = 0;          ///< index of Kernel::checks
  };
  /// The last store by a thread itself. Barriers leave it: proxy fences do not go by epochs.
  struct OwnStore {
    uint32_t epoch = 0;
    Store store;
  };
  /// Lanes of a warp that loaded, or changed atomically, by one instruction at one time; or agents, whose
  /// numbers look like those of more warps.
  struct Touch {
    uint32_t next = none;
    uint32_t access = 0;  ///< index of Kernel::checks
    uint32_t warp = 0;
    uint32_t time = 0;  ///< or in_flight
    uint32_t lanes = 0;
  };
  /// Of one piece. Accesses of older epochs than `epoch` are over.
  struct Cell {
    uint32_t epoch = 0;
    Store store;                  ///< the last one
    uint32_t touches = none;      ///< first of the list in touches_: those since that store
    uint32_t touching_warps = 0;  ///< warps in that list, one bit for all that are equal modulo 32
    bool has_atomics = false;     ///< in that list

    [[nodiscard]] bool is_stored() const { return store.by != Order::nobody; }
    [[nodiscard]] bool is_touched() const { return touches != none; }
  };

  /// `by_proxy`: the kernel has accesses by the asynchronous proxy.
  AccessHistory(const Order& order, size_t pieces, bool by_proxy)
      : order_(order), cells_(pieces), own_stores_(by_proxy ? pieces : 0) {}

  /// Another block, of which nothing has been accessed.
  void start();
  /// The order has begun a new epoch.
  void new_epoch();

  /// The piece in this epoch.
  Cell& cell(uint32_t index) {
    Cell& c = cells_[index];
    if (c.epoch != order_.epoch()) {
      c = Cell{};
      c.epoch = order_.epoch();
    }
    return c;
  }
  /// Calls f(index, cell) for each piece that has been accessed in this epoch.
  template <class F>
  void each_cell(F f) const {
    for (uint32_t index = 0; index < cells_.size(); ++index)
      if (cells_[index].epoch == order_.epoch()) f(index, cells_[index]);
  }

  /// There are so many pieces now, if there were fewer.
  void grow(size_t pieces) {
    if (cells_.size() < pieces) cells_.resize(pieces);
  }
  /// Nobody has accessed the piece.
  void forget(uint32_t index);

  /// A load or an atomic operation joins the cell's list.
  void touch(Cell& c, const WarpAccess& now, uint32_t lane);
  void add_touch(Cell& c, uint32_t access, uint32_t warp, uint32_t time, uint32_t lanes);
  void forget_touches(Cell& c);
  /// Calls f(touch) for each one in the cell's list.
  template <class F>
  void each_touch(const Cell& c, F f) const {
    for (uint32_t i = c.touches; i != none; i = touches_[i].next) f(touches_[i]);
  }
  template <class F>
  void each_touch(const Cell& c, F f) {
    for (uint32_t i = c.touches; i != none; i = touches_[i].next) f(touches_[i]);
  }

  /// Whether own stores are kept: whoever has no asynchronous proxy needs none.
  [[nodiscard]] bool has_own_stores() const { return !own_stores_.empty(); }
  [[nodiscard]] const OwnStore& own_store(uint32_t index) const { return own_stores_[index]; }
  void note_own_store(uint32_t index, const Store& store) {
    if (has_own_stores()) own_stores_[index] = {order_.epoch(), store};
  }
  /// The last store is none of a thread itself.
  void forget_own_store(uint32_t index) {
    if (has_own_stores()) own_stores_[index] = {};
  }

 private:
  static constexpr uint32_t none = 0xffffffffu;

  const Order& order_;
  std::vector<Cell> cells_;
  std::vector<Touch> touches_;
  uint32_t free_touch_ = none;
  std::vector<OwnStore> own_stores_;
};

}  // namespace lanescope::exec
