// The functions of CUDA 12 and 11 that CUDA 13 has with other parameters or other structures: what a program
// passes is put as CUDA 13 has it, and what comes back as it was (sources: CUDA's headers of 11.8, 12.9
// and 13.0). Errors, those of null pointers among them, are left to the function of CUDA 13. Compiled for
// each of them.
#include <algorithm>
#include <cstring>

#include "cuda/older/of_13.hpp"
#include "cuda/older/structures.hpp"

using namespace lanescope::cuda;

LANESCOPE_DECLARE_OF_13(cudaCreateSurfaceObject, uint64_t* out, const ResourceDescription* resource);
LANESCOPE_DECLARE_OF_13(cudaCreateTextureObject, uint64_t* out, const ResourceDescription* resource,
                        const TextureDescription* how, const ViewDescription* view);
LANESCOPE_DECLARE_OF_13(cudaFuncGetAttributes, FunctionAttributes* out, const void* function);
LANESCOPE_DECLARE_OF_13(cudaDeviceGetAttribute, int* value, int attribute, int device);
LANESCOPE_DECLARE_OF_13(cudaGetDeviceProperties, DeviceProperties* out, int device);
LANESCOPE_DECLARE_OF_13(cudaGetSurfaceObjectResourceDesc, ResourceDescription* out, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGetTextureObjectResourceDesc, ResourceDescription* out, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGetTextureObjectTextureDesc, TextureDescription* out, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGetTextureObjectResourceViewDesc, ViewDescription* out, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGraphAddDependencies, Graph* graph, Node* const* from, Node* const* to,
                        const void* edges, size_t count);
LANESCOPE_DECLARE_OF_13(cudaGraphAddNode, Node** out, Graph* graph, Node* const* needs, const void* edges,
                        size_t count, void* params);
LANESCOPE_DECLARE_OF_13(cudaGraphGetEdges, const Graph* graph, Node** from, Node** to, void* edges,
                        size_t* count);
LANESCOPE_DECLARE_OF_13(cudaGraphNodeGetDependencies, const Node* node, Node** out, void* edges,
                        size_t* count);
LANESCOPE_DECLARE_OF_13(cudaGraphNodeGetDependentNodes, const Node* node, Node** out, void* edges,
                        size_t* count);
LANESCOPE_DECLARE_OF_13(cudaGraphRemoveDependencies, Graph* graph, Node* const* from, Node* const* to,
                        const void* edges, size_t count);
LANESCOPE_DECLARE_OF_13(cudaLaunchCooperativeKernel, const void* function, Extent3 grid, Extent3 block,
                        void** arguments, size_t shared, Stream* stream);
LANESCOPE_DECLARE_OF_13(cudaMemAdvise, const void* pointer, size_t size, int advice, MemoryLocation location);
LANESCOPE_DECLARE_OF_13(cudaPointerGetAttributes, PointerAttributes* out, const void* pointer);
LANESCOPE_DECLARE_OF_13(cudaRuntimeGetVersion, int* version);

namespace {

/// Bytes of CUDA 12's cudaDeviceProp, and of the one before, which it begins with.
constexpr size_t properties_bytes = 1032, properties_bytes_of_11 = 728;

/// cudaDeviceProp has its members in the same order, and in between some that CUDA 13 has as attributes only.
void write_older(void* older, const DeviceProperties& now, int device) {
  auto* to = static_cast<char*>(older);
  std::memset(to, 0, properties_bytes);
  /// From one member up to another one.
  const auto copy = [&](size_t offset, const void* first, const void* behind) {
    const auto bytes = static_cast<const char*>(behind) - static_cast<const char*>(first);
    std::memcpy(to + offset, first, static_cast<size_t>(bytes));
  };
  copy(0, &now, &now.max_grid[3]);
  copy(352, &now.constant_bytes, &now.multiprocessors);
  copy(388, &now.multiprocessors, &now.integrated);
  copy(396, &now.integrated, &now.max_texture_1d);
  copy(408, &now.max_texture_1d, &now.max_texture_2d);
  copy(420, &now.max_texture_2d, &now.max_surface_cubemap_layered[2]);
  copy(568, &now.surface_alignment, &now.memory_bus_bits);
  copy(612, &now.memory_bus_bits, &now.local_l1_cache + 1);
  copy(640, &now.shared_per_multiprocessor, &now.pageable_memory_access);
  copy(672, &now.pageable_memory_access, &now.cooperative_launch + 1);
  copy(696, &now.shared_per_block_optin, &now.numa_config);
  static constexpr struct {
    size_t offset;
    int attribute;
  } only_attributes[] = {
      {348, 13},  // clockRate
      {384, 15},  // deviceOverlap
      {392, 17},  // kernelExecTimeoutEnabled
      {404, 20},  // computeMode
      {416, 69},  // maxTexture1DLinear
      {608, 36},  // memoryClockRate
      {668, 87},  // singleToDoublePrecisionPerfRatio
      {692, 96},  // cooperativeMultiDeviceLaunch
  };
  for (const auto [offset, attribute] : only_attributes) {
    int value = 0;
    cudaDeviceGetAttribute_of_13(&value, attribute, device);
    std::memcpy(to + offset, &value, sizeof value);
  }
}

Status get_properties(void* older, size_t bytes, int device) {
  DeviceProperties now{};
  const Status status = cudaGetDeviceProperties_of_13(older == nullptr ? nullptr : &now, device);
  if (older == nullptr || status != Status::success) return status;
  char all[properties_bytes];
  write_older(all, now, device);
  std::memcpy(older, all, bytes);
  return status;
}

constexpr int on_device = 1, on_host = 2;

/// A device by its number, or the host.
MemoryLocation location_of(int device) {
  constexpr int host = -1;
  return device == host ? MemoryLocation{on_host, 0} : MemoryLocation{on_device, device};
}

/// Whether there is such a device; the runtime remembers if not.
Status check_device(int device) {
  constexpr int any_attribute = 1;
  int ignored = 0;
  return cudaDeviceGetAttribute_of_13(&ignored, any_attribute, device);
}

/// cudaLaunchParams.
struct LaunchParams {
  const void* function;
  Extent3 grid, block;
  void** arguments;
  size_t shared;
  Stream* stream;
};
static_assert(sizeof(LaunchParams) == 56);

}  // namespace

LANESCOPE_CUDA_API Status cudaRuntimeGetVersion(int* version) {
  const Status status = cudaRuntimeGetVersion_of_13(version);
  if (status == Status::success) *version = LANESCOPE_OLDER_VERSION;
  return status;
}

LANESCOPE_CUDA_API Status cudaGetDeviceProperties_v2(void* out, int device) {
  return get_properties(out, properties_bytes, device);
}

LANESCOPE_CUDA_API Status cudaGetDeviceProperties(void* out, int device) {
  return get_properties(out, properties_bytes_of_11, device);
}

LANESCOPE_CUDA_API Status cudaFuncGetAttributes(void* out, const void* function) {
  return fill_older(&cudaFuncGetAttributes_of_13, out, function);
}

LANESCOPE_CUDA_API Status cudaPointerGetAttributes(void* out, const void* pointer) {
  return fill_older(&cudaPointerGetAttributes_of_13, out, pointer);
}

LANESCOPE_CUDA_API Status cudaCreateTextureObject(uint64_t* out, const void* resource, const void* how,
                                                  const void* view) {
  return cudaCreateTextureObject_of_13(out, Longer<ResourceDescription>(resource).get(),
                                       Longer<TextureDescription>(how).get(),
                                       Longer<ViewDescription>(view).get());
}

LANESCOPE_CUDA_API Status cudaCreateSurfaceObject(uint64_t* out, const void* resource) {
  return cudaCreateSurfaceObject_of_13(out, Longer<ResourceDescription>(resource).get());
}

LANESCOPE_CUDA_API Status cudaGetTextureObjectResourceDesc(void* out, uint64_t handle) {
  return fill_older(&cudaGetTextureObjectResourceDesc_of_13, out, handle);
}

LANESCOPE_CUDA_API Status cudaGetTextureObjectTextureDesc(void* out, uint64_t handle) {
  return fill_older(&cudaGetTextureObjectTextureDesc_of_13, out, handle);
}

LANESCOPE_CUDA_API Status cudaGetSurfaceObjectResourceDesc(void* out, uint64_t handle) {
  return fill_older(&cudaGetSurfaceObjectResourceDesc_of_13, out, handle);
}

LANESCOPE_CUDA_API Status cudaGetTextureObjectResourceViewDesc(void* out, uint64_t handle) {
  return fill_older(&cudaGetTextureObjectResourceViewDesc_of_13, out, handle);
}

/// (On an H200 with the runtime of CUDA 12.9, advice of the other kinds takes any number.)
LANESCOPE_CUDA_API Status cudaMemAdvise(const void* pointer, size_t size, int advice, int device) {
  constexpr int set_preferred_location = 3, set_accessed_by = 5;
  if ((advice == set_preferred_location || advice == set_accessed_by) &&
      location_of(device).type == on_device)
    if (const Status status = check_device(device); status != Status::success) return status;
  return cudaMemAdvise_of_13(pointer, size, advice, location_of(device));
}

LANESCOPE_CUDA_API Status cudaGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                   size_t count) {
  return cudaGraphAddDependencies_of_13(graph, from, to, nullptr, count);
}

LANESCOPE_CUDA_API Status cudaGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                      size_t count) {
  return cudaGraphRemoveDependencies_of_13(graph, from, to, nullptr, count);
}

LANESCOPE_CUDA_API Status cudaGraphAddNode(Node** out, Graph* graph, Node* const* needs, size_t count,
                                           void* params) {
  return cudaGraphAddNode_of_13(out, graph, needs, nullptr, count, params);
}

LANESCOPE_CUDA_API Status cudaGraphGetEdges(const Graph* graph, Node** from, Node** to, size_t* count) {
  return cudaGraphGetEdges_of_13(graph, from, to, nullptr, count);
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetDependencies(const Node* node, Node** out, size_t* count) {
  return cudaGraphNodeGetDependencies_of_13(node, out, nullptr, count);
}

LANESCOPE_CUDA_API Status cudaGraphNodeGetDependentNodes(const Node* node, Node** out, size_t* count) {
  return cudaGraphNodeGetDependentNodes_of_13(node, out, nullptr, count);
}

/// There is one device, so that one launch is all there can be.
LANESCOPE_CUDA_API Status cudaLaunchCooperativeKernelMultiDevice(const LaunchParams* launches, unsigned count,
                                                                 unsigned) {
  if (launches == nullptr || count != 1) return lanescope_remember(Status::invalid_value);
  return cudaLaunchCooperativeKernel_of_13(launches->function, launches->grid, launches->block,
                                           launches->arguments, launches->shared, launches->stream);
}

/// Doubles are what they are on every chip that CUDA 12 knows.
LANESCOPE_CUDA_API Status cudaSetDoubleForDevice(double*) { return Status::success; }
LANESCOPE_CUDA_API Status cudaSetDoubleForHost(double*) { return Status::success; }

// Functions with a stream have a twin, for programs whose default stream is one of each thread.
#define LANESCOPE_WITH_STREAM(twin)                                                                          \
  LANESCOPE_DECLARE_OF_13(cudaMemPrefetchAsync##twin, const void* pointer, size_t size,                      \
                          MemoryLocation location, unsigned flags, Stream* stream);                          \
  LANESCOPE_CUDA_API Status cudaMemPrefetchAsync##twin(const void* pointer, size_t size, int device,         \
                                                       Stream* stream) {                                     \
    return cudaMemPrefetchAsync##twin##_of_13(pointer, size, location_of(device), 0, stream);                \
  }                                                                                                          \
                                                                                                             \
  LANESCOPE_DECLARE_OF_13(cudaStreamGetCaptureInfo##twin, Stream* stream, int* status,                       \
                          unsigned long long* id, Graph** graph, Node* const** needs, const void** edges,    \
                          size_t* count);                                                                    \
  LANESCOPE_CUDA_API Status cudaStreamGetCaptureInfo##twin(Stream* stream, int* status,                      \
                                                           unsigned long long* id) {                         \
    return cudaStreamGetCaptureInfo##twin##_of_13(stream, status, id, nullptr, nullptr, nullptr, nullptr);   \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cudaStreamGetCaptureInfo_v2##twin(Stream* stream, int* status,                   \
                                                              unsigned long long* id, Graph** graph,         \
                                                              Node* const** needs, size_t* count) {          \
    return cudaStreamGetCaptureInfo##twin##_of_13(stream, status, id, graph, needs, nullptr, count);         \
  }                                                                                                          \
                                                                                                             \
  LANESCOPE_DECLARE_OF_13(cudaStreamUpdateCaptureDependencies##twin, Stream* stream, Node* const* needs,     \
                          const void* edges, size_t count, unsigned flags);                                  \
  LANESCOPE_CUDA_API Status cudaStreamUpdateCaptureDependencies##twin(Stream* stream, Node* const* needs,    \
                                                                      size_t count, unsigned flags) {        \
    return cudaStreamUpdateCaptureDependencies##twin##_of_13(stream, needs, nullptr, count, flags);          \
  }                                                                                                          \
                                                                                                             \
  LANESCOPE_DECLARE_OF_13(cudaMemcpyBatchAsync##twin, void* const* targets, const void* const* sources,      \
                          const size_t* sizes, size_t count, const CopyAttributes* attributes,               \
                          const size_t* begins, size_t attribute_count, Stream* stream);                     \
  LANESCOPE_CUDA_API Status cudaMemcpyBatchAsync##twin(                                                      \
      void* const* targets, const void* const* sources, const size_t* sizes, size_t count,                   \
      const CopyAttributes* attributes, const size_t* begins, size_t attribute_count, size_t* failed,        \
      Stream* stream) {                                                                                      \
    return tell_place(cudaMemcpyBatchAsync##twin##_of_13(targets, sources, sizes, count, attributes, begins, \
                                                         attribute_count, stream),                           \
                      failed);                                                                               \
  }                                                                                                          \
                                                                                                             \
  LANESCOPE_DECLARE_OF_13(cudaMemcpy3DBatchAsync##twin, size_t count, const BatchCopy3D* copies,             \
                          unsigned long long flags, Stream* stream);                                         \
  LANESCOPE_CUDA_API Status cudaMemcpy3DBatchAsync##twin(                                                    \
      size_t count, const BatchCopy3D* copies, size_t* failed, unsigned long long flags, Stream* stream) {   \
    return tell_place(cudaMemcpy3DBatchAsync##twin##_of_13(count, copies, flags, stream), failed);           \
  }
LANESCOPE_WITH_STREAM()
LANESCOPE_WITH_STREAM(_ptsz)

#if LANESCOPE_OLDER == 12
/// The driver's functions of that release, some of which have other parameters today.
#define LANESCOPE_ENTRY_POINT(twin)                                                                          \
  LANESCOPE_DECLARE_OF_13(cudaGetDriverEntryPointByVersion##twin, const char* name, void** out,              \
                          unsigned version, unsigned long long flags, int* found);                           \
  LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint##twin(const char* name, void** out,                      \
                                                          unsigned long long flags, int* found) {            \
    return cudaGetDriverEntryPointByVersion##twin##_of_13(name, out, LANESCOPE_OLDER_VERSION, flags, found); \
  }
LANESCOPE_ENTRY_POINT()
LANESCOPE_ENTRY_POINT(_ptsz)
#endif
