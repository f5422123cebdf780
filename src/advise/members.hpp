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
  std::string type;         ///< what a template's parameter stands for
  uint32_t offset = 0, bytes = 0;
  uint32_t alignment = 1;
};

/// A struct or class as its definition gives it.
struct Struct {
  size_t text = 0;              ///< which of the texts defines it
  std::vector<Member> members;  ///< in their order
  uint64_t bytes = 0, alignment = 1;
  bool has_functions = false;
};

using Texts = std::vector<std::string_view>;

/// The struct or class of that type, of `struct P { … };` or `typedef struct { … } P;`, from the first of the
/// texts that shows it. None does that defines it twice, or with bases, or with members whose sizes are not
/// known.
[[nodiscard]] std::optional<Struct> find_struct(const Texts& texts, std::string_view type);

/// The struct that a variable is one of, or an array of; `texts`: that of the declaration first, which may
/// define it itself.
[[nodiscard]] std::optional<Struct> struct_of(const Texts& texts, const Declaration& declaration);

}  // namespace lanescope::advise
