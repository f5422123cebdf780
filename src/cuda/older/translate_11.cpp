// Functions that CUDA 11 has otherwise than CUDA 12 and 13 (source: CUDA's headers of 11.8 and 12.9).
#include "cuda/older/of_13.hpp"
#include "cuda/older/structures.hpp"

using namespace lanescope::cuda;

namespace {

/// cudaGraphExecUpdateResultInfo of CUDA 12 and 13.
struct UpdateInfo {
  int result;
  Node *failed, *from;
};

}  // namespace

LANESCOPE_DECLARE_OF_13(cudaCreateTextureObject, uint64_t* out, const ResourceDescription* resource,
                        const TextureDescription* how, const ViewDescription* view);
LANESCOPE_DECLARE_OF_13(cudaGetTextureObjectTextureDesc, TextureDescription* out, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGraphExecUpdate, struct Executable* executable, Graph* graph, UpdateInfo* info);
LANESCOPE_DECLARE_OF_13(cudaGraphInstantiate, struct Executable** out, Graph* graph,
                        unsigned long long flags);

/// Nothing is said of why a graph cannot be made: no node, an empty text.
LANESCOPE_CUDA_API Status cudaGraphInstantiate(struct Executable** out, Graph* graph, Node** failed,
                                               char* log, size_t log_bytes) {
  if (failed != nullptr) *failed = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return cudaGraphInstantiate_of_13(out, graph, 0);
}

LANESCOPE_CUDA_API Status cudaGraphExecUpdate(struct Executable* executable, Graph* graph, Node** failed,
                                              int* result) {
  UpdateInfo info{};
  const Status status = cudaGraphExecUpdate_of_13(executable, graph, &info);
  if (failed != nullptr) *failed = info.failed;
  if (result != nullptr) *result = info.result;
  return status;
}

/// Of 11.8, with the description that CUDA 12 has.
LANESCOPE_CUDA_API Status cudaCreateTextureObject_v2(uint64_t* out, const void* resource,
                                                     const TextureDescription* how, const void* view) {
  return cudaCreateTextureObject_of_13(out, Longer<ResourceDescription>(resource).get(), how,
                                       Longer<ViewDescription>(view).get());
}
LANESCOPE_CUDA_API Status cudaGetTextureObjectTextureDesc_v2(TextureDescription* out, uint64_t handle) {
  return cudaGetTextureObjectTextureDesc_of_13(out, handle);
}

/// What a file would set up is no matter here, as it was on no chip of CUDA 11.
LANESCOPE_CUDA_API Status cudaProfilerInitialize(const char*, const char*, int) { return Status::success; }

/// The driver's functions of that release, some of which have other parameters today.
#define LANESCOPE_ENTRY_POINT(twin)                                                                  \
  LANESCOPE_DECLARE_OF_13(cudaGetDriverEntryPointByVersion##twin, const char* name, void** out,      \
                          unsigned version, unsigned long long flags, int* found);                   \
  LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint##twin(const char* name, void** out,              \
                                                          unsigned long long flags) {                \
    return cudaGetDriverEntryPointByVersion##twin##_of_13(name, out, LANESCOPE_OLDER_VERSION, flags, \
                                                          nullptr);                                  \
  }
LANESCOPE_ENTRY_POINT()
LANESCOPE_ENTRY_POINT(_ptsz)
