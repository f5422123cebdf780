// Our declarations of the runtime's structures against the vendor's, at compile time.
#include <cstddef>

#include "cuda/runtime/api.hpp"

namespace ours = lanescope::cuda;

#define SAME(Ours, ours_field, Theirs, their_field) \
  static_assert(offsetof(ours::Ours, ours_field) == offsetof(Theirs, their_field))

static_assert(sizeof(ours::DeviceProperties) == sizeof(cudaDeviceProp));
SAME(DeviceProperties, global_bytes, cudaDeviceProp, totalGlobalMem);
SAME(DeviceProperties, max_threads_per_block, cudaDeviceProp, maxThreadsPerBlock);
SAME(DeviceProperties, major, cudaDeviceProp, major);
SAME(DeviceProperties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME(DeviceProperties, max_texture_1d, cudaDeviceProp, maxTexture1D);
SAME(DeviceProperties, max_surface_1d, cudaDeviceProp, maxSurface1D);
SAME(DeviceProperties, surface_alignment, cudaDeviceProp, surfaceAlignment);
SAME(DeviceProperties, ecc, cudaDeviceProp, ECCEnabled);
SAME(DeviceProperties, memory_bus_bits, cudaDeviceProp, memoryBusWidth);
SAME(DeviceProperties, l2_bytes, cudaDeviceProp, l2CacheSize);
SAME(DeviceProperties, shared_per_multiprocessor, cudaDeviceProp, sharedMemPerMultiprocessor);
SAME(DeviceProperties, managed_memory, cudaDeviceProp, managedMemory);
SAME(DeviceProperties, cooperative_launch, cudaDeviceProp, cooperativeLaunch);
SAME(DeviceProperties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME(DeviceProperties, max_blocks_per_multiprocessor, cudaDeviceProp, maxBlocksPerMultiProcessor);
SAME(DeviceProperties, reserved_shared_per_block, cudaDeviceProp, reservedSharedMemPerBlock);
SAME(DeviceProperties, memory_pools, cudaDeviceProp, memoryPoolsSupported);
SAME(DeviceProperties, cluster_launch, cudaDeviceProp, clusterLaunch);
SAME(DeviceProperties, host_numa_ipc, cudaDeviceProp, hostNumaMultinodeIpcSupported);
SAME(FunctionAttributes, registers, cudaFuncAttributes, numRegs);
SAME(FunctionAttributes, max_dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME(FunctionAttributes, non_portable_cluster_allowed, cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME(Copy3D, source_position, cudaMemcpy3DParms, srcPos);
SAME(Copy3D, target, cudaMemcpy3DParms, dstPtr);
SAME(Copy3D, extent, cudaMemcpy3DParms, extent);
SAME(Copy3D, kind, cudaMemcpy3DParms, kind);
SAME(Copy3DPeer, target_array, cudaMemcpy3DPeerParms, dstArray);
SAME(Copy3DPeer, extent, cudaMemcpy3DPeerParms, extent);
SAME(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
SAME(LaunchDescription, stream, cudaLaunchConfig_t, stream);
SAME(LaunchDescription, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME(LaunchAttribute, value, cudaLaunchAttribute, val);
SAME(PoolProperties, max_size, cudaMemPoolProps, maxSize);
SAME(KernelNodeParams, arguments, cudaKernelNodeParams, kernelParams);
SAME(MemsetParams, width, cudaMemsetParams, width);
static_assert(sizeof(ours::ChannelFormat) == sizeof(cudaChannelFormatDesc));
static_assert(sizeof(ours::PitchedPointer) == sizeof(cudaPitchedPtr));
static_assert(static_cast<int>(ours::Status::illegal_address) == cudaErrorIllegalAddress);
static_assert(static_cast<int>(ours::Status::invalid_resource_handle) == cudaErrorInvalidResourceHandle);
static_assert(static_cast<int>(ours::Status::not_permitted) == cudaErrorNotPermitted);
static_assert(static_cast<int>(ours::Status::capture_implicit) == cudaErrorStreamCaptureImplicit);
static_assert(static_cast<int>(ours::Status::graph_exec_update_failure) == cudaErrorGraphExecUpdateFailure);

int main() { return 0; }
