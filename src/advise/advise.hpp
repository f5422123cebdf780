// Which change of a kernel would take away bank conflicts, what it would bring and cost. From the recorded
// accesses of a launch; nothing is run again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/layout.hpp"
#include "advise/patch.hpp"
#include "advise/sources.hpp"
#include "exec/launch.hpp"
#include "exec/observer.hpp"
#include "exec/program.hpp"
#include "lanescope/model/arch.hpp"
#include "lanescope/model/limits.hpp"
#include "profile/profile.hpp"
#include "ptx/module.hpp"

namespace lanescope::advise {

struct Advice {
  enum class Kind : uint8_t {
    layout,                 ///< `layout` says which
    sequential_addressing,  ///< partners at a distance that halves, in place of elements at a stride that
                            ///< doubles
    strided_elements,       ///< thread t takes elements t, t + threads, … in place of consecutive ones
    lane_mapping,           ///< lanes go along rows in place of columns
    shuffles,               ///< the last warp's steps through registers
    copies,                 ///< of counters that data picks, for the lanes of a warp
    index_padding,          ///< one that is computed from the index, for the banks that there are
  };
  Kind kind = Kind::layout;
  Layout layout;
  Shape shape;  ///< of the variable as it is
  std::string variable;
  /// The line whose accesses to the variable cost most over the ideal.
  std::string file;
  uint32_t line = 0;
  std::string change;  ///< what to do: "pad each row by 1 word: tile[32][32 + 1]"
  std::string reason;  ///< one sentence
  /// Of all accesses to the variable in the launch: as counted, and as they would be (see `estimate`).
  uint64_t wavefronts_before = 0, wavefronts_after = 0;
  uint64_t launch_wavefronts = 0;                            ///< of all shared memory
  uint32_t shared_bytes_before = 0, shared_bytes_after = 0;  ///< of a block
  model::Occupancy occupancy_before, occupancy_after;
  bool occupancy_known = false;  ///< only NVIDIA's chips' limits are known
  bool registers_known = false;  ///< false: taken not to limit the occupancy
  bool proven_best = false;      ///< no change of its kind brings more
  bool estimate = false;         ///< accesses were dropped from the recording, or a rule is unknown
  /// Where the rows' pitch is from: "the declaration in line 12 (T = 32, from the array's size)". Empty where
  /// no rows matter.
  std::string pitch_from;
  std::optional<Declaration> declaration;  ///< of the variable, where it is clear
  std::optional<Patch> patch;              ///< where the texts show that it does it
  bool patch_uses_tiles = false;           ///< the patch includes lanescope/tile.cuh
  std::string no_patch;                    ///< else: what stands in its way
  /// So many bytes the variable has to have, or a multiple of them, in every launch; 0: any number.
  uint32_t size_multiple = 0;
  /// Of rows that are padded in a template by a patch: the same with 1, 2, … elements, for other instances of
  /// it may want other ones.
  std::vector<Advice> paddings{};
};

/// What limits how many blocks a multiprocessor holds: "threads", "shared memory", …
[[nodiscard]] const char* name_of(model::Limiter limiter);

/// One launch, as advice needs it.
struct Launch {
  const model::Arch& arch;
  const ptx::Module& module;
  const exec::Kernel& kernel;
  const exec::LaunchConfig& config;
  uint32_t shared_bytes = 0;  ///< of a block, static and dynamic
  int registers = 0;          ///< of a thread; 0: unknown
  const profile::Profile& profile;
};

/// Best first: fewest wavefronts left, and those that more memory and less occupancy are worth, then the
/// smaller change. Empty where nothing is to gain or nothing was recorded. No change alters what a kernel
/// computes, if nothing but subscripts leads into the array; sequential addressing changes the order of a
/// sum.
[[nodiscard]] std::vector<Advice> advise(const Launch& launch, Sources& sources);

}  // namespace lanescope::advise
