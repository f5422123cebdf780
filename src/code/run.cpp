// Runs the code of code.hpp: a walk over the tree for all lanes of a warp side by side, with a mask of the
// lanes that are active. A value that is not known (a float, what is in memory) remembers where it was lost,
// and it is an error only where an address or a condition needs it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "code/code.hpp"
#include "code/program.hpp"

namespace lanescope::code {
namespace {

constexpr size_t most_lanes = static_cast<size_t>(model::max_lanes);
/// Requests of one block; what makes more is a mistake more often than a wish, and fills the memory.
constexpr size_t most_requests = size_t{1} << 17;
/// Pieces in which a struct is copied.
constexpr size_t most_pieces = 64;

struct Value {
  std::array<int64_t, most_lanes> lane;
  NodeId lost = no_node;  ///< where the value ceased to be known
};

/// Calls body(lane) for each lane of the mask, lowest first.
template <class Body>
void for_lanes(uint64_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1) body(static_cast<size_t>(std::countr_zero(mask)));
}

/// A part of a type that one instruction moves.
struct Piece {
  uint64_t offset = 0;
  int width = 4;
  std::string suffix;  ///< ".x"
};

void add_pieces(const Type& type, uint64_t offset, const std::string& suffix, std::vector<Piece>& pieces) {
  constexpr uint64_t widest = 16;
  if (pieces.size() > most_pieces) return;
  if (type.kind == Type::Kind::array) {
    for (uint64_t i = 0; i < type.count && pieces.size() <= most_pieces; ++i)
      add_pieces(*type.element, offset + i * type.element->size, fmt::format("{}[{}]", suffix, i), pieces);
  } else if (type.kind == Type::Kind::record && !type.whole) {
    // Of members in one place, as those of a union, the largest one.
    std::vector<Member> members = type.members;
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return std::pair(a.offset, b.type->size) < std::pair(b.offset, a.type->size);
    });
    uint64_t end = 0;
    for (const Member& member : members) {
      if (member.offset < end) continue;
      add_pieces(*member.type, offset + member.offset, suffix + "." + member.name, pieces);
      end = member.offset + member.type->size;
    }
  } else {
    for (uint64_t done = 0; done < type.size; done += widest)
      pieces.push_back({offset + done, static_cast<int>(std::min(widest, type.size - done)), suffix});
  }
}

class Runner {
 public:
  Runner(const Program& program, const CodeLaunch& launch) : program_(program), launch_(launch) {
    const uint64_t threads = launch.block.count();
    constexpr uint64_t most_threads = 1024;
    if (threads == 0 || launch.block.x > most_threads || launch.block.y > most_threads ||
        threads > most_threads)
      throw Error(fmt::format("a block has 1 to {} threads, not {}x{}x{}", most_threads, launch.block.x,
                              launch.block.y, launch.block.z));
    for (const Array& array : program.arrays) result_.arrays.push_back(described(array));
  }

  CodeRun run() && {
    const auto threads = static_cast<uint32_t>(launch_.block.count());
    const auto lanes = static_cast<uint32_t>(launch_.warp_lanes);
    for (warp_ = 0; warp_ * lanes < threads; ++warp_) {
      variables_.assign(program_.variables.size(), Variable{});
      const uint32_t count = std::min(lanes, threads - warp_ * lanes);
      static_cast<void>(statement(program_.body, ~uint64_t{0} >> (64 - count)));
    }
    result_.undeclared = program_.undeclared.empty() ? program_.undeclared_pointer : program_.undeclared;
    return std::move(result_);
  }

 private:
  struct Variable {
    std::array<int64_t, most_lanes> lane{};
    uint64_t known = 0;
    NodeId lost = no_node;
  };
  struct Loop {
    NodeId node;
    uint32_t pass;
    uint64_t left = 0;       ///< lanes that a `break` took out
    uint64_t continued = 0;  ///< lanes whose pass a `continue` has ended
  };

  [[nodiscard]] const Node& node(NodeId id) const { return program_.nodes[id]; }
  [[nodiscard]] std::string text_of(NodeId id) const {
    constexpr uint32_t longest = 60;
    const uint32_t length = node(id).end - node(id).begin;
    const std::string text = program_.text.substr(node(id).begin, std::min(length, longest));
    return length > longest ? text + "…" : text;
  }
  [[noreturn]] void fail(NodeId id, const std::string& cause) const {
    throw program_.error_at(node(id).begin, cause);
  }
  [[noreturn]] void fail(NodeId id, const std::string& cause, size_t lane) const {
    fail(id, fmt::format("{} ({})", cause, who(lane)));
  }
  /// "lane 3 of warp 0, thread (3,0,0)".
  [[nodiscard]] std::string who(size_t lane) const {
    const auto [x, y, z] = thread(lane);
    return fmt::format("lane {} of warp {}, thread ({},{},{})", lane, warp_, x, y, z);
  }
  [[nodiscard]] exec::Dim3 thread(size_t lane) const {
    const uint32_t linear = warp_ * static_cast<uint32_t>(launch_.warp_lanes) + static_cast<uint32_t>(lane);
    const exec::Dim3& size = launch_.block;
    return {linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
  }
  void count_operation(NodeId id) {
    if (++operations_ > launch_.most_operations)
      fail(id, fmt::format("the code does not end within {} operations", launch_.most_operations));
  }

  // ---- Statements.
  /// The lanes that go on behind it.
  [[nodiscard]] uint64_t statement(NodeId id, uint64_t mask) {
    const Node& n = node(id);
    if (mask == 0) return 0;
    switch (n.kind) {
      case NodeKind::block:
        for (const NodeId each : n.operands) mask = statement(each, mask);
        return mask;
      case NodeKind::condition: {
        count_operation(id);
        const uint64_t yes = truth(n.operands[0], mask), no = mask & ~yes;
        const uint64_t after_yes = statement(n.operands[1], yes);
        return after_yes | (n.operands.size() == 3 ? statement(n.operands[2], no) : no);
      }
      case NodeKind::loop: return loop(id, mask);
      case NodeKind::finish: return 0;
      case NodeKind::leave: loops_.back().left |= mask; return 0;
      case NodeKind::next_pass: loops_.back().continued |= mask; return 0;
      case NodeKind::declare: {
        count_operation(id);
        Variable& variable = variables_[static_cast<size_t>(n.number)];
        variable.known &= ~mask;
        variable.lost = id;
        if (n.operands.empty()) return mask;
        const Value value = evaluate(n.operands[0], mask);
        set(static_cast<size_t>(n.number), value, mask);
        return mask;
      }
      default: evaluate(id, mask); return mask;
    }
  }
  [[nodiscard]] uint64_t loop(NodeId id, uint64_t mask) {
    const Node& n = node(id);
    if (n.operands[0] != no_node) mask = statement(n.operands[0], mask);
    loops_.push_back({id, 0});
    uint64_t done = 0;
    for (; mask != 0; ++loops_.back().pass) {
      count_operation(id);
      const uint64_t yes = n.operands[1] != no_node ? truth(n.operands[1], mask) : mask;
      done |= mask & ~yes;
      mask = statement(n.operands[3], yes) | std::exchange(loops_.back().continued, 0);
      if (n.operands[2] != no_node && mask != 0) evaluate(n.operands[2], mask);
    }
    done |= loops_.back().left;
    loops_.pop_back();
    return done;
  }
  /// The lanes for which a condition holds.
  uint64_t truth(NodeId id, uint64_t mask) {
    const Value value = known(id, mask);
    uint64_t yes = 0;
    for_lanes(mask, [&](size_t lane) { yes |= uint64_t{value.lane[lane] != 0} << lane; });
    return yes;
  }
  void set(size_t slot, const Value& value, uint64_t mask) {
    Variable& variable = variables_[slot];
    for_lanes(mask, [&](size_t lane) { variable.lane[lane] = value.lane[lane]; });
    variable.known = value.lost == no_node ? variable.known | mask : variable.known & ~mask;
    if (value.lost != no_node) variable.lost = value.lost;
  }

  // ---- Values.
  /// A value that an address or a condition needs.
  Value known(NodeId id, uint64_t mask) {
    Value value = evaluate(id, mask);
    if (value.lost != no_node) explain_lost(value.lost);
    return value;
  }
  [[noreturn]] void explain_lost(NodeId id) const {
    const Node& n = node(id);
    const std::string text = text_of(id);
    if (n.kind == NodeKind::declare)
      fail(id, fmt::format("'{}' has no value when it is used",
                           program_.variables[static_cast<size_t>(n.number)].name));
    if (n.kind == NodeKind::read || n.kind == NodeKind::request || n.kind == NodeKind::elsewhere)
      fail(id, fmt::format("'{}' is in memory, and what is in memory is not known here", text));
    const bool name = n.operands.empty() && n.type->kind == Type::Kind::unknown;
    if (name) fail(id, fmt::format("'{0}' has no value: declare it, as in 'const int {0} = 32;'", text));
    fail(id, fmt::format("the value of '{}' is not known: only integers are computed", text));
  }

  Value evaluate(NodeId id, uint64_t mask) {
    count_operation(id);
    const Node& n = node(id);
    Value value;
    switch (n.kind) {
      case NodeKind::array:
      case NodeKind::subscript:
      case NodeKind::member:
      case NodeKind::target:
      case NodeKind::variable: break;  // the parser put a read or an address around each
      case NodeKind::constant: value.lane.fill(n.number); break;
      case NodeKind::builtin: builtin(static_cast<Builtin>(n.number), value); break;
      case NodeKind::read: return read(n.operands[0], id, mask);
      case NodeKind::address: return place(n.operands[0], mask);
      case NodeKind::unary:
        value = evaluate(n.operands[0], mask);
        operate(n, value, Value{}, mask, id);
        break;
      case NodeKind::binary: {
        value = evaluate(n.operands[0], mask);
        const Value right = evaluate(n.operands[1], mask);
        operate(n, value, right, mask, id);
        break;
      }
      case NodeKind::convert:
        value = evaluate(n.operands[0], mask);
        convert(*n.type, value, mask);
        break;
      case NodeKind::logical_and:
      case NodeKind::logical_or: {
        const bool is_or = n.kind == NodeKind::logical_or;
        const uint64_t left = truth(n.operands[0], mask);
        const uint64_t rest = is_or ? mask & ~left : left;
        const uint64_t right = rest != 0 ? truth(n.operands[1], rest) : 0;
        const uint64_t yes = is_or ? left | right : right;
        for_lanes(mask, [&](size_t lane) { value.lane[lane] = static_cast<int64_t>(yes >> lane & 1); });
        break;
      }
      case NodeKind::conditional: {
        const uint64_t yes = truth(n.operands[0], mask);
        if (yes != 0) value = evaluate(n.operands[1], yes);
        if (yes == mask) break;
        const Value other = evaluate(n.operands[2], mask & ~yes);
        for_lanes(mask & ~yes, [&](size_t lane) { value.lane[lane] = other.lane[lane]; });
        if (value.lost == no_node) value.lost = other.lost;
        break;
      }
      case NodeKind::comma: evaluate(n.operands[0], mask); return evaluate(n.operands[1], mask);
      case NodeKind::assign:
        value = evaluate(n.operands[1], mask);
        store(n.operands[0], value, mask);
        break;
      case NodeKind::update: return update(n, mask, id);
      case NodeKind::increment: return increment(n, mask, id);
      case NodeKind::request: {
        const Value address = known(n.operands[0], mask);
        for (size_t i = 1; i < n.operands.size(); ++i) evaluate(n.operands[i], mask);
        const bool matrix = n.access == model::Op::ldmatrix || n.access == model::Op::stmatrix;
        record(n.operands[0], n.access, {0, matrix ? 16 : static_cast<int>(n.number), ""}, mask, address,
               matrix ? static_cast<int>(n.number) : 1);
        value.lane.fill(0);
        value.lost = id;
        break;
      }
      default:  // unknown, elsewhere
        value.lane.fill(0);
        value.lost = id;
        for (const NodeId operand : n.operands) {
          const NodeId lost = evaluate(operand, mask).lost;
          if (value.lost == id && lost != no_node && n.kind != NodeKind::elsewhere) value.lost = lost;
        }
    }
    return value;
  }
  void builtin(Builtin which, Value& value) const {
    const auto lanes = static_cast<uint32_t>(launch_.warp_lanes);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const exec::Dim3 at = thread(lane);
      uint32_t result = 0;
      switch (which) {
        case Builtin::thread_x: result = at.x; break;
        case Builtin::thread_y: result = at.y; break;
        case Builtin::thread_z: result = at.z; break;
        case Builtin::thread: result = warp_ * lanes + lane; break;
        case Builtin::lane: result = lane; break;
        case Builtin::warp: result = warp_; break;
        case Builtin::warp_size: result = lanes; break;
        case Builtin::block_x: result = launch_.block_index.x; break;
        case Builtin::block_y: result = launch_.block_index.y; break;
        case Builtin::block_z: result = launch_.block_index.z; break;
        case Builtin::block_size_x: result = launch_.block.x; break;
        case Builtin::block_size_y: result = launch_.block.y; break;
        case Builtin::block_size_z: result = launch_.block.z; break;
        case Builtin::grid_x: result = launch_.grid.x; break;
        case Builtin::grid_y: result = launch_.grid.y; break;
        case Builtin::grid_z: result = launch_.grid.z; break;
      }
      value.lane[lane] = result;
    }
  }
  /// value = value op right.
  void operate(const Node& n, Value& value, const Value& right, uint64_t mask, NodeId id) const {
    if (value.lost == no_node) value.lost = right.lost;
    if (value.lost != no_node) return;
    const bool one = n.kind == NodeKind::unary;
    for_lanes(mask, [&](size_t lane) {
      std::string cause;
      value.lane[lane] = apply(n.op, *n.op_type, value.lane[lane], one ? 0 : right.lane[lane], &cause);
      if (!cause.empty()) fail(id, fmt::format("{} in '{}'", cause, text_of(id)), lane);
    });
  }
  static void convert(const Type& type, Value& value, uint64_t mask) {
    const bool is_bool = type.name == "bool";
    for_lanes(mask, [&](size_t lane) {
      int64_t& v = value.lane[lane];
      v = is_bool ? int64_t{v != 0} : fitted(type, static_cast<uint64_t>(v));
    });
  }
  Value read(NodeId from, NodeId id, uint64_t mask) {
    Value value;
    if (node(from).kind != NodeKind::variable) {
      access(from, model::Op::load, mask, place(from, mask));
      value.lane.fill(0);
      value.lost = id;
      return value;
    }
    const Variable& variable = variables_[static_cast<size_t>(node(from).number)];
    value.lane = variable.lane;
    if ((mask & ~variable.known) != 0) value.lost = variable.lost;
    return value;
  }
  void store(NodeId to, const Value& value, uint64_t mask) {
    if (node(to).kind == NodeKind::variable)
      set(static_cast<size_t>(node(to).number), value, mask);
    else
      access(to, model::Op::store, mask, place(to, mask));
  }
  /// place op= value.
  Value update(const Node& n, uint64_t mask, NodeId id) {
    const Value right = evaluate(n.operands[1], mask);
    Value value = read(n.operands[0], id, mask);
    if (n.type->kind == Type::Kind::pointer) {
      move(*n.type, value, right, n.op == Operator::subtract ? -1 : 1, mask);
    } else {
      convert(*n.op_type, value, mask);
      operate(n, value, right, mask, id);
      convert(*n.type, value, mask);
    }
    store(n.operands[0], value, mask);
    return value;
  }
  Value increment(const Node& n, uint64_t mask, NodeId id) {
    const Value old = read(n.operands[0], id, mask);
    Value value = old, by;
    by.lane.fill(1);
    const bool down = n.number < 0;
    if (n.type->kind == Type::Kind::pointer) {
      move(*n.type, value, by, down ? -1 : 1, mask);
    } else {
      for_lanes(mask, [&](size_t lane) {
        std::string never;
        value.lane[lane] =
            apply(down ? Operator::subtract : Operator::add, *n.type, value.lane[lane], 1, &never);
      });
    }
    store(n.operands[0], value, mask);
    return n.prefix ? value : old;
  }
  /// pointer += direction * distance.
  static void move(const Type& pointer, Value& value, const Value& distance, int direction, uint64_t mask) {
    if (value.lost == no_node) value.lost = distance.lost;
    const uint64_t size = pointer.element->size;
    for_lanes(mask, [&](size_t lane) {
      const uint64_t bytes = static_cast<uint64_t>(distance.lane[lane]) * size;
      const auto from = static_cast<uint64_t>(value.lane[lane]);
      value.lane[lane] = static_cast<int64_t>(direction < 0 ? from - bytes : from + bytes);
    });
  }

  // ---- Memory.
  /// The byte address of a place in shared memory, for each lane.
  Value place(NodeId id, uint64_t mask) {
    const Node& n = node(id);
    switch (n.kind) {
      case NodeKind::array: {
        Value address;
        address.lane.fill(static_cast<int64_t>(program_.arrays[static_cast<size_t>(n.number)].begin));
        return address;
      }
      case NodeKind::member: {
        Value address = place(n.operands[0], mask);
        for_lanes(mask, [&](size_t lane) { address.lane[lane] += n.number; });
        return address;
      }
      case NodeKind::target: return known(n.operands[0], mask);
      default: return subscript(n, mask);
    }
  }
  Value subscript(const Node& n, uint64_t mask) {
    const Type& base = *node(n.operands[0]).type;
    const bool array = base.kind == Type::Kind::array;
    Value address = array ? place(n.operands[0], mask) : known(n.operands[0], mask);
    const Value index = known(n.operands[1], mask);
    const bool is_signed = node(n.operands[1]).type->is_signed;
    for_lanes(mask, [&](size_t lane) {
      const int64_t i = index.lane[lane];
      const auto u = static_cast<uint64_t>(i);
      if (array && ((is_signed && i < 0) || (base.count != 0 && u >= base.count))) {
        const std::string value = is_signed ? std::to_string(i) : std::to_string(u);
        fail(n.operands[1],
             fmt::format("index {} is out of range: '{}' has {}", value, text_of(n.operands[0]),
                         base.count == 0 ? "no elements before 0" : fmt::format("{} elements", base.count)),
             lane);
      }
      address.lane[lane] =
          static_cast<int64_t>(static_cast<uint64_t>(address.lane[lane]) + u * base.element->size);
    });
    return address;
  }
  /// A load or store of a whole place.
  void access(NodeId id, model::Op op, uint64_t mask, const Value& address) {
    std::vector<Piece> pieces;
    add_pieces(*node(id).type, 0, "", pieces);
    if (pieces.size() > most_pieces)
      fail(id, fmt::format("'{}' is copied in more than {} pieces", text_of(id), most_pieces));
    for (const Piece& piece : pieces) record(id, op, piece, mask, address, 1);
  }
  void record(NodeId id, model::Op op, const Piece& piece, uint64_t mask, const Value& address,
              int matrices) {
    if (result_.requests.size() == most_requests)
      fail(id, fmt::format("the block makes more than {} requests", most_requests));
    CodeRequest made;
    made.request.op = op;
    made.request.width = piece.width;
    made.request.lanes = launch_.warp_lanes;
    made.request.matrices = matrices;
    // Of a matrix only the lanes that hold a row's address count.
    const bool matrix = op == model::Op::ldmatrix || op == model::Op::stmatrix;
    made.request.mask = matrix ? mask & ((uint64_t{1} << (8 * matrices)) - 1) : mask;
    if (made.request.mask == 0) return;
    const size_t array = array_of(id, address, made.request.mask);
    const Array& whole = program_.arrays[array];
    for_lanes(made.request.mask, [&](size_t lane) {
      const uint64_t at = static_cast<uint64_t>(address.lane[lane]) + piece.offset;
      const auto width = static_cast<uint64_t>(piece.width);
      if (at < whole.begin || at - whole.begin > whole.limit || at - whole.begin + width > whole.limit)
        fail(id,
             fmt::format("'{}{}' is outside of '{}': byte {} of {}", text_of(id), piece.suffix, whole.name,
                         static_cast<int64_t>(at - whole.begin), whole.limit),
             lane);
      if (at % width != 0)
        fail(id,
             fmt::format("'{}{}' is misaligned: {} bytes at byte {} of '{}'", text_of(id), piece.suffix,
                         width, at - whole.begin, whole.name),
             lane);
      made.request.address[static_cast<int>(lane)] = at;
      uint32_t& reached = result_.arrays[array].bytes;
      reached = std::max(reached, static_cast<uint32_t>(at - whole.begin + width));
    });
    made.access = access_index(id, op, piece, array);
    made.step = step_index(made.request.mask);
    made.warp = warp_;
    result_.requests.push_back(made);
  }
  /// The array that the first lane accesses.
  [[nodiscard]] size_t array_of(NodeId id, const Value& address, uint64_t mask) const {
    const auto lane = static_cast<size_t>(std::countr_zero(mask));
    const auto at = static_cast<uint64_t>(address.lane[lane]);
    for (size_t i = 0; i < program_.arrays.size(); ++i)
      if (at >= program_.arrays[i].begin && at - program_.arrays[i].begin < program_.arrays[i].limit)
        return i;
    fail(id, fmt::format("'{}' is outside of all arrays", text_of(id)), lane);
  }
  uint32_t access_index(NodeId id, model::Op op, const Piece& piece, size_t array) {
    const auto [it, added] =
        access_of_.try_emplace({id, op, piece.offset}, static_cast<uint32_t>(result_.accesses.size()));
    if (added)
      result_.accesses.push_back({op, piece.width, static_cast<uint32_t>(array), text_of(id) + piece.suffix,
                                  program_.place_of(node(id).begin)});
    return it->second;
  }
  uint32_t step_index(uint64_t mask) {
    std::vector<std::pair<NodeId, uint32_t>> key;
    key.reserve(loops_.size());
    for (const Loop& loop : loops_) key.emplace_back(loop.node, loop.pass);
    const auto [it, added] =
        step_of_.try_emplace(std::move(key), static_cast<uint32_t>(result_.steps.size()));
    if (added) result_.steps.emplace_back();
    CodeStep& step = result_.steps[it->second];
    for (size_t i = 0; i < loops_.size(); ++i) {
      const int64_t slot = node(loops_[i].node).number;
      const bool has_variable =
          slot >= 0 && program_.variables[static_cast<size_t>(slot)].type->kind == Type::Kind::integer;
      const std::optional<int64_t> value =
          has_variable ? same_in(variables_[static_cast<size_t>(slot)], mask) : std::nullopt;
      if (added)
        step.loops.push_back(
            {has_variable ? program_.variables[static_cast<size_t>(slot)].name : "", loops_[i].pass, value});
      else if (step.loops[i].value != value)
        step.loops[i].value.reset();
    }
    return it->second;
  }
  static std::optional<int64_t> same_in(const Variable& variable, uint64_t mask) {
    if ((mask & ~variable.known) != 0) return std::nullopt;
    const int64_t first = variable.lane[static_cast<size_t>(std::countr_zero(mask))];
    bool same = true;
    for_lanes(mask, [&](size_t lane) { same = same && variable.lane[lane] == first; });
    return same ? std::optional(first) : std::nullopt;
  }
  [[nodiscard]] static CodeArray described(const Array& array) {
    const Type* row = array.type;  // the innermost array
    while (row->element->kind == Type::Kind::array) row = row->element;
    CodeArray result;
    result.name = array.name;
    result.declaration = array.declaration;
    result.begin = static_cast<uint32_t>(array.begin);
    result.bytes = static_cast<uint32_t>(array.type->size);
    result.row_bytes = row == array.type ? 0 : static_cast<uint32_t>(row->size);
    result.element_bytes = static_cast<uint32_t>(row->element->size);
    result.struct_align = row->element->is_struct ? static_cast<uint32_t>(row->element->align) : 0;
    result.assumed = array.assumed;
    return result;
  }

  const Program& program_;
  const CodeLaunch& launch_;
  CodeRun result_;
  uint32_t warp_ = 0;
  uint64_t operations_ = 0;
  std::vector<Variable> variables_;
  std::vector<Loop> loops_;
  std::map<std::tuple<NodeId, model::Op, uint64_t>, uint32_t> access_of_;
  std::map<std::vector<std::pair<NodeId, uint32_t>>, uint32_t> step_of_;
};

}  // namespace

CodeRun run_code(const Code& code, const CodeLaunch& launch) { return Runner(*code, launch).run(); }

}  // namespace lanescope::code
