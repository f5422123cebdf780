// Launches of the programs of tests/data/cu, whose results were recorded on hardware (tests/data/expected).
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "kernels/case.hpp"

namespace lanescope::kernels {

/// A result of `bytes` bytes, zero before.
[[nodiscard]] inline Argument zeros(size_t bytes, Match match = Match::exact) {
  return recorded(Bytes(bytes), match);
}
/// 0, 1, 2, … as values of T.
template <class T>
[[nodiscard]] std::vector<T> iota(size_t n) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i);
  return values;
}

/// The struct that the kernel with_settings of names.cu takes.
struct Settings {
  int factor;
  short offset[3];
  double weight;
};

/// Asynchronous copies, clusters and bulk copies. `add` makes a case of what it is given.
template <class Add>
void add_async_cases(const Add& add) {
  const auto words = [](size_t n) {
    std::vector<uint32_t> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<uint32_t>(i * 2654435761u);
    return values;
  };
  add("async", "async_primitives", {1}, {128}, {input(iota<int>(12 * 128)), zeros(12 * 512)});
  add("async", "async_zero_fill", {1}, {64}, {input(words(256)), zeros(4 * (256 + 128 + 64))});
  add("async", "async_ignored", {1}, {64}, {input(words(256)), zeros(1024)});
  add("async", "async_pipeline", {1}, {64}, {input(words(1024)), zeros(4096)});
  add("async", "async_block_pipeline", {1}, {128}, {input(words(768)), zeros(3072)});
  add("async", "async_split_pipeline", {1}, {128}, {input(words(480)), zeros(1920)});
  add("async", "async_groups", {1}, {96}, {input(words(400)), zeros(1600)});
  add("async", "async_barrier", {1}, {128}, {input(words(3 * 512)), zeros(3 * 2048)});
  add("async", "async_tokens", {1}, {128}, {zeros(512)});
  add("async", "async_states", {1}, {1}, {zeros(128)});

  add("clusters", "clusters_registers", {4, 6, 2}, {8}, {zeros(48 * 80)});
  add("clusters", "clusters_none", {3}, {32}, {zeros(96)});
  add("clusters", "clusters_exchange", {8}, {64}, {zeros(8 * 64 * 16)});
  add("clusters", "clusters_atomics", {16}, {64}, {zeros(16 * 32)});
  add("clusters", "clusters_addresses", {4}, {1}, {zeros(4 * 64)});
  add("clusters", "clusters_phases", {4}, {64}, {zeros(4 * 160)});
  add("clusters", "clusters_mbarrier", {8}, {64}, {zeros(8 * 64 * 32)});
  add("clusters", "clusters_histogram", {2}, {128}, {input(words(1024)), zeros(256)});

  add("bulk", "bulk_round_trip", {1}, {256}, {input(words(768)), zeros(3072)});
  add("bulk", "bulk_multicast", {8}, {64}, {input(words(256)), zeros(8 * 272 * 4)});
  add("bulk", "bulk_reductions", {1}, {32}, {zeros(15 * 128)});
  add("bulk", "bulk_float_reductions", {1}, {32}, {zeros(8 * 128)});
  add("bulk", "bulk_shared_reductions", {2}, {16}, {zeros(2 * 384)});
}

struct Coordinates {
  int at[5];
};

/// A tensor of a type (a CUtensorMapDataType) that lies without gaps but for `gap` bytes after each row.
[[nodiscard]] inline Tensor tensor_of(uint32_t type, uint32_t element_bytes, std::vector<uint64_t> size,
                                      std::vector<uint32_t> box, uint32_t swizzle = 0, uint64_t gap = 0) {
  Tensor t;
  t.type = type;
  t.element_bytes = element_bytes;
  t.dimensions = static_cast<uint32_t>(size.size());
  std::copy(size.begin(), size.end(), t.size.begin());
  std::copy(box.begin(), box.end(), t.box.begin());
  uint64_t stride = size[0] * element_bytes + gap;
  for (uint32_t d = 1; d < t.dimensions; ++d) {
    t.strides[d - 1] = stride;
    stride *= size[d];
  }
  t.swizzle = swizzle;
  return t;
}
[[nodiscard]] inline uint64_t bytes_of(const Tensor& t) {
  return t.dimensions == 1 ? t.size[0] * t.element_bytes
                           : t.strides[t.dimensions - 2] * t.size[t.dimensions - 1];
}
[[nodiscard]] inline int box_bytes(const Tensor& t) {
  uint32_t elements = t.box[0];
  for (uint32_t d = 1; d < t.dimensions; ++d) elements *= (t.box[d] + t.steps[d] - 1) / t.steps[d];
  return static_cast<int>(elements * t.element_bytes);
}

/// Boxes of tensors. CUtensorMapDataType: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64, 6 f16, 7 f32, 8 f64, 9
/// bf16, 10 f32 flushed, 11 tf32, 12 tf32 flushed.
template <class Add>
void add_tensor_cases(const Add& add) {
  const auto argument = [](const Tensor& t, Match match) {
    Argument a = zeros(bytes_of(t), match);
    for (size_t i = 0; i < a.value.size(); ++i)
      a.value[i] = static_cast<std::byte>(match == Match::untouched ? (i * 31 + i / 251) & 0xff : 0);
    if (match == Match::untouched) a.expected = a.value;
    a.tensor = t;
    return a;
  };
  const auto load = [&](const char* variant, const Tensor& t, Coordinates at, int offset = 0) {
    const int bytes = box_bytes(t);
    add("tensors", "tensor_load", {1}, {128},
        {argument(t, Match::untouched), scalar(static_cast<int>(t.dimensions)), scalar(at), scalar(offset),
         scalar(bytes), zeros(static_cast<size_t>(bytes) + 128)},
        static_cast<uint32_t>(offset + 8 * bytes + 2048), variant);
  };
  const auto store = [&](const char* variant, const Tensor& t, Coordinates at, int offset = 0) {
    const int bytes = box_bytes(t);
    add("tensors", "tensor_store", {1}, {128},
        {argument(t, Match::exact), scalar(static_cast<int>(t.dimensions)), scalar(at), scalar(offset),
         scalar(bytes)},
        static_cast<uint32_t>(offset + bytes + 1024), variant);
  };
  const auto stepped = [](Tensor t, std::array<uint32_t, 5> steps) {
    t.steps = steps;
    return t;
  };
  const auto nan = [](Tensor t) {
    t.fills_nan = true;
    return t;
  };
  load("1d", tensor_of(2, 4, {100}, {64}), {{20}});
  load("1d before and behind", tensor_of(2, 4, {24}, {64}), {{-20}});
  load("2d", tensor_of(2, 4, {64, 32}, {32, 8}), {{8, 3}});
  load("2d corner", tensor_of(2, 4, {36, 10}, {32, 8}), {{20, 6}});
  load("2d negative", tensor_of(1, 2, {40, 10}, {32, 8}), {{-8, -3}});
  load("2d outside", tensor_of(2, 4, {36, 10}, {32, 8}), {{64, 0}});
  load("2d gap", tensor_of(0, 1, {50, 9}, {48, 5}, 0, 14), {{16, 2}});
  load("3d", tensor_of(7, 4, {16, 9, 5}, {8, 4, 3}), {{4, 7, 3}});
  load("4d", tensor_of(6, 2, {24, 7, 5, 4}, {16, 3, 2, 3}), {{16, -1, 4, 2}});
  load("5d", tensor_of(0, 1, {48, 5, 4, 3, 3}, {32, 2, 3, 2, 2}), {{32, 4, -1, 2, 1}});
  load("swizzle 32", tensor_of(2, 4, {64, 40}, {8, 32}, 1), {{4, 1}});
  load("swizzle 64", tensor_of(2, 4, {64, 40}, {16, 32}, 2), {{4, 1}});
  load("swizzle 128", tensor_of(2, 4, {64, 40}, {32, 32}, 3), {{4, 1}});
  load("swizzle 128 of bytes", tensor_of(0, 1, {160, 40}, {128, 20}, 3), {{16, 25}});
  load("swizzle 128 narrow", tensor_of(2, 4, {64, 40}, {16, 32}, 3), {{4, 1}});
  load("swizzle 64 narrow", tensor_of(2, 4, {64, 40}, {4, 32}, 2), {{4, 1}});
  load("swizzle 128 moved", tensor_of(2, 4, {64, 40}, {32, 16}, 3), {{4, 1}}, 128);
  load("swizzle 64 moved", tensor_of(2, 4, {64, 40}, {16, 16}, 2), {{4, 1}}, 384);
  load("swizzle 128 3d", tensor_of(6, 2, {96, 6, 4}, {64, 5, 3}, 3), {{48, -2, 2}});
  load("steps", stepped(tensor_of(2, 4, {40, 30}, {16, 13}), {1, 3, 1, 1, 1}), {{4, 5}});
  load("steps 3d", stepped(tensor_of(2, 4, {16, 20, 9}, {16, 8, 6}), {1, 2, 4, 1, 1}), {{-4, 15, -2}});
  load("steps of elements", stepped(tensor_of(2, 4, {64, 8}, {32, 4}), {2, 1, 1, 1, 1}), {{4, 1}});
  load("nan f32", nan(tensor_of(7, 4, {36, 10}, {32, 8})), {{20, 6}});
  load("nan f16", nan(tensor_of(6, 2, {40, 10}, {32, 8})), {{24, 6}});
  load("nan bf16", nan(tensor_of(9, 2, {40, 10}, {32, 8})), {{24, 6}});
  load("nan f64", nan(tensor_of(8, 8, {10, 10}, {8, 8})), {{4, 6}});
  load("nan tf32", nan(tensor_of(11, 4, {36, 10}, {32, 8})), {{20, 6}});
  load("f32 flushed", tensor_of(10, 4, {64, 16}, {64, 16}), {{0, 0}});
  load("tf32", tensor_of(11, 4, {64, 16}, {64, 16}), {{0, 0}});
  load("tf32 flushed", tensor_of(12, 4, {64, 16}, {64, 16}), {{0, 0}});
  store("1d", tensor_of(2, 4, {100}, {64}), {{20}});
  store("1d behind", tensor_of(2, 4, {40}, {64}), {{0}});
  store("2d", tensor_of(2, 4, {36, 10}, {32, 8}), {{20, 6}});
  store("3d swizzle 64", tensor_of(2, 4, {24, 9, 5}, {16, 4, 3}, 2), {{4, 7, 3}});
  store("swizzle 128", tensor_of(2, 4, {64, 40}, {32, 32}, 3), {{4, 1}});
  store("swizzle 32", tensor_of(6, 2, {64, 40}, {16, 32}, 1), {{8, 20}}, 128);
  store("steps", stepped(tensor_of(2, 4, {40, 30}, {16, 12}), {1, 3, 1, 1, 1}), {{4, 5}});

  const auto reduce = [&](const char* variant, uint32_t type, uint32_t element_bytes, int operation) {
    const Tensor t = tensor_of(type, element_bytes, {96 / element_bytes, 10}, {64 / element_bytes, 4});
    const int bytes = box_bytes(t);
    std::vector<uint32_t> elements(static_cast<size_t>(bytes) / 4);
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<uint32_t>(i * 0x01000193u + 0x3c003c00u);
    Argument tensor = argument(t, Match::exact);
    for (size_t i = 0; i < tensor.value.size(); i += 4) {
      const auto word = static_cast<uint32_t>(0x3f803f80u ^ (i * 0x10001u << (i % 7)));
      std::memcpy(tensor.value.data() + i, &word, sizeof word);
    }
    add("tensors", "tensor_reduce", {1}, {64},
        {tensor, scalar(operation), scalar(Coordinates{{static_cast<int>(48 / element_bytes), 7}}),
         input(elements), scalar(bytes)},
        static_cast<uint32_t>(bytes + 1024), variant);
  };
  reduce("add u32", 2, 4, 0);
  reduce("add s32", 3, 4, 0);
  reduce("add u64", 4, 8, 0);
  reduce("add f32", 7, 4, 0);
  reduce("add f16", 6, 2, 0);
  reduce("add bf16", 9, 2, 0);
  reduce("min s32", 3, 4, 1);
  reduce("max u32", 2, 4, 2);
  reduce("min f16", 6, 2, 1);
  reduce("max bf16", 9, 2, 2);
  reduce("inc u32", 2, 4, 3);
  reduce("dec u32", 2, 4, 4);
  reduce("and s32", 3, 4, 5);
  reduce("or u32", 2, 4, 6);
  reduce("xor u64", 4, 8, 7);

  add("tensors", "tensor_multicast", {4}, {64},
      {argument(tensor_of(2, 4, {64, 16}, {32, 8}), Match::untouched), zeros(4 * 2048)});
  const Tensor square = tensor_of(2, 4, {64, 96}, {32, 32}, 3);
  const Tensor turned = tensor_of(2, 4, {96, 64}, {32, 32}, 3);
  add("tensors", "tensor_transpose", {2, 3}, {128},
      {argument(square, Match::untouched), argument(turned, Match::exact)});
}

[[nodiscard]] inline std::vector<Case> program_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* program, const char* kernel, Dim grid, Dim block,
                       std::vector<Argument> arguments, uint32_t dynamic_shared = 0,
                       const char* variant = "") {
    cases.push_back({program, kernel, variant, grid, block, dynamic_shared, std::move(arguments), {}});
  };

  for (const char* kernel :
       {"call_scalar", "call_structs", "call_divergent", "call_recursive", "call_mutual", "call_indirect"})
    add("calls", kernel, {1}, {32}, {zeros(128)});
  add("calls", "call_pointers", {1}, {32}, {zeros(256)});

  add("local_memory", "local_sort", {1}, {64}, {zeros(2048)});
  add("local_memory", "local_types", {1}, {64}, {zeros(256)});

  for (const char* kernel : {"table_constant", "table_pointers", "table_text", "table_changed"})
    add("tables", kernel, {1}, {32}, {zeros(128)});
  add("tables", "table_global", {1}, {32}, {zeros(384)});

  for (const char* kernel : {"control_switch", "control_jump_table", "control_collatz", "control_jumps",
                             "control_conditions", "control_early_return"})
    add("control", kernel, {1}, {64}, {zeros(256)});
  add("control", "control_mandelbrot", {4}, {32, 8}, {zeros(4096)});

  add("integers", "integers_64", {16}, {64}, {zeros(16384)});
  add("integers", "integers_carry", {16}, {64}, {zeros(16384)});
  for (const char* kernel : {"integers_32", "integers_select", "integers_narrow"})
    add("integers", kernel, {16}, {64}, {zeros(8192)});

  for (const char* kernel : {"bits_count", "bits_move", "bits_shift", "bits_field", "bits_logic"})
    add("bits", kernel, {1}, {64}, {zeros(2048)});

  add("floats", "floats_32", {1}, {256}, {zeros(24 * 1024)});
  add("floats", "floats_ftz", {1}, {256}, {zeros(7 * 1024)});
  add("floats", "floats_64", {1}, {256}, {zeros(16 * 2048)});
  add("floats", "floats_compare", {1}, {256}, {zeros(2048)});
  add("floats", "floats_approximate", {1}, {256}, {zeros(10 * 1024, Match::relative)});
  add("floats", "floats_trigonometric", {1}, {256}, {zeros(4 * 1024, Match::absolute)});
  add("floats", "floats_functions_64", {1}, {256}, {zeros(6 * 2048)});

  for (const int special : {0, 1}) {
    const char* variant = special == 0 ? "" : "special";
    add("conversions", "conversions_to_integers", {1}, {32}, {zeros(12 * 256), scalar(special)}, 0, variant);
    add("conversions", "conversions_among_floats", {1}, {32}, {zeros(10 * 128), scalar(special)}, 0, variant);
    add("conversions", "conversions_half", {1}, {32}, {zeros(10 * 128), scalar(special)}, 0, variant);
  }
  add("conversions", "conversions_to_narrow", {1}, {32}, {zeros(10 * 128)});
  add("conversions", "conversions_from_integers", {1}, {32}, {zeros(18 * 128)});

  add("halves", "halves_convert", {16}, {32}, {zeros(11 * 2048)});
  add("halves", "halves_add", {13}, {32}, {zeros(13 * 32 * 32)});
  add("halves", "halves_least", {13}, {32}, {zeros(13 * 32 * 64)});
  add("halves", "halves_shared_places", {2}, {32}, {zeros(64)});
  add("halves", "halves_widths", {16}, {32}, {zeros(64)});

  add("atomics", "atomics_global", {5}, {64}, {zeros(64)});
  add("atomics", "atomics_shared", {1}, {64}, {zeros(64)});
  add("atomics", "atomics_wide", {5}, {64}, {zeros(64)});
  add("atomics", "atomics_loops", {3}, {64}, {zeros(16)});
  add("atomics", "atomics_histogram", {5}, {64}, {zeros(64)});

  add("warps", "warps_vote", {1}, {64}, {zeros(7 * 256)});
  add("warps", "warps_shuffle", {1}, {64}, {zeros(13 * 256)});
  add("warps", "warps_scan", {1}, {64}, {zeros(2 * 256)});
  add("warps", "warps_match", {1}, {64}, {zeros(6 * 256)});
  add("warps", "warps_reduce", {1}, {64}, {zeros(9 * 256)});
  add("warps", "warps_masks", {1}, {64}, {zeros(7 * 256)});
  add("warps", "warps_syncwarp", {1}, {64}, {zeros(256)});

  add("barriers", "barriers_votes", {1}, {128}, {zeros(2048)});
  add("barriers", "barriers_named", {1}, {128}, {zeros(512)});
  add("barriers", "barriers_arrive", {1}, {128}, {zeros(1152)});
  add("barriers", "barriers_dynamic_shared", {1}, {128}, {zeros(512)}, 128 * 12);
  add("barriers", "barriers_after_exit", {1}, {128}, {zeros(512)});
  add("barriers", "barriers_ring", {1}, {128}, {zeros(512)});

  add("vectors", "vectors_float4", {1}, {64}, {recorded(bytes_of(iota<float>(256)))});
  add("vectors", "vectors_shared", {1}, {64}, {zeros(4096)});
  add("vectors", "vectors_hints", {1}, {64}, {input(iota<int>(64)), zeros(1024)});
  add("vectors", "vectors_volatile", {1}, {64}, {zeros(512)});
  add("vectors", "vectors_narrow", {1}, {64}, {zeros(5 * 256)});

  add("generic", "generic_mixed", {1}, {32}, {zeros(128)});
  add("generic", "generic_space", {1}, {32}, {zeros(256)});
  add("generic", "generic_atomic", {1}, {32}, {zeros(128)});
  add("generic", "generic_shared_address", {1}, {32}, {zeros(128)});

  add("geometry", "geometry_index", {3, 2, 2}, {5, 3, 2}, {zeros(12 * 30 * 4)});
  add("geometry", "geometry_index", {2}, {33, 2, 2}, {zeros(2 * 132 * 4)}, 0, "wide");
  add("geometry", "geometry_partial", {2}, {75}, {zeros(600)});
  add("geometry", "geometry_bounds", {1}, {128}, {zeros(512)});

  for (const char* kernel : {"progress_lock", "progress_spin"})
    add("progress", kernel, {4}, {64}, {zeros(8)});
  add("progress", "progress_lanes", {1}, {32}, {zeros(8)});
  add("progress", "progress_warps", {1}, {64}, {zeros(128)});
  add("progress", "progress_blocks", {40}, {1}, {zeros(160)});
  add("progress", "progress_grid", {20}, {64}, {zeros(84)});

  add_async_cases(add);
  add_tensor_cases(add);

  add("names", "_ZN6shapes4areaINS_6SquareELi2EEEvPi", {1}, {32}, {zeros(128)});
  add("names", "_ZN6shapes4areaINS_5StripELi5EEEvPi", {1}, {32}, {zeros(128)});
  add("names", "_Z10overloadedPi", {1}, {32}, {zeros(128)});
  add("names", "_Z10overloadedPii", {1}, {32}, {zeros(128), scalar(1000)});
  add("names", "_Z13with_settingsPi8Settings", {1}, {32},
      {zeros(128), scalar(Settings{7, {100, -200, 300}, 4.0})});
  return cases;
}

/// Results by label, one buffer a case: the words of a file of tests/data/expected.
using Recording = std::map<std::string, Bytes>;

[[nodiscard]] inline Recording read_recording(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Recording recording;
  Bytes* current = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      current = &recording[line.substr(1, line.size() - 2)];
      continue;
    }
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const uint32_t value = static_cast<uint32_t>(std::stoul(word, nullptr, 16));
      const auto* raw = reinterpret_cast<const std::byte*>(&value);
      current->insert(current->end(), raw, raw + sizeof value);
    }
  }
  return recording;
}

}  // namespace lanescope::kernels
