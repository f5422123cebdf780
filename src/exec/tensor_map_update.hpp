// Tensor maps that kernels change: tensormap.replace writes one field of a map in shared or global memory,
// tensormap.cp_fenceproxy copies a map to global memory. Source: PTX ISA 9.0, 9.7.9.28 and 9.7.13.14; which
// numbers stand for which types was found on an H200 (docs/async.md).
#pragma once

#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec {

struct Warp;

/// Inst::imm of tensormap.replace.
struct TensorMapField {
  ptx::Mod field{};
  uint8_t ordinal = 0;  ///< of box_dim and the like: which dimension
  ptx::Space space{};   ///< of the map
};
static_assert(sizeof(TensorMapField) <= 8);

/// a: first index of the operands in Kernel::side (bulk_copy.hpp): the map at BulkPlace::to, the value at
/// BulkPlace::from.
const Inst* replace_in_tensor_map(Warp& w, const Inst* in);
/// a: the same; the copy at BulkPlace::to, the map at BulkPlace::from. One copy for the warp.
const Inst* copy_tensor_map(Warp& w, const Inst* in);

}  // namespace lanescope::exec
