// From a parsed function to a Kernel: operands become offsets into the register file, each instruction finds
// the handler that executes it, branches find their targets and the place where lanes meet again.
#pragma once

#include <cstdint>
#include <functional>

#include "exec/checks.hpp"
#include "exec/program.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

/// Where the module's symbols lie on the device.
struct SymbolTable {
  std::vector<uint64_t> variables;  ///< by Module::variables: device address; 0 for shared memory
  std::vector<uint64_t> functions;  ///< by Module::functions: the address kernels see
};

/// Throws lanescope::Error, with the place in the PTX, for what this version does not execute. `observed`
/// chooses the handlers that tell an observer of each access; `checking` puts the checks' instructions beside
/// those they watch. Origins and access sites have the same indices in all variants.
[[nodiscard]] Kernel decode(const ptx::Module& module, uint32_t function, const SymbolTable& symbols,
                            bool observed, Checking checking = Checking::none);

}  // namespace lanescope::exec
