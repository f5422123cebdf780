// What PTX ISA 9.1 to 9.5 added and the engine runs, but conversions (few_bits_test.cpp), and what sm_100 has
// beyond sm_90 (but for matrices).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

uint32_t first_input(uint32_t i) { return i * 0x9e3779b1u + 0x7f80ff01u; }
uint32_t second_input(uint32_t i) { return (i * 0x85ebca6bu) ^ 0x80017fffu; }
/// %r5 and %r6: first_input and second_input of the thread.
constexpr const char* two_inputs = R"(
mad.lo.u32 %r5, %r4, 0x9e3779b1, 0x7f80ff01;
mul.lo.u32 %r6, %r4, 0x85ebca6b; xor.b32 %r6, %r6, 0x80017fff;
)";

/// Part `i` of `bits` bits of a word as a number.
int64_t part_of(uint32_t word, uint32_t i, uint32_t bits, bool is_signed) {
  const uint64_t part = uint64_t{word} >> i * bits & ((uint64_t{1} << bits) - 1);
  const bool negative = is_signed && (part >> (bits - 1) & 1) != 0;
  return static_cast<int64_t>(part) - (negative ? int64_t{1} << bits : 0);
}

TEST(NewerForms, IntegersInParts) {
  using Function = std::function<int64_t(int64_t, int64_t)>;
  const auto sum = [](int64_t a, int64_t b) { return a + b; };
  const auto difference = [](int64_t a, int64_t b) { return a - b; };
  const auto least = [](int64_t a, int64_t b) { return std::min(a, b); };
  const auto most = [](int64_t a, int64_t b) { return std::max(a, b); };
  const auto at_least_zero = [](const Function& f) {
    return [f](int64_t a, int64_t b) { return std::max<int64_t>(f(a, b), 0); };
  };
  const struct {
    const char* name;
    uint32_t bits;
    bool is_signed, saturates;
    Function f;
  } forms[] = {{"add.u8x4", 8, false, false, sum},
               {"add.s8x4", 8, true, false, sum},
               {"add.sat.u8x4", 8, false, true, sum},
               {"add.sat.s8x4", 8, true, true, sum},
               {"add.sat.u16x2", 16, false, true, sum},
               {"add.sat.s16x2", 16, true, true, sum},
               {"add.sat.u32", 32, false, true, sum},
               {"sub.u8x4", 8, false, false, difference},
               {"sub.s8x4", 8, true, false, difference},
               {"sub.sat.u8x4", 8, false, true, difference},
               {"sub.sat.s8x4", 8, true, true, difference},
               {"min.u8x4", 8, false, false, least},
               {"min.s8x4", 8, true, false, least},
               {"max.u8x4", 8, false, false, most},
               {"max.s8x4", 8, true, false, most},
               {"min.relu.s8x4", 8, true, false, at_least_zero(least)},
               {"max.relu.s8x4", 8, true, false, at_least_zero(most)},
               {"neg.s8x4", 8, true, false, [](int64_t a, int64_t) { return -a; }}};
  for (const auto& form : forms) {
    const std::string b = std::string(form.name).starts_with("neg") ? "" : ", %r6";
    Program p(two_inputs + std::string(form.name) + " %r7, %r5" + b + ";\nst.global.u32 [%rd3], %r7;", "",
              "sm_120a");
    ASSERT_TRUE(p.run({8}, {128}).findings.empty());
    const int64_t low = form.is_signed ? -(int64_t{1} << (form.bits - 1)) : 0,
                  high = low + (int64_t{1} << form.bits) - 1;
    for (uint32_t i = 0; i < 1024; ++i) {
      uint32_t expected = 0;
      for (uint32_t k = 0; k < 32 / form.bits; ++k) {
        int64_t r = form.f(part_of(first_input(i), k, form.bits, form.is_signed),
                           part_of(second_input(i), k, form.bits, form.is_signed));
        if (form.saturates) r = std::clamp(r, low, high);
        const auto bits = static_cast<uint64_t>(r) & ((uint64_t{1} << form.bits) - 1);
        expected |= static_cast<uint32_t>(bits << k * form.bits);
      }
      ASSERT_EQ(p.word(i), expected) << form.name << " " << i;
    }
  }
}

// Long multiplication of polynomials over one bit, added without carries.
TEST(NewerForms, CarrylessProducts) {
  Program p(two_inputs + std::string(R"(
mov.b64 %rd4, {%r5, %r6}; mov.b64 %rd5, {%r6, %r5}; not.b64 %rd5, %rd5; mov.u64 %rd6, 0x123456789abcdef0;
clmad.lo.u64 %rd7, %rd4, %rd5, %rd6; clmad.hi.u64 %rd8, %rd4, %rd5, 0;
mul.wide.u32 %rd9, %r4, 16; add.u64 %rd9, %rd1, %rd9;
st.global.u64 [%rd9], %rd7; st.global.u64 [%rd9+8], %rd8;
)"));
  ASSERT_TRUE(p.run({8}, {32}, 1, 1024).findings.empty());
  for (uint32_t i = 0; i < 256; ++i) {
    const uint64_t a = first_input(i) | uint64_t{second_input(i)} << 32,
                   b = ~(second_input(i) | uint64_t{first_input(i)} << 32);
    uint64_t low = 0x123456789abcdef0u, high = 0;
    for (uint32_t k = 0; k < 64; ++k)
      if ((b >> k & 1) != 0) {
        low ^= a << k;
        if (k != 0) high ^= a >> (64 - k);
      }
    EXPECT_EQ(p.word(4 * i) | uint64_t{p.word(4 * i + 1)} << 32, low) << i;
    EXPECT_EQ(p.word(4 * i + 2) | uint64_t{p.word(4 * i + 3)} << 32, high) << i;
  }
}

// Of turns: whole ones have no effect, also of numbers so large that a product with 2 pi would have lost
// them.
TEST(NewerForms, SinesOfTurns) {
  Program p(R"(
cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3C800000; // 1/64
sin.approx.2pi.ftz.f32 %f2, %f1; cos.approx.ftz.2pi.f32 %f3, %f1;
add.f32 %f4, %f1, 0f48000000; sin.approx.2pi.ftz.f32 %f5, %f4; // 131072 turns more
mul.wide.u32 %rd4, %r4, 12; add.u64 %rd4, %rd1, %rd4;
st.global.f32 [%rd4], %f2; st.global.f32 [%rd4+4], %f3; st.global.f32 [%rd4+8], %f5;
)");
  ASSERT_TRUE(p.run({1}, {256}).findings.empty());
  const auto number = [&](uint32_t i) {
    const uint32_t bits = p.word(i);
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<double>(x);
  };
  for (uint32_t i = 0; i < 256; ++i) {
    const double angle = 2 * std::acos(-1.0) * i / 64;
    EXPECT_NEAR(number(3 * i), std::sin(angle), 0x1p-20) << i;
    EXPECT_NEAR(number(3 * i + 1), std::cos(angle), 0x1p-20) << i;
    EXPECT_EQ(number(3 * i + 2), number(3 * i)) << i;
  }
}

// .noftz keeps subnormal numbers in global memory, where sums flush them otherwise.
TEST(NewerForms, SumsOfSubnormals) {
  const char* body = R"(
mov.b32 %f1, 0x00000003; mov.b32 %r5, 0x00000005;
st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+4], %r5; st.global.u32 [%rd1+8], %r5; st.global.u32 [%rd1+12], %r5;
atom.global.add.noftz.f32 %f2, [%rd1], %f1;
atom.add.noftz.f32 %f3, [%rd1+4], %f1;
red.global.add.noftz.v2.f32 [%rd1+8], {%f1, %f1};
st.global.f32 [%rd1+16], %f2;
st.global.u32 [%rd1+20], %r5; red.global.add.f32 [%rd1+20], %f1;
)";
  Program p(body);
  ASSERT_TRUE(p.run({1}, {1}).findings.empty());
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(p.word(i), 8u) << i;
  EXPECT_EQ(p.word(4), 5u);
  EXPECT_EQ(p.word(5), 0u);
}

// Two singles at once are each what one is: `pair` and `single` agree on all inputs.
uint32_t differences(const std::string& pair, const std::string& single) {
  Program p(two_inputs + std::string(R"(.reg .b64 %v<5>; .reg .f32 %g<9>;
mov.b32 %f1, %r5; mov.b32 %f2, %r6; not.b32 %r7, %r5; mov.b32 %f3, %r7; shl.b32 %r7, %r6, 3; mov.b32 %f4, %r7;
mov.b64 %v1, {%f1, %f2}; mov.b64 %v2, {%f3, %f4}; mov.b64 %v3, {%f2, %f1};
)") + pair + "\nmov.b64 {%g1, %g2}, %v4;\n" +
                single + R"(
mov.b32 %r7, %g1; mov.b32 %r8, %g3; xor.b32 %r7, %r7, %r8;
mov.b32 %r8, %g2; mov.b32 %r9, %g4; xor.b32 %r8, %r8, %r9; or.b32 %r7, %r7, %r8;
st.global.u32 [%rd3], %r7;
)",
            "", "sm_100a");
  EXPECT_TRUE(p.run({64}, {128}, 1, 8192).findings.empty());
  uint32_t count = 0;
  for (uint32_t i = 0; i < 8192; ++i) count += p.word(i) != 0 ? 1 : 0;
  return count;
}

TEST(NewerForms, PairsOfSingles) {
  for (const std::string mode : {"", ".rn", ".rz", ".rm", ".rp"})
    for (const std::string ftz : {"", ".ftz"})
      for (const std::string name : {"add", "sub", "mul", "fma"}) {
        if (name == "fma" && mode.empty()) continue;
        const std::string word = name + mode + ftz, third = name == "fma" ? ", %v3" : "";
        EXPECT_EQ(differences(word + ".f32x2 %v4, %v1, %v2" + third + ";",
                              word + ".f32 %g3, %f1, %f3" + (third.empty() ? "" : ", %f2") + ";\n" + word +
                                  ".f32 %g4, %f2, %f4" + (third.empty() ? "" : ", %f1") + ";"),
                  0u)
            << word;
      }
  EXPECT_GT(differences("add.rz.f32x2 %v4, %v1, %v2;", "add.rp.f32 %g3, %f1, %f3; add.rn.f32 %g4, %f2, %f4;"),
            1000u);
}

// Three operands are two and then the third; with .abs all of them as absolute values.
TEST(NewerForms, ExtremesOfThree) {
  for (const std::string name : {"min", "max"})
    for (const std::string ftz : {"", ".ftz"})
      for (const std::string nan : {"", ".NaN"})
        for (const std::string abs : {"", ".abs"}) {
          std::string apart;
          for (const char* f : {"%f1", "%f2", "%f3"})
            if (!abs.empty()) apart += "abs" + ftz + ".f32 " + f + ", " + f + ";\n";
          const std::string word = name + ftz + nan;
          Program p(two_inputs + std::string(R"(
mov.b32 %f1, %r5; mov.b32 %f2, %r6; not.b32 %r7, %r5; mov.b32 %f3, %r7;
)") + word + abs + ".f32 %f4, %f1, %f2, %f3;\n" +
                        apart + word + ".f32 %f5, %f1, %f2;\n" + word + R"(.f32 %f5, %f5, %f3;
mov.b32 %r7, %f4; mov.b32 %r8, %f5; xor.b32 %r7, %r7, %r8; st.global.u32 [%rd3], %r7;
)",
                    "", "sm_100a");
          ASSERT_TRUE(p.run({64}, {128}, 1, 8192).findings.empty());
          for (uint32_t i = 0; i < 8192; ++i) ASSERT_EQ(p.word(i), 0u) << word << abs << " " << i;
        }
}

// Of the lanes that take part, and only they get the result.
TEST(NewerForms, ReductionsOfSingles) {
  const auto result = [](const std::string& word, uint32_t lane) {
    // 0, -1, 2, -3 …; lane 5 has a NaN, lanes 20 to 31 do not take part.
    Program p(R"(
and.b32 %r5, %r1, 1; setp.ne.u32 %p1, %r5, 0; cvt.rn.f32.u32 %f1, %r1; @%p1 neg.f32 %f1, %f1;
setp.eq.u32 %p2, %r1, 5; @%p2 mov.f32 %f1, 0fFFC12345;
mov.f32 %f2, 0f42280000; setp.lt.u32 %p3, %r1, 20; mov.u32 %r6, 0xfffff;
@%p3 redux.sync.)" +
                  word + R"(.f32 %f2, %f1, %r6;
st.global.f32 [%rd3], %f2;
)",
              "", "sm_100a");
    EXPECT_TRUE(p.run({1}, {32}).findings.empty());
    const uint32_t bits = p.word(lane);
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  };
  EXPECT_EQ(result("min", 0), -19.0f);
  EXPECT_EQ(result("max", 19), 18.0f);
  EXPECT_EQ(result("max.abs", 3), 19.0f);
  EXPECT_EQ(result("min.abs", 3), 0.0f);
  EXPECT_TRUE(std::isnan(result("min.NaN", 7)));
  EXPECT_TRUE(std::isnan(result("max.abs.NaN", 7)));
  EXPECT_EQ(result("min", 20), 42.0f);
}

// Sums of halves and singles are those of singles, which every half is.
TEST(NewerForms, SumsOfHalvesAndSingles) {
  constexpr uint32_t count = 65536;
  for (const std::string half : {"f16", "bf16"})
    for (const std::string mode : {".rn", ".rz", ".rm", ".rp", ".rn.sat"})
      for (const std::string sum : {"add", "sub", "fma"}) {
        const bool is_fma = sum == "fma";
        const std::string mixed = is_fma ? " %f5, %h1, %h2, %f3;" : " %f5, %h1, %f3;",
                          single = is_fma ? " %f6, %f1, %f2, %f3;" : " %f6, %f1, %f3;";
        SCOPED_TRACE(sum + mode + ".f32." + half);
        Program p(two_inputs + std::string(R"(.reg .b16 %h<3>;
cvt.u16.u32 %h1, %r4; cvt.u16.u32 %h2, %r6; mov.b32 %f3, %r5;
)") + "cvt.f32." + half +
                      " %f1, %h1; cvt.f32." + half + " %f2, %h2;\n" + sum + mode + ".f32." + half + mixed +
                      sum + mode + ".f32" + single + R"(
mul.wide.u32 %rd4, %r4, 8; add.u64 %rd4, %rd1, %rd4;
st.global.f32 [%rd4], %f5; st.global.f32 [%rd4+4], %f6;
)",
                  "", "sm_100");
        ASSERT_TRUE(p.run({count / 256}, {256}, 1, 2 * count).findings.empty());
        uint32_t different = 0, none = 0;
        for (uint32_t i = 0; i < count; ++i) {
          different += p.word(2 * i) != p.word(2 * i + 1) ? 1 : 0;
          none += p.word(2 * i) == 0 ? 1 : 0;
        }
        EXPECT_EQ(different, 0u);
        EXPECT_LT(none, count * 3 / 4);
      }
}

TEST(NewerForms, LoadsAndStores) {
  Program p(R"(
.local .align 8 .b8 own[16];
mov.u64 %rd4, own; cvta.local.u64 %rd5, %rd4;
add.u32 %r5, %r4, 100; add.u32 %r6, %r4, 200;
st.volatile.local.u32 [own], %r5; st.volatile.local.v2.u32 [own+8], {%r6, %r5};
ld.volatile.local.u32 %r7, [own]; ld.volatile.local.v2.u32 {%r8, %r9}, [own+8];
add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r9;
st.mmio.release.sys.global.u32 [%rd3], %r7;
ld.mmio.acquire.sys.global.u32 %r10, [%rd3];
prefetch.global.L1::32B.valid_addr [%rd3];
st.global.u32 [%rd3+128], %r10;
fence.proxy.alias.release.sys; fence.proxy.alias.acquire.sys;
ld.proxy::readonly.global.u32 %r11, [%rd3+128]; ld.global.u32.proxy::readonly %r12, [%rd3+128];
add.u32 %r11, %r11, %r12; st.global.u32 [%rd3+256], %r11;
)");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(p.word(i), 400 + 3 * i);
    EXPECT_EQ(p.word(32 + i), 400 + 3 * i);
    EXPECT_EQ(p.word(64 + i), 800 + 6 * i);
  }
}

// A bulk copy may begin and end up to 15 bytes outside of memory if it is told to ignore what is there.
TEST(NewerForms, BulkCopiesThatIgnoreTheirEnds) {
  const auto body = [](const std::string& words, const std::string& ends) {
    return R"(
.shared .align 16 .b8 smem[64]; .shared .align 8 .b64 bar;
mov.u32 %r5, smem; mov.u32 %r6, bar; mov.u32 %r7, 0; mov.u64 %rd4, %rd1;
mbarrier.init.shared.b64 [%r6], 1;
fill: add.u32 %r8, %r7, 1000; st.global.u32 [%rd4], %r8; add.u64 %rd4, %rd4, 4;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 13; @%p1 bra fill;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r6], 64;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes)" +
           words + " [%r5], [%rd1], 64, " + ends + R"([%r6];
wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r6], 0; @!%p1 bra wait;
mov.u32 %r7, 0; mov.u64 %rd4, %rd1;
back: ld.shared.u32 %r8, [%r5]; add.u32 %r8, %r8, %r8; st.global.u32 [%rd4], %r8; add.u64 %rd4, %rd4, 4;
add.u32 %r5, %r5, 4; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 13; @%p1 bra back;
)";
  };
  Program p(body(".ignore_oob", "4, 12, "));
  ASSERT_TRUE(p.run({1}, {1}, 1, 13).findings.empty());
  for (uint32_t i = 1; i < 13; ++i) EXPECT_EQ(p.word(i), 2 * (1000 + i)) << i;
  Program outside(body("", ""));
  // Then nothing is copied, and who waits for it waits for ever.
  EXPECT_EQ(outside.run({1}, {1}, 1, 13).findings.front().kind, Finding::Kind::out_of_bounds);
  Program too_much(body(".ignore_oob", "0, 16, "));
  EXPECT_EQ(too_much.run({1}, {1}, 1, 13).findings.front().kind, Finding::Kind::out_of_bounds);
}

}  // namespace
}  // namespace lanescope::exec
