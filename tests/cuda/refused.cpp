// A module of which not all kernels can be run here: the others are launched all the same.
#include <cstdio>
#include <initializer_list>

#include "runtime_calls.hpp"

namespace {

// good: *out += 1. bad: gathers from a cube map. worse: calls a function that adds to memory of several GPUs.
constexpr char ptx[] = R"(
.version 8.3
.target sm_90a
.address_size 64
.file 1 "app.cu"
.visible .entry good(.param .u64 out)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  red.global.add.u32 [%rd1], 1;
  ret;
}
.visible .entry bad(.param .u64 out)
{
  .reg .b64 %rd<2>; .reg .f32 %f<9>;
  ld.param.u64 %rd1, [out];
  .loc 1 40 7
  tld4.r.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f8}];
  st.global.f32 [%rd1], %f1;
  ret;
}
.func add_to_all(.param .b64 memory)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [memory];
  multimem.red.relaxed.sys.global.add.u32 [%rd1], 1;
  ret;
}
.visible .entry worse(.param .u64 out)
{
  .reg .b64 %rd<2>;
  .param .b64 argument;
  ld.param.u64 %rd1, [out];
  st.param.b64 [argument], %rd1;
  call add_to_all, (argument);
  ret;
}
)";

}  // namespace

int main() {
  void *library = nullptr, *kernel = nullptr;
  unsigned* out = nullptr;
  int error = cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  std::printf("load %d\n", error);
  cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, 1);
  for (const char* name : {"good", "bad", "worse", "good"}) {
    error = cudaLibraryGetKernel(&kernel, library, name);
    void* arguments[] = {&out};
    const int launched = cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
    std::printf("%s %d %d\n", name, error, launched);
  }
  std::printf("synchronise %d, sum %u\n", cudaDeviceSynchronize(), *out);
}
