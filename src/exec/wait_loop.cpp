// See wait_loop.hpp.
#include "exec/wait_loop.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace lanescope::exec {

using ptx::no_index;

namespace {

/// Whether an atomic operation reads and nothing more, as atomicAdd(p, 0) does.
bool only_reads(const ptx::Instruction& in) {
  const bool keeps_with_zero = in.has(ptx::Mod::add) || in.has(ptx::Mod::or_) || in.has(ptx::Mod::xor_);
  return keeps_with_zero && in.operands[2].kind == ptx::Operand::Kind::integer && in.operands[2].bits == 0;
}

bool reads_clock(const ptx::Instruction& in) {
  const auto is_clock = [](const ptx::Operand& operand) {
    return operand.kind == ptx::Operand::Kind::special && operand.special >= ptx::SpecialRegister::clock &&
           operand.special <= ptx::SpecialRegister::globaltimer_hi;
  };
  return std::any_of(in.operands.begin(), in.operands.end(), is_clock) ||
         std::any_of(in.elements.begin(), in.elements.end(), is_clock);
}

/// What an instruction is to a loop that only waits.
enum class Part : uint8_t {
  unfit,  ///< such loops do not have it
  plain,
  looks,
  tries,  ///< to take a lock
  meets   ///< other lanes
};

Part part_of(const ptx::Instruction& in) {
  if (in.has(ptx::Mod::cc)) return Part::unfit;
  const auto plain_if = [](bool fits) { return fits ? Part::plain : Part::unfit; };
  switch (ptx::info(in.op).op_class) {
    case ptx::OpClass::arithmetic:
    case ptx::OpClass::logic:
    case ptx::OpClass::compare:
    case ptx::OpClass::convert:
    case ptx::OpClass::move:
    case ptx::OpClass::video: return Part::plain;
    case ptx::OpClass::warp: return Part::meets;
    case ptx::OpClass::memory:
      return in.op == ptx::Op::ld ? Part::looks
                                  : plain_if(in.op == ptx::Op::isspacep || in.op == ptx::Op::mapa);
    case ptx::OpClass::atomic:
      if (in.op != ptx::Op::atom) return Part::unfit;
      if (only_reads(in)) return Part::looks;
      return in.has(ptx::Mod::cas) || in.has(ptx::Mod::exch) ? Part::tries : Part::unfit;
    case ptx::OpClass::async:
      return in.op == ptx::Op::mbarrier_test_wait || in.op == ptx::Op::mbarrier_try_wait ? Part::looks
                                                                                         : Part::unfit;
    case ptx::OpClass::barrier: return plain_if(in.op == ptx::Op::fence || in.op == ptx::Op::membar);
    case ptx::OpClass::control: return plain_if(in.op == ptx::Op::nanosleep || in.op == ptx::Op::bra);
    default: return Part::unfit;
  }
}

class Search {
 public:
  Search(const ptx::Function& function, const Flow& flow, const Loops& loops)
      : f_(function), flow_(flow), loops_(loops), number_(flow.blocks.size(), no_index) {
    uint32_t number = 0;
    for (const uint32_t block : reverse_post_order(flow)) number_[block] = number++;
  }

  [[nodiscard]] std::vector<WaitLoop> run() const {
    std::vector<WaitLoop> found;
    const auto look_at = [&](const Loop& candidate) {
      auto loop = wait_loop(candidate);
      if (loop) found.push_back(std::move(*loop));
      return loop.has_value();
    };
    for (const Loop& loop : loops_.all) {
      if (look_at(loop) || loop.latches.size() == 1) continue;
      // Loops one inside the other may begin at the same block.
      for (const uint32_t latch : loop.latches) look_at(natural_loop(loops_.graph, loop.header, {latch}));
    }
    return found;
  }

 private:
  const ptx::Function& f_;
  const Flow& flow_;
  const Loops& loops_;
  std::vector<uint32_t> number_;  ///< by block: where it stands in reverse post-order

  [[nodiscard]] bool fits(uint32_t block) const {
    const Flow::Block& b = flow_.blocks[block];
    return std::none_of(f_.body.begin() + b.begin, f_.body.begin() + b.end,
                        [](const ptx::Instruction& in) { return part_of(in) == Part::unfit; });
  }

  [[nodiscard]] std::optional<WaitLoop> wait_loop(const Loop& candidate) const {
    // A guarded instruction at a latch's end jumps around itself, and would jump around the way back, too.
    const auto ends_guarded = [&](uint32_t latch) {
      const ptx::Instruction& last = f_.body[flow_.blocks[latch].end - 1];
      return last.op != ptx::Op::bra && last.guard != no_index;
    };
    if (std::any_of(candidate.latches.begin(), candidate.latches.end(), ends_guarded)) return std::nullopt;
    WaitLoop loop{candidate.header, candidate.latches, {}, false};
    for (uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      if (!candidate.has[block]) continue;
      if (!fits(block)) return std::nullopt;
      loop.blocks.push_back(block);
    }
    std::sort(loop.blocks.begin(), loop.blocks.end(),
              [&](uint32_t a, uint32_t b) { return number_[a] < number_[b]; });
    return only_waits(loop, candidate.has) ? std::optional(std::move(loop)) : std::nullopt;
  }

  /// Registers that are read before they are written: each iteration finds what the one before has left.
  [[nodiscard]] std::vector<bool> carried(const WaitLoop& loop) const {
    std::vector<bool> read(f_.registers.size()), written(read), both(read);
    for (uint32_t block : loop.blocks)
      for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
        const Usage& usage = flow_.usage[i];
        for (uint32_t r : usage.reads) read[r] = read[r] || !written[r];
        for (uint32_t r : usage.writes) {
          written[r] = true;
          both[r] = read[r];
        }
      }
    return both;
  }

  /// Goes through the loop once, in an order in which all of it but the way back leads forward. Registers are
  /// unsteady that may have another value at the next look though memory is what it was: what is carried,
  /// clocks, and what comes of these. An unsteady branch decides whether the blocks up to `until` are
  /// executed at all: no way of it leads further, so that is where all have met.
  [[nodiscard]] bool only_waits(WaitLoop& loop, const std::vector<bool>& inside) const {
    std::vector<bool> unsteady = carried(loop);
    const auto is_unsteady = [&](uint32_t reg) { return reg != no_index && unsteady[reg]; };
    bool looks = false;
    uint32_t until = 0;
    for (uint32_t block : loop.blocks) {
      const Flow::Block& b = flow_.blocks[block];
      const bool block_at_times = number_[block] < until;
      for (uint32_t i = b.begin; i < b.end; ++i) {
        const ptx::Instruction& in = f_.body[i];
        const Usage& usage = flow_.usage[i];
        const bool at_times = block_at_times || is_unsteady(in.guard);
        const bool differs =
            at_times || reads_clock(in) || std::any_of(usage.reads.begin(), usage.reads.end(), is_unsteady);
        const Part part = part_of(in);
        if ((part == Part::tries && differs) || (part == Part::meets && at_times)) return false;
        loop.takes_lock = loop.takes_lock || part == Part::tries;
        looks = looks || part == Part::tries || (part == Part::looks && !differs);
        if (differs)
          for (uint32_t r : usage.writes) unsteady[r] = true;
      }
      const ptx::Instruction& last = f_.body[b.end - 1];
      const bool decides = last.op == ptx::Op::bra && is_unsteady(last.guard);
      for (uint32_t next : b.next) {
        const bool leaves = next >= inside.size() || !inside[next];
        if (!leaves && next != loop.header && number_[next] <= number_[block]) return false;  // another loop
        if (!decides && !block_at_times) continue;
        if (leaves) return false;
        until = std::max(until, next == loop.header ? no_index : number_[next]);
      }
    }
    return looks;
  }
};

}  // namespace

std::vector<WaitLoop> wait_loops(const ptx::Function& function, const Flow& flow, const Loops& loops) {
  return Search(function, flow, loops).run();
}

}  // namespace lanescope::exec
