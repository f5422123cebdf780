// See effects.hpp.
#include "merge/effects.hpp"

#include <algorithm>
#include <initializer_list>

#include "exec/expansion.hpp"

namespace lanescope::merge {

using exec::has_branch;
using exec::is_expanded;
using ptx::Mod;
using ptx::Op;
using ptx::OpClass;
using ptx::Space;

namespace {

bool is_ordinary(const ptx::Instruction& in) {
  return std::ranges::none_of(
      std::initializer_list<Mod>{Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio},
      [&](Mod m) { return in.has(m); });
}

Effect effect_on_shared(const ptx::Instruction& in) {
  const OpClass op_class = ptx::info(in.op).op_class;
  const bool volatile_access = in.has(Mod::volatile_);
  if (is_expanded(in)) return Effect::changes;
  if (has_branch(in)) return Effect::reads;
  switch (in.op) {
    case Op::ld:
    case Op::ldu:
      if (is_of_block(in.space) && !volatile_access) return Effect::load;
      return is_of_block(in.space) || in.space == Space::shared_cluster || in.space == Space::generic
                 ? Effect::reads
                 : Effect::none;
    case Op::st:
      if (is_of_block(in.space) && !volatile_access && !in.has(Mod::release)) return Effect::store;
      return is_of_block(in.space) || in.space == Space::shared_cluster || in.space == Space::generic
                 ? Effect::changes
                 : Effect::none;
    case Op::call:
    case Op::nanosleep: return Effect::changes;
    case Op::ldmatrix: return Effect::reads;
    case Op::mma:
    case Op::movmatrix:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::discard:
    case Op::applypriority:
    case Op::isspacep: return Effect::none;
    default: break;
  }
  if (op_class == OpClass::atomic) return in.space == Space::global ? Effect::none : Effect::changes;
  if (op_class == OpClass::barrier || op_class == OpClass::async || op_class == OpClass::matrix ||
      op_class == OpClass::tensor)
    return Effect::changes;
  return Effect::none;
}

/// Global memory, or what generic addresses are of.
Effect effect_on_device(Memory memory, const ptx::Instruction& in) {
  if (has_branch(in)) return Effect::reads;
  const bool generic = memory == Memory::generic;
  const bool is_own = in.space == (generic ? Space::generic : Space::global);
  switch (global_effect_of(in)) {
    case GlobalEffect::load: return is_own ? Effect::load : Effect::reads;
    case GlobalEffect::store: return is_own ? Effect::store : Effect::changes;
    case GlobalEffect::changes: return Effect::changes;
    case GlobalEffect::elsewhere:
      if (generic) return Effect::changes;
      break;
    default: break;
  }
  const bool may_be_of_it = in.space == Space::global || in.space == Space::generic ||
                            (generic && (is_of_block(in.space) || in.space == Space::local));
  return in.op == Op::ld && may_be_of_it ? Effect::reads : Effect::none;
}

}  // namespace

GlobalEffect global_effect_of(const ptx::Instruction& in) {
  const bool may_be_global = in.space == Space::global || in.space == Space::generic;
  if (is_expanded(in)) return GlobalEffect::changes;
  switch (in.op) {
    case Op::ld: return may_be_global && is_ordinary(in) ? GlobalEffect::load : GlobalEffect::none;
    case Op::st:
      if (may_be_global && is_ordinary(in)) return GlobalEffect::store;
      return is_of_block(in.space) || in.space == Space::local || in.space == Space::param
                 ? GlobalEffect::elsewhere
                 : GlobalEffect::changes;
    case Op::prefetch:
    case Op::prefetchu:
    case Op::discard:
    case Op::applypriority:
    case Op::call:
    case Op::nanosleep:
    case Op::griddepcontrol: return GlobalEffect::changes;
    case Op::ldmatrix:
    case Op::movmatrix:
    case Op::mma:
    case Op::cp_async_commit_group:
    case Op::cp_async_bulk_commit_group: return GlobalEffect::none;
    case Op::stmatrix:
    case Op::mbarrier_arrive:
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_init:
    case Op::mbarrier_inval:
    case Op::mbarrier_test_wait:
    case Op::mbarrier_try_wait: return GlobalEffect::elsewhere;
    default: break;
  }
  switch (ptx::info(in.op).op_class) {
    case OpClass::atomic: return is_of_block(in.space) ? GlobalEffect::elsewhere : GlobalEffect::changes;
    case OpClass::barrier:
    case OpClass::async:
    case OpClass::matrix:
    case OpClass::tensor:
    case OpClass::texture: return GlobalEffect::changes;
    default: return GlobalEffect::none;
  }
}

Effect effect_on(Memory memory, const ptx::Instruction& in) {
  return memory == Memory::shared ? effect_on_shared(in) : effect_on_device(memory, in);
}

Elements elements_of(const ptx::Instruction& in) {
  const auto bytes = static_cast<uint32_t>(ptx::size_of(in.type()));
  const uint32_t parts = bytes < 4 ? std::min<uint32_t>(4 / bytes, in.vector) : 1;
  return {bytes * parts, in.vector / parts, parts};
}

bool may_be_loop(const ptx::Instruction& in) {
  return ptx::info(in.op).op_class == OpClass::atomic &&
         (is_of_block(in.space) || in.space == Space::generic) &&
         (ptx::is_float(in.type()) || ptx::size_of(in.type()) != 4);
}

bool parts_code(const ptx::Instruction& in) {
  if (may_be_loop(in) || is_expanded(in) || has_branch(in) || in.op == Op::call) return true;
  if (in.guard == ptx::no_index) return false;
  switch (ptx::info(in.op).op_class) {  // what only writes registers, it chooses between
    case OpClass::arithmetic:
    case OpClass::logic:
    case OpClass::compare:
    case OpClass::convert:
    case OpClass::move:
    case OpClass::video: return false;
    default: return true;
  }
}

uint32_t bytes_shown(const ptx::Instruction& in) {
  const auto is_access = [](Effect e) { return e == Effect::load || e == Effect::store; };
  if (std::ranges::none_of(std::initializer_list<Memory>{Memory::shared, Memory::global, Memory::generic},
                           [&](Memory memory) { return is_access(effect_on(memory, in)); }))
    return 0;
  const Elements elements = elements_of(in);
  const uint32_t bytes = elements.bytes * elements.count;
  return bytes > 16 ? 0 : bytes;
}

}  // namespace lanescope::merge
