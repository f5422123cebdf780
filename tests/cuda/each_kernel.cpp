// Launches kernels of a file of PTX, of which not all can be run here, and says what becomes of each:
// each_kernel FILE BLOCKS THREADS KERNEL…
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "require.hpp"
#include "runtime_calls.hpp"

int main(int count, char** arguments) {
  require(count > 3, "arguments");
  std::ifstream file(arguments[1]);
  const std::string ptx((std::istreambuf_iterator<char>(file)), {});
  const auto number = [&](int place) { return static_cast<unsigned>(std::atoi(arguments[place])); };
  const dim3 grid{number(2)}, block{number(3)};
  void *library = nullptr, *kernel = nullptr;
  unsigned* out = nullptr;
  const int loaded = cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  std::printf("load %d\n", loaded);
  cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, 1);
  for (int i = 4; i < count; ++i) {
    const int found = cudaLibraryGetKernel(&kernel, library, arguments[i]);
    void* of_kernel[] = {&out};
    const int launched = cudaLaunchKernel(kernel, grid, block, of_kernel, 0, nullptr);
    std::printf("%s %d %d\n", arguments[i], found, launched);
  }
  std::printf("synchronise %d, sum %u\n", cudaDeviceSynchronize(), *out);
}
