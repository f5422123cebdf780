// Texture and surface references of CUDA 11: variables of a program, `texture<float, 2> image;`, that it
// binds to memory. The device's variable of that name holds the handle of an object (exec/texture.hpp), which
// binding makes by the functions of CUDA 13.
#include <map>
#include <mutex>

#include "cuda/older/of_13.hpp"
#include "cuda/older/structures.hpp"

using namespace lanescope::cuda;

namespace {

/// textureReference.
struct TextureReference {
  int normalized_coordinates;
  int filter;
  int address[3];
  ChannelFormat format;
  int srgb;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  int no_trilinear_optimization, reserved[14];
};
static_assert(sizeof(TextureReference) == 124);

constexpr auto invalid_texture = static_cast<Status>(18), invalid_binding = static_cast<Status>(19),
               invalid_surface = static_cast<Status>(37);

struct Reference {
  bool is_surface = false;
  int read_mode = 0;    ///< of a texture: 0 as its elements are, 1 as floats
  uint64_t object = 0;  ///< what it is bound to; 0: nothing
  size_t offset = 0;    ///< bytes by which what was bound does not begin where a texture may
};

struct References {
  std::mutex mutex;
  std::map<const void*, Reference> all;
};
References& references() {
  static References& known = *new References;  // programs use them as long as they live
  return known;
}

}  // namespace

LANESCOPE_DECLARE_OF_13(cudaCreateSurfaceObject, uint64_t* out, const ResourceDescription* resource);
LANESCOPE_DECLARE_OF_13(cudaCreateTextureObject, uint64_t* out, const ResourceDescription* resource,
                        const TextureDescription* how, const ViewDescription* view);
LANESCOPE_DECLARE_OF_13(cudaDestroySurfaceObject, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaDestroyTextureObject, uint64_t handle);
LANESCOPE_DECLARE_OF_13(cudaGetSymbolAddress, void** out, const void* symbol);
asm(LANESCOPE_OF_13(
    __cudaRegisterVar) ".symver cuMemGetAddressRange_v2_of_13, cuMemGetAddressRange_v2@libcuda.so.1\n");
// NOLINTNEXTLINE(readability-identifier-naming): CUDA's name
extern "C" void __cudaRegisterVar_of_13(void** handle, char* host, char*, const char* name, int, size_t, int,
                                        int);
extern "C" Status cuMemGetAddressRange_v2_of_13(uint64_t* base, size_t* bytes, uint64_t pointer);

namespace {

void add(void** handle, const void* host, const char* name, const Reference& reference) {
  __cudaRegisterVar_of_13(handle, const_cast<char*>(static_cast<const char*>(host)), nullptr, name, 0,
                          sizeof reference.object, 0, 0);
  const std::lock_guard lock(references().mutex);
  references().all[host] = reference;
}

/// Lets a reference name what `make` gives the handle of, in place of what it names.
template <typename Make>
Status bind(const void* host, bool is_surface, size_t offset, Make&& make) {
  const std::lock_guard lock(references().mutex);
  const auto known = references().all.find(host);
  if (known == references().all.end() || known->second.is_surface != is_surface)
    return is_surface ? invalid_surface : invalid_texture;
  Reference& reference = known->second;
  // The variable is loaded with the module that has it.
  void* variable = nullptr;
  if (const Status status = cudaGetSymbolAddress_of_13(&variable, host); status != Status::success)
    return status;
  uint64_t object = 0;
  if (const Status status = make(reference, object); status != Status::success) return status;
  if (reference.object != 0)
    (is_surface ? cudaDestroySurfaceObject_of_13 : cudaDestroyTextureObject_of_13)(reference.object);
  reference.object = object;
  reference.offset = offset;
  std::memcpy(variable, &object, sizeof object);  // memory of the device is the process's own
  return Status::success;
}

Status bind_texture(const TextureReference* host, const ResourceDescription& resource, size_t offset = 0) {
  return bind(host, false, offset, [&](const Reference& reference, uint64_t& object) {
    TextureDescription how{};
    std::memcpy(how.address, host->address, sizeof how.address);
    how.filter = host->filter;
    how.read_mode = reference.read_mode;
    how.srgb = host->srgb;
    how.normalized_coordinates = host->normalized_coordinates;
    how.anisotropy = host->anisotropy;
    how.mipmap_filter = host->mipmap_filter;
    how.mipmap_bias = host->mipmap_bias;
    how.mipmap_least = host->mipmap_least;
    how.mipmap_most = host->mipmap_most;
    return cudaCreateTextureObject_of_13(&object, &resource, &how, nullptr);
  });
}

/// Textures begin at multiples of 512 bytes. What begins elsewhere is bound from there on, for programs that
/// ask how far that is before.
const char* begin_of(const void* pointer, size_t& offset) {
  constexpr uint64_t alignment = 512;
  offset = reinterpret_cast<uint64_t>(pointer) % alignment;
  return static_cast<const char*>(pointer) - offset;
}

}  // namespace

LANESCOPE_CUDA_API void __cudaRegisterTexture(void** handle, const TextureReference* host, const void**,
                                              const char* name, int, int is_normalized_float, int) {
  add(handle, host, name, {.is_surface = false, .read_mode = is_normalized_float != 0 ? 1 : 0});
}

LANESCOPE_CUDA_API void __cudaRegisterSurface(void** handle, const void* host, const void**, const char* name,
                                              int, int) {
  add(handle, host, name, {.is_surface = true});
}

/// The size may be more than there is: "as much as possible" is what programs say that leave it out.
LANESCOPE_CUDA_API Status cudaBindTexture(size_t* offset, const TextureReference* host, const void* pointer,
                                          const ChannelFormat* format, size_t bytes) {
  size_t before = 0;
  const char* begin = begin_of(pointer, before);
  if (host == nullptr || format == nullptr || (before != 0 && offset == nullptr))
    return lanescope_remember(Status::invalid_value);
  uint64_t base = 0;
  size_t all = 0;
  if (cuMemGetAddressRange_v2_of_13(&base, &all, reinterpret_cast<uint64_t>(begin)) != Status::success)
    return lanescope_remember(Status::symbol_not_found);
  const size_t left = all - (reinterpret_cast<uint64_t>(begin) - base);
  ResourceDescription resource{};
  resource.type = ResourceDescription::linear;
  resource.of.linear = {const_cast<char*>(begin), *format, bytes > left - before ? left : bytes + before};
  if (offset != nullptr) *offset = before;
  return bind_texture(host, resource, before);
}

LANESCOPE_CUDA_API Status cudaBindTexture2D(size_t* offset, const TextureReference* host, const void* pointer,
                                            const ChannelFormat* format, size_t width, size_t height,
                                            size_t pitch) {
  size_t before = 0;
  const char* begin = begin_of(pointer, before);
  if (host == nullptr || format == nullptr || (before != 0 && offset == nullptr))
    return lanescope_remember(Status::invalid_value);
  const size_t texel_bytes = static_cast<size_t>(format->x + format->y + format->z + format->w) / 8;
  ResourceDescription resource{};
  resource.type = ResourceDescription::pitch2d;
  resource.of.pitch2d = {const_cast<char*>(begin), *format,
                         width + before / (texel_bytes == 0 ? 1 : texel_bytes), height, pitch};
  if (offset != nullptr) *offset = before;
  return bind_texture(host, resource, before);
}

/// (The format that is given is the array's own, or the call makes no sense.)
LANESCOPE_CUDA_API Status cudaBindTextureToArray(const TextureReference* host, Array* array,
                                                 const ChannelFormat*) {
  if (host == nullptr) return lanescope_remember(Status::invalid_value);
  ResourceDescription resource{};
  resource.type = ResourceDescription::array;
  resource.of.array.array = array;
  return bind_texture(host, resource);
}

LANESCOPE_CUDA_API Status cudaBindTextureToMipmappedArray(const TextureReference* host, MipmappedArray* array,
                                                          const ChannelFormat*) {
  if (host == nullptr) return lanescope_remember(Status::invalid_value);
  ResourceDescription resource{};
  resource.type = ResourceDescription::mipmapped_array;
  resource.of.mipmap.array = array;
  return bind_texture(host, resource);
}

LANESCOPE_CUDA_API Status cudaUnbindTexture(const TextureReference* host) {
  return bind(host, false, 0, [](const Reference&, uint64_t&) { return Status::success; });
}

LANESCOPE_CUDA_API Status cudaBindSurfaceToArray(const void* host, Array* array, const ChannelFormat*) {
  return bind(host, true, 0, [&](const Reference&, uint64_t& object) {
    ResourceDescription resource{};
    resource.type = ResourceDescription::array;
    resource.of.array.array = array;
    return cudaCreateSurfaceObject_of_13(&object, &resource);
  });
}

LANESCOPE_CUDA_API Status cudaGetTextureAlignmentOffset(size_t* offset, const TextureReference* host) {
  const std::lock_guard lock(references().mutex);
  const auto known = references().all.find(host);
  if (offset == nullptr || known == references().all.end() || known->second.is_surface)
    return invalid_texture;
  if (known->second.object == 0) return lanescope_remember(invalid_binding);
  *offset = known->second.offset;
  return Status::success;
}

namespace {

Status find(const void** out, const void* symbol, bool is_surface) {
  const std::lock_guard lock(references().mutex);
  const auto known = references().all.find(symbol);
  if (out == nullptr || known == references().all.end() || known->second.is_surface != is_surface)
    return is_surface ? invalid_surface : invalid_texture;
  *out = symbol;
  return Status::success;
}

}  // namespace

LANESCOPE_CUDA_API Status cudaGetTextureReference(const void** out, const void* symbol) {
  return find(out, symbol, false);
}
LANESCOPE_CUDA_API Status cudaGetSurfaceReference(const void** out, const void* symbol) {
  return find(out, symbol, true);
}
