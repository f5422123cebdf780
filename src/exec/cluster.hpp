// Clusters: blocks that run at the same time and reach each other's shared memory. Source: PTX
// ISA 9.0, 2.2.1.2 "Cluster of Cooperative Thread Arrays", 9.7.13.4 barrier.cluster, 9.7.9.23 mapa, 9.7.9.24
// getctarank.
//
// One host thread runs all blocks of a cluster, one after the other, so shared memory needs no locks. An
// address of shared::cluster is an offset with the block's rank + 1 in bits 24 to 31; without a rank it is
// the own block's, so addresses of shared::cta are addresses of shared::cluster too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "exec/program.hpp"

namespace lanescope::exec {

struct BlockState;
struct Warp;

inline constexpr uint32_t rank_shift = 24;
/// Largest number of blocks of a cluster; more than 8 must be allowed by the program.
inline constexpr uint32_t most_cluster_blocks = 16;

/// The address of `offset` of the block `rank`, as an offset in the window of shared memory.
[[nodiscard]] constexpr uint32_t cluster_address(uint32_t offset, uint32_t rank) {
  return (offset & ((1u << rank_shift) - 1)) | (rank + 1) << rank_shift;
}

/// The address of shared::cluster that a generic address stands for; offsets are such addresses.
[[nodiscard]] constexpr uint64_t in_window(uint64_t address) {
  return address >= shared_window ? address - shared_window : address;
}

/// The offset in its block's memory.
[[nodiscard]] constexpr uint64_t in_block(uint64_t cluster_address) {
  return cluster_address & ((uint64_t{1} << rank_shift) - 1);
}

struct Cluster {
  std::vector<BlockState*> blocks;                  ///< by rank
  std::vector<std::unique_ptr<BlockState>> others;  ///< all but the first one, which owns this
};

/// Linear index of block `rank` of cluster number `cluster` of a grid.
[[nodiscard]] uint64_t block_of_cluster(const LaunchConfig& config, uint64_t cluster, uint32_t rank);

/// After lanes of a block have arrived or ended: begins the next phase of its cluster's barrier if nobody is
/// missing in this one.
void complete_cluster_barrier(BlockState& block);

// Handlers without a host instruction set.

/// Inst::imm of arrive_at_cluster where the arrival orders no memory.
inline constexpr uint64_t cluster_relaxed = 1;
const Inst* arrive_at_cluster(Warp& w, const Inst* in);
const Inst* wait_for_cluster(Warp& w, const Inst* in);
/// mapa: d ← the address in block b (32 bits) of what a is in any block. imm: lane bytes of a and d.
const Inst* map_to_rank(Warp& w, const Inst* in);
/// isspacep.shared::cta: predicate d ← whether the generic address a is in the own block's shared memory.
const Inst* is_own_shared(Warp& w, const Inst* in);
/// Clears the last bit of the rank of an address of shared::cluster: d ← a & imm, of the even block of a
/// pair. Programs do so by clearing bit 24, where a GPU has the rank.
const Inst* to_even_block(Warp& w, const Inst* in);
/// Whether the constant clears that bit, and of the others only such as are zero in addresses of larger
/// objects.
[[nodiscard]] constexpr bool clears_rank(uint32_t mask) { return (mask | 0xffff) == ~(1u << rank_shift); }
/// getctarank: d (32 bits) ← the rank of the block that address a is in. imm: lane bytes of a.
const Inst* rank_of_address(Warp& w, const Inst* in);

}  // namespace lanescope::exec
