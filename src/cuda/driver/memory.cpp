// Memory, copies and sets.
#include <algorithm>
#include <cstring>

#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/copy.hpp"

namespace lanescope::cuda {
namespace {

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

/// One side of a copy as the runtime describes it. Places in arrays count elements there, bytes here.
bool to_side(const DriverSide3D& side, const DriverCopy3D& copy, Array*& array, Sizes& position,
             PitchedPointer& memory) {
  position = {side.x, side.y, side.z};
  switch (side.type) {
    case DriverMemory::array: {
      if (side.array == nullptr) return false;
      const size_t element = side.array->format.bytes();
      array = side.array;
      position.width /= element;
      return is_empty(copy) || side.x % element == 0;
    }
    case DriverMemory::host: memory.pointer = side.host; break;
    case DriverMemory::device:
    case DriverMemory::unified: memory.pointer = pointer(side.device); break;
    default: return false;
  }
  // As an H100's driver has it: what is left out is as much as is needed, what is there has to be enough, if
  // anything is copied.
  const size_t width = side.x + copy.width, rows = side.y + copy.height;
  memory.pitch = side.pitch != 0 ? side.pitch : width;
  memory.height = side.height != 0 ? side.height : rows;
  return memory.pointer != nullptr && (is_empty(copy) || (memory.pitch >= width && memory.height >= rows));
}

bool is_of_host(DriverMemory type) { return type == DriverMemory::host; }

CopyKind direction(DriverMemory source, DriverMemory target) {
  if (source == DriverMemory::unified || target == DriverMemory::unified) return CopyKind::automatic;
  if (is_of_host(source)) return is_of_host(target) ? CopyKind::host_to_host : CopyKind::host_to_device;
  return is_of_host(target) ? CopyKind::device_to_host : CopyKind::device_to_device;
}

Status copy_box(const DriverCopy3D* copy, Stream* stream) {
  return with_copy(copy, [&](const Copy3D& box) {
    return is_empty(*copy) ? Status::success : cudaMemcpy3DAsync(&box, stream);
  });
}

Status copy_rows(const DriverCopy2D* copy, Stream* stream) {
  if (copy == nullptr) return copy_box(nullptr, stream);
  const auto side = [](const DriverSide2D& s) {
    return DriverSide3D{s.x, s.y, 0, 0, s.type, s.host, s.device, s.array, nullptr, s.pitch, 0};
  };
  const DriverCopy3D box{side(copy->source), side(copy->target), copy->width, copy->height, 1};
  return copy_box(&box, stream);
}

Status copy_line(uint64_t target, uint64_t source, size_t bytes, CopyKind kind, Stream* stream) {
  return in_context_of(
      stream, [&] { return cudaMemcpyAsync(pointer(target), pointer(source), bytes, kind, stream); });
}

/// Runs a function of the driver about a part of an array's first row, from a byte on.
template <typename F>
Status in_row(const Array* array, size_t offset, size_t bytes, F&& body) {
  return in_context([&] {
    const bool fits = array == nullptr || (offset <= array->pitch() && bytes <= array->pitch() - offset);
    return fits ? body() : Status::invalid_value;
  });
}

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

Status set(uint64_t target, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width, size_t height,
           Stream* stream) {
  return in_context_of(stream, [&] {
    SetWork work;
    work.target = target;
    work.value = value;
    work.element_bytes = element_bytes;
    work.width = width;
    work.height = height;
    work.pitch = pitch;
    return submit_set(work, stream);
  });
}

/// CUpointer_attribute.
enum PointerAttribute : int {
  context = 1,
  memory_type,
  device_pointer,
  host_pointer,
  sync_memops = 6,
  buffer_id,
  is_managed,
  device_ordinal,
  is_ipc_capable,
  range_start,
  range_size,
  mapped,
  handle_types,
  is_rdma_capable,
  access_flags,
  locality_domain = 22,
  first_unknown,
};
/// Those that are an int; the others have 64 bits.
bool is_number(int attribute) {
  return attribute == memory_type || attribute == sync_memops || attribute == is_managed ||
         attribute == device_ordinal || attribute == is_ipc_capable || attribute == mapped ||
         attribute == is_rdma_capable || attribute == access_flags || attribute == locality_domain;
}

bool is_attribute(int attribute) { return attribute >= context && attribute < first_unknown; }

Status pointer_attribute(void* out, int attribute, uint64_t at) {
  return call([&](Runtime& runtime) {
    const auto allocation = runtime.memory.find(at);
    const MemoryType type = runtime.type_at(at).value_or(MemoryType::device);
    Block block;
    const bool of_process = runtime.find_block(at, block) && block.of_process;
    const auto put = [&](auto value) {
      std::memcpy(out, &value, sizeof value);
      return Status::success;
    };
    if (out == nullptr || !allocation || !is_attribute(attribute)) return Status::invalid_value;
    switch (attribute) {
      case context: return put(current_context);
      case memory_type: return put(type == MemoryType::host ? DriverMemory::host : DriverMemory::device);
      case device_pointer: return put(at);
      case host_pointer: return type == MemoryType::device ? Status::invalid_value : put(at);
      case sync_memops: return put(type == MemoryType::managed ? 1 : 0);
      case buffer_id:
      case range_start: return put(allocation->base);
      case is_managed: return put(type == MemoryType::managed ? 1 : 0);
      case device_ordinal: return put(0);
      case range_size: return put(allocation->size);
      case mapped: return put(1);
      case handle_types: return put(uint64_t{0});
      case is_ipc_capable: return put(type == MemoryType::device && !of_process ? 1 : 0);
      case is_rdma_capable: return put(type == MemoryType::device ? 1 : 0);
      case access_flags: return put(3);      // read and written
      case locality_domain: return put(-1);  // of no part of the device
      default: return Status::not_supported;
    }
  });
}

}  // namespace

bool to_copy(const DriverCopy3D* from, Copy3D& to) {
  if (from == nullptr || !to_side(from->source, *from, to.source_array, to.source_position, to.source) ||
      !to_side(from->target, *from, to.target_array, to.target_position, to.target))
    return false;
  const Array* array = to.source_array != nullptr ? to.source_array : to.target_array;
  const size_t element = array != nullptr ? array->format.bytes() : 1;
  to.extent = {from->width / element, from->height, from->depth};
  to.kind = direction(from->source.type, from->target.type);
  return from->width % element == 0;
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuMemAlloc_v2(void** out, size_t bytes) {
  return in_context([&] {
    if (out != nullptr) *out = nullptr;
    return bytes == 0 ? Status::invalid_value : cudaMalloc(out, bytes);
  });
}

LANESCOPE_CUDA_API Status cuMemAllocPitch_v2(void** out, size_t* pitch, size_t width, size_t height,
                                             unsigned element_bytes) {
  return in_context([&] {
    if (pitch != nullptr) *pitch = 0;
    if (out != nullptr) *out = nullptr;
    const bool is_possible = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (!is_possible || width == 0 || height == 0) return Status::invalid_value;
    return cudaMallocPitch(out, pitch, width, height);
  });
}

LANESCOPE_CUDA_API Status cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return in_context([&] {
    constexpr unsigned all_flags = 7;  // portable, mapped, write-combined: checked even for no bytes
    return (flags & ~all_flags) != 0 ? Status::invalid_value : cudaHostAlloc(out, bytes, flags);
  });
}

LANESCOPE_CUDA_API Status cuMemAllocManaged(void** out, size_t bytes, unsigned flags) {
  return in_context(
      [&] { return bytes == 0 ? Status::invalid_value : cudaMallocManaged(out, bytes, flags); });
}

LANESCOPE_PASS_2(cuIpcGetMemHandle, cudaIpcGetMemHandle, by_context)
LANESCOPE_PASS_3(cuIpcOpenMemHandle, cudaIpcOpenMemHandle, by_context)
LANESCOPE_PASS_3(cuIpcOpenMemHandle_v2, cudaIpcOpenMemHandle, by_context)
LANESCOPE_PASS_1(cuIpcCloseMemHandle, cudaIpcCloseMemHandle, by_context)
LANESCOPE_PASS_2(cuMemAllocHost_v2, cudaMallocHost, by_context)
LANESCOPE_PASS_1(cuMemFree_v2, cudaFree, by_driver)
LANESCOPE_PASS_1(cuMemFreeHost, cudaFreeHost, by_driver)
LANESCOPE_PASS_3(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer, by_context)
LANESCOPE_PASS_2(cuMemHostGetFlags, cudaHostGetFlags, by_context)
LANESCOPE_PASS_3(cuMemHostRegister_v2, cudaHostRegister, by_context)
LANESCOPE_PASS_1(cuMemHostUnregister, cudaHostUnregister, by_context)
LANESCOPE_PASS_2(cuMemGetInfo_v2, cudaMemGetInfo, by_context)
LANESCOPE_PASS_3(cuMemAllocAsync, cudaMallocAsync, by_stream)
LANESCOPE_PASS_4(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync, by_stream)
LANESCOPE_PASS_2(cuMemFreeAsync, cudaFreeAsync, by_stream)
LANESCOPE_PASS_2(cuMemPoolCreate, cudaMemPoolCreate, by_driver)
LANESCOPE_PASS_1(cuMemPoolDestroy, cudaMemPoolDestroy, by_driver)
LANESCOPE_PASS_2(cuMemPoolTrimTo, cudaMemPoolTrimTo, by_driver)
LANESCOPE_PASS_3(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, by_driver)
LANESCOPE_PASS_3(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, by_driver)
LANESCOPE_PASS_3(cuMemPoolSetAccess, cudaMemPoolSetAccess, by_driver)
LANESCOPE_PASS_3(cuMemPoolGetAccess, cudaMemPoolGetAccess, by_driver)
LANESCOPE_PASS_4(cuMemAdvise_v2, cudaMemAdvise, by_context)
LANESCOPE_PASS_5(cuMemPrefetchAsync_v2, cudaMemPrefetchAsync, by_context)
LANESCOPE_PASS_5(cuMemRangeGetAttribute, cudaMemRangeGetAttribute, by_context)
LANESCOPE_PASS_6(cuMemRangeGetAttributes, cudaMemRangeGetAttributes, by_context)

LANESCOPE_CUDA_API Status cuMemAdvise(const void* at, size_t bytes, int advice, int device) {
  return cuMemAdvise_v2(at, bytes, advice, {device < 0 ? 2 : 1, device});
}

LANESCOPE_CUDA_API Status cuMemPrefetchAsync(const void* at, size_t bytes, int device, Stream* stream) {
  return cuMemPrefetchAsync_v2(at, bytes, {device < 0 ? 2 : 1, device}, 0, stream);
}

LANESCOPE_CUDA_API Status cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t at) {
  return in_context([&] {
    return call([&](Runtime& runtime) {
      const auto allocation = runtime.memory.find(at);
      if (!allocation) return Status::symbol_not_found;
      if (base != nullptr) *base = allocation->base;
      if (bytes != nullptr) *bytes = allocation->size;
      return Status::success;
    });
  });
}

LANESCOPE_CUDA_API Status cuPointerGetAttribute(void* out, int attribute, uint64_t at) {
  return driver([&] { return pointer_attribute(out, attribute, at); });
}

/// Whether copies of it wait is all that can be set; here they do as its kind of memory has it.
LANESCOPE_CUDA_API Status cuPointerSetAttribute(const void* value, int attribute, uint64_t at) {
  return driver([&] {
    return call([&](Runtime& runtime) {
      const bool is_possible = value != nullptr && attribute == sync_memops && runtime.memory.find(at);
      return is_possible ? Status::success : Status::invalid_value;
    });
  });
}

/// What is not known of the pointer is zero, or no device.
LANESCOPE_CUDA_API Status cuPointerGetAttributes(unsigned count, const int* attributes, void** out,
                                                 uint64_t at) {
  return in_context([&] {
    if (attributes == nullptr || out == nullptr || !std::all_of(attributes, attributes + count, is_attribute))
      return Status::invalid_value;
    for (unsigned i = 0; i < count; ++i) {
      constexpr int no_device = -2;
      const int attribute = attributes[i];
      if (pointer_attribute(out[i], attribute, at) == Status::success || out[i] == nullptr) continue;
      if (attribute == device_ordinal)
        std::memcpy(out[i], &no_device, sizeof no_device);
      else
        std::memset(out[i], 0, is_number(attribute) ? sizeof(int) : sizeof(uint64_t));
    }
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, Stream* stream) {
  return copy_line(target, source, bytes, CopyKind::automatic, stream);
}
LANESCOPE_CUDA_API Status cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t bytes,
                                               Stream* stream) {
  return copy_line(target, address(source), bytes, CopyKind::host_to_device, stream);
}
LANESCOPE_CUDA_API Status cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t bytes, Stream* stream) {
  return copy_line(address(target), source, bytes, CopyKind::device_to_host, stream);
}
LANESCOPE_CUDA_API Status cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes,
                                               Stream* stream) {
  return copy_line(target, source, bytes, CopyKind::device_to_device, stream);
}
LANESCOPE_CUDA_API Status cuMemcpyPeerAsync(uint64_t target, Context*, uint64_t source, Context*,
                                            size_t bytes, Stream* stream) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, stream);
}
LANESCOPE_CUDA_API Status cuMemcpy(uint64_t target, uint64_t source, size_t bytes) {
  return cuMemcpyAsync(target, source, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyHtoD_v2(uint64_t target, const void* source, size_t bytes) {
  return cuMemcpyHtoDAsync_v2(target, source, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyDtoH_v2(void* target, uint64_t source, size_t bytes) {
  return cuMemcpyDtoHAsync_v2(target, source, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t bytes) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyPeer(uint64_t target, Context*, uint64_t source, Context*, size_t bytes) {
  return cuMemcpyDtoD_v2(target, source, bytes);
}

// A part of an array's first row, from a byte on.
LANESCOPE_CUDA_API Status cuMemcpyHtoAAsync_v2(Array* target, size_t offset, const void* source, size_t bytes,
                                               Stream* stream) {
  return in_row(target, offset, bytes, [&] {
    return cudaMemcpyToArrayAsync(target, offset, 0, source, bytes, CopyKind::host_to_device, stream);
  });
}
LANESCOPE_CUDA_API Status cuMemcpyAtoHAsync_v2(void* target, Array* source, size_t offset, size_t bytes,
                                               Stream* stream) {
  return in_row(source, offset, bytes, [&] {
    return cudaMemcpyFromArrayAsync(target, source, offset, 0, bytes, CopyKind::device_to_host, stream);
  });
}
LANESCOPE_CUDA_API Status cuMemcpyHtoA_v2(Array* target, size_t offset, const void* source, size_t bytes) {
  return cuMemcpyHtoAAsync_v2(target, offset, source, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyAtoH_v2(void* target, Array* source, size_t offset, size_t bytes) {
  return cuMemcpyAtoHAsync_v2(target, source, offset, bytes, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpyDtoA_v2(Array* target, size_t offset, uint64_t source, size_t bytes) {
  return in_row(target, offset, bytes, [&] {
    return cudaMemcpyToArray(target, offset, 0, pointer(source), bytes, CopyKind::device_to_device);
  });
}
LANESCOPE_CUDA_API Status cuMemcpyAtoD_v2(uint64_t target, Array* source, size_t offset, size_t bytes) {
  return in_row(source, offset, bytes, [&] {
    return cudaMemcpyFromArray(pointer(target), source, offset, 0, bytes, CopyKind::device_to_device);
  });
}
LANESCOPE_CUDA_API Status cuMemcpyAtoA_v2(Array* target, size_t target_offset, Array* source,
                                          size_t source_offset, size_t bytes) {
  return in_row(target, target_offset, bytes, [&] {
    return in_row(source, source_offset, bytes, [&] {
      return cudaMemcpyArrayToArray(target, target_offset, 0, source, source_offset, 0, bytes,
                                    CopyKind::device_to_device);
    });
  });
}

LANESCOPE_CUDA_API Status cuMemcpy2DAsync_v2(const DriverCopy2D* copy, Stream* stream) {
  return copy_rows(copy, stream);
}
LANESCOPE_CUDA_API Status cuMemcpy2D_v2(const DriverCopy2D* copy) { return copy_rows(copy, nullptr); }
LANESCOPE_CUDA_API Status cuMemcpy2DUnaligned_v2(const DriverCopy2D* copy) {
  return copy_rows(copy, nullptr);
}
LANESCOPE_CUDA_API Status cuMemcpy3DAsync_v2(const DriverCopy3D* copy, Stream* stream) {
  return copy_box(copy, stream);
}
LANESCOPE_CUDA_API Status cuMemcpy3D_v2(const DriverCopy3D* copy) { return copy_box(copy, nullptr); }

LANESCOPE_PASS_8(cuMemcpyBatchAsync_v2, cudaMemcpyBatchAsync, by_context)
LANESCOPE_PASS_4(cuMemcpy3DBatchAsync_v2, cudaMemcpy3DBatchAsync, by_context)
// Those of CUDA 12.
LANESCOPE_CUDA_API Status cuMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                             const size_t* sizes, size_t count,
                                             const CopyAttributes* attributes, const size_t* begins,
                                             size_t attribute_count, size_t* failed, Stream* stream) {
  return tell_place(
      cuMemcpyBatchAsync_v2(targets, sources, sizes, count, attributes, begins, attribute_count, stream),
      failed);
}
LANESCOPE_CUDA_API Status cuMemcpy3DBatchAsync(size_t count, const BatchCopy3D* copies, size_t* failed,
                                               unsigned long long flags, Stream* stream) {
  return tell_place(cuMemcpy3DBatchAsync_v2(count, copies, flags, stream), failed);
}
LANESCOPE_PASS_5(cuMemcpyWithAttributesAsync, cudaMemcpyWithAttributesAsync, by_stream)
LANESCOPE_PASS_3(cuMemcpy3DWithAttributesAsync, cudaMemcpy3DWithAttributesAsync, by_stream)

LANESCOPE_CUDA_API Status cuMemsetD8Async(uint64_t target, unsigned char value, size_t count,
                                          Stream* stream) {
  return set(target, 0, value, 1, count, 1, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD16Async(uint64_t target, unsigned short value, size_t count,
                                           Stream* stream) {
  return set(target, 0, value, 2, count, 1, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD32Async(uint64_t target, unsigned value, size_t count, Stream* stream) {
  return set(target, 0, value, 4, count, 1, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD2D8Async(uint64_t target, size_t pitch, unsigned char value, size_t width,
                                            size_t height, Stream* stream) {
  return set(target, pitch, value, 1, width, height, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD2D16Async(uint64_t target, size_t pitch, unsigned short value,
                                             size_t width, size_t height, Stream* stream) {
  return set(target, pitch, value, 2, width, height, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD2D32Async(uint64_t target, size_t pitch, unsigned value, size_t width,
                                             size_t height, Stream* stream) {
  return set(target, pitch, value, 4, width, height, stream);
}
LANESCOPE_CUDA_API Status cuMemsetD8_v2(uint64_t target, unsigned char value, size_t count) {
  return cuMemsetD8Async(target, value, count, nullptr);
}
LANESCOPE_CUDA_API Status cuMemsetD16_v2(uint64_t target, unsigned short value, size_t count) {
  return cuMemsetD16Async(target, value, count, nullptr);
}
LANESCOPE_CUDA_API Status cuMemsetD32_v2(uint64_t target, unsigned value, size_t count) {
  return cuMemsetD32Async(target, value, count, nullptr);
}
LANESCOPE_CUDA_API Status cuMemsetD2D8_v2(uint64_t target, size_t pitch, unsigned char value, size_t width,
                                          size_t height) {
  return cuMemsetD2D8Async(target, pitch, value, width, height, nullptr);
}
LANESCOPE_CUDA_API Status cuMemsetD2D16_v2(uint64_t target, size_t pitch, unsigned short value, size_t width,
                                           size_t height) {
  return cuMemsetD2D16Async(target, pitch, value, width, height, nullptr);
}
LANESCOPE_CUDA_API Status cuMemsetD2D32_v2(uint64_t target, size_t pitch, unsigned value, size_t width,
                                           size_t height) {
  return cuMemsetD2D32Async(target, pitch, value, width, height, nullptr);
}

// Twins for per-thread default streams.
LANESCOPE_PASS_3(cuMemAllocAsync_ptsz, cuMemAllocAsync, with_own_stream)
LANESCOPE_PASS_4(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, with_own_stream)
LANESCOPE_PASS_2(cuMemFreeAsync_ptsz, cuMemFreeAsync, with_own_stream)
LANESCOPE_PASS_4(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync, with_own_stream)
LANESCOPE_PASS_5(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2, with_own_stream)
LANESCOPE_PASS_3(cuMemcpy_ptds, cuMemcpy, with_own_stream)
LANESCOPE_PASS_2(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2, with_own_stream)
LANESCOPE_PASS_1(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2, with_own_stream)
LANESCOPE_PASS_1(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2, with_own_stream)
LANESCOPE_PASS_2(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2, with_own_stream)
LANESCOPE_PASS_1(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2, with_own_stream)
LANESCOPE_PASS_5(cuMemcpy3DBatchAsync_ptsz, cuMemcpy3DBatchAsync, with_own_stream)
LANESCOPE_PASS_4(cuMemcpy3DBatchAsync_v2_ptsz, cuMemcpy3DBatchAsync_v2, with_own_stream)
LANESCOPE_PASS_9(cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync, with_own_stream)
LANESCOPE_PASS_8(cuMemcpyBatchAsync_v2_ptsz, cuMemcpyBatchAsync_v2, with_own_stream)
LANESCOPE_PASS_3(cuMemcpy3DWithAttributesAsync_ptsz, cuMemcpy3DWithAttributesAsync, with_own_stream)
LANESCOPE_PASS_5(cuMemcpyWithAttributesAsync_ptsz, cuMemcpyWithAttributesAsync, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyAsync_ptsz, cuMemcpyAsync, with_own_stream)
LANESCOPE_PASS_5(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD_v2, with_own_stream)
LANESCOPE_PASS_5(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2, with_own_stream)
LANESCOPE_PASS_3(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2, with_own_stream)
LANESCOPE_PASS_3(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2, with_own_stream)
LANESCOPE_PASS_5(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2, with_own_stream)
LANESCOPE_PASS_3(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2, with_own_stream)
LANESCOPE_PASS_5(cuMemcpyPeer_ptds, cuMemcpyPeer, with_own_stream)
LANESCOPE_PASS_6(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync, with_own_stream)
LANESCOPE_PASS_4(cuMemsetD16Async_ptsz, cuMemsetD16Async, with_own_stream)
LANESCOPE_PASS_3(cuMemsetD16_v2_ptds, cuMemsetD16_v2, with_own_stream)
LANESCOPE_PASS_6(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async, with_own_stream)
LANESCOPE_PASS_5(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2, with_own_stream)
LANESCOPE_PASS_6(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async, with_own_stream)
LANESCOPE_PASS_5(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2, with_own_stream)
LANESCOPE_PASS_6(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async, with_own_stream)
LANESCOPE_PASS_5(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemsetD32Async_ptsz, cuMemsetD32Async, with_own_stream)
LANESCOPE_PASS_3(cuMemsetD32_v2_ptds, cuMemsetD32_v2, with_own_stream)
LANESCOPE_PASS_4(cuMemsetD8Async_ptsz, cuMemsetD8Async, with_own_stream)
LANESCOPE_PASS_3(cuMemsetD8_v2_ptds, cuMemsetD8_v2, with_own_stream)
