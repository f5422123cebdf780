// A launch of every kernel of kernels/, with what the CPU says it must compute and, for each block on sm_90,
// what its accesses to shared memory must cost. kernels/README.md shows the same costs.
#pragma once

#include "kernels/case.hpp"
#include "kernels/reference.hpp"
#include "kernels/tile_cases.hpp"

namespace lanescope::kernels {

inline void add_reductions(std::vector<Case>& cases) {
  using reference::Order;
  struct Kernel {
    const char* name;
    uint32_t block;
    Order order;
    bool first_add;
    BlockCost cost;
  };
  const Kernel kernels[] = {
      {"reduce_divergent", 256, Order::neighbours, false, {{95, 95, 95}, {55, 55, 55}}},
      {"reduce_interleaved", 256, Order::neighbours, false, {{25, 95, 25}, {20, 55, 20}}},
      {"reduce_sequential", 256, Order::halves, false, {{25, 25, 25}, {20, 20, 20}}},
      {"reduce_first_add", 256, Order::halves, true, {{25, 25, 25}, {20, 20, 20}}},
      {"reduce_shuffle", 256, Order::halves, true, {{14, 14, 14}, {14, 14, 14}}},
      {"reduce_divergent_512", 512, Order::neighbours, false, {{191, 191, 191}, {111, 111, 111}}},
      {"reduce_interleaved_512", 512, Order::neighbours, false, {{41, 191, 41}, {36, 111, 36}}},
      {"reduce_sequential_512", 512, Order::halves, false, {{41, 41, 41}, {36, 36, 36}}},
      {"reduce_first_add_512", 512, Order::halves, true, {{41, 41, 41}, {36, 36, 36}}},
      {"reduce_shuffle_512", 512, Order::halves, true, {{30, 30, 30}, {30, 30, 30}}},
  };
  for (const Kernel& k : kernels)
    for (const uint32_t n : {8192u, 5003u}) {
      const auto in = reference::random_floats(n, 1);
      const auto sums = reference::reduce(in, k.block, k.order, k.first_add);
      cases.push_back({"reduce",
                       k.name,
                       "of " + std::to_string(n),
                       {static_cast<uint32_t>(sums.size())},
                       {k.block},
                       0,
                       {input(in), output(sums, -1.0f), scalar(n)},
                       k.cost});
    }
}

inline void add_transposes(std::vector<Case>& cases) {
  enum class Result { copy, transpose, inside_tiles, tiles };
  struct Kernel {
    const char* name;
    uint32_t n;
    Result result;
    BlockCost cost;
  };
  const Kernel kernels[] = {
      {"copy", 32, Result::copy, {}},
      {"copy_shared", 32, Result::copy, {{32, 32, 32}, {32, 32, 32}}},
      {"transpose_naive", 32, Result::transpose, {}},
      {"transpose_tile32", 32, Result::transpose, {{32, 1024, 32}, {32, 32, 32}}},
      {"transpose_tile33", 32, Result::transpose, {{32, 32, 32}, {32, 32, 32}}},
      {"transpose_swizzled", 32, Result::transpose, {{32, 32, 32}, {32, 32, 32}}},
      {"transpose_fine_grained", 32, Result::inside_tiles, {{32, 32, 32}, {32, 32, 32}}},
      {"transpose_coarse_grained", 32, Result::tiles, {{32, 32, 32}, {32, 32, 32}}},
      {"copy_16", 16, Result::copy, {}},
      {"copy_shared_16", 16, Result::copy, {{8, 8, 8}, {8, 8, 8}}},
      {"transpose_naive_16", 16, Result::transpose, {}},
      {"transpose_tile16", 16, Result::transpose, {{8, 64, 8}, {8, 8, 8}}},
      {"transpose_tile17", 16, Result::transpose, {{8, 16, 8}, {8, 16, 8}}},
      {"transpose_swizzled_16", 16, Result::transpose, {{8, 8, 8}, {8, 8, 8}}},
      {"transpose_fine_grained_16", 16, Result::inside_tiles, {{8, 16, 8}, {8, 16, 8}}},
      {"transpose_coarse_grained_16", 16, Result::tiles, {{8, 16, 8}, {8, 16, 8}}},
  };
  struct Size {
    uint32_t width, height;
  };
  for (const Kernel& k : kernels)
    for (const Size size : {Size{128, 96}, Size{77, 45}}) {
      const auto [width, height] = size;
      const auto in = reference::random_floats(size_t{width} * height, 2);
      std::vector<float> out;
      switch (k.result) {
        case Result::copy: out = in; break;
        case Result::transpose: out = reference::transpose(in, width, height); break;
        case Result::inside_tiles:
          out = reference::transpose_inside_tiles(in, width, height, k.n, -2.0f);
          break;
        case Result::tiles: out = reference::transpose_tiles(in, width, height, k.n, -2.0f); break;
      }
      const bool whole_tiles = width % k.n == 0 && height % k.n == 0;
      cases.push_back(
          {"transpose",
           k.name,
           std::to_string(width) + "x" + std::to_string(height),
           {(width + k.n - 1) / k.n, (height + k.n - 1) / k.n},
           {k.n, k.n == 32 ? 8u : 16u},
           0,
           {output(out, -2.0f), input(in), scalar(static_cast<int>(width)), scalar(static_cast<int>(height))},
           whole_tiles ? std::optional(k.cost) : std::nullopt});
    }
}

inline void add_patterns(std::vector<Case>& cases) {
  constexpr uint32_t blocks = 3, block = 256, n = blocks * block;
  const auto add = [&](const char* kernel, std::vector<Argument> arguments, std::optional<BlockCost> cost,
                       Dim dim = {256}) {
    cases.push_back({"patterns", kernel, "", {blocks}, dim, 0, std::move(arguments), cost});
  };
  const auto floats = reference::random_floats(n, 3);

  for (uint32_t s = 1; s <= 70; ++s) {
    const uint64_t ways = s % 32 == 0 ? 32 : s & -s;  // gcd(s, 32): the lowest bit set
    cases.push_back({"patterns",
                     "stride",
                     std::to_string(s),
                     {blocks},
                     {block},
                     s * block * 4,
                     {output(reference::reverse(floats, block), -1.0f), input(floats), scalar(s)},
                     BlockCost{{8, 8 * ways, 8}, {8, 8 * ways, 8}}});
  }
  std::vector<float> same(n);
  for (uint32_t i = 0; i < n; ++i) same[i] = floats[i / block * block + 201];
  add("broadcast", {output(same, -1.0f), input(floats), scalar(201u)}, BlockCost{{8, 8, 8}, {8, 8, 8}});

  const auto index = reference::random_permutation(block, 4);
  add("permutation_gather", {output(reference::gather(floats, index), -1.0f), input(floats), input(index)},
      {});
  add("permutation_scatter", {output(reference::scatter(floats, index), -1.0f), input(floats), input(index)},
      {});

  std::vector<signed char> chars(n);
  std::vector<short> shorts(n);
  std::vector<int> ints(n);
  std::vector<double> doubles(n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t h = reference::hash(i);
    chars[i] = static_cast<signed char>(h);
    shorts[i] = static_cast<short>(h);
    ints[i] = static_cast<int>(h);
    doubles[i] = static_cast<double>(h) * 1.0000000001 - 2e9;
  }
  const BlockCost one_each{{8, 8, 8}, {8, 8, 8}}, two_phases{{8, 16, 16}, {8, 16, 16}};
  add("elements_char", {output(reference::reverse(chars, block), static_cast<signed char>(0)), input(chars)},
      one_each);
  add("elements_short", {output(reference::reverse(shorts, block), static_cast<short>(0)), input(shorts)},
      one_each);
  add("elements_int", {output(reference::reverse(ints, block), 0), input(ints)}, one_each);
  add("elements_float", {output(reference::reverse(floats, block), 0.0f), input(floats)}, one_each);
  add("elements_double", {output(reference::reverse(doubles, block), 0.0), input(doubles)}, two_phases);
  add("doubles_split", {output(reference::reverse(doubles, block), 0.0), input(doubles)},
      BlockCost{{16, 16, 16}, {16, 16, 16}});

  struct Struct {
    const char* kernel;
    uint32_t words;
    BlockCost cost;
  };
  const Struct structs[] = {{"struct_2", 2, {{16, 32, 16}, {16, 32, 16}}},
                            {"struct_3", 3, {{24, 24, 24}, {24, 24, 24}}},
                            {"struct_4", 4, {{32, 128, 32}, {32, 128, 32}}},
                            {"vector_2", 2, two_phases},
                            {"vector_4", 4, {{8, 32, 32}, {8, 32, 32}}}};
  for (const Struct& s : structs) {
    const auto in = reference::random_floats(n * s.words, 5);
    add(s.kernel, {output(reference::reverse(in, block, s.words), 0.0f), input(in)}, s.cost);
  }

  const auto pairs = reference::random_floats(2 * n, 6);
  add("two_interleaved",
      {output(reference::differences(pairs, block, reference::Order::neighbours), 9.0f), input(pairs)},
      BlockCost{{16, 32, 16}, {16, 16, 16}});
  add("two_blocked",
      {output(reference::differences(pairs, block, reference::Order::halves), 9.0f), input(pairs)},
      BlockCost{{16, 16, 16}, {16, 16, 16}});

  const auto squares = reference::random_floats(blocks * 32 * 32, 7);
  const std::vector<float> small(squares.begin(), squares.begin() + blocks * 16 * 16);
  add("rows_16", {output(reference::upside_down(small, 16), 9.0f), input(small)}, one_each, {16, 16});
  add("columns_16", {output(reference::upside_down(small, 16), 9.0f), input(small)},
      BlockCost{{8, 64, 8}, {8, 64, 8}}, {16, 16});
  add("rows_32", {output(reference::upside_down(squares, 32), 9.0f), input(squares)},
      BlockCost{{32, 32, 32}, {32, 32, 32}}, {32, 32});
  add("columns_32", {output(reference::upside_down(squares, 32), 9.0f), input(squares)},
      BlockCost{{32, 1024, 32}, {32, 1024, 32}}, {32, 32});

  const auto particles = reference::random_floats(4 * n, 8);
  const auto moments = reference::moments(particles, block);
  add("particles_aos", {output(moments, 9.0f), input(particles)}, BlockCost{{32, 128, 32}, {32, 128, 32}});
  add("particles_soa", {output(moments, 9.0f), input(reference::struct_of_arrays(particles, block))},
      BlockCost{{32, 32, 32}, {32, 32, 32}});
}

[[nodiscard]] inline std::vector<Case> kernel_cases() {
  std::vector<Case> cases;
  add_reductions(cases);
  add_transposes(cases);
  add_patterns(cases);
  add_tiles(cases);
  return cases;
}

}  // namespace lanescope::kernels
