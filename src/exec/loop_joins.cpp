// See loop_joins.hpp.
#include "exec/loop_joins.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "exec/dominators.hpp"

namespace lanescope::exec {

using ptx::no_index;

namespace {

class LoopJoins {
 public:
  LoopJoins(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits)
      : f_(function), flow_(flow), closes_(flow.blocks.size()) {
    for (const WaitLoop& loop : waits)
      for (const uint32_t latch : loop.latches) closes_[latch] = true;
  }

  void run() {
    std::vector<Loop> loops = find_loops();
    std::vector<bool> done(end());
    for (Loop& loop : loops) {
      if (!can_be_left(loop)) continue;
      const std::vector<uint32_t> inside = joins_inside(loop);
      for (uint32_t b = 0; b < end(); ++b) {
        Flow::Block& block = flow_.blocks[b];
        const auto stays = [&](uint32_t to) { return loop.has[to]; };
        if (!loop.has[b] || done[b] || std::count_if(block.next.begin(), block.next.end(), stays) < 2)
          continue;
        done[b] = true;
        const bool is_inside = block.join != no_index && loop.has[block.join];
        // Of two loops with one header, the inner one's end is a meeting.
        if (is_inside && (inside[b] == block.join || inside[b] == loop.header)) continue;
        block.join = inside[b];
        loop.joins.push_back(block.join);
      }
      meet_behind(loop);
    }
    for (uint32_t b = 0; b < end(); ++b)
      for (const uint32_t to : flow_.blocks[b].next)
        for (const Loop& loop : loops)
          if (loop.has[b] && !loop.has[to])
            for (const uint32_t join : loop.joins)
              if (join != to) {
                flow_.blocks[b].leaves_to = to;
                flow_.blocks[b].left.push_back(join);
              }
    for (Flow::Block& block : flow_.blocks) {
      std::sort(block.left.begin(), block.left.end());
      block.left.erase(std::unique(block.left.begin(), block.left.end()), block.left.end());
    }
  }

 private:
  const ptx::Function& f_;
  Flow& flow_;
  std::vector<bool> closes_;  ///< by block: a loop that only waits

  [[nodiscard]] uint32_t end() const { return static_cast<uint32_t>(flow_.blocks.size()); }

  struct Loop {
    uint32_t header = 0;
    std::vector<bool> has;        ///< by block
    std::vector<uint32_t> joins;  ///< of lanes that part inside and need not all get there
    size_t size = 0;
  };

  /// Lanes that have done with the loop meet behind it, though others leave it to where those come later.
  void meet_behind(Loop& loop) {
    for (uint32_t b = 0; b < end(); ++b) {
      Flow::Block& block = flow_.blocks[b];
      if (!loop.has[b] || block.next.size() != 2 || (block.join != no_index && loop.has[block.join]))
        continue;
      const bool first_stays = block.next[0] == loop.header;
      const uint32_t behind = block.next[first_stays ? 1 : 0];
      if ((!first_stays && block.next[1] != loop.header) || loop.has[behind] || behind == block.join)
        continue;
      block.join = behind;
      loop.joins.push_back(behind);
    }
  }

  /// Natural loops, inner ones before those around them.
  [[nodiscard]] std::vector<Loop> find_loops() const {
    Graph forwards(end() + 1);
    for (uint32_t b = 0; b < end(); ++b)
      for (uint32_t to : flow_.blocks[b].next) forwards.edge(b, to);
    const std::vector<uint32_t> parent = immediate_dominators(forwards, 0);
    const auto dominates = [&](uint32_t a, uint32_t b) {
      while (b != a && b != 0) b = parent[b];
      return b == a;
    };
    std::vector<Loop> loops;
    for (uint32_t header = 0; header < end(); ++header) {
      if (parent[header] == no_index) continue;
      Loop loop{header, std::vector<bool>(end() + 1), {}, 1};
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
      loops.push_back(std::move(loop));
    }
    std::stable_sort(loops.begin(), loops.end(),
                     [](const Loop& a, const Loop& b) { return a.size < b.size; });
    return loops;
  }

  /// Whether each way out of the loop is a branch ahead that closes no loop that waits: what can tell lanes
  /// that leave from those that stay.
  [[nodiscard]] bool can_be_left(const Loop& loop) const {
    for (uint32_t b = 0; b < end(); ++b) {
      if (!loop.has[b]) continue;
      const bool is_branch = f_.body[flow_.blocks[b].end - 1].op == ptx::Op::bra && !closes_[b];
      for (const uint32_t to : flow_.blocks[b].next)
        if (!loop.has[to] && (!is_branch || to == end() || to <= b)) return false;
    }
    return true;
  }

  /// Where lanes that part inside the loop meet if none leaves it: at the latest before the next iteration.
  [[nodiscard]] std::vector<uint32_t> joins_inside(const Loop& loop) const {
    Graph backwards(end() + 1);  // its root, the function's end, stands for the end of an iteration
    for (uint32_t b = 0; b < end(); ++b)
      if (loop.has[b])
        for (const uint32_t to : flow_.blocks[b].next)
          if (loop.has[to]) backwards.edge(to == loop.header ? end() : to, b);
    std::vector<uint32_t> parent = immediate_dominators(backwards, end());
    for (uint32_t& join : parent)
      if (join == end()) join = loop.header;
    return parent;
  }
};

}  // namespace

void find_joins_in_loops(const ptx::Function& function, Flow& flow, const std::vector<WaitLoop>& waits) {
  if (!flow.blocks.empty()) LoopJoins(function, flow, waits).run();
}

}  // namespace lanescope::exec
