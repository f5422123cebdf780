// The decoder's own header: one Decoder turns one kernel, with all functions it may call, into a Kernel. Its
// parts:
// - decode.cpp: which functions, where everything lies, and the way through the instructions
// - decode_operands.cpp: operands → offsets into the register file; helper instructions around an instruction
// - decode_registers.cpp: instructions that only touch registers
// - decode_memory.cpp: loads, stores, atomics, textures, addresses
// - decode_async.cpp: copies that run beside the program, and the barriers they signal
// - decode_matrix.cpp: matrix instructions
// - decode_checks.cpp, decode_values.cpp: what stands beside instructions when a launch is checked
// - decode_control.cpp: branches, calls, barriers, instructions of the whole warp
//
// The register file of a warp holds, in this order: constants and special registers (written once), scratch
// registers for helper instructions, and for each function of the kernel its register slots. Local memory of
// a lane holds the area in which call arguments and results are handed over, then for each function its
// parameters and local variables.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "exec/bulk_copy.hpp"
#include "exec/decode.hpp"
#include "exec/flow.hpp"
#include "exec/handlers.hpp"
#include "exec/meetings.hpp"
#include "exec/texture.hpp"
#include "exec/unrolling.hpp"
#include "exec/wait_loop.hpp"
#include "exec/yields.hpp"
#include "ptx/matrix.hpp"

namespace lanescope::exec {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::SpecialRegister;
using ptx::SymbolRef;
using ptx::Type;

inline uint32_t round_up(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }
inline uint32_t register_bytes(uint32_t lane_bytes) { return lane_bytes == 0 ? 4 : lane_bytes * warp_lanes; }

/// Whether it adds or subtracts the carry of an instruction with .cc.
inline bool takes_carry(Op op) { return op == Op::addc || op == Op::subc || op == Op::madc; }

/// A register whose value a compare-and-swap in this variable of shared memory expects.
struct Guess {
  uint32_t reg = no_index;
  SymbolRef variable{};
  friend bool operator==(const Guess&, const Guess&) = default;
};

class Decoder {
 public:
  Decoder(const ptx::Module& module, const SymbolTable& symbols, bool observed, Checking checking)
      : m_(module),
        symbols_(symbols),
        observed_(observed),
        checked_(checking != Checking::none),
        follows_values_(checking == Checking::with_values),
        set_(host_handlers()) {}

  Kernel run(uint32_t entry);

 private:
  const ptx::Module& m_;
  const SymbolTable& symbols_;
  bool observed_, checked_, follows_values_;
  const HandlerSet& set_;
  Kernel k_;

  struct FunctionState {
    uint32_t index = 0;
    const ptx::Function* f = nullptr;
    Flow flow;
    std::vector<WaitLoop> wait_loops;
    std::vector<UnrolledLoop> unrolled;
    Yields yields;
    uint32_t first_wait_loop = 0;  ///< its place in Kernel::wait_loops
    bool recursive = false;
    bool address_taken = false;
    bool may_give_way = false;  ///< itself, or a function that it calls: see yields.hpp
    bool moves_stack = false;   ///< by alloca and its like
    uint32_t slots_at[5]{};     ///< register file offset of slot 0, by width class
    uint32_t registers_begin = 0, registers_end = 0;
    uint32_t carry = no_operand;  ///< predicate register of .cc
    uint32_t frame = no_operand;  ///< 64-bit register: where the frame begins in local memory
    uint32_t stack_before =
        no_operand;  ///< 64-bit register: the stack pointer on entry, if the function moves it
    uint32_t frame_begin = 0, frame_bytes = 0;
    uint32_t machine_frame = 0;  ///< bytes that a GPU's frame of a recursive function has at least
    std::vector<uint32_t> param_at, return_at, variable_at;  ///< offsets in the frame
    uint32_t entry = 0;
    std::vector<uint32_t> code_of;  ///< by instruction, and one more: the function's end
    struct Call {
      uint32_t instruction;
      std::vector<uint32_t> callees;  ///< places in functions_
    };
    std::vector<Call> calls;
    std::vector<bool> reaches;  ///< by place in functions_: those that it calls, that these call, and so on
    uint32_t locals_begin = 0, locals_end = 0;  ///< of Kernel::local_variables, in a checked kernel
    std::vector<SymbolRef> shared_base;         ///< by register, in a checked kernel: see decode_checks.cpp
    std::vector<Guess> guesses;                 ///< likewise
    std::vector<bool> followed;  ///< by register: it may hold what nobody has written (decode_values.cpp)
  };
  std::vector<FunctionState> functions_;
  std::map<uint32_t, uint32_t> followed_;  ///< offset in the register file → FollowedRegister::number
  std::vector<uint32_t> builtins_;         ///< Module::functions the engine itself provides
  std::map<uint32_t, uint32_t> place_of_;  ///< Module::functions index → place in functions_
  FunctionState* s_ = nullptr;             ///< the function being emitted
  const ptx::Instruction* in_ = nullptr;   ///< the instruction being emitted

  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint32_t> constants_;
  std::map<SpecialRegister, uint32_t> specials_;
  uint32_t zero_ = 0, zero32_ = 0;
  std::map<uint32_t, uint32_t> module_shared_;                         ///< Module::variables index → offset
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> function_shared_;  ///< {function, variable} → offset
  uint32_t top_ = 0;                     ///< next free byte of the register file
  uint32_t machine_stack_ = no_operand;  ///< 32-bit register: bytes of recursive functions' frames on a GPU
  uint32_t call_area_ = 0;  ///< bytes for the arguments, and as many for the results, of any call
  uint32_t local_top_ = 0;
  uint32_t scratch_used_[5]{};
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> scratch_;

  // Places in the code that are known only later.
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
  struct TableFixup {
    uint32_t side;
    const FunctionState* function;
    uint32_t instruction;
  };
  std::vector<TableFixup> table_fixups_;
  /// Instructions of the function that access memory.
  struct SiteInCode {
    uint32_t code, site;
  };
  std::vector<SiteInCode> sites_in_code_;

  // decode.cpp

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  static std::string text_of(const ptx::Instruction& in);
  /// All functions the kernel may call, itself first.
  void collect(uint32_t entry);
  /// Places in functions_ of those that a call may be of: of a call through a pointer, all whose address is
  /// taken.
  [[nodiscard]] std::vector<uint32_t> callees_of(const ptx::Instruction& in) const;
  /// FunctionState::reaches.
  [[nodiscard]] std::vector<bool> reached_from(const FunctionState& s) const;
  void place_params(const ptx::Function& f);
  void place_shared();
  void place_call_area();
  static uint32_t next_argument(uint32_t& at, const ptx::Variable& v);
  void prepare(FunctionState& s);
  /// The frame: parameters and results of a device function, then what its body declares.
  void place_frame(FunctionState& s);
  /// All in one piece, so that a recursive call can save them.
  void place_registers(FunctionState& s);
  void emit_function(FunctionState& s);
  void new_origin();
  void emit(uint32_t index);
  /// The instruction itself, without what follows its values.
  void emit_alone(uint32_t index);
  void finish();

  // decode_operands.cpp

  uint32_t allocate(uint32_t bytes);
  uint32_t constant(uint32_t lane_bytes, uint64_t bits, uint64_t high = 0);
  uint32_t special(SpecialRegister reg);
  uint32_t read_special(SpecialRegister reg);
  uint32_t params_address();
  /// A register for the helper instructions around one instruction.
  uint32_t scratch(uint32_t lane_bytes);
  uint32_t register_at(uint32_t reg) const;
  /// Lane bytes of the register `reg` of the function.
  uint32_t width_of(uint32_t reg) const { return lane_bytes(s_->f->registers[reg].type); }

  struct Place {
    uint32_t base = no_operand;  ///< 64-bit register (constant or not); no_operand: a kernel parameter
    uint64_t offset = 0;
  };
  /// Where a symbol lies in its own space.
  Place place_of(const SymbolRef& symbol, uint64_t offset);
  uint64_t shared_of(uint32_t variable);
  /// A register that holds place's address, `bytes` wide.
  uint32_t address_register(Place place, uint32_t bytes);

  /// The register that holds a source operand of `type`, in the type's own width.
  uint32_t source(const Operand& o, Type type);
  /// A result that an instruction leaves in one register and that belongs, wider or narrower, in another.
  struct Resize {
    uint32_t to, from, to_bytes, from_bytes;
    bool sign;
  };
  using Resizes = std::vector<Resize>;
  /// The destination register for a result of `type`; what has to be resized into the real one goes to
  /// `later`.
  uint32_t destination(const Operand& o, Type type, Resizes& later);
  void put_later(const Resizes& later);
  Type type_of(const ptx::OperandPattern& p) const;

  HandlerKey key_of(const ptx::Instruction& in) const;
  Handler select(const HandlerKey& key);
  Inst& put(Handler fn, bool helper);
  /// Puts the predicate's guard before the next instruction.
  void put_guard();
  bool guarded() const { return in_->guard != no_index; }
  /// d ← a op b on 64-bit registers, for addresses; without the guard.
  void put_wide(Op op, uint32_t d, uint32_t a, uint32_t b, bool helper = true);
  void put_copy(uint32_t lane_bytes, uint32_t d, uint32_t a, bool helper);
  void put_resize(const Resize& r);
  /// A list of operands for Inst: returns its first place in Kernel::side.
  uint32_t put_side(const std::vector<uint32_t>& list);

  // decode_registers.cpp

  /// Instructions whose operands the table describes: d a b c (e), predicates q or p beside d. `before` is
  /// put right before the instruction, after all helpers.
  void emit_register_instruction(const Inst* before = nullptr);
  void emit_move();
  /// mov of one value, from and to registers of its type; as a `helper` of the instruction, or as itself.
  void put_move(uint32_t to, uint32_t from, bool negated, bool helper);
  /// Which bit of Inst::imm says that source `n` is negated: see handlers/registers.hpp.
  uint64_t negation_bit(uint8_t n) const;

  // decode_memory.cpp

  uint32_t new_site(AccessKind kind, Space space, uint64_t width);
  /// The last site is of this instruction of the function.
  void note_instruction(uint32_t index);
  /// A written address, for the handlers.
  struct Address {
    uint32_t base = no_operand;  ///< register; no_operand: a kernel parameter
    uint32_t bytes = 8;          ///< lane bytes of base: 4, 8; 0: a kernel parameter
    uint32_t offset = 0;         ///< to be added, with its sign
    Space space{};               ///< the written one, or that of the symbol
  };
  Address address_of(const Operand& o, Space space);
  /// Whether an access to parameters goes to the frame of a device function, or of a call.
  [[nodiscard]] bool lies_in_frame(const ptx::Instruction& in, const Operand& address) const {
    return is_param(in.space) && !(s_->f->is_entry && (address.symbol.kind == SymbolRef::Kind::parameter ||
                                                       address.symbol.kind == SymbolRef::Kind::none));
  }
  Address generic_address(const Address& address);
  void emit_memory();
  /// Whether some instruction reads what this one gives.
  [[nodiscard]] bool is_result_read() const;
  /// The registers of an atomic's vector, in Kernel::side; returns their first place there.
  uint32_t atomic_elements(const Operand& vector, bool written, Resizes& later);
  /// Where the handle is that a texture operand names or holds; says in `form` which.
  uint32_t texture_handle(const Operand& operand, TextureForm& form);
  void emit_texture();
  Space space_of(const SymbolRef& symbol) const;
  /// Lane bytes of the data registers: the widest one written; constants take the type's.
  uint32_t data_width(const Operand& data) const;
  static Type wide_type(uint32_t lane_bytes, Type type);
  /// Generic addresses of global, constant and parameter memory are those of the space; shared and local
  /// memory have windows.
  void emit_cvta();
  void emit_isspacep();
  void emit_texture_query();
  /// alloca, stacksave, stackrestore.
  void emit_stack();

  // decode_async.cpp

  /// cp.async, mbarrier, bulk copies, clusters, and what orders and hints at them. False if the instruction
  /// is none of them.
  bool emit_async(uint32_t index);
  void emit_copy_async();
  void emit_mbarrier();
  void emit_bulk_copy();
  void emit_zeros();
  /// clusterlaunchcontrol.
  void emit_cancellation();
  void emit_cancellation_query();
  /// tensormap.replace and tensormap.cp_fenceproxy.
  void emit_tensor_map();
  BulkOperand bulk_address(const Operand& o, Space space);
  BulkOperand value_operand(const Operand& o, Type type);
  /// Where they begin in Kernel::side.
  uint32_t put_operands(const std::vector<BulkOperand>& operands);
  /// A copy with these operands, and with coordinates or values. `site`: index of Kernel::accesses.
  void put_bulk_copy(BulkForm form, const std::array<BulkOperand, BulkPlace::list>& operands,
                     const std::vector<BulkOperand>& list, uint32_t site);
  /// The `and` by which a program that works with pairs of blocks finds the even one (cluster.hpp). False if
  /// the instruction is none.
  bool emit_even_block();
  /// mapa, getctarank.
  void emit_rank();
  /// An operand of in_ by the name the instruction table gives it; nullptr if it is not written.
  [[nodiscard]] const Operand* operand(std::string_view name) const;

  // decode_checks.cpp: what stands beside instructions when a launch is checked

  void place_local_variables(FunctionState& s);
  void put_check_enter(const FunctionState& s);
  /// Before the memory instruction that has these operands.
  /// False if nothing is checked of it.
  bool put_check(const HandlerKey& key, AccessKind kind, uint32_t base, uint32_t offset, uint32_t data,
                 uint32_t list);
  /// Before a part of a matrix instruction, in which `lanes` access a place of `registers` elements each;
  /// `data`: the registers, of `data_bytes` a lane.
  void put_matrix_check(AccessKind kind, uint32_t base, uint32_t offset, uint32_t element, uint32_t elements,
                        uint32_t lanes, const std::vector<FollowedRegister>& data, uint32_t data_bytes,
                        RowLayout layout = {}, uint32_t row_bits = 8);
  /// An access of one element.
  [[nodiscard]] CheckedAccess whole_access(AccessKind kind, Space space, const Address& at,
                                           uint32_t bytes) const;
  /// Before a cp.async, for what it writes, and for what it reads.
  void put_copy_check(const Address& to, uint32_t bytes);
  void put_copy_source_check(const Address& from, uint32_t bytes);
  /// Before an instruction that initialises an mbarrier (a store) or uses it (atomically).
  void put_mbarrier_check(const Address& object, AccessKind kind);
  void put_check(CheckedAccess access, uint32_t base, uint32_t offset);
  /// Notes of an access by in_ from which variable of shared memory its address comes.
  void find_variable(CheckedAccess& access);
  /// The accesses of a bulk copy at in_, which says itself where they go.
  uint32_t new_bulk_access(AccessKind kind);
  /// The same of what wgmma or tcgen05 reads; no_operand if the kernel is not checked.
  uint32_t new_product_access(AccessKind kind);
  /// An instruction that only checks know anything of.
  void emit_for_checks(Handler handler, uint64_t imm = 0);
  /// Whether what the instruction orders, it orders for blocks outside the cluster, too.
  [[nodiscard]] bool is_for_device() const { return !in_->has(Mod::cta) && !in_->has(Mod::cluster); }
  /// ld.param and st.param of `bytes` bytes must stay inside the parameter that they name.
  void check_parameter(const Operand& address, uint64_t bytes) const;

  // decode_values.cpp: what follows the values that loads of a checked launch may have left undefined

  /// Whether they are followed in this function.
  [[nodiscard]] bool follows_values() const { return follows_values_ && !s_->recursive; }
  /// Whether lanes do it together, and its results are made of registers (of wgmma: of memory, too).
  [[nodiscard]] static bool is_of_all_lanes(const ptx::Instruction& in);
  /// Which registers of the function may hold them.
  void find_followed_registers(FunctionState& s);
  [[nodiscard]] FollowedRegister followed(uint32_t reg) const;
  /// Those of `registers` that are followed.
  [[nodiscard]] std::vector<FollowedRegister> followed_of(const std::vector<uint32_t>& registers) const;
  /// A register of the decoder's own, of four bytes a lane, that a part of an instruction makes.
  [[nodiscard]] FollowedRegister followed_scratch(uint32_t at);
  /// The register of an element that a load or store moves, if it is one of the program's.
  [[nodiscard]] FollowedRegister followed_element(const Operand& data, uint32_t element) const;
  /// What the instruction does with its registers.
  [[nodiscard]] ValueFlow flow_of_values();
  /// Before the instruction, and by its `guard`; false where there is nothing to follow.
  bool put_values(ValueFlow flow, bool guard);
  void put_guard_values();
  /// The same before what `emit` puts, which is the instruction and all that belongs to it.
  bool emit_followed(const ValueFlow& flow, const std::function<void()>& emit);
  /// An instruction of all lanes, of which values are followed between the wait for them, the last one put if
  /// it `waits`, and itself; any other one as it is.
  void emit_behind_wait(bool waits, const std::function<void()>& emit);

  // decode_tensor.cpp

  /// tcgen05. False if the instruction is something else.
  bool emit_tensor(uint32_t index);
  void emit_allocation();
  void emit_tensor_access();
  void emit_tensor_product();
  std::vector<uint32_t> tensor_registers(const Operand& o, bool sources);

  // decode_matrix.cpp

  void emit_matrix(uint32_t index);
  /// A 64-bit register with the written address, of `shared` and generic ones with the offset in shared
  /// memory.
  uint32_t matrix_address(const Operand& o, bool shared, uint32_t& offset);
  void put_matrix_sync();
  /// The registers of a fragment of elements of `type`.
  std::vector<uint32_t> fragment(const Operand& o, Type type);
  /// The same, as far as they are followed.
  [[nodiscard]] std::vector<FollowedRegister> followed_fragment(const Operand& o,
                                                                const std::vector<uint32_t>& registers) const;
  void emit_rows();
  void emit_product(const ptx::MatrixForm& form);
  class FragmentMemory;
  void emit_fragment_memory(const ptx::MatrixForm& form);
  void emit_group_product(const ptx::MatrixForm& form, uint32_t index);
  void put_group_barrier();
  void emit_group_wait();

  // decode_control.cpp

  /// Jumps around the instruction for the lanes without its predicate, and emits it for the others.
  template <class Emit>
  void emit_skipped(uint32_t index, Emit emit) {
    put_skip(index + 1);
    ptx::Instruction plain = *in_;
    plain.guard = no_index;
    const ptx::Instruction* real = in_;
    in_ = &plain;
    emit();
    in_ = real;
  }
  void put_skip(uint32_t next_instruction);
  void put_join(uint32_t instruction);
  uint32_t new_branch(bool backward, uint32_t straight);
  /// BranchSite::straight of a branch.
  [[nodiscard]] uint32_t straight_between(uint32_t instruction, uint32_t target) const;
  /// The first one of a block; behind the last one for the function's end.
  [[nodiscard]] uint32_t instruction_of(uint32_t block) const;
  void put_bypass(const Flow::Block& block);
  void put_branch(uint32_t instruction, uint32_t target);
  /// Which of Kernel::wait_loops is closed by the way from an instruction to `target`; no_operand: none.
  [[nodiscard]] uint32_t wait_loop_closed_by(uint32_t instruction, uint32_t target) const;
  /// Before an instruction: where the one before it falls through to it and so closes a loop that only waits.
  void put_way_back(uint32_t instruction);
  /// Before an instruction: where lanes give way to others, or wait for them.
  void put_yield(uint32_t instruction);
  /// Where a loop begins that the assembler unrolls: lanes may go to its unrolled code.
  void put_entry_of_unrolled(uint32_t instruction);
  /// That code, behind the function: the body four times, with a way back, then twice, then once.
  void put_unrolled();
  /// A copy of the code of a loop's body, [begin, back), and in place of the branch `back`, which closes it,
  /// an instruction that does nothing. `number`: AccessSite::copy; 0: what it accesses is counted with the
  /// loop as it is written.
  void put_iteration(uint32_t begin, uint32_t back, uint32_t number);
  /// Of a branch that leads past meetings, in such a copy: a list of its own of those.
  void copy_bypass(Inst& branch, uint32_t begin, uint32_t back, uint32_t moved);
  /// Puts the function's loops that only wait into Kernel::wait_loops, once its code is there.
  void place_wait_loops();
  void emit_table_branch(uint32_t index);
  void emit_barrier();
  /// What waits for the lanes of a member mask.
  Handler sync_for(const Operand& members) const;
  void emit_crosslane();

  // Calls. Arguments go through local memory [0, call_area_), results through [call_area_, 2 * call_area_).
  void emit_call();
  void put_local_copy(uint32_t from_base, uint64_t from, uint32_t to_base, uint64_t to, uint64_t bytes);
  void prologue();
  void epilogue();
  void put_frame_count(bool is_call);
  void move_argument(const Operand& o, const ptx::Variable& param, uint32_t to);
  void move_result(const Operand& o, const ptx::Variable& result, uint32_t from);
  void local_access(Op op, const ptx::Variable& v, uint32_t data, uint32_t offset);
};

}  // namespace lanescope::exec
