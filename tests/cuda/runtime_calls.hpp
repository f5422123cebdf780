// The functions of the CUDA runtime that the programs here call, declared as nvcc's headers do, less their
// types: so that the programs are compiled without CUDA.
#pragma once

#include <cstddef>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

extern "C" {
int __cudaGetKernel(void**, const void*);
int __cudaLaunchKernel(void*, dim3, dim3, void**, size_t, void*);
int __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void*);
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, dim3*, dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
void __cudaUnregisterFatBinary(void**);
int cudaDestroyExternalMemory(void*);
int cudaDeviceSynchronize();
int cudaEventCreate(void**);
int cudaEventDestroy(void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaEventQuery(void*);
int cudaEventRecord(void*, void*);
int cudaEventSynchronize(void*);
int cudaFree(void*);
int cudaFuncGetAttributes(void*, const void*);
int cudaGetLastError();
int cudaLaunchHostFunc(void*, void (*)(void*), void*);
int cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
int cudaLibraryEnumerateKernels(void**, unsigned, void*);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaLibraryLoadData(void**, const void*, void*, void**, unsigned, void*, void**, unsigned);
int cudaLibraryLoadFromFile(void**, const char*, void*, void**, unsigned, void*, void**, unsigned);
int cudaMalloc(void**, size_t);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemcpyAsync(void*, const void*, size_t, int, void*);
int cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, int);
int cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
int cudaMemset(void*, int, size_t);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);
int cudaRuntimeGetVersion(int*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamDestroy(void*);
int cudaStreamEndCapture(void*, void**);
int cudaStreamQuery(void*);
int cudaStreamSynchronize(void*);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaThreadExchangeStreamCaptureMode(int*);
}
