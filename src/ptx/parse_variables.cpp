// Declarations of variables and parameters, and initialisers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/names.hpp"
#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

constexpr uint64_t largest_variable = uint64_t{1} << 40;  // bytes; no GPU has more
constexpr uint32_t largest_alignment = 1u << 16;
constexpr size_t most_dims = 16;
constexpr uint64_t most_variables_of_range = 4096;
constexpr uint64_t constant_memory = 65536;       // bytes of a module
constexpr uint64_t most_parameter_bytes = 32764;  // of a kernel

std::optional<Space> space_of(const Token& token) {
  if (token.kind != Token::Kind::dotted) return std::nullopt;
  if (token.text == "global") return Space::global;
  if (token.text == "const") return Space::constant;
  if (token.text == "shared" || token.text == "shared::cta") return Space::shared;
  if (token.text == "local") return Space::local;
  if (token.text == "param") return Space::param;
  return std::nullopt;
}

}  // namespace

uint32_t Parser::parse_alignment() {
  const TextLoc loc = token_.loc;
  const uint32_t align = take_u32("an alignment");
  if (!std::has_single_bit(align) || align > largest_alignment)
    fail(loc, "an alignment is a power of two, at most " + std::to_string(largest_alignment));
  return align;
}

// Everything between the state space and the name: .attribute(…) .align 16 .v4 .f32, .u64 .ptr .global
// .align 8.
Parser::VariableType Parser::parse_variable_type() {
  VariableType out;
  while (token_.kind == Token::Kind::dotted) {
    const Token word = token_;
    const bool is_vector = word.text == "v2" || word.text == "v4";
    if (is_vector ? out.type != Type::none || out.vector != 1
                  : (out.type != Type::none || out.vector != 1) && !out.pointer_hint &&
                        (word.text == "attribute" || word.text == "align"))
      fail(word.loc, "'." + std::string(word.text) + "' stands before the type, once");
    if (word.text == "attribute") {
      parse_attributes(&out.is_managed);
      continue;
    }
    advance();
    if (word.text == "align") {
      // `.ptr .align 4` speaks of what the pointer points to.
      const uint32_t align = parse_alignment();
      if (!out.pointer_hint) out.align = align;
    } else if (word.text == "ptr") {
      if (out.type == Type::none) fail(word.loc, "'.ptr' stands behind the type");
      out.pointer_hint = true;
    } else if (is_vector) {
      out.vector = word.text == "v2" ? 2 : 4;
    } else if (const auto type = find_type(word.text); type && *type != Type::pred) {
      if (out.type != Type::none) fail(word.loc, "two types");
      if (!is_fundamental(*type))
        fail(word.loc, "." + std::string(word.text) +
                           " is a type of instructions, not of variables: .b8 to .b64 hold it");
      out.type = *type;
    } else if (word.text == "texref" || word.text == "surfref") {
      if (out.type != Type::none) fail(word.loc, "two types");
      out.type = Type::b64;
      out.reference = word.text == "texref" ? Reference::texture : Reference::surface;
    } else if (word.text == "samplerref") {
      fail(word.loc, "sampler references are not supported");
    } else if (!(out.pointer_hint && space_of(word))) {
      fail(word.loc, "'." + std::string(word.text) + "' is no type of a variable");
    }
  }
  if (out.type == Type::none) fail_expected("a type");
  if (out.vector * size_of(out.type) > 16) fail(token_.loc, "a vector of more than 16 bytes");
  return out;
}

void Parser::parse_array(Variable& variable) {
  while (token_.is("[")) {
    const TextLoc loc = token_.loc;
    advance();
    uint64_t extent = 0;
    if (!token_.is("]")) {
      const TextLoc at = token_.loc;
      const Constant value = parse_constant();
      if (value.kind != Constant::Kind::integer || value.bits == 0 || value.bits > largest_variable)
        fail(at, "an array's extent is a positive integer, at most 2^40");
      extent = value.bits;
    } else if (!variable.dims.empty()) {
      fail(loc, "only the first extent of an array may be left out");
    }
    if (variable.dims.size() == most_dims) fail(loc, "an array of more than 16 dimensions");
    variable.dims.push_back(extent);
    expect("]");
  }
}

void Parser::set_size(Variable& variable) {
  uint64_t size = uint64_t{size_of(variable.type)} * variable.vector;
  for (const uint64_t extent : variable.dims) {
    const uint64_t factor = std::max<uint64_t>(extent, 1);  // an unsized extent
    if (factor > largest_variable / size)
      fail(variable.loc, "the variable '" + variable.name + "' is larger than 2^40 bytes");
    size *= factor;
  }
  variable.size = !variable.dims.empty() && variable.dims.front() == 0 ? 0 : size;
}

// The rest of a declaration whose type, which several may share, and name have been read.
Variable Parser::parse_variable(const VariableType& type, Space space, const Token& name) {
  Variable variable{.name = std::string(name.text),
                    .display_name = variable_display_name(name.text),
                    .space = space,
                    .type = type.type,
                    .vector = type.vector};
  variable.loc = name.loc;
  variable.align = type.align != 0 ? type.align : size_of(type.type) * type.vector;
  variable.is_managed = type.is_managed;
  variable.is_pointer_hint = type.pointer_hint;
  variable.reference = type.reference;
  if (type.reference != Reference::none && space != Space::global)
    fail(name.loc, "texture and surface references are .global variables");
  if (space == Space::param && (type.vector != 1 || type.type == Type::f16x2))
    fail(name.loc, "a parameter is a scalar or an array: .align 8 .b8 name[8] holds a vector");
  parse_array(variable);
  if (type.reference != Reference::none && !variable.dims.empty())
    fail(name.loc, "arrays of texture or surface references are not supported");
  set_size(variable);
  return variable;
}

void Parser::check_parameters(const std::vector<Variable>& list, bool of_kernel, bool are_results) const {
  uint64_t bytes = 0;
  for (const Variable& v : list) {
    const std::string name = "'" + v.name + "'";
    if (v.dims.size() > 1) fail(v.loc, "the parameter " + name + " has more than one dimension");
    if (!v.dims.empty() && v.size == 0 && (of_kernel || are_results || &v != &list.back()))
      fail(v.loc,
           "the parameter " + name + " needs an extent: the last one of a function alone may have none");
    if (v.is_pointer_hint && !of_kernel) fail(v.loc, ".ptr belongs to parameters of kernels");
    if (are_results && list.size() > 1 && !v.is_register)
      fail(v.loc, "a function gives one result in .param, or several in .reg");
    bytes = (bytes + v.align - 1) / v.align * v.align + v.size;
    if (of_kernel && bytes > most_parameter_bytes)
      fail(v.loc,
           "the parameters of a kernel are " + std::to_string(most_parameter_bytes) + " bytes at most");
  }
}

std::vector<Variable> Parser::parse_parameters(Function* function, bool are_results) {
  expect("(");
  std::vector<Variable> out;
  if (accept(")")) return out;
  do {
    if (token_.is_word("hidden")) {
      if (function != nullptr && !function->refusal)
        function->refusal = Refusal{
            ".hidden is not supported: a parameter that the driver fills in, as cuda.tile's tensor maps, "
            "which it needs none of for sm_80 to sm_89",
            token_.loc};
      advance();
    }
    const bool is_register = token_.is_word("reg") && (function == nullptr || !function->is_entry);
    if (is_register)
      advance();
    else if (!accept_word("param"))
      fail_expected(".param");
    const VariableType type = parse_variable_type();
    const Token name = take_identifier("a parameter's name");
    out.push_back(parse_variable(type, Space::param, name));
    out.back().is_register = is_register;
    if (is_register && (out.back().vector != 1 || !out.back().dims.empty()))
      fail(name.loc, "a parameter in a register is a scalar");
    out.back().display_name = out.back().name;
  } while (accept(","));
  expect(")");
  check_parameters(out, function != nullptr && function->is_entry, are_results);
  return out;
}

void Parser::check_constant_memory() const {
  uint64_t bytes = 0;
  for (const Variable& v : module_.variables) {
    if (v.space != Space::constant || v.is_extern) continue;
    bytes += v.size;
    if (bytes > constant_memory)
      fail(v.loc,
           "the module's .const variables take more than " + std::to_string(constant_memory) + " bytes");
  }
}

SymbolRef Parser::add_module_variable(Variable variable) {
  const SymbolRef ref{SymbolRef::Kind::module_variable, static_cast<uint32_t>(module_.variables.size())};
  module_.variables.push_back(std::move(variable));
  return ref;
}

// One name, or `x<3>` for x0, x1 and x2, which are neither arrays nor initialised.
std::vector<Token> Parser::take_variable_names() {
  const Token name = take_name("a variable's name");
  if (!accept("<")) return {name};
  const TextLoc loc = token_.loc;
  const uint64_t count = take_integer("a number of variables");
  if (count > most_variables_of_range)
    fail(loc, "more than " + std::to_string(most_variables_of_range) + " variables");
  expect(">");
  if (token_.is("[") || token_.is("=")) fail_expected("',' or ';'");
  std::vector<Token> names(count, name);
  for (uint64_t i = 0; i < count; ++i)
    names[i].text = spellings_.emplace_back(std::string(name.text) + std::to_string(i));
  return names;
}

void Parser::parse_module_variables(const Linkage& linkage) {
  const Space space = *space_of(token_);
  advance();
  const VariableType type = parse_variable_type();
  do {
    for (const Token& name : take_variable_names()) {
      Variable variable = parse_variable(type, space, name);
      variable.is_extern = linkage.is_extern;
      variable.is_visible = linkage.is_visible;
      variable.is_weak = linkage.is_weak;
      variable.is_common = linkage.is_common;
      variable.is_managed |= linkage.is_managed;
      if (variable.is_common && space != Space::global) fail(name.loc, ".common variables are .global");
      if (variable.is_managed && space != Space::global) fail(name.loc, ".managed variables are .global");

      const auto [it, is_new] = globals_.try_emplace(name.text);
      if (is_new) {
        it->second = add_module_variable(std::move(variable));
      } else {
        if (it->second.kind != SymbolRef::Kind::module_variable)
          fail(name.loc, "'" + std::string(name.text) + "' is already the name of a function");
        Variable& known = module_.variables[it->second.index];
        if (known.space != variable.space || known.type != variable.type || known.vector != variable.vector ||
            known.reference != variable.reference)
          fail(name.loc, "the variable '" + known.name + "' is declared with another type");
        if (!known.is_extern && !variable.is_extern)
          fail(name.loc, "the variable '" + known.name + "' is defined twice");
        if (!variable.is_extern && !linkage.is_given())
          fail(name.loc,
               "the variable '" + known.name + "' was declared .extern: its definition is .visible or .weak");
        if (known.size != 0 && variable.size != 0 && known.size != variable.size)
          fail(name.loc, "the variable '" + known.name + "' is declared with another size");
        // The definition wins; a second declaration adds nothing.
        if (!variable.is_extern) known = std::move(variable);
      }
      if (token_.is("=")) {
        if (space == Space::shared) fail(token_.loc, "shared variables take no initialiser");
        parse_initializer(module_.variables[it->second.index]);
      } else {
        check_complete(module_.variables[it->second.index]);
      }
    }
  } while (accept(","));
  expect(";");
}

void Parser::parse_local_variables() {
  const Space space = *space_of(token_);
  advance();
  const VariableType type = parse_variable_type();
  do {
    for (const Token& name : take_variable_names()) {
      Variable variable = parse_variable(type, space, name);
      variable.scope = scope_ids_.back();
      if (space == Space::global || space == Space::constant) {
        // One object for the whole module, whose name alone is local.
        const SymbolRef ref = add_module_variable(std::move(variable));
        declare(name.text, name.loc, {.kind = Declaration::Kind::symbol, .symbol = ref});
        if (token_.is("="))
          parse_initializer(module_.variables[ref.index]);
        else
          check_complete(module_.variables[ref.index]);
      } else {
        check_complete(variable);
        if (token_.is("="))
          fail(token_.loc, "." + std::string(name_of(space)) + " variables take no initialiser");
        const SymbolRef ref{SymbolRef::Kind::local_variable,
                            static_cast<uint32_t>(function_->variables.size())};
        declare(name.text, name.loc, {.kind = Declaration::Kind::symbol, .symbol = ref});
        function_->variables.push_back(std::move(variable));
      }
    }
  } while (accept(","));
  expect(";");
}

SymbolRef Parser::find_global(const Token& name) const {
  const auto it = globals_.find(name.text);
  if (it == globals_.end()) fail(name.loc, "undeclared name '" + std::string(name.text) + "'");
  return it->second;
}

void Parser::check_complete(const Variable& variable) const {
  if (variable.size == 0 && !variable.is_extern)
    fail(variable.loc, "the array '" + variable.name + "' needs an extent or an initialiser");
}

void Parser::parse_initializer(Variable& variable) {
  const TextLoc loc = token_.loc;
  expect("=");
  if (variable.is_extern) fail(loc, "an extern variable takes no initialiser");
  if (variable.reference != Reference::none)
    fail(loc, "initialisers of texture and surface references are not supported");
  std::vector<uint64_t> dims = variable.dims;
  if (variable.vector > 1) dims.push_back(variable.vector);
  if (!dims.empty()) {
    (void)parse_initializer_list(variable, dims, 0);
    if (!variable.dims.empty()) set_size(variable);
    return;
  }
  if (token_.is("{")) fail(token_.loc, "the value of a scalar stands without braces");
  parse_initializer_value(variable, 0);
}

// `dims` are the extents of what the braces hold. What follows a row with too few values lies right behind
// them, not where the next row begins (so ptxas 13.0 has it, against C). Gives the end of what was written.
uint64_t Parser::parse_initializer_list(Variable& variable, std::span<const uint64_t> dims, uint64_t at) {
  const TextLoc loc = token_.loc;
  const bool has_rows = dims.size() > 1;
  if (!token_.is("{")) fail_expected("'{': each dimension has its braces");
  advance();
  uint64_t count = 0;
  if (!token_.is("}")) {
    do {
      if (token_.is("}")) fail_expected("a value");
      if (count == dims.front() && count != 0)
        fail(token_.loc, "too many values for '" + variable.name + "'");
      if (has_rows) {
        at = parse_initializer_list(variable, dims.subspan(1), at);
      } else {
        if (token_.is("{")) fail(token_.loc, "more braces than '" + variable.name + "' has dimensions");
        parse_initializer_value(variable, at);
        at += size_of(variable.type);
      }
      ++count;
    } while (accept(","));
  }
  expect("}");
  if (dims.front() == 0) {
    if (count == 0) fail(loc, "the array '" + variable.name + "' needs an extent or values");
    variable.dims.front() = count;
  }
  if (!has_rows && variable.vector > 1 && count != variable.vector)
    fail(loc, "a vector of " + std::to_string(variable.vector) + " has as many values");
  return at;
}

// The bytes of a value, as ptxas 13.0 writes them.
uint64_t Parser::initial_bits(const Variable& variable, TextLoc loc, const Constant& value) const {
  using Kind = Constant::Kind;
  const Type type = variable.type;
  const std::string name = "." + std::string(name_of(type));
  if (type == Type::f16 || type == Type::f16x2)
    fail(loc, name + " variables take no initialiser; .b16 and .b32 hold the bits of halves");
  if (value.kind == Kind::integer) {
    if (is_float(type)) fail(loc, name + " variables take floating-point values, as 1.0 or 0f3F800000");
    return value.bits;
  }
  if (type != Type::f32 && type != Type::f64 && type != Type::b32 && type != Type::b64)
    fail(loc, "a floating-point value for a variable of type " + name);
  const bool single = value.kind == Kind::real32;
  if (size_of(type) == 4 && !single)
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
  if (type == Type::f64 && single)
    return std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(value.bits))});
  return value.bits;
}

void Parser::parse_initializer_value(Variable& variable, uint64_t at) {
  const uint32_t width = size_of(variable.type);
  if (token_.kind == Token::Kind::identifier) return parse_initializer_symbol(variable, at, ~uint64_t{0});
  if (token_.kind == Token::Kind::integer && lexer_.peek().is("(")) {
    const TextLoc loc = token_.loc;
    const uint64_t mask = take_integer("a mask");
    // 0xFF(x), 0xFF00(x), …: one byte of the address.
    if (mask == 0 || mask >> std::countr_zero(mask) != 0xff || std::countr_zero(mask) % 8 != 0)
      fail(loc, "a mask of an address selects one byte: 0xFF, 0xFF00, …");
    if (width != 1) fail(loc, "a byte of an address needs a variable of bytes");
    expect("(");
    parse_initializer_symbol(variable, at, mask);
    return expect(")");
  }
  const TextLoc loc = token_.loc;
  const uint64_t bits = initial_bits(variable, loc, parse_constant());
  variable.initial.resize(at + width);
  std::memcpy(variable.initial.data() + at, &bits, std::min<size_t>(width, sizeof bits));
}

// symbol, symbol+4, generic(symbol), generic(symbol+4), generic(symbol)+4
void Parser::parse_initializer_symbol(Variable& variable, uint64_t at, uint64_t mask) {
  const uint32_t width = size_of(variable.type);
  Token name = take_identifier("a name");
  Relocation relocation{.offset = at, .width = static_cast<uint8_t>(width)};
  relocation.generic = name.text == "generic" && token_.is("(");
  uint64_t addend = 0;
  if (relocation.generic) {
    advance();
    name = take_identifier("a name");
    addend = parse_offset();
    expect(")");
  }
  addend += parse_offset();
  const auto symbol = function_ != nullptr ? find_symbol(name.text) : std::optional(find_global(name));
  if (!symbol ||
      (symbol->kind != SymbolRef::Kind::module_variable && symbol->kind != SymbolRef::Kind::function))
    fail(name.loc, "'" + std::string(name.text) + "' has no address that is known before the program runs");
  const std::string type = "." + std::string(name_of(variable.type));
  if (!is_unsigned(variable.type)) fail(name.loc, type + " holds no address; .u64 does, and .u8 its bytes");
  if (mask == ~uint64_t{0} && width < 4) fail(name.loc, "an address does not fit " + type);
  const bool is_function = symbol->kind == SymbolRef::Kind::function;
  if (!is_function && module_.variables[symbol->index].space == Space::shared)
    fail(name.loc, "'" + std::string(name.text) + "' is shared: it has no address before the program runs");
  if (is_function && (relocation.generic || addend != 0))
    fail(name.loc, "the address of a function stands alone");
  relocation.symbol = *symbol;
  relocation.addend = static_cast<int64_t>(addend);
  relocation.mask = mask;
  relocation.shift = mask == ~uint64_t{0} ? 0 : static_cast<uint8_t>(std::countr_zero(mask));
  variable.initial.resize(at + width);
  variable.relocations.push_back(relocation);
}

}  // namespace lanescope::ptx
