// A program of CUDA 11 with texture and surface references: what nvcc 11 generates around the kernel of
// tests/data/cuda11/references.cu, and what its main() does, in the same order and with the same output.
// LANESCOPE_FATBIN is the file that it holds.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "fat_binary.hpp"
#include "runtime_calls.hpp"

namespace {

struct Format {
  int x, y, z, w, kind;
};
struct Sizes {
  size_t width, height, depth;
};

/// textureReference and surfaceReference.
struct TextureReference {
  int normalized, filter, address[3];
  Format format;
  int rest[21];
};
static_assert(sizeof(TextureReference) == 124);
struct SurfaceReference {
  Format format;
};

/// cudaMemcpy3DParms.
struct Copy3D {
  void* source_array;
  Sizes source_position;
  void* source;
  Sizes source_sizes;  ///< pitch, width, height
  void* target_array;
  Sizes target_position;
  void* target;
  Sizes target_sizes, extent;
  int kind;
};
static_assert(sizeof(Copy3D) == 160);

constexpr int clamp = 1, wrap = 0, linear = 1, to_device = 1, to_host = 2, surface_flag = 2;
constexpr Format floats{32, 0, 0, 0, 2}, bytes4{8, 8, 8, 8, 1}, ints{32, 0, 0, 0, 0};

TextureReference image{0, 0, {clamp, clamp, clamp}, floats, {}},
    colours{0, 0, {clamp, clamp, clamp}, bytes4, {}}, line{0, 0, {clamp, clamp, clamp}, ints, {}},
    volume{0, 0, {clamp, clamp, clamp}, floats, {}};
SurfaceReference page{};

}  // namespace

extern "C" {
int __cudaRegisterTexture(void**, const TextureReference*, const void**, const char*, int, int, int);
int __cudaRegisterSurface(void**, const SurfaceReference*, const void**, const char*, int, int);
int cudaBindSurfaceToArray(const SurfaceReference*, void*, const Format*);
int cudaBindTexture(size_t*, const TextureReference*, const void*, const Format*, size_t);
int cudaBindTexture2D(size_t*, const TextureReference*, const void*, const Format*, size_t, size_t, size_t);
int cudaBindTextureToArray(const TextureReference*, void*, const Format*);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long);
int cudaGetTextureAlignmentOffset(size_t*, const TextureReference*);
int cudaGetTextureReference(const TextureReference**, const void*);
int cudaGraphCreate(void**, unsigned);
int cudaGraphExecUpdate(void*, void*, void**, int*);
int cudaGraphInstantiate(void**, void*, void**, char*, size_t);
int cudaGraphLaunch(void*, void*);
int cudaMalloc3DArray(void**, const Format*, Sizes, unsigned);
int cudaMallocArray(void**, const Format*, size_t, size_t, unsigned);
int cudaMemcpy2DFromArray(void*, size_t, void*, size_t, size_t, size_t, size_t, int);
int cudaMemcpy2DToArray(void*, size_t, size_t, const void*, size_t, size_t, size_t, int);
int cudaMemcpy3D(const Copy3D*);
int cudaStreamCreate(void**);
int cudaUnbindTexture(const TextureReference*);
}

namespace {

void sample(float* out, int offset) {
  void* arguments[] = {&out, &offset};
  cudaLaunchKernel(reinterpret_cast<const void*>(&sample), {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
}

void plain(float* out, void* stream) {
  void* arguments[] = {&out};
  cudaLaunchKernel(reinterpret_cast<const void*>(&plain), {1, 1, 1}, {32, 1, 1}, arguments, 0, stream);
}

__attribute__((constructor)) void register_all() {
  void** handle = __cudaRegisterFatBinary(&wrapper);
  const auto add = [&](const void* stub, const char* name) {
    __cudaRegisterFunction(handle, static_cast<const char*>(stub), const_cast<char*>(name), name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  };
  add(reinterpret_cast<const void*>(&sample), "_Z6samplePfi");
  add(reinterpret_cast<const void*>(&plain), "_Z5plainPf");
  __cudaRegisterTexture(handle, &image, nullptr, "::image", 2, 0, 0);
  __cudaRegisterTexture(handle, &colours, nullptr, "::colours", 2, 1, 0);
  __cudaRegisterTexture(handle, &line, nullptr, "::line", 1, 0, 0);
  __cudaRegisterTexture(handle, &volume, nullptr, "::space::volume", 3, 0, 0);
  __cudaRegisterSurface(handle, &page, nullptr, "::page", 2, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

void say(const char* what, int status) { std::printf("%s: %d\n", what, status); }

template <size_t count>
void print(const float (&values)[count], size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    std::printf("%.9g%c", static_cast<double>(values[i]), i % 32 == 31 ? '\n' : ' ');
}

}  // namespace

int main() {
  float host[8 * 4 * 4];
  for (int i = 0; i < 8 * 4 * 4; ++i) host[i] = static_cast<float>(i);
  unsigned char bytes[4 * 128];
  for (int i = 0; i < 4 * 128; ++i) bytes[i] = static_cast<unsigned char>(i);
  void *array = nullptr, *cube = nullptr, *sheet = nullptr, *rows = nullptr, *words = nullptr, *out = nullptr;
  say("array", cudaMallocArray(&array, &floats, 4, 4, 0));
  say("fill", cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 4, to_device));
  say("volume", cudaMalloc3DArray(&cube, &floats, {8, 4, 4}, 0));
  Copy3D copy{};
  copy.source = host;
  copy.source_sizes = {32, 8, 4};
  copy.target_array = cube;
  copy.extent = {8, 4, 4};
  copy.kind = to_device;
  say("fill", cudaMemcpy3D(&copy));
  say("sheet", cudaMallocArray(&sheet, &floats, 32, 4, surface_flag));
  say("rows", cudaMalloc(&rows, sizeof bytes));
  say("fill", cudaMemcpy(rows, bytes, sizeof bytes, to_device));
  say("words", cudaMalloc(&words, 1024));
  say("fill", cudaMemcpy(words, host, sizeof host, to_device));
  say("clear", cudaMemset(static_cast<char*>(words) + sizeof host, 0, 1024 - sizeof host));

  image.normalized = 1;
  image.filter = linear;
  image.address[0] = image.address[1] = wrap;
  say("bind to an array", cudaBindTextureToArray(&image, array, &floats));
  say("bind to a volume", cudaBindTextureToArray(&volume, cube, &floats));
  size_t offset = 99;
  say("bind to rows", cudaBindTexture2D(&offset, &colours, rows, &bytes4, 32, 4, 128));
  std::printf("%zu\n", offset);
  const char* behind = static_cast<char*>(words) + 256;
  say("bind to memory", cudaBindTexture(&offset, &line, behind, &ints, UINT32_MAX));
  std::printf("%zu\n", offset);
  say("without an offset", cudaBindTexture(nullptr, &line, behind, &ints, UINT32_MAX));
  say("offset", cudaGetTextureAlignmentOffset(&offset, &line));
  std::printf("%zu\n", offset);
  say("bind a surface", cudaBindSurfaceToArray(&page, sheet, &floats));

  float back[128];
  say("out", cudaMalloc(&out, sizeof back));
  auto* results = static_cast<float*>(out);
  sample(results, static_cast<int>(offset / 4));
  say("run", cudaDeviceSynchronize());
  say("back", cudaMemcpy(back, out, sizeof back, to_host));
  print(back, 0, 128);
  say("sheet", cudaMemcpy2DFromArray(back, 128, sheet, 0, 0, 128, 2, to_host));
  std::printf("%g %g\n", static_cast<double>(back[32]), static_cast<double>(back[63]));

  say("bind to other memory", cudaBindTexture(&offset, &line, words, &ints, 64));
  sample(results, 0);
  say("back", cudaMemcpy(back, out, sizeof back, to_host));
  print(back, 64, 96);
  const TextureReference* found = nullptr;
  say("reference", cudaGetTextureReference(&found, &image));
  std::printf("%d\n", found == &image);
  say("no reference", cudaGetTextureReference(&found, host));
  say("last error", cudaGetLastError());
  say("unbind", cudaUnbindTexture(&line));
  say("offset", cudaGetTextureAlignmentOffset(&offset, &line));
  say("last error", cudaGetLastError());
  say("unbind", cudaUnbindTexture(&line));
  say("bind to other memory", cudaBindTexture(&offset, &line, words, &ints, 64));
  say("bind to rows", cudaBindTexture2D(&offset, &colours, rows, &bytes4, 32, 4, 128));
  say("rows of odd length", cudaBindTexture2D(&offset, &colours, rows, &bytes4, 30, 4, 120));
  say("last error", cudaGetLastError());
  say("bind to other memory", cudaBindTexture(&offset, &line, words, &ints, 64));
  say("bind to nothing", cudaBindTexture(&offset, &line, nullptr, &ints, 64));
  say("last error", cudaGetLastError());
  struct {
    size_t bytes[3];
    int threads, rest[7];
    uint64_t behind[8];
  } attributes{};
  say("attributes", cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&sample)));
  bool is_untouched = true;
  for (const uint64_t word : attributes.behind) is_untouched = is_untouched && word == 0;
  std::printf("%zu bytes, %d threads\n", is_untouched ? offsetof(decltype(attributes), behind) : 0,
              attributes.threads);

  void *stream = nullptr, *graph = nullptr, *empty = nullptr, *executable = nullptr, *failed = host;
  char log[8] = "before";
  say("stream", cudaStreamCreate(&stream));
  say("capture", cudaStreamBeginCapture(stream, 0));
  plain(results, stream);
  say("end", cudaStreamEndCapture(stream, &graph));
  say("instantiate", cudaGraphInstantiate(&executable, graph, &failed, log, sizeof log));
  std::printf("%d '%s'\n", failed == host, log);
  say("launch", cudaGraphLaunch(executable, stream));
  say("run", cudaStreamSynchronize(stream));
  int result = 1;
  failed = host;
  say("update", cudaGraphExecUpdate(executable, graph, &failed, &result));
  std::printf("%d %d\n", failed == nullptr, result);
  say("empty graph", cudaGraphCreate(&empty, 0));
  say("update", cudaGraphExecUpdate(executable, empty, &failed, &result));
  say("last error", cudaGetLastError());
  void* entry = nullptr;
  say("entry point", cudaGetDriverEntryPoint("cuInit", &entry, 0));
  std::printf("%d\n", entry != nullptr);
  int version = 0;
  say("version", cudaRuntimeGetVersion(&version));
  std::printf("%d\n", version);
  return 0;
}
