// Functions of the device's runtime with which kernels that are not compiled by nvcc wait for the whole grid.
// (nvcc's cooperative groups bring their own.)
#pragma once

#include <string>
#include <vector>

namespace lanescope::cuda {

/// Adds a unit that has them, where one of `units` uses them; whether it did.
bool add_grid_functions(std::vector<std::string>& units);

}  // namespace lanescope::cuda
