// See array.hpp.
#include "advise/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "advise/division.hpp"
#include "advise/fields.hpp"
#include "advise/pitch.hpp"
#include "advise/python.hpp"
#include "advise/tokens.hpp"

namespace lanescope::advise {

using profile::NamedPlace;

namespace {

/// The function that a variable of the kernel is in, with its template arguments; empty if that is not clear.
std::string function_around(const Launch& launch, const exec::SharedVariable& variable) {
  const ptx::Module& module = launch.module;
  std::set<std::string> functions;
  const auto consider = [&](const ptx::Variable& v) {
    if (v.display_name == variable.name && v.size == variable.size)
      functions.insert(function_of(ptx::demangle(v.name)));
  };
  for (const ptx::Function& function : module.functions) {
    if (function.name != launch.kernel.name) continue;
    for (const ptx::Variable& v : function.variables) consider(v);
    for (const ptx::Instruction& instruction : function.body)
      for (const auto* operands : {&instruction.operands, &instruction.elements})
        for (const ptx::Operand& operand : *operands)
          if (operand.symbol.kind == ptx::SymbolRef::Kind::module_variable)
            consider(module.variables[operand.symbol.index]);
  }
  return functions.size() == 1 ? *functions.begin() : "";
}

/// In the file of the worst access, else, where that is in a function from elsewhere, in another file of the
/// kernel's. Sets Array::file.
std::variant<Declaration, Unclear> declaration_of(const Launch& launch, Array& array, Sources& sources) {
  if (!array.place.in_source) return Unclear{"compiled without -lineinfo, so that the source is not known"};
  if (!array.variable->array.empty()) {
    const Division division(launch.kernel, sources);
    array.file = division.file(*array.variable);
    return division.declaration(*array.variable, launch.config);
  }
  const std::string function = function_around(launch, *array.variable);
  std::optional<Unclear> first;
  std::vector<std::string> files{array.place.file};
  files.insert(files.end(), launch.kernel.files.begin(), launch.kernel.files.end());
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& text = sources.unit(files[i]).text;
    const uint32_t line = i == 0 ? array.place.line : UINT32_MAX;
    std::variant<Declaration, Unclear> found =
        sources.file(files[i]).path.empty() ? Unclear{files[i] + " was not found"}
        : is_python(files[i])
            ? find_python_declaration(text, array.shape.bytes, line)
            : find_declaration(text, array.variable->name, array.shape.bytes, line, function);
    array.file = files[i];
    if (auto* declaration = std::get_if<Declaration>(&found)) {
      if (!is_python(files[i]))
        declaration->pitch = declared_pitch(text, *declaration, function, &launch.config.block);
      return found;
    }
    if (!first) first = std::get<Unclear>(found);
  }
  return *first;
}

/// Where only subscripts lead into an array, accesses wider than an element are several that the compiler put
/// together, as far as it could tell that they are neighbours: a layout may take them apart again.
void take_vectors_apart(Array& array, const std::string& text) {
  const uint32_t element = array.declaration->element_bytes;
  if (!std::has_single_bit(element) || !has_only_subscripts(text, *array.declaration)) return;
  for (Pattern& pattern : array.patterns)
    if ((pattern.op == model::Op::load || pattern.op == model::Op::store) && pattern.width > element)
      pattern.part = static_cast<uint8_t>(element);
}

/// What the text casts to vectors stays aligned, also where this run of the program did not come.
void keep_vectors(Shape& shape, const Declaration& declaration, const std::string& text) {
  const uint32_t bytes = vector_bytes(text, declaration);
  if (std::has_single_bit(bytes) && shape.row_bytes % bytes == 0) shape.unit = std::max(shape.unit, bytes);
}

}  // namespace

NamedPlace place_of(const Launch& launch, uint32_t site) {
  return profile::named_place(launch.module, launch.kernel, launch.kernel.accesses[site].origin);
}

bool is_of_wmma(const Launch& launch, uint32_t site) {
  return launch.kernel.accesses[site].text.starts_with("wmma.");
}

int64_t stride_of(const Pattern& p) {
  const auto first = static_cast<size_t>(std::countr_zero(p.mask));
  const auto lanes = static_cast<size_t>(std::popcount(p.mask));
  if (lanes < 2 || p.mask >> first != 0xffffffffu >> (32 - lanes)) return 0;
  const int64_t stride = int64_t{p.offset[first + 1]} - int64_t{p.offset[first]};
  for (size_t lane = first + 1; lane < first + lanes; ++lane)
    if (int64_t{p.offset[lane]} - int64_t{p.offset[lane - 1]} != stride) return 0;
  return stride;
}

std::optional<Outcome> whole_launch(const model::Arch& arch, const Array& array, const Shape& shape,
                                    const Layout& layout, bool& exact) {
  Outcome all;
  const std::span<const Pattern> patterns = array.patterns;
  for (size_t begin = 0; begin < patterns.size();) {
    size_t end = begin;
    uint64_t recorded = 0;
    for (; end < patterns.size() && patterns[end].site == patterns[begin].site; ++end)
      recorded += patterns[end].count;
    const auto one = what_if(arch, shape, patterns.subspan(begin, end - begin), layout);
    if (!one) return std::nullopt;
    const uint64_t counted = array.counted.at(patterns[begin].site);
    const auto scaled = [&](uint64_t part) {
      __extension__ const auto product = static_cast<unsigned __int128>(part) * counted;
      exact = exact && product % recorded == 0;
      return static_cast<uint64_t>(product / recorded);
    };
    all.wavefronts += scaled(one->wavefronts);
    all.ideal += scaled(one->ideal);
    all.max_way = std::max(all.max_way, one->max_way);
    all.bytes = one->bytes;
    all.estimate = all.estimate || one->estimate;
    begin = end;
  }
  return all;
}

NamedPlace worst_place_of(const Launch& launch, const Array& array) {
  std::map<uint32_t, uint64_t> of_sites;
  for (size_t i = 0; i < array.patterns.size(); ++i)
    of_sites[array.patterns[i].site] += array.costs[i].wavefronts - array.costs[i].ideal;
  NamedPlace worst;
  uint64_t most = 0;
  std::map<std::pair<std::string, uint32_t>, uint64_t> of_lines;
  for (const auto& [site, excess] : of_sites) {
    const NamedPlace place = place_of(launch, site);
    const uint64_t sum = of_lines[{place.file, place.line}] += excess;
    if (worst.line != 0 && sum <= most) continue;
    most = sum;
    worst = place;
  }
  return worst;
}

void find_shapes(const Launch& launch, Array& array, Sources& sources) {
  Shape& shape = array.shape;
  const uint32_t bank_row = bank_row_of(launch.arch);
  std::variant<Declaration, Unclear> found = declaration_of(launch, array, sources);
  if (const auto* declaration = std::get_if<Declaration>(&found)) {
    array.declaration = *declaration;
    shape.element_bytes = declaration->element_bytes;
    shape.row_bytes = declaration->row_bytes();
    shape.plane_bytes = declaration->plane_bytes();
    if (!is_python(array.file)) {
      const std::string& text = sources.unit(array.file).text;
      take_vectors_apart(array, text);
      keep_vectors(shape, *declaration, text);
      if (!declaration->part) shape.splits = splits_of(text, *declaration);
    }
  }
  if (shape.row_bytes != 0) {
    array.pitch_from = fmt::format(
        "the declaration in {}{}", line_in_words(array.declaration->line, array.declaration->file),
        array.declaration->assumed.empty() ? "" : fmt::format(" ({})", array.declaration->assumed));
    const bool by_subscripts = array.declaration->extents.size() < 2;
    if (by_subscripts) {
      const Pitch& pitch = *array.declaration->pitch;
      array.pitch_from = "the subscripts of " + array.declaration->name;
      if (pitch.text != std::to_string(pitch.elements))
        array.pitch_from += fmt::format(" ({} is {})", pitch.text, pitch.elements);
    }
    array.shapes = {shape};
    if (by_subscripts ? shape.row_bytes != bank_row
                      : shape.row_bytes > bank_row && shape.row_bytes % bank_row == 0) {
      // Of long rows pieces can be moved against each other, too, where lanes conflict in one row.
      array.shapes.push_back(shape);
      array.shapes.back().row_bytes = bank_row;
      array.shapes.back().plane_bytes = 0;
      array.shapes.back().has_rows = false;
    }
    return;
  }
  uint32_t widest = 1;  // of the accesses
  for (const Pattern& p : array.patterns) widest = std::max<uint32_t>(widest, p.part != 0 ? p.part : p.width);
  if (!array.declaration) shape.element_bytes = widest;
  shape.has_rows = false;
  std::vector<Pattern> in_order;  // data may go in any
  std::copy_if(array.patterns.begin(), array.patterns.end(), std::back_inserter(in_order),
               [&](const Pattern& p) { return !array.is_from_data(p); });
  const uint32_t pitch = row_pitch_of(in_order);
  const bool seen = pitch > bank_row && pitch % shape.element_bytes == 0;
  // Of tiles with a halo, s[(y + 1) * 18 + x], a warp covers several rows, each in a run of its own.
  constexpr size_t least_run = 8;
  const uint32_t short_pitch = seen ? 0 : row_pitch_of(in_order, least_run);
  const bool seen_short = short_pitch < bank_row && bank_row % std::max(1u, short_pitch) != 0 &&
                          short_pitch % shape.element_bytes == 0;
  if (const auto* why = std::get_if<Unclear>(&found)) {
    array.pitch_from = fmt::format("the recorded addresses ({})", why->reason);
    array.no_declaration = why->reason;
  } else {
    array.pitch_from =
        seen ? "the recorded addresses" : fmt::format("the width of the banks ({} bytes)", bank_row);
  }
  for (const uint32_t row : {seen ? pitch : 0u, bank_row, seen_short ? short_pitch : 0u})
    if (row != 0 && row > shape.element_bytes) {
      array.shapes.push_back(shape);
      array.shapes.back().row_bytes = row;
    }
  if (array.shapes.empty()) array.shapes = {shape};
  shape = array.shapes.front();
  // Elements as long as the banks are structs that hold arrays, whose rows may be what conflicts.
  if (!array.declaration || shape.element_bytes < bank_row) return;
  for (const uint32_t row : {pitch, bank_row})
    if (row >= bank_row && row < shape.element_bytes && row % widest == 0) {
      array.shapes.push_back(shape);
      array.shapes.back().element_bytes = widest;
      array.shapes.back().row_bytes = row;
    }
}

}  // namespace lanescope::advise
