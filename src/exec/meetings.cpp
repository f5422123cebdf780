// See meetings.hpp.
#include "exec/meetings.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include "exec/dominators.hpp"

namespace lanescope::exec {

using ptx::no_index;

namespace {

/// Nodes are blocks, then the function's end, then for each loop the end of an iteration.
class Meetings {
 public:
  Meetings(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits)
      : f_(function), flow_(flow), closes_(flow.blocks.size()), order_(flow.blocks.size(), no_index) {
    for (const WaitLoop& loop : waits)
      for (const uint32_t latch : loop.latches) closes_[latch] = true;
    uint32_t place = 0;
    for (const uint32_t block : reverse_post_order(flow)) order_[block] = place++;
    find_loops();
    before_.resize(end() + 1);
    leading_.resize(end() + 1 + loops_.size());
    for (uint32_t b = 0; b < end(); ++b) {
      if (order_[b] == no_index) continue;
      for (const uint32_t to : flow_.blocks[b].next) {
        before_[to].push_back({b, way_back(b, to)});
        if (to < end() && order_[to] <= order_[b] && way_back(b, to) == loops_.size()) is_ordered_ = false;
      }
      if (flow_.blocks[b].next.size() >= 2 && !can_tell(b)) blind_.push_back(b);
    }
  }

  void run() {
    if (!is_ordered_) return;
    for (size_t loop = 0; loop <= loops_.size(); ++loop) candidates_.push_back(list_candidates(loop));
    std::vector<uint32_t> meeting(end(), no_index);  // nodes
    std::set<uint32_t> all;
    for (uint32_t b = 0; b < end(); ++b) {
      if (order_[b] == no_index || flow_.blocks[b].next.size() < 2) continue;
      meeting[b] = meeting_of(b);
      if (meeting[b] != no_index)
        all.insert(meeting[b]);
      else if (flow_.blocks[b].join != no_index)
        return;  // its lanes could be sent past a meeting unseen: post-dominators for all, then
    }
    for (uint32_t b = 0; b < end(); ++b) {
      if (meeting[b] == no_index) continue;
      flow_.blocks[b].join = block_of(meeting[b]);
    }
    find_past(meeting, all);
  }

 private:
  struct Loop {
    uint32_t header = 0;
    std::vector<bool> has;  ///< by block
    size_t size = 0;
  };

  const ptx::Function& f_;
  Flow& flow_;
  std::vector<bool> closes_;     ///< by block: a loop that only waits
  std::vector<uint32_t> order_;  ///< by block: its place in reverse post-order; no_index: never reached
  std::vector<Loop> loops_;      ///< inner ones before those around them
  bool is_ordered_ = true;       ///< no way but those back to loops' headers leads to an earlier place
  struct Edge {
    uint32_t from = 0;
    size_t loop = 0;  ///< whose way back it is; loops_.size(): none's
  };
  std::vector<std::vector<Edge>> before_;          ///< by block
  std::vector<std::vector<uint32_t>> candidates_;  ///< by loop; at last of the function
  std::vector<uint32_t> blind_;  ///< blocks with several ways that cannot tell who goes past a place
  std::vector<std::vector<bool>> leading_;  ///< by node: what leads to it, see leads()

  [[nodiscard]] uint32_t end() const { return static_cast<uint32_t>(flow_.blocks.size()); }
  [[nodiscard]] uint32_t end_of(size_t loop) const { return end() + 1 + static_cast<uint32_t>(loop); }
  [[nodiscard]] uint32_t block_of(uint32_t node) const {
    return node > end() ? loops_[node - end() - 1].header : node;
  }
  /// Whether an iteration of the loop has the node.
  [[nodiscard]] bool has(size_t loop, uint32_t node) const {
    return node == end_of(loop) || (node < end() && loops_[loop].has[node]);
  }

  void find_loops() {
    Graph forwards(end() + 1);
    for (uint32_t b = 0; b < end(); ++b)
      for (uint32_t to : flow_.blocks[b].next) forwards.edge(b, to);
    const std::vector<uint32_t> parent = immediate_dominators(forwards, 0);
    const auto dominates = [&](uint32_t a, uint32_t b) {
      while (b != a && b != 0) b = parent[b];
      return b == a;
    };
    for (uint32_t header = 0; header < end(); ++header) {
      if (parent[header] == no_index) continue;
      Loop loop{header, std::vector<bool>(end() + 1), 1};
      std::vector<uint32_t> open;
      for (uint32_t from : forwards.before[header])
        if (parent[from] != no_index && dominates(header, from)) open.push_back(from);
      if (open.empty()) continue;
      loop.has[header] = true;
      while (!open.empty()) {
        const uint32_t block = open.back();
        open.pop_back();
        if (loop.has[block]) continue;
        loop.has[block] = true;
        ++loop.size;
        for (uint32_t before : forwards.before[block])
          if (parent[before] != no_index) open.push_back(before);
      }
      loops_.push_back(std::move(loop));
    }
    std::stable_sort(loops_.begin(), loops_.end(),
                     [](const Loop& a, const Loop& b) { return a.size < b.size; });
  }

  /// Which loop's way back the edge is; loops_.size(): none's.
  [[nodiscard]] size_t way_back(uint32_t from, uint32_t to) const {
    size_t loop = 0;
    while (loop < loops_.size() && (loops_[loop].header != to || !loops_[loop].has[from])) ++loop;
    return loop;
  }

  /// Where the edge goes for lanes on their way to `node`: the way back of a loop that has the node ends the
  /// iteration.
  [[nodiscard]] uint32_t target(uint32_t from, uint32_t to, uint32_t node) const {
    const size_t loop = way_back(from, to);
    return loop < loops_.size() && has(loop, node) ? end_of(loop) : to;
  }

  /// Whether `from` is the node or leads to it, in the same iterations of the loops that the node is in.
  [[nodiscard]] bool leads(uint32_t from, uint32_t node) {
    if (from > end() && !has(from - end() - 1, node)) from = block_of(from);  // an iteration like others
    std::vector<bool>& all = leading_[node];
    if (!all.empty()) return all[from];
    all.assign(end() + 1 + loops_.size(), false);
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

  /// Whether the branch of a block can tell who goes past a place: not a jump through a table, nor where a
  /// loop waits.
  [[nodiscard]] bool can_tell(uint32_t block) const {
    return f_.body[flow_.blocks[block].end - 1].op == ptx::Op::bra && !closes_[block];
  }

  /// Whether lanes of `block` may come to another block on their way to `node`.
  [[nodiscard]] bool comes_to(uint32_t block, uint32_t other, uint32_t node) {
    if (block == other || leads(block, other)) return true;
    for (size_t loop = 0; loop < loops_.size(); ++loop)
      if (loops_[loop].has[block] && loops_[loop].has[other] && !has(loop, node)) return true;
    return false;
  }

  /// Whether each branch on the way from `block` to `node` can tell who goes past it.
  [[nodiscard]] bool can_meet(uint32_t block, uint32_t node) {
    return std::none_of(blind_.begin(), blind_.end(), [&](uint32_t b) {
      const auto& next = flow_.blocks[b].next;
      return b != node && leads(b, node) && comes_to(block, b, node) &&
             !std::all_of(next.begin(), next.end(),
                          [&](uint32_t to) { return leads(target(b, to, node), node); });
    });
  }

  /// Lanes need not wait for each other in order to end: others may be at a barrier that counts only the
  /// living.
  [[nodiscard]] bool ends_at_once(uint32_t node) const {
    if (node == end()) return false;
    const Flow::Block& block = flow_.blocks[block_of(node)];
    const ptx::Instruction& first = f_.body[block.begin];
    return block.next.empty() && first.guard == no_index &&
           (first.op == ptx::Op::exit || first.op == ptx::Op::ret);
  }

  [[nodiscard]] uint32_t meeting_of(uint32_t block) {
    const std::vector<uint32_t>& next = flow_.blocks[block].next;
    for (size_t loop = 0; loop <= loops_.size(); ++loop) {
      const bool whole = loop == loops_.size();  // of the function
      if (!whole && !loops_[loop].has[block]) continue;
      const auto stays =
          std::count_if(next.begin(), next.end(), [&](uint32_t to) { return whole || loops_[loop].has[to]; });
      if (stays == 1 && next.size() == 2) return behind(block, loop);
      if (stays >= 2) return first_common(block, loop);
    }
    return no_index;
  }

  /// Where lanes meet that a block's branch sends out of a loop. At the loop's begin or end: right there.
  /// From between: where lanes come, too, that leave it elsewhere, if there is such a place.
  [[nodiscard]] uint32_t behind(uint32_t block, size_t loop) {
    const std::vector<uint32_t>& next = flow_.blocks[block].next;
    const uint32_t header = loops_[loop].header, out = loops_[loop].has[next[0]] ? next[1] : next[0];
    const auto fits = [&](uint32_t node) {
      return (node == end() || !ends_at_once(node)) && can_meet(block, node);
    };
    const bool at_an_end = block == header || next[0] == header || next[1] == header;
    for (size_t around = loop + 1; !at_an_end && around <= loops_.size(); ++around) {
      const bool whole = around == loops_.size();
      if (!whole && (!loops_[around].has[block] || !loops_[around].has[out])) continue;
      for (const uint32_t node : candidates_[around])
        if (!has(loop, node) && leads(target(block, out, node), node) &&
            is_elsewhere_left_for(block, loop, node))
          return fits(node) ? node : no_index;
    }
    return fits(out) ? out : no_index;
  }

  /// Whether other ways out of a loop than that of the block lead to a node.
  [[nodiscard]] bool is_elsewhere_left_for(uint32_t block, size_t loop, uint32_t node) {
    for (uint32_t b = 0; b < end(); ++b) {
      if (b == block || order_[b] == no_index || !loops_[loop].has[b]) continue;
      for (const uint32_t to : flow_.blocks[b].next)
        if (!loops_[loop].has[to] && leads(target(b, to, node), node)) return true;
    }
    return false;
  }

  /// The first node to which two ways of the block lead, in the loop or, behind the last one, the function.
  [[nodiscard]] uint32_t first_common(uint32_t block, size_t loop) {
    for (const uint32_t node : candidates(loop, block)) {
      const auto& next = flow_.blocks[block].next;
      const auto ways = std::count_if(next.begin(), next.end(),
                                      [&](uint32_t to) { return leads(target(block, to, node), node); });
      if (ways < 2 || (!can_tell(block) && static_cast<size_t>(ways) < next.size())) continue;
      if (node < end() && ends_at_once(node)) return no_index;
      if (can_meet(block, node)) return node;
    }
    return no_index;
  }

  /// Each way past a place, among `all` meetings, which gets those at which lanes meet that have gone past
  /// others.
  void find_past(const std::vector<uint32_t>& meeting, std::set<uint32_t>& all) {
    for (size_t known = 0; known != all.size();) {
      known = all.size();
      const std::vector<uint32_t> places(all.begin(), all.end());
      for (uint32_t block = 0; block < end(); ++block) {
        Flow::Block& b = flow_.blocks[block];
        if (order_[block] == no_index || b.next.size() != 2 || !can_tell(block)) continue;
        for (size_t way = 0; way < 2; ++way) {
          b.past[way].clear();
          for (const uint32_t node : places) {
            if (block == node || !leads(block, node) || leads(target(block, b.next[way], node), node))
              continue;
            const uint32_t with = meeting_with(block, b.next[way], node, meeting[block]);
            b.past[way].push_back({block_of(node), with == no_index ? no_index : block_of(with)});
            if (with != no_index) all.insert(with);
          }
        }
      }
    }
  }

  /// Where lanes that go from a block to `to`, past `node`, meet those who stop there: at the block's own
  /// meeting, or else at the first one that both lead to.
  [[nodiscard]] uint32_t meeting_with(uint32_t block, uint32_t to, uint32_t node, uint32_t own) {
    const auto both_lead = [&](uint32_t place) {
      return place != node && leads(target(block, to, place), place) && leads(node, place);
    };
    if (own != no_index && both_lead(own)) return own;
    for (size_t loop = 0; loop <= loops_.size(); ++loop) {
      const bool whole = loop == loops_.size();
      if (!whole && (!has(loop, to) || !has(loop, node))) continue;
      for (const uint32_t place : candidates_[loop])
        if (both_lead(place)) return place < end() && ends_at_once(place) ? no_index : place;
    }
    return no_index;
  }

  /// Where lanes can meet in an iteration of the loop, or in the function, in the order of execution.
  [[nodiscard]] std::vector<uint32_t> list_candidates(size_t loop) const {
    const bool whole = loop == loops_.size();
    std::vector<uint32_t> nodes;
    for (uint32_t b = 0; b < end(); ++b)
      if (order_[b] != no_index && before_[b].size() >= 2 && (whole || loops_[loop].has[b]))
        nodes.push_back(b);
    std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) { return order_[a] < order_[b]; });
    nodes.push_back(whole ? end() : end_of(loop));
    return nodes;
  }

  /// Those behind a block.
  [[nodiscard]] std::span<const uint32_t> candidates(size_t loop, uint32_t block) const {
    const std::vector<uint32_t>& all = candidates_[loop];
    const auto first = std::upper_bound(all.begin(), all.end() - 1, order_[block],
                                        [&](uint32_t place, uint32_t node) { return place < order_[node]; });
    return {first, all.end()};
  }
};

}  // namespace

void find_meetings(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits) {
  // Beyond that it takes seconds; no program is known to have as many.
  constexpr size_t most_blocks = 1u << 14;
  if (!flow.blocks.empty() && flow.blocks.size() <= most_blocks) Meetings(function, flow, waits).run();
}

}  // namespace lanescope::exec
