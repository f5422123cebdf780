// Arrays: memory that kernels reach through textures and surfaces. Here they lie in rows, without padding.
#include <algorithm>

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

/// Sides of 0 are those that an array does not have. What is refused, and in which order, is what an H100's
/// runtime refuses.
bool is_shape(const Sizes& extent, unsigned flags) {
  constexpr size_t cube_sides = 6;
  const bool layered = (flags & array_layered) != 0;
  if (extent.width == 0 || (layered && extent.depth == 0)) return false;
  if (extent.height == 0 && extent.depth != 0 && !layered) return false;
  if ((flags & array_cubemap) != 0 &&
      (extent.depth == 0 || extent.depth % cube_sides != 0 || extent.width != extent.height))
    return false;
  return true;
}

bool is_within_limits(const Sizes& extent, unsigned flags) {
  constexpr size_t most_width = 131072, most_height = 65536, most_side = 16384, most_layers = 2048;
  const bool layered = (flags & array_layered) != 0, flat = extent.depth == 0 || layered;
  if ((flags & array_gather) != 0 && (extent.height == 0 || extent.depth != 0)) return false;
  return extent.width <= (flat ? most_width : most_side) &&
         extent.height <= (flat ? most_height : most_side) &&
         extent.depth <= (layered ? most_layers : most_side);
}

Status make_array(Array** out, const ChannelFormat* format, Sizes extent, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || format == nullptr || !is_shape(extent, flags)) return Status::invalid_value;
    if (format->channels() == 0) return Status::invalid_channel_descriptor;
    if (const Status refused = refuse_while_capturing(); refused != Status::success) return refused;
    if (!is_within_limits(extent, flags)) return Status::invalid_value;
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
