// What is compiled when a program runs is loaded and launched by the driver API: a kernel turns 32 rows of 32
// numbers.
#pragma once

#include <cuda.h>

#include <vector>

#include "../require.hpp"

/// How many of the 1,024 numbers are where they belong. The launch is cooperative, for kernels that wait for
/// the grid.
inline int turned(const void* code, const char* name, unsigned columns, unsigned rows) {
  CUdevice device{};
  CUcontext context{};
  CUmodule module{};
  CUfunction kernel{};
  require(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS, "device");
  require(
      cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS,
      "context");
  require(cuModuleLoadData(&module, code) == CUDA_SUCCESS, "load");
  require(cuModuleGetFunction(&kernel, module, name) == CUDA_SUCCESS, "kernel");
  CUdeviceptr in = 0, out = 0;
  std::vector<int> from(1024), back(1024);
  for (int i = 0; i < 1024; ++i) from[static_cast<size_t>(i)] = i;
  require(cuMemAlloc(&in, 4096) == CUDA_SUCCESS && cuMemAlloc(&out, 4096) == CUDA_SUCCESS, "memory");
  require(cuMemcpyHtoD(in, from.data(), 4096) == CUDA_SUCCESS, "copy");
  void* arguments[] = {&out, &in};
  require(cuLaunchCooperativeKernel(kernel, 1, 1, 1, columns, rows, 1, 0, nullptr, arguments) == CUDA_SUCCESS,
          "launch");
  require(cuMemcpyDtoH(back.data(), out, 4096) == CUDA_SUCCESS, "copy back");
  int right = 0;
  for (int i = 0; i < 1024; ++i) right += back[static_cast<size_t>(i)] == i % 32 * 32 + i / 32 ? 1 : 0;
  return right;
}
