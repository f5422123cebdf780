// Memory that is not freed: the program's own, and what a library of PyTorch's name keeps.
#include <cstdio>

#include "runtime_calls.hpp"

extern "C" void* keep(size_t bytes);

int main() {
  void *freed = nullptr, *left = nullptr;
  const char bytes[64] = {};  // a copy, so that there is a report
  const bool is_there = cudaMalloc(&freed, 64) == 0 && cudaMalloc(&left, 128) == 0 && keep(256) != nullptr &&
                        keep(512) != nullptr && cudaMemcpy(freed, bytes, sizeof bytes, 1) == 0 &&
                        cudaFree(freed) == 0;
  std::puts(is_there ? "left" : "failed");
}
