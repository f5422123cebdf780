// Textures and surfaces: small PTX programs against what the CUDA C++ Programming Guide's formulas give,
// computed here in double precision from the texels themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "exec/launch.hpp"
#include "exec/texture.hpp"

namespace lanescope::exec {
namespace {

constexpr uint32_t width = 5, height = 4;

/// One warp that computes `body`: lane i's coordinates are %f1, %f2 (floats) and %r1, %r2 (ints), the handle
/// is %rd1; the four registers %r10 to %r13 are stored for each lane. There is a texture reference, `image`.
class Warp32 {
 public:
  Memory memory;
  uint64_t bound = 0;  ///< the handle that the reference is bound to

  LaunchResult run(const std::string& body, uint64_t handle, const std::vector<float>& x,
                   const std::vector<float>& y) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.global .texref image;\n.visible .entry k(.param "
        ".u64 t, .param .u64 in, "
        ".param .u64 out)\n{\n"
        ".reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<10>;\n.reg .b16 %rs<10>;\n"
        "ld.param.u64 %rd1, [t];\nld.param.u64 %rd2, [in];\nld.param.u64 %rd3, [out];\nmov.u32 %r3, %tid.x;\n"
        "mul.wide.u32 %rd4, %r3, 8;\nadd.u64 %rd2, %rd2, %rd4;\nmul.wide.u32 %rd5, %r3, 16;\nadd.u64 %rd3, "
        "%rd3, %rd5;\n"
        "ld.global.v2.f32 {%f1, %f2}, [%rd2];\ncvt.rzi.s32.f32 %r1, %f1;\ncvt.rzi.s32.f32 %r2, %f2;\n"
        "mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n" +
        body + "\nst.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};\nret;\n}\n";
    Image image(std::make_shared<ptx::Module>(ptx::parse(text, "test.ptx")), memory);
    std::memcpy(reinterpret_cast<void*>(image.variable("::image")), &bound, sizeof bound);
    const uint64_t in = memory.allocate(32 * 8), out = memory.allocate(32 * 16);
    for (size_t i = 0; i < 32; ++i) {
      const float pair[2] = {x[i % x.size()], y[i % y.size()]};
      std::memcpy(reinterpret_cast<void*>(in + i * 8), pair, 8);
    }
    LaunchConfig config;
    config.block = {32, 1, 1};
    config.threads = 1;
    config.params.resize(24);
    std::memcpy(config.params.data(), &handle, 8);
    std::memcpy(config.params.data() + 8, &in, 8);
    std::memcpy(config.params.data() + 16, &out, 8);
    auto result = image.launch(image.kernel("k"), config);
    std::memcpy(words_, reinterpret_cast<const void*>(out), sizeof words_);
    return result;
  }
  [[nodiscard]] uint32_t word(size_t lane, size_t i) const { return words_[lane][i]; }
  [[nodiscard]] float real(size_t lane, size_t i = 0) const { return std::bit_cast<float>(words_[lane][i]); }

 private:
  uint32_t words_[32][4];
};

Texture floats(Memory& memory, std::vector<float>& texels) {
  Texture t;
  t.width = width;
  t.height = height;
  t.pitch = width * 4;
  t.base = memory.allocate(width * height * 4);
  for (uint32_t i = 0; i < width * height; ++i) texels.push_back(static_cast<float>(i * i) - 40.0f);
  std::memcpy(reinterpret_cast<void*>(t.base), texels.data(), texels.size() * 4);
  return t;
}

const std::vector<float> xs{-7.25f, -1,    -0.5f, 0,     0.25f, 0.5f,   1.9921875f,
                            2.5f,   3.75f, 4.5f,  4.99f, 5,     6.125f, 11};
const std::vector<float> ys{-3, 0.5f, 1.25f, 3.9f, 4.5f};
constexpr const char* fetch_2d = "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f2}];";

/// The texel of index i, after the address mode; -1: border.
int wrapped(Texture::Address mode, double i, int n) {
  switch (mode) {
    case Texture::Address::wrap: return static_cast<int>(i - n * std::floor(i / n));
    case Texture::Address::mirror: {
      const double turns = std::floor(i / n);
      const int within = static_cast<int>(i - n * turns);
      return std::fmod(turns, 2) == 0 ? within : n - 1 - within;
    }
    case Texture::Address::border: return i < 0 || i >= n ? -1 : static_cast<int>(i);
    case Texture::Address::clamp: break;
  }
  return static_cast<int>(std::clamp<double>(i, 0, n - 1));
}

TEST(Texture, EveryAddressModeAndFilter) {
  for (const bool normalized : {false, true})
    for (const bool filter : {false, true})
      for (const auto mode : {Texture::Address::wrap, Texture::Address::clamp, Texture::Address::mirror,
                              Texture::Address::border}) {
        const bool repeats = mode == Texture::Address::wrap || mode == Texture::Address::mirror;
        if (repeats && !normalized) continue;
        Warp32 warp;
        std::vector<float> texels;
        Texture t = floats(warp.memory, texels);
        t.address = {mode, mode, mode};
        t.filter = filter;
        t.normalized_coordinates = normalized;
        t.border[0] = std::bit_cast<uint32_t>(77.0f);
        std::vector<float> x = xs, y = ys;
        if (normalized) {
          for (float& v : x) v /= 8;
          for (float& v : y) v /= 8;
        }
        const auto result = warp.run(fetch_2d, warp.memory.textures.add(t), x, y);
        ASSERT_TRUE(result.findings.empty());
        const auto texel = [&](double i, double j) {
          const int a = wrapped(mode, i, width), b = wrapped(mode, j, height);
          return a < 0 || b < 0 ? 77.0
                                : double{texels[static_cast<size_t>(b) * width + static_cast<size_t>(a)]};
        };
        for (size_t lane = 0; lane < 32; ++lane) {
          const double u = double{x[lane % x.size()]} * (normalized ? width : 1),
                       v = double{y[lane % y.size()]} * (normalized ? height : 1);
          double want = texel(std::floor(u), std::floor(v));
          if (filter) {
            const double i = std::floor(u - 0.5), j = std::floor(v - 0.5), a = u - 0.5 - i, b = v - 0.5 - j;
            want = (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) +
                   (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
          }
          // Fractions have 8 bits: two texels differ by 400 at most.
          ASSERT_NEAR(warp.real(lane), want, filter ? 2 * 400 / 512.0 : 0)
              << lane << " mode " << static_cast<int>(mode);
          ASSERT_EQ(warp.word(lane, 3), 0u);
        }
      }
}

TEST(Texture, IntegersAreReadAsTheyAreOrNormalised) {
  Warp32 warp;
  Texture t;
  t.width = 4;
  t.channels = 2;
  t.channel_bytes = 1;
  t.kind = Texture::Kind::signed_integer;
  t.base = warp.memory.allocate(8);
  const int8_t texels[8] = {-128, 127, -127, 64, 1, 0, 5, -5};
  std::memcpy(reinterpret_cast<void*>(t.base), texels, 8);
  const std::vector<float> x{0, 1, 2, 3};
  ASSERT_TRUE(warp.run("tex.1d.v4.s32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];",
                       warp.memory.textures.add(t), x, {0})
                  .findings.empty());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<int32_t>(warp.word(i, 0)), texels[2 * i]);
    EXPECT_EQ(static_cast<int32_t>(warp.word(i, 1)), texels[2 * i + 1]);
    EXPECT_EQ(warp.word(i, 2), 0u);
    EXPECT_EQ(warp.word(i, 3), 0u);
  }
  t.normalized_read = true;
  ASSERT_TRUE(warp.run("tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];",
                       warp.memory.textures.add(t), x, {0})
                  .findings.empty());
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(warp.real(i), std::max(static_cast<float>(texels[2 * i]) / 127.0f, -1.0f));
}

// As the driver makes them, and an H200 reads them: halves up, and 32 bits down.
TEST(Texture, WholeNumbersAreFiltered) {
  Warp32 warp;
  Texture t;
  t.width = 2;
  t.base = warp.memory.allocate(8);
  t.filter = true;
  const std::vector<float> x{0.5f, 0.625f, 0.75f, 1, 1.5f};  // 0, 1/8, 1/4, 1/2 and all of the second texel
  const auto read = [&](const auto(&texels)[2], Texture::Kind kind) {
    t.channel_bytes = sizeof texels[0];
    t.kind = kind;
    std::memcpy(reinterpret_cast<void*>(t.base), texels, sizeof texels);
    const bool is_signed = kind == Texture::Kind::signed_integer;
    EXPECT_TRUE(warp.run(std::string("tex.1d.v4.") + (is_signed ? "s32" : "u32") +
                             ".f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];",
                         warp.memory.textures.add(t), x, {0})
                    .findings.empty());
    std::vector<int64_t> out;
    for (size_t i = 0; i < x.size(); ++i)
      out.push_back(is_signed ? static_cast<int32_t>(warp.word(i, 0)) : int64_t{warp.word(i, 0)});
    return out;
  };
  using Words = std::vector<int64_t>;
  EXPECT_EQ(read({uint8_t{200}, uint8_t{254}}, Texture::Kind::unsigned_integer),
            (Words{200, 207, 214, 227, 254}));
  EXPECT_EQ(read({int8_t{-7}, int8_t{-1}}, Texture::Kind::signed_integer), (Words{-7, -6, -5, -4, -1}));
  EXPECT_EQ(read({uint16_t{0}, uint16_t{65534}}, Texture::Kind::unsigned_integer),
            (Words{0, 8192, 16384, 32767, 65534}));
  EXPECT_EQ(read({int32_t{-7}, int32_t{-1}}, Texture::Kind::signed_integer), (Words{-7, -7, -6, -4, -1}));
  EXPECT_EQ(read({uint32_t{0}, uint32_t{0xfffffffc}}, Texture::Kind::unsigned_integer),
            (Words{0, 0x1fffffff, 0x3fffffff, 0x7ffffffe, 0xfffffffc}));
}

TEST(Texture, OneRowIsReadByOneCoordinate) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  const std::string fetch = "tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];";
  EXPECT_EQ(warp.run(fetch, warp.memory.textures.add(t), {2.5f}, {0}).findings.size(), 1u);
  t.height = 1;
  EXPECT_TRUE(warp.run(fetch, warp.memory.textures.add(t), {2.5f}, {0}).findings.empty());
  EXPECT_EQ(warp.real(0), texels[2]);
}

TEST(Texture, SurfacesKeepToTheirBounds) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  t.is_surface = true;
  const uint64_t handle = warp.memory.textures.add(t);
  const std::vector<float> x{-4, 0, 4, 16, 20}, y{-1, 0, 3, 4};
  const auto at = [&](float byte, float row) {
    const auto i = static_cast<size_t>(std::clamp(byte / 4, 0.0f, 4.0f)),
               j = static_cast<size_t>(std::clamp(row, 0.0f, 3.0f));
    return texels[j * width + i];
  };
  ASSERT_TRUE(warp.run("suld.b.2d.b32.clamp {%r10}, [%rd1, {%r1, %r2}];\nsuld.b.2d.b32.zero {%r11}, [%rd1, "
                       "{%r1, %r2}];",
                       handle, x, y)
                  .findings.empty());
  for (size_t lane = 0; lane < 32; ++lane) {
    const float a = x[lane % 5], b = y[lane % 4];
    EXPECT_EQ(warp.real(lane), at(a, b));
    EXPECT_EQ(warp.real(lane, 1), a < 0 || a > 16 || b < 0 || b > 3 ? 0.0f : at(a, b));
  }
  ASSERT_TRUE(
      warp.run("mov.b32 %r5, 7;\nsust.b.2d.b32.zero [%rd1, {%r1, %r2}], {%r5};", handle, {8, 400}, {2})
          .findings.empty());
  std::vector<uint32_t> after(width * height);
  std::memcpy(after.data(), reinterpret_cast<const void*>(t.base), after.size() * 4);
  for (size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(after[i], i == 12 ? 7u : std::bit_cast<uint32_t>(texels[i]));

  const auto outside = warp.run("suld.b.2d.b32.trap {%r10}, [%rd1, {%r1, %r2}];", handle, {20}, {1}).findings;
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_EQ(outside[0].kind, Finding::Kind::out_of_bounds);
  const auto crooked = warp.run("suld.b.2d.b32.trap {%r10}, [%rd1, {%r1, %r2}];", handle, {3}, {1}).findings;
  ASSERT_EQ(crooked.size(), 1u);
  EXPECT_EQ(crooked[0].kind, Finding::Kind::misaligned);
}

TEST(Texture, SurfacesAreReducedAtomically) {
  Warp32 warp;
  Texture t;
  t.is_surface = true;
  t.kind = Texture::Kind::unsigned_integer;
  t.width = 8;
  t.height = 2;
  t.pitch = 32;
  t.base = warp.memory.allocate(64);
  const uint64_t handle = warp.memory.textures.add(t);
  auto* words = reinterpret_cast<uint32_t*>(t.base);
  std::fill_n(words, 16, 100u);
  words[15] = 0xff;
  const auto result = warp.run(
      "mov.u32 %r9, 0;\nmov.u32 %r8, 1;\nmov.u32 %r5, 12;\n"
      "sured.b.add.2d.u32.trap [%rd1, {%r9, %r9}], %r3;\n"
      "mov.u32 %r9, 4;\nsub.u32 %r6, 99, %r3;\nsured.b.min.2d.u32.trap [%rd1, {%r9, %r8}], %r6;\n"
      "sub.s32 %r6, %r3, 5;\nsured.b.max.2d.s32.trap [%rd1, {%r5, %r8}], %r6;\n"
      "mov.u32 %r9, 28;\nsub.s32 %r6, -1, %r3;\nsured.b.and.2d.b32.trap [%rd1, {%r9, %r8}], %r6;\n"
      "mov.u32 %r5, 16;\nsured.b.or.2d.b32.trap [%rd1, {%r5, %r8}], %r3;\n"
      "mov.b64 %rd6, {%r3, %r8};\nmov.u32 %r5, 24;\nmov.u32 %r9, 0;\n"
      "sured.b.max.2d.u64.trap [%rd1, {%r5, %r9}], %rd6;\n"
      "mov.u32 %r5, 400;\nsured.b.add.2d.u32.zero [%rd1, {%r5, %r9}], %r3;\n"
      "sured.b.add.2d.u32.clamp [%rd1, {%r5, %r8}], 256;",
      handle, {0}, {0});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(words[0], 100u + 31 * 16);
  EXPECT_EQ(words[8 + 1], 68u);
  EXPECT_EQ(words[8 + 3], 100u);
  EXPECT_EQ(words[8 + 4], 100u | 31u);
  EXPECT_EQ(words[6], 100u);  // 100 · 2^32 + 100 is more than 2^32 + lane
  EXPECT_EQ(words[7], 100u);
  EXPECT_EQ(words[15], (0xffu & 0xffffffe0u) + 32 * 256);

  const auto outside = warp.run(
      "mov.u32 %r5, 32;\nmov.u32 %r9, 0;\nsured.b.add.2d.u32.trap [%rd1, {%r5, %r9}], 1;", handle, {0}, {0});
  ASSERT_EQ(outside.findings.size(), 1u);
  EXPECT_EQ(outside.findings[0].kind, Finding::Kind::out_of_bounds);
}

TEST(Texture, QueriesAnswerWhatTheObjectHas) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  t.normalized_coordinates = true;
  const std::string ask =
      "q.width.b32 %r10, [%rd1];\nq.height.b32 %r11, [%rd1];\nq.depth.b32 %r12, [%rd1];\n";
  const auto with = [&](const std::string& q) {
    std::string body = ask;
    for (size_t at = 0; (at = body.find("q.", at)) != std::string::npos; at += q.size())
      body.replace(at, 1, q);
    return body;
  };
  ASSERT_TRUE(
      warp.run(with("txq") + "txq.normalized_coords.b32 %r13, [%rd1];", warp.memory.textures.add(t), {0}, {0})
          .findings.empty());
  EXPECT_EQ(warp.word(31, 0), width);
  EXPECT_EQ(warp.word(31, 1), height);
  EXPECT_EQ(warp.word(31, 2), 0u);
  EXPECT_EQ(warp.word(31, 3), 1u);

  t.is_surface = true;
  t.height = 0;
  t.layers = 4;
  const uint64_t surface = warp.memory.textures.add(t);
  ASSERT_TRUE(warp.run(with("suq") + "suq.array_size.b32 %r13, [%rd1];", surface, {0}, {0}).findings.empty());
  EXPECT_EQ(warp.word(0, 0), width);
  EXPECT_EQ(warp.word(0, 1), 0u);
  EXPECT_EQ(warp.word(0, 3), 4u);
  EXPECT_EQ(warp.run(with("txq"), surface, {0}, {0}).findings.size(), 3u);
}

// What an H200 reads of such objects.
TEST(Texture, ALayerThatIsNotNamedIsTheFirstOne) {
  Warp32 warp;
  Texture t;
  t.width = width;
  t.height = height;
  t.pitch = width * 4;
  t.slice = uint64_t{height} * t.pitch;
  t.layers = 2;
  t.base = warp.memory.allocate(t.layers * t.slice);
  std::vector<float> texels(t.layers * width * height);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  std::memcpy(reinterpret_cast<void*>(t.base), texels.data(), texels.size() * 4);
  const size_t at = 2 * width + 3;
  const auto read = [&](const std::string& body) {
    const auto findings = warp.run(body, warp.memory.textures.add(t), {3.5f}, {2.5f}).findings;
    return findings.empty() ? warp.real(31) : -1;
  };
  const std::string layer_1 =
      "mov.u32 %r14, 1;\ntex.a2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%r14, %f1, %f2, %f2}];";
  const std::string surface = "suld.b.2d.b32.trap {%r10}, [%rd1, {%r1, %r2}];";
  const auto surface_layer = [](int layer) {
    return "mov.u32 %r14, " + std::to_string(layer) +
           ";\nshl.b32 %r1, %r1, 2;\nsuld.b.a2d.b32.trap {%r10}, [%rd1, {%r14, %r1, %r2, %r2}];";
  };
  EXPECT_EQ(read(fetch_2d), texels[at]);
  EXPECT_EQ(read(layer_1), texels[width * height + at]);
  t.is_surface = true;
  EXPECT_EQ(read("shl.b32 %r1, %r1, 2;\n" + surface), texels[at]);
  EXPECT_EQ(read(surface_layer(1)), texels[width * height + at]);
  // Where there are no layers the only one is meant, and a surface has no other.
  t.layers = 0;
  EXPECT_EQ(read(surface_layer(0)), texels[at]);
  EXPECT_EQ(read(surface_layer(1)), -1);
  t.is_surface = false;
  EXPECT_EQ(read(layer_1), texels[at]);
  // In one dimension it reads zeros there, which nobody means.
  t.height = 0;
  t.layers = 2;
  EXPECT_EQ(read("tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];"), -1);
}

TEST(Texture, HandlesThatNobodyMadeAreFindings) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  const uint64_t handle = warp.memory.textures.add(t);
  const auto refused = [&](const std::string& body, uint64_t which) {
    const auto findings = warp.run(body, which, {0}, {0}).findings;
    return findings.size() == 1 && findings[0].kind == Finding::Kind::unknown_pointer &&
           findings[0].count == 32;
  };
  EXPECT_FALSE(refused(fetch_2d, handle));
  EXPECT_TRUE(refused(fetch_2d, handle + 1));
  EXPECT_TRUE(refused("suld.b.2d.b32.trap {%r10}, [%rd1, {%r1, %r2}];", handle));
  EXPECT_TRUE(refused("tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];", handle));
  EXPECT_FALSE(warp.memory.textures.remove(handle, true));
  warp.memory.release(t.base);
  EXPECT_TRUE(refused(fetch_2d, handle));
  EXPECT_TRUE(warp.memory.textures.remove(handle, false));
  EXPECT_TRUE(refused(fetch_2d, handle));
  EXPECT_THAT(warp.run(fetch_2d, handle + 1, {0}, {0}).findings.at(0).message,
              testing::HasSubstr("is the handle of no texture"));
}

TEST(Texture, DestroyedOnesAreReadWithAWarning) {
  Warp32 warp;
  std::vector<float> texels;
  const Texture t = floats(warp.memory, texels);
  const uint64_t handle = warp.memory.textures.add(t);
  warp.run(fetch_2d, handle, {1}, {1});
  const float before = warp.real(0);
  EXPECT_TRUE(warp.memory.textures.remove(handle, false));
  for (int i = 0; i < 2; ++i) {
    const LaunchResult result = warp.run(fetch_2d, handle, {1}, {1});
    EXPECT_EQ(warp.real(0), before);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].severity, Finding::Severity::warning);
    EXPECT_EQ(result.findings[0].count, 32u);
    EXPECT_FALSE(result.failed);
    EXPECT_THAT(result.findings[0].message,
                testing::HasSubstr("is the handle of a texture that was destroyed"));
  }
  warp.memory.release(t.base);
  EXPECT_TRUE(warp.run(fetch_2d, handle, {1}, {1}).failed);
}

TEST(Texture, DestroyedSurfacesAreReadWithAWarning) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  t.is_surface = true;
  const uint64_t handle = warp.memory.textures.add(t);
  EXPECT_TRUE(warp.memory.textures.remove(handle, true));
  const LaunchResult result =
      warp.run("shl.b32 %r1, %r1, 2;\nsuld.b.2d.b32.trap {%r10}, [%rd1, {%r1, %r2}];", handle, {3}, {2});
  EXPECT_EQ(warp.real(31), texels[2 * width + 3]);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].severity, Finding::Severity::warning);
  EXPECT_FALSE(result.failed);
  // It is no texture for having gone.
  EXPECT_TRUE(warp.run(fetch_2d, handle, {1}, {1}).failed);
}

TEST(Texture, OfDestroyedOnesTheLastAreKeptHoweverOld) {
  Memory memory;
  const auto come_and_go = [&] {
    for (int i = 0; i < 4095; ++i) memory.textures.remove(memory.textures.add({}), false);
  };
  const uint64_t handle = memory.textures.add({});
  come_and_go();
  memory.textures.remove(handle, false);
  EXPECT_EQ(memory.textures.find(handle), nullptr);
  come_and_go();
  EXPECT_NE(memory.textures.find_removed(handle), nullptr);
  memory.textures.remove(memory.textures.add({}), false);
  EXPECT_EQ(memory.textures.find_removed(handle), nullptr);
}

TEST(Texture, WholeNumbersBetweenLevelsAreRefused) {
  Warp32 warp;
  std::vector<float> texels;
  Texture t = floats(warp.memory, texels);
  t.filter_levels = true;
  t.reductions.push_back(t);
  EXPECT_TRUE(warp.run(fetch_2d, warp.memory.textures.add(t), {0}, {0}).findings.empty());
  t.kind = Texture::Kind::signed_integer;
  EXPECT_EQ(warp.run(fetch_2d, warp.memory.textures.add(t), {0}, {0}).findings.size(), 1u);
}

TEST(Texture, ReferencesReadWhatTheyAreBoundTo) {
  Warp32 warp;
  std::vector<float> texels;
  warp.bound = warp.memory.textures.add(floats(warp.memory, texels));
  const std::string fetch = "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [image, {%f1, %f2}];";
  EXPECT_TRUE(warp.run(fetch, 0, {1.5f, 3.5f}, {2.5f}).findings.empty());
  EXPECT_EQ(warp.real(0), texels[2 * width + 1]);
  EXPECT_EQ(warp.real(1), texels[2 * width + 3]);
  EXPECT_TRUE(warp.run("txq.width.b32 %r10, [image];", 0, {0}, {0}).findings.empty());
  EXPECT_EQ(warp.word(31, 0), width);
  warp.bound = 0;
  const auto findings = warp.run(fetch, 0, {0}, {0}).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "the texture reference is bound to no texture");
  EXPECT_EQ(findings[0].count, 32u);
}

// Textures are in memory as a whole, so the second destination is true where the fetch takes place.
TEST(Texture, WhatIsReadIsInMemory) {
  Warp32 warp;
  std::vector<float> texels;
  const uint64_t handle = warp.memory.textures.add(floats(warp.memory, texels));
  const std::string body =
      ".reg .pred %p<3>; setp.lt.u32 %p1, %r3, 4; setp.ne.u32 %p2, 0, 0;\n"
      "@%p1 tex.2d.v4.f32.f32 {%r10, %r11, %r12, _}|%p2, [%rd1, {%f1, %f2}]; selp.u32 %r13, 1, 0, %p2;";
  EXPECT_TRUE(warp.run(body, handle, {1.5f}, {2.5f}).findings.empty());
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(warp.word(lane, 3), lane < 4 ? 1u : 0u) << lane;
    EXPECT_EQ(warp.real(lane), lane < 4 ? texels[2 * width + 1] : 0.0f) << lane;
  }
}

TEST(Texture, GathersFromCubesAndLooseOffsetsAreRefused) {
  Warp32 warp;
  for (const char* body :
       {"tld4.r.cube.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1, %f1, %f1}];",
        "tex.cube.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f2}];",
        "tex.grad.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f2}], {%f1}, {%f2};",
        "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f2}], {%r1, %r2};",
        "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];",
        "tex.2d.f32.f32 %r10, [%rd1, {%f1, %f2}];", "suld.b.2d.b32.trap {%r10}, [%r1, {%r1, %r2}];"})
    EXPECT_THROW(warp.run(body, 0, {0}, {0}), Error) << body;
}

}  // namespace
}  // namespace lanescope::exec
