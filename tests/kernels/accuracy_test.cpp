// Predicted wavefronts and conflicts beside the counters of a real GPU (tests/data/accuracy/measured.csv),
// for every kernel of kernels/ and of tests/data/accuracy; and what the kernels compute beside what the GPU
// computed. The table of docs/accuracy.md is made here: LANESCOPE_REBASE=1 writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "kernels/accuracy_cases.hpp"
#include "kernels/engine.hpp"
#include "kernels/kernel_cases.hpp"
#include "merge/plan.hpp"

namespace lanescope::kernels {
namespace {

/// The least and the most of several launches.
struct Range {
  uint64_t least = 0, most = 0;
};

struct Measured {
  Range load, store, atomic;
  Range load_conflicts, store_conflicts, atomic_conflicts;
  std::string checksum;
};

using Name = std::string;  // "program,kernel,variant"

Name name_of(const Case& c) { return c.program + "," + c.kernel + "," + c.variant; }

std::map<Name, Measured> read_measured() {
  std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/data/accuracy/measured.csv");
  std::map<Name, Measured> all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("program,")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    cells.resize(16);
    Measured m;
    size_t at = 3;
    for (Range* range :
         {&m.load, &m.store, &m.atomic, &m.load_conflicts, &m.store_conflicts, &m.atomic_conflicts}) {
      range->least = std::stoull(cells[at]);
      range->most = std::stoull(cells[at + 1]);
      at += 2;
    }
    m.checksum = cells[15];
    all[cells[0] + "," + cells[1] + "," + cells[2]] = m;
  }
  return all;
}

struct Outcomes {
  profile::Totals merged, written;  ///< with the assembler's merging, and as the PTX is written
  std::string checksum;
};

Outcomes run(std::map<std::string, std::unique_ptr<Program>>& programs, const Case& c,
             const std::string& path) {
  auto& program = programs[path];
  if (!program) program = std::make_unique<Program>(path);
  Outcomes outcomes;
  const model::Arch& sm_90 = *model::find_arch("sm_90");
  const Outcome merged = run_kernel(*program, c, &sm_90, 0, profile::RecordBlocks::none, {}, true);
  outcomes.merged = profile::totals(merged.profile);
  outcomes.written = profile::totals(run_kernel(*program, c, &sm_90).profile);
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(checksum(merged.buffers)));
  outcomes.checksum = text;
  return outcomes;
}

std::string number(const Range& range) {
  return range.least == range.most ? fmt::format("{}", range.least)
                                   : fmt::format("{} … {}", range.least, range.most);
}

class Accuracy : public ::testing::Test {
 protected:
  /// What all tests look at, made once.
  struct Row {
    Case c;
    Measured measured;
    Outcomes predicted;
  };
  static const std::vector<Row>& rows() {
    static const std::vector<Row> all = [] {
      std::vector<Row> made;
      const auto measured = read_measured();
      std::map<std::string, std::unique_ptr<Program>> programs;
      const auto add = [&](std::vector<Case> cases, const std::string& folder) {
        for (Case& c : cases) {
          Outcomes predicted = run(programs, c, folder + c.program + ".ptx");
          const Measured& m = measured.at(name_of(c));
          made.push_back({std::move(c), m, std::move(predicted)});
        }
      };
      add(accuracy_cases(), "tests/data/accuracy/");
      add(kernel_cases(), "kernels/ptx/");
      return made;
    }();
    return all;
  }
};

/// A counter that is the same in all launches is met exactly. Where it is not, it holds waiting of unrelated
/// accesses for each other as well: never less than the accesses need, and not much more.
void expect_met(uint64_t predicted, const Range& measured, const char* what, const Case& c) {
  if (measured.least == measured.most) {
    EXPECT_EQ(predicted, measured.least) << name_of(c) << ": " << what;
    return;
  }
  constexpr uint64_t spread = 4;
  EXPECT_LE(predicted, measured.most) << name_of(c) << ": " << what;
  EXPECT_GE(predicted + spread * (measured.most - measured.least), measured.least)
      << name_of(c) << ": " << what;
}

TEST_F(Accuracy, WavefrontsAreThoseOfTheCounters) {
  for (const Row& row : rows()) {
    const profile::Totals& t = row.predicted.merged;
    expect_met(t.shared_load.wavefronts, row.measured.load, "wavefronts of loads", row.c);
    expect_met(t.shared_store.wavefronts, row.measured.store, "wavefronts of stores", row.c);
    expect_met(t.shared_atomic.wavefronts, row.measured.atomic, "wavefronts of atomics", row.c);
  }
}

TEST_F(Accuracy, ConflictsAreThoseOfTheCounters) {
  for (const Row& row : rows()) {
    const profile::Totals& t = row.predicted.merged;
    expect_met(t.shared_load.conflicts, row.measured.load_conflicts, "conflicts of loads", row.c);
    expect_met(t.shared_store.conflicts, row.measured.store_conflicts, "conflicts of stores", row.c);
    expect_met(t.shared_atomic.conflicts, row.measured.atomic_conflicts, "conflicts of atomics", row.c);
  }
}

/// The prediction matters: without it, many of these kernels would be counted wrongly.
TEST_F(Accuracy, AccessesAsWrittenAreNotThoseOfTheMachine) {
  size_t wrong = 0;
  for (const Row& row : rows())
    wrong += row.predicted.written.shared_load.wavefronts != row.measured.load.least ||
             row.predicted.written.shared_store.wavefronts != row.measured.store.least;
  EXPECT_GT(wrong, 30u);
}

TEST_F(Accuracy, ResultsAreThoseOfTheGpu) {
  // fourier: the PTX leaves it to the assembler whether a product and a difference become one operation.
  const std::set<std::string> rounded_otherwise = {"mixed,fourier,"};
  for (const Row& row : rows()) {
    if (row.measured.checksum.empty() || rounded_otherwise.count(name_of(row.c)) != 0) continue;
    EXPECT_EQ(row.predicted.checksum, row.measured.checksum) << name_of(row.c);
  }
}

/// docs/accuracy.md between its two marks.
TEST_F(Accuracy, TheTableOfTheDocumentIsThis) {
  std::string table =
      "| kernel | loads: as written | predicted | measured | stores: as written | predicted | measured | "
      "conflicts of "
      "loads | measured | of stores | measured |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  std::string atomics = "| kernel | as written | predicted | measured |\n|---|---|---|---|\n";
  std::set<std::string> shown;
  for (const Row& row : rows()) {
    const profile::Totals &merged = row.predicted.merged, &written = row.predicted.written;
    if (merged.shared_load.requests + merged.shared_store.requests == 0 || !shown.insert(row.c.kernel).second)
      continue;
    const Measured& m = row.measured;
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.c.kernel,
                         written.shared_load.wavefronts, merged.shared_load.wavefronts, number(m.load),
                         written.shared_store.wavefronts, merged.shared_store.wavefronts, number(m.store),
                         merged.shared_load.conflicts, number(m.load_conflicts),
                         merged.shared_store.conflicts, number(m.store_conflicts));
    if (written.shared_atomic.requests != 0)
      atomics += fmt::format("| `{}` | {} | {} | {} |\n", row.c.kernel, written.shared_atomic.wavefronts,
                             merged.shared_atomic.wavefronts, number(m.atomic));
  }
  const std::string path = LANESCOPE_SOURCE_DIR "/docs/accuracy.md";
  const std::string text = read_file(path);
  const std::string first = "<!-- made by tests/kernels/accuracy_test.cpp -->\n", last = "<!-- end -->\n";
  const size_t begin = text.find(first), end = text.find(last);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string wanted = text.substr(0, begin + first.size()) + table + "\nAtomics, wavefronts:\n\n" +
                             atomics + text.substr(end);
  if (std::getenv("LANESCOPE_REBASE") != nullptr) std::ofstream(path) << wanted;
  EXPECT_EQ(text, wanted) << "LANESCOPE_REBASE=1 writes the table anew";
}

}  // namespace
}  // namespace lanescope::kernels
