// The PTX of the probe's kernels: one warp repeats one access many times and reads the clock before and
// after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lanescope/model/request.hpp"

namespace lanescope::probe {

/// What a kernel repeats.
struct Access {
  enum class Space : uint8_t {
    shared,
    global  ///< pairs of loads by one lane, of 1 byte
  };

  Space space = Space::shared;
  model::Op op = model::Op::load;
  int width = 4;     ///< bytes a lane: 1, 2, 4, 8, 16; of matrices 16
  int matrices = 1;  ///< ldmatrix, stmatrix: 1, 2, 4

  friend bool operator==(const Access&, const Access&) = default;
};

/// "ld.shared 8", for messages and records.
[[nodiscard]] std::string name_of(const Access& access);

/// Every access that the probe measures.
[[nodiscard]] const std::vector<Access>& all_accesses();

/// Bytes of shared memory whose offsets patterns may use.
inline constexpr uint32_t shared_bytes = 48 * 1024;
/// The same for cp.async, of which each goes behind the one before.
inline constexpr uint32_t copy_bytes = 32 * 1024;

/// Accesses of one measurement.
inline constexpr int chain_length = 128;

/// In the table: this lane does not take part.
inline constexpr uint32_t inactive = 0xffffffff;

/// The name of the kernel in each of these modules.
inline constexpr const char* kernel_name = "probe";

/// Steps of the kernel for global memory, and the bytes between them; it reads a little beyond the last one.
inline constexpr int global_steps = 4096;
inline constexpr int global_stride = 4096;

/// A module with the kernel, for one block of one warp:
///   probe(u64 table, u64 results, u32 patterns, u32 rounds, u64 memory)
/// `results`: rounds x patterns cycles (u64). `memory`: global memory, all zero.
///
/// Shared memory: `table` has 32 byte offsets (u32) for each pattern, `inactive` for lanes that do not take
/// part; results are the cycles of chain_length accesses. Loads and atomics form a chain: the address of each
/// is known when the one before has returned. A store is followed by a load of a word of the lane's own, for
/// which the next store waits: the load comes out when the banks have taken the store. Copies (from `memory`)
/// follow each other; every sixteenth waits for those before it.
///
/// Global memory: `table` has two offsets for each pattern. Each of global_steps steps loads a byte at the
/// first offset, which no cache near the processor holds, then one at the second; results are the cycles of
/// all steps.
[[nodiscard]] std::string ptx_of(const Access& access);

/// Accesses, or steps, that one result is the cycles of.
[[nodiscard]] constexpr int repeats_of(const Access& access) {
  return access.space == Access::Space::global ? global_steps : chain_length;
}

/// Numbers in a row of the table.
[[nodiscard]] constexpr int row_of(const Access& access) {
  return access.space == Access::Space::global ? 2 : 32;
}

}  // namespace lanescope::probe
