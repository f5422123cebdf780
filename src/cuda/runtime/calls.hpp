// Functions of the runtime that other files call by name: for the twins of per-thread default streams and for
// the driver API. Each is described where it is defined, and by CUDA.
#pragma once

#include "cuda/runtime/api.hpp"

namespace lanescope::cuda {
enum class NodeType : int;
struct AllocationNodeParams;
struct AnyNodeParams;
struct Binary;
struct Event;
struct Executable;
struct Function;
struct Graph;
struct InstantiateParams;
struct Node;
struct Pool;
struct PoolAccess;
struct ResourceDescription;
struct TextureDescription;
struct UpdateResult;
struct UserObject;
struct ViewDescription;
}  // namespace lanescope::cuda

extern "C" {
using namespace lanescope::cuda;

Status __cudaLaunchKernel(const void* function, Extent3 grid, Extent3 block, void** arguments, size_t shared,
                          Stream* stream);
Status cudaCreateSurfaceObject(uint64_t* out, const ResourceDescription* resource);
Status cudaCreateTextureObject(uint64_t* out, const ResourceDescription* resource,
                               const TextureDescription* how, const ViewDescription* view);
Status cudaCtxResetPersistingL2Cache();
Status cudaDestroySurfaceObject(uint64_t handle);
Status cudaDestroyTextureObject(uint64_t handle);
Status cudaDeviceCanAccessPeer(int* can, int device, int);
Status cudaDeviceGetAttribute(int* value, int attribute, int device);
Status cudaDeviceGetByPCIBusId(int* device, const char* text);
Status cudaDeviceGetCacheConfig(int* config);
Status cudaDeviceGetDefaultMemPool(Pool** out, int device);
Status cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t* value);
Status cudaDeviceGetLimit(size_t* value, int limit);
Status cudaDeviceGetMemPool(Pool** out, int device);
Status cudaDeviceGetP2PAttribute(int* value, int, int, int);
Status cudaDeviceGetPCIBusId(char* text, int length, int device);
Status cudaDeviceGetSharedMemConfig(int* config);
Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
Status cudaDeviceGraphMemTrim(int device);
Status cudaDeviceReset();
Status cudaDeviceSetCacheConfig(int config);
Status cudaDeviceSetGraphMemAttribute(int device, int attribute, const uint64_t* value);
Status cudaDeviceSetLimit(int limit, size_t value);
Status cudaDeviceSetMemPool(int device, Pool* pool);
Status cudaDeviceSetSharedMemConfig(int config);
Status cudaDeviceSynchronize();
Status cudaDriverGetVersion(int* version);
Status cudaEventCreateWithFlags(Event** out, unsigned flags);
Status cudaEventDestroy(Event* event);
Status cudaEventElapsedTime(float* milliseconds, Event* start, Event* end);
Status cudaEventQuery(Event* event);
Status cudaEventRecord(Event* event, Stream* stream);
Status cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags);
Status cudaEventSynchronize(Event* event);
Status cudaFree(void* pointer);
Status cudaFreeArray(Array* array);
Status cudaFreeAsync(void* pointer, Stream* stream);
Status cudaFreeHost(void* pointer);
Status cudaFreeMipmappedArray(MipmappedArray* mipmap);
Status cudaFuncGetAttributes(FunctionAttributes* out, const void* handle);
Status cudaFuncGetName(const char** name, const void* stub);
Status cudaFuncGetParamCount(const void* handle, size_t* count);
Status cudaFuncGetParamInfo(const void* handle, size_t index, size_t* offset, size_t* size);
Status cudaFuncSetAttribute(const void* handle, int attribute, int value);
Status cudaFuncSetCacheConfig(const void* handle, int);
Status cudaFuncSetSharedMemConfig(const void* handle, int);
Status cudaGetDevice(int* device);
Status cudaGetDeviceCount(int* count);
Status cudaGetDeviceProperties(DeviceProperties* out, int device);
const char* cudaGetErrorString(Status error);
Status cudaGetMipmappedArrayLevel(Array** out, const MipmappedArray* mipmap, unsigned level);
Status cudaGetTextureObjectResourceDesc(ResourceDescription* out, uint64_t handle);
Status cudaGetTextureObjectResourceViewDesc(ViewDescription* out, uint64_t handle);
Status cudaGraphAddChildGraphNode(Node** out, Graph* graph, Node* const* needs, size_t count, Graph* child);
Status cudaGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to, const void*, size_t count);
Status cudaGraphAddEmptyNode(Node** out, Graph* graph, Node* const* needs, size_t count);
Status cudaGraphAddEventRecordNode(Node** out, Graph* graph, Node* const* needs, size_t count, Event* event);
Status cudaGraphAddEventWaitNode(Node** out, Graph* graph, Node* const* needs, size_t count, Event* event);
Status cudaGraphAddHostNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                            const HostNodeParams* params);
Status cudaGraphAddKernelNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                              const KernelNodeParams* params);
Status cudaGraphAddMemAllocNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                AllocationNodeParams* params);
Status cudaGraphAddMemFreeNode(Node** out, Graph* graph, Node* const* needs, size_t count, void* pointer);
Status cudaGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* needs, size_t count, const Copy3D* copy);
Status cudaGraphAddNode(Node** out, Graph* graph, Node* const* needs, const void* edges, size_t count,
                        AnyNodeParams* params);
Status cudaGraphConditionalHandleCreate(uint64_t* out, Graph* graph, unsigned first, unsigned flags);
Status cudaGraphMemAllocNodeGetParams(const Node* node, AllocationNodeParams* out);
Status cudaGraphAddMemsetNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                              const MemsetParams* params);
Status cudaGraphChildGraphNodeGetGraph(const Node* node, Graph** out);
Status cudaGraphClone(Graph** out, const Graph* graph);
Status cudaGraphCreate(Graph** out, unsigned);
Status cudaGraphDebugDotPrint(const Graph* graph, const char* path, unsigned);
Status cudaGraphDestroy(Graph* graph);
Status cudaGraphDestroyNode(Node* node);
Status cudaGraphEventRecordNodeGetEvent(const Node* node, Event** out);
Status cudaGraphEventRecordNodeSetEvent(Node* node, Event* event);
Status cudaGraphEventWaitNodeGetEvent(const Node* node, Event** out);
Status cudaGraphEventWaitNodeSetEvent(Node* node, Event* event);
Status cudaGraphExecChildGraphNodeSetParams(Executable* executable, const Node* node, Graph* child);
Status cudaGraphExecDestroy(Executable* executable);
Status cudaGraphExecEventRecordNodeSetEvent(Executable* executable, const Node* node, Event* event);
Status cudaGraphExecEventWaitNodeSetEvent(Executable* executable, const Node* node, Event* event);
Status cudaGraphExecGetFlags(const Executable* executable, unsigned long long* flags);
Status cudaGraphExecHostNodeSetParams(Executable* executable, const Node* node, const HostNodeParams* params);
Status cudaGraphExecKernelNodeSetParams(Executable* executable, const Node* node,
                                        const KernelNodeParams* params);
Status cudaGraphExecMemcpyNodeSetParams(Executable* executable, const Node* node, const Copy3D* copy);
Status cudaGraphExecMemsetNodeSetParams(Executable* executable, const Node* node, const MemsetParams* params);
Status cudaGraphExecUpdate(Executable* executable, const Graph* graph, UpdateResult* result);
Status cudaGraphGetEdges(const Graph* graph, Node** from, Node** to, void* data, size_t* count);
Status cudaGraphGetNodes(const Graph* graph, Node** out, size_t* count);
Status cudaGraphGetRootNodes(const Graph* graph, Node** out, size_t* count);
Status cudaGraphExecGetId(const Executable* executable, unsigned* id);
Status cudaGraphExecNodeSetParams(Executable* executable, const Node* node, AnyNodeParams* params);
Status cudaGraphGetId(const Graph* graph, unsigned* out);
Status cudaGraphNodeGetContainingGraph(const Node* node, Graph** out);
Status cudaGraphNodeGetLocalId(const Node* node, unsigned* out);
Status cudaGraphNodeGetParams(Node* node, AnyNodeParams* out);
Status cudaGraphNodeGetToolsId(const Node* node, unsigned long long* out);
Status cudaGraphNodeSetParams(Node* node, AnyNodeParams* params);
Status cudaGraphHostNodeGetParams(const Node* node, HostNodeParams* out);
Status cudaGraphHostNodeSetParams(Node* node, const HostNodeParams* params);
Status cudaGraphInstantiateWithFlags(Executable** out, const Graph* graph, unsigned long long flags);
Status cudaGraphInstantiateWithParams(Executable** out, const Graph* graph, InstantiateParams* params);
Status cudaGraphKernelNodeCopyAttributes(Node* target, Node* source);
Status cudaGraphKernelNodeGetAttribute(Node* node, int id, LaunchAttribute::Value* value);
Status cudaGraphKernelNodeGetParams(Node* node, KernelNodeParams* out);
Status cudaGraphKernelNodeSetAttribute(Node* node, int id, const LaunchAttribute::Value* value);
Status cudaGraphKernelNodeSetParams(Node* node, const KernelNodeParams* params);
Status cudaGraphLaunch(Executable* executable, Stream* handle);
Status cudaGraphMemFreeNodeGetParams(const Node* node, void** out);
Status cudaGraphMemcpyNodeSetParams(Node* node, const Copy3D* copy);
Status cudaGraphMemcpyNodeSetParams1D(Node* node, void* target, const void* source, size_t bytes,
                                      CopyKind kind);
Status cudaGraphMemsetNodeGetParams(const Node* node, MemsetParams* out);
Status cudaGraphMemsetNodeSetParams(Node* node, const MemsetParams* params);
Status cudaGraphNodeFindInClone(Node** out, const Node* node, const Graph* clone);
Status cudaGraphNodeGetDependencies(const Node* node, Node** out, void* data, size_t* count);
Status cudaGraphNodeGetDependentNodes(const Node* node, Node** out, void* data, size_t* count);
Status cudaGraphNodeGetEnabled(Executable* executable, const Node* node, unsigned* enabled);
Status cudaGraphNodeGetType(const Node* node, NodeType* type);
Status cudaGraphNodeSetEnabled(Executable* executable, const Node* node, unsigned enabled);
Status cudaGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to, const void*,
                                   size_t count);
Status cudaGraphUpload(Executable* executable, Stream* stream);
Status cudaHostAlloc(void** out, size_t size, unsigned flags);
Status cudaHostGetDevicePointer(void** out, void* host, unsigned);
Status cudaHostGetFlags(unsigned* flags, void* host);
Status cudaHostRegister(void* pointer, size_t size, unsigned flags);
Status cudaHostUnregister(void* pointer);
Status cudaIpcCloseMemHandle(void* pointer);
Status cudaIpcGetEventHandle(IpcHandle* out, Event* event);
Status cudaIpcGetMemHandle(IpcHandle* out, void* pointer);
Status cudaIpcOpenEventHandle(Event** out, IpcHandle handle);
Status cudaIpcOpenMemHandle(void** out, IpcHandle handle, unsigned flags);
Status cudaLaunchCooperativeKernel(const void* function, Extent3 grid, Extent3 block, void** arguments,
                                   size_t shared, Stream* stream);
Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data);
Status cudaLaunchHostFunc_v2(Stream* stream, HostFunction function, void* data, unsigned);
Status cudaLaunchKernel(const void* function, Extent3 grid, Extent3 block, void** arguments, size_t shared,
                        Stream* stream);
Status cudaLaunchKernelExC(const LaunchDescription* description, const void* function, void** arguments);
Status cudaLaunchKernelExC_ptsz(const LaunchDescription* description, const void* function, void** arguments);
Status cudaLibraryEnumerateKernels(Function** out, unsigned most, Binary* library);
Status cudaLibraryGetGlobal(void** address, size_t* size, Binary* library, const char* name);
Status cudaLibraryGetKernel(Function** out, Binary* library, const char* name);
Status cudaLibraryGetKernelCount(unsigned* count, Binary* library);
Status cudaLibraryGetManaged(void** address, size_t* size, Binary* library, const char* name);
Status cudaLibraryLoadData(Binary** out, const void* code, int*, void**, unsigned, int*, void**, unsigned);
Status cudaLibraryLoadFromFile(Binary** out, const char* path, int*, void**, unsigned, int*, void**,
                               unsigned);
Status cudaLibraryUnload(Binary* library);
Status cudaMalloc(void** out, size_t size);
Status cudaMalloc3DArray(Array** out, const ChannelFormat* format, Sizes extent, unsigned flags);
Status cudaMallocAsync(void** out, size_t size, Stream* stream);
Status cudaMallocFromPoolAsync(void** out, size_t size, Pool* pool, Stream* handle);
Status cudaMallocHost(void** out, size_t size);
Status cudaMallocManaged(void** out, size_t size, unsigned flags);
Status cudaMallocMipmappedArray(MipmappedArray** out, const ChannelFormat* format, Sizes extent,
                                unsigned levels, unsigned flags);
Status cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height);
Status cudaMemAdvise(const void* pointer, size_t size, int, MemoryLocation);
Status cudaMemGetInfo(size_t* free, size_t* total);
Status cudaMemPoolCreate(Pool** out, const PoolProperties* properties);
Status cudaMemPoolDestroy(Pool* pool);
Status cudaMemPoolGetAccess(int* flags, Pool* pool, MemoryLocation*);
Status cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value);
Status cudaMemPoolSetAccess(Pool* pool, const PoolAccess* accesses, size_t count);
Status cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value);
Status cudaMemPoolTrimTo(Pool* pool, size_t);
Status cudaMemPrefetchAsync(const void* pointer, size_t size, MemoryLocation, unsigned, Stream* stream);
Status cudaMemRangeGetAttribute(void* data, size_t size, int attribute, const void* pointer, size_t count);
Status cudaMemRangeGetAttributes(void** data, size_t* sizes, int* attributes, size_t number,
                                 const void* pointer, size_t count);
Status cudaMemcpy(void* target, const void* source, size_t count, CopyKind kind);
Status cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                    size_t height, CopyKind kind);
Status cudaMemcpy2DArrayToArray(Array* target, size_t target_x, size_t target_y, Array* source,
                                size_t source_x, size_t source_y, size_t width, size_t height, CopyKind kind);
Status cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, CopyKind kind, Stream* stream);
Status cudaMemcpy2DFromArray(void* target, size_t pitch, Array* array, size_t x, size_t y, size_t width,
                             size_t height, CopyKind kind);
Status cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, Array* array, size_t x, size_t y, size_t width,
                                  size_t height, CopyKind kind, Stream* stream);
Status cudaMemcpy2DToArray(Array* array, size_t x, size_t y, const void* source, size_t pitch, size_t width,
                           size_t height, CopyKind kind);
Status cudaMemcpy2DToArrayAsync(Array* array, size_t x, size_t y, const void* source, size_t pitch,
                                size_t width, size_t height, CopyKind kind, Stream* stream);
Status cudaMemcpy3D(const Copy3D* copy);
Status cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream);
Status cudaMemcpy3DBatchAsync(size_t count, const BatchCopy3D* copies, unsigned long long flags,
                              Stream* stream);
Status cudaMemcpyBatchAsync(void* const* targets, const void* const* sources, const size_t* sizes,
                            size_t count, const CopyAttributes* attributes, const size_t* begins,
                            size_t attribute_count, Stream* stream);
Status cudaMemcpyWithAttributesAsync(void* target, const void* source, size_t size,
                                     const CopyAttributes* attributes, Stream* stream);
Status cudaMemcpy3DWithAttributesAsync(const BatchCopy3D* from, unsigned long long flags, Stream* stream);
Status cudaMemcpy3DPeer(const Copy3DPeer* copy);
Status cudaMemcpy3DPeerAsync(const Copy3DPeer* copy, Stream* stream);
Status cudaMemcpyArrayToArray(Array* target, size_t target_x, size_t target_y, Array* source, size_t source_x,
                              size_t source_y, size_t count, CopyKind kind);
Status cudaMemcpyAsync(void* target, const void* source, size_t count, CopyKind kind, Stream* stream);
Status cudaMemcpyFromArray(void* target, Array* array, size_t x, size_t y, size_t count, CopyKind kind);
Status cudaMemcpyFromArrayAsync(void* target, Array* array, size_t x, size_t y, size_t count, CopyKind kind,
                                Stream* stream);
Status cudaMemcpyFromSymbol(void* target, const void* symbol, size_t count, size_t offset, CopyKind kind);
Status cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t count, size_t offset, CopyKind kind,
                                 Stream* stream);
Status cudaMemcpyToArray(Array* array, size_t x, size_t y, const void* source, size_t count, CopyKind kind);
Status cudaMemcpyToArrayAsync(Array* array, size_t x, size_t y, const void* source, size_t count,
                              CopyKind kind, Stream* stream);
Status cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count, size_t offset, CopyKind kind);
Status cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count, size_t offset,
                               CopyKind kind, Stream* stream);
Status cudaMemset(void* target, int value, size_t count);
Status cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height);
Status cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height, Stream* stream);
Status cudaMemset3D(PitchedPointer memory, int value, Sizes extent);
Status cudaMemset3DAsync(PitchedPointer memory, int value, Sizes extent, Stream* stream);
Status cudaMemsetAsync(void* target, int value, size_t count, Stream* stream);
Status cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* handle, int blocks, int threads);
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* handle, int threads,
                                                     size_t dynamic_shared);
Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* handle, int threads,
                                                              size_t dynamic_shared, unsigned);
Status cudaOccupancyMaxActiveClusters(int* clusters, const void* handle,
                                      const LaunchDescription* description);
Status cudaOccupancyMaxPotentialClusterSize(int* size, const void* handle,
                                            const LaunchDescription* description);
Status cudaLogsRegisterCallback(void* function, void*, void** handle);
Status cudaLogsUnregisterCallback(void* handle);
Status cudaProfilerStart();
Status cudaProfilerStop();
Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data, unsigned flags);
Status cudaStreamAttachMemAsync(Stream* stream, void* pointer, size_t, unsigned);
Status cudaStreamBeginCapture(Stream* stream, int mode);
Status cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph, Node* const* needs, const void*,
                                     size_t count, int mode);
Status cudaStreamCopyAttributes(Stream* target, Stream* source);
Status cudaStreamCreateWithFlags(Stream** out, unsigned flags);
Status cudaStreamCreateWithPriority(Stream** out, unsigned flags, int priority);
Status cudaStreamDestroy(Stream* stream);
Status cudaStreamEndCapture(Stream* handle, Graph** out);
Status cudaStreamGetCaptureInfo(Stream* handle, int* status, unsigned long long* id, Graph** graph,
                                Node* const** needs, const void** edges, size_t* count);
Status cudaStreamGetDevice(Stream* handle, int* device);
Status cudaStreamGetFlags(Stream* handle, unsigned* flags);
Status cudaStreamGetId(Stream* handle, unsigned long long* id);
Status cudaStreamGetAttribute(Stream* stream, int id, LaunchAttribute::Value* value);
Status cudaStreamGetPriority(Stream* handle, int* priority);
Status cudaStreamIsCapturing(Stream* handle, int* status);
Status cudaStreamQuery(Stream* handle);
Status cudaStreamSetAttribute(Stream* stream, int id, const LaunchAttribute::Value* value);
Status cudaStreamSynchronize(Stream* handle);
Status cudaStreamUpdateCaptureDependencies(Stream* handle, Node* const* needs, const void*, size_t count,
                                           unsigned flags);
Status cudaStreamWaitEvent(Stream* stream, Event* event, unsigned);
Status cudaThreadExchangeStreamCaptureMode(int* mode);
Status cudaUserObjectCreate(UserObject** out, void* data, HostFunction destroy, unsigned references,
                            unsigned flags);
Status cudaUserObjectRelease(UserObject* object, unsigned count);
Status cudaUserObjectRetain(UserObject* object, unsigned count);
Status cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count);
Status cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags);
}
