// Reads the rows of instructions.def at compile time (a malformed row does not compile) and answers questions
// of names.
#include "ptx/instruction_set.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lanescope::ptx {
namespace {

constexpr auto type_names = std::to_array<std::string_view>(
    {"",       "pred",   "b8",     "b16",    "b32",     "b64",    "b128",   "u8",     "u16",    "u32",
     "u64",    "s8",     "s16",    "s32",    "s64",     "f16",    "f16x2",  "bf16",   "bf16x2", "tf32",
     "f32",    "f64",    "f32x2",  "u16x2",  "s16x2",   "u8x4",   "s8x4",   "e4m3",   "e5m2",   "e4m3x2",
     "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "u4",     "s4",     "u2",     "s2",     "e2m1",
     "e2m3",   "e3m2",   "ue8m0",  "ue4m3",  "e4m3x4",  "e5m2x4", "e2m1x4", "e2m3x4", "e3m2x4", "b1"});
static_assert(type_names.size() == static_cast<size_t>(Type::b1) + 1);

constexpr auto space_names =
    std::to_array<std::string_view>({"generic", "const", "global", "local", "param", "param::entry",
                                     "param::func", "shared", "shared::cta", "shared::cluster"});
static_assert(space_names.size() == static_cast<size_t>(Space::shared_cluster) + 1);

constexpr auto mod_names = std::to_array<std::string_view>({
#define PTX_MODIFIER(identifier, spelling) spelling,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
});
static_assert(mod_names.size() == modifier_count);

constexpr RefusedWord refused[] = {
#define PTX_REFUSED_WORD(spelling, why) {spelling, why},
#include "ptx/refused_words.def"
#undef PTX_REFUSED_WORD
};

constexpr auto special_names = std::to_array<std::string_view>({"",
                                                                "%tid.x",
                                                                "%tid.y",
                                                                "%tid.z",
                                                                "%ntid.x",
                                                                "%ntid.y",
                                                                "%ntid.z",
                                                                "%laneid",
                                                                "%warpid",
                                                                "%nwarpid",
                                                                "%ctaid.x",
                                                                "%ctaid.y",
                                                                "%ctaid.z",
                                                                "%nctaid.x",
                                                                "%nctaid.y",
                                                                "%nctaid.z",
                                                                "%smid",
                                                                "%nsmid",
                                                                "%gridid",
                                                                "%clusterid.x",
                                                                "%clusterid.y",
                                                                "%clusterid.z",
                                                                "%nclusterid.x",
                                                                "%nclusterid.y",
                                                                "%nclusterid.z",
                                                                "%cluster_ctaid.x",
                                                                "%cluster_ctaid.y",
                                                                "%cluster_ctaid.z",
                                                                "%cluster_nctaid.x",
                                                                "%cluster_nctaid.y",
                                                                "%cluster_nctaid.z",
                                                                "%cluster_ctarank",
                                                                "%cluster_nctarank",
                                                                "%is_explicit_cluster",
                                                                "%lanemask_eq",
                                                                "%lanemask_le",
                                                                "%lanemask_lt",
                                                                "%lanemask_ge",
                                                                "%lanemask_gt",
                                                                "%clock",
                                                                "%clock_hi",
                                                                "%clock64",
                                                                "%globaltimer",
                                                                "%globaltimer_lo",
                                                                "%globaltimer_hi",
                                                                "%total_smem_size",
                                                                "%aggr_smem_size",
                                                                "%dynamic_smem_size",
                                                                "%reserved_smem_offset_begin",
                                                                "%reserved_smem_offset_end",
                                                                "%reserved_smem_offset_cap",
                                                                "%reserved_smem_offset_0",
                                                                "%reserved_smem_offset_1",
                                                                "%current_graph_exec",
                                                                "%envreg1",
                                                                "%envreg2"});
static_assert(special_names.size() == static_cast<size_t>(SpecialRegister::count));

// The abbreviations of instructions.def.
constexpr std::pair<std::string_view, std::string_view> abbreviations[] = {
    {"$i", "u16 u32 u64 s16 s32 s64"},
    {"$b", "b16 b32 b64"},
    {"$h", "f16 f16x2 bf16 bf16x2"},
    {"$f", "f32 f64 f16 f16x2 bf16 bf16x2"},
    {"$u", "u16 u32 u64"},
    {"$w", "u32 s32 u64 s64"},
    {"$n", "u16 s16 u32 s32"},
    {"$any", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"},
    {"$z", "f32 f16 f16x2"},
    {"$cvt", "u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64 bf16"},
    {"$four", "e4m3x4 e5m2x4 e2m1x4 e2m3x4 e3m2x4"},
    {"$rnd", "rn|rz|rm|rp"},
    {"$rounding", "rn@f32,f64,f32x2,$h|rz@f32,f64,f32x2|rm@f32,f64,f32x2|rp@f32,f64,f32x2"},
    {"$cmp",
     "eq|ne|lt@$i,$f|le@$i,$f|gt@$i,$f|ge@$i,$f|lo@$u|ls@$u|hi@$u|hs@$u|"
     "equ@$f|neu@$f|ltu@$f|leu@$f|gtu@$f|geu@$f|num@$f|nan@$f"},
    {"$bool", "and|or|xor"},
    {"$testp", "finite|infinite|number|notanumber|normal|subnormal"},
    {"$bit", "and@b32,b64|or@b32,b64|xor@b32,b64"},
    {"$swap", "cas@b16,b32,b64,b128|exch@b32,b64,b128"},
    {"$sum", "add@u32,s32,u64,f32,f64,$h|inc@u32|dec@u32|min@$w,$h|max@$w,$h"},
    {"$sem", "relaxed|acquire|release|acq_rel"},
    {"$scope", "cta|cluster|gpu|sys"},
    {"$evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"$param", "param param::entry"},
    {"$shared", "shared shared::cta shared::cluster"},
    {"$policy", "p:b64?L2::cache_hint"},
};

constexpr std::string_view expand(std::string_view word) {
  for (const auto& [name, text] : abbreviations)
    if (name == word) return text;
  return {};
}

// Splits `text` at the first of `separators`; the rest follows it.
constexpr std::string_view take(std::string_view& text, std::string_view separators) {
  size_t end = 0;
  while (end < text.size() && separators.find(text[end]) == std::string_view::npos) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end < text.size() ? end + 1 : end);
  return word;
}

template <size_t N>
constexpr size_t index_in(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return i;
  throw "instructions.def: unknown name";
}

constexpr Mod read_mod(std::string_view word) { return static_cast<Mod>(index_in(mod_names, word)); }

struct Masks {
  TypeMask legal = 0, unsupported = 0;
};

constexpr Masks read_types(std::string_view text) {
  Masks masks;
  while (!text.empty()) {
    std::string_view word = take(text, " ,");
    const bool unsupported = word.starts_with('~');
    if (unsupported) word.remove_prefix(1);
    Masks more;
    if (const std::string_view expansion = expand(word); !expansion.empty())
      more = read_types(expansion);
    else
      more.legal = mask_of(word == "none" ? Type::none : static_cast<Type>(index_in(type_names, word)));
    masks.legal |= more.legal;
    masks.unsupported |= unsupported ? more.legal : more.unsupported;
  }
  return masks;
}

constexpr void read_spaces(std::string_view text, size_t position, InstructionInfo& info) {
  while (!text.empty()) {
    std::string_view word = take(text, " ");
    const bool unsupported = word.starts_with('~');
    if (unsupported) word.remove_prefix(1);
    if (const std::string_view expansion = expand(word); !expansion.empty()) {
      read_spaces(expansion, position, info);
      continue;
    }
    const SpaceMask mask = mask_of(static_cast<Space>(index_in(space_names, word)));
    info.spaces[position] = static_cast<SpaceMask>(info.spaces[position] | mask);
    if (unsupported)
      info.spaces_unsupported[position] = static_cast<SpaceMask>(info.spaces_unsupported[position] | mask);
  }
}

constexpr void read_group(std::string_view text, ModifierRule rule, InstructionInfo& info) {
  while (!text.empty()) {
    std::string_view alternative = take(text, "|");
    ModifierRule one = rule;
    if (alternative.starts_with('~')) {
      one.supported = false;
      alternative.remove_prefix(1);
    }
    if (alternative.starts_with('^')) {
      one.leads = true;
      alternative.remove_prefix(1);
    }
    const std::string_view word = take(alternative, "@");
    if (!alternative.empty()) one.types = read_types(alternative).legal;
    if (const std::string_view expansion = expand(word); !expansion.empty()) {
      read_group(expansion, one, info);
    } else {
      one.mod = read_mod(word);
      for (size_t i = 0; i < info.modifier_count; ++i)
        if (info.modifiers[i].mod == one.mod && (info.modifiers[i].types & one.types) != 0)
          throw "instructions.def: a modifier is listed twice";
      info.modifiers[info.modifier_count++] = one;
    }
  }
}

// What follows `?`.
constexpr void read_conditions(std::string_view word, OperandPattern& operand) {
  if (const std::string_view expansion = expand(word); !expansion.empty()) word = expansion;
  operand.optional = word.empty();
  while (!word.empty()) operand.only_with[operand.only_with_count++] = read_mod(take(word, "|,"));
}

constexpr OperandPattern read_operand(std::string_view word) {
  if (const std::string_view expansion = expand(word); !expansion.empty()) return read_operand(expansion);
  OperandPattern operand;
  if (word == "label" || word == "table") {
    operand.name = word;
    operand.kind = word == "label" ? OperandPattern::Kind::label : OperandPattern::Kind::table;
    return operand;
  }
  if (word.starts_with('|')) {
    operand.piped = true;
    word.remove_prefix(1);
  }
  if (word.starts_with('[') || word.starts_with('{')) {
    const bool is_list = word.starts_with('{');
    word.remove_prefix(1);
    std::string_view inside = take(word, is_list ? "}" : "]");
    operand.name = inside.substr(0, 1);
    inside.remove_prefix(1);
    if (is_list) {
      operand.kind = OperandPattern::Kind::list;
      operand.type_from = OperandPattern::TypeFrom::fixed;
      operand.type = static_cast<Type>(index_in(type_names, inside.substr(1)));
    } else if (inside == ",c") {
      operand.kind = OperandPattern::Kind::tensor;
      operand.space_position = 2;
    } else {
      operand.kind = OperandPattern::Kind::address;
      if (inside == ":1")
        operand.space_position = 1;
      else if (inside.starts_with(':')) {
        operand.space_position = 2;
        operand.space = static_cast<Space>(index_in(space_names, inside.substr(1)));
      } else if (!inside.empty()) {
        throw "instructions.def: an address is written [a], [a:1], [a:space] or [t,c]";
      }
    }
    if (word.starts_with('?')) read_conditions(word.substr(1), operand);
    return operand;
  }
  const char name = word[0];
  operand.name = word.substr(0, 1);
  operand.destination = operand.piped || name == 'd' || name == 'D';
  operand.doubled = name == 'D' || name == 'C';
  word.remove_prefix(1);
  if (word.starts_with(':')) {
    word.remove_prefix(1);
    size_t end = 0;
    while (end < word.size() && std::string_view("+v!_=&%#^-?").find(word[end]) == std::string_view::npos)
      ++end;
    const std::string_view type = word.substr(0, end);
    word.remove_prefix(end);
    if (type == "1") {
      operand.type_from = OperandPattern::TypeFrom::second;
    } else if (type == "address") {
      operand.type_from = OperandPattern::TypeFrom::address;
    } else {
      operand.type_from = OperandPattern::TypeFrom::fixed;
      operand.type = static_cast<Type>(index_in(type_names, type));
    }
  }
  while (!word.empty()) {
    const char flag = word[0];
    word.remove_prefix(1);
    if (flag == '+')
      operand.wider = true;
    else if (flag == 'v')
      operand.vector = true;
    else if (flag == '!')
      operand.negatable = true;
    else if (flag == '_')
      operand.sink = true;
    else if (flag == '=')
      operand.constant_only = true;
    else if (flag == '&')
      operand.symbol = true;
    else if (flag == '%')
      operand.special = true;
    else if (flag == '#')
      operand.selector = true;
    else if (flag == '-')
      operand.minus = true;
    else if (flag == '^')
      operand.or_predicate = true;
    else if (flag == '?') {
      read_conditions(word, operand);
      break;
    } else {
      throw "instructions.def: unknown operand flag";
    }
  }
  return operand;
}

constexpr OperandForm read_form(std::string_view text) {
  OperandForm form;
  if (text == "mov")
    form.check = OperandForm::Check::mov;
  else if (text == "call")
    form.check = OperandForm::Check::call;
  else if (text == "texture")
    form.check = OperandForm::Check::texture;
  else if (text == "matrix")
    form.check = OperandForm::Check::matrix;
  else if (text == "*")
    form.check = OperandForm::Check::not_described;
  if (form.check != OperandForm::Check::by_pattern) return form;
  while (!text.empty()) {
    const std::string_view word = take(text, " ");
    if (word.empty()) continue;
    if (word.ends_with('>') && word.starts_with('@'))
      form.types = read_types(word.substr(1, word.size() - 2)).legal;
    else if (word.ends_with('>'))
      form.when = read_mod(word.substr(0, word.size() - 1));
    else
      form.operands[form.operand_count++] = read_operand(word);
  }
  return form;
}

struct Row {
  std::string_view name;
  OpClass op_class;
  bool supported;
  std::string_view operands, types, modifiers, spaces;
};

constexpr bool yes = true;
constexpr bool no = false;
using enum OpClass;
constexpr Row rows[] = {
#define PTX_INSTRUCTION(identifier, name, op_class, support, operands, types, modifiers, spaces) \
  {name, op_class, support, operands, types, modifiers, spaces},
#include "ptx/instructions.def"
#undef PTX_INSTRUCTION
};
constexpr size_t row_count = std::size(rows);
static_assert(row_count == static_cast<size_t>(Op::count));
static_assert(
    [] {
      for (size_t i = 1; i < row_count; ++i)
        if (!(rows[i - 1].name < rows[i].name)) return false;
      return true;
    }(),
    "instructions.def is sorted by name, each name once");

constexpr InstructionInfo read_row(const Row& row) {
  InstructionInfo info;
  info.name = row.name;
  info.op_class = row.op_class;
  info.supported = row.supported;
  std::string_view operands = row.operands;
  do {
    std::string_view form = take(operands, ";");
    while (form.ends_with(' ')) form.remove_suffix(1);
    while (form.starts_with(' ')) form.remove_prefix(1);
    info.forms[info.form_count++] = read_form(form);
  } while (!operands.empty());
  if (info.forms[info.form_count - 1].when != Mod::count || ~info.forms[info.form_count - 1].types != 0)
    throw "instructions.def: the last form of the operands holds always";
  if (row.supported != (info.forms[0].check != OperandForm::Check::not_described))
    throw "instructions.def: exactly the supported instructions have their operands described";
  const auto take_position = [](std::string_view& text) {
    std::string_view position = take(text, "/");
    while (position.ends_with(' ')) position.remove_suffix(1);
    while (position.starts_with(' ')) position.remove_prefix(1);
    return position;
  };
  for (std::string_view types = row.types; !types.empty();) {
    const Masks masks = read_types(take_position(types));
    info.types[info.type_count] = masks.legal;
    info.types_unsupported[info.type_count++] = masks.unsupported;
  }
  uint8_t group = 0;
  for (std::string_view modifiers = row.modifiers; !modifiers.empty(); ++group) {
    std::string_view word = take(modifiers, " ");
    ModifierRule rule;
    rule.group = group;
    rule.required = word.ends_with('!');
    if (rule.required) word.remove_suffix(1);
    read_group(word, rule, info);
  }
  for (std::string_view spaces = row.spaces; !spaces.empty();)
    read_spaces(take_position(spaces), info.space_count++, info);
  return info;
}

// One constant for each row, so that each has the compiler's whole budget of evaluation steps.
template <size_t I>
constexpr InstructionInfo row_info = read_row(rows[I]);

constexpr auto infos = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<const InstructionInfo*, row_count>{&row_info<I>...};
}
(std::make_index_sequence<row_count>{});

const std::unordered_map<std::string_view, DottedWord>& words() {
  static const auto map = [] {
    std::unordered_map<std::string_view, DottedWord> words;
    for (size_t i = 1; i < type_names.size(); ++i)
      words[type_names[i]] = {.kind = DottedWord::Kind::type, .type = static_cast<Type>(i)};
    for (size_t i = 1; i < space_names.size(); ++i)
      words[space_names[i]] = {.kind = DottedWord::Kind::space, .space = static_cast<Space>(i)};
    for (uint8_t n : {2, 4, 8})
      words[n == 2 ? "v2" : n == 4 ? "v4" : "v8"] = {.kind = DottedWord::Kind::vector, .vector = n};
    for (const uint8_t column : {0, 1})
      words[column != 0 ? "col" : "row"] = {.kind = DottedWord::Kind::layout,
                                            .shape = {.layouts = 1, .columns = column}};
    // The name that PTX ISA 9.4 has for it.
    words["multicast::cluster::16b"] = {.kind = DottedWord::Kind::modifier, .mod = Mod::multicast_cluster};
    for (size_t i = 0; i < mod_names.size(); ++i)
      words[mod_names[i]] = {.kind = DottedWord::Kind::modifier, .mod = static_cast<Mod>(i)};
    return words;
  }();
  return map;
}

// Levenshtein distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

template <typename Names>
std::string_view nearest(std::string_view name, const Names& names) {
  if (name.size() > 40) return {};
  std::string_view best;
  size_t best_distance = name.size() <= 3 ? 2 : 3;
  for (const std::string_view candidate : names) {
    if (candidate.empty()) continue;
    const size_t d = distance(name, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace

std::span<const RefusedWord> refused_words() { return refused; }

const InstructionInfo& info(Op op) { return *infos[static_cast<size_t>(op)]; }

std::optional<Op> find_op(std::string_view name) {
  const auto* row = std::lower_bound(std::begin(rows), std::end(rows), name,
                                     [](const Row& r, std::string_view n) { return r.name < n; });
  if (row == std::end(rows) || row->name != name) return std::nullopt;
  return static_cast<Op>(row - std::begin(rows));
}

namespace {

/// m16n8k16, m64n248k8, m8n8: `m` and a number and so on.
std::optional<DottedWord> find_shape(std::string_view name) {
  MatrixShape shape;
  for (const auto& [letter, number] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (letter == 'k' && name.empty()) break;
    if (name.empty() || name[0] != letter) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), *number);
    if (error != std::errc{} || *number == 0) return std::nullopt;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
  }
  if (!name.empty()) return std::nullopt;
  return DottedWord{.kind = DottedWord::Kind::shape, .shape = shape};
}

}  // namespace

std::optional<DottedWord> find_word(std::string_view name) {
  const auto it = words().find(name);
  if (it == words().end()) return find_shape(name);
  return it->second;
}

std::optional<Type> find_type(std::string_view name) {
  const auto word = find_word(name);
  if (!word || word->kind != DottedWord::Kind::type) return std::nullopt;
  return word->type;
}

std::optional<SpecialRegister> find_special_register(std::string_view name) {
  static const auto map = [] {
    std::unordered_map<std::string_view, SpecialRegister> registers;
    for (size_t i = 1; i < special_names.size(); ++i)
      registers[special_names[i]] = static_cast<SpecialRegister>(i);
    return registers;
  }();
  const auto it = map.find(name);
  if (it == map.end()) return std::nullopt;
  return it->second;
}

bool is_always_zero(std::string_view name) {
  constexpr std::string_view counter = "%pm", driver = "%envreg";
  if (name.ends_with(".w"))
    return find_special_register(std::string(name.substr(0, name.size() - 1)) + "x").has_value();
  if (name.starts_with(counter)) {
    name.remove_prefix(counter.size());
    if (name.ends_with("_64")) name.remove_suffix(3);
    return name.size() == 1 && name[0] >= '0' && name[0] <= '7';
  }
  if (!name.starts_with(driver)) return false;
  for (uint32_t i = 3; i < 32; ++i)
    if (i != 6 && i != 10 && name.substr(driver.size()) == std::to_string(i)) return true;
  return false;
}

Type type_of(SpecialRegister reg) {
  switch (reg) {
    case SpecialRegister::gridid:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::current_graph_exec: return Type::u64;
    case SpecialRegister::is_explicit_cluster: return Type::pred;
    default: return Type::u32;
  }
}

std::string_view nearest_op(std::string_view name) {
  std::array<std::string_view, row_count> names;
  for (size_t i = 0; i < row_count; ++i) names[i] = rows[i].name;
  return nearest(name, names);
}

std::string_view nearest_word(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [word, value] : words()) names.push_back(word);
  std::sort(names.begin(), names.end());
  return nearest(name, names);
}

std::string_view name_of(Op op) { return rows[static_cast<size_t>(op)].name; }
std::string_view name_of(Type type) { return type_names[static_cast<size_t>(type)]; }
std::string_view name_of(Space space) { return space_names[static_cast<size_t>(space)]; }
std::string_view name_of(Mod mod) { return mod_names[static_cast<size_t>(mod)]; }
std::string name_of(const MatrixShape& shape) {
  return "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) +
         (shape.k != 0 ? "k" + std::to_string(shape.k) : "");
}
std::string_view name_of(SpecialRegister reg) { return special_names[static_cast<size_t>(reg)]; }

}  // namespace lanescope::ptx
