// Our declarations of the structures of both APIs, and the driver's errors, against the vendor's, at compile
// time.
#include <cuda.h>

#include <cstddef>

#include "cuda/driver/api.hpp"

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
SAME(CopyAttributes, flags, cudaMemcpyAttributes, flags);
SAME(BatchCopy3D, target, cudaMemcpy3DBatchOp, dst);
SAME(BatchCopy3D, target.array.offset, cudaMemcpy3DBatchOp, dst.op.array.offset);
SAME(BatchCopy3D, target.memory.layer_height, cudaMemcpy3DBatchOp, dst.op.ptr.layerHeight);
SAME(BatchCopy3D, source_order, cudaMemcpy3DBatchOp, srcAccessOrder);
static_assert(sizeof(ours::BatchCopy3D) == sizeof(cudaMemcpy3DBatchOp));
static_assert(sizeof(ours::ChannelFormat) == sizeof(cudaChannelFormatDesc));
static_assert(sizeof(ours::PitchedPointer) == sizeof(cudaPitchedPtr));
static_assert(static_cast<int>(ours::Status::illegal_address) == cudaErrorIllegalAddress);
static_assert(static_cast<int>(ours::Status::invalid_resource_handle) == cudaErrorInvalidResourceHandle);
static_assert(static_cast<int>(ours::Status::not_permitted) == cudaErrorNotPermitted);
static_assert(static_cast<int>(ours::Status::capture_implicit) == cudaErrorStreamCaptureImplicit);
static_assert(static_cast<int>(ours::Status::graph_exec_update_failure) == cudaErrorGraphExecUpdateFailure);

#if CUDART_VERSION >= 13050
SAME(FunctionAttributes, updatable_on_device, cudaFuncAttributes, deviceNodeUpdateStatus);
SAME(FunctionAttributes, shared_memory_mode, cudaFuncAttributes, sharedMemoryMode);
SAME(PointerAttributes, locality_domain, cudaPointerAttributes, localityDomainOrdinal);
static_assert(int{ours::LaunchAttribute::shared_memory_mode} == cudaLaunchAttributeSharedMemoryMode);
static_assert(int{ours::LaunchAttribute::any_cluster} == cudaLaunchPortableClusterModeAllowNonPortable);
static_assert(int{ours::LaunchAttribute::any_shared} == cudaSharedMemoryModeAllowNonPortable);
#else  // errors that came later
enum : int {
  CUDA_ERROR_MULTICAST_RESOURCE_FULL = 47,
  CUDA_ERROR_INSUFFICIENT_LOADER_VERSION = 227,
  CUDA_ERROR_STREAM_DETACHED = 917,
  CUDA_ERROR_GRAPH_RECAPTURE_FAILURE = 918,
  CUDA_ERROR_FABRIC_NOT_READY = 919,
};
#endif

SAME(PhysicalProperties, location, CUmemAllocationProp, location);
SAME(PhysicalProperties, usage, CUmemAllocationProp, allocFlags.usage);
static_assert(sizeof(ours::PhysicalProperties) == sizeof(CUmemAllocationProp));
SAME(MemoryAccess, flags, CUmemAccessDesc, flags);
static_assert(sizeof(ours::MemoryAccess) == sizeof(CUmemAccessDesc));
SAME(DriverCopy2D, source.array, CUDA_MEMCPY2D, srcArray);
SAME(DriverCopy2D, target.type, CUDA_MEMCPY2D, dstMemoryType);
SAME(DriverCopy2D, target.pitch, CUDA_MEMCPY2D, dstPitch);
SAME(DriverCopy2D, height, CUDA_MEMCPY2D, Height);
SAME(DriverCopy3D, source.pitch, CUDA_MEMCPY3D, srcPitch);
SAME(DriverCopy3D, target.z, CUDA_MEMCPY3D, dstZ);
SAME(DriverCopy3D, target.device, CUDA_MEMCPY3D, dstDevice);
SAME(DriverCopy3D, target.height, CUDA_MEMCPY3D, dstHeight);
SAME(DriverCopy3D, depth, CUDA_MEMCPY3D, Depth);
SAME(DriverArray, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
SAME(DriverArray3D, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
SAME(DriverResource, of.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME(DriverResource, of.pitch2d.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
SAME(DriverTexture, flags, CUDA_TEXTURE_DESC, flags);
SAME(DriverTexture, border, CUDA_TEXTURE_DESC, borderColor);
SAME(DriverLaunch, dynamic_shared, CUlaunchConfig, sharedMemBytes);
SAME(DriverLaunch, attribute_count, CUlaunchConfig, numAttrs);
SAME(DriverKernelNode, common.dynamic_shared, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME(DriverKernelNode, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME(MemsetParams, height, CUDA_MEMSET_NODE_PARAMS, height);
static_assert(sizeof(ours::PoolProperties) == sizeof(CUmemPoolProps));
static_assert(static_cast<int>(ours::DriverFormat::signed32) == CU_AD_FORMAT_SIGNED_INT32);
static_assert(static_cast<int>(ours::DriverFormat::float32) == CU_AD_FORMAT_FLOAT);
static_assert(static_cast<int>(ours::DriverMemory::unified) == CU_MEMORYTYPE_UNIFIED);
#define LANESCOPE_DRIVER_ERROR(number, name) static_assert(number == name);
#include "cuda/driver/errors.def"

int main() { return 0; }
