// Stands for the copy of the CUDA runtime that nvcc links into a program: functions of the same names, which
// fail as the real ones do where there is no driver. What the hook does not redirect is seen by that.
#include <cstddef>

struct dim3 {
  unsigned x, y, z;
};

#define FAKE extern "C" __attribute__((noinline, aligned(16)))

namespace {
constexpr int insufficient_driver = 35;
volatile int called = 0;
int fail() {
  called = called + 1;
  return insufficient_driver;
}
}  // namespace

FAKE void** __cudaRegisterFatBinary(void*) {
  fail();
  return nullptr;
}
FAKE void __cudaRegisterFatBinaryEnd(void**) { fail(); }
FAKE void __cudaUnregisterFatBinary(void**) { fail(); }
FAKE void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, dim3*, dim3*,
                                 int*) {
  fail();
}
FAKE void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) { fail(); }
FAKE unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void*) { return static_cast<unsigned>(fail()); }
FAKE int __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return fail(); }
FAKE int __cudaGetKernel(void**, const void*) { return fail(); }
FAKE int __cudaLaunchKernel(void*, dim3, dim3, void**, size_t, void*) { return fail(); }
FAKE int cudaMalloc(void**, size_t) { return fail(); }
FAKE int cudaFree(void*) { return fail(); }
FAKE int cudaMemcpy(void*, const void*, size_t, int) { return fail(); }
FAKE int cudaMemset(void*, int, size_t) { return fail(); }
FAKE int cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, int) { return fail(); }
FAKE int cudaDeviceSynchronize() { return fail(); }
FAKE int cudaGetLastError() { return fail(); }
FAKE int cudaIpcGetMemHandle(void*, void*) { return fail(); }
FAKE int cudaFuncGetAttributes(void*, const void*) { return fail(); }
FAKE int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t) { return fail(); }
FAKE int cudaLaunchHostFunc(void*, void (*)(void*), void*) { return fail(); }
FAKE int cudaLibraryLoadData(void**, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  return fail();
}
FAKE int cudaStreamCreateWithFlags(void**, unsigned) { return fail(); }
FAKE int cudaStreamBeginCapture(void*, int) { return fail(); }
FAKE int cudaStreamEndCapture(void*, void**) { return fail(); }
FAKE int cudaThreadExchangeStreamCaptureMode(int*) { return fail(); }
