// What the assembler for machine code (ptxas, of the CUDA toolkit) makes of PTX: the registers that a thread
// of each kernel needs. It is run where it is found; everything else here does without it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lanescope::ptx {

/// What a thread of a kernel takes of the machine.
struct MachineNeeds {
  uint32_t registers = 0;
  uint32_t stack_bytes = 0;
  uint32_t spill_store_bytes = 0, spill_load_bytes = 0;  ///< registers kept in local memory
  bool knows_spills = true;  ///< false: they are part of the stack, and how large a part it does not say
};

struct Assembly {
  std::map<std::string, MachineNeeds> kernels;  ///< by name in the PTX
  /// Why there are none: ptxas was not found, or refuses the text; empty if there are.
  std::string unknown;
};

/// Assembles the texts (several: translation units, to be linked) for a target ("sm_90"). Results are kept
/// for later runs, in the folder lanescope of XDG_CACHE_HOME, else ~/.cache. ptxas is looked for in
/// LANESCOPE_PTXAS (its path), in PATH, in the folder bin of CUDA_HOME and CUDA_PATH, and in /usr/local/cuda.
[[nodiscard]] Assembly assemble(const std::vector<std::string>& texts, const std::string& target);

/// The text with a limit for all kernels that have none of their own (.maxnreg), as `ptxas --maxrregcount`
/// sets it; with a limit for each kernel by its name. Every line stays where it is.
[[nodiscard]] std::string with_register_limit(std::string text, uint32_t limit);
[[nodiscard]] std::string with_register_limits(std::string text,
                                               const std::map<std::string, uint32_t, std::less<>>& limits);

/// Adds to `kernels` what `ptxas -v`, or `nvlink -v`, has printed.
void read_assembler_output(const std::string& printed, std::map<std::string, MachineNeeds>& kernels);

}  // namespace lanescope::ptx
