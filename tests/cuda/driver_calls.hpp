// The functions of the driver API that the programs here call, declared as its header does, less its types:
// so that the programs are compiled without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
int cuArray3DCreate_v2(void**, const void*);
int cuArrayCreate_v2(void**, const void*);
int cuArrayDestroy(void*);
int cuArrayGetDescriptor_v2(void*, void*);
int cuCtxAttach(void**, unsigned);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxDestroy_v2(void*);
int cuCtxDetach(void*);
int cuCtxGetApiVersion(void*, unsigned*);
int cuCtxGetCurrent(void**);
int cuCtxGetDevice(int*);
int cuCtxGetLimit(size_t*, int);
int cuCtxPopCurrent_v2(void**);
int cuCtxPushCurrent_v2(void*);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuDeviceGet(int*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, int);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDeviceTotalMem_v2(size_t*, int);
int cuDriverGetVersion(int*);
int cuEventCreate(void**, unsigned);
int cuEventDestroy_v2(void*);
int cuEventElapsedTime(float*, void*, void*);
int cuEventQuery(void*);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuFuncGetAttribute(int*, int, void*);
int cuFuncGetModule(void**, void*);
int cuFuncGetName(const char**, void*);
int cuFuncGetParamInfo(void*, size_t, size_t*, size_t*);
int cuFuncSetAttribute(void*, int, int);
int cuFuncSetBlockShape(void*, int, int, int);
int cuFuncSetSharedSize(void*, unsigned);
int cuGetErrorName(int, const char**);
int cuGetErrorString(int, const char**);
int cuGetProcAddress(const char*, void**, int, uint64_t);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
int cuGraphAddEmptyNode(void**, void*, void* const*, size_t);
int cuGraphAddKernelNode_v2(void**, void*, void* const*, size_t, const void*);
int cuGraphAddMemcpyNode(void**, void*, void* const*, size_t, const void*, void*);
int cuGraphAddMemsetNode(void**, void*, void* const*, size_t, const void*, void*);
int cuGraphAddNode_v2(void**, void*, void* const*, const void*, size_t, void*);
int cuGraphConditionalHandleCreate(uint64_t*, void*, void*, unsigned, unsigned);
int cuGraphCreate(void**, unsigned);
int cuGraphDestroy(void*);
int cuGraphExecDestroy(void*);
int cuGraphInstantiateWithFlags(void**, void*, uint64_t);
int cuGraphLaunch(void*, void*);
int cuInit(unsigned);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              void*, void**);
int cuLaunchGrid(void*, int, int);
int cuLaunchHostFunc(void*, void (*)(void*), void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuLaunchKernelEx(const void*, void*, void**, void**);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, void*, void*, unsigned, void*, void*, unsigned);
int cuLibraryUnload(void*);
int cuKernelGetFunction(void**, void*);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, size_t*);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkDestroy(void*);
int cuMemAllocHost_v2(void**, size_t);
int cuMemAllocManaged(uint64_t*, size_t, unsigned);
int cuMemAllocPitch_v2(uint64_t*, size_t*, size_t, size_t, unsigned);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemFreeHost(void*);
int cuMemFree_v2(uint64_t);
int cuMemGetAddressRange_v2(uint64_t*, size_t*, uint64_t);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(uint64_t*, void*, unsigned);
int cuMemcpy(uint64_t, uint64_t, size_t);
int cuMemcpy2D_v2(const void*);
int cuMemcpy3D_v2(const void*);
int cuMemcpyDtoD_v2(uint64_t, uint64_t, size_t);
int cuMemAllocAsync(uint64_t*, size_t, void*);
int cuMemFreeAsync(uint64_t, void*);
int cuMemsetD8Async(uint64_t, unsigned char, size_t, void*);
int cuMemcpyAsync(uint64_t, uint64_t, size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, uint64_t, size_t, void*);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuMemcpyHtoDAsync_v2(uint64_t, const void*, size_t, void*);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemsetD16_v2(uint64_t, unsigned short, size_t);
int cuMemsetD2D32_v2(uint64_t, size_t, unsigned, size_t, size_t);
int cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuMemsetD8_v2(uint64_t, unsigned char, size_t);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetFunctionCount(unsigned*, void*);
int cuModuleGetGlobal_v2(uint64_t*, size_t*, void*, const char*);
int cuModuleLoad(void**, const char*);
int cuModuleLoadData(void**, const void*);
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**);
int cuModuleUnload(void*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, size_t);
int cuOccupancyMaxPotentialBlockSize(int*, int*, void*, size_t (*)(int), size_t, int);
int cuPointerGetAttribute(void*, int, uint64_t);
int cuPointerGetAttributes(unsigned, int*, void**, uint64_t);
int cuStreamBeginCapture_v2(void*, int);
int cuParamSetSize(void*, unsigned);
int cuParamSetv(void*, int, void*, unsigned);
int cuStreamCreate(void**, unsigned);
int cuStreamGetGreenCtx(void*, void**);
int cuStreamDestroy_v2(void*);
int cuStreamEndCapture(void*, void**);
int cuStreamGetCtx(void*, void**);
int cuStreamGetCaptureInfo_v2(void*, int*, uint64_t*, void**, void* const**, size_t*);
int cuStreamQuery(void*);
int cuStreamSynchronize(void*);
int cuStreamUpdateCaptureDependencies(void*, void* const*, size_t, unsigned);
int cuStreamWaitEvent(void*, void*, unsigned);
int cuTensorMapEncodeTiled(void*, int, uint32_t, uint64_t, const uint64_t*, const uint64_t*, const uint32_t*,
                           const uint32_t*, int, int, int, int);
int cuTensorMapEncodeIm2col(void*, int, uint32_t, uint64_t, const uint64_t*, const uint64_t*, const int*,
                            const int*, uint32_t, uint32_t, const uint32_t*, int, int, int, int);
int cuTexObjectCreate(uint64_t*, const void*, const void*, const void*);
int cuTexObjectDestroy(uint64_t);
}
