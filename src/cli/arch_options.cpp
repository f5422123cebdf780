// Options for the architecture, and the messages for a wrong one.
#include "cli/arch_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "profile/arch_by_name.hpp"

namespace lanescope::cli {
namespace {

model::Broadcast broadcast_by_name(const std::string& name) {
  if (name == "none") return model::Broadcast::none;
  return name == "one" ? model::Broadcast::one_word : model::Broadcast::many_words;
}

}  // namespace

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

model::Arch ArchOptions::resolve(const std::string& otherwise) const {
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
  if (arch_.empty() && model::find_arch(otherwise) == nullptr)
    throw Error(fmt::format("nothing is known of {}: say with --arch whose rules to count by", otherwise));
  const model::Arch arch = profile::arch_by_name(arch_.empty() ? otherwise : arch_);
  if (!given("--bank-mode")) return arch;
  if (!arch.has_bank_modes) throw Error(fmt::format("--bank-mode is for sm_3x only, not for {}", arch.name));
  return model::with_bank_mode(arch, bank_mode_);
}

}  // namespace lanescope::cli
