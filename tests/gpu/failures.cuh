// How the programs of tests/gpu say what is wrong, and their end where the CUDA runtime itself fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

inline int failures = 0;

/// Prints the first twenty.
inline void fail(const std::string& what) {
  if (++failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

/// Ends the program when the runtime itself does not work: nothing after it would be of use.
inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
