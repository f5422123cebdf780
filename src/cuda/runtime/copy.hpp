// Copies as graphs need them.
#pragma once

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// The box of bytes that a cudaMemcpy3DParms speaks of.
[[nodiscard]] Status to_work(const Copy3D& copy, CopyWork& work);

}  // namespace lanescope::cuda
