// The CUDA runtime's binary interface as a program compiled by nvcc 13 sees it: the numbers, the structures
// and their layout. Written from the documented API; sizes are asserted, and checked against the vendor's
// headers by tests/cuda/programs where nvcc is found. Functions have CUDA's names and are the only ones this
// library exports.
#pragma once

#include <cstddef>
#include <cstdint>

#define LANESCOPE_CUDA_API extern "C" __attribute__((visibility("default")))

namespace lanescope::cuda {

/// cudaError_t. Those that this runtime returns itself; errors.def lists all.
enum class Status : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  invalid_channel_descriptor = 20,
  invalid_memcpy_direction = 21,
  invalid_filter_setting = 26,
  invalid_norm_setting = 27,
  missing_configuration = 52,
  invalid_device_function = 98,
  invalid_device = 101,
  invalid_kernel_image = 200,
  invalid_context = 201,
  map_failed = 205,
  no_kernel_image_for_device = 209,
  unsupported_limit = 215,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  file_not_found = 301,
  operating_system = 304,
  invalid_resource_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  context_is_destroyed = 709,
  assert_triggered = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_pc = 718,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  captured_event = 907,
  capture_wrong_thread = 908,
  graph_exec_update_failure = 910,
  invalid_cluster_size = 912,
  unknown = 999,
};

enum class CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, automatic };

enum class MemoryType : int { unregistered, host, device, managed };

/// dim3: three words in two registers, as by the C++ calling convention.
struct Extent3 {
  uint32_t x, y, z;
};

/// cudaExtent and cudaPos.
struct Sizes {
  size_t width, height, depth;
};

struct PitchedPointer {
  void* pointer;
  size_t pitch, width, height;
};
static_assert(sizeof(PitchedPointer) == 32);

/// cudaChannelFormatDesc; kind: 0 signed, 1 unsigned, 2 float, 3 none.
struct ChannelFormat {
  int x, y, z, w;
  int kind;
  [[nodiscard]] size_t bytes() const { return static_cast<size_t>(x + y + z + w) / 8; }
  /// 1, 2 or 4 of the same size; 0 for a format that no array and no texture can have.
  [[nodiscard]] int channels() const {
    constexpr int floating = 2;
    if (kind < 0 || kind > floating || (x != 8 && x != 16 && x != 32) || (x == 8 && kind == floating))
      return 0;
    if (y == 0 && z == 0 && w == 0) return 1;
    if (y == x && z == 0 && w == 0) return 2;
    return y == x && z == x && w == x ? 4 : 0;
  }
};
static_assert(sizeof(ChannelFormat) == 20);

/// cudaIpcMemHandle_t and cudaIpcEventHandle_t: of memory or of an event of a process, for others.
struct IpcHandle {
  uint64_t mark = 0;  ///< that it is ours, and of which kind
  uint64_t process = 0, file = 0, offset = 0, size = 0;
  uint64_t token = 0;  ///< of the file
  uint64_t unused[2] = {};
};
static_assert(sizeof(IpcHandle) == 64);

struct Array;
struct MipmappedArray;
struct Copy3D {
  Array* source_array;
  Sizes source_position;
  PitchedPointer source;
  Array* target_array;
  Sizes target_position;
  PitchedPointer target;
  Sizes extent;
  CopyKind kind;
};
static_assert(sizeof(Copy3D) == 160);

struct Copy3DPeer {
  Array* source_array;
  Sizes source_position;
  PitchedPointer source;
  int source_device;
  Array* target_array;
  Sizes target_position;
  PitchedPointer target;
  int target_device;
  Sizes extent;
};
static_assert(sizeof(Copy3DPeer) == 168);

struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int locality_domain;  ///< -1: of no part of the device
  int padding;
  long reserved[7];
};
static_assert(sizeof(PointerAttributes) == 88);

struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared_bytes, preferred_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
  int cluster_scheduling, non_portable_cluster_allowed;
  int updatable_on_device;  ///< a graph's node of it
  int shared_memory_mode;
  int reserved[14];
};
static_assert(sizeof(FunctionAttributes) == 144);

/// cudaLaunchAttribute: the ids that change how a kernel runs.
struct Event;
struct LaunchAttribute {
  enum Id : int {
    ignore = 0,
    access_policy_window = 1,
    cooperative = 2,
    synchronization_policy = 3,
    cluster_dimension = 4,
    programmatic_serialization = 6,
    programmatic_event = 7,
    priority = 8,
    memory_domains = 9,
    memory_domain = 10,
    completion_event = 12,
    updatable_on_device = 13,
    cluster_mode = 17,
    shared_memory_mode = 18,
  };
  int id;
  int padding;
  union Value {
    char bytes[64];
    int number;
    Extent3 dimension;
    Event* event;
  } value;
  /// cudaLaunchAttributePortableClusterMode and cudaSharedMemoryMode: whether a launch may have what only
  /// some chips give; by itself what the function may. Oversized memory is that of chips that are not here.
  enum ClusterMode : int { cluster_by_function, portable_cluster, any_cluster };
  enum SharedMemoryMode : int {
    shared_by_function,
    portable_shared,
    any_shared,
    oversized_shared,
    preferably_oversized_shared,
  };
  /// CUsynchronizationPolicy: 1 to 4.
  static bool is_policy(int number) { return number >= 1 && number <= 4; }
};
static_assert(sizeof(LaunchAttribute) == 72);

struct Stream;
struct LaunchDescription {
  Extent3 grid, block;
  size_t dynamic_shared;
  Stream* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchDescription) == 56);

struct MemoryLocation {
  int type;  ///< 1 device, 2 host
  int id;
};

/// cudaMemcpyAttributes.
struct CopyAttributes {
  int source_order;  ///< 1 in the stream's order, 2 before the call returns, 3 at any time
  MemoryLocation source_hint, target_hint;
  unsigned flags;
};
static_assert(sizeof(CopyAttributes) == 24);

/// cudaMemcpy3DOperand and cudaMemcpy3DBatchOp.
struct CopyOperand {
  int type;  ///< 1 memory, 2 an array
  union {
    struct {
      void* pointer;
      size_t row_length, layer_height;  ///< in elements and rows; 0: those of the copy
      MemoryLocation hint;
    } memory;
    struct {
      Array* array;
      Sizes offset;
    } array;
  };
};
struct BatchCopy3D {
  CopyOperand source, target;
  Sizes extent;
  int source_order;
  unsigned flags;
};
static_assert(sizeof(BatchCopy3D) == 112);

/// What the functions for batches of CUDA 12 say besides: which copy was refused. That is not known here:
/// none by itself, as if nothing was.
inline Status tell_place(Status status, size_t* failed) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return status;
}

struct PoolProperties {
  int allocation_type;
  int handle_types;
  MemoryLocation location;
  void* security_attributes;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(PoolProperties) == 88);

/// cudaDeviceProp of CUDA 13.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  size_t global_bytes;
  size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  size_t memory_pitch;
  int max_threads_per_block;
  int max_block[3];
  int max_grid[3];
  size_t constant_bytes;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors;
  int integrated, can_map_host_memory;
  int max_texture_1d, max_texture_1d_mipmap, max_texture_2d[2], max_texture_2d_mipmap[2],
      max_texture_2d_linear[3];
  int max_texture_2d_gather[2], max_texture_3d[3], max_texture_3d_alt[3], max_texture_cubemap;
  int max_texture_1d_layered[2], max_texture_2d_layered[3], max_texture_cubemap_layered[2];
  int max_surface_1d, max_surface_2d[2], max_surface_3d[3], max_surface_1d_layered[2],
      max_surface_2d_layered[3];
  int max_surface_cubemap, max_surface_cubemap_layered[2];
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc_driver, async_engines, unified_addressing;
  int memory_bus_bits, l2_bytes, persisting_l2_bytes, max_threads_per_multiprocessor;
  int stream_priorities, global_l1_cache, local_l1_cache;
  size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory, multi_gpu_board, multi_gpu_board_group, host_native_atomics, pageable_memory_access;
  int concurrent_managed_access, compute_preemption, host_pointer_for_registered, cooperative_launch;
  size_t shared_per_block_optin;
  int pageable_uses_host_tables, direct_managed_access_from_host, max_blocks_per_multiprocessor;
  int access_policy_window_bytes;
  size_t reserved_shared_per_block;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools,
      gpu_direct_rdma;
  unsigned gpu_direct_flush_options;
  int gpu_direct_ordering;
  unsigned pool_handle_types;
  int deferred_arrays, ipc_events, cluster_launch, unified_function_pointers;
  int numa_config, numa_id, mps, host_numa_id;
  unsigned pci_device_id, pci_subsystem_id;
  int host_numa_ipc;
  int reserved[56];
};
static_assert(sizeof(DeviceProperties) == 1008);

struct KernelNodeParams {
  void* function;
  Extent3 grid, block;
  unsigned dynamic_shared;
  void** arguments;
  void** extra;
};
static_assert(sizeof(KernelNodeParams) == 56);

struct MemsetParams {
  void* target;
  size_t pitch;
  unsigned value;
  unsigned element_bytes;
  size_t width, height;
};
static_assert(sizeof(MemsetParams) == 40);

using HostFunction = void (*)(void* data);
struct HostNodeParams {
  HostFunction function;
  void* data;
};

using StreamCallback = void (*)(Stream*, Status, void* data);

}  // namespace lanescope::cuda
