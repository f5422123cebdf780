// Names for the functions of libcudart.so.13 inside of a library that has functions of the same names:
// X_of_13 is X.
#pragma once

namespace lanescope::cuda {
enum class Status : int;
}

/// What libcudart.so.13 has besides CUDA's functions: makes this the calling thread's last error, and returns
/// it.
// NOLINTNEXTLINE(readability-identifier-naming): a name for all programs
extern "C" lanescope::cuda::Status lanescope_remember(lanescope::cuda::Status status);

/// To be said in each file that uses the name.
#define LANESCOPE_OF_13(name) ".symver " #name "_of_13, " #name "@libcudart.so.13\n"

/// Declares one of them, with its parameters.
#define LANESCOPE_DECLARE_OF_13(name, ...) \
  asm(LANESCOPE_OF_13(name));              \
  extern "C" lanescope::cuda::Status name##_of_13(__VA_ARGS__)
