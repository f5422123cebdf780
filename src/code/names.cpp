// What stands at the leaves of expressions, literals, names and calls: of the parser (parser.hpp).
#include "code/parser.hpp"

namespace lanescope::code {
namespace {

// clang-format off
struct BuiltinName { const char* name; Builtin first; bool is_vector; };
constexpr BuiltinName builtin_names[] = {
    {"threadIdx", Builtin::thread_x, true},  {"blockIdx", Builtin::block_x, true},
    {"blockDim", Builtin::block_size_x, true}, {"gridDim", Builtin::grid_x, true},
    {"lane", Builtin::lane, false},   {"lane_id", Builtin::lane, false}, {"laneId", Builtin::lane, false},
    {"warp", Builtin::warp, false},   {"warp_id", Builtin::warp, false}, {"warpId", Builtin::warp, false},
    {"warpSize", Builtin::warp_size, false},
};

/// Functions of an integer's bits.
struct BitFunction { const char* name; Operator op; int bytes; };
constexpr BitFunction bit_functions[] = {
    {"__brev", Operator::reverse_bits, 4},       {"__brevll", Operator::reverse_bits, 8},
    {"__popc", Operator::count_bits, 4},         {"__popcll", Operator::count_bits, 8},
    {"__clz", Operator::count_leading_zeros, 4}, {"__clzll", Operator::count_leading_zeros, 8},
    {"__ffs", Operator::first_bit, 4},           {"__ffsll", Operator::first_bit, 8},
};

/// Functions whose first argument points to the shared memory that they access.
struct RequestName { const char* name; model::Op op; int matrices; };
constexpr RequestName request_names[] = {
    {"atomicAdd", model::Op::atomic, 0}, {"atomicSub", model::Op::atomic, 0}, {"atomicExch", model::Op::atomic, 0},
    {"atomicMin", model::Op::atomic, 0}, {"atomicMax", model::Op::atomic, 0}, {"atomicInc", model::Op::atomic, 0},
    {"atomicDec", model::Op::atomic, 0}, {"atomicCAS", model::Op::compare_and_swap, 0}, {"atomicAnd", model::Op::atomic, 0},
    {"atomicOr", model::Op::atomic, 0},  {"atomicXor", model::Op::atomic, 0},
    {"__pipeline_memcpy_async", model::Op::cp_async, 0},
    {"ldmatrix_x1", model::Op::ldmatrix, 1}, {"ldmatrix_x2", model::Op::ldmatrix, 2}, {"ldmatrix_x4", model::Op::ldmatrix, 4},
    {"stmatrix_x1", model::Op::stmatrix, 1}, {"stmatrix_x2", model::Op::stmatrix, 2}, {"stmatrix_x4", model::Op::stmatrix, 4},
};
// clang-format on

/// What the hardware does for an atomic function of CUDA on such a number: merge/plan.hpp.
model::Op op_of_atomic(std::string_view function, model::Op op, const Type& number) {
  const bool has_instruction = op == model::Op::compare_and_swap || function == "atomicExch" ||
                               function == "atomicMin" || function == "atomicMax";
  const bool looped = number.size == 2 || ((!is_integer(number) || number.size == 8) && !has_instruction);
  return looped ? model::Op::update_loop : op;
}

}  // namespace

NodeId Parser::primary() {
  const Token token = here();
  if (token.kind == Token::Kind::integer) {
    take();
    return constant(literal_type(token), static_cast<int64_t>(token.value), token.begin, token.end);
  }
  if (token.kind == Token::Kind::floating) {
    take();
    const bool is_float = token.text.back() == 'f' || token.text.back() == 'F';
    return make(NodeKind::unknown, named_type(is_float ? "float" : "double"), {}, token.begin, token.end);
  }
  if (accept("(")) {
    const NodeId inner = expression();
    expect(")", "to close '('");
    return widened(inner, token.begin);
  }
  if (token.kind != Token::Kind::identifier)
    fail(token, token.kind == Token::Kind::end ? std::string("the code ends too early")
                                               : fmt::format("'{}' is not understood here", token.text));
  for (const char* cast : {"static_cast", "reinterpret_cast", "const_cast"})
    if (token.text == cast) return named_cast();
  if (at_type()) {
    const Type* type = type_name();
    expect("(", fmt::format("after the type '{}'", type->name).c_str());
    const NodeId value = rvalue(expression());
    expect(")", "after the value");
    return widened(converted(value, type, true), token.begin);
  }
  take();
  if (token.text == "true" || token.text == "false")
    return constant(int_, token.text == "true", token.begin, token.end);
  return name(token);
}

const Type* Parser::literal_type(const Token& token) const {
  const uint64_t v = token.value;
  if (!token.is_long && !token.is_unsigned && v <= INT32_MAX) return int_;
  if (!token.is_long && (token.is_unsigned || !token.is_decimal) && v <= UINT32_MAX) return unsigned_;
  if (!token.is_unsigned && v <= INT64_MAX) return long_;
  return unsigned_long_;
}

NodeId Parser::named_cast() {
  const Token first = take();
  expect("<", "after the word for a cast");
  const Type* type = type_name();
  expect(">", "after the type of a cast");
  expect("(", "after the type of a cast");
  const NodeId value = rvalue(expression());
  expect(")", "after the value");
  return widened(converted(value, type, true), first.begin);
}

NodeId Parser::name(const Token& token) {
  const Symbol* symbol = find(token.text);
  if (symbol == nullptr) return builtin_or_unknown(token);
  switch (symbol->kind) {
    case Symbol::Kind::array: {
      const NodeId whole = make(NodeKind::array, symbol->type, {}, token.begin, token.end, symbol->number);
      const auto index = static_cast<size_t>(symbol->number);
      if (std::find(shared_scalars_.begin(), shared_scalars_.end(), index) == shared_scalars_.end())
        return whole;
      const NodeId first = constant(int_, 0, token.begin, token.end);
      return make(NodeKind::subscript, symbol->type->element, {whole, first}, token.begin, token.end);
    }
    case Symbol::Kind::variable:
      return make(NodeKind::variable, symbol->type, {}, token.begin, token.end, symbol->number);
    case Symbol::Kind::constant: return constant(symbol->type, symbol->number, token.begin, token.end);
    default: return make(NodeKind::unknown, unknown_, {}, token.begin, token.end);
  }
}

NodeId Parser::builtin_or_unknown(const Token& token) {
  const auto builtin = [&](Builtin which, const Type* type, uint32_t end) {
    return make(NodeKind::builtin, type, {}, token.begin, end, static_cast<int64_t>(which));
  };
  const bool is_tid = token.text == "tid";
  const auto* row = find_name(builtin_names, is_tid ? "threadIdx" : token.text);
  if (row != std::end(builtin_names)) {
    if (!row->is_vector) return builtin(row->first, int_, token.end);
    if (!is(".")) {
      if (is_tid) return builtin(Builtin::thread, int_, token.end);
      fail(token, fmt::format("'{0}' is three numbers: {0}.x, {0}.y, {0}.z", token.text));
    }
    take();
    const Token which = take();
    const size_t index =
        which.text.size() == 1 ? std::string_view("xyz").find(which.text[0]) : std::string_view::npos;
    if (index == std::string_view::npos)
      fail(which, fmt::format("{} has x, y and z, but no '{}'", token.text, which.text));
    return builtin(static_cast<Builtin>(static_cast<size_t>(row->first) + index), unsigned_, which.end);
  }
  if (is("(")) return call(token);
  if (is("[") && program_->undeclared.empty()) program_->undeclared = token.text;
  while (is("::") && here(1).kind == Token::Kind::identifier) {  // std::something
    take();
    const Token last = take();
    if (is("(")) return call(last);
  }
  return make(NodeKind::unknown, unknown_, {}, token.begin, tokens_[at_ - 1].end);
}

NodeId Parser::call(const Token& function) {
  expect("(", "after the function's name");
  std::vector<NodeId> arguments;
  while (!is(")")) {
    arguments.push_back(rvalue(assignment()));
    if (!accept(",")) break;
  }
  expect(")", "after the function's arguments");
  const uint32_t end = tokens_[at_ - 1].end;
  const bool both_integers =
      arguments.size() == 2 && is_integer(type_of(arguments[0])) && is_integer(type_of(arguments[1]));
  if ((function.text == "min" || function.text == "max") && both_integers) {
    const Type* type = common(type_of(arguments[0]), type_of(arguments[1]));
    return integer_operation(function.text == "min" ? Operator::minimum : Operator::maximum, type, type,
                             converted(arguments[0], type, false), converted(arguments[1], type, false),
                             function.begin);
  }
  if (const auto* row = find_name(bit_functions, function.text);
      row != std::end(bit_functions) && arguments.size() == 1 && is_integer(type_of(arguments[0]))) {
    const Type* type = row->bytes == 8 ? unsigned_long_ : unsigned_;
    const NodeId bits = unary_operation(row->op, converted(arguments[0], type, false), function.begin);
    return row->op == Operator::reverse_bits ? bits : converted(bits, int_, false);
  }
  if (function.text == "__cvta_generic_to_shared" && arguments.size() == 1) return arguments[0];
  const auto* row = find_name(request_names, function.text);
  if (row == std::end(request_names))
    return make(NodeKind::unknown, unknown_, std::move(arguments), function.begin, end);
  if (arguments.empty()) fail(function, fmt::format("'{}' needs a pointer", function.text));
  const Type& pointer = type_of(arguments[0]);
  if (pointer.kind == Type::Kind::unknown) {
    note_undeclared(arguments[0]);
    return make(NodeKind::unknown, unknown_, std::move(arguments), function.begin, end);
  }
  if (pointer.kind != Type::Kind::pointer)
    fail(arguments[0],
         fmt::format("'{}' is no pointer; '{}' needs one", text_of(arguments[0]), function.text));
  int64_t bytes = static_cast<int64_t>(pointer.element->size);
  model::Op op = row->op;
  const Type* type = unknown_;
  if (is_atomic(row->op)) {
    if (!is_number(*pointer.element) || bytes < 2)
      fail(arguments[0], fmt::format("'{}' takes a pointer to a number of 2, 4 or 8 bytes", function.text));
    type = pointer.element;
    op = op_of_atomic(function.text, op, *type);
  } else if (row->op == model::Op::cp_async) {
    if (arguments.size() < 3 || node(arguments[2]).kind != NodeKind::constant)
      fail(function, "the third argument of '__pipeline_memcpy_async' is a number of bytes: 4, 8 or 16");
    bytes = node(arguments[2]).number;
    if (bytes != 4 && bytes != 8 && bytes != 16)
      fail(arguments[2], fmt::format("'__pipeline_memcpy_async' copies 4, 8 or 16 bytes, not {}", bytes));
  } else {
    bytes = row->matrices;
  }
  const NodeId made = make(NodeKind::request, type, std::move(arguments), function.begin, end, bytes);
  program_->nodes[made].access = op == model::Op::cp_async && bytes == 16 ? model::Op::cp_async_cg : op;
  return made;
}

}  // namespace lanescope::code
