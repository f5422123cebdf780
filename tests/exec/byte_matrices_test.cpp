// ldmatrix and stmatrix with elements of 8, 6 and 4 bits (PTX ISA 9.0, 9.7.14.5.15 and .16): every byte of
// memory has a value of its own, and every byte of every register is the one that the ISA's text and figures
// put there.
#include <gtest/gtest.h>

#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// Byte i of shared memory is (i * 37 + i / 256) % 256. %r6: where row `laneid` begins; rows are 16 bytes,
/// 48 apart.
constexpr const char* filled_bytes = R"(
mov.u32 %r4, %tid.x;
mov.u32 %r8, 0;
fill:
shl.b32 %r9, %r8, 5; add.u32 %r9, %r9, %r4;
mul.lo.u32 %r10, %r9, 37; shr.u32 %r11, %r9, 8; add.u32 %r10, %r10, %r11;
mov.u32 %r11, smem; add.u32 %r11, %r11, %r9; st.shared.u8 [%r11], %r10;
add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 48; @%p1 bra fill;
bar.sync 0;
mov.u32 %r6, smem; mul.lo.u32 %r7, %r4, 48; add.u32 %r6, %r6, %r7;
)";
constexpr const char* shared_bytes = ".shared .align 16 .b8 smem[1536];\n";
uint32_t byte_at(uint32_t i) { return (i * 37 + i / 256) & 255; }
/// Element `i` of `bits` bits of row `row`.
uint32_t element_at(uint32_t row, uint32_t i, uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t b = 0; b < bits; ++b) {
    const uint32_t at = i * bits + b;
    value |= (byte_at(row * 48 + at / 8) >> at % 8 & 1) << b;
  }
  return value;
}

struct ByteFormat {
  const char* name;
  uint32_t bits;
};
constexpr ByteFormat packed_formats[] = {{"b8x16.b6x16_p32", 6}, {"b8x16.b4x16_p64", 4}};

/// What the 32 lanes hold after a load of `registers` registers.
void expect_loaded(const std::string& load, uint32_t registers, uint32_t bits, bool square) {
  std::string list, stores;
  for (uint32_t i = 0; i < registers; ++i) {
    list += (i == 0 ? "%r1" : ", %r1") + std::to_string(2 + i);
    stores += "st.global.u32 [%rd3+" + std::to_string(128 * i) + "], %r1" + std::to_string(2 + i) + ";\n";
  }
  Program p(std::string(filled_bytes) + load + " {" + list + "}, [%r6];\n" + stores, shared_bytes, "sm_100a");
  ASSERT_TRUE(p.run({1}, {32}).findings.empty()) << load;
  for (uint32_t r = 0; r < registers; ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < 4; ++e) {
        const uint32_t row = square ? r / 2 * 16 + lane % 4 * 4 + e : r * 8 + lane / 4,
                       column = square ? lane / 4 + r % 2 * 8 : lane % 4 * 4 + e;
        ASSERT_EQ(p.word(r * 32 + lane) >> 8 * e & 255, element_at(row, column, bits))
            << load << " register " << r << " lane " << lane << " byte " << e;
      }
}

TEST(ByteMatrices, AreLoaded) {
  for (const uint32_t count : {1u, 2u}) {
    const std::string square = "ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared.";
    expect_loaded(square + "b8", 2 * count, 8, true);
    for (const ByteFormat& f : packed_formats) expect_loaded(square + f.name, 2 * count, f.bits, true);
  }
  for (const uint32_t count : {1u, 2u, 4u})
    for (const ByteFormat& f : packed_formats)
      expect_loaded("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared." + f.name, count,
                    f.bits, false);
}

// What is stored and loaded again as rows of words is the transposed matrix.
TEST(ByteMatrices, AreStored) {
  for (const uint32_t count : {1u, 2u, 4u}) {
    std::string list, values;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string r = "%r1" + std::to_string(2 + i);
      list += (i == 0 ? "" : ", ") + r;
      values += "mad.lo.u32 " + r + ", %r4, 0x01030509, " + std::to_string(0x11223344 * (i + 1)) + ";\n";
    }
    std::string stores;
    for (uint32_t i = 0; i < 4; ++i)
      stores += "ld.shared.u32 %r20, [%r6+" + std::to_string(4 * i) + "];\nst.global.u32 [%rd3+" +
                std::to_string(128 * i) + "], %r20;\n";
    Program p(std::string(filled_bytes) + values + "stmatrix.sync.aligned.m16n8.x" + std::to_string(count) +
                  ".trans.shared.b8 [%r6], {" + list + "};\nbar.sync 0;\n" + stores,
              shared_bytes, "sm_100a");
    ASSERT_TRUE(p.run({1}, {32}).findings.empty());
    for (uint32_t row = 0; row < 32; ++row)
      for (uint32_t column = 0; column < 16; ++column) {
        const uint32_t n = row % 8, lane = column % 8 * 4 + n / 2, e = column / 8 * 2 + n % 2,
                       value = lane * 0x01030509 + 0x11223344 * (row / 8 + 1),
                       expected = row < 8 * count ? value >> 8 * e & 255 : byte_at(row * 48 + column);
        ASSERT_EQ(p.word(column / 4 * 32 + row) >> column % 4 * 8 & 255, expected)
            << count << " row " << row << " byte " << column;
      }
  }
}

}  // namespace
}  // namespace lanescope::exec
