// The parser of code.hpp: recursive descent that resolves names and types as it goes, so that a mistake is
// reported where it stands. Constant integer expressions become constants at once. What it is made of:
// statements.cpp, declarations.cpp, expressions.cpp, names.cpp (what names and calls mean), values.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "code/code.hpp"
#include "code/lexer.hpp"
#include "code/program.hpp"

namespace lanescope::code {

/// The row of a table that has the name, or its end.
template <class Table>
auto find_name(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return name == row.name; });
}
template <size_t n>
bool has_word(const char* const (&words)[n], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

inline bool is_place(NodeKind kind) { return kind <= NodeKind::variable; }
inline bool is_integer(const Type& type) { return type.kind == Type::Kind::integer; }
inline bool is_number(const Type& type) { return is_integer(type) || type.kind == Type::Kind::floating; }

struct Symbol {
  enum class Kind : uint8_t { array, variable, constant, type, builtin, valueless };
  Kind kind = Kind::valueless;
  const Type* type = nullptr;
  int64_t number = 0;  ///< index of the array, slot, value, or Builtin
};

class Parser {
 public:
  /// `assumed`: a name that nobody declared and that is taken for an array of float; or empty.
  Parser(std::string text, std::string name, std::string assumed);
  Code parse();
  /// The first name that was subscripted without a declaration, if no array was declared.
  [[nodiscard]] std::string undeclared_array() const {
    return program_->arrays.empty() ? program_->undeclared : "";
  }

 private:
  /// Of the tree, and of the parser's own recursion.
  static constexpr uint32_t deepest = 200;

  // Tokens.
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
  void expect(std::string_view text, const char* after);
  [[nodiscard]] std::string found() const {
    return here().kind == Token::Kind::end ? " at the end" : fmt::format(", found '{}'", here().text);
  }
  std::string take_name(const char* of_what);
  [[noreturn]] void fail(const Token& token, const std::string& cause) const { fail_at(token.begin, cause); }
  [[noreturn]] void fail(NodeId id, const std::string& cause) const { fail_at(node(id).begin, cause); }
  [[noreturn]] void fail_at(uint32_t offset, const std::string& cause) const;
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

  // Nodes.
  [[nodiscard]] const Node& node(NodeId id) const { return program_->nodes[id]; }
  [[nodiscard]] const Type& type_of(NodeId id) const { return *node(id).type; }
  NodeId make(NodeKind kind, const Type* type, std::vector<NodeId> operands, uint32_t begin, uint32_t end,
              int64_t number = 0);
  /// A node over `operands`, from the first one's begin to the last one's end.
  NodeId make_over(NodeKind kind, const Type* type, const std::vector<NodeId>& operands);
  NodeId constant(const Type* type, int64_t value, uint32_t begin, uint32_t end) {
    return make(NodeKind::constant, type, {}, begin, end, value);
  }
  [[nodiscard]] std::string text_of(NodeId id) const {
    return program_->text.substr(node(id).begin, node(id).end - node(id).begin);
  }

  // Types.
  const Type* add_type(Type type);
  void add_builtin_types();
  [[nodiscard]] const Type* named_type(const std::string& name) const { return named_.at(name); }
  const Type* pointer_to(const Type* element);
  /// `count` 0: without bound.
  const Type* array_of(const Type* element, uint64_t count, uint32_t offset);
  [[nodiscard]] const Symbol* find(const std::string& name) const;
  [[nodiscard]] bool at_type(size_t more = 0) const;
  /// What stands before the declarators.
  struct Specifiers {
    const Type* type = nullptr;  ///< null: auto
    bool is_const = false;
    bool is_shared = false;
    std::string text;
  };
  Specifiers specifiers();
  [[nodiscard]] bool word_is(std::string_view word) const {
    return here().kind == Token::Kind::identifier && here().text == word;
  }
  [[nodiscard]] std::string text_between(uint32_t begin, uint32_t end) const;
  /// "(16)" of alignas(16).
  uint64_t alignment();
  /// After the word struct or union: a definition, or the name of one.
  const Type* record(bool is_union);
  void members(Type& record);
  /// Where something of that type begins that comes next in the record, which grows by it.
  uint64_t place(Type& record, const Type& type, const Token& at);
  void add_member(Type& record, const std::string& name, const Type* type, uint64_t offset, const Token& at);

  // Declarators.
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
  Declarator declarator(const Type* type);
  /// Of the pointer's elements, behind what stands in the brackets: "(*rows" or "(*".
  const Type* pointer_to_array(const Type* element);
  /// The type with what brackets behind it make of it: float, [3][4].
  const Type* with_extents(const Type* type);
  NodeId constant_expression(const char* what);
  /// A type in a cast or sizeof.
  const Type* type_name();
  void add_array(const std::string& name, const Type* type, std::string declaration);
  /// Gives the arrays their places: those with a size one after the other, then those without.
  void place_arrays();

  // Statements.
  NodeId statement();
  NodeId expression_statement();
  NodeId block();
  /// A statement with a scope of its own.
  NodeId scoped_statement();
  NodeId if_statement();
  NodeId loop();
  NodeId jump();
  /// The variable that a loop begins with, or -1.
  [[nodiscard]] int64_t slot_set_by(NodeId id) const;

  // Declarations.
  NodeId type_definition();
  /// Its name stands for the type of its numbers.
  NodeId enumeration();
  NodeId declaration();
  /// One declarator with its value; no_node if nothing is to be done when the code runs.
  NodeId declare(const Specifiers& head);
  /// "float tile[32][32]": the type as it was written, and the declarator.
  [[nodiscard]] std::string written(const Specifiers& head, uint32_t begin, uint32_t end) const;

  // Expressions. A result may be a place; rvalue() makes a value of it.
  NodeId expression();
  NodeId assignment();
  NodeId update(NodeId left, NodeId value, Operator op, const Token& token);
  NodeId conditional();
  /// `level`: 1 ||, 2 &&, then those of binary_operators.
  NodeId binary(int level);
  NodeId logical(bool is_or, NodeId a, NodeId b);
  NodeId arithmetic(Operator op, NodeId a, NodeId b, const Token& token);
  NodeId integer_operation(Operator op, const Type* type, const Type* result, NodeId left, NodeId right,
                           uint32_t offset);
  /// pointer + index.
  NodeId moved(NodeId pointer, NodeId index);
  NodeId negated(NodeId value);
  NodeId unary();
  /// The node with all of its text: from `begin` to the last token that was taken.
  NodeId widened(NodeId id, uint32_t begin);
  NodeId unary_operation(Operator op, NodeId value, uint32_t begin);
  NodeId size_of();
  NodeId address_of(NodeId place, const Token& op);
  NodeId target_of(NodeId pointer, const Token& op);
  /// Of a pointer to somewhere: the name that it begins with, if nobody declared it.
  void note_undeclared(NodeId pointer);
  NodeId increment(NodeId place, int by, bool prefix, const Token& op);
  NodeId postfix();
  NodeId subscript(NodeId base, NodeId index);
  NodeId member(NodeId base, const Token& op);
  [[nodiscard]] bool in_variable(NodeId place) const { return node(place).kind == NodeKind::variable; }
  NodeId primary();
  [[nodiscard]] const Type* literal_type(const Token& token) const;
  NodeId named_cast();
  NodeId name(const Token& token);
  NodeId builtin_or_unknown(const Token& token);
  NodeId call(const Token& function);

  // Values and their types.
  /// What is in the place; the address of an array; a value as it is.
  NodeId rvalue(NodeId id);
  /// A value that is a number, or may be one.
  NodeId number(NodeId id, const char* what);
  /// The same, not computed.
  NodeId value_lost(NodeId value);
  [[nodiscard]] const Type* promoted(const Type& type) const;
  /// The usual arithmetic conversions.
  [[nodiscard]] const Type* common(const Type& a, const Type& b) const;
  NodeId converted(NodeId value, const Type* type, bool is_cast);

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

}  // namespace lanescope::code
