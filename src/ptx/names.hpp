// Mangled names → what the programmer wrote.
#pragma once

#include <string>
#include <string_view>

namespace lanescope::ptx {

/// The name of a variable for people: `tile` for `_ZZ9transposePfE4tile` (a variable inside a function) and
/// for
/// `__cuda_local_var_41932_32_non_const_tile`, the demangled name for others, the name itself if it is not
/// mangled.
[[nodiscard]] std::string variable_display_name(std::string_view name);

}  // namespace lanescope::ptx
