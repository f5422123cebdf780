// The PTX module as written: what the parser makes of one PTX text, every name resolved, every node with its
// place. It knows nothing of execution. Everything later (engine, reports) starts from these structures.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/instruction_set.hpp"

namespace lanescope::ptx {

inline constexpr uint32_t no_index = 0xffffffffu;

/// Place in the PTX text, 1-based.
struct TextLoc {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// One `.loc`: place in the CUDA source. `file` is the number used by `.file` (index into Module::files by
/// id). `inlined_at` is the index in Module::source_locs of the call site this one was inlined at, or
/// no_index. What the compiler put together of several lines has line 0, and `before` is the last place
/// before it that has one: there the assembler's tables have it.
struct SourceLoc {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t inlined_at = no_index;
  std::string function{};  ///< demangled name of the inlined function, empty if not inlined
  uint32_t before = no_index;
};

/// One `.file`.
struct SourceFile {
  uint32_t id = 0;
  std::string path{};
};

/// What a symbol operand names. `index` counts in the list that `kind` names.
struct SymbolRef {
  enum class Kind : uint8_t {
    none,
    module_variable,  ///< Module::variables
    function,         ///< Module::functions
    local_variable,   ///< Function::variables (.local, .shared, .param declared in the body)
    parameter,        ///< Function::params
    return_parameter  ///< Function::returns
  };
  Kind kind = Kind::none;
  uint32_t index = 0;
  friend bool operator==(const SymbolRef&, const SymbolRef&) = default;
};

/// Which bytes or halves of a register a video instruction takes: `.b2`, `.h10`, `.b3210`.
struct Selector {
  enum class Unit : uint8_t { none, byte, half };
  Unit unit = Unit::none;
  uint8_t count = 0;
  std::array<uint8_t, 4> digits{};  ///< as written: of several, the one for the highest part first
};

/// One operand, already brought to the type it is used with: a floating-point constant of an f32 operand is
/// real32, of an f64 operand real64; WARP_SZ is the integer 32; vector registers are vectors of their
/// elements. Vectors `{a, b}` have kind vector and their elements in Instruction::elements[first, first +
/// count).
struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,      ///< reg; `negated` for `!%p`
    special,  ///< special register `special`
    integer,  ///< value.bits: an integer constant, wrapped to 64 bits
    real32,   ///< value.bits: the 32 bits of an f32 constant (0fXXXXXXXX)
    real64,   ///< value.bits: the 64 bits of an f64 constant (0dXXXX… or decimal)
    symbol,   ///< the address of `symbol` + value.bits (offset)
    address,  ///< [base + offset]: base is `reg` if reg != no_index, else `symbol`, else absolute; offset
              ///< value.bits; of a tensor map `[base, {coordinates}]`, those are elements
    vector,   ///< {…}: elements
    label,    ///< index of Function::labels
    table,    ///< index of Function::tables (.branchtargets, .calltargets, .callprototype)
    sink,     ///< `_`
    list      ///< ( … ) of a call: elements
  };
  Kind kind = Kind::none;
  bool negated = false;           ///< `!%p` (predicates), `-%r` (vmad)
  Selector selector{};            ///< `%r.b0`, `%r.h32` of the video instructions
  uint32_t reg = no_index;        ///< index of Function::registers
  uint32_t first = 0, count = 0;  ///< vector, list, address: range of Instruction::elements
  uint32_t index = 0;             ///< label, table
  SpecialRegister special = SpecialRegister::none;
  SymbolRef symbol{};
  uint64_t bits = 0;  ///< constant, or offset of symbol/address (two's complement)
  TextLoc loc{};
};

/// One instruction as written.
struct Instruction {
  Op op{};
  std::vector<Type> types{};  ///< in written order: {f32} of add.f32; {s32, f32} of cvt.rni.s32.f32
  std::bitset<modifier_count> modifiers;  ///< every other dotted word
  Space space =
      Space::generic;  ///< state space of ld/st/atom/red/cvta/isspacep…; generic where none is written
  Space second_space = Space::generic;  ///< of copies: where they read
  uint8_t vector = 1;                   ///< .v2 .v4 .v8 → 2, 4, 8
  MatrixShape shape{};
  uint32_t guard = no_index;   ///< predicate register of `@%p`
  bool guard_negated = false;  ///< `@!%p`
  /// In written order; `d|p` is two operands. Of a call: [results: list,] target: symbol or reg [, arguments:
  /// list]
  /// [, table].
  std::vector<Operand> operands{};
  std::vector<Operand> elements{};  ///< elements of vectors and lists
  TextLoc loc{};
  uint32_t source = no_index;  ///< index of Module::source_locs in force, or no_index

  [[nodiscard]] bool has(Mod m) const { return modifiers[static_cast<size_t>(m)]; }
  [[nodiscard]] Type type() const { return types.empty() ? Type::none : types.front(); }
};

/// What an instruction for textures or surfaces is for.
[[nodiscard]] TextureShape texture_shape_of(const Instruction& in);

/// A register of a function. Parameterised declarations (`.reg .b32 %r<5>`) and vector registers (`.reg .v2
/// .f32 %v`: %v.x, %v.y) are spread out.
struct Register {
  std::string name{};
  Type type = Type::none;  ///< as declared: pred, b16…b128, f32, …
};

/// An address inside an initialiser: `variable.bytes[offset, offset + width)` holds the address of `symbol` +
/// addend.
struct Relocation {
  uint64_t offset = 0;
  uint8_t width = 8;
  SymbolRef symbol{};  ///< module_variable or function
  int64_t addend = 0;
  bool generic = false;   ///< written generic(symbol)
  uint64_t mask = ~0ull;  ///< 0xFF(symbol) forms: which byte(s); the value is (address & mask) >> shift
  uint8_t shift = 0;
};

/// What a variable is declared as in place of memory: .texref, .surfref. It holds the handle of what it is
/// bound to.
enum class Reference : uint8_t { none, texture, surface };

/// A variable of a state space, or a parameter.
struct Variable {
  std::string name{};
  std::string display_name{};  ///< what the programmer wrote: `tile`, not `_ZZ9transposePfE4tile`
  Space space = Space::generic;
  Type type = Type::none;
  uint8_t vector = 1;
  uint32_t align = 1;            ///< bytes
  std::vector<uint64_t> dims{};  ///< array extents; 0 = unsized (`[]`); empty = scalar
  uint64_t size = 0;             ///< bytes; 0 for unsized arrays
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false, is_managed = false;
  bool is_pointer_hint = false;  ///< parameter written with .ptr
  bool is_register = false;      ///< parameter of a function written with .reg; it is passed as others are
  Reference reference = Reference::none;
  std::vector<uint8_t> initial{};  ///< initial bytes; may be shorter than size (rest is zero)
  std::vector<Relocation> relocations{};
  uint32_t scope = 0;  ///< innermost `{}` of the body it was declared in (0 = outermost)
  TextLoc loc{};
};

struct Label {
  std::string name{};
  uint32_t instruction = 0;  ///< index of Function::body; body.size() for a label at the end
  TextLoc loc{};
};

/// .branchtargets, .calltargets or .callprototype.
struct Table {
  enum class Kind : uint8_t { branch_targets, call_targets, call_prototype };
  Kind kind{};
  std::string name{};
  std::vector<uint32_t> labels{};             ///< branch_targets: Function::labels
  std::vector<uint32_t> functions{};          ///< call_targets: Module::functions
  std::vector<Variable> params{}, returns{};  ///< call_prototype
  TextLoc loc{};
};

/// Something in a function that PTX has and this release does not run.
struct Refusal {
  std::string cause{};
  TextLoc loc{};
  uint32_t source = no_index;  ///< index of Module::source_locs
};

struct Function {
  std::string name{};
  std::string display_name{};  ///< demangled
  bool is_entry = false, is_extern = false, is_visible = false, is_weak = false, is_noreturn = false;
  bool has_body = false;
  std::vector<Variable> params{};
  std::vector<Variable> returns{};
  std::array<uint32_t, 3> max_threads{};       ///< .maxntid, 0 = not given
  std::array<uint32_t, 3> required_threads{};  ///< .reqntid
  uint32_t min_blocks = 0;                     ///< .minnctapersm
  uint32_t max_registers = 0;                  ///< .maxnreg
  uint32_t language = 0;                       ///< .language: what it was compiled from
  bool explicit_cluster = false;               ///< .explicitcluster
  bool blocks_are_clusters = false;            ///< .blocksareclusters
  std::array<uint32_t, 3> required_cluster{};  ///< .reqnctapercluster
  uint32_t max_cluster_rank = 0;               ///< .maxclusterrank
  std::vector<Register> registers{};
  std::vector<Variable> variables{};  ///< declared in the body
  std::vector<Label> labels{};
  std::vector<Table> tables{};
  std::vector<Instruction> body{};
  /// Where `.pragma "nounroll"` stands in the body: behind which instruction, or before the first one of
  /// which block.
  std::vector<uint32_t> not_unrolled{};
  bool never_unrolled = false;       ///< it stands before the body, or before all functions
  std::optional<Refusal> refusal{};  ///< the first one; `body` lacks what is refused, so it cannot be run
  TextLoc loc{};
};

struct Module {
  std::string name{};  ///< file name, or what the caller said
  uint32_t version_major = 0, version_minor = 0;
  std::string target{};   ///< "sm_90"
  bool is_debug = false;  ///< compiled for a debugger (.target debug; nvcc -G)
  uint32_t address_size = 64;
  std::vector<SourceFile> files{};
  std::vector<SourceLoc> source_locs{};
  std::vector<Variable>
      variables{};  ///< .global, .const, .shared (incl. extern); also .global and .const of bodies
  std::vector<Function> functions{};  ///< declarations merged with their definitions
  std::string text{};                 ///< the whole PTX, kept for messages
  std::vector<size_t> line_begins{};  ///< of `text`

  [[nodiscard]] const Function* find_function(std::string_view name) const;
  [[nodiscard]] std::string_view file_path(uint32_t id) const;  ///< empty if unknown
  /// Line `line` (1-based), without the line end; empty if there is none.
  [[nodiscard]] std::string_view text_line(uint32_t line) const;
  /// Throws lanescope::Error, which names the place in the PTX and in the source, the function and the kernel
  /// that it is of or that calls it.
  [[noreturn]] void refuse(const Refusal& refusal, const Function& function, const Function& kernel) const;
  /// The same if the function has a refusal.
  void check_runs(const Function& function, const Function& kernel) const {
    if (function.refusal) refuse(*function.refusal, function, kernel);
  }
};

/// Parses one module. Throws lanescope::Error with file:line:column, the line and a caret for any syntax
/// error, unknown instruction, bad operand or unresolved name; what is known and not supported becomes its
/// function's refusal. `name` is used in messages.
[[nodiscard]] Module parse(std::string text, std::string name);

/// Demangled name for people; the input when it is no mangled name.
[[nodiscard]] std::string demangle(std::string_view name);

}  // namespace lanescope::ptx
