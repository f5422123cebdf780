// Latencies taken on real GPUs must lead to the preset of their compute capability, parameter by parameter.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "probe/words.hpp"

namespace lanescope::probe {
namespace {

TEST(Recorded, EveryParameterEqualsThePreset) {
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LANESCOPE_SOURCE_DIR "/tests/data/probe")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    ++records;
    const std::string text = read_file(entry.path());
    Record record = read_record(text, entry.path().string());
    const model::Arch* preset = model::find_arch(record.chip.arch);
    ASSERT_NE(preset, nullptr);
    Recorded timer(record.lanes, std::move(record.measurements));
    const Result result = probe(timer);
    const Description truth = describe(*preset);
    for (size_t i = 0; i < parameters().size(); ++i) {
      EXPECT_EQ(parameters()[i].value(result.description), parameters()[i].value(truth))
          << parameters()[i].name;
      const Finding& finding = result.findings[i];
      EXPECT_TRUE(finding.certainty == Certainty::sure ||
                  (finding.certainty == Certainty::derived && finding.parameter == "unit"))
          << finding.parameter << ": " << finding.reason;
    }
    for (const Check& check : result.checks)
      EXPECT_EQ(check.agreeing, check.patterns) << name_of(check.access);
    EXPECT_EQ(to_json(record.chip, result), text);  // the file is what this version would write
  }
  EXPECT_GE(records, 2);
}

}  // namespace
}  // namespace lanescope::probe
