// Handlers of comparison and selection: setp, set, selp, slct, testp, and the logic instructions on
// predicates.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_compare.hpp"
#include "exec/handlers/semantics_formats.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

/// A type that is compared: what its lanes hold, and what is compared of them.
template <class T>
struct Compared {
  using Lane = T;
  template <bool ftz>
  static T value(T x) {
    if constexpr (ftz)
      return flush<true>(x);
    else
      return x;
  }
};
/// f16, bf16: of each lane the bits from `shift` on.
template <class Format, class Word, uint32_t shift = 0>
struct HalfIn {};
template <class Format, class Word, uint32_t shift>
struct Compared<HalfIn<Format, Word, shift>> {
  using Lane = Word;
  template <bool ftz>
  static float value(Word x) {
    const auto h = static_cast<uint16_t>(x >> shift);
    const bool flushed = ftz && (h & infinity_of<Format>) == 0;
    return single_from<Format>(flushed ? static_cast<uint16_t>(h & sign_of<Format>) : h);
  }
};

/// The lanes for which a comparison holds; all 32 asked.
template <class F, class T, bool ftz>
inline uint32_t compare(Warp& w, const Inst* in) {
  using C = Compared<T>;
  const typename C::Lane* a = reg<typename C::Lane>(w, in->a);
  const typename C::Lane* b = reg<typename C::Lane>(w, in->b);
  return ballot([=](uint32_t i) { return F()(C::template value<ftz>(a[i]), C::template value<ftz>(b[i])); });
}
/// compare() as one function for the handlers that are executed seldom, which are many: those that combine.
template <class F, class T, bool ftz>
[[gnu::noinline]] uint32_t shared_compare(Warp& w, const Inst* in) {
  return compare<F, T, ftz>(w, in);
}
/// Two halves in a lane.
template <class Format>
struct PairOf {
  using Low = HalfIn<Format, uint32_t, 0>;
  using High = HalfIn<Format, uint32_t, 16>;
};

/// The predicate source c, which may be written negated.
inline uint32_t predicate_source(Warp& w, const Inst* in) {
  return pred(w, in->c) ^ ((in->imm & 1) != 0 ? full_mask : 0u);
}

// Combination of a comparison's outcome with a predicate.
struct Plain {};
struct AndBits {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct OrBits {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct XorBits {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};

template <class Bool>
inline uint32_t combine(Warp& w, const Inst* in, uint32_t outcome) {
  if constexpr (std::is_same_v<Bool, Plain>)
    return outcome;
  else
    return Bool()(outcome, predicate_source(w, in));
}

struct Setp {
  template <class F, class T, bool ftz, class Bool>
  static const Inst* handler(Warp& w, const Inst* in) {
    constexpr bool alone = std::is_same_v<Bool, Plain>;
    const uint32_t outcome = alone ? compare<F, T, ftz>(w, in) : shared_compare<F, T, ftz>(w, in);
    const uint32_t p = combine<Bool>(w, in, outcome);
    const uint32_t q = combine<Bool>(w, in, ~outcome);  // before d is written: it may be c
    set_pred(w, in->d, p);
    if (in->aux != no_operand) set_pred(w, in->aux, q);
    return in + 1;
  }
};
/// setp of pairs: p of the lower halves, q of the upper ones.
template <class Format>
struct SetpPair {
  template <class F, class, bool ftz, class Bool>
  static const Inst* handler(Warp& w, const Inst* in) {
    const uint32_t p = combine<Bool>(w, in, shared_compare<F, typename PairOf<Format>::Low, ftz>(w, in));
    const uint32_t q = combine<Bool>(w, in, shared_compare<F, typename PairOf<Format>::High, ftz>(w, in));
    set_pred(w, in->d, p);
    if (in->aux != no_operand) set_pred(w, in->aux, q);
    return in + 1;
  }
};
/// Behind the comparison of set: imm where it holds (a), else 0; in lanes of D.
template <class D>
const Inst* set_lanes(Warp& w, const Inst* in) {
  const auto yes = static_cast<D>(in->imm);
  const uint32_t holds = pred(w, in->a);
  for_lanes(w.mask, reg<D>(w, in->d), [=](uint32_t i) { return lane_of(holds, i) ? yes : D{0}; });
  return in + 1;
}
/// The same for pairs: of the lower halves (a) and the upper ones (b).
const Inst* set_pairs(Warp& w, const Inst* in) {
  const auto yes = static_cast<uint32_t>(in->imm);
  const uint32_t low = pred(w, in->a), high = pred(w, in->b);
  for_lanes(w.mask, reg<uint32_t>(w, in->d),
            [=](uint32_t i) { return (lane_of(high, i) ? yes << 16 : 0u) | (lane_of(low, i) ? yes : 0u); });
  return in + 1;
}

// ---- Choice: type, comparison, combination. `Use` is Setp or SetpPair.

template <class Use, class F, class T, bool ftz>
Handler select_combination(const HandlerKey& key) {
  if (key.has(Mod::and_)) return Use::template handler<F, T, ftz, AndBits>;
  if (key.has(Mod::or_)) return Use::template handler<F, T, ftz, OrBits>;
  if (key.has(Mod::xor_)) return Use::template handler<F, T, ftz, XorBits>;
  return Use::template handler<F, T, ftz, Plain>;
}

template <class Use, class T>
Handler select_equality(const HandlerKey& key) {
  if (key.has(Mod::eq)) return select_combination<Use, Eq, T, false>(key);
  if (key.has(Mod::ne)) return select_combination<Use, Ne, T, false>(key);
  return nullptr;
}
template <class Use, class T>
Handler select_order(const HandlerKey& key) {
  // lo, ls, hi, hs are other names of the unsigned comparisons.
  if (key.has(Mod::lt) || key.has(Mod::lo)) return select_combination<Use, Lt, T, false>(key);
  if (key.has(Mod::le) || key.has(Mod::ls)) return select_combination<Use, Le, T, false>(key);
  if (key.has(Mod::gt) || key.has(Mod::hi)) return select_combination<Use, Gt, T, false>(key);
  if (key.has(Mod::ge) || key.has(Mod::hs)) return select_combination<Use, Ge, T, false>(key);
  return nullptr;
}
template <class Use, class Signed, class Unsigned>
Handler select_integer_comparison(const HandlerKey& key, Type t) {
  if (const Handler handler = select_equality<Use, Unsigned>(key)) return handler;
  const bool named_unsigned = key.has(Mod::lo) || key.has(Mod::ls) || key.has(Mod::hi) || key.has(Mod::hs);
  return ptx::is_signed(t) && !named_unsigned ? select_order<Use, Signed>(key)
                                              : select_order<Use, Unsigned>(key);
}

template <class Use, class T, bool ftz>
Handler select_float_comparison(const HandlerKey& key) {
  if (key.has(Mod::eq)) return select_combination<Use, Eq, T, ftz>(key);
  if (key.has(Mod::ne)) return select_combination<Use, NeOrdered, T, ftz>(key);
  if (key.has(Mod::lt)) return select_combination<Use, Lt, T, ftz>(key);
  if (key.has(Mod::le)) return select_combination<Use, Le, T, ftz>(key);
  if (key.has(Mod::gt)) return select_combination<Use, Gt, T, ftz>(key);
  if (key.has(Mod::ge)) return select_combination<Use, Ge, T, ftz>(key);
  if (key.has(Mod::equ)) return select_combination<Use, Unless<NeOrdered>, T, ftz>(key);
  if (key.has(Mod::neu)) return select_combination<Use, Ne, T, ftz>(key);
  if (key.has(Mod::ltu)) return select_combination<Use, Unless<Ge>, T, ftz>(key);
  if (key.has(Mod::leu)) return select_combination<Use, Unless<Gt>, T, ftz>(key);
  if (key.has(Mod::gtu)) return select_combination<Use, Unless<Le>, T, ftz>(key);
  if (key.has(Mod::geu)) return select_combination<Use, Unless<Lt>, T, ftz>(key);
  if (key.has(Mod::num)) return select_combination<Use, BothNumbers, T, ftz>(key);
  if (key.has(Mod::nan)) return select_combination<Use, Unless<BothNumbers>, T, ftz>(key);
  return nullptr;
}

template <class Use>
Handler select_comparison(const HandlerKey& key, Type t) {
  switch (t) {
    case Type::b16:
    case Type::u16:
    case Type::s16: return select_integer_comparison<Use, int16_t, uint16_t>(key, t);
    case Type::b32:
    case Type::u32:
    case Type::s32: return select_integer_comparison<Use, int32_t, uint32_t>(key, t);
    case Type::b64:
    case Type::u64:
    case Type::s64: return select_integer_comparison<Use, int64_t, uint64_t>(key, t);
    case Type::f32:
      return key.has(Mod::ftz) ? select_float_comparison<Use, float, true>(key)
                               : select_float_comparison<Use, float, false>(key);
    case Type::f64: return select_float_comparison<Use, double, false>(key);
    case Type::f16:
      return key.has(Mod::ftz) ? select_float_comparison<Use, HalfIn<Half, uint16_t>, true>(key)
                               : select_float_comparison<Use, HalfIn<Half, uint16_t>, false>(key);
    case Type::bf16: return select_float_comparison<Use, HalfIn<Bfloat, uint16_t>, false>(key);
    default: return nullptr;
  }
}
/// f16x2, bf16x2.
Handler select_pair_comparison(const HandlerKey& key, Type t) {
  if (t == Type::bf16x2) return select_float_comparison<SetpPair<Bfloat>, void, false>(key);
  return key.has(Mod::ftz) ? select_float_comparison<SetpPair<Half>, void, true>(key)
                           : select_float_comparison<SetpPair<Half>, void, false>(key);
}

// ---- Selection.

template <class T>
const Inst* selp_lanes(Warp& w, const Inst* in) {
  const T* a = reg<T>(w, in->a);
  const T* b = reg<T>(w, in->b);
  T* d = reg<T>(w, in->d);
  const uint32_t c = predicate_source(w, in);
  if (w.mask == full_mask) {
    choose(c, d, a, b);
  } else {
    alignas(64) T t[warp_lanes];
    choose(c, t, a, b);
    choose(w.mask, d, t, d);
  }
  return in + 1;
}

/// slct: a where c >= 0 (-0 is, a NaN is not), else b.
struct SlctInteger {
  template <class T>
  constexpr T operator()(T a, T b, int32_t c) const {
    return c >= 0 ? a : b;
  }
};
template <bool ftz>
struct SlctFloat {
  template <class T>
  T operator()(T a, T b, float c) const {
    return flush<ftz>(c) >= 0 ? a : b;
  }
};

template <class T>
Handler select_slct(const HandlerKey& key) {
  if (key.types[1] == Type::s32) return lift3<SlctInteger, T, T, T, int32_t>;
  if (key.types[1] != Type::f32) return nullptr;
  return key.has(Mod::ftz) ? lift3<SlctFloat<true>, T, T, T, float> : lift3<SlctFloat<false>, T, T, T, float>;
}

template <class F, class T>
const Inst* testp_lanes(Warp& w, const Inst* in) {
  const T* a = reg<T>(w, in->a);
  set_pred(w, in->d, ballot([=](uint32_t i) { return F()(a[i]); }));
  return in + 1;
}
template <class T>
Handler select_testp(const HandlerKey& key) {
  if (key.has(Mod::finite)) return testp_lanes<IsFinite, T>;
  if (key.has(Mod::infinite)) return testp_lanes<IsInfinite, T>;
  if (key.has(Mod::number)) return testp_lanes<IsNumber, T>;
  if (key.has(Mod::notanumber)) return testp_lanes<IsNotANumber, T>;
  if (key.has(Mod::normal)) return testp_lanes<IsNormal, T>;
  if (key.has(Mod::subnormal)) return testp_lanes<IsSubnormal, T>;
  return nullptr;
}

// ---- Predicates: one word operation for all lanes.

inline uint32_t negated(const Inst* in, uint32_t bit) { return (in->imm >> bit & 1) != 0 ? full_mask : 0u; }

template <class Bool>
const Inst* predicate_binary(Warp& w, const Inst* in) {
  set_pred(w, in->d, Bool()(pred(w, in->a) ^ negated(in, 0), pred(w, in->b) ^ negated(in, 1)));
  return in + 1;
}
template <uint32_t flip>
const Inst* predicate_unary(Warp& w, const Inst* in) {
  set_pred(w, in->d, pred(w, in->a) ^ negated(in, 0) ^ flip);
  return in + 1;
}

Handler select_predicate_logic(const HandlerKey& key) {
  switch (key.op) {
    case Op::and_: return predicate_binary<AndBits>;
    case Op::or_: return predicate_binary<OrBits>;
    case Op::xor_: return predicate_binary<XorBits>;
    case Op::not_: return predicate_unary<full_mask>;
    case Op::mov: return predicate_unary<0>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_compare(const HandlerKey& key) {
  const Type t = key.types[0];
  const uint32_t width = ptx::size_of(t);
  switch (key.op) {
    case Op::setp: return is_pair(t) ? select_pair_comparison(key, t) : select_comparison<Setp>(key, t);
    case Op::set:
      return is_pair(key.types[1]) ? set_pairs : width == 2 ? set_lanes<uint16_t> : set_lanes<uint32_t>;
    case Op::selp:
      return width == 2   ? selp_lanes<uint16_t>
             : width == 4 ? selp_lanes<uint32_t>
             : width == 8 ? selp_lanes<uint64_t>
                          : nullptr;
    case Op::slct:
      return width == 2   ? select_slct<uint16_t>(key)
             : width == 4 ? select_slct<uint32_t>(key)
             : width == 8 ? select_slct<uint64_t>(key)
                          : nullptr;
    case Op::testp:
      return t == Type::f32 ? select_testp<float>(key) : t == Type::f64 ? select_testp<double>(key) : nullptr;
    default: return t == Type::pred ? select_predicate_logic(key) : nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
