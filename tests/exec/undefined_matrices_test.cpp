// --check init follows what nobody has written through matrix instructions: which elements of a result depend
// on it, in registers and in memory, and that it is reported where one of those is used, and only there.
#include <gtest/gtest.h>

#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// 32 lanes: %r1 is the lane, %r5 the address of 4 KB of shared memory that nobody has written.
LaunchResult run_unwritten(const std::string& body, uint32_t threads = 32,
                           const std::string& target = "sm_90a") {
  Program p("mov.u32 %r5, smem;\n" + body, ".shared .align 128 .b8 smem[4096];\n", target);
  p.checks.init = true;
  return p.run({1}, {threads});
}
void expect_used(const std::string& body, bool used, uint32_t threads = 32,
                 const std::string& target = "sm_90a") {
  const LaunchResult result = run_unwritten(body, threads, target);
  EXPECT_FALSE(result.failed) << body;
  ASSERT_EQ(result.findings.size(), used ? 1u : 0u) << body << (used ? "" : result.findings[0].message);
  for (const Finding& f : result.findings) EXPECT_EQ(f.kind, Finding::Kind::uninitialised_read);
}

/// A product of 16 by 16 elements by wmma: A at 0, of which rows 8 to 15 are not written, B at 1024, its
/// result at 2048.
struct Fragments {
  std::string type, layout, result;
  uint32_t element_bytes, k, registers;
};
std::string registers_listed(const std::string& name, uint32_t count) {
  std::string list = "{";
  for (uint32_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list + "}";
}
/// `words` of zeros at so many bytes from the beginning, by so many lanes, `apart` bytes from each other.
std::string fill(uint32_t from, uint32_t lanes, uint32_t words, uint32_t apart) {
  std::string text = "setp.lt.u32 %p1, %r1, " + std::to_string(lanes) + ";\nmad.lo.u32 %r6, %r1, " +
                     std::to_string(apart) + ", %r5;\nmov.u32 %r7, 0;\n";
  for (uint32_t i = 0; i < words; ++i)
    text += "@%p1 st.shared.u32 [%r6+" + std::to_string(from + 4 * i) + "], %r7;\n";
  return text;
}
std::string half_written_product(const Fragments& f) {
  const std::string shape = ".sync.aligned." + f.layout + ".m16n16k" + std::to_string(f.k) + ".shared.";
  const uint32_t line = (f.layout == "row" ? f.k : 16) * f.element_bytes;
  const std::string a = registers_listed("a", f.registers), b = registers_listed("b", f.registers),
                    c = registers_listed("c", 8);
  std::string text = f.layout == "row" ? fill(0, 8, line / 4, line) : fill(0, f.k, line / 8, line);
  text += fill(1024, 32, 16 * f.k * f.element_bytes / 128, 16 * f.k * f.element_bytes / 32);
  text += "bar.sync 0;\nadd.u32 %r8, %r5, 1024;\nadd.u32 %r9, %r5, 2048;\n.reg .b32 a<8>, b<8>, c<8>;\n";
  text += "wmma.load.a" + shape + f.type + " " + a + ", [%r5];\n";
  text += "wmma.load.b" + shape + f.type + " " + b + ", [%r8];\n";
  for (int i = 0; i < 8; ++i) text += "mov.b32 c" + std::to_string(i) + ", 0;\n";
  const bool is_half = f.type == "f16";
  text += "wmma.mma.sync.aligned." + f.layout + "." + f.layout + ".m16n16k" + std::to_string(f.k) + "." +
          f.result + (is_half ? "" : "." + f.type + "." + f.type) + "." + f.result + " " + c + ", " + a +
          ", " + b + ", " + c + ";\n";
  return text + "wmma.store.d.sync.aligned.row.m16n16k" + std::to_string(f.k) + ".shared." + f.result +
         " [%r9], " + c + ", 16;\nbar.sync 0;\nshl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r9;\n";
}

TEST(UndefinedMatrices, OfFragmentsThoseRowsAreUndefinedThatWereNotWritten) {
  for (const char* layout : {"row", "col"})
    for (const Fragments& f : {Fragments{"f16", layout, "f32", 2, 16, 8},
                               {"bf16", layout, "f32", 2, 16, 4},
                               {"s8", layout, "s32", 1, 16, 2},
                               {"tf32", layout, "f32", 4, 8, 4}}) {
      const std::string body = half_written_product(f);
      // Rows 6 and 7 of the result are bytes 384 to 511.
      expect_used(body + "ld.shared.u32 %r11, [%r10+384];\nst.global.u32 [%rd3], %r11;\n", false);
      expect_used(body + "ld.shared.u32 %r11, [%r10+512];\nst.global.u32 [%rd3], %r11;\n", f.type != "s8");
    }
}

TEST(UndefinedMatrices, ZerosTimesUndefinedIntegersAreDefined) {
  const Fragments bytes{"s8", "col", "s32", 1, 16, 2};
  std::string body = half_written_product(bytes);
  body.replace(body.find("mov.u32 %r7, 0"), 14, "mov.u32 %r7, 1");
  body.replace(body.rfind("mov.u32 %r7, 0"), 14, "mov.u32 %r7, 1");
  expect_used(body + "ld.shared.u32 %r11, [%r10+384];\nst.global.u32 [%rd3], %r11;\n", false);
  expect_used(body + "ld.shared.u32 %r11, [%r10+512];\nst.global.u32 [%rd3], %r11;\n", true);
}

TEST(UndefinedMatrices, AccumulatorsGoThroughMemoryEitherWay) {
  const std::string load = ".reg .b32 c<8>;\nwmma.load.c.sync.aligned.row.m16n16k16.shared.";
  const std::string c = registers_listed("c", 8), half = registers_listed("c", 4);
  const std::string read = "bar.sync 0;\nshl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n";
  // Column 0 is not written: of what is stored by columns, the first 16 elements.
  const std::string but_first_column =
      "setp.lt.u32 %p1, %r1, 16;\nshl.b32 %r6, %r1, 6;\nadd.u32 %r6, %r6, %r5;\n";
  std::string words = but_first_column;
  for (uint32_t i = 1; i < 16; ++i) words += "@%p1 st.shared.u32 [%r6+" + std::to_string(4 * i) + "], 0;\n";
  words += "bar.sync 0;\n" + load + "f32 " + c + ", [%r5], 16;\nbar.sync 0;\n" +
           "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r5], " + c + ", 16;\n" + read;
  expect_used(words + "ld.shared.u32 %r11, [%r10+64];\nst.global.u32 [%rd3], %r11;\n", false);
  expect_used(words + "ld.shared.u32 %r11, [%r10];\nst.global.u32 [%rd3], %r11;\n", true);
  expect_used(words + "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], " + c + ", 16;\n", true);

  std::string halves =
      ".reg .b16 %h;\nsetp.lt.u32 %p1, %r1, 16;\nshl.b32 %r6, %r1, 5;\nadd.u32 %r6, %r6, %r5;\nmov.u16 %h, "
      "0;\n";
  for (uint32_t i = 1; i < 16; ++i) halves += "@%p1 st.shared.u16 [%r6+" + std::to_string(2 * i) + "], %h;\n";
  halves += "bar.sync 0;\n" + load + "f16 " + half + ", [%r5], 16;\nbar.sync 0;\n" +
            "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r5], " + half + ", 16;\n" + read;
  expect_used(halves + "ld.shared.u32 %r11, [%r10+32];\nst.global.u32 [%rd3], %r11;\n", false);
  expect_used(halves + "ld.shared.u16 %h, [%r10];\nst.global.u16 [%rd3], %h;\n", true);
}

TEST(UndefinedMatrices, OfRowsOfBytesThoseRegistersAreUndefinedThatHoldThem) {
  // Rows 0 to 7 of 16 are written; lanes 2 and 3 of each four hold bytes of the others.
  const std::string load = fill(0, 8, 4, 16) +
                           "bar.sync 0;\nshl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r6, %r5;\n"
                           "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r6];\n"
                           "and.b32 %r12, %r1, 3;\n";
  for (const char* reg : {"%r10", "%r11"}) {
    const std::string store = std::string("@%p2 st.global.u32 [%rd3], ") + reg + ";\n";
    expect_used(load + "setp.lt.u32 %p2, %r12, 2;\n" + store, false, 32, "sm_100a");
    expect_used(load + "setp.lt.u32 %p2, %r12, 3;\n" + store, true, 32, "sm_100a");
  }
  // Bytes 8 to 15 of each row are not written, and hold no element of four bits.
  const std::string half =
      fill(0, 32, 2, 16) +
      "bar.sync 0;\nshl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r6, %r5;\n"
      "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r10, %r11, %r12, %r13}, [%r6];\n"
      "st.global.u32 [%rd3], %r13;\n";
  expect_used(half, false, 32, "sm_100a");
  std::string six = half;
  six.replace(six.find("b4x16_p64"), 9, "b6x16_p32");
  expect_used(six, true, 32, "sm_100a");
}

TEST(UndefinedMatrices, RowsAreStoredWithTheirUndefinedBytes) {
  // Lane 0's register is undefined: bytes 0 and 8 of rows 0 and 1, or elements 0 and 1 of row 0.
  const auto stored = [](const std::string& store, const std::string& place) {
    return "mov.u32 %r8, 7;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 ld.shared.u32 %r8, [%r5+2048];\n"
           "and.b32 %r6, %r1, 7;\nshl.b32 %r6, %r6, 4;\nadd.u32 %r6, %r6, %r5;\n" +
           store + " [%r6], {%r8};\nbar.sync 0;\nld.shared.u8 %r9, [%r5+" + place +
           "];\nst.global.u32 [%rd3], %r9;\n";
  };
  const std::string tall = "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8",
                    rows = "stmatrix.sync.aligned.m8n8.x1.shared.b16";
  for (const char* place : {"0", "8", "16", "24"}) expect_used(stored(tall, place), true, 32, "sm_100a");
  for (const char* place : {"1", "9", "17", "32"}) expect_used(stored(tall, place), false, 32, "sm_100a");
  for (const char* place : {"0", "1", "2", "3"}) expect_used(stored(rows, place), true);
  for (const char* place : {"4", "16"}) expect_used(stored(rows, place), false);
}

/// Of a product by wgmma of 64 by 8 elements, A at 0, B at 2048, the bytes that `skip` names are not written;
/// then `store` looks at the registers.
std::string group_product(const std::string& skip, const std::string& store,
                          const std::string& type = "f32") {
  const std::string d = type == "f32" ? "{%r20, %r21, %r22, %r23}" : "{%r20, %r21}";
  return "shl.b32 %r6, %r1, 4;\n" + skip +
         "add.u32 %r6, %r6, %r5;\nmov.u32 %r7, 0;\n"
         "@%p1 st.shared.v4.u32 [%r6], {%r7, %r7, %r7, %r7};\nsetp.lt.u32 %p3, %r1, 16;\n"
         "and.pred %p3, %p3, %p2;\n@%p3 st.shared.v4.u32 [%r6+2048], {%r7, %r7, %r7, %r7};\n"
         "fence.proxy.async;\nbar.sync 0;\n"
         "mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;\n"
         "cvt.u64.u32 %rd5, %r5;\nshr.u64 %rd5, %rd5, 4;\nand.b64 %rd5, %rd5, 16383;\n"
         "or.b64 %rd5, %rd5, 0x1000080000;\nadd.u64 %rd6, %rd5, 128;\n"
         "wgmma.fence.sync.aligned;\nsetp.eq.u32 %p4, %r1, %r1;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16." +
         type + ".f16.f16 " + d +
         ", %rd5, %rd6, %p4, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
         store;
}

TEST(UndefinedMatrices, OfAGroupProductRowsAndColumnsAreUndefined) {
  const std::string all_but_first = "setp.ne.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, %r1;\n",
                    but_second_of_b = "setp.eq.u32 %p1, %r1, %r1;\nsetp.ne.u32 %p2, %r1, 1;\n";
  // Elements 0 to 7 of row 0 of A: the first two registers of lanes 0 to 3.
  const auto store = [](const std::string& reg, const std::string& lanes) {
    return "setp." + lanes + ";\n@%p5 st.global.u32 [%rd3], " + reg + ";\n";
  };
  for (const char* reg : {"%r20", "%r21"}) {
    expect_used(group_product(all_but_first, store(reg, "ge.u32 %p5, %r1, 4")), false, 128);
    expect_used(group_product(all_but_first, store(reg, "eq.u32 %p5, %r1, 3")), true, 128);
  }
  for (const char* reg : {"%r22", "%r23"})
    expect_used(group_product(all_but_first, store(reg, "ge.u32 %p5, %r1, 0")), false, 128);
  // Elements 0 to 7 of column 1 of B: the second and fourth register of the first lane of each four.
  const std::string all = "ge.u32 %p5, %r1, 0", others = "and.b32 %r6, %r1, 3;\nsetp.ne.u32 %p5, %r6, 0";
  for (const char* reg : {"%r21", "%r23"}) {
    expect_used(group_product(but_second_of_b, store(reg, "eq.u32 %p5, %r1, 64")), true, 128);
    expect_used(group_product(but_second_of_b, others + ";\n@%p5 st.global.u32 [%rd3], " + reg + ";\n"),
                false, 128);
  }
  for (const char* reg : {"%r20", "%r22"})
    expect_used(group_product(but_second_of_b, store(reg, all)), false, 128);
  // Halves: of lane 0's register the upper one.
  const std::string lower = "and.b32 %r20, %r20, 65535;\n", upper = "shr.u32 %r20, %r20, 16;\n";
  expect_used(group_product(but_second_of_b, lower + store("%r20", all), "f16"), false, 128);
  expect_used(group_product(but_second_of_b, upper + store("%r20", all), "f16"), true, 128);
}

TEST(UndefinedMatrices, GroupProductsPassOnWhatTheirRegistersHold) {
  // The accumulator of lane 5 is undefined, and so is no other result.
  const std::string written = "setp.eq.u32 %p1, %r1, %r1;\nsetp.eq.u32 %p2, %r1, %r1;\n";
  const auto with_accumulator = [&](const std::string& scale, const std::string& lane) {
    std::string body =
        group_product(written, "setp.eq.u32 %p5, %r1, " + lane + ";\n@%p5 st.global.u32 [%rd3], %r22;\n");
    const std::string before = "wgmma.fence";
    body.insert(body.find(before), "setp.eq.u32 %p6, %r1, 5;\n@%p6 ld.shared.u32 %r22, [%r5+4000];\n");
    const size_t at = body.find("setp.eq.u32 %p4");
    body.replace(at, 11, scale);
    return body;
  };
  expect_used(with_accumulator("setp.eq.u32", "5"), true, 128);
  expect_used(with_accumulator("setp.eq.u32", "6"), false, 128);
  expect_used(with_accumulator("setp.ne.u32", "5"), false, 128);
}

}  // namespace
}  // namespace lanescope::exec
