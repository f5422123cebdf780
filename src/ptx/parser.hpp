// The parser's state, shared by its parts: parser.cpp (module, functions), parse_variables.cpp (declarations
// and initialisers), parse_body.cpp (scopes and statements), parse_operands.cpp, parse_calls.cpp,
// constants.cpp (constant expressions), debug_info.cpp (.file, .loc, .section). Recursive descent over one
// token; nesting is limited, so garbage cannot exhaust the stack.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/checks.hpp"
#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace lanescope::ptx {

/// Value of a constant expression.
struct Constant {
  enum class Kind : uint8_t { integer, real32, real64 };
  Kind kind = Kind::integer;
  bool is_unsigned = false;
  uint64_t bits = 0;
};

/// What variables and registers are declared as; the other types are those of instructions alone.
[[nodiscard]] constexpr bool is_fundamental(Type t) {
  return (t >= Type::pred && t <= Type::f16x2) || t == Type::f32 || t == Type::f64;
}

/// What a name stands for inside a function.
struct Declaration {
  enum class Kind : uint8_t { reg, vector_reg, reg_range, symbol };
  Kind kind{};
  uint32_t index = 0;  ///< Function::registers: the register, or the first of a vector's or range's
  uint32_t count = 0;  ///< elements of a vector, registers of a range
  SymbolRef symbol{};
  uint32_t depth = 0;  ///< nesting of the `{}` it was declared in
  std::string_view name{};
  uint32_t hidden = no_index;  ///< the declaration it hides
};

/// A label or table of one `{}`.
struct LabelDeclaration {
  bool is_table = false;
  uint32_t index = 0;
};

/// A use of a label or table, resolved when the `{}` it stands in ends (labels may be used before they are
/// set).
struct LabelUse {
  std::string_view name{};
  TextLoc loc;
  bool wants_table = false;
  uint32_t table = no_index;  ///< in .branchtargets: Function::tables
  uint32_t position = 0;      ///< index of Function::body, or of Table::labels
  uint32_t operand = 0;       ///< index of Instruction::operands
};

struct LabelScope {
  std::unordered_map<std::string_view, LabelDeclaration> labels;
  std::vector<LabelUse> uses;
};

class Parser {
 public:
  Parser(std::string text, std::string name);
  [[nodiscard]] Module run();

 private:
  // Tokens.
  void advance() { token_ = lexer_.next(); }
  [[nodiscard]] bool accept(std::string_view punctuation);
  void expect(std::string_view punctuation);
  [[nodiscard]] bool accept_word(std::string_view dotted);
  [[nodiscard]] Token take_identifier(std::string_view what);
  [[nodiscard]] Token take_name(std::string_view what);  ///< not `_`
  [[nodiscard]] uint64_t take_integer(std::string_view what);
  [[nodiscard]] uint32_t take_u32(std::string_view what);
  [[noreturn]] void fail(TextLoc loc, const std::string& cause) const { source_.fail(loc, cause); }
  [[noreturn]] void fail_expected(std::string_view what) const;

  // parser.cpp
  void parse_statement();
  void parse_version();
  void parse_target();
  void parse_address_size();
  void parse_alias();
  /// `directives_of`: the function before whose body it stands; nullptr: it stands in a body, or outside of
  /// all.
  void parse_pragma(Function* directives_of = nullptr);
  void note_nounroll(Function* directives_of);
  void parse_attributes(bool* managed);
  struct Linkage {
    bool is_extern = false, is_visible = false, is_weak = false, is_common = false;
    bool is_managed = false;  ///< .attribute(.managed) before it
    [[nodiscard]] bool is_given() const { return is_extern || is_visible || is_weak || is_common; }
  };
  void parse_linkage(Linkage& linkage);
  void parse_function(const Linkage& linkage);
  void parse_function_directives(Function& function);
  void parse_dimensions(std::array<uint32_t, 3>& out);
  [[nodiscard]] uint32_t merge_function(Function function, const Token& name);
  void merge_declared(Function& known, Function& function) const;
  void finish_aliases();

  // parse_variables.cpp
  struct VariableType {
    Type type = Type::none;
    uint8_t vector = 1;
    uint32_t align = 0;  ///< 0: not given
    bool pointer_hint = false;
    bool is_managed = false;
    Reference reference = Reference::none;
  };
  [[nodiscard]] VariableType parse_variable_type();
  [[nodiscard]] uint32_t parse_alignment();
  [[nodiscard]] Variable parse_variable(const VariableType& type, Space space, const Token& name);
  void parse_array(Variable& variable);
  void set_size(Variable& variable);
  /// `function`: whose they are, if that is more than a type; or they are what it gives.
  [[nodiscard]] std::vector<Variable> parse_parameters(Function* function = nullptr,
                                                       bool are_results = false);
  void check_parameters(const std::vector<Variable>& list, bool of_kernel, bool are_results) const;
  void check_constant_memory() const;
  [[nodiscard]] std::vector<Token> take_variable_names();
  void parse_module_variables(const Linkage& linkage);
  void parse_local_variables();
  [[nodiscard]] SymbolRef add_module_variable(Variable variable);
  void check_complete(const Variable& variable) const;
  void parse_initializer(Variable& variable);
  [[nodiscard]] uint64_t parse_initializer_list(Variable& variable, std::span<const uint64_t> dims,
                                                uint64_t at);
  [[nodiscard]] uint64_t initial_bits(const Variable& variable, TextLoc loc, const Constant& value) const;
  void parse_initializer_value(Variable& variable, uint64_t at);
  void parse_initializer_symbol(Variable& variable, uint64_t at, uint64_t mask);
  [[nodiscard]] SymbolRef find_global(const Token& name) const;

  // parse_body.cpp
  void parse_body();
  void parse_body_statement();
  void open_scope();
  void close_scope();
  void parse_registers();
  void declare_vector(std::string_view name, TextLoc loc, uint32_t elements, Type type);
  void declare_range(const Token& name, uint32_t count, Type type);
  void declare(std::string_view name, TextLoc loc, Declaration declaration);
  [[nodiscard]] const Declaration* find_declared(std::string_view name) const;
  [[nodiscard]] std::optional<uint32_t> find_register(std::string_view name) const;
  void parse_label(const Token& name);
  void parse_table(const Token& name);
  /// Of one that is not supported, the function's refusal is made.
  void parse_instruction(const Token& opcode, uint32_t guard, bool guard_negated);
  void parse_instruction(const Token& opcode, uint32_t guard, bool guard_negated, bool& has_ended);
  [[nodiscard]] const Mnemonic& parse_mnemonic(const Token& opcode);
  [[nodiscard]] Operand take_residency(Instruction& instruction);
  void set_residency(const Operand& resident);
  void use_label(Instruction& instruction, bool wants_table);
  void move_registers(Op op, TextLoc loc, uint32_t guard, bool guard_negated);
  [[nodiscard]] std::optional<SymbolRef> find_symbol(std::string_view name) const;
  [[noreturn]] void fail_undeclared(const Token& name) const;

  // parse_operands.cpp
  void parse_operands(Instruction& instruction, const OperandForm& form);
  [[nodiscard]] Operand parse_operand(Instruction& instruction);
  [[nodiscard]] Operand parse_named(Instruction* instruction);
  [[nodiscard]] uint64_t parse_offset();
  [[nodiscard]] Operand parse_address(Instruction& instruction);
  [[nodiscard]] Operand parse_array_element(const Instruction& instruction, const Operand& array);
  [[nodiscard]] uint32_t add_address(const Operand& array, const Operand& index, uint64_t bytes,
                                     uint64_t offset, bool is_wide);
  void parse_texture_address(Instruction& instruction);
  [[nodiscard]] Reference reference_of(const Operand& operand) const;
  void check_reference(const Instruction& instruction, const Operand& operand) const;
  [[nodiscard]] Operand parse_vector(Instruction& instruction);
  [[nodiscard]] Operand parse_element();

  // parse_calls.cpp
  void parse_call(Instruction& instruction);
  void parse_call_list(Instruction& instruction);
  void check_call(const Instruction& instruction, const std::string& callee,
                  const std::vector<Variable>& returns, const std::vector<Variable>& params) const;
  void check_passed(const Instruction& instruction, const Operand* list,
                    const std::vector<Variable>& variables, bool are_results) const;
  void check_tables() const;

  // constants.cpp
  [[nodiscard]] bool begins_constant() const;
  [[nodiscard]] Constant parse_constant();
  [[nodiscard]] Constant parse_conditional(int depth);
  [[nodiscard]] Constant parse_binary(int level, int depth);
  [[nodiscard]] Constant parse_unary(int depth);
  [[noreturn]] void fail_in_expression(TextLoc loc) const;
  [[nodiscard]] Constant apply(std::string_view op, TextLoc loc, Constant a, Constant b) const;

  // debug_info.cpp
  void parse_file();
  void parse_loc();
  void parse_section();
  void skip_section();
  void parse_debug_strings();
  void finish_locs();
  [[nodiscard]] uint32_t add_loc(const SourceLoc& loc, std::string_view function_label,
                                 uint64_t label_offset);

  Module module_;
  Source source_;
  Lexer lexer_;
  Token token_;
  bool version_seen_ = false;
  Target target_;

  std::unordered_map<std::string_view, SymbolRef> globals_;
  struct Alias {
    Token name, target;
  };
  std::vector<Alias> aliases_;
  uint64_t register_count_ = 0;  ///< of all functions
  bool never_unrolled_ = false;  ///< `.pragma "nounroll"` outside of functions: of those that follow

  std::unordered_map<std::string_view, Mnemonic> mnemonics_;  ///< by spelling
  std::deque<std::string> spellings_;  ///< of mnemonics written with blanks, and of numbered vectors

  // The function whose body is being read.
  Function* function_ = nullptr;
  uint32_t function_index_ = 0;
  std::vector<Declaration> declarations_;
  std::unordered_map<std::string_view, uint32_t> names_;   ///< the innermost declaration of a name
  std::unordered_map<std::string_view, uint32_t> ranges_;  ///< the same for `%r<5>`, by `%r`
  std::vector<size_t> scope_starts_;                       ///< into declarations_, one for each open `{}`
  std::vector<LabelScope> label_scopes_;
  std::vector<uint32_t> scope_ids_;  ///< of the open `{}`
  uint32_t scope_count_ = 0;
  std::vector<std::pair<SymbolRef, uint32_t>> in_registers_;  ///< parameters, and the registers they are
  uint32_t piped_ = 0;  ///< operands of the current instruction joined by `|`
  uint32_t current_loc_ = no_index;

  // Debug information.
  struct PendingName {
    uint32_t loc;
    std::string_view label;
    uint64_t offset;
  };
  std::vector<PendingName> pending_names_;
  using LocKey = std::tuple<uint32_t, uint32_t, uint32_t>;
  std::map<LocKey, uint32_t> last_loc_;  ///< the last source_locs entry of a file, line, column
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, std::string_view, uint64_t>, uint32_t>
      known_locs_;
  std::unordered_map<std::string_view, size_t> string_labels_;  ///< offset into debug_strings_
  std::string debug_strings_;
};

}  // namespace lanescope::ptx
