// What parse_code makes of the text, for run_code: types, variables and a tree of typed nodes. Part of the
// implementation of code.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lanescope/model/request.hpp"

namespace lanescope::code {

struct Type;

struct Member {
  std::string name;
  const Type* type = nullptr;
  uint64_t offset = 0;
};

struct Type {
  enum class Kind : uint8_t {
    integer,
    floating,  ///< values are not computed
    pointer,   ///< to shared memory
    array,
    record,
    unknown  ///< of names that were not declared
  };
  Kind kind = Kind::unknown;
  std::string name;  ///< of an array: of its elements
  uint64_t size = 0;
  uint64_t align = 1;
  bool is_signed = false;
  bool is_struct = false;  ///< records that the code defines, unlike float4
  bool is_union = false;   ///< the same, whose members all lie at the begin
  /// Records: loaded and stored in pieces of up to 16 bytes, not member by member.
  bool whole = false;
  const Type* element = nullptr;  ///< of pointers and arrays
  uint64_t count = 0;             ///< of arrays; 0: no bound
  std::vector<Member> members;
};

/// Shared memory beyond this is refused; no chip has as much.
inline constexpr uint64_t most_shared_bytes = uint64_t{1} << 20;
/// Arrays begin at multiples of this.
inline constexpr uint64_t array_align = 256;

using NodeId = uint32_t;
inline constexpr NodeId no_node = ~NodeId{0};

enum class NodeKind : uint8_t {
  // Places in memory or variables. Of type `type`.
  array,      ///< number: index of Program::arrays
  subscript,  ///< operands: array place or pointer, index
  member,     ///< operand: a record's place; number: byte offset
  target,     ///< operand: pointer
  variable,   ///< number: slot
  // Values.
  constant,     ///< number
  builtin,      ///< number: a Builtin
  read,         ///< operand: a place
  address,      ///< operand: a place in memory
  unary,        ///< op: - ~ !
  binary,       ///< arithmetic, operands have the node's type (shifts: the left one; comparisons: op_type)
  convert,      ///< operand: an integer or pointer, to the node's type
  logical_and,  ///< operands
  logical_or,
  conditional,  ///< condition, then, else
  comma,
  assign,     ///< place, value
  update,     ///< place, value: place op= value; op_type: type of the operation
  increment,  ///< place: ++ and --; number: 1 or -1; the value is the new one with `prefix`, else the old one
  request,    ///< pointer, further operands: an atomic, an asynchronous copy, a matrix; `op`; number: bytes
  unknown,    ///< operands are evaluated, the value is not known
  elsewhere,  ///< the same of a place that a name leads to which nobody declared: in[i], p->x
  // Statements.
  declare,    ///< number: slot; operand: value, or none
  condition,  ///< if: condition, then[, else]
  loop,       ///< initial statement, condition, step, body (no_node where missing); number: slot or -1
  block,      ///< statements
  finish,     ///< return
  leave,      ///< break
  next_pass,  ///< continue
};

enum class Builtin : uint8_t {
  thread_x,
  thread_y,
  thread_z,
  thread,
  lane,
  warp,
  warp_size,
  block_x,
  block_y,
  block_z,
  block_size_x,
  block_size_y,
  block_size_z,
  grid_x,
  grid_y,
  grid_z
};

enum class Operator : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  less,
  greater,
  less_equal,
  greater_equal,
  equal,
  not_equal,
  minimum,
  maximum,
  negate,
  complement,
  logical_not,
  reverse_bits,
  count_bits,
  count_leading_zeros,
  first_bit,  ///< of the lowest bit that is set its place, from 1; 0: none is
};

struct Node {
  NodeKind kind = NodeKind::unknown;
  Operator op{};
  bool prefix = false;
  model::Op access{};  ///< of requests
  uint32_t depth = 1;  ///< of the tree below
  uint32_t begin = 0;  ///< in the text
  uint32_t end = 0;
  const Type* type = nullptr;  ///< null for statements
  const Type* op_type = nullptr;
  int64_t number = 0;
  std::vector<NodeId> operands;
};

struct Array {
  std::string name;
  std::string declaration;
  const Type* type = nullptr;
  uint64_t begin = 0;
  uint64_t limit = 0;    ///< bytes that may be accessed
  bool assumed = false;  ///< not declared
};

struct Variable {
  std::string name;
  const Type* type = nullptr;
};

struct Program {
  std::string text;
  std::string name;
  std::deque<Type> types;
  std::vector<Array> arrays;
  std::string undeclared;  ///< the first name that is subscripted without a declaration; empty: none
  std::string
      undeclared_pointer;  ///< the first one that is taken for a pointer otherwise, *p, p->x; empty: none
  std::vector<Variable> variables;
  std::vector<Node> nodes;
  NodeId body = no_node;

  /// An error at a place of the text.
  [[nodiscard]] Error error_at(uint32_t offset, const std::string& cause) const;
  [[nodiscard]] SourcePlace place_of(uint32_t offset) const;
};

/// The value as it is in a variable of that integer type: cut off and sign- or zero-extended.
[[nodiscard]] int64_t fitted(const Type& type, uint64_t value);

/// a op b, both of type `type`. On failure (division by zero, too large a shift) `*cause` says why.
[[nodiscard]] int64_t apply(Operator op, const Type& type, int64_t a, int64_t b, std::string* cause);

}  // namespace lanescope::code
