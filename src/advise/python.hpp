// Shared arrays of Numba kernels: where the Python source declares them, and how their rows are lengthened
// there. The counterpart of declaration.hpp and rewrite.hpp for CUDA C++.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "advise/declaration.hpp"
#include "advise/rewrite.hpp"

namespace lanescope::advise {

/// Whether this file holds Python.
[[nodiscard]] bool is_python(std::string_view file);

/// The `name = cuda.shared.array(shape, dtype)` of `bytes` bytes in the function around line `used_at`. PTX
/// does not tell the name: of several arrays as large, it is the one with a subscript in that line. Extents
/// are numbers, or names that the module gives a number once.
[[nodiscard]] std::variant<Declaration, Unclear> find_python_declaration(std::string_view text,
                                                                         uint64_t bytes, uint32_t used_at);

/// The edits that give the array this layout; of layouts, padded rows alone.
[[nodiscard]] std::variant<Rewrite, Unclear> rewrite_python(std::string_view text,
                                                            const Declaration& declaration,
                                                            const Shape& shape, const Layout& layout);

}  // namespace lanescope::advise
