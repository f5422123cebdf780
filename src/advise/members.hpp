// Structs that the source text defines, as far as it is clear: what their members are, and where they lie. Of
// `struct Storage { float a[32][32], b[32][32]; }; __shared__ Storage s;` the members are arrays to whoever
// wrote them, and the elements of `__shared__ Particle p[256];` can be taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"

namespace lanescope::advise {

struct Member {
  Declaration declaration;  ///< as that of a variable; Declaration::member_of says of what
  uint32_t offset = 0, bytes = 0;
};

/// A struct or class as its definition gives it.
struct Struct {
  std::vector<Member> members;  ///< in their order
  uint64_t bytes = 0, alignment = 1;
  bool has_functions = false;
};

/// The name of a type without its template arguments and what it is qualified by.
[[nodiscard]] std::string_view name_of_type(std::string_view type);

/// The struct or class of that type, of `struct P { … };` or `typedef struct { … } P;`. None where the text
/// does not define it, or twice, and where it has bases, or members whose sizes are not known.
[[nodiscard]] std::optional<Struct> find_struct(std::string_view text, std::string_view type);

/// The members of a variable of that type and of `bytes` bytes. Empty where find_struct finds no such struct,
/// and where no member is an array.
[[nodiscard]] std::vector<Member> members_of(std::string_view text, std::string_view type, uint64_t bytes);

}  // namespace lanescope::advise
