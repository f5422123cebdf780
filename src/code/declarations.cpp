// Types, and what declares names: of the parser (parser.hpp).
#include "code/parser.hpp"

#include <optional>

namespace lanescope::code {
namespace {

struct ScalarName {
  const char* name;
  Type::Kind kind;
  uint8_t size;
  bool is_signed;
};

// clang-format off
constexpr ScalarName scalar_names[] = {
    {"bool",          Type::Kind::integer,  1, false}, {"char",               Type::Kind::integer,  1, true},
    {"int8_t",        Type::Kind::integer,  1, true},  {"uint8_t",            Type::Kind::integer,  1, false},
    {"int16_t",       Type::Kind::integer,  2, true},  {"uint16_t",           Type::Kind::integer,  2, false},
    {"int32_t",       Type::Kind::integer,  4, true},  {"uint32_t",           Type::Kind::integer,  4, false},
    {"int64_t",       Type::Kind::integer,  8, true},  {"uint64_t",           Type::Kind::integer,  8, false},
    {"size_t",        Type::Kind::integer,  8, false}, {"ptrdiff_t",          Type::Kind::integer,  8, true},
    {"uchar",         Type::Kind::integer,  1, false}, {"ushort",             Type::Kind::integer,  2, false},
    {"uint",          Type::Kind::integer,  4, false}, {"ulong",              Type::Kind::integer,  8, false},
    {"half",          Type::Kind::floating, 2, true},  {"__half",             Type::Kind::floating, 2, true},
    {"nv_bfloat16",   Type::Kind::floating, 2, true},  {"__nv_bfloat16",      Type::Kind::floating, 2, true},
    {"bfloat16",      Type::Kind::floating, 2, true},  {"__nv_fp8_e4m3",      Type::Kind::floating, 1, true},
    {"__nv_fp8_e5m2", Type::Kind::floating, 1, true},  {"float",              Type::Kind::floating, 4, true},
    {"double",        Type::Kind::floating, 8, true},
};
constexpr const char* integer_words[] = {"signed", "unsigned", "short", "long", "int", "char"};
constexpr const char* qualifiers[] = {"const", "constexpr", "volatile", "static", "extern", "inline", "register",
                                      "__shared__", "__device__", "__restrict__", "restrict"};
/// Vector types: name, element, most components. Named name1 … name4.
struct VectorName { const char* name; const char* element; int least; int most; };
constexpr VectorName vector_names[] = {
    {"char", "char", 1, 4},   {"uchar", "uint8_t", 1, 4},     {"short", "int16_t", 1, 4},    {"ushort", "uint16_t", 1, 4},
    {"int", "int32_t", 1, 4}, {"uint", "uint32_t", 1, 4},     {"long", "int64_t", 1, 4},     {"ulong", "uint64_t", 1, 4},
    {"longlong", "int64_t", 1, 4}, {"ulonglong", "uint64_t", 1, 4}, {"float", "float", 1, 4}, {"double", "double", 1, 4},
    {"half", "half", 2, 2}, {"__half", "half", 2, 2}, {"nv_bfloat16", "nv_bfloat16", 2, 2}, {"__nv_bfloat16", "nv_bfloat16", 2, 2},
};

// clang-format on

}  // namespace

const Type* Parser::add_type(Type type) {
  program_->types.push_back(std::move(type));
  return &program_->types.back();
}

void Parser::add_builtin_types() {
  for (const ScalarName& scalar : scalar_names) {
    Type type;
    type.kind = scalar.kind;
    type.name = scalar.name;
    type.size = type.align = scalar.size;
    type.is_signed = scalar.is_signed;
    named_[scalar.name] = add_type(type);
  }
  constexpr const char* components[] = {"x", "y", "z", "w"};
  for (const VectorName& vector : vector_names)
    for (int n = vector.least; n <= vector.most; ++n) {
      const Type* element = named_type(vector.element);
      Type type;
      type.kind = Type::Kind::record;
      type.name = vector.name + std::to_string(n);
      for (int i = 0; i < n; ++i)
        type.members.push_back({components[i], element, element->size * static_cast<uint64_t>(i)});
      type.size = element->size * static_cast<uint64_t>(n);
      // Vectors of three are loaded component by component; none is aligned beyond 16 bytes.
      type.whole = n != 3;
      type.align = n == 3 ? element->align : std::min<uint64_t>(type.size, 16);
      named_[type.name] = add_type(type);
    }
  Type unknown;
  unknown.name = "unknown";
  unknown_ = add_type(unknown);
  int_ = named_type("int32_t");
  unsigned_ = named_type("uint32_t");
  long_ = named_type("int64_t");
  unsigned_long_ = named_type("uint64_t");
}

const Type* Parser::pointer_to(const Type* element) {
  Type type;
  type.kind = Type::Kind::pointer;
  type.name = element->name + "*";
  type.size = type.align = 8;
  type.element = element;
  return add_type(type);
}

const Type* Parser::array_of(const Type* element, uint64_t count, uint32_t offset) {
  if (element->kind == Type::Kind::unknown || element->size == 0)
    fail_at(offset, "the elements of an array need a type with a size");
  Type type;
  type.kind = Type::Kind::array;
  type.name = element->name;
  type.element = element;
  type.count = count;
  type.align = element->align;
  if (count > most_shared_bytes / element->size)
    fail_at(offset,
            fmt::format("the array is larger than {} bytes, which no shared memory is", most_shared_bytes));
  type.size = element->size * count;
  return add_type(type);
}

const Symbol* Parser::find(const std::string& name) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto it = scopes_[i].find(name); it != scopes_[i].end()) return &it->second;
  return nullptr;
}

bool Parser::at_type(size_t more) const {
  const Token& token = here(more);
  if (token.kind != Token::Kind::identifier) return false;
  if (const Symbol* symbol = find(token.text)) return symbol->kind == Symbol::Kind::type;
  return named_.count(token.text) != 0 || has_word(integer_words, token.text) ||
         has_word(qualifiers, token.text) || token.text == "struct" || token.text == "union" ||
         token.text == "auto" || token.text == "void" || token.text == "alignas" || token.text == "__align__";
}

Parser::Specifiers Parser::specifiers() {
  Specifiers result;
  const Token first = here();
  int longs = 0, shorts = 0;
  std::optional<bool> sign;
  bool is_char = false, is_int = false, has_type = false;
  for (;; result.text = text_between(first.begin, tokens_[at_ == 0 ? 0 : at_ - 1].end)) {
    const std::string& word = here().text;
    if (here().kind != Token::Kind::identifier) break;
    if (has_word(qualifiers, word)) {
      result.is_const |= word == "const" || word == "constexpr";
      result.is_shared |= word == "__shared__";
      take();
    } else if (word == "alignas" || word == "__align__") {
      take();
      alignment();
    } else if (has_word(integer_words, word)) {
      if (has_type) break;
      longs += word == "long";
      shorts += word == "short";
      is_char |= word == "char";
      is_int = true;
      if (word == "signed" || word == "unsigned") sign = word == "signed";
      take();
    } else if (has_type || is_int) {
      break;
    } else if (word == "struct" || word == "union") {
      const bool is_union = take().text == "union";
      result.type = record(is_union);
      has_type = true;
    } else if (word == "auto" || word == "void") {
      has_type = true;
      if (take().text == "void") result.type = unknown_;
    } else if (const Symbol* symbol = find(word); symbol != nullptr && symbol->kind == Symbol::Kind::type) {
      result.type = symbol->type;
      has_type = true;
      take();
    } else if (symbol == nullptr && named_.count(word) != 0) {
      result.type = named_type(word);
      has_type = true;
      take();
    } else {
      break;
    }
  }
  if (is_int && longs != 0 && word_is("double")) {
    take();
    fail(first, "'long double' does not exist on a GPU");
  }
  if (is_int) {
    const bool is_signed = sign.value_or(true);
    const char* names[4][2] = {
        {"uint8_t", "char"}, {"uint16_t", "int16_t"}, {"uint32_t", "int32_t"}, {"uint64_t", "int64_t"}};
    result.type = named_type(names[is_char ? 0 : shorts != 0 ? 1 : longs != 0 ? 3 : 2][is_signed ? 1 : 0]);
  } else if (!has_type) {
    if (first.begin == here().begin || here().kind != Token::Kind::identifier)
      fail(here(), fmt::format("a type is missing{}", found()));
    fail(here(), fmt::format("'{}' is no type that is known here", here().text));
  }
  return result;
}

std::string Parser::text_between(uint32_t begin, uint32_t end) const {
  return begin < end ? program_->text.substr(begin, end - begin) : "";
}

uint64_t Parser::alignment() {
  expect("(", "after the word for alignment");
  const NodeId size = constant_expression("an alignment");
  expect(")", "after the alignment");
  const int64_t value = node(size).number;
  if (value < 1 || value > 256 || (value & (value - 1)) != 0)
    fail(size, fmt::format("an alignment is a power of two from 1 to 256, not {}", value));
  return static_cast<uint64_t>(value);
}

const Type* Parser::record(bool is_union) {
  const std::string_view kind = is_union ? "union" : "struct";
  uint64_t align = 1;
  while (is("alignas") || is("__align__")) {
    take();
    align = std::max(align, alignment());
  }
  const Token name = here();
  if (name.kind == Token::Kind::identifier) take();
  if (!is("{")) {
    if (name.kind != Token::Kind::identifier) fail(name, fmt::format("a {} needs a name or a body", kind));
    const Symbol* symbol = find(name.text);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::type)
      fail(name, fmt::format("no {} '{}' was defined", kind, name.text));
    return symbol->type;
  }
  take();
  Type type;
  type.kind = Type::Kind::record;
  type.name = name.kind == Token::Kind::identifier ? name.text : kind;
  type.align = align;
  type.is_struct = true;
  type.is_union = is_union;
  while (!accept("}")) members(type);
  if (type.members.empty()) fail(name, fmt::format("a {} needs a member", kind));
  type.size = (type.size + type.align - 1) / type.align * type.align;
  // The compiler moves what is aligned to its own size of 8 or 16 bytes at once (CUDA C Programming Guide,
  // "Size and Alignment Requirement").
  type.whole = type.size == type.align && (type.size == 8 || type.size == 16);
  const Type* added = add_type(type);
  if (name.kind == Token::Kind::identifier) scopes_.back()[name.text] = {Symbol::Kind::type, added, 0};
  return added;
}

void Parser::members(Type& record) {
  const Depth depth(*this);
  const Specifiers head = specifiers();
  if (head.type == nullptr) fail(here(), "a member needs a type");
  if (is(";") && head.type->is_struct) {  // its members are those of the record around it
    const Token at = take();
    const uint64_t offset = place(record, *head.type, at);
    for (const Member& inner : head.type->members)
      add_member(record, inner.name, inner.type, offset + inner.offset, at);
    return;
  }
  do {
    const Token at = here();
    Declarator declarator = this->declarator(head.type);
    if (declarator.type->kind == Type::Kind::unknown || declarator.type->size == 0)
      fail(at, "a member needs a type with a size");
    const uint64_t offset = place(record, *declarator.type, at);
    add_member(record, declarator.name, declarator.type, offset, at);
  } while (accept(","));
  expect(";", "after a member");
}

uint64_t Parser::place(Type& record, const Type& type, const Token& at) {
  const uint64_t offset = record.is_union ? 0 : (record.size + type.align - 1) / type.align * type.align;
  record.size = std::max(record.size, offset + type.size);
  record.align = std::max(record.align, type.align);
  if (record.size > most_shared_bytes)
    fail(at, fmt::format("the {} is larger than {} bytes, which no shared memory is",
                         record.is_union ? "union" : "struct", most_shared_bytes));
  return offset;
}

void Parser::add_member(Type& record, const std::string& name, const Type* type, uint64_t offset,
                        const Token& at) {
  for (const Member& member : record.members)
    if (member.name == name) fail(at, fmt::format("two members are named '{}'", name));
  record.members.push_back({name, type, offset});
}

Parser::Declarator Parser::declarator(const Type* type) {
  while (is("*") || has_word(qualifiers, here().text)) {
    if (!accept("*")) {
      take();
      continue;
    }
    if (type == nullptr) continue;  // auto*
    type = type->kind == Type::Kind::unknown ? unknown_ : pointer_to(type);
  }
  const bool is_reference = accept("&");
  if (is_reference && type != nullptr) refuse_reference(here(), *type);
  if (is("(") && is("*", 1)) {  // (*rows)[32]
    take();
    take();
    std::string name = take_name("a pointer");
    return {std::move(name), pointer_to_array(type), is_reference};
  }
  std::string name = take_name("a declaration");
  return {std::move(name), with_extents(type), is_reference};
}

const Type* Parser::pointer_to_array(const Type* element) {
  expect(")", "after a pointer");
  if (!is("[")) fail(here(), "pointers to functions are not supported");
  return pointer_to(with_extents(element));
}

const Type* Parser::with_extents(const Type* type) {
  std::vector<std::pair<uint64_t, uint32_t>> counts;
  while (is("[")) {
    const Token bracket = take();
    uint64_t count = 0;
    if (!is("]")) {
      const NodeId size = constant_expression("the size of an array");
      if (node(size).number <= 0)
        fail(size, fmt::format("the size of an array is at least 1, not {}", node(size).number));
      count = static_cast<uint64_t>(node(size).number);
    } else if (!counts.empty()) {
      fail(bracket, "only the first size of an array may be left out");
    }
    expect("]", "after the size of an array");
    counts.emplace_back(count, bracket.begin);
  }
  if (!counts.empty() && type == nullptr) fail(here(), "an array needs a type");
  for (size_t i = counts.size(); i-- > 0;) type = array_of(type, counts[i].first, counts[i].second);
  return type;
}

NodeId Parser::constant_expression(const char* what) {
  const NodeId value = rvalue(conditional());
  if (node(value).kind != NodeKind::constant)
    fail(value, fmt::format("{} must be a constant; variables that are declared 'const' with one are", what));
  return value;
}

const Type* Parser::type_name() {
  const Token first = here();
  const Type* type = specifiers().type;
  if (type == nullptr) fail(first, "'auto' is no type to convert to");
  while (is("*") || has_word(qualifiers, here().text))
    if (take().text == "*") type = type->kind == Type::Kind::unknown ? unknown_ : pointer_to(type);
  if (is("(") && is("*", 1) && is(")", 2)) {
    take();
    take();
    return pointer_to_array(type);
  }
  return type;
}

void Parser::add_array(const std::string& name, const Type* type, std::string declaration) {
  scopes_.back()[name] = {Symbol::Kind::array, type, static_cast<int64_t>(program_->arrays.size())};
  program_->arrays.push_back({name, std::move(declaration), type, 0, 0});
}

void Parser::place_arrays() {
  uint64_t end = 0;
  const auto place = [&](Array& array, uint64_t bytes) {
    array.begin = end;
    array.limit = bytes;
    end = (end + bytes + array_align - 1) / array_align * array_align;
  };
  for (Array& array : program_->arrays)
    if (array.type->count != 0) place(array, array.type->size);
  if (end > most_shared_bytes)
    throw Error(SourcePlace{program_->name},
                fmt::format("the arrays take {} bytes together, which no shared memory has", end));
  for (Array& array : program_->arrays)
    if (array.type->count == 0) place(array, most_shared_bytes);
}

NodeId Parser::type_definition() {
  const Token first = take();
  std::string name;
  const Type* type = nullptr;
  if (first.text == "typedef") {
    const Specifiers head = specifiers();
    const Declarator declarator = this->declarator(head.type);
    name = declarator.name;
    type = declarator.type;
  } else {
    name = take_name("'using'");
    expect("=", "after the name");
    type = with_extents(type_name());
  }
  if (type == nullptr) fail(first, "a type is missing");
  expect(";", "after the definition of a type");
  scopes_.back()[name] = {Symbol::Kind::type, type, 0};
  return make(NodeKind::block, nullptr, {}, first.begin, first.end);
}

NodeId Parser::enumeration() {
  const Token first = take();
  if (is("class") || is("struct"))
    fail(here(), fmt::format("'enum {}' is not supported; 'enum' is", here().text));
  const std::string name = is("{") || is(":") ? "" : take_name("'enum'");
  const Type* type = accept(":") ? type_name() : int_;
  if (!is_integer(*type)) fail(first, "the numbers of an 'enum' are integers");
  expect("{", "after 'enum'");
  int64_t next = 0;
  while (!is("}")) {
    const Token enumerator = here();
    const std::string symbol = take_name("a number of an 'enum'");
    if (scopes_.back().count(symbol) != 0)
      fail(enumerator, fmt::format("'{}' is declared a second time", symbol));
    if (accept("=")) next = node(constant_expression("a number of an 'enum'")).number;
    scopes_.back()[symbol] = {Symbol::Kind::constant, type, fitted(*type, static_cast<uint64_t>(next))};
    ++next;
    if (!accept(",")) break;
  }
  expect("}", "after the numbers of an 'enum'");
  expect(";", "after an 'enum'");
  if (!name.empty()) scopes_.back()[name] = {Symbol::Kind::type, type, 0};
  return make(NodeKind::block, nullptr, {}, first.begin, first.end);
}

NodeId Parser::declaration() {
  const Token first = here();
  const Specifiers head = specifiers();
  std::vector<NodeId> declared;
  if (is(";") && head.type != nullptr && head.type->kind == Type::Kind::record)
    return make(NodeKind::block, nullptr, {}, first.begin, first.end);
  do {
    const NodeId one = declare(head);
    if (one != no_node) declared.push_back(one);
  } while (accept(","));
  if (declared.size() == 1) return declared.front();
  return make(NodeKind::block, nullptr, std::move(declared), first.begin, first.end);
}

NodeId Parser::declare(const Specifiers& head) {
  const Token first = here();
  const Declarator declarator = this->declarator(head.type);
  const uint32_t end = tokens_[at_ - 1].end;
  if (const auto known = scopes_.back().find(declarator.name); known != scopes_.back().end())
    fail(first, fmt::format("'{}' is declared a second time", declarator.name));
  const Type* type = declarator.type;
  if (type != nullptr && type->kind == Type::Kind::array) {
    if (is("=")) fail(here(), "arrays in shared memory have no values of their own");
    if (only_marked_ && !head.is_shared)  // in registers or local memory
      scopes_.back()[declarator.name] = {Symbol::Kind::valueless, unknown_, 0};
    else
      add_array(declarator.name, type, written(head, first.begin, end));
    return no_node;
  }
  if (head.is_shared && type != nullptr) {  // a single element
    add_array(declarator.name, array_of(type, 1, first.begin), written(head, first.begin, end));
    shared_scalars_.push_back(program_->arrays.size() - 1);
    return no_node;
  }
  NodeId value = no_node;
  if (accept("=")) {
    if (is("{")) fail(here(), "values in braces are not supported");
    value = rvalue(assignment());
  }
  if (type == nullptr) {
    if (value == no_node) fail(first, "'auto' needs a value");
    if (declarator.is_reference) refuse_reference(first, type_of(value));
    type = node(value).type;
  }
  const bool unknown_pointer =
      type->kind == Type::Kind::pointer && (value == no_node || type_of(value).kind == Type::Kind::unknown);
  if (type->kind == Type::Kind::unknown || unknown_pointer) {
    scopes_.back()[declarator.name] = {Symbol::Kind::valueless, unknown_, 0};
    return value;
  }
  if (value != no_node) value = converted(value, type, false);
  if (head.is_const && value != no_node && node(value).kind == NodeKind::constant) {
    scopes_.back()[declarator.name] = {Symbol::Kind::constant, type, node(value).number};
    return no_node;
  }
  const auto slot = static_cast<int64_t>(program_->variables.size());
  program_->variables.push_back({declarator.name, type});
  scopes_.back()[declarator.name] = {Symbol::Kind::variable, type, slot};
  std::vector<NodeId> operands;
  if (value != no_node) operands.push_back(value);
  return make(NodeKind::declare, type, std::move(operands), first.begin, end, slot);
}

std::string Parser::written(const Specifiers& head, uint32_t begin, uint32_t end) const {
  std::string text = head.type->kind == Type::Kind::record ? head.type->name : head.text;
  for (const char* word : {"extern ", "__shared__ ", "volatile ", "static "})
    if (const size_t at = text.find(word); at != std::string::npos)
      text.erase(at, std::string_view(word).size());
  return text + " " + text_between(begin, end);
}

}  // namespace lanescope::code
