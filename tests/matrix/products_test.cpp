// Matrix products as nvcc compiles them (tests/data/cu/matrix_products.cu): results against the host's, and
// what their matrix loads cost in shared memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

constexpr int n = 64, depth = 64, tile = 32;

/// A small integer as f16: exact, and so is every sum of their products.
uint16_t half_of(int x) {
  const int magnitude = x < 0 ? -x : x;
  if (magnitude == 0) return 0;
  int exponent = 0;
  while (magnitude >> (exponent + 1) != 0) ++exponent;
  return static_cast<uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                               (magnitude << (10 - exponent) & 0x3ff));
}

std::vector<int> values(int count, int most) {
  std::mt19937 random(5);
  std::vector<int> list(static_cast<size_t>(count));
  for (int& x : list) x = static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most;
  return list;
}
template <class T, class F>
std::vector<T> converted(const std::vector<int>& list, F convert) {
  std::vector<T> out;
  for (const int x : list) out.push_back(static_cast<T>(convert(x)));
  return out;
}

class MatrixProducts : public testing::TestWithParam<const char*> {};

TEST_P(MatrixProducts, OfHalvesEqualTheHosts) {
  Program program(GetParam());
  const std::vector<int> a = values(n * depth, 100), b = values(depth * n, 50);
  std::vector<float> c;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += a[static_cast<size_t>(row * depth + k)] * b[static_cast<size_t>(k * n + column)];
      c.push_back(static_cast<float>(sum));
    }
  // Four warps, each with four steps along K of 16 rows of A and as many of B: a phase is eight rows of 16
  // bytes. Lines of 128 bytes put all eight into the same four banks, lines of 64 bytes every other one.
  const SharedCost clashing{32, uint64_t{4} * 4 * (4 * 8 + 4 * 4), uint64_t{4} * 4 * 8}, clean{32, 128, 128};
  const std::pair<const char*, SharedCost> kernels[] = {{"product_wmma", clashing},
                                                        {"product_wmma_padded", clean},
                                                        {"product_mma", clashing},
                                                        {"product_mma_padded", clean}};
  for (const auto& [kernel, cost] : kernels) {
    SCOPED_TRACE(kernel);
    const Case launch{"matrix_products",
                      kernel,
                      "",
                      {n / tile, n / tile},
                      {128},
                      0,
                      {input(converted<uint16_t>(a, half_of)), input(converted<uint16_t>(b, half_of)),
                       output(c, -1.0f), scalar(n)},
                      {}};
    const Outcome run = run_kernel(program, launch, model::find_arch("sm_90"));
    EXPECT_FALSE(run.result.failed);
    EXPECT_EQ(run.buffers[2], bytes_of(c));
    const SharedCost load = cost_of(run.profile).load;
    EXPECT_EQ(load, (SharedCost{4 * cost.requests, 4 * cost.wavefronts, 4 * cost.ideal}))
        << load.requests << ' ' << load.wavefronts << ' ' << load.ideal;
  }
}

TEST_P(MatrixProducts, OfBytesEqualTheHosts) {
  Program program(GetParam());
  const std::vector<int> a = values(16 * 64, 127), b = values(64 * 16, 127);
  std::vector<int> c;
  for (int column = 0; column < 16; ++column)
    for (int row = 0; row < 16; ++row) {
      int sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += a[static_cast<size_t>(row * 64 + k)] * b[static_cast<size_t>(k * 16 + column)];
      c.push_back(sum);
    }
  const auto same = [](int x) { return x; };
  const Case launch{"matrix_products",
                    "product_bytes",
                    "",
                    {1},
                    {32},
                    0,
                    {input(converted<int8_t>(a, same)), input(converted<int8_t>(b, same)), output(c, -1)},
                    {}};
  EXPECT_EQ(run_kernel(program, launch, nullptr).buffers[2], bytes_of(c));
}

TEST_P(MatrixProducts, OfDoublesEqualTheHosts) {
  Program program(GetParam());
  const auto tenth = [](int x) { return x * 0.1; };
  const std::vector<double> a = converted<double>(values(8 * 4, 1000), tenth),
                            b = converted<double>(values(4 * 8, 77), tenth);
  std::vector<double> c;
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 8; ++column) {
      double sum = 0;
      for (size_t k = 0; k < 4; ++k) sum = std::fma(a[row * 4 + k], b[column * 4 + k], sum);
      c.push_back(sum);
    }
  const Case launch{
      "matrix_products", "product_doubles", "", {1}, {32}, 0, {input(a), input(b), output(c, 0.0)}, {}};
  EXPECT_EQ(run_kernel(program, launch, nullptr).buffers[2], bytes_of(c));
}

INSTANTIATE_TEST_SUITE_P(Nvcc, MatrixProducts,
                         testing::Values("tests/data/ptx/matrix_products.ptx",
                                         "tests/data/ptx/matrix_products.sm_100.ptx"),
                         [](const auto& info) { return std::string(info.index == 0 ? "sm_90" : "sm_100"); });

}  // namespace
}  // namespace lanescope::kernels
