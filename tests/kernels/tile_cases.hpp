// Launches of the kernels of kernels/tiles.cu, with results and costs: see kernel_cases.hpp.
#pragma once

#include "kernels/case.hpp"
#include "kernels/reference.hpp"

namespace lanescope::kernels {

inline void add_tiles(std::vector<Case>& cases) {
  constexpr uint32_t width = 128, height = 96;
  const auto in = reference::random_floats(size_t{width} * height, 9);
  const auto out = reference::transpose(in, width, height);
  const auto add = [&](const char* kernel, uint32_t n, Dim block, Argument result, Argument source,
                       const BlockCost& cost) {
    cases.push_back({"tiles",
                     kernel,
                     "",
                     {width / n, height / n},
                     block,
                     0,
                     {std::move(result), std::move(source), scalar(static_cast<int>(width)),
                      scalar(static_cast<int>(height))},
                     cost});
  };
  for (const char* kernel : {"transpose_padded_by_hand", "transpose_padded", "transpose_swizzled_by_hand",
                             "transpose_swizzled_tile"})
    add(kernel, 32, {32, 8}, output(out, -2.0f), input(in), {{32, 32, 32}, {32, 32, 32}});
  add("transpose_16", 16, {16, 16}, output(out, -2.0f), input(in), {{8, 8, 8}, {8, 8, 8}});
  // Eight and sixteen bytes a lane: two and four phases.
  const std::vector<double> wide_in(in.begin(), in.end()), wide_out(out.begin(), out.end());
  add("transpose_doubles", 32, {32, 8}, output(wide_out, -2.0), input(wide_in), {{32, 64, 64}, {32, 64, 64}});
  add("transpose_vectors", 32, {8, 32}, output(out, -2.0f), input(in), {{8, 32, 32}, {8, 32, 32}});

  constexpr uint32_t blocks = 3, block = 256, fields = 4;
  const auto records = reference::random_floats(size_t{blocks} * block * fields, 10);
  std::vector<float> sums(size_t{blocks} * block);
  for (size_t i = 0; i < sums.size(); ++i) {
    const float* record = &records[(i / block * block + (block - 1 - i % block)) * fields];
    sums[i] = record[0] + record[1] + record[2] + record[3];
  }
  const auto add_records = [&](const char* kernel, const BlockCost& cost) {
    cases.push_back({"tiles", kernel, "", {blocks}, {block}, 0, {output(sums, -2.0f), input(records)}, cost});
  };
  add_records("records_by_hand", {{32, 128, 32}, {32, 128, 32}});
  add_records("records", {{32, 32, 32}, {32, 32, 32}});
}

}  // namespace lanescope::kernels
