// Kernels as cuda.tile compiles them: launched by tiles, each as a block of one thread.
#include <cstdio>
#include <initializer_list>

#include "runtime_calls.hpp"

namespace {

// count: each of its 64 threads adds 1, and the last of 80,000 bytes of shared memory, which is 0. block: as
// count, but of no language. mapped: has a parameter that is the driver's.
constexpr char ptx[] = R"(
.version 9.1
.target sm_90a
.address_size 64
.visible .entry count(.param .u64 out) .reqntid 64 .minnctapersm 1 .language 7
{
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  .shared .align 128 .b8 memory[80000];
  ld.param.u64 %rd1, [out];
  ld.shared.u32 %r1, [memory+79996];
  add.u32 %r2, %r1, 1;
  red.global.add.u32 [%rd1], %r2;
  ret;
}
.visible .entry block(.param .u64 out) .reqntid 64
{
  ret;
}
.visible .entry mapped(.param .u64 out, .hidden .param .align 64 .b8 map[128]) .reqntid 64 .language 7
{
  ret;
}
.nv_intermediate_source_section {
.code_block {
.ir_name: "tile ir"
.source_begin
entry @count(%arg0: tile<ptr<i32>>) { # it's not PTX
.source_end
}
}
)";

}  // namespace

int main() {
  void *library = nullptr, *kernel = nullptr;
  unsigned* out = nullptr;
  int error = cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  std::printf("load %d\n", error);
  cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, 1);
  for (const char* name : {"count", "block", "mapped"}) {
    error = cudaLibraryGetKernel(&kernel, library, name);
    void* arguments[] = {&out};
    const int launched = cudaLaunchKernel(kernel, {3, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
    std::printf("%s %d %d\n", name, error, launched);
  }
  std::printf("synchronise %d, sum %u\n", cudaDeviceSynchronize(), *out);
}
