// What the runtime's calls return for arguments that make no sense, or seem to make none. refusals.txt is
// what an H100 printed (CUDA 13.0, driver 580).
#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

__device__ int variable[64];
__constant__ int constants[64];
__managed__ int managed_variable[32];

__global__ void plain(int* p) {
  if (p != nullptr) *p = constants[threadIdx.x % 64];
}
__global__ void with_shared(int* p) {
  __shared__ int words[512];
  words[threadIdx.x % 512] = 1;
  __syncthreads();
  if (p != nullptr) *p = words[(threadIdx.x + 1) % 512];
}
__global__ void __cluster_dims__(2) clustered(int* p) {
  if (p != nullptr) *p = 3;
}
__global__ void __launch_bounds__(128) bounded(int* p) {
  if (p != nullptr) *p = 2;
}

/// "name: error value …"; the last error is forgotten, after it was seen to be that of the call.
void tell(const char* name, cudaError_t error, const char* format = "", ...) {
  std::printf("%s: %s", name, cudaGetErrorName(error));
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  const cudaError_t last = cudaGetLastError();
  if (last != error) std::printf(", the last error is %s", cudaGetErrorName(last));
  std::printf("\n");
}

/// The values are those after the call.
#define show(name, call, ...)                      \
  do {                                             \
    const cudaError_t result = call;               \
    tell(name, result __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

void memory() {
  void* p = &p;
  show("malloc 0", cudaMalloc(&p, 0), " %d", p == nullptr);
  show("malloc too much", cudaMalloc(&p, size_t{1} << 50));
  p = &p;
  show("host 0, unknown flags", cudaHostAlloc(&p, 0, 255), " %d", p == nullptr);
  for (const unsigned flags : {8u, 16u}) show("host, unknown flags", cudaHostAlloc(&p, 64, flags));
  for (const unsigned flags : {0u, 3u, 4u}) show("managed, flags", cudaMallocManaged(&p, 64, flags));
  show("managed 0, flags", cudaMallocManaged(&p, 0, 5));
  size_t pitch = 7;
  show("pitch without rows", cudaMallocPitch(&p, &pitch, 100, 0), " %zu", pitch);
  show("pitch without columns", cudaMallocPitch(&p, &pitch, 0, 100), " %zu", pitch);

  void *device = nullptr, *pinned = nullptr, *managed = nullptr;
  static char plain_memory[4096];
  cudaMalloc(&device, 4096);
  cudaMallocHost(&pinned, 4096);
  cudaMallocManaged(&managed, 4096);
  show("free inside", cudaFree(static_cast<char*>(device) + 4));
  show("free pinned", cudaFree(pinned));
  show("free plain", cudaFree(plain_memory));
  show("free host of device", cudaFreeHost(device));
  show("free host of managed", cudaFreeHost(managed));
  show("free async of managed", cudaFreeAsync(managed, nullptr));
  show("free async of pinned", cudaFreeAsync(pinned, nullptr));
  show("free async inside", cudaFreeAsync(static_cast<char*>(device) + 4, nullptr));
  unsigned flags = 99;
  show("device pointer of managed", cudaHostGetDevicePointer(&p, managed, 0));
  show("flags of managed", cudaHostGetFlags(&flags, managed));
  show("flags of device", cudaHostGetFlags(&flags, device));

  auto* pages = static_cast<char*>(std::aligned_alloc(4096, 16384));
  show("register 0", cudaHostRegister(pages, 0, 0));
  for (const unsigned how : {4u, 16u}) show("register, flags", cudaHostRegister(pages, 4096, how));
  show("register, read only", cudaHostRegister(pages, 8192, 8));
  show("unregister inside", cudaHostUnregister(pages + 64));
  show("unregister", cudaHostUnregister(pages));
  show("unregister again", cudaHostUnregister(pages));
  std::free(pages);

  show("attach device", cudaStreamAttachMemAsync(nullptr, device, 0, cudaMemAttachHost));
  show("attach a part", cudaStreamAttachMemAsync(nullptr, managed, 64, cudaMemAttachHost));
  show("attach, flags", cudaStreamAttachMemAsync(nullptr, managed, 0, 3));
  show("attach", cudaStreamAttachMemAsync(nullptr, managed, 4096, cudaMemAttachGlobal));

  show("copy nothing in no direction", cudaMemcpy(device, plain_memory, 0, cudaMemcpyKind(9)));
  show("copy in no direction", cudaMemcpy(device, plain_memory, 4, cudaMemcpyKind(9)));
  show("rows, pitch", cudaMemcpy2D(device, 16, plain_memory, 64, 32, 4, cudaMemcpyDefault));
  show("one row, pitch", cudaMemcpy2D(device, 16, plain_memory, 64, 32, 1, cudaMemcpyDefault));
  show("one row, no pitch", cudaMemcpy2D(device, 0, plain_memory, 0, 32, 1, cudaMemcpyDefault));
  show("no rows, pitch", cudaMemcpy2D(device, 16, plain_memory, 64, 32, 0, cudaMemcpyDefault));
  show("set rows, pitch", cudaMemset2D(device, 16, 1, 32, 4));
  show("set one row, pitch", cudaMemset2D(device, 16, 1, 32, 1));
  show("set no columns", cudaMemset2D(device, 0, 1, 0, 4));
  show("set plain memory", cudaMemset(plain_memory, 1, 4));
  show("set nothing of null", cudaMemset(nullptr, 1, 0));
  cudaFree(device);
  cudaFreeHost(pinned);
  cudaFree(managed);
}

void pools() {
  cudaMemPoolProps properties{};
  cudaMemPool_t pool = nullptr;
  properties.location = {cudaMemLocationTypeDevice, 0};
  show("pool of no kind", cudaMemPoolCreate(&pool, &properties));
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.id = 5;
  show("pool of no device", cudaMemPoolCreate(&pool, &properties));
  properties.location.id = 0;
  show("pool", cudaMemPoolCreate(&pool, &properties));
  unsigned long long one = 1;
  show("high water 1", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one));
  show("reserved", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &one));
  cudaMemAccessFlags flags{};
  for (const int id : {0, 1}) {
    cudaMemLocation location{cudaMemLocationTypeDevice, id};
    show("access", cudaMemPoolGetAccess(&flags, pool, &location), " %d", id);
    for (const int what : {0, 1, 3}) {
      const cudaMemAccessDesc access{location, static_cast<cudaMemAccessFlags>(what)};
      show("set access", cudaMemPoolSetAccess(pool, &access, 1), " %d %d", id, what);
    }
  }
  show("destroy", cudaMemPoolDestroy(pool));
}

void symbols() {
  int words[64] = {};
  size_t size = 7;
  void* address = nullptr;
  show("size of managed", cudaGetSymbolSize(&size, managed_variable), " %zu", size);
  show("address of managed", cudaGetSymbolAddress(&address, managed_variable), " %d",
       address == static_cast<void*>(managed_variable));
  show("copy to managed", cudaMemcpyToSymbol(managed_variable, words, 128));
  show("size of a kernel", cudaGetSymbolSize(&size, reinterpret_cast<const void*>(plain)));
  show("size of the stack", cudaGetSymbolSize(&size, static_cast<const void*>(words)));
  show("behind the end", cudaMemcpyToSymbol(variable, words, 8, 252));
  show("nothing behind the end", cudaMemcpyToSymbol(variable, words, 0, 260));
  show("to symbol from device", cudaMemcpyToSymbol(variable, words, 8, 252, cudaMemcpyDeviceToHost));
  show("from symbol to device", cudaMemcpyFromSymbol(words, variable, 8, 252, cudaMemcpyHostToDevice));
}

template <class T>
const void* as_pointer(T kernel) {
  return reinterpret_cast<const void*>(kernel);
}

void functions() {
  cudaFuncAttributes attributes{};
  int blocks = -1;
  size_t bytes = 7;
  show("attributes of no kernel", cudaFuncGetAttributes(&attributes, static_cast<const void*>(&blocks)));
  for (const int id : {7, 10, 17})
    show("set attribute", cudaFuncSetAttribute(plain, cudaFuncAttribute(id), 1));
  show("cache", cudaFuncSetCacheConfig(plain, cudaFuncCache(4)));
  show("blocks of no threads", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
  show("blocks of 1025", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1025, 0), " %d",
       blocks);
  show("blocks of 60000 bytes", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 60000),
       " %d", blocks);
  show("blocks beyond the launch bounds",
       cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 1000, 0), " %d", blocks);
  show("blocks, flags", cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 32, 0, 2));
  for (const int threads : {0, 32, 1024, 1025})
    for (const int count : {1, 2, 8, 33})
      show("shared memory", cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_shared, count, threads),
           " %d x %d: %zu", count, threads, bytes);

  int* p = nullptr;
  void* arguments[] = {&p};
  const auto cooperative = [&](const char* name, const void* kernel, unsigned grid, unsigned block,
                               size_t shared) {
    show(name, cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, nullptr));
  };
  cooperative("cooperative, shared", as_pointer(with_shared), 1, 32, 48000);
  cooperative("cooperative, shared", as_pointer(plain), 1, 32, 300000);
  cooperative("cooperative, bounds", as_pointer(bounded), 1, 256, 0);
  cooperative("cooperative, threads", as_pointer(plain), 1, 1025, 0);
  show("set shared 1000", cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000));
  show("launch 4000", cudaLaunchKernel(as_pointer(plain), 1, 32, arguments, 4000, nullptr));
  show("blocks of 4000", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 4000), " %d",
       blocks > 0);
  cooperative("cooperative 4000", as_pointer(plain), 1, 32, 4000);
  show("set shared 0", cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
  show("launch 16", cudaLaunchKernel(as_pointer(plain), 1, 32, arguments, 16, nullptr));

  for (const unsigned width : {0u, 1u, 3u, 8u, 16u}) {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {width, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = 16;
    config.blockDim = 32;
    config.attrs = &cluster;
    config.numAttrs = 1;
    show("cluster", cudaLaunchKernelExC(&config, as_pointer(bounded), arguments), " %u", width);
  }
  show("required width", cudaFuncSetAttribute(bounded, cudaFuncAttributeRequiredClusterWidth, 2));
  show("launch", cudaLaunchKernel(as_pointer(bounded), 16, 32, arguments, 0, nullptr));

  for (const unsigned blocks_of_grid : {3u, 4u})
    show("compiled cluster",
         cudaLaunchKernel(as_pointer(clustered), blocks_of_grid, 32, arguments, 0, nullptr), " %u",
         blocks_of_grid);
  for (const unsigned width : {1u, 2u, 4u}) {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {width, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = &cluster;
    config.numAttrs = 1;
    show("cluster of compiled", cudaLaunchKernelExC(&config, as_pointer(clustered), arguments), " %u", width);
  }
  show("width of compiled", cudaFuncSetAttribute(clustered, cudaFuncAttributeRequiredClusterWidth, 4));

  // These two change the last error even where they succeed.
  cudaMemset(nullptr, 1, 4);
  show("set carveout", cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  size_t offset = 7;
  cudaMemset(nullptr, 1, 4);
  show("parameter", cudaFuncGetParamInfo(as_pointer(plain), 0, &offset, &bytes), " %zu %zu", offset, bytes);
}

void streams_and_events() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  show("event, interprocess", cudaEventCreateWithFlags(&event, cudaEventInterprocess));
  show("event", cudaEventCreate(&event));
  cudaStreamCreate(&stream);
  show("record external", cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  show("record, flags", cudaEventRecordWithFlags(event, stream, 2));
  show("wait external", cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
  show("wait, flags", cudaStreamWaitEvent(stream, event, 2));
  show("wait, no event", cudaStreamWaitEvent(stream, nullptr, 0));
  for (const int id : {0, 2, 4, 5, 6, 7, 11}) {
    cudaLaunchAttributeValue value{};
    show("attribute", cudaStreamGetAttribute(stream, cudaLaunchAttributeID(id), &value), " %d", id);
  }
  for (const int policy : {0, 4, 5}) {
    cudaLaunchAttributeValue value{};
    value.syncPolicy = static_cast<cudaSynchronizationPolicy>(policy);
    show("policy", cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value), " %d",
         policy);
  }
  cudaGraph_t graph = nullptr;
  show("end of no capture", cudaStreamEndCapture(stream, &graph));
  show("capture in no mode", cudaStreamBeginCapture(nullptr, cudaStreamCaptureMode(5)));
  show("capture legacy", cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));

  // An event of a capture that has ended.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  cudaEventRecord(event, stream);
  cudaStreamEndCapture(stream, &graph);
  float milliseconds = 0;
  show("query", cudaEventQuery(event));
  show("synchronise", cudaEventSynchronize(event));
  show("elapsed", cudaEventElapsedTime(&milliseconds, event, event));
  cudaEvent_t without_time = nullptr;
  cudaEventCreateWithFlags(&without_time, cudaEventDisableTiming);
  show("elapsed without time", cudaEventElapsedTime(&milliseconds, event, without_time));
  show("wait", cudaStreamWaitEvent(stream, event, 0));
  cudaGraphDestroy(graph);

  // Priorities are attributes, also those of the legacy stream.
  cudaStream_t urgent = nullptr;
  int priority = 0;
  cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -3);
  show("copy attributes", cudaStreamCopyAttributes(nullptr, urgent));
  show("priority", cudaStreamGetPriority(nullptr, &priority), " %d", priority);

  // Two captures into one graph.
  cudaStream_t other = nullptr;
  cudaStreamCreate(&other);
  cudaGraphCreate(&graph, 0);
  cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed);
  show("capture into it, too",
       cudaStreamBeginCaptureToGraph(other, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  cudaStreamEndCapture(stream, &graph);

  // The stream where a capture began goes: so does the capture.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  show("destroy", cudaStreamDestroy(stream));
  show("synchronise the device", cudaDeviceSynchronize());
  void* p = nullptr;
  show("malloc", cudaMalloc(&p, 64));
}

void graphs() {
  cudaGraph_t graph = nullptr, second = nullptr;
  show("graph, flags", cudaGraphCreate(&graph, 1));
  cudaGraphCreate(&graph, 0);
  cudaGraphCreate(&second, 0);
  int *p = nullptr, *q = nullptr;
  cudaMalloc(&p, 64);
  cudaMalloc(&q, 64);
  cudaGraphNode_t a = nullptr, b = nullptr, of_second = nullptr, node = nullptr;
  cudaGraphAddEmptyNode(&a, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&of_second, second, nullptr, 0);
  show("need of another graph", cudaGraphAddEmptyNode(&node, graph, &of_second, 1));
  const cudaGraphNode_t twice[] = {a, a};
  show("need twice", cudaGraphAddEmptyNode(&node, graph, twice, 2));
  show("copy nothing", cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, p, q, 0, cudaMemcpyDefault));
  cudaMemsetParams set{};
  set.dst = p;
  set.elementSize = 3;
  set.width = set.height = 1;
  show("set 3 bytes", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set.elementSize = 1;
  set.width = 0;
  show("set nothing", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  show("record no event", cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
  show("wait for no event", cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
  cudaHostNodeParams host{[](void*) {}, nullptr};
  cudaGraphAddHostNode(&b, graph, &a, 1, &host);
  show("the same edge", cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
  show("an edge to itself", cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
  show("no such edge", cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
  cudaGraphExec_t executable = nullptr;
  for (const unsigned long long flags : {2ull, 3ull, 16ull})
    show("flags", cudaGraphInstantiate(&executable, graph, flags), " %llu", flags);
  show("instantiate", cudaGraphInstantiate(&executable, graph, 0));
  unsigned enabled = 9;
  show("host node enabled", cudaGraphNodeGetEnabled(executable, b, &enabled));
  show("disable it", cudaGraphNodeSetEnabled(executable, b, 0));
  show("a cycle", cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
  show("instantiate it", cudaGraphInstantiate(&executable, graph, 0));
  show("as a child", cudaGraphAddChildGraphNode(&node, second, nullptr, 0, graph));
  show("instantiate that", cudaGraphInstantiate(&executable, second, 0));
}

void arrays_and_textures() {
  const auto make = [](const char* name, cudaChannelFormatDesc format, cudaExtent extent, unsigned flags) {
    cudaArray_t array = nullptr;
    show(name, cudaMalloc3DArray(&array, &format, extent, flags));
    if (array != nullptr) cudaFreeArray(array);
  };
  const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
  make("channels x and z", {8, 0, 8, 0, cudaChannelFormatKindSigned}, {4, 4, 0}, 0);
  make("three channels", {8, 8, 8, 0, cudaChannelFormatKindSigned}, {4, 4, 0}, 0);
  make("other sizes", {32, 8, 0, 0, cudaChannelFormatKindSigned}, {4, 4, 0}, 0);
  make("floats of a byte", {8, 0, 0, 0, cudaChannelFormatKindFloat}, {4, 4, 0}, 0);
  make("channels of 64 bits", {64, 0, 0, 0, cudaChannelFormatKindSigned}, {4, 4, 0}, 0);
  make("no columns", one, {0, 4, 0}, 0);
  make("too wide", one, {200000, 4, 0}, 0);
  make("depth without height", one, {4, 0, 4}, 0);
  make("no layers", one, {4, 4, 0}, cudaArrayLayered);
  make("a line in layers", one, {4, 0, 4}, cudaArrayLayered);
  make("cube of one side", one, {4, 4, 1}, cudaArrayCubemap);
  make("gather of a line", one, {4, 0, 0}, cudaArrayTextureGather);

  char* memory = nullptr;
  cudaMalloc(&memory, 65536);
  const auto linear = [&](const char* name, cudaChannelFormatDesc format, size_t offset, int filter,
                          int mode) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {memory + offset, format, 1024};
    cudaTextureDesc how{};
    how.filterMode = static_cast<cudaTextureFilterMode>(filter);
    how.readMode = static_cast<cudaTextureReadMode>(mode);
    cudaTextureObject_t texture = 0;
    show(name, cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    if (texture != 0) cudaDestroyTextureObject(texture);
  };
  for (const size_t offset : {1, 16, 256, 512}) linear("texture at an offset", one, offset, 0, 0);
  for (const int bits : {8, 16, 32})
    for (const auto kind : {cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat})
      for (const int filter : {0, 1})
        for (const int mode : {0, 1}) {
          char name[64];
          std::snprintf(name, sizeof name, "texture of %d bits, kind %d, filter %d, mode %d", bits, kind,
                        filter, mode);
          linear(name, {bits, 0, 0, 0, kind}, 0, filter, mode);
        }
  const auto rows = [&](const char* name, size_t width, size_t height, size_t pitch, size_t offset) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {memory + offset, one, width, height, pitch};
    cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    show(name, cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    if (texture != 0) cudaDestroyTextureObject(texture);
  };
  rows("rows", 16, 4, 64, 0);
  rows("rows at an offset", 16, 4, 64, 32);
  rows("pitch of 100", 16, 4, 100, 0);
  rows("rows that overlap", 64, 4, 64, 0);
  for (const size_t bytes : {size_t{0}, size_t{1} << 40}) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {memory, one, bytes};
    cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    show("texture of bytes", cudaCreateTextureObject(&texture, &resource, &how, nullptr), " %zu", bytes);
  }
  show("destroy no texture", cudaDestroyTextureObject(99999));
  show("destroy no surface", cudaDestroySurfaceObject(12345));
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &one, 4, 4);
  show("rows to an array, pitch", cudaMemcpy2DToArray(array, 0, 0, memory, 4, 8, 2, cudaMemcpyDefault));
  show("a row to an array, pitch", cudaMemcpy2DToArray(array, 0, 0, memory, 4, 8, 1, cudaMemcpyDefault));
  show("a row to an array, no pitch", cudaMemcpy2DToArray(array, 0, 0, memory, 0, 8, 1, cudaMemcpyDefault));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  show("surface of any array", cudaCreateSurfaceObject(&surface, &resource));
  resource.resType = cudaResourceTypeLinear;
  show("surface of memory without format", cudaCreateSurfaceObject(&surface, &resource));
}

void device() {
  int value = 7;
  show("no such device", cudaSetDevice(1));
  show("attribute of it", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1));
  show("peer of it", cudaDeviceCanAccessPeer(&value, 0, 1));
  show("peer of itself", cudaDeviceCanAccessPeer(&value, 0, 0), " %d", value);
  show("enable itself", cudaDeviceEnablePeerAccess(0, 0));
  show("enable itself, flags", cudaDeviceEnablePeerAccess(0, 1));
  show("enable another", cudaDeviceEnablePeerAccess(1, 1));
  show("disable itself", cudaDeviceDisablePeerAccess(0));
  for (const unsigned flags : {0u, 3u, 4u, 5u, 8u, 64u, 256u})
    show("device flags", cudaSetDeviceFlags(flags), " %u", flags);
  const auto set = [](int limit, size_t to) {
    const cudaError_t error = cudaDeviceSetLimit(static_cast<cudaLimit>(limit), to);
    size_t is = 0;
    show("limit", error, " %d of %zu", limit, to);
    if (limit != 6 && limit != 3)
      show("is", cudaDeviceGetLimit(&is, static_cast<cudaLimit>(limit)), " %zu", is);
  };
  for (const size_t to : {1, 1000, 1024}) set(cudaLimitStackSize, to);
  for (const size_t to : {1024, 1 << 20}) set(cudaLimitPrintfFifoSize, to);
  for (const size_t to : {1024, 8 << 20}) set(cudaLimitMallocHeapSize, to);
  set(cudaLimitDevRuntimeSyncDepth, 2);
  for (const size_t to : {1, 1000}) set(cudaLimitDevRuntimePendingLaunchCount, to);
  for (const size_t to : {32, 128, 129}) set(cudaLimitMaxL2FetchGranularity, to);
  for (const size_t to : {0, 1}) set(cudaLimitPersistingL2CacheSize, to);
  set(7, 1000);
  set(8, 0);
  set(9, 0);
}

/// What the driver refuses (driver_refusals.cu), through the runtime.
void as_by_driver() {
  char name[64] = "none";
  int ordinal = 7;
  show("bus of nothing", cudaDeviceGetByPCIBusId(&ordinal, "nonsense"));
  show("bus in little room", cudaDeviceGetPCIBusId(name, 6, 0), " %d", name[0] != 'n');

  void *device = nullptr, *pinned = nullptr, *managed = nullptr;
  cudaMalloc(&device, 4096);
  cudaMallocHost(&pinned, 4096);
  cudaMallocManaged(&managed, 4096);
  show("register pinned", cudaHostRegister(pinned, 4096, 0));
  show("unregister pinned", cudaHostUnregister(pinned));
  show("unregister null", cudaHostUnregister(nullptr));
  show("managed 0", cudaMallocManaged(&managed, 0));
  show("host 0", cudaMallocHost(&pinned, 0));
  cudaMallocHost(&pinned, 4096);
  cudaMallocManaged(&managed, 4096);
  show("attach inside", cudaStreamAttachMemAsync(nullptr, static_cast<char*>(managed) + 4, 0, 1));
  show("attach to none", cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachSingle));
  show("attach to the legacy stream",
       cudaStreamAttachMemAsync(cudaStreamLegacy, managed, 0, cudaMemAttachSingle));
  size_t free = 0;
  show("memory of no place", cudaMemGetInfo(nullptr, &free));
  show("limit 11", cudaDeviceGetLimit(&free, cudaLimit(11)));
  show("cache 9", cudaDeviceSetCacheConfig(cudaFuncCache(9)));

  cudaMemPoolProps properties{};
  cudaMemPool_t pool = nullptr;
  properties.allocType = cudaMemAllocationTypePinned;
  show("pool nowhere", cudaMemPoolCreate(&pool, &properties));
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.handleTypes = cudaMemAllocationHandleType(64);
  show("pool of handles", cudaMemPoolCreate(&pool, &properties));
  properties.handleTypes = cudaMemHandleTypeNone;
  cudaMemPoolCreate(&pool, &properties);
  show("no access", cudaMemPoolSetAccess(pool, nullptr, 0));
  cudaMemPoolDestroy(pool);

  cudaGraph_t graph = nullptr, child = nullptr, inner = nullptr;
  cudaGraphNode_t node = nullptr, found = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaGraphCreate(&child, 0);
  cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child);
  cudaGraphChildGraphNodeGetGraph(node, &inner);
  show("destroy a part", cudaGraphDestroy(inner));
  cudaGraphNode_t nodes[4] = {};
  size_t count = 4;
  show("edges from", cudaGraphGetEdges(graph, nodes, nullptr, nullptr, &count));
  found = node;
  show("find elsewhere", cudaGraphNodeFindInClone(&found, node, child), " %d", found == nullptr);
  cudaMemsetParams fill{};
  fill.dst = static_cast<char*>(device) + 2;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  show("set between words", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(device, 64, 64, 1);
  copy.dstPtr = make_cudaPitchedPtr(static_cast<char*>(device) + 1024, 64, 64, 1);
  copy.kind = cudaMemcpyDeviceToDevice;
  show("copy nothing", cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  cudaGraphDestroy(graph);
  cudaGraphDestroy(child);

  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMalloc(&device, 16);
  cudaGetLastError();
  show("end of a spoilt capture", cudaStreamEndCapture(stream, nullptr));
  cudaStreamCaptureStatus status;
  show("capturing", cudaStreamIsCapturing(stream, &status), " %d", status);
  cudaStreamDestroy(stream);

  // Attributes of launches, which are zero where nothing else is said.
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.numAttrs = 1;
  show("attributes nowhere", cudaLaunchKernelEx(&config, plain, static_cast<int*>(nullptr)));
  cudaLaunchAttribute attribute{};
  config.attrs = &attribute;
  for (const int id : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 99}) {
    attribute = {};
    attribute.id = cudaLaunchAttributeID(id);
    show("attribute of a launch", cudaLaunchKernelEx(&config, plain, static_cast<int*>(nullptr)), " %d", id);
  }
  show("width of clusters", cudaFuncSetAttribute(plain, cudaFuncAttributeRequiredClusterWidth, 2));
  cudaFuncAttributes attributes{};
  show("attributes", cudaFuncGetAttributes(&attributes, plain), " %d", attributes.requiredClusterWidth);
  show("placing of clusters",
       cudaFuncSetAttribute(plain, cudaFuncAttributeClusterSchedulingPolicyPreference, 5));
  show("width of clusters", cudaFuncSetAttribute(plain, cudaFuncAttributeRequiredClusterWidth, 0));
  show("synchronise", cudaDeviceSynchronize());
}

}  // namespace

int main() {
  memory();
  pools();
  symbols();
  functions();
  streams_and_events();
  graphs();
  arrays_and_textures();
  device();
  as_by_driver();
}
