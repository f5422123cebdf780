// A kernel decoded for running: small trivial instructions, each with the function that executes it for one
// warp.
//
// A register is 32 lanes side by side in the warp's register file; an operand is a byte offset into that
// file. Immediates and special registers are registers too (written once, never changed), so that no
// instruction asks what kind an operand is. Predicates are 32-bit lane masks. Idea of small decoded
// instructions: RE2's prog.h; of registers as lane vectors: every SIMD machine since the ILLIAC.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "exec/matrix_rows.hpp"
#include "exec/observer.hpp"
#include "exec/unrolled_loop.hpp"
#include "ptx/instruction_set.hpp"

namespace lanescope::exec {

struct Warp;
struct Inst;

/// Executes one instruction for the lanes of warp.mask and returns the next one; warp.stop leaves the run
/// loop.
using Handler = const Inst* (*)(Warp&, const Inst*);

inline constexpr uint32_t full_mask = 0xffffffffu;
inline constexpr uint32_t no_operand = 0xffffffffu;

/// One decoded instruction. Meaning of a, b, c, imm, aux by instruction class:
///   arithmetic  d ← a, b, c; aux: second destination or fourth source (an offset); imm: constant of the
///   instruction memory      a: address base, imm: byte offset, aux: index of Kernel::accesses; d or b: first
///   data operand;
///               vectors: c = first index in Kernel::side of the element offsets
///   branch      a: predicate (no_operand: none), b: target, c: reconvergence point (indices of code), imm 1:
///   negated, aux: index of Kernel::branches;
///               d: index of Kernel::wait_loops, of the one that it closes (no_operand: none), or its
///               Bypass in Kernel::side, or index of Kernel::counts
struct Inst {
  Handler fn = nullptr;
  uint32_t d = no_operand, a = no_operand, b = no_operand, c = no_operand;
  uint64_t imm = 0;
  uint32_t aux = no_operand;
  uint32_t origin_and_weight =
      0;  ///< index of Kernel::origins; the top bit is set if it is no PTX instruction itself

  [[nodiscard]] uint32_t origin() const { return origin_and_weight & ~helper_bit; }
  /// 1 for an instruction of the PTX, 0 for a helper the decoder put beside one.
  [[nodiscard]] uint32_t weight() const { return (origin_and_weight >> 31) ^ 1; }
  static constexpr uint32_t helper_bit = 0x80000000u;
};
static_assert(sizeof(Inst) == 40 && std::is_trivially_copyable_v<Inst>);

/// Inst::imm of a barrier instruction: what it does, and whether its predicate (c) is negated.
inline constexpr uint64_t barrier_kind = 7, barrier_sync = 0, barrier_arrive = 1, barrier_popc = 2,
                          barrier_and = 3, barrier_or = 4, barrier_negated = 8;
/// And whether all threads of a warp must execute it together (.aligned).
inline constexpr uint64_t barrier_aligned = 16;
/// The same: the barrier of the four warps of a warp group (wgmma.fence, wait_group), whatever `a` says.
inline constexpr uint64_t barrier_of_group = 32;
inline constexpr uint32_t block_barriers = 16, warps_of_group = 4;

/// Inst::imm of a wait for the lanes of a mask: any such instruction with the same mask will do
/// (bar.warp.sync), else the very same one; all lanes have one mask; it ends if nothing else can go on, and
/// orders no memory (Yields::gathers); a helper stands between it and the instruction that it is for.
inline constexpr uint64_t sync_anywhere = 1, sync_of_one_mask = 2, sync_may_end = 4, sync_helper = 8;

/// Inst::imm of a trap: it is a breakpoint, which ends a kernel as well where no debugger waits for it.
inline constexpr uint64_t trap_break = 1;

/// What decides which handler executes an instruction. Built by the decoder from ptx::Instruction.
struct HandlerKey {
  ptx::Op op{};
  std::array<ptx::Type, 4> types{};  ///< as written, none-padded
  ptx::Space space{};
  uint8_t vector = 1;
  uint8_t address_bytes = 8;  ///< width of the address register: 4 or 8
  uint8_t data_bytes = 0;     ///< ld, st: width of the data registers (may exceed the type's): 2, 4, 8, 16
  uint8_t sources = 0;        ///< number of source operands given (for optional ones)
  bool observed = false;
  bool checked = false;  ///< barriers and what is like them are looked at (checks.hpp)
  std::bitset<ptx::modifier_count> modifiers;
  [[nodiscard]] bool has(ptx::Mod m) const { return modifiers[static_cast<size_t>(m)]; }
};

/// Where a decoded instruction comes from.
struct Origin {
  ptx::Op op{};
  uint32_t ptx_line = 0;
  uint32_t file = 0;  ///< Module::files id; 0 if unknown
  uint32_t line = 0;  ///< line of the CUDA source; 0 if unknown
  uint32_t column = 0;
  uint32_t source = 0xffffffffu;  ///< Module::source_locs
};

/// One memory instruction of the kernel, as reports name it.
struct AccessSite {
  uint32_t origin = 0;
  AccessKind kind{};
  ptx::Space space{};    ///< as written (generic where it is decided at run time)
  uint8_t width = 4;     ///< bytes per lane, all elements
  std::string text;      ///< "ld.shared.f32"
  bool returns = false;  ///< an atomic operation whose result some instruction reads
  /// The instruction: of Module::functions, and of its body; no_operand for what calls do with their
  /// arguments.
  uint32_t function = no_operand, instruction = no_operand;
  /// 0, or in which copy of an unrolled loop's body it is (WrittenOut).
  uint32_t copy = 0;
};

/// One branch of the kernel that lanes of a warp can decide differently.
struct BranchSite {
  uint32_t origin = 0;
  /// PTX instructions between the branch and the place where its lanes meet again, where these are one or two
  /// straight pieces (if, if-else) that do not wait for other threads: what predicates could do instead. 0
  /// where they are not.
  uint32_t straight = 0;
  bool backward = false;  ///< closes a loop
  bool unrolled = false;  ///< one that the assembler unrolls (unrolling.hpp)
};

/// A piece of a block's shared memory with a name.
struct SharedVariable {
  std::string name;  ///< as the programmer wrote it
  uint32_t offset = 0;
  uint32_t size = 0;  ///< bytes; dynamic shared memory: 0 here, the rest of the block's memory
  bool dynamic = false;
  std::string array{};  ///< what this is a part or a member of; such parts have a size
  /// What the module calls it, where it is not of one function of the PTX: other kernels may use it, too.
  std::string symbol{};
  friend bool operator==(const SharedVariable&, const SharedVariable&) = default;
};

/// A variable of local memory, at its place in the memory of a lane.
struct LocalVariable {
  std::string name;
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// A register whose bits may come from memory that nobody has written (undefined_values.hpp).
struct FollowedRegister {
  uint32_t at = no_operand;        ///< in the register file
  uint32_t lane_bytes = 0;         ///< 0: a predicate
  uint32_t number = no_operand;    ///< among those of the kernel; no_operand: it cannot have such bits
  uint32_t compared = no_operand;  ///< a register of the same width that the instruction compares it with
};

/// What an instruction does with such registers.
struct ValueFlow {
  std::vector<FollowedRegister> needs;     ///< the way of the threads, or memory, depends on them
  std::vector<FollowedRegister> from, to;  ///< sources, of which results are made
};

/// One memory instruction as the checks of a launch see it (checks.hpp).
struct CheckedAccess {
  /// How the memory model takes it. Accesses of which both are `atomic` never race; volatile ones are
  /// ordered as little as plain ones, but the compiler leaves them as they are.
  enum class Strength : uint8_t { plain, is_volatile, atomic };
  uint32_t origin = 0;
  AccessKind kind{};
  Strength strength{};
  bool acquires = false, releases = false;  ///< by a modifier of its own
  bool for_device = true;                   ///< its scope has blocks outside the cluster
  bool sees = false;                        ///< some instruction reads what was there: of a `red` none does
  bool guesses = false;       ///< a load of what a compare-and-swap of the same variable expects
  bool of_bulk_copy = false;  ///< one side of it: lanes access as many bytes as they say
  bool async_proxy =
      false;  ///< … that a thread's own stores reach by a proxy fence: no st.async, red.async or st.bulk
  bool of_mbarrier = false;    ///< of its object, which says itself whether it has been initialised
  ptx::Space space{};          ///< shared, local, global or generic
  uint8_t address_bytes = 8;   ///< of the address register
  uint8_t width = 4;           ///< bytes per lane, all elements
  uint8_t element = 4;         ///< bytes of one element
  uint32_t lanes = full_mask;  ///< those that give an address: of ldmatrix and stmatrix not all
  uint8_t data_bytes = 0;      ///< lane bytes of the registers that hold the elements (0: unknown)
  std::array<FollowedRegister, 8> data{};  ///< those registers
  bool follows = false;  ///< a load into registers that are followed: unwritten bytes do no harm yet
  bool by_sign = false;  ///< … which extend what is loaded by its sign
  // Of ldmatrix and stmatrix; elements of fewer bits than a byte are packed at the beginning of a row.
  RowLayout layout{};
  uint8_t row_bits = 8;
  uint32_t flow = 0;  ///< of wgmma, if it `follows`, in Kernel::flows: its results are the accumulators, of
                      ///< elements of data_bytes
  /// The variable of shared memory from whose name the address is computed: [begin, end) of the block's
  /// memory; all of it where that is not known.
  uint32_t variable_begin = 0, variable_end = no_operand;
};

/// What kernels look like to a launch: everything decoded once.
struct Kernel {
  std::string name;          ///< as in the PTX
  std::string display_name;  ///< demangled
  std::vector<Inst> code;
  std::vector<uint32_t> side;  ///< operand lists
  std::vector<Origin> origins;
  std::vector<AccessSite> accesses;
  std::vector<BranchSite> branches;
  std::vector<SharedVariable> shared;
  std::vector<LocalVariable> local_variables;  ///< of functions that do not recurse; of checked kernels only
  std::vector<CheckedAccess> checks;           ///< of checked kernels only
  std::vector<ValueFlow> flows;                ///< of kernels whose values are followed
  uint32_t followed_registers = 0;             ///< likewise: how many FollowedRegister::number there are
  std::vector<std::string> files;              ///< Module::files paths by id

  struct Parameter {
    std::string name;
    uint32_t offset = 0, size = 0, align = 1;
    ptx::Type type{};
    bool is_array = false;
  };
  std::vector<Parameter> params;
  uint32_t param_bytes = 0;

  uint32_t entry = 0;                  ///< index of code
  uint32_t register_bytes = 0;         ///< register file of a warp
  uint32_t static_shared = 0;          ///< bytes of declared shared memory
  uint32_t dynamic_shared_offset = 0;  ///< where extern shared memory starts
  /// Of a block that is given so many bytes of dynamic shared memory. (What a GPU counts for it is without
  /// the gap: static_shared and these.)
  [[nodiscard]] uint64_t shared_bytes(uint32_t dynamic) const {
    return dynamic != 0 ? uint64_t{dynamic_shared_offset} + dynamic : static_shared;
  }
  uint32_t local_bytes = 0;  ///< local memory of a lane
  std::array<uint32_t, 3> max_threads{};
  std::array<uint32_t, 3> required_threads{};
  bool is_of_tiles = false;  ///< launched by blocks of one thread, which stands for those required
  std::array<uint32_t, 3> required_cluster{};  ///< 0: not given
  bool explicit_cluster = false;               ///< launched in clusters only
  bool blocks_are_clusters = false;            ///< programs count the grid in clusters
  uint32_t max_cluster_rank = 0;               ///< most blocks of a cluster; 0: not given
  uint32_t barriers = 1;                       ///< highest barrier number used + 1; 16 if computed

  /// A loop that only waits (wait_loop.hpp), as indices of code.
  struct WaitLoop {
    uint32_t first = 0;
    bool takes_lock = false;
    std::vector<std::array<uint32_t, 2>> code{};  ///< its pieces: [begin, end)
  };
  std::vector<WaitLoop> wait_loops;

  /// What decides how many more iterations lanes have of a loop that the assembler unrolls (unrolling.hpp).
  struct Count {
    uint32_t counter = no_operand, limit = no_operand;  ///< registers of this type
    int64_t step = 0;
    ptx::Type type{};
    ptx::Mod comparison{};
  };
  std::vector<Count> counts;
  std::map<uint32_t, std::vector<UnrolledLoop>> unrolled;  ///< by Module::functions index

  /// Entries of the functions whose address the module takes, by that address (see call_indirect).
  struct FunctionEntry {
    uint64_t address;
    uint32_t entry;
  };
  std::vector<FunctionEntry> functions;
  /// Calls that may come back to the caller: what its registers are, to be saved around the call; by
  /// Inst::aux.
  struct SavedRegisters {
    uint32_t begin, end;
  };
  std::vector<SavedRegisters> saved;
  /// All registers of functions that recurse: offset and bytes of a lane (0: predicate).
  std::vector<std::array<uint32_t, 2>> register_layout;
  uint32_t stack_pointer =
      no_operand;            ///< register with the lane's local stack pointer, if the kernel recurses
  uint32_t stack_begin = 0;  ///< its first value

  /// Values written into the register file once, when a warp's context is made.
  struct Constant {
    uint32_t offset;
    uint32_t lane_bytes;  ///< 2, 4, 8, 16; 0 for a predicate
    std::array<uint64_t, 2> bits;
  };
  std::vector<Constant> constants;
  struct Special {
    uint32_t offset;
    ptx::SpecialRegister reg;
  };
  std::vector<Special> specials;  ///< tid… per context, ctaid… per block; 32 bits each
  uint32_t params_address =
      no_operand;  ///< 64-bit register with the address of the parameters, if it is taken
  std::vector<std::array<uint32_t, 2>>
      zeroed;  ///< {offset, bytes}: registers that may be read before written
};

}  // namespace lanescope::exec
