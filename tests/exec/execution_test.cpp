// Launches in steps: blocks that wait for the host are let go and taken up again.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "exec/launch.hpp"

namespace lanescope::exec {
namespace {

using State = Image::Execution::State;
using namespace std::chrono_literals;

/// Blocks of 64 threads; thread 0 of each waits until word 0 of `out` is not 0, in a loop around `in_loop`;
/// then each thread counts up word 1.
class Waiting {
 public:
  explicit Waiting(const std::string& in_loop, uint32_t threads, uint32_t blocks)
      : image_(std::make_shared<ptx::Module>(ptx::parse(text(in_loop), "test.ptx")), memory_),
        out_(memory_.allocate(64, "out")) {
    config_.grid = {blocks};
    config_.block = {64};
    config_.threads = threads;
    config_.params.resize(8);
    std::memcpy(config_.params.data(), &out_, 8);
  }
  Image::Execution start() { return {image_, image_.kernel("k"), config_}; }
  [[nodiscard]] uint32_t word(uint64_t i) const { return at(i).load(); }
  void set(uint32_t value) { at(0) = value; }

 private:
  Memory memory_;
  Image image_;
  LaunchConfig config_;
  uint64_t out_;

  [[nodiscard]] std::atomic_ref<uint32_t> at(uint64_t i) const {
    return std::atomic_ref<uint32_t>(reinterpret_cast<uint32_t*>(out_)[i]);
  }
  static std::string text(const std::string& in_loop) {
    return ".version 9.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 out)\n{\n"
           ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"
           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, 0;\n"
           "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra meet;\n"
           "again:\n" +
           in_loop +
           "\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra again;\n"
           "meet:\nbar.sync 0;\nred.global.add.u32 [%rd1+4], 1;\nret;\n}\n";
  }
};

class Executions : public testing::TestWithParam<uint32_t> {};

TEST_P(Executions, BlocksThatOnlyTheHostCanFreeAreStalled) {
  Waiting kernel("", GetParam(), 5);
  Image::Execution execution = kernel.start();
  ASSERT_EQ(execution.run(), State::stalled);
  const uint64_t writes = execution.writes();
  ASSERT_EQ(execution.run(), State::stalled);  // again, since nothing has changed
  EXPECT_EQ(execution.writes(), writes);
  EXPECT_EQ(kernel.word(1), 0u);
  kernel.set(1);
  ASSERT_EQ(execution.run(), State::finished);
  EXPECT_EQ(kernel.word(1), 5u * 64);
  const LaunchResult result = execution.result();
  EXPECT_FALSE(result.failed);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_GT(result.warp_instructions, 5u * 2 * 8);
}

TEST_P(Executions, GivingUpReportsTheLoop) {
  Waiting kernel("", GetParam(), 3);
  Image::Execution execution = kernel.start();
  ASSERT_EQ(execution.run(), State::stalled);
  execution.give_up();
  ASSERT_EQ(execution.run(), State::finished);
  const LaunchResult result = execution.result();
  EXPECT_TRUE(result.failed);
  ASSERT_FALSE(result.findings.empty());
  for (const Finding& finding : result.findings) EXPECT_EQ(finding.kind, Finding::Kind::deadlock);
}

TEST_P(Executions, LoopsThatNeverRepeatThemselvesArePaused) {
  // It would give up after 2^32 looks.
  Waiting kernel("add.u32 %r4, %r4, 1;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra meet;", GetParam(), 3);
  Image::Execution execution = kernel.start();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(execution.run(std::chrono::steady_clock::now() + 20ms), State::paused);
  EXPECT_EQ(kernel.word(1), 0u);
  kernel.set(1);
  ASSERT_EQ(execution.run(), State::finished);
  EXPECT_EQ(kernel.word(1), 3u * 64);
  EXPECT_FALSE(execution.result().failed);
}

TEST_P(Executions, ManyBlocksArePausedBetweenThem) {
  Waiting kernel("", GetParam(), 20000);
  kernel.set(1);
  Image::Execution execution = kernel.start();
  int pauses = 0;
  while (execution.run(std::chrono::steady_clock::now() + 1ms) == State::paused) ++pauses;
  EXPECT_GT(pauses, 0);
  EXPECT_EQ(kernel.word(1), 20000u * 64);
  EXPECT_FALSE(execution.result().failed);
}

TEST_P(Executions, MayBeLeftUnfinished) {
  Waiting kernel("", GetParam(), 5);
  { ASSERT_EQ(kernel.start().run(), State::stalled); }
  kernel.set(1);
  ASSERT_EQ(kernel.start().run(), State::finished);
  EXPECT_EQ(kernel.word(1), 5u * 64);
}

INSTANTIATE_TEST_SUITE_P(HostThreads, Executions, testing::Values(1u, 2u));

}  // namespace
}  // namespace lanescope::exec
