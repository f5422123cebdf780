// Copies and sets as graphs and the driver API need them.
#pragma once

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

/// Whether a copy or a set, of whichever kind, is of nothing.
template <typename W>
[[nodiscard]] bool is_empty(const W& box) {
  return box.width == 0 || box.height == 0 || box.depth == 0;
}

/// The box of bytes that a cudaMemcpy3DParms speaks of.
[[nodiscard]] Status to_work(const Copy3D& copy, CopyWork& work);

/// Checks it and gives it to the stream.
Status submit_set(const SetWork& work, Stream* stream);

}  // namespace lanescope::cuda
