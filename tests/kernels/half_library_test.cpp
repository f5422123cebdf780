// The functions of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h on the engine: tests/data/library/halves.cu, which
// computes on the host what they must give.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

constexpr uint32_t numbers = 4096, threads = 32, most_results = 128;

/// The results of a kernel, result after result, for all numbers.
std::vector<uint32_t> results_of(const std::string& kernel) {
  Program program("tests/data/library/halves.ptx");
  Case c;
  c.kernel = "halves_" + kernel;
  c.grid = {numbers / threads};
  c.block = {threads};
  c.arguments.push_back(recorded(Bytes(numbers * most_results * sizeof(uint32_t))));
  const Outcome run = run_kernel(program, c, nullptr);
  EXPECT_TRUE(run.result.findings.empty()) << kernel;
  std::vector<uint32_t> words(run.buffers.at(0).size() / sizeof(uint32_t));
  std::memcpy(words.data(), run.buffers[0].data(), run.buffers[0].size());
  return words;
}

TEST(HalfLibrary, GivesWhatTheHostGives) {
  std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/data/library/halves.txt");
  std::string comment, kernel, last;
  std::getline(file, comment);
  uint32_t result = 0;
  uint64_t expected = 0;
  std::vector<uint32_t> words;
  std::map<std::string, uint32_t> done;
  while (file >> kernel >> result >> std::hex >> expected >> std::dec) {
    if (kernel != last) words = results_of(kernel);
    last = kernel;
    uint64_t digest = 0xcbf29ce484222325u;
    for (uint32_t g = 0; g < numbers; ++g)
      digest = (digest ^ words[size_t{result} * numbers + g]) * 0x100000001b3u;
    EXPECT_EQ(digest, expected) << "result " << result << " of " << kernel
                                << "; WORDS=1 makes the program of halves.cu print the words";
    ++done[kernel];
  }
  EXPECT_EQ(done.size(), 6u);
  EXPECT_EQ(done["f16"], done["bf16"]);
}

TEST(HalfLibrary, ApproximationsAreAsCloseAsTheHeadersSay) {
  constexpr uint32_t functions = 13;
  for (const char* kernel : {"close_f16", "close_bf16"}) {
    const std::vector<uint32_t> words = results_of(kernel);
    for (uint32_t k = 0; k < functions; ++k)
      EXPECT_EQ(std::count(words.begin() + k * numbers, words.begin() + (k + 1) * numbers, 1u), numbers)
          << "function " << k << " of " << kernel;
  }
}

}  // namespace
}  // namespace lanescope::kernels
