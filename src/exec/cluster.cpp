// See cluster.hpp.
#include "exec/cluster.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

uint64_t read_lane(const Warp& w, uint32_t reg, uint32_t lane, uint64_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, w.regs + reg + lane * bytes, bytes);
  return value;
}

}  // namespace

uint64_t block_of_cluster(const LaunchConfig& config, uint64_t cluster, uint32_t rank) {
  const Dim3 &grid = config.grid, &size = config.cluster;
  const uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
  const uint64_t x = cluster % columns * size.x + rank % size.x,
                 y = cluster / columns % rows * size.y + rank / size.x % size.y,
                 z = cluster / columns / rows * size.z + rank / size.x / size.y;
  return x + grid.x * (y + grid.y * z);
}

void complete_cluster_barrier(BlockState& block) {
  bool complete = true, any = false;
  each_block(block, [&](const BlockState& b) {
    for (const WarpState& w : b.warps) {
      complete = complete && (w.alive & ~w.cluster_arrived) == 0;
      any = any || w.cluster_arrived != 0;
    }
  });
  if (!complete || !any) return;
  if (block.checks) block.checks->cluster_completed();
  each_block(block, [](BlockState& b) {
    for (WarpState& w : b.warps) w.cluster_arrived = 0;
  });
}

const Inst* arrive_at_cluster(Warp& warp, const Inst* in) {
  auto& w = static_cast<WarpState&>(warp);
  if (const uint32_t twice = w.cluster_waits & w.mask; twice != 0)
    report(w, in, Finding::Kind::bad_barrier, twice, 0, 0,
           "barrier.cluster.arrive of a thread that has arrived and not waited since");
  w.cluster_arrived |= w.mask;
  w.cluster_waits |= w.mask;
  if (w.block->checks) w.block->checks->arrive_at_cluster(w, w.mask, in->imm == cluster_relaxed);
  ++w.worker->global_writes;  // what other blocks may be waiting for
  complete_cluster_barrier(*w.block);
  return in + 1;
}

const Inst* wait_for_cluster(Warp& warp, const Inst* in) {
  auto& w = static_cast<WarpState&>(warp);
  if (const uint32_t never = w.mask & ~w.cluster_waits; never != 0)
    report(w, in, Finding::Kind::bad_barrier, never, 0, 0,
           "barrier.cluster.wait of a thread that has not arrived before");
  if ((w.cluster_arrived & w.mask) != 0) {
    w.event = Event::hold;
    w.event_target = in;
    return w.stop;
  }
  w.cluster_waits &= ~w.mask;
  if (w.block->checks) w.block->checks->wait_for_cluster(w, w.mask);
  return in + 1;
}

const Inst* map_to_rank(Warp& w, const Inst* in) {
  const Cluster* cluster = w.block->cluster;
  const uint64_t blocks = cluster == nullptr ? 1 : cluster->blocks.size();
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t address = read_lane(w, in->a, lane, in->imm);
    const auto rank = static_cast<uint32_t>(read_lane(w, in->b, lane, sizeof(uint32_t)));
    if (rank >= blocks)
      report(w, in, Finding::Kind::out_of_bounds, 1u << lane, address, 0,
             "block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks));
    const uint64_t mapped =
        (address & ~uint64_t{0xffffffffu}) | cluster_address(static_cast<uint32_t>(address), rank);
    std::memcpy(w.regs + in->d + lane * in->imm, &mapped, in->imm);
  });
  return in + 1;
}

const Inst* is_own_shared(Warp& w, const Inst* in) {
  uint32_t p;
  std::memcpy(&p, w.regs + in->d, sizeof p);
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t offset = read_lane(w, in->a, lane, sizeof(uint64_t)) - shared_window,
                   rank = offset >> rank_shift;
    const bool own = rank == 0 || rank == w.block->rank + 1;
    p = (p & ~(1u << lane)) | uint32_t{own} << lane;
  });
  std::memcpy(w.regs + in->d, &p, sizeof p);
  return in + 1;
}

const Inst* to_even_block(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    const auto address = static_cast<uint32_t>(read_lane(w, in->a, lane, sizeof(uint32_t)));
    const uint32_t field = address >> rank_shift, rank = field == 0 ? w.block->rank : field - 1;
    const auto offset = address & static_cast<uint32_t>(in->imm);
    const uint32_t even = field == 0 && rank % 2 == 0 ? offset : cluster_address(offset, rank & ~1u);
    std::memcpy(w.regs + in->d + lane * sizeof even, &even, sizeof even);
  });
  return in + 1;
}

const Inst* rank_of_address(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    const auto address = static_cast<uint32_t>(read_lane(w, in->a, lane, in->imm));
    const uint32_t field = address >> rank_shift;
    const uint32_t rank = field == 0 ? w.block->rank : field - 1;
    std::memcpy(w.regs + in->d + lane * sizeof rank, &rank, sizeof rank);
  });
  return in + 1;
}

}  // namespace lanescope::exec
