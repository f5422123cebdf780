// Tokens and nodes of the tree, and where parsing begins.
#include "code/parser.hpp"

namespace lanescope::code {

Parser::Parser(std::string text, std::string name, std::string assumed)
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

Code Parser::parse() {
  std::vector<NodeId> statements;
  while (here().kind != Token::Kind::end) statements.push_back(statement());
  program_->body = make(NodeKind::block, nullptr, std::move(statements), 0, 0);
  place_arrays();
  return program_;
}

void Parser::expect(std::string_view text, const char* after) {
  if (accept(text)) return;
  fail(here(), fmt::format("'{}' is missing {}{}", text, after, found()));
}

std::string Parser::take_name(const char* of_what) {
  if (here().kind != Token::Kind::identifier)
    fail(here(), fmt::format("{} needs a name{}", of_what, found()));
  return take().text;
}

void Parser::fail_at(uint32_t offset, const std::string& cause) const {
  throw program_->error_at(offset, cause);
}

NodeId Parser::make(NodeKind kind, const Type* type, std::vector<NodeId> operands, uint32_t begin,
                    uint32_t end, int64_t number) {
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

NodeId Parser::make_over(NodeKind kind, const Type* type, const std::vector<NodeId>& operands) {
  const uint32_t begin = node(operands.front()).begin, end = node(operands.back()).end;
  return make(kind, type, operands, begin, end);
}

Code parse_code(std::string text, std::string name) {
  Parser parser(text, name, "");
  Code code = parser.parse();
  const std::string assumed = parser.undeclared_array();
  return assumed.empty() ? code : Parser(std::move(text), std::move(name), assumed).parse();
}

}  // namespace lanescope::code
