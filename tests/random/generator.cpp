// How programs are put together. A Builder makes one sequence (or one device function). Values live in pools,
// one for each register width: what a sequence has read, and what it has computed. In a sequence with control
// flow the computed values are variables, all set at its start, so that any path may read any of them.
//
// What keeps a program's result the same on every machine that follows the ISA:
//   - PTX lets a compiler fuse a mul and an add that are written without rounding (.rn): the result of such a
//     mul never reaches such an add.
//   - Warp instructions name exactly the lanes that execute them: a mask is the vote on the branch that led
//     there. A shuffle's value counts only if its source lane takes part.
//   - Shared words have one writer between two barriers, or are updated by one commutative operation.
//   - Loops count down.
//   - NaNs whose bits PTX leaves open are made the same before anything looks at them.
// And what ptxas 13.0 gets wrong, or takes the freedom to do otherwise, is left out;
// docs/hardware-comparison.md has the list.
#include "random/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lanescope::random {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::OperandPattern;
using ptx::Space;
using ptx::Type;

constexpr std::array<std::string_view, static_cast<size_t>(Class::count)> class_names{
    "integer", "logic",        "compare", "convert", "single", "doubles", "half",    "approximate",
    "video",   "scalar_video", "memory",  "atomic",  "warp",   "barrier", "control", "mixed"};

/// How often each kind of statement comes up, relative to the others.
struct Weights {
  uint32_t instruction = 0, memory = 0, atomic = 0, warp = 0, exchange = 0, vote = 0, fence = 0, branch = 0,
           loop = 0, graph = 0, table = 0, call = 0;
};

struct Recipe {
  std::vector<Group> groups;  ///< of the register instructions
  Weights weights{.instruction = 1};
  bool flow = false;
  uint32_t sequences = 16, least = 2, most = 7;  ///< sequences of a program, statements of a sequence
  uint32_t blocks = 1, threads = 64;
};

Recipe recipe_of(Class c) {
  const std::vector<Group> whole{Group::integer, Group::integer, Group::logic, Group::logic,
                                 Group::compare, Group::convert, Group::carry, Group::video};
  switch (c) {
    case Class::integer: return {.groups = {Group::integer, Group::integer, Group::carry}};
    case Class::logic: return {.groups = {Group::logic}};
    case Class::compare: return {.groups = {Group::compare}};
    case Class::convert: return {.groups = {Group::convert}};
    case Class::single: return {.groups = {Group::single}};
    case Class::doubles: return {.groups = {Group::doubles}};
    case Class::half: return {.groups = {Group::half}};
    case Class::approximate: return {.groups = {Group::approximate}};
    case Class::video: return {.groups = {Group::video}};
    case Class::scalar_video: return {.groups = {Group::scalar_video}};
    case Class::memory:
      return {.groups = whole,
              .weights = {.instruction = 25, .memory = 70, .fence = 5},
              .sequences = 8,
              .least = 4,
              .most = 8};
    case Class::atomic:
      return {.groups = whole,
              .weights = {.instruction = 25, .atomic = 70, .fence = 5},
              .sequences = 8,
              .least = 4,
              .most = 8,
              .blocks = 2};
    case Class::warp:
      return {.groups = whole,
              .weights = {.instruction = 35, .warp = 45, .branch = 12, .loop = 5, .table = 3},
              .flow = true,
              .sequences = 4,
              .least = 8,
              .most = 16};
    case Class::barrier:
      return {
          .groups = whole,
          .weights =
              {.instruction = 35, .warp = 5, .exchange = 30, .vote = 12, .fence = 4, .branch = 8, .loop = 6},
          .flow = true,
          .sequences = 4,
          .least = 8,
          .most = 16,
          .threads = 128};
    case Class::control:
      return {.groups = whole,
              .weights = {.instruction = 50, .branch = 14, .loop = 10, .graph = 10, .table = 8, .call = 8},
              .flow = true,
              .sequences = 4,
              .least = 6,
              .most = 12};
    default: {
      std::vector<Group> all = whole;
      all.insert(all.end(), {Group::single, Group::single, Group::doubles, Group::half});
      return {.groups = all,
              .weights = {.instruction = 40,
                          .memory = 8,
                          .atomic = 6,
                          .warp = 10,
                          .exchange = 6,
                          .vote = 3,
                          .fence = 1,
                          .branch = 9,
                          .loop = 7,
                          .graph = 4,
                          .table = 3,
                          .call = 3},
              .flow = true,
              .sequences = 3,
              .least = 8,
              .most = 16,
              .blocks = 2,
              .threads = 128};
    }
  }
}

/// For programs about one form.
Weights weights_for(Group group) {
  switch (group) {
    case Group::load:
    case Group::store: return {.instruction = 1, .memory = 9};
    case Group::atomic: return {.instruction = 1, .atomic = 9};
    case Group::warp: return {.instruction = 1, .warp = 7, .branch = 2};
    case Group::barrier: return {.instruction = 1, .vote = 9};
    case Group::fence: return {.instruction = 1, .exchange = 2, .fence = 7};
    default: return {.instruction = 1};
  }
}

/// Who executes a statement.
struct Place {
  std::string mask;         ///< operand that holds the lanes of the warp that are here; empty: unknown
  bool whole_warp = false;  ///< all lanes are
  bool uniform = false;     ///< all threads of the block are
  uint32_t depth = 0;
};

struct Value {
  std::string reg;
  bool fused = false;     ///< may hold what a compiler may round later (see above)
  bool truth = false;     ///< an integer result of `set`
  bool floating = false;  ///< may be the result of an instruction with a floating-point type
  bool used = false;
  Type type = Type::none;
};

bool packed(Type t) {
  return t == Type::f16x2 || t == Type::bf16x2 || t == Type::e4m3x2 || t == Type::e5m2x2;
}
Kind kind_of(Type t) {
  switch (t) {
    case Type::f32:
    case Type::tf32: return Kind::f32;
    case Type::f64: return Kind::f64;
    case Type::f16:
    case Type::f16x2: return Kind::f16;
    case Type::bf16:
    case Type::bf16x2: return Kind::bf16;
    default: return Kind::integer;
  }
}
Type doubled(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return t;
  }
}
/// A mul, add or sub that may be fused.
bool may_fuse(const Form& form) {
  const bool op = form.op() == Op::mul || form.op() == Op::add || form.op() == Op::sub;
  return op && ptx::is_float(form.type()) && !form.has(Mod::rn) && !form.has(Mod::rz) && !form.has(Mod::rm) &&
         !form.has(Mod::rp);
}

class Builder {
 public:
  Builder(const Catalog& catalog, const Recipe& recipe, Program& program, uint32_t index, uint64_t seed,
          bool store_everything)
      : catalog_(catalog),
        recipe_(recipe),
        program_(program),
        index_(index),
        random_(seed),
        flow_(recipe.flow),
        store_everything_(store_everything) {}

  Sequence sequence();
  /// A device function with these parameters and this result; straight-line.
  std::string function(const std::string& name, const std::vector<Type>& params, Type result);

 private:
  static constexpr size_t widths = 5;  ///< predicate, 16, 32, 64, 128 bits
  static size_t width_index(uint32_t bytes) {
    return bytes == 0 ? 0 : bytes <= 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
  }
  static uint32_t width_bytes(size_t index) { return index == 0 ? 0 : 1u << index; }

  const Catalog& catalog_;
  const Recipe& recipe_;
  Program& program_;
  uint32_t index_;
  Random random_;
  bool flow_;
  bool store_everything_;
  bool in_function_ = false;
  bool inputs_only_ = false;  ///< sources are inputs, never results
  Sequence out_;
  std::array<std::vector<Value>, widths> results_, inputs_;
  std::array<uint32_t, widths> registers_{};
  uint32_t masks_ = 0, labels_ = 0, functions_ = 0;
  uint32_t structures_ = 0;  ///< branches, loops, graphs, tables so far
  static constexpr uint32_t most_structures = 7;
  bool no_truths_ = false;     ///< the operand at hand is no result of `set`
  bool truth_result_ = false;  ///< the instruction at hand gives one
  bool fused_source_ = false;  ///< an operand of the instruction at hand may hold a fused value

  // ---- Registers and values.

  std::string fresh(size_t width) {
    static constexpr std::string_view names[] = {"%p", "%h", "%r", "%d", "%q"};
    return fmt::format("{}{}", names[width], registers_[width]++);
  }
  std::string fresh_mask() { return fmt::format("%m{}", masks_++); }
  std::string fresh_label() { return fmt::format("${}_{}_{}", program_.name, index_, labels_++); }

  /// Loads an input in `before` and gives its register.
  std::string new_input(size_t width, Kind kind) {
    const uint32_t offset = static_cast<uint32_t>(program_.inputs.size()) * program_.total_threads() * 8;
    program_.inputs.push_back({kind});
    const std::string reg = fresh(width == 0 ? 2 : width);
    out_.before +=
        fmt::format("ld.global.b{} {}, [%in+{}];\n", width == 0 ? 32 : 8 * width_bytes(width), reg, offset);
    if (width != 0) return reg;
    const std::string p = fresh(0);
    out_.before += fmt::format("setp.lt.s32 {}, {}, 0;\n", p, reg);
    return p;
  }
  const std::string& input(size_t width, Kind kind) {
    auto& pool = inputs_[width];
    const size_t most = width == 0 ? 2 : 4;
    if (!in_function_ && (pool.empty() || (pool.size() < most && random_.chance(50))))
      pool.push_back({new_input(width, kind)});
    else if (!pool.empty())
      std::swap(pool.back(), pool[random_.below(pool.size())]);
    return pool.back().reg;
  }
  /// A register of this width that holds a value.
  std::string read(size_t width, Kind kind) {
    auto& pool = results_[width];
    if (pool.empty() || inputs_only_ || random_.chance(35)) return input(width, kind);
    // Rather a late one: chains are what hides mistakes.
    size_t at = random_.below(pool.size());
    if (!flow_) at = std::max<size_t>(at, random_.below(pool.size()));
    if (no_truths_ && pool[at].truth) return input(width, kind);
    pool[at].used = true;
    fused_source_ |= pool[at].fused;
    return pool[at].reg;
  }
  /// A register to write a result to. In a straight line a new one, which nothing reads before `define`.
  std::string target(size_t width) {
    if (flow_) return random_.pick(results_[width]).reg;
    return fresh(width);
  }
  /// Whether results go to this register; in a flow sequence: whether it is one of its variables.
  [[nodiscard]] bool known(size_t width, const std::string& reg) const {
    const auto& pool = results_[width];
    return std::any_of(pool.begin(), pool.end(), [&](const Value& v) { return v.reg == reg; });
  }
  void define(size_t width, const std::string& reg, Type type, bool fused) {
    auto& pool = results_[width];
    for (Value& v : pool) {
      if (v.reg != reg) continue;
      v.fused |= fused;
      v.truth |= truth_result_;
      v.floating |= ptx::is_float(type);
      v.used = false;
      return;
    }
    pool.push_back({reg, fused, truth_result_, ptx::is_float(type), false, type});
  }

  /// Stores a value to a slot of its own.
  std::string store(size_t width, const std::string& reg, Type type, const std::string& instruction) {
    std::string text, value = reg;
    const uint32_t bytes = width == 0 ? 1 : width_bytes(width);
    if (width == 0) {
      value = fresh(2);
      text = fmt::format("selp.b32 {}, 1, 0, {};\n", value, reg);
    }
    const uint32_t offset = program_.output_bytes;
    program_.output_bytes += bytes * program_.total_threads();
    program_.slots.push_back({index_, offset, bytes, program_.total_threads(), type, instruction});
    return text + fmt::format("st.global.b{} [%o{}+{}], {};\n", 8 * bytes, bytes, offset, value);
  }
  /// A result is there: it may be read, and is stored where everything is.
  std::string finish(size_t width, const std::string& reg, Type type, const std::string& instruction,
                     bool fused = false) {
    define(width, reg, type, fused);
    if (in_function_ || !store_everything_) return "";
    results_[width].back().used = true;
    for (Value& v : results_[width])
      if (v.reg == reg) v.used = true;
    return store(width, reg, type, instruction);
  }

  /// ptxas 13.0 remembers that an untyped register was written as a floating-point number, and converts it
  /// where an instruction takes a part of it, or a 64-bit shift its distance: a copy that has no type.
  std::string untyped(size_t width, const std::string& reg, std::string& setup) {
    for (const Value& v : results_[width]) {
      if (v.reg != reg || !v.floating) continue;
      const std::string copy = fresh(width);
      setup += fmt::format("mov.b{} {}, {};\n", 8 * width_bytes(width), copy, reg);
      return copy;
    }
    return reg;
  }

  // ---- Operands.

  [[nodiscard]] static Type type_for(const Form& form, const OperandPattern& pattern) {
    Type type = form.type();
    if (pattern.type_from == OperandPattern::TypeFrom::second) type = form.mnemonic.types.back();
    if (pattern.type_from == OperandPattern::TypeFrom::fixed) type = pattern.type;
    return pattern.doubled && form.has(Mod::wide) ? doubled(type) : type;
  }
  /// Whether registers may be wider than what they hold: not in conversions from and to the newer formats.
  [[nodiscard]] static bool may_widen(const Form& form, const OperandPattern& pattern) {
    const bool exact = form.op() == Op::cvt &&
                       std::any_of(form.mnemonic.types.begin(), form.mnemonic.types.end(), [](Type t) {
                         return t == Type::bf16 || t == Type::tf32 || t == Type::e4m3x2 || t == Type::e5m2x2;
                       });
    return pattern.wider && !exact;
  }
  /// The register width for a value of this type; wider now and then where that is allowed.
  size_t register_width(Type type, bool wider) {
    if (type == Type::pred) return 0;
    size_t width = width_index(ptx::size_of(type));
    const bool widens = wider && !ptx::is_float(type) && type < Type::f32x2 && width < 3;
    if (widens && random_.chance(ptx::size_of(type) == 1 ? 60 : 20)) width += 1 + random_.below(3 - width);
    return width;
  }
  Kind kind_for(const Form& form, const OperandPattern& pattern, Type type) {
    const bool bits = type >= Type::b8 && type <= Type::b128;
    if (pattern.type_from == OperandPattern::TypeFrom::fixed && type == Type::u32 &&
        ptx::info(form.op()).op_class == ptx::OpClass::logic)
      return random_.chance(85) ? Kind::amount : Kind::integer;
    if ((form.op() == Op::shl || form.op() == Op::shr) && pattern.name == "b") return Kind::amount;
    if (!bits) return kind_of(type);
    static constexpr Kind of32[] = {Kind::integer, Kind::integer, Kind::integer, Kind::f32, Kind::f16};
    static constexpr Kind of64[] = {Kind::integer, Kind::integer, Kind::f64};
    return ptx::size_of(type) == 8 ? random_.pick(std::span(of64)) : random_.pick(std::span(of32));
  }
  std::string constant(Type type, Kind kind, uint64_t most = ~uint64_t{0}) {
    const uint64_t bits = value(random_, kind) & most;
    if (type == Type::f32) return fmt::format("0f{:08X}", static_cast<uint32_t>(bits));
    if (type == Type::f64) return fmt::format("0d{:016X}", bits);
    const uint32_t width = ptx::size_of(type) * 8;
    const uint64_t cut = width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
    if (ptx::is_signed(type) && width <= 32) {
      const int64_t sign = int64_t{1} << (width - 1);
      return fmt::format("{}", (static_cast<int64_t>(cut) ^ sign) - sign);
    }
    return fmt::format("0x{:x}", cut);
  }
  static bool takes_constant(Type type) {
    const bool whole =
        type >= Type::b16 && type <= Type::s64 && type != Type::b128 && type != Type::u8 && type != Type::s8;
    return whole || type == Type::f32 || type == Type::f64;
  }
  std::string predicate(bool negatable) {
    const std::string p = read(0, Kind::integer);
    return negatable && random_.chance(30) ? "!" + p : p;
  }
  /// `setup`: what must run before the instruction.
  std::string source(const Form& form, const OperandPattern& pattern, bool& constant_allowed,
                     std::string& setup) {
    const Type type = type_for(form, pattern);
    if (type == Type::pred) return predicate(pattern.negatable);
    const Kind kind = kind_for(form, pattern, type);
    if (pattern.constant_only) return fmt::format("{}", random_.below(256));
    if (form.op() == Op::fns && pattern.name == "b") {  // a bit's number; else undefined
      const std::string reg = fresh(2), from = read(2, Kind::integer);
      setup += fmt::format("and.b32 {}, {}, 31;\n", reg, from);
      return reg;
    }
    if (form.op() == Op::fns && pattern.name == "c") {  // -2^31 has no distance
      const std::string reg = fresh(2), from = read(2, Kind::amount);
      setup += fmt::format("shr.s32 {}, {}, 1;\n", reg, from);
      return reg;
    }
    // ptxas loses 16-bit shift amounts that it knows to be small, and cuts constant ones to 16 bits.
    const bool short_shift = (form.op() == Op::shl || form.op() == Op::shr) &&
                             ptx::size_of(form.type()) == 2 && pattern.name == "b";
    if (short_shift)
      return constant_allowed && random_.chance(20) ? constant(type, kind, 0xffff) : input(2, kind);
    // It compares results of `set` as the truths that they stand for, not as numbers.
    no_truths_ = ptx::info(form.op()).op_class == ptx::OpClass::compare;
    const std::string text = plain_source(form, pattern, type, kind, constant_allowed, setup);
    no_truths_ = false;
    return text;
  }
  std::string plain_source(const Form& form, const OperandPattern& pattern, Type type, Kind kind,
                           bool& constant_allowed, std::string& setup) {
    if (constant_allowed && takes_constant(type) && random_.chance(10)) {
      constant_allowed = false;
      // Constant positions and lengths of a field go to 255.
      const bool field = form.op() == Op::bfe || form.op() == Op::bfi;
      return constant(type, kind,
                      field && pattern.type_from == OperandPattern::TypeFrom::fixed ? 255 : ~uint64_t{0});
    }
    const bool whole = std::none_of(form.mnemonic.types.begin(), form.mnemonic.types.end(), ptx::is_float);
    if (pattern.special && type == Type::u32 && whole && random_.chance(10)) return "%laneid";
    const size_t width = register_width(type, may_widen(form, pattern));
    const std::string reg = read(width, kind);
    const bool distance = (form.op() == Op::shl || form.op() == Op::shr) && pattern.name == "b";
    return distance || width_bytes(width) > ptx::size_of(type) ? untyped(width, reg, setup) : reg;
  }

  /// A value of another width made of this one, without a conversion.
  std::string resized(size_t from_width, const std::string& from, size_t to_width, const std::string& to) {
    const bool wider = to_width > from_width;
    const size_t parts = size_t{1} << (wider ? to_width - from_width : from_width - to_width);
    std::string list = wider ? from : to;
    for (size_t i = 1; i < parts; ++i) list += ", " + (wider ? from : fresh(to_width));
    const size_t whole = std::max(from_width, to_width);
    const std::string vector = "{" + list + "}";
    return fmt::format("mov.b{} {}, {};\n", 8 * width_bytes(whole), wider ? to : vector,
                       wider ? vector : from);
  }

  // ---- Register instructions.

  /// A form of one of the groups, each opcode as likely as any other.
  const Form* pick_form(const std::vector<Group>& groups) {
    std::vector<Group> there;
    for (const Group g : groups)
      if (!catalog_.group(g).empty()) there.push_back(g);
    if (there.empty()) return nullptr;
    for (int tries = 0; tries < 100; ++tries) {
      const Form* form = random_.pick(random_.pick(catalog_.group(random_.pick(there))));
      if (!(flow_ && may_fuse(*form))) return form;
    }
    return nullptr;
  }
  template <class Predicate>
  const Form* pick_form(Group group, Predicate&& fits) {
    for (int tries = 0; tries < 400 && !catalog_.group(group).empty(); ++tries) {
      const Form* form = random_.pick(random_.pick(catalog_.group(group)));
      if (fits(*form)) return form;
    }
    return nullptr;
  }

  /// Operands by the row's pattern. `mask`: stands for an operand named m.
  struct Written {
    std::string setup, text;
    struct Result {
      size_t width;
      std::string reg;
      Type type;
    };
    std::vector<Result> results{};
  };
  /// Which bytes or halves a video instruction takes of its operands, and whether it merges its result into a
  /// third one: then, and where there is a second operation, that one is written.
  std::array<std::string, 8> selectors_for(const Form& form, std::array<bool, 8>& present) {
    const ptx::OperandForm& row = *form.mnemonic.form;
    const char last = ptx::info(form.op()).name.back();
    const uint32_t parts = last == '2' ? 2 : last == '4' ? 4 : 1;
    std::array<std::string, 8> selectors;
    bool merges = false;
    for (size_t i = 0; i < row.operand_count; ++i) {
      const OperandPattern& pattern = row.operands[i];
      if (pattern.optional)
        present[i] = merges || form.has(Mod::add) || form.has(Mod::min) || form.has(Mod::max);
      if (!pattern.selector) continue;
      const bool second = form.has(Mod::add) || form.has(Mod::min) || form.has(Mod::max);
      const bool merging = pattern.destination && parts == 1;
      if (merging && (second || row.operands[row.operand_count - 1].selector)) continue;
      if (!random_.chance(merging ? 40 : 60)) continue;
      merges |= merging;
      if (parts == 1) {
        const bool half = random_.chance(40);
        selectors[i] = fmt::format(".{}{}", half ? 'h' : 'b', random_.below(half ? 2 : 4));
      } else if (pattern.destination) {
        const uint32_t which = random_.between(1, (1u << parts) - 1);
        selectors[i] = parts == 2 ? ".h" : ".b";
        for (uint32_t p = parts; p-- > 0;)
          if ((which >> p & 1) != 0) selectors[i] += static_cast<char>('0' + p);
      } else {
        selectors[i] = parts == 2 ? ".h" : ".b";
        for (uint32_t p = 0; p < parts; ++p)
          selectors[i] += static_cast<char>('0' + random_.below(2 * parts));
        if (selectors[i] == ".b1024") selectors[i] = ".b1042";  // ptxas takes it for a type
      }
    }
    return selectors;
  }
  Written operands(const Form& form, const std::string& mask = "") {
    const ptx::OperandForm& row = *form.mnemonic.form;
    Written written;
    std::array<bool, 8> present{};
    int sources = 0;
    for (size_t i = 0; i < row.operand_count; ++i) {
      const OperandPattern& pattern = row.operands[i];
      present[i] = true;
      if (pattern.only_with_count != 0) {
        present[i] = false;
        for (size_t k = 0; k < pattern.only_with_count; ++k) present[i] |= form.has(pattern.only_with[k]);
      } else if (form.op() == Op::cvt && pattern.optional) {
        present[i] = packed(form.type()) && !packed(form.mnemonic.types.back());
      } else if (form.op() == Op::setp && pattern.piped &&
                 (form.type() == Type::f16 || form.type() == Type::bf16)) {
        present[i] = false;
      } else if (form.op() == Op::setp && pattern.piped && packed(form.type())) {
        present[i] = true;
      } else if (form.op() == Op::min || form.op() == Op::max) {
        // Of three values, from sm_100 on, where there is no other form.
        present[i] = !pattern.optional || (form.has(Mod::abs) && !form.has(Mod::xorsign));
      } else if (pattern.optional) {
        present[i] = random_.chance(50) && !(form.op() == Op::match && form.has(Mod::any));
      }
      if (present[i] && !pattern.destination && !pattern.constant_only) ++sources;
    }
    const bool video = ptx::info(form.op()).op_class == ptx::OpClass::video;
    const std::array<std::string, 8> selectors =
        video ? selectors_for(form, present) : std::array<std::string, 8>{};
    const uint32_t minus = video && form.op() == Op::vmad && !form.has(Mod::po) ? random_.below(6) : 0;
    // Sources first: a destination must not be read before it has a value.
    std::array<std::string, 8> texts;
    bool constant_allowed = sources > 1 && !video;
    for (size_t i = 0; i < row.operand_count; ++i) {
      const OperandPattern& pattern = row.operands[i];
      if (!present[i] || pattern.destination) continue;
      texts[i] = pattern.name == "m" && !mask.empty()
                     ? mask
                     : source(form, pattern, constant_allowed, written.setup);
      texts[i] += selectors[i];
      if (pattern.minus && minus == i) texts[i] = "-" + texts[i];
    }
    for (size_t i = 0; i < row.operand_count; ++i) {
      const OperandPattern& pattern = row.operands[i];
      if (!present[i]) continue;
      if (pattern.destination) {
        const bool joined =
            pattern.piped || (i + 1 < row.operand_count && present[i + 1] && row.operands[i + 1].piped);
        const bool other = !written.results.empty() || (i + 1 < row.operand_count && present[i + 1]);
        // ptxas 13.0 ends with a segmentation fault at a guarded `setp _|p`.
        const bool sinkable = pattern.sink && !(flow_ && form.op() == Op::setp);
        if (sinkable && joined && other && random_.chance(8) && !(pattern.piped && written.results.empty())) {
          texts[i] = "_";
        } else {
          const Type type = type_for(form, pattern);
          const size_t width = register_width(type, may_widen(form, pattern));
          std::string reg = is_hidden(form) ? fresh(width) : target(width);
          // Two results in one register have no order.
          for (int tries = 0; tries < 20 && !written.results.empty() && written.results.front().reg == reg;
               ++tries)
            reg = target(width);
          if (!written.results.empty() && written.results.front().reg == reg) reg = fresh(width);
          texts[i] = reg + selectors[i];
          written.results.push_back({width, reg, type});
        }
      }
      if (!written.text.empty()) written.text += pattern.piped ? "|" : ", ";
      written.text += texts[i];
    }
    return written;
  }

  // What ptxas 13.0 makes of a chain is not always what its instructions do one by one. Such chains are cut:
  // docs/hardware-comparison.md has an example of each.

  /// Instructions that it joins wrongly with those before them.
  [[nodiscard]] bool reads_inputs_alone(const Form& form) const {
    if (form.op() == Op::cvt) return true;
    if (form.has(Mod::sat) && !ptx::is_float(form.type()) && form.op() != Op::mad) return true;
    // In a loop, a later `set` may reach an earlier comparison.
    return flow_ && ptx::info(form.op()).op_class == ptx::OpClass::compare;
  }
  /// Instructions that it joins wrongly with those after them: their results are stored and not read again.
  static bool is_hidden(const Form& form) {
    if (form.op() == Op::lop3) return form.has(Mod::or_) || form.has(Mod::and_);
    return (form.op() == Op::abs || form.op() == Op::neg) && !ptx::is_float(form.type());
  }
  /// Instructions that it executes although their guard is false.
  static bool ignores_guard(const Form& form) { return form.op() == Op::testp || form.op() == Op::set; }
  /// Whether PTX leaves open which NaN comes out.
  static bool open_nan(const Form& form) {
    // A conversion of a type to itself is a copy when optimised, and makes the usual NaN when not.
    if (form.op() == Op::cvt) return ptx::is_float(form.type()) && form.type() == form.mnemonic.types.back();
    const ptx::OpClass op_class = ptx::info(form.op()).op_class;
    if (op_class != ptx::OpClass::arithmetic) return false;
    return form.type() == Type::f64 || form.op() == Op::abs || form.op() == Op::neg || form.op() == Op::min ||
           form.op() == Op::max;
  }
  /// Makes every NaN in this register the same one.
  std::string one_nan(Type type, const std::string& reg) {
    const std::string p = fresh(0);
    if (type == Type::f32)
      return fmt::format("testp.notanumber.f32 {0}, {1};\nselp.b32 {1}, 0x7fffffff, {1}, {0};\n", p, reg);
    if (type == Type::f64)
      return fmt::format("testp.notanumber.f64 {0}, {1};\nselp.b64 {1}, 0x7fffffffffffffff, {1}, {0};\n", p,
                         reg);
    if (type == Type::f16 || type == Type::bf16) {
      const std::string t = fresh(1);
      return fmt::format(
          "and.b16 {2}, {1}, 0x7fff;\nsetp.gt.u16 {0}, {2}, {3};\nselp.b16 {1}, 0x7fff, {1}, {0};\n", p, reg,
          t, type == Type::f16 ? "0x7c00" : "0x7f80");
    }
    if (type == Type::f16x2 || type == Type::bf16x2) {
      const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
      const std::string low = fresh(1), high = fresh(1);
      return fmt::format("mov.b32 {{{0}, {1}}}, {2};\n", low, high, reg) + one_nan(half, low) +
             one_nan(half, high) + fmt::format("mov.b32 {2}, {{{0}, {1}}};\n", low, high, reg);
    }
    return "";
  }

  /// One instruction and what follows it (stores of its results).
  std::string emit(const Form& form, const std::string& mask = "", bool guardable = true) {
    const bool fuses = may_fuse(form);
    truth_result_ = form.op() == Op::set && !ptx::is_float(form.type());
    inputs_only_ |= reads_inputs_alone(form);
    Written written;
    for (int tries = 0;; ++tries) {
      fused_source_ = false;
      written = operands(form, mask);
      if (!(fuses && form.op() != Op::mul && fused_source_) || tries == 20) break;
      if (tries == 19) inputs_only_ = true;
    }
    inputs_only_ = false;
    const bool fused = (fuses && form.op() == Op::mul) || fused_source_;
    std::string instruction = form.text + " " + written.text + ";";
    if (flow_ && guardable && !ignores_guard(form) && random_.chance(12)) {
      const std::string guard = predicate(true);
      // A hidden result has no value from before.
      if (!is_hidden(form)) instruction = "@" + guard + " " + instruction;
    }
    std::string text = written.setup + instruction + "\n";
    ++program_.instructions;
    for (const auto& [width, reg, type] : written.results) {
      if (open_nan(form)) text += one_nan(type, reg);
      const bool variable = known(width, reg);
      if (is_hidden(form))
        text += in_function_ ? "" : store(width, reg, type, instruction);
      else if (!flow_ || variable)
        text += finish(width, reg, type, instruction, fused);
    }
    truth_result_ = false;
    return text;
  }

  /// A chain through the carry flag: one that writes it, then ones that read it.
  Node carry_chain() {
    const auto differences = [](const Form& f) { return f.op() == Op::sub || f.op() == Op::subc; };
    const auto reads = [](const Form& f) {
      return f.op() == Op::addc || f.op() == Op::subc || f.op() == Op::madc;
    };
    const Form* first = pick_form(Group::carry, [&](const Form& f) { return !reads(f); });
    if (first == nullptr) return {{""}};
    std::string text = emit(*first, "", false);
    const uint32_t more = random_.between(1, 3);
    for (uint32_t i = 0; i < more; ++i) {
      const Form* next = pick_form(Group::carry, [&](const Form& f) {
        return reads(f) && differences(f) == differences(*first) && (i + 1 == more || f.has(Mod::cc));
      });
      if (next == nullptr) continue;
      text += emit(*next, "", false);
    }
    return {{text}};
  }

  /// mov: copies, special registers, packing and unpacking.
  Node move() {
    static constexpr Type types[] = {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                     Type::s16, Type::s32, Type::s64, Type::f32, Type::f64, Type::pred};
    static constexpr std::string_view specials[] = {
        "%tid.x",       "%tid.y",       "%ntid.x",      "%ntid.z",      "%ctaid.x",
        "%nctaid.x",    "%laneid",      "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
        "%lanemask_ge", "%lanemask_gt", "%nctaid.y",    "%ctaid.z"};
    ++program_.instructions;
    fused_source_ = false;
    switch (random_.below(4)) {
      case 0: {
        const Type type = random_.pick(std::span(types));
        const size_t width = register_width(type, false);
        std::string from = read(width, kind_of(type));
        if (type != Type::pred && random_.chance(30)) from = constant(type, kind_of(type));
        const std::string to = target(width);
        const std::string text = fmt::format("mov.{} {}, {};", name_of(type), to, from);
        return {{text + "\n" + finish(width, to, type, text, fused_source_)}};
      }
      case 1: {
        const std::string_view special = random_.pick(std::span(specials));
        const std::string to = target(2);
        const std::string text = fmt::format("mov.u32 {}, {};", to, special);
        return {{text + "\n" + finish(2, to, Type::u32, text)}};
      }
      default: {  // {a, b} <-> c
        const size_t whole = random_.between(2, 3);
        const size_t parts = whole == 3 && random_.chance(30) ? 4 : 2;
        const size_t part = whole == 3 && parts == 2 ? 2 : 1;
        const std::string mnemonic = fmt::format("mov.b{} ", 8 * width_bytes(whole));
        std::string list;
        if (random_.chance(50)) {
          for (size_t i = 0; i < parts; ++i) {
            const std::string from = read(part, Kind::integer);
            list += (i == 0 ? "" : ", ") + from;
          }
          const std::string to = target(whole);
          const std::string text = fmt::format("{}{}, {{{}}};", mnemonic, to, list);
          return {{text + "\n" + finish(whole, to, Type::none, text, fused_source_)}};
        }
        const std::string from = read(whole, Kind::integer);
        std::vector<std::string> to;
        for (size_t i = 0; i < parts; ++i) {
          std::string reg = target(part);
          if (std::find(to.begin(), to.end(), reg) != to.end()) reg = fresh(part);
          list += (i == 0 ? "" : ", ") + reg;
          to.push_back(reg);
        }
        const std::string text = fmt::format("{}{{{}}}, {};", mnemonic, list, from);
        std::string all = text + "\n";
        for (const std::string& reg : to) {
          const bool variable = known(part, reg);
          if (!flow_ || variable) all += finish(part, reg, Type::none, text, fused_source_);
        }
        return {{all}};
      }
    }
  }

  Node instruction() {
    if (random_.chance(4) && !inputs_only_) return move();
    const Form* form = pick_form(recipe_.groups);
    if (form == nullptr) return move();
    if (group_of(*form) == Group::carry) return carry_chain();
    if (group_of(*form) == Group::approximate) inputs_only_ = true;
    return {{emit(*form)}};
  }

  // ---- Memory that a thread has alone.

  /// A register and an offset for [ … ], and what must run before.
  struct Address {
    std::string setup, base;
  };
  /// This thread's own bytes in a state space; generic: in one of them.
  Address own_memory(Space space, bool with_local) {
    switch (space) {
      case Space::shared:
      case Space::shared_cta: return {"", "%shp"};
      case Space::local: return {"", "%loc"};
      case Space::global: return {"", "%scr"};
      default: break;
    }
    const std::string reg = fresh(3);
    switch (random_.below(with_local ? 3 : 2)) {
      case 0: return {fmt::format("cvta.global.u64 {}, %scr;\n", reg), reg};
      case 1: return {fmt::format("cvt.u64.u32 {0}, %shp;\ncvta.shared.u64 {0}, {0};\n", reg), reg};
      default: return {fmt::format("cvta.local.u64 {}, %loc;\n", reg), reg};
    }
  }
  static std::string spelled(Space space) {
    return space == Space::generic ? "" : "." + std::string(name_of(space));
  }

  /// Sources of a store or atomic: one value or a vector, of b128 packed first (in `setup`).
  std::string data_sources(const Form& form, const OperandPattern& pattern, std::string& setup) {
    const Type type = type_for(form, pattern);
    // ptxas 13.0 overwrites wider registers whose low parts it stores as a vector.
    const size_t width = register_width(type, pattern.wider && form.mnemonic.vector == 1);
    const auto one = [&]() -> std::string {
      if (type == Type::b128) {
        const std::string q = fresh(4), low = read(3, Kind::integer), high = read(3, Kind::integer);
        setup += fmt::format("mov.b128 {}, {{{}, {}}};\n", q, low, high);
        return q;
      }
      if (takes_constant(type) && random_.chance(8)) return constant(type, kind_of(type));
      const std::string reg = read(width, kind_of(type));
      return width_bytes(width) > ptx::size_of(type) ? untyped(width, reg, setup) : reg;
    };
    const uint32_t vector = pattern.vector ? form.mnemonic.vector : 1;
    if (vector == 1) return one();
    std::string list = "{";
    for (uint32_t i = 0; i < vector; ++i) list += (i == 0 ? "" : ", ") + one();
    return list + "}";
  }
  /// Destinations of a load or atomic, and the text that stores them in slots (in `after`).
  std::string data_targets(const Form& form, const OperandPattern& pattern,
                           std::vector<Written::Result>& results, std::string& after) {
    const Type type = type_for(form, pattern);
    const size_t width = register_width(type, pattern.wider && form.mnemonic.vector == 1);
    const uint32_t vector = pattern.vector ? form.mnemonic.vector : 1;
    const auto one = [&]() -> std::string {
      if (type == Type::b128) {
        const std::string q = fresh(4), low = fresh(3), high = fresh(3);
        after += fmt::format("mov.b128 {{{}, {}}}, {};\n", low, high, q);
        results.push_back({3, low, Type::none});
        results.push_back({3, high, Type::none});
        return q;
      }
      // Not all of them, or nothing would say how wide they are.
      if (vector > 1 && !results.empty() && random_.chance(6)) return "_";
      std::string reg = target(width);
      for (const auto& r : results)
        if (r.reg == reg) reg = fresh(width);
      results.push_back({width, reg, type});
      return reg;
    };
    if (vector == 1) return one();
    std::string list = "{";
    for (uint32_t i = 0; i < vector; ++i) list += (i == 0 ? "" : ", ") + one();
    return list + "}";
  }
  /// Registers of `results` that are no variables of a flow sequence are stored at once, or nobody sees them.
  std::string keep(const std::vector<Written::Result>& results, const std::string& instruction) {
    std::string text;
    for (const auto& [width, reg, type] : results) {
      const bool variable = known(width, reg);
      text +=
          !flow_ || variable ? finish(width, reg, type, instruction) : store(width, reg, type, instruction);
    }
    return text;
  }

  /// [base+offset] aligned to `bytes`, inside `size` bytes; the offset may depend on the thread.
  std::string place_in(const Address& memory, uint32_t size, uint32_t bytes, std::string& setup) {
    if (random_.chance(40)) {
      const std::string offset = fresh(2), from = read(2, Kind::integer);
      setup += fmt::format("and.b32 {}, {}, {};\n", offset, from, (size - 1) & ~(bytes - 1));
      if (memory.base == "%shp") {
        setup += fmt::format("add.u32 {0}, {0}, %shp;\n", offset);
        return "[" + offset + "]";
      }
      const std::string wide = fresh(3);
      setup += fmt::format("cvt.u64.u32 {0}, {1};\nadd.u64 {0}, {0}, {2};\n", wide, offset, memory.base);
      return "[" + wide + "]";
    }
    const uint32_t offset = random_.below(size / bytes) * bytes;
    return offset == 0 ? "[" + memory.base + "]" : fmt::format("[{}+{}]", memory.base, offset);
  }

  static uint32_t access_bytes(const Form& form) { return ptx::size_of(form.type()) * form.mnemonic.vector; }
  std::string load(const Form& form, const std::string& address) {
    const OperandPattern& pattern = form.mnemonic.form->operands[0];
    std::vector<Written::Result> results;
    std::string after;
    const std::string to = data_targets(form, pattern, results, after);
    const std::string instruction = fmt::format("{} {}, {};", form.text, to, address);
    ++program_.instructions;
    return instruction + "\n" + after + keep(results, instruction);
  }

  Node memory() {
    const bool constant = random_.below(6) == 0;
    Node node = constant ? read_only() : own_words();
    if (node.lines[0].empty()) node = constant ? own_words() : read_only();
    return node;
  }
  /// Inputs, constants and parameters, which nobody writes.
  Node read_only() {
    std::string setup;
    const Form* form = pick_form(Group::load, [](const Form& f) {
      const Space s = f.mnemonic.space;
      return s == Space::constant || s == Space::param || s == Space::param_entry || s == Space::generic ||
             s == Space::global;
    });
    if (form == nullptr) return {{""}};
    const uint32_t bytes = access_bytes(*form);
    switch (form->mnemonic.space) {
      case Space::constant: {
        program_.constants = true;
        const std::string base = fresh(3);
        setup = fmt::format("mov.u64 {}, {}_table;\n", base, program_.name);
        const std::string address = place_in({"", base}, constant_bytes, bytes, setup);
        return {{setup + load(*form, address)}};
      }
      case Space::param:
      case Space::param_entry: {
        const std::string address =
            fmt::format("[{}_data+{}]", program_.name, random_.below(data_bytes / bytes) * bytes);
        return {{load(*form, address)}};
      }
      default: {
        if (bytes > 16) return {{""}};
        const uint32_t slot = static_cast<uint32_t>(program_.inputs.size()) * program_.total_threads() * 8;
        program_.inputs.push_back({kind_of(form->type())});
        std::string base = "%in";
        if (form->mnemonic.space == Space::generic) {
          base = fresh(3);
          setup = fmt::format("cvta.global.u64 {}, %in;\n", base);
        }
        uint32_t offset = slot;
        if (bytes == 16) {  // of two threads
          const std::string pair = fresh(3);
          setup += fmt::format("and.b64 {}, {}, -16;\n", pair, base);
          base = pair;
        } else {
          offset += random_.below(8 / bytes) * bytes;
        }
        return {{setup + load(*form, fmt::format("[{}+{}]", base, offset))}};
      }
    }
  }
  /// Writes 32 bytes of its own, then parts of them, and reads parts back.
  Node own_words() {
    constexpr uint32_t size = 32;
    const auto possible = [&](const Form& f) {
      const Space s = f.mnemonic.space;
      return (s == Space::shared || s == Space::shared_cta || s == Space::local || s == Space::global ||
              s == Space::generic) &&
             !f.has(Mod::nc) && f.op() != Op::ldu;
    };
    const bool storing = random_.chance(50);
    const Form* lead = pick_form(storing ? Group::store : Group::load, possible);
    if (lead == nullptr) lead = pick_form(storing ? Group::load : Group::store, possible);
    if (lead == nullptr) return {{""}};
    const Space space = lead->mnemonic.space;
    const Address memory = own_memory(space, true);
    Node node{{memory.setup}};
    std::string& text = node.lines[0];
    for (uint32_t at = 0; at < size; at += 8) {
      const std::string from = read(3, Kind::integer);
      text += fmt::format("st{}.b64 [{}+{}], {};\n", spelled(space), memory.base, at, from);
    }
    const uint32_t accesses = random_.between(2, 5), place_of_lead = random_.below(accesses);
    for (uint32_t i = 0; i < accesses; ++i) {
      const Form* form = lead;
      if (i != place_of_lead) {
        const Group group = i + 1 < accesses && random_.chance(50) ? Group::store : Group::load;
        form = pick_form(group, [&](const Form& f) { return possible(f) && f.mnemonic.space == space; });
      }
      if (form == nullptr) continue;
      std::string setup;
      const std::string address = place_in(memory, size, access_bytes(*form), setup);
      if (form->op() == Op::st) {
        const std::string from = data_sources(*form, form->mnemonic.form->operands[1], setup);
        text += setup + fmt::format("{} {}, {};\n", form->text, address, from);
        ++program_.instructions;
      } else {
        text += setup + load(*form, address);
      }
    }
    // Words that the last stores wrote and nothing has read yet.
    for (uint32_t at = 0; at < size; at += 8) {
      const std::string back = flow_ ? random_.pick(results_[3]).reg : fresh(3);
      text += fmt::format("ld{}.b64 {}, [{}+{}];\n", spelled(space), back, memory.base, at);
      text += finish(3, back, Type::none, fmt::format("stores to {} memory", name_of(space)));
    }
    return node;
  }

  // ---- Atomics.

  Node atomic(const Place& place) {
    Node node{{""}};
    if (place.uniform && random_.chance(30))
      node = contended_shared();
    else if (random_.chance(25))
      node = contended_global();
    return node.lines[0].empty() ? own_atomic() : node;
  }
  /// Operands b, c of an atomic, after the address; `same` for operations that commute only with one operand.
  std::string atomic_sources(const Form& form, std::string& setup, bool same) {
    std::string text;
    const ptx::OperandForm& row = *form.mnemonic.form;
    for (size_t i = 0; i < row.operand_count; ++i) {
      const OperandPattern& pattern = row.operands[i];
      if (pattern.destination || pattern.kind != OperandPattern::Kind::value || pattern.name == "p") continue;
      if (pattern.only_with_count != 0 && !form.has(pattern.only_with[0])) continue;
      text += ", " + (same ? fmt::format("{}", random_.below(40)) : data_sources(form, pattern, setup));
    }
    return text;
  }
  /// One on a word of its own: every operation, and its old and new value.
  Node own_atomic() {
    const Form* form = pick_form(Group::atomic, [](const Form&) { return true; });
    if (form == nullptr) return {{""}};
    const Space space = form->mnemonic.space;
    // Vectors are for global memory.
    const bool vector = form->mnemonic.vector > 1;
    const Address memory = vector ? Address{"", "%scr"} : own_memory(space, false);
    std::string text = memory.setup;
    const Kind kind = kind_of(form->type());
    // ptxas 13.0 mistakes the halves of what was unpacked before.
    inputs_only_ = kind == Kind::f16 || kind == Kind::bf16;
    const uint32_t bytes = std::max(access_bytes(*form), 8u);
    for (uint32_t at = 0; at < bytes; at += 8) {
      const std::string from = read(3, kind);
      text += fmt::format("st{}.b64 [{}+{}], {};\n", spelled(space), memory.base, at, from);
    }
    std::string setup, after, target_text;
    const std::string sources = atomic_sources(*form, setup, false);
    inputs_only_ = false;
    std::vector<Written::Result> results;
    if (form->op() == Op::atom)
      target_text = data_targets(*form, form->mnemonic.form->operands[0], results, after) + ", ";
    const std::string instruction =
        fmt::format("{} {}[{}]{};", form->text, target_text, memory.base, sources);
    ++program_.instructions;
    text += setup + instruction + "\n" + after + keep(results, instruction);
    for (uint32_t at = 0; at < bytes; at += 8) {
      const std::string back = flow_ ? random_.pick(results_[3]).reg : fresh(3);
      text += fmt::format("ld{}.b64 {}, [{}+{}];\n", spelled(space), back, memory.base, at);
      if (form->type() == Type::f64) text += one_nan(Type::f64, back);
      text += finish(3, back, Type::none, instruction);
    }
    return {{text}};
  }
  /// Whether any order of updates gives the same word; with one operand for all also inc and dec.
  static bool commutes(const Form& form) {
    const Type t = form.type();
    const bool whole = t == Type::b32 || t == Type::b64 || t == Type::u32 || t == Type::s32 ||
                       t == Type::u64 || t == Type::s64;
    return whole && !form.has(Mod::cas) && !form.has(Mod::exch);
  }
  static bool needs_one_operand(const Form& form) { return form.has(Mod::inc) || form.has(Mod::dec); }
  std::string update(const Form& form, const std::string& address) {
    std::string setup;
    const std::string sources = atomic_sources(form, setup, needs_one_operand(form));
    std::string to;
    if (form.op() == Op::atom) to = fresh(width_index(ptx::size_of(form.type()))) + ", ";
    ++program_.instructions;
    return setup + fmt::format("{} {}{}{};\n", form.text, to, address, sources);
  }
  Node contended_shared() {
    const Form* form = pick_form(Group::atomic, [](const Form& f) {
      return commutes(f) && (f.mnemonic.space == Space::shared || f.mnemonic.space == Space::shared_cta);
    });
    if (form == nullptr) return {{""}};
    const uint32_t base = program_.threads * (private_bytes + exchange_bytes + warp_bytes);
    const std::string own = fresh(2), few = fresh(0), index = fresh(2), initial = read(3, Kind::integer);
    std::string text = fmt::format(
        "and.b32 {0}, %t, {1};\nmad.lo.u32 {0}, {0}, 8, %shb;\nsetp.lt.u32 {2}, %t, {3};\n"
        "@{2} st.shared.b64 [{0}+{4}], {5};\n",
        own, contended_words - 1, few, contended_words, base, initial);
    text += barrier();
    const std::string which = read(2, Kind::integer);
    text += fmt::format("and.b32 {0}, {1}, {2};\nmad.lo.u32 {0}, {0}, 8, %shb;\n", index, which,
                        contended_words - 1);
    text += update(*form, fmt::format("[{}+{}]", index, base));
    text += barrier();
    const std::string back = flow_ ? random_.pick(results_[3]).reg : fresh(3);
    text += fmt::format("ld.shared.b64 {}, [{}+{}];\n", back, own, base);
    text += barrier();
    text += finish(3, back, Type::none, form->text + " by all threads");
    return {{text}};
  }
  /// On words of the output that start as zero; the launch's end shows what became of them.
  Node contended_global() {
    const Form* form = pick_form(Group::atomic, [](const Form& f) {
      return commutes(f) && (f.mnemonic.space == Space::global || f.mnemonic.space == Space::generic);
    });
    if (form == nullptr) return {{""}};
    const uint32_t offset = program_.output_bytes;
    program_.output_bytes += 8 * contended_words;
    program_.slots.push_back(
        {index_, offset, 8, contended_words, Type::none, form->text + " by all threads"});
    const std::string address = fresh(3), index = fresh(2), which = read(2, Kind::integer);
    std::string text = fmt::format("and.b32 {0}, {1}, {2};\nmad.wide.u32 {3}, {0}, 8, %out;\n", index, which,
                                   contended_words - 1, address);
    if (form->mnemonic.space == Space::generic) text += fmt::format("cvta.global.u64 {0}, {0};\n", address);
    return {{text + update(*form, fmt::format("[{}+{}]", address, offset))}};
  }

  // ---- Warps.

  /// Lanes outside the mask have undefined values for a shuffle: the value counts only where the source lane
  /// is inside, or the lane reads itself.
  std::string shuffle(const Form& form, const Place& place) {
    const bool up = form.has(Mod::up), down = form.has(Mod::down), xored = form.has(Mod::bfly);
    const std::string from = read(2, Kind::integer), distance = fresh(2), lane = fresh(2);
    const std::string inside = fresh(0), to = target(2);
    std::string text =
        fmt::format("and.b32 {}, {}, 31;\nmov.u32 {}, %laneid;\n", distance, read(2, Kind::amount), lane);
    const std::string instruction = fmt::format("{} {}|{}, {}, {}, {}, {};", form.text, to, inside, from,
                                                distance, up ? 0 : 31, place.mask);
    text += instruction + "\n";
    ++program_.instructions;
    if (up) text += fmt::format("sub.u32 {0}, {0}, {1};\n", lane, distance);
    if (down) text += fmt::format("add.u32 {0}, {0}, {1};\n", lane, distance);
    if (xored) text += fmt::format("xor.b32 {0}, {0}, {1};\n", lane, distance);
    if (!up && !down && !xored) text += fmt::format("mov.u32 {}, {};\n", lane, distance);
    const std::string takes_part = fresh(0);
    text += fmt::format(
        "and.b32 {0}, {0}, 31;\nshr.u32 {0}, {1}, {0};\nand.b32 {0}, {0}, 1;\nsetp.ne.u32 {2}, {0}, 0;\n"
        "not.pred {3}, {3};\nor.pred {2}, {2}, {3};\nselp.b32 {4}, {4}, 0, {2};\n",
        lane, place.mask, takes_part, inside, to);
    return text + finish(2, to, Type::b32, instruction);
  }
  /// The whole warp: any source lane, any segments.
  std::string shuffle_all(const Form& form, const Place& place) {
    static constexpr uint32_t segments[] = {0, 16, 24, 28, 30, 31};
    const std::string from = read(2, Kind::integer);
    std::string distance = fmt::format("{}", random_.below(33));
    if (random_.chance(60)) distance = read(2, Kind::amount);
    std::string clamp;
    if (random_.chance(70)) {
      const uint32_t segment = random_.pick(std::span(segments));
      const uint32_t last = form.has(Mod::up) ? 0 : 31;
      clamp = fmt::format("{}", segment << 8 | (random_.chance(80) ? last : random_.below(32)));
    } else {
      clamp = read(2, Kind::integer);
    }
    const std::string to = target(2);
    std::string also, p;
    if (random_.chance(50)) {
      p = target(0);
      also = "|" + p;
    }
    const std::string instruction =
        fmt::format("{} {}{}, {}, {}, {}, {};", form.text, to, also, from, distance, clamp, place.mask);
    ++program_.instructions;
    std::string text = instruction + "\n" + finish(2, to, Type::b32, instruction);
    if (!p.empty()) text += finish(0, p, Type::pred, instruction);
    return text;
  }
  /// Through shared memory within the warp.
  std::string warp_exchange(const Place& place) {
    const uint32_t base = program_.threads * (private_bytes + exchange_bytes);
    const std::string own = fresh(2), other = fresh(2), from = read(2, Kind::integer), to = target(2);
    std::string text = fmt::format("mad.lo.u32 {0}, %t, {1}, %shb;\nst.shared.b32 [{0}+{2}], {3};\n", own,
                                   warp_bytes, base, from);
    text += fmt::format("bar.warp.sync {};\n", place.mask);
    // The highest lane that takes part.
    text += fmt::format(
        "bfind.u32 {0}, {1};\nand.b32 {2}, %t, {3};\nadd.u32 {0}, {0}, {2};\nmad.lo.u32 {0}, {0}, {4}, "
        "%shb;\n"
        "ld.shared.b32 {5}, [{0}+{6}];\nbar.warp.sync {1};\n",
        other, place.mask, own, 0xffffffe0u, warp_bytes, to, base);
    ++program_.instructions;
    return text + finish(2, to, Type::none, "through shared memory with bar.warp.sync");
  }
  Node warp(const Place& place) {
    if (random_.chance(10)) return {{warp_exchange(place)}};
    const Form* form = pick_form(Group::warp, [](const Form&) { return true; });
    if (form == nullptr) return {{""}};
    if (form->op() == Op::shfl)
      return {{place.whole_warp ? shuffle_all(*form, place) : shuffle(*form, place)}};
    return {{emit(*form, place.mask, false)}};
  }

  // ---- Blocks.

  std::string barrier() {
    switch (random_.below(6)) {
      case 0: return "barrier.sync 0;\n";
      case 1: return fmt::format("bar.sync 1, {};\n", program_.threads);
      case 2: return "bar.cta.sync 2;\n";
      case 3: return "barrier.cta.sync.aligned 3;\n";
      default: return "bar.sync 0;\n";
    }
  }
  Node exchange() {
    const auto shared = [](const Form& f) {
      return f.mnemonic.space == Space::shared || f.mnemonic.space == Space::shared_cta;
    };
    const Form* out = pick_form(Group::store, [&](const Form& f) { return shared(f); });
    if (out == nullptr) return {{""}};
    const uint32_t bytes = access_bytes(*out);
    const Form* in =
        pick_form(Group::load, [&](const Form& f) { return shared(f) && access_bytes(f) == bytes; });
    if (in == nullptr) return {{""}};
    const uint32_t base = program_.threads * private_bytes, last = program_.threads - 1;
    const std::string to = fresh(2), from = fresh(2);
    const uint32_t factor = 2 * random_.below(program_.threads / 2) + 1,
                   shift = random_.below(program_.threads);
    std::string text = fmt::format(
        "mad.lo.u32 {0}, %t, {1}, {2};\nand.b32 {0}, {0}, {3};\nmad.lo.u32 {0}, {0}, {4}, %shb;\n", to,
        factor, shift, last, bytes);
    const std::string data = data_sources(*out, out->mnemonic.form->operands[1], text);
    text += fmt::format("{} [{}+{}], {};\n", out->text, to, base, data);
    text += barrier();
    if (random_.chance(50)) {
      const std::string which = read(2, Kind::integer);
      text += fmt::format("and.b32 {}, {}, {};\n", from, which, last);
    } else {
      const uint32_t stride = random_.below(program_.threads);
      text += fmt::format("mad.lo.u32 {0}, %t, {1}, {2};\nand.b32 {0}, {0}, {3};\n", from, stride,
                          random_.below(program_.threads), last);
    }
    text += fmt::format("mad.lo.u32 {0}, {0}, {1}, %shb;\n", from, bytes);
    text += load(*in, fmt::format("[{}+{}]", from, base));
    text += barrier();
    program_.instructions += 2;
    return {{text}};
  }
  /// A vote of the whole block.
  Node block_vote() {
    const Form* form = pick_form(Group::barrier, [](const Form&) { return true; });
    if (form == nullptr) return {{barrier()}};
    const std::string p = predicate(true);
    const size_t width = form->type() == Type::pred ? 0 : 2;
    const std::string to = target(width);
    std::string threads;
    if (random_.chance(30)) threads = fmt::format(" {},", program_.threads);
    const std::string instruction =
        fmt::format("{} {}, {},{} {};", form->text, to, random_.below(16), threads, p);
    ++program_.instructions;
    return {{instruction + "\n" + finish(width, to, form->type(), instruction)}};
  }
  Node fence() {
    const Form* form = pick_form(Group::fence, [](const Form&) { return true; });
    return {{form == nullptr ? "" : form->text + ";\n"}};
  }

  // ---- Control flow.

  /// Statements at a place.
  Body block(const Place& place, uint32_t statements) {
    Body body;
    for (uint32_t i = 0; i < statements; ++i) body.push_back(statement(place));
    return body;
  }
  uint32_t small_block() { return random_.between(1, 3); }

  Node branch(const Place& place) {
    const std::string otherwise = fresh_label(), end = fresh_label();
    Node node;
    Place inner{"", false, false, place.depth + 1};
    std::string head, p, mask, other_mask;
    if (place.uniform && random_.chance(30)) {
      p = fresh(0);
      const std::string word = fresh(2);
      head = fmt::format("ld.param.u32 {0}, [{1}_data+{2}];\nsetp.lt.s32 {3}, {0}, 0;\n", word, program_.name,
                         4 * random_.below(data_bytes / 4), p);
      inner = place;
      ++inner.depth;
      mask = other_mask = place.mask;
    } else {
      p = predicate(false);
      if (!place.mask.empty()) {
        mask = fresh_mask();
        other_mask = fresh_mask();
        head = fmt::format("vote.sync.ballot.b32 {0}, {1}, {2};\nxor.b32 {3}, {0}, {2};\n", mask, p,
                           place.mask, other_mask);
        ++program_.instructions;
      }
    }
    const bool both = random_.chance(50);
    node.lines.push_back(head + fmt::format("@!{} bra {};\n", p, both ? otherwise : end));
    inner.mask = mask;
    node.bodies.push_back(block(inner, small_block()));
    if (both) {
      node.lines.push_back(fmt::format("bra {};\n{}:\n", end, otherwise));
      inner.mask = other_mask;
      node.bodies.push_back(block(inner, small_block()));
    }
    node.lines.push_back(end + ":\n");
    program_.instructions += both ? 2 : 1;
    return node;
  }

  Node loop(const Place& place) {
    const std::string top = fresh_label(), end = fresh_label(), count = fresh(2), more = fresh(0);
    Place inner = place;
    ++inner.depth;
    std::string head;
    const bool same = random_.chance(40);
    if (same) {
      head = fmt::format("mov.u32 {}, {};\n", count, random_.below(4));
    } else {
      const std::string from = read(2, Kind::integer);
      head = fmt::format("and.b32 {}, {}, 3;\n", count, from);
      inner.uniform = inner.whole_warp = false;
    }
    const bool leaves = random_.chance(30);
    if (leaves) inner.uniform = inner.whole_warp = false;
    const bool own_mask = !place.mask.empty() && !(same && !leaves);
    if (own_mask) {
      inner.mask = fresh_mask();
      head += fmt::format("mov.b32 {}, {};\n", inner.mask, place.mask);
    }
    Body body = block(inner, small_block());
    if (leaves) {
      const std::string p = predicate(false);
      std::string text;
      if (own_mask) text = fmt::format("vote.sync.ballot.b32 {0}, !{1}, {0};\n", inner.mask, p);
      text += fmt::format("@{} bra {};\n", p, end);
      body.insert(body.begin() + random_.below(body.size() + 1), Node{{text}});
    }
    std::string tail = fmt::format("add.s32 {0}, {0}, -1;\nsetp.ge.s32 {1}, {0}, 0;\n", count, more);
    if (own_mask) tail += fmt::format("vote.sync.ballot.b32 {0}, {1}, {0};\n", inner.mask, more);
    tail += fmt::format("@{} bra {};\n{}:\n", more, top, end);
    program_.instructions += 3;
    return {{head + top + ":\n", tail}, {std::move(body)}};
  }

  /// Blocks with jumps among them, forth as they like, back while a counter lasts.
  Node graph(const Place& place) {
    const uint32_t blocks = random_.between(3, 6);
    std::vector<std::string> labels;
    for (uint32_t i = 0; i <= blocks; ++i) labels.push_back(fresh_label());
    const std::string fuel = fresh(2), more = fresh(0);
    const Place inner{"", false, false, place.depth + 1};
    Node node{{fmt::format("mov.u32 {}, {};\n", fuel, random_.between(1, 6))}};
    if (random_.chance(40)) {
      const std::string p = predicate(true);
      node.lines[0] += fmt::format("@{} bra {};\n", p, labels[random_.between(1, blocks - 1)]);
    }
    node.lines[0] += labels[0] + ":\n";
    for (uint32_t i = 0; i < blocks; ++i) {
      node.bodies.push_back(block(inner, small_block()));
      std::string tail;
      const std::string p = predicate(true);
      switch (random_.below(4)) {
        case 0: break;
        case 1: {
          const uint32_t to = random_.between(0, i);
          tail = fmt::format("add.s32 {0}, {0}, -1;\nsetp.gt.s32 {1}, {0}, 0;\n", fuel, more);
          if (random_.chance(60)) {
            const bool negated = p.front() == '!';
            const std::string plain = negated ? p.substr(1) : p;
            tail += fmt::format("and.pred {0}, {0}, {1};\n", more, plain);
          }
          tail += fmt::format("@{} bra {};\n", more, labels[to]);
          break;
        }
        default: tail = fmt::format("@{} bra {};\n", p, labels[random_.between(i + 1, blocks)]);
      }
      if (i + 2 < blocks && random_.chance(15))
        tail += fmt::format("bra {};\n", labels[random_.between(i + 2, blocks)]);
      node.lines.push_back(tail + labels[i + 1] + ":\n");
      program_.instructions += 2;
    }
    return node;
  }

  Node table(const Place& place) {
    const uint32_t ways = random_.chance(50) ? 2 : 4;
    const std::string targets = fresh_label(), end = fresh_label(), index = fresh(2);
    const std::string from = read(2, Kind::integer);
    Place inner{"", false, false, place.depth + 1};
    std::string head = fmt::format("and.b32 {}, {}, {};\n", index, from, ways - 1);
    if (!place.mask.empty()) {
      inner.mask = fresh_mask();
      head += fmt::format("match.any.sync.b32 {}, {}, {};\n", inner.mask, index, place.mask);
    }
    std::string list;
    std::vector<std::string> labels;
    for (uint32_t i = 0; i < ways; ++i) {
      labels.push_back(fresh_label());
      list += (i == 0 ? "" : ", ") + labels[i];
    }
    head += fmt::format("{0}: .branchtargets {1};\nbrx.idx {2}, {0};\n", targets, list, index);
    Node node;
    for (uint32_t i = 0; i < ways; ++i) {
      node.lines.push_back((i == 0 ? head : fmt::format("bra {};\n", end)) + labels[i] + ":\n");
      node.bodies.push_back(block(inner, random_.between(1, 2)));
    }
    node.lines.push_back(end + ":\n");
    program_.instructions += 2;
    return node;
  }

  Node call() {
    static constexpr Type types[] = {Type::b32, Type::b64};
    std::vector<Type> params;
    const uint32_t count = random_.between(1, 3);
    for (uint32_t i = 0; i < count; ++i) params.push_back(random_.pick(std::span(types)));
    const Type result = random_.pick(std::span(types));
    const bool indirect = random_.chance(35);
    std::vector<std::string> names;
    for (int i = 0; i < (indirect ? 2 : 1); ++i) {
      names.push_back(fmt::format("{}_{}_f{}", program_.name, index_, functions_++));
      Builder builder(catalog_, recipe_, program_, index_, random_.next(), false);
      out_.functions += builder.function(names.back(), params, result);
    }
    std::string text = "{\n", list, prototype;
    for (size_t i = 0; i < params.size(); ++i) {
      const std::string from = input(width_index(ptx::size_of(params[i])), Kind::integer);
      text += fmt::format(".param .{0} a{1};\nst.param.{0} [a{1}], {2};\n", name_of(params[i]), i, from);
      list += fmt::format("{}a{}", i == 0 ? "" : ", ", i);
      prototype += fmt::format("{}.param .{} _", i == 0 ? "" : ", ", name_of(params[i]));
    }
    text += fmt::format(".param .{} value;\n", name_of(result));
    if (indirect) {
      const std::string first = fresh(3), second = fresh(3), p = predicate(false), label = fresh_label();
      text += fmt::format("mov.u64 {0}, {1};\nmov.u64 {2}, {3};\nselp.b64 {0}, {0}, {2}, {4};\n", first,
                          names[0], second, names[1], p);
      text += fmt::format("{0}: .callprototype (.param .{1} _) _ ({2});\ncall (value), {3}, ({4}), {0};\n",
                          label, name_of(result), prototype, first, list);
    } else {
      text += fmt::format("call{} (value), {}, ({});\n", random_.chance(50) ? ".uni" : "", names[0], list);
    }
    const size_t width = width_index(ptx::size_of(result));
    const std::string to = target(width);
    text += fmt::format("ld.param.{} {}, [value];\n}}\n", name_of(result), to);
    ++program_.instructions;
    return {{text + finish(width, to, Type::none, "call of " + names[0])}};
  }

  Node statement(const Place& place) {
    const Weights& w = recipe_.weights;
    const bool deep = place.depth >= 3 || structures_ >= most_structures;
    const uint32_t all[] = {w.instruction,
                            w.memory,
                            w.atomic,
                            place.mask.empty() ? 0 : w.warp,
                            place.uniform ? w.exchange : 0,
                            place.uniform ? w.vote : 0,
                            w.fence,
                            deep ? 0 : w.branch,
                            deep ? 0 : w.loop,
                            deep ? 0 : w.graph,
                            deep ? 0 : w.table,
                            w.call};
    uint32_t sum = 0;
    for (const uint32_t weight : all) sum += weight;
    uint32_t at = random_.below(sum), which = 0;
    while (at >= all[which]) at -= all[which++];
    if (which >= 7 && which <= 10) ++structures_;
    switch (which) {
      case 1: return memory();
      case 2: return atomic(place);
      case 3: return warp(place);
      case 4: return exchange();
      case 5: return block_vote();
      case 6: return fence();
      case 7: return branch(place);
      case 8: return loop(place);
      case 9: return graph(place);
      case 10: return table(place);
      case 11: return call();
      default: return instruction();
    }
  }

  [[nodiscard]] std::string declarations() const {
    static constexpr std::string_view types[] = {"pred", "b16", "b32", "b64", "b128"};
    static constexpr std::string_view names[] = {"%p", "%h", "%r", "%d", "%q"};
    std::string text;
    for (size_t i = 0; i < widths; ++i)
      if (registers_[i] != 0) text += fmt::format(".reg .{} {}<{}>;\n", types[i], names[i], registers_[i]);
    if (masks_ != 0) text += fmt::format(".reg .b32 %m<{}>;\n", masks_);
    return text;
  }
  /// Gives every variable of a flow sequence its first value.
  void set_variables() {
    static constexpr Kind of32[] = {Kind::integer, Kind::integer, Kind::f32, Kind::f16};
    static constexpr Kind of64[] = {Kind::integer, Kind::f64};
    for (int i = 0; i < 3; ++i) results_[0].push_back({new_input(0, Kind::integer)});
    for (int i = 0; i < 3; ++i) results_[1].push_back({new_input(1, i == 0 ? Kind::f16 : Kind::integer)});
    for (int i = 0; i < 5; ++i) results_[2].push_back({new_input(2, random_.pick(std::span(of32)))});
    for (int i = 0; i < 4; ++i) results_[3].push_back({new_input(3, random_.pick(std::span(of64)))});
  }
};

Sequence Builder::sequence() {
  if (flow_) set_variables();
  const Place top{"0xffffffff", true, true, 0};
  out_.body = block(top, random_.between(recipe_.least, recipe_.most));
  for (size_t width = 0; width < 4; ++width)
    for (const Value& v : results_[width])
      if (flow_ || !v.used) out_.after += store(width, v.reg, v.type, "");
  out_.registers = declarations();
  return std::move(out_);
}

std::string Builder::function(const std::string& name, const std::vector<Type>& params, Type result) {
  in_function_ = true;
  flow_ = false;
  std::string list, loads;
  for (size_t i = 0; i < params.size(); ++i) {
    const size_t width = width_index(ptx::size_of(params[i]));
    list += fmt::format("{}.param .{} {}_p{}", i == 0 ? "" : ", ", name_of(params[i]), name, i);
    const std::string reg = fresh(width);
    loads += fmt::format("ld.param.{} {}, [{}_p{}];\n", name_of(params[i]), reg, name, i);
    inputs_[width].push_back({reg});
  }
  // Of the widths that no parameter has, made from one that is there.
  for (const size_t width : {3, 2, 1}) {
    if (!inputs_[width].empty()) continue;
    const size_t other = width == 3 ? 2 : inputs_[3].empty() ? 2 : 3;
    const std::string reg = fresh(width);
    loads += resized(other, inputs_[other].front().reg, width, reg);
    inputs_[width].push_back({reg});
  }
  const std::string p = fresh(0);
  loads += fmt::format("setp.lt.s32 {}, {}, 0;\n", p, inputs_[2].front().reg);
  inputs_[0].push_back({p});
  std::string body;
  const uint32_t count = random_.between(3, 8);
  for (uint32_t i = 0; i < count; ++i) body += instruction().lines[0];
  const size_t width = width_index(ptx::size_of(result));
  // What was computed, mixed into one value.
  std::string sum = fresh(width);
  std::string mixed = fmt::format("mov.{} {}, {};\n", name_of(result), sum, inputs_[width].front().reg);
  for (const Value& v : results_[width])
    mixed += fmt::format("xor.{0} {1}, {1}, {2};\n", name_of(result), sum, v.reg);
  for (const Value& v : results_[0])
    mixed += fmt::format("@{0} add.u{1} {2}, {2}, 1;\n", v.reg, 8 * width_bytes(width), sum);
  for (size_t other = 1; other < 4; ++other) {
    if (other == width) continue;
    for (const Value& v : results_[other]) {
      const std::string same = fresh(width);
      mixed += resized(other, v.reg, width, same);
      mixed += fmt::format("add.u{0} {1}, {1}, {2};\n", 8 * width_bytes(width), sum, same);
    }
  }
  return fmt::format(
      ".func (.param .{0} {1}_value) {1}({2})\n{{\n{3}{4}{5}{6}st.param.{0} [{1}_value], {7};\nret;\n}}\n",
      name_of(result), name, list, declarations(), loads, body, mixed, sum);
}

}  // namespace

std::string_view name_of(Class c) { return class_names[static_cast<size_t>(c)]; }

std::optional<Class> find_class(std::string_view name) {
  for (size_t i = 0; i < class_names.size(); ++i)
    if (class_names[i] == name) return static_cast<Class>(i);
  return std::nullopt;
}

Class class_of(Group group) {
  switch (group) {
    case Group::integer:
    case Group::carry: return Class::integer;
    case Group::logic: return Class::logic;
    case Group::compare: return Class::compare;
    case Group::convert: return Class::convert;
    case Group::single: return Class::single;
    case Group::doubles: return Class::doubles;
    case Group::half: return Class::half;
    case Group::approximate: return Class::approximate;
    case Group::video: return Class::video;
    case Group::scalar_video: return Class::scalar_video;
    case Group::load:
    case Group::store: return Class::memory;
    case Group::atomic: return Class::atomic;
    case Group::warp: return Class::warp;
    default: return Class::barrier;
  }
}

bool possible(const Catalog& catalog, Class c) {
  const Recipe recipe = recipe_of(c);
  return std::any_of(recipe.groups.begin(), recipe.groups.end(),
                     [&](Group g) { return !catalog.group(g).empty(); });
}

Program generate(const Catalog& catalog, const Options& options) {
  Recipe recipe = recipe_of(options.cls);
  if (options.sequences != 0) recipe.sequences = options.sequences;
  if (catalog.alone() != nullptr) recipe.weights = weights_for(group_of(*catalog.alone()));
  Program program;
  program.name = fmt::format("{}_{}", name_of(options.cls), options.seed);
  program.seed = mix(options.seed) + static_cast<uint64_t>(options.cls);
  program.blocks = recipe.blocks;
  program.threads = recipe.threads;
  const Weights& w = recipe.weights;
  // What threads have alone in global memory comes first.
  if (w.memory != 0 || w.atomic != 0) program.output_bytes = program.total_threads() * private_bytes;
  Random random(program.seed);
  for (uint32_t i = 0; i < recipe.sequences; ++i) {
    const bool all = random.chance(50);
    const uint64_t seed = random.next();
    Builder builder(catalog, recipe, program, i, seed, all || options.store_everything);
    program.sequences.push_back(builder.sequence());
  }
  return program;
}

}  // namespace lanescope::random
