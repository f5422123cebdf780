// Operators: of the parser (parser.hpp).
#include "code/parser.hpp"

namespace lanescope::code {
namespace {

// clang-format off
struct BinaryOperator { const char* text; int level; Operator op; };
constexpr BinaryOperator binary_operators[] = {
    {"|", 3, Operator::bit_or},     {"^", 4, Operator::bit_xor},  {"&", 5, Operator::bit_and},
    {"==", 6, Operator::equal},     {"!=", 6, Operator::not_equal},
    {"<", 7, Operator::less},       {">", 7, Operator::greater},
    {"<=", 7, Operator::less_equal}, {">=", 7, Operator::greater_equal},
    {"<<", 8, Operator::shift_left}, {">>", 8, Operator::shift_right},
    {"+", 9, Operator::add},        {"-", 9, Operator::subtract},
    {"*", 10, Operator::multiply},  {"/", 10, Operator::divide},  {"%", 10, Operator::remainder},
};

// clang-format on

}  // namespace

NodeId Parser::expression() {
  NodeId left = assignment();
  while (is(",")) {
    take();
    left = rvalue(left);
    const NodeId right = rvalue(assignment());
    left = make_over(NodeKind::comma, node(right).type, {left, right});
  }
  return left;
}

NodeId Parser::assignment() {
  const Depth depth(*this);
  const NodeId left = conditional();
  const Token op = here();
  if (op.kind != Token::Kind::punctuator || op.text.back() != '=' || op.text == "==" || op.text == "!=" ||
      op.text == "<=" || op.text == ">=")
    return left;
  take();
  const NodeId value = rvalue(assignment());
  const Type& type = type_of(left);
  if (!is_place(node(left).kind)) {
    // `out[i] = tile[…]`, out being somewhere else: only the value is of interest.
    if (type.kind == Type::Kind::unknown || node(left).kind == NodeKind::unknown)
      return make_over(NodeKind::unknown, unknown_, {left, value});
    fail(op, fmt::format("'{}' cannot be assigned to", text_of(left)));
  }
  if (type.kind == Type::Kind::array)
    fail(op, fmt::format("'{}' is an array: give an index for every dimension", text_of(left)));
  if (op.text == "=") return make_over(NodeKind::assign, &type, {left, converted(value, &type, false)});
  const std::string_view name = std::string_view(op.text).substr(0, op.text.size() - 1);
  const BinaryOperator& row = *std::find_if(std::begin(binary_operators), std::end(binary_operators),
                                            [&](const BinaryOperator& b) { return name == b.text; });
  return update(left, value, row.op, op);
}

NodeId Parser::update(NodeId left, NodeId value, Operator op, const Token& token) {
  const Type& type = type_of(left);
  const Type* op_type = &type;
  NodeId right = value;
  if (type.kind == Type::Kind::pointer) {
    if (op != Operator::add && op != Operator::subtract)
      fail(token, "a pointer can only be moved with += and -=");
    right = converted(number(value, "the distance"), long_, false);
  } else if (is_integer(type) && is_integer(type_of(value))) {
    const bool shift = op == Operator::shift_left || op == Operator::shift_right;
    op_type = shift ? promoted(type) : common(type, type_of(value));
    right = converted(value, shift ? promoted(type_of(value)) : op_type, false);
  } else if (type.kind == Type::Kind::record) {
    fail(token, "a struct has no arithmetic");
  } else {
    right = value_lost(value);
  }
  const NodeId made = make_over(NodeKind::update, &type, {left, right});
  program_->nodes[made].op = op;
  program_->nodes[made].op_type = op_type;
  return made;
}

NodeId Parser::conditional() {
  const NodeId condition = binary(1);
  if (!is("?")) return condition;
  const NodeId chosen = number(rvalue(condition), "a condition");
  take();
  NodeId yes = rvalue(expression());
  expect(":", "after the second part of '?:'");
  NodeId no = rvalue(assignment());
  const Type *a = node(yes).type, *b = node(no).type;
  const Type* type = unknown_;
  if (is_integer(*a) && is_integer(*b)) {
    type = common(*a, *b);
    yes = converted(yes, type, false);
    no = converted(no, type, false);
    if (node(chosen).kind == NodeKind::constant) return node(chosen).number != 0 ? yes : no;
  } else if (a->kind == b->kind && (a->kind != Type::Kind::pointer || a->element == b->element)) {
    type = a;
  } else if (is_number(*a) && is_number(*b)) {
    type = a->kind == Type::Kind::floating ? a : b;
  }
  return make_over(NodeKind::conditional, type, {chosen, yes, no});
}

NodeId Parser::binary(int level) {
  constexpr int highest = 10;
  if (level > highest) return unary();
  NodeId left = binary(level + 1);
  for (;;) {
    const Token op = here();
    if (level <= 2) {
      if (!is(level == 1 ? "||" : "&&")) return left;
      take();
      left = logical(level == 1, left, binary(level + 1));
      continue;
    }
    const auto* row =
        std::find_if(std::begin(binary_operators), std::end(binary_operators), [&](const BinaryOperator& b) {
          return b.level == level && op.kind == Token::Kind::punctuator && op.text == b.text;
        });
    if (row == std::end(binary_operators)) return left;
    take();
    left = arithmetic(row->op, left, binary(level + 1), op);
  }
}

NodeId Parser::logical(bool is_or, NodeId a, NodeId b) {
  const NodeId left = number(a, "a condition"), right = number(b, "a condition");
  if (node(left).kind == NodeKind::constant && node(right).kind == NodeKind::constant)
    return constant(int_,
                    is_or ? node(left).number != 0 || node(right).number != 0
                          : node(left).number != 0 && node(right).number != 0,
                    node(left).begin, node(right).end);
  return make_over(is_or ? NodeKind::logical_or : NodeKind::logical_and, int_, {left, right});
}

NodeId Parser::arithmetic(Operator op, NodeId a, NodeId b, const Token& token) {
  NodeId left = rvalue(a), right = rvalue(b);
  const Type &ta = type_of(left), &tb = type_of(right);
  const bool compares = op >= Operator::less && op <= Operator::not_equal;
  if (ta.kind == Type::Kind::pointer || tb.kind == Type::Kind::pointer) {
    if (op == Operator::add && is_integer(ta)) return moved(right, left);
    if (op == Operator::add && is_integer(tb)) return moved(left, right);
    if (op == Operator::subtract && is_integer(tb)) return moved(left, negated(right));
    if (ta.kind != Type::Kind::unknown && tb.kind != Type::Kind::unknown)
      fail(token, "a pointer can only be moved with + and -");
  }
  if (ta.kind == Type::Kind::record || tb.kind == Type::Kind::record)
    fail(token, "a struct has no arithmetic");
  if (!is_integer(ta) || !is_integer(tb)) {
    if ((op == Operator::remainder || op >= Operator::shift_left) && op <= Operator::bit_xor &&
        (ta.kind == Type::Kind::floating || tb.kind == Type::Kind::floating))
      fail(token, fmt::format("'{}' takes integers", token.text));
    const bool floats = is_number(ta) && is_number(tb);
    const Type* type = compares ? int_ : !floats ? unknown_ : ta.kind == Type::Kind::floating ? &ta : &tb;
    return make_over(NodeKind::unknown, type, {left, right});
  }
  const bool shift = op == Operator::shift_left || op == Operator::shift_right;
  const Type* type = shift ? promoted(ta) : common(ta, tb);
  left = converted(left, type, false);
  right = converted(right, shift ? promoted(tb) : type, false);
  return integer_operation(op, type, compares ? int_ : type, left, right, token.begin);
}

NodeId Parser::integer_operation(Operator op, const Type* type, const Type* result, NodeId left, NodeId right,
                                 uint32_t offset) {
  if (node(left).kind == NodeKind::constant && node(right).kind == NodeKind::constant) {
    std::string cause;
    const int64_t value = apply(op, *type, node(left).number, node(right).number, &cause);
    if (!cause.empty()) fail_at(offset, cause);
    return constant(result, value, node(left).begin, node(right).end);
  }
  const NodeId made = make_over(NodeKind::binary, result, {left, right});
  program_->nodes[made].op = op;
  program_->nodes[made].op_type = type;
  return made;
}

NodeId Parser::moved(NodeId pointer, NodeId index) {
  const NodeId place = subscript(pointer, index);
  return make(NodeKind::address, node(pointer).type, {place}, node(place).begin, node(place).end);
}

NodeId Parser::negated(NodeId value) {
  return unary_operation(Operator::negate, converted(value, long_, false), node(value).begin);
}

NodeId Parser::unary() {
  const Depth depth(*this);
  const Token op = here();
  if (op.kind == Token::Kind::punctuator) {
    if (accept("+")) return number(unary(), "'+'");
    if (accept("-") || accept("~")) {
      const NodeId value = number(unary(), op.text == "-" ? "'-'" : "'~'");
      if (!is_integer(type_of(value))) return value_lost(value);
      const Operator kind = op.text == "-" ? Operator::negate : Operator::complement;
      return unary_operation(kind, converted(value, promoted(type_of(value)), false), op.begin);
    }
    if (accept("!")) {
      const NodeId value = number(unary(), "'!'");
      if (!is_integer(type_of(value))) return make_over(NodeKind::unknown, int_, {value});
      return unary_operation(Operator::logical_not, value, op.begin);
    }
    if (accept("&")) return address_of(unary(), op);
    if (accept("*")) return target_of(rvalue(unary()), op);
    if (accept("++")) return increment(unary(), 1, true, op);
    if (accept("--")) return increment(unary(), -1, true, op);
    if (is("(") && at_type(1)) {
      take();
      const Type* type = type_name();
      expect(")", "after the type of a cast");
      return widened(converted(rvalue(unary()), type, true), op.begin);
    }
  }
  if (word_is("sizeof")) return size_of();
  return postfix();
}

NodeId Parser::widened(NodeId id, uint32_t begin) {
  Node& all = program_->nodes[id];
  all.begin = std::min(all.begin, begin);
  all.end = std::max(all.end, tokens_[at_ - 1].end);
  return id;
}

NodeId Parser::unary_operation(Operator op, NodeId value, uint32_t begin) {
  const Type* type = op == Operator::logical_not ? int_ : node(value).type;
  if (node(value).kind == NodeKind::constant) {
    std::string cause;
    return constant(type, apply(op, type_of(value), node(value).number, 0, &cause), begin, node(value).end);
  }
  const NodeId made = make(NodeKind::unary, type, {value}, begin, node(value).end);
  program_->nodes[made].op = op;
  program_->nodes[made].op_type = node(value).type;
  return made;
}

NodeId Parser::size_of() {
  const Token first = take();
  const Type* type = nullptr;
  if (is("(") && at_type(1)) {
    take();
    type = type_name();
    expect(")", "after the type");
  } else {
    type = node(unary()).type;
  }
  if (type->kind == Type::Kind::unknown || type->size == 0) fail(first, "the size of this is not known");
  return constant(unsigned_long_, static_cast<int64_t>(type->size), first.begin, first.end);
}

NodeId Parser::address_of(NodeId place, const Token& op) {
  const Type* type = node(place).type;
  if (type->kind == Type::Kind::unknown || node(place).kind == NodeKind::unknown) return place;
  if (!is_place(node(place).kind) || node(place).kind == NodeKind::variable)
    fail(op, fmt::format("'{}' has no address in shared memory", text_of(place)));
  return make(NodeKind::address, pointer_to(type), {place}, op.begin, node(place).end);
}

NodeId Parser::target_of(NodeId pointer, const Token& op) {
  const Type& type = type_of(pointer);
  // `*` stands before the pointer, `->` behind it.
  const uint32_t begin = std::min(op.begin, node(pointer).begin), end = node(pointer).end;
  if (type.kind == Type::Kind::unknown) {
    note_undeclared(pointer);
    return make(NodeKind::elsewhere, unknown_, {pointer}, begin, end);
  }
  if (type.kind != Type::Kind::pointer) fail(op, fmt::format("'{}' is no pointer", text_of(pointer)));
  return make(NodeKind::target, type.element, {pointer}, begin, end);
}

void Parser::note_undeclared(NodeId pointer) {
  while (!node(pointer).operands.empty()) pointer = node(pointer).operands.front();
  const std::string name = text_of(pointer);
  if (program_->undeclared_pointer.empty() && node(pointer).kind == NodeKind::unknown &&
      find(name) == nullptr)
    program_->undeclared_pointer = name;
}

NodeId Parser::increment(NodeId place, int by, bool prefix, const Token& op) {
  const Type& type = type_of(place);
  if (!is_place(node(place).kind)) {
    if (type.kind == Type::Kind::unknown) return place;
    fail(op, fmt::format("'{}' cannot be changed", text_of(place)));
  }
  if (!is_number(type) && type.kind != Type::Kind::pointer)
    fail(op, fmt::format("'{}' is no number", text_of(place)));
  const uint32_t begin = std::min(op.begin, node(place).begin), end = std::max(op.end, node(place).end);
  const NodeId made = make(NodeKind::increment, &type, {place}, begin, end, by);
  program_->nodes[made].prefix = prefix;
  return made;
}

NodeId Parser::postfix() {
  NodeId left = primary();
  for (;;) {
    const Token op = here();
    if (op.kind != Token::Kind::punctuator) return left;
    if (accept("[")) {
      const NodeId index = rvalue(expression());
      expect("]", "after the index");
      left = subscript(left, index);
      program_->nodes[left].end = tokens_[at_ - 1].end;
    } else if (accept(".")) {
      left = member(left, op);
    } else if (accept("->")) {
      left = member(target_of(rvalue(left), op), op);
    } else if (accept("++")) {
      left = increment(left, 1, false, op);
    } else if (accept("--")) {
      left = increment(left, -1, false, op);
    } else if (is("(")) {
      fail(op, fmt::format("'{}' is no function", text_of(left)));
    } else {
      return left;
    }
  }
}

NodeId Parser::subscript(NodeId base, NodeId index) {
  const Type& type = type_of(base);
  if (type.kind == Type::Kind::unknown) return make_over(NodeKind::elsewhere, unknown_, {base, index});
  const bool array = type.kind == Type::Kind::array;
  NodeId from = base;
  if (!array) from = rvalue(base);
  if (!array && type.kind != Type::Kind::pointer) {
    if (!assumed_.empty() && text_of(base).starts_with(assumed_ + "["))
      fail(base, fmt::format("'{0}' is not declared; with several indices its sizes are needed, as in "
                             "'float {0}[32][32];'",
                             assumed_));
    if (is_number(type) && node(base).kind == NodeKind::subscript)
      fail(index, fmt::format("'{}' is a single {}: one index too many", text_of(base), type.name));
    fail(index, fmt::format("'{}' is no array", text_of(base)));
  }
  if (type_of(index).kind == Type::Kind::floating)
    fail(index, fmt::format("'{}' is a floating-point number; an index is an integer", text_of(index)));
  if (type_of(index).kind == Type::Kind::pointer || type_of(index).kind == Type::Kind::record)
    fail(index, fmt::format("'{}' is no number; an index is an integer", text_of(index)));
  if (type.element->size == 0) fail(index, "what this points to has no size");
  return make_over(NodeKind::subscript, type.element, {from, index});
}

NodeId Parser::member(NodeId base, const Token& op) {
  const Type& type = type_of(base);
  const std::string name = take_name("'.'");
  const uint32_t begin = node(base).begin, end = tokens_[at_ - 1].end;
  if (type.kind == Type::Kind::unknown) return make(NodeKind::elsewhere, unknown_, {base}, begin, end);
  if (type.kind != Type::Kind::record && !assumed_.empty() && text_of(base).starts_with(assumed_ + "["))
    fail(base, fmt::format("'{0}' is not declared; with members its elements need a type, as in 'struct "
                           "{{float {1};}} {0}[256];'",
                           assumed_, name));
  if (type.kind != Type::Kind::record)
    fail(op, fmt::format("'{}' is no struct: it has no member '{}'", text_of(base), name));
  const auto found = find_name(type.members, name);
  if (found == type.members.end()) {
    std::string known;
    for (const Member& member : type.members) known += (known.empty() ? "" : ", ") + member.name;
    fail_at(tokens_[at_ - 1].begin, fmt::format("{} has no member '{}', but {}", type.name, name, known));
  }
  if (!is_place(node(base).kind) || in_variable(base))  // a struct in registers
    return make(NodeKind::unknown, found->type, {rvalue(base)}, begin, end);
  return make(NodeKind::member, found->type, {base}, begin, end, static_cast<int64_t>(found->offset));
}

}  // namespace lanescope::code
