// See atomics.hpp.
#include "merge/atomics.hpp"

#include "merge/effects.hpp"

namespace lanescope::merge {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using OneLane = Fate::OneLane;

/// Whether the result is used.
bool is_used(const ptx::Instruction& in, const Used& used) {
  return in.op == Op::atom && in.operands[0].kind == Operand::Kind::reg && used.any(in.operands[0].reg);
}

/// An atomic that is no 32-bit integer's. Through generic addresses those of 64-bit integers have an
/// instruction.
void loop(Fate& f, const ptx::Instruction& in) {
  const uint64_t size = ptx::size_of(in.type());
  if (size != 2 && (in.has(Mod::exch) || in.has(Mod::cas))) return;
  if (in.space == Space::generic && size == 8 && !ptx::is_float(in.type())) return;
  if (in.has(Mod::min) || in.has(Mod::max)) {
    f.doubt =
        "the assembler makes a loop of this atomic, which lanes leave at once whose value changes nothing";
    f.is_guess = true;
    return;
  }
  f.kind = Fate::Kind::looped;
  f.doubt = "warps that update one word at the same time run this atomic's loop more often";
}

/// When one lane does an atomic on an address that all lanes share, in whatever memory. Where each lane has
/// to be told what it found, sums alone can be taken apart again: by counting lanes where all add the same,
/// else by shuffles.
OneLane one_lane(const ptx::Instruction& in, bool same_data, bool used, Joining joining) {
  const uint64_t size = ptx::size_of(in.type());
  const OneLane joined = joining == Joining::by_redux ? OneLane::always : OneLane::of_whole_warps;
  if (in.has(Mod::add) && (size == 4 || size == 8)) {
    if (same_data) return OneLane::always;
    return size == 8 ? OneLane::never : used ? OneLane::of_whole_warps : joined;
  }
  const bool reduces =
      in.has(Mod::min) || in.has(Mod::max) || in.has(Mod::and_) || in.has(Mod::or_) || in.has(Mod::xor_);
  return reduces && size == 4 && !used ? joined : OneLane::never;
}

/// Counting in shared memory (red.add of 1) is done by population count, where the machine has that
/// (ATOMS.POPC.INC, from 8.0 on).
bool counts(const ptx::Instruction& in, const Value& added, bool used) {
  const Operand& data = in.operands[in.op == Op::atom ? 2 : 1];
  return is_of_block(in.space) && in.has(Mod::add) && in.type() == Type::u32 && !used &&
         added == Value{0, 1} && (data.kind == Operand::Kind::integer || data.kind == Operand::Kind::reg);
}

}  // namespace

void plan_atomics(const ptx::Function& function, const exec::Flow& flow, const Values& values,
                  const Used& used_registers, const std::map<uint32_t, uint32_t>& site_of, Joining joining,
                  Plan& plan) {
  for (const auto& [i, site] : site_of) {
    const ptx::Instruction& in = function.body[i];
    if (in.op != Op::atom && in.op != Op::red) continue;
    Fate& f = plan.fates[site];
    const bool is_float = ptx::is_float(in.type()), used = is_used(in, used_registers);
    const auto is_alike = [&values, block = flow.block_of[i]](const Value& value) {
      return values.uniform(value.base, block);
    };
    if (joining != Joining::never && !is_float && is_alike(values.address(i)))
      f.one_lane = one_lane(in, is_alike(values.data(i)), used, joining);
    if (f.one_lane != OneLane::never) f.kind = Fate::Kind::elected;
    if (may_be_loop(in))
      loop(f, in);
    else if (joining == Joining::by_redux && counts(in, values.data(i), used))
      f.kind = Fate::Kind::combined;
  }
}

}  // namespace lanescope::merge
