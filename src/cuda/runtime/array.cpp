// Arrays: memory that kernels reach through textures and surfaces. Here they lie in rows, without padding.
#include <algorithm>

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

bool is_possible(const ChannelFormat& format) {
  if (format.kind < 0 || format.kind > 2) return false;  // signed, unsigned, float
  const int bits = format.x;
  if (bits != 8 && bits != 16 && bits != 32) return false;
  for (const int other : {format.y, format.z, format.w})
    if (other != 0 && other != bits) return false;
  return format.z == 0 || format.w != 0;  // 1, 2 or 4 channels
}

Status make_array(Array** out, const ChannelFormat* format, Sizes extent, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || format == nullptr || extent.width == 0) return Status::invalid_value;
    if (!is_possible(*format)) return Status::invalid_channel_descriptor;
    auto array = std::make_unique<Array>();
    array->format = *format;
    array->width = extent.width;
    array->height = extent.height;
    array->depth = extent.depth;
    array->flags = flags;
    if (array->bytes() > runtime.device.global_bytes()) return Status::memory_allocation;
    array->base = runtime.memory.allocate(array->bytes(), "array", 512, exec::Memory::Owner::program);
    const std::unique_lock lock(runtime.mutex);
    *out = array.release();
    runtime.arrays.insert(*out);
    return Status::success;
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaMallocArray(Array** out, const ChannelFormat* format, size_t width,
                                          size_t height, unsigned flags) {
  return make_array(out, format, {width, height, 0}, flags);
}

LANESCOPE_CUDA_API Status cudaMalloc3DArray(Array** out, const ChannelFormat* format, Sizes extent,
                                            unsigned flags) {
  return make_array(out, format, extent, flags);
}

LANESCOPE_CUDA_API Status cudaFreeArray(Array* array) {
  return call_when_idle([&](Runtime& runtime) {
    if (array == nullptr) return Status::success;
    {
      const std::unique_lock lock(runtime.mutex);
      if (runtime.arrays.erase(array) == 0) return Status::invalid_value;
    }
    runtime.memory.release(array->base);
    delete array;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaArrayGetInfo(ChannelFormat* format, Sizes* extent, unsigned* flags,
                                           const Array* array) {
  if (array == nullptr) return remember(Status::invalid_value);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = {array->width, array->height, array->depth};
  if (flags != nullptr) *flags = array->flags;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGetChannelDesc(ChannelFormat* format, const Array* array) {
  if (format == nullptr || array == nullptr) return remember(Status::invalid_value);
  *format = array->format;
  return Status::success;
}

LANESCOPE_CUDA_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
