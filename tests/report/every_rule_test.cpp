// Every rule is seen by a small run that breaks it, and every limit is passed by one: what no longer works is
// noticed, and so is a new rule or limit without such a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/files.hpp"
#include "lanescope/model/archs.hpp"
#include "profile/checks.hpp"
#include "report/hazards.hpp"
#include "report/limits.hpp"
#include "report/run_and_report.hpp"
#include "report/sample_report.hpp"

namespace lanescope::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A kernel with a buffer of 4 KB, and what else it takes to break the rule.
struct SmallRun {
  std::string body;
  std::string before = "";  ///< in the module, before the kernel
  const char* checks = "";
  exec::Dim3 block{32, 1, 1};
  uint32_t cluster = 1;  ///< blocks; they are the grid
  ptx::MachineNeeds needs = {};
  std::string target = "sm_90";
};

Report report_of(const SmallRun& small) {
  const std::string text = ".version 9.0\n.target " + small.target + "\n.address_size 64\n" + small.before +
                           ".visible .entry k(.param .u64 out)\n{\n"
                           ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                           "cvt.u64.u32 %rd2, %r2;\nadd.u64 %rd3, %rd1, %rd2;\n" +
                           small.body + "\nret;\n}\n";
  constexpr uint64_t buffer_bytes = 4096;
  exec::Memory memory;
  exec::Image image(std::make_shared<ptx::Module>(ptx::parse(text, "small.ptx")), memory);
  const uint64_t buffer = memory.allocate(buffer_bytes, "out");
  exec::LaunchConfig config;
  config.grid = config.cluster = {small.cluster, 1, 1};
  config.block = small.block;
  config.threads = 1;
  config.params.resize(sizeof buffer);
  std::memcpy(config.params.data(), &buffer, sizeof buffer);
  const model::Arch& arch = *model::find_arch("sm_90");
  config.checks = profile::parse_checks(small.checks, arch);
  config.print = [](const std::string&) {};
  advise::Sources sources("");
  Report report = make_report(arch);
  report.launches.push_back(run_and_report(image, image.kernel("k"), std::move(config),
                                           {.arch = arch, .merge = true, .needs = &small.needs}, sources));
  return report;
}

struct Broken {
  const char* rule;
  std::vector<const char*> limits;  ///< what is not 0
  SmallRun run;
};

const std::string words = ".shared .align 32 .b32 s[256];\n";

const std::vector<Broken>& all_broken() {
  // clang-format off
  static const std::vector<Broken> list{
      {"bank-conflict", {"conflicts", "excess", "wavefronts", "max_way"},
       {"mov.u32 %r3, s; add.u32 %r3, %r3, %r2; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;", words}},
      {"uncoalesced-access", {"sectors", "sectors_excess"},
       {"add.u64 %rd3, %rd3, %rd2; st.global.u32 [%rd3], %r1;"}},
      {"uncoalesced-cluster-access", {"cluster_sectors", "cluster_excess"},
       {"mov.u32 %r3, s; mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
        "mapa.shared::cluster.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r2; add.u32 %r3, %r3, %r2;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r5, [%r3];\n"
        "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd3], %r5;", words, "", {32, 1, 1}, 2}},
      {"warp-divergence", {"divergence", "idle"},
       {"setp.lt.u32 %p1, %r1, 7; @%p1 bra some; st.global.u32 [%rd3], 1; bra all;\n"
        "some: st.global.u32 [%rd3], 2;\nall: st.global.u32 [%rd3+128], 3;"}},
      {"atomic-contention", {"atomic_excess"}, {"atom.global.exch.b32 %r3, [%rd1], %r1; st.global.u32 [%rd3], %r3;"}},
      {"write-race", {"write_races"}, {"st.shared.u32 [s], %r1;", words}},
      {"local-memory", {"local_sectors"},
       {".local .align 4 .b8 l[128];\nmov.u32 %r3, l; add.u32 %r3, %r3, %r2;\n"
        "st.local.u32 [%r3], %r1; ld.local.u32 %r4, [%r3]; st.global.u32 [%rd3], %r4;"}},
      {"register-spill", {"spill_bytes"}, {"", "", "", {32, 1, 1}, 1, {255, 8, 4, 4}}},
      {"low-occupancy", {}, {"st.shared.u32 [large], %r1;", ".shared .align 4 .b8 large[40000];\n"}},
      {"debug-code", {}, {"", "", "", {32, 1, 1}, 1, {}, "sm_90, debug"}},
      {"out-of-bounds", {"errors"}, {"st.global.u32 [%rd3+4096], 1;"}},
      {"misaligned", {}, {"st.global.u32 [%rd3+2], 1;"}},
      {"unknown-pointer", {}, {"mov.u64 %rd4, 8; st.global.u32 [%rd4], 1;"}},
      {"deadlock", {}, {"bar.sync 1, 64;"}},
      {"trap", {}, {"trap;"}},
      {"bad-call", {}, {"cp.async.ca.shared.global [s], [%rd3], 4, 8;", words}},
      {"assertion", {},
       {"mov.u64 %rd4, t;\n{ .param .b64 m; st.param.b64 [m], %rd4; .param .b64 f; st.param.b64 [f], %rd4;\n"
        ".param .b32 l; st.param.b32 [l], 7; .param .b64 n; st.param.b64 [n], %rd4; .param .b64 c; st.param.b64 [c], 1;\n"
        "call.uni __assertfail, (m, f, l, n, c); }",
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
        ".global .align 1 .b8 t[2] = {120, 0};\n"}},
      {"write-to-constant", {},
       {"mov.b64 %rd4, out; cvta.param.u64 %rd4, %rd4; st.u32 [%rd4], %r1;"}},
      {"bad-barrier", {}, {"mov.u32 %r3, 16; bar.sync %r3;"}},
      {"race", {},
       {"mov.u32 %r3, s; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [s]; st.global.u32 [%rd3], %r4;",
        words, "race", {64, 1, 1}}},
      {"uninitialised-read", {}, {"ld.shared.u32 %r3, [s]; st.global.u32 [%rd3], %r3;", words, "init"}},
      {"barrier-divergence", {},
       {"setp.lt.u32 %p1, %r1, 16; @%p1 bra some; bar.sync 0; bra all;\nsome: bar.sync 0;\nall:", "", "barrier"}},
      {"member-mask", {}, {"bar.warp.sync 7;", "", "barrier"}},
      {"shuffle-source", {"warnings"},
       {"setp.ge.u32 %p1, %r1, 20; @%p1 bra all; shfl.sync.idx.b32 %r3, %r1, 20, 31, 1048575;\n"
        "st.global.u32 [%rd3], %r3;\nall:", "", "barrier"}},
      {"array-overrun", {},
       {"mov.u32 %r3, a; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; st.shared.u32 [b], 0;",
        ".shared .align 4 .b32 a[16];\n.shared .align 4 .b32 b[16];\n", "bounds"}},
      {"barrier-reinitialised", {},
       {"mbarrier.init.shared.b64 [m], 1; mbarrier.init.shared.b64 [m], 1;", ".shared .align 8 .b64 m;\n",
        "barrier", {1, 1, 1}}}};
  // clang-format on
  return list;
}

std::set<std::string> rules_of(const Report& report) {
  std::set<std::string> found;
  for (const Hazard& hazard : hazards_of(report)) found.insert(hazard.rule);
  return found;
}

std::vector<std::string> passed_by(const Report& report, const std::string& measure) {
  return violations(parse_limits(measure + ">0").front(), report);
}

TEST(EveryRule, IsSeenInASmallRun) {
  std::set<std::string_view> rules_seen, limits_seen;
  for (const Broken& broken : all_broken()) {
    const Report report = report_of(broken.run);
    EXPECT_THAT(rules_of(report), Contains(broken.rule));
    rules_seen.insert(broken.rule);
    for (const char* measure : broken.limits) {
      EXPECT_THAT(passed_by(report, measure), Contains(HasSubstr(" has "))) << measure;
      limits_seen.insert(measure);
    }
  }
  // What a program copies; no kernel shows it.
  for (const char* of_copies : {"pageable-copy", "repeated-copy", "serial-copy"}) {
    EXPECT_THAT(rules_of(synthetic::sample_report()), Contains(of_copies));
    rules_seen.insert(of_copies);
  }
  for (const Rule& rule : rules()) EXPECT_THAT(rules_seen, Contains(rule.id));
  for (const std::string_view measure : measures()) EXPECT_THAT(limits_seen, Contains(measure));
}

TEST(EveryRule, IsKeptByARunThatDoesNothingWrong) {
  Report report =
      report_of({"st.global.u32 [%rd3], %r1; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n"
                 "st.shared.u32 [%r3], %r1;",
                 words,
                 "all",
                 {128, 1, 1}});
  EXPECT_THAT(rules_of(report), IsEmpty());
  for (const std::string_view measure : measures()) {
    const bool is_work = measure == "wavefronts" || measure == "sectors" || measure == "max_way";
    EXPECT_EQ(passed_by(report, std::string(measure)).empty(), !is_work) << measure;
  }
}

TEST(EveryRule, IsDocumented) {
  const std::string formats = read_file(LANESCOPE_SOURCE_DIR "/docs/formats.md"),
                    gate = read_file(LANESCOPE_SOURCE_DIR "/docs/gate.md");
  for (const Rule& rule : rules()) EXPECT_THAT(formats, HasSubstr("`" + std::string(rule.id) + "`"));
  for (const std::string_view measure : measures())
    EXPECT_THAT(gate.substr(gate.find("| measure |")), HasSubstr("`" + std::string(measure) + "`"));
}

}  // namespace
}  // namespace lanescope::report
