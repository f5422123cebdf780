// Every form of every register instruction gives what a GPU gives: the statements of
// tests/data/instructions.txt on the values of statement.hpp, their results compared by a digest that
// record_results.cpp took on hardware.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "exec/launch.hpp"
#include "exec/statement.hpp"

namespace lanescope::exec {
namespace {

struct Recorded {
  uint64_t digest = 0;
  std::string statement;
};

std::vector<Recorded> recorded() {
  std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/data/instructions.txt");
  std::vector<Recorded> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    Recorded one;
    words >> std::hex >> one.digest >> std::ws;
    std::getline(words, one.statement);
    all.push_back(one);
  }
  return all;
}

std::vector<uint64_t> results_of(Image& image, Memory& memory, const std::string& kernel,
                                 const std::string& statement) {
  const uint32_t rows = statements::rows_of(statement);
  const std::vector<uint64_t> in = statements::inputs_of(statement);
  const std::array<uint64_t, 2> buffers{memory.allocate(in.size() * 8, "in"),
                                        memory.allocate(uint64_t{rows} * 8, "out")};
  std::memcpy(reinterpret_cast<void*>(buffers[0]), in.data(), in.size() * 8);
  LaunchConfig config;
  config.grid = {rows / 128, 1, 1};
  config.block = {128, 1, 1};
  config.params.resize(16);
  std::memcpy(config.params.data(), buffers.data(), 16);
  const LaunchResult result = image.launch(image.kernel(kernel), config);
  EXPECT_FALSE(result.failed) << statement;
  std::vector<uint64_t> out(rows);
  std::memcpy(out.data(), reinterpret_cast<const void*>(buffers[1]), out.size() * 8);
  for (const uint64_t buffer : buffers) memory.release(buffer);
  return out;
}

TEST(InstructionResults, EqualTheHardwares) {
  const std::vector<Recorded> all = recorded();
  ASSERT_FALSE(all.empty());
  std::string text = statements::module_head();
  for (size_t i = 0; i < all.size(); ++i)
    text += statements::kernel_of(all[i].statement, "k" + std::to_string(i));
  Memory memory;
  Image image(std::make_shared<ptx::Module>(ptx::parse(std::move(text), "instructions")), memory);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto out = results_of(image, memory, "k" + std::to_string(i), all[i].statement);
    EXPECT_EQ(statements::digest_of(out), all[i].digest) << all[i].statement;
  }
}

}  // namespace
}  // namespace lanescope::exec
