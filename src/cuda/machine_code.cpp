// See machine_code.hpp. Of each translation unit there is a section `.nv_debug_ptx_txt`, in linked machine
// code with a number behind the name: the lines of the PTX, each ended by a zero, those of comments, `.loc`
// and `.file` left empty. Two tables in DWARF's format for line numbers say where machine code came from:
// `.debug_line`, which file and line of the source, and `.nv_debug_line_sass`, which line of the PTX; its
// files are those sections. An address is one in a function, of which relocations tell the symbol.
#include "cuda/machine_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "ptx/assembler.hpp"

namespace lanescope::cuda {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view text_section = ".nv_debug_ptx_txt";

/// Reads forward through foreign bytes.
class Reader {
 public:
  Reader(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[nodiscard]] uint64_t at() const { return at_; }
  [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }
  void go_to(uint64_t offset) {
    if (offset > bytes_.size()) damaged();
    at_ = offset;
  }
  template <typename T>
  T take() {
    if (sizeof(T) > bytes_.size() - at_) damaged();
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t take_uleb() { return leb().first; }
  int64_t take_sleb() {
    const auto [value, bits] = leb();
    const bool is_negative = bits < 64 && (value >> (bits - 1) & 1) != 0;
    return static_cast<int64_t>(is_negative ? value | ~uint64_t{0} << bits : value);
  }
  std::string_view take_string() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) damaged();
    at_ += end + 1;
    return rest.substr(0, end);
  }
  [[noreturn]] void damaged() const { throw Error(name_ + ": damaged machine code: a part ends too early"); }

 private:
  Bytes bytes_;
  const std::string& name_;
  uint64_t at_ = 0;

  /// A number in LEB128, and how many bits of it were written.
  std::pair<uint64_t, unsigned> leb() {
    uint64_t value = 0;
    for (unsigned bits = 0;; bits += 7) {
      const auto byte = take<uint8_t>();
      if (bits < 64) value |= uint64_t{byte & 0x7fu} << bits;
      if ((byte & 0x80) == 0) return {value, bits + 7};
    }
  }
};

/// An ELF file's sections. Not all that claim to have content have it: shared memory does not.
class Elf {
 public:
  struct Section {
    std::string_view name;
    Elf64_Shdr header;
  };
  Elf(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name) {
    const auto header = object<Elf64_Ehdr>(bytes, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      throw Error(name + ": is no machine code of 64 bits");
    for (unsigned i = 0; i < header.e_shnum; ++i)
      sections.push_back({{}, object<Elf64_Shdr>(bytes, header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr))});
    if (header.e_shstrndx >= sections.size()) return;
    Reader names(content(sections[header.e_shstrndx]), name);
    for (Section& section : sections) {
      names.go_to(section.header.sh_name);
      section.name = names.take_string();
    }
  }

  std::vector<Section> sections;

  [[nodiscard]] const Section* find(std::string_view name) const {
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.name == name; });
    return found == sections.end() ? nullptr : &*found;
  }
  [[nodiscard]] Bytes content(const Section& section) const {
    const auto [offset, size] = std::pair(section.header.sh_offset, section.header.sh_size);
    if (offset > bytes_.size() || size > bytes_.size() - offset) Reader(bytes_, name_).damaged();
    return bytes_.subspan(offset, size);
  }
  /// Offset in the section → symbol, of all that stand in for an address in it.
  [[nodiscard]] std::map<uint64_t, uint64_t> relocations_of(const Section& of) const {
    std::map<uint64_t, uint64_t> all;
    for (const Section& s : sections) {
      const bool has_addends = s.header.sh_type == SHT_RELA;
      if (!(has_addends || s.header.sh_type == SHT_REL) || s.header.sh_info >= sections.size() ||
          &sections[s.header.sh_info] != &of)
        continue;
      const Bytes entries = content(s);
      const size_t size = has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
      for (uint64_t at = 0; at + size <= entries.size(); at += size) {
        const auto entry = object<Elf64_Rel>(entries, at);  // which a Rela begins as
        all[entry.r_offset] = ELF64_R_SYM(entry.r_info);
      }
    }
    return all;
  }

 private:
  Bytes bytes_;
  const std::string& name_;

  template <typename T>
  [[nodiscard]] T object(Bytes bytes, uint64_t offset) const {
    Reader reader(bytes, name_);
    reader.go_to(offset);
    return reader.take<T>();
  }
};

/// Where the machine code from an address on came from.
struct Row {
  uint64_t address = 0;
  size_t file = 0;  ///< of LineTable::files
  uint64_t line = 0;
  uint64_t call = 0;      ///< of an inlined function: the row of its sequence that called it, from 1; 0: none
  uint64_t function = 0;  ///< its name's place in .debug_str
};
/// What follows each other in memory, of one function.
struct Sequence {
  uint64_t symbol = 0;
  std::vector<Row> rows;
};
struct LineTable {
  std::vector<std::string> files{""};  ///< the first one stands for all that are not named
  std::vector<Sequence> sequences;
};

/// Runs the line-number programs of a section (DWARF 2 to 4, section 6.2).
class LineReader {
 public:
  LineReader(const Elf& elf, const Elf::Section& section, const std::string& name)
      : reader_(elf.content(section), name), symbols_(elf.relocations_of(section)) {}

  LineTable operator()() {
    while (!reader_.is_at_end()) {
      const auto length = reader_.take<uint32_t>();
      const uint64_t end = reader_.at() + length;
      const auto version = reader_.take<uint16_t>();
      if (version >= 2 && version <= 4) {
        read_header(version);
        while (reader_.at() < end) step();
      }
      reader_.go_to(end);
    }
    return std::move(table_);
  }

 private:
  Reader reader_;
  std::map<uint64_t, uint64_t> symbols_;
  LineTable table_;
  uint64_t unit_ = 1, range_ = 1;  // minimum_instruction_length, line_range
  int base_ = 0;                   // line_base
  std::vector<uint8_t> operands_;  // of standard opcodes
  std::vector<size_t> files_;      // of this unit, in those of the table
  Sequence sequence_;
  Row now_;
  uint64_t number_ = 1;  // of the file

  void read_header(uint16_t version) {
    const auto length = reader_.take<uint32_t>();
    const uint64_t program = reader_.at() + length;
    unit_ = reader_.take<uint8_t>();
    if (version == 4) (void)reader_.take<uint8_t>();  // operations of an instruction
    (void)reader_.take<uint8_t>();                    // default_is_stmt
    base_ = reader_.take<int8_t>();
    range_ = reader_.take<uint8_t>();
    const auto first_special = reader_.take<uint8_t>();
    if (range_ == 0 || first_special == 0) reader_.damaged();
    operands_.clear();
    for (int i = 1; i < first_special; ++i) operands_.push_back(reader_.take<uint8_t>());
    std::vector<std::string> folders{""};
    for (std::string_view folder = reader_.take_string(); !folder.empty(); folder = reader_.take_string())
      folders.emplace_back(folder);
    files_ = {0};
    for (std::string_view file = reader_.take_string(); !file.empty(); file = reader_.take_string()) {
      const uint64_t folder = reader_.take_uleb();
      (void)reader_.take_uleb();  // time
      (void)reader_.take_uleb();  // size
      std::string path(file);
      if (!path.starts_with('/') && folder < folders.size() && !folders[folder].empty())
        path.insert(0, folders[folder] + '/');
      const auto known = std::find(table_.files.begin(), table_.files.end(), path);
      files_.push_back(static_cast<size_t>(known - table_.files.begin()));
      if (known == table_.files.end()) table_.files.push_back(std::move(path));
    }
    reader_.go_to(program);
    begin_sequence();
  }
  void begin_sequence() {
    sequence_ = {};
    now_ = {.line = 1};
    number_ = 1;
  }
  void add_row() {
    now_.file = number_ < files_.size() ? files_[number_] : 0;
    sequence_.rows.push_back(now_);
  }
  void advance(uint64_t operations) { now_.address += operations * unit_; }

  void step() {
    const auto opcode = reader_.take<uint8_t>();
    if (opcode > operands_.size()) {
      const auto special = static_cast<uint64_t>(opcode) - operands_.size() - 1;
      advance(special / range_);
      now_.line += static_cast<uint64_t>(base_ + static_cast<int64_t>(special % range_));
      return add_row();
    }
    switch (opcode) {
      case 0: return step_extended();
      case 1: return add_row();
      case 2: return advance(reader_.take_uleb());
      case 3: now_.line += static_cast<uint64_t>(reader_.take_sleb()); return;
      case 4: number_ = reader_.take_uleb(); return;
      case 8: return advance((254 - operands_.size()) / range_);  // as the special opcode 255 does
      case 9: now_.address += reader_.take<uint16_t>(); return;
      default:
        for (int i = 0; i < operands_[opcode - 1]; ++i) (void)reader_.take_uleb();
    }
  }
  void step_extended() {
    const uint64_t length = reader_.take_uleb(), begin = reader_.at();
    if (length == 0) return;
    switch (reader_.take<uint8_t>()) {
      case 1:
        table_.sequences.push_back(std::move(sequence_));
        begin_sequence();
        break;
      case 2: {
        const auto symbol = symbols_.find(reader_.at());
        sequence_.symbol = symbol == symbols_.end() ? 0 : symbol->second;
        now_.address = reader_.take<uint64_t>();
        break;
      }
      case 0x90:  // NVIDIA's own
        now_.call = reader_.take_uleb();
        now_.function = reader_.take_uleb();
        break;
      default: break;
    }
    reader_.go_to(begin + length);
  }
};

/// A place in the source.
struct Place {
  const Sequence* sequence;
  size_t row;
};

/// A translation unit.
struct Unit {
  std::vector<std::string_view> lines;  ///< of the PTX
  std::map<uint64_t, Place> places;     ///< of lines of the PTX, counted from 1
};

std::vector<std::string_view> lines_in(Bytes content) {
  std::vector<std::string_view> lines;
  std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  // A unit that was linked twice, as Numba does, is here twice: sections are named by what they hold.
  for (size_t copies = lines.size(); copies > 1; --copies) {
    const size_t count = lines.size() / copies;
    if (lines.size() % copies == 0 && lines[count] == lines[0] &&
        std::equal(lines.begin() + static_cast<ptrdiff_t>(count), lines.end(), lines.begin())) {
      lines.resize(count);
      break;
    }
  }
  return lines;
}

/// For each line of PTX that machine code was made of, where the first instruction of it came from.
void find_places(const LineTable& source, const LineTable& ptx, std::map<std::string, Unit>& units) {
  const auto lies_before = [](uint64_t address, const Row& row) { return address < row.address; };
  for (const Sequence& of_ptx : ptx.sequences)
    for (const Sequence& s : source.sequences) {
      if (s.symbol != of_ptx.symbol) continue;
      for (const Row& row : of_ptx.rows) {
        const auto unit = ptx.files[row.file].empty() ? units.begin() : units.find(ptx.files[row.file]);
        const auto behind = std::upper_bound(s.rows.begin(), s.rows.end(), row.address, lies_before);
        if (unit == units.end() || behind == s.rows.begin() || row.line == 0 || unit->second.lines.empty())
          continue;
        const uint64_t line = (row.line - 1) % unit->second.lines.size() + 1;  // in the first of copies
        unit->second.places.try_emplace(line, Place{&s, static_cast<size_t>(behind - s.rows.begin()) - 1});
      }
    }
}

constexpr std::string_view information = ".nv.info";  ///< of all functions; behind a point: of one

/// Calls f(attribute, value, bytes) for each entry of a section of information: `bytes` holds as many as
/// `value` says, or there are none.
template <class F>
void each_attribute(const Elf& elf, const Elf::Section& section, const std::string& name, F f) {
  constexpr unsigned char has_bytes = 4;
  const Bytes content = elf.content(section);
  Reader reader(content, name);
  for (uint64_t at = 0; at + 4 <= content.size();) {
    reader.go_to(at);
    const auto format = reader.take<unsigned char>(), attribute = reader.take<unsigned char>();
    const auto value = reader.take<uint16_t>();
    const uint64_t size = format == has_bytes ? value : 0;
    reader.go_to(at + 4 + size);
    f(attribute, value, content.subspan(at + 4, size));
    at += 4 + size;
  }
}

/// The most registers that a thread may have, by kernel, for those that were assembled with such a limit.
using RegisterLimits = std::map<std::string, uint32_t, std::less<>>;
RegisterLimits register_limits(const Elf& elf, const std::string& name) {
  constexpr unsigned char is_register_limit = 0x1b;
  constexpr uint32_t none = 255;
  RegisterLimits limits;
  for (const Elf::Section& section : elf.sections) {
    if (!section.name.starts_with(information) || section.name.size() <= information.size() + 1) continue;
    each_attribute(elf, section, name, [&](unsigned char attribute, uint16_t value, Bytes) {
      if (attribute == is_register_limit && value != 0 && value < none)
        limits[std::string(section.name.substr(information.size() + 1))] = value;
    });
  }
  return limits;
}

/// Writes the PTX as it was.
class Writer {
 public:
  Writer(const std::vector<std::string>& files, Bytes names, const std::string& name)
      : files_(files), names_(names, name) {}

  /// Between two lines that are empty all instructions come from one place: if it is known of any of them,
  /// the empty line in front of them was its `.loc`.
  std::string operator()(const Unit& unit) {
    std::vector<std::string> lines(unit.lines.begin(), unit.lines.end());
    size_t empty = lines.size();  // the last one; lines.size(): none, or not in a function
    bool is_section = false;      // of information for debuggers, the rest of which is elsewhere
    for (size_t i = 0, depth = 0; i < lines.size(); ++i) {
      if (unit.lines[i].empty() && depth > 0) empty = i;
      if (depth == 0 && unit.lines[i].starts_with(".section")) is_section = true;
      for (const char c : unit.lines[i]) {
        if (c == '{') ++depth;
        if (c == '}' && depth > 0 && --depth == 0) empty = lines.size();
      }
      if (is_section) {
        is_section = depth != 0 || unit.lines[i].find('}') == std::string_view::npos;
        lines[i].clear();
        continue;
      }
      const auto place = unit.places.find(i + 1);
      if (empty == lines.size() || place == unit.places.end()) continue;
      lines[empty] = loc_of(place->second);
      empty = lines.size();
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    for (const auto& [file, number] : numbers_)
      text += ".file " + std::to_string(number) + " \"" + files_[file] + "\"\n";
    if (functions_.empty()) return text;
    text += ".section .debug_str {\n";
    for (const uint64_t function : functions_) {
      text += label_of(function) + ": .b8 ";
      names_.go_to(function);
      for (const char c : names_.take_string()) text += std::to_string(static_cast<unsigned char>(c)) + ",";
      text += "0\n";
    }
    return text + "}\n";
  }

 private:
  const std::vector<std::string>& files_;
  Reader names_;
  std::map<size_t, size_t> numbers_;  // of files, for `.file`
  std::set<uint64_t> functions_;      // that are named

  static std::string label_of(uint64_t function) { return "$L__name" + std::to_string(function); }

  /// The directive; of what was inlined first those of its callers, to which it leads back.
  std::string loc_of(const Place& place) {
    const std::vector<Row>& rows = place.sequence->rows;
    std::string locs;
    for (size_t row = place.row;;) {
      const Row& r = rows[row];
      const size_t caller = r.call - 1;  // which comes first
      const bool is_inlined = r.call != 0 && caller < row;
      std::string loc = ".loc " + place_of(r);
      if (is_inlined) {
        functions_.insert(r.function);
        loc += ", function_name " + label_of(r.function) + ", inlined_at " + place_of(rows[caller]);
      }
      locs.insert(0, loc + (locs.empty() ? "" : " "));
      if (!is_inlined) return locs;
      row = caller;
    }
  }
  std::string place_of(const Row& row) {
    const size_t number = numbers_.try_emplace(row.file, numbers_.size() + 1).first->second;
    return std::to_string(number) + " " + std::to_string(row.line) + " 0";
  }
};

}  // namespace

std::vector<std::string> ptx_in_machine_code(Bytes bytes, const std::string& name) {
  const Elf elf(bytes, name);
  std::map<std::string, Unit> units;  // by the names of their sections
  for (const Elf::Section& s : elf.sections)
    if (s.name.starts_with(text_section)) units[std::string(s.name)].lines = lines_in(elf.content(s));
  const auto table = [&](std::string_view section) {
    const Elf::Section* const found = elf.find(section);
    return found == nullptr ? LineTable() : LineReader(elf, *found, name)();
  };
  if (units.empty()) return {};
  const LineTable source = table(".debug_line");
  find_places(source, table(".nv_debug_line_sass"), units);
  const Elf::Section* const strings = elf.find(".debug_str");
  const Bytes names = strings == nullptr ? Bytes() : elf.content(*strings);
  std::vector<std::string> texts;
  const RegisterLimits limits = register_limits(elf, name);
  for (const auto& [section, unit] : units)
    texts.push_back(ptx::with_register_limits(Writer(source.files, names, name)(unit), limits));
  return texts;
}

std::map<std::string, ptx::MachineNeeds> needs_in_machine_code(Bytes bytes, const std::string& name) {
  constexpr unsigned char stack_of_kernel = 0x12, register_count = 0x2f;  // the former with what it calls
  const Elf elf(bytes, name);
  const Elf::Section *const all = elf.find(information), *const symbols = elf.find(".symtab"),
                            *const names = elf.find(".strtab");
  std::map<std::string, ptx::MachineNeeds> needs;
  if (all == nullptr || symbols == nullptr || names == nullptr) return needs;
  Reader symbol_reader(elf.content(*symbols), name), name_reader(elf.content(*names), name);
  each_attribute(elf, *all, name, [&](unsigned char attribute, uint16_t, Bytes entry) {
    if (attribute != stack_of_kernel && attribute != register_count) return;
    Reader reader(entry, name);
    const auto symbol = reader.take<uint32_t>(), value = reader.take<uint32_t>();
    symbol_reader.go_to(uint64_t{symbol} * sizeof(Elf64_Sym));
    name_reader.go_to(symbol_reader.take<Elf64_Sym>().st_name);
    ptx::MachineNeeds& of = needs[std::string(name_reader.take_string())];
    (attribute == stack_of_kernel ? of.stack_bytes : of.registers) = value;
    of.knows_spills = of.stack_bytes == 0;
  });
  return needs;
}

bool does_work_in_machine_code(Bytes bytes, const std::string& kernel, const std::string& name) {
  // Of sm_70 and later. Kernels begin with their stack pointer, mostly: LDC or MOV R1, c[0][…].
  constexpr uint16_t load_constant = 0x7b82, move_constant = 0x7a02, exit = 0x794d;
  constexpr uint64_t instruction_bytes = 16;
  const Elf elf(bytes, name);
  const Elf::Section* const code = elf.find(".text." + kernel);
  if (code == nullptr) return false;
  Reader reader(elf.content(*code), name);
  const auto operation = [&](uint64_t index) {
    reader.go_to(index * instruction_bytes);
    return reader.take<uint16_t>();
  };
  const uint16_t first = operation(0);
  const bool sets_stack = first == load_constant || first == move_constant;
  return operation(sets_stack ? 1 : 0) != exit;
}

}  // namespace lanescope::cuda
