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
