// Random control flow, loops with several entries and ways that lead anywhere: what the lanes of a warp write
// must be what each writes that runs alone, wherever they meet.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "exec/one_kernel.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// Blocks that each change %r7 and go on by some of its bits, until all is over after 60 of them.
class RandomWays {
 public:
  RandomWays(uint32_t seed, bool in_function)
      : random_(seed), blocks_(3 + below(19)), in_function_(in_function) {}

  std::string text() {
    std::string all;
    for (uint32_t b = 0; b < blocks_; ++b) all += block(b);
    return all + "bra.uni END;\nEND2:\nadd.u32 %r7, %r7, 7;\nEND:\n";
  }

 private:
  std::mt19937 random_;
  uint32_t blocks_;
  bool in_function_;

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  std::string target(uint32_t from) {
    const uint32_t kind = below(20);
    if (kind < 11) return "B" + std::to_string(std::min(blocks_ - 1, from + 1 + below(3)));  // ahead
    if (kind < 16) return "B" + std::to_string(below(blocks_));
    return kind < 18 ? "END" : "B" + std::to_string(from - std::min(from, below(4)));
  }

  std::string block(uint32_t b) {
    const std::string number = std::to_string(b), bit = std::to_string(below(20));
    std::string text =
        "B" + number + ":\nmad.lo.u32 %r7, %r7, 31, " + std::to_string(b + 1) +
        ";\nxor.b32 %r7, %r7, %r6;\nadd.u32 %r8, %r8, 1;\nsetp.ge.u32 %p1, %r8, 60;\n@%p1 bra " +
        (below(3) == 0 ? "END2" : "END") + ";\nshr.u32 %r9, %r7, " + bit + ";\n";
    const uint32_t kind = below(20);
    if (kind < 14)
      return text + "and.b32 %r9, %r9, " + (below(2) == 0 ? "1" : "7") + ";\nsetp.eq.u32 %p2, %r9, 0;\n@" +
             (below(2) == 0 ? "!" : "") + "%p2 bra " + target(b) + ";\n";
    if (kind < 16) return text + "bra.uni " + target(b) + ";\n";
    if (kind < 17)
      return text + "and.b32 %r9, %r9, 3;\nT" + number + ": .branchtargets " + target(b) + ", " + target(b) +
             ", " + target(b) + ", " + target(b) + ";\nbrx.idx %r9, T" + number + ";\n";
    if (kind < 18 && !in_function_)
      return text +
             "and.b32 %r9, %r9, 7;\nsetp.eq.u32 %p2, %r9, 0;\n@%p2 st.global.u32 [%rd3], %r7;\n@%p2 exit;\n";
    return text;
  }
};

/// What 64 threads write in so many blocks.
std::array<uint32_t, 64> written(const std::string& body, const std::string& before, uint32_t blocks) {
  Program p(body, before);
  EXPECT_TRUE(p.run({blocks}, {64 / blocks}).findings.empty());
  std::array<uint32_t, 64> words{};
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = p.word(i);
  return words;
}

void compare(const std::string& body, const std::string& before, uint32_t seed) {
  EXPECT_EQ(written(body, before, 2), written(body, before, 64)) << "seed " << seed << "\n" << before << body;
}

const std::string mixed = "mul.lo.u32 %r6, %r4, 2654435761;\nshr.u32 %r9, %r6, 15;\nxor.b32 %r6, %r6, %r9;\n";

TEST(RandomWays, LanesWriteTogetherWhatTheyWriteAlone) {
  for (uint32_t seed = 0; seed < 300; ++seed)
    compare(mixed + "mov.u32 %r7, %r6;\nmov.u32 %r8, 0;\n" + RandomWays(seed, false).text() +
                "st.global.u32 [%rd3], %r7;",
            "", seed);
}

TEST(RandomWays, LanesReturnTogetherWhatTheyReturnAlone) {
  const std::string call =
      "{\n.param .b32 seed;\n.param .b32 result;\nst.param.b32 [seed], %r6;\ncall (result), f, (seed);\n"
      "ld.param.b32 %r7, [result];\n}\n";
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string function =
        ".func (.param .b32 result) f(.param .b32 seed)\n{\n.reg .b32 %r<12>;\n.reg .pred %p<4>;\n"
        "ld.param.b32 %r6, [seed];\nmov.u32 %r7, %r6;\nmov.u32 %r8, 0;\n" +
        RandomWays(seed, true).text() + "st.param.b32 [result], %r7;\nret;\n}\n";
    compare(mixed + "and.b32 %r5, %r4, 3;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra skip;\n" + call +
                "add.u32 %r6, %r6, %r7;\nskip:\n" + call + "st.global.u32 [%rd3], %r7;",
            function, seed);
  }
}

}  // namespace
}  // namespace lanescope::exec
