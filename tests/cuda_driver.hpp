// For the programs that are built by hand and use the CUDA driver: calls that must succeed, and the first
// GPU.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace lanescope {

inline void must(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  cuGetErrorString(result, &text);
  throw std::runtime_error(what + ": " + text);
}

/// Makes the first GPU the one that calls are about.
inline CUdevice use_first_gpu() {
  must(cuInit(0), "cuInit");
  CUdevice device = 0;
  must(cuDeviceGet(&device, 0), "no GPU");
  CUcontext context = nullptr;
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "context");
  return device;
}

}  // namespace lanescope
