// See body.hpp.
#include "advise/body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "advise/declaration.hpp"

namespace lanescope::advise {
namespace {

bool is_operand(const Token& t) { return t.is_name() || t.is_number() || t.is(")") || t.is("]"); }

}  // namespace

Body::Body(const std::vector<Token>& tokens, std::string_view function, std::string_view array, bool open)
    : tokens(tokens) {
  find_body(function, array);
  find_array(array, open);
  find_steps();
}

Body::Body(const std::vector<Token>& tokens, std::string_view function) : tokens(tokens) {
  find_body(function, "");
  find_steps();
}

void Body::find_body(std::string_view function, std::string_view name) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is(function) || !tokens[i + 1].is("(") || tokens[i].in_directive) continue;
    const size_t close = closing(i + 1, ")");
    if (close + 1 >= tokens.size() || !tokens[close + 1].is("{")) continue;
    const Range statements{close + 1, closing(close + 1, "}")};
    if (!name.empty() &&
        std::none_of(at(statements.first), at(statements.second), [&](const Token& t) { return t.is(name); }))
      continue;
    if (body.second != 0) throw Unclear{fmt::format("'{}' is defined more than once", function)};
    head = {i + 2, close};
    body = statements;
  }
  if (body.second == 0 || body.second == tokens.size())
    throw Unclear{fmt::format("no '{}' that uses '{}' is defined", function, name)};
}

void Body::find_array(std::string_view name, bool open) {
  for (size_t i = 0; i + 2 < body.second; ++i) {
    if (!tokens[i].is(name) || !tokens[i + 1].is("[") || tokens[i + 2].is("]") != open) continue;
    size_t first = i;
    while (first > 0 && !tokens[first - 1].is(";") && !tokens[first - 1].is("{") &&
           !tokens[first - 1].is("}") && !tokens[first - 1].in_directive)
      --first;
    const bool is_shared = std::any_of(at(first), at(i), [](const Token& t) { return t.is("__shared__"); });
    if (!is_shared) continue;
    array.name = i;
    array.type = {first, i};
    array.extent = {i + 2, closing(i + 1, "]")};
    array.end = std::min(array.extent.second + 1, tokens.size() - 1);
    if (tokens[array.end].is("[")) throw Unclear{fmt::format("'{}' has rows", name)};
    array.alone = tokens[array.end].is(";") && !tokens[i - 1].is(",");
  }
  if (array.end == 0) throw Unclear{fmt::format("no `__shared__ … {}[…]` is declared", name)};
}

void Body::find_steps() {
  int parentheses = 0, depth = 0;
  for (size_t i = body.first; i < body.second; ++i) {
    const Token& t = tokens[i];
    if (t.in_directive) continue;
    parentheses += t.is("(") ? 1 : t.is(")") ? -1 : 0;
    depth += t.is("{") ? 1 : t.is("}") ? -1 : 0;
    const bool begins = i > body.first && i + 2 < body.second && parentheses == 0 && t.is_name() &&
                        (tokens[i - 1].is(";") || tokens[i - 1].is("{") || tokens[i - 1].is("}"));
    if (!begins) continue;
    const size_t known = steps.size();
    add_statement(i);
    for (size_t s = known; s < steps.size(); ++s) steps[s].in_block = depth > 1;
  }
  std::set<size_t> clear;
  for (const Step& step : steps)
    if (!step.in_block) clear.insert(step.name);
  for (size_t i = body.first; i + 2 < body.second; ++i)
    if (tokens[i].is_name() && clear.count(i) == 0 && is_changed(i)) changing.insert(tokens[i].text);
}

bool Body::is_changed(size_t i) const {
  const Token &before = tokens[i - 1], &next = tokens[i + 1], &after = tokens[i + 2];
  if (before.is(".") || before.is("->") || next.is("[") || next.is(".")) return false;
  const bool is_operator = !is_operand(tokens[i - 2]);  // what stands before the name
  const bool compound = after.is("=") && after.begin == next.end() && !next.is(")");
  return next.is("++") || next.is("--") || before.is("++") || before.is("--") ||
         (is_operator && before.is("&")) || ((next.is("=") || compound) && !(is_operator && before.is("*")));
}

void Body::add_statement(size_t i) {
  if (tokens[i].is("else") || tokens[i].is("do") || tokens[i].is("return")) return;
  Step step;
  if (tokens[i + 1].is("=") || (tokens[i + 1].is("+") && tokens[i + 2].is("="))) {
    step.moves_on = tokens[i + 1].is("+");
    step.name = i;
    step.value.first = i + (step.moves_on ? 3 : 2);
    step.value.second = step.end = end_of_value(step.value.first);
    return steps.push_back(step);
  }
  size_t type_end = i;
  while (type_end < body.second &&
         (tokens[type_end].is_name() || tokens[type_end].is("::") || tokens[type_end].is("<")))
    type_end = (tokens[type_end].is("<") ? closing(type_end, ">") : type_end) + 1;
  if (type_end >= body.second) return;
  const bool is_simple = !tokens[type_end].is("*") && !tokens[type_end].is("&") && !tokens[type_end].is("(");
  // `T p{q}` and `T p(q)` end with the name; `T (*p)[n]` does not.
  const bool ends_with_name = is_simple || (tokens[type_end].is("(") && !tokens[type_end + 1].is("*"));
  step.type = {i, type_end - (ends_with_name ? 1 : 0)};
  const size_t known = steps.size();
  size_t next = step.type.second;
  while (step.is_declaration() && next + 2 < body.second && add_declarator(step, next) &&
         tokens[next].is(","))
    ++next;
  for (size_t s = known; s < steps.size(); ++s) steps[s].alone = steps.size() == known + 1;
}

bool Body::add_declarator(Step step, size_t& i) {
  const bool to_rows = tokens[i].is("(");
  if (to_rows) ++i;
  for (;
       tokens[i].is("*") || tokens[i].is("const") || tokens[i].is("__restrict__") || tokens[i].is("volatile");
       ++i)
    step.is_pointer = step.is_pointer || tokens[i].is("*");
  if (!tokens[i].is_name() || i + 2 >= body.second) return false;
  step.name = i++;
  if (to_rows) {
    if (!step.is_pointer || !tokens[i].is(")") || !tokens[i + 1].is("[")) return false;
    step.columns = {i + 2, closing(i + 1, "]")};
    if (step.columns.second >= body.second) return false;
    i = step.columns.second + 1;
  }
  step.end = i;
  if (tokens[i].is("=")) {
    step.value = {i + 1, end_of_value(i + 1)};
    i = step.value.second;
  } else if (tokens[i].is("{") || tokens[i].is("(")) {
    step.value = {i + 1, closing(i, tokens[i].is("{") ? "}" : ")")};
    i = std::min(step.value.second + 1, body.second);
  } else if (!tokens[i].is(";") && !tokens[i].is(",")) {
    return false;
  }
  take_cast(step);
  steps.push_back(step);
  return true;
}

void Body::take_cast(Step& step) const {
  const auto [first, end] = step.value;
  if (first + 2 >= end) return;
  const bool is_named = tokens[first].is("reinterpret_cast") || tokens[first].is("static_cast");
  if (!is_named && !tokens[first].is("(")) return;
  const size_t begin = first + (is_named ? 2 : 1), close = closing(begin - 1, is_named ? ">" : ")");
  size_t star = begin;
  while (star < close && star < end && !tokens[star].is("*")) ++star;
  if (star >= close || star >= end || star == begin) return;
  const bool to_rows = tokens[star - 1].is("(");
  if (to_rows && (star + 3 >= close || !tokens[star + 2].is("["))) return;
  if (!to_rows && star + 1 != close) return;
  const Range columns{star + 3, close - 1};
  int depth = 0;
  const bool is_sum = std::any_of(at(close + 1), at(end), [&](const Token& t) {
    depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
    return depth == 0 && (t.is("+") || t.is("-"));
  });
  if (to_rows && !is_sum) step.all_columns = {columns};
  if (step.columns.second != 0 && !step.all_columns.empty()) step.all_columns.push_back(step.columns);
  if (std::none_of(at(step.type.first), at(step.type.second), [](const Token& t) { return t.is("auto"); }))
    return;
  step.is_pointer = true;
  step.pointee = {begin, star - (to_rows ? 1 : 0)};
  if (to_rows) step.columns = columns;
}

size_t Body::end_of_value(size_t i) const {
  for (int depth = 0; i < body.second; ++i) {
    const Token& t = tokens[i];
    if (depth == 0 && (t.is(",") || t.is(";"))) break;
    if (t.is("<") && tokens[i - 1].is_name())  // f<float, 32>(…)
      if (const size_t close = closing(i, ">"); close + 1 < body.second && tokens[close + 1].is("("))
        i = close;
    depth += t.is("(") || t.is("[") || t.is("{") ? 1 : t.is(")") || t.is("]") || t.is("}") ? -1 : 0;
  }
  return i;
}

}  // namespace lanescope::advise
