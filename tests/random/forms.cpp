// Makes every combination that a table row allows and keeps those that the checks of ptx/ accept.
#include "random/forms.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "random/values.hpp"

namespace lanescope::random {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::OpClass;
using ptx::Space;
using ptx::Type;

/// An opcode with more combinations than this is sampled, and so many of its forms are kept.
constexpr size_t most_combinations = 20000, sample = 400;

std::optional<ptx::Mnemonic> read(const std::string& text) {
  std::vector<ptx::Word> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('.', at), text.size());
    words.push_back({std::string_view(text).substr(at, end - at), {1, 1}});
    at = end + 1;
  }
  try {
    return ptx::read_mnemonic(words, std::nullopt, {text, "form"});
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// One place of a mnemonic and the words that may stand there, each with its dot; "" for nothing.
using Choices = std::vector<std::vector<std::string>>;

std::string dotted(std::string_view word) { return "." + std::string(word); }

/// In the order in which PTX writes them: modifiers as in the table, before the types; the state space after
/// the memory order and its scope; vector widths before the type.
Choices choices_of(const ptx::InstructionInfo& row) {
  Choices choices;
  std::vector<std::string> spaces;
  for (int s = 0; s < 16; ++s) {
    if (((row.spaces[0] & ~row.spaces_unsupported[0]) >> s & 1) == 0) continue;
    const Space space = static_cast<Space>(s);
    spaces.push_back(space == Space::generic ? "" : dotted(name_of(space)));
  }
  const auto put_space = [&] {
    if (!spaces.empty()) choices.push_back(std::move(spaces));
    spaces.clear();
  };
  for (size_t i = 0; i < row.modifier_count;) {
    const uint8_t group = row.modifiers[i].group;
    std::set<std::string> words;
    bool before_space = false;
    for (; i < row.modifier_count && row.modifiers[i].group == group; ++i) {
      const Mod mod = row.modifiers[i].mod;
      before_space |= mod == Mod::relaxed || mod == Mod::cta || mod == Mod::mmio;
      if (row.modifiers[i].supported) words.insert(dotted(name_of(mod)));
    }
    words.insert("");
    if (!before_space) put_space();
    choices.emplace_back(words.begin(), words.end());
  }
  put_space();
  bool vectors = false;
  for (size_t f = 0; f < row.form_count; ++f)
    for (size_t i = 0; i < row.forms[f].operand_count; ++i) vectors |= row.forms[f].operands[i].vector;
  if (vectors) choices.push_back({"", ".v2", ".v4", ".v8"});
  for (size_t t = 0; t < row.type_count; ++t) {
    std::vector<std::string> types;
    for (int i = 0; i < 64; ++i) {
      if (((row.types[t] & ~row.types_unsupported[t]) >> i & 1) == 0) continue;
      types.push_back(i == 0 ? "" : dotted(name_of(static_cast<Type>(i))));
    }
    choices.push_back(std::move(types));
  }
  return choices;
}

bool used(const Form& form) { return group_of(form) != Group::none; }

void add_if_legal(const std::string& text, std::set<std::string>& forms) {
  const auto mnemonic = read(text);
  if (mnemonic && used({text, *mnemonic})) forms.insert(text);
}

std::set<std::string> forms_of(Op op) {
  const ptx::InstructionInfo& row = ptx::info(op);
  std::set<std::string> forms;
  if (!row.supported) return forms;
  const Choices choices = choices_of(row);
  size_t combinations = 1;
  for (const auto& words : choices)
    combinations = std::min(combinations * words.size(), most_combinations + 1);
  if (combinations <= most_combinations) {
    for (size_t n = 0; n < combinations; ++n) {
      std::string text(row.name);
      size_t rest = n;
      for (const auto& words : choices) {
        text += words[rest % words.size()];
        rest /= words.size();
      }
      add_if_legal(text, forms);
    }
    return forms;
  }
  Random random(static_cast<uint64_t>(row.name.size()) << 8 | static_cast<uint8_t>(row.name[0]));
  for (int tries = 0; tries < 40000 && forms.size() < sample; ++tries) {
    std::string text(row.name);
    // Most modifiers may be left out and exclude others: mostly few at a time.
    const uint32_t percent = random.below(100);
    for (const auto& words : choices) {
      const bool may_be_empty = std::find(words.begin(), words.end(), "") != words.end();
      const bool leave_out = may_be_empty && random.chance(percent);
      if (!leave_out) text += random.pick(words);
    }
    add_if_legal(text, forms);
  }
  return forms;
}

bool any_type(const Form& form, auto&& predicate) {
  return std::any_of(form.mnemonic.types.begin(), form.mnemonic.types.end(), predicate);
}

/// Programs are for sm_90: accesses of 32 bytes a lane, random rounding, pairs of f32, and tf32 with
/// .satfinite rounded other than away from zero came with sm_100.
bool is_of_later_chips(const Form& form) {
  constexpr uint32_t most_bytes = 16;
  const bool has_tf32 = any_type(form, [](Type t) { return t == Type::tf32; });
  return form.mnemonic.vector * ptx::size_of(form.type()) > most_bytes || form.has(Mod::rs) ||
         any_type(form, [](Type t) { return t == Type::f32x2; }) ||
         (has_tf32 && form.has(Mod::satfinite) && !form.has(Mod::rna));
}

}  // namespace

Group group_of(const Form& form) {
  const ptx::InstructionInfo& row = ptx::info(form.op());
  const ptx::OperandForm& operands = *form.mnemonic.form;
  if (operands.check != ptx::OperandForm::Check::by_pattern) return Group::none;
  // The programs' blocks stand alone.
  if (form.mnemonic.space == Space::shared_cluster) return Group::none;
  const bool small_float = any_type(form, [](Type t) {
    return (ptx::is_float(t) && t != Type::f32 && t != Type::f64) || (t >= Type::e4m3 && t <= Type::e5m2x2);
  });
  if (is_of_later_chips(form)) return Group::none;
  switch (row.op_class) {
    case OpClass::memory:
      // A cache policy comes from createpolicy alone; .lu says that nobody reads the line again.
      if (form.has(Mod::L2_cache_hint) || form.has(Mod::lu)) return Group::none;
      if (form.op() == Op::ld || form.op() == Op::ldu)
        return form.mnemonic.space == Space::param_func ? Group::none : Group::load;
      if (form.op() == Op::st)
        return form.mnemonic.space == Space::param || form.mnemonic.space == Space::param_func ? Group::none
                                                                                               : Group::store;
      return Group::none;
    case OpClass::atomic: return form.has(Mod::L2_cache_hint) ? Group::none : Group::atomic;
    case OpClass::warp:
      // Which lanes are active beside each other is the machine's choice.
      return form.op() == Op::activemask ? Group::none : Group::warp;
    case OpClass::barrier:
      // Of fence.proxy, ptxas wants the words in another order than ours.
      if (form.op() == Op::membar || form.op() == Op::fence)
        return form.has(Mod::proxy) ? Group::none : Group::fence;
      return form.has(Mod::red) ? Group::barrier : Group::none;
    case OpClass::arithmetic:
    case OpClass::logic:
    case OpClass::compare:
    case OpClass::convert:
    case OpClass::video: break;
    default: return Group::none;
  }
  for (size_t i = 0; i < operands.operand_count; ++i) {
    const ptx::OperandPattern& operand = operands.operands[i];
    if (operand.kind != ptx::OperandPattern::Kind::value ||
        operand.type_from == ptx::OperandPattern::TypeFrom::address || operand.symbol)
      return Group::none;
  }
  if (any_type(form, [](Type t) { return t >= Type::e2m1x2 && t <= Type::ue8m0x2; })) return Group::none;
  // Of cvt.pack, ptxas wants the words in another order than ours.
  if (form.has(Mod::pack)) return Group::none;
  // Between bf16 and bytes, registers of 8 bits are wanted; programs have none.
  if (form.op() == Op::cvt && any_type(form, [](Type t) { return t == Type::bf16; }) &&
      any_type(form, [](Type t) { return t == Type::u8 || t == Type::s8; }))
    return Group::none;
  // ptxas 13.0 forgets the rounding of a conversion that follows this move.
  if (form.text == "cvt.f16.f16") return Group::none;
  if (form.has(Mod::approx) || form.has(Mod::full)) return Group::approximate;
  if (small_float) return Group::half;
  if (form.has(Mod::cc) || form.op() == Op::addc || form.op() == Op::subc || form.op() == Op::madc)
    return Group::carry;
  switch (row.op_class) {
    case OpClass::logic: return Group::logic;
    case OpClass::compare: return Group::compare;
    case OpClass::convert: return Group::convert;
    case OpClass::video:
      return row.name.back() == '2' || row.name.back() == '4' ? Group::video : Group::scalar_video;
    default: break;
  }
  return form.type() == Type::f32   ? Group::single
         : form.type() == Type::f64 ? Group::doubles
                                    : Group::integer;
}

std::vector<std::string> forms_of_table() {
  std::vector<std::string> all;
  for (size_t op = 0; op < static_cast<size_t>(Op::count); ++op) {
    const auto forms = forms_of(static_cast<Op>(op));
    all.insert(all.end(), forms.begin(), forms.end());
  }
  return all;
}

Catalog::Catalog(const std::vector<std::string>& texts) : groups_(group_count) {
  forms_.reserve(texts.size());
  for (const std::string& text : texts) {
    auto mnemonic = read(text);
    if (!mnemonic) throw Error("not an instruction form: " + text);
    Form form{text, std::move(*mnemonic)};
    const Group group = group_of(form);
    if (group == Group::none) throw Error("not a form that programs use: " + text);
    forms_.push_back(std::move(form));
    auto& ops = groups_[static_cast<size_t>(group)];
    const Form* added = &forms_.back();
    const auto same = std::find_if(ops.begin(), ops.end(),
                                   [&](const auto& list) { return list.front()->op() == added->op(); });
    if (same == ops.end())
      ops.push_back({added});
    else
      same->push_back(added);
  }
}

Catalog Catalog::of_one(const std::string& text) {
  const auto found = read(text);
  if (!found) throw Error("not an instruction form: " + text);
  std::vector<std::string> texts{text};
  const Form form{text, *found};
  // What reads the carry flag needs something that writes it.
  if (group_of(form) == Group::carry && !text.starts_with("subc") && text != "add.cc.u32")
    texts.emplace_back("add.cc.u32");
  if (group_of(form) == Group::carry && text.starts_with("subc")) texts.emplace_back("sub.cc.u32");
  Catalog catalog(texts);
  catalog.alone_ = true;
  return catalog;
}

std::vector<std::string> read_forms(const std::string& text) {
  std::vector<std::string> forms;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string op;
    words >> op;
    for (std::string rest; words >> rest;) forms.push_back(rest == "." ? op : op + rest);
  }
  return forms;
}

std::string written(const std::vector<std::string>& forms) {
  std::string text, line, op;
  for (const std::string& form : forms) {
    const size_t dot = std::min(form.find('.'), form.size());
    const std::string rest = dot == form.size() ? "." : form.substr(dot);
    if (line.empty() || form.substr(0, dot) != op || line.size() + rest.size() > 109) {
      if (!line.empty()) text += line + "\n";
      op = form.substr(0, dot);
      line = op;
    }
    line += " " + rest;
  }
  return text + line + "\n";
}

}  // namespace lanescope::random
