// See meetings.hpp.
#include "exec/meetings.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "exec/loops.hpp"

namespace lanescope::exec {

using ptx::no_index;

namespace {

/// Control flow is seen in levels: an iteration of each loop, and the kernel. In a level, the loops inside it
/// are places like blocks; ways out of it do not count. Nodes are blocks, then the kernel's end, then for
/// each loop the end of an iteration; as part of the level around it a loop has that number, too.
class Meetings {
 public:
  Meetings(const ptx::Function& function, Flow& flow, const Loops& loops, const std::vector<WaitLoop>& waits)
      : f_(function),
        flow_(flow),
        graph_(loops.graph),
        dominators_(loops.dominators),
        loops_(loops.all),
        loop_at_(end() + 1, loops_.size()),
        place_(end() + 1, no_index),
        before_(end() + 1),
        leading_(end() + 1 + loops_.size()) {
    for (size_t loop = 0; loop < loops_.size(); ++loop) loop_at_[loops_[loop].header] = loop;
    std::vector<bool> closes(end());  // a loop that only waits
    for (const WaitLoop& loop : waits)
      for (const uint32_t latch : loop.latches) closes[latch] = true;
    for (uint32_t b = 0; b < end(); ++b) {
      if (!is_reached(b)) continue;
      for (const uint32_t to : next(b)) before_[to].push_back({b, way_back(b, to)});
      const bool can_tell = f_.body[flow_.blocks[b].end - 1].op == ptx::Op::bra && !closes[b];
      if (next(b).size() >= 2 && !can_tell) blind_.push_back(b);
    }
  }

  void run() {
    if (!lay_out()) return;
    find_regions();
    for (uint32_t b = 0; b < end(); ++b)
      if (is_reached(b) && next(b).size() >= 2) {
        flow_.blocks[b].join = meeting_of(b);
        if (next(b).size() == 2 && std::count(blind_.begin(), blind_.end(), b) == 0) find_past(b);
      }
  }

 private:
  /// What lies between a branch, or a loop, and a place where its lanes meet.
  struct Region {
    uint32_t head = 0;     ///< a block, or a loop
    uint32_t meeting = 0;  ///< node
    size_t level = 0;
    bool meets_all = false;  ///< no way that goes on avoids the meeting
    size_t gain = 0;         ///< if some do: see gain_of()
    std::vector<bool> has;   ///< by block
  };
  struct Edge {
    uint32_t from = 0;
    size_t loop = 0;  ///< whose way back it is; loops_.size(): none's
  };

  const ptx::Function& f_;
  Flow& flow_;
  const Graph& graph_;
  const Dominators& dominators_;
  const std::vector<Loop>& loops_;
  std::vector<size_t> loop_at_;            ///< by block: the loop that begins there; loops_.size(): none
  std::vector<uint32_t> place_;            ///< by block: where it stands in the assembler's layout
  std::vector<std::vector<Edge>> before_;  ///< by block
  std::vector<uint32_t> blind_;  ///< blocks with several ways that cannot tell who goes past a place
  std::vector<std::vector<bool>> leading_;     ///< by node: what leads to it, see leads()
  std::vector<Region> regions_;                ///< inner ones before those around them
  std::vector<std::vector<uint32_t>> around_;  ///< by block: the regions that have it, in this order

  [[nodiscard]] uint32_t end() const { return static_cast<uint32_t>(flow_.blocks.size()); }
  [[nodiscard]] size_t kernel() const { return loops_.size(); }  ///< as a level
  [[nodiscard]] const std::vector<uint32_t>& next(uint32_t block) const { return graph_.after[block]; }
  [[nodiscard]] bool is_reached(uint32_t block) const { return dominators_.above(block) != no_index; }
  [[nodiscard]] uint32_t end_of(size_t loop) const { return end() + 1 + static_cast<uint32_t>(loop); }
  [[nodiscard]] bool is_loop(uint32_t node) const { return node > end(); }
  [[nodiscard]] size_t loop_of(uint32_t node) const { return node - end() - 1; }
  /// Where a node begins, and where lanes stop that are to meet at it.
  [[nodiscard]] uint32_t block_of(uint32_t node) const {
    return is_loop(node) ? loops_[loop_of(node)].header : node;
  }
  /// Whether an iteration of the loop has the node.
  [[nodiscard]] bool has(size_t loop, uint32_t node) const {
    return node == end_of(loop) || (node < end() && loops_[loop].has[node]);
  }
  [[nodiscard]] bool level_has(size_t level, uint32_t block) const {
    return level == kernel() || loops_[level].has[block];
  }

  /// Finds the order of the code: each block behind all that lead to it other than by a loop's way back, if
  /// it can be directly behind the one that falls through to it. False where loops have several entries.
  [[nodiscard]] bool lay_out() {
    std::vector<uint32_t> missing(end() + 1);  // by block: of those that lead to it
    uint32_t reached = 0;
    for (uint32_t b = 0; b <= end(); ++b) {
      reached += b < end() && is_reached(b) ? 1 : 0;
      for (const Edge& edge : before_[b]) missing[b] += edge.loop == loops_.size() ? 1 : 0;
    }
    uint32_t placed = 0;
    for (std::vector<uint32_t> ready{0}; !ready.empty();) {
      const uint32_t block = ready.back();
      ready.pop_back();
      place_[block] = placed++;
      for (const uint32_t to : next(block))
        if (way_back(block, to) == loops_.size() && --missing[to] == 0 && to < end()) ready.push_back(to);
    }
    return placed == reached;
  }

  /// Which loop's way back the edge is; loops_.size(): none's.
  [[nodiscard]] size_t way_back(uint32_t from, uint32_t to) const {
    const size_t loop = loop_at_[to];
    return loop < loops_.size() && loops_[loop].has[from] ? loop : loops_.size();
  }

  /// Where the edge goes for lanes on their way to `node`: the way back of a loop that has the node ends the
  /// iteration.
  [[nodiscard]] uint32_t target(uint32_t from, uint32_t to, uint32_t node) const {
    const size_t loop = way_back(from, to);
    return loop < loops_.size() && has(loop, node) ? end_of(loop) : to;
  }

  /// Whether `from` is the node or leads to it, in the same iterations of the loops that the node is in.
  [[nodiscard]] bool leads(uint32_t from, uint32_t node) {
    if (is_loop(from) && !has(loop_of(from), node)) from = block_of(from);  // an iteration like others
    std::vector<bool>& all = leading_[node];
    if (!all.empty()) return all[from];
    all.assign(leading_.size(), false);
    all[node] = true;
    std::vector<uint32_t> open{node};
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      for (const Edge& edge : before_[block_of(at)]) {
        const bool ends_iteration = edge.loop < loops_.size() && has(edge.loop, node);
        if ((ends_iteration ? end_of(edge.loop) : block_of(at)) != at || all[edge.from]) continue;
        all[edge.from] = true;
        open.push_back(edge.from);
      }
    }
    return all[from];
  }

  /// Whether all ways of a branch lead to a node.
  [[nodiscard]] bool all_lead(uint32_t block, uint32_t node) {
    return std::all_of(next(block).begin(), next(block).end(),
                       [&](uint32_t to) { return leads(target(block, to, node), node); });
  }

  [[nodiscard]] bool ends_at_once(uint32_t block) const {
    return block == end() || exec::ends_at_once(f_, flow_.blocks[block]);
  }

  // Regions.

  /// The innermost loop around the node in which it is a node; kernel(): none is.
  [[nodiscard]] size_t level_of(uint32_t node) const {
    if (is_loop(node)) return loop_of(node);
    size_t loop = 0;
    while (loop < loops_.size() && (!loops_[loop].has[node] || loops_[loop].header == node)) ++loop;
    return loop;
  }

  /// The innermost loop around a block; kernel(): there is none.
  [[nodiscard]] size_t loop_around(uint32_t block) const {
    size_t loop = 0;
    while (loop < loops_.size() && !loops_[loop].has[block]) ++loop;
    return loop;
  }

  /// What a block belongs to in a level: the outermost loop around it there, or else itself.
  [[nodiscard]] uint32_t part_of(size_t level, uint32_t block) const {
    uint32_t part = block;
    for (size_t loop = 0; loop < level; ++loop)
      if (loops_[loop].has[block]) part = end_of(loop);
    return part;
  }

  /// The places from which ways lead straight to a node, in its level.
  [[nodiscard]] std::set<uint32_t> parts_before(uint32_t node, size_t level) const {
    std::set<uint32_t> parts;
    for (const Edge& edge : before_[block_of(node)])
      if (edge.loop == (is_loop(node) ? loop_of(node) : kernel())) parts.insert(part_of(level, edge.from));
    return parts;
  }

  /// Whether lanes that leave a loop at different times are to meet where one of its ways out leads: it is
  /// the only one in the level, or that at the end of an iteration.
  [[nodiscard]] bool is_left_for(const Loop& loop, uint32_t node, size_t level) const {
    bool only = true;
    for (uint32_t b = 0; b < end(); ++b) {
      if (!loop.has[b]) continue;
      for (const uint32_t to : next(b)) {
        if (loop.has[to] || ends_at_once(to) || !level_has(level, to)) continue;
        if (target(b, to, node) != node)
          only = false;
        else if (std::count(loop.latches.begin(), loop.latches.end(), b) != 0)
          return true;
      }
    }
    return only;
  }

  /// The branch, or the loop, of which the lanes come together at the node; no_index: they do not.
  [[nodiscard]] uint32_t head_of(uint32_t node, size_t level) const {
    const std::set<uint32_t> parts = parts_before(node, level);
    if (parts.empty()) return no_index;
    if (parts.size() == 1) {
      const uint32_t part = *parts.begin();
      return is_loop(part) && is_left_for(loops_[loop_of(part)], node, level) ? part : no_index;
    }
    uint32_t head = block_of(*parts.begin());
    for (const uint32_t part : parts) head = dominators_.common(head, block_of(part));
    return part_of(level, head);
  }

  /// Whether each way from the head comes to the meeting, or ends the threads without having come to where
  /// others could come, too.
  [[nodiscard]] bool all_ways_meet(const Region& region) {
    const uint32_t first = block_of(region.head);
    std::vector<bool> seen(end() + 1);
    std::vector<uint32_t> open;
    for (uint32_t b = 0; b < end(); ++b) {
      seen[b] = is_loop(region.head) ? loops_[loop_of(region.head)].has[b] : b == first;
      if (seen[b]) open.push_back(b);
    }
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      for (const uint32_t to : next(block)) {
        if (ends_at_once(to) || target(block, to, region.meeting) == region.meeting) continue;
        const bool ends_iteration = region.level != kernel() && to == loops_[region.level].header;
        // Behind a loop, lanes come from its other ways out, too.
        const bool is_shared = !is_loop(region.head) && leads(region.meeting, to);
        if (ends_iteration || is_shared || !dominators_.dominates(first, to)) return false;
        if (seen[to]) continue;
        seen[to] = true;
        open.push_back(to);
      }
    }
    return true;
  }

  /// Nothing if a branch in it cannot tell who goes past the meeting.
  [[nodiscard]] std::optional<Region> region_of(uint32_t head, uint32_t node, size_t level) {
    Region region{head, node, level, false, 0, std::vector<bool>(end())};
    for (uint32_t b = 0; b < end(); ++b)
      region.has[b] =
          b != node && level_has(level, b) && dominators_.dominates(block_of(head), b) && leads(b, node);
    if (std::any_of(blind_.begin(), blind_.end(),
                    [&](uint32_t b) { return region.has[b] && !all_lead(b, node); }))
      return std::nullopt;
    return region;
  }

  /// All places where ways of a branch, or out of a loop, come together.
  [[nodiscard]] std::vector<Region> candidates() {
    std::vector<Region> all;
    for (uint32_t node = 0; node < leading_.size(); ++node) {
      if (node == end() || (node < end() && (!is_reached(node) || ends_at_once(node)))) continue;
      const size_t level = level_of(node);
      const uint32_t head = head_of(node, level);
      if (head == no_index) continue;
      if (auto region = region_of(head, node, level)) all.push_back(std::move(*region));
    }
    for (Region& region : all) region.meets_all = all_ways_meet(region);
    return all;
  }

  /// Where all ways of a branch come to a place that other ways, too, lead to: its lanes meet before that.
  [[nodiscard]] std::optional<Region> region_before_join(uint32_t block) {
    const uint32_t join = flow_.blocks[block].join;
    if (join >= end()) return std::nullopt;
    const size_t level = loop_around(block);
    const bool ends_iteration = level != kernel() && loops_[level].header == join;
    const uint32_t node = ends_iteration ? end_of(level) : join;
    if (level_of(node) != level) return std::nullopt;
    auto region = region_of(block, node, level);
    if (region) region->meets_all = true;
    return region;
  }

  /// Instructions of a block in the assembler's layout, which needs a jump where another block comes next.
  [[nodiscard]] size_t size_of(uint32_t block) const {
    const Flow::Block& b = flow_.blocks[block];
    const ptx::Instruction& last = f_.body[b.end - 1];
    const bool jumps = last.op == ptx::Op::bra && last.guard == no_index;
    const bool needs_jump = !b.next.empty() && place_[b.next.back()] != place_[block] + 1;
    return b.end - b.begin - (jumps ? 1 : 0) + (needs_jump ? 1 : 0);
  }

  /// How much is executed together if lanes meet there: instructions that no other way leads to.
  [[nodiscard]] size_t gain_of(const Region& region) const {
    size_t count = 0;
    for (uint32_t b = 0; b < end() && !is_loop(region.meeting); ++b)
      if (level_has(region.level, b) && dominators_.dominates(region.meeting, b)) count += size_of(b);
    return count;
  }

  /// Nothing but a jump.
  [[nodiscard]] bool is_empty(uint32_t node) const {
    if (is_loop(node)) return false;
    const Flow::Block& block = flow_.blocks[node];
    return block.end - block.begin == 1 && next(node).size() == 1 && f_.body[block.begin].op == ptx::Op::bra;
  }

  /// Whether a branch of one region lies inside the other while they meet on different ways: lanes would have
  /// to leave the one region without having left the other.
  [[nodiscard]] bool cross(const Region& a, const Region& b) {
    if (a.level != b.level) return false;
    const auto sticks_out = [&](const Region& outer, const Region& inner) {
      return outer.has[block_of(inner.head)] && !leads(inner.meeting, outer.meeting);
    };
    return a.head == b.head || sticks_out(a, b) || sticks_out(b, a);
  }

  void find_regions() {
    std::map<std::pair<size_t, uint32_t>, std::vector<Region>> by_head;
    for (Region& region : candidates()) by_head[{region.level, region.head}].push_back(std::move(region));
    std::vector<Region> parts;
    for (auto& entry : by_head) choose(std::move(entry.second), parts);
    take_parts(std::move(parts));
    list_regions_around();
    add_regions_before_joins();
    sort_regions();
    list_regions_around();
  }

  /// Of those with the same head: lanes meet where all ways lead, and before that at one place at most where
  /// some do, the last one.
  void choose(std::vector<Region> regions, std::vector<Region>& parts) {
    const auto is_last = [&](const Region& region, bool of_whole) {
      return std::none_of(regions.begin(), regions.end(), [&](const Region& other) {
        return &other != &region && (other.meets_all || !of_whole) && leads(region.meeting, other.meeting);
      });
    };
    const auto whole = std::find_if(regions.begin(), regions.end(), [&](const Region& region) {
      return region.meets_all && is_last(region, true);
    });
    if (whole != regions.end()) {
      regions_.push_back(std::move(*whole));
      regions.erase(whole);
    }
    for (Region& region : regions) {
      region.meets_all = false;
      if (is_empty(region.meeting) || !is_last(region, false)) continue;
      region.gain = gain_of(region);
      parts.push_back(region);
    }
  }

  /// Those that do not cross others that gain more, or as much further on.
  void take_parts(std::vector<Region> parts) {
    std::stable_sort(parts.begin(), parts.end(), [&](const Region& a, const Region& b) {
      const auto rank = [&](const Region& r) { return std::pair(r.gain, place_[block_of(r.meeting)]); };
      return rank(a) > rank(b);
    });
    std::vector<Region> taken;
    for (Region& part : parts)
      if (std::none_of(taken.begin(), taken.end(), [&](const Region& other) { return cross(part, other); }))
        taken.push_back(std::move(part));
    std::move(taken.begin(), taken.end(), std::back_inserter(regions_));
  }

  /// Where no region ends in between.
  void add_regions_before_joins() {
    std::vector<bool> has_whole(end());
    for (const Region& region : regions_)
      if (region.meets_all && !is_loop(region.head)) has_whole[region.head] = true;
    std::vector<Region> added;
    for (uint32_t b = 0; b < end(); ++b) {
      if (!is_reached(b) || next(b).size() < 2 || has_whole[b]) continue;
      auto region = region_before_join(b);
      const auto ends_before = [&](uint32_t other) {
        const uint32_t meeting = regions_[other].meeting;
        return meeting != region->meeting && leads(meeting, region->meeting);
      };
      if (region && std::none_of(around_[b].begin(), around_[b].end(), ends_before))
        added.push_back(std::move(*region));
    }
    std::move(added.begin(), added.end(), std::back_inserter(regions_));
  }

  /// Inner ones before those around them.
  void sort_regions() {
    std::stable_sort(regions_.begin(), regions_.end(), [&](const Region& a, const Region& b) {
      const auto rank = [&](const Region& r) {
        return std::tuple(r.level, end() - dominators_.depth(block_of(r.head)), r.meets_all);
      };
      return rank(a) < rank(b);
    });
  }

  void list_regions_around() {
    around_.assign(end(), {});
    for (uint32_t r = 0; r < regions_.size(); ++r)
      for (uint32_t b = 0; b < end(); ++b)
        if (regions_[r].has[b]) around_[b].push_back(r);
  }

  // Branches.

  /// Block at which the lanes meet that part at the branch; no_index: where those of a region around it do.
  [[nodiscard]] uint32_t meeting_of(uint32_t block) {
    for (const uint32_t r : around_[block])
      if (all_lead(block, regions_[r].meeting)) return block_of(regions_[r].meeting);
    return no_index;
  }

  /// Of each way of a branch, the meetings that it leads past, and where those who go there meet the others.
  void find_past(uint32_t block) {
    const std::vector<uint32_t>& around = around_[block];
    for (size_t way = 0; way < 2; ++way) {
      const auto on_way = [&](uint32_t r) {
        const uint32_t meeting = regions_[r].meeting;
        return leads(target(block, next(block)[way], meeting), meeting);
      };
      for (auto r = around.begin(); r != around.end(); ++r) {
        if (on_way(*r)) continue;
        const auto with = std::find_if(r + 1, around.end(), on_way);
        flow_.blocks[block].past[way].push_back(
            {block_of(regions_[*r].meeting),
             with == around.end() ? no_index : block_of(regions_[*with].meeting)});
      }
    }
  }
};

}  // namespace

void find_meetings(const ptx::Function& function, Flow& flow, const Loops& loops,
                   const std::vector<WaitLoop>& waits) {
  // Beyond that it takes seconds; no program is known to have as many.
  constexpr size_t most_blocks = 1u << 14;
  if (!flow.blocks.empty() && flow.blocks.size() <= most_blocks) Meetings(function, flow, loops, waits).run();
}

}  // namespace lanescope::exec
