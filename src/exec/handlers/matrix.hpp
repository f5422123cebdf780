// Matrix instructions. Operands: lists of registers in Kernel::side, see exec/matrix.hpp and
// decode_matrix.cpp. All lanes of the warp take part; an instruction before has waited for them.
#pragma once

#include "exec/matrix.hpp"
#include "exec/program.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// The handler of a product or movmatrix; nullptr for others.
[[nodiscard]] Handler select_matrix(const HandlerKey& key);
/// See HandlerSet.
[[nodiscard]] ProductMatrices& product_matrices();
void multiply_matrices(const ProductForm& form);
/// The same for those that access memory.
template <bool Observed>
[[nodiscard]] Handler select_matrix_memory(const HandlerKey& key);

}  // namespace lanescope::exec::LANESCOPE_ISA
