// What calls return while a stream is captured. One line a call: its result in 36 situations, a letter each;
// then whether the capture goes on (1) or is spoilt (2); then what ending it returns. captures.txt is what an
// H100 printed (CUDA 13.0, driver 580).
//
// Situations: mode of the capture (global, thread local, relaxed) x captured stream (blocking, non-blocking)
// x thread that calls (the one that began the capture, another) x mode of that thread as exchanged (global,
// thread local, relaxed); the last one changes fastest. An argument chooses one call by its number.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

__device__ int variable[64];
__global__ void kernel(int* p) {
  if (p) *p = 1;
}
void CUDART_CB host_function(void*) {}
void CUDART_CB callback(cudaStream_t, cudaError_t, void*) {}

struct World {
  cudaStream_t self, blocking, apart;
  cudaEvent_t fresh, done, captured;
  int *device, *other, *async_memory;
  char *pinned, *managed, pageable[4096];
  cudaArray_t array;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMemPool_t pool;
  cudaTextureObject_t texture;
  char* registered;
  char* pageable2;
};
World w;
void make(bool apart_self) {
  w = {};
  cudaStreamCreateWithFlags(&w.self, apart_self ? cudaStreamNonBlocking : 0);
  cudaStreamCreate(&w.blocking);
  cudaStreamCreateWithFlags(&w.apart, cudaStreamNonBlocking);
  cudaEventCreate(&w.fresh);
  cudaEventCreate(&w.done);
  cudaEventCreate(&w.captured);
  cudaEventRecord(w.done, w.apart);
  cudaMalloc(&w.device, 4096);
  cudaMalloc(&w.other, 4096);
  cudaMallocAsync(&w.async_memory, 4096, w.apart);
  cudaMallocHost(&w.pinned, 4096);
  cudaMallocManaged(&w.managed, 4096);
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaMallocArray(&w.array, &f, 16, 16);
  cudaGraphCreate(&w.graph, 0);
  cudaGraphNode_t n;
  cudaGraphAddEmptyNode(&n, w.graph, nullptr, 0);
  cudaGraphInstantiate(&w.exec, w.graph, 0);
  cudaMemPoolProps p{};
  p.allocType = cudaMemAllocationTypePinned;
  p.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&w.pool, &p);
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = w.array;
  cudaTextureDesc t{};
  cudaCreateTextureObject(&w.texture, &r, &t, nullptr);
  w.registered = (char*)aligned_alloc(4096, 4096);
  cudaHostRegister(w.registered, 4096, 0);
  w.pageable2 = (char*)aligned_alloc(4096, 4096);
  cudaDeviceSynchronize();
}
void unmake() {
  cudaGetLastError();
  if (w.self) cudaStreamDestroy(w.self);
  if (w.blocking) cudaStreamDestroy(w.blocking);
  cudaDeviceSynchronize();
  if (w.apart) {
    cudaFreeAsync(w.async_memory, w.apart);
    cudaStreamDestroy(w.apart);
  }
  cudaEventDestroy(w.fresh);
  cudaEventDestroy(w.done);
  cudaEventDestroy(w.captured);
  cudaFree(w.device);
  cudaFree(w.other);
  cudaFreeHost(w.pinned);
  cudaFree(w.managed);
  cudaDestroyTextureObject(w.texture);
  cudaFreeArray(w.array);
  cudaGraphExecDestroy(w.exec);
  cudaGraphDestroy(w.graph);
  cudaMemPoolDestroy(w.pool);
  cudaHostUnregister(w.registered);
  cudaHostUnregister(w.pageable2);
  free(w.registered);
  free(w.pageable2);
  cudaDeviceSynchronize();
  cudaGetLastError();
}
struct Call {
  std::string name;
  std::function<cudaError_t()> run;
};
/// Ends a capture that could be begun.
cudaError_t ended(cudaStream_t stream, cudaError_t begun) {
  cudaGraph_t graph;
  if (!begun) cudaStreamEndCapture(stream, &graph);
  return begun;
}
/// `blocking` joins the capture of `self`.
void join() {
  cudaEventRecord(w.captured, w.self);
  cudaStreamWaitEvent(w.blocking, w.captured, 0);
}
std::vector<Call> calls() {
  std::vector<Call> c;
  auto add = [&](std::string n, std::function<cudaError_t()> f) { c.push_back({n, f}); };
  add("DeviceSynchronize", [] { return cudaDeviceSynchronize(); });
  add("Malloc", [] {
    void* p = nullptr;
    auto e = cudaMalloc(&p, 64);
    return e;
  });
  add("Malloc of 0", [] {
    void* p = nullptr;
    auto e = cudaMalloc(&p, 0);
    return e;
  });
  add("MallocPitch", [] {
    void* p = nullptr;
    size_t n;
    return cudaMallocPitch(&p, &n, 64, 2);
  });
  add("Malloc3D", [] {
    cudaPitchedPtr p;
    return cudaMalloc3D(&p, make_cudaExtent(64, 2, 2));
  });
  add("MallocHost", [] {
    void* p = nullptr;
    return cudaMallocHost(&p, 64);
  });
  add("MallocManaged", [] {
    void* p = nullptr;
    return cudaMallocManaged(&p, 64);
  });
  add("MallocArray", [] {
    cudaArray_t a;
    auto f = cudaCreateChannelDesc<float>();
    return cudaMallocArray(&a, &f, 4, 4);
  });
  add("Free", [] {
    auto e = cudaFree(w.other);
    if (!e) w.other = nullptr;
    return e;
  });
  add("Free of null", [] { return cudaFree(nullptr); });
  add("FreeHost", [] {
    auto e = cudaFreeHost(w.pinned);
    if (!e) w.pinned = nullptr;
    return e;
  });
  add("FreeArray", [] {
    cudaDestroyTextureObject(w.texture);
    w.texture = 0;
    auto e = cudaFreeArray(w.array);
    if (!e) w.array = nullptr;
    return e;
  });
  add("HostRegister", [] { return cudaHostRegister(w.pageable2, 4096, 0); });
  add("HostUnregister", [] { return cudaHostUnregister(w.registered); });
  add("HostGetDevicePointer", [] {
    void* p;
    return cudaHostGetDevicePointer(&p, w.pinned, 0);
  });
  add("MemGetInfo", [] {
    size_t a, b;
    return cudaMemGetInfo(&a, &b);
  });
  add("PointerGetAttributes", [] {
    cudaPointerAttributes a;
    return cudaPointerGetAttributes(&a, w.device);
  });
  add("Memcpy host to device", [] { return cudaMemcpy(w.device, w.pageable, 64, cudaMemcpyHostToDevice); });
  add("Memcpy pinned to device", [] { return cudaMemcpy(w.device, w.pinned, 64, cudaMemcpyHostToDevice); });
  add("Memcpy device to host", [] { return cudaMemcpy(w.pageable, w.device, 64, cudaMemcpyDeviceToHost); });
  add("Memcpy device to device", [] { return cudaMemcpy(w.other, w.device, 64, cudaMemcpyDeviceToDevice); });
  add("Memcpy host to host",
      [] { return cudaMemcpy(w.pageable + 64, w.pageable, 64, cudaMemcpyHostToHost); });
  add("Memcpy of 0 bytes", [] { return cudaMemcpy(w.device, w.pageable, 0, cudaMemcpyHostToDevice); });
  add("Memcpy in no direction", [] { return cudaMemcpy(w.device, w.pageable, 64, cudaMemcpyKind(9)); });
  add("Memcpy2D", [] { return cudaMemcpy2D(w.device, 64, w.pageable, 64, 8, 2, cudaMemcpyHostToDevice); });
  add("Memcpy2D of no rows",
      [] { return cudaMemcpy2D(w.device, 64, w.pageable, 64, 8, 0, cudaMemcpyHostToDevice); });
  add("Memcpy2DToArray",
      [] { return cudaMemcpy2DToArray(w.array, 0, 0, w.pageable, 64, 8, 2, cudaMemcpyHostToDevice); });
  add("MemcpyToSymbol", [] { return cudaMemcpyToSymbol(variable, w.pageable, 16); });
  add("MemcpyFromSymbol", [] { return cudaMemcpyFromSymbol(w.pageable, variable, 16); });
  add("Memset", [] { return cudaMemset(w.device, 1, 64); });
  add("Memset of 0 bytes", [] { return cudaMemset(w.device, 1, 0); });
  add("Memset2D", [] { return cudaMemset2D(w.device, 64, 1, 8, 2); });
  add("MemAdvise", [] {
    return cudaMemAdvise(w.managed, 4096, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0});
  });
  add("MemRangeGetAttribute", [] {
    int v;
    return cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, w.managed, 4096);
  });
  add("StreamCreate", [] {
    cudaStream_t s;
    return cudaStreamCreate(&s);
  });
  add("StreamCreateWithFlags", [] {
    cudaStream_t s;
    return cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  });
  add("StreamDestroy another", [] {
    auto e = cudaStreamDestroy(w.blocking);
    w.blocking = nullptr;
    return e;
  });
  add("EventCreate", [] {
    cudaEvent_t e;
    return cudaEventCreate(&e);
  });
  add("EventDestroy", [] {
    auto e = cudaEventDestroy(w.fresh);
    w.fresh = nullptr;
    return e;
  });
  add("EventQuery", [] { return cudaEventQuery(w.done); });
  add("EventQuery fresh", [] { return cudaEventQuery(w.fresh); });
  add("EventSynchronize", [] { return cudaEventSynchronize(w.done); });
  add("EventElapsedTime", [] {
    float f;
    return cudaEventElapsedTime(&f, w.done, w.done);
  });
  add("EventRecord self and EventQuery", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaEventQuery(w.captured);
  });
  add("EventRecord self and EventSynchronize", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaEventSynchronize(w.captured);
  });
  add("EventRecord self and EventElapsedTime", [] {
    cudaEventRecord(w.captured, w.self);
    float f;
    return cudaEventElapsedTime(&f, w.captured, w.captured);
  });
  add("EventRecord self and EventDestroy", [] {
    cudaEventRecord(w.captured, w.self);
    auto e = cudaEventDestroy(w.captured);
    w.captured = nullptr;
    return e;
  });
  add("EventRecord self and apart", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaEventRecord(w.captured, w.apart);
  });
  add("EventRecord self, apart waits", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaStreamWaitEvent(w.apart, w.captured, 0);
  });
  add("EventRecord self, blocking waits", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaStreamWaitEvent(w.blocking, w.captured, 0);
  });
  add("EventRecord self, legacy waits", [] {
    cudaEventRecord(w.captured, w.self);
    return cudaStreamWaitEvent(nullptr, w.captured, 0);
  });
  add("blocking joins, StreamQuery legacy", [] {
    join();
    return cudaStreamQuery(nullptr);
  });
  add("blocking joins, EndCapture blocking", [] {
    join();
    cudaGraph_t g;
    return cudaStreamEndCapture(w.blocking, &g);
  });
  add("blocking joins and works", [] {
    join();
    return cudaMemsetAsync(w.device, 1, 64, w.blocking);
  });
  add("blocking joins, StreamDestroy", [] {
    join();
    auto e = cudaStreamDestroy(w.blocking);
    w.blocking = nullptr;
    return e;
  });
  add("blocking joins and works, StreamDestroy", [] {
    join();
    cudaMemsetAsync(w.device, 1, 64, w.blocking);
    auto e = cudaStreamDestroy(w.blocking);
    w.blocking = nullptr;
    return e;
  });
  add("EventRecord self, external",
      [] { return cudaEventRecordWithFlags(w.fresh, w.self, cudaEventRecordExternal); });
  add("EventRecord self, external, EventQuery", [] {
    cudaEventRecordWithFlags(w.fresh, w.self, cudaEventRecordExternal);
    return cudaEventQuery(w.fresh);
  });
  add("StreamWaitEvent self, external",
      [] { return cudaStreamWaitEvent(w.self, w.done, cudaEventWaitExternal); });
  add("GraphCreate", [] {
    cudaGraph_t g;
    return cudaGraphCreate(&g, 0);
  });
  add("GraphInstantiate", [] {
    cudaGraphExec_t x;
    return cudaGraphInstantiate(&x, w.graph, 0);
  });
  add("GraphInstantiate of null", [] {
    cudaGraphExec_t x;
    return cudaGraphInstantiate(&x, nullptr, 0);
  });
  add("GraphExecUpdate", [] {
    cudaGraphExecUpdateResultInfo i;
    return cudaGraphExecUpdate(w.exec, w.graph, &i);
  });
  add("GraphExecDestroy", [] {
    auto e = cudaGraphExecDestroy(w.exec);
    w.exec = nullptr;
    return e;
  });
  add("GraphDestroy", [] {
    auto e = cudaGraphDestroy(w.graph);
    w.graph = nullptr;
    return e;
  });
  add("GraphClone", [] {
    cudaGraph_t g;
    return cudaGraphClone(&g, w.graph);
  });
  add("DeviceGetLimit", [] {
    size_t n;
    return cudaDeviceGetLimit(&n, cudaLimitStackSize);
  });
  add("DeviceSetLimit stack", [] { return cudaDeviceSetLimit(cudaLimitStackSize, 2048); });
  add("DeviceSetLimit heap", [] { return cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20); });
  add("DeviceSetLimit printf", [] { return cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20); });
  add("DeviceSetLimit L2", [] { return cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0); });
  add("CtxResetPersistingL2Cache", [] { return cudaCtxResetPersistingL2Cache(); });
  add("FuncGetAttributes", [] {
    cudaFuncAttributes a;
    return cudaFuncGetAttributes(&a, kernel);
  });
  add("FuncSetAttribute",
      [] { return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000); });
  add("OccupancyMaxActiveBlocks", [] {
    int n;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 64, 0);
  });
  add("GetSymbolAddress", [] {
    void* p;
    return cudaGetSymbolAddress(&p, variable);
  });
  add("SetDevice", [] { return cudaSetDevice(0); });
  add("GetDeviceProperties", [] {
    cudaDeviceProp p;
    return cudaGetDeviceProperties(&p, 0);
  });
  add("DeviceGetAttribute", [] {
    int v;
    return cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0);
  });
  add("DeviceSetCacheConfig", [] { return cudaDeviceSetCacheConfig(cudaFuncCachePreferL1); });
  add("MemPoolCreate", [] {
    cudaMemPoolProps p{};
    p.allocType = cudaMemAllocationTypePinned;
    p.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t q;
    return cudaMemPoolCreate(&q, &p);
  });
  add("MemPoolDestroy", [] {
    auto e = cudaMemPoolDestroy(w.pool);
    w.pool = nullptr;
    return e;
  });
  add("MemPoolTrimTo", [] { return cudaMemPoolTrimTo(w.pool, 0); });
  add("MemPoolGetAttribute", [] {
    unsigned long long v;
    return cudaMemPoolGetAttribute(w.pool, cudaMemPoolAttrUsedMemCurrent, &v);
  });
  add("MemPoolSetAttribute", [] {
    unsigned long long v = 0;
    return cudaMemPoolSetAttribute(w.pool, cudaMemPoolAttrReleaseThreshold, &v);
  });
  add("DeviceGetDefaultMemPool", [] {
    cudaMemPool_t q;
    return cudaDeviceGetDefaultMemPool(&q, 0);
  });
  add("DeviceGraphMemTrim", [] { return cudaDeviceGraphMemTrim(0); });
  add("CreateTextureObject", [] {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = w.array;
    cudaTextureDesc t{};
    cudaTextureObject_t o;
    return cudaCreateTextureObject(&o, &r, &t, nullptr);
  });
  add("DestroyTextureObject", [] {
    auto e = cudaDestroyTextureObject(w.texture);
    w.texture = 0;
    return e;
  });
  add("UserObjectCreate", [] {
    cudaUserObject_t o;
    return cudaUserObjectCreate(&o, nullptr, host_function, 1, cudaUserObjectNoDestructorSync);
  });
  add("GetLastError", [] { return cudaGetLastError(); });
  add("MemcpyBatchAsync self", [] {
    void* to[] = {w.device};
    const void* from[] = {w.pinned};
    size_t sizes[] = {64}, at[] = {0};
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpyBatchAsync(to, from, sizes, 1, &how, at, 1, w.self);
  });
  add("DeviceEnablePeerAccess", [] { return cudaDeviceEnablePeerAccess(0, 0); });
  struct S {
    const char* name;
    cudaStream_t (*get)();
  };
  static const S streams[] = {{"legacy", [] { return cudaStream_t(nullptr); }},
                              {"blocking", [] { return w.blocking; }},
                              {"apart", [] { return w.apart; }},
                              {"self", [] { return w.self; }}};
  for (const S& s : streams) {
    auto get = s.get;
    std::string n = std::string(" ") + s.name;
    auto on = [&](std::string name, std::function<cudaError_t(cudaStream_t)> f) {
      add(name + n, [=] { return f(get()); });
    };
    on("launch", [](cudaStream_t s) {
      kernel<<<1, 1, 0, s>>>(nullptr);
      return cudaGetLastError();
    });
    on("launch of 0 blocks", [](cudaStream_t s) {
      kernel<<<0, 1, 0, s>>>(nullptr);
      return cudaGetLastError();
    });
    on("launch cooperative", [](cudaStream_t s) {
      int* p = nullptr;
      void* a[] = {&p};
      return cudaLaunchCooperativeKernel((void*)kernel, 1, 1, a, 0, s);
    });
    on("MemcpyAsync pinned",
       [](cudaStream_t s) { return cudaMemcpyAsync(w.device, w.pinned, 64, cudaMemcpyHostToDevice, s); });
    on("MemcpyAsync pageable",
       [](cudaStream_t s) { return cudaMemcpyAsync(w.device, w.pageable, 64, cudaMemcpyHostToDevice, s); });
    on("MemcpyAsync to pageable",
       [](cudaStream_t s) { return cudaMemcpyAsync(w.pageable, w.device, 64, cudaMemcpyDeviceToHost, s); });
    on("MemcpyAsync device",
       [](cudaStream_t s) { return cudaMemcpyAsync(w.other, w.device, 64, cudaMemcpyDefault, s); });
    on("MemcpyAsync of 0 bytes",
       [](cudaStream_t s) { return cudaMemcpyAsync(w.other, w.device, 0, cudaMemcpyDefault, s); });
    on("Memcpy2DAsync of no rows", [](cudaStream_t s) {
      return cudaMemcpy2DAsync(w.other, 64, w.device, 64, 8, 0, cudaMemcpyDefault, s);
    });
    on("MemsetAsync", [](cudaStream_t s) { return cudaMemsetAsync(w.device, 1, 64, s); });
    on("MemsetAsync of 0 bytes", [](cudaStream_t s) { return cudaMemsetAsync(w.device, 1, 0, s); });
    on("Memset2DAsync of no rows",
       [](cudaStream_t s) { return cudaMemset2DAsync(w.device, 64, 1, 8, 0, s); });
    on("MemcpyToSymbolAsync", [](cudaStream_t s) {
      return cudaMemcpyToSymbolAsync(variable, w.pinned, 16, 0, cudaMemcpyHostToDevice, s);
    });
    on("Memcpy2DToArrayAsync", [](cudaStream_t s) {
      return cudaMemcpy2DToArrayAsync(w.array, 0, 0, w.pinned, 64, 8, 2, cudaMemcpyHostToDevice, s);
    });
    on("MallocAsync", [](cudaStream_t s) {
      void* p;
      return cudaMallocAsync(&p, 64, s);
    });
    on("MallocAsync of 0", [](cudaStream_t s) {
      void* p;
      return cudaMallocAsync(&p, 0, s);
    });
    on("MallocAsync and FreeAsync", [](cudaStream_t s) {
      void* p = nullptr;
      if (auto e = cudaMallocAsync(&p, 64, s)) return e;
      return cudaFreeAsync(p, s);
    });
    on("FreeAsync", [](cudaStream_t s) {
      auto e = cudaFreeAsync(w.async_memory, s);
      if (!e) w.async_memory = nullptr;
      return e;
    });
    on("FreeAsync of null", [](cudaStream_t s) { return cudaFreeAsync(nullptr, s); });
    on("FreeAsync of Malloc", [](cudaStream_t s) {
      auto e = cudaFreeAsync(w.other, s);
      if (!e) w.other = nullptr;
      return e;
    });
    on("StreamQuery", [](cudaStream_t s) { return cudaStreamQuery(s); });
    on("StreamSynchronize", [](cudaStream_t s) { return cudaStreamSynchronize(s); });
    on("StreamWaitEvent done", [](cudaStream_t s) { return cudaStreamWaitEvent(s, w.done, 0); });
    on("StreamWaitEvent fresh", [](cudaStream_t s) { return cudaStreamWaitEvent(s, w.fresh, 0); });
    on("EventRecord", [](cudaStream_t s) { return cudaEventRecord(w.fresh, s); });
    on("EventRecord external",
       [](cudaStream_t s) { return cudaEventRecordWithFlags(w.fresh, s, cudaEventRecordExternal); });
    on("LaunchHostFunc", [](cudaStream_t s) { return cudaLaunchHostFunc(s, host_function, nullptr); });
    on("StreamAddCallback", [](cudaStream_t s) { return cudaStreamAddCallback(s, callback, nullptr, 0); });
    on("StreamAttachMemAsync",
       [](cudaStream_t s) { return cudaStreamAttachMemAsync(s, w.managed, 0, cudaMemAttachGlobal); });
    on("MemPrefetchAsync", [](cudaStream_t s) {
      return cudaMemPrefetchAsync(w.managed, 4096, {cudaMemLocationTypeDevice, 0}, 0, s);
    });
    on("GraphLaunch", [](cudaStream_t s) { return cudaGraphLaunch(w.exec, s); });
    on("GraphLaunch of null", [](cudaStream_t s) { return cudaGraphLaunch(nullptr, s); });
    on("GraphUpload", [](cudaStream_t s) { return cudaGraphUpload(w.exec, s); });
    on("StreamIsCapturing", [](cudaStream_t s) {
      cudaStreamCaptureStatus c;
      return cudaStreamIsCapturing(s, &c);
    });
    on("StreamGetCaptureInfo", [](cudaStream_t s) {
      cudaStreamCaptureStatus c;
      return cudaStreamGetCaptureInfo(s, &c, nullptr);
    });
    on("StreamUpdateCaptureDependencies", [](cudaStream_t s) {
      return cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies);
    });
    on("StreamBeginCapture",
       [](cudaStream_t s) { return ended(s, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); });
    on("StreamBeginCaptureToGraph", [](cudaStream_t s) {
      return ended(
          s, cudaStreamBeginCaptureToGraph(s, w.graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    });
    if (std::string(s.name) != "self")
      on("StreamEndCapture", [](cudaStream_t s) {
        cudaGraph_t g;
        return cudaStreamEndCapture(s, &g);
      });
    on("StreamGetFlags", [](cudaStream_t s) {
      unsigned f;
      return cudaStreamGetFlags(s, &f);
    });
    on("StreamGetPriority", [](cudaStream_t s) {
      int p;
      return cudaStreamGetPriority(s, &p);
    });
    on("StreamGetId", [](cudaStream_t s) {
      unsigned long long p;
      return cudaStreamGetId(s, &p);
    });
    on("StreamGetDevice", [](cudaStream_t s) {
      int p;
      return cudaStreamGetDevice(s, &p);
    });
    on("StreamGetAttribute", [](cudaStream_t s) {
      cudaLaunchAttributeValue v;
      return cudaStreamGetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v);
    });
    on("StreamSetAttribute", [](cudaStream_t s) {
      cudaLaunchAttributeValue v{};
      v.syncPolicy = cudaSyncPolicySpin;
      return cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v);
    });
    on("StreamCopyAttributes", [](cudaStream_t s) { return cudaStreamCopyAttributes(s, w.apart); });
  }
  add("StreamDestroy self", [] {
    auto e = cudaStreamDestroy(w.self);
    w.self = nullptr;
    return e;
  });
  add("launch self, StreamDestroy self", [] {
    kernel<<<1, 1, 0, w.self>>>(nullptr);
    auto e = cudaStreamDestroy(w.self);
    w.self = nullptr;
    return e;
  });
  return c;
}
char letter(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return '.';
    case cudaErrorNotReady: return '.';
    case cudaErrorInvalidValue: return 'v';
    case cudaErrorStreamCaptureUnsupported: return 'u';
    case cudaErrorStreamCaptureInvalidated: return 'x';
    case cudaErrorStreamCaptureImplicit: return 'i';
    case cudaErrorStreamCaptureIsolation: return 's';
    case cudaErrorStreamCaptureUnjoined: return 'j';
    case cudaErrorStreamCaptureUnmatched: return 'm';
    case cudaErrorStreamCaptureMerge: return 'M';
    case cudaErrorStreamCaptureWrongThread: return 't';
    case cudaErrorCapturedEvent: return 'e';
    case cudaErrorIllegalState: return 'l';
    case cudaErrorInvalidResourceHandle: return 'h';
    case cudaErrorNotSupported: return 'n';
    case cudaErrorInvalidConfiguration: return 'c';
    case cudaErrorPeerAccessUnsupported: return 'p';
    case cudaErrorInvalidDevice: return 'd';
    case cudaErrorNotPermitted: return 'P';
    case cudaErrorInvalidMemcpyDirection: return 'D';
    default: return '?';
  }
}
}  // namespace

int main(int argc, char** argv) {
  const std::vector<Call> all = calls();
  const size_t first = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0,
               last = argc > 1 ? first + 1 : all.size();
  for (size_t i = first; i < last; ++i) {
    std::string results, states, ends;
    for (int mode = 0; mode < 3; ++mode)
      for (int apart = 0; apart < 2; ++apart)
        for (int other_thread = 0; other_thread < 2; ++other_thread)
          for (int exchanged = 0; exchanged < 3; ++exchanged) {
            make(apart != 0);
            cudaStreamBeginCapture(w.self, static_cast<cudaStreamCaptureMode>(mode));
            cudaError_t result = cudaSuccess;
            const auto body = [&] {
              auto own = static_cast<cudaStreamCaptureMode>(exchanged);
              cudaThreadExchangeStreamCaptureMode(&own);
              result = all[i].run();
              cudaThreadExchangeStreamCaptureMode(&own);
              cudaGetLastError();
            };
            if (other_thread != 0)
              std::thread(body).join();
            else
              body();
            results += letter(result);
            if (w.self != nullptr) {
              cudaStreamCaptureStatus state{};
              const cudaError_t told = cudaStreamIsCapturing(w.self, &state);
              states += told == cudaSuccess ? static_cast<char>('0' + state) : letter(told);
              cudaGraph_t graph = nullptr;
              ends += letter(cudaStreamEndCapture(w.self, &graph));
              if (graph != nullptr) cudaGraphDestroy(graph);
            } else {
              states += '-';
              ends += '-';
            }
            unmake();
          }
    std::printf("%-42s %s %s %s\n", all[i].name.c_str(), results.c_str(), states.c_str(), ends.c_str());
  }
}
