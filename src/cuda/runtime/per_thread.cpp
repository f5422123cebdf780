// Twins of the functions that take or imply a stream, for programs compiled with --default-stream per-thread:
// their default stream is the calling thread's own. Those without a stream (_ptds) differ in nothing, as all
// work is done when it is submitted.
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
struct Executable;
struct InstantiateParams;
namespace {

Stream* own(Stream* stream) { return stream == nullptr ? per_thread_handle() : stream; }
}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

extern "C" {

Status __cudaLaunchKernel(const void*, Extent3, Extent3, void**, size_t, Stream*);
Status cudaEventRecordWithFlags(Event*, Stream*, unsigned);
Status cudaEventRecord(Event*, Stream*);
Status cudaFreeAsync(void*, Stream*);
Status cudaGraphInstantiateWithParams(Executable**, const Graph*, InstantiateParams*);
Status cudaGraphLaunch(Executable*, Stream*);
Status cudaGraphUpload(Executable*, Stream*);
Status cudaLaunchCooperativeKernel(const void*, Extent3, Extent3, void**, size_t, Stream*);
Status cudaLaunchHostFunc(Stream*, HostFunction, void*);
Status cudaLaunchKernelExC(const LaunchDescription*, const void*, void**);
Status cudaLaunchKernel(const void*, Extent3, Extent3, void**, size_t, Stream*);
Status cudaMallocAsync(void**, size_t, Stream*);
Status cudaMallocFromPoolAsync(void**, size_t, Pool*, Stream*);
Status cudaMemPrefetchAsync(const void*, size_t, MemoryLocation, unsigned, Stream*);
Status cudaMemcpy2DArrayToArray(Array*, size_t, size_t, Array*, size_t, size_t, size_t, size_t, CopyKind);
Status cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, CopyKind, Stream*);
Status cudaMemcpy2DFromArrayAsync(void*, size_t, Array*, size_t, size_t, size_t, size_t, CopyKind, Stream*);
Status cudaMemcpy2DFromArray(void*, size_t, Array*, size_t, size_t, size_t, size_t, CopyKind);
Status cudaMemcpy2DToArrayAsync(Array*, size_t, size_t, const void*, size_t, size_t, size_t, CopyKind,
                                Stream*);
Status cudaMemcpy2DToArray(Array*, size_t, size_t, const void*, size_t, size_t, size_t, CopyKind);
Status cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, CopyKind);
Status cudaMemcpy3DAsync(const Copy3D*, Stream*);
Status cudaMemcpy3DPeerAsync(const Copy3DPeer*, Stream*);
Status cudaMemcpy3DPeer(const Copy3DPeer*);
Status cudaMemcpy3D(const Copy3D*);
Status cudaMemcpyArrayToArray(Array*, size_t, size_t, Array*, size_t, size_t, size_t, CopyKind);
Status cudaMemcpyAsync(void*, const void*, size_t, CopyKind, Stream*);
Status cudaMemcpyFromArrayAsync(void*, Array*, size_t, size_t, size_t, CopyKind, Stream*);
Status cudaMemcpyFromArray(void*, Array*, size_t, size_t, size_t, CopyKind);
Status cudaMemcpyFromSymbolAsync(void*, const void*, size_t, size_t, CopyKind, Stream*);
Status cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, CopyKind);
Status cudaMemcpyToArrayAsync(Array*, size_t, size_t, const void*, size_t, CopyKind, Stream*);
Status cudaMemcpyToArray(Array*, size_t, size_t, const void*, size_t, CopyKind);
Status cudaMemcpyToSymbolAsync(const void*, const void*, size_t, size_t, CopyKind, Stream*);
Status cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, CopyKind);
Status cudaMemcpy(void*, const void*, size_t, CopyKind);
Status cudaMemset2DAsync(void*, size_t, int, size_t, size_t, Stream*);
Status cudaMemset2D(void*, size_t, int, size_t, size_t);
Status cudaMemset3DAsync(PitchedPointer, int, Sizes, Stream*);
Status cudaMemset3D(PitchedPointer, int, Sizes);
Status cudaMemsetAsync(void*, int, size_t, Stream*);
Status cudaMemset(void*, int, size_t);
Status cudaStreamAddCallback(Stream*, StreamCallback, void*, unsigned);
Status cudaStreamAttachMemAsync(Stream*, void*, size_t, unsigned);
Status cudaStreamBeginCaptureToGraph(Stream*, Graph*, Node* const*, const void*, size_t, int);
Status cudaStreamBeginCapture(Stream*, int);
Status cudaStreamCopyAttributes(Stream*, Stream*);
Status cudaStreamEndCapture(Stream*, Graph**);
Status cudaStreamGetCaptureInfo(Stream*, int*, unsigned long long*, Graph**, Node* const**, const void**,
                                size_t*);
Status cudaStreamGetDevice(Stream*, int*);
Status cudaStreamGetFlags(Stream*, unsigned*);
Status cudaStreamGetId(Stream*, unsigned long long*);
Status cudaStreamGetPriority(Stream*, int*);
Status cudaStreamIsCapturing(Stream*, int*);
Status cudaStreamQuery(Stream*);
Status cudaStreamSetAttribute(Stream*, int, const void*);
Status cudaStreamSynchronize(Stream*);
Status cudaStreamUpdateCaptureDependencies(Stream*, Node* const*, const void*, size_t, unsigned);
Status cudaStreamWaitEvent(Stream*, Event*, unsigned);

#pragma GCC visibility push(default)

Status __cudaLaunchKernel_ptsz(const void* a, Extent3 b, Extent3 c, void** d, size_t e, Stream* f) {
  return __cudaLaunchKernel(a, b, c, d, e, own(f));
}
Status cudaEventRecordWithFlags_ptsz(Event* a, Stream* b, unsigned c) {
  return cudaEventRecordWithFlags(a, own(b), c);
}
Status cudaEventRecord_ptsz(Event* a, Stream* b) { return cudaEventRecord(a, own(b)); }
Status cudaFreeAsync_ptsz(void* a, Stream* b) { return cudaFreeAsync(a, own(b)); }
Status cudaGraphInstantiateWithParams_ptsz(Executable** a, const Graph* b, InstantiateParams* c) {
  return cudaGraphInstantiateWithParams(a, b, c);
}
Status cudaGraphLaunch_ptsz(Executable* a, Stream* b) { return cudaGraphLaunch(a, own(b)); }
Status cudaGraphUpload_ptsz(Executable* a, Stream* b) { return cudaGraphUpload(a, own(b)); }
Status cudaLaunchCooperativeKernel_ptsz(const void* a, Extent3 b, Extent3 c, void** d, size_t e, Stream* f) {
  return cudaLaunchCooperativeKernel(a, b, c, d, e, own(f));
}
Status cudaLaunchHostFunc_ptsz(Stream* a, HostFunction b, void* c) {
  return cudaLaunchHostFunc(own(a), b, c);
}
Status cudaLaunchKernel_ptsz(const void* a, Extent3 b, Extent3 c, void** d, size_t e, Stream* f) {
  return cudaLaunchKernel(a, b, c, d, e, own(f));
}
Status cudaMallocAsync_ptsz(void** a, size_t b, Stream* c) { return cudaMallocAsync(a, b, own(c)); }
Status cudaMallocFromPoolAsync_ptsz(void** a, size_t b, Pool* c, Stream* d) {
  return cudaMallocFromPoolAsync(a, b, c, own(d));
}
Status cudaMemPrefetchAsync_ptsz(const void* a, size_t b, MemoryLocation c, unsigned d, Stream* e) {
  return cudaMemPrefetchAsync(a, b, c, d, own(e));
}
Status cudaMemcpy2DArrayToArray_ptds(Array* a, size_t b, size_t c, Array* d, size_t e, size_t f, size_t g,
                                     size_t h, CopyKind i) {
  return cudaMemcpy2DArrayToArray(a, b, c, d, e, f, g, h, i);
}
Status cudaMemcpy2DAsync_ptsz(void* a, size_t b, const void* c, size_t d, size_t e, size_t f, CopyKind g,
                              Stream* h) {
  return cudaMemcpy2DAsync(a, b, c, d, e, f, g, own(h));
}
Status cudaMemcpy2DFromArrayAsync_ptsz(void* a, size_t b, Array* c, size_t d, size_t e, size_t f, size_t g,
                                       CopyKind h, Stream* i) {
  return cudaMemcpy2DFromArrayAsync(a, b, c, d, e, f, g, h, own(i));
}
Status cudaMemcpy2DFromArray_ptds(void* a, size_t b, Array* c, size_t d, size_t e, size_t f, size_t g,
                                  CopyKind h) {
  return cudaMemcpy2DFromArray(a, b, c, d, e, f, g, h);
}
Status cudaMemcpy2DToArrayAsync_ptsz(Array* a, size_t b, size_t c, const void* d, size_t e, size_t f,
                                     size_t g, CopyKind h, Stream* i) {
  return cudaMemcpy2DToArrayAsync(a, b, c, d, e, f, g, h, own(i));
}
Status cudaMemcpy2DToArray_ptds(Array* a, size_t b, size_t c, const void* d, size_t e, size_t f, size_t g,
                                CopyKind h) {
  return cudaMemcpy2DToArray(a, b, c, d, e, f, g, h);
}
Status cudaMemcpy2D_ptds(void* a, size_t b, const void* c, size_t d, size_t e, size_t f, CopyKind g) {
  return cudaMemcpy2D(a, b, c, d, e, f, g);
}
Status cudaMemcpy3DAsync_ptsz(const Copy3D* a, Stream* b) { return cudaMemcpy3DAsync(a, own(b)); }
Status cudaMemcpy3DPeerAsync_ptsz(const Copy3DPeer* a, Stream* b) { return cudaMemcpy3DPeerAsync(a, own(b)); }
Status cudaMemcpy3DPeer_ptds(const Copy3DPeer* a) { return cudaMemcpy3DPeer(a); }
Status cudaMemcpy3D_ptds(const Copy3D* a) { return cudaMemcpy3D(a); }
Status cudaMemcpyArrayToArray_ptds(Array* a, size_t b, size_t c, Array* d, size_t e, size_t f, size_t g,
                                   CopyKind h) {
  return cudaMemcpyArrayToArray(a, b, c, d, e, f, g, h);
}
Status cudaMemcpyAsync_ptsz(void* a, const void* b, size_t c, CopyKind d, Stream* e) {
  return cudaMemcpyAsync(a, b, c, d, own(e));
}
Status cudaMemcpyFromArrayAsync_ptsz(void* a, Array* b, size_t c, size_t d, size_t e, CopyKind f, Stream* g) {
  return cudaMemcpyFromArrayAsync(a, b, c, d, e, f, own(g));
}
Status cudaMemcpyFromArray_ptds(void* a, Array* b, size_t c, size_t d, size_t e, CopyKind f) {
  return cudaMemcpyFromArray(a, b, c, d, e, f);
}
Status cudaMemcpyFromSymbolAsync_ptsz(void* a, const void* b, size_t c, size_t d, CopyKind e, Stream* f) {
  return cudaMemcpyFromSymbolAsync(a, b, c, d, e, own(f));
}
Status cudaMemcpyFromSymbol_ptds(void* a, const void* b, size_t c, size_t d, CopyKind e) {
  return cudaMemcpyFromSymbol(a, b, c, d, e);
}
Status cudaMemcpyToArrayAsync_ptsz(Array* a, size_t b, size_t c, const void* d, size_t e, CopyKind f,
                                   Stream* g) {
  return cudaMemcpyToArrayAsync(a, b, c, d, e, f, own(g));
}
Status cudaMemcpyToArray_ptds(Array* a, size_t b, size_t c, const void* d, size_t e, CopyKind f) {
  return cudaMemcpyToArray(a, b, c, d, e, f);
}
Status cudaMemcpyToSymbolAsync_ptsz(const void* a, const void* b, size_t c, size_t d, CopyKind e, Stream* f) {
  return cudaMemcpyToSymbolAsync(a, b, c, d, e, own(f));
}
Status cudaMemcpyToSymbol_ptds(const void* a, const void* b, size_t c, size_t d, CopyKind e) {
  return cudaMemcpyToSymbol(a, b, c, d, e);
}
Status cudaMemcpy_ptds(void* a, const void* b, size_t c, CopyKind d) { return cudaMemcpy(a, b, c, d); }
Status cudaMemset2DAsync_ptsz(void* a, size_t b, int c, size_t d, size_t e, Stream* f) {
  return cudaMemset2DAsync(a, b, c, d, e, own(f));
}
Status cudaMemset2D_ptds(void* a, size_t b, int c, size_t d, size_t e) { return cudaMemset2D(a, b, c, d, e); }
Status cudaMemset3DAsync_ptsz(PitchedPointer a, int b, Sizes c, Stream* d) {
  return cudaMemset3DAsync(a, b, c, own(d));
}
Status cudaMemset3D_ptds(PitchedPointer a, int b, Sizes c) { return cudaMemset3D(a, b, c); }
Status cudaMemsetAsync_ptsz(void* a, int b, size_t c, Stream* d) { return cudaMemsetAsync(a, b, c, own(d)); }
Status cudaMemset_ptds(void* a, int b, size_t c) { return cudaMemset(a, b, c); }
Status cudaStreamAddCallback_ptsz(Stream* a, StreamCallback b, void* c, unsigned d) {
  return cudaStreamAddCallback(own(a), b, c, d);
}
Status cudaStreamAttachMemAsync_ptsz(Stream* a, void* b, size_t c, unsigned d) {
  return cudaStreamAttachMemAsync(own(a), b, c, d);
}
Status cudaStreamBeginCaptureToGraph_ptsz(Stream* a, Graph* b, Node* const* c, const void* d, size_t e,
                                          int f) {
  return cudaStreamBeginCaptureToGraph(own(a), b, c, d, e, f);
}
Status cudaStreamBeginCapture_ptsz(Stream* a, int b) { return cudaStreamBeginCapture(own(a), b); }
Status cudaStreamCopyAttributes_ptsz(Stream* a, Stream* b) {
  return cudaStreamCopyAttributes(own(a), own(b));
}
Status cudaStreamEndCapture_ptsz(Stream* a, Graph** b) { return cudaStreamEndCapture(own(a), b); }
Status cudaStreamGetCaptureInfo_ptsz(Stream* a, int* b, unsigned long long* c, Graph** d, Node* const** e,
                                     const void** f, size_t* g) {
  return cudaStreamGetCaptureInfo(own(a), b, c, d, e, f, g);
}
Status cudaStreamGetDevice_ptsz(Stream* a, int* b) { return cudaStreamGetDevice(own(a), b); }
Status cudaStreamGetFlags_ptsz(Stream* a, unsigned* b) { return cudaStreamGetFlags(own(a), b); }
Status cudaStreamGetId_ptsz(Stream* a, unsigned long long* b) { return cudaStreamGetId(own(a), b); }
Status cudaStreamGetPriority_ptsz(Stream* a, int* b) { return cudaStreamGetPriority(own(a), b); }
Status cudaStreamIsCapturing_ptsz(Stream* a, int* b) { return cudaStreamIsCapturing(own(a), b); }
Status cudaStreamQuery_ptsz(Stream* a) { return cudaStreamQuery(own(a)); }
Status cudaStreamSetAttribute_ptsz(Stream* a, int b, const void* c) {
  return cudaStreamSetAttribute(own(a), b, c);
}
Status cudaStreamSynchronize_ptsz(Stream* a) { return cudaStreamSynchronize(own(a)); }
Status cudaStreamUpdateCaptureDependencies_ptsz(Stream* a, Node* const* b, const void* c, size_t d,
                                                unsigned e) {
  return cudaStreamUpdateCaptureDependencies(own(a), b, c, d, e);
}
Status cudaStreamWaitEvent_ptsz(Stream* a, Event* b, unsigned c) { return cudaStreamWaitEvent(own(a), b, c); }

Status cudaLaunchKernelExC_ptsz(const LaunchDescription* description, const void* function,
                                void** arguments) {
  if (description == nullptr) return cudaLaunchKernelExC(description, function, arguments);
  LaunchDescription with_stream = *description;
  with_stream.stream = own(description->stream);
  return cudaLaunchKernelExC(&with_stream, function, arguments);
}

#pragma GCC visibility pop
}
