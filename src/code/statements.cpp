// Statements: of the parser (parser.hpp).
#include "code/parser.hpp"

namespace lanescope::code {

NodeId Parser::statement() {
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

NodeId Parser::expression_statement() {
  const NodeId value = expression();
  if (type_of(value).kind == Type::Kind::array)
    fail(value, fmt::format("'{}' is an array: give an index for every dimension", text_of(value)));
  return rvalue(value);
}

NodeId Parser::block() {
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

NodeId Parser::scoped_statement() {
  scopes_.emplace_back();
  const NodeId result = statement();
  scopes_.pop_back();
  return result;
}

NodeId Parser::if_statement() {
  const Token first = take();
  if (is("constexpr")) take();
  expect("(", "after 'if'");
  const NodeId condition = number(expression(), "a condition");
  expect(")", "after the condition");
  std::vector<NodeId> operands{condition, scoped_statement()};
  if (accept("else")) operands.push_back(scoped_statement());
  return make(NodeKind::condition, nullptr, std::move(operands), first.begin, first.end);
}

NodeId Parser::loop() {
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

NodeId Parser::jump() {
  const Token word = take();
  if (word.text == "return") {
    if (!is(";") && !is("}") && here().kind != Token::Kind::end) fail(here(), "a kernel returns nothing");
    return make(NodeKind::finish, nullptr, {}, word.begin, word.end);
  }
  if (loops_ == 0) fail(word, fmt::format("'{}' stands in no loop", word.text));
  return make(word.text == "break" ? NodeKind::leave : NodeKind::next_pass, nullptr, {}, word.begin,
              word.end);
}

int64_t Parser::slot_set_by(NodeId id) const {
  const Node& init = node(id);
  if (init.kind == NodeKind::declare) return init.number;
  if (init.kind == NodeKind::assign && node(init.operands[0]).kind == NodeKind::variable)
    return node(init.operands[0]).number;
  if ((init.kind == NodeKind::block || init.kind == NodeKind::comma) && !init.operands.empty())
    return slot_set_by(init.operands.front());
  return -1;
}

}  // namespace lanescope::code
