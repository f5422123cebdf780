// Names of the PTX instruction set: types, state spaces, special registers, modifiers, opcodes. Opcodes and
// what each may be written with come from the one table instructions.def; nothing else lists instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lanescope::ptx {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  f32x2,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  u4,
  s4,
  u2,
  s2,
  e2m1,
  e2m3,
  e3m2,
  ue8m0,
  ue4m3,
  e4m3x4,
  e5m2x4,
  e2m1x4,
  e2m3x4,
  e3m2x4,
  b1  ///< inside registers of matrix fragments only
};

/// Bytes of one value; 0 for pred and none.
[[nodiscard]] constexpr uint32_t size_of(Type t) {
  switch (t) {
    case Type::none:
    case Type::pred: return 0;
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::u4:
    case Type::s4:
    case Type::u2:
    case Type::s2:
    case Type::e4m3:
    case Type::e5m2:
    case Type::e2m1x2:
    case Type::e2m1:
    case Type::e2m3:
    case Type::e3m2:
    case Type::ue8m0:
    case Type::ue4m3:
    case Type::b1: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::ue8m0x2:
    case Type::e2m1x4: return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
    case Type::f32x2: return 8;
    case Type::b128: return 16;
    default: return 4;
  }
}
[[nodiscard]] constexpr bool is_float(Type t) { return t >= Type::f16 && t <= Type::f64; }
/// Of two halves.
[[nodiscard]] constexpr bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
/// Two numbers of less than 8 bits, or two scale factors.
[[nodiscard]] constexpr bool is_small(Type t) { return t >= Type::e2m1x2 && t <= Type::ue8m0x2; }
/// Four numbers of 8 bits or less.
[[nodiscard]] constexpr bool is_four(Type t) { return t >= Type::e4m3x4 && t <= Type::e3m2x4; }
[[nodiscard]] constexpr bool is_signed(Type t) { return t >= Type::s8 && t <= Type::s64; }
[[nodiscard]] constexpr bool is_unsigned(Type t) { return t >= Type::u8 && t <= Type::u64; }
[[nodiscard]] constexpr bool is_integer(Type t) { return is_signed(t) || is_unsigned(t); }

enum class Space : uint8_t {
  generic,
  constant,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cta,
  shared_cluster
};

[[nodiscard]] constexpr bool is_param(Space s) {
  return s == Space::param || s == Space::param_entry || s == Space::param_func;
}
/// Shared memory, of whichever block.
[[nodiscard]] constexpr bool is_shared(Space s) {
  return s == Space::shared || s == Space::shared_cta || s == Space::shared_cluster;
}

/// Every special register of PTX ISA 9.5 that programs read; .x .y .z are separate.
enum class SpecialRegister : uint8_t {
  none,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  laneid,
  warpid,
  nwarpid,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  smid,
  nsmid,
  gridid,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  aggr_smem_size,
  dynamic_smem_size,
  reserved_smem_offset_begin,  ///< shared memory of a block that is the system's
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,  ///< what cooperative groups use of it
  current_graph_exec,
  envreg1,  ///< upper and lower half of the address of a cooperative grid's barrier
  envreg2,
  count
};

/// Every dotted word that is no type, state space or vector width. Names follow the PTX spelling
/// (`.L1::evict_last` becomes L1_evict_last). Listed in modifiers.def as PTX_MODIFIER(identifier,
/// "spelling").
enum class Mod : uint16_t {
#define PTX_MODIFIER(identifier, spelling) identifier,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
  count
};
inline constexpr size_t modifier_count = static_cast<size_t>(Mod::count);

/// Every opcode, from instructions.def.
enum class Op : uint16_t {
#define PTX_INSTRUCTION(identifier, ...) identifier,
#include "ptx/instructions.def"
#undef PTX_INSTRUCTION
  count
};

/// What an instruction is, for those who ask for more than one opcode.
enum class OpClass : uint8_t {
  arithmetic,
  logic,
  compare,
  convert,
  move,
  memory,
  atomic,
  control,
  barrier,
  warp,
  async,
  matrix,
  tensor,  ///< tcgen05: fifth-generation tensor cores and their memory
  texture,
  video
};

/// Sets of types and of state spaces, one bit each.
using TypeMask = uint64_t;
using SpaceMask = uint16_t;
[[nodiscard]] constexpr TypeMask mask_of(Type t) { return TypeMask{1} << static_cast<int>(t); }
[[nodiscard]] constexpr SpaceMask mask_of(Space s) {
  return static_cast<SpaceMask>(1u << static_cast<int>(s));
}

/// One operand as a table row describes it; see the legend of instructions.def.
struct OperandPattern {
  enum class Kind : uint8_t { value, address, tensor, list, label, table };
  enum class TypeFrom : uint8_t { first, second, fixed, address };
  std::string_view name{};
  Kind kind = Kind::value;
  TypeFrom type_from = TypeFrom::first;
  Type type = Type::none;  ///< for TypeFrom::fixed
  bool destination = false, piped = false, doubled = false, wider = false, vector = false, negatable = false;
  bool sink = false, constant_only = false, symbol = false, special = false, optional = false;
  bool selector = false, minus = false;
  bool or_predicate = false;       ///< may be a predicate instead
  Space space = Space::generic;    ///< of an address that lies in neither of the instruction's spaces
  uint8_t space_position = 0;      ///< of an address: which of the instruction's spaces; 2: `space`
  std::array<Mod, 4> only_with{};  ///< if not empty: written exactly when one of these modifiers is
  uint8_t only_with_count = 0;
};

/// One way to write the operands; holds when `when` is written (Mod::count: always) and the first type is one
/// of `types`.
struct OperandForm {
  enum class Check : uint8_t { by_pattern, mov, call, texture, matrix, not_described };
  Mod when = Mod::count;
  TypeMask types = ~TypeMask{0};
  Check check = Check::by_pattern;
  std::array<OperandPattern, 8> operands{};
  uint8_t operand_count = 0;
};

/// A modifier that may be written. At most one of a group may be; exactly one if the group is required and
/// one of its alternatives fits the last type.
struct ModifierRule {
  Mod mod{};
  uint8_t group = 0;
  bool required = false;
  bool supported = true;
  bool leads = false;             ///< stands before all words that do not
  TypeMask types = ~TypeMask{0};  ///< last types with which it is legal
};

/// A row of instructions.def, read at compile time.
struct InstructionInfo {
  std::string_view name;
  OpClass op_class{};
  bool supported = false;
  std::array<OperandForm, 8> forms{};
  uint8_t form_count = 0;
  std::array<TypeMask, 5> types{};              ///< legal, by position
  std::array<TypeMask, 5> types_unsupported{};  ///< the legal ones that are refused
  uint8_t type_count = 0;
  std::array<ModifierRule, 44> modifiers{};
  uint8_t modifier_count = 0;
  std::array<SpaceMask, 2> spaces{}, spaces_unsupported{};  ///< by position
  uint8_t space_count = 0;
};

[[nodiscard]] const InstructionInfo& info(Op op);
/// How the operands are written after these words.
template <class Modifiers>
[[nodiscard]] const OperandForm& form_of(const InstructionInfo& info, const Modifiers& modifiers,
                                         Type first_type) {
  size_t i = 0;
  for (; i + 1 < info.form_count; ++i) {
    const OperandForm& form = info.forms[i];
    if ((form.when == Mod::count || modifiers[static_cast<size_t>(form.when)]) &&
        (form.types & mask_of(first_type)) != 0)
      break;
  }
  return info.forms[i];
}

/// The shape of a matrix instruction (.m16n8k16, .m8n8: k is 0) and the layouts written, in their order.
struct MatrixShape {
  uint16_t m = 0, n = 0, k = 0;
  uint8_t layouts = 0;  ///< how many words .row and .col
  uint8_t columns = 0;  ///< bit i: the i-th of them is .col
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Of a texture or a surface.
struct TextureShape {
  uint8_t dimensions : 2 = 1;  ///< without the layer; 2 of cubes
  bool cube : 1 = false;
  bool layered : 1 = false;
  /// How many say where to read, without the layer: of cubes those of a direction.
  [[nodiscard]] uint32_t coordinates() const { return cube ? 3 : dimensions; }
  friend bool operator==(const TextureShape&, const TextureShape&) = default;
};

/// What a dotted word after an opcode can be. `count` is that of .v2 .v4 .v8.
struct DottedWord {
  enum class Kind : uint8_t { type, space, vector, shape, layout, modifier };
  Kind kind{};
  Type type = Type::none;
  Space space = Space::generic;
  uint8_t vector = 1;
  MatrixShape shape{};  ///< of a layout: one, `columns` says which
  Mod mod{};
};

/// A word with which no instruction runs here, and why: refused_words.def.
struct RefusedWord {
  std::string_view spelling, why;
};
[[nodiscard]] std::span<const RefusedWord> refused_words();

/// Look-ups by PTX spelling, without the leading dot; `%` belongs to a special register's name ("%tid.x").
[[nodiscard]] std::optional<Op> find_op(std::string_view name);
[[nodiscard]] std::optional<DottedWord> find_word(std::string_view name);
[[nodiscard]] std::optional<Type> find_type(std::string_view name);
/// Whether it is a special register that always holds 0: a fourth element, a performance counter that nobody
/// has set up, or one of those for the driver that hold nothing (of an H200's, with driver 580).
[[nodiscard]] bool is_always_zero(std::string_view name);
[[nodiscard]] std::optional<SpecialRegister> find_special_register(std::string_view name);

/// The type a special register has; u32 for most.
[[nodiscard]] Type type_of(SpecialRegister reg);

/// The opcode or dotted word that is spelled most like `name`, or empty if none is near.
[[nodiscard]] std::string_view nearest_op(std::string_view name);
[[nodiscard]] std::string_view nearest_word(std::string_view name);

[[nodiscard]] std::string_view name_of(Op op);
[[nodiscard]] std::string_view name_of(Type type);
[[nodiscard]] std::string_view name_of(Space space);
[[nodiscard]] std::string_view name_of(Mod mod);
[[nodiscard]] std::string_view name_of(SpecialRegister reg);
/// "m16n8k16"
[[nodiscard]] std::string name_of(const MatrixShape& shape);

}  // namespace lanescope::ptx
