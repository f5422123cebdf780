// f32 and f64 arithmetic and comparisons against the host's own arithmetic, one value at a time under
// fesetround.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "exec/register_harness.hpp"

namespace lanescope::exec::harness {
namespace {

constexpr uint32_t canonical_nan = 0x7fffffff;
constexpr Bits invalid_double = 0xfff8000000000000, quiet_bit = 0x0008000000000000;

struct RoundingCase {
  const char* name;
  Mod mod;
  int mode;
};
const RoundingCase roundings[] = {{"rn", Mod::rn, FE_TONEAREST},
                                  {"rz", Mod::rz, FE_TOWARDZERO},
                                  {"rm", Mod::rm, FE_DOWNWARD},
                                  {"rp", Mod::rp, FE_UPWARD}};

/// One operation on volatile operands, so that it happens where it stands.
template <class T>
T compute(Op op, T x, T y, T z) {
  volatile T a = x, b = y, c = z, r = 0;
  switch (op) {
    case Op::add: r = a + b; break;
    case Op::sub: r = a - b; break;
    case Op::mul: r = a * b; break;
    case Op::div: r = a / b; break;
    case Op::fma:
    case Op::mad: r = std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)); break;
    case Op::rcp: r = T{1} / a; break;
    case Op::sqrt: r = std::sqrt(static_cast<T>(a)); break;
    default: ADD_FAILURE();
  }
  return r;
}

float flushed(float x, bool ftz) {
  return ftz && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

/// A result under .ftz: flushed if it is tiny when rounded to 24 bits whatever its exponent, for which it is
/// computed once more, with 64 bits, and rounded where exponents do not end.
float flushed_result(Op op, float x, float y, float z, float r) {
  if (std::fabs(r) > 0x1p-126f || r == 0 || std::isnan(r)) return r;
  volatile long double wide = compute<long double>(op, x, y, z) * 0x1p100L;
  volatile float scaled = static_cast<float>(wide);
  return std::fabs(static_cast<float>(scaled)) < 0x1p-26f ? std::copysign(0.0f, r) : r;
}

struct Operation {
  const char* name;
  Op op;
  uint8_t sources;
};
const Operation operations[] = {{"add", Op::add, 2}, {"sub", Op::sub, 2},  {"mul", Op::mul, 2},
                                {"div", Op::div, 2}, {"fma", Op::fma, 3},  {"mad", Op::mad, 3},
                                {"rcp", Op::rcp, 1}, {"sqrt", Op::sqrt, 1}};

/// Factors whose product lies less than one part in 2^23 below 2^-126: where it matters when a result counts
/// as tiny.
void add_rows_below_smallest_normal(std::vector<LaneInput>& rows) {
  std::mt19937 random(2);
  for (int k = 0; k < 4096; ++k) {
    const uint32_t x = 0x800001 + random() % 0x7ffffe;  // 24 bits
    const auto y = static_cast<uint32_t>((uint64_t{1} << 47) / x);
    const int e = -60 + static_cast<int>(random() % 20);
    const float a = std::ldexp(static_cast<float>(x), e),
                b = std::ldexp(static_cast<float>(y), -126 - 47 - e);
    rows.push_back({to_bits((k & 1) != 0 ? -a : a), to_bits(b), (k & 2) != 0 ? Bits{0} : Bits{1}});
  }
}

TEST(FloatSemantics, SinglePrecisionRoundsFlushesAndSaturates) {
  const std::vector<Bits> edges = float_edges(), none{0};
  for (const Operation& o : operations) {
    auto rows = rows_of(edges, o.sources > 1 ? edges : none, o.sources > 2 ? edges : none);
    add_rows_below_smallest_normal(rows);
    for (const RoundingCase& r : roundings) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          if (sat && (o.op == Op::div || o.op == Op::rcp || o.op == Op::sqrt)) continue;
          HandlerKey key = make_key(o.op, {Type::f32}, {r.mod}, o.sources);
          if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
          if (sat) key.modifiers.set(static_cast<size_t>(Mod::sat));
          expect_lanes(
              std::string(o.name) + "." + r.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32", key,
              {.d = 4, .a = 4, .b = o.sources > 1 ? 4u : 0, .c = o.sources > 2 ? 4u : 0}, rows,
              [&](const LaneInput& x) {
                const RoundingMode mode(r.mode);
                const float a = flushed(as_float(x.a), ftz), b = flushed(as_float(x.b), ftz),
                            c = flushed(as_float(x.c), ftz);
                float v = compute(o.op, a, b, c);
                if (ftz) v = flushed_result(o.op, a, b, c, v);
                if (sat) return LaneResult{.d = to_bits(!(v > 0) ? 0.0f : v > 1 ? 1.0f : v)};
                return LaneResult{.d = std::isnan(v) ? canonical_nan : to_bits(v)};
              });
        }
      }
    }
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

/// Whose NaN comes out, as measured: the second operand's, then the third's, then the first's; of a division
/// the dividend's. Quieted.
Bits propagated(const LaneInput& x, uint8_t sources, double v, bool quotient = false) {
  std::vector<Bits> operands;
  if (sources > 1 && !quotient) operands.push_back(x.b);
  if (sources > 2) operands.push_back(x.c);
  operands.push_back(x.a);
  if (quotient) operands.push_back(x.b);
  for (const Bits operand : operands)
    if (std::isnan(as_double(operand))) return operand | quiet_bit;
  return std::isnan(v) ? invalid_double : to_bits(v);
}

TEST(FloatSemantics, DoublePrecisionRounds) {
  const std::vector<Bits> edges = double_edges(), none{0};
  for (const Operation& o : operations) {
    const auto rows = rows_of(edges, o.sources > 1 ? edges : none, o.sources > 2 ? edges : none);
    for (const RoundingCase& r : roundings) {
      expect_lanes(
          std::string(o.name) + "." + r.name + ".f64", make_key(o.op, {Type::f64}, {r.mod}, o.sources),
          {.d = 8, .a = 8, .b = o.sources > 1 ? 8u : 0, .c = o.sources > 2 ? 8u : 0}, rows,
          [&](const LaneInput& x) {
            const RoundingMode mode(r.mode);
            return LaneResult{.d = propagated(x, o.sources,
                                              compute(o.op, as_double(x.a), as_double(x.b), as_double(x.c)),
                                              o.op == Op::div)};
          });
    }
  }
}

TEST(FloatSemantics, SignsOfSingles) {
  const auto rows = rows_of(float_edges(), float_edges());
  for (const bool ftz : {false, true}) {
    HandlerKey abs = make_key(Op::abs, {Type::f32}, {}, 1), neg = make_key(Op::neg, {Type::f32}, {}, 1);
    if (ftz)
      abs.modifiers.set(static_cast<size_t>(Mod::ftz)), neg.modifiers.set(static_cast<size_t>(Mod::ftz));
    const auto signed_value = [=](const LaneInput& x, bool negate) {
      const float a = flushed(as_float(x.a), ftz);
      if (std::isnan(a)) return LaneResult{.d = canonical_nan};
      return LaneResult{.d = to_bits(negate ? -a : std::fabs(a))};
    };
    expect_lanes("abs.f32", abs, {.d = 4, .a = 4}, rows,
                 [=](const LaneInput& x) { return signed_value(x, false); });
    expect_lanes("neg.f32", neg, {.d = 4, .a = 4}, rows,
                 [=](const LaneInput& x) { return signed_value(x, true); });
  }
  expect_lanes("copysign.f32", make_key(Op::copysign, {Type::f32}), {.d = 4, .a = 4, .b = 4}, rows,
               [](const LaneInput& x) { return LaneResult{.d = (x.a & 0x80000000) | (x.b & 0x7fffffff)}; });
}

TEST(FloatSemantics, SignsOfDoubles) {
  const auto rows = rows_of(double_edges(), double_edges());
  constexpr Bits sign = Bits{1} << 63;
  expect_lanes("abs.f64", make_key(Op::abs, {Type::f64}), {.d = 8, .a = 8}, rows,
               [](const LaneInput& x) { return LaneResult{.d = propagated(x, 1, as_double(x.a & ~sign))}; });
  expect_lanes("neg.f64", make_key(Op::neg, {Type::f64}), {.d = 8, .a = 8}, rows,
               [](const LaneInput& x) { return LaneResult{.d = propagated(x, 1, as_double(x.a ^ sign))}; });
  expect_lanes("copysign.f64", make_key(Op::copysign, {Type::f64}), {.d = 8, .a = 8, .b = 8}, rows,
               [](const LaneInput& x) { return LaneResult{.d = (x.a & sign) | (x.b & ~sign)}; });
}

/// The ISA's min and max on two numbers: -0 is less than +0.
template <class T>
T lesser(T a, T b) {
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T extreme_of(T a, T b, bool maximum) {
  return maximum ? -lesser(-a, -b) : lesser(a, b);
}

TEST(FloatSemantics, ExtremesOfSingles) {
  const auto rows = rows_of(float_edges(), float_edges());
  for (int variant = 0; variant < 16; ++variant) {
    const bool maximum = variant & 1, ftz = variant & 2, nan_wins = variant & 4, xorsign = variant & 8;
    HandlerKey key = make_key(maximum ? Op::max : Op::min, {Type::f32});
    if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
    if (nan_wins) key.modifiers.set(static_cast<size_t>(Mod::NaN));
    if (xorsign)
      key.modifiers.set(static_cast<size_t>(Mod::xorsign)), key.modifiers.set(static_cast<size_t>(Mod::abs));
    expect_lanes(std::string(maximum ? "max" : "min") + " variant " + std::to_string(variant), key,
                 {.d = 4, .a = 4, .b = 4}, rows, [=](const LaneInput& x) {
                   float a = flushed(as_float(x.a), ftz), b = flushed(as_float(x.b), ftz);
                   const bool negative = std::signbit(a) != std::signbit(b);
                   if (xorsign) a = std::fabs(a), b = std::fabs(b);
                   float r = std::isnan(a) ? b : std::isnan(b) ? a : extreme_of(a, b, maximum);
                   if (std::isnan(r) || (nan_wins && (std::isnan(a) || std::isnan(b))))
                     return LaneResult{.d = canonical_nan};
                   if (xorsign) r = negative ? -std::fabs(r) : std::fabs(r);
                   return LaneResult{.d = to_bits(r)};
                 });
  }
}

TEST(FloatSemantics, ExtremesOfDoubles) {
  const auto rows = rows_of(double_edges(), double_edges());
  for (const bool maximum : {false, true}) {
    expect_lanes(
        maximum ? "max.f64" : "min.f64", make_key(maximum ? Op::max : Op::min, {Type::f64}),
        {.d = 8, .a = 8, .b = 8}, rows, [=](const LaneInput& x) {
          const double a = as_double(x.a), b = as_double(x.b);
          if (std::isnan(a) && std::isnan(b)) return LaneResult{.d = propagated(x, 2, a)};
          return LaneResult{.d = to_bits(std::isnan(a) ? b : std::isnan(b) ? a : extreme_of(a, b, maximum))};
        });
  }
}

/// How many representable values lie between two floats.
uint64_t distance(float a, float b) {
  const auto place = [](float x) {
    const int32_t i = std::bit_cast<int32_t>(x);
    return int64_t{i < 0 ? static_cast<int32_t>(0x80000000u - static_cast<uint32_t>(i)) : i};
  };
  const int64_t d = place(a) - place(b);
  return static_cast<uint64_t>(d < 0 ? -d : d);
}

/// Largest distance over the edges and random values, each instruction set; NaN must meet NaN.
uint64_t worst_distance(const HandlerKey& key, const std::function<double(double, double)>& exact,
                        bool two = false) {
  uint64_t worst = 0;
  std::vector<LaneInput> rows =
      rows_of(float_edges(), two ? float_edges() : std::vector<Bits>{0}, {0}, {0}, 4096);
  rows.resize(rows.size() / 32 * 32);
  std::vector<uint32_t> first_set;
  for (const HandlerSet* set : runnable_handlers()) {
    const Handler handler = set->select(key);
    if (handler == nullptr) return ~uint64_t{0};
    for (size_t k = 0; k < rows.size(); k += 32) {
      RegisterFile file;
      for (uint32_t i = 0; i < 32; ++i)
        file.put(RegisterFile::a, 4, i, rows[k + i].a), file.put(RegisterFile::b, 4, i, rows[k + i].b);
      Inst in;
      in.d = RegisterFile::d, in.a = RegisterFile::a, in.b = RegisterFile::b;
      Warp warp;
      warp.regs = file.data();
      warp.mask = full_mask;
      handler(warp, &in);
      for (uint32_t i = 0; i < 32; ++i) {
        const float got = as_float(file.get(RegisterFile::d, 4, i));
        const float want = static_cast<float>(exact(as_float(rows[k + i].a), as_float(rows[k + i].b)));
        if (std::isnan(want)) {
          if (to_bits(got) != canonical_nan) return ~uint64_t{0};
        } else {
          worst = std::max(worst, distance(got, want));
        }
        if (set == runnable_handlers().front())
          first_set.push_back(static_cast<uint32_t>(to_bits(got)));
        else if (first_set[k + i] != to_bits(got))
          return ~uint64_t{0};
      }
    }
  }
  return worst;
}

/// The angle that sin and cos see: a / 2 pi as a float, towards zero, and of that 25 bits behind the point.
double angle_read(double a) {
  const int mode = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  const volatile float argument = static_cast<float>(a);
  const volatile float turns = argument * 0x1.45f306p-3f;
  std::fesetround(mode);
  double whole = 0;
  const double part = std::modf(static_cast<double>(turns), &whole);
  return std::ldexp(std::trunc(std::ldexp(std::isinf(a) ? std::nan("") : part, 25)), -25) * (2 * M_PI);
}

/// pi is not exact.
double zero_if_tiny(double x) { return std::fabs(x) < 1e-10 ? 0.0 : x; }

TEST(FloatSemantics, ApproximationsAreCloserThanAllowed) {
  const auto key = [](Op op) { return make_key(op, {Type::f32}, {Mod::approx}, 1); };
  EXPECT_LE(worst_distance(key(Op::rcp), [](double a, double) { return 1 / a; }), 1u);
  EXPECT_LE(worst_distance(key(Op::sqrt), [](double a, double) { return std::sqrt(a); }), 1u);
  EXPECT_LE(worst_distance(key(Op::rsqrt), [](double a, double) { return 1 / std::sqrt(a); }), 1u);
  EXPECT_LE(worst_distance(key(Op::ex2), [](double a, double) { return std::exp2(a); }), 1u);
  EXPECT_LE(worst_distance(key(Op::lg2), [](double a, double) { return std::log2(a); }), 1u);
  EXPECT_LE(
      worst_distance(key(Op::sin), [](double a, double) { return zero_if_tiny(std::sin(angle_read(a))); }),
      1u);
  EXPECT_LE(
      worst_distance(key(Op::cos), [](double a, double) { return zero_if_tiny(std::cos(angle_read(a))); }),
      1u);
  EXPECT_LE(worst_distance(key(Op::tanh),
                           [](double a, double) {
                             const double m = std::fabs(a);
                             return m < 0x1.02p-8 ? a : m >= 8 ? std::copysign(1.0, a) : std::tanh(a);
                           }),
            1u);
  EXPECT_LE(worst_distance(
                make_key(Op::div, {Type::f32}, {Mod::full}), [](double a, double b) { return a / b; }, true),
            1u);
  // div.approx: a divisor beyond 2^126 counts as infinite.
  EXPECT_LE(worst_distance(
                make_key(Op::div, {Type::f32}, {Mod::approx}),
                [](double a, double b) {
                  if (std::fabs(b) <= 0x1p126 || std::isinf(b) || std::isnan(b)) return a / b;
                  return std::isinf(a) || std::isnan(a)
                             ? std::nan("")
                             : std::copysign(0.0, std::signbit(a) == std::signbit(b) ? 1.0 : -1.0);
                },
                true),
            1u);
}

// What an H200 gives, where it is not the function of the argument as it is written.
TEST(FloatSemantics, ApproximationsReadTheirArgumentsAsTheChip) {
  struct Known {
    Op op;
    float a;
    double result, off;
  };
  constexpr double bits21 = 0x1p-21;
  const Known known[] = {
      {Op::sin, 100.0f, -0.5063725113868713, bits21},
      {Op::sin, -1000.0f, -0.8268066644668579, bits21},
      {Op::sin, 9984.0f, 0.01763978973031044, bits21},
      {Op::sin, 65280.0f, -0.7450578212738037, bits21},
      {Op::sin, 9961472.0f, 0.7071067690849304, bits21},
      {Op::sin, 0x1.fep127f, 0.0, 0.0},
      {Op::sin, 0x1p-14f, 6.085992936277762e-05, 0x1p-28},
      {Op::sin, 0x1.8p-24f, 0.0, 0.0},
      {Op::cos, 65280.0f, -0.6669997572898865, bits21},
      {Op::cos, 9961472.0f, -0.7071067094802856, bits21},
      {Op::cos, 0x1.fep127f, 1.0, 0.0},
      {Op::tanh, 0.0029296875f, 0.0029296875, 0.0},
      {Op::tanh, -1000.0f, -1.0, 0.0},
      {Op::tanh, 8.0f, 1.0, 0.0},
      {Op::ex2, 0x1.8p-24f, 1.0, 0.0},
      {Op::ex2, -0x1.8p-24f, 1.0, 0.0},
  };
  for (const Known& k : known) {
    const HandlerSet* set = runnable_handlers().front();
    RegisterFile file;
    for (uint32_t i = 0; i < 32; ++i) file.put(RegisterFile::a, 4, i, to_bits(k.a));
    Inst in;
    in.d = RegisterFile::d, in.a = RegisterFile::a;
    Warp warp;
    warp.regs = file.data();
    warp.mask = full_mask;
    set->select(make_key(k.op, {Type::f32}, {Mod::approx}, 1))(warp, &in);
    EXPECT_NEAR(as_float(file.get(RegisterFile::d, 4, 0)), k.result, k.off)
        << ptx::name_of(k.op) << " " << k.a;
  }
}

TEST(FloatSemantics, GrossDoublesLookAtTheUpperHalf) {
  const auto rows = rows_of(double_edges());
  const auto upper = [](double x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x)
                                              : as_double(to_bits(x) & 0xffffffff00000000);
  };
  for (const Op op : {Op::rcp, Op::rsqrt}) {
    expect_lanes("gross", make_key(op, {Type::f64}, {Mod::approx, Mod::ftz}, 1), {.d = 8, .a = 8}, rows,
                 [=](const LaneInput& x) {
                   const double a = upper(as_double(x.a));
                   const double r = op == Op::rcp ? 1 / a : 1 / std::sqrt(a);
                   return LaneResult{.d = std::isnan(r) ? 0x7fffffff00000000 : to_bits(upper(r))};
                 });
  }
}

TEST(FloatSemantics, RsqrtOfDoublesIsTheChips) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  // What an H200 gives.
  const std::pair<double, double> known[] = {{2, 0x1.6a09e667f3bcdp-1},
                                             {0x1.a3d895d57fb68p+1, 0x1.1ab3e2795444bp-1},
                                             {0x1.27520c7d68814p+0, 0x1.dcb2a2bfad944p-1},
                                             {0x1.3006b23adeebfp+1023, 0x1.4c3715ee47a08p-512},
                                             {0x1.d2faed71853adp+757, 0x1.0c0e5d8e9fb87p-379},
                                             {0x0.1073be8209dadp-1022, 0x1.f8ea7082dc1d3p+512},
                                             {0x1p-1074, 0x1p+537},
                                             {4, 0.5},
                                             {0.0, inf},
                                             {-0.0, -inf},
                                             {inf, 0}};
  std::vector<Bits> values;
  for (const auto& [value, result] : known) values.push_back(to_bits(value));
  expect_lanes("rsqrt", make_key(Op::rsqrt, {Type::f64}, {Mod::approx}, 1), {.d = 8, .a = 8},
               rows_of(values, {0}, {0}, {0}, 0), [&](const LaneInput& x) {
                 const auto* const row = std::ranges::find(
                     known, x.a, [](const std::pair<double, double>& pair) { return to_bits(pair.first); });
                 return LaneResult{.d = to_bits(row->second)};
               });
}

// ---- Comparisons.

struct Comparison {
  Mod mod;
  bool (*holds)(double order, bool unordered);  ///< order: sign of a - b
};
const Comparison comparisons[] = {{Mod::eq, [](double o, bool u) { return !u && o == 0; }},
                                  {Mod::ne, [](double o, bool u) { return !u && o != 0; }},
                                  {Mod::lt, [](double o, bool u) { return !u && o < 0; }},
                                  {Mod::le, [](double o, bool u) { return !u && o <= 0; }},
                                  {Mod::gt, [](double o, bool u) { return !u && o > 0; }},
                                  {Mod::ge, [](double o, bool u) { return !u && o >= 0; }},
                                  {Mod::equ, [](double o, bool u) { return u || o == 0; }},
                                  {Mod::neu, [](double o, bool u) { return u || o != 0; }},
                                  {Mod::ltu, [](double o, bool u) { return u || o < 0; }},
                                  {Mod::leu, [](double o, bool u) { return u || o <= 0; }},
                                  {Mod::gtu, [](double o, bool u) { return u || o > 0; }},
                                  {Mod::geu, [](double o, bool u) { return u || o >= 0; }},
                                  {Mod::num, [](double, bool u) { return !u; }},
                                  {Mod::nan, [](double, bool u) { return u; }}};

struct Combination {
  const Mod* mod;
  bool (*combine)(bool a, bool b);
};
const Mod and_mod = Mod::and_, or_mod = Mod::or_, xor_mod = Mod::xor_;
const Combination combinations[] = {{nullptr, [](bool a, bool) { return a; }},
                                    {&and_mod, [](bool a, bool b) { return a && b; }},
                                    {&or_mod, [](bool a, bool b) { return a || b; }},
                                    {&xor_mod, [](bool a, bool b) { return a != b; }}};

/// setp with both destinations, which set begins with, too: every comparison of a type, every combination.
void expect_comparisons(Type t, const std::vector<Bits>& values, std::vector<Mod> mods, size_t count,
                        bool ftz, const std::function<std::pair<double, bool>(Bits, Bits)>& order) {
  const uint32_t n = ptx::size_of(t);
  const std::vector<LaneInput> all = rows_of(values, values);
  std::vector<LaneInput> some;  // enough for the combinations: the comparison itself is the same
  for (size_t k = 0; k < all.size(); k += 23) some.push_back(all[k]);
  for (size_t k = 0; k < count; ++k) {
    for (const Combination& combination : combinations) {
      const std::vector<LaneInput>& rows = combination.mod != nullptr ? some : all;
      for (const bool negated : {false, true}) {
        if (combination.mod == nullptr && negated) continue;
        HandlerKey key = make_key(Op::setp, {t}, {comparisons[k].mod}, combination.mod != nullptr ? 3 : 2);
        for (const Mod m : mods) key.modifiers.set(static_cast<size_t>(m));
        if (combination.mod != nullptr) key.modifiers.set(static_cast<size_t>(*combination.mod));
        const auto holds = [&](const LaneInput& x, bool complement) {
          const auto [o, u] = order(x.a, x.b);
          return combination.combine(comparisons[k].holds(o, u) != complement, x.predicate != negated);
        };
        const Shape shape{.a = n,
                          .b = n,
                          .p_out = true,
                          .c_predicate = combination.mod != nullptr,
                          .aux_out = true,
                          .imm = negated};
        const std::string what = "comparison " + std::to_string(k) + (ftz ? " ftz" : "") + " of type " +
                                 std::to_string(static_cast<int>(t));
        expect_lanes("setp " + what, key, shape, rows, [&](const LaneInput& x) {
          return LaneResult{.p = holds(x, false), .q = holds(x, true)};
        });
      }
    }
  }
}

template <class T>
std::pair<double, bool> order_of(T a, T b) {
  return {a < b ? -1.0 : a > b ? 1.0 : 0.0, a != a || b != b};
}

TEST(FloatSemantics, ComparisonsOfFloats) {
  for (const bool ftz : {false, true}) {
    expect_comparisons(
        Type::f32, float_edges(), ftz ? std::vector<Mod>{Mod::ftz} : std::vector<Mod>{}, 14, ftz,
        [=](Bits a, Bits b) { return order_of(flushed(as_float(a), ftz), flushed(as_float(b), ftz)); });
  }
  expect_comparisons(Type::f64, double_edges(), {}, 14, false,
                     [](Bits a, Bits b) { return order_of(as_double(a), as_double(b)); });
}

template <class T>
void expect_integer_comparisons(Type t, size_t count = 6) {
  expect_comparisons(t, integer_edges(), {}, count, false,
                     [](Bits a, Bits b) { return order_of(static_cast<T>(a), static_cast<T>(b)); });
}

TEST(FloatSemantics, ComparisonsOfIntegers) {
  expect_integer_comparisons<uint16_t>(Type::u16);
  expect_integer_comparisons<int16_t>(Type::s16);
  expect_integer_comparisons<uint32_t>(Type::u32);
  expect_integer_comparisons<int32_t>(Type::s32);
  expect_integer_comparisons<uint64_t>(Type::u64);
  expect_integer_comparisons<int64_t>(Type::s64);
  expect_integer_comparisons<uint16_t>(Type::b16, 2);
  expect_integer_comparisons<uint32_t>(Type::b32, 2);
  expect_integer_comparisons<uint64_t>(Type::b64, 2);
}

TEST(FloatSemantics, OtherNamesOfUnsignedComparisons) {
  const auto rows = rows_of(integer_edges(), integer_edges());
  const std::pair<Mod, bool (*)(uint32_t, uint32_t)> names[] = {
      {Mod::lo, [](uint32_t a, uint32_t b) { return a < b; }},
      {Mod::ls, [](uint32_t a, uint32_t b) { return a <= b; }},
      {Mod::hi, [](uint32_t a, uint32_t b) { return a > b; }},
      {Mod::hs, [](uint32_t a, uint32_t b) { return a >= b; }}};
  for (const auto& [mod, holds] : names) {
    const auto f = holds;
    expect_lanes("setp.lo…", make_key(Op::setp, {Type::u32}, {mod}), {.a = 4, .b = 4, .p_out = true}, rows,
                 [=](const LaneInput& x) {
                   return LaneResult{.p = f(static_cast<uint32_t>(x.a), static_cast<uint32_t>(x.b))};
                 });
  }
}

TEST(FloatSemantics, Selection) {
  const auto rows = rows_of(integer_edges(), integer_edges(), float_edges());
  for (const Type t : {Type::b16, Type::s32, Type::f64}) {
    const uint32_t n = ptx::size_of(t);
    for (const bool negated : {false, true}) {
      expect_lanes("selp", make_key(Op::selp, {t}, {}, 3),
                   {.d = n, .a = n, .b = n, .c_predicate = true, .imm = negated}, rows,
                   [=](const LaneInput& x) { return LaneResult{.d = x.predicate != negated ? x.a : x.b}; });
    }
    expect_lanes(
        "slct.s32", make_key(Op::slct, {t, Type::s32}, {}, 3), {.d = n, .a = n, .b = n, .c = 4}, rows,
        [](const LaneInput& x) { return LaneResult{.d = static_cast<int32_t>(x.c) >= 0 ? x.a : x.b}; });
    for (const bool ftz : {false, true}) {
      HandlerKey key = make_key(Op::slct, {t, Type::f32}, {}, 3);
      if (ftz) key.modifiers.set(static_cast<size_t>(Mod::ftz));
      expect_lanes("slct.f32", key, {.d = n, .a = n, .b = n, .c = 4}, rows, [=](const LaneInput& x) {
        return LaneResult{.d = flushed(as_float(x.c), ftz) >= 0 ? x.a : x.b};
      });
    }
  }
}

TEST(FloatSemantics, Classes) {
  const std::pair<Mod, std::function<bool(int)>> classes[] = {
      {Mod::finite, [](int c) { return c != FP_NAN && c != FP_INFINITE; }},
      {Mod::infinite, [](int c) { return c == FP_INFINITE; }},
      {Mod::number, [](int c) { return c != FP_NAN; }},
      {Mod::notanumber, [](int c) { return c == FP_NAN; }},
      {Mod::normal, [](int c) { return c == FP_NORMAL || c == FP_ZERO; }},
      {Mod::subnormal, [](int c) { return c == FP_SUBNORMAL; }}};
  for (const auto& [mod, holds] : classes) {
    const auto& f = holds;
    expect_lanes("testp.f32", make_key(Op::testp, {Type::f32}, {mod}, 1), {.a = 4, .p_out = true},
                 rows_of(float_edges()),
                 [&](const LaneInput& x) { return LaneResult{.p = f(std::fpclassify(as_float(x.a)))}; });
    expect_lanes("testp.f64", make_key(Op::testp, {Type::f64}, {mod}, 1), {.a = 8, .p_out = true},
                 rows_of(double_edges()),
                 [&](const LaneInput& x) { return LaneResult{.p = f(std::fpclassify(as_double(x.a)))}; });
  }
}

}  // namespace
}  // namespace lanescope::exec::harness
