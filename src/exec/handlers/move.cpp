// Handlers of mov: copies, packing of several registers into one, unpacking.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_integer.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

struct Copy {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

// Part k of a packed value is its bits from k * (bits of a part) on: the first operand is the least
// significant.
template <class D, class P>
struct Pack {
  D operator()(P a, P b) const { return static_cast<D>(static_cast<D>(a) | static_cast<D>(b) << bits_of<P>); }
  D operator()(P a, P b, P c, P e) const {
    return (*this)(a, b) | static_cast<D>((*this)(c, e)) << 2 * bits_of<P>;
  }
};

template <class P, class S>
inline void unpack_part(Warp& w, uint32_t destination, const S* source, int part) {
  if (destination == no_operand) return;
  const int shift = part * bits_of<P>;
  for_lanes(w.mask, reg<P>(w, destination), [=](uint32_t i) { return static_cast<P>(source[i] >> shift); });
}
/// `mov {d, b, c, aux}, a`. The source is read whole first: a destination may be a part of the same register.
template <class S, class P, int parts>
const Inst* unpack(Warp& w, const Inst* in) {
  alignas(64) S source[warp_lanes];
  std::memcpy(source, reg<S>(w, in->a), sizeof source);
  unpack_part<P>(w, in->d, source, 0);
  unpack_part<P>(w, in->b, source, 1);
  if constexpr (parts == 4) {
    unpack_part<P>(w, in->c, source, 2);
    unpack_part<P>(w, in->aux, source, 3);
  }
  return in + 1;
}

}  // namespace

Handler select_move(const HandlerKey& key) {
  if (key.op != ptx::Op::mov) return nullptr;
  const uint32_t width = ptx::size_of(key.types[0]);
  if (key.vector == 1) {
    switch (width) {
      case 2: return lift1<Copy, uint16_t, uint16_t>;
      case 4: return lift1<Copy, uint32_t, uint32_t>;
      case 8: return lift1<Copy, uint64_t, uint64_t>;
      case 16: return lift1<Copy, Uint128, Uint128>;
      default: return nullptr;
    }
  }
  const bool pack = key.sources == key.vector;
  if (!pack && key.sources != 1) return nullptr;
  switch (width * 10 + key.vector) {
    case 42:
      return pack ? lift2<Pack<uint32_t, uint16_t>, uint32_t, uint16_t> : unpack<uint32_t, uint16_t, 2>;
    case 82:
      return pack ? lift2<Pack<uint64_t, uint32_t>, uint64_t, uint32_t> : unpack<uint64_t, uint32_t, 2>;
    case 84:
      return pack ? lift4<Pack<uint64_t, uint16_t>, uint64_t, uint16_t, uint16_t, uint16_t, uint16_t>
                  : unpack<uint64_t, uint16_t, 4>;
    case 164:
      return pack ? lift4<Pack<Uint128, uint32_t>, Uint128, uint32_t, uint32_t, uint32_t, uint32_t>
                  : unpack<Uint128, uint32_t, 4>;
    case 162: return pack ? lift2<Pack<Uint128, uint64_t>, Uint128, uint64_t> : unpack<Uint128, uint64_t, 2>;
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
