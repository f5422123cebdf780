// Arrays, and texture and surface objects.
#include <algorithm>
#include <cstring>

#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/texture.hpp"

namespace lanescope::cuda {
namespace {

/// Bits of all channels and their kind; no bits for what is no format.
ChannelFormat to_format(DriverFormat format, unsigned channels) {
  enum Kind : int { is_signed, is_unsigned, is_float };
  int bits = 0;
  Kind kind = is_unsigned;
  switch (format) {
    case DriverFormat::unsigned8: bits = 8; break;
    case DriverFormat::unsigned16: bits = 16; break;
    case DriverFormat::unsigned32: bits = 32; break;
    case DriverFormat::signed8: bits = 8, kind = is_signed; break;
    case DriverFormat::signed16: bits = 16, kind = is_signed; break;
    case DriverFormat::signed32: bits = 32, kind = is_signed; break;
    case DriverFormat::float16: bits = 16, kind = is_float; break;
    case DriverFormat::float32: bits = 32, kind = is_float; break;
    default: return {};
  }
  const auto of = [&](unsigned channel) { return channels > channel ? bits : 0; };
  return {of(0), of(1), of(2), of(3), kind};
}

DriverFormat from_format(const ChannelFormat& format) {
  for (const auto candidate :
       {DriverFormat::unsigned8, DriverFormat::unsigned16, DriverFormat::unsigned32, DriverFormat::signed8,
        DriverFormat::signed16, DriverFormat::signed32, DriverFormat::float16, DriverFormat::float32}) {
    const ChannelFormat one = to_format(candidate, 1);
    if (one.x == format.x && one.kind == format.kind) return candidate;
  }
  return {};
}

unsigned channels_of(const ChannelFormat& format) {
  unsigned count = 0;
  for (const int bits : {format.x, format.y, format.z, format.w}) count += bits != 0 ? 1 : 0;
  return count;
}

bool to_resource(const DriverResource& from, ResourceDescription& to) {
  to = {};
  to.type = from.type;
  to.flags = from.flags;
  switch (from.type) {
    case ResourceDescription::array: to.of.array.array = from.of.array; return true;
    case ResourceDescription::mipmapped_array: to.of.mipmap.array = from.of.mipmap; return true;
    case ResourceDescription::linear:
      to.of.linear = {reinterpret_cast<void*>(from.of.linear.address),
                      to_format(from.of.linear.format, from.of.linear.channels), from.of.linear.bytes};
      return true;
    case ResourceDescription::pitch2d: {
      const auto& rows = from.of.pitch2d;
      to.of.pitch2d = {reinterpret_cast<void*>(rows.address), to_format(rows.format, rows.channels),
                       rows.width, rows.height, rows.pitch};
      return true;
    }
    default: return false;
  }
}

DriverResource from_resource(const ResourceDescription& from) {
  DriverResource to{};
  to.type = from.type;
  to.flags = from.flags;
  switch (from.type) {
    case ResourceDescription::array: to.of.array = from.of.array.array; break;
    case ResourceDescription::mipmapped_array: to.of.mipmap = from.of.mipmap.array; break;
    case ResourceDescription::linear: {
      const auto& linear = from.of.linear;
      to.of.linear = {reinterpret_cast<uint64_t>(linear.pointer), from_format(linear.format),
                      channels_of(linear.format), linear.bytes};
      break;
    }
    default: {
      const auto& rows = from.of.pitch2d;
      to.of.pitch2d = {reinterpret_cast<uint64_t>(rows.pointer),
                       from_format(rows.format),
                       channels_of(rows.format),
                       rows.width,
                       rows.height,
                       rows.pitch};
    }
  }
  return to;
}

TextureDescription to_texture(const DriverTexture& from, const ChannelFormat& format) {
  TextureDescription to{};
  const auto is_set = [&](unsigned flag) { return (from.flags & flag) != 0 ? 1 : 0; };
  std::copy_n(from.address, 3, to.address);
  to.filter = from.filter;
  // Integers of 8 and 16 bits are normalised if nothing else is said; larger ones never are.
  constexpr int is_float = 2;
  to.read_mode =
      is_set(DriverTexture::read_as_integer) == 0 && format.kind != is_float && format.x < 32 ? 1 : 0;
  to.srgb = format.x == 8 ? is_set(DriverTexture::srgb) : 0;  // others have no such values
  std::copy_n(from.border, 4, to.border);
  to.normalized_coordinates = is_set(DriverTexture::normalized_coordinates);
  to.anisotropy = from.anisotropy;
  to.mipmap_filter = from.mipmap_filter;
  to.mipmap_bias = from.mipmap_bias;
  to.mipmap_least = from.mipmap_least;
  to.mipmap_most = from.mipmap_most;
  return to;
}

bool takes_flags(unsigned channels, unsigned flags) {
  constexpr unsigned known_flags = 0xf;  // layered, for surfaces, cube map, for gathers
  return channels <= 4 && (flags & ~known_flags) == 0;
}

Status make_array(Array** out, DriverFormat format, unsigned channels, Sizes extent, unsigned flags) {
  if (!takes_flags(channels, flags)) return Status::invalid_value;
  const ChannelFormat channel_format = to_format(format, channels);
  return cudaMalloc3DArray(out, &channel_format, extent, flags);
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuArrayCreate_v2(Array** out, const DriverArray* array) {
  return in_context([&] {
    if (array == nullptr) return Status::invalid_value;
    return make_array(out, array->format, array->channels, {array->width, array->height, 0}, 0);
  });
}

LANESCOPE_CUDA_API Status cuArray3DCreate_v2(Array** out, const DriverArray3D* array) {
  return in_context([&] {
    if (array == nullptr) return Status::invalid_value;
    return make_array(out, array->format, array->channels, {array->width, array->height, array->depth},
                      array->flags);
  });
}

LANESCOPE_CUDA_API Status cuArray3DGetDescriptor_v2(DriverArray3D* out, const Array* array) {
  return in_context([&] {
    if (out == nullptr || array == nullptr) return Status::invalid_value;
    *out = {array->width, array->height, array->depth, from_format(array->format), channels_of(array->format),
            array->flags};
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuArrayGetDescriptor_v2(DriverArray* out, const Array* array) {
  return about_object(array, [&] {
    if (out == nullptr) return Status::invalid_value;
    *out = {array->width, array->height, from_format(array->format), channels_of(array->format)};
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuArrayDestroy(Array* array) {
  return about_object(array, [&] { return cudaFreeArray(array); });
}

LANESCOPE_CUDA_API Status cuMipmappedArrayCreate(MipmappedArray** out, const DriverArray3D* array,
                                                 unsigned levels) {
  return in_context([&] {
    if (array == nullptr || !takes_flags(array->channels, array->flags)) return Status::invalid_value;
    const ChannelFormat format = to_format(array->format, array->channels);
    return cudaMallocMipmappedArray(out, &format, {array->width, array->height, array->depth}, levels,
                                    array->flags);
  });
}

LANESCOPE_CUDA_API Status cuMipmappedArrayGetLevel(Array** out, const MipmappedArray* mipmap,
                                                   unsigned level) {
  return about_object(mipmap, [&] { return cudaGetMipmappedArrayLevel(out, mipmap, level); });
}

LANESCOPE_CUDA_API Status cuMipmappedArrayDestroy(MipmappedArray* mipmap) {
  return about_object(mipmap, [&] { return cudaFreeMipmappedArray(mipmap); });
}

LANESCOPE_CUDA_API Status cuTexObjectCreate(uint64_t* out, const DriverResource* resource,
                                            const DriverTexture* how, const ViewDescription* view) {
  return in_context([&] {
    ResourceDescription from{};
    constexpr unsigned known_flags = 0x3f;
    if (resource == nullptr || how == nullptr || !to_resource(*resource, from) || resource->flags != 0 ||
        (how->flags & ~known_flags) != 0 || how->mipmap_filter > 1)
      return Status::invalid_value;
    const TextureDescription texture = to_texture(*how, format_of(from, view));
    return create_texture(out, &from, &texture, view, true);
  });
}

LANESCOPE_CUDA_API Status cuSurfObjectCreate(uint64_t* out, const DriverResource* resource) {
  return in_context([&] {
    ResourceDescription from{};
    if (resource == nullptr || !to_resource(*resource, from)) return Status::invalid_value;
    return cudaCreateSurfaceObject(out, &from);
  });
}

LANESCOPE_CUDA_API Status cuTexObjectGetResourceDesc(DriverResource* out, uint64_t handle) {
  return in_context([&] {
    ResourceDescription resource{};
    const Status status = cudaGetTextureObjectResourceDesc(&resource, handle);
    if (status == Status::success && out == nullptr) return Status::invalid_value;
    if (status == Status::success) *out = from_resource(resource);
    return status;
  });
}

LANESCOPE_CUDA_API Status cuTexObjectGetResourceViewDesc(ViewDescription* out, uint64_t handle) {
  return in_context([&] { return cudaGetTextureObjectResourceViewDesc(out, handle); });
}

LANESCOPE_PASS_1(cuTexObjectDestroy, cudaDestroyTextureObject, by_context)
LANESCOPE_PASS_1(cuSurfObjectDestroy, cudaDestroySurfaceObject, by_context)
