// Descriptions of textures, as programs pass them.
#pragma once

#include "cuda/runtime/api.hpp"

namespace lanescope::cuda {

/// cudaResourceDesc.
struct ResourceDescription {
  enum Type : int { array, mipmapped_array, linear, pitch2d };
  int type;
  union {
    struct {
      Array* array;
    } array;
    struct {
      MipmappedArray* array;
    } mipmap;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  unsigned flags;
};
static_assert(sizeof(ResourceDescription) == 144);

/// cudaTextureDesc.
struct TextureDescription {
  int address[3];  ///< wrap, clamp, mirror, border
  int filter;      ///< 0 point, 1 linear
  int read_mode;   ///< 0 element type, 1 normalised float
  int srgb;
  float border[4];
  int normalized_coordinates;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  int no_trilinear_optimization, seamless_cubemap;
};
static_assert(sizeof(TextureDescription) == 72);

/// cudaResourceViewDesc.
struct ViewDescription {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};
static_assert(sizeof(ViewDescription) == 112);

/// cudaCreateTextureObject, but for what it refuses alone: a linear filter on what is read as integers, which
/// the driver takes.
Status create_texture(uint64_t* out, const ResourceDescription* resource, const TextureDescription* how,
                      const ViewDescription* view, bool filters_integers);
/// The format in which a resource is read, through a view or (nullptr) without: no channels if it has none.
ChannelFormat format_of(const ResourceDescription& resource, const ViewDescription* view);

}  // namespace lanescope::cuda
