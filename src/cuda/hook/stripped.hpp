// Finds the functions of a copy of the CUDA runtime in a file that has lost its symbols.
#pragma once

#include "cuda/hook/elf_file.hpp"

namespace lanescope::cuda {

/// Whether some of a file's device code comes with PTX (for whatever chip), if it has any code.
bool comes_with_ptx(const File& file, const Sections& sections);

/// A function of the copy: where the file has it, and how much room there is up to the next one.
struct RuntimeFunction {
  uint64_t address = 0, room = 0;
  const char* name = nullptr;
};

/// Puts what is found into `found` and returns how many; 0 if the file has no copy, or one whose functions
/// lie otherwise than is known. `is_known` tells names of the runtime's API from others. The names found are
/// in the file, or constants.
uint64_t find_stripped_runtime(const File& file, const Sections& sections, bool (*is_known)(const char* name),
                               RuntimeFunction* found, uint64_t most);

}  // namespace lanescope::cuda
