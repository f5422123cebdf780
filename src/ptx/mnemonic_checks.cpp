// Checks of mnemonics against the instruction table. What the table's columns cannot say (rules between
// modifiers) is in check_combination; source: PTX ISA 9.0, and ptxas 13.0 where the text leaves room.
#include "ptx/checks.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "ptx/matrix.hpp"

namespace lanescope::ptx {
namespace {

using Mods = std::bitset<modifier_count>;

struct Need {
  std::string_view name, words, targets, version;
};
constexpr Need needs[] = {
#define PTX_NEEDS(name, words, targets, version) {name, words, targets, version},
#include "ptx/needs.def"
#undef PTX_NEEDS
};

/// Calls visit(piece) for each piece of `list`, which blanks part, until one call gives false; whether none
/// did.
template <class Visit>
constexpr bool all_of_list(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (!visit(list.substr(0, end))) return false;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return true;
}

/// 83 of "8.3"; 0 of "".
uint32_t read_version(std::string_view text) {
  uint32_t version = 0;
  for (const char c : text)
    if (c != '.') version = version * 10 + static_cast<uint32_t>(c - '0');
  return version;
}

/// Whether a module for `given` may have what is there from `needed` on: "80", "90a" or "100f".
bool reaches(const Target& given, std::string_view needed) {
  const Target from = read_target(needed);
  switch (from.variant) {
    case 'a': return given.number == from.number && given.variant == 'a';
    case 'f':
      return given.number / 10 == from.number / 10 && given.number >= from.number && given.variant != 0;
    default: return given.number >= from.number;
  }
}

bool has(const Mods& mods, Mod m) { return mods[static_cast<size_t>(m)]; }

std::string listed(TypeMask mask) {
  std::string out;
  for (int i = 1; i < 64; ++i)
    if ((mask >> i & 1) != 0)
      out += std::string(out.empty() ? "" : " ") + "." + std::string(name_of(static_cast<Type>(i)));
  return out;
}

bool is_sum(Op op) { return op == Op::add || op == Op::sub || op == Op::fma; }

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

  /// A sum of single and half precision (add.f32.f16), of sm_100 and later.
  [[nodiscard]] bool is_mixed() const { return is_sum(mnemonic.op) && mnemonic.types.size() == 2; }

  /// Sums and products of pairs of several types (add.f32x2.f16x2.f32x2), of sm_107.
  [[nodiscard]] bool has_mixed_pairs() const {
    const auto& types = mnemonic.types;
    const auto is_pair_of_any = [](Type t) { return is_pair(t) || t == Type::f32x2; };
    return (is_sum(mnemonic.op) || mnemonic.op == Op::mul) &&
           types.size() == (mnemonic.op == Op::fma ? 4 : 3) &&
           std::all_of(types.begin(), types.end(), is_pair_of_any);
  }

  /// The last type decides which modifiers are legal: the only one of most, the compared or converted one of
  /// the others.
  [[nodiscard]] TypeMask deciding_type() const {
    const auto& types = mnemonic.types;
    return mask_of(types.empty() ? Type::none : is_mixed() ? types.front() : types.back());
  }

  void check_types() const {
    const auto& types = mnemonic.types;
    if (has_mixed_pairs()) refuse(name_of(types[1]), "the instruction '" + name() + "' is not supported");
    for (size_t i = 0; i < info.type_count || i < types.size(); ++i) {
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
    if (is_mixed() && types[0] != Type::f32)
      fail(name_of(types[1]), std::string(info.name) + " takes two types only where the first is .f32");
  }

  void check_target(const Target& given) const {
    for (const Need& need : needs) {
      if (!info.name.starts_with(need.name)) continue;
      const bool whole_words =
          need.name.empty() || info.name.size() == need.name.size() || info.name[need.name.size()] == '.';
      const bool written = all_of_list(need.words, [&](std::string_view word) {
        return std::ranges::find(words.subspan(1), word, &Word::text) != words.end();
      });
      if (whole_words && written) check_need(need, given);
    }
    if (is_mixed()) check_need({{}, {}, "100", "8.6"}, given);
    if (is_of_32_bytes(mnemonic)) check_need({{}, {}, "100", "8.8"}, given);
    const bool three = has(mnemonic.modifiers, Mod::abs) && !has(mnemonic.modifiers, Mod::xorsign);
    if (three && (mnemonic.op == Op::min || mnemonic.op == Op::max))
      check_need({{}, {}, "100", "8.8"}, given);
    // Between bf16 and f32 there were conversions before there were others.
    if (mnemonic.op == Op::cvt && std::ranges::count(mnemonic.types, Type::bf16) != 0 &&
        std::ranges::count(mnemonic.types, Type::f32) == 0)
      check_need({{}, {}, "90", {}}, given);
  }

  void check_need(const Need& need, const Target& given) const {
    const std::string_view word = need.words.substr(0, need.words.find(' '));
    std::string what = name();
    (void)all_of_list(need.words, [&](std::string_view w) {
      if (!find_type(w)) what += (what == name() ? " with ." : " and .") + std::string(w);
      return true;
    });
    if (given.version < read_version(need.version))
      fail(word, what + " needs .version " + std::string(need.version) + " or later; this module's is " +
                     std::to_string(given.version / 10) + "." + std::to_string(given.version % 10));
    if (!all_of_list(need.targets, [&](std::string_view target) { return !reaches(given, target); })) return;
    std::string targets;
    (void)all_of_list(need.targets, [&](std::string_view target) {
      targets += (targets.empty() ? "sm_" : " or sm_") + std::string(target);
      return true;
    });
    const char last = need.targets.back();
    fail(word, what + " needs .target " + targets +
                   (last == 'a'   ? ""
                    : last == 'f' ? " (or a later one of its family)"
                                  : " or later") +
                   "; this module is for sm_" + std::to_string(given.number) +
                   (given.variant == 0 ? "" : std::string(1, given.variant)));
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
    const TypeMask type = deciding_type();
    std::array<const ModifierRule*, 32> chosen{};
    bool leading = true;
    for (size_t w = name_words; w < words.size(); ++w) {
      const auto word = find_word(words[w].text);
      if (word->kind != DottedWord::Kind::modifier) {
        leading = false;
        continue;
      }
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
      if (rule->leads && !leading)
        fail(spelling, std::string(info.name) + " is written with ." + spelling + " before other words");
      leading = rule->leads;
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
    if (mnemonic.op == Op::mov) {
      const uint32_t size = size_of(mnemonic.types.front());
      if (mnemonic.vector > 4 || mnemonic.types.front() == Type::pred || mnemonic.vector * size > 16)
        fail(word, name() + " does not take ." + word);
      return;
    }
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
    if (is_mixed() && written(Mod::ftz)) fail("ftz", ".ftz does not go with " + name());
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
        if (mnemonic.types[0] != Type::f32) demand(Mod::abs, Mod::xorsign);  // of three operands without it
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
        if (written(Mod::noComplete) && (written(Mod::relaxed) || written(Mod::cluster)))
          fail("noComplete", ".noComplete goes with .release.cta alone");
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
        const bool checked = written(Mod::L1_32B),
                   by_priority = written(Mod::L2_evict_last) || written(Mod::L2_evict_normal);
        if (!fits || (by_priority && space == Space::local) ||
            (checked && space != Space::generic && space != Space::global))
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
      case Op::tcgen05_ld_red:
      case Op::tcgen05_st:
      case Op::tcgen05_mma_ws: check_matrix(); break;
      case Op::tcgen05_mma:
        if (written(Mod::sp) && written(Mod::block_scale))
          refuse("sp", "tcgen05.mma with .sp and .block_scale is not supported");
        check_matrix();
        break;
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
        space != Space::shared_cta && space != Space::shared_cluster)
      fail({}, name() + " with a memory order does not take the state space ." + std::string(name_of(space)));
  }
};

}  // namespace

/// "add.f32": opcode and types, for messages.
std::string spelled(Op op, const std::vector<Type>& types) {
  std::string out(name_of(op));
  for (const Type type : types) out += "." + std::string(name_of(type));
  return out;
}

Target read_target(std::string_view text) {
  Target target;
  const char* const end = text.data() + text.size();
  const char* const rest = std::from_chars(text.data(), end, target.number).ptr;
  if (rest != end) target.variant = *rest;
  return target;
}

Mnemonic read_mnemonic(std::span<const Word> words, const std::optional<Target>& target,
                       const Source& source) {
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
  if (target) checker.check_target(*target);
  return mnemonic;
}

}  // namespace lanescope::ptx
