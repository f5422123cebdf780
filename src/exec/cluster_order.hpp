// What the checks for races of a cluster's blocks (race_check.hpp, grid_races.hpp) have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/global_history.hpp"
#include "exec/grid_races.hpp"
#include "exec/order.hpp"

namespace lanescope::exec {

class RaceCheck;

/// A block that is in no cluster is one by itself.
struct ClusterOrder {
  explicit ClusterOrder(uint32_t warps) : order(warps) {}
  TwoOrders order;
  /// Of the cluster's barrier: what those know who have arrived; all who had when it was last complete.
  TwoOrders::Clock arrived, passed;
  /// What the last release to a piece (block_shape.hpp) of global memory gives.
  std::unordered_map<uint64_t, TwoOrders::Clock> flags;
  /// What its threads have accessed of it.
  std::optional<GlobalHistory> global;
  std::vector<uint32_t> begun_by;  ///< by agent: the thread that began what it did last
  std::vector<RaceCheck*> blocks;  ///< by rank
  GridRaces::Block in_grid;        ///< of WorkerState::grid_races

  uint32_t add_agent(uint32_t thread) {
    begun_by.push_back(thread);
    return order.add_agent();
  }
  /// The thread that is meant by the number of a thread or an agent.
  [[nodiscard]] uint32_t thread_behind(uint32_t number) const {
    const uint32_t threads = order.defined().threads();
    return number < threads ? number : begun_by[number - threads];
  }
};

}  // namespace lanescope::exec
