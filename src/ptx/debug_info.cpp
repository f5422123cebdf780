// .file, .loc and .section: the way from PTX back to the CUDA source. Names of inlined functions are labels
// in .section .debug_str, which stands at the end of the text; they are looked up when all of it has been
// read.
#include <algorithm>
#include <string>
#include <string_view>

#include "ptx/parser.hpp"

namespace lanescope::ptx {
namespace {

/// Compilers write bytes that are no ASCII characters as three octal digits: "\303\274" is ü.
std::string unescaped(std::string_view text) {
  const auto octal = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      bytes += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

}  // namespace

// .file 1 "path" [, timestamp, size]
void Parser::parse_file() {
  advance();
  SourceFile file;
  const TextLoc loc = token_.loc;
  file.id = take_u32("a file number");
  if (token_.kind != Token::Kind::string) fail_expected("a path in quotes");
  file.path = unescaped(token_.text);
  advance();
  if (accept(",")) {
    (void)take_integer("a time");
    expect(",");
    (void)take_integer("a size");
  }
  if (token_.kind == Token::Kind::identifier && token_.text == "md5") {
    advance();
    (void)take_integer("a checksum");
  }
  const auto known = std::find_if(module_.files.begin(), module_.files.end(),
                                  [&](const SourceFile& f) { return f.id == file.id; });
  if (known == module_.files.end())
    module_.files.push_back(std::move(file));
  else if (known->path != file.path)
    fail(loc, "file " + std::to_string(file.id) + " has two paths");
}

// .loc file line column [, function_name label[+offset], inlined_at file line column]
void Parser::parse_loc() {
  advance();
  SourceLoc loc;
  loc.file = take_u32("a file number");
  loc.line = take_u32("a line");
  loc.column = take_u32("a column");
  std::string_view label;
  uint64_t offset = 0;
  while (accept(",")) {
    const Token word = take_identifier("function_name or inlined_at");
    if (word.text == "function_name") {
      label = take_identifier("a label of .debug_str").text;
      offset = parse_offset();
    } else if (word.text == "inlined_at") {
      SourceLoc call;
      call.file = take_u32("a file number");
      call.line = take_u32("a line");
      call.column = take_u32("a column");
      // The call site is the last .loc of that place; one that was never written is made here.
      const auto known = last_loc_.find({call.file, call.line, call.column});
      const bool itself = call.file == loc.file && call.line == loc.line && call.column == loc.column;
      loc.inlined_at = known != last_loc_.end() && !itself ? known->second : add_loc(call, {}, 0);
    } else {
      fail(word.loc, "expected function_name or inlined_at");
    }
  }
  if (loc.line == 0 && current_loc_ != no_index) {
    const SourceLoc& last = module_.source_locs[current_loc_];
    loc.before = last.line == 0 ? last.before : current_loc_;
  }
  current_loc_ = add_loc(loc, label, offset);
}

uint32_t Parser::add_loc(const SourceLoc& loc, std::string_view function_label, uint64_t label_offset) {
  const auto [it, is_new] = known_locs_.try_emplace(
      {loc.file, loc.line, loc.column, loc.inlined_at, loc.before, function_label, label_offset},
      static_cast<uint32_t>(module_.source_locs.size()));
  if (is_new) {
    module_.source_locs.push_back(loc);
    if (!function_label.empty()) pending_names_.push_back({it->second, function_label, label_offset});
  }
  last_loc_[{loc.file, loc.line, loc.column}] = it->second;
  return it->second;
}

void Parser::parse_section() {
  advance();
  if (token_.kind != Token::Kind::dotted && token_.kind != Token::Kind::identifier)
    fail_expected("a section's name");
  const bool strings = token_.is_word("debug_str");
  advance();
  if (strings) return parse_debug_strings();
  skip_section();
}

// { … }; of the code that PTX was made of (.nv_intermediate_source_section, by cuda.tile), between
// .source_begin and .source_end, it is not known what it may hold.
void Parser::skip_section() {
  const TextLoc start = token_.loc;
  expect("{");
  for (int depth = 1; depth > 0; advance()) {
    if (token_.kind == Token::Kind::end ||
        (token_.is_word("source_begin") && !lexer_.skip_past(".source_end")))
      fail(start, "this section does not end");
    if (token_.is("{")) ++depth;
    if (token_.is("}")) --depth;
  }
}

// { label: .b8 1,2,3 … }
void Parser::parse_debug_strings() {
  expect("{");
  while (!accept("}")) {
    if (token_.kind == Token::Kind::identifier) {
      const Token label = token_;
      advance();
      expect(":");
      string_labels_[label.text] = debug_strings_.size();
    } else if (accept_word("b8")) {
      do debug_strings_ += static_cast<char>(take_integer("a byte"));
      while (accept(","));
    } else {
      fail_expected("a label or .b8");
    }
  }
}

void Parser::finish_locs() {
  std::unordered_map<std::string_view, std::string> demangled;
  for (const PendingName& pending : pending_names_) {
    const auto label = string_labels_.find(pending.label);
    if (label == string_labels_.end()) continue;  // stripped debug information: the function stays unnamed
    const std::string_view strings = debug_strings_;
    if (pending.offset >= strings.size() - label->second) continue;
    const std::string_view name = std::string_view(strings.data() + label->second + pending.offset,
                                                   strings.size() - label->second - pending.offset);
    const std::string_view text = name.substr(0, name.find('\0'));
    auto [it, is_new] = demangled.try_emplace(text);
    if (is_new) it->second = demangle(text);
    module_.source_locs[pending.loc].function = it->second;
  }
}

}  // namespace lanescope::ptx
