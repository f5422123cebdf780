// Textures of the driver: views of arrays, whole numbers that are read through a linear filter, and one
// dimension of an array of one row. views.txt is what an H200 printed (CUDA 13.0).
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int most_points = 32;

__global__ void read_whole(CUtexObject texture, float x, float step, float y, int* out) {
  out[threadIdx.x] = tex2D<int4>(texture, x + step * threadIdx.x, y).x;
}
__global__ void read_real(CUtexObject texture, float x, float step, float y, float* out) {
  out[threadIdx.x] = tex2D<float4>(texture, x + step * threadIdx.x, y).x;
}
__global__ void read_row(CUtexObject texture, float x, float step, float* out) {
  out[threadIdx.x] = tex1D<float4>(texture, x + step * threadIdx.x).x;
}
__global__ void read_level(CUtexObject texture, float* out) {
  out[threadIdx.x] = tex2DLod<float4>(texture, 0.5f, 0.5f, threadIdx.x * 0.5f).x;
}
__global__ void read_layer(CUtexObject texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float4>(texture, 0.5f, 0.5f, threadIdx.x).x;
}

/// Memory of the device for what a kernel has read, and its way back.
template <typename T>
class Results {
 public:
  Results() { cudaMalloc(&device_, most_points * sizeof(T)); }
  T* device() { return device_; }
  void show(int count) {
    T host[most_points];
    if (cudaMemcpy(host, device_, count * sizeof(T), cudaMemcpyDefault) != cudaSuccess)
      std::printf(" failed");
    for (int i = 0; i < count; ++i) std::printf(" %.9g", static_cast<double>(host[i]));
    std::printf("\n");
  }

 private:
  T* device_ = nullptr;
};

const char* name(CUresult result) {
  const char* text = nullptr;
  cuGetErrorName(result, &text);
  return text != nullptr ? text : "?";
}

CUarray make_array(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                   unsigned flags) {
  const CUDA_ARRAY3D_DESCRIPTOR wanted{width, height, depth, format, channels, flags};
  CUarray array = nullptr;
  if (cuArray3DCreate(&array, &wanted) != CUDA_SUCCESS) std::printf("no array\n");
  return array;
}

/// Texels that lie behind each other.
void fill(CUarray array, const void* texels, size_t row_bytes, size_t rows, size_t slices) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels;
  copy.srcPitch = row_bytes;
  copy.srcHeight = rows;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = row_bytes;
  copy.Height = rows;
  copy.Depth = slices;
  if (cuMemcpy3D(&copy) != CUDA_SUCCESS) std::printf("no copy\n");
}

CUDA_RESOURCE_DESC of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUDA_TEXTURE_DESC sampling(CUfilter_mode filter, unsigned flags) {
  CUDA_TEXTURE_DESC how{};
  how.filterMode = filter;
  how.flags = flags;
  for (auto& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  return how;
}

struct View {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};
CUDA_RESOURCE_VIEW_DESC description(const View& view) {
  CUDA_RESOURCE_VIEW_DESC out{};
  out.format = static_cast<CUresourceViewFormat>(view.format);
  out.width = view.width, out.height = view.height, out.depth = view.depth;
  out.firstMipmapLevel = view.first_level, out.lastMipmapLevel = view.last_level;
  out.firstLayer = view.first_layer, out.lastLayer = view.last_layer;
  return out;
}

/// Prints what creating the texture returns; 0 where it fails.
CUtexObject make(const char* what, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how,
                 const View& view) {
  const CUDA_RESOURCE_VIEW_DESC shown = description(view);
  CUtexObject texture = 0;
  const CUresult result = cuTexObjectCreate(&texture, &resource, &how, &shown);
  std::printf("%s: %s%s", what, name(result), result == CUDA_SUCCESS ? "" : "\n");
  return result == CUDA_SUCCESS ? texture : 0;
}

template <typename T>
void read_filtered(const char* what, CUarray_format format, int least, int large) {
  constexpr int width = 8, height = 4, pitch = 512;
  std::vector<unsigned char> rows(pitch * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const T value = static_cast<T>(x == width - 1 ? large : 10 * x + 7 * y + least);
      std::memcpy(&rows[y * pitch + x * sizeof value], &value, sizeof value);
    }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  auto& plain = resource.res.pitch2D;
  cuMemAlloc(&plain.devPtr, rows.size());
  cuMemcpyHtoD(plain.devPtr, rows.data(), rows.size());
  plain.format = format, plain.numChannels = 1;
  plain.width = width, plain.height = height, plain.pitchInBytes = pitch;
  Results<int> results;
  const CUDA_TEXTURE_DESC how = sampling(CU_TR_FILTER_MODE_LINEAR, CU_TRSF_READ_AS_INTEGER);
  CUtexObject texture = 0;
  std::printf("%s: %s\n", what, name(cuTexObjectCreate(&texture, &resource, &how, nullptr)));
  constexpr float points[][3] = {
      {1.5f, 0.125f, 1.5f}, {1.5f, 0.0625f, 2}, {6.5f, 0.0625f, 0.5f}, {1.7f, 0.37f, 1.3f}};
  for (const auto& [x, step, y] : points) {
    read_whole<<<1, 20>>>(texture, x, step, y, results.device());
    results.show(20);
  }
}

void show_views() {
  float texels[32];
  for (int i = 0; i < 32; ++i) texels[i] = static_cast<float>(i) + 0.5f;
  CUarray array = make_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
  fill(array, texels, 32, 4, 1);
  const CUDA_TEXTURE_DESC nearest = sampling(CU_TR_FILTER_MODE_POINT, 0);
  Results<float> reals;
  Results<int> wholes;
  constexpr struct {
    const char* what;
    View view;
    bool is_whole;
  } cases[] = {
      {"the same", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4}, false},
      {"no format", {CU_RES_VIEW_FORMAT_NONE, 8, 4}, false},
      {"nothing", {}, false},
      {"no sizes", {CU_RES_VIEW_FORMAT_FLOAT_1X32}, false},
      {"a depth of 1", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 1}, false},
      {"whole numbers", {CU_RES_VIEW_FORMAT_UINT_1X32, 8, 4}, true},
      {"halves", {CU_RES_VIEW_FORMAT_FLOAT_2X16, 8, 4}, false},
      {"shorts", {CU_RES_VIEW_FORMAT_UINT_2X16, 8, 4}, false},
      {"bytes", {CU_RES_VIEW_FORMAT_UINT_4X8, 8, 4}, false},
      {"one byte", {CU_RES_VIEW_FORMAT_UINT_1X8, 8, 4}, false},
      {"wide bytes", {CU_RES_VIEW_FORMAT_UINT_1X8, 32, 4}, false},
      {"two words", {CU_RES_VIEW_FORMAT_FLOAT_2X32, 4, 4}, false},
      {"narrow", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 4, 4}, false},
      {"wide", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 4}, false},
      {"low", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 2}, false},
      {"a level", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 0, 1, 1}, false},
      {"a layer", {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 0, 0, 0, 1, 1}, false},
      {"no such format", {99, 8, 4}, false},
  };
  for (const auto& [what, view, is_whole] : cases) {
    const CUtexObject texture = make(what, of(array), nearest, view);
    if (texture == 0) continue;
    if (is_whole) {
      read_whole<<<1, 5>>>(texture, 0.5f, 1, 1.5f, wholes.device());
      wholes.show(5);
    } else {
      read_real<<<1, 5>>>(texture, 0.5f, 1, 1.5f, reals.device());
      reals.show(5);
    }
  }
  CUtexObject texture = make("asked back", of(array), nearest, {CU_RES_VIEW_FORMAT_UINT_1X32, 8, 4});
  CUDA_RESOURCE_VIEW_DESC view{};
  CUDA_RESOURCE_DESC resource{};
  std::printf(" %s", name(cuTexObjectGetResourceViewDesc(&view, texture)));
  std::printf(" %d %zu %zu", static_cast<int>(view.format), view.width, view.height);
  std::printf(" %s", name(cuTexObjectGetResourceDesc(&resource, texture)));
  std::printf(" %d %s\n", static_cast<int>(resource.resType),
              resource.res.array.hArray == array ? "the array" : "another");
  resource = of(array);
  cuTexObjectCreate(&texture, &resource, &nearest, nullptr);
  std::memset(&view, 7, sizeof view);
  std::printf("no view: %s", name(cuTexObjectGetResourceViewDesc(&view, texture)));
  std::printf(" %s\n", view.width == 0x0707070707070707 ? "says nothing" : "says something");

  // Views of plain memory are looked past.
  CUdeviceptr memory = 0;
  cuMemAlloc(&memory, 512);
  CUDA_RESOURCE_DESC plain{};
  plain.resType = CU_RESOURCE_TYPE_LINEAR;
  plain.res.linear = {memory, CU_AD_FORMAT_FLOAT, 1, 256};
  make("of plain memory", plain, nearest, {99, 3, 3});
  std::printf("\n");
  constexpr size_t depths[] = {0, 1, 5, 6};
  CUarray solid = make_array(8, 4, 5, CU_AD_FORMAT_FLOAT, 4, 0);
  for (const size_t depth : depths) {
    std::printf("%zu deep, ", depth);
    if (make("of 5", of(solid), nearest, {CU_RES_VIEW_FORMAT_FLOAT_4X32, 8, 4, depth}) != 0)
      std::printf("\n");
  }
}

void show_levels() {
  const CUDA_ARRAY3D_DESCRIPTOR wanted{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  auto& mipmap = resource.res.mipmap.hMipmappedArray;
  if (cuMipmappedArrayCreate(&mipmap, &wanted, 4) != CUDA_SUCCESS) std::printf("no mipmap\n");
  for (unsigned level = 0; level < 4; ++level) {
    CUarray array = nullptr;
    cuMipmappedArrayGetLevel(&array, mipmap, level);
    const size_t width = 8 >> level, height = level < 2 ? 4 >> level : 1;
    const std::vector<float> texels(width * height, 100.0f * level + 1);
    fill(array, texels.data(), width * 4, height, 1);
  }
  CUDA_TEXTURE_DESC how = sampling(CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
  how.maxMipmapLevelClamp = 10;
  constexpr unsigned ranges[][2] = {{0, 3}, {1, 2}, {0, 0}, {2, 1}, {1, 9}, {3, 3}};
  Results<float> results;
  for (const auto filter : {CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR})
    for (const auto& [begin, end] : ranges) {
      how.mipmapFilterMode = filter;
      std::printf("levels %u to %u, ", begin, end);
      const CUtexObject texture = make(filter == CU_TR_FILTER_MODE_POINT ? "nearest" : "linear", resource,
                                       how, {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 0, begin, end});
      if (texture == 0) continue;
      read_level<<<1, 8>>>(texture, results.device());
      results.show(8);
    }
  make("sizes of the first level shown", resource, how, {CU_RES_VIEW_FORMAT_FLOAT_1X32, 4, 2, 0, 1, 2});
}

void show_layers() {
  std::vector<float> texels(8 * 4 * 5);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i / 32 + 1);
  CUarray array = make_array(8, 4, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
  fill(array, texels.data(), 32, 4, 5);
  const CUDA_TEXTURE_DESC nearest = sampling(CU_TR_FILTER_MODE_POINT, 0);
  constexpr struct {
    size_t depth;
    unsigned first, last;
  } cases[] = {{5, 0, 4}, {0, 1, 3}, {3, 1, 3}, {5, 1, 3}, {5, 0, 0}, {5, 4, 4}, {5, 3, 1}};
  Results<float> results;
  for (const auto& [depth, begin, end] : cases) {
    std::printf("layers %u to %u, %zu deep, ", begin, end, depth);
    const CUtexObject texture =
        make("of 5", of(array), nearest, {CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, depth, 0, 0, begin, end});
    if (texture == 0) continue;
    read_layer<<<1, 6>>>(texture, results.device());
    results.show(6);
  }
}

/// An array of one row, read by one coordinate.
void show_row() {
  float texels[8];
  for (int i = 0; i < 8; ++i) texels[i] = 10.0f * static_cast<float>(i) + 1;
  CUarray array = make_array(8, 1, 0, CU_AD_FORMAT_FLOAT, 1, 0);
  fill(array, texels, 32, 1, 1);
  const CUDA_RESOURCE_DESC resource = of(array);
  Results<float> results;
  for (const auto filter : {CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR}) {
    const CUDA_TEXTURE_DESC how = sampling(filter, 0);
    CUtexObject texture = 0;
    std::printf("a row: %s", name(cuTexObjectCreate(&texture, &resource, &how, nullptr)));
    read_row<<<1, 10>>>(texture, -0.25f, 0.875f, results.device());
    results.show(10);
  }
}

int main() {
  cudaFree(nullptr);
  read_filtered<unsigned char>("unsigned bytes", CU_AD_FORMAT_UNSIGNED_INT8, 0, 255);
  read_filtered<signed char>("signed bytes", CU_AD_FORMAT_SIGNED_INT8, -35, 127);
  read_filtered<unsigned short>("unsigned shorts", CU_AD_FORMAT_UNSIGNED_INT16, 0, 65535);
  read_filtered<short>("signed shorts", CU_AD_FORMAT_SIGNED_INT16, -35, 30001);
  read_filtered<unsigned>("unsigned words", CU_AD_FORMAT_UNSIGNED_INT32, 0, 30001);
  read_filtered<int>("signed words", CU_AD_FORMAT_SIGNED_INT32, -35, 30001);
  show_views();
  show_levels();
  show_layers();
  show_row();
}
