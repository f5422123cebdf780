// Compiles a kernel when it runs (NVRTC), to PTX or, with an argument, to machine code, and loads and
// launches it by the driver API.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr char source[] = R"(template <typename T>
__global__ void transpose(T* out, const T* in) {
  __shared__ T tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x]; __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

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

  CUdevice device{};
  CUcontext context{};
  CUmodule module{};
  CUfunction kernel{};
  require(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS, "device");
  require(
      cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS,
      "context");
  require(cuModuleLoadData(&module, code.data()) == CUDA_SUCCESS, "load");
  require(cuModuleGetFunction(&kernel, module, name) == CUDA_SUCCESS, "kernel");
  CUdeviceptr in = 0, out = 0;
  std::vector<int> from(1024), back(1024);
  for (int i = 0; i < 1024; ++i) from[static_cast<size_t>(i)] = i;
  require(cuMemAlloc(&in, 4096) == CUDA_SUCCESS && cuMemAlloc(&out, 4096) == CUDA_SUCCESS, "memory");
  require(cuMemcpyHtoD(in, from.data(), 4096) == CUDA_SUCCESS, "copy");
  void* arguments[] = {&out, &in};
  require(cuLaunchKernel(kernel, 1, 1, 1, 32, 32, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS,
          "launch");
  require(cuMemcpyDtoH(back.data(), out, 4096) == CUDA_SUCCESS, "copy back");
  int right = 0;
  for (int i = 0; i < 1024; ++i) right += back[static_cast<size_t>(i)] == i % 32 * 32 + i / 32 ? 1 : 0;
  std::printf("compiled %d\n", right);
}
