// A program without kernels of its own (it might load PTX), with a copy of the CUDA runtime inside.
#include <cstdio>

#include "runtime_calls.hpp"

int main() {
  void* memory = nullptr;
  const int error = cudaMalloc(&memory, 64);
  std::printf("cudaMalloc: %d\n", error);
  return error != 0 ? 1 : 0;
}
