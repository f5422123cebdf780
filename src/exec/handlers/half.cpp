// Handlers of arithmetic on f16, bf16 and pairs of them.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_half.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

template <int count, class F, class Format, bool ftz, HalfResult result>
Handler select_lanes(bool pairs) {
  using One = HalfLane<F, Format, ftz, result>;
  return pairs ? lifted<count, Pairwise<One>, uint32_t>() : lifted<count, One, uint16_t>();
}

/// One key's format and width.
template <class Format>
struct Halves {
  const HandlerKey& key;
  bool pairs;

  template <int count, class F, HalfResult result = HalfResult::plain>
  [[nodiscard]] Handler with_ftz() const {
    if (!key.has(Mod::ftz)) return select_lanes<count, F, Format, false, result>(pairs);
    if constexpr (std::is_same_v<Format, Half>) return select_lanes<count, F, Format, true, result>(pairs);
    return nullptr;
  }
  template <int count, class F>
  [[nodiscard]] Handler arithmetic() const {
    if (!key.has(Mod::sat)) return with_ftz<count, F>();
    if constexpr (std::is_same_v<Format, Half>) return with_ftz<count, F, HalfResult::saturated>();
    return nullptr;
  }
  [[nodiscard]] Handler fma() const {
    if (key.has(Mod::oob))
      return key.has(Mod::relu) ? with_ftz<3, HalfFmaOob, HalfResult::relu>() : arithmetic<3, HalfFmaOob>();
    return key.has(Mod::relu) ? with_ftz<3, HalfFma, HalfResult::relu>() : arithmetic<3, HalfFma>();
  }
  template <bool maximum>
  [[nodiscard]] Handler min_max() const {
    if (key.sources > 2) return nullptr;
    if (key.has(Mod::xorsign))
      return key.has(Mod::NaN) ? with_ftz<2, HalfMinMax<maximum, true, true>>()
                               : with_ftz<2, HalfMinMax<maximum, false, true>>();
    return key.has(Mod::NaN) ? with_ftz<2, HalfMinMax<maximum, true, false>>()
                             : with_ftz<2, HalfMinMax<maximum, false, false>>();
  }
  template <class F>
  [[nodiscard]] Handler approximation() const {
    return select_lanes<1, F, Format, false, HalfResult::plain>(pairs);
  }

  [[nodiscard]] Handler select() const {
    switch (key.op) {
      case Op::add: return arithmetic<2, HalfSum<false>>();
      case Op::sub: return arithmetic<2, HalfSum<true>>();
      case Op::mul: return arithmetic<2, HalfMul>();
      case Op::fma: return fma();
      case Op::neg: return with_ftz<1, HalfSign<false>>();
      case Op::abs: return with_ftz<1, HalfSign<true>>();
      case Op::min: return min_max<false>();
      case Op::max: return min_max<true>();
      case Op::ex2: return approximation<HalfEx2>();
      case Op::tanh: return approximation<HalfTanh>();
      default: return nullptr;
    }
  }
};

}  // namespace

Handler select_half(const HandlerKey& key) {
  switch (key.types[0]) {
    case Type::f16: return Halves<Half>{key, false}.select();
    case Type::f16x2: return Halves<Half>{key, true}.select();
    case Type::bf16: return Halves<Bfloat>{key, false}.select();
    case Type::bf16x2: return Halves<Bfloat>{key, true}.select();
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
