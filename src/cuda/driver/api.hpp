// The driver API's binary interface where it differs from the runtime's (cuda/runtime/api.hpp): structures of
// CUDA 13, from the documented API; checked against the vendor's header by tests/cuda/programs/layout.cu.
#pragma once

#include "cuda/runtime/api.hpp"

namespace lanescope::cuda {

/// CUmemorytype.
enum class DriverMemory : int { host = 1, device = 2, array = 3, unified = 4 };

/// CUDA_MEMCPY2D and its two sides.
struct DriverSide2D {
  size_t x, y;  ///< bytes, rows
  DriverMemory type;
  void* host;
  uint64_t device;
  Array* array;
  size_t pitch;
};
struct DriverCopy2D {
  DriverSide2D source, target;
  size_t width, height;  ///< bytes, rows
};
static_assert(sizeof(DriverCopy2D) == 128);

/// CUDA_MEMCPY3D.
struct DriverSide3D {
  size_t x, y, z, level;
  DriverMemory type;
  void* host;
  uint64_t device;
  Array* array;
  void* reserved;
  size_t pitch, height;
};
struct DriverCopy3D {
  DriverSide3D source, target;
  size_t width, height, depth;
};
static_assert(sizeof(DriverCopy3D) == 200);

/// CUarray_format.
enum class DriverFormat : int {
  unsigned8 = 0x01,
  unsigned16 = 0x02,
  unsigned32 = 0x03,
  signed8 = 0x08,
  signed16 = 0x09,
  signed32 = 0x0a,
  float16 = 0x10,
  float32 = 0x20,
};

/// CUDA_ARRAY_DESCRIPTOR.
struct DriverArray {
  size_t width, height;
  DriverFormat format;
  unsigned channels;
};
static_assert(sizeof(DriverArray) == 24);

/// CUDA_ARRAY3D_DESCRIPTOR.
struct DriverArray3D {
  size_t width, height, depth;
  DriverFormat format;
  unsigned channels;
  unsigned flags;
};
static_assert(sizeof(DriverArray3D) == 40);

/// CUDA_RESOURCE_DESC; types as in ResourceDescription.
struct DriverResource {
  int type;
  union {
    Array* array;
    MipmappedArray* mipmap;
    struct {
      uint64_t address;
      DriverFormat format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      uint64_t address;
      DriverFormat format;
      unsigned channels;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  unsigned flags;
};
static_assert(sizeof(DriverResource) == 144);

/// CUDA_TEXTURE_DESC.
struct DriverTexture {
  enum Flag : unsigned { read_as_integer = 0x01, normalized_coordinates = 0x02, srgb = 0x10 };
  int address[3];
  int filter;
  unsigned flags;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  float border[4];
  int reserved[12];
};
static_assert(sizeof(DriverTexture) == 104);

/// CUlaunchConfig.
struct DriverLaunch {
  Extent3 grid, block;
  unsigned dynamic_shared;
  Stream* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(DriverLaunch) == 56);

/// CUDA_KERNEL_NODE_PARAMS of version 2; version 1 is the runtime's.
struct DriverKernelNode {
  KernelNodeParams common;  ///< `function` may be null
  void* kernel;             ///< then this
  void* context;
};
static_assert(sizeof(DriverKernelNode) == 72);

/// CUmemAllocationProp.
struct PhysicalProperties {
  int type;          ///< 1: pinned
  int handle_types;  ///< that the memory may be shared by
  MemoryLocation location;
  void* windows;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(PhysicalProperties) == 32);

/// CUmemAccessDesc.
struct MemoryAccess {
  MemoryLocation location;
  int flags;  ///< 0 none, 1 read, 3 read and write
};
static_assert(sizeof(MemoryAccess) == 12);

/// CUuuid.
struct Uuid {
  char bytes[16];
};

}  // namespace lanescope::cuda
