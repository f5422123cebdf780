// What the test programs share: a check that names its line and ends the program.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

#define CHECK_CUDA(call)                                                                                   \
  do {                                                                                                     \
    const cudaError_t check_error = (call);                                                                \
    if (check_error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_error)); \
      std::exit(1);                                                                                        \
    }                                                                                                      \
  } while (false)
