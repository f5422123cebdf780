// The parser of code.hpp: recursive descent that resolves names and types as it goes, so that a mistake is
// reported where it stands. Constant integer expressions become constants at once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "code/code.hpp"
#include "code/lexer.hpp"
#include "code/program.hpp"

namespace lanescope::code {
namespace {

/// Of the tree, and of the parser's own recursion.
constexpr uint32_t deepest = 200;

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

template <class Table>
auto find_name(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return name == row.name; });
}
template <class Table>
bool has_name(const Table& table, std::string_view name) {
  return find_name(table, name) != std::end(table);
}
template <size_t n>
bool has_word(const char* const (&words)[n], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_place(NodeKind kind) { return kind <= NodeKind::variable; }
bool is_integer(const Type& type) { return type.kind == Type::Kind::integer; }
bool is_number(const Type& type) { return is_integer(type) || type.kind == Type::Kind::floating; }
/// What the hardware does for an atomic function of CUDA on such a number: merge/plan.hpp.
model::Op op_of_atomic(std::string_view function, model::Op op, const Type& number) {
  const bool has_instruction = op == model::Op::compare_and_swap || function == "atomicExch" ||
                               function == "atomicMin" || function == "atomicMax";
  const bool looped = number.size == 2 || ((!is_integer(number) || number.size == 8) && !has_instruction);
  return looped ? model::Op::update_loop : op;
}

struct Symbol {
  enum class Kind : uint8_t { array, variable, constant, type, builtin, valueless };
  Kind kind = Kind::valueless;
  const Type* type = nullptr;
  int64_t number = 0;  ///< index of the array, slot, value, or Builtin
};

class Parser {
 public:
  /// `assumed`: a name that nobody declared and that is taken for an array of float; or empty.
  Parser(std::string text, std::string name, std::string assumed)
      : program_(std::make_shared<Program>()), assumed_(std::move(assumed)) {
    program_->text = std::move(text);
    program_->name = std::move(name);
    tokens_ = tokens_of(*program_);
    only_marked_ = std::any_of(tokens_.begin(), tokens_.end(),
                               [](const Token& token) { return token.text == "__shared__"; });
    add_builtin_types();
    scopes_.emplace_back();
    if (!assumed_.empty()) {
      const Type* type = array_of(named_type("float"), 0, 0);
      add_array(assumed_, type, "float " + assumed_ + "[]");
      program_->arrays.back().assumed = true;
    }
  }

  Code parse() {
    std::vector<NodeId> statements;
    while (here().kind != Token::Kind::end) statements.push_back(statement());
    program_->body = make(NodeKind::block, nullptr, std::move(statements), 0, 0);
    place_arrays();
    return program_;
  }

  /// The first name that was subscripted without a declaration, if no array was declared.
  [[nodiscard]] std::string undeclared_array() const {
    return program_->arrays.empty() ? program_->undeclared : "";
  }

 private:
  // ---- Tokens.
  [[nodiscard]] const Token& here(size_t more = 0) const {
    return tokens_[std::min(at_ + more, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(std::string_view text, size_t more = 0) const {
    return here(more).text == text && here(more).kind != Token::Kind::end;
  }
  Token take() {
    Token token = here();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text, const char* after) {
    if (accept(text)) return;
    fail(here(), fmt::format("'{}' is missing {}{}", text, after, found()));
  }
  [[nodiscard]] std::string found() const {
    return here().kind == Token::Kind::end ? " at the end" : fmt::format(", found '{}'", here().text);
  }
  std::string take_name(const char* of_what) {
    if (here().kind != Token::Kind::identifier)
      fail(here(), fmt::format("{} needs a name{}", of_what, found()));
    return take().text;
  }
  [[noreturn]] void fail(const Token& token, const std::string& cause) const { fail_at(token.begin, cause); }
  [[noreturn]] void fail(NodeId id, const std::string& cause) const { fail_at(node(id).begin, cause); }
  [[noreturn]] void fail_at(uint32_t offset, const std::string& cause) const {
    throw program_->error_at(offset, cause);
  }
  /// Counts the parser's recursion while it lives.
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest) parser_.fail(parser_.here(), "the code is nested too deeply");
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser_.depth_; }
    Parser& parser_;
  };

  // ---- Nodes.
  [[nodiscard]] const Node& node(NodeId id) const { return program_->nodes[id]; }
  [[nodiscard]] const Type& type_of(NodeId id) const { return *node(id).type; }
  NodeId make(NodeKind kind, const Type* type, std::vector<NodeId> operands, uint32_t begin, uint32_t end,
              int64_t number = 0) {
    Node made;
    made.kind = kind;
    made.type = type;
    made.number = number;
    made.begin = begin;
    made.end = end;
    for (const NodeId operand : operands)
      if (operand != no_node) made.depth = std::max(made.depth, node(operand).depth + 1);
    if (made.depth > deepest) fail_at(begin, "the code is nested too deeply");
    made.operands = std::move(operands);
    program_->nodes.push_back(std::move(made));
    return static_cast<NodeId>(program_->nodes.size() - 1);
  }
  /// A node over `operands`, from the first one's begin to the last one's end.
  NodeId make_over(NodeKind kind, const Type* type, const std::vector<NodeId>& operands) {
    const uint32_t begin = node(operands.front()).begin, end = node(operands.back()).end;
    return make(kind, type, operands, begin, end);
  }
  NodeId constant(const Type* type, int64_t value, uint32_t begin, uint32_t end) {
    return make(NodeKind::constant, type, {}, begin, end, value);
  }
  [[nodiscard]] std::string text_of(NodeId id) const {
    return program_->text.substr(node(id).begin, node(id).end - node(id).begin);
  }

  // ---- Types.
  const Type* add_type(Type type) {
    program_->types.push_back(std::move(type));
    return &program_->types.back();
  }
  void add_builtin_types() {
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
  [[nodiscard]] const Type* named_type(const std::string& name) const { return named_.at(name); }
  const Type* pointer_to(const Type* element) {
    Type type;
    type.kind = Type::Kind::pointer;
    type.name = element->name + "*";
    type.size = type.align = 8;
    type.element = element;
    return add_type(type);
  }
  /// `count` 0: without bound.
  const Type* array_of(const Type* element, uint64_t count, uint32_t offset) {
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
  [[nodiscard]] const Symbol* find(const std::string& name) const {
    for (size_t i = scopes_.size(); i-- > 0;)
      if (const auto it = scopes_[i].find(name); it != scopes_[i].end()) return &it->second;
    return nullptr;
  }
  [[nodiscard]] bool at_type(size_t more = 0) const {
    const Token& token = here(more);
    if (token.kind != Token::Kind::identifier) return false;
    if (const Symbol* symbol = find(token.text)) return symbol->kind == Symbol::Kind::type;
    return named_.count(token.text) != 0 || has_word(integer_words, token.text) ||
           has_word(qualifiers, token.text) || token.text == "struct" || token.text == "union" ||
           token.text == "auto" || token.text == "void" || token.text == "alignas" ||
           token.text == "__align__";
  }

  /// What stands before the declarators.
  struct Specifiers {
    const Type* type = nullptr;  ///< null: auto
    bool is_const = false;
    bool is_shared = false;
    std::string text;
  };
  Specifiers specifiers() {
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
  [[nodiscard]] bool word_is(std::string_view word) const {
    return here().kind == Token::Kind::identifier && here().text == word;
  }
  [[nodiscard]] std::string text_between(uint32_t begin, uint32_t end) const {
    return begin < end ? program_->text.substr(begin, end - begin) : "";
  }
  /// "(16)" of alignas(16).
  uint64_t alignment() {
    expect("(", "after the word for alignment");
    const NodeId size = constant_expression("an alignment");
    expect(")", "after the alignment");
    const int64_t value = node(size).number;
    if (value < 1 || value > 256 || (value & (value - 1)) != 0)
      fail(size, fmt::format("an alignment is a power of two from 1 to 256, not {}", value));
    return static_cast<uint64_t>(value);
  }
  /// After the word struct or union: a definition, or the name of one.
  const Type* record(bool is_union) {
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
  void members(Type& record) {
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

  /// Where something of that type begins that comes next in the record, which grows by it.
  uint64_t place(Type& record, const Type& type, const Token& at) {
    const uint64_t offset = record.is_union ? 0 : (record.size + type.align - 1) / type.align * type.align;
    record.size = std::max(record.size, offset + type.size);
    record.align = std::max(record.align, type.align);
    if (record.size > most_shared_bytes)
      fail(at, fmt::format("the {} is larger than {} bytes, which no shared memory is",
                           record.is_union ? "union" : "struct", most_shared_bytes));
    return offset;
  }
  void add_member(Type& record, const std::string& name, const Type* type, uint64_t offset, const Token& at) {
    for (const Member& member : record.members)
      if (member.name == name) fail(at, fmt::format("two members are named '{}'", name));
    record.members.push_back({name, type, offset});
  }

  struct Declarator {
    std::string name;
    const Type* type = nullptr;
    bool is_reference = false;
  };
  /// One to what has no value here, as global memory, is of no interest.
  template <class Where>
  void refuse_reference(const Where& where, const Type& type) const {
    if (type.kind != Type::Kind::unknown) fail(where, "references are not supported");
  }
  /// Of a type that may be null (auto).
  Declarator declarator(const Type* type) {
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
  /// Of the pointer's elements, behind what stands in the brackets: "(*rows" or "(*".
  const Type* pointer_to_array(const Type* element) {
    expect(")", "after a pointer");
    if (!is("[")) fail(here(), "pointers to functions are not supported");
    return pointer_to(with_extents(element));
  }
  /// The type with what brackets behind it make of it: float, [3][4].
  const Type* with_extents(const Type* type) {
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
  NodeId constant_expression(const char* what) {
    const NodeId value = rvalue(conditional());
    if (node(value).kind != NodeKind::constant)
      fail(value,
           fmt::format("{} must be a constant; variables that are declared 'const' with one are", what));
    return value;
  }
  /// A type in a cast or sizeof.
  const Type* type_name() {
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

  void add_array(const std::string& name, const Type* type, std::string declaration) {
    scopes_.back()[name] = {Symbol::Kind::array, type, static_cast<int64_t>(program_->arrays.size())};
    program_->arrays.push_back({name, std::move(declaration), type, 0, 0});
  }
  /// Gives the arrays their places: those with a size one after the other, then those without.
  void place_arrays() {
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

  // ---- Statements.
  NodeId statement() {
    const Depth depth(*this);
    const Token first = here();
    if (accept(";")) return make(NodeKind::block, nullptr, {}, first.begin, first.end);
    if (is("{")) return block();
    if (is("if")) return if_statement();
    if (is("for") || is("while")) return loop();
    if (is("return") || is("break") || is("continue")) return jump();
    for (const char* word : {"do", "switch", "goto", "else"})
      if (word_is(word)) fail(first, fmt::format("'{}' is not supported; if, for and while are", word));
    for (const char* word : {"template", "__global__", "__device__"})
      if (word_is(word)) fail(first, "functions are not supported: of a kernel its body is enough");
    if (is("typedef") || is("using")) return type_definition();
    if (is("enum")) return enumeration();
    if (first.kind == Token::Kind::identifier && here(1).kind == Token::Kind::identifier && !at_type())
      fail(first, fmt::format("'{}' is no type that is known here", first.text));
    const bool is_declaration = at_type() && (!is("(", 1) || is("*", 2) || is("alignas") || is("__align__"));
    const NodeId result = is_declaration ? declaration() : expression_statement();
    // The last statement may do without.
    if (here().kind != Token::Kind::end && !is("}")) expect(";", "after the statement");
    return result;
  }
  NodeId expression_statement() {
    const NodeId value = expression();
    if (type_of(value).kind == Type::Kind::array)
      fail(value, fmt::format("'{}' is an array: give an index for every dimension", text_of(value)));
    return rvalue(value);
  }
  NodeId block() {
    const Token first = take();
    scopes_.emplace_back();
    std::vector<NodeId> statements;
    while (!is("}")) {
      if (here().kind == Token::Kind::end) fail(first, "this '{' is not closed");
      statements.push_back(statement());
    }
    scopes_.pop_back();
    return make(NodeKind::block, nullptr, std::move(statements), first.begin, take().end);
  }
  /// A statement with a scope of its own.
  NodeId scoped_statement() {
    scopes_.emplace_back();
    const NodeId result = statement();
    scopes_.pop_back();
    return result;
  }
  NodeId if_statement() {
    const Token first = take();
    if (is("constexpr")) take();
    expect("(", "after 'if'");
    const NodeId condition = number(expression(), "a condition");
    expect(")", "after the condition");
    std::vector<NodeId> operands{condition, scoped_statement()};
    if (accept("else")) operands.push_back(scoped_statement());
    return make(NodeKind::condition, nullptr, std::move(operands), first.begin, first.end);
  }
  NodeId loop() {
    const Token first = take();
    expect("(", "after the word for a loop");
    scopes_.emplace_back();
    NodeId init = no_node, condition = no_node, step = no_node;
    if (first.text == "for") {
      if (!is(";")) init = at_type() ? declaration() : rvalue(expression());
      expect(";", "after the loop's first part");
      if (!is(";")) condition = number(expression(), "a condition");
      expect(";", "after the loop's condition");
      if (!is(")")) step = rvalue(expression());
    } else {
      condition = number(expression(), "a condition");
    }
    expect(")", "after the head of the loop");
    const int64_t slot = init == no_node ? -1 : slot_set_by(init);
    ++loops_;
    const NodeId body = scoped_statement();
    --loops_;
    scopes_.pop_back();
    return make(NodeKind::loop, nullptr, {init, condition, step, body}, first.begin, first.end, slot);
  }
  NodeId jump() {
    const Token word = take();
    if (word.text == "return") {
      if (!is(";") && !is("}") && here().kind != Token::Kind::end) fail(here(), "a kernel returns nothing");
      return make(NodeKind::finish, nullptr, {}, word.begin, word.end);
    }
    if (loops_ == 0) fail(word, fmt::format("'{}' stands in no loop", word.text));
    return make(word.text == "break" ? NodeKind::leave : NodeKind::next_pass, nullptr, {}, word.begin,
                word.end);
  }
  /// The variable that a loop begins with, or -1.
  [[nodiscard]] int64_t slot_set_by(NodeId id) const {
    const Node& init = node(id);
    if (init.kind == NodeKind::declare) return init.number;
    if (init.kind == NodeKind::assign && node(init.operands[0]).kind == NodeKind::variable)
      return node(init.operands[0]).number;
    if ((init.kind == NodeKind::block || init.kind == NodeKind::comma) && !init.operands.empty())
      return slot_set_by(init.operands.front());
    return -1;
  }
  NodeId type_definition() {
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
  /// Its name stands for the type of its numbers.
  NodeId enumeration() {
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
  NodeId declaration() {
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
  /// One declarator with its value; no_node if nothing is to be done when the code runs.
  NodeId declare(const Specifiers& head) {
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
  /// "float tile[32][32]": the type as it was written, and the declarator.
  [[nodiscard]] std::string written(const Specifiers& head, uint32_t begin, uint32_t end) const {
    std::string text = head.type->kind == Type::Kind::record ? head.type->name : head.text;
    for (const char* word : {"extern ", "__shared__ ", "volatile ", "static "})
      if (const size_t at = text.find(word); at != std::string::npos)
        text.erase(at, std::string_view(word).size());
    return text + " " + text_between(begin, end);
  }

  // ---- Expressions. A result may be a place; rvalue() makes a value of it.
  NodeId expression() {
    NodeId left = assignment();
    while (is(",")) {
      take();
      left = rvalue(left);
      const NodeId right = rvalue(assignment());
      left = make_over(NodeKind::comma, node(right).type, {left, right});
    }
    return left;
  }
  NodeId assignment() {
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
  NodeId update(NodeId left, NodeId value, Operator op, const Token& token) {
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
  NodeId conditional() {
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
  /// `level`: 1 ||, 2 &&, then those of binary_operators.
  NodeId binary(int level) {
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
      const auto* row = std::find_if(
          std::begin(binary_operators), std::end(binary_operators), [&](const BinaryOperator& b) {
            return b.level == level && op.kind == Token::Kind::punctuator && op.text == b.text;
          });
      if (row == std::end(binary_operators)) return left;
      take();
      left = arithmetic(row->op, left, binary(level + 1), op);
    }
  }
  NodeId logical(bool is_or, NodeId a, NodeId b) {
    const NodeId left = number(a, "a condition"), right = number(b, "a condition");
    if (node(left).kind == NodeKind::constant && node(right).kind == NodeKind::constant)
      return constant(int_,
                      is_or ? node(left).number != 0 || node(right).number != 0
                            : node(left).number != 0 && node(right).number != 0,
                      node(left).begin, node(right).end);
    return make_over(is_or ? NodeKind::logical_or : NodeKind::logical_and, int_, {left, right});
  }
  NodeId arithmetic(Operator op, NodeId a, NodeId b, const Token& token) {
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
  NodeId integer_operation(Operator op, const Type* type, const Type* result, NodeId left, NodeId right,
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
  /// pointer + index.
  NodeId moved(NodeId pointer, NodeId index) {
    const NodeId place = subscript(pointer, index);
    return make(NodeKind::address, node(pointer).type, {place}, node(place).begin, node(place).end);
  }
  NodeId negated(NodeId value) {
    return unary_operation(Operator::negate, converted(value, long_, false), node(value).begin);
  }

  NodeId unary() {
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
  /// The node with all of its text: from `begin` to the last token that was taken.
  NodeId widened(NodeId id, uint32_t begin) {
    Node& all = program_->nodes[id];
    all.begin = std::min(all.begin, begin);
    all.end = std::max(all.end, tokens_[at_ - 1].end);
    return id;
  }
  NodeId unary_operation(Operator op, NodeId value, uint32_t begin) {
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
  NodeId size_of() {
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
  NodeId address_of(NodeId place, const Token& op) {
    const Type* type = node(place).type;
    if (type->kind == Type::Kind::unknown || node(place).kind == NodeKind::unknown) return place;
    if (!is_place(node(place).kind) || node(place).kind == NodeKind::variable)
      fail(op, fmt::format("'{}' has no address in shared memory", text_of(place)));
    return make(NodeKind::address, pointer_to(type), {place}, op.begin, node(place).end);
  }
  NodeId target_of(NodeId pointer, const Token& op) {
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
  /// Of a pointer to somewhere: the name that it begins with, if nobody declared it.
  void note_undeclared(NodeId pointer) {
    while (!node(pointer).operands.empty()) pointer = node(pointer).operands.front();
    const std::string name = text_of(pointer);
    if (program_->undeclared_pointer.empty() && node(pointer).kind == NodeKind::unknown &&
        find(name) == nullptr)
      program_->undeclared_pointer = name;
  }
  NodeId increment(NodeId place, int by, bool prefix, const Token& op) {
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

  NodeId postfix() {
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
  NodeId subscript(NodeId base, NodeId index) {
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
  NodeId member(NodeId base, const Token& op) {
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
  [[nodiscard]] bool in_variable(NodeId place) const { return node(place).kind == NodeKind::variable; }

  NodeId primary() {
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
  [[nodiscard]] const Type* literal_type(const Token& token) const {
    const uint64_t v = token.value;
    if (!token.is_long && !token.is_unsigned && v <= INT32_MAX) return int_;
    if (!token.is_long && (token.is_unsigned || !token.is_decimal) && v <= UINT32_MAX) return unsigned_;
    if (!token.is_unsigned && v <= INT64_MAX) return long_;
    return unsigned_long_;
  }
  NodeId named_cast() {
    const Token first = take();
    expect("<", "after the word for a cast");
    const Type* type = type_name();
    expect(">", "after the type of a cast");
    expect("(", "after the type of a cast");
    const NodeId value = rvalue(expression());
    expect(")", "after the value");
    return widened(converted(value, type, true), first.begin);
  }
  NodeId name(const Token& token) {
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
  NodeId builtin_or_unknown(const Token& token) {
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
  NodeId call(const Token& function) {
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

  // ---- Values and their types.
  /// What is in the place; the address of an array; a value as it is.
  NodeId rvalue(NodeId id) {
    const Node& from = node(id);
    if (!is_place(from.kind)) return id;
    const uint32_t begin = from.begin, end = from.end;
    if (from.type->kind == Type::Kind::array)
      return make(NodeKind::address, pointer_to(from.type->element), {id}, begin, end);
    return make(NodeKind::read, from.type, {id}, begin, end);
  }
  /// A value that is a number, or may be one.
  NodeId number(NodeId id, const char* what) {
    const NodeId value = rvalue(id);
    const Type& type = type_of(value);
    if (!is_number(type) && type.kind != Type::Kind::unknown)
      fail(value, fmt::format("{} needs a number, and '{}' is none", what, text_of(value)));
    return value;
  }
  /// The same, not computed.
  NodeId value_lost(NodeId value) {
    if (node(value).kind == NodeKind::unknown) return value;
    return make_over(NodeKind::unknown, node(value).type, {value});
  }
  [[nodiscard]] const Type* promoted(const Type& type) const {
    if (type.size < 4) return int_;
    return type.size == 4 ? (type.is_signed ? int_ : unsigned_) : type.is_signed ? long_ : unsigned_long_;
  }
  /// The usual arithmetic conversions.
  [[nodiscard]] const Type* common(const Type& a, const Type& b) const {
    const Type *x = promoted(a), *y = promoted(b);
    if (x->size != y->size) return x->size > y->size ? x : y;
    return x->is_signed ? y : x;
  }
  NodeId converted(NodeId value, const Type* type, bool is_cast) {
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

  std::shared_ptr<Program> program_;
  std::string assumed_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  uint32_t loops_ = 0;        ///< around the statement
  bool only_marked_ = false;  ///< arrays without __shared__ are not in shared memory
  std::map<std::string, const Type*> named_;
  std::vector<std::map<std::string, Symbol>> scopes_;
  std::vector<size_t> shared_scalars_;  ///< arrays that were declared as single elements
  const Type *unknown_ = nullptr, *int_ = nullptr, *unsigned_ = nullptr, *long_ = nullptr,
             *unsigned_long_ = nullptr;
};

}  // namespace

Code parse_code(std::string text, std::string name) {
  Parser parser(text, name, "");
  Code code = parser.parse();
  const std::string assumed = parser.undeclared_array();
  return assumed.empty() ? code : Parser(std::move(text), std::move(name), assumed).parse();
}

}  // namespace lanescope::code
