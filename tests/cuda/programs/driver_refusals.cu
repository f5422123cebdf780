// What the driver's calls return for arguments that make no sense, or seem to make none, and what they give.
// driver_refusals.txt is what an H100 printed (CUDA 13.0, driver 580). With arguments: those parts only.
#include <cuda.h>
#include <cudaProfiler.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

constexpr char ptx[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 words[256];
.visible .const .align 4 .b8 constants[64];
.visible .entry plain(.param .u64 out, .param .u32 n)
{
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry with_shared(.param .u64 out)
{
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  .shared .align 4 .b8 tile[2048];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, tile;
  st.shared.u32 [%r1], %r1;
  ld.shared.u32 %r1, [%r1];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry bounded(.param .u64 out) .maxntid 128, 1, 1
{
  ret;
}
.visible .entry required(.param .u64 out) .reqntid 64, 2, 1
{
  ret;
}
.visible .entry empty()
{
  ret;
}
)";

/// Prints what a call returned, and values after it.
void tell(const char* name, CUresult result, const char* format = "", ...) {
  const char* error = nullptr;
  cuGetErrorName(result, &error);
  std::printf("%s: %s", name, error != nullptr ? error : "?");
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::printf("\n");
  std::fflush(stdout);
}
#define show(call, ...)                           \
  do {                                            \
    const CUresult told = call;                   \
    tell(#call, told __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

CUcontext context;
CUmodule module;
CUfunction plain, with_shared, bounded, required, empty;
CUdeviceptr memory;  // 4096 bytes

void devices() {
  CUdevice device = 7;
  int value = -7;
  char name[64] = "none";
  size_t bytes = 7;
  show(cuDeviceGet(&device, -1), " %d", device);
  show(cuDeviceGet(&device, 99), " %d", device);
  show(cuDeviceGetCount(nullptr));
  show(cuDriverGetVersion(nullptr));
  show(cuDeviceGetName(nullptr, 8, 0));
  show(cuDeviceGetName(name, 4, 0), " %zu", std::strlen(name));
  show(cuDeviceGetName(name, 64, 3));
  show(cuDeviceGetUuid(nullptr, 0));
  CUuuid uuid;
  show(cuDeviceGetUuid(&uuid, 3));
  show(cuDeviceTotalMem(nullptr, 0));
  show(cuDeviceTotalMem(&bytes, -1), " %zu", bytes);
  for (const int attribute : {0, -1, 15, 16, 41, 119, 500}) {
    value = -7;
    show(cuDeviceGetAttribute(&value, CUdevice_attribute(attribute), 0), " %d: %d", attribute, value);
  }
  show(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  show(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1));
  show(cuDeviceGetByPCIBusId(&device, "nonsense"));
  show(cuDeviceGetByPCIBusId(nullptr, "0000:00:00.0"));
  show(cuDeviceGetByPCIBusId(&device, nullptr));
  show(cuDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
  show(cuDeviceGetPCIBusId(nullptr, 13, 0));
  show(cuDeviceGetPCIBusId(name, 0, 0));
  show(cuDeviceGetPCIBusId(name, 13, 9));
  name[5] = 'x';
  show(cuDeviceGetPCIBusId(name, 6, 0), " %zu", std::strlen(name));
  show(cuDeviceCanAccessPeer(&value, 0, 0), " %d", value);
  show(cuDeviceCanAccessPeer(&value, 0, 9), " %d", value);
  show(cuDeviceCanAccessPeer(nullptr, 0, 0));
  show(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
  show(cuDeviceGetDefaultMemPool(nullptr, 0));
  CUmemoryPool pool = nullptr;
  show(cuDeviceGetDefaultMemPool(&pool, 9));
  show(cuDeviceGetMemPool(&pool, 9));
  show(cuDeviceSetMemPool(0, nullptr));
  cuuint64_t big = 7;
  show(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &big), " %d", int(big));
  show(cuDeviceGetGraphMemAttribute(0, CUgraphMem_attribute(9), &big));
  show(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, nullptr));
  show(cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &big));
  big = 1;
  show(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &big));
  show(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &big));
  big = 0;
  show(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &big));
  show(cuDeviceGraphMemTrim(9));
  show(cuInit(7));
  const char* text = "none";
  show(cuGetErrorName(CUresult(12345), &text), " %d", text == nullptr);
}

void contexts() {
  CUcontext made = nullptr, other = nullptr;
  unsigned version = 7, flags = 7;
  int least = 7, greatest = 7, active = 7;
  size_t value = 7;
  CUdevice device = 7;
  unsigned long long id = 0;
  CUfunc_cache cache;
  show(cuCtxCreate(nullptr, nullptr, 0, 0));
  show(cuCtxCreate(&made, nullptr, 0, 9));
  show(cuCtxCreate(&made, nullptr, 0x800, 0));
  show(cuCtxCreate(&made, nullptr, 3, 0));
  show(cuCtxCreate(&made, nullptr, 7, 0));
  show(cuCtxGetCurrent(nullptr));
  show(cuCtxGetDevice(nullptr));
  show(cuCtxGetFlags(nullptr));
  show(cuCtxGetApiVersion(nullptr, &version), " %u", version);
  show(cuCtxGetApiVersion(context, nullptr));
  show(cuCtxGetId(nullptr, &id), " %d", id != 0);
  show(cuCtxGetId(context, nullptr));
  show(cuCtxDestroy(nullptr));
  show(cuCtxPushCurrent(nullptr));
  cuCtxGetCurrent(&other);
  std::printf("current still: %d\n", other == context);
  show(cuCtxPopCurrent(nullptr));
  show(cuCtxGetCurrent(&other), " %d", other == nullptr);
  cuCtxSetCurrent(context);
  show(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST, 0));
  show(cuCtxGetFlags(&flags), " %u", flags);
  show(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
  show(cuCtxGetFlags(&flags), " %u", flags);
  show(cuCtxSetFlags(0x700));
  show(cuCtxGetDevice(&device), " %d", device);
  show(cuCtxSetCurrent(context));
  show(cuCtxGetCurrent(&other), " %d", other == context);
  show(cuCtxPopCurrent(&other), " %d", other == context);
  show(cuCtxGetCurrent(&other), " %d %d", other == made, other == nullptr);
  show(cuCtxPushCurrent(made));
  show(cuCtxPushCurrent(made));
  show(cuCtxDestroy(made));
  show(cuCtxGetCurrent(&other), " %d", other == nullptr);
  show(cuMemAlloc(&memory, 16));
  show(cuCtxPopCurrent(&other));
  show(cuCtxSetCurrent(context));
  show(cuCtxGetStreamPriorityRange(nullptr, nullptr));
  show(cuCtxGetStreamPriorityRange(&least, &greatest), " %d %d", least, greatest);
  for (const int limit : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99}) {
    value = 7;
    show(cuCtxGetLimit(&value, CUlimit(limit)), " limit %d: %s", limit,
         value == 7 ? "as before" : "something");
  }
  show(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  show(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1000));
  show(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), " %zu", value);
  show(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size_t{1} << 40));
  show(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 100000));
  show(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE), " %zu", value);
  show(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 100));
  show(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), " %zu", value);
  show(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 100));
  show(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 33));
  show(cuCtxGetLimit(&value, CU_LIMIT_MAX_L2_FETCH_GRANULARITY), " %zu", value);
  show(cuCtxSetLimit(CUlimit(99), 1));
  show(cuCtxSetCacheConfig(CUfunc_cache(9)));
  show(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  show(cuCtxGetCacheConfig(&cache), " %d", cache);
  show(cuCtxGetCacheConfig(nullptr));
  show(cuCtxResetPersistingL2Cache());
  show(cuCtxEnablePeerAccess(nullptr, 0));
  show(cuCtxEnablePeerAccess(context, 0));
  show(cuCtxDisablePeerAccess(context));
  show(cuDevicePrimaryCtxGetState(0, nullptr, &active), " %d", active);
  show(cuDevicePrimaryCtxGetState(0, &flags, nullptr), " %u", flags);
  show(cuDevicePrimaryCtxGetState(9, &flags, &active));
  show(cuDevicePrimaryCtxRelease(0));
  show(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
  show(cuDevicePrimaryCtxSetFlags(0, 7));
  show(cuDevicePrimaryCtxSetFlags(9, 0));
  show(cuDevicePrimaryCtxGetState(0, &flags, &active), " %u %d", flags, active);
  show(cuDevicePrimaryCtxRetain(nullptr, 0));
  show(cuDevicePrimaryCtxRetain(&other, 9));
  show(cuDevicePrimaryCtxRetain(&other, 0));
  show(cuDevicePrimaryCtxGetState(0, &flags, &active), " %u %d", flags, active);
  show(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
  show(cuDevicePrimaryCtxGetState(0, &flags, &active), " %u %d", flags, active);
  show(cuCtxDestroy(other));
  show(cuDevicePrimaryCtxReset(0));
  show(cuDevicePrimaryCtxGetState(0, &flags, &active), " %u %d", flags, active);
  show(cuDevicePrimaryCtxRelease(0));
  show(cuDevicePrimaryCtxRelease(0));
  show(cuDevicePrimaryCtxReset(9));
}

void without_context() {
  CUdeviceptr p = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule loaded = nullptr;
  CUgraph graph = nullptr;
  CUarray array = nullptr;
  CUmemGenericAllocationHandle handle = 0;
  CUlinkState linker = nullptr;
  CUlibrary library = nullptr;
  CUdevice device = 0;
  size_t value = 0, total = 0;
  unsigned flags = 0;
  int least = 0, greatest = 0, number = 0;
  void* host = nullptr;
  cuCtxSetCurrent(nullptr);
  show(cuMemAlloc(&p, 16));
  show(cuMemFree(memory));
  show(cuMemFree(0));
  show(cuMemAllocHost(&host, 64));
  show(cuMemHostAlloc(&host, 64, 0));
  show(cuMemFreeHost(nullptr));
  show(cuMemAllocManaged(&p, 64, 1));
  show(cuMemAllocAsync(&p, 64, nullptr));
  show(cuMemsetD8(memory, 1, 4));
  show(cuMemcpyHtoD(memory, &value, 4));
  show(cuMemcpyDtoH(&value, memory, 4));
  show(cuMemcpy(memory, memory, 4));
  show(cuMemGetInfo(&value, &total));
  show(cuMemGetAddressRange(&p, &value, memory));
  show(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), " %d", number);
  show(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUdeviceptr(&number)));
  show(cuStreamCreate(&stream, 0));
  show(cuStreamSynchronize(nullptr));
  show(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  show(cuStreamQuery(nullptr));
  show(cuEventCreate(&event, 0));
  show(cuModuleLoadData(&loaded, ptx));
  show(cuModuleUnload(nullptr));
  show(cuLinkCreate(0, nullptr, nullptr, &linker));
  show(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  show(cuLibraryUnload(library));
  show(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  show(cuGraphCreate(&graph, 0));
  CUgraphExec executable = nullptr;
  show(cuGraphInstantiate(&executable, graph, 0));
  show(cuGraphLaunch(executable, nullptr));
  show(cuGraphDestroy(graph));
  CUDA_ARRAY_DESCRIPTOR description = {16, 16, CU_AD_FORMAT_FLOAT, 1};
  show(cuArrayCreate(&array, &description));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  show(cuMemCreate(&handle, 2 << 20, &properties, 0));
  show(cuMemRelease(handle));
  show(cuMemAddressReserve(&p, 2 << 20, 0, 0, 0));
  show(cuMemAddressFree(p, 2 << 20));
  show(cuCtxSynchronize());
  show(cuCtxGetDevice(&device));
  show(cuCtxGetFlags(&flags));
  show(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  show(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  show(cuCtxGetStreamPriorityRange(&least, &greatest));
  show(cuCtxPopCurrent(nullptr));
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, plain, 128, 0), " %d", number);
  show(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, plain), " %d", number);
  show(cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
  show(cuModuleGetFunction(&plain, module, "plain"));
  show(cuProfilerStart());
  show(cuProfilerStop());
  cuCtxSetCurrent(context);
}

void memories() {
  CUdeviceptr p = 7, base = 7;
  size_t bytes = 7, pitch = 7;
  void* host = nullptr;
  unsigned flags = 7;
  int number = 7;
  show(cuMemAlloc(nullptr, 16));
  show(cuMemAlloc(&p, 0), " %d", int(p));
  show(cuMemAlloc(&p, size_t{1} << 50), " %d", int(p));
  show(cuMemFree(7));
  show(cuMemFree(memory + 4));
  show(cuMemFree(CUdeviceptr(&p)));
  show(cuMemAllocPitch(&p, &pitch, 100, 0, 4), " %zu", pitch);
  show(cuMemAllocPitch(&p, &pitch, 0, 4, 4), " %zu", pitch);
  show(cuMemAllocPitch(&p, &pitch, 100, 4, 0), " %zu", pitch);
  show(cuMemAllocPitch(&p, &pitch, 100, 4, 32), " %zu", pitch);
  show(cuMemAllocPitch(&p, nullptr, 100, 4, 4));
  show(cuMemAllocPitch(nullptr, &pitch, 100, 4, 4));
  show(cuMemAllocPitch(&p, &pitch, 513, 4, 16), " %zu", pitch);
  cuMemFree(p);
  show(cuMemAllocHost(nullptr, 16));
  show(cuMemAllocHost(&host, 0), " %d", host == nullptr);
  show(cuMemHostAlloc(&host, 16, 8), " %d", host == nullptr);
  show(cuMemHostAlloc(&host, 0, 8));
  show(cuMemHostAlloc(&host, 4096, 4));
  void* pinned = host;
  show(cuMemHostGetFlags(&flags, host), " %u", flags);
  show(cuMemHostGetFlags(nullptr, host));
  show(cuMemHostGetFlags(&flags, &flags));
  show(cuMemHostGetFlags(&flags, nullptr));
  show(cuMemHostGetDevicePointer(&p, host, 0), " %d", p == CUdeviceptr(host));
  show(cuMemHostGetDevicePointer(&p, host, 1));
  show(cuMemHostGetDevicePointer(&p, static_cast<char*>(host) + 5, 0), " %d", p == CUdeviceptr(host) + 5);
  show(cuMemHostGetDevicePointer(nullptr, host, 0));
  show(cuMemHostGetDevicePointer(&p, nullptr, 0));
  show(cuMemHostGetDevicePointer(&p, &p, 0));
  show(cuMemHostGetDevicePointer(&p, reinterpret_cast<void*>(memory), 0));
  show(cuMemFreeHost(nullptr));
  show(cuMemFreeHost(&p));
  show(cuMemFreeHost(static_cast<char*>(host) + 8));
  show(cuMemFreeHost(reinterpret_cast<void*>(memory)));
  show(cuMemFree(CUdeviceptr(host)));
  for (const unsigned how : {0u, 1u, 2u, 3u, 4u, 5u}) {
    p = 0;
    show(cuMemAllocManaged(&p, 64, how), " flags %u", how);
    if (p != 0) cuMemFree(p);
  }
  show(cuMemAllocManaged(&p, 0, 1));
  show(cuMemAllocManaged(nullptr, 64, 1));
  show(cuMemAllocManaged(&p, 4096, 1));
  const CUdeviceptr managed = p;
  show(cuMemFreeHost(reinterpret_cast<void*>(managed)));
  show(cuMemHostGetDevicePointer(&p, reinterpret_cast<void*>(managed), 0));
  show(cuMemHostGetFlags(&flags, reinterpret_cast<void*>(managed)));
  auto* pages = static_cast<char*>(std::aligned_alloc(4096, 16384));
  show(cuMemHostRegister(nullptr, 4096, 0));
  show(cuMemHostRegister(pages, 0, 0));
  show(cuMemHostRegister(pages, 4096, 16));
  show(cuMemHostRegister(pages + 3, 100, 0));
  show(cuMemHostRegister(pages, 4096, 0));
  show(cuMemHostGetFlags(&flags, pages + 3), " %u", flags);
  show(cuMemHostUnregister(pages));
  show(cuMemHostUnregister(pages + 3));
  show(cuMemHostUnregister(pages + 3));
  show(cuMemHostRegister(pages, 8192, 1));
  show(cuMemHostRegister(pages + 4096, 8192, 1));
  show(cuMemHostUnregister(pages + 4096));
  show(cuMemFreeHost(pages));
  show(cuMemHostUnregister(pages));
  show(cuMemHostUnregister(nullptr));
  show(cuMemHostRegister(pinned, 4096, 0));
  show(cuMemHostUnregister(pinned));
  std::free(pages);

  show(cuMemGetAddressRange(&base, &bytes, memory + 4095), " %d %zu", base == memory, bytes);
  show(cuMemGetAddressRange(&base, &bytes, 0));
  show(cuMemGetAddressRange(nullptr, &bytes, memory), " %zu", bytes);
  show(cuMemGetAddressRange(&base, nullptr, memory));
  show(cuMemGetAddressRange(nullptr, nullptr, memory));
  show(cuMemGetAddressRange(&base, &bytes, CUdeviceptr(pinned) + 1), " %d %zu", base == CUdeviceptr(pinned),
       bytes);
  show(cuMemGetAddressRange(&base, &bytes, managed + 1), " %d %zu", base == managed, bytes);
  show(cuMemGetInfo(nullptr, &bytes));
  show(cuMemGetInfo(&bytes, nullptr));

  char plain_memory[64] = {};
  show(cuMemcpyHtoD(memory, nullptr, 4));
  show(cuMemcpyHtoD(memory, nullptr, 0));
  show(cuMemcpyHtoD(0, plain_memory, 4));
  show(cuMemcpyHtoD(0, plain_memory, 0));
  show(cuMemcpyHtoD(memory + 4090, plain_memory, 16));
  show(cuMemcpyHtoD(CUdeviceptr(plain_memory), plain_memory + 32, 4));
  show(cuMemcpyHtoD(CUdeviceptr(pinned), plain_memory, 4));
  show(cuMemcpyHtoD(managed, plain_memory, 4));
  show(cuMemcpyHtoD(memory, reinterpret_cast<void*>(memory), 4));
  show(cuMemcpyDtoH(nullptr, memory, 4));
  show(cuMemcpyDtoH(nullptr, memory, 0));
  show(cuMemcpyDtoH(plain_memory, 0, 4));
  show(cuMemcpyDtoH(plain_memory, memory + 4090, 16));
  show(cuMemcpyDtoH(reinterpret_cast<void*>(memory), memory + 16, 4));
  show(cuMemcpyDtoH(plain_memory, CUdeviceptr(pinned), 4));
  show(cuMemcpyDtoH(plain_memory, CUdeviceptr(plain_memory) + 32, 4));
  show(cuMemcpyDtoD(memory, memory, 64));
  show(cuMemcpyDtoD(memory, memory + 4, 64));
  show(cuMemcpyDtoD(memory, 0, 64));
  show(cuMemcpyDtoD(memory, CUdeviceptr(pinned), 64));
  show(cuMemcpyDtoD(CUdeviceptr(plain_memory), memory, 8));
  show(cuMemcpy(memory, CUdeviceptr(plain_memory), 8));
  show(cuMemcpy(CUdeviceptr(plain_memory), CUdeviceptr(plain_memory + 32), 8));
  show(cuMemcpy(memory, 0, 8));
  show(cuMemcpy(0, memory, 0));
  show(cuMemcpyAsync(memory, CUdeviceptr(plain_memory), 8, reinterpret_cast<CUstream>(intptr_t{2})));
  show(cuMemcpyPeer(memory, context, memory + 64, context, 8));
  show(cuMemcpyPeer(memory, nullptr, memory + 64, context, 8));
  show(cuMemcpyPeer(memory, context, memory + 64, nullptr, 8));

  show(cuMemsetD8(memory, 1, 0));
  show(cuMemsetD8(0, 1, 0));
  show(cuMemsetD8(0, 1, 4));
  show(cuMemsetD8(memory + 4090, 1, 16));
  show(cuMemsetD16(memory + 1, 1, 2));
  show(cuMemsetD16(memory + 1, 1, 0));
  show(cuMemsetD32(memory + 2, 1, 2));
  show(cuMemsetD8(CUdeviceptr(plain_memory), 1, 4));
  show(cuMemsetD8(CUdeviceptr(pinned), 1, 4));
  show(cuMemsetD2D8(memory, 16, 1, 32, 4));
  show(cuMemsetD2D8(memory, 16, 1, 32, 1));
  show(cuMemsetD2D8(memory, 0, 1, 32, 1));
  show(cuMemsetD2D8(memory, 16, 1, 0, 4));
  show(cuMemsetD2D8(memory, 16, 1, 16, 0));
  show(cuMemsetD2D8(memory, 16, 1, 16, 300));
  show(cuMemsetD2D16(memory, 17, 1, 4, 4));
  show(cuMemsetD2D16(memory, 16, 1, 9, 4));
  show(cuMemsetD2D32(memory, 18, 1, 4, 4));
  show(cuMemsetD2D32(memory, 16, 1, 5, 4));
  show(cuMemsetD2D32(memory, 18, 1, 4, 1));

  for (int attribute = 0; attribute < 22; ++attribute) {
    unsigned char out[64];
    for (const CUdeviceptr of :
         {memory + 8, CUdeviceptr(pinned) + 8, managed + 8, CUdeviceptr(plain_memory)}) {
      // What a GPU's driver tells of its own mappings is not told here.
      if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS || attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE ||
          (attribute >= CU_POINTER_ATTRIBUTE_MAPPING_SIZE && attribute <= 21))
        continue;
      std::memset(out, 0xee, sizeof out);
      int written = 0;
      const CUresult result = cuPointerGetAttribute(out, CUpointer_attribute(attribute), of);
      for (const unsigned char byte : out) written += byte != 0xee;
      const char* const kind = of == memory + 8                ? "device"
                               : of == CUdeviceptr(pinned) + 8 ? "pinned"
                               : of == managed + 8             ? "managed"
                                                               : "plain";
      const bool is_small = attribute == 2 || attribute == 6 || (attribute >= 8 && attribute <= 10) ||
                            (attribute >= 13 && attribute != 17);
      int value = 0;
      std::memcpy(&value, out, 4);
      tell("cuPointerGetAttribute", result, " %d of %s: %d", attribute, kind,
           result != CUDA_SUCCESS ? 0
           : is_small             ? value
                                  : written > 0);
    }
  }
  show(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  show(cuPointerGetAttribute(&number, CUpointer_attribute(99), memory));
  show(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
  show(cuPointerGetAttributes(0, nullptr, nullptr, memory));
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUpointer_attribute(99)};
  void* data[] = {&number, &bytes};
  show(cuPointerGetAttributes(2, attributes, data, memory));
  show(cuPointerGetAttributes(1, attributes, data, memory), " %d", number);
  show(cuPointerGetAttributes(1, attributes, data, 0), " %d", number);
  show(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  show(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));

  const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere = {CU_MEM_LOCATION_TYPE_DEVICE, 9},
                      host_side = {CU_MEM_LOCATION_TYPE_HOST, 0}, none = {CU_MEM_LOCATION_TYPE_INVALID, 0};
  show(cuMemPrefetchAsync(managed, 4096, here, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 0, here, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 8192, here, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 4096, nowhere, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 4096, none, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 4096, host_side, 0, nullptr));
  show(cuMemPrefetchAsync(managed, 4096, here, 1, nullptr));
  show(cuMemPrefetchAsync(memory, 4096, here, 0, nullptr));
  show(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  show(cuMemAdvise(managed, 4096, CUmem_advise(77), here));
  show(cuMemAdvise(managed, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  show(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere));
  show(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
  show(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, none));
  show(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  for (int attribute = 0; attribute < 9; ++attribute) {
    number = 77;
    show(cuMemRangeGetAttribute(&number, 4, CUmem_range_attribute(attribute), managed, 4096), " %d: %d",
         attribute, number);
  }
  show(cuMemRangeGetAttribute(&number, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 4096));
  show(cuMemRangeGetAttribute(&number, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 0));
  show(cuMemRangeGetAttribute(&number, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4096));
  show(cuMemRangeGetAttribute(nullptr, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 4096));
  cuMemFree(managed);
  show(cuMemFree(managed));
  cuMemFreeHost(pinned);
  show(cuMemFreeHost(pinned));
}

CUDA_MEMCPY2D rows(CUmemorytype from, CUmemorytype to) {
  static char host[4096];
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.srcHost = host;
  copy.dstHost = host + 2048;
  copy.srcDevice = memory;
  copy.dstDevice = memory + 2048;
  copy.srcPitch = copy.dstPitch = 64;
  copy.WidthInBytes = 16;
  copy.Height = 4;
  return copy;
}

/// A copy after a change to its description.
template <class Change>
void copy2d(const char* what, CUmemorytype from, CUmemorytype to, Change change) {
  CUDA_MEMCPY2D copy = rows(from, to);
  change(copy);
  std::printf("%s, ", what);
  show(cuMemcpy2D(&copy));
  std::printf("%s, ", what);
  show(cuMemcpy2DUnaligned(&copy));
}
template <class Change>
void copy3d(const char* what, CUmemorytype from, CUmemorytype to, Change change) {
  const CUDA_MEMCPY2D flat = rows(from, to);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.srcHost = flat.srcHost;
  copy.dstHost = flat.dstHost;
  copy.srcDevice = flat.srcDevice;
  copy.dstDevice = flat.dstDevice;
  copy.srcPitch = copy.dstPitch = 64;
  copy.srcHeight = copy.dstHeight = 4;
  copy.WidthInBytes = 16;
  copy.Height = 4;
  copy.Depth = 2;
  change(copy);
  std::printf("%s, ", what);
  show(cuMemcpy3D(&copy));
}

void copies() {
  constexpr auto host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE, unified = CU_MEMORYTYPE_UNIFIED,
                 in_array = CU_MEMORYTYPE_ARRAY;
  const auto as_it_is = [](auto&) {};
  show(cuMemcpy2D(nullptr));
  show(cuMemcpy3D(nullptr));
  copy2d("host to device", host, device, as_it_is);
  copy2d("host to host", host, host, as_it_is);
  copy2d("no kind", CUmemorytype(0), device, as_it_is);
  copy2d("kind 9", CUmemorytype(9), device, as_it_is);
  copy2d("unified", unified, device, as_it_is);
  copy2d("no width", host, device, [](auto& c) { c.WidthInBytes = 0; });
  copy2d("no height", host, device, [](auto& c) { c.Height = 0; });
  copy2d("source pitch 0", host, device, [](auto& c) { c.srcPitch = 0; });
  copy2d("source pitch 8", host, device, [](auto& c) { c.srcPitch = 8; });
  copy2d("source pitch 8, one row", host, device, [](auto& c) { c.srcPitch = 8, c.Height = 1; });
  copy2d("source pitch 0, one row", host, device, [](auto& c) { c.srcPitch = 0, c.Height = 1; });
  copy2d("target pitch 0", host, device, [](auto& c) { c.dstPitch = 0; });
  copy2d("target pitch 17", host, device, [](auto& c) { c.dstPitch = 17; });
  copy2d("target pitch 8", host, device, [](auto& c) { c.dstPitch = 8; });
  copy2d("source x 56", host, device, [](auto& c) { c.srcXInBytes = 56; });
  copy2d("target x 56", host, device, [](auto& c) { c.dstXInBytes = 56; });
  copy2d("target x 56, one row", host, device, [](auto& c) { c.dstXInBytes = 56, c.Height = 1; });
  copy2d("too many rows", device, device, [](auto& c) { c.Height = 90; });
  copy2d("source null", host, device, [](auto& c) { c.srcHost = nullptr; });
  copy2d("target null", host, device, [](auto& c) { c.dstDevice = 0; });
  copy2d("array null", in_array, device, [](auto& c) { c.srcArray = nullptr; });
  copy2d("pitch 1 << 40", host, device, [](auto& c) { c.dstPitch = size_t{1} << 40; });
  copy3d("host to device", host, device, as_it_is);
  copy3d("no depth", host, device, [](auto& c) { c.Depth = 0; });
  copy3d("no width", host, device, [](auto& c) { c.WidthInBytes = 0; });
  copy3d("kind 9", host, CUmemorytype(9), as_it_is);
  copy3d("source height 0", host, device, [](auto& c) { c.srcHeight = 0; });
  copy3d("source height 2", host, device, [](auto& c) { c.srcHeight = 2; });
  copy3d("source height 2, one layer", host, device, [](auto& c) { c.srcHeight = 2, c.Depth = 1; });
  copy3d("source height 0, one layer", host, device, [](auto& c) { c.srcHeight = 0, c.Depth = 1; });
  copy3d("source pitch 0, one layer", host, device, [](auto& c) { c.srcPitch = 0, c.Depth = 1; });
  copy3d("source pitch 0, one row", host, device, [](auto& c) { c.srcPitch = 0, c.Depth = c.Height = 1; });
  copy3d("source y 2", host, device, [](auto& c) { c.srcY = 2; });
  copy3d("target y 2, one layer", host, device, [](auto& c) { c.dstY = 2, c.Depth = 1; });
  copy3d("source level 1", host, device, [](auto& c) { c.srcLOD = 1; });
  copy3d("too many layers", device, device, [](auto& c) { c.Depth = 20; });
  copy3d("reserved", host, device, [](auto& c) { c.reserved0 = &c; });

  // Arrays.
  CUarray array = nullptr, other = nullptr;
  const auto make = [&](size_t width, size_t height, CUarray_format format, unsigned channels) {
    CUDA_ARRAY_DESCRIPTOR description = {width, height, format, channels};
    array = nullptr;
    const CUresult result = cuArrayCreate(&array, &description);
    tell("cuArrayCreate", result, " %zu x %zu, format %d, %u channels", width, height, int(format), channels);
    if (array != nullptr) cuArrayDestroy(array);
  };
  make(0, 0, CU_AD_FORMAT_FLOAT, 1);
  make(0, 4, CU_AD_FORMAT_FLOAT, 1);
  make(4, 0, CU_AD_FORMAT_FLOAT, 1);
  make(4, 4, CU_AD_FORMAT_FLOAT, 0);
  make(4, 4, CU_AD_FORMAT_FLOAT, 3);
  make(4, 4, CU_AD_FORMAT_FLOAT, 4);
  make(4, 4, CU_AD_FORMAT_FLOAT, 5);
  make(4, 4, CUarray_format(0), 1);
  make(4, 4, CUarray_format(0x77), 1);
  make(4, 4, CU_AD_FORMAT_HALF, 2);
  make(131072, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
  make(131073, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
  make(131072, 65537, CU_AD_FORMAT_UNSIGNED_INT8, 1);
  make(4, 65537, CU_AD_FORMAT_UNSIGNED_INT8, 1);
  const auto make3d = [&](size_t width, size_t height, size_t depth, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR description = {width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    array = nullptr;
    const CUresult result = cuArray3DCreate(&array, &description);
    CUDA_ARRAY3D_DESCRIPTOR back{};
    if (array != nullptr) cuArray3DGetDescriptor(&back, array);
    tell("cuArray3DCreate", result, " %zu x %zu x %zu, flags %x: %zu x %zu x %zu, flags %x", width, height,
         depth, flags, back.Width, back.Height, back.Depth, back.Flags);
    if (array != nullptr) cuArrayDestroy(array);
  };
  for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 0x10u, 0x20u, 0x1000u}) {
    make3d(8, 8, 0, flags);
    make3d(8, 8, 6, flags);
    make3d(8, 0, 6, flags);
    make3d(8, 4, 6, flags);
  }
  make3d(8, 0, 0, 0);
  make3d(0, 8, 8, 0);
  make3d(20000, 8, 8, 0);
  show(cuArrayCreate(nullptr, nullptr));
  show(cuArrayCreate(&array, nullptr));
  CUDA_ARRAY_DESCRIPTOR description = {16, 4, CU_AD_FORMAT_FLOAT, 1}, back{};
  show(cuArrayCreate(nullptr, &description));
  show(cuArrayCreate(&array, &description));
  show(cuArrayCreate(&other, &description));
  show(cuArrayGetDescriptor(nullptr, array));
  show(cuArrayGetDescriptor(&back, nullptr));
  show(cuArrayGetDescriptor(&back, array), " %zu %zu", back.Width, back.Height);
  show(cuArrayDestroy(nullptr));
  const auto from_array = [&](auto change) {
    return [&, change](auto& copy) {
      copy.srcArray = array;
      change(copy);
    };
  };
  copy2d("array to device", in_array, device, from_array(as_it_is));
  copy2d("array, x 60", in_array, device, from_array([](auto& c) { c.srcXInBytes = 60; }));
  copy2d("array, y 1", in_array, device, from_array([](auto& c) { c.srcY = 1; }));
  copy3d("array, depth 2", in_array, device, from_array(as_it_is));
  copy3d("array, depth 1", in_array, device, from_array([](auto& c) { c.Depth = 1; }));
  copy3d("array, z 1", in_array, device, from_array([](auto& c) { c.Depth = 1, c.srcZ = 1; }));
  char bytes[512];
  show(cuMemcpyHtoA(array, 0, bytes, 256));
  show(cuMemcpyHtoA(array, 0, bytes, 64));
  show(cuMemcpyHtoA(array, 60, bytes, 8));
  show(cuMemcpyHtoA(array, 64, bytes, 4));
  show(cuMemcpyHtoA(array, 2, bytes, 4));
  show(cuMemcpyHtoA(array, 0, bytes, 300));
  show(cuMemcpyHtoA(nullptr, 0, bytes, 4));
  show(cuMemcpyHtoA(array, 0, bytes, 0));
  show(cuMemcpyAtoH(bytes, array, 0, 256));
  show(cuMemcpyAtoH(bytes, array, 252, 8));
  show(cuMemcpyAtoA(other, 0, array, 0, 256));
  show(cuMemcpyAtoA(other, 0, array, 4, 256));
  show(cuMemcpyAtoD(memory, array, 0, 256));
  show(cuMemcpyDtoA(array, 0, memory, 256));
  show(cuMemcpyDtoA(array, 0, memory, 258));
  show(cuArrayDestroy(array));
  show(cuArrayDestroy(other));
}

void modules() {
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr address = 7;
  size_t bytes = 7, offset = 7;
  unsigned count = 7;
  int number = 7;
  const char* name = nullptr;
  show(cuModuleLoadData(nullptr, ptx));
  show(cuModuleLoadData(&loaded, nullptr));
  show(cuModuleLoadData(&loaded, ""));
  show(cuModuleLoadData(&loaded, ".version 8.0\n.target sm_90\n.address_size 64\n"));
  show(cuModuleLoadData(&loaded, "// nothing"));
  show(cuModuleLoadData(
      &loaded,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .shared .b8 s[50000]; ret; }\n"));
  show(cuModuleLoadDataEx(&loaded, ptx, 1, nullptr, nullptr));
  CUjit_option option[] = {CU_JIT_MAX_REGISTERS, CUjit_option(777)};
  void* values[] = {reinterpret_cast<void*>(intptr_t{32}), nullptr};
  show(cuModuleLoadDataEx(&loaded, ptx, 1, option, values));
  show(cuModuleLoadDataEx(&loaded, ptx, 2, option, values));
  option[0] = CU_JIT_OPTIMIZATION_LEVEL;
  values[0] = reinterpret_cast<void*>(intptr_t{9});
  show(cuModuleLoadDataEx(&loaded, ptx, 1, option, values));
  show(cuModuleLoad(&loaded, nullptr));
  show(cuModuleLoad(&loaded, ""));
  show(cuModuleLoad(nullptr, "/no/such/file"));
  show(cuModuleLoadFatBinary(&loaded, nullptr));
  show(cuModuleUnload(nullptr));
  show(cuModuleGetFunction(nullptr, module, "plain"));
  show(cuModuleGetFunction(&function, nullptr, "plain"));
  show(cuModuleGetFunction(&function, module, nullptr));
  show(cuModuleGetFunction(&function, module, ""));
  show(cuModuleGetFunction(&function, module, "words"));
  show(cuModuleGetFunctionCount(nullptr, module));
  show(cuModuleGetFunctionCount(&count, nullptr));
  show(cuModuleGetFunctionCount(&count, module), " %u", count);
  CUfunction all[8] = {};
  show(cuModuleEnumerateFunctions(nullptr, 2, module));
  show(cuModuleEnumerateFunctions(all, 0, module), " %d", all[0] != nullptr);
  show(cuModuleEnumerateFunctions(all, 2, module), " %d %d", all[1] != nullptr, all[2] != nullptr);
  show(cuModuleEnumerateFunctions(all, 8, module), " %d %d", all[4] != nullptr, all[5] != nullptr);
  show(cuModuleGetGlobal(nullptr, nullptr, module, "words"));
  show(cuModuleGetGlobal(&address, nullptr, module, "words"));
  show(cuModuleGetGlobal(nullptr, &bytes, module, "words"), " %zu", bytes);
  show(cuModuleGetGlobal(&address, &bytes, module, "constants"), " %zu", bytes);
  show(cuModuleGetGlobal(&address, &bytes, module, nullptr));
  show(cuModuleGetGlobal(&address, &bytes, nullptr, "words"));
  CUmoduleLoadingMode mode;
  show(cuModuleGetLoadingMode(&mode), " %d", mode);
  cuModuleGetGlobal(&address, nullptr, module, "words");
  show(cuMemFree(address));
  show(cuMemsetD8(address, 1, 256));
  show(cuMemsetD8(address, 1, 257));
  CUdeviceptr base = 0;
  show(cuMemGetAddressRange(&base, &bytes, address + 4), " %d", base == address);

  show(cuFuncGetName(nullptr, plain));
  show(cuFuncGetName(&name, nullptr));
  show(cuFuncGetModule(nullptr, plain));
  show(cuFuncGetModule(&loaded, nullptr));
  show(cuFuncGetParamInfo(plain, 0, &offset, nullptr), " %zu", offset);
  show(cuFuncGetParamInfo(plain, 1, nullptr, &bytes), " %zu", bytes);
  show(cuFuncGetParamInfo(plain, 1, nullptr, nullptr));
  show(cuFuncGetParamInfo(plain, 2, &offset, &bytes));
  show(cuFuncGetParamInfo(empty, 0, &offset, &bytes));
  show(cuFuncGetParamInfo(nullptr, 0, &offset, &bytes));
  for (int attribute = 0; attribute < 16; ++attribute)
    for (const CUfunction of : {plain, with_shared, bounded, required}) {
      number = -7;
      const CUresult result = cuFuncGetAttribute(&number, CUfunction_attribute(attribute), of);
      // Not what an assembler made of it: registers, versions.
      if (attribute >= 4 && attribute <= 6) number = 0;
      tell("cuFuncGetAttribute", result, " %d: %d", attribute, number);
    }
  show(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, plain));
  show(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
  show(cuFuncGetAttribute(&number, CUfunction_attribute(99), plain));
  for (int attribute = 0; attribute < 16; ++attribute)
    for (const int value : {-2, -1, 0, 1, 2, 5, 100, 101, 49152, 227 * 1024, 228 * 1024}) {
      const CUresult result = cuFuncSetAttribute(with_shared, CUfunction_attribute(attribute), value);
      number = -7;
      cuFuncGetAttribute(&number, CUfunction_attribute(attribute), with_shared);
      if (attribute >= 4 && attribute <= 6) number = 0;
      tell("cuFuncSetAttribute", result, " %d to %d: %d", attribute, value, number);
    }
  show(cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
  show(cuFuncSetCacheConfig(plain, CUfunc_cache(9)));
  show(cuFuncSetCacheConfig(plain, CU_FUNC_CACHE_PREFER_EQUAL));
  show(cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_EQUAL));
  CUfunctionLoadingState state;
  show(cuFuncIsLoaded(&state, plain), " %d", state);
  show(cuFuncIsLoaded(nullptr, plain));
  show(cuFuncLoad(nullptr));
  show(cuFuncLoad(plain));

  int blocks = 7, threads = 7;
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 128, 0));
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 128, 0));
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, -1, 0), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 2000, 0), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 100000), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 1 << 20), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, required, 256, 0), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 128, 0, 1), " %d", blocks);
  show(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 128, 0, 2), " %d", blocks);
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, plain, nullptr, 0, 0), " %d %d", blocks % 132,
       threads);
  show(cuOccupancyMaxPotentialBlockSize(nullptr, &threads, plain, nullptr, 0, 0));
  show(cuOccupancyMaxPotentialBlockSize(&blocks, nullptr, plain, nullptr, 0, 0));
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, nullptr, nullptr, 0, 0));
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, plain, nullptr, 0, 100), " %d %d", blocks,
       threads);
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, plain, nullptr, 0, -3), " %d", threads);
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, plain, nullptr, 1 << 20, 0), " %d %d", blocks,
       threads);
  show(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, bounded, nullptr, 0, 0), " %d", threads);
  show(cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, plain, nullptr, 0, 0, 2));
  show(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 128), " %zu", bytes);
  show(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 0, 128));
  show(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 40, 128), " %zu", bytes);
  show(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 0), " %zu", bytes);
  show(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 2048), " %zu", bytes);

  // Libraries.
  CUlibrary library = nullptr, same = nullptr;
  CUkernel kernel = nullptr;
  show(cuLibraryLoadData(nullptr, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  show(cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  show(cuLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUlibraryOption library_option = CUlibraryOption(77);
  void* library_value = nullptr;
  show(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, &library_option, &library_value, 1));
  show(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  show(cuLibraryGetKernel(nullptr, library, "plain"));
  show(cuLibraryGetKernel(&kernel, library, "none"));
  show(cuLibraryGetKernel(&kernel, library, nullptr));
  show(cuLibraryGetKernel(&kernel, nullptr, "plain"));
  show(cuLibraryGetKernel(&kernel, library, "plain"));
  show(cuLibraryGetKernelCount(&count, library), " %u", count);
  show(cuLibraryGetKernelCount(nullptr, library));
  CUkernel kernels[8] = {};
  show(cuLibraryEnumerateKernels(kernels, 8, library), " %d", kernels[5] != nullptr);
  show(cuLibraryGetModule(&loaded, nullptr));
  show(cuLibraryGetModule(nullptr, library));
  show(cuLibraryGetModule(&loaded, library));
  show(cuModuleUnload(loaded));
  show(cuLibraryGetGlobal(&address, &bytes, library, "words"), " %zu", bytes);
  show(cuLibraryGetGlobal(&address, &bytes, library, "none"));
  show(cuLibraryGetGlobal(nullptr, nullptr, library, "words"));
  show(cuLibraryGetManaged(&address, &bytes, library, "words"));
  show(cuKernelGetFunction(nullptr, kernel));
  show(cuKernelGetFunction(&function, nullptr));
  show(cuKernelGetFunction(&function, kernel));
  show(cuKernelGetLibrary(&same, kernel), " %d", same == library);
  show(cuKernelGetLibrary(nullptr, kernel));
  show(cuKernelGetName(&name, kernel), " %s", name);
  show(cuKernelGetName(nullptr, kernel));
  show(cuKernelGetParamInfo(kernel, 2, &offset, &bytes));
  show(cuKernelGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0), " %d", number);
  show(cuKernelGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 9));
  show(cuKernelGetAttribute(&number, CUfunction_attribute(99), kernel, 0));
  show(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 * 1024, kernel, 0));
  show(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, 9));
  show(cuKernelSetCacheConfig(kernel, CUfunc_cache(9), 0));
  show(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 9));
  show(cuLibraryUnload(nullptr));
  show(cuLibraryUnload(library));

  // The linker.
  CUlinkState linker = nullptr;
  void* image = nullptr;
  show(cuLinkCreate(0, nullptr, nullptr, nullptr));
  show(cuLinkCreate(0, nullptr, nullptr, &linker));
  show(cuLinkAddData(linker, CU_JIT_INPUT_PTX, nullptr, 0, "none", 0, nullptr, nullptr));
  char nonsense[] = "nonsense", copy[sizeof ptx];
  std::memcpy(copy, ptx, sizeof ptx);
  show(cuLinkAddData(linker, CU_JIT_INPUT_PTX, nonsense, sizeof nonsense, "none", 0, nullptr, nullptr));
  show(cuLinkAddData(linker, CUjitInputType(77), copy, sizeof copy, "none", 0, nullptr, nullptr));
  show(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr));
  show(cuLinkComplete(linker, nullptr, nullptr));
  show(cuLinkDestroy(linker));
  show(cuLinkCreate(0, nullptr, nullptr, &linker));
  show(cuLinkComplete(linker, &image, &bytes));
  show(cuLinkDestroy(linker));
  show(cuLinkCreate(0, nullptr, nullptr, &linker));
  show(cuLinkAddData(linker, CU_JIT_INPUT_PTX, copy, sizeof copy, nullptr, 0, nullptr, nullptr));
  show(cuLinkComplete(linker, &image, &bytes));
  show(cuLinkDestroy(linker));
  show(cuLinkDestroy(nullptr));
}

void launches() {
  unsigned n = 7;
  void* arguments[] = {&memory, &n};
  const auto shape = [&](CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned shared) {
    const CUresult result = cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, nullptr, arguments, nullptr);
    const char* name = "none";
    if (f != nullptr) cuFuncGetName(&name, f);
    tell("cuLaunchKernel", result, " %s, %u x %u x %u of %u x %u x %u, %u bytes", name, gx, gy, gz, bx, by,
         bz, shared);
  };
  shape(nullptr, 1, 1, 1, 1, 1, 1, 0);
  shape(plain, 0, 1, 1, 1, 1, 1, 0);
  shape(plain, 1, 0, 1, 1, 1, 1, 0);
  shape(plain, 1, 1, 0, 1, 1, 1, 0);
  shape(plain, 1, 1, 1, 0, 1, 1, 0);
  shape(plain, 1, 1, 1, 1, 1, 0, 0);
  shape(plain, 1, 1, 1, 1, 1, 65, 0);
  shape(plain, 1, 1, 1, 1025, 1, 1, 0);
  shape(plain, 1, 1, 1, 512, 4, 1, 0);
  shape(plain, 1, 65536, 1, 1, 1, 1, 0);
  shape(plain, 1, 1, 65536, 1, 1, 1, 0);
  shape(plain, 2147483648u, 1, 1, 1, 1, 1, 0);
  shape(plain, 1, 1, 1, 1, 1, 1, 49152);
  shape(plain, 1, 1, 1, 1, 1, 1, 49153);
  shape(with_shared, 1, 1, 1, 1, 1, 1, 49152);
  shape(with_shared, 1, 1, 1, 1, 1, 1, 49152 - 2048);
  shape(bounded, 1, 1, 1, 128, 1, 1, 0);
  shape(bounded, 1, 1, 1, 129, 1, 1, 0);
  shape(required, 1, 1, 1, 64, 2, 1, 0);
  shape(required, 1, 1, 1, 128, 1, 1, 0);
  shape(required, 1, 1, 1, 32, 2, 1, 0);
  show(cuCtxSynchronize());
  show(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  show(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  show(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  show(cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments));
  show(cuLaunchCooperativeKernel(plain, 100000, 1, 1, 128, 1, 1, 0, nullptr, arguments));
  show(cuLaunchCooperativeKernel(plain, 0, 1, 1, 128, 1, 1, 0, nullptr, arguments));
  // In one buffer.
  struct {
    CUdeviceptr out;
    unsigned n;
  } block = {memory, 9};
  size_t size = 12;
  const auto buffer = [&](std::initializer_list<void*> list) {
    void* extra[8] = {};
    int i = 0;
    for (void* const item : list) extra[i++] = item;
    tell("buffer", cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
         " of %zu bytes, %zu words", size, list.size());
  };
  void *const pointer = CU_LAUNCH_PARAM_BUFFER_POINTER, *const bytes = CU_LAUNCH_PARAM_BUFFER_SIZE;
  buffer({pointer, &block, bytes, &size, nullptr});
  buffer({bytes, &size, pointer, &block, nullptr});
  buffer({pointer, &block, nullptr});
  buffer({bytes, &size, nullptr});
  buffer({nullptr});
  buffer({pointer, nullptr, bytes, &size, nullptr});
  for (const size_t of : {0, 8, 11, 16, 24}) {
    size = of;
    buffer({pointer, &block, bytes, &size, nullptr});
  }
  show(cuLaunchHostFunc(nullptr, nullptr, nullptr));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY =
      config.blockDimZ = 1;
  show(cuLaunchKernelEx(nullptr, plain, arguments, nullptr));
  show(cuLaunchKernelEx(&config, nullptr, arguments, nullptr));
  show(cuLaunchKernelEx(&config, plain, arguments, nullptr));
  config.numAttrs = 1;
  show(cuLaunchKernelEx(&config, plain, arguments, nullptr));
  CUlaunchAttribute attribute{};
  config.attrs = &attribute;
  for (const int id : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 99}) {
    attribute = {};
    attribute.id = CUlaunchAttributeID(id);
    show(cuLaunchKernelEx(&config, plain, arguments, nullptr), " attribute %d, zeros", id);
  }
  attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  const auto cluster = [&](unsigned x, unsigned y, unsigned z, unsigned blocks) {
    attribute.value.clusterDim = {x, y, z};
    config.gridDimX = blocks;
    tell("cluster", cuLaunchKernelEx(&config, plain, arguments, nullptr), " %u x %u x %u of %u blocks", x, y,
         z, blocks);
  };
  cluster(1, 1, 1, 1);
  cluster(2, 1, 1, 1);
  cluster(2, 1, 1, 2);
  cluster(2, 1, 1, 3);
  cluster(8, 1, 1, 8);
  cluster(16, 1, 1, 16);
  cluster(0, 1, 1, 4);
  cluster(1, 2, 1, 4);
  int clusters = 7;
  attribute.value.clusterDim = {2, 1, 1};
  config.gridDimX = 4;
  config.blockDimX = 128;
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters > 0);
  config.blockDimX = 32;
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters);
  config.blockDimX = 128;
  show(cuOccupancyMaxActiveClusters(nullptr, plain, &config));
  show(cuOccupancyMaxActiveClusters(&clusters, nullptr, &config));
  show(cuOccupancyMaxActiveClusters(&clusters, plain, nullptr));
  show(cuOccupancyMaxPotentialClusterSize(&clusters, plain, &config), " %d", clusters);
  show(cuOccupancyMaxPotentialClusterSize(nullptr, plain, &config));
  config.gridDimX = 3;
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters);
  show(cuOccupancyMaxPotentialClusterSize(&clusters, plain, &config), " %d", clusters);
  config.gridDimX = 16;
  attribute.value.clusterDim = {16, 1, 1};
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters);
  attribute.value.clusterDim = {0, 0, 0};
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters);
  clusters = 7;
  config.numAttrs = 0;
  show(cuOccupancyMaxActiveClusters(&clusters, plain, &config), " %d", clusters);
  show(cuOccupancyMaxPotentialClusterSize(&clusters, plain, &config), " %d", clusters);
  show(cuCtxSynchronize());
}

void streams() {
  CUstream stream = nullptr, other = nullptr;
  CUevent event = nullptr, second = nullptr, untimed = nullptr;
  CUcontext of = nullptr;
  unsigned flags = 7;
  int priority = 7;
  float ms = 7;
  unsigned long long id = 7;
  show(cuStreamCreate(nullptr, 0));
  show(cuStreamCreate(&stream, 2));
  show(cuStreamCreate(&stream, 1));
  show(cuStreamGetFlags(stream, &flags), " %u", flags);
  show(cuStreamGetFlags(nullptr, &flags), " %u", flags);
  show(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags), " %u", flags);
  show(cuStreamGetFlags(stream, nullptr));
  show(cuStreamGetPriority(stream, &priority), " %d", priority);
  show(cuStreamGetPriority(stream, nullptr));
  show(cuStreamGetCtx(stream, &of), " %d", of == context);
  show(cuStreamGetCtx(nullptr, &of), " %d", of == context);
  show(cuStreamGetCtx(stream, nullptr));
  show(cuStreamGetId(stream, nullptr));
  show(cuStreamCreateWithPriority(&other, 0, -99));
  show(cuStreamGetPriority(other, &priority), " %d", priority);
  show(cuStreamDestroy(other));
  show(cuStreamCreateWithPriority(&other, 0, 99));
  show(cuStreamGetPriority(other, &priority), " %d", priority);
  show(cuStreamDestroy(other));
  show(cuStreamCreateWithPriority(&other, 4, 0));
  show(cuStreamDestroy(nullptr));
  show(cuStreamDestroy(CU_STREAM_LEGACY));
  show(cuStreamDestroy(CU_STREAM_PER_THREAD));
  show(cuStreamQuery(CU_STREAM_LEGACY));
  show(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  show(cuStreamWaitEvent(stream, nullptr, 0));
  show(cuEventCreate(nullptr, 0));
  for (const unsigned how : {0u, 1u, 2u, 3u, 4u, 6u, 8u}) {
    event = nullptr;
    show(cuEventCreate(&event, how), " flags %u", how);
    if (event != nullptr) cuEventDestroy(event);
  }
  cuEventCreate(&event, 0);
  cuEventCreate(&second, 0);
  cuEventCreate(&untimed, 2);
  show(cuEventQuery(event));
  show(cuEventQuery(nullptr));
  show(cuEventSynchronize(event));
  show(cuEventSynchronize(nullptr));
  show(cuEventDestroy(nullptr));
  show(cuEventRecord(nullptr, stream));
  show(cuEventElapsedTime(&ms, event, second));
  show(cuEventRecord(event, stream));
  show(cuEventElapsedTime(&ms, event, second));
  show(cuEventRecord(second, nullptr));
  cuCtxSynchronize();
  show(cuEventElapsedTime(&ms, event, second), " %d", ms >= 0);
  show(cuEventElapsedTime(&ms, event, nullptr));
  show(cuEventElapsedTime(&ms, event, untimed));
  show(cuEventRecordWithFlags(event, stream, 1));
  show(cuEventRecordWithFlags(event, stream, 2));
  show(cuStreamWaitEvent(stream, event, 2));
  show(cuStreamWaitEvent(stream, untimed, 0));
  show(cuStreamAddCallback(stream, nullptr, nullptr, 0));
  show(cuStreamAddCallback(
      stream, [](CUstream, CUresult, void*) {}, nullptr, 1));
  show(cuStreamAttachMemAsync(stream, memory, 0, 1));
  CUdeviceptr managed = 0;
  cuMemAllocManaged(&managed, 4096, 1);
  show(cuStreamAttachMemAsync(stream, managed, 0, 1));
  show(cuStreamAttachMemAsync(stream, managed, 64, 1));
  show(cuStreamAttachMemAsync(stream, managed, 4096, 4));
  show(cuStreamAttachMemAsync(stream, managed, 0, 3));
  show(cuStreamAttachMemAsync(nullptr, managed, 0, 4));
  show(cuStreamAttachMemAsync(stream, managed + 4, 0, 1));
  cuStreamSynchronize(stream);
  cuMemFree(managed);
  show(cuStreamWriteValue32(stream, memory, 5, 0));
  show(cuStreamWriteValue32(stream, memory + 2, 5, 0));
  show(cuStreamWriteValue32(stream, memory, 5, 1));
  show(cuStreamWriteValue32(stream, memory, 5, 2));
  show(cuStreamWriteValue32(stream, 0, 5, 0));
  show(cuStreamWriteValue64(stream, memory + 4, 5, 0));
  show(cuStreamWriteValue64(stream, memory + 8, 5, 0));
  show(cuStreamWaitValue32(stream, memory, 5, 0));
  show(cuStreamWaitValue32(stream, memory, 5, 1));
  show(cuStreamWaitValue32(stream, memory, 5, 8));
  show(cuStreamWaitValue32(stream, memory + 1, 5, 0));
  show(cuStreamWaitValue64(stream, memory + 8, 5, 0));
  show(cuStreamWaitValue64(stream, memory + 4, 5, 0));
  CUstreamBatchMemOpParams operations[2] = {};
  show(cuStreamBatchMemOp(stream, 0, operations, 0));
  show(cuStreamBatchMemOp(stream, 1, operations, 0));
  operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = memory;
  operations[0].writeValue.value = 6;
  show(cuStreamBatchMemOp(stream, 1, operations, 0));
  show(cuStreamBatchMemOp(stream, 1, operations, 1));
  show(cuStreamBatchMemOp(stream, 300, operations, 0));
  operations[1].operation = CUstreamBatchMemOpType(77);
  show(cuStreamBatchMemOp(stream, 2, operations, 0));
  show(cuStreamSynchronize(stream));
  CUlaunchAttributeValue value{};
  for (const int attribute : {0, 1, 2, 3, 4, 8, 9, 13, 99}) {
    value = {};
    show(cuStreamGetAttribute(stream, CUstreamAttrID(attribute), &value), " %d: %d", attribute,
         attribute == 8 || attribute == 3 ? value.priority : 0);
    value = {};
    show(cuStreamSetAttribute(stream, CUstreamAttrID(attribute), &value), " %d", attribute);
  }
  show(cuStreamCopyAttributes(stream, nullptr));
  show(cuStreamCopyAttributes(stream, stream));

  // Captures.
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status;
  CUstreamCaptureMode mode = CUstreamCaptureMode(7);
  show(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  show(cuStreamBeginCapture(stream, CUstreamCaptureMode(7)));
  show(cuStreamEndCapture(stream, &graph));
  show(cuStreamEndCapture(nullptr, &graph));
  show(cuStreamIsCapturing(stream, &status), " %d", status);
  show(cuStreamIsCapturing(stream, nullptr));
  show(cuStreamIsCapturing(nullptr, &status), " %d", status);
  show(cuThreadExchangeStreamCaptureMode(&mode));
  mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  show(cuThreadExchangeStreamCaptureMode(&mode), " %d", mode);
  show(cuThreadExchangeStreamCaptureMode(&mode), " %d", mode);
  show(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  show(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  show(cuStreamIsCapturing(nullptr, &status), " %d", status);
  show(cuStreamSynchronize(stream));
  show(cuStreamIsCapturing(stream, &status), " %d", status);
  show(cuStreamEndCapture(stream, &graph), " %d", graph == nullptr);
  show(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUdeviceptr p = 0;
  show(cuMemAlloc(&p, 64));
  show(cuStreamEndCapture(stream, nullptr));
  show(cuStreamIsCapturing(stream, &status), " %d", status);
  show(cuStreamEndCapture(stream, &graph));
  show(cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
  show(cuStreamDestroy(stream));
  cuEventDestroy(event);
  cuEventDestroy(second);
  cuEventDestroy(untimed);
}

void graphs() {
  CUgraph graph = nullptr, child = nullptr, clone = nullptr;
  CUgraphNode node = nullptr, next = nullptr, third = nullptr;
  CUgraphExec executable = nullptr;
  size_t count = 7;
  unsigned n = 7, flags = 7, enabled = 7;
  void* arguments[] = {&memory, &n};
  show(cuGraphCreate(nullptr, 0));
  show(cuGraphCreate(&graph, 1));
  show(cuGraphCreate(&graph, 0));
  show(cuGraphDestroy(nullptr));
  show(cuGraphAddEmptyNode(nullptr, graph, nullptr, 0));
  show(cuGraphAddEmptyNode(&node, nullptr, nullptr, 0));
  show(cuGraphAddEmptyNode(&node, graph, nullptr, 1));
  show(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  CUgraphNode twice[] = {node, node};
  show(cuGraphAddEmptyNode(&next, graph, twice, 2));
  show(cuGraphAddEmptyNode(&next, graph, &node, 1));
  show(cuGraphAddDependencies(graph, &node, &next, nullptr, 1));
  show(cuGraphAddDependencies(graph, &node, &node, nullptr, 1));
  show(cuGraphAddDependencies(graph, &next, &node, nullptr, 1));
  show(cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0));
  show(cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 1));
  show(cuGraphAddDependencies(nullptr, &node, &next, nullptr, 1));
  show(cuGraphRemoveDependencies(graph, &next, &node, nullptr, 1));
  show(cuGraphInstantiate(&executable, graph, 0), " a cycle?");
  if (executable != nullptr) cuGraphExecDestroy(executable);
  show(cuGraphGetNodes(graph, nullptr, &count), " %zu", count);
  show(cuGraphGetNodes(graph, nullptr, nullptr));
  CUgraphNode nodes[4] = {};
  count = 1;
  show(cuGraphGetNodes(graph, nodes, &count), " %zu", count);
  count = 4;
  show(cuGraphGetNodes(graph, nodes, &count), " %zu %d", count, nodes[2] == nullptr);
  show(cuGraphGetRootNodes(graph, nullptr, &count), " %zu", count);
  show(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), " %zu", count);
  show(cuGraphGetEdges(graph, nodes, nullptr, nullptr, &count));
  show(cuGraphNodeGetType(node, nullptr));
  CUgraphNodeType type;
  show(cuGraphNodeGetType(node, &type), " %d", type);
  show(cuGraphNodeGetType(nullptr, &type));
  CUDA_KERNEL_NODE_PARAMS kernel{};
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, nullptr));
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, &kernel));
  kernel.func = plain;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, &kernel));
  kernel.kernelParams = arguments;
  kernel.blockDimX = 0;
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, &kernel));
  kernel.blockDimX = 2000;
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, &kernel));
  kernel.blockDimX = 1;
  kernel.sharedMemBytes = 60000;
  show(cuGraphAddKernelNode(&third, graph, nullptr, 0, &kernel));
  kernel.sharedMemBytes = 0;
  show(cuGraphAddKernelNode(&third, graph, &next, 1, &kernel));
  show(cuGraphKernelNodeGetParams(third, nullptr));
  show(cuGraphKernelNodeGetParams(node, &kernel));
  show(cuGraphKernelNodeGetParams(third, &kernel), " %d", kernel.blockDimX);
  show(cuGraphKernelNodeSetParams(node, &kernel));
  kernel.gridDimX = 0;
  show(cuGraphKernelNodeSetParams(third, &kernel));
  kernel.gridDimX = 2;
  show(cuGraphKernelNodeSetParams(third, &kernel));
  show(cuGraphInstantiate(nullptr, graph, 0));
  show(cuGraphInstantiate(&executable, nullptr, 0));
  show(cuGraphInstantiate(&executable, graph, 64));
  show(cuGraphInstantiate(&executable, graph, 0));
  cuuint64_t how = 7;
  show(cuGraphExecGetFlags(executable, &how), " %d", int(how));
  show(cuGraphExecGetFlags(executable, nullptr));
  show(cuGraphLaunch(nullptr, nullptr));
  show(cuGraphLaunch(executable, nullptr));
  show(cuGraphUpload(nullptr, nullptr));
  show(cuGraphUpload(executable, nullptr));
  show(cuGraphNodeGetEnabled(executable, third, &enabled), " %u", enabled);
  show(cuGraphNodeGetEnabled(executable, node, &enabled), " %u", enabled);
  show(cuGraphNodeSetEnabled(executable, third, 0));
  show(cuGraphNodeSetEnabled(executable, node, 0));
  show(cuGraphNodeSetEnabled(executable, third, 7));
  show(cuGraphNodeGetEnabled(executable, third, &enabled), " %u", enabled);
  show(cuGraphExecKernelNodeSetParams(executable, node, &kernel));
  kernel.func = with_shared;
  show(cuGraphExecKernelNodeSetParams(executable, third, &kernel));
  kernel.func = plain;
  kernel.gridDimX = 3;
  show(cuGraphExecKernelNodeSetParams(executable, third, &kernel));
  kernel.blockDimX = 5000;
  show(cuGraphExecKernelNodeSetParams(executable, third, &kernel));
  kernel.blockDimX = 1;
  CUgraphExecUpdateResultInfo result{};
  show(cuGraphExecUpdate(executable, graph, &result), " %d", result.result);
  show(cuGraphExecUpdate(executable, graph, nullptr));
  show(cuGraphExecUpdate(executable, nullptr, &result));
  show(cuGraphCreate(&child, 0));
  show(cuGraphExecUpdate(executable, child, &result), " %d", result.result);
  show(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr));
  show(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  show(cuGraphChildGraphNodeGetGraph(node, nullptr));
  show(cuGraphChildGraphNodeGetGraph(third, &clone));
  show(cuGraphChildGraphNodeGetGraph(node, &clone), " %d", clone != child);
  show(cuGraphDestroy(clone));
  show(cuGraphExecUpdate(executable, graph, &result), " %d", result.result);
  show(cuGraphClone(nullptr, graph));
  show(cuGraphClone(&clone, nullptr));
  show(cuGraphClone(&clone, graph));
  CUgraphNode found = nullptr;
  show(cuGraphNodeFindInClone(&found, third, clone), " %d", found != nullptr && found != third);
  show(cuGraphNodeFindInClone(&found, third, child), " %d", found == nullptr);
  show(cuGraphNodeFindInClone(nullptr, third, clone));
  show(cuGraphDestroyNode(nullptr));
  show(cuGraphDestroyNode(node));
  CUDA_MEMSET_NODE_PARAMS fill{};
  show(cuGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr, context));
  show(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context), " zeros");
  fill = {memory, 0, 7, 4, 16, 1};
  show(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, nullptr));
  show(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  fill.elementSize = 3;
  show(cuGraphMemsetNodeSetParams(node, &fill), " element of 3");
  fill.elementSize = 4;
  fill.width = 0;
  show(cuGraphMemsetNodeSetParams(node, &fill), " width 0");
  fill.width = 2000;
  show(cuGraphMemsetNodeSetParams(node, &fill), " too wide");
  fill.width = 4;
  fill.height = 3;
  show(cuGraphMemsetNodeSetParams(node, &fill), " pitch 0");
  fill.pitch = 64;
  show(cuGraphMemsetNodeSetParams(node, &fill));
  fill.dst = memory + 2;
  show(cuGraphMemsetNodeSetParams(node, &fill), " address + 2");
  fill.dst = 0;
  show(cuGraphMemsetNodeSetParams(node, &fill), " address 0");
  fill.dst = memory;
  show(cuGraphMemsetNodeGetParams(node, &fill), " %zu", fill.height);
  show(cuGraphMemsetNodeGetParams(third, &fill));
  CUDA_MEMCPY3D copy{};
  show(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr, context));
  show(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context), " zeros");
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.dstDevice = memory + 2048;
  copy.WidthInBytes = 64;
  copy.Height = copy.Depth = 1;
  show(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, nullptr));
  show(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
  copy.WidthInBytes = 4096;
  show(cuGraphMemcpyNodeSetParams(node, &copy), " too wide");
  copy.WidthInBytes = 0;
  show(cuGraphMemcpyNodeSetParams(node, &copy), " width 0");
  copy.WidthInBytes = 32;
  copy.srcDevice = 0;
  show(cuGraphMemcpyNodeSetParams(node, &copy), " source 0");
  CUDA_HOST_NODE_PARAMS host{};
  show(cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr));
  show(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
  show(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
  show(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
  show(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, 0));
  show(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, memory));
  show(cuGraphDebugDotPrint(graph, nullptr, 0));
  show(cuGraphDebugDotPrint(graph, "/no/such/folder/file", 0));
  show(cuGraphDebugDotPrint(nullptr, "/tmp/file", 0));
  show(cuGraphExecDestroy(nullptr));
  show(cuGraphExecDestroy(executable));
  CUuserObject object = nullptr;
  show(cuUserObjectCreate(nullptr, nullptr, nullptr, 1, 1));
  show(cuUserObjectCreate(&object, &flags, nullptr, 1, 1));
  show(cuUserObjectCreate(
      &object, &flags, [](void*) {}, 0, 1));
  show(cuUserObjectCreate(
      &object, &flags, [](void*) {}, 1, 0));
  show(cuUserObjectCreate(
      &object, &flags, [](void* data) { ++*static_cast<unsigned*>(data); }, 2, 1));
  flags = 0;
  show(cuUserObjectRetain(nullptr, 1));
  show(cuUserObjectRetain(object, 0));
  show(cuGraphRetainUserObject(graph, nullptr, 1, 0));
  show(cuGraphRetainUserObject(graph, object, 0, 0));
  show(cuGraphRetainUserObject(graph, object, 1, 2));
  show(cuGraphRetainUserObject(graph, object, 1, 1));
  show(cuUserObjectRelease(object, 0));
  show(cuUserObjectRelease(object, 1), " %u", flags);
  show(cuGraphDestroy(graph));
  show(cuGraphDestroy(clone));
  show(cuGraphDestroy(child));
}

void pools() {
  CUmemPoolProps properties{};
  CUmemoryPool pool = nullptr;
  CUdeviceptr p = 0;
  cuuint64_t value = 7;
  int number = 7;
  show(cuMemPoolCreate(&pool, nullptr));
  show(cuMemPoolCreate(&pool, &properties));
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  show(cuMemPoolCreate(&pool, &properties));
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
  show(cuMemPoolCreate(&pool, &properties));
  properties.location.id = 0;
  properties.handleTypes = CUmemAllocationHandleType(64);
  show(cuMemPoolCreate(&pool, &properties));
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  show(cuMemPoolCreate(nullptr, &properties));
  show(cuMemPoolCreate(&pool, &properties));
  for (int attribute = 0; attribute < 9; ++attribute) {
    value = 0;
    number = 0;
    show(cuMemPoolGetAttribute(pool, CUmemPool_attribute(attribute),
                               attribute <= 3 ? (void*)&number : (void*)&value),
         " %d: %d %d", attribute, number, int(value));
    value = 0;
    show(cuMemPoolSetAttribute(pool, CUmemPool_attribute(attribute),
                               attribute <= 3 ? (void*)&number : (void*)&value),
         " %d to 0", attribute);
    value = 1;
    number = 1;
    show(cuMemPoolSetAttribute(pool, CUmemPool_attribute(attribute),
                               attribute <= 3 ? (void*)&number : (void*)&value),
         " %d to 1", attribute);
  }
  show(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr));
  show(cuMemPoolGetAttribute(nullptr, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  show(cuMemAllocFromPoolAsync(&p, 64, nullptr, nullptr));
  show(cuMemAllocFromPoolAsync(&p, 0, pool, nullptr), " %d", int(p));
  show(cuMemAllocFromPoolAsync(nullptr, 64, pool, nullptr));
  show(cuMemAllocAsync(nullptr, 64, nullptr));
  show(cuMemAllocAsync(&p, 0, nullptr), " %d", int(p));
  show(cuMemFreeAsync(0, nullptr));
  show(cuMemFreeAsync(memory + 4, nullptr));
  show(cuMemAllocFromPoolAsync(&p, size_t{1} << 50, pool, nullptr));
  show(cuMemAllocFromPoolAsync(&p, 64, pool, nullptr));
  show(cuMemFreeAsync(p + 4, nullptr));
  show(cuMemPoolTrimTo(nullptr, 0));
  show(cuMemPoolTrimTo(pool, 0));
  CUmemAccess_flags access;
  CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  show(cuMemPoolGetAccess(&access, pool, &location), " %d", access);
  show(cuMemPoolGetAccess(nullptr, pool, &location));
  location.id = 9;
  show(cuMemPoolGetAccess(&access, pool, &location));
  CUmemAccessDesc description = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  show(cuMemPoolSetAccess(pool, &description, 1));
  description.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  show(cuMemPoolSetAccess(pool, &description, 1));
  show(cuMemPoolSetAccess(pool, nullptr, 1));
  description.location.id = 9;
  show(cuMemPoolSetAccess(pool, &description, 1));
  show(cuMemFree(p));
  show(cuMemPoolDestroy(nullptr));
  show(cuMemPoolDestroy(pool));
  cuDeviceGetDefaultMemPool(&pool, 0);
  show(cuMemPoolDestroy(pool));

  // Memory and addresses by themselves.
  CUmemAllocationProp kind{};
  CUmemGenericAllocationHandle handle = 0, same = 0;
  size_t bytes = 7;
  constexpr size_t piece = 2 << 20;
  show(cuMemGetAllocationGranularity(&bytes, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  show(cuMemGetAllocationGranularity(&bytes, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  show(cuMemGetAllocationGranularity(&bytes, &kind, CUmemAllocationGranularity_flags(7)));
  show(cuMemGetAllocationGranularity(nullptr, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  show(cuMemGetAllocationGranularity(&bytes, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM), " %zu", bytes);
  show(cuMemCreate(&handle, 0, &kind, 0));
  show(cuMemCreate(&handle, 4096, &kind, 0));
  show(cuMemCreate(&handle, piece, nullptr, 0));
  show(cuMemCreate(&handle, piece, &kind, 1));
  show(cuMemCreate(nullptr, piece, &kind, 0));
  show(cuMemCreate(&handle, size_t{1} << 46, &kind, 0));
  show(cuMemCreate(&handle, 2 * piece, &kind, 0));
  show(cuMemAddressReserve(&p, 0, 0, 0, 0));
  show(cuMemAddressReserve(&p, 4096, 0, 0, 0));
  show(cuMemAddressReserve(&p, piece, 3, 0, 0));
  show(cuMemAddressReserve(&p, piece, 0, 0, 7));
  show(cuMemAddressReserve(nullptr, piece, 0, 0, 0));
  show(cuMemAddressReserve(&p, 4 * piece, 0, 0, 0));
  show(cuMemMap(p, 2 * piece, 0, 0, 0));
  show(cuMemMap(p + 4096, piece, 0, handle, 0));
  show(cuMemMap(p, 4096, 0, handle, 0));
  show(cuMemMap(p, piece, 0, handle, 0));
  show(cuMemMap(p, 2 * piece, piece, handle, 0));
  show(cuMemMap(p, 4 * piece, 0, handle, 0));
  show(cuMemMap(p, 2 * piece, 0, handle, 1));
  show(cuMemMap(0, 2 * piece, 0, handle, 0));
  show(cuMemMap(p, 2 * piece, 0, handle, 0));
  show(cuMemMap(p, 2 * piece, 0, handle, 0));
  show(cuMemsetD8(p, 1, 16));
  description = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  show(cuMemSetAccess(p, 4 * piece, &description, 1));
  show(cuMemSetAccess(p, piece, &description, 0));
  show(cuMemSetAccess(p, piece, nullptr, 1));
  show(cuMemSetAccess(p + 4096, piece, &description, 1));
  show(cuMemSetAccess(p, 2 * piece, &description, 1));
  unsigned long long rights = 7;
  location.id = 0;
  show(cuMemGetAccess(&rights, &location, p), " %llu", rights);
  show(cuMemGetAccess(&rights, &location, p + 3 * piece), " %llu", rights);
  show(cuMemGetAccess(nullptr, &location, p));
  show(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(p)), " %d", same == handle);
  show(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(memory)));
  show(cuMemRetainAllocationHandle(&same, nullptr));
  CUmemAllocationProp back{};
  show(cuMemGetAllocationPropertiesFromHandle(&back, handle), " %d", back.type);
  show(cuMemGetAllocationPropertiesFromHandle(&back, 0));
  show(cuMemGetAllocationPropertiesFromHandle(nullptr, handle));
  show(cuMemFree(p));
  show(cuMemUnmap(p, piece));
  show(cuMemUnmap(p + piece, piece));
  show(cuMemUnmap(p, 4 * piece));
  show(cuMemAddressFree(p, 4 * piece));
  show(cuMemUnmap(p, 2 * piece));
  show(cuMemUnmap(p, 2 * piece));
  show(cuMemAddressFree(p, piece));
  show(cuMemAddressFree(p + piece, 3 * piece));
  show(cuMemAddressFree(p, 4 * piece));
  show(cuMemAddressFree(p, 4 * piece));
  show(cuMemRelease(0));
  show(cuMemRelease(handle));
  show(cuMemRelease(handle));
}

void textures() {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  show(cuTexObjectCreate(nullptr, &resource, &how, nullptr));
  show(cuTexObjectCreate(&texture, nullptr, &how, nullptr));
  show(cuTexObjectCreate(&texture, &resource, nullptr, nullptr));
  show(cuTexObjectCreate(&texture, &resource, &how, nullptr), " array null");
  const auto create = [&](const char* what) {
    texture = 0;
    tell(what, cuTexObjectCreate(&texture, &resource, &how, nullptr));
    if (texture != 0) cuTexObjectDestroy(texture);
  };
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, CU_AD_FORMAT_FLOAT, 1, 4096};
  create("linear");
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  create("linear, filtered");
  how.filterMode = CU_TR_FILTER_MODE_POINT;
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  create("linear, normalised coordinates");
  how.flags = 0;
  how.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  create("linear, wrap");
  how.addressMode[0] = CUaddress_mode(9);
  create("linear, address mode 9");
  how.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  resource.res.linear.sizeInBytes = 0;
  resource.res.linear.sizeInBytes = 8192;
  resource.res.linear.sizeInBytes = 1023;
  create("linear of 1023 bytes");
  resource.res.linear.sizeInBytes = 1024;
  resource.res.linear.devPtr = memory + 4;
  create("linear at + 4");
  resource.res.linear.devPtr = memory + 256;
  create("linear at + 256");
  resource.res.linear.devPtr = 0;
  create("linear at 0");
  resource.res.linear = {memory, CU_AD_FORMAT_FLOAT, 3, 1024};
  create("linear, three channels");
  resource.res.linear = {memory, CUarray_format(0), 1, 1024};
  create("linear, no format");
  resource.flags = 1;
  resource.res.linear = {memory, CU_AD_FORMAT_FLOAT, 1, 1024};
  create("linear, flags");
  resource.flags = 0;
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  const auto pitched = [&](const char* what, size_t width, size_t height, size_t pitch, CUdeviceptr at) {
    resource.res.pitch2D = {at, CU_AD_FORMAT_FLOAT, 1, width, height, pitch};
    create(what);
  };
  pitched("rows", 16, 8, 512, memory);
  pitched("rows, pitch 64", 16, 8, 64, memory);
  pitched("rows, pitch 32", 8, 8, 32, memory);
  pitched("rows, pitch 48", 8, 8, 48, memory);
  pitched("rows, pitch too small", 16, 8, 32, memory);
  pitched("rows at + 32", 16, 8, 64, memory + 32);
  pitched("rows too wide", 140000, 1, 560000, memory);
  resource.resType = CUresourcetype(9);
  create("type 9");
  CUDA_ARRAY_DESCRIPTOR description = {16, 16, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  cuArrayCreate(&array, &description);
  resource = {};
  resource.res.array.hArray = array;
  how = {};
  create("array");
  for (const unsigned flags : {1u, 2u, 16u, 32u, 64u, 128u}) {
    how.flags = flags;
    texture = 0;
    show(cuTexObjectCreate(&texture, &resource, &how, nullptr), " flags %u", flags);
    if (texture != 0) cuTexObjectDestroy(texture);
  }
  how.flags = 0;
  how.filterMode = CUfilter_mode(7);
  create("filter 7");
  how.filterMode = CU_TR_FILTER_MODE_POINT;
  how.maxAnisotropy = 99;
  create("anisotropy 99");
  how.maxAnisotropy = 0;
  how.mipmapFilterMode = CUfilter_mode(7);
  create("filter of levels 7");
  how = {};
  show(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  show(cuTexObjectDestroy(texture));
  show(cuTexObjectDestroy(0));
  show(cuSurfObjectCreate(&surface, nullptr));
  show(cuSurfObjectCreate(&surface, &resource), " of an array that is not for it");
  if (surface != 0) cuSurfObjectDestroy(surface);
  cuArrayDestroy(array);
  CUDA_ARRAY3D_DESCRIPTOR writable = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  cuArray3DCreate(&array, &writable);
  resource.res.array.hArray = array;
  show(cuSurfObjectCreate(&surface, &resource));
  show(cuSurfObjectDestroy(surface));
  show(cuSurfObjectDestroy(0));
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, CU_AD_FORMAT_FLOAT, 1, 1024};
  show(cuSurfObjectCreate(&surface, &resource), " linear");
  cuArrayDestroy(array);
}

void entries() {
  void* found = nullptr;
  CUdriverProcAddressQueryResult result = CUdriverProcAddressQueryResult(7);
  show(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, nullptr));
  show(cuGetProcAddress("cuMemAlloc", &found, 0, 0, &result), " %d", result);
  show(cuGetProcAddress("cuMemAlloc", &found, 13000, 77, &result), " %d", result);
  show(cuGetProcAddress("", &found, 13000, 0, &result), " %d", result);
  show(cuGetProcAddress("cuNothing", &found, 13000, 0, &result), " %d %d", result, found == nullptr);
  show(cuGetProcAddress("cuMemAllocAsync", &found, 11000, 0, &result), " %d %d", result, found == nullptr);
  show(cuGetProcAddress("cuMemAllocAsync", &found, 99000, 0, &result), " %d %d", result, found == nullptr);
  show(cuGetProcAddress("cuMemAlloc_v2", &found, 13000, 0, &result), " %d %d", result, found == nullptr);
  show(cuGetProcAddress("cuStreamSynchronize", &found, 13000, 2, &result), " %d %d", result,
       found == nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } parts[] = {{"devices", devices},
               {"memories", memories},
               {"copies", copies},
               {"modules", modules},
               {"launches", launches},
               {"streams", streams},
               {"graphs", graphs},
               {"pools", pools},
               {"textures", textures},
               {"entries", entries},
               {"without_context", without_context},
               {"contexts", contexts}};
  CUresult made = cuInit(0);
  if (made == 0) made = cuCtxCreate(&context, nullptr, 0, 0);
  if (made == 0) made = cuModuleLoadData(&module, ptx);
  if (made == 0) made = cuMemAlloc(&memory, 4096);
  const struct {
    CUfunction* function;
    const char* name;
  } kernels[] = {{&plain, "plain"},
                 {&with_shared, "with_shared"},
                 {&bounded, "bounded"},
                 {&required, "required"},
                 {&empty, "empty"}};
  for (const auto& kernel : kernels)
    if (made == 0) made = cuModuleGetFunction(kernel.function, module, kernel.name);
  if (made != 0) {
    tell("to begin with", made);
    return 1;
  }
  for (const auto& part : parts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], part.name) == 0;
    if (!wanted) continue;
    std::printf("\n%s\n", part.name);
    part.run();
  }
}
