// Stands for the copy of the CUDA runtime that nvcc links into a program: functions of the same names, which
// fail as the real ones do where there is no driver. What the hook does not redirect is seen by that. As in
// the real copy, functions of the API have their names at hand, and those that nvcc's code calls stand in
// this order around the one of them that has.
#include <cstddef>

struct dim3 {
  unsigned x, y, z;
};

#define FAKE extern "C" __attribute__((noinline, aligned(16)))

constexpr int insufficient_driver = 35;
static volatile int called = 0;
static const char* volatile told = nullptr;
/// (Not static: it would be put in between the functions below.)
__attribute__((noinline)) int fail(const char* name = nullptr) {
  called = called + 1;
  told = name;
  return insufficient_driver;
}

#ifdef LANESCOPE_TELLS_NO_NAMES
#define NAMED(name) nullptr
#elif LANESCOPE_STANDS_FOR == 12 || LANESCOPE_STANDS_FOR == 11
/// As CUDA 11 and most of CUDA 12 have it: the name's address is loaded from constant data.
#define NAMED(name)                                                                  \
  __extension__({                                                                    \
    static const char* const pointer = #name;                                        \
    const char* loaded;                                                              \
    asm("movq %1, %%xmm0\n movq %%xmm0, %0" : "=r"(loaded) : "m"(pointer) : "xmm0"); \
    loaded;                                                                          \
  })
#else
#define NAMED(name) #name
#endif

FAKE void** __cudaRegisterFatBinary(void*) {
  fail();
  return nullptr;
}
FAKE void __cudaRegisterFatBinaryEnd(void**) { fail(); }
FAKE void __cudaUnregisterFatBinary(void**) { fail(); }
FAKE void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) { fail(); }
FAKE void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) { fail(); }
FAKE void __cudaRegisterHostVar(void**, const char*, char*, size_t) { fail(); }
#if LANESCOPE_STANDS_FOR == 11
FAKE void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) { fail(); }
FAKE void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) { fail(); }
#endif
FAKE void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, dim3*, dim3*,
                                 int*) {
  fail();
}
FAKE char __cudaInitModule(void**) { return static_cast<char>(fail(NAMED(__cudaInitModule))); }
FAKE unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void*) { return static_cast<unsigned>(fail()); }
FAKE int __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return fail(); }
#if LANESCOPE_STANDS_FOR != 11
FAKE int __cudaGetKernel(void**, const void*) { return fail(); }
FAKE int __cudaLaunchKernel(void*, dim3, dim3, void**, size_t, void*) { return fail(); }
FAKE int __cudaLaunchKernel_ptsz(void*, dim3, dim3, void**, size_t, void*) { return fail(); }
FAKE void __cudaRegisterUnifiedTable(void**, void*) { fail(); }
#endif
FAKE int cudaRuntimeGetVersion(int*) { return fail(NAMED(cudaRuntimeGetVersion)); }
// What tells a release from others.
#ifdef LANESCOPE_STANDS_FOR
FAKE int cudaThreadExit() { return fail(NAMED(cudaThreadExit)); }
#if LANESCOPE_STANDS_FOR == 12
FAKE int cudaGetDeviceProperties_v2(void*, int) { return fail(NAMED(cudaGetDeviceProperties_v2)); }
#elif LANESCOPE_STANDS_FOR == 11
FAKE int cudaStreamCopyAttributes(void*, void*) { return fail(NAMED(cudaStreamCopyAttributes)); }
FAKE int cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, void*) {
  return fail(NAMED(cudaLaunchKernel));
}
#endif
#endif
FAKE int cudaMalloc(void**, size_t) { return fail(NAMED(cudaMalloc)); }
FAKE int cudaFree(void*) { return fail(NAMED(cudaFree)); }
FAKE int cudaMemcpy(void*, const void*, size_t, int) { return fail(NAMED(cudaMemcpy)); }
FAKE int cudaMemset(void*, int, size_t) { return fail(NAMED(cudaMemset)); }
FAKE int cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, int) {
  return fail(NAMED(cudaMemcpyFromSymbol));
}
FAKE int cudaDeviceSynchronize() { return fail(NAMED(cudaDeviceSynchronize)); }
FAKE int cudaGetLastError() { return fail(NAMED(cudaGetLastError)); }
FAKE int cudaDestroyExternalMemory(void*) { return fail(NAMED(cudaDestroyExternalMemory)); }
FAKE int cudaFuncGetAttributes(void*, const void*) { return fail(NAMED(cudaFuncGetAttributes)); }
FAKE int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t) {
  return fail(NAMED(cudaOccupancyMaxActiveBlocksPerMultiprocessor));
}
FAKE int cudaLaunchHostFunc(void*, void (*)(void*), void*) { return fail(NAMED(cudaLaunchHostFunc)); }
FAKE int cudaLibraryLoadData(void**, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  return fail(NAMED(cudaLibraryLoadData));
}
FAKE int cudaStreamCreateWithFlags(void**, unsigned) { return fail(NAMED(cudaStreamCreateWithFlags)); }
FAKE int cudaStreamBeginCapture(void*, int) { return fail(NAMED(cudaStreamBeginCapture)); }
FAKE int cudaStreamEndCapture(void*, void**) { return fail(NAMED(cudaStreamEndCapture)); }
FAKE int cudaThreadExchangeStreamCaptureMode(int*) {
  return fail(NAMED(cudaThreadExchangeStreamCaptureMode));
}
