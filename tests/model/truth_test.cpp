// Every row measured on an H200 or an H100, against the model's answers for sm_90. docs/model.md says how
// they were measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lanescope/model/hopper.hpp"
#include "lanescope/model/l1.hpp"
#include "report/pattern_csv.hpp"

namespace lanescope::model {
namespace {

const std::string truth_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_patterns.csv";
const std::string atomics_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h100_atomics.csv";
const std::string clusters_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_clusters.csv";
const std::string products_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_products.csv";
const std::string bulk_copies_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_bulk_copies.csv";
const std::string l1_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h200_l1.csv";
const std::string global_atomics_file = LANESCOPE_SOURCE_DIR "/tests/data/truth/h100_global_atomics.csv";
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

TEST(Truth, EveryAccessOfTheFirstLevelCacheOfTheH200) {
  const Arch& arch = *find_arch("sm_90");
  std::ifstream in(l1_file);
  ASSERT_TRUE(in) << l1_file;
  report::PatternReader reader(in, l1_file, arch);
  report::PatternRow row;
  int rows = 0;
  int misses_take_more = 0;
  int stores_take_more = 0;
  for (const auto& truth : truth_rows(l1_file)) {
    ASSERT_TRUE(reader.next(row));
    ++rows;
    const std::string place = "line " + std::to_string(row.line) + ": " + truth.at("width");
    const auto number = [&](const char* name) { return std::stoi(truth.at(name)); };
    const L1Cost load = l1_cost(arch, row.request);
    EXPECT_EQ(load.evidence, Evidence::measured);
    EXPECT_EQ(load.hit.wavefronts, number("hit_wavefronts")) << place;
    EXPECT_EQ(load.miss_wavefronts, number("miss_wavefronts")) << place;
    EXPECT_EQ(load.tag_wavefronts, number("load_tag_wavefronts")) << place;
    row.request.op = Op::store;
    const L1Cost store = l1_cost(arch, row.request);
    EXPECT_EQ(store.tag_wavefronts, number("store_tag_wavefronts")) << place;
    EXPECT_EQ(store.miss_wavefronts, 0) << place;
    const int stored = number("store_wavefronts");
    EXPECT_LE(store.hit.wavefronts, stored) << place;
    if (row.request.width >= 4) {
      EXPECT_LE(stored, std::max(load.miss_wavefronts, load.hit.wavefronts)) << place;
      if (load.tag_wavefronts <= 4) {
        EXPECT_EQ(store.hit.wavefronts, stored) << place;
      }
    }
    misses_take_more += load.miss_wavefronts > load.hit.wavefronts;
    stores_take_more += stored > store.hit.wavefronts;
    const GlobalCost cost = global_cost(arch, row.request);
    EXPECT_EQ(cost.sectors, number("sectors")) << place;
    EXPECT_EQ(cost.lines, number("tags")) << place;
  }
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(rows, 1057);
  EXPECT_EQ(misses_take_more, 478);
  EXPECT_EQ(stores_take_more, 206);
}

TEST(Truth, EveryAtomicOperationOnGlobalMemoryOfTheH100) {
  const Arch& arch = *find_arch("sm_90");
  std::ifstream in(global_atomics_file);
  ASSERT_TRUE(in) << global_atomics_file;
  report::PatternReader reader(in, global_atomics_file, arch);
  report::PatternRow row;
  constexpr int operations = 64;  // each pattern's in one launch
  int rows = 0;
  int data_take_more = 0;
  for (const auto& truth : truth_rows(global_atomics_file)) {
    ASSERT_TRUE(reader.next(row));
    ++rows;
    const std::string place = "line " + std::to_string(row.line) + ": " + truth.at("op");
    const auto number = [&](const char* name) { return std::stoi(truth.at(name)); };
    const L1Cost both = l1_cost(arch, row.request);
    row.request.returns = false;
    const L1Cost data = l1_cost(arch, row.request);
    EXPECT_EQ(data.evidence, Evidence::measured);
    EXPECT_EQ(operations * data.tag_wavefronts, number("tag_wavefronts_of_64")) << place;
    EXPECT_EQ(operations * (both.miss_wavefronts - data.miss_wavefronts), number("result_wavefronts_of_64"))
        << place;
    EXPECT_LE(data.hit.wavefronts, data.miss_wavefronts) << place;
    EXPECT_LE(both.hit.wavefronts - data.hit.wavefronts, both.miss_wavefronts - data.miss_wavefronts)
        << place;
    const int brought = number("data_wavefronts_of_64");
    EXPECT_LE(operations * data.miss_wavefronts, brought) << place;
    if (data.tag_wavefronts <= 4 && row.request.op == Op::atomic) {
      EXPECT_EQ(operations * data.miss_wavefronts, brought) << place;
    }
    data_take_more += brought > operations * data.miss_wavefronts;
  }
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(rows, 1788);
  EXPECT_EQ(data_take_more, 253);
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

TEST(Truth, EveryAccessToOtherBlocksOfTheH200) {
  const Arch& arch = *find_arch("sm_90");
  std::map<std::string, int> compared;
  int one_more = 0;
  int kept_apart = 0;
  for (const auto& truth : truth_rows(clusters_file)) {
    const std::string& op = truth.at("op");
    ++compared[op];
    const bool is_async = op == "st.async" || op == "red.async";
    Request request{};
    request.op = op == "ld" ? Op::load : op == "st" ? Op::store : Op::atomic;
    request.width = std::stoi(truth.at("width"));
    Request own = request;
    for (int lane = 0; lane < 32; ++lane) {
      const std::string& address = truth.at("a" + std::to_string(lane));
      if (address.empty()) continue;
      const std::string& rank = truth.at("rank");
      const uint64_t block = rank == "own" ? 0 : rank == "mixed" ? static_cast<uint64_t>(lane % 4) : 1;
      Request& where = block == 0 && !is_async ? own : request;
      where.mask |= uint64_t{1} << lane;
      where.address[lane] = (block + 1) << 24 | std::stoull(address);
    }
    const std::string place = op + truth.at("width") + ' ' + truth.at("rank") + ' ' + truth.at("a1");
    EXPECT_EQ(request.mask != 0, truth.at("requests") == "1") << place;
    const GlobalCost cost = cluster_cost(arch, request);
    EXPECT_EQ(cost.evidence, Evidence::measured);
    const int measured = std::stoi(truth.at("sectors"));
    if (request.op == Op::atomic && cost.sectors + 1 == measured)
      ++one_more;
    else
      EXPECT_EQ(cost.sectors, measured) << place;
    // Lanes that go to their own block are a request like any other, but that lanes of wide loads between
    // them that go elsewhere can keep two halves apart.
    if (own.mask == 0 || request.op == Op::atomic) continue;
    const int wavefronts = shared_cost(arch, own).wavefronts;
    const int own_measured = std::stoi(truth.at("own_wavefronts"));
    if (request.mask != 0 && request.width >= 8 && wavefronts + 1 == own_measured)
      ++kept_apart;
    else
      EXPECT_EQ(wavefronts, own_measured) << place;
  }
  EXPECT_EQ(compared,
            (std::map<std::string, int>{
                {"ld", 120}, {"st", 120}, {"atom", 48}, {"red", 48}, {"st.async", 72}, {"red.async", 24}}));
  EXPECT_EQ(kept_apart, 2);
  EXPECT_EQ(one_more, 7) << "of the 192 that serve lanes of one address one after the other";
}

TEST(Truth, EveryProductOfTheH200) {
  int compared = 0;
  for (const auto& truth : truth_rows(products_file)) {
    ++compared;
    const bool sparse = truth.at("type") == "f16 sparse";
    const int wavefronts = product_wavefronts(std::stoi(truth.at("n")), sparse ? 64 : 32) +
                           (truth.at("a") == "shared" ? product_wavefronts(64, 32) : 0);
    const std::string place = truth.at("type") + ' ' + truth.at("n") + ' ' + truth.at("a");
    EXPECT_EQ(std::to_string(wavefronts), truth.at("wavefronts")) << place;
    EXPECT_EQ(truth.at("conflicts"), "0") << place;
    // Where the tensor cores have less to do, the wavefronts are what it takes.
    const bool in_registers = truth.at("a") == "registers";
    const int cycles = product_cycles(std::stoi(truth.at("n")), in_registers);
    const bool is_quicker = place == "s8 256 registers";  // 170 in place of 184
    EXPECT_NEAR(std::stod(truth.at("cycles")), is_quicker ? 170 : std::max(wavefronts, cycles),
                in_registers ? 3.1 : 0.2)
        << place;
  }
  EXPECT_EQ(compared, 446);
}

TEST(Truth, EveryBulkCopyOfTheH200) {
  int whole = 0;
  int partly_outside = 0;
  for (const auto& truth : truth_rows(bulk_copies_file)) {
    const auto number = [&](const char* name) { return std::stoi(truth.at(name)); };
    const auto measured = static_cast<uint32_t>(number("sectors"));
    if (truth.at("rows").empty()) {
      ++whole;
      EXPECT_EQ(bulk_sectors(static_cast<uint64_t>(number("global")), static_cast<uint32_t>(number("shared")),
                             static_cast<uint32_t>(number("bytes"))),
                measured)
          << truth.at("op") << ' ' << truth.at("bytes") << ' ' << truth.at("global");
      continue;
    }
    const bool multicast =
        truth.at("op") == "multicast";  // to two blocks, at each of which the sectors arrive
    const int element = number("element");
    const int columns = number("columns");
    const int pitch = number("swizzle") != 0 ? number("swizzle") : columns * element;
    uint32_t sectors = 0;
    uint32_t filled = 0;
    bool outside = false;
    for (int row = 0; row < number("rows"); ++row) {
      const int y = number("y") + row;
      const int begin = std::max(number("x"), 0);
      const int end = y < 0 || y >= 512 ? begin : std::min(number("x") + columns, number("width"));
      outside = outside || end - begin != columns;
      if (end - begin != columns) {
        const int front = std::min(begin - number("x"), columns) * element;
        const int back = (columns - std::max(end - begin, 0)) * element - front;
        filled += bulk_sectors(0, 0, static_cast<uint32_t>(front)) +
                  bulk_sectors(0, 0, static_cast<uint32_t>(back));
      }
      if (begin >= end) continue;
      sectors += bulk_sectors(static_cast<uint64_t>(y * number("pitch") + begin * element),
                              static_cast<uint32_t>(row * pitch + (begin - number("x")) * element),
                              static_cast<uint32_t>((end - begin) * element), multicast) *
                 (multicast ? 2 : 1);
    }
    if (outside && truth.at("op") == "load") {
      ++partly_outside;  // what is filled is asked for, too
      EXPECT_GE(sectors + filled, measured - 2);
      EXPECT_LE(sectors + filled, measured);
    } else {
      ++whole;
      EXPECT_EQ(sectors, measured) << truth.at("op") << ' ' << columns << " of " << element << ", rows "
                                   << truth.at("rows") << ' ' << truth.at("pitch");
    }
  }
  EXPECT_EQ(whole, 383 + 16);
  EXPECT_EQ(partly_outside, 6);
}

}  // namespace
}  // namespace lanescope::model
