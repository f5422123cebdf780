// What race_check.hpp reports: races, and accesses to a block's memory before its beginning or after its end.
#include <string>

#include "exec/each_lane.hpp"
#include "exec/memory_words.hpp"
#include "exec/race_check.hpp"
#include "exec/race_rules.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Excuse = Finding::Excuse;
using Severity = Finding::Severity;

}  // namespace

Finding RaceCheck::race_of(const WarpAccess& now, uint32_t lane, uint64_t begin, uint32_t bytes) const {
  Finding found = now.finding(Finding::Kind::race, lane);
  found.address = begin;
  found.width = bytes;
  found.bulk = now.access.of_bulk_copy;
  return found;
}

void RaceCheck::report_shared(const WarpAccess& now, const Finding& found, uint64_t offset,
                              uint32_t bytes) const {
  if (!checks_.race) return;
  if (Finding* example = add_finding(now.w, found))
    example->message = describe_shared(kernel_, offset, bytes, shape_.rank, now.w);
}

void RaceCheck::report_race(WarpAccess& now, uint32_t lane, const Piece& piece, uint32_t then,
                            uint32_t then_number, Excuse excuse, Finding::Lack lack) {
  const CheckedAccess& before = kernel_.checks[then];
  if (lack == Finding::Lack::order && !can_race(now.access, before)) return;
  const bool both_volatile = are_volatile(now.access, before);
  // A volatile store after a fence is how flags are set.
  if (both_volatile && (piece.is_global || synchronised_.contains(piece.index))) return;
  // By way of other blocks this thread may come after that one.
  if (piece.is_global && cluster_.in_grid.has_seen_others()) return;
  const uint32_t then_thread = cluster_.thread_behind(then_number);
  Finding found = race_of(now, lane, piece.begin, bytes_of(piece));
  found.lack = lack;
  found.excuse = excuse;
  if (both_volatile && excuse != Excuse::same_value)
    found.excuse = then_thread / warp_lanes == now.warp ? Excuse::in_step : Excuse::polling;
  if (piece.is_global && is_stale_load(now.access, before)) found.excuse = Excuse::stale;
  if (is_guess(now.access, before)) found.excuse = Excuse::guess;
  found.severity = severity_of(found.excuse);
  // The memory model asks for it; that it ever goes wrong is not known.
  if (lack == Finding::Lack::proxy_fence && !reads(found.access)) found.severity = Severity::warning;

  const BlockState& block = *now.w.block;
  found.other_instruction = before.origin;
  found.other_thread = then_thread % shape_.lanes();
  if (const uint32_t rank = then_thread / shape_.lanes(); rank != block.rank)
    found.other_block = block.cluster->blocks[rank]->index;
  found.other_access = before.kind;
  found.other_bulk = before.of_bulk_copy;
  found.after_other = cluster_.blocks[block.rank]->has_executed(now.w, lane, then);
  found.count = now.raced >> lane & 1 ? 0 : 1;
  now.raced |= 1u << lane;
  piece.is_global ? report_global(now, lane, found) : report_shared(now, found, now.offset[lane], now.bytes);
}

void RaceCheck::report_beginning(const WarpAccess& now, uint32_t lane) const {
  Finding found = race_of(now, lane, now.offset[lane], 1u << pieces_.shift());
  found.lack = Finding::Lack::beginning;
  report_shared(now, found, now.offset[lane], now.bytes);
}

void RaceCheck::ended(BlockState& block) const {
  for (const AsyncWork::Bulk& bulk : async_work_.on_its_way())
    if (!bulk.is_global && (alone_ || !bulk.by))
      report_outlived(block, bulk.offset, bulk.access, bulk.thread, Finding::Lack::wait);
  if (alone_) return;
  const auto look = [&](uint32_t index, uint32_t access, uint32_t number, uint32_t time) {
    const bool by_agent = number >= order_.defined().threads();
    const uint32_t thread = cluster_.thread_behind(number);
    if ((!by_agent && thread / shape_.lanes() == shape_.rank) ||
        Order::holds(ended_.defined, number / warp_lanes, number % warp_lanes, time))
      return;
    report_outlived(block, pieces_.begin_of(index), access, thread,
                    by_agent ? Finding::Lack::wait : Finding::Lack::end);
  };
  history_.each_cell([&](uint32_t index, const Cell& c) {
    if (c.is_stored()) look(index, c.store.access, c.store.by, c.store.time);
    history_.each_touch(c, [&](const Touch& t) {
      each_lane(t.lanes, [&](uint32_t lane) { look(index, t.access, t.warp * warp_lanes + lane, t.time); });
    });
  });
}

void RaceCheck::report_outlived(BlockState& block, uint64_t offset, uint32_t access, uint32_t thread,
                                Finding::Lack lack) const {
  const uint32_t rank = thread / shape_.lanes();
  BlockState& from = rank == shape_.rank ? block : *block.cluster->blocks[rank];
  const WarpAccess now{from.warps[thread % shape_.lanes() / warp_lanes], kernel_.checks[access], access};
  Finding found = race_of(now, thread % warp_lanes, offset, 1u << pieces_.shift());
  found.lack = lack;
  // Whether a block may end before a copy has read its memory, the programming guide does not say.
  if (lack == Finding::Lack::wait && reads(found.access)) found.severity = Severity::warning;
  report_shared(now, found, offset, now.access.of_bulk_copy ? found.width : now.access.width);
}

}  // namespace lanescope::exec
