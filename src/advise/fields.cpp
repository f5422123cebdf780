// See fields.hpp.
#include "advise/fields.hpp"

#include <algorithm>
#include <iterator>

#include "advise/expression.hpp"

namespace lanescope::advise {
namespace {

/// The type of x … w of a vector type; empty if it is none.
std::string_view type_in_vector(std::string_view type) {
  struct Known {
    std::string_view vector, element;
  };
  static constexpr Known all[] = {{"char", "signed char"},
                                  {"uchar", "unsigned char"},
                                  {"short", "short"},
                                  {"ushort", "unsigned short"},
                                  {"int", "int"},
                                  {"uint", "unsigned"},
                                  {"long", "long"},
                                  {"ulong", "unsigned long"},
                                  {"longlong", "long long"},
                                  {"ulonglong", "unsigned long long"},
                                  {"float", "float"},
                                  {"double", "double"}};
  if (type.empty() || type.back() < '2' || type.back() > '4') return {};
  type.remove_suffix(1);
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [&](const Known& k) { return k.vector == type; });
  return found == std::end(all) ? std::string_view() : found->element;
}

/// Adds the fields of a component; false if it stays whole, or is not clear. `structure`: of what it is, if
/// that is known.
bool take_apart(std::string_view text, Component& component, std::optional<Struct> structure, bool deeply) {
  if (const std::string_view type = type_in_vector(component.type); !type.empty()) {
    const auto lanes = static_cast<uint32_t>(component.type.back() - '0');
    const uint32_t bytes = component.place.bytes / lanes;
    for (uint32_t i = 0; i < lanes; ++i)
      component.fields.push_back({std::string(1, "xyzw"[i]),
                                  std::string(type),
                                  {},
                                  {component.place.offset + i * bytes, bytes, bytes},
                                  false,
                                  {}});
    return true;
  }
  if (!structure) structure = find_struct({text}, component.type);
  if (!structure || structure->bytes != component.place.bytes || structure->members.empty()) return false;
  component.has_functions = structure->has_functions;
  for (const Member& m : structure->members) {
    Component field{m.declaration.name, m.type, {}, {}, false, {}};
    for (const Extent& extent : m.declaration.extents) field.extents.push_back(extent.value);
    field.place = {component.place.offset + m.offset, m.declaration.element_bytes, m.alignment};
    if (deeply) (void)take_apart(text, field, std::nullopt, true);
    component.fields.push_back(std::move(field));
  }
  return true;
}

void add_fields(const Component& component, uint32_t offset, std::vector<Field>& fields) {
  uint64_t count = 1;
  for (const uint64_t extent : component.extents) count *= extent;
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t begin = offset + static_cast<uint32_t>(i) * component.place.bytes;
    if (component.is_whole())
      fields.push_back({component.place.offset + begin, component.place.bytes, component.place.alignment});
    for (const Component& field : component.fields) add_fields(field, begin, fields);
  }
}

}  // namespace

const Component* Component::find(std::string_view field) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Component& c) { return c.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<Component> components_of(std::string_view text, const Declaration& declaration, bool deeply) {
  std::string type = declaration.type;
  for (const std::string_view word : {"const ", "struct ", "class "})
    if (type.starts_with(word)) type.erase(0, word.size());
  Component element{"", type, {}, {0, declaration.element_bytes, 1}, false, {}};
  if (!take_apart(text, element, struct_of({text}, declaration), deeply)) return std::nullopt;
  return element;
}

std::vector<Field> fields_of(const Component& element) {
  std::vector<Field> fields;
  add_fields(element, 0, fields);
  return fields;
}

std::vector<std::vector<Field>> splits_of(std::string_view text, const Declaration& declaration) {
  constexpr size_t most = 64;  // arrays in place of one
  std::vector<std::vector<Field>> splits;
  for (const bool deeply : {false, true})
    if (const auto element = components_of(text, declaration, deeply)) {
      std::vector<Field> fields = fields_of(*element);
      if (fields.size() <= most && (splits.empty() || splits.front() != fields))
        splits.push_back(std::move(fields));
    }
  return splits;
}

}  // namespace lanescope::advise
