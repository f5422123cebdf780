// Every row measured on an H200 or an H100, against the model's answers for sm_90. docs/model.md says how
// they were measured.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "report/pattern_csv.hpp"

namespace lanescope::model {
namespace {

const std::string truth_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_patterns.csv";
const std::string atomics_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h100_atomics.csv";
const std::string copies_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_copies.csv";

/// The named columns of each row of the truth, read without the reader under test.
std::vector<std::map<std::string, std::string>> truth_rows(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  std::string line;
  while (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> fields;
    std::istringstream split(line + ",");
    for (std::string field; std::getline(split, field, ',');) fields.push_back(field);
    if (names.empty()) {
      names = fields;
      continue;
    }
    rows.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) rows.back()[names[i]] = fields.at(i);
  }
  return rows;
}

TEST(Truth, EveryRowOfTheH200) {
  const Arch& arch = *find_arch("sm_90");
  std::ifstream in(truth_file);
  ASSERT_TRUE(in) << truth_file;
  report::PatternReader reader(in, truth_file, arch);
  report::PatternRow row;
  std::map<std::string, int> compared;
  int bypassing = 0;
  int estimates = 0;
  for (const auto& truth : truth_rows(truth_file)) {
    ASSERT_TRUE(reader.next(row));
    const std::string place =
        "line " + std::to_string(row.line) + ": " + truth.at("op") + ' ' + truth.at("width");
    ++compared[truth.at("op")];
    if (row.global) {
      const GlobalCost cost = global_cost(arch, row.request);
      EXPECT_EQ(std::to_string(cost.sectors), truth.at("sectors")) << place;
      EXPECT_EQ(std::to_string(cost.lines), truth.at("tags")) << place;
      EXPECT_EQ(cost.transactions, cost.sectors);
      EXPECT_EQ(cost.evidence, Evidence::measured);
      continue;
    }
    const SharedCost cost = shared_cost(arch, row.request);
    if (truth.at("op") == "cp.async" && truth.at("width") == "16") {
      EXPECT_FALSE(cost.unknown_rule) << place;
      EXPECT_EQ(cost.conflicts, 0) << place;
      EXPECT_EQ(cost.evidence, Evidence::measured);
      ++bypassing;
      // The file holds the profiler's estimate, which the model gives where nothing was measured.
      const SharedCost elsewhere = shared_cost(*find_arch("sm_80"), row.request);
      EXPECT_TRUE(elsewhere.unknown_rule) << place;
      estimates += std::to_string(elsewhere.estimate) == truth.at("wavefronts");
      continue;
    }
    EXPECT_FALSE(cost.unknown_rule) << place;
    EXPECT_EQ(std::to_string(cost.wavefronts), truth.at("wavefronts")) << place;
    EXPECT_EQ(cost.evidence, Evidence::measured) << place;
  }
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(compared.size(), 12u);
  EXPECT_EQ(compared["ld"], 96 + 73 + 124 + 138 + 145);
  EXPECT_EQ(bypassing, 76);
  EXPECT_EQ(estimates, 74) << "rows of cp.async 16 whose estimate is the profiler's";
}

TEST(Truth, EveryCopyOfTheH200) {
  const Arch& arch = *find_arch("sm_90");
  std::ifstream in(copies_file);
  ASSERT_TRUE(in) << copies_file;
  report::PatternReader reader(in, copies_file, arch);
  report::PatternRow row;
  int past_the_cache = 0;
  int by_destination = 0;
  int fewer_conflicts = 0;
  for (const auto& truth : truth_rows(copies_file)) {
    ASSERT_TRUE(reader.next(row));
    const std::string place =
        "line " + std::to_string(row.line) + ": " + truth.at("op") + ' ' + truth.at("width");
    Request source = row.request;
    source.mask = std::stoull(truth.at("reads"), nullptr, 16);
    for (int lane = 0; lane < 32; ++lane)
      if ((source.mask >> lane & 1) != 0)
        source.address[lane] = std::stoull(truth.at("s" + std::to_string(lane)));
    const int conflicts = std::stoi(truth.at("conflicts"));
    const SharedCost written = shared_cost(arch, row.request);
    EXPECT_EQ(written.evidence, Evidence::measured);
    GlobalCost read = global_cost(arch, source);
    if (row.request.op == Op::cp_async_cg) {
      ++past_the_cache;
      read = copy_cost(arch, source, row.request.address);
      EXPECT_EQ(written.conflicts, conflicts) << place;
    } else if (shared_cost(arch, source).conflicts == 0) {
      // Read from the cache without conflicts: those of the destination are left.
      ++by_destination;
      EXPECT_LE(conflicts, written.conflicts) << place;
      EXPECT_GE(conflicts + 1, written.conflicts) << place;
      fewer_conflicts += conflicts < written.conflicts;
    }
    EXPECT_EQ(read.evidence, Evidence::measured);
    EXPECT_EQ(truth.at("requests"), "1");
    EXPECT_EQ(std::to_string(read.transactions), truth.at("sectors")) << place;
    EXPECT_EQ(std::to_string(read.lines), truth.at("tags")) << place;
    EXPECT_EQ(std::to_string(read.sectors), truth.at("l2_sectors")) << place;
    EXPECT_EQ(read.bytes_moved, 32 * read.sectors);
  }
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(past_the_cache, 64);
  EXPECT_EQ(by_destination, 86);
  EXPECT_EQ(fewer_conflicts, 1) << "27 of 28, of a source in two lines that go to eight";
}

TEST(Truth, EveryAtomicOfTheH100) {
  const Arch& arch = *find_arch("sm_90");
  std::ifstream in(atomics_file);
  ASSERT_TRUE(in) << atomics_file;
  report::PatternReader reader(in, atomics_file, arch);
  report::PatternRow row;
  std::map<std::string, int> compared;
  for (const auto& truth : truth_rows(atomics_file)) {
    ASSERT_TRUE(reader.next(row));
    const std::string place = "line " + std::to_string(row.line) + ": " + truth.at("instruction");
    ++compared[truth.at("op") + truth.at("width")];
    const SharedCost cost = shared_cost(arch, row.request);
    EXPECT_EQ(std::to_string(cost.loads.requests), truth.at("loads")) << place;
    EXPECT_EQ(std::to_string(cost.loads.wavefronts), truth.at("load_wavefronts")) << place;
    EXPECT_EQ(std::to_string(cost.loads.conflicts), truth.at("load_conflicts")) << place;
    EXPECT_EQ(std::to_string(cost.requests), truth.at("atomics")) << place;
    EXPECT_EQ(std::to_string(cost.wavefronts - cost.loads.wavefronts), truth.at("atomic_wavefronts"))
        << place;
    EXPECT_EQ(std::to_string(cost.conflicts - cost.loads.conflicts), truth.at("atomic_conflicts")) << place;
    EXPECT_EQ(cost.evidence, Evidence::measured) << place;
  }
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(compared, (std::map<std::string, int>{{"atom4", 46},
                                                  {"atom8", 46},
                                                  {"atom16", 46},
                                                  {"atom.cas4", 46},
                                                  {"atom.cas8", 46},
                                                  {"atom.loop2", 46},
                                                  {"atom.loop4", 138},
                                                  {"atom.loop8", 92}}));
}

}  // namespace
}  // namespace lanescope::model
