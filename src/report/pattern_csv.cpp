// Reading and answering rows of warp-wide accesses; see pattern_csv.hpp for the format.
#include "report/pattern_csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <istream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "report/words.hpp"

namespace lanescope::report {

using model::Arch;
using model::GlobalCost;
using model::max_lanes;
using model::Op;
using model::Request;
using model::SharedCost;
namespace detail = model::detail;

namespace {

struct Operation {
  std::string_view name;
  Op op;
  bool global;
  int matrices;     // of ldmatrix and stmatrix, else 0
  unsigned widths;  // the allowed widths, or-ed
  bool returns = false;
};

constexpr unsigned any_width = 1 | 2 | 4 | 8 | 16;
constexpr Operation operations[] = {
    {"ld", Op::load, false, 0, any_width},
    {"st", Op::store, false, 0, any_width},
    {"atom", Op::atomic, false, 0, any_width},
    {"red", Op::atomic, false, 0, any_width},
    {"atom.cas", Op::compare_and_swap, false, 0, 4 | 8 | 16},
    {"atom.loop", Op::update_loop, false, 0, 2 | 4 | 8},
    {"cp.async", Op::cp_async, false, 0, 4 | 8 | 16},  // 16 bytes: .cg, as compilers copy them
    {"cp.async.ca", Op::cp_async, false, 0, 4 | 8 | 16},
    {"cp.async.cg", Op::cp_async_cg, false, 0, 16},
    {"ldm1", Op::ldmatrix, false, 1, 16},
    {"ldm2", Op::ldmatrix, false, 2, 16},
    {"ldm4", Op::ldmatrix, false, 4, 16},
    {"ldm1t", Op::ldmatrix, false, 1, 16},
    {"ldm2t", Op::ldmatrix, false, 2, 16},
    {"ldm4t", Op::ldmatrix, false, 4, 16},
    {"stm1", Op::stmatrix, false, 1, 16},
    {"stm2", Op::stmatrix, false, 2, 16},
    {"stm4", Op::stmatrix, false, 4, 16},
    {"stm1t", Op::stmatrix, false, 1, 16},
    {"stm2t", Op::stmatrix, false, 2, 16},
    {"stm4t", Op::stmatrix, false, 4, 16},
    {"gld", Op::load, true, 0, any_width | 32},
    {"gst", Op::store, true, 0, any_width | 32},
    {"gred", Op::atomic, true, 0, any_width},
    {"gatom", Op::atomic, true, 0, any_width, true},
    {"gatom.cas", Op::compare_and_swap, true, 0, 2 | 4 | 8 | 16, true},
};

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : operations)
    if (operation.name == name) return &operation;
  return nullptr;
}

std::string operation_names() {
  std::string names;
  for (const Operation& operation : operations)
    names += (names.empty() ? "" : ", ") + std::string(operation.name);
  return names;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> fields(1);
  for (const char c : text) {
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

/// A field without the blanks and quotes around it.
std::string_view unquoted(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\"");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\"") - begin + 1);
}

/// What a message shows of a field: of a file that is no CSV, a line may be all of it.
std::string shown(std::string_view field) { return cut_end(printable(field), 40); }

}  // namespace

PatternReader::PatternReader(std::istream& in, std::string file, const Arch& arch)
    : in_(in), file_(std::move(file)), arch_(arch) {
  for (int lane = 0; lane < arch.warp_lanes; ++lane) offset_columns_.push_back(3 + static_cast<size_t>(lane));
}

void PatternReader::fail(const std::vector<std::string>& fields, size_t field,
                         const std::string& cause) const {
  uint32_t column = 1;
  for (size_t i = 0; i < field && i < fields.size(); ++i)
    column += static_cast<uint32_t>(fields[i].size()) + 1;
  throw Error(SourcePlace{file_, line_, column}, cause);
}

uint64_t PatternReader::number(const std::vector<std::string>& fields, size_t field, int base,
                               const std::string& what) const {
  const std::string_view text = field < fields.size() ? unquoted(fields[field]) : std::string_view{};
  if (text.empty()) fail(fields, field, "the " + what + " is missing");
  std::string_view digits = text;
  if (base == 16 && (digits.starts_with("0x") || digits.starts_with("0X"))) digits.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::result_out_of_range)
    fail(fields, field, fmt::format("the {} '{}' is too large", what, shown(text)));
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(fields, field,
         fmt::format("the {} '{}' is no {} number", what, shown(text),
                     base == 16 ? "hexadecimal" : "decimal"));
  return value;
}

void PatternReader::read_header(const std::vector<std::string>& fields) {
  constexpr size_t absent = ~size_t{0};
  op_column_ = width_column_ = mask_column_ = absent;
  offset_columns_.assign(max_lanes, absent);
  size_t lanes = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = unquoted(fields[i]);
    size_t* column = nullptr;
    if (name == "op") column = &op_column_;
    if (name == "width") column = &width_column_;
    if (name == "mask") column = &mask_column_;
    if (name.size() > 1 && name[0] == 'o' &&
        name.find_first_not_of("0123456789", 1) == std::string_view::npos) {
      size_t lane = 0;
      std::from_chars(name.data() + 1, name.data() + name.size(), lane);
      if (lane >= static_cast<size_t>(max_lanes) || name.size() > 3)
        fail(fields, i,
             fmt::format("the column '{}' is no lane: a warp has o0 to o{}", shown(name), max_lanes - 1));
      column = &offset_columns_[lane];
      if (lane + 1 > lanes) lanes = lane + 1;
    }
    if (column == nullptr) continue;
    if (*column != absent) fail(fields, i, fmt::format("the column '{}' is there twice", name));
    *column = i;
  }
  if (width_column_ == absent) fail(fields, 0, "the header has no column 'width'");
  if (mask_column_ == absent) fail(fields, 0, "the header has no column 'mask'");
  if (lanes > static_cast<size_t>(arch_.warp_lanes))
    fail(fields, offset_columns_[lanes - 1],
         fmt::format("the header has offsets of {} lanes, but warps of {} have {}", lanes, arch_.name,
                     arch_.warp_lanes));
  offset_columns_.resize(lanes);
  for (size_t lane = 0; lane < lanes; ++lane)
    if (offset_columns_[lane] == absent) fail(fields, 0, fmt::format("the header has no column 'o{}'", lane));
}

bool PatternReader::next(PatternRow& row) {
  std::vector<std::string> fields;
  while (true) {
    if (!std::getline(in_, text_)) {
      if (in_.bad()) throw Error(SourcePlace{file_, line_ + 1, 0}, "cannot read on");
      return false;
    }
    ++line_;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // spreadsheets put it before UTF-8
    if (line_ == 1 && text_.starts_with(byte_order_mark)) text_.erase(0, byte_order_mark.size());
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    if (unquoted(text_).empty()) continue;
    fields = split(text_);
    if (started_) break;
    started_ = true;
    bool header = false;
    for (const std::string& field : fields) header = header || unquoted(field) == "op";
    if (!header) break;
    read_header(fields);
  }

  const std::string_view name =
      op_column_ < fields.size() ? unquoted(fields[op_column_]) : std::string_view{};
  const Operation* operation = find_operation(name);
  if (operation == nullptr)
    fail(fields, op_column_,
         fmt::format("unknown operation '{}'; known are {}", shown(name), operation_names()));
  const uint64_t width = number(fields, width_column_, 10, "width");
  if (width > 32 || !detail::is_power_of_two(width) || (operation->widths & width) == 0)
    fail(fields, width_column_, fmt::format("'{}' has no width of {} bytes", name, width));
  const uint64_t mask = number(fields, mask_column_, 16, "mask");
  const int lanes = offset_columns_.size() > 32 ? 64 : 32;
  if ((mask & ~detail::lane_range(0, lanes)) != 0)
    fail(fields, mask_column_, fmt::format("the mask {:x} has lanes beyond the {} of a row", mask, lanes));

  row.global = operation->global;
  row.line = line_;
  row.request = Request{};
  row.request.op = name == "cp.async" && width == 16 ? Op::cp_async_cg : operation->op;
  row.request.width = static_cast<int>(width);
  row.request.lanes = lanes;
  row.request.mask = mask;
  row.request.matrices = operation->matrices == 0 ? 1 : operation->matrices;
  row.request.returns = operation->returns;
  for (uint64_t left = mask; left != 0; left &= left - 1) {
    const int lane = detail::lowest_bit(left);
    const std::string what = fmt::format("offset of lane {}", lane);
    if (static_cast<size_t>(lane) >= offset_columns_.size())
      fail(fields, mask_column_, fmt::format("lane {} is active, but there is no column 'o{}'", lane, lane));
    const size_t column = offset_columns_[static_cast<size_t>(lane)];
    const uint64_t offset = number(fields, column, 10, what);
    if (offset % width != 0)
      fail(fields, column,
           fmt::format("the {} is {}, no multiple of the width {}: the hardware traps", what, offset, width));
    row.request.address[lane] = offset;
  }
  return true;
}

std::string answer(const Arch& arch, const PatternRow& row, bool* unknown) {
  if (row.global) {
    const GlobalCost cost = global_cost(arch, row.request);
    return fmt::format(",,,,{},{}", cost.sectors, cost.lines);
  }
  const SharedCost cost = shared_cost(arch, row.request);
  if (cost.unknown_rule) {
    if (unknown != nullptr) *unknown = true;
    return fmt::format("{},,,,,", cost.estimate);
  }
  return fmt::format("{},{},{},{},,", cost.wavefronts, cost.ideal, cost.conflicts, cost.max_way);
}

}  // namespace lanescope::report
