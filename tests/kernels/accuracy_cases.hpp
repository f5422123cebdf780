// A launch of every kernel of tests/data/accuracy: programs as people write them, whose counters were read on
// a GPU (tests/data/accuracy/measured.csv, docs/accuracy.md). What they compute is compared with the GPU's by
// a checksum.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/case.hpp"
#include "kernels/reference.hpp"

namespace lanescope::kernels {

/// Numbers below `limit` that look random.
[[nodiscard]] inline std::vector<uint32_t> random_numbers(size_t n, uint32_t seed, uint32_t limit) {
  std::vector<uint32_t> numbers(n);
  for (size_t i = 0; i < n; ++i)
    numbers[i] = reference::hash(static_cast<uint32_t>(i) + seed * 0x9e3779b9u) % limit;
  return numbers;
}

/// FNV-1a of all buffers, of those that are inputs, too.
[[nodiscard]] inline uint64_t checksum(const std::vector<Bytes>& buffers) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Bytes& buffer : buffers)
    for (const std::byte b : buffer) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3u;
  return hash;
}

[[nodiscard]] inline std::vector<Case> accuracy_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* program, const char* kernel, Dim grid, Dim block,
                       std::vector<Argument> arguments) {
    cases.push_back({program, kernel, "", grid, block, 0, std::move(arguments), {}});
  };
  const auto floats = [](size_t n) { return recorded(bytes_of(reference::random_floats(n, 11))); };
  const auto zeros = [](size_t bytes) { return recorded(Bytes(bytes)); };
  const auto numbers = [](size_t n, uint32_t limit) {
    return recorded(bytes_of(random_numbers(n, 12, limit)));
  };

  constexpr uint32_t n = 128;
  const auto product = [&](const char* kernel, uint32_t tile, Dim block) {
    add("matmul", kernel, {n / tile, n / tile}, block,
        {zeros(n * n * 4), floats(n * n), floats(n * n), scalar(int{n})});
  };
  product("matmul_16", 16, {16, 16});
  product("matmul_32", 32, {32, 32});
  product("matmul_32_padded", 32, {32, 32});
  std::vector<double> doubles;
  for (const float f : reference::random_floats(n * n, 13)) doubles.push_back(f);
  add("matmul", "matmul_16_double", {n / 16, n / 16}, {16, 16},
      {zeros(n * n * 8), recorded(bytes_of(doubles)), recorded(bytes_of(doubles)), scalar(int{n})});
  add("matmul", "matmul_32_int", {n / 32, n / 32}, {32, 32},
      {zeros(n * n * 4), numbers(n * n, 1000), numbers(n * n, 1000), scalar(int{n})});
  product("matmul_each2", 32, {256});
  product("matmul_each4", 64, {256});
  product("matmul_each8", 128, {256});
  product("matmul_rows", 64, {256});

  constexpr uint32_t blocks = 24, threads = 256;
  for (const char* kernel : {"line_1", "line_3", "line_8"})
    add("stencil", kernel, {blocks}, {threads},
        {zeros(blocks * threads * 4), floats(blocks * threads + 64), floats(32)});
  add("stencil", "line_four", {blocks}, {threads},
      {zeros(blocks * threads * 16), floats(blocks * threads * 4 + 64)});
  add("stencil", "plane_5", {4, 8}, {32, 8},
      {zeros(128 * 64 * 4), floats(128 * 64), scalar(128), scalar(64)});
  add("stencil", "plane_9", {6, 6}, {16, 16}, {zeros(128 * 100 * 4), floats(128 * 100), scalar(128)});
  add("stencil", "columns_4", {6, 6}, {16, 16}, {zeros(128 * 110 * 4), floats(128 * 110), scalar(128)});
  add("stencil", "volume_7", {blocks}, {32, 8},
      {zeros(blocks * threads * 4 * 9), floats(blocks * threads * 9), scalar(9)});
  add("stencil", "line_short", {blocks}, {threads},
      {zeros(blocks * threads * 4), numbers(blocks * threads + 64, 10000)});

  for (const char* kernel : {"scan_steps", "scan_warps"})
    add("scan", kernel, {blocks}, {threads}, {zeros(blocks * threads * 4), floats(blocks * threads)});
  for (const char* kernel : {"scan_tree", "scan_tree_padded"})
    add("scan", kernel, {blocks}, {threads}, {zeros(blocks * threads * 8), floats(blocks * threads * 2)});
  add("scan", "scan_eight", {blocks}, {threads},
      {zeros(blocks * threads * 32), numbers(blocks * threads * 8, 100)});

  add("histogram", "histogram_block", {blocks}, {256},
      {zeros(blocks * 256 * 4), numbers(blocks * 256 * 10, 1u << 20), scalar(10)});
  add("histogram", "histogram_warps", {blocks}, {256},
      {zeros(blocks * 64 * 4), numbers(blocks * 256 * 10, 1u << 20), scalar(10)});
  add("histogram", "histogram_threads", {blocks}, {128},
      {zeros(blocks * 16 * 4), numbers(blocks * 128 * 10, 1u << 20), scalar(10)});
  add("histogram", "histogram_words", {blocks}, {128},
      {zeros(blocks * 8 * 4), numbers(blocks * 128 * 10, 1u << 20), scalar(10)});

  const auto bins = [&](const char* kernel, uint32_t element) {
    add("atomics", kernel, {blocks}, {128},
        {zeros(blocks * 192 * element), numbers(blocks * 128 * 10, 1u << 20), scalar(10)});
  };
  bins("bins_float", 4);
  bins("bins_double", 8);
  bins("bins_long", 8);
  bins("bins_halves", 4);
  bins("bins_half", 2);
  bins("bins_bits", 8);
  add("atomics", "columns_float", {blocks}, {128}, {zeros(blocks * 4096 * 4), floats(1024)});
  for (const auto& [kernel, element] :
       {std::pair{"some_lanes", 4}, {"insert_words", 4}, {"insert_longs", 8}, {"exchange_longs", 8}})
    add("atomics", kernel, {blocks}, {128},
        {zeros(blocks * 128u * element), numbers(blocks * 128, 1u << 20)});

  for (const char* kernel : {"sort_bitonic", "sort_merge"})
    add("sort", kernel, {blocks}, {256}, {zeros(blocks * 512 * 4), numbers(blocks * 512, 1u << 20)});
  add("sort", "sort_odd_even", {blocks}, {64}, {zeros(blocks * 128 * 4), numbers(blocks * 128, 1u << 20)});
  for (const char* kernel : {"sort_ranks", "sort_radix"})
    add("sort", kernel, {blocks}, {256}, {zeros(blocks * 256 * 4), numbers(blocks * 256, 1u << 20)});

  add("mixed", "bodies", {8}, {128}, {zeros(1024 * 16), floats(1024 * 4), scalar(1024)});
  add("mixed", "triples", {8}, {128}, {zeros(1024 * 12), floats(1024 * 3), scalar(1024)});
  for (const char* kernel : {"small_matrices", "small_matrices_padded"})
    add("mixed", kernel, {blocks}, {64}, {zeros(blocks * 64 * 64), floats(blocks * 64 * 16)});
  add("mixed", "fourier", {blocks}, {128}, {zeros(blocks * 256 * 8), floats(blocks * 256 * 2)});
  add("mixed", "normalise", {blocks}, {256}, {zeros(blocks * 256 * 4), floats(blocks * 256)});
  add("mixed", "paths", {blocks}, {16, 16}, {zeros(blocks * 256 * 4), numbers(blocks * 256, 1000)});
  add("mixed", "table", {blocks}, {128},
      {zeros(blocks * 128 * 4), numbers(512, 1u << 23), numbers(blocks * 128 * 4, 1u << 20)});
  add("mixed", "dot", {blocks}, {128},
      {zeros(blocks * 4), floats(blocks * 128 * 8), floats(blocks * 128 * 8)});
  add("mixed", "exchange", {blocks}, {128}, {zeros(blocks * 128 * 16), floats(blocks * 128 * 4)});

  for (const char* kernel : {"library_reduce", "library_raking_scan"})
    add("library", kernel, {blocks}, {128}, {zeros(blocks * 128 * 4), numbers(blocks * 128, 1000)});
  for (const char* kernel : {"library_scan", "library_radix_sort", "library_merge_sort"})
    add("library", kernel, {blocks}, {128}, {zeros(blocks * 128 * 16), numbers(blocks * 128 * 4, 1u << 20)});
  add("library", "library_exchange", {blocks}, {128},
      {zeros(blocks * 128 * 32), numbers(blocks * 128 * 8, 1000)});
  return cases;
}

}  // namespace lanescope::kernels
