// Values and their conversions: of the parser (parser.hpp).
#include "code/parser.hpp"

namespace lanescope::code {

NodeId Parser::rvalue(NodeId id) {
  const Node& from = node(id);
  if (!is_place(from.kind)) return id;
  const uint32_t begin = from.begin, end = from.end;
  if (from.type->kind == Type::Kind::array)
    return make(NodeKind::address, pointer_to(from.type->element), {id}, begin, end);
  return make(NodeKind::read, from.type, {id}, begin, end);
}

NodeId Parser::number(NodeId id, const char* what) {
  const NodeId value = rvalue(id);
  const Type& type = type_of(value);
  if (!is_number(type) && type.kind != Type::Kind::unknown)
    fail(value, fmt::format("{} needs a number, and '{}' is none", what, text_of(value)));
  return value;
}

NodeId Parser::value_lost(NodeId value) {
  if (node(value).kind == NodeKind::unknown) return value;
  return make_over(NodeKind::unknown, node(value).type, {value});
}

const Type* Parser::promoted(const Type& type) const {
  if (type.size < 4) return int_;
  return type.size == 4 ? (type.is_signed ? int_ : unsigned_) : type.is_signed ? long_ : unsigned_long_;
}

const Type* Parser::common(const Type& a, const Type& b) const {
  const Type *x = promoted(a), *y = promoted(b);
  if (x->size != y->size) return x->size > y->size ? x : y;
  return x->is_signed ? y : x;
}

NodeId Parser::converted(NodeId value, const Type* type, bool is_cast) {
  const Type& from = type_of(value);
  if (&from == type) return value;
  const Type::Kind a = from.kind, b = type->kind;
  const bool integers = a == Type::Kind::integer && b == Type::Kind::integer;
  const auto truth = [&](int64_t v) {
    return type->name == "bool" ? int64_t{v != 0} : fitted(*type, static_cast<uint64_t>(v));
  };
  if (integers && node(value).kind == NodeKind::constant)
    return constant(type, truth(node(value).number), node(value).begin, node(value).end);
  const bool pointers = a == Type::Kind::pointer && b == Type::Kind::pointer;
  if (integers || pointers || (is_cast && a == Type::Kind::pointer && b == Type::Kind::integer))
    return make_over(NodeKind::convert, type, {value});
  if (b == Type::Kind::pointer && a != Type::Kind::unknown)
    fail(value, fmt::format("'{}' is no pointer to shared memory", text_of(value)));
  if (a == Type::Kind::pointer && b != Type::Kind::unknown)
    fail(value, fmt::format("'{}' is a pointer, and a {} is needed", text_of(value), type->name));
  if (a == Type::Kind::unknown && b == Type::Kind::pointer) return value;  // a pointer to somewhere else
  if ((a == Type::Kind::record) != (b == Type::Kind::record) && a != Type::Kind::unknown &&
      b != Type::Kind::unknown)
    fail(value, fmt::format("'{}' cannot be converted to {}", text_of(value), type->name));
  return make_over(NodeKind::unknown, type, {value});
}

}  // namespace lanescope::code
