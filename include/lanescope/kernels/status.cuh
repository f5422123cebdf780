// What the functions of the kernels library return: whether the work was put into the stream, and if not,
// which argument was wrong and why.
//
//   if (const auto status = lanescope::kernels::transpose(out, in, rows, columns, stream); !status)
//     std::fprintf(stderr, "%s\n", status.message);
//
// A function that returns an error for its arguments has launched nothing. As with every launch, what goes
// wrong while a kernel runs shows in a later call of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

namespace lanescope::kernels {

struct [[nodiscard]] Status {
  /// cudaSuccess; cudaErrorInvalidValue for a wrong argument; else what the CUDA runtime answered.
  cudaError_t error = cudaSuccess;
  /// Which argument is wrong and why, or the runtime's own description. Static text, never null.
  const char* message = "";

  explicit operator bool() const { return error == cudaSuccess; }
};

namespace detail {

/// The status of a wrong argument.
inline Status invalid(const char* message) { return {cudaErrorInvalidValue, message}; }

/// The status of an answer of the CUDA runtime.
inline Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return {};
  return {error, cudaGetErrorString(error)};
}

/// The status of the launch just made. It also returns, as the runtime has it, an earlier error that nobody
/// has asked for.
inline Status launched() { return status_of(cudaGetLastError()); }

}  // namespace detail
}  // namespace lanescope::kernels
