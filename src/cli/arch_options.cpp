// Options for the architecture, and the messages for a wrong one.
#include "cli/arch_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace lanescope::cli {
namespace {

/// Letters to insert, delete or replace to make `b` of `a`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Is `a` nearer to `wanted` than `b`: fewer letters to change, or as many and the same beginning for longer?
bool nearer(std::string_view wanted, std::string_view a, std::string_view b) {
  const auto common = [wanted](std::string_view name) {
    return std::mismatch(wanted.begin(), wanted.end(), name.begin(), name.end()).first - wanted.begin();
  };
  const size_t to_a = edit_distance(wanted, a);
  const size_t to_b = edit_distance(wanted, b);
  return to_a != to_b ? to_a < to_b : common(a) > common(b);
}

model::Broadcast broadcast_by_name(const std::string& name) {
  if (name == "none") return model::Broadcast::none;
  return name == "one" ? model::Broadcast::one_word : model::Broadcast::many_words;
}

}  // namespace

model::Arch arch_by_name(const std::string& name) {
  std::string wanted = name;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const model::Arch* arch = model::find_arch(wanted)) return *arch;
  std::string_view nearest;
  std::string known;
  for (const model::Arch& arch : model::archs) {
    if (nearest.empty() || nearer(wanted, arch.name, nearest)) nearest = arch.name;
    known += (known.empty() ? "" : ", ") + std::string(arch.name);
  }
  throw Error(
      fmt::format("unknown architecture '{}'; the nearest is '{}', known are {}", name, nearest, known));
}

bool ArchOptions::asks_for_all() const {
  if (arch_ != "all") return false;
  for (const char* option : {"--bank-mode", "--banks", "--bank-bits", "--unit", "--broadcast"})
    if (command_->count(option) != 0) throw Error(fmt::format("--arch all has no use for {}", option));
  return true;
}

void ArchOptions::add_to(CLI::App& command, const std::string& more) {
  command_ = &command;
  command
      .add_option("--arch", arch_,
                  "architecture: sm_10 … sm_121, hd5870, gcn, gfx942, gfx950, gfx1100, …" + more)
      ->type_name("NAME")
      ->default_str(std::string(model::default_arch_name))
      ->group("Architecture");
  command.add_option("--bank-mode", bank_mode_, "bank width of sm_3x, in bytes: 4 (default) or 8")
      ->type_name("BYTES")
      ->check(CLI::IsMember({4, 8}))
      ->group("Architecture");
  command.add_option("--banks", banks_, "a free architecture: number of banks (1 to 1024, default 32)")
      ->type_name("N")
      ->group("Architecture");
  command.add_option("--bank-bits", bank_bits_, "… bits a bank delivers: 8, 16, 32 (default), 64 or 128")
      ->type_name("M")
      ->group("Architecture");
  command.add_option("--unit", unit_, "… lanes scheduled together (1 to 64, default 32)")
      ->type_name("K")
      ->group("Architecture");
  command
      .add_option("--broadcast", broadcast_,
                  "… reads of one word: none (each costs), one (one word a step), many (default: free)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "one", "many"}))
      ->group("Architecture");
}

model::Arch ArchOptions::resolve() const {
  const auto given = [this](const char* option) {
    return command_ != nullptr && command_->count(option) != 0;
  };
  const bool free = given("--banks") || given("--bank-bits") || given("--unit") || given("--broadcast");
  if (free) {
    if (given("--arch"))
      throw Error(
          "--arch names a chip, --banks, --bank-bits, --unit and --broadcast describe one: give either");
    if (given("--bank-mode"))
      throw Error("--bank-mode is for sm_3x only; give a free architecture's width with --bank-bits");
    const int banks = given("--banks") ? banks_ : 32;
    const int bits = given("--bank-bits") ? bank_bits_ : 32;
    const int unit = given("--unit") ? unit_ : 32;
    if (const char* cause = model::custom_arch_error(banks, bits, unit))
      throw Error(fmt::format("--banks {} --bank-bits {} --unit {}: {}", banks, bits, unit, cause));
    return model::custom_arch(banks, bits, unit,
                              broadcast_by_name(given("--broadcast") ? broadcast_ : "many"));
  }
  const model::Arch arch = arch_by_name(arch_.empty() ? std::string(model::default_arch_name) : arch_);
  if (!given("--bank-mode")) return arch;
  if (!arch.has_bank_modes) throw Error(fmt::format("--bank-mode is for sm_3x only, not for {}", arch.name));
  return model::with_bank_mode(arch, bank_mode_);
}

}  // namespace lanescope::cli
