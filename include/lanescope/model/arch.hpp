// One architecture's memory rules as plain data, each with where it comes from. The rules' meaning is in
// shared.hpp and global.hpp; the presets are in archs.hpp.
#pragma once

#include <cstdint>

#include "lanescope/model/portable.hpp"

namespace lanescope::model {

/// Where a rule comes from, surest first. A result carries the least sure of the rules it used.
enum class Evidence : uint8_t {
  measured,      ///< hardware counters of single-warp launches, tests/data/truth/h200_patterns.csv
  vendor_guide,  ///< the vendor's programming guide
  third_party,   ///< somebody else's measurement (AMD: latencies published in the amd-shark-ai repository)
  assumed,       ///< carried over from a neighbouring generation or width; nobody we know has measured it
};

LANESCOPE_HD constexpr Evidence less_sure(Evidence a, Evidence b) { return a < b ? b : a; }

/// What lanes that read one word in one phase cost.
enum class Broadcast : uint8_t {
  none,        ///< each lane costs its own access
  one_word,    ///< one word a step goes to all its readers, every other bank serves one lane (NVIDIA 1.x)
  many_words,  ///< every word goes to all its readers (everything since)
};

/// How a warp instruction on global memory becomes memory transactions.
enum class GlobalRule : uint8_t {
  strict_segments,  ///< NVIDIA 1.0, 1.1: half-warps; lane k on word k of one aligned segment, or one access a
                    ///< lane
  segments,  ///< NVIDIA 1.2, 1.3: half-warps; segments of 32/64/128 bytes, halved while one half is unused
  lines,     ///< NVIDIA 2.x, 3.x: 128-byte cache lines
  sectors,   ///< NVIDIA 5.x and later: 32-byte sectors
};

/// The lanes that the banks serve together when nothing meets: one phase after the other until all have been
/// served.
struct Phases {
  /// Consecutive lanes of a phase; 0 = the phases are listed in `list`.
  int lanes_each = 32;
  /// Consecutive phases never cross a multiple of this many lanes.
  int unit = 32;
  /// Listed phases (lane masks), `listed` of them, for hardware whose phases are not consecutive lanes.
  int listed = 0;
  uint64_t list[8] = {};
  Evidence evidence = Evidence::assumed;
};

/// The widths 1, 2, 4, 8, 16 bytes have the indices 0 … 4.
inline constexpr int width_count = 5;

LANESCOPE_HD constexpr int width_index(int width) {
  return width <= 1 ? 0 : width <= 2 ? 1 : width <= 4 ? 2 : width <= 8 ? 3 : 4;
}

/// One architecture. Make one with find_arch, with_bank_mode or custom_arch (archs.hpp).
struct Arch {
  const char* name = "custom";
  const char* description = "";
  /// Lanes of a warp: 32, or 64 on most AMD chips.
  int warp_lanes = 32;
  /// Shared memory: bank of byte a = (a / bank_bytes) mod banks. Guides: CUDA C Programming Guide
  /// (edition 4.2, appendix F.3.3 for 1.x, F.4.3 for 2.x; later editions for 3.x and on); AMD's for HD 5870
  /// and GCN.
  int banks = 32;
  int bank_bytes = 4;
  /// Phases by width_index(width). Stores of AMD's 16-byte accesses differ from the loads.
  Phases load[width_count] = {};
  Phases store[width_count] = {};
  /// 1.x: guide 4.2, F.3.3.1; 2.x: F.4.3.1; 9.0: measured.
  Broadcast broadcast = Broadcast::many_words;
  Evidence broadcast_evidence = Evidence::assumed;
  /// Words of the aligned segment inside which the words i and i + banks come out together; 0 = no such rule.
  /// 64 on 3.x in 4-byte mode: CUDA C Programming Guide, compute capability 3.x, 32-bit mode.
  int segment_words = 0;
  /// 3.x: the bank width is the program's choice (cudaDeviceSetSharedMemConfig), see with_bank_mode.
  bool has_bank_modes = false;
  /// 1.x: an access wider than a bank is several accesses of bank_bytes, one after the other (guide 4.2,
  /// F.3.3.4).
  bool split_wide = false;
  /// 1.x: different 8- or 16-bit items of one word conflict (guide 4.2, F.3.3.3).
  bool subword_conflict = false;
  /// 2.x: wavefronts that each phase of a 16-byte access costs beside its n-way (guide 4.2, F.4.3.3: add
  /// one).
  int extra_wide_wavefronts = 0;
  /// Of the rules from segment_words to here.
  Evidence special_evidence = Evidence::vendor_guide;
  /// Loads of 8 or 16 bytes: when every active lane reads what its partner lane^1 reads (where that is
  /// active), or every one what lane^2 reads, phases hold twice as many lanes. 7.x: vendor; 9.0: measured.
  bool pair_rule = false;
  Evidence pair_evidence = Evidence::assumed;
  /// Atomics count lanes, not words, and a compare-and-swap takes two wavefronts for each (2 to 16 bytes and
  /// the loops made of them measured on 9.0: tests/data/truth/h100_atomics.csv); cp.async counts lanes (4 and
  /// 8 bytes measured on 9.0; 16 bytes past the first-level cache: no pattern costs more,
  /// tests/data/truth/h100_async_copies.csv); ldmatrix and stmatrix count words, eight rows to a phase
  /// (measured on 9.0).
  Evidence atomic_evidence = Evidence::assumed;
  Evidence async_evidence = Evidence::assumed;
  Evidence matrix_evidence = Evidence::assumed;
  /// Guide 4.2, F.3.2 for 1.x, F.4.2 for 2.x; 9.0: measured.
  GlobalRule global = GlobalRule::sectors;
  Evidence global_evidence = Evidence::assumed;
  /// The first-level cache of global memory lies in the banks of shared memory (l1.hpp): 7.x and later, CUDA
  /// C++ Programming Guide, "Compute Capability 7.x", Shared Memory; that its accesses conflict there: 9.0,
  /// measured.
  bool l1_in_banks = false;
  Evidence l1_evidence = Evidence::assumed;
};

}  // namespace lanescope::model
