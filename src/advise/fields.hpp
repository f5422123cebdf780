// What the elements of an array of structs are made of, as it takes to keep each of it in an array of its
// own: s[i].pos.x may become s.pos[i].x, or s.pos.x[i].
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/layout.hpp"
#include "advise/members.hpp"

namespace lanescope::advise {

/// An element, or a field of it.
struct Component {
  std::string name;               ///< empty: the element itself
  std::string type;               ///< as a declaration would have it
  std::vector<uint64_t> extents;  ///< of a field that is an array; each of its elements is as `place` says
  Field place;
  bool has_functions = false;
  std::vector<Component> fields;  ///< none: it stays whole

  [[nodiscard]] bool is_whole() const { return fields.empty(); }
  [[nodiscard]] const Component* find(std::string_view field) const;
};

/// The element of the array, taken apart into the members of its struct, and these into theirs if `deeply`;
/// of vector types (float4) x … w are members. Nothing if the struct is not clear in the text.
[[nodiscard]] std::optional<Component> components_of(std::string_view text, const Declaration& declaration,
                                                     bool deeply);

/// What gets an array of its own, in the order of the element.
[[nodiscard]] std::vector<Field> fields_of(const Component& element);

/// Shape::splits of the array's elements; none if their struct is not clear.
[[nodiscard]] std::vector<std::vector<Field>> splits_of(std::string_view text,
                                                        const Declaration& declaration);

}  // namespace lanescope::advise
