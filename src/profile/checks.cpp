// See checks.hpp.
#include "profile/checks.hpp"

#include <charconv>
#include <string>

#include "base/error.hpp"
#include "base/words.hpp"

namespace lanescope::profile {
namespace {

/// CUDA C++ Programming Guide, "Independent Thread Scheduling": lanes advance by themselves since compute
/// capability 7.0. AMD's waves have one program counter. Of an architecture given by numbers nothing is
/// known, so nothing is relied on.
bool advances_together(std::string_view arch) {
  if (arch == model::Arch{}.name) return false;
  if (!arch.starts_with("sm_")) return true;
  int capability = 0;
  std::from_chars(arch.data() + 3, arch.data() + arch.size(), capability);
  return capability < 70;
}

}  // namespace

exec::Checks parse_checks(std::string_view list, const model::Arch& arch) {
  exec::Checks checks;
  if (list.empty()) return checks;
  for (const std::string_view word : at_commas(list)) {
    const bool all = word == "all", unused = word == "unused";
    checks.leak |= all || word == "leak";
    // What is written is known where all launches are checked for it.
    checks.unused |= unused;
    checks.init |= unused;
    bool known = all || unused || word == "leak";
    for (const exec::NamedCheck& check : exec::kernel_checks) {
      const bool named = word == check.name;
      // The books of global memory take many times its size.
      checks.*check.on |= named || (all && check.on != &exec::Checks::global);
      known |= named;
    }
    if (!known)
      throw Error("--check: '" + std::string(word) +
                  "' is no check (race, global, init, barrier, bounds, leak, unused, all)");
  }
  checks.lockstep = checks.any() && advances_together(arch.name);
  return checks;
}

}  // namespace lanescope::profile
