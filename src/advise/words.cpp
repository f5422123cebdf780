// See words.hpp.
#include "advise/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "advise/occupancy.hpp"
#include "advise/traversal.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

/// What to write for rows of a part of dynamic shared memory that are padded: the pitch that its subscripts,
/// or the pointer's type, have.
std::string longer_pitch(const Array& array, const RowPadding& padding) {
  const Declaration& declaration = *array.declaration;
  const uint32_t bytes = padding.bytes();
  if (!declaration.part || bytes % declaration.element_bytes != 0) return "";
  const uint64_t elements = bytes / declaration.element_bytes;
  if (declaration.extents.size() >= 2)
    return fmt::format(": {} (*{})[{}]", declaration.type, declaration.name,
                       padded(declaration.extents.back(), elements));
  if (!declaration.pitch) return "";
  return fmt::format(": ({0} + {1}) for {0} in its subscripts", declaration.pitch->text, elements);
}

/// What that padding makes of a subscript, where the declaration has one, or is a part's, and stays as it is;
/// else empty.
std::string padded_subscript(const Array& array, const Shape& shape, const RowPadding& padding) {
  if (!array.declaration || (array.declaration->extents.size() != 1 && !array.declaration->part)) return "";
  if (array.declaration->element_bytes > shape.row_bytes) return "";  // the rows lie in its elements
  const uint32_t bytes = padding.bytes(), element = shape.element_bytes;
  if (bytes % element != 0) return "";
  const std::string times = bytes == element ? "" : fmt::format(" * {}", bytes / element);
  return fmt::format(": {0}[i] becomes {0}[i + i / {1}{2}]", array.variable->name, shape.row_bytes / element,
                     times);
}

/// What is not accessed may be in blocks that were not recorded.
const char* as_far_as_recorded(const Array& array) {
  return array.complete ? "" : " in the blocks that were recorded";
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

}  // namespace

std::string change_of(const Array& array, const Shape& shape, const Layout& layout,
                      const std::variant<Rewrite, Unclear>& rewritten) {
  const std::string& name = array.variable->name;
  const auto* rewrite = std::get_if<Rewrite>(&rewritten);
  const std::string declared = rewrite != nullptr ? ": " + on_one_line(rewrite->what) : "";
  if (const auto* padding = std::get_if<RowPadding>(&layout)) {
    if (shape.has_rows)
      return fmt::format("pad each row of {} by {}{}", name, in_words(*padding),
                         rewrite != nullptr ? declared : longer_pitch(array, *padding));
    return fmt::format("leave {} free after every {} of {}{}", in_words(*padding),
                       counted(shape.row_bytes / word_bytes, "word"), name,
                       rewrite != nullptr ? declared : padded_subscript(array, shape, *padding));
  }
  if (const auto* padding = std::get_if<PlanePadding>(&layout))
    return fmt::format("pad each plane of {} by {}{}", name, counted(padding->words, "word"), declared);
  if (const auto* swizzle = std::get_if<Swizzle>(&layout))
    return fmt::format(
        "{}swizzle {}: keep {}{}{}",
        swizzle->dropped == 0
            ? ""
            : fmt::format("take away the padding of its rows, which this launch does not access{}, and ",
                          as_far_as_recorded(array)),
        name, describe(layout),
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
  else if (array.declaration && array.declaration->part && grows) {
    const bool is_last = std::any_of(
        launch.kernel.shared.begin(), launch.kernel.shared.end(), [&](const exec::SharedVariable& whole) {
          return whole.name == v.array && whole.offset + whole.size == v.offset + v.size;
        });
    also +=
        fmt::format("; {}declare {} {} bytes longer",
                    is_last ? "" : fmt::format("begin what lies behind it {} bytes later, and ", more_bytes),
                    v.array, more_bytes);
  }
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

std::string unused_rows(const Array& array, const Layout& layout) {
  if (!std::holds_alternative<RowPadding>(layout) || !array.knows_all_accesses() ||
      array.shape.row_bytes == 0 || !array.declaration || array.declaration->extents.size() != 2)
    return "";
  uint32_t end = 0;
  for (const Pattern& pattern : array.patterns)
    for (uint32_t rest = pattern.mask; rest != 0; rest &= rest - 1)
      end = std::max(end, pattern.offset[static_cast<size_t>(std::countr_zero(rest))] + pattern.width);
  const uint32_t rows = array.shape.bytes / array.shape.row_bytes;
  const uint32_t used = (end + array.shape.row_bytes - 1) / array.shape.row_bytes;
  if (used >= rows) return "";
  return fmt::format("; of its {} rows only the first {} are accessed{}: others that are padding can go then",
                     rows, used, as_far_as_recorded(array));
}

}  // namespace lanescope::advise
