// Constant expressions (PTX ISA 9.0, 4.5): C's operators on 64-bit integers, signed unless an operand is
// unsigned, and on double-precision numbers. Hexadecimal floating-point constants stand alone.
#include <bit>
#include <cmath>

#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

constexpr int deepest = 100;

constexpr std::string_view levels[][4] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr int level_count = static_cast<int>(std::size(levels));

Constant integer(uint64_t bits, bool is_unsigned = false) {
  return {Constant::Kind::integer, is_unsigned, bits};
}

double real(const Constant& c) {
  if (c.kind == Constant::Kind::real64) return std::bit_cast<double>(c.bits);
  return c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<int64_t>(c.bits));
}
Constant from_real(double value) { return {Constant::Kind::real64, false, std::bit_cast<uint64_t>(value)}; }

bool truth(const Constant& c) { return c.kind == Constant::Kind::integer ? c.bits != 0 : real(c) != 0; }

}  // namespace

bool Parser::begins_constant() const {
  switch (token_.kind) {
    case Token::Kind::integer:
    case Token::Kind::real32:
    case Token::Kind::real64: return true;
    case Token::Kind::punctuation:
      return token_.text == "-" || token_.text == "+" || token_.text == "~" || token_.text == "(" ||
             token_.text == "!";
    default: return false;
  }
}

Constant Parser::parse_constant() { return parse_conditional(0); }

Constant Parser::parse_conditional(int depth) {
  if (depth > deepest) fail(token_.loc, "a constant expression nested too deeply");
  const TextLoc loc = token_.loc;
  const Constant condition = parse_binary(0, depth);
  if (!accept("?")) return condition;
  if (condition.kind != Constant::Kind::integer) fail(loc, "a condition is an integer");
  const Constant yes = parse_conditional(depth + 1);
  expect(":");
  const Constant no = parse_conditional(depth + 1);
  return truth(condition) ? yes : no;
}

// The recursion ends: `level` only grows, and `depth` is limited.
Constant Parser::parse_binary(int level, int depth) {
  if (level == level_count) return parse_unary(depth);
  Constant left = parse_binary(level + 1, depth);
  while (token_.kind == Token::Kind::punctuation) {
    bool found = false;
    for (const std::string_view op : levels[level]) found |= !op.empty() && op == token_.text;
    if (!found) break;
    const Token op = token_;
    advance();
    left = apply(op.text, op.loc, left, parse_binary(level + 1, depth));
  }
  return left;
}

Constant Parser::parse_unary(int depth) {
  if (depth > deepest) fail(token_.loc, "a constant expression nested too deeply");
  const Token token = token_;
  if (token.kind == Token::Kind::integer) {
    advance();
    return integer(token.bits, token.is_unsigned);
  }
  if (token.kind == Token::Kind::real32 || token.kind == Token::Kind::real64) {
    advance();
    return {token.kind == Token::Kind::real32 ? Constant::Kind::real32 : Constant::Kind::real64, false,
            token.bits};
  }
  if (accept("(")) {
    // A cast: (.s64) or (.u64).
    const bool to_signed = accept_word("s64");
    if (to_signed || accept_word("u64")) {
      expect(")");
      Constant value = parse_unary(depth + 1);
      if (value.kind != Constant::Kind::integer) fail(token.loc, "only integers are cast");
      value.is_unsigned = !to_signed;
      return value;
    }
    const Constant value = parse_conditional(depth + 1);
    expect(")");
    return value;
  }
  for (const std::string_view op : {"-", "+", "~", "!"}) {
    if (!accept(op)) continue;
    Constant value = parse_unary(depth + 1);
    if (value.kind == Constant::Kind::real32) fail_in_expression(token.loc);
    if (op == "+") return value;
    if (op == "-" && value.kind == Constant::Kind::real64) {
      value.bits ^= uint64_t{1} << 63;
      return value;
    }
    if (value.kind != Constant::Kind::integer) fail(token.loc, "'" + std::string(op) + "' takes an integer");
    if (op == "!") return integer(value.bits == 0 ? 1 : 0);
    value.bits = op == "-" ? 0 - value.bits : ~value.bits;
    return value;
  }
  fail_expected("a constant");
}

void Parser::fail_in_expression(TextLoc loc) const {
  fail(loc, "hexadecimal floating-point constants take no part in expressions");
}

Constant Parser::apply(std::string_view op, TextLoc loc, Constant a, Constant b) const {
  if (a.kind == Constant::Kind::real32 || b.kind == Constant::Kind::real32) fail_in_expression(loc);
  if (op == "&&") return integer(truth(a) && truth(b) ? 1 : 0);
  if (op == "||") return integer(truth(a) || truth(b) ? 1 : 0);
  if (a.kind == Constant::Kind::real64 || b.kind == Constant::Kind::real64) {
    const double x = real(a), y = real(b);
    if (op == "+") return from_real(x + y);
    if (op == "-") return from_real(x - y);
    if (op == "*") return from_real(x * y);
    if (op == "/") {
      if (y == 0) fail(loc, "division by zero");
      return from_real(x / y);
    }
    if (op == "==") return integer(x == y ? 1 : 0);
    if (op == "!=") return integer(x != y ? 1 : 0);
    if (op == "<") return integer(x < y ? 1 : 0);
    if (op == "<=") return integer(x <= y ? 1 : 0);
    if (op == ">") return integer(x > y ? 1 : 0);
    if (op == ">=") return integer(x >= y ? 1 : 0);
    fail(loc, "'" + std::string(op) + "' takes integers");
  }
  const uint64_t x = a.bits, y = b.bits;
  const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (op == "+") return integer(x + y, is_unsigned);
  if (op == "-") return integer(x - y, is_unsigned);
  if (op == "*") return integer(x * y, is_unsigned);
  if (op == "/" || op == "%") {
    if (y == 0) fail(loc, "division by zero");
    if (is_unsigned) return integer(op == "/" ? x / y : x % y, true);
    if (sy == -1) return integer(op == "/" ? 0 - x : 0);  // the quotient of the smallest integer wraps
    return integer(static_cast<uint64_t>(op == "/" ? sx / sy : sx % sy));
  }
  if (op == "<<") return integer(y < 64 ? x << y : 0, a.is_unsigned);
  if (op == ">>") {
    if (a.is_unsigned) return integer(y < 64 ? x >> y : 0, true);
    return integer(static_cast<uint64_t>(sx >> (y < 64 ? y : 63)));
  }
  if (op == "&") return integer(x & y, is_unsigned);
  if (op == "|") return integer(x | y, is_unsigned);
  if (op == "^") return integer(x ^ y, is_unsigned);
  if (op == "==") return integer(x == y ? 1 : 0);
  if (op == "!=") return integer(x != y ? 1 : 0);
  if (op == "<") return integer((is_unsigned ? x < y : sx < sy) ? 1 : 0);
  if (op == "<=") return integer((is_unsigned ? x <= y : sx <= sy) ? 1 : 0);
  if (op == ">") return integer((is_unsigned ? x > y : sx > sy) ? 1 : 0);
  return integer((is_unsigned ? x >= y : sx >= sy) ? 1 : 0);  // >=
}

}  // namespace lanescope::ptx
