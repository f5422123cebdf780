// See warp_access.hpp.
#include "exec/warp_access.hpp"

#include <optional>

#include "exec/cluster.hpp"
#include "exec/memory_words.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

/// Whether the address in the window of shared memory, which names a block, is in another one of the cluster;
/// makes it the offset there.
bool leads_elsewhere(WarpAccess& now, uint32_t lane, uint64_t& at) {
  const uint64_t field = at >> rank_shift;  // rank + 1
  const Cluster* cluster = now.w.block->cluster;
  const bool own = field == now.w.block->rank + 1;
  if (!own && (cluster == nullptr || field > cluster->blocks.size())) return false;
  at = in_block(at);
  now.rank[lane] = static_cast<uint8_t>(field - 1);
  return !own;
}

}  // namespace

uint32_t warp_in_cluster(const Warp& w) {
  return w.block->rank * static_cast<uint32_t>(w.block->warps.size()) + w.index;
}

Finding WarpAccess::finding(Finding::Kind kind, uint32_t lane) const {
  Finding found;
  found.kind = kind;
  found.instruction = access.origin;
  found.thread = thread_of(w, lane);
  found.address = offset[lane];
  found.width = access.width;
  found.access = access.kind;
  return found;
}

void report_global(const WarpAccess& now, uint32_t lane, const Finding& found) {
  const uint64_t address = now.offset[lane];
  const std::optional<Allocation> allocation = now.w.worker->memory->find(address, now.bytes);
  if (!allocation) return;
  if (Finding* example = add_finding(now.w, found))
    example->message = describe_bytes(allocation->name, address - allocation->base, now.bytes);
}

void find_addresses(WarpAccess& now, const Inst* in, const BlockShape& shape) {
  const CheckedAccess& access = now.access;
  const auto add = static_cast<int64_t>(static_cast<int32_t>(in->imm));
  each_lane(now.w.mask & access.lanes, [&](uint32_t lane) {
    uint64_t at = (access.address_bytes == 4 ? lane_value<uint32_t>(now.w, in->a, lane)
                                             : lane_value<uint64_t>(now.w, in->a, lane)) +
                  static_cast<uint64_t>(add);
    ptx::Space space = access.space;
    if (space == ptx::Space::shared) at &= 0xffffffffu;
    if (space == ptx::Space::generic) {
      if (at - shared_window < window_size) {
        space = ptx::Space::shared;
        at -= shared_window;
      } else if (at - local_window < window_size) {
        space = ptx::Space::local;
        at -= local_window;
      }
    }
    const bool elsewhere =
        space == ptx::Space::shared && at >> rank_shift != 0 && leads_elsewhere(now, lane, at);
    now.offset[lane] = at;
    if (space == ptx::Space::global || space == ptx::Space::generic) {
      now.global |= 1u << lane;
      return;
    }
    // The access itself reports what is outside or crooked.
    const auto fits = [&](uint64_t bytes) {
      return at <= bytes && access.width <= bytes - at && at % access.width == 0;
    };
    if (space == ptx::Space::shared && fits(shape.shared_bytes))
      (elsewhere ? now.elsewhere : now.shared) |= 1u << lane;
    if (space == ptx::Space::local && fits(now.w.local_bytes)) now.local |= 1u << lane;
  });
}

}  // namespace lanescope::exec
