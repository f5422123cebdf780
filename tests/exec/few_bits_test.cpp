// cvt to and from numbers of 4 and 6 bits and scale factors (PTX ISA 9.0, cvt; OCP Microscaling Formats 1.0):
// every f16 and every code, compared with the nearest number of a list.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

double value_of_half(uint32_t h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const double fraction = h & 1023;
  const double magnitude = exponent == 31
                               ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Format {
  const char* name;
  uint32_t bits, exponent, fraction;
  [[nodiscard]] double value(uint32_t code) const {
    const int bias = (1 << (exponent - 1)) - 1,
              e = static_cast<int>(code >> fraction & ((1u << exponent) - 1));
    const double f = code & ((1u << fraction) - 1), one = 1u << fraction;
    const double magnitude =
        std::ldexp(e == 0 ? f : one + f, (e == 0 ? 1 : e) - bias - static_cast<int>(fraction));
    return (code >> (bits - 1) & 1) != 0 ? -magnitude : magnitude;
  }
  /// To nearest, of two the one with an even code.
  [[nodiscard]] uint32_t nearest(double x) const {
    const uint32_t sign = std::signbit(x) ? 1u << (bits - 1) : 0, largest = (1u << (bits - 1)) - 1;
    if (std::isnan(x)) return largest;
    uint32_t best = 0;
    for (uint32_t code = 1; code <= largest; ++code) {
      const double before = std::fabs(value(best) - std::fabs(x)),
                   now = std::fabs(value(code) - std::fabs(x));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return sign | (std::isinf(x) ? largest : best);
  }
};
const std::vector<Format> formats = {{"e2m1x2", 4, 2, 1}, {"e2m3x2", 6, 2, 3}, {"e3m2x2", 6, 3, 2}};

/// What a kernel stores for each of 65,536 threads: %r4 is the thread's number, %h0 its lower half, %f1 that
/// as f16.
std::vector<uint32_t> results(const std::string& body) {
  Program p(
      ".reg .b8 %c0;\n.reg .b16 %h<3>;\ncvt.u16.u32 %h0, %r4;\ncvt.f32.f16 %f1, %h0;\nmov.f32 %f2, "
      "0f3F800000;\n" +
          body + "st.global.u32 [%rd3], %r10;\n",
      "", "sm_100a");
  EXPECT_TRUE(p.run({256}, {256}, 2, 65536).findings.empty());
  std::vector<uint32_t> list(65536);
  for (uint32_t i = 0; i < list.size(); ++i) list[i] = p.word(i);
  return list;
}

TEST(FewBits, AreTheNearest) {
  for (const Format& f : formats) {
    const bool four = f.bits == 4;
    const std::string d = four ? "%c0" : "%h1",
                      widen = four ? "cvt.u32.u8 %r10, %c0;\n" : "cvt.u32.u16 %r10, %h1;\n";
    const uint32_t apart = four ? 4 : 8;
    for (const bool relu : {false, true}) {
      const auto made = results(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + f.name + ".f32 " +
                                d + ", %f1, %f2;\n" + widen);
      for (uint32_t i = 0; i < made.size(); ++i) {
        const double x = value_of_half(i);
        const uint32_t expected = relu && std::signbit(x) && !std::isnan(x) ? 0 : f.nearest(x);
        ASSERT_EQ(made[i], expected << apart | f.nearest(1)) << f.name << " " << x;
      }
    }
    const auto back = results((four ? std::string("cvt.u8.u32 %c0, %r4;\n") : "") + "cvt.rn.f16x2." + f.name +
                              " %r10, " + (four ? "%c0" : "%h0") + ";\n");
    for (uint32_t i = 0; i < back.size(); ++i)
      for (const uint32_t upper : {0u, 1u})
        ASSERT_EQ(value_of_half(back[i] >> 16 * upper & 0xffff),
                  f.value(i >> apart * upper & ((1u << f.bits) - 1)))
            << f.name << " " << i;
  }
  const auto halves =
      results("mov.b32 %r11, {%h0, %h0};\ncvt.rn.satfinite.e2m1x2.f16x2 %c0, %r11;\ncvt.u32.u8 %r10, %c0;\n");
  for (uint32_t i = 0; i < halves.size(); ++i) {
    const uint32_t code = formats[0].nearest(value_of_half(i));
    ASSERT_EQ(halves[i], code << 4 | code);
  }
}

/// The code that is x cut, or the next one, by 16 (13) random bits.
uint32_t by_chance(const Format& f, double x, uint32_t random, uint32_t width, uint32_t largest) {
  const double magnitude = std::fabs(x);
  uint32_t code = 0, above = largest + 1;  // of the largest number not above x
  while (above - code > 1) {
    const uint32_t middle = (code + above) / 2;
    (f.value(middle) <= magnitude ? code : above) = middle;
  }
  const double step = f.value(code + 1) - f.value(code),
               part = std::floor(std::ldexp((magnitude - f.value(code)) / step, static_cast<int>(width)));
  if (part + random >= std::ldexp(1.0, static_cast<int>(width)) && code < largest) ++code;
  return code | (std::signbit(x) ? 1u << (f.bits - 1) : 0);
}
uint32_t reversed_field(uint32_t field) {
  uint32_t other = 0;
  for (uint32_t i = 0; i < 16; ++i) other |= (field >> i & 1) << (15 - i);
  return other;
}

// Thread i converts four numbers of any size with random bits of its own. Which are whose: for 0x12345678
// the fields are 0x2c48, 0x1234, 0x1e6a and 0x5678, of e2m1 0x6a48, 0x1256, 0x1e2c and 0x3478, as a B200 has
// them.
TEST(FewBits, AreRoundedByChance) {
  EXPECT_EQ(reversed_field(0x1234), 0x2c48u);
  const struct {
    Format format;
    uint32_t largest;
  } all[] = {{{"e4m3x4", 8, 4, 3}, 0x7e},
             {{"e5m2x4", 8, 5, 2}, 0x7b},
             {{"e2m1x4", 4, 2, 1}, 7},
             {{"e2m3x4", 6, 2, 3}, 0x1f},
             {{"e3m2x4", 6, 3, 2}, 0x1f}};
  // %r11: random bits; %f3 to %f6: signs and fractions at random, exponents around those of the formats.
  const std::string inputs = R"(
mul.lo.u32 %r11, %r4, 0x9e3779b1; xor.b32 %r11, %r11, 0x12345678;
mad.lo.u32 %r12, %r4, 0x85ebca6b, 0x1234567; and.b32 %r13, %r12, 0x807fffff; shr.u32 %r14, %r12, 8;
and.b32 %r14, %r14, 31; add.u32 %r14, %r14, 108; shl.b32 %r14, %r14, 23; or.b32 %r13, %r13, %r14;
mov.b32 %f3, %r13; xor.b32 %r13, %r13, 0x80155555; mov.b32 %f4, %r13;
xor.b32 %r13, %r13, 0x002aaaa1; mov.b32 %f5, %r13; xor.b32 %r13, %r13, 0x80612345; mov.b32 %f6, %r13;
)";
  const auto number = [](uint32_t i, uint32_t which) {
    const uint32_t mixed = i * 0x85ebca6bu + 0x1234567u;
    uint32_t bits = (mixed & 0x807fffffu) | ((mixed >> 8 & 31) + 108) << 23;
    const uint32_t changes[] = {0x80155555u, 0x002aaaa1u, 0x80612345u};
    for (uint32_t k = 0; k < which; ++k) bits ^= changes[k];
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  };
  for (const auto& [f, largest] : all)
    for (const bool relu : {false, true}) {
      const bool four = f.bits == 4;
      const std::string d = four ? "%h1" : "%r10";
      const auto made =
          results(inputs + "cvt.rs" + (relu ? ".relu" : "") + ".satfinite." + f.name + ".f32 " + d +
                  ", {%f3, %f4, %f5, %f6}, %r11;\n" + (four ? "cvt.u32.u16 %r10, %h1;\n" : ""));
      for (uint32_t i = 0; i < made.size(); ++i) {
        const uint32_t random = (i * 0x9e3779b1u) ^ 0x12345678u;
        const uint32_t upper = four ? (random >> 16 & 0xff00) | (random >> 8 & 0xff) : random >> 16,
                       lower = four ? (random >> 8 & 0xff00) | (random & 0xff) : random & 0xffff;
        const uint32_t fields[] = {reversed_field(upper), upper, reversed_field(lower), lower};
        uint32_t expected = 0;
        for (uint32_t k = 0; k < 4; ++k) {
          const float x = number(i, k);
          expected = expected << (four ? 4 : 8) |
                     (relu && x < 0 ? 0 : by_chance(f, static_cast<double>(x), fields[k], 16, largest));
        }
        ASSERT_EQ(made[i], expected) << f.name << " thread " << i;
      }
    }
  const auto halves = results(inputs + "cvt.rs.f16x2.f32 %r10, %f3, %f4, %r11;\n");
  for (uint32_t i = 0; i < halves.size(); ++i) {
    const uint32_t random = (i * 0x9e3779b1u) ^ 0x12345678u;
    const Format half{"f16", 16, 5, 10};
    const auto one = [&](uint32_t which, uint32_t bits) {
      return by_chance(half, static_cast<double>(number(i, which)), bits & 0x1fff, 13, 0x7c00);
    };
    ASSERT_EQ(halves[i], one(0, random >> 16) << 16 | one(1, random)) << i;
  }
  // Infinities and NaNs.
  const auto ends = results(
      "mov.b32 %f3, 0x7f800000; mov.b32 %f4, 0xff800000; mov.b32 %f5, 0x7fc00000;\n"
      "cvt.rs.satfinite.e5m2x4.f32 %r10, {%f3, %f4, %f5, %f5}, %r4;\n");
  EXPECT_EQ(ends[77], 0x7bfb7f7fu);
}

// From bf16x2, and to it: PTX ISA 9.1 and 9.2. %r4 is a bf16 here, or a code.
TEST(FewBits, OfBfloats) {
  const auto value_of_bfloat = [](uint32_t b) {
    const uint32_t bits = b << 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<double>(x);
  };
  // Far above all formats' numbers, where differences from them are no longer seen, nearer ones stand for it.
  const auto within_reach = [](double x) {
    return std::isfinite(x) && std::fabs(x) > 1e6 ? std::copysign(1e6, x) : x;
  };
  for (const Format& f : formats) {
    const bool four = f.bits == 4;
    const uint32_t apart = four ? 4 : 8;
    const std::string d = four ? "%c0" : "%h1",
                      widen = four ? "cvt.u32.u8 %r10, %c0;\n" : "cvt.u32.u16 %r10, %h1;\n";
    for (const std::string from : {"f16x2", "bf16x2"}) {
      const auto made = results(
          "xor.b32 %r5, %r4, 0x8000; mov.b32 {%h1, %h2}, %r5; mov.b32 %r11, {%h1, %h0};\n"
          "cvt.rn.satfinite." +
          std::string(f.name) + "." + from + " " + d + ", %r11;\n" + widen);
      for (uint32_t i = 0; i < made.size(); ++i) {
        const auto value = [&](uint32_t h) {
          return from == "f16x2" ? value_of_half(h) : within_reach(value_of_bfloat(h));
        };
        ASSERT_EQ(made[i], f.nearest(value(i)) << apart | f.nearest(value(i ^ 0x8000)))
            << f.name << " " << from << " " << i;
      }
    }
    for (const bool relu : {false, true}) {
      const auto back =
          results((four ? std::string("cvt.u8.u32 %c0, %r4;\n") : "") + "cvt.rn" + (relu ? ".relu" : "") +
                  ".bf16x2." + f.name + " %r10, " + (four ? "%c0" : "%h0") + ";\n");
      for (uint32_t i = 0; i < back.size(); ++i)
        for (const uint32_t upper : {0u, 1u}) {
          const double x = f.value(i >> apart * upper & ((1u << f.bits) - 1));
          ASSERT_EQ(value_of_bfloat(back[i] >> 16 * upper & 0xffff), relu && x < 0 ? 0 : x) << f.name << i;
        }
    }
  }
  const Format e4m3{"e4m3", 8, 4, 3}, e5m2{"e5m2", 8, 5, 2};
  for (const Format& f : {e4m3, e5m2}) {
    const bool has_infinity = f.exponent == 5;
    const uint32_t largest = has_infinity ? 0x7b : 0x7e;
    const auto made = results("mov.b32 %r11, {%h0, %h0};\ncvt.rn.satfinite." + std::string(f.name) +
                              "x2.bf16x2 %h1, %r11;\ncvt.u32.u16 %r10, %h1;\n");
    for (uint32_t i = 0; i < made.size(); ++i) {
      const double x = within_reach(value_of_bfloat(i));
      uint32_t code = 0;
      while (code < largest &&
             std::fabs(f.value(code + 1) - std::fabs(x)) < std::fabs(f.value(code) - std::fabs(x)))
        ++code;
      if (code < largest && f.value(code) < std::fabs(x) && code % 2 != 0 &&
          f.value(code + 1) - std::fabs(x) == std::fabs(x) - f.value(code))
        ++code;
      if (std::isinf(x)) code = largest;
      code = std::isnan(x) ? 0x7f : code | (std::signbit(x) ? 0x80 : 0);
      ASSERT_EQ(made[i], code << 8 | code) << f.name << " " << x;
    }
    for (const bool finite : {false, true}) {
      const auto back = results(std::string("cvt.rn") + (finite ? ".satfinite" : "") + ".bf16x2." + f.name +
                                "x2 %r10, %h0;\n");
      for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t magnitude = i & 0x7f, sign = (i & 0x80) << 8;
        const bool infinite = has_infinity && magnitude == 0x7c;
        if (magnitude > (has_infinity ? 0x7c : 0x7e))
          ASSERT_EQ(back[i] & 0xffff, 0x7fffu);
        else if (infinite)
          ASSERT_EQ(back[i] & 0xffff, sign | (finite ? 0x7f7f : 0x7f80));
        else
          ASSERT_EQ(value_of_bfloat(back[i] & 0xffff), f.value(i)) << f.name << " " << i;
      }
    }
  }
}

TEST(FewBits, ScaleFactorsArePowersOfTwo) {
  // Every upper half of an f32, which is a bf16, with a lower half that is zero and one that is not.
  for (const bool up : {false, true})
    for (const bool finite : {false, true})
      for (const uint32_t low : {0u, 1u}) {
        const auto made =
            results("shl.b32 %r11, %r4, 16;\nor.b32 %r11, %r11, " + std::to_string(low) +
                    ";\nmov.b32 %f3, %r11;\ncvt." + (up ? "rp" : "rz") + (finite ? ".satfinite" : "") +
                    ".ue8m0x2.f32 %h1, %f3, %f2;\ncvt.u32.u16 %r10, %h1;\n");
        for (uint32_t i = 0; i < made.size(); ++i) {
          const uint32_t bits = i << 16 | low;
          float x;
          std::memcpy(&x, &bits, sizeof x);
          x = std::fabs(x);
          uint32_t code = 255;
          if (std::isinf(x)) {
            code = finite ? 254 : 255;
          } else if (!std::isnan(x)) {
            for (code = 0; code < 255 && std::ldexp(1.0, static_cast<int>(code) - 127) < x;) ++code;
            if (!up && code > 0 && std::ldexp(1.0, static_cast<int>(code) - 127) > x) --code;
            if (finite && code > 254) code = 254;
          }
          ASSERT_EQ(made[i], code << 8 | 127) << x << (up ? " up" : "");
        }
      }
  const auto pairs = results(
      "mov.b32 %r11, {%h0, %h0};\ncvt.rp.ue8m0x2.bf16x2 %h1, %r11;\n"
      "cvt.rn.bf16x2.ue8m0x2 %r10, %h1;\n");
  for (uint32_t code = 0; code < 255; ++code) {
    const uint32_t bf16 = code == 0 ? 0x40 : code << 7;
    EXPECT_EQ(pairs[bf16], bf16 << 16 | bf16) << "powers of two stay";
  }
  EXPECT_EQ(pairs[0x7fc0], 0x7fff7fffu);
}

}  // namespace
}  // namespace lanescope::exec
