// What a multiprocessor has room for, by architecture, and how many blocks of a kernel fit on it at a time
// (occupancy). Sources: CUDA C Programming Guide, "Technical Specifications per Compute Capability" (edition
// 4.2, appendix F.1, for 1.x and 2.x; later editions from 3.x on), the occupancy calculator that came with
// CUDA for how registers and shared memory are handed out, and AMD's guides for the local data share.
#pragma once

#include <string_view>

#include "lanescope/model/portable.hpp"

namespace lanescope::model {

/// Sizes are bytes, registers are of 32 bits.
struct Limits {
  int threads_per_block = 1024;
  int threads = 2048;  ///< of a multiprocessor, as the next three
  int blocks = 32;
  int shared = 233472;
  int registers = 65536;
  int registers_per_block = 65536;
  int registers_per_thread = 255;
  /// Most shared memory of a block: of kernels that ask for more than the others may have
  /// (cudaFuncAttributeMaxDynamicSharedMemorySize), and of the others.
  int shared_per_block = 232448;
  int shared_per_block_unasked = 49152;
  int shared_reserved = 1024;  ///< that the system keeps of each block's share
  int shared_granule = 128;    ///< a block's share is a multiple of this
  /// The least that a kernel can have of the multiprocessor's shared memory, more of which is L1 then.
  int shared_least = 8 * 1024;
  /// Registers come in multiples of this: for a warp, or before 2.0 for a block.
  int register_granule = 256;
  bool registers_by_block = false;
  /// The multiprocessor's parts, each with its share of the registers; a warp lives in one. Before 2.0: the
  /// warps of a block count as a multiple of this.
  int partitions = 4;
};

namespace detail {

/// What differs most: one row for each compute capability; the rest follows in limits_of_sm.
struct LimitsRow {
  int sm;
  int threads, blocks;
  int shared_kib, shared_per_block_kib;  ///< of a block: without what the system keeps
};

inline constexpr LimitsRow limits_rows[] = {
    // clang-format off
    // sm   thr.  blk. shared, of a block
    {10,   768,  8,  16,  16}, {11,   768,  8,  16,  16}, {12,  1024,  8,  16,  16}, {13,  1024,  8,  16,  16},
    {20,  1536,  8,  48,  48}, {21,  1536,  8,  48,  48},
    {30,  2048, 16,  48,  48}, {32,  2048, 16,  48,  48}, {35,  2048, 16,  48,  48}, {37,  2048, 16, 112,  48},
    {50,  2048, 32,  64,  48}, {52,  2048, 32,  96,  48}, {53,  2048, 32,  64,  48},
    {60,  2048, 32,  64,  48}, {61,  2048, 32,  96,  48}, {62,  2048, 32,  64,  48},
    {70,  2048, 32,  96,  96}, {72,  2048, 32,  96,  96}, {75,  1024, 16,  64,  64},
    {80,  2048, 32, 164, 163}, {86,  1536, 16, 100,  99}, {87,  1536, 16, 164, 163}, {88,  1536, 16, 100,  99},
    {89,  1536, 24, 100,  99},
    {90,  2048, 32, 228, 227},
    {100, 2048, 32, 228, 227}, {101, 1536, 24, 228, 227}, {103, 2048, 32, 228, 227}, {107, 2048, 16, 328, 327},
    {110, 1536, 24, 228, 227},
    {120, 1536, 24, 100,  99}, {121, 1536, 24, 100,  99},
    // clang-format on
};

constexpr Limits limits_of_row(const LimitsRow& row) {
  Limits l;
  const int sm = row.sm;
  l.threads_per_block = sm < 20 ? 512 : 1024;
  l.threads = row.threads;
  l.blocks = row.blocks;
  l.shared = row.shared_kib * 1024;
  l.shared_per_block = row.shared_per_block_kib * 1024;
  l.shared_per_block_unasked = sm < 20 ? 16384 : 49152;
  l.shared_reserved = sm >= 80 ? 1024 : 0;
  l.shared_granule = sm < 20 ? 512 : sm < 30 ? 128 : sm < 80 ? 256 : 128;
  l.shared_least = sm < 70 ? l.shared : sm == 75 ? 32 * 1024 : 8 * 1024;
  l.registers = sm < 12 ? 8192 : sm < 20 ? 16384 : sm < 30 ? 32768 : sm == 37 ? 131072 : 65536;
  l.registers_per_block = sm == 53 || sm == 62 ? 32768 : sm == 37 ? 65536 : l.registers;
  l.registers_per_thread = sm < 20 ? 124 : sm < 32 ? 63 : 255;
  l.register_granule = sm < 12 ? 256 : sm < 20 ? 512 : sm < 30 ? 64 : 256;
  l.registers_by_block = sm < 20;
  l.partitions = sm < 30 || sm == 60 ? 2 : 4;
  return l;
}

constexpr int round_up_to(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace detail

/// The limits of an architecture of NVIDIA's by its name ("sm_90", "sm_90a"). Of others' and of free ones
/// (custom_arch) only what a block may have of shared memory is meant: the local data share of AMD's, else
/// that of sm_90.
constexpr Limits limits_of(std::string_view arch) {
  Limits l;
  if (arch.substr(0, 3) == "sm_") {
    int sm = 0;
    for (const char c : arch.substr(3))
      if (c >= '0' && c <= '9') sm = sm * 10 + (c - '0');
    for (const detail::LimitsRow& row : detail::limits_rows)
      if (row.sm == sm) return detail::limits_of_row(row);
    return l;
  }
  const bool cdna4 = arch == "gfx950" || arch == "cdna4";
  const bool other_amd = arch.substr(0, 3) == "gfx" || arch == "gcn" || arch == "cdna3" || arch == "rdna3";
  if (cdna4) l.shared = l.shared_per_block = l.shared_per_block_unasked = 160 * 1024;
  if (!cdna4 && other_amd) l.shared = l.shared_per_block = l.shared_per_block_unasked = 64 * 1024;
  if (arch == "hd5870") l.shared = l.shared_per_block = l.shared_per_block_unasked = 32 * 1024;
  return l;
}

/// What keeps more blocks from a multiprocessor.
enum class Limiter { none, threads, blocks, shared, registers };

struct Occupancy {
  int blocks = 0;  ///< resident at a time on one multiprocessor; 0: not even one fits
  Limiter limiter = Limiter::none;
};

/// How many blocks of `threads` threads with `shared` bytes of shared memory (static and dynamic) each fit on
/// a multiprocessor. `registers`: of a thread, as the assembler says; 0 = unknown, they are taken not to
/// limit.
constexpr Occupancy occupancy(const Limits& l, int threads, int registers, int shared) {
  if (threads <= 0 || threads > l.threads_per_block) return {0, Limiter::threads};
  if (shared < 0 || shared > l.shared_per_block) return {0, Limiter::shared};
  if (registers > l.registers_per_thread) return {0, Limiter::registers};
  const int warps = (threads + 31) / 32;
  Occupancy most{l.blocks, Limiter::blocks};
  const auto limit = [&](int blocks, Limiter limiter) {
    if (blocks < most.blocks) most = {blocks, limiter};
  };
  limit(l.threads / 32 / warps, Limiter::threads);
  if (registers > 0 && l.registers_by_block) {
    const int each =
        detail::round_up_to(detail::round_up_to(warps, l.partitions) * registers * 32, l.register_granule);
    limit(l.registers / each, Limiter::registers);
  } else if (registers > 0) {
    const int each = detail::round_up_to(registers * 32, l.register_granule);
    const bool fits = each * detail::round_up_to(warps, l.partitions) <= l.registers_per_block;
    limit(fits ? l.registers / l.partitions / each * l.partitions / warps : 0, Limiter::registers);
  }
  const int share = detail::round_up_to(shared + l.shared_reserved, l.shared_granule);
  if (share > 0) limit(l.shared / share, Limiter::shared);
  return most;
}

/// The limits where a kernel prefers `percent` of the shared memory (its carveout) and blocks have `shared`
/// bytes each: the multiprocessor's is the smallest of the sizes it can have that is as much and holds a
/// block. Sizes: CUDA C++ Programming Guide, "Compute Capabilities", and of 10.7 cuda_occupancy.h of
/// CUDA 13.5; which of them: measured on an H100 for all percentages at which it changes.
constexpr Limits with_carveout(Limits l, int percent, int shared) {
  for (const int kib : {8, 16, 32, 64, 100, 132, 164, 196, 228}) {
    const int size = kib * 1024;
    if (size < l.shared_least || size >= l.shared || size / 1024 * 100 < percent * (l.shared / 1024) ||
        size < detail::round_up_to(shared + l.shared_reserved, l.shared_granule))
      continue;
    l.shared = size;
    break;
  }
  return l;
}

}  // namespace lanescope::model
