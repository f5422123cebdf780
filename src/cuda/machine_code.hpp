// What is read of machine code, the PTX inside first of all. What is assembled with -lineinfo or -G keeps it
// for debuggers, whoever compiled it. Not documented by its vendor; what is read here was found by trying
// (docs/cuda-programs.md). All of it is foreign input: every offset, size and count is checked against the
// bytes given.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ptx/assembler.hpp"

namespace lanescope::cuda {

/// The PTX of each translation unit in an ELF file of machine code, with the lines of the source that its
/// instructions come from, as far as machine code was made of them, and the limit of registers with which it
/// was assembled. None where it was assembled without -lineinfo. Throws lanescope::Error that begins with
/// `name` when the file is damaged.
[[nodiscard]] std::vector<std::string> ptx_in_machine_code(std::span<const std::byte> bytes,
                                                           const std::string& name);

/// What its kernels take of the machine, by name, and the registers of other functions; of spilled ones
/// nothing is known. Throws as above.
[[nodiscard]] std::map<std::string, ptx::MachineNeeds> needs_in_machine_code(std::span<const std::byte> bytes,
                                                                             const std::string& name);

/// Whether there is code of a kernel, and does more than to end. Throws as above.
[[nodiscard]] bool does_work_in_machine_code(std::span<const std::byte> bytes, const std::string& kernel,
                                             const std::string& name);

}  // namespace lanescope::cuda
