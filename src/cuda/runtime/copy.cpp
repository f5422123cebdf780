// Copies and sets, of memory, symbols and arrays, in one to three dimensions. Each becomes a CopyWork or a
// SetWork: a box of bytes. Ranges are checked against what the device knows, so that a wrong size is an error
// and no crash.
#include "cuda/runtime/copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/recorder.hpp"

namespace lanescope::cuda {
namespace {

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

bool is_direction(CopyKind kind) { return kind >= CopyKind::host_to_host && kind <= CopyKind::automatic; }

/// Bytes from the first to behind the last byte of a box; false if that is more than an address can hold.
bool extent_of(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, uint64_t& bytes) {
  uint64_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(pitch, height - 1, &rows) &&
         !__builtin_mul_overflow(slice, depth - 1, &slices) &&
         !__builtin_add_overflow(rows, slices, &bytes) && !__builtin_add_overflow(bytes, width, &bytes);
}

const char* in_words(CopyKind direction) {
  switch (direction) {
    case CopyKind::host_to_host: return " from host to host";
    case CopyKind::host_to_device: return " from host to device";
    case CopyKind::device_to_host: return " from device to host";
    case CopyKind::device_to_device: return " from device to device";
    case CopyKind::automatic: break;
  }
  return "";
}

}  // namespace

std::string Runtime::obstacle(uint64_t address, uint64_t bytes) const {
  return fmt::format("address {:#x}: {}", address,
                     address == 0             ? "a null pointer"
                     : covers(address, bytes) ? "it may only be read"
                                              : memory.neighbourhood(address, bytes));
}

Status Runtime::check(const CopyWork& work) const {
  if (!is_direction(work.kind)) return Status::invalid_memcpy_direction;
  if (is_empty(work)) return Status::success;
  if (work.height > 1 && (work.target_pitch < work.width || work.source_pitch < work.width))
    return Status::invalid_pitch;
  // As an H100's runtime has it: the pitch of one row may be left out, but not be too small.
  if ((work.target_pitch != 0 && work.target_pitch < work.width) ||
      (work.source_pitch != 0 && work.source_pitch < work.width))
    return Status::invalid_value;
  uint64_t target_bytes = 0, source_bytes = 0;
  if (!extent_of(work.width, work.height, work.depth, work.target_pitch, work.target_slice, target_bytes) ||
      !extent_of(work.width, work.height, work.depth, work.source_pitch, work.source_slice, source_bytes))
    return Status::invalid_value;
  // As an H200 does it: the side that the direction calls the device's must be known to it (pinned memory
  // is); the other side may be anything, and is held to its allocation if it has one.
  const auto side = [&](uint64_t address, uint64_t bytes, bool is_device, bool is_target) {
    if (covers(address, bytes, is_target) || (address != 0 && !is_device && !covers(address, 1))) return true;
    say_once(fmt::format("a copy{} is not made: its {}, {}", in_words(work.kind),
                         is_target ? "target" : "source", obstacle(address, bytes)));
    return false;
  };
  const bool to_device = work.kind == CopyKind::host_to_device || work.kind == CopyKind::device_to_device;
  const bool from_device = work.kind == CopyKind::device_to_host || work.kind == CopyKind::device_to_device;
  return side(work.target, target_bytes, to_device, true) &&
                 side(work.source, source_bytes, from_device, false)
             ? Status::success
             : Status::invalid_value;
}

Status Runtime::run(const CopyWork& work, const Stream& stream) {
  const Status status = check(work);
  if (status != Status::success) return status;
  if (is_empty(work)) return Status::success;
  CopyKind direction = work.kind;
  Block block;
  const auto is_host = [&](uint64_t address) {
    return find_block(address, block) ? block.type == MemoryType::host : !covers(address, 1);
  };
  if (direction == CopyKind::automatic)
    direction = is_host(work.source)
                    ? (is_host(work.target) ? CopyKind::host_to_host : CopyKind::host_to_device)
                    : (is_host(work.target) ? CopyKind::device_to_host : CopyKind::device_to_device);
  // Whether the target holds these bytes already: asked of what comes from the host.
  bool unchanged = direction == CopyKind::host_to_device && recorder->enabled();
  for (size_t z = 0; z < work.depth; ++z)
    for (size_t y = 0; y < work.height; ++y) {
      auto* target = reinterpret_cast<void*>(work.target + z * work.target_slice + y * work.target_pitch);
      const auto* source =
          reinterpret_cast<const void*>(work.source + z * work.source_slice + y * work.source_pitch);
      unchanged = unchanged && std::memcmp(target, source, work.width) == 0;
      std::memmove(target, source, work.width);
      memory.wrote(reinterpret_cast<uint64_t>(target), work.width);
    }

  const auto is_pageable = [&](uint64_t address) { return !covers(address, 1); };
  const bool pageable = (direction == CopyKind::host_to_device && is_pageable(work.source)) ||
                        (direction == CopyKind::device_to_host && is_pageable(work.target));
  const uint64_t device_side = direction == CopyKind::host_to_device   ? work.target
                               : direction == CopyKind::device_to_host ? work.source
                                                                       : 0;
  const bool independent =
      device_side != 0 && find_block(device_side, block) && recorder->is_apart(stream, block);
  recorder->copied({direction, work.target, uint64_t{work.width} * work.height * work.depth, pageable,
                    unchanged, independent});
  return Status::success;
}

Status Runtime::check_shape(const SetWork& work, uint64_t& bytes) {
  bytes = 0;
  if (is_empty(work)) return Status::success;
  if (work.element_bytes != 1 && work.element_bytes != 2 && work.element_bytes != 4)
    return Status::invalid_value;
  uint64_t row = 0;
  if (work.target % work.element_bytes != 0 || (work.height > 1 && work.pitch % work.element_bytes != 0))
    return Status::invalid_value;
  if (__builtin_mul_overflow(work.width, uint64_t{work.element_bytes}, &row) ||
      (work.height > 1 && work.pitch < row) ||
      !extent_of(row, work.height, work.depth, work.pitch, work.slice, bytes))
    return Status::invalid_value;
  return Status::success;
}

Status Runtime::check(const SetWork& work) const {
  uint64_t bytes = 0;
  const Status status = check_shape(work, bytes);
  if (status != Status::success || bytes == 0 || covers(work.target, bytes, true)) return status;
  say_once("memory is not set: " + obstacle(work.target, bytes));
  return Status::invalid_value;
}

Status Runtime::run(const SetWork& work) {
  const Status status = check(work);
  if (status != Status::success) return status;
  for (size_t z = 0; z < work.depth; ++z) {
    for (size_t y = 0; y < work.height; ++y) {
      auto* row = reinterpret_cast<char*>(work.target + z * work.slice + y * work.pitch);
      if (work.element_bytes == 1) {
        std::memset(row, static_cast<int>(work.value & 0xff), work.width);
      } else {
        for (size_t x = 0; x < work.width; ++x)
          std::memcpy(row + x * work.element_bytes, &work.value, work.element_bytes);
      }
      memory.wrote(reinterpret_cast<uint64_t>(row), work.width * work.element_bytes);
    }
  }
  return Status::success;
}

Status to_work(const Copy3D& copy, CopyWork& work) {
  work = {};
  work.kind = copy.kind;
  const Array* arrays[] = {copy.source_array, copy.target_array};
  // With an array on either side, the extent counts elements; positions in an array do too, in memory always
  // bytes.
  const size_t element = copy.source_array != nullptr   ? copy.source_array->format.bytes()
                         : copy.target_array != nullptr ? copy.target_array->format.bytes()
                                                        : 1;
  if ((copy.source_array != nullptr) == (copy.source.pointer != nullptr)) return Status::invalid_value;
  if ((copy.target_array != nullptr) == (copy.target.pointer != nullptr)) return Status::invalid_value;
  work.width = copy.extent.width * element;
  work.height = copy.extent.height;
  work.depth = copy.extent.depth;
  for (int side = 0; side < 2; ++side) {
    const Array* array = arrays[side];
    const PitchedPointer& memory = side == 0 ? copy.source : copy.target;
    const Sizes& at = side == 0 ? copy.source_position : copy.target_position;
    uint64_t& address = side == 0 ? work.source : work.target;
    size_t& pitch = side == 0 ? work.source_pitch : work.target_pitch;
    size_t& slice = side == 0 ? work.source_slice : work.target_slice;
    if (array != nullptr) {
      pitch = array->pitch();
      slice = array->slice();
      if (at.width + copy.extent.width > array->width ||
          at.height + copy.extent.height > std::max<size_t>(array->height, 1) ||
          at.depth + copy.extent.depth > std::max<size_t>(array->depth, 1))
        return Status::invalid_value;
      address = array->base + at.depth * slice + at.height * pitch + at.width * array->format.bytes();
    } else {
      pitch = memory.pitch;
      slice = memory.pitch * memory.height;
      address = address_of(memory.pointer) + at.depth * slice + at.height * pitch + at.width;
    }
  }
  return Status::success;
}

namespace {

/// Checks a copy or a set in the order in which an H100's runtime looks at it: of no bytes it is always good.
/// One that is refused spoils no capture, and where a captured set goes is not looked at (seen on an H200):
/// cuDNN captures some before it is given memory, and puts the address in later.
template <typename W>
Status check_in_stream(Runtime& runtime, const W& work, Stream* handle) {
  Stream* stream = nullptr;
  const Status found = find_stream(runtime, handle, OnCaptured::is_recorded, stream);
  if (found != Status::success) return found;
  if constexpr (std::is_same_v<W, SetWork>) {
    uint64_t bytes = 0;
    if (stream->capture != nullptr) return Runtime::check_shape(work, bytes);
  }
  return runtime.check(work);
}

}  // namespace

Status submit_set(const SetWork& work, Stream* stream) {
  return call([&](Runtime& runtime) {
    if (is_empty(work)) return Status::success;
    const Status status = check_in_stream(runtime, work, stream);
    return status == Status::success ? runtime.submit(stream, work) : status;
  });
}

namespace {

/// Copies in the default stream are done when the call returns, and those of memory that CUDA does not know.
Status submit_and_wait(Runtime& runtime, Stream* handle, const CopyWork& work) {
  const Status status = runtime.submit(handle, work);
  if (status != Status::success) return status;
  const Stream& stream = *runtime.stream(handle);
  const bool waits = handle == nullptr || !runtime.covers(work.target, 1) || !runtime.covers(work.source, 1);
  return waits && stream.capture == nullptr ? runtime.wait_for(stream) : status;
}

Status submit_copy(const CopyWork& work, Stream* stream) {
  return call([&](Runtime& runtime) {
    if (is_empty(work)) return Status::success;
    if (!is_direction(work.kind)) return Status::invalid_memcpy_direction;
    const Status status = check_in_stream(runtime, work, stream);
    return status == Status::success ? submit_and_wait(runtime, stream, work) : status;
  });
}

Status copy_line(void* target, const void* source, size_t bytes, CopyKind kind, Stream* stream) {
  CopyWork work;
  work.target = address_of(target);
  work.source = address_of(source);
  work.width = bytes;
  work.kind = kind;
  return submit_copy(work, stream);
}

Status copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                 size_t height, CopyKind kind, Stream* stream) {
  CopyWork work;
  work.target = address_of(target);
  work.source = address_of(source);
  work.width = width;
  work.height = height;
  work.target_pitch = target_pitch;
  work.source_pitch = source_pitch;
  work.kind = kind;
  if (width != 0 && height > 1 && (target_pitch < width || source_pitch < width))
    return remember(Status::invalid_pitch);
  return submit_copy(work, stream);
}

Status copy_box(const Copy3D& copy, Stream* stream) {
  CopyWork work;
  const Status status = to_work(copy, work);
  return status == Status::success ? submit_copy(work, stream) : remember(status);
}

/// Copies of a batch, of which none is done if one makes no sense. When their sources are read is left to the
/// runtime, which reads them in the stream's order or, of memory that CUDA does not know, before the call
/// returns.
Status submit_batch(const std::vector<CopyWork>& batch, Stream* stream) {
  return call([&](Runtime& runtime) {
    if (batch.empty() || stream == nullptr || stream == legacy_handle()) return Status::invalid_value;
    Stream* to = nullptr;
    const Status found = find_stream(runtime, stream, OnCaptured::is_recorded, to);
    if (found != Status::success) return found;
    if (to->capture != nullptr) return Status::capture_unsupported;
    for (const CopyWork& work : batch) {
      if (is_empty(work)) return Status::invalid_value;
      if (const Status status = runtime.check(work); status != Status::success) return status;
    }
    for (const CopyWork& work : batch)
      if (const Status status = submit_and_wait(runtime, stream, work); status != Status::success)
        return status;
    return Status::success;
  });
}

/// What is refused of these, and of sizes of zero and captures, is what an H200 refused (driver 580).
bool are_valid(int order, unsigned flags) {
  constexpr unsigned prefer_overlap_with_compute = 1;
  return order >= 1 && order <= 3 && flags <= prefer_overlap_with_compute;
}

/// One side of a box in a batch; `element`: bytes of what extents count. False if it makes no sense.
bool to_side(const CopyOperand& operand, const Sizes& extent, size_t element, Array*& array, Sizes& position,
             PitchedPointer& memory) {
  enum Type : int { of_memory = 1, of_array = 2 };
  if (operand.type == of_array) {
    array = operand.array.array;
    position = operand.array.offset;
    return array != nullptr;
  }
  const auto& from = operand.memory;
  const size_t length = from.row_length != 0 ? from.row_length : extent.width;
  const size_t height = from.layer_height != 0 ? from.layer_height : extent.height;
  memory = {from.pointer, length * element, length * element, height};
  return operand.type == of_memory && from.pointer != nullptr && length >= extent.width &&
         height >= extent.height;
}

/// To or from an array, `x` bytes and `y` rows into it.
Status copy_array(Array* array, size_t x, size_t y, bool to_array, const void* memory, size_t pitch,
                  size_t width, size_t height, CopyKind kind, Stream* stream) {
  if (array == nullptr || memory == nullptr) return remember(Status::invalid_value);
  if (width != 0 && height > 1 && pitch < width) return remember(Status::invalid_pitch);
  if (x + width > array->pitch() || y + height > std::max<size_t>(array->height, 1))
    return remember(Status::invalid_value);
  // The pitch of one row may be left out, but not be too small.
  if (height == 1 && pitch != 0 && pitch < width) return remember(Status::invalid_value);
  CopyWork work;
  const uint64_t in_array = array->base + y * array->pitch() + x;
  work.target = to_array ? in_array : address_of(memory);
  work.source = to_array ? address_of(memory) : in_array;
  work.target_pitch = to_array ? array->pitch() : pitch;
  work.source_pitch = to_array ? pitch : array->pitch();
  work.width = width;
  work.height = height;
  work.kind = kind;
  return submit_copy(work, stream);
}

/// `count` bytes to or from an array as if its rows lay end to end, which they do here.
Status copy_array_line(Array* array, size_t x, size_t y, bool to_array, const void* memory, size_t count,
                       CopyKind kind, Stream* stream) {
  if (array == nullptr || memory == nullptr) return remember(Status::invalid_value);
  const uint64_t offset = y * array->pitch() + x;
  if (offset + count > array->bytes()) return remember(Status::invalid_value);
  CopyWork work;
  work.target = to_array ? array->base + offset : address_of(memory);
  work.source = to_array ? address_of(memory) : array->base + offset;
  work.width = count;
  work.kind = kind;
  return submit_copy(work, stream);
}

/// A copy that is described with its attributes; false if it makes no sense.
bool to_copy(const BatchCopy3D& from, Copy3D& to) {
  const bool has_array = from.source.type == 2 || from.target.type == 2;
  const Array* array = from.source.type == 2 ? from.source.array.array : from.target.array.array;
  if (!are_valid(from.source_order, from.flags) || (has_array && array == nullptr)) return false;
  const size_t element = has_array ? array->format.bytes() : 1;
  to.extent = from.extent;
  to.kind = CopyKind::automatic;
  return to_side(from.source, from.extent, element, to.source_array, to.source_position, to.source) &&
         to_side(from.target, from.extent, element, to.target_array, to.target_position, to.target);
}

Status copy_symbol(const void* symbol, const void* memory, size_t count, size_t offset, bool to_symbol,
                   CopyKind kind, Stream* handle) {
  return call([&](Runtime& runtime) {
    uint64_t address = 0;
    size_t size = 0;
    Status status = runtime.variable(symbol, address, size);
    if (status != Status::success || count == 0) return status;
    if (offset > size || count > size - offset) return Status::invalid_value;
    const CopyKind from_host = to_symbol ? CopyKind::host_to_device : CopyKind::device_to_host;
    if (kind != from_host && kind != CopyKind::device_to_device && kind != CopyKind::automatic)
      return Status::invalid_memcpy_direction;
    CopyWork work;
    work.target = to_symbol ? address + offset : address_of(memory);
    work.source = to_symbol ? address_of(memory) : address + offset;
    work.width = count;
    work.kind = kind;
    Stream* stream = nullptr;
    status = find_stream(runtime, handle, OnCaptured::is_recorded, stream);
    if (status != Status::success) return status;
    status = runtime.check(work);
    return status == Status::success ? submit_and_wait(runtime, handle, work) : status;
  });
}

Status set_box(PitchedPointer memory, int value, Sizes extent, Stream* stream) {
  SetWork work;
  work.target = address_of(memory.pointer);
  work.value = static_cast<uint32_t>(value) & 0xff;
  work.width = extent.width;
  work.height = extent.height;
  work.depth = extent.depth;
  work.pitch = memory.pitch;
  work.slice = memory.pitch * memory.height;
  return submit_set(work, stream);
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaMemcpy(void* target, const void* source, size_t count, CopyKind kind) {
  return copy_line(target, source, count, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyAsync(void* target, const void* source, size_t count, CopyKind kind,
                                          Stream* stream) {
  return copy_line(target, source, count, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyPeer(void* target, int, const void* source, int, size_t count) {
  return copy_line(target, source, count, CopyKind::device_to_device, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t count,
                                              Stream* stream) {
  return copy_line(target, source, count, CopyKind::device_to_device, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy2D(void* target, size_t target_pitch, const void* source,
                                       size_t source_pitch, size_t width, size_t height, CopyKind kind) {
  return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                            size_t source_pitch, size_t width, size_t height, CopyKind kind,
                                            Stream* stream) {
  return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy3D(const Copy3D* copy) {
  return copy == nullptr ? remember(Status::invalid_value) : copy_box(*copy, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream) {
  return copy == nullptr ? remember(Status::invalid_value) : copy_box(*copy, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                               const size_t* sizes, size_t count,
                                               const CopyAttributes* attributes, const size_t* begins,
                                               size_t attribute_count, Stream* stream) {
  if (targets == nullptr || sources == nullptr || sizes == nullptr || attributes == nullptr ||
      begins == nullptr || attribute_count == 0 || attribute_count > count || begins[0] != 0)
    return remember(Status::invalid_value);
  for (size_t i = 0; i < attribute_count; ++i)
    if (!are_valid(attributes[i].source_order, attributes[i].flags) || begins[i] >= count ||
        (i != 0 && begins[i] <= begins[i - 1]))
      return remember(Status::invalid_value);
  std::vector<CopyWork> batch(count);
  for (size_t i = 0; i < count; ++i) {
    batch[i].target = address_of(targets[i]);
    batch[i].source = address_of(sources[i]);
    batch[i].width = sizes[i];
  }
  return submit_batch(batch, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy3DBatchAsync(size_t count, const BatchCopy3D* copies,
                                                 unsigned long long flags, Stream* stream) {
  if (copies == nullptr || flags != 0) return remember(Status::invalid_value);
  std::vector<CopyWork> batch(count);
  for (size_t i = 0; i < count; ++i) {
    Copy3D copy{};
    if (!to_copy(copies[i], copy)) return remember(Status::invalid_value);
    if (const Status status = to_work(copy, batch[i]); status != Status::success) return remember(status);
  }
  return submit_batch(batch, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyWithAttributesAsync(void* target, const void* source, size_t size,
                                                        const CopyAttributes* attributes, Stream* stream) {
  if (attributes == nullptr || !are_valid(attributes->source_order, attributes->flags))
    return remember(Status::invalid_value);
  return copy_line(target, source, size, CopyKind::automatic, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy3DWithAttributesAsync(const BatchCopy3D* from, unsigned long long flags,
                                                          Stream* stream) {
  Copy3D copy{};
  if (from == nullptr || flags != 0 || !to_copy(*from, copy)) return remember(Status::invalid_value);
  return copy_box(copy, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy3DPeerAsync(const Copy3DPeer* copy, Stream* stream) {
  if (copy == nullptr) return remember(Status::invalid_value);
  return copy_box({copy->source_array, copy->source_position, copy->source, copy->target_array,
                   copy->target_position, copy->target, copy->extent, CopyKind::device_to_device},
                  stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy3DPeer(const Copy3DPeer* copy) {
  return cudaMemcpy3DPeerAsync(copy, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count,
                                             size_t offset, CopyKind kind) {
  return copy_symbol(symbol, source, count, offset, true, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count,
                                                  size_t offset, CopyKind kind, Stream* stream) {
  return copy_symbol(symbol, source, count, offset, true, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyFromSymbol(void* target, const void* symbol, size_t count, size_t offset,
                                               CopyKind kind) {
  return copy_symbol(symbol, target, count, offset, false, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t count,
                                                    size_t offset, CopyKind kind, Stream* stream) {
  return copy_symbol(symbol, target, count, offset, false, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DToArrayAsync(Array* array, size_t x, size_t y, const void* source,
                                                   size_t pitch, size_t width, size_t height, CopyKind kind,
                                                   Stream* stream) {
  return copy_array(array, x, y, true, source, pitch, width, height, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DToArray(Array* array, size_t x, size_t y, const void* source,
                                              size_t pitch, size_t width, size_t height, CopyKind kind) {
  return copy_array(array, x, y, true, source, pitch, width, height, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, Array* array, size_t x,
                                                     size_t y, size_t width, size_t height, CopyKind kind,
                                                     Stream* stream) {
  return copy_array(array, x, y, false, target, pitch, width, height, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DFromArray(void* target, size_t pitch, Array* array, size_t x, size_t y,
                                                size_t width, size_t height, CopyKind kind) {
  return copy_array(array, x, y, false, target, pitch, width, height, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpy2DArrayToArray(Array* target, size_t target_x, size_t target_y,
                                                   Array* source, size_t source_x, size_t source_y,
                                                   size_t width, size_t height, CopyKind kind) {
  if (source == nullptr || source_x + width > source->pitch() ||
      source_y + height > std::max<size_t>(source->height, 1))
    return remember(Status::invalid_value);
  const auto* from = reinterpret_cast<const void*>(source->base + source_y * source->pitch() + source_x);
  return copy_array(target, target_x, target_y, true, from, source->pitch(), width, height, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyToArrayAsync(Array* array, size_t x, size_t y, const void* source,
                                                 size_t count, CopyKind kind, Stream* stream) {
  return copy_array_line(array, x, y, true, source, count, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyToArray(Array* array, size_t x, size_t y, const void* source,
                                            size_t count, CopyKind kind) {
  return copy_array_line(array, x, y, true, source, count, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyFromArrayAsync(void* target, Array* array, size_t x, size_t y,
                                                   size_t count, CopyKind kind, Stream* stream) {
  return copy_array_line(array, x, y, false, target, count, kind, stream);
}

LANESCOPE_CUDA_API Status cudaMemcpyFromArray(void* target, Array* array, size_t x, size_t y, size_t count,
                                              CopyKind kind) {
  return copy_array_line(array, x, y, false, target, count, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemcpyArrayToArray(Array* target, size_t target_x, size_t target_y,
                                                 Array* source, size_t source_x, size_t source_y,
                                                 size_t count, CopyKind kind) {
  if (source == nullptr || source_y * source->pitch() + source_x + count > source->bytes())
    return remember(Status::invalid_value);
  const auto* from = reinterpret_cast<const void*>(source->base + source_y * source->pitch() + source_x);
  return copy_array_line(target, target_x, target_y, true, from, count, kind, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemset3DAsync(PitchedPointer memory, int value, Sizes extent, Stream* stream) {
  return set_box(memory, value, extent, stream);
}

LANESCOPE_CUDA_API Status cudaMemset3D(PitchedPointer memory, int value, Sizes extent) {
  return set_box(memory, value, extent, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width,
                                            size_t height, Stream* stream) {
  return set_box({target, pitch, width, height}, value, {width, height, 1}, stream);
}

LANESCOPE_CUDA_API Status cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(target, pitch, value, width, height, nullptr);
}

LANESCOPE_CUDA_API Status cudaMemsetAsync(void* target, int value, size_t count, Stream* stream) {
  return set_box({target, count, count, 1}, value, {count, 1, 1}, stream);
}

LANESCOPE_CUDA_API Status cudaMemset(void* target, int value, size_t count) {
  return cudaMemsetAsync(target, value, count, nullptr);
}
