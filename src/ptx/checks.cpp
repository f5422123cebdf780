// Checks of mnemonics and operands against the instruction table. What the table's columns cannot say (rules
// between modifiers) is in check_combination; source: PTX ISA 9.0, and ptxas 13.0 where the text leaves room.
#include "ptx/checks.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "ptx/matrix.hpp"

namespace lanescope::ptx {
namespace {

/// "add.f32": opcode and types, for messages.
std::string spelled(Op op, const std::vector<Type>& types) {
  std::string out(name_of(op));
  for (const Type type : types) out += "." + std::string(name_of(type));
  return out;
}

using Mods = std::bitset<modifier_count>;

bool has(const Mods& mods, Mod m) { return mods[static_cast<size_t>(m)]; }

bool is_bits(Type t) { return t >= Type::b8 && t <= Type::b128; }
/// Two numbers of less than 8 bits, or two scale factors.
bool is_small(Type t) { return t >= Type::e2m1x2 && t <= Type::ue8m0x2; }
/// Four numbers of 8 bits or less.
bool is_four(Type t) { return t >= Type::e4m3x4 && t <= Type::e3m2x4; }
bool is_integer(Type t) { return t >= Type::u8 && t <= Type::s64; }

std::string listed(TypeMask mask) {
  std::string out;
  for (int i = 1; i < 64; ++i)
    if ((mask >> i & 1) != 0)
      out += std::string(out.empty() ? "" : " ") + "." + std::string(name_of(static_cast<Type>(i)));
  return out;
}

// The last type decides which modifiers are legal: the only one of most, the compared or converted one of the
// others.
TypeMask deciding_type(const std::vector<Type>& types) {
  return mask_of(types.empty() ? Type::none : types.back());
}

/// A load or store of 32 bytes a lane: of global memory, from sm_100 on.
bool is_of_32_bytes(const Mnemonic& m) {
  return (m.op == Op::ld || m.op == Op::st) && m.vector >= 4 && m.vector * size_of(m.types.front()) == 32;
}

struct Checker {
  const Source& source;
  const InstructionInfo& info;
  const Mnemonic& mnemonic;
  std::span<const Word> words;
  size_t name_words;  ///< how many of them are the name of the row

  [[nodiscard]] std::string name() const { return spelled(mnemonic.op, mnemonic.types); }

  // The place of a word, or of the opcode when it was not written.
  [[nodiscard]] TextLoc loc_of(std::string_view word) const {
    for (size_t i = 1; i < words.size(); ++i)
      if (words[i].text == word) return words[i].loc;
    return words[0].loc;
  }
  [[noreturn]] void fail(std::string_view word, const std::string& cause) const {
    source.fail(loc_of(word), cause);
  }
  [[noreturn]] void refuse(std::string_view word, const std::string& cause) const {
    source.refuse(loc_of(word), cause);
  }

  /// Sums of single and half precision (add.f32.f16), of sm_100 and later, and sums and products of pairs of
  /// several types (add.f32x2.f16x2.f32x2), of sm_107.
  [[nodiscard]] bool is_mixed() const {
    const auto& types = mnemonic.types;
    const Op op = mnemonic.op;
    const auto is_pair_of_any = [](Type t) { return is_pair(t) || t == Type::f32x2; };
    if (op != Op::add && op != Op::sub && op != Op::fma && op != Op::mul) return false;
    if (types.size() == 2)
      return op != Op::mul && types[0] == Type::f32 && (types[1] == Type::f16 || types[1] == Type::bf16);
    return types.size() == (op == Op::fma ? 4 : 3) && std::all_of(types.begin(), types.end(), is_pair_of_any);
  }

  void check_types() const {
    const auto& types = mnemonic.types;
    for (size_t i = 0; i < info.type_count || i < types.size(); ++i) {
      if (i >= info.type_count && is_mixed())
        refuse(name_of(types[i]), "the instruction '" + name() + "' is not supported");
      if (i >= info.type_count)
        fail(name_of(types[i]),
             std::string(info.name) +
                 (info.type_count == 0 ? " takes no type" : " does not take so many types"));
      const TypeMask legal = info.types[i];
      if (i >= types.size()) {
        if ((legal & mask_of(Type::none)) != 0) continue;
        fail({},
             std::string(info.name) + " needs a type: one of " + listed(legal & ~info.types_unsupported[i]));
      }
      if ((legal & mask_of(types[i])) == 0)
        fail(name_of(types[i]), std::string(info.name) + " does not take the type ." +
                                    std::string(name_of(types[i])) + (i == 0 ? "" : " there") +
                                    "; it takes " + listed(legal & ~info.types_unsupported[i]));
      if ((info.types_unsupported[i] & mask_of(types[i])) != 0)
        refuse(name_of(types[i]), "the instruction '" + name() + "' is not supported");
    }
  }

  void check_spaces(size_t written) const {
    for (size_t i = 0; i < info.space_count || i < written; ++i) {
      const SpaceMask legal = i < info.space_count ? info.spaces[i] : SpaceMask{0};
      if (i >= written) {
        if ((legal & mask_of(Space::generic)) == 0)
          fail({}, std::string(info.name) + (i == 0 ? " needs a state space" : " needs two state spaces"));
        if (i < info.space_count && (info.spaces_unsupported[i] & mask_of(Space::generic)) != 0)
          refuse({}, std::string(info.name) + " without a state space is not supported");
        continue;
      }
      const Space written_space = i == 0 ? mnemonic.space : mnemonic.second_space;
      const std::string space(name_of(written_space));
      if ((legal & mask_of(written_space)) == 0)
        fail(space, std::string(info.name) + " does not take the state space ." + space +
                        (i == 0 || info.space_count == 1 ? "" : " there"));
      if ((info.spaces_unsupported[i] & mask_of(written_space)) != 0)
        refuse(space, std::string(info.name) + " with the state space ." + space + " is not supported");
    }
  }

  void check_modifiers() const {
    const TypeMask type = deciding_type(mnemonic.types);
    std::array<const ModifierRule*, 32> chosen{};
    for (size_t w = name_words; w < words.size(); ++w) {
      const auto word = find_word(words[w].text);
      if (word->kind != DottedWord::Kind::modifier) continue;
      const std::string spelling(name_of(word->mod));
      const ModifierRule* rule = nullptr;
      bool known = false;
      for (size_t i = 0; i < info.modifier_count; ++i)
        if (info.modifiers[i].mod == word->mod) {
          known = true;
          if ((info.modifiers[i].types & type) != 0) rule = &info.modifiers[i];
        }
      if (!known) fail(spelling, std::string(info.name) + " does not take ." + spelling);
      if (rule == nullptr) fail(spelling, "." + spelling + " does not go with " + name());
      if (!rule->supported)
        refuse(spelling, std::string(info.name) + " with ." + spelling + " is not supported");
      if (chosen[rule->group] != nullptr)
        fail(spelling, chosen[rule->group] == rule ? "." + spelling + " is written twice"
                                                   : "." + spelling + " does not go with ." +
                                                         std::string(name_of(chosen[rule->group]->mod)));
      chosen[rule->group] = rule;
    }
    for (size_t i = 0; i < info.modifier_count; ++i) {
      const ModifierRule& rule = info.modifiers[i];
      if (!rule.required || chosen[rule.group] != nullptr || (rule.types & type) == 0) continue;
      std::string choices;
      for (size_t j = 0; j < info.modifier_count; ++j)
        if (info.modifiers[j].group == rule.group && (info.modifiers[j].types & type) != 0 &&
            info.modifiers[j].supported)
          choices += " ." + std::string(name_of(info.modifiers[j].mod));
      fail({}, name() + " needs " + (choices.find('.', 2) == std::string::npos ? "" : "one of") +
                   (choices.find('.', 2) == std::string::npos ? choices.substr(1) : choices));
    }
  }

  void check_vector() const {
    if (mnemonic.vector == 1) return;
    bool takes_vectors = mnemonic.form->check == OperandForm::Check::texture;
    for (size_t i = 0; i < mnemonic.form->operand_count; ++i)
      takes_vectors |= mnemonic.form->operands[i].vector;
    const std::string word = "v" + std::to_string(mnemonic.vector);
    if (mnemonic.op == Op::mov) refuse(word, "the instruction 'mov." + word + "' is not supported");
    if (!takes_vectors) fail(word, std::string(info.name) + " does not take ." + word);
    if (is_of_32_bytes(mnemonic)) {
      if (mnemonic.space != Space::generic && mnemonic.space != Space::global)
        fail(word, name() + " with ." + word +
                       " is 32 bytes, which are accessed at once in .global only, not in ." +
                       std::string(name_of(mnemonic.space)));
      return;
    }
    const auto bytes = mnemonic.vector * size_of(mnemonic.types.front());
    if (bytes > 16) fail(word, name() + " with ." + word + " is more than 16 bytes");
    // ptxas takes some loads and stores of eight smaller elements; the PTX ISA does not describe them.
    if (info.op_class == OpClass::memory && mnemonic.vector == 8)
      refuse(word, "the instruction '" + name() + "' with ." + word + " is not supported");
  }

  void check_combination() const {
    const auto written = [&](Mod m) { return has(mnemonic.modifiers, m); };
    const auto exclude = [&](Mod a, Mod b) {
      if (written(a) && written(b))
        fail(name_of(a), "." + std::string(name_of(a)) + " does not go with ." + std::string(name_of(b)));
    };
    const auto demand = [&](Mod a, Mod b) {
      if (written(a) && !written(b))
        fail(name_of(a), "." + std::string(name_of(a)) + " needs ." + std::string(name_of(b)));
    };
    switch (mnemonic.op) {
      case Op::add:
      case Op::sub: exclude(Mod::sat, Mod::cc); break;
      case Op::sin:
      case Op::cos: demand(Mod::dim_2pi, Mod::ftz); break;
      case Op::mad:
        exclude(Mod::cc, Mod::wide);
        exclude(Mod::sat, Mod::cc);
        if (!is_float(mnemonic.types[0])) demand(Mod::sat, Mod::hi);
        break;
      case Op::mad24: demand(Mod::sat, Mod::hi); break;
      case Op::min:
      case Op::max:
        demand(Mod::xorsign, Mod::abs);
        if (has(mnemonic.modifiers, Mod::abs) && !has(mnemonic.modifiers, Mod::xorsign))
          refuse("abs", "the instruction '" + name() + "' with .abs and no .xorsign is not supported");
        break;
      case Op::rcp:
        if (mnemonic.types[0] == Type::f64) {
          demand(Mod::approx, Mod::ftz);
          demand(Mod::ftz, Mod::approx);
        }
        break;
      case Op::bar:
      case Op::barrier: check_barrier(); break;
      case Op::cvt: check_conversion(); break;
      case Op::set: check_set(); break;
      case Op::fma: exclude(Mod::oob, Mod::ftz); break;
      case Op::ex2:
        if (mnemonic.types[0] == Type::bf16 || mnemonic.types[0] == Type::bf16x2)
          demand(Mod::approx, Mod::ftz);
        break;
      case Op::atom:
      case Op::red: check_atomic(); break;
      case Op::ld:
      case Op::st: check_access(); break;
      case Op::tex:
      case Op::tld4: check_texture(); break;
      case Op::mbarrier_arrive:
      case Op::mbarrier_arrive_drop:
        if (mnemonic.space == Space::shared_cluster && has(mnemonic.modifiers, Mod::noComplete))
          fail("noComplete", ".noComplete does not go with .shared::cluster");
        check_order();
        break;
      case Op::cp_async_bulk:
      case Op::cp_async_bulk_tensor:
      case Op::cp_reduce_async_bulk:
        check_bulk_copy();
        if (mnemonic.op == Op::cp_reduce_async_bulk) check_bulk_reduction();
        if (mnemonic.op == Op::cp_async_bulk_tensor) check_tensor_mode();
        break;
      case Op::cp_async_bulk_prefetch_tensor:
      case Op::cp_reduce_async_bulk_tensor: check_tensor_mode(); break;
      case Op::st_async:
      case Op::red_async: check_async_store(); break;
      case Op::createpolicy_fractional:
        if (mnemonic.modifiers.none()) fail({}, name() + " needs a priority: .L2::evict_last or its like");
        break;
      case Op::fence: check_restriction(); break;
      case Op::fence_proxy: check_fence_proxy(); break;
      case Op::prefetch: {
        const Space space = mnemonic.space;
        const bool fits = has(mnemonic.modifiers, Mod::tensormap)
                              ? space != Space::global && space != Space::local
                              : space != Space::constant && space != Space::param;
        const bool checked = written(Mod::L1_32B);
        if (!fits || (checked && space != Space::generic && space != Space::global))
          fail(name_of(space), name() + " does not go with ." + std::string(name_of(space)));
        if (checked != written(Mod::valid_addr)) fail({}, name() + ": .L1::32B and .valid_addr go together");
        break;
      }
      case Op::mbarrier_expect_tx:
      case Op::mbarrier_complete_tx:
      case Op::mbarrier_test_wait:
      case Op::mbarrier_try_wait: check_order(); break;
      case Op::ldmatrix:
        if (mnemonic.types.empty() && !written(Mod::b8x16)) fail({}, name() + " needs a type: .b16");
        check_matrix();
        break;
      case Op::mma:
        for (const Mod kind : {Mod::kind_f8f6f4, Mod::kind_mxf8f6f4, Mod::kind_mxf4, Mod::kind_mxf4nvf4})
          if (written(kind) && written(Mod::sp_ordered_metadata))
            refuse("sp::ordered_metadata",
                   "mma with .sp::ordered_metadata and ." + std::string(name_of(kind)) + " is not supported");
        check_matrix();
        break;
      case Op::stmatrix:
      case Op::movmatrix:
      case Op::wmma:
      case Op::wgmma:
      case Op::tcgen05_ld:
      case Op::tcgen05_st:
      case Op::tcgen05_mma: check_matrix(); break;
      case Op::tcgen05_cp: {
        const bool two = written(Mod::warpx2_02_13) || written(Mod::warpx2_01_23),
                   four = written(Mod::warpx4);
        if (two != written(Mod::dim_64x128b) || four != written(Mod::dim_32x128b))
          fail({}, name() + ": .64x128b needs .warpx2, .32x128b needs .warpx4, the others take neither");
        break;
      }
      case Op::clusterlaunchcontrol_query_cancel:
        if (written(Mod::get_first_ctaid) != (mnemonic.vector == 4))
          fail({}, name() + ": .get_first_ctaid gives four values (.v4), the others one");
        break;
      default: break;
    }
  }

  // Who is told of the end of a bulk copy, and where it may lead.
  void check_bulk_copy() const {
    const Space to = mnemonic.space, from = mnemonic.second_space;
    const std::string way = "from ." + std::string(name_of(from)) + " to ." + std::string(name_of(to));
    const bool tensor = mnemonic.op == Op::cp_async_bulk_tensor;
    if (to == from ||
        (to == Space::global) != (from == Space::shared_cta && (tensor || to != Space::shared_cluster)))
      fail(name_of(from), name() + " does not copy " + way);
    if (has(mnemonic.modifiers, Mod::bulk_group) != (to == Space::global))
      fail({}, name() + " " + way + " is written with " +
                   (to == Space::global ? ".bulk_group" : ".mbarrier::complete_tx::bytes"));
    if (has(mnemonic.modifiers, Mod::multicast_cluster) &&
        (from != Space::global || to != Space::shared_cluster))
      fail("multicast::cluster", ".multicast::cluster goes with copies from .global to .shared::cluster");
    if (has(mnemonic.modifiers, Mod::ignore_oob) && (from != Space::global || to != Space::shared_cta))
      fail("ignore_oob", ".ignore_oob goes with copies from .global to .shared::cta");
    for (const Mod m : {Mod::cta_group_1, Mod::cta_group_2})
      if (has(mnemonic.modifiers, m) && to == Space::global)
        fail(name_of(m), "." + std::string(name_of(m)) + " goes with copies to shared memory");
    if (has(mnemonic.modifiers, Mod::cp_mask) && to != Space::global)
      fail("cp_mask", ".cp_mask goes with copies to .global");
    if (has(mnemonic.modifiers, Mod::L2_cache_hint) && to != Space::global && from != Space::global)
      fail("L2::cache_hint", ".L2::cache_hint goes with copies from and to .global");
  }

  // In shared memory an mbarrier is told, in global memory a memory order says what is seen before.
  void check_async_store() const {
    const auto written = [&](Mod m) { return has(mnemonic.modifiers, m); };
    const bool shared = mnemonic.space == Space::shared_cluster;
    const std::string there = " in ." + std::string(name_of(mnemonic.space)) + " memory";
    if (written(Mod::mbarrier_complete_tx_bytes) != shared)
      fail({}, name() + there + (shared ? " needs " : " takes no ") + ".mbarrier::complete_tx::bytes");
    for (const Mod m : {Mod::release, Mod::gpu, Mod::sys, Mod::mmio})
      if (shared && written(m)) fail(name_of(m), name() + there + " takes no ." + std::string(name_of(m)));
    if (!shared && written(Mod::cluster)) fail("cluster", name() + there + " takes no .cluster");
    if (written(Mod::mmio) && !(written(Mod::release) && written(Mod::sys)))
      fail("mmio", ".mmio needs .release.sys");
    const uint32_t bytes = size_of(mnemonic.types[0]);
    const bool reduces = mnemonic.op == Op::red_async;
    if (shared && (reduces ? mnemonic.types[0] == Type::s64 : bytes < 4))
      fail(name_of(mnemonic.types[0]), name() + " does not go to .shared::cluster");
    if (!shared && mnemonic.vector != 1) fail({}, name() + there + " takes no vectors");
    if (!shared) check_order();
  }

  // Columns of pixels come from tensors with images, four rows from a matrix; some modes are for one
  // direction.
  void check_tensor_mode() const {
    const auto written = [&](Mod m) { return has(mnemonic.modifiers, m); };
    const auto check = [&](Mod mode, bool fits, const std::string& what) {
      if (written(mode) && !fits) fail(name_of(mode), "." + std::string(name_of(mode)) + " " + what);
    };
    const bool two = written(Mod::dim_2d), one = written(Mod::dim_1d);
    for (const Mod mode : {Mod::im2col, Mod::im2col_no_offs})
      check(mode, !one && !two, "needs a tensor of 3 to 5 dimensions");
    for (const Mod mode : {Mod::tile_gather4, Mod::tile_scatter4})
      check(mode, two, "needs a tensor of 2 dimensions");
    if (mnemonic.op != Op::cp_async_bulk_tensor) return;
    const bool loads = mnemonic.space != Space::global;
    for (const Mod mode : {Mod::im2col, Mod::tile_gather4})
      check(mode, loads, "goes with copies to shared memory");
    for (const Mod mode : {Mod::im2col_no_offs, Mod::tile_scatter4})
      check(mode, !loads, "goes with copies to .global");
  }

  // Halves are added without flushing and written so; shared memory takes less than global memory.
  void check_bulk_reduction() const {
    const Mods& mods = mnemonic.modifiers;
    const Type type = mnemonic.types[0];
    if (has(mods, Mod::noftz) != (has(mods, Mod::add) && (type == Type::f16 || type == Type::bf16)))
      fail({}, name() + ": .noftz goes with .add of .f16 and .bf16, and has to");
    const bool fits = type == Type::b32 || type == Type::u32 || type == Type::s32 ||
                      (type == Type::u64 && has(mods, Mod::add));
    if (mnemonic.space == Space::shared_cluster && !fits)
      fail(name_of(type), name() + " does not go to .shared::cluster");
  }

  // Fences between two proxies by name have an order and a scope, the others neither.
  void check_fence_proxy() const {
    const Mods& mods = mnemonic.modifiers;
    const bool ordered = has(mods, Mod::acquire) || has(mods, Mod::release);
    const bool pair = has(mods, Mod::tensormap_generic) || has(mods, Mod::async_generic);
    const bool alias = has(mods, Mod::alias);
    if (alias && (ordered != has(mods, Mod::sys) || has(mods, Mod::cta) || has(mods, Mod::cluster) ||
                  has(mods, Mod::gpu)))
      fail({}, name() + ".alias takes no memory order or .acquire.sys or .release.sys");
    if (!alias && ordered != pair)
      fail({}, name() + (pair ? " needs one of .acquire .release" : " takes no memory order"));
    check_order();
    check_restriction();
    if (!has(mods, Mod::async) && mnemonic.space != Space::generic)
      fail(name_of(mnemonic.space), name() + " takes no state space");
  }

  // .acquire is restricted to what the cluster's barriers guard, .release to the block's own.
  void check_restriction() const {
    const Mods& mods = mnemonic.modifiers;
    const bool of_block = has(mods, Mod::sync_restrict_shared_cta);
    if (!of_block && !has(mods, Mod::sync_restrict_shared_cluster)) return;
    if (!has(mods, of_block ? Mod::release : Mod::acquire) || !has(mods, Mod::cluster))
      fail({}, name() + (of_block ? " with .sync_restrict::shared::cta needs .release and .cluster"
                                  : " with .sync_restrict::shared::cluster needs .acquire and .cluster"));
  }

  // A memory order goes with a scope.
  void check_order() const {
    const Mods& mods = mnemonic.modifiers;
    const bool ordered = has(mods, Mod::relaxed) || has(mods, Mod::acquire) || has(mods, Mod::release);
    const bool scoped =
        has(mods, Mod::cta) || has(mods, Mod::cluster) || has(mods, Mod::gpu) || has(mods, Mod::sys);
    if (ordered != scoped)
      fail({}, ordered ? name() + " with a memory order needs a scope: one of .cta .cluster .gpu .sys"
                       : name() + " with a scope needs a memory order");
  }

  void check_matrix() const {
    MatrixForm form;
    const std::string bad =
        read_matrix_form(mnemonic.op, mnemonic.types, mnemonic.modifiers, mnemonic.shape, form);
    if (!bad.empty()) fail({}, name() + ": " + bad);
  }

  void check_texture() const {
    if (mnemonic.vector != 4) fail({}, name() + " gives four values: it is written with .v4");
    if (mnemonic.op != Op::tex || mnemonic.types[1] != Type::s32) return;
    // Integer coordinates are for textures of plain memory, which have one dimension and no levels here.
    if (!has(mnemonic.modifiers, Mod::dim_1d) || has(mnemonic.modifiers, Mod::level) ||
        has(mnemonic.modifiers, Mod::grad))
      refuse("s32", "the instruction '" + name() + "' is supported with .1d and without level only");
  }

  void check_barrier() const {
    const bool red = has(mnemonic.modifiers, Mod::red);
    const bool combined = has(mnemonic.modifiers, Mod::popc) || has(mnemonic.modifiers, Mod::and_) ||
                          has(mnemonic.modifiers, Mod::or_);
    if (red != combined)
      fail("red", std::string(info.name) + ".red needs one of .popc .and .or, the others take none");
    if (red == mnemonic.types.empty())
      fail({}, std::string(info.name) + (red ? ".red needs a type: .u32 with .popc, .pred with .and and .or"
                                             : " takes a type only with .red"));
    if (has(mnemonic.modifiers, Mod::warp) &&
        (!has(mnemonic.modifiers, Mod::sync) || has(mnemonic.modifiers, Mod::cta)))
      fail("warp", "bar.warp is written bar.warp.sync");
  }

  // Which results there are of which comparisons.
  void check_set() const {
    const Type to = mnemonic.types[0], from = mnemonic.types[1];
    const bool half = from == Type::f16 || from == Type::bf16;
    const bool pair = from == Type::f16x2 || from == Type::bf16x2;
    const auto legal = [&] {
      switch (to) {
        case Type::u16:
        case Type::s16: return half;
        case Type::f32: return !half && !pair;
        case Type::f16: return from != Type::bf16 && !pair;
        case Type::bf16: return !pair;
        case Type::f16x2:
        case Type::bf16x2: return from == to;
        default: return true;
      }
    };
    if (!legal()) fail(name_of(to), name() + " is no comparison");
    if (has(mnemonic.modifiers, Mod::ftz) && to == Type::bf16) fail("ftz", ".ftz does not go with " + name());
  }

  // Which conversions there are, and with which modifiers: PTX ISA 9.0, cvt.
  void check_conversion() const {
    const Type to = mnemonic.types[0], from = mnemonic.types[1];
    const Mods& mods = mnemonic.modifiers;
    const auto is = [](Type t, std::initializer_list<Type> list) {
      return std::find(list.begin(), list.end(), t) != list.end();
    };
    const auto allow = [&](Mod mod, bool legal) {
      if (has(mods, mod) && !legal)
        fail(name_of(mod), "." + std::string(name_of(mod)) + " does not go with " + name());
    };
    if (has(mods, Mod::pack)) return check_pack();
    if (is_four(to)) return check_four();
    const bool small = is_small(to) || is_small(from);
    if (small && mnemonic.types.size() == 2) return check_small_conversion();
    if (mnemonic.types.size() > 2) fail(name_of(mnemonic.types[2]), "cvt takes a third type with .pack only");

    const bool floats = is_float(to) && is_float(from);
    const bool bfloat = to == Type::bf16 || from == Type::bf16;
    const bool pair = is(to, {Type::f16x2, Type::bf16x2});
    const bool bytes = is(to, {Type::e4m3x2, Type::e5m2x2}),
               from_bytes = is(from, {Type::e4m3x2, Type::e5m2x2});
    const bool several =
        pair || bytes || to == Type::tf32 || from_bytes || from == Type::f16x2 || from == Type::bf16x2;
    const bool exists = !several ? !is(to, {Type::u4, Type::s4, Type::u2, Type::s2})
                        : bytes  ? is(from, {Type::f32, Type::f16x2, Type::bf16x2})
                        : pair   ? from == Type::f32 || from_bytes
                                 : from == Type::f32;
    if (!exists) fail({}, name() + " is no conversion");

    allow(Mod::rs, pair);
    if (bytes && has(mods, Mod::rz))  // of sm_107
      refuse("rz", "the instruction '" + name() + "' with .rz is not supported");
    const bool rn_rz = has(mods, Mod::rn) || has(mods, Mod::rz) || has(mods, Mod::rs);
    const bool rounds = rn_rz || has(mods, Mod::rm) || has(mods, Mod::rp);
    const bool rounds_to_integer =
        has(mods, Mod::rni) || has(mods, Mod::rzi) || has(mods, Mod::rmi) || has(mods, Mod::rpi);
    const bool to_integer = is_float(from) && is_integer(to);
    const bool narrows = several || (is_float(to) && (!is_float(from) || size_of(to) < size_of(from)));
    // Between bf16 and f16, and from bf16 to wider types, a rounding may be written and has to be nothing.
    const bool may_round = narrows || (floats && bfloat && to != from);
    if (narrows && !rounds && !has(mods, Mod::rna)) fail({}, name() + " needs one of .rn .rz .rm .rp");
    if (to_integer && !rounds_to_integer) fail({}, name() + " needs one of .rni .rzi .rmi .rpi");
    if ((rounds && !may_round) || (rounds_to_integer && !to_integer && !(floats && to == from)) ||
        (several && rounds && !rn_rz) || ((bytes || from_bytes) && !has(mods, Mod::rn)))
      fail({}, name() + " does not take this rounding");
    allow(Mod::rna, to == Type::tf32);
    if (bytes && !has(mods, Mod::satfinite)) fail({}, name() + " needs .satfinite");

    // Saturation where every value fits is not legal.
    const bool fits = is_integer(to) && is_integer(from) &&
                      (is_signed(to) == is_signed(from) ? size_of(to) >= size_of(from)
                                                        : is_signed(to) && size_of(to) > size_of(from));
    allow(Mod::sat, !fits && !several && !bfloat);
    allow(Mod::ftz, !several && (to == Type::f32 || from == Type::f32));
    const bool single_to_half = from == Type::f32 && is(to, {Type::f16, Type::bf16}) && rn_rz &&
                                !has(mods, Mod::ftz) && !has(mods, Mod::sat);
    allow(Mod::relu, single_to_half || (several && !has(mods, Mod::rna)));
    allow(Mod::satfinite,
          single_to_half || bytes || (pair && !from_bytes) || to == Type::bf16x2 || to == Type::tf32);
  }

  // Of numbers of 4 and 6 bits, and of scale factors: for sm_100a, sm_120a and their like.
  void check_small_conversion() const {
    const Type to = mnemonic.types[0], from = mnemonic.types[1];
    const bool scale = to == Type::ue8m0x2 || from == Type::ue8m0x2, narrows = is_small(to);
    const bool exists = to == Type::ue8m0x2     ? from == Type::f32 || from == Type::bf16x2
                        : from == Type::ue8m0x2 ? to == Type::bf16x2
                        : narrows               ? from == Type::f32 || is_pair(from)
                                                : is_pair(to);
    if (!exists) fail({}, name() + " is no conversion");
    Mods rest = mnemonic.modifiers;
    const auto take = [&](Mod m) {
      const bool written = has(rest, m);
      rest.reset(static_cast<size_t>(m));
      return written;
    };
    if (narrows && !scale && has(rest, Mod::rz))  // of sm_107
      refuse("rz", "the instruction '" + name() + "' with .rz is not supported");
    const bool rounds = to == Type::ue8m0x2 ? take(Mod::rz) || take(Mod::rp) : take(Mod::rn);
    if (!rounds) fail({}, name() + " needs " + (to == Type::ue8m0x2 ? ".rz or .rp" : ".rn"));
    if (narrows && !take(Mod::satfinite) && !scale) fail({}, name() + " needs .satfinite");
    if (!scale) take(Mod::relu);
    if (!scale && to == Type::bf16x2) take(Mod::satfinite);
    if (rest.any()) fail({}, name() + " takes no such modifier");
  }

  // By random bits alone: for sm_100a and its like.
  void check_four() const {
    Mods rest = mnemonic.modifiers;
    if (mnemonic.types.size() != 2 || mnemonic.types[1] != Type::f32) fail({}, name() + " is no conversion");
    for (const Mod m : {Mod::rs, Mod::satfinite}) {
      if (!has(rest, m)) fail({}, name() + " needs ." + std::string(name_of(m)));
      rest.reset(static_cast<size_t>(m));
    }
    rest.reset(static_cast<size_t>(Mod::relu));
    if (rest.any()) fail({}, name() + " takes no such modifier");
  }

  // cvt.pack.sat.u16.s32; narrower pieces take a third source of the type .b32.
  void check_pack() const {
    const Mods& mods = mnemonic.modifiers;
    const Type piece = mnemonic.types[0];
    const bool narrow = piece == Type::u8 || piece == Type::s8 || (piece >= Type::u4 && piece <= Type::s2);
    if (mnemonic.types[1] != Type::s32 || !(narrow || piece == Type::u16 || piece == Type::s16))
      fail({}, "cvt.pack takes .s32 and gives .u16 .s16 .u8 .s8 .u4 .s4 .u2 .s2");
    if (narrow != (mnemonic.types.size() == 3))
      fail({}, narrow ? name() + " needs a third type, .b32" : name() + " does not take so many types");
    if (!has(mods, Mod::sat)) fail("pack", "cvt.pack needs .sat");
    if (mods.count() != 2) fail("pack", "cvt.pack takes no other modifier than .sat");
  }

  void check_atomic() const {
    const Type type = mnemonic.types[0];
    const bool half = type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
    const Space space = mnemonic.space;
    if (mnemonic.vector == 1) {
      if (half && !has(mnemonic.modifiers, Mod::add))
        fail({}, name() + " with .min or .max takes vectors only");
      return;
    }
    const std::string word = "v" + std::to_string(mnemonic.vector);
    if (!half && type != Type::f32) fail(word, name() + " takes no vectors");
    if (space != Space::generic && space != Space::global)
      fail(word, name() + " takes vectors only in global memory, not in ." + std::string(name_of(space)));
  }

  void check_access() const {
    const Mods& mods = mnemonic.modifiers;
    const Space space = mnemonic.space;
    check_order();
    const bool ordered = has(mods, Mod::relaxed) || has(mods, Mod::acquire) || has(mods, Mod::release);
    const bool beyond_block = space == Space::generic || space == Space::global;
    if (has(mods, Mod::mmio)) {
      if (!ordered || !has(mods, Mod::sys))
        fail("mmio", mnemonic.op == Op::ld ? ".mmio needs .relaxed.sys or .acquire.sys"
                                           : ".mmio needs .relaxed.sys or .release.sys");
      if (!beyond_block)
        fail("mmio", ".mmio does not go with the state space ." + std::string(name_of(space)));
      if (mnemonic.vector != 1) fail("mmio", ".mmio does not go with vectors");
    }
    if (has(mods, Mod::proxy_readonly)) {
      if (!beyond_block)
        fail("proxy::readonly",
             ".proxy::readonly does not go with the state space ." + std::string(name_of(space)));
      if (mods.count() != (has(mods, Mod::nc) ? 2 : 1) || mnemonic.types[0] == Type::b128)
        fail("proxy::readonly", ".proxy::readonly does not go with the other words of " + name());
    }
    if (has(mods, Mod::nc) && space != Space::global) fail("nc", ".nc needs .global");
    const auto any = [&](std::initializer_list<Mod> list) {
      for (const Mod m : list)
        if (has(mods, m)) return m;
      return Mod::count;
    };
    const Mod cache = any({Mod::ca, Mod::cg, Mod::cs, Mod::lu, Mod::cv, Mod::wb, Mod::wt});
    const Mod priority = any({Mod::L1_evict_normal, Mod::L1_evict_unchanged, Mod::L1_evict_first,
                              Mod::L1_evict_last, Mod::L1_no_allocate, Mod::L2_cache_hint});
    const auto exclude = [&](Mod a, Mod b) {
      if (a != Mod::count && b != Mod::count)
        fail(name_of(a), "." + std::string(name_of(a)) + " does not go with ." + std::string(name_of(b)));
    };
    const Mod l2 = any({Mod::L2_evict_last, Mod::L2_evict_first, Mod::L2_evict_normal});
    if (l2 != Mod::count && !is_of_32_bytes(mnemonic))
      fail(name_of(l2),
           "." + std::string(name_of(l2)) + " needs an access of 32 bytes: .v8 of 32 bits or .v4 of 64");
    exclude(cache, any({Mod::relaxed, Mod::acquire, Mod::release, Mod::volatile_}));
    exclude(priority, any({Mod::volatile_, Mod::mmio}));
    const Mod outer = priority != Mod::count ? priority : any({Mod::L2_64B, Mod::L2_128B, Mod::L2_256B});
    if (outer != Mod::count && !beyond_block)
      fail(name_of(outer), "." + std::string(name_of(outer)) + " does not go with the state space ." +
                               std::string(name_of(space)));
    if (priority != Mod::L2_cache_hint) exclude(priority, cache);
    exclude(any({Mod::cv, Mod::lu, Mod::volatile_, Mod::weak, Mod::relaxed, Mod::acquire}), any({Mod::nc}));
    const bool strong = ordered || (has(mods, Mod::volatile_) && space != Space::local);
    if (strong && space != Space::generic && space != Space::global && space != Space::shared &&
        space != Space::shared_cta)
      fail({}, name() + " with a memory order does not take the state space ." + std::string(name_of(space)));
  }
};

// May a register of type `reg` stand for an operand of type `type`? Source: PTX ISA 9.0, operand type
// checking and operand size exceeding instruction-type size.
bool compatible(Type type, Type reg, bool wider) {
  if (type == Type::pred || reg == Type::pred) return type == reg;
  if (type == reg) return true;
  if (size_of(reg) < size_of(type) || (size_of(reg) > size_of(type) && !wider)) return false;
  if (is_bits(reg) || is_bits(type)) return true;
  return is_integer(type) && is_integer(reg);
}

Type doubled(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return type;
  }
}

struct OperandChecker {
  Instruction& instruction;
  const Mnemonic& mnemonic;
  const OperandContext& context;
  const Source& source;

  [[nodiscard]] std::string name() const { return spelled(instruction.op, instruction.types); }
  [[noreturn]] void fail(const Operand& operand, const std::string& cause) const {
    source.fail(operand.loc, cause);
  }

  [[nodiscard]] std::string described(const Register& reg) const {
    return reg.name + ", a ." + std::string(name_of(reg.type)) + " register";
  }
  [[nodiscard]] std::string described(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::reg: return described(context.registers[operand.reg]);
      case Operand::Kind::special: return std::string(name_of(operand.special));
      case Operand::Kind::integer: return "an integer constant";
      case Operand::Kind::real32:
      case Operand::Kind::real64: return "a floating-point constant";
      case Operand::Kind::symbol: return "the name of a variable or function";
      case Operand::Kind::address: return "an address";
      case Operand::Kind::vector: return "a vector";
      case Operand::Kind::sink: return "'_'";
      default: return "no value";
    }
  }

  [[nodiscard]] Type type_for(const OperandPattern& pattern) const {
    Type type = instruction.type();
    if (pattern.type_from == OperandPattern::TypeFrom::second) type = instruction.types.back();
    if (pattern.type_from == OperandPattern::TypeFrom::fixed) type = pattern.type;
    if (pattern.type_from == OperandPattern::TypeFrom::address) type = Type::u64;
    return pattern.doubled && instruction.has(Mod::wide) ? doubled(type) : type;
  }

  void check_constant(Operand& operand, Type type) const {
    if (!is_bits(type) && !is_integer(type) && type != Type::pred && type != Type::f32 && type != Type::f64)
      fail(operand, name() + " takes no constant here");
    if (operand.kind == Operand::Kind::integer) {
      if (is_float(type))
        fail(operand, name() + " takes a floating-point constant here, as 1.0 or 0f3F800000");
      return;
    }
    const bool single = operand.kind == Operand::Kind::real32;
    if (type == Type::f32 || type == Type::f64) {
      // A constant is converted to the operand's type (PTX ISA 9.0, 4.5.2).
      if (type == Type::f32 && !single)
        operand.bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
      if (type == Type::f64 && single)
        operand.bits =
            std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(operand.bits))});
      operand.kind = type == Type::f32 ? Operand::Kind::real32 : Operand::Kind::real64;
      return;
    }
    if (!(is_bits(type) && size_of(type) == (single ? 4 : 8)))
      fail(operand, name() + " does not take a floating-point constant here");
  }

  void check_special(const Operand& operand, Type type) const {
    const Type own = type_of(operand.special);
    const bool pred = own == Type::pred || type == Type::pred;
    // 16-bit reads of 32-bit registers, and 32-bit reads of %gridid, are left from older PTX.
    const bool fits = size_of(type) == size_of(own) || (size_of(type) == 2 && size_of(own) == 4) ||
                      (operand.special == SpecialRegister::gridid && size_of(type) == 4);
    if (pred ? own != type : !fits || is_float(type))
      fail(operand, std::string(name_of(operand.special)) + " has the type ." + std::string(name_of(own)) +
                        "; " + name() + " does not take it here");
  }

  void check_register(const Operand& operand, Type type, bool wider) const {
    const Type reg = context.registers[operand.reg].type;
    if (!compatible(type, reg, wider))
      fail(operand, name() + " takes a value of type ." + std::string(name_of(type)) + " here, not " +
                        described(operand));
  }

  void check_value(Operand& operand, const OperandPattern& pattern) const {
    const Type type = type_for(pattern);
    const bool takes_vector = pattern.vector && instruction.vector > 1;
    // One value in braces is that value, as ptxas has it (Triton writes loads and stores so).
    if (operand.kind == Operand::Kind::vector && operand.count == 1 && pattern.vector && !takes_vector)
      operand = Operand(instruction.elements[operand.first]);
    if (operand.kind == Operand::Kind::vector) {
      if (!takes_vector) fail(operand, name() + " takes no vector here");
      if (operand.count != instruction.vector)
        fail(operand, name() + " with .v" + std::to_string(instruction.vector) +
                          " takes that many elements, not " + std::to_string(operand.count));
      // Of 32 bytes a store may leave some out.
      const bool sinks = pattern.destination || is_of_32_bytes(mnemonic);
      for (uint32_t i = 0; i < operand.count; ++i)
        check_scalar(instruction.elements[operand.first + i], pattern, type, sinks);
      const auto elements = std::span(instruction.elements).subspan(operand.first, operand.count);
      if (is_of_32_bytes(mnemonic) &&
          std::ranges::all_of(elements, [](const Operand& o) { return o.kind == Operand::Kind::sink; }))
        fail(operand, name() + " takes a vector with a register here, not of '_' alone");
      return;
    }
    if (takes_vector && !(pattern.sink && operand.kind == Operand::Kind::sink))
      fail(operand, name() + " with .v" + std::to_string(instruction.vector) + " takes a vector here");
    check_scalar(operand, pattern, type, pattern.sink);
  }

  /// Of a tensor.
  [[nodiscard]] uint32_t dimensions() const {
    return instruction.has(Mod::dim_1d)   ? 1
           : instruction.has(Mod::dim_2d) ? 2
           : instruction.has(Mod::dim_3d) ? 3
           : instruction.has(Mod::dim_4d) ? 4
                                          : 5;
  }

  void check_list(const Operand& operand, const OperandPattern& pattern) const {
    if (operand.kind != Operand::Kind::vector) fail(operand, name() + " takes a list in braces here");
    if (instruction.has(Mod::im2col) && operand.count != dimensions() - 2)
      fail(operand, name() + " takes " + std::to_string(dimensions() - 2) +
                        (dimensions() == 3 ? " offset" : " offsets") + " here, not " +
                        std::to_string(operand.count));
    for (uint32_t i = 0; i < operand.count; ++i)
      check_scalar(instruction.elements[operand.first + i], pattern, pattern.type, false);
  }

  void check_scalar(Operand& operand, const OperandPattern& pattern, Type type, bool sink) const {
    const auto refuse = [&](std::string_view wanted) {
      fail(operand, name() + " takes " + std::string(wanted) + " here, not " + described(operand));
    };
    switch (operand.kind) {
      case Operand::Kind::reg:
        if (pattern.constant_only) refuse("an integer constant");
        if (operand.negated && !(pattern.negatable && (type == Type::pred || pattern.or_predicate)) &&
            !pattern.minus)
          fail(operand, name() + " takes no negated " +
                            (context.registers[operand.reg].type == Type::pred ? "predicate" : "register") +
                            " here");
        if (operand.selector.unit != Selector::Unit::none && !pattern.selector)
          fail(operand, name() + " takes no selector of bytes or halves here");
        if (pattern.type_from == OperandPattern::TypeFrom::address) {
          const Type reg = context.registers[operand.reg].type;
          if (!compatible(Type::b32, reg, false) && !compatible(Type::b64, reg, false)) refuse("an address");
          return;
        }
        if (pattern.or_predicate && context.registers[operand.reg].type == Type::pred) return;
        check_register(operand, type, pattern.wider);
        return;
      case Operand::Kind::sink:
        if (!sink) refuse("a value");
        return;
      case Operand::Kind::integer:
      case Operand::Kind::real32:
      case Operand::Kind::real64:
        if (pattern.destination) refuse("a register");
        if (operand.negated) fail(operand, "only predicate registers can be negated");
        check_constant(operand, type);
        return;
      case Operand::Kind::special:
        if (pattern.destination || pattern.constant_only || !pattern.special)
          refuse("a register or constant");
        check_special(operand, type);
        return;
      case Operand::Kind::symbol:
        if (!pattern.symbol) refuse(pattern.destination ? "a register" : "a register or constant");
        return;
      default: refuse(pattern.destination ? "a register" : "a register or constant");
    }
  }

  void check_address(const Operand& operand, const OperandPattern& pattern) const {
    if (operand.kind != Operand::Kind::address)
      fail(operand, name() + " takes an address in brackets here, not " + described(operand));
    if ((pattern.kind == OperandPattern::Kind::tensor) != (operand.count != 0))
      fail(operand, name() + (operand.count != 0 ? " takes no coordinates here"
                                                 : " takes a tensor map and coordinates here"));
    // Of four rows: where each of them begins, and which they are.
    const bool has_rows = instruction.has(Mod::tile_gather4) || instruction.has(Mod::tile_scatter4);
    const uint32_t coordinates = has_rows ? 5 : dimensions();
    if (operand.count != 0 && operand.count != coordinates)
      fail(operand, name() + " takes " + std::to_string(coordinates) + " coordinates here, not " +
                        std::to_string(operand.count));
    for (uint32_t i = 0; i < operand.count; ++i)
      check_scalar(instruction.elements[operand.first + i], {}, Type::s32, false);
    if (operand.reg == no_index) return;
    const Type reg = context.registers[operand.reg].type;
    const Space space = pattern.space_position == 0   ? instruction.space
                        : pattern.space_position == 1 ? instruction.second_space
                                                      : pattern.space;
    // Shared, local and parameter addresses fit 32 bits.
    const bool may_be_short = space == Space::shared || space == Space::shared_cta ||
                              space == Space::shared_cluster || space == Space::local ||
                              space == Space::param || space == Space::param_entry ||
                              space == Space::param_func;
    if (compatible(Type::u64, reg, false) || (may_be_short && compatible(Type::u32, reg, false))) return;
    fail(operand, "an address of ." + std::string(name_of(space)) + " memory takes a " +
                      (may_be_short ? "32- or 64-bit" : "64-bit") + " register, not " +
                      described(context.registers[operand.reg]));
  }

  void by_pattern(const OperandForm& form) {
    auto& operands = instruction.operands;
    const auto called_for = [&](const OperandPattern& pattern) {
      for (size_t i = 0; i < pattern.only_with_count; ++i)
        if (instruction.has(pattern.only_with[i])) return true;
      return pattern.only_with_count == 0 && !pattern.optional;
    };
    size_t joined = 0, needed = 0, optional = 0;
    for (size_t i = 0; i < operands.size(); ++i) joined += context.piped >> i & 1;
    for (size_t i = 0; i < form.operand_count; ++i) {
      if (form.operands[i].piped) continue;
      if (called_for(form.operands[i]))
        ++needed;
      else if (form.operands[i].optional)
        ++optional;
    }
    const size_t written = operands.size() - joined;
    if (written < needed || written > needed + optional)
      source.fail(instruction.loc, name() + " takes " + std::to_string(needed) +
                                       (optional != 0 ? " to " + std::to_string(needed + optional) : "") +
                                       (needed + optional == 1 ? " operand, not " : " operands, not ") +
                                       std::to_string(written));

    size_t spare = written - needed;
    size_t next = 0;
    for (size_t i = 0; i < form.operand_count; ++i) {
      const OperandPattern& pattern = form.operands[i];
      const bool is_joined = next < operands.size() && (context.piped >> next & 1) != 0;
      bool present = called_for(pattern);
      if (pattern.optional && pattern.piped) {
        present = is_joined;
      } else if (pattern.optional && spare > 0) {
        present = true;
        --spare;
      }
      if (!present) continue;
      if (pattern.piped && !is_joined)
        source.fail(instruction.loc, name() + " takes two destinations, joined by '|'");
      if (!pattern.piped && is_joined) fail(operands[next], name() + " takes no second destination here");
      Operand& operand = operands[next++];
      switch (pattern.kind) {
        case OperandPattern::Kind::address:
        case OperandPattern::Kind::tensor: check_address(operand, pattern); break;
        case OperandPattern::Kind::value: check_value(operand, pattern); break;
        case OperandPattern::Kind::list: check_list(operand, pattern); break;
        case OperandPattern::Kind::label:
        case OperandPattern::Kind::table: break;  // the parser reads nothing else there
      }
    }
    if (next < operands.size()) fail(operands[next], name() + " takes no second destination here");
  }

  /// What numbers stand for, and how many dimensions there are.
  void tensor_map_field() const {
    const auto& operands = instruction.operands;
    const bool ordinal = operands.size() == 3;
    const Operand& value = operands[1];
    const uint64_t most = ordinal                                   ? 4
                          : instruction.has(Mod::elemtype)          ? 12
                          : instruction.has(Mod::swizzle_mode)      ? 3
                          : instruction.has(Mod::swizzle_atomicity) ? 3
                          : instruction.has(Mod::interleave_layout) ? 2
                          : instruction.has(Mod::fill_mode)         ? 1
                                                                    : UINT64_MAX;
    // Elements and swizzles that came with sm_100 and sm_103.
    const bool newer = (instruction.has(Mod::elemtype) && value.bits <= 15) ||
                       (instruction.has(Mod::swizzle_mode) && value.bits == 4);
    if (value.kind == Operand::Kind::integer && value.bits > most && newer)
      source.refuse(value.loc,
                    name() + " with the value " + std::to_string(value.bits) + " is not supported");
    if (value.kind == Operand::Kind::integer && value.bits > most)
      fail(value, name() + " takes 0 to " + std::to_string(most) + " here");
    if (instruction.has(Mod::swizzle_atomicity) && value.bits == 2)
      source.refuse(value.loc, "a swizzle of a tensor that exchanges 8 bytes is not supported");
    if (instruction.has(Mod::interleave_layout) && value.bits != 0)
      source.refuse(value.loc, "an interleaved layout of a tensor is not supported");
  }

  void check_combination() const {
    const auto& operands = instruction.operands;
    if (instruction.op == Op::cvta && instruction.has(Mod::to) && operands[1].kind == Operand::Kind::symbol)
      fail(operands[1], "cvta.to takes a generic address in a register");
    if (instruction.op == Op::cvt) conversion();
    if (instruction.op == Op::setp && context.piped != 0 &&
        (instruction.type() == Type::f16 || instruction.type() == Type::bf16))
      fail(operands[1], name() + " takes no second destination");
    if (instruction.op == Op::tcgen05_cp) tensor_address(operands[0]);
    if (info(instruction.op).op_class == OpClass::video) video();
    if ((instruction.op == Op::mbarrier_arrive || instruction.op == Op::mbarrier_arrive_drop) &&
        instruction.space == Space::shared_cluster && operands[0].kind != Operand::Kind::sink)
      fail(operands[0], name() + " with .shared::cluster gives no state: '_' stands in its place");
    if (instruction.op == Op::cp_async) {
      const uint64_t size = operands[2].bits;
      if (instruction.has(Mod::cg) ? size != 16 : size != 4 && size != 8 && size != 16)
        fail(operands[2],
             name() + (instruction.has(Mod::cg) ? ".cg copies 16 bytes" : " copies 4, 8 or 16 bytes"));
    }
    if (instruction.op == Op::fence_proxy && !operands.empty() && operands[1].bits != 128)
      fail(operands[1], name() + " is for 128 bytes, a tensor map");
    if (instruction.op == Op::tensormap_cp_fenceproxy && operands[2].bits != 128)
      fail(operands[2], name() + " is for 128 bytes, a tensor map");
    if (instruction.op == Op::tensormap_replace) tensor_map_field();
    if (instruction.op == Op::st_bulk) {
      const Operand& size = operands[1];
      if (size.kind == Operand::Kind::integer && (size.bits % 8 != 0 || size.bits > 16777216))
        fail(size, name() + " writes a multiple of 8 bytes, 16777216 at most");
      if (operands[2].bits != 0) fail(operands[2], name() + " writes zeros: the value here is 0");
    }
    if (instruction.op == Op::match && instruction.has(Mod::any) && context.piped != 0)
      fail(operands[1], "match.any takes no second destination");
    // Of three values: from sm_100 on.
    if ((instruction.op == Op::min || instruction.op == Op::max) && operands.size() == 4 &&
        (instruction.type() != Type::f32 || instruction.has(Mod::xorsign)))
      fail(operands[3], name() + " takes 3 operands, not 4");
    if ((instruction.op == Op::txq || instruction.op == Op::suq) &&
        ((operands[1].reg == no_index && operands[1].symbol.kind == SymbolRef::Kind::none) ||
         operands[1].bits != 0))
      fail(operands[1], name() + " takes a texture or surface reference, or a register with a handle");
    if ((instruction.op == Op::bar || instruction.op == Op::barrier) && !instruction.has(Mod::warp)) {
      // [d,] barrier [, threads] [, predicate]: d and the predicate with .red
      const bool red = instruction.has(Mod::red);
      const Operand& barrier = operands[red ? 1 : 0];
      if (barrier.kind == Operand::Kind::integer && barrier.bits > 15)
        fail(barrier, "a block has the barriers 0 to 15");
      if (operands.size() != (red ? 4 : 2)) return;
      const Operand& threads = operands[red ? 2 : 1];
      if (threads.kind == Operand::Kind::integer && (threads.bits == 0 || threads.bits % 32 != 0))
        fail(threads, "the number of threads of a barrier is a multiple of 32");
    }
  }

  void conversion() const {
    const auto& operands = instruction.operands;
    const Type to = instruction.type(), from = instruction.types[1];
    const bool two = instruction.has(Mod::pack) ||
                     (from == Type::f32 && (to == Type::f16x2 || to == Type::bf16x2 || to == Type::e4m3x2 ||
                                            to == Type::e5m2x2 || is_small(to)));
    const bool has_random_bits = instruction.has(Mod::rs), four = is_four(to);
    const size_t needed =
        2 + (two ? 1 : 0) + (has_random_bits ? 1 : 0) + (instruction.types.size() > 2 ? 1 : 0);
    if (operands.size() != needed)
      source.fail(instruction.loc, name() + " takes " + std::to_string(needed) + " operands");
    if (four && operands[1].count != 4) fail(operands[1], name() + " takes four numbers in braces here");
    // Where a newer format takes part, registers have the size of what they hold.
    const bool exact = four || to == Type::bf16 || from == Type::bf16 || to == Type::tf32 ||
                       to == Type::e4m3x2 || to == Type::e5m2x2 || from == Type::e4m3x2 ||
                       from == Type::e5m2x2 || is_small(to) || is_small(from);
    for (size_t i = 0; i < 2 && exact; ++i) {
      const Type type = i == 0 ? to : from;
      if (operands[i].kind == Operand::Kind::reg &&
          size_of(context.registers[operands[i].reg].type) != size_of(type))
        fail(operands[i], name() + " takes a register of its size here");
    }
  }

  // What selects and combines the parts of a video instruction's operands; ptxas takes no constants where it
  // expects several parts.
  void video() const {
    const auto& operands = instruction.operands;
    const bool second = instruction.has(Mod::add) || instruction.has(Mod::min) || instruction.has(Mod::max);
    if (instruction.op == Op::vmad) {
      const bool product = operands[1].negated != operands[2].negated;
      if (product && operands[3].negated)
        fail(operands[3], "vmad takes a minus for the product or for the summand, not both");
      if (instruction.has(Mod::po) && (product || operands[3].negated))
        fail(operands[1], ".po does not go with a minus");
    }
    const char last = info(instruction.op).name.back();
    const uint8_t parts = last == '2' ? 2 : last == '4' ? 4 : 1;
    for (size_t i = 0; i < operands.size() && i < 3; ++i) check_selector(operands[i], parts, i == 0);
    if (parts != 1) {
      for (const Operand& operand : operands)
        if (operand.kind == Operand::Kind::integer) fail(operand, name() + " takes no constants");
      return;
    }
    const bool merge = operands[0].selector.unit != Selector::Unit::none;
    if (merge && second) fail(operands[0], name() + " takes no selector here beside a second operation");
    if ((merge || second) && operands.size() != 4)
      source.fail(instruction.loc, name() + " takes 4 operands here, not 3");
  }
  // One part, or of several: two halves or four bytes out of both operands; of a destination those to write,
  // the highest first.
  void check_selector(const Operand& operand, uint8_t parts, bool destination) const {
    const Selector& s = operand.selector;
    if (s.unit == Selector::Unit::none) return;
    bool good = parts == 1 || s.unit == (parts == 2 ? Selector::Unit::half : Selector::Unit::byte);
    good &= parts == 1 ? s.count == 1 : destination ? s.count <= parts : s.count == parts;
    const uint8_t digits = parts == 1 ? (s.unit == Selector::Unit::half ? 2 : 4)
                                      : static_cast<uint8_t>(destination ? parts : 2 * parts);
    for (uint8_t i = 0; i < s.count; ++i) {
      good &= s.digits[i] < digits;
      if (destination && i > 0) good &= s.digits[i] < s.digits[i - 1];
    }
    if (!good) fail(operand, name() + " does not take this selector here");
  }

  // data, [handle, {coordinates}] and what .level and .grad add; of stores, the data comes last.
  void texture() {
    auto& operands = instruction.operands;
    const bool store = instruction.op == Op::sust || instruction.op == Op::sured;
    const bool surface = store || instruction.op == Op::suld;
    const uint32_t extra = instruction.has(Mod::level) ? 1 : instruction.has(Mod::grad) ? 2 : 0;
    if (context.piped != 0)
      source.refuse(instruction.loc, name() + " with a second destination is not supported");
    if (operands.size() != 3 + extra)
      source.refuse(instruction.loc, name() + " takes " + std::to_string(2 + extra) +
                                         " operands here; offsets and depth comparison are not supported");
    const TextureShape shape = texture_shape_of(instruction);
    const uint32_t axes = shape.coordinates();
    Operand& handle = operands[store ? 0 : 1];
    if (handle.kind != Operand::Kind::symbol) check_register(handle, Type::u64, false);

    // Vectors of three are padded to four.
    const uint32_t least = axes + (shape.layered ? 1 : 0);
    Operand& coordinates = operands[store ? 1 : 2];
    const Type coordinate = surface ? Type::b32 : instruction.types.back();
    if (coordinates.kind != Operand::Kind::vector) {
      if (least != 1) fail(coordinates, name() + " takes a vector of coordinates here");
      check_scalar(coordinates, {}, coordinate, false);
    } else {
      if (coordinates.count < least || coordinates.count > (least == 3 ? 4 : least))
        fail(coordinates, name() + " takes " + std::to_string(least) + " coordinates here, not " +
                              std::to_string(coordinates.count));
      for (uint32_t i = 0; i < least; ++i)
        check_scalar(instruction.elements[coordinates.first + i], {},
                     shape.layered && i == 0 ? Type::b32 : coordinate, false);
    }

    Operand& data = operands[store ? 2 : 0];
    const OperandPattern pattern{.destination = !store, .wider = true};
    if (data.kind != Operand::Kind::vector) {
      if (instruction.vector != 1) fail(data, name() + " takes a vector of data");
      check_scalar(data, pattern, instruction.type(), false);
    } else {
      if (data.count != instruction.vector)
        fail(data, name() + " takes " + std::to_string(instruction.vector) + " values, not " +
                       std::to_string(data.count));
      for (uint32_t i = 0; i < data.count; ++i)
        check_scalar(instruction.elements[data.first + i], pattern, instruction.type(), !store);
    }

    for (size_t i = 3; i < operands.size(); ++i) {
      if (operands[i].kind != Operand::Kind::vector) {
        if (extra == 2 && axes != 1) fail(operands[i], name() + " takes vectors as gradients here");
        check_scalar(operands[i], {}, Type::f32, false);
        continue;
      }
      if (extra != 2) fail(operands[i], "a level is no vector");
      if (operands[i].count < axes || operands[i].count > (axes == 3 ? 4 : axes))
        fail(operands[i], name() + " takes gradients of " + std::to_string(axes) + " numbers here, not of " +
                              std::to_string(operands[i].count));
      for (uint32_t e = 0; e < operands[i].count; ++e)
        check_scalar(instruction.elements[operands[i].first + e], {}, Type::f32, false);
    }
  }

  // The registers of a matrix fragment, of tensor memory or of a mask.
  void fragment(Operand& operand, bool destination, Type type, uint32_t registers) {
    if (operand.kind != Operand::Kind::vector || operand.count != registers)
      fail(operand, name() + " takes a vector of " + std::to_string(registers) + " here" +
                        (operand.kind == Operand::Kind::vector ? ", not of " + std::to_string(operand.count)
                                                               : ", not " + described(operand)));
    // Packed elements are bits. What ptxas takes but registers: integers with tensor memory, elsewhere sinks,
    // and constants beside a register.
    const bool tensor = info(instruction.op).op_class == OpClass::tensor;
    const Type one = size_of(type) >= 4 && type != Type::tf32 ? type : Type::b32;
    const auto elements = std::span(instruction.elements).subspan(operand.first, operand.count);
    const auto is_register = [](const Operand& o) { return o.kind == Operand::Kind::reg; };
    const auto is_constant = [](const Operand& o) {
      return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real32 ||
             o.kind == Operand::Kind::real64;
    };
    const bool constants = !destination && !tensor && std::ranges::any_of(elements, is_register);
    for (Operand& element : elements) {
      const auto other = tensor ? Operand::Kind::integer : Operand::Kind::sink;
      if (!is_register(element) && !(destination != tensor && element.kind == other) &&
          !(constants && is_constant(element)))
        fail(element, name() + " takes registers here, not " + described(element));
      // Seen in the machine code of ptxas 13.0, and on an H200.
      if (element.kind == Operand::Kind::real64 && one == Type::f32 &&
          static_cast<uint32_t>(element.bits) !=
              std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(element.bits))))
        fail(element,
             "the assembler takes the lower half of the 64 bits of a constant here: write its 32 bits (0f…)");
      check_scalar(element, {.destination = destination}, one, destination && !tensor);
    }
  }
  void constant(const Operand& operand, std::initializer_list<int64_t> values) {
    for (const int64_t value : values)
      if (operand.kind == Operand::Kind::integer && static_cast<int64_t>(operand.bits) == value) return;
    std::string list;
    for (const int64_t value : values) list += (list.empty() ? "" : " ") + std::to_string(value);
    fail(operand, name() + " takes a constant here: one of " + list);
  }

  void matrix() {
    const MatrixForm form = matrix_form_of(instruction);
    auto& operands = instruction.operands;
    const auto count = [&](size_t least, size_t most) {
      if (operands.size() < least || operands.size() > most || context.piped != 0)
        source.fail(instruction.loc, name() + " takes " + std::to_string(least) +
                                         (most != least ? " or " + std::to_string(most) : "") +
                                         " operands here, not " + std::to_string(operands.size()));
    };
    switch (form.kind) {
      case MatrixForm::Kind::load_rows:
        count(2, 2);
        fragment(operands[0], true, Type::b32, form.a_registers);
        check_address(operands[1], {.kind = OperandPattern::Kind::address});
        return;
      case MatrixForm::Kind::store_rows:
        count(2, 2);
        check_address(operands[0], {.kind = OperandPattern::Kind::address});
        fragment(operands[1], false, Type::b32, form.a_registers);
        return;
      case MatrixForm::Kind::transpose:
        count(2, 2);
        check_scalar(operands[0], {.destination = true}, Type::b32, false);
        check_scalar(operands[1], {}, Type::b32, false);
        return;
      case MatrixForm::Kind::load:
      case MatrixForm::Kind::store: {
        count(2, 3);
        const bool load = form.kind == MatrixForm::Kind::load;
        fragment(operands[load ? 0 : 1], load, form.a, form.a_registers);
        check_address(operands[load ? 1 : 0], {.kind = OperandPattern::Kind::address});
        if (operands.size() == 3) check_scalar(operands[2], {}, Type::b32, false);
        return;
      }
      case MatrixForm::Kind::product:
        if (const size_t all = form.sparse ? 6 : form.scale_blocks != 0 ? 8 : 4; true) count(all, all);
        fragment(operands[0], true, form.d, form.d_registers);
        fragment(operands[1], false, form.a, form.a_registers);
        fragment(operands[2], false, form.b, form.b_registers);
        fragment(operands[3], false, form.c, form.c_registers);
        if (form.sparse) {
          check_scalar(operands[4], {}, Type::b32, false);
          constant(operands[5], {0, 1, 2, 3});
        }
        for (size_t i = 4; form.scale_blocks != 0 && i < operands.size(); i += 2)
          scale_factors(operands[i], operands[i + 1]);
        return;
      case MatrixForm::Kind::group_product: group_product(form, count); return;
      case MatrixForm::Kind::group_wait:
        count(1, 1);
        check_scalar(operands[0], {.constant_only = true}, Type::u32, false);
        return;
      case MatrixForm::Kind::group_order: count(0, 0); return;
      case MatrixForm::Kind::tensor_load:
      case MatrixForm::Kind::tensor_store: {
        const bool load = form.kind == MatrixForm::Kind::tensor_load,
                   halves = instruction.has(Mod::dim_16x32bx2);
        const size_t all = halves ? 3 : 2;
        count(all, all);
        fragment(operands[load ? 0 : all - 1], load, Type::b32, form.a_registers);
        tensor_address(operands[load ? 1 : 0]);
        if (halves) check_scalar(operands[load ? 2 : 1], {.constant_only = true}, Type::u32, false);
        return;
      }
      case MatrixForm::Kind::tensor_product: tensor_product(count); return;
    }
  }

  /// A register with scale factors, and {which byte of it, which thread's}.
  void scale_factors(Operand& factors, Operand& which) {
    if (factors.kind == Operand::Kind::vector)
      fragment(factors, false, Type::b32, 1);
    else
      check_scalar(factors, {}, Type::b32, false);
    if (which.kind != Operand::Kind::vector || which.count != 2)
      fail(which, name() + " takes {byte, thread} here, not " + described(which));
    for (uint32_t i = 0; i < 2; ++i)
      check_scalar(instruction.elements[which.first + i], {}, Type::u16, false);
  }

  /// An address of tensor memory: a register of 32 bits.
  void tensor_address(const Operand& operand) const {
    check_address(operand,
                  {.kind = OperandPattern::Kind::address, .space = Space::shared, .space_position = 2});
    if (operand.reg != no_index && size_of(context.registers[operand.reg].type) != 4)
      fail(operand, "an address of tensor memory takes a 32-bit register, not " +
                        described(context.registers[operand.reg]));
  }

  void tensor_product(const auto& count) {
    auto& operands = instruction.operands;
    const bool scaled = instruction.has(Mod::block_scale);
    const size_t least = scaled ? 7 : 5;
    if (operands.size() < least) count(least, least);
    tensor_address(operands[0]);
    if (operands[1].kind == Operand::Kind::address)
      tensor_address(operands[1]);
    else
      check_scalar(operands[1], {}, Type::b64, false);
    check_scalar(operands[2], {}, Type::b64, false);
    check_scalar(operands[3], {}, Type::b32, false);
    size_t next = 4;
    for (; scaled && next < 6; ++next) tensor_address(operands[next]);
    if (!scaled && operands[next].kind == Operand::Kind::vector)
      fragment(operands[next++], false, Type::b32, instruction.has(Mod::cta_group_2) ? 8 : 4);
    if (next >= operands.size()) count(next + 1, next + 1);
    check_scalar(operands[next++], {.negatable = true}, Type::pred, false);
    const bool halves_input = instruction.has(Mod::kind_f16) || instruction.has(Mod::kind_tf32);
    if (next < operands.size() && halves_input) {
      check_scalar(operands[next], {.constant_only = true}, Type::u32, false);
      if (operands[next++].bits > 15) fail(operands[next - 1], "scale-input-d is 0 to 15");
    }
    if (next != operands.size()) count(next, next);
  }

  void group_product(const MatrixForm& form, const auto& count) {
    auto& operands = instruction.operands;
    if (operands.size() < 4) count(4, 4);
    const bool in_registers = operands[1].kind == Operand::Kind::vector;
    const bool scales = form.d != Type::s32;
    const bool transposes = form.a == Type::f16 || form.a == Type::bf16;
    const size_t metadata = form.sparse ? 2 : 0;
    const size_t all = 4 + metadata + (scales ? 2 : 0) + (transposes ? (in_registers ? 1 : 2) : 0);
    count(all, all);
    fragment(operands[0], true, form.d, form.d_registers);
    if (in_registers)
      fragment(operands[1], false, Type::b32, form.a_registers);
    else
      check_scalar(operands[1], {}, Type::b64, false);
    check_scalar(operands[2], {}, Type::b64, false);
    size_t next = 3;
    if (form.sparse) {
      check_scalar(operands[next++], {}, Type::b32, false);
      constant(operands[next++], {0, 1, 2, 3});
    }
    check_scalar(operands[next++], {.negatable = true}, Type::pred, false);
    for (int i = 0; scales && i < 2; ++i) constant(operands[next++], {-1, 1});
    while (next < operands.size()) constant(operands[next++], {0, 1});
  }

  // mov moves a value, the address of a symbol, or packs and unpacks a vector.
  void mov() {
    auto& operands = instruction.operands;
    const Type type = instruction.type();
    if (operands.size() != 2 || context.piped != 0)
      source.fail(instruction.loc, name() + " takes 2 operands, not " + std::to_string(operands.size()));
    Operand& d = operands[0];
    Operand& a = operands[1];
    OperandPattern destination{.destination = true};
    OperandPattern value{.negatable = true, .symbol = true, .special = true};
    if (d.kind == Operand::Kind::vector || a.kind == Operand::Kind::vector) {
      Operand& vector = d.kind == Operand::Kind::vector ? d : a;
      Operand& whole = d.kind == Operand::Kind::vector ? a : d;
      if (whole.kind == Operand::Kind::vector) fail(whole, name() + " takes one vector, not two");
      if (type != Type::b16 && type != Type::b32 && type != Type::b64 && type != Type::b128)
        fail(vector, name() + " takes no vector; .b16 .b32 .b64 .b128 do");
      const uint32_t size = vector.count != 0 ? size_of(type) / vector.count : 0;
      const std::optional<Type> element = size == 1   ? std::optional(Type::b8)
                                          : size == 2 ? std::optional(Type::b16)
                                          : size == 4 ? std::optional(Type::b32)
                                          : size == 8 ? std::optional(Type::b64)
                                                      : std::nullopt;
      if ((vector.count != 2 && vector.count != 4) || !element)
        fail(vector, name() + " takes vectors of 2 or 4 elements that fill " + std::to_string(size_of(type)) +
                         " bytes");
      const bool unpack = &vector == &d;
      for (uint32_t i = 0; i < vector.count; ++i)
        check_scalar(instruction.elements[vector.first + i], unpack ? destination : OperandPattern{},
                     *element, unpack);
      check_scalar(whole, unpack ? OperandPattern{} : destination, type, false);
      return;
    }
    check_scalar(d, destination, type, false);
    check_scalar(a, value, type, false);
    if (a.kind == Operand::Kind::symbol && (is_float(type) || (size_of(type) != 4 && size_of(type) != 8)))
      fail(a, name() + " cannot hold an address");
  }
};

}  // namespace

Mnemonic read_mnemonic(std::span<const Word> words, const Source& source) {
  Mnemonic mnemonic;
  // The longest row whose words are the first ones written.
  std::string whole(words[0].text);
  std::optional<Op> op = find_op(whole);
  size_t name_words = 1;
  for (size_t i = 1; i < words.size(); ++i) {
    whole += "." + std::string(words[i].text);
    if (const auto longer = find_op(whole)) {
      op = longer;
      name_words = i + 1;
    }
  }
  if (!op) {
    const std::string_view near = nearest_op(words[0].text);
    source.fail(words[0].loc, "unknown instruction '" + std::string(words[0].text) + "'" +
                                  (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"));
  }
  mnemonic.op = *op;
  const InstructionInfo& row = info(*op);
  if (!row.supported) source.refuse(words[0].loc, "the instruction '" + whole + "' is not supported");
  size_t spaces = 0;
  for (const Word& word : words.subspan(name_words)) {
    const auto meaning = find_word(word.text);
    if (!meaning) {
      for (const RefusedWord& refused : refused_words())
        if (refused.spelling == word.text)
          source.refuse(word.loc,
                        std::string(row.name) + " with ." + std::string(word.text) + " is not supported");
      const std::string_view near = nearest_word(word.text);
      source.fail(word.loc, "unknown modifier '." + std::string(word.text) + "'" +
                                (near.empty() ? "" : "; did you mean '." + std::string(near) + "'?"));
    }
    switch (meaning->kind) {
      case DottedWord::Kind::type: mnemonic.types.push_back(meaning->type); break;
      case DottedWord::Kind::vector:
        if (mnemonic.vector != 1) source.fail(word.loc, "two vector widths");
        mnemonic.vector = meaning->vector;
        break;
      case DottedWord::Kind::space:
        if (spaces == std::max<size_t>(row.space_count, 1))
          source.fail(word.loc, std::string(row.name) +
                                    (spaces == 1 ? " takes one state space" : " takes two state spaces"));
        (spaces++ == 0 ? mnemonic.space : mnemonic.second_space) = meaning->space;
        break;
      case DottedWord::Kind::shape:
        if (row.op_class != OpClass::matrix || mnemonic.shape.m != 0)
          source.fail(word.loc,
                      std::string(row.name) +
                          (mnemonic.shape.m != 0 ? " takes one shape" : " takes no shape of matrices"));
        mnemonic.shape.m = meaning->shape.m;
        mnemonic.shape.n = meaning->shape.n;
        mnemonic.shape.k = meaning->shape.k;
        break;
      case DottedWord::Kind::layout:
        if (row.op_class != OpClass::matrix || mnemonic.shape.layouts == 2)
          source.fail(word.loc, std::string(row.name) + (mnemonic.shape.layouts == 2 ? " takes two layouts"
                                                                                     : " takes no layout"));
        mnemonic.shape.columns |= static_cast<uint8_t>(meaning->shape.columns << mnemonic.shape.layouts++);
        break;
      case DottedWord::Kind::modifier: mnemonic.modifiers.set(static_cast<size_t>(meaning->mod)); break;
    }
  }
  mnemonic.form = &form_of(row, mnemonic.modifiers, mnemonic.types.empty() ? Type::none : mnemonic.types[0]);
  const Checker checker{source, row, mnemonic, words, name_words};
  checker.check_types();
  checker.check_spaces(spaces);
  checker.check_modifiers();
  checker.check_vector();
  checker.check_combination();
  return mnemonic;
}

void check_operands(Instruction& instruction, const Mnemonic& mnemonic, const OperandContext& context,
                    const Source& source) {
  OperandChecker checker{instruction, mnemonic, context, source};
  switch (mnemonic.form->check) {
    case OperandForm::Check::mov: checker.mov(); break;
    case OperandForm::Check::texture: checker.texture(); break;
    case OperandForm::Check::matrix: checker.matrix(); break;
    case OperandForm::Check::by_pattern:
      checker.by_pattern(*mnemonic.form);
      checker.check_combination();
      break;
    case OperandForm::Check::call:
    case OperandForm::Check::not_described: break;
  }
}

}  // namespace lanescope::ptx
