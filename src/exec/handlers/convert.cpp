// Handlers of cvt and of the change of a register's width.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_convert.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Type;

/// Not inline: the passes below call it, and would each compile it again.
template <class F, class D, class S>
[[gnu::noinline]] const Inst* convert_lanes(Warp& w, const Inst* in) {
  return lift1<F, Lane<D>, Lane<S>>(w, in);
}

// ---- .sat, .relu and .satfinite of a floating-point result, in a second pass over the active lanes: rare,
// and thus no variants of their own.

template <class D>
struct Saturate {
  Lane<D> operator()(Lane<D> x) const {
    if constexpr (is_half<D>)
      return saturate_half<D>(x);
    else
      return saturate(x);
  }
};
template <class D, bool relu, bool finite>
struct FinishHalf {
  uint16_t operator()(uint16_t x) const { return finished_half<D, relu, finite>(x); }
};
template <class D, class Finish>
[[gnu::noinline]] void finish(Warp& w, const Inst* in) {
  Lane<D>* d = reg<Lane<D>>(w, in->d);
  for_lanes(w.mask, d, [=](uint32_t i) { return Finish()(d[i]); });
}
template <Handler convert, class D, class Finish>
const Inst* finished(Warp& w, const Inst* in) {
  const Inst* next = convert(w, in);
  finish<D, Finish>(w, in);
  return next;
}
template <Handler convert, class D>
Handler with_saturation(const HandlerKey& key) {
  if constexpr (is_half<D>) {
    const bool relu = key.has(Mod::relu);
    if (key.has(Mod::satfinite))
      return relu ? finished<convert, D, FinishHalf<D, true, true>>
                  : finished<convert, D, FinishHalf<D, false, true>>;
    if (relu) return finished<convert, D, FinishHalf<D, true, false>>;
  }
  return key.has(Mod::sat) ? finished<convert, D, Saturate<D>> : convert;
}

// ---- Choice of the types. The visitor is called with a value of the C++ type.

/// f(S{}) for the C++ type of an integer type; nullptr for others.
template <class F>
Handler with_integer(Type t, F f) {
  switch (t) {
    case Type::u8: return f(uint8_t{});
    case Type::s8: return f(int8_t{});
    case Type::u16: return f(uint16_t{});
    case Type::s16: return f(int16_t{});
    case Type::u32: return f(uint32_t{});
    case Type::s32: return f(int32_t{});
    case Type::u64: return f(uint64_t{});
    case Type::s64: return f(int64_t{});
    default: return nullptr;
  }
}
template <class F>
Handler with_float(Type t, F f) {
  switch (t) {
    case Type::f16: return f(Half{});
    case Type::bf16: return f(Bfloat{});
    case Type::f32: return f(float{});
    case Type::f64: return f(double{});
    default: return nullptr;
  }
}
template <class D, class S>
Handler int_to_int(const HandlerKey& key) {
  return key.has(Mod::sat) ? convert_lanes<IntToInt<D, S, true>, D, S>
                           : convert_lanes<IntToInt<D, S, false>, D, S>;
}

template <class D, class S>
Handler int_to_float(const HandlerKey& key) {
  if (key.has(Mod::rz)) return with_saturation<convert_lanes<IntToFloat<D, S, Rounding::zero>, D, S>, D>(key);
  if (key.has(Mod::rm)) return with_saturation<convert_lanes<IntToFloat<D, S, Rounding::down>, D, S>, D>(key);
  if (key.has(Mod::rp)) return with_saturation<convert_lanes<IntToFloat<D, S, Rounding::up>, D, S>, D>(key);
  return with_saturation<convert_lanes<IntToFloat<D, S, Rounding::nearest>, D, S>, D>(key);
}

template <class D, class S, bool ftz>
Handler float_to_int_of(const HandlerKey& key) {
  if (key.has(Mod::rni)) return convert_lanes<FloatToInt<D, S, Rounding::nearest, ftz>, D, S>;
  if (key.has(Mod::rzi)) return convert_lanes<FloatToInt<D, S, Rounding::zero, ftz>, D, S>;
  if (key.has(Mod::rmi)) return convert_lanes<FloatToInt<D, S, Rounding::down, ftz>, D, S>;
  if (key.has(Mod::rpi)) return convert_lanes<FloatToInt<D, S, Rounding::up, ftz>, D, S>;
  return nullptr;  // a conversion to an integer must say how it rounds
}
template <class D, class S>
Handler float_to_int(const HandlerKey& key) {
  if constexpr (std::is_same_v<S, float>) {
    if (key.has(Mod::ftz)) return float_to_int_of<D, S, true>(key);
  }
  return float_to_int_of<D, S, false>(key);
}

template <class D, class S, bool ftz>
Handler float_to_float_of(const HandlerKey& key) {
  // Exact conversions have one rounding.
  constexpr bool narrower =
      sizeof(Lane<D>) < sizeof(Lane<S>) || (is_half<D> && is_half<S> && !std::is_same_v<D, S>);
  if constexpr (std::is_same_v<D, S>) {
    if (key.has(Mod::rni))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::nearest, ftz, true>, D, S>, D>(key);
    if (key.has(Mod::rzi))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::zero, ftz, true>, D, S>, D>(key);
    if (key.has(Mod::rmi))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::down, ftz, true>, D, S>, D>(key);
    if (key.has(Mod::rpi))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::up, ftz, true>, D, S>, D>(key);
  }
  if constexpr (narrower) {
    if (key.has(Mod::rz))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::zero, ftz, false>, D, S>, D>(key);
    if (key.has(Mod::rm))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::down, ftz, false>, D, S>, D>(key);
    if (key.has(Mod::rp))
      return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::up, ftz, false>, D, S>, D>(key);
  }
  return with_saturation<convert_lanes<FloatToFloat<D, S, Rounding::nearest, ftz, false>, D, S>, D>(key);
}
template <class D, class S>
Handler float_to_float(const HandlerKey& key) {
  if constexpr (std::is_same_v<D, float> || std::is_same_v<S, float>) {
    if (key.has(Mod::ftz)) return float_to_float_of<D, S, true>(key);
  }
  return float_to_float_of<D, S, false>(key);
}

// ---- Pairs, tf32, cvt.pack.

/// handler<relu, finite> for what the key says.
template <class F>
Handler with_finish(const HandlerKey& key, F f) {
  const bool relu = key.has(Mod::relu);
  if (key.has(Mod::satfinite))
    return relu ? f.template operator()<true, true>() : f.template operator()<false, true>();
  return relu ? f.template operator()<true, false>() : f.template operator()<false, false>();
}
template <class Format, Rounding mode>
Handler to_halves(const HandlerKey& key) {
  return with_finish(key, []<bool relu, bool finite>() -> Handler {
    return lift2<ToHalves<Format, mode, relu, finite>, uint32_t, float>;
  });
}
template <class Format>
Handler to_halves(const HandlerKey& key) {
  return key.has(Mod::rz) ? to_halves<Format, Rounding::zero>(key)
                          : to_halves<Format, Rounding::nearest>(key);
}
template <class Format>
Handler to_halves_by_chance(const HandlerKey& key) {
  return with_finish(key, []<bool relu, bool finite>() -> Handler {
    return lift3<ToHalvesByChance<Format, relu, finite>, uint32_t, float, float, uint32_t>;
  });
}
/// Inst::a: where Kernel::side has the four registers, Inst::b: the random bits.
template <class Format, bool relu, class D>
const Inst* convert_four(Warp& w, const Inst* in) {
  const float* x[4];
  for (uint32_t i = 0; i < 4; ++i) x[i] = reg<float>(w, w.side[in->a + i]);
  const uint32_t* random = reg<uint32_t>(w, in->b);
  for_lanes(w.mask, reg<D>(w, in->d), [&](uint32_t i) {
    return static_cast<D>(ToFourByChance<Format, relu>()(x[0][i], x[1][i], x[2][i], x[3][i], random[i]));
  });
  return in + 1;
}
template <class Format, class D>
Handler to_four(const HandlerKey& key) {
  return key.has(Mod::relu) ? convert_four<Format, true, D> : convert_four<Format, false, D>;
}
/// F of two f32, or of the halves of one register.
template <class F>
Handler narrowed(const HandlerKey& key) {
  if (key.types[1] == Type::f32) return lift2<F, uint16_t, float>;
  return key.types[1] == Type::bf16x2 ? lift1<OfBfloats<F>, uint16_t, uint32_t>
                                      : lift1<F, uint16_t, uint32_t>;
}
template <template <class, bool> class F, class Format>
Handler narrowed(const HandlerKey& key) {
  return key.has(Mod::relu) ? narrowed<F<Format, true>>(key) : narrowed<F<Format, false>>(key);
}
template <template <class, class, bool, bool> class F, class Format, class To>
Handler widened_to(const HandlerKey& key) {
  return with_finish(key, []<bool relu, bool finite>() -> Handler {
    return lift1<F<To, Format, relu, finite>, uint32_t, uint16_t>;
  });
}
template <template <class, class, bool, bool> class F, class Format>
Handler widened(const HandlerKey& key) {
  return key.types[0] == Type::bf16x2 ? widened_to<F, Format, Bfloat>(key) : widened_to<F, Format, Half>(key);
}
template <bool up>
Handler to_scales(const HandlerKey& key) {
  if (key.types[1] == Type::f32)
    return key.has(Mod::satfinite) ? lift2<ToScales<up, true>, uint16_t, float>
                                   : lift2<ToScales<up, false>, uint16_t, float>;
  return key.has(Mod::satfinite) ? lift1<OfBfloats<ToScales<up, true>>, uint16_t, uint32_t>
                                 : lift1<OfBfloats<ToScales<up, false>>, uint16_t, uint32_t>;
}
template <TensorRounding mode>
Handler to_tensor(const HandlerKey& key) {
  return with_finish(key, []<bool relu, bool finite>() -> Handler {
    return lift1<ToTensor<mode, relu, finite>, uint32_t, float>;
  });
}
/// Into and out of types that hold several numbers, and tf32; nullptr for others.
Handler select_several(const HandlerKey& key) {
  const Type to = key.types[0], from = key.types[1];
  switch (to) {
    case Type::f16x2:
    case Type::bf16x2:
      switch (from) {
        case Type::e4m3x2: return widened<BytesToHalves, E4m3>(key);
        case Type::e5m2x2: return widened<BytesToHalves, E5m2>(key);
        case Type::e2m1x2: return widened<FewBitsToHalves, E2m1>(key);
        case Type::e2m3x2: return widened<FewBitsToHalves, E2m3>(key);
        case Type::e3m2x2: return widened<FewBitsToHalves, E3m2>(key);
        case Type::ue8m0x2: return lift1<ScalesToBfloats, uint32_t, uint16_t>;
        default: break;
      }
      if (key.has(Mod::rs))
        return to == Type::f16x2 ? to_halves_by_chance<Half>(key) : to_halves_by_chance<Bfloat>(key);
      return to == Type::f16x2 ? to_halves<Half>(key) : to_halves<Bfloat>(key);
    case Type::e4m3x4: return to_four<E4m3, uint32_t>(key);
    case Type::e5m2x4: return to_four<E5m2, uint32_t>(key);
    case Type::e2m1x4: return to_four<E2m1, uint16_t>(key);
    case Type::e2m3x4: return to_four<E2m3, uint32_t>(key);
    case Type::e3m2x4: return to_four<E3m2, uint32_t>(key);
    case Type::e4m3x2: return narrowed<ToBytes, E4m3>(key);
    case Type::e5m2x2: return narrowed<ToBytes, E5m2>(key);
    case Type::e2m1x2: return narrowed<ToFewBits, E2m1>(key);
    case Type::e2m3x2: return narrowed<ToFewBits, E2m3>(key);
    case Type::e3m2x2: return narrowed<ToFewBits, E3m2>(key);
    case Type::ue8m0x2: return key.has(Mod::rp) ? to_scales<true>(key) : to_scales<false>(key);
    case Type::tf32:
      if (key.has(Mod::rna)) return to_tensor<TensorRounding::away>(key);
      return key.has(Mod::rz) ? to_tensor<TensorRounding::zero>(key)
                              : to_tensor<TensorRounding::nearest>(key);
    default: return nullptr;
  }
}

template <uint32_t width, bool is_signed>
constexpr Handler pack_upon = lift3<Pack<width, is_signed>, uint32_t, int32_t, int32_t, uint32_t>;
Handler select_pack(const HandlerKey& key) {
  switch (key.types[0]) {
    case Type::u16: return lift2<Pack<16, false>, uint32_t, int32_t>;
    case Type::s16: return lift2<Pack<16, true>, uint32_t, int32_t>;
    case Type::u8: return pack_upon<8, false>;
    case Type::s8: return pack_upon<8, true>;
    case Type::u4: return pack_upon<4, false>;
    case Type::s4: return pack_upon<4, true>;
    case Type::u2: return pack_upon<2, false>;
    case Type::s2: return pack_upon<2, true>;
    default: return nullptr;
  }
}

// ---- Registers of another width.

template <class D, class S>
constexpr Handler resized = convert_lanes<IntToInt<D, S, false>, D, S>;
template <class S>
struct ExtendTo128 {
  Uint128 operator()(Lane<S> x) const { return static_cast<Uint128>(static_cast<S>(x)); }
};
template <class D>
struct CutTo {
  D operator()(Uint128 x) const { return static_cast<D>(x); }
};

template <class S>
Handler resize_from(uint32_t to_bytes) {
  constexpr bool sign = std::is_signed_v<S>;
  switch (to_bytes) {
    case 1: return sign ? resized<int8_t, S> : resized<uint8_t, S>;
    case 2: return resized<uint16_t, S>;
    case 4: return resized<uint32_t, S>;
    case 8: return resized<uint64_t, S>;
    case 16: return lift1<ExtendTo128<S>, Uint128, Lane<S>>;
    default: return nullptr;
  }
}
Handler resize_from_128(uint32_t to_bytes, bool sign) {
  switch (to_bytes) {
    case 1: return sign ? lift1<CutTo<int8_t>, int16_t, Uint128> : lift1<CutTo<uint8_t>, uint16_t, Uint128>;
    case 2: return lift1<CutTo<uint16_t>, uint16_t, Uint128>;
    case 4: return lift1<CutTo<uint32_t>, uint32_t, Uint128>;
    case 8: return lift1<CutTo<uint64_t>, uint64_t, Uint128>;
    case 16: return lift1<CutTo<Uint128>, Uint128, Uint128>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_convert(const HandlerKey& key) {
  if (key.op != ptx::Op::cvt) return nullptr;
  const Type to = key.types[0], from = key.types[1];
  if (key.has(Mod::pack)) return select_pack(key);
  if (const Handler handler = select_several(key)) return handler;
  if (is_integer(to)) {
    return with_integer(to, [&]<class D>(D) -> Handler {
      if (is_integer(from)) return with_integer(from, [&]<class S>(S) { return int_to_int<D, S>(key); });
      return with_float(from, [&]<class S>(S) { return float_to_int<D, S>(key); });
    });
  }
  return with_float(to, [&]<class D>(D) -> Handler {
    if (is_integer(from)) return with_integer(from, [&]<class S>(S) { return int_to_float<D, S>(key); });
    return with_float(from, [&]<class S>(S) { return float_to_float<D, S>(key); });
  });
}

Handler select_resize(uint32_t to_bytes, uint32_t from_bytes, bool sign) {
  switch (from_bytes) {
    case 1: return sign ? resize_from<int8_t>(to_bytes) : resize_from<uint8_t>(to_bytes);
    case 2: return sign ? resize_from<int16_t>(to_bytes) : resize_from<uint16_t>(to_bytes);
    case 4: return sign ? resize_from<int32_t>(to_bytes) : resize_from<uint32_t>(to_bytes);
    case 8: return sign ? resize_from<int64_t>(to_bytes) : resize_from<uint64_t>(to_bytes);
    case 16: return resize_from_128(to_bytes, sign);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
