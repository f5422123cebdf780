// Structs in shared memory: of `struct Storage { float a[32][32], b[32][32]; }; __shared__ Storage s;` the
// members are arrays to whoever wrote them. Read from the source text, as far as it is clear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"

namespace lanescope::advise {

struct Member {
  Declaration declaration;  ///< as that of a variable; Declaration::member_of says of what
  uint32_t offset = 0, bytes = 0;
};

/// The name of a type without its template arguments and what it is qualified by.
[[nodiscard]] std::string_view name_of_type(std::string_view type);

/// The members of a struct or class of that type that has `bytes` bytes, in their order. Empty where the text
/// does not define it, where the size of one is not known or all together make another size, and where
/// none is an array.
[[nodiscard]] std::vector<Member> members_of(std::string_view text, std::string_view type, uint64_t bytes);

}  // namespace lanescope::advise
