// Linking PTX modules into one, as the device linker does for programs compiled with separate compilation
// (nvcc -rdc=true): each translation unit brings a module whose .extern symbols others define.
#pragma once

#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace lanescope::ptx {

/// One module with the symbols of all: .extern declarations refer to the .visible, .weak or .common
/// definition of another unit; of several .weak definitions the first stays; symbols without linkage stay
/// apart, those after the first of a name as `name$2`, `name$3`…. Its text is the units' texts one after the
/// other, and all places are lines of it. Externs that no unit defines remain: whether the engine provides
/// them is seen when they are used.
///
/// Throws lanescope::Error, with the symbol and the units, for what the device linker refuses too: two
/// definitions of a symbol, or declarations that differ from the definition in parameters, size or state
/// space.
[[nodiscard]] Module link(std::vector<Module> units, std::string name);

}  // namespace lanescope::ptx
