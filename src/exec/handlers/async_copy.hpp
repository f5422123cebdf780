// cp.async for one host instruction set: checks and counts both sides of the copy; what is done later is in
// exec/async_copy.hpp. Both sides are ordinary accesses, a store to shared memory and a load from global
// memory.
#pragma once

#include "exec/async_copy.hpp"
#include "exec/handlers/memory.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// a: source base, imm: its offset; d: destination base; aux: Kernel::accesses of the destination, the
/// source's follows; c: first index in Kernel::side, which holds the destination's offset, the size, the
/// register of the bytes to be read (no_operand: all), the register of the predicate to read none
/// (no_operand: none), and what that is combined with by exclusive or.
template <class A, bool Cg, bool Observed>
const Inst* copy_async(Warp& w, const Inst* in) {
  const uint32_t* side = w.side + in->c;
  const uint32_t all = w.mask, size = side[1];
  Inst to = *in, from = *in;
  to.a = in->d;
  to.imm = uint64_t{1} << 32 | side[0];
  from.aux = in->aux + 1;
  from.imm = uint64_t{1} << 32 | static_cast<uint32_t>(in->imm);
  const SharedAccess<A, Observed> shared(w, &to, size,
                                         Cg ? w.worker->copy_granule_mask : w.worker->shared_granule_mask);
  if (shared.mask == 0) return in + 1;
  AsyncCopy copy;
  copy.size = size;
  uint32_t whole = shared.mask, partial = 0;
  if (side[3] != no_operand) whole &= ~(pred(w, side[3]) ^ side[4]);
  if (side[2] != no_operand) {
    const uint32_t* bytes = reg<uint32_t>(w, side[2]);
    each_lane(whole, [&](uint32_t i) {
      if (bytes[i] == size) return;
      whole &= ~(1u << i);
      copy.read[i] = static_cast<uint8_t>(bytes[i] < 255 ? bytes[i] : 255);
      if (bytes[i] != 0) partial |= 1u << i;
    });
  }
  uint32_t reading = 0;
  if (whole != 0) {
    w.mask = whole;
    const FlatAccess<Space::global, false, uint64_t, false> global(w, &from, size);
    std::memcpy(copy.from.data(), global.address, sizeof global.address);
    reading = global.mask;
    each_lane(reading, [&](uint32_t i) { copy.read[i] = static_cast<uint8_t>(size); });
  }
  if (partial != 0) {
    const uint64_t* base = reg<uint64_t>(w, in->a);
    each_lane(partial, [&](uint32_t i) { copy.from[i] = base[i] + static_cast<uint64_t>(offset_of(in)); });
    const uint32_t good = resolve_partial(w, &from, partial, copy.from.data(), copy.read.data(), size);
    each_lane(partial & ~good, [&](uint32_t i) { copy.read[i] = 0; });
    reading |= good;
  }
  if constexpr (Observed) {
    // One request, whatever part of the unit each lane reads. Past the cache, its cost is that of source and
    // destination together: with another pattern of the one, the other is not the last one's, either.
    SiteState& site = w.worker->sites[from.aux];
    if (Cg && !shared.repeated) site.mask = 0;
    if (reading != 0)
      observe(w, &from, site, copy.from.data(), reading, AccessSpace::global, Cg ? shared.offset : nullptr);
  }
  w.mask = all;
  std::memcpy(copy.to.data(), shared.offset, sizeof shared.offset);
  copy.mask = shared.mask;
  start_copy(w, copy);
  return in + 1;
}

template <bool Observed>
Handler select_async_copy(const HandlerKey& k) {
  if (k.op != ptx::Op::cp_async) return nullptr;
  if (k.has(ptx::Mod::cg))
    return k.address_bytes == 8 ? copy_async<uint64_t, true, Observed> : copy_async<uint32_t, true, Observed>;
  return k.address_bytes == 8 ? copy_async<uint64_t, false, Observed> : copy_async<uint32_t, false, Observed>;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
