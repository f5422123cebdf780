// Runs every form of the matrix instructions (forms.hpp) on an NVIDIA GPU and tells what comes out. No part
// of the build; by hand, from the top of the source tree (needs the CUDA toolkit and a GPU of compute
// capability 9.0):
//   g++ -std=c++20 -O2 -Itests -I/usr/local/cuda/include tests/matrix/on_gpu.cpp -o on_gpu -lcuda
//   ./on_gpu ptx >forms.ptx && ptxas -arch=sm_90a forms.ptx -o forms.cubin
//   ./on_gpu hash forms.cubin 0 1 >hashes     # tests/data/matrix/h100.txt below its comment
//   ./on_gpu hash forms.cubin 1 100 >hashes   # other inputs; compare with
//                                             # LANESCOPE_MATRIX_HASHES=hashes test_matrix
//                                             --gtest_filter=*Others*
//   ./on_gpu dump forms.cubin NAME ROUND      # the words themselves
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "cuda_driver.hpp"
#include "matrix/forms.hpp"

namespace lanescope::matrix {
namespace {

struct Buffer {
  CUdeviceptr at = 0;
  explicit Buffer(size_t words) { must(cuMemAlloc(&at, words * 4 + 256), "allocation"); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cuMemFree(at); }
};

std::vector<uint32_t> run(CUmodule module, const Form& f, uint32_t round) {
  CUfunction function = nullptr;
  must(cuModuleGetFunction(&function, module, f.name.c_str()), f.name);
  const std::vector<uint32_t> registers = registers_of(f, round), memory = memory_of(f, round);
  std::vector<uint32_t> out(size_t{f.blocks} * f.lanes * f.out_words);
  Buffer in(registers.size()), data(memory.size()), result(out.size());
  if (!registers.empty()) must(cuMemcpyHtoD(in.at, registers.data(), registers.size() * 4), "copy");
  if (!memory.empty()) must(cuMemcpyHtoD(data.at, memory.data(), memory.size() * 4), "copy");
  must(cuMemsetD32(result.at, 0, out.size()), "clearing");
  void* parameters[] = {&in.at, &data.at, &result.at};
  must(cuLaunchKernel(function, f.blocks, 1, 1, f.lanes, 1, 1, 0, nullptr, parameters, nullptr), f.name);
  must(cuCtxSynchronize(), f.name);
  must(cuMemcpyDtoH(out.data(), result.at, out.size() * 4), "copy back");
  return out;
}

}  // namespace
}  // namespace lanescope::matrix

int main(int argc, char** argv) {
  using namespace lanescope::matrix;
  const std::vector<Form> forms = all_forms();
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "ptx") {
    std::fputs(header().c_str(), stdout);
    for (const Form& f : forms) std::fputs(text_of(f).c_str(), stdout);
    return 0;
  }
  if ((what != "hash" && what != "dump") || argc != 5) {
    std::fprintf(stderr, "on_gpu ptx | hash CUBIN FIRST LAST | dump CUBIN NAME ROUND\n");
    return 2;
  }
  try {
    lanescope::use_first_gpu();
    CUmodule module = nullptr;
    lanescope::must(cuModuleLoad(&module, argv[2]), "loading");
    if (what == "dump") {
      for (const Form& f : forms)
        if (f.name == argv[3])
          for (const uint32_t word : run(module, f, static_cast<uint32_t>(std::atoi(argv[4]))))
            std::printf("%08x\n", word);
      return 0;
    }
    for (int round = std::atoi(argv[3]); round < std::atoi(argv[4]); ++round)
      for (const Form& f : forms) {
        std::printf("%s %d", f.name.c_str(), round);
        for (const uint32_t hash : hashes_of(f, run(module, f, static_cast<uint32_t>(round))))
          std::printf(" %08x", hash);
        std::printf("\n");
      }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
