// Every form of the matrix instructions gives on the engine what it gave on an H100, bit for bit:
// tests/data/matrix/h100.txt holds the hashes of the outputs that on_gpu.cpp wrote there, one for each
// distribution of the inputs.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "matrix/forms.hpp"
#include "ptx/module.hpp"

namespace lanescope::matrix {
namespace {

/// By name and round.
using Recording = std::map<std::pair<std::string, uint32_t>, std::vector<std::string>>;

Recording read_recording(const std::string& path) {
  std::ifstream in(path);
  Recording forms;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, hash;
    uint32_t round = 0;
    words >> name >> round;
    auto& hashes = forms[{name, round}];
    while (words >> hash) hashes.push_back(hash);
  }
  return forms;
}

std::vector<std::string> run(const Form& f, uint32_t round) {
  exec::Memory memory;
  auto module = std::make_shared<const ptx::Module>(ptx::parse(header() + text_of(f), f.name));
  exec::Image image(module, memory);
  const exec::Kernel& kernel = image.kernel(f.name);
  const std::vector<uint32_t> registers = registers_of(f, round), data = memory_of(f, round);
  std::vector<uint32_t> out(size_t{f.blocks} * f.lanes * f.out_words);
  const auto place = [&](const std::vector<uint32_t>& words) {
    const uint64_t address = memory.allocate(words.size() * 4 + 16);
    std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(address));
    return address;
  };
  const uint64_t addresses[] = {place(registers), place(data), place(out)};
  exec::LaunchConfig config;
  config.grid = {f.blocks, 1, 1};
  config.block = {f.lanes, 1, 1};
  config.params.resize(sizeof addresses);
  std::memcpy(config.params.data(), addresses, sizeof addresses);
  const exec::LaunchResult result = image.launch(kernel, config);
  for (const exec::Finding& finding : result.findings) ADD_FAILURE() << f.name << ": " << finding.message;
  std::copy_n(reinterpret_cast<const uint32_t*>(addresses[2]), out.size(), out.begin());
  std::vector<std::string> hashes;
  for (const uint32_t hash : hashes_of(f, out)) {
    char text[16];
    std::snprintf(text, sizeof text, "%08x", hash);
    hashes.emplace_back(text);
  }
  return hashes;
}

class Forms : public ::testing::TestWithParam<const char*> {};

TEST_P(Forms, GiveWhatAnH100Gives) {
  static const Recording expected = read_recording(LANESCOPE_SOURCE_DIR "/tests/data/matrix/h100.txt");
  size_t tried = 0;
  for (const Form& f : all_forms()) {
    if (f.name.rfind(GetParam(), 0) != 0) continue;
    ++tried;
    const auto found = expected.find({f.name, 0});
    ASSERT_NE(found, expected.end()) << f.name;
    try {
      EXPECT_EQ(run(f, 0), found->second) << f.name;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(tried, 0u);
}

INSTANTIATE_TEST_SUITE_P(Instructions, Forms,
                         ::testing::Values("mma_sync", "mma_sp", "ldmatrix", "stmatrix", "movmatrix",
                                           "wmma_load", "wmma_store", "wmma_mma", "wgmma_mma_async_sync",
                                           "wgmma_mma_async_sp"),
                         [](const auto& info) { return std::string(info.param); });

// For many more inputs than can be committed: see on_gpu.cpp.
TEST(Others, GiveWhatAnH100Gives) {
  const char* path = std::getenv("LANESCOPE_MATRIX_HASHES");
  if (path == nullptr) GTEST_SKIP() << "LANESCOPE_MATRIX_HASHES names no recording";
  const Recording expected = read_recording(path);
  size_t tried = 0;
  for (const Form& f : all_forms())
    for (auto at = expected.lower_bound({f.name, 0}); at != expected.end() && at->first.first == f.name;
         ++at) {
      tried += f.blocks;
      EXPECT_EQ(run(f, at->first.second), at->second) << f.name << ", round " << at->first.second;
    }
  std::printf("%zu instructions executed\n", tried);
  EXPECT_GT(tried, 0u);
}

}  // namespace
}  // namespace lanescope::matrix
