// The handlers of one host instruction set, chosen by what the instruction is. The decoder asks `select`;
// everything behind it is compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/matrix.hpp"
#include "exec/program.hpp"
#include "exec/texture.hpp"

namespace lanescope::exec {

/// Handlers the decoder places itself; what their operands mean is said where they are
/// (handlers/control.hpp).
struct ControlHandlers {
  Handler guard, branch, branch_if, branch_table, call, call_indirect, ret, exit, barrier, sync, sync_groups,
      nothing, sleep, trap, clock, copy_local, wait_branch, wait_branch_if, bypass_if, give_way,
      enter_unrolled, branch_if_more;
  Handler counted_branch_if, counted_branch_table, counted_wait_branch_if, counted_bypass_if,
      counted_branch_if_more;  ///< in kernels that are observed
};

/// How far behind the test for so many iterations of an unrolled loop their copies begin: a branch for lanes
/// that have fewer is between.
inline constexpr uint32_t first_of_copies = 2;

/// Combines `bytes` bytes at `from` into those at `to`, element by element, each of them atomically.
using Reduction = void (*)(std::byte* to, const std::byte* from, size_t bytes);

struct HandlerSet {
  const char* name;  ///< "avx512", "avx2", "baseline"
  /// The handler of a memory or register instruction; nullptr for what is not supported.
  Handler (*select)(const HandlerKey&);
  /// Copies a register into one of another width (sign- or zero-extended, or cut): d ← a.
  Handler (*resize)(uint32_t to_bytes, uint32_t from_bytes, bool sign);
  /// Of elements of a type in shared or global memory; nullptr for what is no such operation.
  Reduction (*reduction)(ptx::Mod operation, ptx::Type type);
  /// The matrices that this host thread multiplies next, and the arithmetic: result += first x second.
  ProductMatrices& (*product_matrices)();
  void (*multiply)(const ProductForm& form);
  /// What one level of a texture holds at the points of all 32 lanes: tex, tld4.
  void (*sample)(const Texture& texture, const TextureLevel& level, const TextureForm& form,
                 const TexturePoints& points, Texels& out);
  ControlHandlers control;
};

[[nodiscard]] const HandlerSet& baseline_handlers();
[[nodiscard]] const HandlerSet& avx2_handlers();
[[nodiscard]] const HandlerSet& avx512_handlers();
/// Those that were compiled (LANESCOPE_ISAS of CMake) and that this host runs, best first.
[[nodiscard]] std::vector<const HandlerSet*> runnable_handlers();
/// The best set this host runs; LANESCOPE_ISA=baseline|avx2|avx512 in the environment chooses a lesser one.
[[nodiscard]] const HandlerSet& host_handlers();

}  // namespace lanescope::exec
