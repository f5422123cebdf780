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
constexpr int deepest_initializer = 32;

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

// Everything between the state space and the name, in any order: .align 8 .ptr .global .v4 .f32.
Parser::VariableType Parser::parse_variable_type() {
  VariableType out;
  while (token_.kind == Token::Kind::dotted) {
    const Token word = token_;
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
      out.pointer_hint = true;
    } else if (word.text == "v2" || word.text == "v4") {
      out.vector = word.text == "v2" ? 2 : 4;
    } else if (const auto type = find_type(word.text); type && *type != Type::pred) {
      if (out.type != Type::none) fail(word.loc, "two types");
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
  parse_array(variable);
  if (type.reference != Reference::none && !variable.dims.empty())
    fail(name.loc, "arrays of texture or surface references are not supported");
  set_size(variable);
  return variable;
}

std::vector<Variable> Parser::parse_parameters(Function* function) {
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
  return out;
}

SymbolRef Parser::add_module_variable(Variable variable) {
  const SymbolRef ref{SymbolRef::Kind::module_variable, static_cast<uint32_t>(module_.variables.size())};
  module_.variables.push_back(std::move(variable));
  return ref;
}

void Parser::parse_module_variables(const Linkage& linkage) {
  const Space space = *space_of(token_);
  advance();
  const VariableType type = parse_variable_type();
  do {
    const Token name = take_identifier("a variable's name");
    Variable variable = parse_variable(type, space, name);
    variable.is_extern = linkage.is_extern;
    variable.is_visible = linkage.is_visible;
    variable.is_weak = linkage.is_weak;
    variable.is_common = linkage.is_common;

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
      // The definition wins; a second declaration adds nothing.
      if (!variable.is_extern) known = std::move(variable);
    }
    if (token_.is("=")) {
      if (space == Space::shared) fail(token_.loc, "shared variables take no initialiser");
      parse_initializer(module_.variables[it->second.index]);
    }
  } while (accept(","));
  expect(";");
}

void Parser::parse_local_variables() {
  const Space space = *space_of(token_);
  advance();
  const VariableType type = parse_variable_type();
  do {
    const Token name = take_identifier("a variable's name");
    Variable variable = parse_variable(type, space, name);
    variable.scope = scope_ids_.back();
    if (space == Space::global || space == Space::constant) {
      // One object for the whole module, whose name alone is local.
      const SymbolRef ref = add_module_variable(std::move(variable));
      declare(name.text, name.loc, {.kind = Declaration::Kind::symbol, .symbol = ref});
      if (token_.is("=")) parse_initializer(module_.variables[ref.index]);
    } else {
      if (token_.is("="))
        fail(token_.loc, "." + std::string(name_of(space)) + " variables take no initialiser");
      const SymbolRef ref{SymbolRef::Kind::local_variable,
                          static_cast<uint32_t>(function_->variables.size())};
      declare(name.text, name.loc, {.kind = Declaration::Kind::symbol, .symbol = ref});
      function_->variables.push_back(std::move(variable));
    }
  } while (accept(","));
  expect(";");
}

SymbolRef Parser::find_global(const Token& name) const {
  const auto it = globals_.find(name.text);
  if (it == globals_.end()) fail(name.loc, "undeclared name '" + std::string(name.text) + "'");
  return it->second;
}

// Initialisers grow `initial` up to the last value written. The sum over the module is bounded by the text's
// length, so that a few characters cannot ask for gigabytes of zeros between two values.
void Parser::reserve_initial(Variable& variable, uint64_t end) {
  if (end <= variable.initial.size()) return;
  initial_bytes_ += end - variable.initial.size();
  if (initial_bytes_ > (uint64_t{1} << 20) + 64 * uint64_t{module_.text.size()})
    fail(token_.loc, "this initialiser is mostly empty, and too large");
  variable.initial.resize(end);
}

void Parser::parse_initializer(Variable& variable) {
  const TextLoc loc = token_.loc;
  expect("=");
  if (variable.is_extern) fail(loc, "an extern variable takes no initialiser");
  std::vector<uint64_t> dims = variable.dims;
  if (variable.vector > 1) dims.push_back(variable.vector);
  uint64_t end = 0;
  if (token_.is("{")) {
    if (dims.empty()) dims.push_back(1);
    parse_initializer_list(variable, dims, 0, &end, 0);
  } else {
    if (!variable.dims.empty() || variable.vector > 1) fail_expected("'{'");
    parse_initializer_value(variable, 0);
    end = size_of(variable.type);
  }
  if (!variable.dims.empty() && variable.dims.front() == 0) {
    uint64_t row = uint64_t{size_of(variable.type)} * variable.vector;
    for (size_t i = 1; i < variable.dims.size(); ++i) row *= variable.dims[i];
    variable.dims.front() = (end + row - 1) / row;
    set_size(variable);
  }
}

// `dims` are the extents of what the braces hold; inner braces may be left out, as in C.
void Parser::parse_initializer_list(Variable& variable, std::span<const uint64_t> dims, uint64_t at,
                                    uint64_t* end, int depth) {
  if (depth == deepest_initializer) fail(token_.loc, "braces nested too deeply");
  const uint64_t element = size_of(variable.type);
  uint64_t inner = element;
  for (const uint64_t extent : dims.subspan(1)) inner *= extent;
  const uint64_t start = at;
  const uint64_t limit = dims.front() == 0 ? largest_variable : at + inner * dims.front();
  expect("{");
  while (!token_.is("}")) {
    if (at >= limit) fail(token_.loc, "too many values for '" + variable.name + "'");
    if (token_.is("{")) {
      if (dims.size() == 1) fail(token_.loc, "more braces than '" + variable.name + "' has dimensions");
      if ((at - start) % inner != 0) fail(token_.loc, "braces after a row that was begun without");
      uint64_t inner_end = at;
      parse_initializer_list(variable, dims.subspan(1), at, &inner_end, depth + 1);
      at += inner;
      *end = std::max(*end, at);
    } else {
      parse_initializer_value(variable, at);
      at += element;
      *end = std::max(*end, at);
    }
    if (!accept(",")) break;
  }
  expect("}");
}

void Parser::parse_initializer_value(Variable& variable, uint64_t at) {
  const uint32_t width = size_of(variable.type);
  if (token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ")
    return parse_initializer_symbol(variable, at, ~uint64_t{0});
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
  const Constant value = parse_constant();
  uint64_t bits = value.bits;
  if (value.kind == Constant::Kind::integer) {
    if (variable.type == Type::f32)
      bits = std::bit_cast<uint32_t>(value.is_unsigned ? static_cast<float>(bits)
                                                       : static_cast<float>(static_cast<int64_t>(bits)));
    if (variable.type == Type::f64)
      bits = std::bit_cast<uint64_t>(value.is_unsigned ? static_cast<double>(bits)
                                                       : static_cast<double>(static_cast<int64_t>(bits)));
  } else {
    const bool single = value.kind == Constant::Kind::real32;
    if (variable.type == Type::f32 && !single)
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    else if (variable.type == Type::f64 && single)
      bits = std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(bits))});
    else if (!is_float(variable.type) && width != (single ? 4u : 8u))
      fail(loc, "a floating-point value for a variable of type ." + std::string(name_of(variable.type)));
    else if (width < 4)
      fail(loc, "half-precision values are written as integers");
  }
  if (width > 8) fail(loc, "initialisers of ." + std::string(name_of(variable.type)) + " are not supported");
  reserve_initial(variable, at + width);
  std::memcpy(variable.initial.data() + at, &bits, width);
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
  if (mask == ~uint64_t{0} && width != 8 && width != 4)
    fail(name.loc, "an address does not fit ." + std::string(name_of(variable.type)));
  relocation.symbol = *symbol;
  relocation.addend = static_cast<int64_t>(addend);
  relocation.mask = mask;
  relocation.shift = mask == ~uint64_t{0} ? 0 : static_cast<uint8_t>(std::countr_zero(mask));
  reserve_initial(variable, at + width);
  variable.relocations.push_back(relocation);
}

}  // namespace lanescope::ptx
