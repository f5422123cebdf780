// See advise.hpp. One variable of shared memory at a time: its recorded accesses, its shape from the
// declaration or from the addresses, and then what layouts and what other ways of going through it would
// cost.
#include "advise/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "advise/division.hpp"
#include "advise/fields.hpp"
#include "advise/from_data.hpp"
#include "advise/python.hpp"
#include "advise/rewrite.hpp"
#include "base/words.hpp"
#include "profile/cost.hpp"

namespace lanescope::advise {
namespace {

using profile::NamedPlace;

NamedPlace place_of(const Launch& launch, uint32_t site) {
  return profile::named_place(launch.module, launch.kernel, launch.kernel.accesses[site].origin);
}

/// Whether the access is of wmma, which finds the lanes' addresses from a begin and a pitch.
bool is_of_wmma(const Launch& launch, uint32_t site) {
  return launch.kernel.accesses[site].text.starts_with("wmma.");
}

/// Bytes from each lane to the next; 0 if lanes are missing in between or are not equally far apart.
int64_t stride_of(const Pattern& p) {
  const auto first = static_cast<size_t>(std::countr_zero(p.mask));
  const auto lanes = static_cast<size_t>(std::popcount(p.mask));
  if (lanes < 2 || p.mask >> first != 0xffffffffu >> (32 - lanes)) return 0;
  const int64_t stride = int64_t{p.offset[first + 1]} - int64_t{p.offset[first]};
  for (size_t lane = first + 1; lane < first + lanes; ++lane)
    if (int64_t{p.offset[lane]} - int64_t{p.offset[lane - 1]} != stride) return 0;
  return stride;
}

/// Everything about one variable.
struct Array {
  const exec::SharedVariable* variable = nullptr;
  std::vector<Pattern> patterns;         ///< as recorded, of some blocks perhaps; ordered by site
  std::vector<Outcome> costs;            ///< of each pattern, as it is
  std::map<uint32_t, uint64_t> counted;  ///< by site: requests of the whole launch
  Shape shape;
  std::vector<Shape> shapes;  ///< to be tried: `shape` with the rows that there might be
  Outcome now;                ///< as the recorded accesses say
  uint64_t wavefronts = 0;    ///< as counted, of the whole launch
  NamedPlace place;
  std::optional<Declaration> declaration;
  std::string file;            ///< where it stands
  std::string no_declaration;  ///< why there is none
  std::string pitch_from;
  bool exact = true;            ///< what was recorded tells all of the launch
  bool async = false;           ///< bulk copies or wgmma go through it as well, which no pattern tells
  std::vector<bool> from_data;  ///< of each site; empty where nothing conflicts

  [[nodiscard]] bool is_from_data(const Pattern& pattern) const { return from_data[pattern.site]; }

  /// Whether something goes through it that has to be told where its elements lie.
  [[nodiscard]] bool is_shared_with_hardware() const { return async || shape.keeps_rows; }
};

/// what_if for the whole launch: what some blocks did counts for all, site by site. `exact` becomes false
/// where that leaves a rest.
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

/// The line of most wavefronts over the ideal; unrolled loops have many sites of one.
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
    const Sources::File& file = sources.file(files[i]);
    const uint32_t line = i == 0 ? array.place.line : UINT32_MAX;
    std::variant<Declaration, Unclear> found =
        file.path.empty() ? Unclear{files[i] + " was not found"}
        : is_python(files[i])
            ? find_python_declaration(file.text, array.shape.bytes, line)
            : find_declaration(file.text, array.variable->name, array.shape.bytes, line, function);
    array.file = files[i];
    if (std::holds_alternative<Declaration>(found)) return found;
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

/// Element, rows, and where they are known from. Rows that the declaration does not give are those that the
/// lanes' addresses show, or the rows of the banks: `Array::shapes` lists what is to be tried.
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
      const std::string& text = sources.file(array.file).text;
      take_vectors_apart(array, text);
      keep_vectors(shape, *declaration, text);
      if (!declaration->part) {
        Texts texts = sources.texts(sources.included_by(array.file));
        texts.insert(texts.begin(), text);
        shape.splits = splits_of(texts, *declaration);
      }
    }
  }
  if (shape.row_bytes != 0) {
    array.pitch_from = fmt::format(
        "the declaration in line {}{}", array.declaration->line,
        array.declaration->assumed.empty() ? "" : fmt::format(" ({})", array.declaration->assumed));
    const bool by_subscripts = array.declaration->extents.size() < 2;
    if (by_subscripts) {
      const DynamicPart& part = *array.declaration->part;
      array.pitch_from = "the subscripts of " + array.declaration->name;
      if (part.pitch != std::to_string(part.pitch_elements))
        array.pitch_from += fmt::format(" ({} is {})", part.pitch, part.pitch_elements);
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

using LineKey = std::pair<std::string, uint32_t>;

LineKey line_of(const Launch& launch, const Pattern& pattern) {
  const NamedPlace place = place_of(launch, pattern.site);
  return {place.file, place.line};
}

/// Lines that go through the array at strides that double, and these strides: d[2 * s * t]. By line, since
/// compilers unroll such loops.
struct Tree {
  std::set<LineKey> lines;
  std::set<int64_t> strides;
};

Tree tree_of(const Launch& launch, const Array& array) {
  constexpr int steps = 3;
  std::map<LineKey, std::set<int64_t>> strides_of_lines;
  int64_t narrowest = 16;  // neighbours are this far apart; the declaration need not be known
  for (const Pattern& pattern : array.patterns) {
    narrowest = std::min<int64_t>(narrowest, pattern.part != 0 ? pattern.part : pattern.width);
    if (const int64_t stride = stride_of(pattern); stride != 0)
      strides_of_lines[line_of(launch, pattern)].insert(stride);
  }
  Tree tree;
  for (const auto& [line, strides] : strides_of_lines) {
    int doubled = 0;
    for (const int64_t stride : strides)
      doubled += stride > array.shape.element_bytes && strides.count(2 * stride) != 0 ? 1 : 0;
    if (doubled < steps - 1) continue;
    tree.lines.insert(line);
    for (const int64_t stride : strides)
      if (stride > narrowest) tree.strides.insert(stride);
  }
  return tree;
}

/// Whether all that the tree is for is one element. Scans, wavelets and cyclic reductions of equations go
/// through such trees, too, but then need what lies where; a reduction combines two elements of each stride
/// and stores to one of these places, and nothing but the result is read elsewhere.
bool is_reduction(const Launch& launch, const Array& array, const Tree& tree) {
  constexpr int64_t lanes = 32;
  std::map<int64_t, std::set<uint32_t>> stored;   // by stride: where between two lanes
  std::map<int64_t, std::set<int64_t>> combined;  // … read: where among the elements of a warp lane 0 does
  std::set<uint32_t> results;
  for (const Pattern& pattern : array.patterns) {
    const auto first = static_cast<size_t>(std::countr_zero(pattern.mask));
    const int64_t stride = stride_of(pattern);
    const bool in_step = tree.strides.count(stride) != 0;
    if (pattern.op == model::Op::store) {
      if (in_step) stored[stride].insert(pattern.offset[first] % static_cast<uint32_t>(stride));
      continue;
    }
    if (in_step)
      combined[stride].insert((pattern.offset[first] + (lanes - static_cast<int64_t>(first)) * stride) %
                              (lanes * stride));
    // The tree's last steps have one lane, and no stride.
    if (tree.lines.count(line_of(launch, pattern)) != 0 && (in_step || std::has_single_bit(pattern.mask)))
      continue;
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1)
      results.insert(pattern.offset[static_cast<size_t>(std::countr_zero(left))]);
  }
  return !stored.empty() && results.size() <= 1 &&
         std::all_of(stored.begin(), stored.end(),
                     [](const auto& places) { return places.second.size() == 1; }) &&
         std::all_of(combined.begin(), combined.end(),
                     [](const auto& places) { return places.second.size() <= 2; });
}

/// How many consecutive elements each thread works on, if threads do: lanes stand n elements apart, accesses
/// at every one of the n places between two lanes happen, and every warp has elements of its own (down the
/// columns of a tile, warps go through the same rows). 0: they do not.
uint32_t consecutive_elements(const Launch& launch, const Array& array) {
  const uint32_t element = array.shape.element_bytes;
  std::set<int64_t> strides, places;  // places: of where lane 0 is, or would be
  for (const Pattern& pattern : array.patterns) {
    if (std::popcount(pattern.mask) < 2) continue;
    const int64_t stride = stride_of(pattern);
    strides.insert(stride);
    if (strides.size() != 1 || stride <= element || stride % element != 0) return 0;
    const int first = std::countr_zero(pattern.mask);
    const int64_t place = int64_t{pattern.offset[static_cast<size_t>(first)]} - first * stride;
    for (uint32_t covered = 0; covered < pattern.width; covered += element) places.insert(place + covered);
  }
  if (strides.empty()) return 0;
  const int64_t stride = *strides.begin(), of_warp = exec::warp_lanes * stride;
  std::set<int64_t> between, warps;
  for (const int64_t place : places) {
    const int64_t distance = place - *places.begin();
    if (distance % of_warp >= stride) return 0;
    between.insert(distance % of_warp / element);
    warps.insert(distance / of_warp);
  }
  const auto elements = static_cast<uint32_t>(stride / element);
  const uint64_t all_warps = (launch.config.block.count() + exec::warp_lanes - 1) / exec::warp_lanes;
  return between.size() == elements && warps.size() == all_warps ? elements : 0;
}

/// What to write for rows of a part of dynamic shared memory that are padded: the pitch that its subscripts,
/// or the pointer's type, have.
std::string longer_pitch(const Array& array, const RowPadding& padding) {
  const Declaration& declaration = *array.declaration;
  const uint32_t bytes = padding.words * word_bytes;
  if (!declaration.part || bytes % declaration.element_bytes != 0) return "";
  const uint64_t elements = bytes / declaration.element_bytes;
  if (declaration.extents.size() >= 2)
    return fmt::format(": {} (*{})[{}]", declaration.type, declaration.name,
                       padded(declaration.extents.back(), elements));
  return fmt::format(": ({0} + {1}) for {0} in its subscripts", declaration.part->pitch, elements);
}

/// What that padding makes of a subscript, where the declaration has one, or is a part's, and stays as it is;
/// else empty.
std::string padded_subscript(const Array& array, const Shape& shape, const RowPadding& padding) {
  if (!array.declaration || (array.declaration->extents.size() != 1 && !array.declaration->part)) return "";
  if (array.declaration->element_bytes > shape.row_bytes) return "";  // the rows lie in its elements
  const uint32_t bytes = padding.words * word_bytes, element = shape.element_bytes;
  if (bytes % element != 0) return "";
  const std::string times = bytes == element ? "" : fmt::format(" * {}", bytes / element);
  return fmt::format(": {0}[i] becomes {0}[i + i / {1}{2}]", array.variable->name, shape.row_bytes / element,
                     times);
}

/// Source text that may go over several lines.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return line;
}

std::string change_of(const Array& array, const Shape& shape, const Layout& layout,
                      const std::variant<Rewrite, Unclear>& rewritten) {
  const std::string& name = array.variable->name;
  const auto* rewrite = std::get_if<Rewrite>(&rewritten);
  const std::string declared = rewrite != nullptr ? ": " + on_one_line(rewrite->what) : "";
  if (const auto* padding = std::get_if<RowPadding>(&layout)) {
    if (shape.has_rows)
      return fmt::format("pad each row of {} by {}{}", name, counted(padding->words, "word"),
                         rewrite != nullptr ? declared : longer_pitch(array, *padding));
    return fmt::format("leave {} free after every {} of {}{}", counted(padding->words, "word"),
                       counted(shape.row_bytes / word_bytes, "word"), name,
                       rewrite != nullptr ? declared : padded_subscript(array, shape, *padding));
  }
  if (const auto* padding = std::get_if<PlanePadding>(&layout))
    return fmt::format("pad each plane of {} by {}{}", name, counted(padding->words, "word"), declared);
  if (const auto* swizzle = std::get_if<Swizzle>(&layout))
    return fmt::format(
        "{}swizzle {}: keep {}{}{}",
        swizzle->dropped == 0 ? "" : "take away the padding of its rows, which nothing accesses, and ", name,
        describe(layout),
        shape.row_bytes == array.shape.row_bytes ? "" : fmt::format(", rows of {} bytes", shape.row_bytes),
        declared);
  if (const auto* arrays = std::get_if<StructOfArrays>(&layout))
    return shape.element_bytes == 2 * word_bytes && arrays->fields.empty() && rewrite == nullptr
               ? fmt::format("split {} into two arrays, of the low and of the high words of its elements",
                             name)
               : fmt::format("make a struct of arrays of {}, {}{}", name,
                             !arrays->fields.empty() || arrays->piece == word_bytes
                                 ? "each field in an array of its own"
                                 : describe(layout),
                             declared);
  if (std::holds_alternative<ElementPadding>(layout))
    return fmt::format("pad the elements of {}: {}", name,
                       rewrite != nullptr ? on_one_line(rewrite->what) : describe(layout));
  const bool by_columns = std::any_of(array.patterns.begin(), array.patterns.end(), [&](const Pattern& p) {
    return std::abs(stride_of(p)) == shape.row_bytes;
  });
  if (array.declaration && array.declaration->extents.size() > 2)
    return fmt::format("write {} with its last subscript first", name);
  return fmt::format("write {} transposed{}: exchange its subscripts everywhere{}", name,
                     by_columns ? ", so that what is accessed down its columns lies in rows" : "", declared);
}

model::Occupancy occupancy_of(const Launch& launch, uint32_t shared_bytes) {
  return model::occupancy(model::limits_of(launch.arch.name), static_cast<int>(launch.config.block.count()),
                          launch.registers, static_cast<int>(shared_bytes));
}
bool knows_occupancy(const Launch& launch) {
  return std::string_view(launch.arch.name).substr(0, 3) == "sm_";
}
/// What a kernel may declare, and have without asking for more.
uint32_t most_unasked(const Launch& launch) {
  return static_cast<uint32_t>(model::limits_of(launch.arch.name).shared_per_block_unasked);
}

/// Price for the array with so many bytes. Half as many blocks on a multiprocessor have to bring a quarter of
/// the wavefronts, beside what the memory has to; what cannot be is worth nothing.
double price_of(const Launch& launch, const Array& array, uint32_t bytes) {
  const double price = price_of_memory(array.shape, bytes);
  if (!knows_occupancy(launch) || bytes <= array.shape.bytes) return price;
  const uint32_t more = bytes - array.shape.bytes;
  const int before = occupancy_of(launch, launch.shared_bytes).blocks,
            after = occupancy_of(launch, launch.shared_bytes + more).blocks;
  if (before == 0) return price;  // the chip cannot run it at all, whatever the layout
  if (after == 0 || (!array.variable->dynamic && launch.kernel.static_shared + more > most_unasked(launch)))
    return std::numeric_limits<double>::infinity();
  return price + (1 - static_cast<double>(after) / before) / 2;
}

/// What has to change along with the layout: what lies behind the array, and what goes through it by rules of
/// its own. Empty where nothing has.
std::string along_with(const Launch& launch, const Array& array, uint32_t more_bytes,
                       uint32_t size_multiple) {
  std::string also;
  const exec::SharedVariable& v = *array.variable;
  const bool grows = static_cast<int32_t>(more_bytes) > 0;  // structs may lose what lies between fields
  if (v.dynamic && grows)
    also += fmt::format("; {}launch with {} more bytes of dynamic shared memory",
                        v.size == 0 || v.offset + v.size == launch.shared_bytes
                            ? ""
                            : fmt::format("begin what lies behind it {} bytes later, and ", more_bytes),
                        more_bytes);
  const uint32_t most = most_unasked(launch);
  if (knows_occupancy(launch) && grows && launch.shared_bytes <= most &&
      launch.shared_bytes + more_bytes > most)
    also += fmt::format(
        "; more than {} bytes have to be asked for (cudaFuncAttributeMaxDynamicSharedMemorySize)", most);
  if (size_multiple != 0)
    also += fmt::format("; its size has to be a multiple of {} bytes in every launch", size_multiple);
  if (array.shape.keeps_rows)
    also += "; give that pitch to wmma as well (load_matrix_sync, store_matrix_sync)";
  if (array.async)
    also +=
        "; bulk copies or wgmma go through it, too, and have to find it so: by a copy of each row, or by the "
        "swizzle of a tensor map";
  return also;
}

/// Bytes from most lanes to the next: three in four; else 0.
int64_t usual_step(const Pattern& p) {
  std::map<int64_t, int> seen;
  for (size_t lane = 1; lane < 32; ++lane)
    if ((p.mask >> (lane - 1) & 3) == 3) ++seen[int64_t{p.offset[lane]} - int64_t{p.offset[lane - 1]}];
  for (const auto& [step, count] : seen)
    if (4 * count >= 3 * (std::popcount(p.mask) - 1)) return step;
  return 0;
}

/// The distance of the lanes in the accesses that conflict most of all; 0: no one distance. Of several, that
/// which costs most. Lanes that are neighbours conflict because of others, which are elsewhere.
int64_t worst_stride(const Array& array) {
  std::map<int64_t, uint64_t> excess;
  for (size_t i = 0; i < array.patterns.size(); ++i)
    if (const int64_t stride = std::abs(usual_step(array.patterns[i]));
        stride > array.patterns[i].width && array.costs[i].max_way == array.now.max_way)
      excess[stride] += array.costs[i].wavefronts - array.costs[i].ideal;
  const auto most = std::max_element(excess.begin(), excess.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == excess.end() ? 0 : most->first;
}

std::string reason_of(const Array& array, bool fitted_to_data) {
  const uint32_t way = array.now.max_way;
  if (fitted_to_data)
    return fmt::format(
        "up to {} words of one bank are asked for at once, where data that the kernel reads sends the lanes",
        way);
  const int64_t stride = worst_stride(array);
  if (stride != 0 && array.shape.plane_bytes != 0 && stride % array.shape.plane_bytes == 0)
    return fmt::format("up to {} words of one bank are asked for at once: planes are {} bytes apart", way,
                       array.shape.plane_bytes);
  const bool within_rows = stride != 0 && stride < array.shape.row_bytes;
  if (array.declaration && array.declaration->extents.size() >= 2 && !within_rows)
    return fmt::format("up to {} words of one bank are asked for at once: rows are {} bytes apart", way,
                       array.shape.row_bytes);
  if (stride != 0)
    return fmt::format("up to {} words of one bank are asked for at once: lanes are {} bytes apart", way,
                       stride);
  return fmt::format("up to {} words of one bank are asked for at once", way);
}

/// Whether what was recorded shows all places of the array that anything accesses.
bool knows_all_accesses(const Array& array) { return array.exact && !array.async; }

/// What to say of rows at the array's end that nothing accesses: extents that were padded in the wrong
/// dimension leave them, and they are of no use beside rows that are padded. Empty where there are none.
std::string unused_rows(const Array& array, const Layout& layout) {
  if (!std::holds_alternative<RowPadding>(layout) || !knows_all_accesses(array) ||
      array.shape.row_bytes == 0 || !array.declaration || array.declaration->extents.size() != 2)
    return "";
  uint32_t end = 0;
  for (const Pattern& pattern : array.patterns)
    for (uint32_t rest = pattern.mask; rest != 0; rest &= rest - 1)
      end = std::max(end, pattern.offset[static_cast<size_t>(std::countr_zero(rest))] + pattern.width);
  const uint32_t rows = array.shape.bytes / array.shape.row_bytes;
  const uint32_t used = (end + array.shape.row_bytes - 1) / array.shape.row_bytes;
  if (used >= rows) return "";
  return fmt::format("; of its {} rows only the first {} are accessed: others that are padding can go then",
                     rows, used);
}

/// Fills in what all kinds of advice have in common.
Advice make_advice(const Launch& launch, const Array& array, uint64_t wavefronts_after,
                   uint32_t bytes_after) {
  Advice advice;
  advice.variable = array.variable->name;
  advice.shape = array.shape;
  advice.file = array.place.file;
  advice.line = array.place.line;
  advice.wavefronts_before = array.wavefronts;
  advice.wavefronts_after = wavefronts_after;
  advice.launch_wavefronts = 0;
  for (const profile::SiteCounters& site : launch.profile.sites)
    if (site.space == exec::AccessSpace::shared) advice.launch_wavefronts += site.counters.wavefronts;
  advice.shared_bytes_before = launch.shared_bytes;
  advice.shared_bytes_after = launch.shared_bytes + bytes_after - array.shape.bytes;
  advice.occupancy_known = knows_occupancy(launch);
  advice.occupancy_before = occupancy_of(launch, advice.shared_bytes_before);
  advice.occupancy_after = occupancy_of(launch, advice.shared_bytes_after);
  advice.registers_known = launch.registers != 0;
  advice.estimate = array.now.estimate || !array.exact;
  advice.declaration = array.declaration;
  advice.pitch_from = array.pitch_from;
  return advice;
}

/// Whether lanes go down columns of the array wherever several take part (and on in the next column, where a
/// warp is longer than one), and never along a row.
bool only_columns(const Array& array) {
  bool any = false;
  const int64_t pitch = array.shape.row_bytes;
  for (const Pattern& pattern : array.patterns) {
    int steps = 0, down = 0;
    for (size_t lane = 1; lane < 32; ++lane) {
      if ((pattern.mask >> (lane - 1) & 3) != 3) continue;
      const int64_t step = int64_t{pattern.offset[lane]} - int64_t{pattern.offset[lane - 1]};
      ++steps;
      down += step == pitch || step == -pitch ? 1 : 0;
    }
    if (steps == 0) continue;
    if (4 * down < 3 * steps) return false;
    any = true;
  }
  return any;
}

/// What a reduction's last steps within one warp cost: lanes 0 … s-1 add the elements s further on, for s =
/// 16, 8, 4, 2, 1, all with the same first element.
struct LastSteps {
  uint64_t wavefronts = 0;  ///< of the launch, that registers would save
  uint32_t site = 0;        ///< the first of these loads
};

std::optional<LastSteps> last_steps_of(const Array& array) {
  constexpr uint32_t first_step = 16;
  // What is there: by mask, first element and whether it is a load.
  struct Seen {
    uint64_t count = 0, wavefronts = 0;
    uint32_t site = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, bool>, Seen> seen;
  std::map<uint32_t, uint64_t> recorded;  // of each site, as in whole_launch
  for (const Pattern& pattern : array.patterns) recorded[pattern.site] += pattern.count;
  const uint8_t width = array.patterns.front().width;
  for (size_t i = 0; i < array.patterns.size(); ++i) {
    const Pattern& pattern = array.patterns[i];
    const bool is_load = pattern.op == model::Op::load;
    if (pattern.width != width || (!is_load && pattern.op != model::Op::store)) return std::nullopt;
    if ((pattern.mask & (pattern.mask + 1)) != 0) continue;  // not the first lanes
    if (pattern.mask != 1 && stride_of(pattern) != width) continue;
    Seen& here = seen[{pattern.mask, pattern.offset[0], is_load}];
    const uint64_t counted = array.counted.at(pattern.site);
    here.count += pattern.count * counted / recorded[pattern.site];
    here.wavefronts += array.costs[i].wavefronts * counted / recorded[pattern.site];
    here.site = pattern.site;
  }
  // The last step tells where the elements begin and how many blocks there are.
  for (const auto& [key, last] : seen) {
    const auto& [mask, offset, is_load] = key;
    if (mask != 1 || !is_load || offset < width) continue;
    const uint32_t begin = offset - width;
    LastSteps steps;
    uint64_t loads_of_two = 0, loads_of_one = 0;  // of the lanes' own elements, in the last two steps
    bool all = true;
    for (uint32_t s = first_step; s != 0 && all; s /= 2) {
      const uint32_t lanes = (1u << s) - 1;
      const auto partner = seen.find({lanes, begin + s * width, true});
      all = partner != seen.end() && partner->second.count == last.count;
      if (!all) break;
      if (s == first_step) steps.site = partner->second.site;
      steps.wavefronts += partner->second.wavefronts;
      // The lanes' own element, and for s = 1 the result, which some thread reads from memory.
      for (const bool load : {true, false})
        if (const auto own = seen.find({lanes, begin, load}); own != seen.end()) {
          steps.wavefronts += own->second.wavefronts;
          if (load && s <= 2) (s == 1 ? loads_of_one : loads_of_two) = own->second.count;
        }
    }
    if (!all) continue;
    // Where that thread does not read the result besides, others do, and it is stored for them all the same.
    if (loads_of_one < loads_of_two + last.count) steps.wavefronts -= last.count;
    // What the warp holds after the step before goes on in registers.
    if (const auto before = seen.find({0xffffffffu, begin, false});
        before != seen.end() && before->second.count >= last.count)
      steps.wavefronts += last.count;
    return steps;
  }
  return std::nullopt;
}

/// Adds to the change of a part that grows what leaves room for it.
void make_room(const Launch& launch, const Array& array, uint32_t bytes, Sources& sources,
               std::variant<Rewrite, Unclear>& rewritten) {
  auto* change = std::get_if<Rewrite>(&rewritten);
  if (change == nullptr) return;
  const auto room = Division(launch.kernel, sources).room_behind(*array.variable, bytes, launch.config);
  if (const auto* why = std::get_if<Unclear>(&room)) {
    rewritten = *why;
    return;
  }
  const auto& edits = std::get<std::vector<Edit>>(room);
  change->edits.insert(change->edits.end(), edits.begin(), edits.end());
}

/// The accesses that layouts are fitted to. Where accesses conflict that go where the kernel itself sends
/// them, those that go where data does have no say. Else layouts are fitted to some of these, and have to be
/// good for the others as well: of random data any layout can be made to look a little better.
struct Fit {
  std::vector<Pattern> to, held_out;
  bool to_data = false;
};

Fit fit_of(const Array& array) {
  Fit fit;
  std::vector<Pattern> from_data;
  bool conflicts = false;
  for (size_t i = 0; i < array.patterns.size(); ++i) {
    const bool by_data = array.is_from_data(array.patterns[i]);
    (by_data ? from_data : fit.to).push_back(array.patterns[i]);
    conflicts = conflicts || (!by_data && !array.costs[i].conflict_free());
  }
  if (conflicts) return fit;
  fit.to_data = true;
  constexpr size_t most = 128;
  const size_t step = std::max<size_t>(2, from_data.size() / most);
  for (size_t i = 0; i < from_data.size(); ++i)
    (i % step == 0 ? fit.to : fit.held_out).push_back(from_data[i]);
  return fit;
}

/// Whether a layout takes away at least a quarter of the conflicts that it was fitted to take away: a little
/// less can always be had of accesses that have no order, where it was found by chance.
bool brings_enough(const Outcome& now, const Outcome& then) {
  return 4 * then.wavefronts <= 3 * now.wavefronts + now.ideal;
}

/// Whether a layout takes away at least half of the conflicts of accesses that it was not fitted to.
bool holds_for_others(const model::Arch& arch, const Shape& shape, const Fit& fit, const Layout& layout) {
  if (!fit.to_data) return true;
  const auto now = what_if(arch, shape, fit.held_out, {}), then = what_if(arch, shape, fit.held_out, layout);
  return now && then && !now->conflict_free() && 2 * then->wavefronts <= now->wavefronts + now->ideal;
}

/// Whether what the accesses save that have a say, and all together do, is a quarter of all conflicts or a
/// twentieth of the launch's wavefronts: else it is decided by those that have none, by chance. `saved`: by
/// the former, of what was recorded.
bool brings_enough_to_all(const Array& array, uint64_t saved, const Advice& advice) {
  uint64_t recorded = 0, conflicts = 0;
  for (const Outcome& cost : array.costs) {
    recorded += cost.wavefronts;
    conflicts += cost.wavefronts - cost.ideal;
  }
  const double of_launch = static_cast<double>(array.wavefronts) / static_cast<double>(recorded);
  const double by_all =
      static_cast<double>(advice.wavefronts_before) - static_cast<double>(advice.wavefronts_after);
  const double sure = std::min(static_cast<double>(saved) * of_launch, by_all);
  return 4 * sure >= static_cast<double>(conflicts) * of_launch ||
         20 * sure >= static_cast<double>(advice.launch_wavefronts);
}

/// A layout and the rows that it is of.
struct Choice {
  Candidate candidate;
  Shape shape;
};

/// What to say of a layout; nothing where what was recorded does not tell what it costs.
std::optional<Advice> advice_of(const Launch& launch, const Array& array, Sources& sources, const Fit& fit,
                                const Choice& choice) {
  const Candidate& candidate = choice.candidate;
  const Shape& shape = choice.shape;
  bool exact = array.exact;
  const auto outcome = whole_launch(launch.arch, array, shape, candidate.layout, exact);
  if (!outcome) return std::nullopt;
  Advice advice = make_advice(launch, array, outcome->wavefronts, outcome->bytes);
  const Sources::File& file = sources.file(array.file);
  std::variant<Rewrite, Unclear> rewritten = Unclear{array.no_declaration};
  if (array.async)
    rewritten = Unclear{"bulk copies or wgmma go through it by rules of their own"};
  else if (array.declaration && is_python(array.file))
    rewritten = rewrite_python(file.text, *array.declaration, shape, candidate.layout);
  else if (array.declaration)
    rewritten = rewrite(file.text, *array.declaration, shape, candidate.layout,
                        sources.texts(sources.included_by(array.file)));
  if (array.declaration && array.declaration->part && outcome->bytes > array.shape.bytes)
    make_room(launch, array, outcome->bytes - array.shape.bytes, sources, rewritten);
  if (auto* change = std::get_if<Rewrite>(&rewritten)) {
    advice.patch = Patch{file.path.string(), change->edits};
    advice.patch_uses_tiles = change->uses_tiles;
  } else {
    advice.no_patch = std::get<Unclear>(rewritten).reason;
  }
  advice.layout = candidate.layout;
  if (!array.shape.has_rows && array.no_declaration.empty() && shape.row_bytes != bank_row_of(launch.arch))
    advice.pitch_from = "the recorded addresses";
  if (std::holds_alternative<StructOfArrays>(candidate.layout) ||
      std::holds_alternative<ElementPadding>(candidate.layout))
    advice.pitch_from.clear();
  if (array.variable->dynamic && !array.variable->array.empty() &&
      std::holds_alternative<Swizzle>(candidate.layout))
    advice.size_multiple = shape.row_bytes;
  const auto* made = std::get_if<Rewrite>(&rewritten);
  // In the change, which is all that annotations and `fix` say.
  advice.change =
      change_of(array, shape, candidate.layout, rewritten) +
      (fit.to_data ? "; it fits the data of this run, and with other data it may save less" : "") +
      unused_rows(array, candidate.layout) +
      (made != nullptr && !made->condition.empty() ? "; " + made->condition : "") +
      along_with(launch, array, outcome->bytes - array.shape.bytes, advice.size_multiple);
  advice.reason = reason_of(array, fit.to_data);
  advice.proven_best =
      candidate.proven_best && (fit.to.size() == array.patterns.size() || outcome->conflict_free());
  advice.estimate = advice.estimate || !exact;
  return advice;
}

/// Advice::paddings of an array whose declared rows are padded by that choice.
std::vector<Advice> paddings_of(const Launch& launch, const Array& array, Sources& sources, const Fit& fit,
                                const Choice& choice) {
  std::vector<Advice> paddings;
  if (!std::holds_alternative<RowPadding>(choice.candidate.layout) || !choice.shape.has_rows ||
      array.declaration->part || ptx::demangle(launch.kernel.name).find('<') == std::string::npos)
    return paddings;
  constexpr uint32_t most = 32;
  for (uint32_t elements = 1; elements <= most; ++elements) {
    const uint32_t bytes = elements * array.declaration->element_bytes;
    if (bytes % word_bytes != 0) continue;
    Choice other = choice;
    other.candidate.layout = RowPadding{bytes / word_bytes};
    other.candidate.proven_best =
        other.candidate.layout == choice.candidate.layout && choice.candidate.proven_best;
    if (auto advice = advice_of(launch, array, sources, fit, other); advice && advice->patch)
      paddings.push_back(std::move(*advice));
  }
  return paddings;
}

void advise_layouts(const Launch& launch, const Array& array, Sources& sources, std::vector<Advice>& found) {
  const bool have_rows = array.declaration && array.declaration->extents.size() >= 2;
  const Fit fit = fit_of(array);
  const auto now = what_if(launch.arch, array.shape, fit.to, {});
  const Price price = [&](uint32_t bytes) { return price_of(launch, array, bytes); };
  const auto total = [&](const Candidate& c) {
    return static_cast<double>(c.outcome.wavefronts) +
           price(c.outcome.bytes) * static_cast<double>(now->wavefronts);
  };
  std::map<size_t, Choice> best;  // by kind of layout
  for (const Shape& shape : array.shapes) {
    // What is computed from an index changes more than a declaration.
    const bool cured = std::any_of(best.begin(), best.end(), [](const auto& known) {
      return known.second.candidate.outcome.conflict_free();
    });
    if (cured && have_rows && !shape.has_rows) continue;
    for (const Candidate& candidate : search(launch.arch, shape, fit.to, price)) {
      if (std::holds_alternative<Transposed>(candidate.layout) && !(have_rows && shape.has_rows)) continue;
      const auto* swizzle = std::get_if<Swizzle>(&candidate.layout);
      if (swizzle != nullptr && swizzle->dropped != 0 && !knows_all_accesses(array)) continue;
      if (!brings_enough(*now, candidate.outcome)) continue;
      if (!holds_for_others(launch.arch, shape, fit, candidate.layout)) continue;
      const auto [known, is_new] = best.try_emplace(candidate.layout.index(), Choice{candidate, shape});
      if (!is_new && total(candidate) < total(known->second.candidate)) known->second = {candidate, shape};
    }
  }
  const auto first = static_cast<std::ptrdiff_t>(found.size());
  for (const auto& [kind, choice] : best) {
    std::optional<Advice> advice = advice_of(launch, array, sources, fit, choice);
    if (!advice) continue;
    const uint64_t saved = now->wavefronts - choice.candidate.outcome.wavefronts;
    if (!fit.to_data && !brings_enough_to_all(array, saved, *advice)) continue;
    if (advice->patch) advice->paddings = paddings_of(launch, array, sources, fit, choice);
    found.push_back(std::move(*advice));
  }
  // Of layouts that bring as much, those that `lanescope fix` can make.
  std::stable_partition(found.begin() + first, found.end(),
                        [](const Advice& a) { return a.patch.has_value(); });
}

/// Advice other than a layout.
Advice make_way(const Launch& launch, const Array& array, Advice::Kind kind, uint64_t wavefronts_after,
                std::string change, std::string reason) {
  Advice advice = make_advice(launch, array, wavefronts_after, array.shape.bytes);
  advice.kind = kind;
  advice.change = std::move(change);
  advice.reason = std::move(reason);
  advice.proven_best = true;
  advice.no_patch = "it changes more than the layout of an array";
  return advice;
}

/// Moves what is worth it to `all`, best first. At least one of the launch's wavefronts in a hundred: less is
/// no reason to touch a program. At least half of what the best one saves: else that is the one to take.
void keep_best(const Launch& launch, const Array& array, std::vector<Advice>& found,
               std::vector<Advice>& all) {
  const auto total = [&](const Advice& a) {
    const uint32_t bytes = array.shape.bytes + a.shared_bytes_after - a.shared_bytes_before;
    return static_cast<double>(a.wavefronts_after) +
           price_of(launch, array, bytes) * static_cast<double>(a.wavefronts_before);
  };
  std::erase_if(found, [&](const Advice& a) {
    return a.wavefronts_after + (a.launch_wavefronts + 99) / 100 > a.wavefronts_before ||
           total(a) >= static_cast<double>(a.wavefronts_before);
  });
  std::stable_sort(found.begin(), found.end(),
                   [&](const Advice& a, const Advice& b) { return total(a) < total(b); });
  const auto saved = [](const Advice& a) { return a.wavefronts_before - a.wavefronts_after; };
  std::erase_if(found, [&, most = found.empty() ? 0 : saved(found.front())](const Advice& a) {
    return 2 * saved(a) < most;
  });
  all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

void advise_one(const Launch& launch, const Array& array, Sources& sources, std::vector<Advice>& all) {
  std::vector<Advice> found;
  const std::string& name = array.variable->name;
  const bool has_rows = array.declaration && array.declaration->extents.size() >= 2;
  if (array.is_shared_with_hardware()) {
    // Which thread takes which elements is not all that decides what is asked for.
    if (!array.now.conflict_free()) advise_layouts(launch, array, sources, found);
    return keep_best(launch, array, found, all);
  }
  if (const auto steps = last_steps_of(array); steps && steps->wavefronts < array.now.wavefronts) {
    Advice advice = make_way(
        launch, array, Advice::Kind::shuffles,
        array.wavefronts - std::min(steps->wavefronts, array.wavefronts),
        fmt::format(
            "let the last warp combine its 32 values in registers (__shfl_down_sync) in place of the last "
            "5 steps through {}",
            name),
        "the lanes of one warp hand each other values that they could read from each other's registers");
    const NamedPlace place = place_of(launch, steps->site);
    advice.file = place.file;
    advice.line = place.line;
    found.push_back(std::move(advice));
  }
  if (!array.now.conflict_free()) {
    if (is_reduction(launch, array, tree_of(launch, array)))
      found.push_back(make_way(
          launch, array, Advice::Kind::sequential_addressing, array.now.ideal,
          fmt::format("let thread t combine elements t and t + s of {}, s halving from step to step "
                      "(sequential addressing)",
                      name),
          "active lanes stand at strides that double from step to step, so that ever more of them share a "
          "bank; floating-point sums are added in another order then"));
    else if (const uint32_t elements = consecutive_elements(launch, array); elements != 0 && !has_rows)
      found.push_back(make_way(
          launch, array, Advice::Kind::strided_elements, array.now.ideal,
          fmt::format("let thread t take elements t, t + threads, t + 2 * threads, … of {} in place of {} "
                      "consecutive ones, if it does not matter which ones it has",
                      name, elements),
          fmt::format("every thread works on {} neighbouring elements, so that lanes stand {} bytes apart",
                      elements, elements * array.shape.element_bytes)));
    advise_layouts(launch, array, sources, found);
    // After layouts that bring as much, for it changes what threads do. Where a block's sides differ,
    // subscripts with exchanged threads lead elsewhere.
    bool exact = array.exact;
    if (has_rows && launch.config.block.x == launch.config.block.y && only_columns(array))
      if (const auto rows = whole_launch(launch.arch, array, array.shape, Transposed{}, exact))
        found.push_back(make_way(
            launch, array, Advice::Kind::lane_mapping, rows->wavefronts,
            fmt::format("let neighbouring threads take neighbouring columns of {}: exchange what threadIdx.x "
                        "and threadIdx.y stand for in its subscripts",
                        name),
            fmt::format("lanes only ever go down columns of {}, {} bytes apart; where threads read what "
                        "others wrote, they have to be exchanged for global memory as well",
                        name, array.shape.row_bytes)));
  }
  keep_best(launch, array, found, all);
}

}  // namespace

const char* name_of(model::Limiter limiter) {
  switch (limiter) {
    case model::Limiter::threads: return "threads";
    case model::Limiter::blocks: return "blocks";
    case model::Limiter::shared: return "shared memory";
    case model::Limiter::registers: return "registers";
    case model::Limiter::none: break;
  }
  return "nothing";
}

std::vector<Advice> advise(const Launch& launch, Sources& sources) {
  const std::vector<exec::SharedVariable>& shared = exec::shared_variables(launch.kernel, launch.config);
  std::map<uint32_t, Array> arrays;
  for (const profile::RecordedAccess& access : launch.profile.recording.accesses) {
    if (access.variable >= shared.size()) continue;
    Array& array = arrays[access.variable];
    array.variable = &shared[access.variable];
    Pattern pattern;
    pattern.op = profile::op_of(access.kind);
    pattern.width = access.width;
    pattern.mask = access.mask;
    pattern.count = access.count;
    pattern.site = access.site;
    if (const uint8_t written = launch.kernel.accesses[access.site].width; written < access.width)
      pattern.part = written;
    for (size_t lane = 0; lane < 32; ++lane)
      if ((access.mask >> lane & 1) != 0)
        pattern.offset[lane] = access.address[lane] - array.variable->offset;
    array.patterns.push_back(pattern);
  }
  std::vector<Advice> all;
  std::vector<bool> from_data;
  for (auto& [index, array] : arrays) {
    const exec::SharedVariable& variable = *array.variable;
    array.shape.begin = variable.offset;
    array.shape.bytes = variable.size != 0 ? variable.size : launch.shared_bytes - variable.offset;
    const std::vector<uint32_t>& async = launch.profile.recording.async_variables;
    array.async = std::binary_search(async.begin(), async.end(), index);
    array.shape.keeps_rows = std::any_of(array.patterns.begin(), array.patterns.end(),
                                         [&](const Pattern& p) { return is_of_wmma(launch, p.site); });
    constexpr uint32_t piece_bytes = 16;  // of bulk copies; and wmma takes multiples of it as pitch
    if (array.is_shared_with_hardware()) array.shape.unit = piece_bytes;
    for (const profile::SiteCounters& site : launch.profile.sites) {
      if (site.space != exec::AccessSpace::shared || site.variable != index) continue;
      if (site.kind == exec::AccessKind::group_product) continue;  // costs the same in every layout
      array.counted[site.site] = site.counters.requests;
      array.wavefronts += site.counters.wavefronts;
    }
    auto costs = what_if_each(launch.arch, array.shape, array.patterns, {});
    const std::optional<Outcome> now = whole_launch(launch.arch, array, array.shape, {}, array.exact);
    if (!costs || !now) continue;
    array.costs = std::move(*costs);
    array.exact = array.exact && launch.profile.recording.dropped == 0 && now->wavefronts == array.wavefronts;
    array.now = *now;
    array.place = worst_place_of(launch, array);
    if (!now->conflict_free()) {
      if (from_data.empty()) from_data = sites_from_data(launch.module, launch.kernel);
      array.from_data = from_data;
      find_shapes(launch, array, sources);
    }
    advise_one(launch, array, sources, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice& a, const Advice& b) {
    return a.wavefronts_before - a.wavefronts_after > b.wavefronts_before - b.wavefronts_after;
  });
  return all;
}

}  // namespace lanescope::advise
