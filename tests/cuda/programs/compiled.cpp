// Compiles a kernel when it runs (NVRTC), to PTX or, with an argument, to machine code, and loads and
// launches it by the driver API.
#include <nvrtc.h>

#include <cstdio>
#include <string>

#include "../require.hpp"
#include "turned.hpp"

namespace {

constexpr char source[] = R"(template <typename T>
__global__ void transpose(T* out, const T* in) {
  __shared__ T tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x]; __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";

}  // namespace

int main(int count, char**) {
  const bool machine_code = count > 1;
  nvrtcProgram program{};
  constexpr char instance[] = "transpose<int>";
  require(nvrtcCreateProgram(&program, source, "column.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS, "create");
  require(nvrtcAddNameExpression(program, instance) == NVRTC_SUCCESS, "name");
  const char* options[] = {machine_code ? "--gpu-architecture=sm_90" : "--gpu-architecture=compute_90",
                           "-lineinfo"};
  require(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS, "compile");
  size_t size = 0;
  const char* name = nullptr;
  require((machine_code ? nvrtcGetCUBINSize : nvrtcGetPTXSize)(program, &size) == NVRTC_SUCCESS, "size");
  std::string code(size, '\0');
  require((machine_code ? nvrtcGetCUBIN : nvrtcGetPTX)(program, code.data()) == NVRTC_SUCCESS, "code");
  require(nvrtcGetLoweredName(program, instance, &name) == NVRTC_SUCCESS, "name of the instance");
  std::printf("compiled %d\n", turned(code.data(), name, 32, 32));
}
