// cvt between integers, f16, f32 and f64 against slow references: 80-bit and 128-bit arithmetic of the host,
// and a search among all values of f16.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "exec/register_harness.hpp"

namespace lanescope::exec::harness {
namespace {

__extension__ using Wide = __int128;

struct IntegerType {
  Type type;
  const char* name;
  int width;
  bool sign;
  [[nodiscard]] uint32_t lane() const { return width == 8 ? 2 : static_cast<uint32_t>(width / 8); }
  [[nodiscard]] Wide low() const { return sign ? -(Wide{1} << (width - 1)) : 0; }
  [[nodiscard]] Wide high() const { return (Wide{1} << (sign ? width - 1 : width)) - 1; }
  /// The number whose low bits these are.
  [[nodiscard]] Wide read(Bits x) const {
    const Wide modulus = Wide{1} << width;
    const Wide v = static_cast<Wide>(x) & (modulus - 1);
    return sign && v > high() ? v - modulus : v;
  }
};
const IntegerType integers[] = {{Type::u8, "u8", 8, false},    {Type::s8, "s8", 8, true},
                                {Type::u16, "u16", 16, false}, {Type::s16, "s16", 16, true},
                                {Type::u32, "u32", 32, false}, {Type::s32, "s32", 32, true},
                                {Type::u64, "u64", 64, false}, {Type::s64, "s64", 64, true}};

struct ConversionRounding {
  const char* name;
  Mod to_float, to_integral;
  int mode;
};
const ConversionRounding conversion_roundings[] = {{"rn", Mod::rn, Mod::rni, FE_TONEAREST},
                                                   {"rz", Mod::rz, Mod::rzi, FE_TOWARDZERO},
                                                   {"rm", Mod::rm, Mod::rmi, FE_DOWNWARD},
                                                   {"rp", Mod::rp, Mod::rpi, FE_UPWARD}};

/// An 80-bit number (64 bits of significand hold every source) as T under a rounding mode.
template <class T>
T rounded_to(long double x, int mode) {
  const RoundingMode scope(mode);
  volatile long double from = x;
  volatile T to = static_cast<T>(from);
  return to;
}
/// To an integral value under a rounding mode.
long double integral(long double x, int mode) {
  const RoundingMode scope(mode);
  volatile long double from = x;
  return std::nearbyint(static_cast<long double>(from));
}

// ---- f16, by definition.

long double half_value(uint32_t h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const long double fraction = h & 0x3ff, sign = (h & 0x8000) != 0 ? -1.0L : 1.0L;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}
/// The largest magnitude not above |x|, then up by the rules of the mode.
uint32_t half_of(long double x, int mode) {
  if (std::isnan(x)) return 0x7fff;
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const long double m = std::fabs(x);
  if (std::isinf(m)) return sign | 0x7c00;
  uint32_t below = 0, above = 0x7c00;  // half_value(below) <= m < above
  while (above - below > 1) {
    const uint32_t middle = (below + above) / 2;
    (half_value(middle) <= m ? below : above) = middle;
  }
  if (half_value(below) == m) return sign | below;
  // Beyond the largest number the next one would be 65536.
  const long double next = above == 0x7c00 ? 65536.0L : half_value(above);
  const long double down = m - half_value(below), up = next - m;
  const bool away = mode == FE_TONEAREST  ? up < down || (up == down && (above & 1) == 0)
                    : mode == FE_UPWARD   ? sign == 0
                    : mode == FE_DOWNWARD ? sign != 0
                                          : false;
  return sign | (away ? above : below);
}

std::vector<Bits> half_edges() {
  std::vector<Bits> v;
  for (Bits x = 0; x < 0x10000; x += 5) v.push_back(x);
  for (const Bits x :
       {Bits{0x7bff}, Bits{0x7c00}, Bits{0x7c01}, Bits{0x7fff}, Bits{0x8000}, Bits{0xfbff}, Bits{0xfc00}})
    v.push_back(x);
  return v;
}

/// f32 values around every f16 value and every midpoint of two.
std::vector<Bits> singles_near_halves() {
  std::vector<Bits> v = float_edges();
  for (uint32_t h = 0; h < 0x7c00; h += 3) {
    const float value = static_cast<float>(half_value(h)),
                next = h == 0x7bff ? 65536.0f : static_cast<float>(half_value(h + 1));
    const float middle = (value + next) / 2;
    for (const float x : {value, middle})
      for (const float y :
           {x, std::nextafter(x, 0.0f), std::nextafter(x, 1e9f), -x, std::nextafter(-x, 0.0f)})
        v.push_back(to_bits(y));
  }
  return v;
}

struct FloatType {
  Type type;
  const char* name;
  uint32_t bytes;
  [[nodiscard]] long double read(Bits x, bool ftz) const {
    if (bytes == 2) return half_value(static_cast<uint32_t>(x & 0xffff));
    if (bytes == 8) return as_double(x);
    const float f = as_float(x);
    return ftz && std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
  }
  [[nodiscard]] Bits write(long double x, int mode, bool ftz, bool sat) const {
    if (sat) x = x > 0 ? x : 0.0L;
    if (bytes == 2) {
      const uint32_t h = half_of(x, mode);
      return sat && half_value(h) > 1 ? 0x3c00 : h;
    }
    if (bytes == 8) {
      const double d = rounded_to<double>(x, mode);
      return to_bits(sat && d > 1 ? 1.0 : d);
    }
    if (std::isnan(x)) return 0x7fffffff;
    float f = rounded_to<float>(x, mode);
    // Tiny is what is below the smallest normal number when rounded to 24 bits whatever the exponent.
    if (ftz && std::fabs(rounded_to<float>(x * 0x1p100L, mode)) < 0x1p-26f) f = std::copysign(0.0f, f);
    return to_bits(sat && f > 1 ? 1.0f : f);
  }
};
const FloatType floats[] = {{Type::f16, "f16", 2}, {Type::f32, "f32", 4}, {Type::f64, "f64", 8}};

std::vector<LaneInput> float_rows(const FloatType& t) {
  return rows_of(t.bytes == 2   ? half_edges()
                 : t.bytes == 4 ? singles_near_halves()
                                : double_edges(),
                 {0}, {0}, {0}, 4096);
}

TEST(ConvertSemantics, IntegerToInteger) {
  const auto rows = rows_of(integer_edges());
  for (const IntegerType& to : integers) {
    for (const IntegerType& from : integers) {
      for (const bool sat : {false, true}) {
        HandlerKey key = make_key(Op::cvt, {to.type, from.type}, {}, 1);
        if (sat) key.modifiers.set(static_cast<size_t>(Mod::sat));
        expect_lanes(std::string("cvt.") + (sat ? "sat." : "") + to.name + "." + from.name, key,
                     {.d = to.lane(), .a = from.lane()}, rows, [&](const LaneInput& x) {
                       const Wide v = from.read(x.a);
                       // read: what is cut to 8 bits is extended over its lane.
                       return LaneResult{.d = static_cast<Bits>(to.read(static_cast<Bits>(
                                             sat ? std::clamp(v, to.low(), to.high()) : v)))};
                     });
      }
    }
  }
}

TEST(ConvertSemantics, IntegerToFloat) {
  std::vector<Bits> values = integer_edges();
  for (int shift = 0; shift < 40; ++shift)  // halfway cases of 11, 24 and 53 bits
    for (const Bits x : {Bits{0x801}, Bits{0x803}, Bits{0x1000001}, Bits{0x1000003}, Bits{0x20000000000001},
                         Bits{0x20000000000003}})
      for (const Bits y : {x << shift, (x << shift) + 1, (x << shift) - 1})
        values.push_back(y), values.push_back(Bits{0} - y);
  const auto rows = rows_of(values);
  for (const FloatType& to : floats) {
    for (const IntegerType& from : integers) {
      for (const ConversionRounding& r : conversion_roundings) {
        for (const bool sat : {false, true}) {
          HandlerKey key = make_key(Op::cvt, {to.type, from.type}, {r.to_float}, 1);
          if (sat) key.modifiers.set(static_cast<size_t>(Mod::sat));
          expect_lanes(std::string("cvt.") + r.name + (sat ? ".sat." : ".") + to.name + "." + from.name, key,
                       {.d = to.bytes, .a = from.lane()}, rows, [&](const LaneInput& x) {
                         return LaneResult{
                             .d = to.write(static_cast<long double>(from.read(x.a)), r.mode, false, sat)};
                       });
        }
      }
    }
  }
}

TEST(ConvertSemantics, FloatToInteger) {
  for (const FloatType& from : floats) {
    const auto rows = float_rows(from);
    for (const IntegerType& to : integers) {
      for (const ConversionRounding& r : conversion_roundings) {
        for (const bool ftz : {false, true}) {
          if (ftz && from.bytes != 4) continue;
          HandlerKey key = make_key(Op::cvt, {to.type, from.type}, {r.to_integral}, 1);
          if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
          expect_lanes(
              std::string("cvt.") + r.name + "i." + to.name + "." + from.name, key,
              {.d = to.lane(), .a = from.bytes}, rows, [&](const LaneInput& x) {
                const long double v = from.read(x.a, ftz);
                Wide i;
                if (std::isnan(v))
                  i = from.bytes < 8 && to.width < 64 ? 0 : Wide{1} << (to.width - 1);
                else
                  i = static_cast<Wide>(std::clamp(integral(v, r.mode), static_cast<long double>(to.low()),
                                                   static_cast<long double>(to.high())));
                return LaneResult{.d = static_cast<Bits>(to.read(static_cast<Bits>(i)))};
              });
        }
      }
    }
  }
}

/// What becomes of a NaN, as measured: to and from f64 its sign and the payload's upper bits come along, else
/// it becomes the canonical one; a conversion to the same type that does nothing keeps it.
Bits nan_of(const FloatType& to, const FloatType& from, Bits x, bool ftz, bool whole) {
  const auto fraction_bits = [](const FloatType& t) { return t.bytes == 2 ? 10 : t.bytes == 4 ? 23 : 52; };
  const auto exponent = [&](const FloatType& t) {
    return t.bytes == 2 ? Bits{31} : t.bytes == 4 ? Bits{255} : Bits{2047};
  };
  if (to.bytes == from.bytes && to.bytes > 2 && !whole && !ftz) return x;
  if (to.bytes < 8 && from.bytes < 8) return to.bytes == 2 ? 0x7fff : 0x7fffffff;
  if (ftz && from.bytes == 4) x = 0x7fffffff;
  const int n = fraction_bits(to), m = fraction_bits(from);
  const Bits sign = x >> (from.bytes * 8 - 1) & 1, payload = x & ((Bits{1} << m) - 1);
  return sign << (to.bytes * 8 - 1) | exponent(to) << n | Bits{1} << (n - 1) |
         (n > m ? payload << (n - m) : payload >> (m - n));
}

TEST(ConvertSemantics, FloatToFloat) {
  for (const FloatType& from : floats) {
    const auto rows = float_rows(from);
    for (const FloatType& to : floats) {
      const bool single = to.bytes == 4 || from.bytes == 4;
      for (const ConversionRounding& r : conversion_roundings) {
        for (int variant = 0; variant < 8; ++variant) {
          const bool ftz = variant & 1, sat = variant & 2, whole = variant & 4;
          if ((ftz && !single) || (whole && to.bytes != from.bytes)) continue;
          HandlerKey key = make_key(Op::cvt, {to.type, from.type}, {}, 1);
          if (whole)
            key.modifiers.set(static_cast<size_t>(r.to_integral));
          else if (to.bytes < from.bytes)
            key.modifiers.set(static_cast<size_t>(r.to_float));
          else if (r.mode != FE_TONEAREST)
            continue;
          if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
          if (sat) key.modifiers.set(static_cast<size_t>(Mod::sat));
          expect_lanes(std::string("cvt.") + r.name + (whole ? "i" : "") + (ftz ? ".ftz" : "") +
                           (sat ? ".sat." : ".") + to.name + "." + from.name,
                       key, {.d = to.bytes, .a = from.bytes}, rows, [&](const LaneInput& x) {
                         // f16 keeps what is tiny in f32, so nothing is flushed on the way there.
                         const long double v = from.read(x.a, ftz && to.bytes != 2);
                         if (std::isnan(v) && !sat) return LaneResult{.d = nan_of(to, from, x.a, ftz, whole)};
                         return LaneResult{.d = to.write(whole ? integral(v, r.mode) : v, r.mode, ftz, sat)};
                       });
        }
      }
    }
  }
}

TEST(ConvertSemantics, EveryHalfSurvivesTheWayThroughSingle) {
  std::vector<LaneInput> rows;
  for (Bits h = 0; h < 0x10000; ++h) rows.push_back({h});
  expect_lanes("cvt.f32.f16", make_key(Op::cvt, {Type::f32, Type::f16}), {.d = 4, .a = 2}, rows,
               [](const LaneInput& x) {
                 const long double v = half_value(static_cast<uint32_t>(x.a));
                 return LaneResult{.d = std::isnan(v) ? 0x7fffffff : to_bits(static_cast<float>(v))};
               });
}

/// bf16 by definition: the two neighbours of x that have 16 bits, and the rules of the mode.
uint32_t bfloat_of(float x, int mode) {
  if (std::isnan(x)) return 0x7fff;
  const uint32_t magnitude = static_cast<uint32_t>(to_bits(x)) & 0x7fffffffu;
  const uint32_t below = magnitude >> 16, sign = std::signbit(x) ? 0x8000 : 0;
  const auto value = [](uint32_t h) {
    return h == 0x7f80 ? 0x1p128L : static_cast<long double>(std::bit_cast<float>(h << 16));
  };
  if ((magnitude & 0xffff) == 0) return sign | below;
  const long double m = std::fabs(x), down = m - value(below), up = value(below + 1) - m;
  const bool away = mode == FE_TONEAREST  ? up < down || (up == down && (below & 1) != 0)
                    : mode == FE_UPWARD   ? sign == 0
                    : mode == FE_DOWNWARD ? sign != 0
                                          : false;
  return sign | (away ? below + 1 : below);
}

std::vector<LaneInput> pairs_of_singles() {
  std::vector<Bits> values = singles_near_halves();
  for (Bits h = 0; h <= 0x7f80; h += 7)
    for (const Bits low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      for (const Bits sign : {0u, 0x80000000u}) values.push_back(sign | h << 16 | low);
  std::vector<LaneInput> rows;
  for (size_t i = 0; i < values.size(); ++i)
    rows.push_back({values[i], values[(i * 37 + 11) % values.size()]});
  return rows;
}

TEST(ConvertSemantics, SingleToBfloatAndBack) {
  const auto single = [](Bits b) { return std::bit_cast<float>(static_cast<uint32_t>(b)); };
  const auto rows = pairs_of_singles();
  for (const auto& [mod, mode] : {std::pair{Mod::rn, FE_TONEAREST}, std::pair{Mod::rz, FE_TOWARDZERO},
                                  std::pair{Mod::rm, FE_DOWNWARD}, std::pair{Mod::rp, FE_UPWARD}})
    for (const bool ftz : {false, true}) {
      HandlerKey key = make_key(Op::cvt, {Type::bf16, Type::f32}, {mod}, 1);
      if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
      expect_lanes("cvt.bf16.f32", key, {.d = 2, .a = 4}, rows, [&, mode = mode](const LaneInput& x) {
        const float f = single(x.a);
        const bool tiny = ftz && std::fpclassify(f) == FP_SUBNORMAL;
        return LaneResult{.d = bfloat_of(tiny ? std::copysign(0.0f, f) : f, mode)};
      });
    }
  std::vector<LaneInput> all;
  for (Bits h = 0; h < 0x10000; ++h) all.push_back({h});
  expect_lanes("cvt.f32.bf16", make_key(Op::cvt, {Type::f32, Type::bf16}, {}, 1), {.d = 4, .a = 2}, all,
               [](const LaneInput& x) { return LaneResult{.d = x.a << 16}; });
}

TEST(ConvertSemantics, TwoSinglesToAPair) {
  const auto rows = pairs_of_singles();
  const auto single = [](Bits b) { return std::bit_cast<float>(static_cast<uint32_t>(b)); };
  for (const auto& [mod, mode] : {std::pair{Mod::rn, FE_TONEAREST}, std::pair{Mod::rz, FE_TOWARDZERO}}) {
    expect_lanes("cvt.f16x2.f32", make_key(Op::cvt, {Type::f16x2, Type::f32}, {mod}),
                 {.d = 4, .a = 4, .b = 4}, rows, [&, mode = mode](const LaneInput& x) {
                   return LaneResult{.d = half_of(single(x.a), mode) << 16 | half_of(single(x.b), mode)};
                 });
    expect_lanes("cvt.bf16x2.f32", make_key(Op::cvt, {Type::bf16x2, Type::f32}, {mod}),
                 {.d = 4, .a = 4, .b = 4}, rows, [&, mode = mode](const LaneInput& x) {
                   return LaneResult{.d = bfloat_of(single(x.a), mode) << 16 | bfloat_of(single(x.b), mode)};
                 });
  }
}

TEST(ConvertSemantics, TwoSinglesToABfloatPairByRandomBits) {
  auto rows = pairs_of_singles();
  std::mt19937 random(7);
  for (LaneInput& row : rows) row.c = random();
  // The bits that are cut and as many random ones: where their sum does not fit, the number is the next one.
  const auto rounded = [](Bits x, Bits chance, bool relu, bool finite) -> Bits {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(x));
    if (std::isnan(f)) return 0x7fff;
    Bits h = bfloat_of(f, FE_TOWARDZERO);
    if (!std::isinf(f) && (x & 0xffff) + chance > 0xffff) ++h;
    if (finite && (h & 0x7fff) == 0x7f80) --h;
    return relu && (h & 0x8000) != 0 ? 0 : h;
  };
  for (const bool relu : {false, true})
    for (const bool finite : {false, true}) {
      HandlerKey key = make_key(Op::cvt, {Type::bf16x2, Type::f32}, {Mod::rs}, 3);
      if (relu) key.modifiers.set(static_cast<size_t>(Mod::relu));
      if (finite) key.modifiers.set(static_cast<size_t>(Mod::satfinite));
      expect_lanes("cvt.rs.bf16x2.f32", key, {.d = 4, .a = 4, .b = 4, .c = 4}, rows, [&](const LaneInput& x) {
        return LaneResult{.d = rounded(x.a, x.c >> 16, relu, finite) << 16 |
                               rounded(x.b, x.c & 0xffff, relu, finite)};
      });
    }
}

TEST(ConvertSemantics, TensorFloatsAreBoundedInEveryRounding) {
  // The largest number, what is rounded beyond it, infinities and NaNs.
  constexpr Bits largest = 0x7f7fe000;
  const std::vector<LaneInput> rows = {{largest},    {largest | 0x1fff}, {0x7f800000},
                                       {0xff800000}, {0xff7fffff},       {0x7fc00001}};
  for (const Mod mod : {Mod::rn, Mod::rz})
    expect_lanes("cvt.satfinite.tf32.f32",
                 make_key(Op::cvt, {Type::tf32, Type::f32}, {mod, Mod::satfinite}, 1), {.d = 4, .a = 4}, rows,
                 [](const LaneInput& x) {
                   return LaneResult{.d = x.a == 0x7fc00001 ? 0x7fffe000 : largest | (x.a & 0x80000000)};
                 });
}

TEST(ConvertSemantics, AnIntegerNeedsARounding) {
  for (const HandlerSet* set : runnable_handlers()) {
    EXPECT_EQ(set->select(make_key(Op::cvt, {Type::s32, Type::f32}, {}, 1)), nullptr);
  }
}

}  // namespace
}  // namespace lanescope::exec::harness
