// See block_barrier.hpp. What imm of the instruction says: program.hpp.
#include "exec/block_barrier.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/paths.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {
namespace {

/// A warp counts as 32 threads once all its live lanes are there.
uint32_t threads_of(const WarpState& w, uint32_t arrived) {
  if (arrived == 0) return 0;
  const uint32_t alive = arrived & w.alive;
  return alive == w.alive ? warp_lanes : static_cast<uint32_t>(std::popcount(alive));
}

bool is_complete(const BlockState& block, const Barrier& b) {
  if (b.expected == 0) return b.whole_warps == block.live_warps;
  uint32_t threads = b.before;
  for (const WarpState& w : block.warps) threads += threads_of(w, b.arrived[w.index]);
  return threads >= b.expected;
}

/// Where lanes have ended.
void count_whole_warps(const BlockState& block, Barrier& b) {
  b.whole_warps =
      static_cast<uint32_t>(std::count_if(block.warps.begin(), block.warps.end(), [&](const WarpState& w) {
        return w.alive != 0 && (w.alive & ~b.arrived[w.index]) == 0;
      }));
}

void write_reduction(WarpState& w, uint32_t mask, const Inst* in, uint32_t true_count,
                     uint32_t thread_count) {
  const uint64_t kind = in->imm & barrier_kind;
  if (kind == barrier_popc) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
      std::memcpy(w.regs + in->d + static_cast<size_t>(std::countr_zero(rest)) * 4, &true_count, 4);
  } else if (kind == barrier_and || kind == barrier_or) {
    const bool value = kind == barrier_and ? true_count == thread_count : true_count != 0;
    uint32_t p;
    std::memcpy(&p, w.regs + in->d, 4);
    p = value ? p | mask : p & ~mask;
    std::memcpy(w.regs + in->d, &p, 4);
  }
}

void pass_barrier(WarpState& w, Path& p, uint32_t number, uint32_t true_count, uint32_t thread_count) {
  if (p.state != Path::State::at_barrier || p.barrier != number) return;
  const Inst* in = p.pc;
  write_reduction(w, p.mask, in, true_count, thread_count);
  proceed(w, p, in + 1);
}

void let_all_go(BlockState& block, uint32_t number) {
  if (block.checks && number < block_barriers) block.checks->complete(block.warps, number);
  Barrier& b = block.barriers[number];
  const uint32_t true_count = b.true_count, thread_count = b.thread_count;
  std::fill(b.arrived.begin(), b.arrived.end(), 0);
  b.expected = b.true_count = b.thread_count = b.whole_warps = b.before = 0;
  block.barriers_in_use &= ~(1u << number);
  for (WarpState& w : block.warps) {
    // The usual case, a warp whose lanes are together, needs no list.
    if (w.path_count == 1) {
      pass_barrier(w, w.paths[0], number, true_count, thread_count);
      continue;
    }
    std::array<int16_t, max_paths> waiting;  // proceed() may join paths
    size_t count = 0;
    for (Path& p : leaves(w))
      if (p.state == Path::State::at_barrier) waiting[count++] = index_of(w, p);
    for (size_t i = 0; i < count; ++i)
      pass_barrier(w, w.paths[static_cast<size_t>(waiting[i])], number, true_count, thread_count);
    if (count != 0) gather(w, waiting[0]);
  }
}

/// Out of the way of those who come to barriers that there are.
[[gnu::cold]] void report_no_barrier(WarpState& w, const Path& path, const Inst* in, uint32_t number) {
  report(w, in, Finding::Kind::bad_barrier, path.mask, number, 0,
         "barrier " + std::to_string(number) + ": a block has barriers 0 to 15");
}

}  // namespace

bool come_to_barrier(WarpState& w, Path& path, const Inst* in) {
  BlockState& block = *w.block;
  const bool of_group = (in->imm & barrier_of_group) != 0;
  const uint32_t number =
      of_group ? block_barriers + w.index / warps_of_group : common_value<uint32_t>(w, in->a, path.mask);
  if (!of_group && number >= block_barriers) {
    report_no_barrier(w, path, in, number);
    return false;
  }
  Barrier& b = block.barriers[number];
  block.barriers_in_use |= 1u << number;
  if (b.arrived.empty()) b.arrived.resize(block.warps.size());
  uint32_t& arrived = b.arrived[w.index];
  bool was_whole = (~arrived & w.alive) == 0;
  if ((arrived & path.mask) != 0) {  // a warp may give itself the start signal by bar.arrive
    b.before += threads_of(w, arrived);
    if (was_whole) --b.whole_warps;
    was_whole = false;
    arrived = 0;
  }
  arrived |= path.mask;
  if (!was_whole && (~arrived & w.alive) == 0) ++b.whole_warps;
  if (in->b != no_operand) b.expected = common_value<uint32_t>(w, in->b, path.mask);
  if (block.checks && !of_group)  // wgmma.fence and wait_group promise no order of the four warps
    block.checks->arrive(w, path.mask, in, number, in->b != no_operand ? b.expected : 0);
  if (in->c != no_operand) {
    uint32_t value;
    std::memcpy(&value, w.regs + in->c, sizeof value);
    if ((in->imm & barrier_negated) != 0) value = ~value;
    b.true_count += static_cast<uint32_t>(std::popcount(value & path.mask));
    b.thread_count += static_cast<uint32_t>(std::popcount(path.mask));
  }
  if ((in->imm & barrier_kind) == barrier_arrive) {
    proceed(w, path, in + 1);
  } else {
    path.state = Path::State::at_barrier;
    path.barrier = number;
    path.pc = in;
  }
  if (is_complete(block, b)) let_all_go(block, number);
  return true;
}

void let_barriers_complete(BlockState& block) {
  for (uint32_t rest = block.barriers_in_use; rest != 0; rest &= rest - 1) {
    const auto b = static_cast<uint32_t>(std::countr_zero(rest));
    count_whole_warps(block, block.barriers[b]);
    if (is_complete(block, block.barriers[b])) let_all_go(block, b);
  }
}

}  // namespace lanescope::exec
