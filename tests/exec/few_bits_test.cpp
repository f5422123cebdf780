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
