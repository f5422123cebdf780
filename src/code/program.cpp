// See program.hpp.
#include "code/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lanescope::code {

SourcePlace Program::place_of(uint32_t offset) const {
  const size_t at = std::min<size_t>(offset, text.size());
  const size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 = 0
  const auto line = static_cast<uint32_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_begin), '\n') + 1);
  return {name, line, static_cast<uint32_t>(at - line_begin + 1)};
}

Error Program::error_at(uint32_t offset, const std::string& cause) const {
  const SourcePlace place = place_of(offset);
  const size_t at = std::min<size_t>(offset, text.size());
  const size_t begin = at - (place.column - 1);
  return {place, cause, text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin)};
}

int64_t fitted(const Type& type, uint64_t value) {
  const auto bits = static_cast<unsigned>(type.size) * 8;
  if (type.kind != Type::Kind::integer || bits >= 64) return static_cast<int64_t>(value);
  const uint64_t low = value & ((uint64_t{1} << bits) - 1);
  const bool negative = type.is_signed && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low | ~uint64_t{0} << bits : low);
}

int64_t apply(Operator op, const Type& type, int64_t a, int64_t b, std::string* cause) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const auto less = [&](int64_t x, int64_t y) {
    return type.is_signed ? x < y : static_cast<uint64_t>(x) < static_cast<uint64_t>(y);
  };
  const auto fit = [&](uint64_t value) { return fitted(type, value); };
  switch (op) {
    case Operator::add: return fit(ua + ub);
    case Operator::subtract: return fit(ua - ub);
    case Operator::multiply: return fit(ua * ub);
    case Operator::divide:
    case Operator::remainder: {
      const bool divide = op == Operator::divide;
      if (b == 0) {
        *cause = divide ? "division by zero" : "remainder of a division by zero";
        return 0;
      }
      if (!type.is_signed) return fit(divide ? ua / ub : ua % ub);
      if (b == -1) return divide ? fit(0 - ua) : 0;  // the smallest number has no positive twin
      return fit(static_cast<uint64_t>(divide ? a / b : a % b));
    }
    case Operator::shift_left:
    case Operator::shift_right:
      if (b < 0 || ub >= type.size * 8) {
        *cause = fmt::format("a value of {} bits is shifted by {}", type.size * 8, b);
        return 0;
      }
      if (op == Operator::shift_left) return fit(ua << ub);
      return fit(type.is_signed ? static_cast<uint64_t>(a >> b) : ua >> ub);
    case Operator::bit_and: return fit(ua & ub);
    case Operator::bit_or: return fit(ua | ub);
    case Operator::bit_xor: return fit(ua ^ ub);
    case Operator::less: return less(a, b);
    case Operator::greater: return less(b, a);
    case Operator::less_equal: return !less(b, a);
    case Operator::greater_equal: return !less(a, b);
    case Operator::equal: return a == b;
    case Operator::not_equal: return a != b;
    case Operator::minimum: return less(b, a) ? b : a;
    case Operator::maximum: return less(a, b) ? b : a;
    case Operator::negate: return fit(0 - ua);
    case Operator::complement: return fit(~ua);
    case Operator::logical_not: return a == 0;
    case Operator::reverse_bits: {
      uint64_t reversed = 0;
      for (size_t bit = 0; bit < type.size * 8; ++bit)
        if ((ua >> bit & 1) != 0) reversed |= uint64_t{1} << (type.size * 8 - 1 - bit);
      return fit(reversed);
    }
    case Operator::count_bits: return std::popcount(ua);
    case Operator::count_leading_zeros: return std::countl_zero(ua) - 64 + static_cast<int>(type.size) * 8;
    case Operator::first_bit: return ua == 0 ? 0 : std::countr_zero(ua) + 1;
  }
  return 0;
}

}  // namespace lanescope::code
