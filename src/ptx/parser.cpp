// Module level of the parser: directives, functions, and the merging of declarations with their definitions.
#include "ptx/parser.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ptx/names.hpp"

namespace lanescope::ptx {

Module parse(std::string text, std::string name) { return Parser(std::move(text), std::move(name)).run(); }

Parser::Parser(std::string text, std::string name)
    : module_{.name = std::move(name), .text = std::move(text)},
      source_{module_.text, module_.name},
      lexer_(source_) {}

Module Parser::run() {
  advance();
  while (token_.kind != Token::Kind::end) parse_statement();
  if (!version_seen_) fail(token_.loc, "no .version: this is no PTX module");
  check_constant_memory();
  finish_aliases();
  finish_locs();
  module_.line_begins = line_begins_of(module_.text);
  return std::move(module_);
}

bool Parser::accept(std::string_view punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view punctuation) {
  if (!accept(punctuation)) fail_expected("'" + std::string(punctuation) + "'");
}

bool Parser::accept_word(std::string_view dotted) {
  if (!token_.is_word(dotted)) return false;
  advance();
  return true;
}

void Parser::fail_expected(std::string_view what) const {
  constexpr size_t longest_shown = 60;
  std::string found = "the end of the text";
  if (token_.kind != Token::Kind::end) {
    const std::string_view shown = token_.text.substr(0, longest_shown);
    found = (token_.kind == Token::Kind::dotted ? "'." : "'") + std::string(shown) + "'";
  }
  fail(token_.loc, "expected " + std::string(what) + ", not " + found);
}

Token Parser::take_name(std::string_view what) {
  if (token_.text == "_") fail_expected(what);
  return take_identifier(what);
}

Token Parser::take_identifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) fail_expected(what);
  return std::exchange(token_, lexer_.next());
}

uint64_t Parser::take_integer(std::string_view what) {
  if (token_.kind != Token::Kind::integer) fail_expected(what);
  return std::exchange(token_, lexer_.next()).bits;
}

uint32_t Parser::take_u32(std::string_view what) {
  const TextLoc loc = token_.loc;
  const uint64_t value = take_integer(what);
  if (value > 0xffffffffu) fail(loc, "this number does not fit 32 bits");
  return static_cast<uint32_t>(value);
}

void Parser::parse_statement() {
  if (token_.is(";")) return advance();
  if (token_.kind != Token::Kind::dotted) fail_expected("a directive");
  if (token_.text == "version") return parse_version();
  if (!version_seen_ && token_.text != "file") fail(token_.loc, "a PTX module begins with .version");
  if (token_.text == "target") return parse_target();
  if (token_.text == "address_size") return parse_address_size();
  if (token_.text == "file") return parse_file();
  if (token_.text == "loc") return parse_loc();
  if (token_.text == "section") return parse_section();
  if (accept_word("nv_intermediate_source_section")) return skip_section();
  if (token_.text == "pragma") return parse_pragma();
  if (token_.text == "alias") return parse_alias();
  if (module_.target.empty()) fail(token_.loc, "a PTX module names its .target first");
  Linkage linkage;
  parse_attributes(&linkage.is_managed);
  parse_linkage(linkage);
  if (token_.is_word("entry") || token_.is_word("func")) return parse_function(linkage);
  if (token_.is_word("global") || token_.is_word("const") || token_.is_word("shared"))
    return parse_module_variables(linkage);
  if (token_.is_word("reg") || token_.is_word("local") || token_.is_word("param"))
    fail(token_.loc, "." + std::string(token_.text) + " belongs inside a function");
  fail_expected("a directive");
}

void Parser::parse_version() {
  if (version_seen_) fail(token_.loc, "a PTX module has one .version");
  advance();
  const std::string_view text = token_.text;
  const auto point = text.find('.');
  const auto number = [&](std::string_view part, uint32_t& out) {
    return std::from_chars(part.data(), part.data() + part.size(), out).ptr == part.data() + part.size() &&
           !part.empty();
  };
  if (token_.kind != Token::Kind::real64 || point == std::string_view::npos ||
      !number(text.substr(0, point), module_.version_major) ||
      !number(text.substr(point + 1), module_.version_minor))
    fail_expected("a version, as 9.0");
  version_seen_ = true;
  advance();
}

void Parser::parse_target() {
  if (!globals_.empty()) fail(token_.loc, "the .target of a module stands before all else");
  advance();
  do {
    const Token word = take_identifier("a target, as sm_90");
    if (word.text.starts_with("sm_") || word.text.starts_with("compute_")) {
      module_.target = word.text;
      target_ = read_target(word.text.substr(word.text.find('_') + 1));
      target_.version = module_.version_major * 10 + module_.version_minor;
    } else if (word.text == "debug")
      module_.is_debug = true;
    else if (word.text != "texmode_unified" && word.text != "texmode_independent" &&
             word.text != "map_f64_to_f32")
      fail(word.loc, "unknown target '" + std::string(word.text) + "'");
    if (word.text == "map_f64_to_f32") fail(word.loc, "map_f64_to_f32 is not supported");
  } while (accept(","));
}

void Parser::parse_address_size() {
  advance();
  const TextLoc loc = token_.loc;
  module_.address_size = take_u32("32 or 64");
  if (module_.address_size != 32 && module_.address_size != 64) fail(loc, "expected 32 or 64");
  if (module_.address_size == 32) fail(loc, "32-bit addresses are not supported");
}

/// Of all functions to come, of one, or of the loop that begins with the label that is the last one so far.
void Parser::note_nounroll(Function* directives_of) {
  if (directives_of != nullptr) {
    directives_of->never_unrolled = true;
  } else if (function_ == nullptr) {
    never_unrolled_ = true;
  } else {
    const auto next = static_cast<uint32_t>(function_->body.size());
    const bool has_label = !function_->labels.empty() && function_->labels.back().instruction == next;
    if (has_label || next != 0) function_->not_unrolled.push_back(has_label ? next : next - 1);
  }
}

void Parser::parse_pragma(Function* directives_of) {
  advance();
  do {
    if (token_.kind != Token::Kind::string) fail_expected("a string");
    if (token_.text == "nounroll") note_nounroll(directives_of);
    advance();
  } while (accept(","));
  expect(";");
}

void Parser::parse_alias() {
  advance();
  Alias alias;
  alias.name = take_identifier("a function's name");
  expect(",");
  alias.target = take_identifier("a function's name");
  expect(";");
  aliases_.push_back(alias);
}

namespace {

bool have_same_parameters(const Function& a, const Function& b) {
  const auto same = [](const Variable& one, const Variable& other) {
    return one.size == other.size && one.type == other.type && one.is_register == other.is_register;
  };
  return std::ranges::equal(a.params, b.params, same) && std::ranges::equal(a.returns, b.returns, same);
}

}  // namespace

// An alias is the same function under another name.
void Parser::finish_aliases() {
  for (const Alias& alias : aliases_) {
    const SymbolRef target = find_global(alias.target);
    const SymbolRef name = find_global(alias.name);
    if (target.kind != SymbolRef::Kind::function || !module_.functions[target.index].has_body)
      fail(alias.target.loc, "'" + std::string(alias.target.text) + "' is no function with a body");
    if (name.kind != SymbolRef::Kind::function || module_.functions[name.index].has_body)
      fail(alias.name.loc, "'" + std::string(alias.name.text) + "' is no declared function without a body");
    const Function& known = module_.functions[name.index];
    Function function = module_.functions[target.index];
    if (function.is_entry || known.is_entry) fail(alias.name.loc, "a kernel has no alias");
    if (function.is_weak) fail(alias.target.loc, "a .weak function has no alias");
    if (!have_same_parameters(known, function))
      fail(alias.name.loc,
           "the alias '" + known.name + "' has other parameters than '" + function.name + "'");
    function.name = known.name;
    function.display_name = known.display_name;
    function.is_visible = known.is_visible;
    function.is_weak = known.is_weak;
    function.is_extern = false;
    // A body may be named by many aliases; its copies count like registers that were written.
    register_count_ += function.registers.size() + function.body.size();
    if (register_count_ > (1u << 24)) fail(alias.name.loc, "too many aliases of large functions");
    module_.functions[name.index] = std::move(function);
  }
}

// .attribute(.managed), .attribute(.unified(1, 2)).
void Parser::parse_attributes(bool* managed) {
  while (accept_word("attribute")) {
    expect("(");
    do {
      if (accept_word("managed")) {
        if (managed != nullptr) *managed = true;
      } else if (accept_word("unified")) {
        expect("(");
        (void)take_integer("a number");
        expect(",");
        (void)take_integer("a number");
        expect(")");
      } else {
        fail_expected(".managed or .unified");
      }
    } while (accept(","));
    expect(")");
  }
}

void Parser::parse_linkage(Linkage& linkage) {
  for (;; advance()) {
    bool* const written = token_.is_word("extern")    ? &linkage.is_extern
                          : token_.is_word("visible") ? &linkage.is_visible
                          : token_.is_word("weak")    ? &linkage.is_weak
                          : token_.is_word("common")  ? &linkage.is_common
                                                      : nullptr;
    if (written == nullptr) return;
    if (linkage.is_given())
      fail(token_.loc, "one of .extern, .visible, .weak and .common is written, not two");
    *written = true;
  }
}

void Parser::parse_dimensions(std::array<uint32_t, 3>& out) {
  out = {1, 1, 1};
  size_t n = 0;
  do {
    const TextLoc loc = token_.loc;
    if (n == 3) fail(loc, "at most three dimensions");
    out[n] = take_u32("a number");
    if (out[n++] == 0) fail(loc, "a dimension of 0");
  } while (accept(","));
}

void Parser::parse_function_directives(Function& function) {
  while (token_.kind == Token::Kind::dotted) {
    const Token word = token_;
    if (word.text == "pragma") {
      parse_pragma(&function);
      continue;
    }
    if (word.text == "attribute") {
      parse_attributes(nullptr);
      continue;
    }
    if (word.text == "loc") {
      parse_loc();
      continue;
    }
    advance();
    constexpr std::string_view of_kernels[] = {
        "maxntid",         "reqntid",        "minnctapersm",      "maxnreg",           "maxnctapersm",
        "explicitcluster", "maxclusterrank", "reqnctapercluster", "blocksareclusters", "minperctamemory"};
    if (!function.is_entry && std::ranges::find(of_kernels, word.text) != std::end(of_kernels))
      fail(word.loc, "." + std::string(word.text) + " belongs to kernels");
    if (function.is_entry && word.text == "noreturn")
      fail(word.loc, ".noreturn belongs to functions that are called");
    const auto take_positive = [&] {
      const TextLoc loc = token_.loc;
      const uint32_t value = take_u32("a number");
      if (value == 0) fail(loc, "." + std::string(word.text) + " is 1 at least");
      return value;
    };
    if (word.text == "maxntid")
      parse_dimensions(function.max_threads);
    else if (word.text == "reqntid")
      parse_dimensions(function.required_threads);
    else if (word.text == "minnctapersm")
      function.min_blocks = take_positive();
    else if (word.text == "maxnreg")
      function.max_registers = take_positive();
    else if (word.text == "noreturn")
      function.is_noreturn = true;
    else if (word.text == "explicitcluster")
      function.explicit_cluster = true;
    else if (word.text == "reqnctapercluster")
      parse_dimensions(function.required_cluster);
    else if (word.text == "maxclusterrank")
      function.max_cluster_rank = take_u32("a number");
    else if (word.text == "maxnctapersm" || word.text == "local_maxnreg" || word.text == "abi_preserve" ||
             word.text == "abi_preserve_control")
      (void)take_u32("a number");  // advice to the assembler
    else if (word.text == "language")
      function.language = take_u32("a number");
    else if (word.text == "minperctamemory") {
      (void)take_integer("a number");
      function.refusal =
          Refusal{".minperctamemory is not supported: blocks have no global memory of their own", word.loc};
    } else if (word.text == "blocksareclusters")
      function.blocks_are_clusters = true;
    else
      fail(word.loc, "unknown directive '." + std::string(word.text) + "' of a function");
  }
}

void Parser::parse_function(const Linkage& linkage) {
  Function function;
  function.never_unrolled = never_unrolled_;
  function.is_entry = token_.text == "entry";
  function.is_extern = linkage.is_extern;
  function.is_visible = linkage.is_visible;
  function.is_weak = linkage.is_weak;
  if (linkage.is_common) fail(token_.loc, ".common is for variables");
  advance();
  parse_attributes(nullptr);
  if (!function.is_entry && token_.is("(")) function.returns = parse_parameters(nullptr, true);
  const Token name = take_identifier("a function's name");
  function.name = name.text;
  function.display_name = demangle(name.text);
  function.loc = name.loc;
  if (token_.is("(")) function.params = parse_parameters(&function);
  parse_function_directives(function);
  if (function.is_noreturn && !function.returns.empty())
    fail(name.loc, "a function that returns something is not .noreturn");
  if (function.max_threads[0] != 0 && function.required_threads[0] != 0)
    fail(name.loc, ".maxntid and .reqntid do not go together");
  if (function.max_cluster_rank != 0 && function.required_cluster[0] != 0)
    fail(name.loc, ".maxclusterrank and .reqnctapercluster do not go together");
  if (function.blocks_are_clusters &&
      (function.required_threads[0] == 0 || function.required_cluster[0] == 0))
    fail(name.loc, ".blocksareclusters needs .reqntid and .reqnctapercluster");
  function.has_body = token_.is("{");
  if (function.has_body && function.is_extern) fail(name.loc, "an .extern function has no body");
  const bool has_body = function.has_body;
  function_index_ = merge_function(std::move(function), name);
  if (!has_body) return expect(";");
  function_ = &module_.functions[function_index_];
  parse_body();
  function_ = nullptr;
}

// `function` was declared before: check that both say the same, and let the definition win.
void Parser::merge_declared(Function& known, Function& function) const {
  const TextLoc loc = function.loc;
  const std::string name = "'" + known.name + "'";
  if (known.is_entry != function.is_entry) fail(loc, name + " is declared as another kind of function");
  if (known.has_body && function.has_body) fail(loc, "the function " + name + " is defined twice");
  if (known.has_body) fail(loc, "the function " + name + " is declared behind its definition");
  const auto linkage = [](const Function& f) { return std::array{f.is_extern, f.is_visible, f.is_weak}; };
  const bool says_nothing = linkage(function) == std::array{false, false, false} && !known.is_extern;
  if (!says_nothing && linkage(known) != linkage(function))
    fail(loc, "the function " + name + " is declared with another linkage (.extern, .visible, .weak)");
  if (!have_same_parameters(known, function))
    fail(loc, "the function " + name + " is declared with other parameters");
  function.is_visible |= known.is_visible;
  function.is_weak |= known.is_weak;
  function.is_noreturn |= known.is_noreturn;
  if (function.has_body) {
    function.is_extern = false;
    known = std::move(function);
  } else {
    known.is_visible = function.is_visible;
    known.is_weak = function.is_weak;
    known.is_noreturn = function.is_noreturn;
  }
}

uint32_t Parser::merge_function(Function function, const Token& name) {
  const auto index = static_cast<uint32_t>(module_.functions.size());
  const auto [it, is_new] = globals_.try_emplace(name.text, SymbolRef{SymbolRef::Kind::function, index});
  if (is_new) {
    module_.functions.push_back(std::move(function));
    return index;
  }
  if (it->second.kind != SymbolRef::Kind::function)
    fail(name.loc, "'" + function.name + "' is already the name of a variable");
  merge_declared(module_.functions[it->second.index], function);
  return it->second.index;
}

}  // namespace lanescope::ptx
