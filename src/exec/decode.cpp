// See decode.hpp.
//
// The register file of a warp holds, in this order: constants and special registers (written once), scratch
// registers for helper instructions, and for each function of the kernel its register slots. Local memory of
// a lane holds the area in which call arguments and results are handed over, then for each function its
// parameters and local variables.
#include "exec/decode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "exec/builtins.hpp"
#include "exec/flow.hpp"
#include "exec/handlers.hpp"
#include "exec/memory.hpp"
#include "exec/texture.hpp"

namespace lanescope::exec {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::SpecialRegister;
using ptx::SymbolRef;
using ptx::Type;

namespace {

/// Local memory for the frames of functions that call themselves.
constexpr uint32_t recursion_stack = 16384;

uint32_t round_up(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }
uint32_t register_bytes(uint32_t lane_bytes) { return lane_bytes == 0 ? 4 : lane_bytes * warp_lanes; }

bool is_shared(Space s) { return s == Space::shared || s == Space::shared_cta || s == Space::shared_cluster; }

class Decoder {
 public:
  Decoder(const ptx::Module& module, const SymbolTable& symbols, bool observed)
      : m_(module), symbols_(symbols), observed_(observed), set_(host_handlers()) {}

  Kernel run(uint32_t entry) {
    const ptx::Function& f = m_.functions[entry];
    k_.name = f.name;
    k_.display_name = f.display_name;
    k_.max_threads = f.max_threads;
    k_.required_threads = f.required_threads;
    for (const ptx::SourceFile& file : m_.files) {
      if (file.id >= k_.files.size() && file.id < 65536) k_.files.resize(file.id + 1);
      if (file.id < k_.files.size()) k_.files[file.id] = file.path;
    }
    place_params(f);
    collect(entry);
    place_shared();
    place_call_area();
    zero_ = constant(8, 0);
    zero32_ = constant(4, 0);
    for (size_t i = 0; i < functions_.size(); ++i) prepare(functions_[i]);
    for (size_t i = 0; i < functions_.size(); ++i) emit_function(functions_[i]);
    k_.entry = functions_[0].entry;
    finish();
    return std::move(k_);
  }

 private:
  const ptx::Module& m_;
  const SymbolTable& symbols_;
  bool observed_;
  const HandlerSet& set_;
  Kernel k_;

  struct FunctionState {
    uint32_t index = 0;
    const ptx::Function* f = nullptr;
    Flow flow;
    bool recursive = false;
    bool address_taken = false;
    uint32_t slots_at[5]{};  ///< register file offset of slot 0, by width class
    uint32_t registers_begin = 0, registers_end = 0;
    uint32_t carry = no_operand;  ///< predicate register of .cc
    uint32_t frame = no_operand;  ///< 64-bit register: where the frame begins in local memory
    uint32_t frame_begin = 0, frame_bytes = 0;
    std::vector<uint32_t> param_at, return_at, variable_at;  ///< offsets in the frame
    uint32_t entry = 0;
    std::vector<uint32_t> code_of;  ///< by instruction, and one more: the function's end
    std::vector<uint32_t> callees;  ///< places in functions_
  };
  std::vector<FunctionState> functions_;
  std::vector<uint32_t> builtins_;         ///< Module::functions the engine itself provides
  std::map<uint32_t, uint32_t> place_of_;  ///< Module::functions index → place in functions_
  FunctionState* s_ = nullptr;             ///< the function being emitted
  const ptx::Instruction* in_ = nullptr;   ///< the instruction being emitted

  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint32_t> constants_;
  std::map<SpecialRegister, uint32_t> specials_;
  uint32_t zero_ = 0, zero32_ = 0;
  std::map<uint32_t, uint32_t> module_shared_;                         ///< Module::variables index → offset
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> function_shared_;  ///< {function, variable} → offset
  struct Fixup {
    uint32_t code;
    enum class Kind : uint8_t { target, join } kind;
    uint32_t instruction;  ///< of the function; body.size() = its end
  };
  std::vector<Fixup> fixups_;
  struct CallFixup {
    uint32_t code;
    uint32_t place;
  };
  std::vector<CallFixup> calls_;
  uint32_t top_ = 0;        ///< next free byte of the register file
  uint32_t call_area_ = 0;  ///< bytes for the arguments, and as many for the results, of any call
  uint32_t local_top_ = 0;
  uint32_t scratch_used_[5]{};
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> scratch_;

  [[noreturn]] void fail(const std::string& what) const {
    if (in_ == nullptr) throw Error(what);
    throw Error({m_.name, in_->loc.line, in_->loc.column}, what, std::string(m_.text_line(in_->loc.line)));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    fail("instruction '" + text_of(*in_) + "' is not supported" + (what.empty() ? "" : ": " + what));
  }

  static std::string text_of(const ptx::Instruction& in) {
    std::string text(ptx::name_of(in.op));
    if (in.space != Space::generic) text += "." + std::string(ptx::name_of(in.space));
    for (size_t i = 0; i < ptx::modifier_count; ++i)
      if (in.modifiers[i]) text += "." + std::string(ptx::name_of(static_cast<Mod>(i)));
    if (in.vector > 1) text += ".v" + std::to_string(in.vector);
    for (Type t : in.types) text += "." + std::string(ptx::name_of(t));
    return text;
  }

  // Places.

  uint32_t allocate(uint32_t bytes) {
    const uint32_t at = round_up(top_, bytes >= 64 ? 64 : 4);
    top_ = at + bytes;
    return at;
  }

  uint32_t constant(uint32_t lane_bytes, uint64_t bits, uint64_t high = 0) {
    if (lane_bytes != 0 && lane_bytes < 8) bits &= (1ull << (8 * lane_bytes)) - 1;
    auto [it, made] = constants_.try_emplace({lane_bytes, bits, high}, 0);
    if (made) {
      it->second = allocate(register_bytes(lane_bytes));
      k_.constants.push_back({it->second, lane_bytes, {bits, high}});
    }
    return it->second;
  }

  uint32_t special(SpecialRegister reg) {
    auto [it, made] = specials_.try_emplace(reg, 0);
    if (made) {
      it->second = allocate(register_bytes(lane_bytes(ptx::type_of(reg))));
      k_.specials.push_back({it->second, reg});
    }
    return it->second;
  }

  uint32_t params_address() {
    if (k_.params_address == no_operand) k_.params_address = allocate(register_bytes(8));
    return k_.params_address;
  }

  /// A register for the helper instructions around one instruction.
  uint32_t scratch(uint32_t lane_bytes) {
    const uint32_t n = scratch_used_[width_class(lane_bytes)]++;
    auto [it, made] = scratch_.try_emplace({lane_bytes, n}, 0);
    if (made) it->second = allocate(register_bytes(lane_bytes));
    return it->second;
  }
  static uint32_t width_class(uint32_t bytes) {
    return bytes == 0 ? 0 : static_cast<uint32_t>(__builtin_ctz(bytes));
  }

  uint32_t register_at(uint32_t reg) const {
    const uint32_t bytes = lane_bytes(s_->f->registers[reg].type);
    const uint32_t slot = s_->flow.slot[reg];
    return s_->slots_at[width_class(bytes)] + slot * register_bytes(bytes);
  }

  void place_params(const ptx::Function& f) {
    uint32_t at = 0;
    for (const ptx::Variable& p : f.params) {
      at = round_up(at, p.align);
      k_.params.push_back({p.name, at, static_cast<uint32_t>(p.size), p.align, p.type, !p.dims.empty()});
      at += static_cast<uint32_t>(p.size);
    }
    k_.param_bytes = at;
  }

  /// All functions the kernel may call, itself first.
  void collect(uint32_t entry) {
    std::vector<uint32_t> work{entry};
    place_of_[entry] = 0;
    bool indirect = false;
    std::vector<uint32_t> taken;
    for (const ptx::Variable& v : m_.variables)
      for (const ptx::Relocation& r : v.relocations)
        if (r.symbol.kind == SymbolRef::Kind::function) taken.push_back(r.symbol.index);
    auto add = [&](uint32_t index) {
      if (place_of_.try_emplace(index, static_cast<uint32_t>(work.size())).second) work.push_back(index);
    };
    for (size_t i = 0; i < work.size(); ++i) {
      const ptx::Function& f = m_.functions[work[i]];
      for (const ptx::Instruction& in : f.body) {
        for (const Operand& o : in.operands)
          if (o.symbol.kind == SymbolRef::Kind::function) {
            const ptx::Function& callee = m_.functions[o.symbol.index];
            if (in.op == Op::call) {
              if (!callee.has_body) {
                in_ = &in;
                if (find_builtin(callee.name)) {
                  if (!is_declared_well(callee))
                    fail("'" + callee.display_name +
                         "' is declared with other parameters than the CUDA function has");
                  builtins_.push_back(o.symbol.index);
                  continue;
                }
                fail("call of '" + callee.display_name +
                     "', which this module declares but does not define: such " + "calls are not supported");
              }
              add(o.symbol.index);
            } else {
              taken.push_back(o.symbol.index);
            }
          }
        if (in.op == Op::call && !std::any_of(in.operands.begin(), in.operands.end(), [](const Operand& o) {
              return o.symbol.kind == SymbolRef::Kind::function;
            }))
          indirect = true;
      }
      if (i + 1 == work.size() && indirect)
        for (uint32_t t : taken)
          if (m_.functions[t].has_body && !m_.functions[t].is_entry) add(t);
    }
    functions_.resize(work.size());
    for (size_t i = 0; i < work.size(); ++i) {
      functions_[i].index = work[i];
      functions_[i].f = &m_.functions[work[i]];
      functions_[i].address_taken = std::find(taken.begin(), taken.end(), work[i]) != taken.end();
    }
    for (FunctionState& s : functions_)
      for (const ptx::Instruction& in : s.f->body) {
        if (in.op != Op::call) continue;
        bool direct = false;
        for (const Operand& o : in.operands)
          if (o.symbol.kind == SymbolRef::Kind::function) {
            direct = true;
            if (auto place = place_of_.find(o.symbol.index); place != place_of_.end())
              s.callees.push_back(place->second);
          }
        if (!direct)  // may be any function whose address is taken
          for (size_t i = 0; i < functions_.size(); ++i)
            if (functions_[i].address_taken) s.callees.push_back(static_cast<uint32_t>(i));
      }
    for (size_t i = 0; i < functions_.size(); ++i)
      functions_[i].recursive = reaches(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
  }

  bool reaches(uint32_t from, uint32_t to) const {
    std::vector<bool> seen(functions_.size(), false);
    std::vector<uint32_t> work{from};
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (uint32_t c : functions_[at].callees) {
        if (c == to) return true;
        if (!seen[c]) {
          seen[c] = true;
          work.push_back(c);
        }
      }
    }
    return false;
  }

  void place_shared() {
    uint32_t at = 0, dynamic_align = 16;
    auto place = [&](const ptx::Variable& v) -> std::optional<uint32_t> {
      if (v.size == 0) {
        dynamic_align = std::max(dynamic_align, v.align);
        return std::nullopt;
      }
      at = round_up(at, v.align);
      const uint32_t offset = at;
      if (v.size > (1u << 30)) throw Error("shared variable '" + v.display_name + "' is too large");
      k_.shared.push_back({v.display_name, offset, static_cast<uint32_t>(v.size), false});
      at += static_cast<uint32_t>(v.size);
      return offset;
    };
    std::vector<std::pair<uint32_t, std::string>> dynamic;  // module variables
    for (const FunctionState& s : functions_) {
      for (uint32_t i = 0; i < s.f->variables.size(); ++i) {
        const ptx::Variable& v = s.f->variables[i];
        if (!is_shared(v.space)) continue;
        if (auto offset = place(v)) function_shared_[{s.index, i}] = *offset;
      }
      auto see = [&](const Operand& o) {
        if (o.symbol.kind != SymbolRef::Kind::module_variable) return;
        const ptx::Variable& v = m_.variables[o.symbol.index];
        if (!is_shared(v.space) || module_shared_.count(o.symbol.index) != 0) return;
        if (auto offset = place(v)) {
          module_shared_[o.symbol.index] = *offset;
        } else if (std::none_of(dynamic.begin(), dynamic.end(),
                                [&](auto& d) { return d.first == o.symbol.index; })) {
          dynamic.emplace_back(o.symbol.index, v.display_name);
        }
      };
      for (const ptx::Instruction& in : s.f->body) {
        for (const Operand& o : in.operands) see(o);
        for (const Operand& o : in.elements) see(o);
      }
    }
    k_.static_shared = at;
    k_.dynamic_shared_offset = round_up(at, dynamic_align);
    for (auto& [index, name] : dynamic) {
      module_shared_[index] = k_.dynamic_shared_offset;
      k_.shared.push_back({name, k_.dynamic_shared_offset, 0, true});
    }
  }

  void place_call_area() {
    auto see = [&](const ptx::Function& f) {
      for (const auto* list : {&f.params, &f.returns}) {
        uint32_t at = 0;
        for (const ptx::Variable& v : *list) next_argument(at, v);
        call_area_ = std::max(call_area_, round_up(at, 16));
      }
    };
    for (const FunctionState& s : functions_)
      if (!s.f->is_entry) see(*s.f);
    for (uint32_t b : builtins_) see(m_.functions[b]);
    local_top_ = 2 * call_area_;
  }

  void prepare(FunctionState& s) {
    s.flow = analyse(*s.f, !s.f->is_entry);
    for (const ptx::Instruction& in : s.f->body)
      if (in.has(Mod::cc) || in.op == Op::addc || in.op == Op::subc || in.op == Op::madc) {
        s.carry = 0;
        break;
      }
    // The frame: parameters and results of a device function, then what its body declares.
    uint32_t at = 0;
    auto place = [&](const ptx::Variable& v) {
      at = round_up(at, std::max(v.align, 1u));
      const uint32_t offset = at;
      if (v.size > (1u << 24))
        throw Error("'" + v.name + "': local memory of " + std::to_string(v.size) + " bytes");
      at += static_cast<uint32_t>(v.size);
      return offset;
    };
    if (!s.f->is_entry) {
      for (const ptx::Variable& v : s.f->params) s.param_at.push_back(place(v));
      for (const ptx::Variable& v : s.f->returns) s.return_at.push_back(place(v));
    }
    for (const ptx::Variable& v : s.f->variables)
      s.variable_at.push_back(
          v.space == Space::local || v.space == Space::param || v.space == Space::param_func ? place(v) : 0);
    s.frame_bytes = round_up(at, 16);
    if (s.recursive) {
      if (k_.stack_pointer == no_operand) k_.stack_pointer = allocate(register_bytes(8));
    } else {
      s.frame_begin = local_top_;
      local_top_ += s.frame_bytes;
      s.frame = constant(8, s.frame_begin);
    }
    // Registers, in one piece so that a recursive call can save them.
    s.registers_begin = round_up(top_, 64);
    top_ = s.registers_begin;
    if (s.carry != no_operand) s.carry = allocate(4);
    const uint32_t widths[] = {0, 2, 4, 8, 16};
    for (uint32_t c = 0; c < 5; ++c) {
      const uint32_t bytes = register_bytes(widths[c]);
      s.slots_at[c] = s.flow.slots[c] == 0 ? top_ : allocate(bytes);
      if (s.flow.slots[c] > 1) top_ += bytes * (s.flow.slots[c] - 1);
      for (uint32_t i = 0; s.recursive && i < s.flow.slots[c]; ++i)
        k_.register_layout.push_back({s.slots_at[c] + i * bytes, widths[c]});
    }
    if (s.recursive) {
      s.frame = allocate(register_bytes(8));
      k_.register_layout.push_back({s.frame, 8});
      if (s.carry != no_operand) k_.register_layout.push_back({s.carry, 0});
    }
    s.registers_end = round_up(top_, 8);
    top_ = s.registers_end;
    s_ = &s;
    for (uint32_t r : s.flow.undefined)
      k_.zeroed.push_back({register_at(r), register_bytes(lane_bytes(s.f->registers[r].type))});
    if (s.carry != no_operand) k_.zeroed.push_back({s.carry, 4});
  }

  // Emitting.

  Inst& put(Handler fn, bool helper) {
    Inst inst;
    inst.fn = fn;
    inst.origin_and_weight = static_cast<uint32_t>(k_.origins.size() - 1) | (helper ? Inst::helper_bit : 0);
    k_.code.push_back(inst);
    return k_.code.back();
  }

  /// Puts the predicate's guard before the next instruction.
  void put_guard() {
    if (in_->guard == no_index) return;
    Inst& g = put(set_.control.guard, false);
    g.a = register_at(in_->guard);
    g.imm = in_->guard_negated ? 1 : 0;
  }
  bool guarded() const { return in_->guard != no_index; }

  Handler select(const HandlerKey& key) {
    const Handler h = set_.select(key);
    if (h == nullptr) unsupported("");
    return h;
  }

  HandlerKey key_of(const ptx::Instruction& in) const {
    HandlerKey key;
    key.op = in.op;
    for (size_t i = 0; i < in.types.size() && i < key.types.size(); ++i) key.types[i] = in.types[i];
    key.space = in.space;
    key.vector = in.vector;
    key.modifiers = in.modifiers;
    key.observed = observed_;
    return key;
  }

  /// d ← a op b on 64-bit registers, for addresses.
  void put_wide(Op op, uint32_t d, uint32_t a, uint32_t b, bool helper) {
    HandlerKey key;
    key.op = op;
    key.types[0] = Type::u64;
    put_guard();
    Inst& i = put(set_.select(key), helper || guarded());
    i.d = d;
    i.a = a;
    i.b = b;
  }
  void put_copy(uint32_t lane_bytes, uint32_t d, uint32_t a, bool helper) {
    HandlerKey key;
    key.op = Op::mov;
    key.types[0] = lane_bytes == 0   ? Type::pred
                   : lane_bytes == 2 ? Type::b16
                   : lane_bytes == 4 ? Type::b32
                   : lane_bytes == 8 ? Type::b64
                                     : Type::b128;
    put_guard();
    Inst& i = put(select(key), helper || guarded());
    i.d = d;
    i.a = a;
    i.imm = 0;
  }
  void put_resize(uint32_t to, uint32_t from, uint32_t to_bytes, uint32_t from_bytes, bool sign,
                  bool with_guard) {
    if (with_guard) put_guard();
    const Handler h = set_.resize(to_bytes, from_bytes, sign);
    if (h == nullptr) unsupported("register width");
    Inst& i = put(h, true);
    i.d = to;
    i.a = from;
  }

  struct Place {
    uint32_t base = no_operand;  ///< 64-bit register (constant or not); no_operand: a kernel parameter
    uint64_t offset = 0;
  };

  /// Where a symbol lies in its own space.
  Place place_of(const SymbolRef& symbol, uint64_t offset) {
    switch (symbol.kind) {
      case SymbolRef::Kind::module_variable: {
        if (is_shared(m_.variables[symbol.index].space))
          return {zero_, module_shared_.at(symbol.index) + offset};
        return {constant(8, symbols_.variables[symbol.index] + offset), 0};
      }
      case SymbolRef::Kind::local_variable:
        if (is_shared(s_->f->variables[symbol.index].space)) return {zero_, shared_of(symbol.index) + offset};
        return {s_->frame, s_->variable_at[symbol.index] + offset};
      case SymbolRef::Kind::parameter:
        if (s_->f->is_entry) return {no_operand, k_.params[symbol.index].offset + offset};
        return {s_->frame, s_->param_at[symbol.index] + offset};
      case SymbolRef::Kind::return_parameter: return {s_->frame, s_->return_at[symbol.index] + offset};
      case SymbolRef::Kind::function: return {constant(8, symbols_.functions[symbol.index] + offset), 0};
      case SymbolRef::Kind::none: break;
    }
    return {zero_, offset};
  }

  uint64_t shared_of(uint32_t variable) {
    auto found = function_shared_.find({s_->index, variable});
    if (found != function_shared_.end()) return found->second;
    return k_.dynamic_shared_offset;
  }

  /// A register that holds place's address, `bytes` wide.
  uint32_t address_register(Place place, uint32_t bytes) {
    uint32_t at;
    if (place.base == no_operand) place.base = params_address();
    auto fixed = std::find_if(k_.constants.begin(), k_.constants.end(),
                              [&](const auto& c) { return c.offset == place.base; });
    if (fixed != k_.constants.end()) return constant(bytes, fixed->bits[0] + place.offset);
    at = place.base;
    if (place.offset != 0) {
      at = scratch(8);
      const ptx::Instruction* with_guard = in_;
      HandlerKey key;
      key.op = Op::add;
      key.types[0] = Type::u64;
      Inst& i = put(set_.select(key), true);
      i.d = at;
      i.a = place.base;
      i.b = constant(8, place.offset);
      in_ = with_guard;
    }
    if (bytes == 8) return at;
    const uint32_t narrow = scratch(bytes);
    put_resize(narrow, at, bytes, 8, false, false);
    return narrow;
  }

  /// The register that holds a source operand of `type`, in the type's own width.
  uint32_t source(const Operand& o, Type type) {
    const uint32_t want = lane_bytes(type);
    switch (o.kind) {
      case Operand::Kind::reg: {
        const uint32_t have = lane_bytes(s_->f->registers[o.reg].type);
        const uint32_t at = register_at(o.reg);
        if (have == want || want == 0 || have == 0) return at;
        const uint32_t narrow = scratch(want);
        put_resize(narrow, at, want, have, ptx::is_signed(type), false);
        return narrow;
      }
      case Operand::Kind::special: {
        const uint32_t have = lane_bytes(ptx::type_of(o.special));
        const uint32_t at = read_special(o.special);
        if (have == want) return at;
        const uint32_t other = scratch(want);
        put_resize(other, at, want, have, false, false);
        return other;
      }
      case Operand::Kind::integer:
        if (want == 0) return constant(0, o.bits != 0 ? full_mask : 0);
        return constant(want, o.bits, want == 16 && static_cast<int64_t>(o.bits) < 0 ? ~0ull : 0);
      case Operand::Kind::real32:
        if (type == Type::f64) return constant(8, bits_of(static_cast<double>(float_of(o.bits))));
        return constant(want, o.bits);
      case Operand::Kind::real64:
        if (want == 4) return constant(4, bits_of(static_cast<float>(double_of(o.bits))));
        return constant(want, o.bits);
      case Operand::Kind::symbol: return address_register(place_of(o.symbol, o.bits), want);
      case Operand::Kind::sink: return constant(want, 0);
      default: unsupported("operand");
    }
  }

  static float float_of(uint64_t bits) {
    const auto b = static_cast<uint32_t>(bits);
    float f;
    std::memcpy(&f, &b, 4);
    return f;
  }
  static double double_of(uint64_t bits) {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  static uint64_t bits_of(float f) {
    uint32_t b;
    std::memcpy(&b, &f, 4);
    return b;
  }
  static uint64_t bits_of(double d) {
    uint64_t b;
    std::memcpy(&b, &d, 8);
    return b;
  }

  static bool is_clock(SpecialRegister r) {
    switch (r) {
      case SpecialRegister::clock:
      case SpecialRegister::clock_hi:
      case SpecialRegister::clock64:
      case SpecialRegister::globaltimer:
      case SpecialRegister::globaltimer_lo:
      case SpecialRegister::globaltimer_hi: return true;
      default: return false;
    }
  }

  uint32_t read_special(SpecialRegister reg) {
    if (!is_clock(reg)) return special(reg);
    const uint32_t bytes = lane_bytes(ptx::type_of(reg));
    const uint32_t at = scratch(bytes);
    Inst& i = put(set_.control.clock, true);
    i.d = at;
    i.imm = static_cast<uint64_t>(reg);
    return at;
  }

  /// The destination register for a result of `type`; `later` is set if it has to be resized into the real
  /// one.
  uint32_t destination(const Operand& o, Type type, std::vector<std::array<uint32_t, 4>>& later) {
    const uint32_t want = lane_bytes(type);
    if (o.kind == Operand::Kind::sink) return scratch(want);
    if (o.kind != Operand::Kind::reg) unsupported("destination operand");
    const uint32_t have = lane_bytes(s_->f->registers[o.reg].type);
    const uint32_t at = register_at(o.reg);
    if (have == want || want == 0 || have == 0) return at;
    const uint32_t narrow = scratch(want);
    later.push_back({at, narrow, have, want | (ptx::is_signed(type) ? 0x100u : 0)});
    return narrow;
  }
  void put_later(const std::vector<std::array<uint32_t, 4>>& later) {
    for (const auto& [to, from, to_bytes, from_bytes] : later)
      put_resize(to, from, to_bytes, from_bytes & 0xff, (from_bytes & 0x100) != 0, true);
  }

  Type type_of(const ptx::OperandPattern& p) const {
    switch (p.type_from) {
      case ptx::OperandPattern::TypeFrom::first: break;
      case ptx::OperandPattern::TypeFrom::second: return in_->types.size() > 1 ? in_->types[1] : in_->type();
      case ptx::OperandPattern::TypeFrom::fixed: return p.type;
      case ptx::OperandPattern::TypeFrom::address: return Type::u64;
    }
    if (!p.doubled || !in_->has(Mod::wide)) return in_->type();
    switch (in_->type()) {
      case Type::u16: return Type::u32;
      case Type::s16: return Type::s32;
      case Type::u32: return Type::u64;
      case Type::s32: return Type::s64;
      default: return in_->type();
    }
  }

  void new_origin() {
    Origin o;
    o.op = in_->op;
    o.ptx_line = in_->loc.line;
    if (in_->source != no_index) {
      const ptx::SourceLoc& loc = m_.source_locs[in_->source];
      o.file = loc.file;
      o.line = loc.line;
      o.column = loc.column;
      o.source = in_->source;
    }
    k_.origins.push_back(o);
  }

  void emit_function(FunctionState& s) {
    s_ = &s;
    in_ = nullptr;
    s.entry = static_cast<uint32_t>(k_.code.size());
    fixups_.clear();
    if (!s.f->is_entry) {
      ptx::Instruction entry{};
      entry.op = Op::call;
      entry.loc = s.f->loc;
      in_ = &entry;
      new_origin();
      prologue();
    }
    s.code_of.assign(s.f->body.size() + 1, 0);
    for (uint32_t i = 0; i < s.f->body.size(); ++i) {
      in_ = &s.f->body[i];
      std::fill(std::begin(scratch_used_), std::end(scratch_used_), 0);
      new_origin();
      s.code_of[i] = static_cast<uint32_t>(k_.code.size());
      emit(i);
    }
    s.code_of[s.f->body.size()] = static_cast<uint32_t>(k_.code.size());
    ptx::Instruction end{};
    end.op = s.f->is_entry ? Op::exit : Op::ret;
    end.loc = s.f->body.empty() ? s.f->loc : s.f->body.back().loc;
    end.source = s.f->body.empty() ? no_index : s.f->body.back().source;
    in_ = &end;
    new_origin();
    if (s.f->is_entry) {
      put(set_.control.exit, false);
    } else {
      epilogue();
      put(set_.control.ret, false);
    }
    for (const Fixup& fix : fixups_) {
      Inst& inst = k_.code[fix.code];
      (fix.kind == Fixup::Kind::target ? inst.b : inst.c) = s.code_of[fix.instruction];
    }
    in_ = nullptr;
  }

  // Calls. Arguments go through local memory [0, call_area_), results through [call_area_, 2 * call_area_).

  void put_local_copy(uint32_t from_base, uint64_t from, uint32_t to_base, uint64_t to, uint64_t bytes) {
    if (bytes == 0) return;
    Inst& i = put(set_.control.copy_local, true);
    i.a = from_base;
    i.b = to_base;
    i.c = static_cast<uint32_t>(from);
    i.aux = static_cast<uint32_t>(to);
    i.imm = bytes;
  }

  static uint32_t next_argument(uint32_t& at, const ptx::Variable& v) {
    at = round_up(at, std::max(v.align, 1u));
    const uint32_t offset = at;
    at += static_cast<uint32_t>(v.size);
    return offset;
  }

  void prologue() {
    if (s_->recursive) {
      put_copy(8, s_->frame, k_.stack_pointer, true);
      put_wide(Op::add, k_.stack_pointer, k_.stack_pointer, constant(8, s_->frame_bytes), true);
    }
    uint32_t at = 0;
    for (size_t i = 0; i < s_->f->params.size(); ++i) {
      const uint32_t from = next_argument(at, s_->f->params[i]);
      put_local_copy(zero_, from, s_->frame, s_->param_at[i], s_->f->params[i].size);
    }
  }

  void epilogue() {
    uint32_t at = 0;
    for (size_t i = 0; i < s_->f->returns.size(); ++i) {
      const uint32_t to = next_argument(at, s_->f->returns[i]);
      put_local_copy(s_->frame, s_->return_at[i], zero_, call_area_ + to, s_->f->returns[i].size);
    }
    if (s_->recursive)
      put_wide(Op::sub, k_.stack_pointer, k_.stack_pointer, constant(8, s_->frame_bytes), true);
  }

  void emit_call() {
    const Operand *results = nullptr, *callee = nullptr, *arguments = nullptr, *prototype = nullptr;
    for (const Operand& o : in_->operands) {
      if (o.kind == Operand::Kind::list)
        (callee == nullptr ? results : arguments) = &o;
      else if (o.kind == Operand::Kind::table)
        prototype = &o;
      else
        callee = &o;
    }
    if (callee == nullptr) unsupported("callee");
    const std::vector<ptx::Variable>*params = nullptr, *returns = nullptr;
    const ptx::Function* target = nullptr;
    if (callee->symbol.kind == SymbolRef::Kind::function) {
      target = &m_.functions[callee->symbol.index];
      params = &target->params;
      returns = &target->returns;
    } else {
      if (prototype == nullptr) unsupported("an indirect call needs a prototype");
      const ptx::Table& table = s_->f->tables[prototype->index];
      if (table.kind == ptx::Table::Kind::call_prototype) {
        params = &table.params;
        returns = &table.returns;
      } else if (!table.functions.empty()) {
        params = &m_.functions[table.functions[0]].params;
        returns = &m_.functions[table.functions[0]].returns;
      } else {
        unsupported("an indirect call needs a prototype");
      }
    }
    uint32_t at = 0;
    for (size_t i = 0; i < params->size(); ++i) {
      if (arguments == nullptr || i >= arguments->count) unsupported("fewer arguments than parameters");
      const uint32_t to = next_argument(at, (*params)[i]);
      if (at > call_area_) unsupported("arguments larger than those of any function it may call");
      move_argument(in_->elements[arguments->first + i], (*params)[i], to);
    }
    const auto builtin = target != nullptr && !target->has_body ? find_builtin(target->name) : std::nullopt;
    const bool again = builtin ? false
                       : target != nullptr
                           ? functions_[place_of_.at(callee->symbol.index)].recursive && s_->recursive &&
                                 reaches(place_of_.at(callee->symbol.index), place_of_.at(s_->index))
                           : s_->recursive;
    uint32_t saved = no_operand;
    if (again) {
      saved = static_cast<uint32_t>(k_.saved.size());
      k_.saved.push_back({s_->registers_begin, s_->registers_end});
    }
    if (builtin) {
      Inst& i = put(call_builtin, false);
      i.imm = static_cast<uint64_t>(*builtin);
      i.aux = call_area_;
    } else if (target != nullptr) {
      Inst& i = put(set_.control.call, false);
      i.aux = saved;
      calls_.push_back({static_cast<uint32_t>(k_.code.size() - 1), place_of_.at(callee->symbol.index)});
    } else {
      const uint32_t address = source(*callee, Type::u64);
      Inst& i = put(set_.control.call_indirect, false);
      i.a = address;
      i.aux = saved;
    }
    at = 0;
    for (size_t i = 0; i < returns->size(); ++i) {
      const uint32_t from = next_argument(at, (*returns)[i]);
      if (results == nullptr || i >= results->count) break;
      move_result(in_->elements[results->first + i], (*returns)[i], call_area_ + from);
    }
  }

  void move_argument(const Operand& o, const ptx::Variable& param, uint32_t to) {
    if (o.kind == Operand::Kind::symbol || o.kind == Operand::Kind::address) {
      const Place place = place_of(o.symbol, o.bits);
      if (place.base == no_operand) unsupported("a kernel parameter as an argument");
      put_local_copy(place.base, place.offset, zero_, to, param.size);
      return;
    }
    local_access(Op::st, param, source(o, param.type), to);
  }
  void move_result(const Operand& o, const ptx::Variable& result, uint32_t from) {
    if (o.kind == Operand::Kind::symbol || o.kind == Operand::Kind::address) {
      const Place place = place_of(o.symbol, o.bits);
      put_local_copy(zero_, from, place.base, place.offset, result.size);
      return;
    }
    if (o.kind == Operand::Kind::sink) return;
    std::vector<std::array<uint32_t, 4>> later;
    local_access(Op::ld, result, destination(o, result.type, later), from);
    put_later(later);
  }
  void local_access(Op op, const ptx::Variable& v, uint32_t data, uint32_t offset) {
    HandlerKey key;
    key.op = op;
    key.types[0] = v.type;
    key.space = Space::local;
    key.data_bytes = static_cast<uint8_t>(lane_bytes(v.type));
    Inst& i = put(select(key), true);
    i.d = data;
    i.a = zero_;
    i.imm = (1ull << 32) | offset;
    i.aux = new_site(op == Op::ld ? AccessKind::load : AccessKind::store, Space::local, v.size);
  }

  uint32_t new_site(AccessKind kind, Space space, uint64_t width) {
    k_.accesses.push_back({static_cast<uint32_t>(k_.origins.size() - 1), kind, space,
                           static_cast<uint8_t>(width), text_of(*in_)});
    return static_cast<uint32_t>(k_.accesses.size() - 1);
  }

  // Memory.

  void emit_memory() {
    std::vector<std::array<uint32_t, 4>> later;
    HandlerKey key = key_of(*in_);
    const Operand *address = nullptr, *data = nullptr;
    uint32_t d = no_operand, b = no_operand, c = no_operand;
    const bool atomic = in_->op == Op::atom || in_->op == Op::red;
    for (const BoundOperand& bound : bind_operands(*in_)) {
      if (bound.pattern->kind == ptx::OperandPattern::Kind::address)
        address = bound.operand;
      else if (!atomic && (bound.pattern->name == "d" || bound.pattern->name == "b"))
        data = bound.operand;
      else if (atomic && bound.operand->kind == Operand::Kind::vector) {
        (bound.pattern->name == "d" ? d : c) =
            atomic_elements(*bound.operand, bound.pattern->destination, later);
      } else if (atomic && bound.pattern->name == "d") {
        if (bound.operand->kind != Operand::Kind::sink) d = destination(*bound.operand, in_->type(), later);
      } else if (atomic && bound.pattern->name == "b")
        b = source(*bound.operand, in_->type());
      else if (atomic && bound.pattern->name == "c")
        c = source(*bound.operand, in_->type());
    }
    if (address == nullptr) unsupported("address");
    // A parameter of a device function lies in its frame.
    if ((key.space == Space::param || key.space == Space::param_entry || key.space == Space::param_func) &&
        !(s_->f->is_entry && (address->symbol.kind == SymbolRef::Kind::parameter ||
                              address->symbol.kind == SymbolRef::Kind::none)))
      key.space = Space::local;
    uint32_t base;
    uint64_t offset = address->bits;
    if (address->reg != no_index) {
      base = register_at(address->reg);
      key.address_bytes = static_cast<uint8_t>(lane_bytes(s_->f->registers[address->reg].type));
      if (key.address_bytes == 4 && !is_shared(key.space) && key.space != Space::local) {
        const uint32_t wide = scratch(8);
        put_resize(wide, base, 8, 4, false, false);
        base = wide;
        key.address_bytes = 8;
      }
      if (key.address_bytes != 4 && key.address_bytes != 8) unsupported("address register of this width");
    } else if (address->symbol.kind != SymbolRef::Kind::none) {
      const Place place = place_of(address->symbol, address->bits);
      key.address_bytes = place.base == no_operand ? 0 : 8;
      base = place.base;
      offset = place.offset;
      if (key.space == Space::generic && address->symbol.kind != SymbolRef::Kind::none)
        key.space = space_of(address->symbol);
      if (is_shared(key.space)) {
        base = zero32_;
        key.address_bytes = 4;
      }
    } else {
      base = zero_;
    }
    const auto signed_offset = static_cast<int64_t>(offset);
    if (signed_offset != static_cast<int32_t>(signed_offset)) {
      if (key.address_bytes != 8) unsupported("address offset");
      const uint32_t sum = scratch(8);
      HandlerKey add;
      add.op = Op::add;
      add.types[0] = Type::u64;
      Inst& i = put(set_.select(add), true);
      i.d = sum;
      i.a = base;
      i.b = constant(8, offset);
      base = sum;
      offset = 0;
    }
    uint32_t list = no_operand;
    const uint32_t elements = in_->vector;
    if (data != nullptr) {
      const uint32_t width = data_width(*data);
      key.data_bytes = static_cast<uint8_t>(width);
      const bool load = in_->op != Op::st;
      auto reg = [&](const Operand& o) {
        if (!load) return source(o, wide_type(width, in_->type()));
        if (o.kind == Operand::Kind::sink) return scratch(width);
        return register_at(o.reg);
      };
      if (elements > 1) {
        if (data->kind != Operand::Kind::vector || data->count != elements) unsupported("vector operand");
        std::vector<uint32_t> registers;
        for (uint32_t i = 0; i < elements; ++i) registers.push_back(reg(in_->elements[data->first + i]));
        list = static_cast<uint32_t>(k_.side.size());
        k_.side.insert(k_.side.end(), registers.begin(), registers.end());
      } else {
        d = reg(data->kind == Operand::Kind::vector ? in_->elements[data->first] : *data);
      }
    }
    key.types[0] = in_->type();
    const Handler h = select(key);
    put_guard();
    Inst& i = put(h, guarded());
    i.d = d;
    i.a = base;
    i.b = b;
    i.c = data != nullptr ? list : c;
    i.imm = (uint64_t{elements} << 32) | static_cast<uint32_t>(offset);
    if (key.address_bytes != 0)
      i.aux = new_site(atomic              ? AccessKind::atomic
                       : in_->op == Op::st ? AccessKind::store
                                           : AccessKind::load,
                       key.space, uint64_t{ptx::size_of(in_->type())} * elements);
    put_later(later);
  }

  /// The registers of an atomic's vector, in Kernel::side; returns their first place there.
  uint32_t atomic_elements(const Operand& vector, bool written, std::vector<std::array<uint32_t, 4>>& later) {
    std::vector<uint32_t> registers;
    for (uint32_t i = 0; i < vector.count; ++i) {
      const Operand& o = in_->elements[vector.first + i];
      if (written && o.kind == Operand::Kind::sink)
        registers.push_back(no_operand);
      else
        registers.push_back(written ? destination(o, in_->type(), later) : source(o, in_->type()));
    }
    const auto first = static_cast<uint32_t>(k_.side.size());
    k_.side.insert(k_.side.end(), registers.begin(), registers.end());
    return first;
  }

  void emit_texture() {
    const bool store = in_->op == Op::sust, surface = store || in_->op == Op::suld;
    const Operand &handle = in_->operands[store ? 0 : 1], &coordinates = in_->operands[store ? 1 : 2],
                  &data = in_->operands[store ? 2 : 0];
    TextureForm form;
    form.op = store                 ? TextureForm::Op::store
              : surface             ? TextureForm::Op::load
              : in_->op == Op::tld4 ? TextureForm::Op::gather
                                    : TextureForm::Op::fetch;
    form.layered = in_->has(Mod::a1d) || in_->has(Mod::a2d);
    form.dimensions = in_->has(Mod::dim_3d) ? 3 : in_->has(Mod::dim_2d) || in_->has(Mod::a2d) ? 2 : 1;
    form.integer_coordinates = !surface && in_->types.back() == Type::s32;
    form.elements = in_->vector;
    form.element_bytes = static_cast<uint8_t>(ptx::size_of(in_->type()));
    form.component = in_->has(Mod::g) ? 1 : in_->has(Mod::b) ? 2 : in_->has(Mod::a) ? 3 : 0;
    form.bounds = in_->has(Mod::clamp)  ? TextureForm::Bounds::clamp
                  : in_->has(Mod::zero) ? TextureForm::Bounds::zero
                                        : TextureForm::Bounds::trap;
    std::vector<uint32_t> list;
    const auto add = [&](const Operand& operand, uint32_t count, Type type) {
      for (uint32_t i = 0; i < count; ++i) {
        const Operand& o = operand.kind == Operand::Kind::vector ? in_->elements[operand.first + i] : operand;
        const bool is_register = o.kind == Operand::Kind::reg, is_sink = o.kind == Operand::Kind::sink;
        list.push_back(is_sink ? no_operand : is_register ? register_at(o.reg) : source(o, type));
        list.push_back(lane_bytes(is_register ? s_->f->registers[o.reg].type : type));
      }
    };
    add(data, form.elements, in_->type());
    add(coordinates, form.dimensions + (form.layered ? 1 : 0), surface ? Type::b32 : in_->types.back());
    const auto first = static_cast<uint32_t>(k_.side.size());
    k_.side.insert(k_.side.end(), list.begin(), list.end());
    put_guard();
    Inst& i = put(access_texture, guarded());
    i.a = register_at(handle.reg);
    i.b = first;
    i.imm = std::bit_cast<uint64_t>(form);
  }

  Space space_of(const SymbolRef& symbol) const {
    switch (symbol.kind) {
      case SymbolRef::Kind::module_variable: return m_.variables[symbol.index].space;
      case SymbolRef::Kind::local_variable: return s_->f->variables[symbol.index].space;
      default: return Space::generic;
    }
  }

  /// Lane bytes of the data registers: the widest one written; constants take the type's.
  uint32_t data_width(const Operand& data) const {
    auto of = [&](const Operand& o) {
      return o.kind == Operand::Kind::reg ? lane_bytes(s_->f->registers[o.reg].type) : 0;
    };
    uint32_t width = of(data);
    bool mixed = false;
    if (data.kind == Operand::Kind::vector)
      for (uint32_t i = 0; i < data.count; ++i) {
        const uint32_t w = of(in_->elements[data.first + i]);
        mixed |= width != 0 && w != 0 && w != width;
        width = std::max(width, w);
      }
    if (mixed) unsupported("registers of several widths in one vector");
    return width != 0 ? width : lane_bytes(in_->type());
  }
  static Type wide_type(uint32_t lane_bytes, Type type) {
    if (exec::lane_bytes(type) == lane_bytes) return type;
    return lane_bytes == 2   ? Type::b16
           : lane_bytes == 4 ? Type::b32
           : lane_bytes == 8 ? Type::b64
                             : Type::b128;
  }

  // Everything else.

  /// Jumps around what follows for the lanes without the predicate; returns the jump's place.
  void put_skip(uint32_t next_instruction) {
    if (!guarded()) return;
    Inst& skip = put(set_.control.branch_if, true);
    skip.a = register_at(in_->guard);
    skip.imm = in_->guard_negated ? 0 : 1;
    const auto at = static_cast<uint32_t>(k_.code.size() - 1);
    fixups_.push_back({at, Fixup::Kind::target, next_instruction});
    fixups_.push_back({at, Fixup::Kind::join, next_instruction});
  }

  void put_join(uint32_t instruction) {
    const uint32_t join = s_->flow.blocks[s_->flow.block_of[instruction]].join;
    if (join == no_index) return;
    const uint32_t target = join == s_->flow.blocks.size() ? static_cast<uint32_t>(s_->f->body.size())
                                                           : s_->flow.blocks[join].begin;
    fixups_.push_back({static_cast<uint32_t>(k_.code.size() - 1), Fixup::Kind::join, target});
  }

  void put_branch(uint32_t instruction, uint32_t target) {
    if (guarded()) {
      Inst& i = put(set_.control.branch_if, false);
      i.a = register_at(in_->guard);
      i.imm = in_->guard_negated ? 1 : 0;
      put_join(instruction);
    } else {
      put(set_.control.branch, false);
    }
    fixups_.push_back({static_cast<uint32_t>(k_.code.size() - 1), Fixup::Kind::target, target});
  }

  void emit(uint32_t index) {
    switch (in_->op) {
      case Op::bra: put_branch(index, s_->f->labels[in_->operands[0].index].instruction); return;
      case Op::brx: emit_table_branch(index); return;
      case Op::ret:
        if (!s_->f->is_entry) {
          put_branch(index, static_cast<uint32_t>(s_->f->body.size()));
          return;
        }
        [[fallthrough]];
      case Op::exit: {
        Inst& i = put(set_.control.exit, false);
        if (guarded()) i.a = register_at(in_->guard);
        i.imm = in_->guard_negated ? 1 : 0;
        return;
      }
      case Op::call:
        put_skip(index + 1);
        emit_call_unguarded();
        return;
      case Op::trap:
        put_skip(index + 1);
        put(set_.control.trap, false);
        return;
      case Op::nanosleep:
        put_skip(index + 1);
        put(set_.control.sleep, false);
        return;
      case Op::bar:
      case Op::barrier: emit_barrier(index); return;
      case Op::membar:
      case Op::fence:
      case Op::prefetch:
      case Op::prefetchu:
      case Op::discard:
      case Op::applypriority:
      case Op::pmevent:
      case Op::brkpt: put(set_.control.nothing, false); return;
      case Op::ld:
      case Op::ldu:
      case Op::st:
      case Op::atom:
      case Op::red: emit_memory(); return;
      case Op::tex:
      case Op::tld4:
      case Op::suld:
      case Op::sust: emit_texture(); return;
      case Op::mov: emit_move(); return;
      case Op::cvta: emit_cvta(); return;
      case Op::isspacep: emit_isspacep(); return;
      case Op::shfl:
      case Op::vote:
      case Op::match:
      case Op::redux:
      case Op::elect: emit_crosslane(index); return;
      default: emit_register_instruction(); return;
    }
  }

  void emit_call_unguarded() {
    const ptx::Instruction plain = without_guard(*in_);
    const ptx::Instruction* guarded_one = in_;
    in_ = &plain;
    emit_call();
    in_ = guarded_one;
  }
  static ptx::Instruction without_guard(ptx::Instruction in) {
    in.guard = no_index;
    return in;
  }

  void emit_table_branch(uint32_t index) {
    put_skip(index + 1);
    const ptx::Table& table = s_->f->tables[in_->operands[1].index];
    const uint32_t a = source(in_->operands[0], Type::u32);
    Inst& i = put(set_.control.branch_table, false);
    i.a = a;
    i.b = static_cast<uint32_t>(k_.side.size());
    i.imm = table.labels.size();
    put_join(index);
    for (uint32_t label : table.labels) {
      table_fixups_.push_back({static_cast<uint32_t>(k_.side.size()), s_, s_->f->labels[label].instruction});
      k_.side.push_back(0);
    }
  }
  struct TableFixup {
    uint32_t side;
    const FunctionState* function;
    uint32_t instruction;
  };
  std::vector<TableFixup> table_fixups_;

  void emit_barrier(uint32_t index) {
    put_skip(index + 1);
    uint32_t a = zero32_, b = no_operand, c = no_operand, d = no_operand;
    uint64_t imm = barrier_sync;
    for (const BoundOperand& bound : bind_operands(*in_)) {
      if (bound.pattern->name == "m") {
        Inst& i = put(set_.control.sync, false);
        i.a = no_operand;
        const auto at = k_.code.size() - 1;
        const uint32_t members = source_before(at, *bound.operand, Type::u32);
        k_.code.back().a = members;
        k_.code.back().imm = 1;
        return;
      }
      if (bound.pattern->name == "a") a = source(*bound.operand, Type::u32);
      if (bound.pattern->name == "b") b = source(*bound.operand, Type::u32);
      if (bound.pattern->name == "c") {
        c = source(*bound.operand, Type::pred);
        if (bound.operand->negated) imm |= barrier_negated;
      }
      if (bound.pattern->name == "d") {
        if (bound.operand->kind != Operand::Kind::reg) unsupported("destination operand");
        d = register_at(bound.operand->reg);
      }
    }
    if (in_->has(Mod::arrive)) imm |= barrier_arrive;
    if (in_->has(Mod::red))
      imm |= in_->has(Mod::popc) ? barrier_popc : in_->has(Mod::and_) ? barrier_and : barrier_or;
    Inst& i = put(set_.control.barrier, false);
    i.a = a;
    i.b = b;
    i.c = c;
    i.d = d;
    i.imm = imm;
  }

  /// source() for an instruction that is already the last of the code: helpers go before it.
  uint32_t source_before(size_t at, const Operand& o, Type type) {
    const Inst last = k_.code[at];
    k_.code.pop_back();
    const uint32_t reg = source(o, type);
    k_.code.push_back(last);
    return reg;
  }

  void emit_crosslane(uint32_t index) {
    put_skip(index + 1);
    const ptx::Instruction plain = without_guard(*in_);
    const ptx::Instruction* real = in_;
    in_ = &plain;
    for (const BoundOperand& bound : bind_operands(*in_))
      if (bound.pattern->name == "m") {
        const uint32_t members = source(*bound.operand, Type::u32);
        // Sources are read before the wait, so that nothing but the instruction itself follows it.
        Inst sync;
        sync.fn = set_.control.sync;
        sync.a = members;
        emit_register_instruction(&sync);
        in_ = real;
        return;
      }
    emit_register_instruction();
    in_ = real;
  }

  void emit_move() {
    const Operand &d = in_->operands[0], &a = in_->operands[1];
    std::vector<std::array<uint32_t, 4>> later;
    HandlerKey key = key_of(*in_);
    const uint32_t bytes = lane_bytes(in_->type());
    if (a.kind == Operand::Kind::vector || d.kind == Operand::Kind::vector) {
      const bool pack = a.kind == Operand::Kind::vector;
      const Operand& v = pack ? a : d;
      if (v.count != 2 && v.count != 4) unsupported("vector of this length");
      const uint32_t part = bytes / v.count;
      if (part < 2) unsupported("pieces of 8 bits");
      const Type part_type = part == 2 ? Type::b16 : part == 4 ? Type::b32 : Type::b64;
      std::array<uint32_t, 4> parts{no_operand, no_operand, no_operand, no_operand};
      for (uint32_t i = 0; i < v.count; ++i) {
        const Operand& o = in_->elements[v.first + i];
        if (pack)
          parts[i] = source(o, part_type);
        else if (o.kind != Operand::Kind::sink)
          parts[i] = destination(o, part_type, later);
      }
      const uint32_t whole = pack ? destination(d, in_->type(), later) : source(a, in_->type());
      key.vector = static_cast<uint8_t>(v.count);
      key.sources = pack ? static_cast<uint8_t>(v.count) : 1;
      const Handler h = select(key);
      put_guard();
      Inst& i = put(h, guarded());
      if (pack) {
        i.d = whole;
        i.a = parts[0];
        i.b = parts[1];
        i.c = parts[2];
        i.aux = parts[3];
      } else {
        i.a = whole;
        i.d = parts[0];
        i.b = parts[1];
        i.c = parts[2];
        i.aux = parts[3];
      }
      put_later(later);
      return;
    }
    const uint32_t from = source(a, in_->type());
    const uint32_t to = destination(d, in_->type(), later);
    key.sources = 1;
    const Handler h = select(key);
    put_guard();
    Inst& i = put(h, guarded());
    i.d = to;
    i.a = from;
    i.imm = a.negated ? 1 : 0;
    put_later(later);
  }

  /// Generic addresses of global, constant and parameter memory are those of the space; shared and local
  /// memory have windows.
  void emit_cvta() {
    const Space space = in_->space;
    std::vector<std::array<uint32_t, 4>> later;
    const uint32_t a = source(in_->operands[1], in_->type());
    const uint32_t d = destination(in_->operands[0], in_->type(), later);
    uint64_t window = is_shared(space) ? shared_window : space == Space::local ? local_window : 0;
    if ((space == Space::param || space == Space::param_func) && !s_->f->is_entry) window = local_window;
    if (window == 0 || lane_bytes(in_->type()) == 4)
      put_copy(lane_bytes(in_->type()), d, a, false);
    else
      put_wide(in_->has(Mod::to) ? Op::sub : Op::add, d, a, constant(8, window), false);
  }

  void emit_isspacep() {
    const uint32_t a = source(in_->operands[1], Type::u64);
    const uint32_t d = register_at(in_->operands[0].reg);
    if (!is_shared(in_->space) && in_->space != Space::local) {
      put_guard();
      Inst& i = put(is_space, guarded());
      i.d = d;
      i.a = a;
      i.imm = static_cast<uint64_t>(in_->space);
      return;
    }
    // Inside the window: address - window < size, unsigned.
    const uint32_t offset = scratch(8);
    HandlerKey key;
    key.op = Op::sub;
    key.types[0] = Type::u64;
    Inst& sub = put(set_.select(key), true);
    sub.d = offset;
    sub.a = a;
    sub.b = constant(8, in_->space == Space::local ? local_window : shared_window);
    key.op = Op::setp;
    key.modifiers.set(static_cast<size_t>(Mod::lt));
    const Handler h = select(key);
    put_guard();
    Inst& i = put(h, guarded());
    i.d = d;
    i.a = offset;
    i.b = constant(8, window_size);
  }

  /// Instructions whose operands the table describes: d a b c (e), predicates q or p beside d. `before` is
  /// put right before the instruction, after all helpers.
  void emit_register_instruction(const Inst* before = nullptr) {
    std::vector<std::array<uint32_t, 4>> later;
    HandlerKey key = key_of(*in_);
    uint32_t d = no_operand, second = no_operand;
    std::array<uint32_t, 4> sources{no_operand, no_operand, no_operand, no_operand};
    uint64_t imm = 0;
    uint8_t count = 0;
    for (const BoundOperand& bound : bind_operands(*in_)) {
      const ptx::OperandPattern& p = *bound.pattern;
      const Operand& o = *bound.operand;
      if (p.name == "m") continue;  // the member mask: see emit_crosslane
      if (p.destination) {
        const bool first = d == no_operand && !p.piped;
        if (o.kind == Operand::Kind::sink && !first) continue;
        (first ? d : second) = destination(o, type_of(p), later);
        continue;
      }
      if (p.piped) {  // p of `d|p`
        if (o.kind != Operand::Kind::sink) second = destination(o, type_of(p), later);
        continue;
      }
      if (p.constant_only) {
        imm |= o.bits;
        continue;
      }
      if (count == 4) unsupported("operands");
      if (o.negated) imm |= negation_bit(count);
      sources[count++] = source(o, type_of(p));
    }
    key.sources = count;
    const Handler h = select(key);
    if (before != nullptr) {
      Inst& i = put(before->fn, true);
      i.a = before->a;
    }
    put_guard();
    Inst& i = put(h, guarded());
    i.d = d;
    i.a = sources[0];
    i.b = sources[1];
    i.c = sources[2];
    i.aux = count == 4 ? sources[3] : second;
    if (in_->op == Op::lop3 && count == 4) {  // lop3.or d|p, a, b, c, table, q: q beside the table
      i.aux = second;
      imm |= uint64_t{sources[3]} << 32;
    }
    if (in_->has(Mod::cc) || in_->op == Op::addc || in_->op == Op::subc || in_->op == Op::madc)
      i.aux = s_->carry;
    i.imm = imm;
    put_later(later);
  }

  /// Which bit of Inst::imm says that source `n` is negated: see handlers/registers.hpp.
  uint64_t negation_bit(uint8_t n) const {
    switch (in_->op) {
      case Op::setp:
      case Op::set:
      case Op::selp: return 1;
      case Op::lop3: return 1ull << 8;
      default: return 1ull << n;
    }
  }

  void finish() {
    for (const TableFixup& fix : table_fixups_) k_.side[fix.side] = fix.function->code_of[fix.instruction];
    for (const CallFixup& fix : calls_) k_.code[fix.code].b = functions_[fix.place].entry;
    for (const FunctionState& s : functions_)
      if (!s.f->is_entry) k_.functions.push_back({symbols_.functions[s.index], s.entry});
    k_.register_bytes = round_up(top_, 64);
    const bool recursive = k_.stack_pointer != no_operand;
    k_.stack_begin = local_top_;
    k_.local_bytes = round_up(local_top_ + (recursive ? recursion_stack : 0), 16);
    std::sort(k_.shared.begin(), k_.shared.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
  }
};

}  // namespace

Kernel decode(const ptx::Module& module, uint32_t function, const SymbolTable& symbols, bool observed) {
  return Decoder(module, symbols, observed).run(function);
}

}  // namespace lanescope::exec
