// See unrolling.hpp.
#include "exec/unrolling.hpp"

#include <algorithm>
#include <optional>

#include "exec/expansion.hpp"

namespace lanescope::exec {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::OpClass;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

bool has_branches(const ptx::Function& function, const UnrolledLoop& loop) {
  return std::any_of(function.body.begin() + loop.first, function.body.begin() + loop.last,
                     [](const ptx::Instruction& in) { return in.op == Op::bra; });
}

// Measured in instructions of an iteration, as the assembler counts them.
/// Bodies that load from memory other than shared, and others; a load from shared memory raises the limit.
constexpr uint32_t limit_with_loads = 49, limit_without = 21, limit_for_shared_load = 5, highest_limit = 99;

/// Whether loads from there take so long that the assembler unrolls longer bodies.
bool is_far(const ptx::Instruction& in) {
  if (in.op == Op::tex || in.op == Op::tld4) return true;
  return (in.op == Op::ld || in.op == Op::ldu) &&
         (in.space == Space::global || in.space == Space::generic || in.space == Space::local);
}

/// Of the ways to write it the comparison of a counter on the left side that goes up or down.
std::optional<Mod> comparison_of(const ptx::Instruction& setp, bool limit_first) {
  if (setp.has(Mod::ne)) return Mod::ne;
  const bool less = setp.has(Mod::lt) || setp.has(Mod::lo), at_most = setp.has(Mod::le) || setp.has(Mod::ls),
             more = setp.has(Mod::gt) || setp.has(Mod::hi), at_least = setp.has(Mod::ge) || setp.has(Mod::hs);
  if (less) return limit_first ? Mod::gt : Mod::lt;
  if (at_most) return limit_first ? Mod::ge : Mod::le;
  if (more) return limit_first ? Mod::lt : Mod::gt;
  if (at_least) return limit_first ? Mod::le : Mod::ge;
  return std::nullopt;
}

class Candidate {
 public:
  Candidate(const ptx::Function& function, const Flow& flow, const Loops& loops, const Loop& loop)
      : f_(function),
        flow_(flow),
        loops_(loops),
        loop_(loop),
        first_(flow.blocks[loop.header].begin),
        last_(flow.blocks[loop.latches.front()].end - 1) {}

  [[nodiscard]] std::optional<UnrolledLoop> look() const {
    if (loop_.latches.size() != 1 || last_ < first_ || !is_one_piece() || is_told_not_to())
      return std::nullopt;
    std::optional<UnrolledLoop> found = count();
    if (found && (!all_of_body([](const ptx::Instruction& in) { return may_be_unrolled(in); }) ||
                  (has_branches(f_, *found) && has_stores()) || stores_in_place() || size() > limit()))
      found.reset();
    return found;
  }

 private:
  const ptx::Function& f_;
  const Flow& flow_;
  const Loops& loops_;
  const Loop& loop_;
  uint32_t first_, last_;

  template <class Is>
  [[nodiscard]] bool all_of_body(Is is) const {
    return std::all_of(f_.body.begin() + first_, f_.body.begin() + last_, is);
  }

  /// Whether the loop's blocks lie side by side, lead forward among themselves, and are left at the end
  /// alone, to what follows. Not with an `if` inside another one, but for that of `a || b`.
  [[nodiscard]] bool is_one_piece() const {
    const uint32_t begin = flow_.block_of[first_], end = flow_.block_of[last_] + 1;
    if (loop_.size != end - begin) return false;
    for (uint32_t b = begin; b < end; ++b) {
      if (!loop_.has[b]) return false;
      const Flow::Block& block = flow_.blocks[b];
      const bool closes = b + 1 == end, parts = block.next.size() > 1;
      if (closes && (!block.past[0].empty() || !block.past[1].empty())) return false;
      if (parts && !is_of_all(b) && (b == begin || !is_second_condition(b, begin))) return false;
      if (closes ? !parts : std::any_of(block.next.begin(), block.next.end(), [&](uint32_t to) {
            return to <= b || to >= end;
          }))
        return false;
    }
    const ptx::Instruction& back = f_.body[last_];
    return back.op == Op::bra && back.guard != no_index && !back.guard_negated &&
           f_.labels[back.operands[0].index].instruction == first_;
  }

  /// Whether every iteration goes through a block.
  [[nodiscard]] bool is_of_all(uint32_t block) const {
    return loops_.dominators.dominates(block, flow_.block_of[last_]);
  }

  /// Whether a block has the `b` of `if (a || b)`, where both lead to what follows it.
  [[nodiscard]] bool is_second_condition(uint32_t block, uint32_t begin) const {
    const auto leads = [&](uint32_t from, uint32_t to) {
      const std::vector<uint32_t>& next = flow_.blocks[from].next;
      return std::find(next.begin(), next.end(), to) != next.end();
    };
    uint32_t before = 0;
    for (uint32_t b = begin; b < block; ++b) before += leads(b, block) ? 1 : 0;
    return before == 1 && leads(block - 1, block) && leads(block - 1, block + 1) && leads(block, block + 1) &&
           is_of_all(block - 1);
  }

  [[nodiscard]] bool is_told_not_to() const {
    return f_.never_unrolled || std::any_of(f_.not_unrolled.begin(), f_.not_unrolled.end(),
                                            [&](uint32_t i) { return i >= first_ && i <= last_; });
  }

  /// The one instruction of the loop that writes the register; no_index: there are none, or several.
  [[nodiscard]] uint32_t definition(uint32_t reg) const {
    uint32_t found = no_index;
    for (uint32_t i = first_; i <= last_; ++i) {
      const std::vector<uint32_t>& writes = flow_.usage[i].writes;
      if (std::find(writes.begin(), writes.end(), reg) == writes.end()) continue;
      if (found != no_index) return no_index;
      found = i;
    }
    return found;
  }
  [[nodiscard]] bool is_changed(uint32_t reg) const {
    return std::any_of(
        flow_.usage.begin() + first_, flow_.usage.begin() + last_ + 1, [&](const Usage& usage) {
          return std::find(usage.writes.begin(), usage.writes.end(), reg) != usage.writes.end();
        });
  }
  /// In every iteration.
  [[nodiscard]] bool is_always_executed(uint32_t i) const {
    return i != no_index && f_.body[i].guard == no_index && is_of_all(flow_.block_of[i]);
  }

  /// What it counts, and up to where.
  [[nodiscard]] std::optional<UnrolledLoop> count() const {
    const uint32_t compared = definition(f_.body[last_].guard);
    if (!is_always_executed(compared) || f_.body[compared].op != Op::setp) return std::nullopt;
    const ptx::Instruction& setp = f_.body[compared];
    const Type type = setp.type();
    const uint32_t bytes = ptx::size_of(type);
    if (ptx::is_float(type) || (bytes != 4 && bytes != 8) || setp.operands.size() != 3) return std::nullopt;
    const auto fits = [&](uint32_t reg) { return lane_bytes(f_.registers[reg].type) == bytes; };
    for (const bool limit_first : {false, true}) {
      const Operand &counted = setp.operands[limit_first ? 2 : 1],
                    &limit = setp.operands[limit_first ? 1 : 2];
      const bool stays = limit.kind == Operand::Kind::integer ||
                         (limit.kind == Operand::Kind::reg && fits(limit.reg) && !is_changed(limit.reg));
      const std::optional<Mod> comparison = comparison_of(setp, limit_first);
      if (!stays || !comparison || counted.kind != Operand::Kind::reg || !fits(counted.reg)) continue;
      const uint32_t added = definition(counted.reg);
      if (!is_always_executed(added) || added > compared) continue;
      const std::optional<int64_t> step = step_of(f_.body[added], counted.reg, type);
      const bool up = *comparison == Mod::lt || *comparison == Mod::le,
                 down = *comparison == Mod::gt || *comparison == Mod::ge;
      if (!step || *step == 0 || (up && *step < 0) || (down && *step > 0)) continue;
      return UnrolledLoop{first_, last_, counted.reg, limit, *step, type, *comparison};
    }
    return std::nullopt;
  }

  /// The constant that an instruction adds to a register of the comparison's width.
  static std::optional<int64_t> step_of(const ptx::Instruction& in, uint32_t reg, Type compared) {
    if ((in.op != Op::add && in.op != Op::sub) || in.has(Mod::cc) || in.has(Mod::sat) ||
        in.types.size() != 1 || !ptx::is_integer(in.type()) ||
        ptx::size_of(in.type()) != ptx::size_of(compared))
      return std::nullopt;
    const Operand &from = in.operands[1], &by = in.operands[2];
    if (from.kind != Operand::Kind::reg || from.reg != reg || by.kind != Operand::Kind::integer)
      return std::nullopt;
    const int64_t wide = static_cast<int64_t>(by.bits);
    const int64_t step = ptx::size_of(compared) == 4 ? static_cast<int32_t>(wide) : wide;
    return in.op == Op::add ? step : -step;
  }

  /// What threads do together, or where the machine calls or branches, is not repeated.
  static bool may_be_unrolled(const ptx::Instruction& in) {
    if (is_expanded(in)) return false;
    switch (ptx::info(in.op).op_class) {
      case OpClass::arithmetic:
      case OpClass::logic:
      case OpClass::compare:
      case OpClass::convert:
      case OpClass::move:
      case OpClass::video:
      case OpClass::texture:
      case OpClass::memory: return true;
      case OpClass::async: return in.op == Op::cp_async;
      case OpClass::control: return in.op == Op::bra;
      default: return false;
    }
  }

  [[nodiscard]] bool has_stores() const {
    return !all_of_body([](const ptx::Instruction& in) { return in.op != Op::st; });
  }
  /// Whether it stores in each iteration at one place of memory that other threads see.
  [[nodiscard]] bool stores_in_place() const {
    return !all_of_body([&](const ptx::Instruction& in) {
      if (in.op != Op::st || (in.space != Space::global && in.space != Space::generic)) return true;
      const Operand& address = in.operands[0];
      return address.reg != no_index && is_changed(address.reg);
    });
  }

  [[nodiscard]] uint32_t limit() const {
    uint32_t limit = limit_without;
    bool far = false;
    for (uint32_t i = first_; i < last_; ++i) {
      const ptx::Instruction& in = f_.body[i];
      far = far || is_far(in);
      if (in.op == Op::ld && is_shared(in.space)) limit += limit_for_shared_load;
    }
    return std::min(far ? std::max(limit, limit_with_loads) : limit, highest_limit);
  }

  /// Instructions of an iteration. What does not change in the loop is computed before it.
  [[nodiscard]] uint32_t size() const {
    uint32_t size = 0;
    std::vector<uint32_t> writes(f_.registers.size());  // how many change it
    for (uint32_t i = first_; i <= last_; ++i)
      for (const uint32_t r : flow_.usage[i].writes) ++writes[r];
    for (uint32_t i = first_; i <= last_; ++i) {
      const ptx::Instruction& in = f_.body[i];
      const Usage& usage = flow_.usage[i];
      const OpClass of = ptx::info(in.op).op_class;
      const bool computes = of == OpClass::arithmetic || of == OpClass::logic || of == OpClass::compare ||
                            of == OpClass::convert || of == OpClass::move;
      const auto none = [](const std::vector<uint32_t>& registers, const auto& is) {
        return std::none_of(registers.begin(), registers.end(), is);
      };
      if (computes && none(usage.writes, [&](uint32_t r) { return flow_.read[r]; })) continue;
      if (computes && none(usage.reads, [&](uint32_t r) { return writes[r] != 0; })) {
        for (const uint32_t r : usage.writes)
          if (writes[r] == 1) writes[r] = 0;
        continue;
      }
      size += cost(in) + (in.guard != no_index && in.op != Op::bra ? 1 : 0);
    }
    return size;
  }

  /// As found by adding each to a body until that is no longer unrolled.
  static uint32_t cost(const ptx::Instruction& in) {
    const Type type = in.type();
    const bool exact = !in.has(Mod::ftz) && type == Type::f32;  // takes small numbers apart
    const bool constant_divisor = in.operands.size() == 3 && in.operands[2].kind == Operand::Kind::integer;
    switch (in.op) {
      case Op::mov: {
        const Operand& from = in.operands[1];
        const bool copies = in.operands[0].kind == Operand::Kind::reg && from.kind != Operand::Kind::vector &&
                            from.kind != Operand::Kind::special;
        return copies ? 0 : 1;
      }
      case Op::ld:
      case Op::ldu:
      case Op::st: {
        const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                          [](const Operand& o) { return o.kind == Operand::Kind::address; });
        const bool adds = address != in.operands.end() && address->reg != no_index && address->bits != 0;
        const bool bytes = in.op != Op::st && ptx::size_of(type) == 1;
        return 1 + (adds ? 1 : 0) + (bytes ? 1 : 0);
      }
      case Op::div:
        if (ptx::is_float(type)) return in.has(Mod::full) ? (exact ? 12 : 8) : (exact ? 7 : 2);
        return constant_divisor ? (ptx::is_signed(type) ? 23 : 18) : 21;
      case Op::rem: return constant_divisor ? 16 : 21;
      case Op::rcp:
      case Op::sqrt:
      case Op::rsqrt:
      case Op::ex2:
      case Op::lg2: return exact ? 6 : 1;
      case Op::clz:
      case Op::slct: return 2;
      default: break;
    }
    if (type == Type::f16x2 || type == Type::bf16x2) return 2;
    return in.op == Op::mad && in.has(Mod::wide) ? 4 : 1;
  }
};

class Writer {
 public:
  Writer(const ptx::Function& original, const std::vector<UnrolledLoop>& loops)
      : original_(original), loops_(loops), f_(result_.function) {}

  WrittenOut run() {
    f_ = original_;
    f_.body.clear();
    std::vector<uint32_t> at(original_.body.size() + 1);
    auto loop = loops_.begin();
    for (uint32_t i = 0; i < original_.body.size(); ++i) {
      at[i] = here();
      if (loop != loops_.end() && loop->first == i) {
        write(*loop);
        std::fill(at.begin() + i + 1, at.begin() + loop->last + 1, at[i]);  // nothing else leads there
        i = (loop++)->last;
      } else {
        put(original_.body[i], {i, 0});
      }
    }
    at.back() = here();
    for (size_t label = 0; label < original_.labels.size(); ++label)
      f_.labels[label].instruction = at[original_.labels[label].instruction];
    return std::move(result_);
  }

 private:
  const ptx::Function& original_;
  const std::vector<UnrolledLoop>& loops_;
  WrittenOut result_;
  ptx::Function& f_;

  [[nodiscard]] uint32_t here() const { return static_cast<uint32_t>(f_.body.size()); }
  void put(ptx::Instruction in, WrittenOut::Place place) {
    f_.body.push_back(std::move(in));
    result_.places.push_back(place);
  }
  uint32_t new_label(uint32_t instruction = no_index) {
    f_.labels.push_back({});
    f_.labels.back().instruction = instruction;
    return static_cast<uint32_t>(f_.labels.size() - 1);
  }

  void write(const UnrolledLoop& loop) {
    uint32_t copy = 0, four = 0;
    for (const uint32_t iterations : {unrolled_by, unrolled_by / 2, 1u}) {
      const uint32_t next = new_label();
      put_test(loop, next, true);
      if (iterations == unrolled_by) four = here();
      for (uint32_t n = 0; n < iterations; ++n) put_body(loop, ++copy);
      if (iterations == unrolled_by) put_test(loop, new_label(four), false);
      const bool is_behind =
          loop.comparison == Mod::ne || !ptx::is_signed(loop.type) || has_branches(original_, loop);
      if (iterations == 1 && is_behind) result_.ways.push_back({here() - 1, four});
      f_.labels[next].instruction = here();
    }
  }

  /// To the label where the counter has come to the limit, or where it has not.
  void put_test(const UnrolledLoop& loop, uint32_t label, bool at_limit) {
    const auto goes_on = static_cast<uint32_t>(f_.registers.size());
    f_.registers.push_back({"", Type::pred});
    ptx::Instruction test;
    test.op = Op::setp;
    test.types = {loop.type};
    test.modifiers.set(static_cast<size_t>(loop.comparison));
    test.operands.resize(2);
    test.operands[0].kind = test.operands[1].kind = Operand::Kind::reg;
    test.operands[0].reg = goes_on;
    test.operands[1].reg = loop.counter;
    test.operands.push_back(loop.limit);
    put(std::move(test), {});
    ptx::Instruction branch = original_.body[loop.last];
    branch.operands[0].index = label;
    branch.guard = goes_on;
    branch.guard_negated = at_limit;
    put(std::move(branch), {});
  }

  void put_body(const UnrolledLoop& loop, uint32_t copy) {
    const uint32_t begin = here();
    for (uint32_t i = loop.first; i < loop.last; ++i) {
      ptx::Instruction in = original_.body[i];
      if (in.op == Op::bra)  // inside, or to the next iteration
        in.operands[0].index =
            new_label(begin + original_.labels[in.operands[0].index].instruction - loop.first);
      put(std::move(in), {i, copy});
    }
  }
};

}  // namespace

WrittenOut written_out(const ptx::Function& original, const std::vector<UnrolledLoop>& loops) {
  return Writer(original, loops).run();
}

std::vector<UnrolledLoop> unrolled_loops(const ptx::Function& function, const Flow& flow,
                                         const Loops& loops) {
  std::vector<UnrolledLoop> found;
  for (const Loop& loop : loops.all)
    if (std::optional<UnrolledLoop> unrolled = Candidate(function, flow, loops, loop).look())
      found.push_back(*unrolled);
  std::sort(found.begin(), found.end(),
            [](const UnrolledLoop& a, const UnrolledLoop& b) { return a.first < b.first; });
  return found;
}

}  // namespace lanescope::exec
