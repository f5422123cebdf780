// Handlers of f32 and f64 arithmetic.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/rounding.hpp"
#include "exec/handlers/semantics_float.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

/// An f32 operation with .sat, rounding and .ftz as written.
template <int count, class F>
Handler select_f32(const HandlerKey& key) {
  return key.has(Mod::sat) ? with_float_mode<lifted<count, F32<F, true>, float>()>(key)
                           : with_float_mode<lifted<count, F32<F>, float>()>(key);
}
template <int count, class F, template <class> class Nans = F64>
Handler select_f64(const HandlerKey& key) {
  return with_rounding<lifted<count, Nans<F>, double>(), false>(key);
}

template <bool maximum, bool ftz, Compared compared>
Handler select_min_max_as(const HandlerKey& key) {
  return key.has(Mod::NaN) ? lift2<FloatMinMax<maximum, ftz, true, compared>, float, float>
                           : lift2<FloatMinMax<maximum, ftz, false, compared>, float, float>;
}
template <bool maximum, bool ftz>
Handler select_min_max_of(const HandlerKey& key) {
  if (key.has(Mod::xorsign)) return select_min_max_as<maximum, ftz, Compared::magnitudes_xorsign>(key);
  if (key.has(Mod::abs)) return select_min_max_as<maximum, ftz, Compared::magnitudes>(key);
  return select_min_max_as<maximum, ftz, Compared::values>(key);
}
template <bool maximum>
Handler select_min_max(const HandlerKey& key) {
  if (key.sources > 2) return nullptr;
  if (key.types[0] == Type::f64) return lift2<DoubleMinMax<maximum>, double, double>;
  return key.has(Mod::ftz) ? select_min_max_of<maximum, true>(key) : select_min_max_of<maximum, false>(key);
}

Handler select_single(const HandlerKey& key) {
  const bool ftz = key.has(Mod::ftz);
  switch (key.op) {
    case Op::add: return select_f32<2, FloatAdd>(key);
    case Op::sub: return select_f32<2, FloatSub>(key);
    case Op::mul: return select_f32<2, FloatMul>(key);
    case Op::fma:
    case Op::mad: return select_f32<3, FloatFma>(key);
    case Op::div:
      if (key.has(Mod::approx)) return select_f32<2, DivApprox>(key);
      return select_f32<2, FloatDiv>(key);              // .full: rounded to nearest
    case Op::rcp: return select_f32<1, FloatRcp>(key);  // .approx: rounded to nearest
    case Op::sqrt: return select_f32<1, FloatSqrt>(key);
    case Op::abs:
      return ftz ? lift1<SignOf<FloatAbs, true>, float, float> : lift1<SignOf<FloatAbs, false>, float, float>;
    case Op::neg:
      return ftz ? lift1<SignOf<FloatNeg, true>, float, float> : lift1<SignOf<FloatNeg, false>, float, float>;
    case Op::copysign: return lift2<Copysign, float, float>;
    case Op::min: return select_min_max<false>(key);
    case Op::max: return select_min_max<true>(key);
    case Op::rsqrt: return select_f32<1, RsqrtApprox>(key);
    case Op::sin:
      return key.has(Mod::dim_2pi) ? select_f32<1, SinOfTurns>(key) : select_f32<1, SinApprox>(key);
    case Op::cos:
      return key.has(Mod::dim_2pi) ? select_f32<1, CosOfTurns>(key) : select_f32<1, CosApprox>(key);
    case Op::lg2: return select_f32<1, Lg2Approx>(key);
    case Op::ex2: return select_f32<1, Ex2Approx>(key);
    case Op::tanh: return select_f32<1, TanhApprox>(key);
    default: return nullptr;
  }
}

Handler select_double(const HandlerKey& key) {
  const bool ftz = key.has(Mod::ftz);
  switch (key.op) {
    case Op::add: return select_f64<2, FloatAdd>(key);
    case Op::sub: return select_f64<2, FloatSub>(key);
    case Op::mul: return select_f64<2, FloatMul>(key);
    case Op::fma:
    case Op::mad: return select_f64<3, FloatFma>(key);
    case Op::div: return select_f64<2, FloatDiv, F64Quotient>(key);
    case Op::rcp:
      return key.has(Mod::approx) ? lift1<Gross<FloatRcp>, double, double> : select_f64<1, FloatRcp>(key);
    case Op::sqrt: return select_f64<1, FloatSqrt>(key);
    case Op::abs: return lift1<SignOf<FloatAbs, false>, double, double>;
    case Op::neg: return lift1<SignOf<FloatNeg, false>, double, double>;
    case Op::copysign: return lift2<Copysign, double, double>;
    case Op::min: return select_min_max<false>(key);
    case Op::max: return select_min_max<true>(key);
    case Op::rsqrt:
      return ftz ? lift1<Gross<RsqrtApprox>, double, double> : lift1<F64<RsqrtOfDouble>, double, double>;
    default: return nullptr;
  }
}

template <int count, class F>
Handler select_pair(const HandlerKey& key) {
  return with_float_mode<lifted<count, BothF32<F32<F>>, uint64_t>()>(key);
}
Handler select_pairs(const HandlerKey& key) {
  switch (key.op) {
    case Op::add: return select_pair<2, FloatAdd>(key);
    case Op::sub: return select_pair<2, FloatSub>(key);
    case Op::mul: return select_pair<2, FloatMul>(key);
    case Op::fma: return select_pair<3, FloatFma>(key);
    default: return nullptr;
  }
}

}  // namespace

Handler select_float(const HandlerKey& key) {
  switch (key.types[0]) {
    case Type::f32: return select_single(key);
    case Type::f64: return select_double(key);
    case Type::f32x2: return select_pairs(key);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
