// Loops that the assembler unrolls: which they are, by its own machine code (scripts/unrolled), and that
// lanes go through them as the PTX says however they part. What an H200 counts is in
// tests/kernels/ways_test.cpp.
#include "exec/unrolled.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "base/files.hpp"
#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

std::string test_data(const std::string& path) {
  return read_file(LANESCOPE_SOURCE_DIR "/tests/data/" + path);
}

TEST(Unrolling, IsOfTheLoopsThatTheAssemblerUnrolls) {
  const ptx::Module module = ptx::parse(test_data("unrolled/forms.ptx"), "forms.ptx");
  std::istringstream answers(test_data("unrolled/forms.txt"));
  int kernels = 0, unrolled = 0;
  for (std::string line; std::getline(answers, line);) {
    if (line.starts_with('#')) continue;
    const std::string name = line.substr(0, line.find(':'));
    const ptx::Function* kernel = nullptr;
    for (const ptx::Function& f : module.functions)
      if (f.name == name) kernel = &f;
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_EQ(name + ":" + unrolled_labels(*kernel), line);
    ++kernels;
    unrolled += line.back() != ':';
  }
  EXPECT_EQ(kernels, 86);
  EXPECT_EQ(unrolled, 43);
}

/// A loop that counts in steps of a constant, with a start and a limit for each lane, some of them close to
/// where numbers end: what it computes, beside the same computed here.
template <class T>
class Counting {
 public:
  Counting(std::string type, std::string comparison, T step)
      : type_(std::move(type)), comparison_(std::move(comparison)), step_(step) {}

  /// True if the loop is taken for an unrolled one.
  bool compare(std::mt19937_64& random) {
    std::array<T, 2 * warp_lanes> ends{};  // starts, then limits
    std::array<uint32_t, warp_lanes> expected{};
    for (uint32_t lane = 0; lane < warp_lanes; ++lane) do {
        const T at = std::array<T, 4>{0, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                      static_cast<T>(random())}[random() % 4];
        const auto iterations = static_cast<Wide>(random() % 24);
        ends[lane] = static_cast<T>(static_cast<Wide>(at) + static_cast<Wide>(random() % 9) - 4);
        ends[warp_lanes + lane] =
            static_cast<T>(static_cast<Wide>(ends[lane]) + iterations * static_cast<Wide>(step_) +
                           (comparison_ == "ne" ? Wide{0} : static_cast<Wide>(random() % 3)));
      } while (!runs(ends[lane], ends[warp_lanes + lane], expected[lane]));
    harness::Program program(text());
    program.run_with({1}, {warp_lanes}, 1024, [&](uint64_t out) {
      std::memcpy(reinterpret_cast<void*>(out + 2048), ends.data(), sizeof ends);
    });
    for (uint32_t lane = 0; lane < warp_lanes; ++lane)
      EXPECT_EQ(program.word(lane), expected[lane])
          << text() << "from " << +ends[lane] << " to " << +ends[warp_lanes + lane] << " in lane " << lane;
    return !program.kernel().counts.empty();
  }

 private:
  using Wide = std::make_unsigned_t<T>;
  std::string type_, comparison_;
  T step_;

  [[nodiscard]] bool holds(T count, T limit) const {
    return comparison_ == "lt"   ? count < limit
           : comparison_ == "le" ? count <= limit
           : comparison_ == "gt" ? count > limit
           : comparison_ == "ge" ? count >= limit
                                 : count != limit;
  }
  /// Whether the loop ends soon, and what it computes.
  [[nodiscard]] bool runs(T count, T limit, uint32_t& result) const {
    result = 1;
    for (int n = 0; n < 100; ++n) {
      result = result * 31 + static_cast<uint32_t>(count);
      count = static_cast<T>(static_cast<Wide>(count) + static_cast<Wide>(step_));
      if (!holds(count, limit)) return true;
    }
    return false;
  }
  [[nodiscard]] std::string text() const {
    const bool wide = sizeof(T) == 8;
    const std::string bits = wide ? "b64" : "b32", count = wide ? "%rd8" : "%r8",
                      limit = wide ? "%rd9" : "%r9";
    return "mul.wide.u32 %rd4, %r1, " + std::to_string(sizeof(T)) +
           ";\nadd.u64 %rd4, %rd4, %rd1;\nld.global." + bits + " " + count + ", [%rd4+2048];\nld.global." +
           bits + " " + limit + ", [%rd4+" + std::to_string(2048 + warp_lanes * sizeof(T)) +
           "];\nmov.u32 %r10, 1;\nLOOP:\n" + (wide ? "cvt.u32.u64 %r11, %rd8;\n" : "mov.u32 %r11, %r8;\n") +
           "mad.lo.u32 %r10, %r10, 31, %r11;\nadd." + type_ + " " + count + ", " + count + ", " +
           std::to_string(step_) + ";\nsetp." + comparison_ + "." + type_ + " %p1, " + count + ", " + limit +
           ";\n@%p1 bra LOOP;\nst.global.u32 [%rd3], %r10;\n";
  }
};

template <class T>
void compare_all(const std::string& type, std::mt19937_64& random) {
  for (const char* comparison : {"lt", "le", "gt", "ge", "ne"})
    for (const T step : {T{1}, T{3}, T{16}, static_cast<T>(-1), static_cast<T>(-4)}) {
      const std::string c = comparison;
      const bool up = c == "lt" || c == "le", down = c == "gt" || c == "ge";
      if (std::is_signed_v<T> ? (up && step < 0) || (down && step > 0) : down || step > 16) continue;
      Counting<T> loop(type, c, step);
      for (int i = 0; i < 6; ++i) EXPECT_TRUE(loop.compare(random)) << type << " " << c << " " << +step;
    }
}

TEST(Unrolling, ComputesWhatTheLoopDoesWhereCountersComeToTheEndOfNumbers) {
  std::mt19937_64 random(1);
  compare_all<int32_t>("s32", random);
  compare_all<uint32_t>("u32", random);
  compare_all<int64_t>("s64", random);
  compare_all<uint64_t>("u64", random);
}

// A counter that jumps over the limit meets it once numbers have begun anew, if ever.
TEST(Unrolling, ComesToALimitThatTheCounterHasPassed) {
  constexpr uint32_t step = 357913941;
  harness::Program counting(
      "shl.b32 %r9, %r1, 30;\nshr.u32 %r9, %r9, 30;\nmad.lo.u32 %r9, %r9, 25, 1;\n"
      "mul.lo.u32 %r9, %r9, 357913941;\nmov.u32 %r8, 0;\nmov.u32 %r10, 0;\nLOOP:\n"
      "add.u32 %r10, %r10, 1;\nadd.s32 %r8, %r8, 357913941;\nsetp.ne.s32 %p1, %r8, %r9;\n"
      "@%p1 bra LOOP;\nst.global.u32 [%rd3], %r10;\n");
  EXPECT_EQ(counting.kernel().counts.size(), 1);
  counting.run({1}, {32});
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t iterations = 1;
    while (iterations * step != (lane % 4 * 25 + 1) * step) ++iterations;
    EXPECT_EQ(counting.word(lane), iterations) << lane;
  }
}

// The limit and what is added come from volatile memory: the assembler's code lets others run where such a
// loop begins.
TEST(Unrolling, IsNotWhereLanesGiveWay) {
  harness::Program program(
      "st.volatile.global.u32 [%rd3+512], %r1;\nld.volatile.global.u32 %r9, [%rd3+512];\n"
      "mov.u32 %r8, 0;\nmov.u32 %r10, 0;\nLOOP:\nld.volatile.global.u32 %r11, [%rd3+512];\n"
      "add.u32 %r10, %r10, %r11;\nadd.u32 %r8, %r8, 1;\nsetp.le.u32 %p1, %r8, %r9;\n@%p1 bra LOOP;\n"
      "st.global.u32 [%rd3], %r10;\n");
  EXPECT_TRUE(program.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(program.word(t), t * (t + 1));
}

// `a || b[i]`: a way leads past a meeting, one of each copy's own. Lanes with one to eight iterations shuffle
// behind the loop.
TEST(Unrolling, HasMeetingsThatWaysLeadPast) {
  harness::Program program(
      "and.b32 %r9, %r1, 7;\nmov.u32 %r8, 0;\nmov.u32 %r10, 0;\nLOOP:\n"
      "xor.b32 %r12, %r8, %r1;\nand.b32 %r13, %r12, 1;\nsetp.ne.u32 %p2, %r13, 0;\n@%p2 bra A;\n"
      "ld.global.u32 %r14, [%rd3+512];\nand.b32 %r13, %r12, 2;\nsetp.eq.u32 %p3, %r13, 0;\n"
      "@%p3 bra B;\nA:\nld.global.u32 %r14, [%rd3+1024];\nadd.u32 %r10, %r10, 1;\nB:\n"
      "add.u32 %r8, %r8, 1;\nsetp.le.u32 %p1, %r8, %r9;\n@%p1 bra LOOP;\n"
      "shfl.sync.idx.b32 %r15, %r10, 7, 31, -1;\nshl.b32 %r15, %r15, 16;\nor.b32 %r15, %r15, %r10;\n"
      "st.global.u32 [%rd3], %r15;\n");
  EXPECT_EQ(program.kernel().counts.size(), 1);
  EXPECT_TRUE(program.run({1}, {32}).findings.empty());
  const auto counted = [](uint32_t t) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= (t & 7); ++i) sum += ((i ^ t) & 3) != 0;
    return sum;
  };
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(program.word(t), counted(7) << 16 | counted(t)) << t;
}

TEST(Unrolling, IsNotOfCodeForDebuggers) {
  const std::string loop =
      "mov.u32 %r5, 0;\nLOOP:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra LOOP;\n";
  EXPECT_EQ(harness::Program(loop).kernel().counts.size(), 1);
  EXPECT_EQ(harness::Program(loop, "", "sm_90, debug").kernel().counts.size(), 0);
}

// By fours those who have as many left, by twos, one by one: lane t has t + 1 iterations, each of which
// loads.
TEST(Unrolling, LanesWithMoreIterationsGoFirst) {
  harness::Program program(
      "mov.u32 %r5, 0;\nLOOP:\nld.global.u32 %r6, [%rd3];\nadd.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, %r1;\n"
      "@%p1 bra LOOP;\nst.global.u32 [%rd3], %r5;");
  EXPECT_TRUE(program.run({1}, {32}).findings.empty());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(program.word(t), t + 1);
  EXPECT_EQ(program.accesses(AccessSpace::global), 32u + 2 + 1 + 1);  // 8 x 4, 2, 1, and the store
}

}  // namespace
}  // namespace lanescope::exec
