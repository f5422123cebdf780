// Texture and surface objects: handles of textures that kernels read through a filter. See exec/texture.hpp
// for what is done with them there.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "cuda/runtime/texture.hpp"

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr uint64_t texture_alignment = 512;  ///< cudaDeviceProp::textureAlignment

/// What programs may ask back of an object.
struct Object {
  ResourceDescription resource;
  TextureDescription texture;
  std::optional<ViewDescription> view;
};

struct Objects {
  std::mutex mutex;
  std::map<uint64_t, Object> textures, surfaces;
};
Objects& objects() {
  static Objects& all = *new Objects;
  return all;
}

bool set_format(exec::Texture& texture, const ChannelFormat& format) {
  const int channels = format.channels();
  if (channels == 0) return false;
  texture.channels = static_cast<uint8_t>(channels);
  texture.channel_bytes = static_cast<uint8_t>(format.x / 8);
  texture.kind = static_cast<exec::Texture::Kind>(format.kind);
  return true;
}

Status not_here(const char* what) {
  Runtime::get().refuse(std::string(what) + " are not supported");
  return Status::not_supported;
}

/// The array that a resource is, or the largest level of a mipmapped one; nullptr for plain memory.
const Array* array_of(const ResourceDescription& resource) {
  switch (resource.type) {
    case ResourceDescription::array: return resource.of.array.array;
    case ResourceDescription::mipmapped_array:
      return resource.of.mipmap.array != nullptr ? resource.of.mipmap.array->levels.front().get() : nullptr;
    default: return nullptr;
  }
}

/// cudaResourceViewFormat: the first is none, and those behind the last one here are of compressed blocks.
constexpr int view_formats = 25;
ChannelFormat format_of_view(int format) {
  if (format <= 0 || format >= view_formats) return {};
  constexpr int channels[] = {1, 2, 4};
  constexpr struct {
    int bits, kind;
  } types[] = {{8, 1}, {8, 0}, {16, 1}, {16, 0}, {32, 1}, {32, 0}, {16, 2}, {32, 2}};
  const auto& type = types[(format - 1) / 3];
  const auto bits = [&](int channel) { return channels[(format - 1) % 3] > channel ? type.bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), type.kind};
}

Status find_resource(Runtime& runtime, const ResourceDescription& resource) {
  const std::shared_lock lock(runtime.mutex);
  switch (resource.type) {
    case ResourceDescription::array:
      return runtime.arrays.contains(resource.of.array.array) ? Status::success : Status::invalid_value;
    case ResourceDescription::mipmapped_array:
      return runtime.mipmapped_arrays.contains(resource.of.mipmap.array) ? Status::success
                                                                         : Status::invalid_resource_handle;
    case ResourceDescription::linear:
    case ResourceDescription::pitch2d: return Status::success;
    default: return Status::invalid_value;
  }
}

/// Of an array with layers, or faces, the third size is how many there are, and no depth.
exec::TextureLevel level_of(const Array& array, bool has_layers) {
  return {array.base,
          static_cast<uint32_t>(array.width),
          static_cast<uint32_t>(array.height),
          has_layers ? 0 : static_cast<uint32_t>(array.depth),
          array.pitch(),
          array.slice()};
}

/// A cubemap is six faces to a texture, and as many layers to a surface.
void set_array(exec::Texture& texture, const Array& array) {
  constexpr uint32_t faces = 6;
  const bool layered = (array.flags & array_layered) != 0, cube = (array.flags & array_cubemap) != 0;
  static_cast<exec::TextureLevel&>(texture) = level_of(array, layered || cube);
  texture.is_cube = cube && !texture.is_surface;
  if (layered || (cube && texture.is_surface)) texture.layers = static_cast<uint32_t>(array.depth);
  if (layered && texture.is_cube) texture.layers /= faces;
}

void set_mipmap(exec::Texture& texture, const MipmappedArray& mipmap) {
  set_array(texture, *mipmap.levels.front());
  for (size_t i = 1; i < mipmap.levels.size(); ++i)
    texture.reductions.push_back(level_of(*mipmap.levels[i], texture.is_cube || texture.layers != 0));
}

/// What a view shows of an array: texels of another format of the same size, some of its levels or layers.
/// What is refused an H200 refuses, which takes no notice of views of plain memory.
Status check_view(const ResourceDescription& resource, const Array& array, const ViewDescription& view) {
  const ChannelFormat format = format_of_view(view.format);
  constexpr int last_of_blocks = 34;
  if (view.format >= view_formats && view.format <= last_of_blocks)
    return not_here("views of textures as compressed blocks");
  if (format.channels() == 0 || format.channels() * format.x != array.format.channels() * array.format.x)
    return Status::invalid_value;
  if (view.width != array.width || view.height != array.height || view.depth != array.depth)
    return Status::invalid_value;
  const bool has_layers = (array.flags & array_layered) != 0;
  if (view.first_level > view.last_level || view.first_layer > view.last_layer ||
      (view.last_level != 0 && resource.type != ResourceDescription::mipmapped_array) ||
      (view.last_layer != 0 && !has_layers))
    return Status::invalid_value;
  if (has_layers && (array.flags & array_cubemap) != 0) return not_here("views of cubemaps with layers");
  if (has_layers && view.last_layer >= array.depth)
    return not_here("views of layers that an array does not have");
  return Status::success;
}

void narrow(exec::Texture& texture, const ViewDescription& view) {
  std::vector<exec::TextureLevel> levels{texture};
  levels.insert(levels.end(), texture.reductions.begin(), texture.reductions.end());
  if (texture.layers != 0) {
    texture.layers = view.last_layer - view.first_layer + 1;
    for (auto& level : levels) level.base += view.first_layer * level.slice;
  }
  const size_t last = std::min<size_t>(view.last_level, levels.size() - 1),
               first = std::min<size_t>(view.first_level, last);
  static_cast<exec::TextureLevel&>(texture) = levels[first];
  texture.reductions.assign(levels.begin() + static_cast<ptrdiff_t>(first) + 1,
                            levels.begin() + static_cast<ptrdiff_t>(last) + 1);
}

/// Where they lie.
Status set_place(Runtime& runtime, exec::Texture& texture, const ResourceDescription& resource) {
  switch (resource.type) {
    case ResourceDescription::array: set_array(texture, *resource.of.array.array); return Status::success;
    case ResourceDescription::mipmapped_array:
      set_mipmap(texture, *resource.of.mipmap.array);
      return Status::success;
    case ResourceDescription::linear: {
      const auto& linear = resource.of.linear;
      const size_t texels = linear.bytes / texture.texel_bytes();
      texture.base = reinterpret_cast<uint64_t>(linear.pointer);
      if (texture.base % texture_alignment != 0) return Status::invalid_value;
      if (texels > size_t{1} << 28 || !runtime.covers(texture.base, linear.bytes))
        return Status::invalid_value;
      texture.width = static_cast<uint32_t>(texels);
      texture.is_linear = true;
      return Status::success;
    }
    case ResourceDescription::pitch2d: {
      const auto& rows = resource.of.pitch2d;
      texture.base = reinterpret_cast<uint64_t>(rows.pointer);
      constexpr size_t most_width = 131072, most_height = 65000;  // as cudaDeviceProp says of sm_70 and later
      // The hardware takes rows that begin at multiples of 32 bytes.
      if (rows.width == 0 || rows.height == 0 || rows.width > most_width || rows.height > most_height ||
          rows.pitch % 32 != 0 || texture.base % texture_alignment != 0)
        return Status::invalid_value;
      texture.width = static_cast<uint32_t>(rows.width);
      texture.height = static_cast<uint32_t>(rows.height);
      texture.pitch = rows.pitch;
      return runtime.covers(texture.base, texture.bytes()) ? Status::success : Status::invalid_value;
    }
    default: return Status::invalid_value;
  }
}

Status set_sampling(exec::Texture& texture, const TextureDescription& how, bool filters_integers) {
  for (const int mode : how.address)
    if (mode < 0 || mode > 3) return Status::invalid_value;
  if (how.filter < 0 || how.filter > 1 || how.read_mode < 0 || how.read_mode > 1)
    return Status::invalid_value;
  if (how.mipmap_filter < 0 || how.mipmap_filter > 1) return Status::invalid_value;
  if (how.srgb != 0 && how.read_mode == 1) return not_here("sRGB textures");
  if (how.seamless_cubemap != 0) return not_here("seamless cubemaps");
  const bool integer = texture.kind != exec::Texture::Kind::floating;
  // CUDA normalises 8- and 16-bit integers only, and filters what is read as floats.
  const bool can_be_normalized = integer && texture.channel_bytes < 4;
  texture.normalized_read = can_be_normalized && how.read_mode == 1;
  if (integer && !texture.normalized_read && how.filter == 1 && !filters_integers)
    return Status::invalid_filter_setting;
  if (!can_be_normalized && how.read_mode == 1) return Status::invalid_norm_setting;
  texture.filter = how.filter == 1;
  texture.normalized_coordinates = how.normalized_coordinates != 0;
  for (size_t d = 0; d < 3; ++d) texture.address[d] = static_cast<exec::Texture::Address>(how.address[d]);
  std::memcpy(texture.border.data(), how.border, sizeof how.border);
  texture.filter_levels = how.mipmap_filter == 1;
  texture.bias = how.mipmap_bias;
  texture.least_level = how.mipmap_least;
  texture.most_level = how.mipmap_most;
  return Status::success;
}

/// Handles that nothing has are no error on an H200.
Status destroy(uint64_t handle, bool is_surface) {
  return call_when_idle([&](Runtime& runtime) {
    if (!runtime.memory.textures.remove(handle, is_surface)) return Status::success;
    const std::lock_guard lock(objects().mutex);
    (is_surface ? objects().surfaces : objects().textures).erase(handle);
    return Status::success;
  });
}

template <typename T>
Status describe(T* out, uint64_t handle, bool is_surface, T Object::*part) {
  return query([&](Runtime&) {
    const std::lock_guard lock(objects().mutex);
    const auto& known = is_surface ? objects().surfaces : objects().textures;
    const auto it = known.find(handle);
    if (out == nullptr || it == known.end()) return Status::invalid_value;
    *out = it->second.*part;
    return Status::success;
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

ChannelFormat lanescope::cuda::format_of(const ResourceDescription& resource, const ViewDescription* view) {
  const Array* array = array_of(resource);
  if (array != nullptr) return view != nullptr ? format_of_view(view->format) : array->format;
  if (resource.type == ResourceDescription::linear) return resource.of.linear.format;
  return resource.type == ResourceDescription::pitch2d ? resource.of.pitch2d.format : ChannelFormat{};
}

Status lanescope::cuda::create_texture(uint64_t* out, const ResourceDescription* resource,
                                       const TextureDescription* how, const ViewDescription* view,
                                       bool filters_integers) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || resource == nullptr || how == nullptr) return Status::invalid_value;
    lanescope::exec::Texture texture;
    Status status = find_resource(runtime, *resource);
    if (status != Status::success) return status;
    const Array* array = array_of(*resource);
    if (array == nullptr) view = nullptr;
    if (view != nullptr) status = check_view(*resource, *array, *view);
    if (status == Status::success && !set_format(texture, format_of(*resource, view)))
      status = Status::invalid_channel_descriptor;
    if (status == Status::success) status = set_sampling(texture, *how, filters_integers);
    if (status == Status::success) status = set_place(runtime, texture, *resource);
    if (status == Status::success) status = refuse_while_capturing();
    if (status != Status::success) return status;
    if (view != nullptr) narrow(texture, *view);
    const uint64_t handle = runtime.memory.textures.add(texture);
    const std::lock_guard lock(objects().mutex);
    objects().textures[handle] = {*resource, *how, view != nullptr ? std::optional(*view) : std::nullopt};
    *out = handle;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaCreateTextureObject(uint64_t* out, const ResourceDescription* resource,
                                                  const TextureDescription* how,
                                                  const ViewDescription* view) {
  return create_texture(out, resource, how, view, false);
}

LANESCOPE_CUDA_API Status cudaCreateSurfaceObject(uint64_t* out, const ResourceDescription* resource) {
  return call_at_once([&](Runtime& runtime) {
    if (out == nullptr || resource == nullptr) return Status::invalid_value;
    lanescope::exec::Texture texture;
    texture.is_surface = true;
    Status status = find_resource(runtime, *resource);
    if (status == Status::success && !set_format(texture, format_of(*resource, nullptr)))
      status = Status::invalid_channel_descriptor;
    if (status == Status::success && resource->type != ResourceDescription::array)
      status = Status::invalid_value;
    if (status == Status::success) status = set_place(runtime, texture, *resource);
    if (status != Status::success) return status;
    const uint64_t handle = runtime.memory.textures.add(texture);
    const std::lock_guard lock(objects().mutex);
    objects().surfaces[handle] = {*resource, {}, {}};
    *out = handle;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDestroyTextureObject(uint64_t handle) { return destroy(handle, false); }
LANESCOPE_CUDA_API Status cudaDestroySurfaceObject(uint64_t handle) { return destroy(handle, true); }

LANESCOPE_CUDA_API Status cudaGetTextureObjectResourceDesc(ResourceDescription* out, uint64_t handle) {
  return describe(out, handle, false, &Object::resource);
}
LANESCOPE_CUDA_API Status cudaGetSurfaceObjectResourceDesc(ResourceDescription* out, uint64_t handle) {
  return describe(out, handle, true, &Object::resource);
}
LANESCOPE_CUDA_API Status cudaGetTextureObjectTextureDesc(TextureDescription* out, uint64_t handle) {
  return describe(out, handle, false, &Object::texture);
}
/// Says nothing of an object without a view.
LANESCOPE_CUDA_API Status cudaGetTextureObjectResourceViewDesc(ViewDescription* out, uint64_t handle) {
  std::optional<ViewDescription> view;
  const Status status = describe(out != nullptr ? &view : nullptr, handle, false, &Object::view);
  if (view) *out = *view;
  return status;
}
