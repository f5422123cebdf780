// See struct_of_arrays.hpp.
#include "advise/struct_of_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "advise/fields.hpp"

namespace lanescope::advise {
namespace {

class Mover : ArrayText {
 public:
  explicit Mover(const ArrayText& array) : ArrayText(array) {}

  [[nodiscard]] Rewrite rewrite(const StructOfArrays& arrays) const {
    refuse_member();
    if (d_.extents.empty() || d_.part) throw Refused{"it is no array"};
    require_plain_declaration();
    Component element = element_of(arrays);
    const bool has_name = is_name_of_type(element.type);
    if (!has_name) element.type = fresh_name(d_.name + "_element");
    std::string count;
    for (const Extent& extent : d_.extents) count += fmt::format("[{}]", trimmed(extent.text));
    Rewrite result;
    const std::string margin = margin_of(d_.type_begin);
    for (const Component& field : element.fields)
      result.what += fmt::format("{}{}.{}{}{}", result.what.empty() ? "" : ", ", d_.name, field.name,
                                 extents_of(field), count);
    bool names_type = false;
    for (const Use& use : uses(d_.extents.size(), true))
      names_type |= move_element(use, element, result.edits) == Moved::by_its_type;
    const std::string declaration =
        fmt::format("struct {{\n{}{}}} {}", arrays_of(element, count, margin + "  "), margin, d_.name);
    if (d_.body.second == 0)
      redeclare(declaration, result.edits);
    else
      redeclare_apart(declaration, element.type, has_name ? is_named_twice(element.type) : names_type,
                      result.edits);
    return result;
  }

 private:
  /// The element, taken apart as the layout says.
  [[nodiscard]] Component element_of(const StructOfArrays& arrays) const {
    for (const bool deeply : {false, true}) {
      std::optional<Component> element = components_of(text_, d_, deeply);
      if (!element) break;
      const std::vector<Field> fields = fields_of(*element);
      const auto is_piece = [&](const Field& field) { return field.bytes == arrays.piece; };
      if (arrays.fields.empty() ? std::all_of(fields.begin(), fields.end(), is_piece)
                                : arrays.fields == fields)
        return std::move(*element);
    }
    throw Refused{fmt::format("the fields of '{}' are not clear", d_.type)};
  }
  static std::string extents_of(const Component& field) {
    std::string text;
    for (const uint64_t extent : field.extents) text += fmt::format("[{}]", extent);
    return text;
  }
  /// The members of the struct of arrays, one a line.
  static std::string arrays_of(const Component& element, const std::string& count,
                               const std::string& margin) {
    std::string text;
    for (const Component& field : element.fields)
      text += field.is_whole()
                  ? fmt::format("{}{} {}{}{};\n", margin, field.type, field.name, extents_of(field), count)
                  : fmt::format("{}struct {{\n{}{}}} {}{};\n", margin, arrays_of(field, count, margin + "  "),
                                margin, field.name, extents_of(field));
    return text;
  }
  /// What a use names of an element: all of it, a field, a field of a field.
  struct Named {
    const Component* component;
    size_t behind;       ///< token
    size_t indices = 0;  ///< that name one of several, of a field that is an array
    [[nodiscard]] bool is_one() const { return indices == component->extents.size(); }
    [[nodiscard]] bool is_array_of_its_own() const { return is_one() && component->is_whole(); }
  };
  /// From token `at` on, which stands behind something that is `element`, or a pointer to it.
  [[nodiscard]] Named named_from(size_t at, const Component& element, bool is_pointer = false) const {
    Named named{&element, at};
    while (named.behind + 1 < tokens_.size() && !named.is_array_of_its_own()) {
      if (!named.is_one() && tokens_[named.behind].is("[")) {
        named.behind = closing(named.behind) + 1;
        ++named.indices;
        continue;
      }
      const bool is_first = named.component == &element;
      if (!named.is_one() || !tokens_[named.behind].is(is_first && is_pointer ? "->" : ".")) break;
      const Token& field = tokens_[named.behind + 1];
      const Component* const found = named.component->find(field.text);
      if (found == nullptr)
        throw Refused{fmt::format("{} calls '{}' of an element", place(named.behind + 1), field.text)};
      named = {found, named.behind + 2};
    }
    return named;
  }
  /// Calls `each` with the way to everything below the component that has an array of its own: ".pos.x".
  template <class Each>
  void for_each_array(const Component& component, const std::string& way, Each each) const {
    for (const Component& field : component.fields)
      for_each_index(field, way + "." + field.name, [&](const std::string& one) {
        if (field.is_whole())
          each(one);
        else
          for_each_array(field, one, each);
      });
  }
  template <class Each>
  static void for_each_index(const Component& field, const std::string& way, Each each, size_t known = 0) {
    if (known == field.extents.size()) return each(way);
    for (uint64_t i = 0; i < field.extents[known]; ++i)
      for_each_index(field, fmt::format("{}[{}]", way, i), each, known + 1);
  }
  /// {s.x[i], {s.pos.x[i], s.pos.y[i]}}, of the component that is reached by `way`, "s" or "s.pos".
  std::string list_of(const Component& component, const std::string& way, const std::string& index) const {
    std::string list;
    for (const Component& field : component.fields)
      list += (list.empty() ? "" : ", ") + list_of_field(field, way + "." + field.name, index, 0);
    return "{" + list + "}";
  }
  std::string list_of_field(const Component& field, const std::string& way, const std::string& index,
                            size_t known) const {
    if (known == field.extents.size()) return field.is_whole() ? way + index : list_of(field, way, index);
    std::string list;
    for (uint64_t i = 0; i < field.extents[known]; ++i)
      list +=
          (list.empty() ? "" : ", ") + list_of_field(field, fmt::format("{}[{}]", way, i), index, known + 1);
    return "{" + list + "}";
  }
  /// Of an element only what is used of it, and what leads there.
  static Component only(const Component& component, const std::set<const Component*>& used) {
    Component rest = component;
    rest.fields.clear();
    for (const Component& field : component.fields) {
      Component of_field = field.is_whole() ? field : only(field, used);
      if (field.is_whole() ? used.count(&field) != 0 : !of_field.is_whole())
        rest.fields.push_back(std::move(of_field));
    }
    return rest;
  }
  /// struct { float& x; … }: references to what has an array of its own.
  std::string references_of(const Component& component, bool is_const) const {
    std::string members;
    for (const Component& field : component.fields) {
      if (!field.extents.empty()) throw Refused{fmt::format("'{}' of an element is an array", field.name)};
      members += (field.is_whole() ? (is_const ? "const " : "") + field.type + "&"
                                   : references_of(field, is_const)) +
                 " " + field.name + "; ";
    }
    return "struct { " + members + "}";
  }
  /// T& q = s[i]; → struct { float& x; … } q{s.x[i], …};, where all that is done with q is q.x. So are
  /// pointers, T* q = &s[i];, where that is q->x.
  void move_reference(const Use& use, const Component& element, const std::string& index,
                      std::vector<Edit>& edits) const {
    const bool is_pointer = is_kept_pointer(use);
    const size_t name = use.name - (is_pointer ? 3 : 2), ampersand = name - 1, semicolon = use.behind();
    size_t first = ampersand;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const auto is_of_type = [](const Token& t) {
      return t.is_name() || t.is("::") || t.is("<") || t.is(">") || t.is(",");
    };
    if (!tokens_[semicolon].is(";") ||
        !std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                     tokens_.begin() + static_cast<std::ptrdiff_t>(ampersand), is_of_type))
      throw Refused{fmt::format("the reference to an element in {} is not understood", place(use.name))};
    std::set<const Component*> used;
    int depth = 0;
    for (size_t i = semicolon; i + 2 < tokens_.size() && depth >= 0; ++i) {
      const Token& t = tokens_[i];
      depth += t.in_directive ? 0 : t.is("{") ? 1 : t.is("}") ? -1 : 0;
      const bool is_member = tokens_[i - 1].is(".") || tokens_[i - 1].is("->");
      if (!t.is(tokens_[name].text) || is_member) continue;
      const Named named = named_from(i + 1, element, is_pointer);
      used.insert(named.component);
      if (is_pointer) {
        for (const Use& other : uses(d_.extents.size(), true))
          if (i > other.name && i < named_from(other.behind(), element).behind)
            throw Refused{fmt::format("{} uses '{}' in a subscript of '{}'", place(i), t.text, d_.name)};
        edits.push_back({tokens_[i + 1].begin, tokens_[i + 1].end(), "."});
      }
      if (!named.is_array_of_its_own())
        throw Refused{fmt::format("{} uses '{}', which stands for an element, as a whole", place(i), t.text)};
    }
    const bool is_const = tokens_[first].is("const") || tokens_[ampersand - 1].is("const");
    const Component rest = only(element, used);
    // nvcc warns of objects that nothing but their references is used of.
    edits.push_back({tokens_[first].begin, tokens_[semicolon].begin,
                     fmt::format("[[maybe_unused]] {} {}{}", references_of(rest, is_const),
                                 tokens_[name].text, list_of(rest, d_.name, index))});
  }
  enum class Moved : uint8_t { by_fields, by_its_type };  ///< the latter names the type of the elements
  /// s[i].x → s.x[i]; s[i] = v → each field of v; s[i] as a value → Type{s.x[i], …}; T& q = s[i] →
  /// references to the fields.
  Moved move_element(const Use& use, const Component& element, std::vector<Edit>& edits) const {
    for (const Use::Subscript& s : use.subscripts) refuse_if_nested(s);
    const size_t behind = use.behind();
    if (behind + 1 >= tokens_.size()) throw Refused{"the text ends too early"};
    const size_t index_begin = tokens_[use.name].end(), index_end = tokens_[behind - 1].end();
    const Named named = named_from(behind, element);
    if (named.is_array_of_its_own()) {
      const size_t end = tokens_[named.behind - 1].end();
      edits.push_back({index_begin, index_end, ""});
      edits.push_back({end, end, between(index_begin, index_end)});
      return Moved::by_fields;
    }
    if (!named.is_one())
      throw Refused{fmt::format("{} uses '{}' of an element, which is an array, as a whole", place(use.name),
                                named.component->name)};
    for (size_t i = use.name + 1; i < named.behind; ++i)
      if (tokens_[i].is("++") || tokens_[i].is("--") || tokens_[i].is("=") ||
          (tokens_[i].is("(") && is_operand(tokens_[i - 1])))
        throw Refused{fmt::format("the subscript in {} would be computed several times", place(use.name))};
    std::string index;
    for (const Use::Subscript& s : use.subscripts) index += "[" + inside(s) + "]";
    const Token& before = tokens_[use.name - 1];
    const bool is_reference =
        before.is("=") && tokens_[use.name - 2].is_name() && tokens_[use.name - 3].is("&");
    if (named.behind == behind && (is_reference || is_kept_pointer(use))) {
      move_reference(use, element, index, edits);
      return Moved::by_fields;
    }
    const Moved moved = named.component == &element ? Moved::by_its_type : Moved::by_fields;
    const std::string way = d_.name + between(index_end, tokens_[named.behind - 1].end());
    if (tokens_[named.behind].is("=")) {
      move_assignment(use, named, way, index, edits);
      return moved;
    }
    require_value(use.name, named.behind);
    if (named.component->has_functions)
      throw Refused{
          fmt::format("{} makes a '{}', which has functions", place(use.name), named.component->type)};
    edits.push_back({tokens_[use.name].begin, tokens_[named.behind - 1].end(),
                     named.component->type + list_of(*named.component, way, index)});
    return moved;
  }
  void move_assignment(const Use& use, const Named& named, const std::string& way, const std::string& index,
                       std::vector<Edit>& edits) const {
    const Token& before = tokens_[use.name - 1];
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
      return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return before.is(word); });
    };
    size_t end = named.behind;
    for (int depth = 0; end < tokens_.size() && (depth > 0 || !tokens_[end].is(";")) && depth >= 0; ++end)
      depth += tokens_[end].is("(") || tokens_[end].is("{")   ? 1
               : tokens_[end].is(")") || tokens_[end].is("}") ? -1
                                                              : 0;
    if (end >= tokens_.size()) throw Refused{"the text ends too early"};
    size_t first = use.name;
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    const bool is_labeled = before.is(":") && (tokens_[first].is("case") || tokens_[first].is("default"));
    if (!(is_labeled || is_one_of({";", "{", "}", ")", "else", "do"})) || !tokens_[end].is(";"))
      throw Refused{fmt::format("the assignment in {} is no statement", place(use.name))};
    const std::string margin = margin_of(tokens_[use.name].begin);
    const std::string element = fresh_name("element");
    std::string copies;
    for_each_array(*named.component, "", [&](const std::string& field) {
      copies += fmt::format("\n{0}  {1}{2}{3} = {4}{2};", margin, way, field, index, element);
    });
    edits.push_back({tokens_[use.name].begin, tokens_[named.behind].begin,
                     fmt::format("{{\n{}  const {} {} ", margin, named.component->type, element)});
    edits.push_back({tokens_[end].end(), tokens_[end].end(), copies + "\n" + margin + "}"});
  }
  /// Refuses what is no value: a place that something is stored to, an address that is taken, an object that
  /// a function is called of or may change.
  void require_value(size_t name, size_t behind) const {
    constexpr std::string_view operators[] = {
        "+", "-", "*", "/", "<", ">", "==", "!=", "<=", ">=", "&&", "||", "?", ":"};
    const auto is_operator = [&](const Token& t) {
      return std::any_of(std::begin(operators), std::end(operators),
                         [&](std::string_view op) { return t.is(op); });
    };
    const Token &before = tokens_[name - 1], &next = tokens_[behind];
    const bool begins = before.is("=") || before.is("return") || before.is("(") || before.is(",") ||
                        before.is("{") || is_operator(before);
    const bool ends = next.is(";") || next.is(",") || next.is(")") || next.is("}") ||
                      (is_operator(next) && !tokens_[behind + 1].is("="));
    if (!begins || !ends || (before.is("{") && !next.is(",") && !next.is("}")))
      throw Refused{fmt::format("{} uses an element as a whole", place(name))};
    const std::string_view function = function_given(name);
    if (takes_reference(function) || function == "swap")
      throw Refused{fmt::format("{} gives an element to '{}', which may change it", place(name), function)};
  }
};

}  // namespace

Rewrite make_struct_of_arrays(const ArrayText& array, const StructOfArrays& arrays) {
  return Mover(array).rewrite(arrays);
}

}  // namespace lanescope::advise
