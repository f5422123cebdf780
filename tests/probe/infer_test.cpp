// The probe must find every architecture that latencies can show, from a simulated one.
#include "probe/infer.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "probe/simulated.hpp"

namespace lanescope::probe {
namespace {

using model::Arch;

/// Parameters of this result that stay unknown.
std::set<std::string> unknown(const Result& result) {
  std::set<std::string> names;
  for (size_t i = 0; i < parameters().size(); ++i)
    if (parameters()[i].value(result.description).empty()) names.insert(parameters()[i].name);
  return names;
}

/// Every parameter that was found is the architecture's.
void expect_found(const Result& result, const Arch& arch) {
  const Description truth = describe(arch);
  for (const Parameter& parameter : parameters()) {
    const std::string found = parameter.value(result.description);
    if (found.empty()) continue;
    EXPECT_EQ(found, parameter.value(truth)) << arch.name << ": " << parameter.name;
  }
  for (const Check& check : result.checks)
    EXPECT_EQ(check.agreeing, check.patterns) << arch.name << ": " << name_of(check.access);
}

std::set<std::string> invisible(const Arch& arch) {
  if (arch.global == model::GlobalRule::sectors) return {};
  if (arch.global == model::GlobalRule::lines) return {"line_bytes"};  // a line comes as a whole
  return {"sector_bytes", "line_bytes"};                               // no cache keeps what was loaded
}

TEST(Infer, EveryPresetIsFound) {
  for (const Arch& arch : model::archs) {
    Simulated timer(arch);
    const Result result = probe(timer);
    expect_found(result, arch);
    EXPECT_EQ(unknown(result), invisible(arch)) << arch.name;
    for (const Finding& finding : result.findings)
      EXPECT_TRUE(finding.certainty == Certainty::sure || finding.certainty == Certainty::derived ||
                  invisible(arch).count(finding.parameter) != 0)
          << arch.name << ": " << finding.parameter << ", margin " << finding.margin;
  }
}

TEST(Infer, BothBankModes) {
  for (const int bytes : {4, 8}) {
    const Arch arch = model::with_bank_mode(*model::find_arch("sm_35"), bytes);
    Simulated timer(arch);
    const Result result = probe(timer);
    expect_found(result, arch);
    EXPECT_EQ(result.description.segment_words, bytes == 4 ? 64 : 0);
  }
}

TEST(Infer, ChipsThatNobodyBuilt) {
  for (const int banks : {16, 24, 32, 64})
    for (const int bits : {16, 32, 64})
      for (const int unit : {8, 16, 32, 64})
        for (const model::Broadcast broadcast :
             {model::Broadcast::none, model::Broadcast::one_word, model::Broadcast::many_words}) {
          const Arch arch = model::custom_arch(banks, bits, unit, broadcast);
          SCOPED_TRACE(testing::Message() << banks << " banks of " << bits << " bits, unit " << unit
                                          << ", broadcast " << in_words(broadcast));
          Simulated timer(arch);
          const Result result = probe(timer);
          expect_found(result, arch);
          EXPECT_TRUE(result.description.banks && result.description.bank_bytes &&
                      result.description.broadcast);
        }
}

TEST(Infer, NoiseOutliersAndDrift) {
  for (const char* name : {"sm_10", "sm_20", "sm_35", "sm_61", "sm_90", "gfx1100"}) {
    const Arch arch = *model::find_arch(name);
    Faults faults;
    faults.noise = 0.15;
    faults.outliers = 0.03;
    faults.drift = 0.0002;
    Simulated timer(arch, faults);
    const Result result = probe(timer);
    EXPECT_EQ(unknown(result), invisible(arch)) << name;
    const Description truth = describe(arch);
    for (const Parameter& parameter : parameters())
      if (const std::string found = parameter.value(result.description); !found.empty()) {
        EXPECT_EQ(found, parameter.value(truth)) << name << ": " << parameter.name;
      }
  }
}

TEST(Infer, MuchNoiseLeavesParametersOpen) {
  Faults faults;
  faults.noise = 4;
  Simulated timer(*model::find_arch("sm_90"), faults);
  const Result result = probe(timer);
  size_t open = 0;
  for (const Finding& finding : result.findings) {
    if (finding.parameter == "sector_bytes" || finding.parameter == "line_bytes")
      continue;  // hundreds of cycles
    EXPECT_NE(finding.certainty, Certainty::sure) << finding.parameter << ": " << finding.reason;
    open += finding.certainty == Certainty::undecided;
  }
  EXPECT_GT(open, result.findings.size() / 2);
}

TEST(Infer, ConflictsThatDoNotShow) {
  Faults faults;
  faults.cycles_per_wavefront = 0;
  Simulated timer(*model::find_arch("sm_90"), faults);
  const Result result = probe(timer);
  EXPECT_FALSE(result.description.banks);
  EXPECT_EQ(result.findings.front().certainty, Certainty::undecided);
  EXPECT_EQ(result.findings.front().reason, "latency does not depend on the stride");
  EXPECT_EQ(result.description.sector_bytes, 32);  // shows all the same
}

/// Measures nothing at all, or always the same.
class Stopped final : public Timer {
 public:
  explicit Stopped(std::optional<double> always) : always_(always) {}
  [[nodiscard]] int lanes() const override { return 32; }
  [[nodiscard]] std::vector<std::vector<double>> cycles(const Access&,
                                                        std::span<const Offsets> patterns) override {
    if (!always_) return {};
    return {patterns.size(), {*always_}};
  }

 private:
  std::optional<double> always_;
};

TEST(Infer, AClockThatStandsStill) {
  for (const double cycles : {0.0, 100.0}) {
    Stopped timer(cycles);
    const Result result = probe(timer);
    for (const Finding& finding : result.findings)
      EXPECT_EQ(finding.certainty, Certainty::undecided) << finding.parameter;
    EXPECT_EQ(result.findings.front().reason, "latency does not depend on the stride");
  }
}

TEST(Infer, NothingMeasured) {
  Stopped timer(std::nullopt);
  const Result result = probe(timer);
  EXPECT_EQ(result.findings.front().certainty, Certainty::undecided);
  EXPECT_EQ(result.findings.front().reason, "no ld.shared 4 was measured");
}

TEST(Infer, WhatAChipLacksIsAbsent) {
  Faults faults;
  faults.no_matrix = faults.no_async = true;
  Simulated timer(*model::find_arch("sm_70"), faults);
  const Result result = probe(timer);
  std::set<std::string> absent;
  for (const Finding& finding : result.findings)
    if (finding.certainty == Certainty::absent) absent.insert(finding.parameter);
  EXPECT_EQ(absent, (std::set<std::string>{"async_4", "async_8", "ldmatrix_1", "ldmatrix_2", "ldmatrix_4",
                                           "stmatrix_1", "stmatrix_2", "stmatrix_4"}));
}

}  // namespace
}  // namespace lanescope::probe
