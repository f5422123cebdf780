// tcgen05: tensor memory, and products in it, of PTX programs whose results are computed here once more from
// the elements. No GPU of this kind was there to compare with; whole programs of CUTLASS were
// (docs/cuda-programs.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::only;
using harness::Program;

constexpr const char* blackwell = "sm_100a";

/// %r30 becomes the address of `columns` columns of tensor memory, got by warp 0.
std::string allocate(uint32_t columns, const std::string& group = "1") {
  return ".shared .align 4 .b32 base;\nshr.u32 %r31, %r1, 5;\nsetp.eq.u32 %p9, %r31, 0;\n"
         "@%p9 tcgen05.alloc.cta_group::" +
         group + ".sync.aligned.shared::cta.b32 [base], " + std::to_string(columns) +
         ";\nbar.sync 0;\nld.shared.b32 %r30, [base];\n";
}
std::string release(uint32_t columns, const std::string& group = "1") {
  return "bar.sync 0;\n@%p9 tcgen05.dealloc.cta_group::" + group + ".sync.aligned.b32 %r30, " +
         std::to_string(columns) + ";\n";
}
/// %r32: where the lanes of the warp begin.
const std::string own_lanes = "and.b32 %r32, %r31, 3;\nshl.b32 %r32, %r32, 21;\nadd.u32 %r32, %r32, %r30;\n";

std::string list_of(const std::string& prefix, uint32_t count) {
  std::string text = "{";
  for (uint32_t i = 0; i < count; ++i) text += (i != 0 ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}
std::string reg(const char* prefix, uint32_t i) { return prefix + std::to_string(i); }

/// Each cell of the first `columns` columns of the warp's lanes becomes 1000 lane + column.
std::string number_cells(uint32_t columns) {
  std::string text = ".reg .b32 %c<2>;\nand.b32 %r33, %r1, 127;\nmul.lo.u32 %r33, %r33, 1000;\n";
  for (uint32_t c = 0; c < columns; ++c)
    text += "add.u32 %c0, %r33, " + std::to_string(c) + ";\nadd.u32 %c1, %r32, " + std::to_string(c) +
            ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%c1], {%c0};\n";
  return text + "tcgen05.wait::st.sync.aligned;\n";
}

/// How CuTe's layouts of these loads (copy_traits_sm100.hpp) place them: strides in bits of a lane's row of
/// `width` bits, first of the thread, then of the register; a place p is bit p % width of row p / width.
struct Shape {
  const char* name;
  uint32_t registers;  ///< of .x1
  uint32_t row_bits;   ///< of .x1
  uint32_t lanes;
  std::function<uint32_t(uint32_t thread, uint32_t row_bits)> of_thread;
  std::function<uint32_t(uint32_t reg, uint32_t row_bits)> of_register;
};
const std::vector<Shape> shapes = {
    {"32x32b", 1, 32, 32, [](uint32_t t, uint32_t w) { return t * w; },
     [](uint32_t r, uint32_t) { return 32 * r; }},
    {"16x64b", 1, 64, 16, [](uint32_t t, uint32_t w) { return t % 2 * 8 * w + t / 2 % 2 * 32 + t / 4 * w; },
     [](uint32_t r, uint32_t) { return 64 * r; }},
    {"16x128b", 2, 128, 16, [](uint32_t t, uint32_t w) { return t % 4 * 32 + t / 4 * w; },
     [](uint32_t r, uint32_t w) { return r % 2 * 8 * w + r / 2 * 128; }},
    {"16x256b", 4, 256, 16, [](uint32_t t, uint32_t w) { return t % 4 * 64 + t / 4 * w; },
     [](uint32_t r, uint32_t w) { return r % 2 * 32 + r / 2 % 2 * 8 * w + r / 4 * 256; }},
};

TEST(TensorMemory, RegistersLieWhereTheyShould) {
  constexpr uint32_t columns = 64;
  for (const Shape& shape : shapes)
    for (const uint32_t times : {1u, 2u, 4u})
      for (const bool packed : {false, true})
        for (const bool upper : {false, true}) {
          if (upper && shape.lanes == 32) continue;
          const uint32_t registers = shape.registers * times, width = shape.row_bits * times;
          std::string body = ".reg .b32 %v<16>;\n" + allocate(columns) + own_lanes + number_cells(columns) +
                             (upper ? "add.u32 %r32, %r32, 0x100000;\n" : "") + "tcgen05.ld.sync.aligned." +
                             shape.name + ".x" + std::to_string(times) + (packed ? ".pack::16b" : "") +
                             ".b32 " + list_of("%v", registers) +
                             ", [%r32];\ntcgen05.wait::ld.sync.aligned;\nmul.wide.u32 %rd4, %r1, 64;\n"
                             "add.u64 %rd4, %rd4, %rd1;\n";
          for (uint32_t r = 0; r < registers; ++r)
            body += "st.global.b32 [%rd4+" + std::to_string(4 * r) + "], " + reg("%v", r) + ";\n";
          Program p(body + release(columns), "", blackwell);
          ASSERT_TRUE(p.run({1}, {128}, 1, 128 * 16).findings.empty()) << shape.name;
          for (uint32_t t = 0; t < 128; ++t)
            for (uint32_t r = 0; r < registers; ++r) {
              const uint32_t place = shape.of_thread(t % 32, width) + shape.of_register(r, width),
                             lane = t / 32 * 32 + (upper ? 16 : 0) + place / width,
                             column = place % width / 32,
                             first = 1000 * lane + (packed ? 2 * column : column);
              ASSERT_EQ(p.word(t * 16 + r), packed ? (first & 0xffff) | (first + 1) << 16 : first)
                  << shape.name << ".x" << times << " thread " << t << " register " << r;
            }
        }
}

TEST(TensorMemory, HalvesLieApart) {
  const std::string body =
      ".reg .b32 %v<16>;\n" + allocate(64) + own_lanes + number_cells(64) +
      "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%v0, %v1}, [%r32+1], 20;\n"
      "tcgen05.st.sync.aligned.16x32bx2.x2.unpack::16b.b32 [%r32+32], 8, {%v0, %v1};\n"
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
      list_of("%v", 16) + ", [%r32+32];\nmul.wide.u32 %rd4, %r1, 64;\nadd.u64 %rd4, %rd4, %rd1;\n" +
      [] {
        std::string text;
        for (uint32_t r = 0; r < 16; ++r)
          text += "st.global.b32 [%rd4+" + std::to_string(4 * r) + "], " + reg("%v", r) + ";\n";
        return text;
      }() +
      release(64);
  Program p(body, "", blackwell);
  ASSERT_TRUE(p.run({1}, {32}, 1, 32 * 16).findings.empty());
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t c = 0; c < 16; ++c) {
      const uint32_t untouched = 1000 * lane + 32 + c;
      // Lane 16 + i of the warp has what begins 20 columns on in lane i, and writes it 8 columns on.
      const uint32_t half = c / 8, of = c % 8;
      const uint32_t whole = 1000 * lane + 1 + of / 2 + 20 * half;
      const uint32_t expected =
          lane < 16 && of < 4 ? (of % 2 == 0 ? whole & 0xffff : whole >> 16) : untouched;
      ASSERT_EQ(p.word(lane * 16 + c), expected) << lane << " " << c;
    }
}

// tcgen05.ld.red: each thread gets its lane's columns, and the least or the largest of them.
TEST(TensorMemory, LoadsWithTheLeastOrTheLargest) {
  constexpr uint32_t nan = 0x7fc12345, usual_nan = 0x7fffffff;
  const auto single = [](float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  };
  const struct {
    const char* word;
    std::vector<uint32_t> columns;
    uint32_t expected;
  } cases[] = {{"min.f32", {single(3), single(-5), single(2), single(4)}, single(-5)},
               {"max.f32", {single(3), single(-5), single(2), single(4)}, single(4)},
               {"max.abs.f32", {single(3), single(-5), single(2), single(4)}, single(5)},
               {"min.abs.f32", {single(3), single(-5), single(-2), single(4)}, single(2)},
               {"max.f32", {nan, single(-5), single(-2), nan}, single(-2)},
               {"max.NaN.f32", {single(1), single(-5), nan, single(2)}, usual_nan},
               {"min.abs.NaN.f32", {single(1), single(-5), single(-0.5f), single(2)}, single(0.5f)},
               {"min.f32", {nan, nan, nan, nan}, usual_nan},
               {"min.f32", {0, 0x80000000, 0, 0}, 0x80000000},
               {"max.f32", {0x80000000, 0, 0x80000000, 0x80000000}, 0},
               {"min.f32", {single(-INFINITY), single(-3), 1, 0x80000001}, single(-INFINITY)},
               {"max.u32", {1, 0x80000000, 7, 0x7fffffff}, 0x80000000},
               {"max.s32", {1, 0x80000000, 7, 0x7fffffff}, 0x7fffffff},
               {"min.s32", {1, 0x80000000, 7, 0x7fffffff}, 0x80000000},
               {"min.u32", {9, 0x80000000, 7, 0x7fffffff}, 7}};
  for (const auto& c : cases) {
    std::string body = ".reg .b32 %v<8>;\n" + allocate(32) + own_lanes;
    for (uint32_t i = 0; i < 4; ++i)
      body += "mov.b32 " + reg("%v", i) + ", " + std::to_string(c.columns[i]) + ";\n";
    body +=
        "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r32], {%v0, %v1, %v2, "
        "%v3};\ntcgen05.wait::st.sync.aligned;\n"
        "tcgen05.ld.red.sync.aligned.32x32b.x4." +
        std::string(c.word) +
        " {%v3, %v2, %v1, %v0}, %v4, [%r32];\ntcgen05.wait::ld.sync.aligned;\nmul.wide.u32 %rd4, %r1, 8;\n"
        "add.u64 %rd4, %rd4, %rd1;\nst.global.b32 [%rd4], %v4;\nst.global.b32 [%rd4+4], %v3;\n" +
        release(32);
    Program p(body, "", "sm_103a");
    ASSERT_TRUE(p.run({1}, {128}).findings.empty()) << c.word;
    for (uint32_t t = 0; t < 128; ++t) {
      ASSERT_EQ(p.word(2 * t), c.expected) << c.word;
      ASSERT_EQ(p.word(2 * t + 1), c.columns[0]) << c.word;
    }
  }
  // Of its own lane only.
  Program p(".reg .b32 %v<8>;\n" + allocate(32) + own_lanes + number_cells(8) +
                "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%v0, %v1}, {%v4}, [%r32];\n"
                "tcgen05.wait::ld.sync.aligned;\nst.global.b32 [%rd3], %v4;\n" +
                release(32),
            "", "sm_103a");
  ASSERT_TRUE(p.run({1}, {128}).findings.empty());
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(p.word(t), 1000 * t + 1);
}

TEST(TensorMemory, IsFoundToBeUsedWrongly) {
  const auto message = [](const std::string& body, uint32_t threads = 128) {
    Program p(body, "", blackwell);
    const LaunchResult result = p.run({1}, {threads});
    return result.findings.empty() ? "" : result.findings.front().message;
  };
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r32];\n";
  EXPECT_EQ(message(allocate(32) + own_lanes + load + release(32)), "");
  EXPECT_THAT(message(allocate(48)), testing::HasSubstr("48 columns of tensor memory: a power of two"));
  EXPECT_THAT(message(allocate(32) + "mov.u32 %r32, %r30;\n" + load),
              testing::HasSubstr("warp 1 reaches lanes 32 to 63"));
  EXPECT_THAT(message(allocate(32) + own_lanes + "add.u32 %r32, %r32, 31;\n" + load),
              testing::HasSubstr("columns 31 to 32 of tensor memory, which are not allocated"));
  EXPECT_THAT(message(allocate(64) + release(32)), testing::HasSubstr("which no tcgen05.alloc got so"));
  EXPECT_THAT(message("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + allocate(32), 32),
              testing::HasSubstr("after tcgen05.relinquish_alloc_permit"));
  EXPECT_THAT(
      message(allocate(512) + "@%p9 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\n",
              32),
      testing::HasSubstr("waits for 32 columns of tensor memory"));
  EXPECT_THAT(message(allocate(64), 32), testing::HasSubstr("has not given back"));
}

TEST(TensorMemory, AllocationsWaitForEachOther) {
  // Warp 1 gets its columns once warp 0 has given back all.
  Program p(
      ".shared .align 4 .b32 base[2];\nsetp.lt.u32 %p1, %r1, 32;\n@!%p1 bra second;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 512;\nbar.sync 1, 64;\n"
      "ld.shared.b32 %r10, [base];\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\nbra "
      "done;\nsecond:\n"
      "bar.sync 1, 64;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 256;\n"
      "ld.shared.b32 %r11, [base+4];\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 256;\n"
      "add.u32 %r11, %r11, 7;\nst.global.u32 [%rd3], %r11;\ndone:\n",
      "", blackwell);
  EXPECT_TRUE(p.run({1}, {64}).findings.empty());
  EXPECT_EQ(p.word(32), 7u);
}

// ---- Products.

/// A type of elements: its code in the instruction descriptor, its bits where it is kept, how they are made
/// from a small integer.
struct Kept {
  uint32_t code, bits;
  std::function<uint32_t(int)> from;
};
uint32_t as_half(int x) {
  if (x == 0) return 0;
  const uint32_t magnitude = static_cast<uint32_t>(std::abs(x));
  const int top = 31 - __builtin_clz(magnitude);
  return (x < 0 ? 0x8000u : 0) | static_cast<uint32_t>(top + 15) << 10 | ((magnitude << (10 - top)) & 0x3ff);
}
uint32_t as_float(int x) {
  const auto f = static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}
/// -3 to 3 with so many bits of exponent and mantissa.
uint32_t as_small(int x, uint32_t exponent, uint32_t mantissa) {
  const uint32_t sign = x < 0 ? 1u << (exponent + mantissa) : 0, bias = (1u << (exponent - 1)) - 1;
  switch (std::abs(x)) {
    case 0: return 0;
    case 1: return sign | bias << mantissa;
    case 2: return sign | (bias + 1) << mantissa;
    default: return sign | (bias + 1) << mantissa | 1u << (mantissa - 1);
  }
}
const Kept f16{0, 16, as_half}, bf16{1, 16, [](int x) { return as_float(x) >> 16; }}, tf32{2, 32, as_float},
    s8{1, 8, [](int x) { return static_cast<uint32_t>(x) & 0xff; }},
    u8{0, 8, [](int x) { return static_cast<uint32_t>(std::abs(x)); }},
    e4m3{0, 8, [](int x) { return as_small(x, 4, 3); }}, e5m2{1, 8, [](int x) { return as_small(x, 5, 2); }},
    e2m3{3, 6, [](int x) { return as_small(x, 2, 3); }}, e3m2{4, 6, [](int x) { return as_small(x, 3, 2); }},
    e2m1{5, 4, [](int x) { return as_small(x, 2, 1); }},
    dense_e2m1{1, 4, [](int x) { return as_small(x, 2, 1); }};

struct Case {
  std::string name, kind;
  Kept a, b;
  uint32_t rows = 128, columns = 64;
  uint32_t swizzle = 2;  ///< as the matrix descriptor has it
  bool a_transposed = false, b_transposed = false;
  uint32_t result = 1;  ///< f16, f32, s32
  bool pair = false;
  uint32_t scale_blocks = 0;
  bool powers = true;  ///< scale factors are ue8m0, else ue4m3
  uint32_t scale_byte = 0;
  bool a_in_memory = false;
  bool sparse = false;
  uint32_t selector = 0;
  bool stationary = false;  ///< .ws
  bool one_copy = false;    ///< A is in the lanes of the first part of the columns only
  uint64_t zero_columns = 0;
  /// Of each part of the columns, which of seven after each other count as zero.
  std::vector<std::string> zeros{};
};

int element(uint32_t matrix, uint32_t row, uint32_t k) {
  return static_cast<int>((row * 7 + k * 5 + row * k + matrix) % 7) - 3;
}
/// A power of two, of a block of a row.
int scale(uint32_t matrix, uint32_t row, uint32_t block) {
  return static_cast<int>((row + 3 * block + matrix) % 4) - 1;
}

/// Of a sparse matrix, the places of the two (tf32: of the one) elements of a group that are stored.
struct Stored {
  uint32_t code, first, second;
};
Stored stored(uint32_t row, uint32_t group, bool one_of_two) {
  constexpr Stored twos[] = {{0b0100, 0, 1}, {0b1000, 0, 2}, {0b1100, 0, 3},
                             {0b1001, 1, 2}, {0b1101, 1, 3}, {0b1110, 2, 3}};
  constexpr Stored ones[] = {{0b0100, 0, 0}, {0b1110, 1, 1}};
  return one_of_two ? ones[(row * 3 + group * 5 + row * group / 4) % 2]
                    : twos[(row * 5 + group + row / 6) % 6];
}

class Product {
 public:
  explicit Product(const Case& c) : c_(c), blocks_(c.pair ? 2 : 1) {
    k_ = c.kind == "mxf4" || c.kind == "mxf4nvf4" ? 64 : 256 / std::max(c.a.bits, 8u);
  }

  LaunchResult run(Program& p) const {
    const uint32_t words = blocks_ * (image_words + 128 * 512);
    return p.run_in_cluster({blocks_}, {128}, words, {blocks_, 1, 1}, [&](uint64_t out) {
      for (uint32_t block = 0; block < blocks_; ++block) {
        const std::vector<uint8_t> bytes = image(block);
        std::memcpy(reinterpret_cast<void*>(out + uint64_t{block} * image_words * 4), bytes.data(),
                    bytes.size());
      }
    });
  }
  [[nodiscard]] std::string finding() const {
    Program p(body(), "", blackwell);
    const LaunchResult result = run(p);
    return result.findings.empty() ? "" : result.findings.front().message;
  }

  void check() {
    Program p(body(), "", blackwell);
    const LaunchResult result = run(p);
    ASSERT_TRUE(result.findings.empty()) << c_.name << ": " << result.findings.front().message;
    const uint32_t own = c_.rows / blocks_, width = c_.columns / parts();
    for (uint32_t block = 0; block < blocks_; ++block)
      for (uint32_t row = 0; row < own; ++row)
        for (uint32_t column = 0; column < c_.columns; ++column) {
          uint32_t lane = own == 64 && blocks_ == 1 && !c_.stationary ? row / 16 * 32 + row % 16 : row;
          lane += column / width * (128 / parts());
          const uint32_t at = blocks_ * image_words + (block * 128 + lane) * 512 + column % width;
          const double sum = expected(block * own + row, column);
          // Twice: the instruction adds to what it has computed before.
          ASSERT_EQ(p.word(at), bits_of(2 * sum))
              << c_.name << " block " << block << " row " << row << " column " << column;
        }
  }

 private:
  static constexpr uint32_t matrix_bytes = 32768, scale_bytes = 4096, metadata_bytes = 2048,
                            metadata_at = 2 * matrix_bytes + 2 * scale_bytes,
                            image_words = (metadata_at + metadata_bytes) / 4;
  const Case c_;
  uint32_t blocks_, k_;  ///< elements along K that are stored of A

  /// Places along K that a group of A has, and how many of them are stored.
  [[nodiscard]] uint32_t group() const { return c_.kind == "tf32" ? 2 : 4; }
  [[nodiscard]] uint32_t group_stored() const { return group() / 2; }
  /// Where along K the stored element `k` of a row is.
  [[nodiscard]] uint32_t place(uint32_t row, uint32_t k) const {
    if (!c_.sparse) return k;
    const uint32_t of = k / group_stored();
    const Stored s = stored(row, of, group() == 2);
    return of * group() + (k % group_stored() == 0 ? s.first : s.second);
  }
  /// The bit of an image of 128 lanes of 128 bits at which the metadata of a group begins, as the strides of
  /// CUTLASS's layouts for sm_100 have it: of four products, f16 and tf32, or of two.
  [[nodiscard]] uint32_t metadata_bit(uint32_t row, uint32_t of) const {
    const uint32_t bit = of * 4;
    if (std::max(c_.a.bits, 8u) == 8) return row * 128 + bit;
    return row % 8 * 128 + row / 8 % 2 * 16 + row / 16 * 2048 + bit % 16 + bit / 16 * 1024 + c_.selector * 32;
  }
  /// Parts of the columns that lie in lanes of their own.
  [[nodiscard]] uint32_t parts() const { return folded() ? 2 : c_.stationary ? 128 / c_.rows : 1; }

  [[nodiscard]] bool folded() const { return c_.pair && c_.rows == 128; }
  [[nodiscard]] uint32_t bits_of(double x) const {
    if (c_.result == 2) return static_cast<uint32_t>(static_cast<int>(x));
    if (c_.result == 0) return as_half(static_cast<int>(x));
    const auto f = static_cast<float>(x);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
  }
  [[nodiscard]] double expected(uint32_t row, uint32_t column) const {
    double sum = 0;
    const uint32_t width = c_.columns / parts(), part = column / width;
    if (!c_.zeros.empty() && c_.zeros[part][column % width % 7] == '1') return 0;
    for (uint32_t k = 0; k < k_; ++k) {
      int a = element(0, row, k), b = element(1, column, place(row, k));
      if (c_.kind == "i8" && c_.a.code == 0) a = std::abs(a);
      if (c_.kind == "i8" && c_.b.code == 0) b = std::abs(b);
      double factor = 1;
      if (c_.scale_blocks != 0) {
        const uint32_t block = k * c_.scale_blocks / k_;
        factor = std::ldexp(1.0, scale(0, row, block) + scale(1, column, block));
      }
      sum += a * b * factor;
    }
    return sum;
  }

  /// Bits 61 to 63 of a descriptor and what else it says: pieces of 16 bytes in a line of the pattern.
  [[nodiscard]] uint32_t pieces() const {
    return c_.swizzle == 0 ? 1 : c_.swizzle == 6 ? 2 : c_.swizzle == 4 ? 4 : 8;
  }
  /// Strides in bytes: {leading, stride}.
  [[nodiscard]] std::pair<uint32_t, uint32_t> strides(bool transposed) const {
    if (c_.swizzle == 0) return transposed ? std::pair{4096u, 128u} : std::pair{4096u, 128u};
    return transposed ? std::pair{4096u, 1024u} : std::pair{16u, 8 * 16 * pieces()};
  }
  [[nodiscard]] uint64_t descriptor(uint32_t at, bool transposed) const {
    const auto [leading, stride] = strides(transposed);
    return (at >> 4) | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | uint64_t{1} << 46 |
           uint64_t{c_.swizzle} << 61;
  }
  [[nodiscard]] uint32_t swizzled(uint32_t at) const {
    if (c_.swizzle == 0) return at;
    if (c_.swizzle == 1) return at ^ (at >> 7 & 3) << 5;
    return at ^ (at >> 7 & (pieces() - 1)) << 4;
  }
  /// Puts an element of `bits` bits of row `row` at place k into an image of a matrix.
  void put(uint8_t* matrix, bool transposed, uint32_t row, uint32_t k, uint32_t bits, uint32_t value) const {
    const bool wide = bits < 8 && c_.scale_blocks < 2;  // sixteen take 16 bytes
    uint32_t at, bit = 0;
    const auto [leading, stride] = strides(transposed);
    const uint32_t line = 16 * pieces();
    if (!transposed) {
      const uint32_t per = wide ? 16 : 128 / bits, piece = k / per;
      bit = k % per * bits;
      at = row / 8 * stride + row % 8 * line + piece * leading + bit / 8;
      bit %= 8;
    } else {
      const uint32_t per = 128 / bits, unit = row / per, lines = c_.swizzle == 1 ? 4 : 8;
      at = c_.swizzle == 0
               ? unit * stride + k % 8 * 16 + k / 8 * leading
               : unit % pieces() * 16 + unit / pieces() * leading + k % lines * line + k / lines * stride;
      at += row % per * bits / 8;
    }
    for (uint32_t i = 0; i < bits; ++i) {
      const uint32_t place = at + (bit + i) / 8, in_byte = (bit + i) % 8;
      matrix[swizzled(place)] = static_cast<uint8_t>(matrix[swizzled(place)] | (value >> i & 1) << in_byte);
    }
  }
  [[nodiscard]] std::vector<uint8_t> image(uint32_t block) const {
    std::vector<uint8_t> bytes(size_t{image_words} * 4);
    const uint32_t own_rows = c_.rows / blocks_, own_columns = c_.columns / blocks_;
    // In tensor memory each part of the columns has its own A.
    const uint32_t a_copies = c_.stationary && c_.a_in_memory && !c_.one_copy ? parts() : 1;
    for (uint32_t k = 0; k < k_; ++k)
      for (uint32_t r = 0; r < own_rows * a_copies; ++r)
        put(bytes.data(), c_.a_transposed, r, k, c_.a.bits,
            c_.a.from(element(0, block * own_rows + r % own_rows, k)));
    for (uint32_t k = 0; k < (c_.sparse ? 2 * k_ : k_); ++k)
      for (uint32_t n = 0; n < own_columns; ++n)
        put(bytes.data() + matrix_bytes, c_.b_transposed, n, k, c_.b.bits,
            c_.b.from(element(1, block * own_columns + n, k)));
    for (uint32_t r = 0; c_.sparse && r < own_rows; ++r)
      for (uint32_t of = 0; of < k_ / group_stored(); ++of) {
        const uint32_t bit = metadata_bit(r, of);
        bytes[metadata_at + bit / 8] = static_cast<uint8_t>(
            bytes[metadata_at + bit / 8] | stored(block * own_rows + r, of, group() == 2).code << (bit % 8));
      }
    // As words of tensor memory: lane, four columns.
    const auto factor = [&](int power) {
      return static_cast<uint8_t>(c_.powers ? power + 127 : (power + 7) << 3);
    };
    for (uint32_t i = 0; i < c_.scale_blocks; ++i) {
      for (uint32_t r = 0; r < own_rows; ++r)
        bytes[2 * matrix_bytes + r % 32 * 16 + r / 32 * 4 + c_.scale_byte + i] =
            factor(scale(0, block * own_rows + r, i));
      for (uint32_t n = 0; n < c_.columns; ++n) {
        const uint32_t half = folded() ? c_.columns / 2 : c_.columns, in_half = n % half;
        bytes[2 * matrix_bytes + scale_bytes + n / half * 512 + in_half % 32 * 16 + in_half / 32 * 4 +
              c_.scale_byte + i] = factor(scale(1, n, i));
      }
    }
    return bytes;
  }

  [[nodiscard]] std::string body() const {
    const std::string group = c_.pair ? "2" : "1", pair = ".cta_group::" + group;
    const uint32_t like =
        (c_.scale_blocks != 0 ? c_.scale_byte << 4 | c_.scale_byte << 29 | (c_.powers ? 1u : 0u) << 23
                              : c_.result << 4) |
        c_.selector | (c_.sparse ? 4u : 0u) | c_.a.code << 7 | c_.b.code << 10 |
        (c_.a_transposed ? 1u : 0u) << 15 | (c_.b_transposed ? 1u : 0u) << 16 | c_.columns / 8 << 17 |
        c_.rows / 16 << 24;
    std::string text =
        ".shared .align 1024 .b8 s[" + std::to_string(image_words * 4) + "];\n.reg .b32 %v<32>;\n" +
        allocate(512, group) + own_lanes + "mul.wide.u32 %rd4, %r2, " + std::to_string(image_words * 4) +
        ";\nadd.u64 %rd4, %rd4, %rd1;\n"
        "mov.u32 %r10, %r1;\ncopy:\nmul.wide.u32 %rd5, %r10, 4;\nadd.u64 %rd6, %rd4, %rd5;\nld.global.b32 "
        "%r11, [%rd6];\n"
        "mov.u32 %r12, s;\nshl.b32 %r13, %r10, 2;\nadd.u32 %r12, %r12, %r13;\nst.shared.b32 [%r12], %r11;\n"
        "add.u32 %r10, %r10, 128;\nsetp.lt.u32 %p1, %r10, " +
        std::to_string(image_words) + ";\n@%p1 bra copy;\nfence.proxy.async;\n" + meet() +
        "setp.eq.u32 %p2, %r1, 0;\nsetp.eq.u32 %p3, %r2, 0;\nand.pred %p2, %p2, %p3;\n"
        // Column 256: the scale factors of A, 288: of B, 320: A itself, 352: its metadata.
        "mov.u64 %rd10, " +
        std::to_string(descriptor(0, c_.a_transposed)) + ";\nmov.u64 %rd11, " +
        std::to_string(descriptor(matrix_bytes, c_.b_transposed)) + ";\nmov.u32 %r14, " +
        std::to_string(like) +
        ";\nadd.u32 %r15, %r30, 256;\nadd.u32 %r16, %r30, 288;\nadd.u32 %r17, %r30, 320;\nadd.u32 %r19, "
        "%r30, 352;\nmov.u32 %r18, 0;\n";
    // Descriptors of 32 rows of 16 bytes, eight by eight; of columns 0 to 31 and 32 to 63 for the halves of
    // B.
    const auto rows_at = [](uint32_t at) {
      return std::to_string((at >> 4) | uint64_t{8} << 16 | uint64_t{8} << 32 | uint64_t{1} << 46);
    };
    if (c_.scale_blocks != 0) {
      text += "@%p2 tcgen05.cp" + pair + ".32x128b.warpx4 [%r15], " + rows_at(2 * matrix_bytes) + ";\n";
      text += folded() ? "@%p2 tcgen05.cp" + pair + ".64x128b.warpx2::01_23 [%r16], " +
                             rows_at(2 * matrix_bytes + scale_bytes) + ";\n"
                       : "@%p2 tcgen05.cp" + pair + ".32x128b.warpx4 [%r16], " +
                             rows_at(2 * matrix_bytes + scale_bytes) + ";\n";
    }
    if (c_.a_in_memory) text += "@%p2 tcgen05.cp" + pair + ".128x256b [%r17], %rd10;\n";
    if (c_.sparse) text += "@%p2 tcgen05.cp" + pair + ".128x128b [%r19], " + rows_at(metadata_at) + ";\n";
    std::string kind = ".kind::" + c_.kind;
    if (c_.kind == "mxf8f6f4" || c_.kind == "mxf4") kind += ".block_scale";
    if (c_.kind == "mxf4nvf4") kind += ".block_scale.scale_vec::4X";
    for (const char* adds : {"%p4", "!%p4"})
      text += "setp.ne.u32 %p4, %r18, 0;\n@%p2 tcgen05.mma" +
              std::string(c_.stationary ? ".ws"
                          : c_.sparse   ? ".sp"
                                        : "") +
              pair + kind + " [%r30], " + (c_.a_in_memory ? "[%r17]" : "%rd10") + ", %rd11, " +
              (c_.sparse ? "[%r19], " : "") + "%r14" + (c_.scale_blocks != 0 ? ", [%r15], [%r16]" : "") +
              ", " + adds + (c_.zero_columns != 0 ? ", " + std::to_string(c_.zero_columns) : "") + ";\n";
    text += meet() +
            "mov.u32 %r20, 0;\nmul.lo.u32 %r21, %r2, 128;\nadd.u32 %r21, %r21, %r1;\nmul.wide.u32 %rd7, "
            "%r21, 2048;\n"
            "add.u64 %rd7, %rd7, %rd1;\nread:\nadd.u32 %r22, %r32, "
            "%r20;\ntcgen05.ld.sync.aligned.32x32b.x32.b32 " +
            list_of("%v", 32) + ", [%r22];\ntcgen05.wait::ld.sync.aligned;\n";
    for (uint32_t r = 0; r < 32; ++r)
      text += "st.global.b32 [%rd7+" + std::to_string(blocks_ * image_words * 4 + 4 * r) + "], " +
              reg("%v", r) + ";\n";
    return text + "add.u64 %rd7, %rd7, 128;\nadd.u32 %r20, %r20, 32;\nsetp.lt.u32 %p5, %r20, " +
           std::to_string(c_.columns) + ";\n@%p5 bra read;\n" + meet() + release(512, group);
  }
  [[nodiscard]] std::string meet() const {
    return c_.pair ? "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" : "bar.sync 0;\n";
  }
};

TEST(TensorProduct, IsThatOfItsElements) {
  const std::vector<Case> cases = {
      {.name = "f16", .kind = "f16", .a = f16, .b = f16},
      {.name = "all columns", .kind = "f16", .a = bf16, .b = bf16, .columns = 256},
      {.name = "64 rows", .kind = "f16", .a = f16, .b = f16, .rows = 64, .columns = 24},
      {.name = "f16 results", .kind = "f16", .a = f16, .b = f16, .result = 0},
      {.name = "no swizzle", .kind = "f16", .a = bf16, .b = bf16, .swizzle = 0},
      {.name = "swizzle of 32 bytes", .kind = "f16", .a = f16, .b = bf16, .swizzle = 6},
      {.name = "swizzle of 64 bytes", .kind = "f16", .a = f16, .b = f16, .swizzle = 4},
      {.name = "transposed", .kind = "f16", .a = f16, .b = f16, .a_transposed = true, .b_transposed = true},
      {.name = "transposed, no swizzle",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .swizzle = 0,
       .a_transposed = true,
       .b_transposed = true},
      {.name = "tf32", .kind = "tf32", .a = tf32, .b = tf32},
      {.name = "tf32 transposed",
       .kind = "tf32",
       .a = tf32,
       .b = tf32,
       .swizzle = 1,
       .a_transposed = true,
       .b_transposed = true},
      {.name = "i8", .kind = "i8", .a = s8, .b = u8, .swizzle = 6, .result = 2},
      {.name = "i8 transposed", .kind = "i8", .a = u8, .b = s8, .b_transposed = true, .result = 2},
      {.name = "fp8", .kind = "f8f6f4", .a = e4m3, .b = e5m2, .a_transposed = true},
      {.name = "fp8 transposed, not in whole pieces",
       .kind = "f8f6f4",
       .a = e4m3,
       .b = e4m3,
       .rows = 64,
       .columns = 24,
       .a_transposed = true,
       .b_transposed = true},
      {.name = "fp6 and fp4", .kind = "f8f6f4", .a = e3m2, .b = e2m1},
      {.name = "fp8 and fp6", .kind = "f8f6f4", .a = e5m2, .b = e2m3, .result = 0},
      {.name = "A in tensor memory", .kind = "f16", .a = f16, .b = f16, .a_in_memory = true},
      {.name = "a pair of blocks",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .rows = 256,
       .columns = 128,
       .pair = true},
      {.name = "a pair of blocks, 128 rows",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .b_transposed = true,
       .pair = true},
      {.name = "a pair of blocks, A in tensor memory",
       .kind = "tf32",
       .a = tf32,
       .b = tf32,
       .rows = 256,
       .pair = true,
       .a_in_memory = true},
      {.name = "mxfp8", .kind = "mxf8f6f4", .a = e4m3, .b = e4m3, .scale_blocks = 1, .scale_byte = 3},
      {.name = "mxfp8 and mxfp4",
       .kind = "mxf8f6f4",
       .a = e5m2,
       .b = e2m1,
       .columns = 128,
       .scale_blocks = 1},
      {.name = "mxfp4", .kind = "mxf4", .a = dense_e2m1, .b = dense_e2m1, .scale_blocks = 2, .scale_byte = 2},
      {.name = "nvfp4",
       .kind = "mxf4nvf4",
       .a = dense_e2m1,
       .b = dense_e2m1,
       .columns = 96,
       .scale_blocks = 4,
       .powers = false},
      {.name = "mxfp8 of a pair",
       .kind = "mxf8f6f4",
       .a = e4m3,
       .b = e4m3,
       .rows = 256,
       .pair = true,
       .scale_blocks = 1},
      {.name = "mxfp8 of a pair, 128 rows",
       .kind = "mxf8f6f4",
       .a = e4m3,
       .b = e4m3,
       .pair = true,
       .scale_blocks = 1},
  };
  for (const Case& c : cases) Product(c).check();
}

// Of each four elements of A two are stored, of each two of tf32 one, and which, tensor memory says.
TEST(TensorProduct, OfASparseMatrixIsThatOfItsElements) {
  const std::vector<Case> cases = {
      {.name = "f16", .kind = "f16", .a = f16, .b = f16, .sparse = true},
      {.name = "the other selector", .kind = "f16", .a = bf16, .b = bf16, .sparse = true, .selector = 1},
      {.name = "transposed",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .columns = 128,
       .a_transposed = true,
       .b_transposed = true,
       .result = 0,
       .sparse = true},
      {.name = "A in tensor memory", .kind = "f16", .a = f16, .b = f16, .a_in_memory = true, .sparse = true},
      {.name = "tf32", .kind = "tf32", .a = tf32, .b = tf32, .sparse = true, .selector = 1},
      {.name = "fp8", .kind = "f8f6f4", .a = e4m3, .b = e5m2, .sparse = true},
      {.name = "fp6 and fp4", .kind = "f8f6f4", .a = e3m2, .b = e2m1, .sparse = true},
      {.name = "i8", .kind = "i8", .a = s8, .b = u8, .result = 2, .sparse = true},
      {.name = "a pair of blocks",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .rows = 256,
       .columns = 128,
       .pair = true,
       .sparse = true,
       .selector = 1},
  };
  for (const Case& c : cases) Product(c).check();
}

// .ws: columns lie beside each other in lanes of their own, and a descriptor may make some count as zero; the
// patterns are those of the ISA's examples.
TEST(TensorProduct, OfAStationaryMatrixIsThatOfItsElements) {
  constexpr uint64_t some = uint64_t{1} << 39 | uint64_t{2} << 40 | uint64_t{3} << 48,
                     first = uint64_t{1} << 32;
  const std::vector<Case> cases = {
      {.name = "f16", .kind = "f16", .a = f16, .b = f16, .stationary = true},
      {.name = "64 rows",
       .kind = "f16",
       .a = bf16,
       .b = bf16,
       .rows = 64,
       .columns = 256,
       .stationary = true},
      {.name = "32 rows", .kind = "f16", .a = f16, .b = f16, .rows = 32, .columns = 128, .stationary = true},
      {.name = "A in tensor memory",
       .kind = "tf32",
       .a = tf32,
       .b = tf32,
       .rows = 32,
       .a_in_memory = true,
       .stationary = true},
      {.name = "i8", .kind = "i8", .a = s8, .b = s8, .rows = 64, .result = 2, .stationary = true},
      {.name = "fp8",
       .kind = "f8f6f4",
       .a = e4m3,
       .b = e4m3,
       .rows = 64,
       .b_transposed = true,
       .stationary = true},
      {.name = "zero columns",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .stationary = true,
       .zero_columns = some,
       .zeros = {"0000111"}},
      {.name = "zero columns of two parts",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .rows = 64,
       .stationary = true,
       .zero_columns = some | first,
       .zeros = {"1110000", "0000111"}},
      {.name = "zero columns of four parts",
       .kind = "f16",
       .a = f16,
       .b = f16,
       .rows = 32,
       .columns = 128,
       .stationary = true,
       .zero_columns = some | first | first << 1 | 1 << 8 | 2 << 16 | 1 << 24,
       .zeros = {"1110000", "1100001", "0011100", "0001110"}},
  };
  for (const Case& c : cases) Product(c).check();
}

TEST(TensorProduct, WhatIsNotKnownIsRefused) {
  const auto refused = [](const std::function<void(Case&)>& change) {
    Case c{.name = "", .kind = "f16", .a = f16, .b = f16};
    change(c);
    return Product(c).finding();
  };
  EXPECT_THAT(refused([](Case& c) {
                c.sparse = true;
                c.rows = 64;
              }),
              testing::HasSubstr("sparse products of 64 rows a block are not supported"));
  EXPECT_THAT(refused([](Case& c) {
                c.sparse = true;
                c.selector = 2;
              }),
              testing::HasSubstr("this sparsity selector"));
  EXPECT_THAT(refused([](Case& c) {
                c = {.name = "", .kind = "f8f6f4", .a = e4m3, .b = e4m3};
                c.sparse = true;
                c.selector = 1;
              }),
              testing::HasSubstr("this sparsity selector"));
  EXPECT_THAT(refused([](Case& c) {
                c.stationary = true;
                c.columns = 80;
              }),
              testing::HasSubstr("128 rows and 80 columns, which there is not"));
  EXPECT_THAT(refused([](Case& c) { c.rows = 32; }),
              testing::HasSubstr("32 rows and 64 columns, which there is not"));
  EXPECT_THAT(refused([](Case& c) {
                c.stationary = true;
                c.zero_columns = uint64_t{2} << 56;
              }),
              testing::HasSubstr("a column shift"));
  EXPECT_THAT(refused([](Case& c) {
                c.stationary = c.a_in_memory = c.one_copy = true;
                c.rows = 64;
              }),
              testing::HasSubstr("A in tensor memory is not the same"));
}

// mma with .kind, whose numbers and scale factors the lanes hold.

struct SmallCase {
  std::string kind;
  Kept a, b;
  uint32_t k = 32, scale_blocks = 0;
  bool powers = true;
  uint32_t byte = 0, thread_a = 0, thread_b = 0;
};

TEST(SmallProduct, IsThatOfItsElements) {
  const std::vector<SmallCase> cases = {
      {"kind::f8f6f4", e4m3, e5m2},
      {"kind::f8f6f4", e3m2, e2m1},
      {"kind::f8f6f4", e2m1, e2m3},
      {"kind::mxf8f6f4.block_scale.scale_vec::1X", e4m3, e2m1, 32, 1, true, 3, 1, 2},
      {"kind::mxf4.block_scale.scale_vec::2X", e2m1, e2m1, 64, 2, true, 2, 0, 3},
      {"kind::mxf4nvf4.block_scale.scale_vec::4X", e2m1, e2m1, 64, 4, false, 0, 1, 1},
  };
  const auto name = [](const Kept& t) {
    return t.bits == 4   ? "e2m1"
           : t.bits == 6 ? (t.code == 3 ? "e2m3" : "e3m2")
                         : (t.code == 0 ? "e4m3" : "e5m2");
  };
  for (const SmallCase& c : cases) {
    // Words of a lane: four of A, two of B, scale factors of A and of B.
    std::vector<uint32_t> words(32 * 8);
    const uint32_t held = c.k == 64 ? 4 : 8, per = 32 / held, t_step = per;
    const auto put = [&](uint32_t lane, uint32_t word, uint32_t place, const Kept& type, int x) {
      const uint32_t up = held == 8 && type.bits == 4 ? 2 : 0;  // 4 bits in the middle of a byte
      words[lane * 8 + word] |= type.from(x) << (place * held + up);
    };
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t word = 0; word < 4; ++word)
        for (uint32_t place = 0; place < per; ++place) {
          const uint32_t k = lane % 4 * t_step + place + word / 2 * (c.k / 2), row = lane / 4 + word % 2 * 8;
          put(lane, word, place, c.a, element(0, row, k));
          if (word < 2)
            put(lane, 4 + word, place, c.b,
                element(1, lane / 4, lane % 4 * t_step + place + word * (c.k / 2)));
        }
    const auto factor = [&](int power) {
      return static_cast<uint32_t>(c.powers ? power + 127 : (power + 7) << 3);
    };
    for (uint32_t i = 0; i < c.scale_blocks; ++i) {
      for (uint32_t row = 0; row < 16; ++row)
        words[(row % 8 * 4 + c.thread_a * 2 + row / 8) * 8 + 6] |= factor(scale(0, row, i))
                                                                   << (8 * (c.byte + i));
      for (uint32_t n = 0; n < 8; ++n)
        words[(n * 4 + c.thread_b) * 8 + 7] |= factor(scale(1, n, i)) << (8 * (c.byte + i));
    }
    const std::string which = "{" + std::to_string(c.byte) + ", ",
                      scales = c.scale_blocks == 0
                                   ? ""
                                   : ", {%v6}, " + which + std::to_string(c.thread_a) + "}, {%v7}, " + which +
                                         std::to_string(c.thread_b) + "}";
    std::string body =
        ".reg .b32 %v<8>;\n.reg .f32 %d<4>;\nmul.wide.u32 %rd4, %r1, 32;\nadd.u64 %rd4, %rd4, %rd1;\n";
    for (uint32_t i = 0; i < 8; ++i)
      body += "ld.global.b32 " + reg("%v", i) + ", [%rd4+" + std::to_string(4 * i) + "];\n";
    for (uint32_t i = 0; i < 4; ++i) body += "mov.f32 " + reg("%d", i) + ", 0f3F800000;\n";
    body += "mma.sync.aligned." + c.kind + ".m16n8k" + std::to_string(c.k) + ".row.col.f32." + name(c.a) +
            "." + name(c.b) + ".f32" +
            (c.scale_blocks == 0 ? ""
             : c.powers          ? ".ue8m0"
                                 : ".ue4m3") +
            " {%d0, %d1, %d2, %d3}, {%v0, %v1, %v2, %v3}, {%v4, %v5}, {%d0, %d1, %d2, %d3}" + scales + ";\n";
    for (uint32_t i = 0; i < 4; ++i)
      body += "st.global.f32 [%rd4+" + std::to_string(1024 + 4 * i) + "], " + reg("%d", i) + ";\n";
    Program p(body, "", "sm_120a");
    const LaunchResult result = p.run_with({1}, {32}, 1024, [&](uint64_t out) {
      std::memcpy(reinterpret_cast<void*>(out), words.data(), words.size() * 4);
    });
    ASSERT_TRUE(result.findings.empty()) << result.findings[0].message;
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        double sum = 1;
        for (uint32_t k = 0; k < c.k; ++k) {
          const uint32_t block = c.scale_blocks == 0 ? 0 : k * c.scale_blocks / c.k;
          sum += element(0, row, k) * element(1, column, k) *
                 (c.scale_blocks == 0 ? 1 : std::ldexp(1.0, scale(0, row, block) + scale(1, column, block)));
        }
        const uint32_t word = p.word(256 + lane * 8 + i);
        float d;
        std::memcpy(&d, &word, sizeof d);
        ASSERT_EQ(d, sum) << c.kind << " row " << row << " column " << column;
      }
  }
}

// What --check says of its reads of shared memory.

/// A product of 64 rows and 8 columns without a swizzle, of what `before` puts there; `after` follows it.
std::vector<Finding> checked(const std::string& before, const std::string& after) {
  const auto descriptor = [](uint32_t at, uint64_t leading) {
    return std::to_string((at >> 4) | leading >> 4 << 16 | uint64_t{128 >> 4} << 32 | uint64_t{1} << 46);
  };
  Program p(".shared .align 1024 .b8 s[2560];\n.shared .align 8 .b64 bar;\n" + allocate(32) +
                "setp.eq.u32 %p2, %r1, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r13, bar;\n"
                "mov.u32 %r12, s;\nmov.u32 %r10, 0;\nbar.sync 0;\n" +
                before + "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r30], " + descriptor(0, 1024) + ", " +
                descriptor(2048, 128) + ", " + std::to_string(1u << 4 | 8 / 8 << 17 | 64 / 16 << 24) +
                ", %p7;\n" + after + release(32),
            "", blackwell);
  p.checks = {.race = true, .init = true};
  return p.run({1}, {128}).findings;
}

TEST(TensorProduct, ReadsAreChecked) {
  const std::string none = "mov.u32 %r20, 0;\nsetp.ne.u32 %p7, %r20, 0;\n";
  const std::string
      fill = none +
             "shl.b32 %r14, %r1, 2;\nadd.u32 %r14, %r14, %r12;\nfill:\nst.shared.b32 [%r14], 0;\n"
             "add.u32 %r14, %r14, 512;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p6, %r10, 5;\n"
             "@%p6 bra fill;\n",
      fence = "fence.proxy.async;\n", meet = "bar.sync 0;\n",
      commit = "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r13];\n",
      wait = "look:\nmbarrier.try_wait.parity.shared.b64 %p5, [bar], 0;\n@!%p5 bra look;\n",
      overwrite = "@%p2 st.shared.b32 [%r14+-512], 1;\n";
  const auto lack = [](const std::vector<Finding>& findings) {
    EXPECT_EQ(findings.size(), 1u);
    return findings.empty() ? Finding::Lack::end : findings.front().lack;
  };
  EXPECT_TRUE(checked(fill + fence + meet, commit + wait + overwrite).empty());
  const std::string by_all = "st.shared.b32 [%r14+-512], 1;\n";
  EXPECT_TRUE(checked(fill + fence + meet, commit + wait + by_all).empty());
  EXPECT_TRUE(checked(fill + fence + meet, commit + meet + wait + by_all).empty()) << "a barrier between";
  EXPECT_TRUE(checked(fill + fence + meet, commit + wait + meet + by_all).empty()) << "a barrier after";
  EXPECT_FALSE(checked(fill + fence + meet, commit + meet + by_all + wait).empty()) << "a barrier alone";
  EXPECT_EQ(lack(checked(fill + meet, commit + wait)), Finding::Lack::proxy_fence);
  const std::vector<Finding> unordered = checked(fill + fence, commit + wait);
  EXPECT_TRUE(std::any_of(unordered.begin(), unordered.end(), [](const Finding& f) {
    return f.kind == Finding::Kind::race && f.lack == Finding::Lack::order &&
           f.access == AccessKind::tensor_product;
  })) << "no barrier before it";
  EXPECT_EQ(lack(checked(fill + fence + meet, commit + overwrite + wait)), Finding::Lack::order)
      << "overwritten";
  EXPECT_EQ(lack(checked(fill + fence + meet, overwrite + commit + wait)), Finding::Lack::order)
      << "before the commit";
  const std::vector<Finding> never = checked(none, commit + wait);
  ASSERT_FALSE(never.empty());
  EXPECT_EQ(never.front().kind, Finding::Kind::uninitialised_read);
}

}  // namespace
}  // namespace lanescope::exec
