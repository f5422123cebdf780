// Handlers of integer arithmetic, logic and shifts.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_integer.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

// ---- Choice of the lane type. `H<T>` is the handler for lanes of T; some widths may be left out.

template <template <class> class H>
Handler any_width(Type t) {
  switch (ptx::size_of(t)) {
    case 2: return H<uint16_t>::handler;
    case 4: return H<uint32_t>::handler;
    case 8: return H<uint64_t>::handler;
    default: return nullptr;
  }
}
template <template <class> class H>
Handler word_width(Type t) {
  switch (ptx::size_of(t)) {
    case 4: return H<uint32_t>::handler;
    case 8: return H<uint64_t>::handler;
    default: return nullptr;
  }
}
template <template <class> class H>
Handler any_integer(Type t) {
  switch (t) {
    case Type::s16: return H<int16_t>::handler;
    case Type::s32: return H<int32_t>::handler;
    case Type::s64: return H<int64_t>::handler;
    case Type::u16:
    case Type::u32:
    case Type::u64: return any_width<H>(t);
    default: return nullptr;
  }
}
template <template <class> class H>
Handler word_integer(Type t) {
  switch (t) {
    case Type::s32: return H<int32_t>::handler;
    case Type::s64: return H<int64_t>::handler;
    case Type::u32:
    case Type::u64: return word_width<H>(t);
    default: return nullptr;
  }
}

template <class F>
struct Lift {
  template <class T>
  struct Unary {
    static constexpr Handler handler = lift1<F, T, T>;
  };
  template <class T>
  struct Binary {
    static constexpr Handler handler = lift2<F, T, T>;
  };
  template <class T>
  struct Ternary {
    static constexpr Handler handler = lift3<F, T, T>;
  };
  template <class T>
  struct Count {
    static constexpr Handler handler = lift1<F, uint32_t, T>;
  };
  template <class T>
  struct Shift {
    static constexpr Handler handler = lift2<F, T, T, uint32_t>;
  };
  template <class T>
  struct Extract {
    static constexpr Handler handler = lift3<F, T, T, uint32_t, uint32_t>;
  };
  template <class T>
  struct Insert {
    static constexpr Handler handler = lift4<F, T, T, T, uint32_t, uint32_t>;
  };
};

// ---- Carries. The carry out of each lane is found before d is written, which may be a source too. As on
// hardware (measured on H200), a - b is a + ~b + 1: no borrow is a carry, and instructions that add may read
// what one that subtracts has left, as the 128-bit divisions of nvcc do.

template <bool subtract, bool carry_in, bool carry_out>
struct Carry {
  template <class T>
  struct Of {
    static constexpr Handler handler = [](Warp& w, const Inst* in) -> const Inst* {
      const T* a = reg<T>(w, in->a);
      const T* b = reg<T>(w, in->b);
      const uint32_t carry = carry_in ? pred(w, in->aux) : 0;
      const auto result = [=](uint32_t i) {
        if constexpr (!carry_in) return static_cast<T>(subtract ? a[i] - b[i] : a[i] + b[i]);
        const T c = lane_of(carry, i) ? 1 : 0;
        return static_cast<T>(a[i] + (subtract ? static_cast<T>(~b[i]) : b[i]) + c);
      };
      uint32_t out = 0;
      if constexpr (carry_out) {
        out = ballot([=](uint32_t i) {
          const bool c = carry_in ? lane_of(carry, i) : subtract;
          const T r = result(i);
          return r < a[i] || (c && r == a[i]);
        });
      }
      for_lanes(w.mask, reg<T>(w, in->d), result);
      if constexpr (carry_out) set_pred(w, in->aux, out);
      return in + 1;
    };
  };
};
/// mad.cc and madc: the carry of adding c to the low or high half of the product.
template <class Product, bool carry_in, bool carry_out>
struct MadCarry {
  template <class T>
  struct Of {
    static constexpr Handler handler = [](Warp& w, const Inst* in) -> const Inst* {
      const T* a = reg<T>(w, in->a);
      const T* b = reg<T>(w, in->b);
      const T* c = reg<T>(w, in->c);
      using U = std::make_unsigned_t<T>;
      const uint32_t carry = carry_in ? pred(w, in->aux) : 0;
      uint32_t out = 0;
      if constexpr (carry_out) {
        out = ballot([=](uint32_t i) {
          const U p = static_cast<U>(Product()(a[i], b[i]));
          const U r = static_cast<U>(p + static_cast<U>(c[i]) + (lane_of(carry, i) ? 1 : 0));
          return r < p || (lane_of(carry, i) && r == p);
        });
      }
      for_lanes(w.mask, reg<T>(w, in->d), [=](uint32_t i) {
        const U p = static_cast<U>(Product()(a[i], b[i]));
        return static_cast<T>(p + static_cast<U>(c[i]) + (lane_of(carry, i) ? 1 : 0));
      });
      if constexpr (carry_out) set_pred(w, in->aux, out);
      return in + 1;
    };
  };
};

template <bool subtract>
Handler select_carry(Type t, bool carry_in, bool carry_out) {
  if (carry_in) {
    return carry_out ? word_width<Carry<subtract, true, true>::template Of>(t)
                     : word_width<Carry<subtract, true, false>::template Of>(t);
  }
  return word_width<Carry<subtract, false, true>::template Of>(t);
}
Handler select_mad_carry(const HandlerKey& key, bool carry_in) {
  const Type t = key.types[0];
  const bool out = key.has(Mod::cc);
  if (key.has(Mod::lo)) {
    if (!carry_in) return word_width<MadCarry<MulLo, false, true>::Of>(t);
    return out ? word_width<MadCarry<MulLo, true, true>::Of>(t)
               : word_width<MadCarry<MulLo, true, false>::Of>(t);
  }
  if (key.has(Mod::hi)) {
    if (!carry_in) return word_integer<MadCarry<MulHi, false, true>::Of>(t);
    return out ? word_integer<MadCarry<MulHi, true, true>::Of>(t)
               : word_integer<MadCarry<MulHi, true, false>::Of>(t);
  }
  return nullptr;
}

// ---- Wide products: the factors' type decides.

template <template <class> class H>
Handler narrow_integer(Type t) {
  switch (t) {
    case Type::u16: return H<uint16_t>::handler;
    case Type::u32: return H<uint32_t>::handler;
    case Type::s16: return H<int16_t>::handler;
    case Type::s32: return H<int32_t>::handler;
    default: return nullptr;
  }
}
template <class T>
struct WideProduct {
  static constexpr Handler handler = lift2<MulWide, Wider<T>, T>;
};
template <class T>
struct WideSum {
  static constexpr Handler handler = lift3<MadWide, Wider<T>, T, T, Wider<T>>;
};

// ---- The rest with a shape of its own.

const Inst* lop3_lanes(Warp& w, const Inst* in) {
  const uint32_t* a = reg<uint32_t>(w, in->a);
  const uint32_t* b = reg<uint32_t>(w, in->b);
  const uint32_t* c = reg<uint32_t>(w, in->c);
  const uint32_t table = static_cast<uint32_t>(in->imm);
  for_lanes(w.mask, reg<uint32_t>(w, in->d), [=](uint32_t i) { return lop3(a[i], b[i], c[i], table); });
  return in + 1;
}
/// lop3.and, lop3.or: p = (d is not zero) combined with q.
template <bool conjunction>
const Inst* lop3_predicate(Warp& w, const Inst* in) {
  const uint32_t q =
      pred(w, static_cast<uint32_t>(in->imm >> 32)) ^ ((in->imm & 0x100) != 0 ? full_mask : 0u);
  const uint32_t* a = reg<uint32_t>(w, in->a);
  const uint32_t* b = reg<uint32_t>(w, in->b);
  const uint32_t* c = reg<uint32_t>(w, in->c);
  const uint32_t table = static_cast<uint32_t>(in->imm);
  const uint32_t set = ballot([=](uint32_t i) { return lop3(a[i], b[i], c[i], table) != 0; });
  if (in->d != no_operand) lop3_lanes(w, in);
  set_pred(w, in->aux, conjunction ? set & q : set | q);
  return in + 1;
}

Handler select_prmt(const HandlerKey& key) {
  if (key.has(Mod::f4e)) return lift3<PrmtF4e, uint32_t, uint32_t>;
  if (key.has(Mod::b4e)) return lift3<PrmtB4e, uint32_t, uint32_t>;
  if (key.has(Mod::rc8)) return lift3<PrmtRc8, uint32_t, uint32_t>;
  if (key.has(Mod::ecl)) return lift3<PrmtEcl, uint32_t, uint32_t>;
  if (key.has(Mod::ecr)) return lift3<PrmtEcr, uint32_t, uint32_t>;
  if (key.has(Mod::rc16)) return lift3<PrmtRc16, uint32_t, uint32_t>;
  return lift3<Prmt, uint32_t, uint32_t>;
}

Handler select_shf(const HandlerKey& key) {
  if (key.has(Mod::l)) {
    return key.has(Mod::wrap) ? lift3<ShfLeft<true>, uint32_t, uint32_t>
                              : lift3<ShfLeft<false>, uint32_t, uint32_t>;
  }
  return key.has(Mod::wrap) ? lift3<ShfRight<true>, uint32_t, uint32_t>
                            : lift3<ShfRight<false>, uint32_t, uint32_t>;
}

Handler select_mad24(const HandlerKey& key) {
  const bool is_signed = key.types[0] == Type::s32;
  if (key.has(Mod::lo))
    return is_signed ? lift3<Mad24Lo, int32_t, int32_t> : lift3<Mad24Lo, uint32_t, uint32_t>;
  if (key.has(Mod::sat)) return is_signed ? lift3<Mad24HiSat, int32_t, int32_t> : nullptr;
  return is_signed ? lift3<Mad24Hi, int32_t, int32_t> : lift3<Mad24Hi, uint32_t, uint32_t>;
}

/// F<A, B> for the signedness of both types.
template <template <class, class> class F, class SignedA, class UnsignedA, class SignedB, class UnsignedB>
Handler select_signs(const HandlerKey& key) {
  const bool b = key.types[1] == Type::s32;
  if (key.types[0] == Type::s32)
    return b ? lift3<F<SignedA, SignedB>, uint32_t, uint32_t>
             : lift3<F<SignedA, UnsignedB>, uint32_t, uint32_t>;
  return b ? lift3<F<UnsignedA, SignedB>, uint32_t, uint32_t>
           : lift3<F<UnsignedA, UnsignedB>, uint32_t, uint32_t>;
}
template <class A, class B>
using Dp2aLow = Dp2a<A, B, false>;
template <class A, class B>
using Dp2aHigh = Dp2a<A, B, true>;

template <class F>
Handler select_extreme(const HandlerKey& key) {
  if (key.sources > 2) return nullptr;
  if (!key.has(Mod::relu)) return any_integer<Lift<F>::template Binary>(key.types[0]);
  return key.types[0] == Type::s32 ? lift2<Relu<F>, int32_t, int32_t> : nullptr;
}
/// Two halves or four bytes.
template <class F>
Handler select_parts_of(Type t) {
  switch (t) {
    case Type::u16x2: return lift2<Partwise<F, uint16_t>, uint32_t, uint32_t>;
    case Type::s16x2: return lift2<Partwise<F, int16_t>, uint32_t, uint32_t>;
    case Type::u8x4: return lift2<Partwise<F, uint8_t>, uint32_t, uint32_t>;
    case Type::s8x4: return lift2<Partwise<F, int8_t>, uint32_t, uint32_t>;
    default: return nullptr;
  }
}
Handler select_parts(const HandlerKey& key) {
  const Type t = key.types[0];
  const bool relu = key.has(Mod::relu), saturates = key.has(Mod::sat);
  if (key.op != Op::neg && key.sources > 2) return nullptr;
  switch (key.op) {
    case Op::add: return saturates ? select_parts_of<AddSat>(t) : select_parts_of<Add>(t);
    case Op::sub: return saturates ? select_parts_of<SubSat>(t) : select_parts_of<Sub>(t);
    case Op::min: return relu ? select_parts_of<Relu<Min>>(t) : select_parts_of<Min>(t);
    case Op::max: return relu ? select_parts_of<Relu<Max>>(t) : select_parts_of<Max>(t);
    case Op::neg: return lift1<NegatedBytes, uint32_t, uint32_t>;
    default: return nullptr;
  }
}

Handler select_szext(const HandlerKey& key) {
  const bool sign = key.types[0] == Type::s32;
  if (key.has(Mod::wrap))
    return sign ? lift2<Szext<true>, int32_t, int32_t, uint32_t> : lift2<Szext<true>, uint32_t, uint32_t>;
  return sign ? lift2<Szext<false>, int32_t, int32_t, uint32_t> : lift2<Szext<false>, uint32_t, uint32_t>;
}

Handler select_mul24(const HandlerKey& key) {
  const bool is_signed = key.types[0] == Type::s32;
  if (key.has(Mod::lo))
    return is_signed ? lift2<Mul24Lo, int32_t, int32_t> : lift2<Mul24Lo, uint32_t, uint32_t>;
  return is_signed ? lift2<Mul24Hi, int32_t, int32_t> : lift2<Mul24Hi, uint32_t, uint32_t>;
}

Handler select_mul(const HandlerKey& key) {
  const Type t = key.types[0];
  if (key.has(Mod::wide)) return narrow_integer<WideProduct>(t);
  if (key.has(Mod::hi)) return any_integer<Lift<MulHi>::Binary>(t);
  return any_width<Lift<MulLo>::Binary>(t);
}

Handler select_mad(const HandlerKey& key) {
  const Type t = key.types[0];
  if (key.has(Mod::cc)) return select_mad_carry(key, false);
  if (key.has(Mod::wide)) return narrow_integer<WideSum>(t);
  if (key.has(Mod::lo)) return any_width<Lift<MadLo>::Ternary>(t);
  if (!key.has(Mod::sat)) return any_integer<Lift<MadHi>::Ternary>(t);
  return t == Type::s32 ? lift3<MadHiSat, int32_t, int32_t> : nullptr;
}

template <class F, class Saturating, bool subtract>
Handler select_sum(const HandlerKey& key) {
  const Type t = key.types[0];
  if (key.has(Mod::cc)) return select_carry<subtract>(t, false, true);
  if (key.has(Mod::sat))
    return t == Type::s32                ? lift2<Saturating, int32_t, int32_t>
           : t == Type::u32 && !subtract ? lift2<Saturating, uint32_t, uint32_t>
                                         : nullptr;
  return any_width<Lift<F>::template Binary>(t);
}

/// Signed and unsigned integers; bits are taken by the logic instructions, below.
Handler select_arithmetic(const HandlerKey& key) {
  const Type t = key.types[0];
  switch (key.op) {
    case Op::add: return select_sum<Add, AddSat, false>(key);
    case Op::sub: return select_sum<Sub, SubSat, true>(key);
    case Op::clmad:
      return key.has(Mod::hi) ? lift3<CarrylessMad<true>, uint64_t, uint64_t>
                              : lift3<CarrylessMad<false>, uint64_t, uint64_t>;
    case Op::addc: return select_carry<false>(t, true, key.has(Mod::cc));
    case Op::subc: return select_carry<true>(t, true, key.has(Mod::cc));
    case Op::mul: return select_mul(key);
    case Op::mad: return select_mad(key);
    case Op::madc: return select_mad_carry(key, true);
    case Op::mul24: return select_mul24(key);
    case Op::mad24: return select_mad24(key);
    case Op::sad: return any_integer<Lift<Sad>::Ternary>(t);
    case Op::div: return any_integer<Lift<Div>::Binary>(t);
    case Op::rem: return any_integer<Lift<Rem>::Binary>(t);
    case Op::abs: return any_integer<Lift<Abs>::Unary>(t);
    case Op::neg: return any_width<Lift<Neg>::Unary>(t);
    case Op::min: return select_extreme<Min>(key);
    case Op::max: return select_extreme<Max>(key);
    case Op::dp4a: return select_signs<Dp4a, int8_t, uint8_t, int8_t, uint8_t>(key);
    case Op::dp2a:
      return key.has(Mod::lo) ? select_signs<Dp2aLow, int16_t, uint16_t, int8_t, uint8_t>(key)
                              : select_signs<Dp2aHigh, int16_t, uint16_t, int8_t, uint8_t>(key);
    case Op::szext: return select_szext(key);
    case Op::bfe: return word_integer<Lift<Bfe>::Extract>(t);
    case Op::bfind:
      return key.has(Mod::shiftamt) ? word_integer<Lift<BfindShift>::Count>(t)
                                    : word_integer<Lift<Bfind>::Count>(t);
    case Op::shr: return any_integer<Lift<Shr>::Shift>(t);
    default: return nullptr;
  }
}

Handler select_bits(const HandlerKey& key) {
  const Type t = key.types[0];
  switch (key.op) {
    case Op::and_: return any_width<Lift<And>::Binary>(t);
    case Op::or_: return any_width<Lift<Or>::Binary>(t);
    case Op::xor_: return any_width<Lift<Xor>::Binary>(t);
    case Op::not_: return any_width<Lift<Not>::Unary>(t);
    case Op::cnot: return any_width<Lift<Cnot>::Unary>(t);
    case Op::popc: return word_width<Lift<Popc>::Count>(t);
    case Op::clz: return word_width<Lift<Clz>::Count>(t);
    case Op::brev: return word_width<Lift<Brev>::Unary>(t);
    case Op::bfi: return word_width<Lift<Bfi>::Insert>(t);
    case Op::shl: return any_width<Lift<Shl>::Shift>(t);
    case Op::shr: return any_width<Lift<Shr>::Shift>(t);
    case Op::shf: return select_shf(key);
    case Op::prmt: return select_prmt(key);
    case Op::bmsk:
      return key.has(Mod::wrap) ? lift2<Bmsk<true>, uint32_t, uint32_t>
                                : lift2<Bmsk<false>, uint32_t, uint32_t>;
    case Op::fns: return lift3<FindNthSet, uint32_t, uint32_t>;
    case Op::lop3:
      return key.has(Mod::and_)  ? lop3_predicate<true>
             : key.has(Mod::or_) ? lop3_predicate<false>
                                 : lop3_lanes;
    default: return nullptr;
  }
}

}  // namespace

Handler select_integer(const HandlerKey& key) {
  switch (key.types[0]) {
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s16:
    case Type::s32:
    case Type::s64: return select_arithmetic(key);
    case Type::b16:
    case Type::b32:
    case Type::b64: return select_bits(key);
    case Type::u16x2:
    case Type::s16x2:
    case Type::u8x4:
    case Type::s8x4: return select_parts(key);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
