// A call that no documentation has, as those libraries of the toolkit make it that a program is linked with
// statically.
#include "check.hpp"

int main() {
  const cudaUUID_t id{};
  const void* table = nullptr;
  int* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, 4));
  std::printf("a table: %d\n", cudaGetExportTable(&table, &id) == cudaSuccess);
}
