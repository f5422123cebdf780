// Arrays: memory that kernels reach through textures and surfaces. Here they lie in rows, without padding.
#include <algorithm>
#include <bit>

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
      (extent.depth == 0 || extent.width != extent.height || extent.depth % cube_sides != 0 ||
       (!layered && extent.depth != cube_sides)))
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

/// Whether an array can be made of these; what it would be like.
Status shape_array(Runtime& runtime, const ChannelFormat* format, const Sizes& extent, unsigned flags,
                   Array& array) {
  if (format == nullptr || !is_shape(extent, flags)) return Status::invalid_value;
  if (format->channels() == 0) return Status::invalid_channel_descriptor;
  if (const Status refused = refuse_while_capturing(); refused != Status::success) return refused;
  if (!is_within_limits(extent, flags)) return Status::invalid_value;
  array.format = *format;
  array.width = extent.width;
  array.height = extent.height;
  array.depth = extent.depth;
  array.flags = flags;
  return array.bytes() > runtime.device.global_bytes() ? Status::memory_allocation : Status::success;
}

/// Gives it memory.
std::unique_ptr<Array> make_array(Runtime& runtime, const Array& like) {
  auto array = std::make_unique<Array>(like);
  array->base = runtime.memory.allocate(array->bytes(), "array", 512, exec::Memory::Owner::program);
  const std::unique_lock lock(runtime.mutex);
  runtime.arrays.insert(array.get());
  return array;
}

Status make_array(Array** out, const ChannelFormat* format, Sizes extent, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    *out = nullptr;
    Array array;
    const Status status = shape_array(runtime, format, extent, flags, array);
    if (status == Status::success) *out = make_array(runtime, array).release();
    return status;
  });
}

/// Whether the third size is of layers or faces, which levels have as many of.
bool is_flat(const Array& array) { return (array.flags & (array_layered | array_cubemap)) != 0; }

/// How many levels there are until one has a single element, of the sides that get smaller.
unsigned most_levels(const Array& array) {
  const size_t depth = is_flat(array) ? 0 : array.depth;
  return static_cast<unsigned>(std::bit_width(std::max({array.width, array.height, depth})));
}

/// The next smaller level.
Array reduction_of(const Array& array) {
  const auto half = [](size_t side) { return side > 1 ? side / 2 : side; };
  Array reduced = array;
  reduced.width = half(array.width);
  reduced.height = half(array.height);
  if (!is_flat(array)) reduced.depth = half(array.depth);
  return reduced;
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
      const auto known = runtime.arrays.find(array);
      if (known == runtime.arrays.end()) return Status::invalid_value;
      if (array->is_level) return Status::success;  // it goes with the others of its mipmapped array
      runtime.arrays.erase(known);
    }
    runtime.memory.release(array->base);
    delete array;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMallocMipmappedArray(MipmappedArray** out, const ChannelFormat* format,
                                                   Sizes extent, unsigned levels, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr) return Status::invalid_value;
    Array level;
    const Status status = shape_array(runtime, format, extent, flags, level);
    if (status != Status::success) return status;
    level.is_level = true;
    auto mipmap = std::make_unique<MipmappedArray>();
    const unsigned count = std::clamp(levels, 1u, most_levels(level));
    for (unsigned i = 0; i < count; ++i, level = reduction_of(level))
      mipmap->levels.push_back(make_array(runtime, level));
    const std::unique_lock lock(runtime.mutex);
    *out = mipmap.release();
    runtime.mipmapped_arrays.insert(*out);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGetMipmappedArrayLevel(Array** out, const MipmappedArray* mipmap,
                                                     unsigned level) {
  return query([&](Runtime& runtime) {
    const std::shared_lock lock(runtime.mutex);
    if (!runtime.mipmapped_arrays.contains(mipmap)) return Status::invalid_resource_handle;
    if (out == nullptr || level >= mipmap->levels.size()) return Status::invalid_value;
    *out = mipmap->levels[level].get();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaFreeMipmappedArray(MipmappedArray* mipmap) {
  return call_when_idle([&](Runtime& runtime) {
    if (mipmap == nullptr) return Status::success;
    {
      const std::unique_lock lock(runtime.mutex);
      if (runtime.mipmapped_arrays.erase(mipmap) == 0) return Status::invalid_value;
      for (const auto& level : mipmap->levels) runtime.arrays.erase(level.get());
    }
    for (const auto& level : mipmap->levels) runtime.memory.release(level->base);
    delete mipmap;
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
