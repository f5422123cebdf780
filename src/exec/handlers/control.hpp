// Predicated execution, branches, calls and waiting for one host instruction set. What cannot be decided
// inside one path (lanes part, end, wait) leaves the run loop as an Event; schedule.cpp acts on it.
#pragma once

#include "exec/handlers.hpp"
#include "exec/lanes.hpp"
#include "exec/state.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// Leaves the run loop.
inline const Inst* leave(Warp& w, Event event, const Inst* target) {
  w.event = event;
  w.event_target = target;
  return w.stop;
}

/// Goes on at `target`; a backward branch uses up fuel, so that no path keeps the others from running.
inline const Inst* jump(Warp& w, const Inst* in, const Inst* target) {
  if (target <= in && --w.fuel == 0) [[unlikely]]
    return leave(w, Event::yield, target);
  return target;
}

inline uint32_t guard_mask(Warp& w, const Inst* in) {
  const uint32_t p = pred(w, in->a);
  return w.active & (in->imm != 0 ? ~p : p);
}

/// `@p` before one instruction that neither branches nor waits: the next instruction runs for the lanes where
/// p holds.
inline const Inst* guard(Warp& w, const Inst* in) {
  const uint32_t mask = guard_mask(w, in);
  if (mask == 0) return in + 2;
  w.mask = mask;
  in[1].fn(w, in + 1);
  w.mask = w.active;
  return in + 2;
}

inline const Inst* branch(Warp& w, const Inst* in) { return jump(w, in, w.code + in->b); }

inline const Inst* join_of(const Warp& w, const Inst* in) {
  return in->c == no_operand ? nullptr : w.code + in->c;
}

/// Counts an execution of a branch that the lanes of `taken` take.
inline void count_branch(Warp& w, const Inst* in, uint32_t taken) {
  BranchCounts& counts = w.worker->branches[in->aux];
  const auto lanes = static_cast<uint32_t>(__builtin_popcount(w.active));
  if (taken == 0) {
    ++counts.not_taken;
    counts.lanes_not_taken += lanes;
  } else if (taken == w.active) {
    ++counts.taken;
    counts.lanes_taken += lanes;
  } else {
    const auto lanes_taken = static_cast<uint32_t>(__builtin_popcount(taken));
    ++counts.divergent;
    counts.lanes_taken += lanes_taken;
    counts.lanes_not_taken += lanes - lanes_taken;
  }
}

/// Of a branch that is counted: its lanes part, those of `taken` to the target.
inline void note_split(Warp& w, const Inst* in, uint32_t taken) {
  w.event_branch = in->aux;
  remember_split(w.worker->branches[in->aux], w, taken);
}

/// The rare end of branch_if, a function of its own so that the usual ones need no stack frame.
template <bool counted>
[[gnu::noinline]] const Inst* part(Warp& w, const Inst* in, uint32_t taken) {
  if constexpr (counted) note_split(w, in, taken);
  w.event_lanes = taken;
  w.event_other = in + 1;
  w.event_join = join_of(w, in);
  return leave(w, Event::diverge, w.code + in->b);
}

/// The lanes of `taken` go to the branch's target, the others of the path to the next instruction.
template <bool counted>
inline const Inst* go(Warp& w, const Inst* in, uint32_t taken) {
  if (taken == 0) return in + 1;
  if (taken == w.active) return jump(w, in, w.code + in->b);
  return part<counted>(w, in, taken);
}

template <bool counted>
inline const Inst* branch_if(Warp& w, const Inst* in) {
  const uint32_t taken = guard_mask(w, in);
  if constexpr (counted) count_branch(w, in, taken);
  return go<counted>(w, in, taken);
}

/// A branch that may lead lanes past where they were to meet others: see Bypass.
template <bool counted>
inline const Inst* bypass_if(Warp& w, const Inst* in) {
  const Bypass bypass(w, in, w.stop);
  const uint32_t taken = guard_mask(w, in);
  const uint32_t past = !bypass.exists() ? 0 : bypass.is_taken() ? taken : w.active & ~taken;
  if (past == 0) return branch_if<counted>(w, in);
  if constexpr (counted) {
    count_branch(w, in, taken);
    if (past != w.active) note_split(w, in, taken);
  }
  w.event_lanes = past;
  w.event_loop = in;
  return leave(w, Event::bypass, in);
}

/// Where lanes let others run first: see yields.hpp.
inline const Inst* give_way(Warp& w, const Inst* in) { return leave(w, Event::give_way, in + 1); }

/// The way back in a loop that only waits (wait_loop.hpp): its lanes wait there for their next look.
inline const Inst* wait_branch(Warp& w, const Inst* in) { return leave(w, Event::look, in); }

template <bool counted>
inline const Inst* wait_branch_if(Warp& w, const Inst* in) {
  const uint32_t taken = guard_mask(w, in);
  if constexpr (counted) count_branch(w, in, taken);
  if (taken == 0) return in + 1;
  if (taken == w.active) return leave(w, Event::look, in);
  w.event_loop = in;
  return part<counted>(w, in, taken);
}

// Loops that the assembler unrolls (unrolling.hpp). d: index of Kernel::counts.

/// The active lanes that have `iterations` more ones ahead of them where the loop begins; `Wide` has all
/// differences of numbers of the type.
template <class T, class Wide>
inline uint32_t with_more(Warp& w, const Kernel::Count& count, uint64_t iterations) {
  const T *const at = reg<T>(w, count.counter), *const limit = reg<T>(w, count.limit);
  const bool and_limit = count.comparison == ptx::Mod::le || count.comparison == ptx::Mod::ge;
  const Wide way = count.step > 0 ? 1 : -1;
  const Wide needed = way * count.step * static_cast<Wide>(iterations - 1) + (and_limit ? 0 : 1);
  return w.active & ballot([&](uint32_t i) {
           return way * (static_cast<Wide>(limit[i]) - static_cast<Wide>(at[i])) >= needed;
         });
}

inline uint32_t with_more(Warp& w, const Kernel::Count& count, uint64_t iterations) {
  __extension__ using Int128 = __int128;
  const bool no_sign = ptx::is_unsigned(count.type);
  if (ptx::size_of(count.type) == 4)
    return no_sign ? with_more<uint32_t, int64_t>(w, count, iterations)
                   : with_more<int32_t, int64_t>(w, count, iterations);
  return no_sign ? with_more<uint64_t, Int128>(w, count, iterations)
                 : with_more<int64_t, Int128>(w, count, iterations);
}

/// Where such a loop is entered, for lanes that have an iteration: b = the test for four of them, imm = those
/// for two and for one; what is for all lanes follows the test and the branch behind it. Not knowing whether
/// there is an iteration, they go through the loop as it is written.
inline const Inst* enter_unrolled(Warp& w, const Inst* in) {
  const Kernel::Count& count = w.worker->kernel->counts[in->d];
  if (with_more(w, count, 1) != w.active) return in + 1;
  if (with_more(w, count, unrolled_by) != 0) return w.code + in->b;
  const uint32_t two = with_more(w, count, unrolled_by / 2);
  if (two == 0) return w.code + static_cast<uint32_t>(in->imm) + first_of_copies;
  return w.code + (in->imm >> 32) + (two == w.active ? first_of_copies : 0);
}

/// The active lanes that are not at the limit. Others may be past it, and come to it once numbers have begun
/// anew.
template <class T>
inline uint32_t not_at_limit(Warp& w, const Kernel::Count& count) {
  const T *const at = reg<T>(w, count.counter), *const limit = reg<T>(w, count.limit);
  return w.active & ballot([&](uint32_t i) { return at[i] != limit[i]; });
}

/// The active lanes that go on in the loop.
inline uint32_t with_another(Warp& w, const Kernel::Count& count) {
  if (count.comparison != ptx::Mod::ne) return with_more(w, count, 1);
  return ptx::size_of(count.type) == 4 ? not_at_limit<uint32_t>(w, count) : not_at_limit<uint64_t>(w, count);
}

/// Taken by lanes with imm more iterations (0: with any, as the loop itself looks at it); otherwise as
/// branch_if.
template <bool counted>
inline const Inst* branch_if_more(Warp& w, const Inst* in) {
  const Kernel::Count& count = w.worker->kernel->counts[in->d];
  const uint32_t taken = in->imm == 0 ? with_another(w, count) : with_more(w, count, in->imm);
  if constexpr (counted) count_branch(w, in, taken);
  return go<counted>(w, in, taken);
}

/// The active lanes that agree with the first active one on value[lane].
template <class T>
inline uint32_t same_as_first(const Warp& w, const T* value) {
  const T first = value[__builtin_ctz(w.active)];
  return w.active & ballot([&](uint32_t i) { return value[i] == first; });
}

/// brx.idx: a = index register, b = first entry of the target list in Kernel::side, imm = its length. An
/// index past the end is undefined in PTX; it is taken as the last entry.
template <bool counted>
inline const Inst* branch_table(Warp& w, const Inst* in) {
  const uint32_t* index = reg<uint32_t>(w, in->a);
  const uint32_t same = same_as_first(w, index);
  if constexpr (counted) count_branch(w, in, same);
  if (same != w.active) {
    if constexpr (counted) note_split(w, in, same);
    w.event_lanes = same;
    w.event_join = join_of(w, in);
    return leave(w, Event::regroup, in);
  }
  const uint64_t i = index[__builtin_ctz(w.active)];
  return jump(w, in, w.code + w.side[in->b + (i < in->imm ? i : in->imm - 1)]);
}

/// b = callee's first instruction.
inline const Inst* call(Warp& w, const Inst* in) {
  w.event_other = in + 1;
  return leave(w, Event::call, w.code + in->b);
}

/// a = register with the function's address (see Kernel::function_entry); lanes may call different functions.
inline const Inst* call_indirect(Warp& w, const Inst* in) {
  const uint64_t* address = reg<uint64_t>(w, in->a);
  const uint32_t same = same_as_first(w, address);
  if (same != w.active) {
    w.event_lanes = same;
    w.event_join = in + 1;
    return leave(w, Event::regroup, in);
  }
  w.event_other = in + 1;
  return leave(w, Event::call, in);
}

inline const Inst* ret(Warp& w, const Inst* in) { return leave(w, Event::ret, in); }

/// a = predicate or none.
inline const Inst* exit_lanes(Warp& w, const Inst* in) {
  const uint32_t lanes = in->a == no_operand ? w.active : guard_mask(w, in);
  if (lanes == 0) return in + 1;
  w.event_lanes = lanes;
  return leave(w, Event::exit, in + 1);
}

inline const Inst* barrier(Warp& w, const Inst* in) { return leave(w, Event::barrier, in); }

/// Where lanes of different masks meet again: behind the instruction that they execute apart.
inline const Inst* behind_sync(const Inst* in) {
  return in + ((in->imm & sync_anywhere) != 0 ? 1 : (in->imm & sync_helper) != 0 ? 3 : 2);
}

/// Before an instruction that all lanes of its member mask (a) execute together; imm: sync_anywhere and the
/// others. Lanes with other masks execute it apart.
inline const Inst* sync(Warp& w, const Inst* in) {
  const uint32_t* masks = reg<uint32_t>(w, in->a);
  if ((in->imm & sync_of_one_mask) == 0) {
    const uint32_t same = same_as_first(w, masks);
    if (same != w.active) {
      w.event_lanes = same;
      w.event_join = behind_sync(in);
      return leave(w, Event::regroup, in);
    }
  }
  const uint32_t members = masks[__builtin_ctz(w.active)];
  if ((members & w.alive & ~w.active) == 0) return in + 1;
  w.event_lanes = members;
  return leave(w, Event::sync, in);
}

/// sync where the member mask is computed: lanes with different masks wait apart and meet behind.
inline const Inst* sync_groups(Warp& w, const Inst* in) {
  const uint32_t same = same_as_first(w, reg<uint32_t>(w, in->a));
  if (same != w.active) {
    w.event_lanes = same;
    w.event_join = behind_sync(in);
    return leave(w, Event::regroup, in);
  }
  return sync(w, in);
}

inline const Inst* nothing(Warp&, const Inst* in) { return in + 1; }

/// nanosleep: a path that waits lets the others run at once.
inline const Inst* sleep(Warp& w, const Inst* in) { return leave(w, Event::yield, in + 1); }

inline const Inst* trap(Warp& w, const Inst* in) {
  w.event_lanes = w.active;
  return leave(w, Event::trap, in);
}

/// d <- a clock; imm: which ptx::SpecialRegister. Clocks run on the host's time, so that delay loops end.
inline const Inst* clock(Warp& w, const Inst* in) {
  const uint64_t value = read_clock(static_cast<ptx::SpecialRegister>(in->imm));
  if (ptx::size_of(ptx::type_of(static_cast<ptx::SpecialRegister>(in->imm))) == 8)
    for_lanes(w.mask, reg<uint64_t>(w, in->d), [&](uint32_t) { return value; });
  else
    for_lanes(w.mask, reg<uint32_t>(w, in->d), [&](uint32_t) { return static_cast<uint32_t>(value); });
  return in + 1;
}

/// Copies imm bytes of each active lane's local memory from register a + c to register b + aux. Lanes for
/// which that lies beyond it end there: their calls have used up the stack.
inline const Inst* copy_local(Warp& w, const Inst* in) {
  uint32_t beyond = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint64_t from = reg<uint64_t>(w, in->a)[lane] + in->c, to = reg<uint64_t>(w, in->b)[lane] + in->aux;
    if (from + in->imm > w.local_bytes || to + in->imm > w.local_bytes) {
      beyond |= 1u << lane;
      continue;
    }
    std::byte* local = w.local + size_t{lane} * w.local_bytes;
    std::memmove(local + to, local + from, in->imm);
  }
  if (beyond == 0) return in + 1;
  report_stack_overflow(w, in, beyond);
  w.event_lanes = beyond;
  return leave(w, Event::exit, in + 1);
}

}  // namespace lanescope::exec::LANESCOPE_ISA
