// One well-known chip of each architecture, and what it can do at most: for the least time that a launch
// takes.
#pragma once

#include <string_view>

#include "lanescope/model/portable.hpp"

namespace lanescope::model {

/// From the vendor's data sheets: the highest clock that they name, and the memory's bandwidth.
struct Chip {
  std::string_view arch, name;
  int multiprocessors = 0;
  double clock_hz = 0;
  double bytes_per_second = 0;  ///< of the memory, reads and writes together
};

/// Each multiprocessor of these issues four warp instructions a cycle, one of each of its parts, and its data
/// stage serves one wavefront a cycle, of shared memory or of the first-level cache ("Compute Capability 7.x"
/// and on in the CUDA C++ Programming Guide; the peak rates of Nsight Compute's sm__inst_issued and
/// l1tex__data_pipe_lsu_wavefronts).
inline constexpr int warp_instructions_per_cycle = 4;

inline constexpr Chip chips[] = {
    {"sm_70", "V100 SXM2", 80, 1530e6, 900e9},   {"sm_75", "T4", 40, 1590e6, 320e9},
    {"sm_80", "A100 SXM4", 108, 1410e6, 1555e9}, {"sm_86", "RTX 3090", 82, 1695e6, 936e9},
    {"sm_87", "AGX Orin", 16, 1300e6, 204.8e9},  {"sm_89", "RTX 4090", 128, 2520e6, 1008e9},
    {"sm_90", "H100 SXM5", 132, 1980e6, 3350e9}, {"sm_120", "RTX 5090", 170, 2407e6, 1792e9},
};

/// The chip of an architecture ("sm_90", "sm_90a"), or null.
constexpr const Chip* chip_of(std::string_view arch) {
  for (const Chip& chip : chips) {
    const std::string_view rest =
        arch.substr(0, chip.arch.size()) == chip.arch ? arch.substr(chip.arch.size()) : "?";
    if (rest.empty() || rest == "a" || rest == "f") return &chip;
  }
  return nullptr;
}

}  // namespace lanescope::model
