// A program of CUDA 12 that calls what CUDA 13 has with other parameters or structures. Offsets in
// cudaDeviceProp and sizes of structures are those of the headers of CUDA 12.9.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

/// cudaPointerAttributes, with what must not be written behind it.
struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  uint64_t behind[8];
};

/// cudaResourceDesc of memory that a texture reads in a line.
struct ResourceDescription {
  int type = 2;
  void* pointer = nullptr;
  int format[5] = {32, 0, 0, 0, 2};  // floats
  size_t bytes = 0;
  uint64_t rest[2] = {};
  uint64_t behind[10];
};

struct CopyAttributes {
  int order, hints[4];
  unsigned flags;
};

struct MemsetNode {
  int type = 2, reserved[3] = {};
  void* target;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;
  long rest[29] = {}, last = 0;
};

struct LaunchParams {
  const void* function;
  dim3 grid, block;
  void** arguments;
  size_t shared;
  void* stream;
};

}  // namespace

extern "C" {
int cudaCreateSurfaceObject(uint64_t*, const void*);
int cudaCreateTextureObject(uint64_t*, const void*, const void*, const void*);
int cudaDestroyTextureObject(uint64_t);
int cudaDeviceGetAttribute(int*, int, int);
int cudaGetDriverEntryPoint(const char*, void**, uint64_t, int*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, uint64_t, int*);
int cudaDeviceGetLimit(size_t*, int);
int cudaEventElapsedTime_v2(float*, void*, void*);
int cudaGetDeviceProperties(void*, int);
int cudaGetDeviceProperties_v2(void*, int);
int cudaGetTextureObjectResourceDesc(void*, uint64_t);
int cudaGraphAddDependencies(void*, void* const*, void* const*, size_t);
int cudaGraphAddDependencies_v2(void*, void* const*, void* const*, const void*, size_t);
int cudaGraphAddEmptyNode(void**, void*, void* const*, size_t);
int cudaGraphAddNode(void**, void*, void* const*, size_t, void*);
int cudaGraphAddNode_v2(void**, void*, void* const*, const void*, size_t, void*);
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphGetEdges(void*, void**, void**, size_t*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cudaGraphNodeGetDependencies(void*, void**, size_t*);
int cudaGraphNodeGetDependentNodes(void*, void**, size_t*);
int cudaGraphRemoveDependencies(void*, void* const*, void* const*, size_t);
int cudaLaunchCooperativeKernelMultiDevice(LaunchParams*, unsigned, unsigned);
int cudaMemAdvise(const void*, size_t, int, int);
int cudaMemPrefetchAsync(const void*, size_t, int, void*);
int cudaMemPrefetchAsync_ptsz(const void*, size_t, int, void*);
int cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
int cudaMemcpyBatchAsync(void**, void**, size_t*, size_t, CopyAttributes*, size_t*, size_t, size_t*, void*);
int cudaPeekAtLastError();
int cudaPointerGetAttributes(PointerAttributes*, const void*);
int cudaSetDoubleForDevice(double*);
int cudaStreamGetCaptureInfo(void*, int*, unsigned long long*);
int cudaStreamGetCaptureInfo_v2(void*, int*, unsigned long long*, void**, void***, size_t*);
int cudaStreamGetCaptureInfo_v3(void*, int*, unsigned long long*, void**, void***, const void**, size_t*);
int cudaStreamUpdateCaptureDependencies(void*, void**, size_t, unsigned);
int cudaThreadGetLimit(size_t*, int);
int cudaThreadSetLimit(int, size_t);
int cudaThreadSynchronize();
}

namespace {

constexpr int invalid_value = 1, invalid_context = 201;

template <typename T>
bool is_untouched(const T& behind) {
  for (const uint64_t word : behind)
    if (word != 0x5a5a5a5a5a5a5a5a) return false;
  return true;
}

template <typename T>
T filled() {
  T value;
  std::memset(static_cast<void*>(&value), 0x5a, sizeof value);
  return value;
}

void check_properties() {
  constexpr size_t bytes = 1032, bytes_of_11 = 728;
  unsigned char properties[bytes + 64];
  std::memset(properties, 0x5a, sizeof properties);
  require(cudaGetDeviceProperties_v2(properties, 0) == 0, "properties");
  uint64_t behind[8];
  std::memcpy(behind, properties + bytes, sizeof behind);
  require(is_untouched(behind), "nothing behind the properties");
  const auto read = [&]<typename T>(T value, size_t offset) {
    std::memcpy(&value, properties + offset, sizeof value);
    return static_cast<size_t>(value);
  };
  const auto is_attribute = [&](auto type, size_t offset, int attribute) {
    int value = -1;
    require(cudaDeviceGetAttribute(&value, attribute, 0) == 0, "attribute");
    if (read(type, offset) == static_cast<size_t>(value)) return;
    std::printf("at %zu: %zu, attribute %d: %d\n", offset, read(type, offset), attribute, value);
    require(false, "properties are the attributes");
  };
  struct At {
    size_t offset;
    int attribute;
  };
  for (const At at :
       {At{304, 12}, {308, 10},  {320, 1},   {324, 2},   {328, 3},   {332, 4},   {336, 5},   {340, 6},
        {344, 7},    {348, 13},  {360, 75},  {364, 76},  {384, 15},  {388, 16},  {392, 17},  {396, 18},
        {400, 19},   {404, 20},  {408, 21},  {416, 69},  {420, 22},  {424, 23},  {456, 24},  {460, 25},
        {464, 26},   {480, 52},  {484, 42},  {488, 43},  {492, 27},  {500, 29},  {512, 55},  {516, 56},
        {524, 58},   {536, 61},  {544, 63},  {556, 66},  {560, 67},  {564, 68},  {576, 31},  {580, 32},
        {584, 33},   {588, 34},  {592, 50},  {596, 35},  {600, 40},  {604, 41},  {608, 36},  {612, 37},
        {616, 38},   {620, 108}, {624, 39},  {628, 78},  {632, 79},  {636, 80},  {648, 82},  {652, 83},
        {656, 84},   {660, 85},  {664, 86},  {668, 87},  {672, 88},  {676, 89},  {680, 90},  {684, 91},
        {688, 95},   {692, 96},  {704, 100}, {708, 101}, {712, 106}, {716, 109}, {728, 99},  {732, 112},
        {736, 113},  {740, 114}, {744, 115}, {748, 116}, {752, 117}, {756, 118}, {760, 119}, {764, 121},
        {768, 125},  {772, 120}, {776, 129}})
    is_attribute(int{}, at.offset, at.attribute);
  for (const At at :
       {At{296, 8}, {312, 11}, {352, 9}, {368, 14}, {376, 51}, {568, 30}, {640, 81}, {696, 97}, {720, 111}})
    is_attribute(size_t{}, at.offset, at.attribute);
  std::printf("%s\n", reinterpret_cast<const char*>(properties));

  unsigned char older[bytes_of_11 + 64];
  std::memset(older, 0x5a, sizeof older);
  require(cudaGetDeviceProperties(older, 0) == 0, "properties of CUDA 11");
  require(std::memcmp(older, properties, bytes_of_11) == 0, "they are the beginning");
  std::memcpy(behind, older + bytes_of_11, sizeof behind);
  require(is_untouched(behind), "nothing behind them");
  require(cudaGetDeviceProperties_v2(nullptr, 0) == invalid_value && cudaGetLastError() == invalid_value,
          "a null pointer");
  require(cudaGetDeviceProperties_v2(properties, 1) == 101 && cudaGetLastError() == 101, "no such device");
}

void check_structures(float* memory) {
  auto attributes = filled<PointerAttributes>();
  require(cudaPointerGetAttributes(&attributes, memory) == 0, "attributes of a pointer");
  require(attributes.type == 2 && attributes.device == 0 && attributes.device_pointer == memory,
          "memory of the device");
  require(is_untouched(attributes.behind), "nothing behind the attributes");

  // A texture of which CUDA 13 would read more than there is.
  ResourceDescription resource{};
  std::memset(resource.behind, 0x5a, sizeof resource.behind);
  resource.pointer = memory;
  resource.bytes = 64;
  const int how[18] = {};
  uint64_t texture = 0;
  require(cudaCreateTextureObject(&texture, &resource, how, nullptr) == 0, "a texture");
  auto back = filled<ResourceDescription>();
  require(cudaGetTextureObjectResourceDesc(&back, texture) == 0, "its resource");
  require(back.type == 2 && back.pointer == memory && back.bytes == 64, "the resource comes back");
  require(is_untouched(back.behind), "nothing behind the resource");
  require(cudaDestroyTextureObject(texture) == 0, "the texture goes");
  cudaGetLastError();
  require(cudaCreateSurfaceObject(&texture, &resource) == invalid_value, "no surface of a line of memory");
  require(cudaGetLastError() == invalid_value, "which the runtime remembers");
}

void check_advice(float* managed) {
  constexpr int set_preferred = 3, preferred = 2, last_prefetch = 4, host = -1;
  int place = -5;
  require(cudaMemAdvise(managed, 4096, set_preferred, 0) == 0, "advice");
  require(cudaMemRangeGetAttribute(&place, 4, preferred, managed, 4096) == 0 && place == 0,
          "preferred: device 0");
  require(cudaMemAdvise(managed, 4096, set_preferred, host) == 0, "advice for the host");
  require(cudaMemRangeGetAttribute(&place, 4, preferred, managed, 4096) == 0 && place == host,
          "preferred: host");
  require(cudaMemPrefetchAsync(managed, 4096, 0, nullptr) == 0, "prefetch");
  require(cudaMemRangeGetAttribute(&place, 4, last_prefetch, managed, 4096) == 0 && place == 0,
          "fetched to device 0");
  require(cudaMemPrefetchAsync_ptsz(managed, 4096, host, nullptr) == 0, "prefetch to the host");
  require(cudaMemRangeGetAttribute(&place, 4, last_prefetch, managed, 4096) == 0 && place == host,
          "fetched to the host");
  require(cudaMemAdvise(managed, 4096, set_preferred, 7) == 101 && cudaGetLastError() == 101,
          "there is no device 7");
  require(cudaMemAdvise(managed, 4096, 1, 7) == 0, "which does not matter here");
}

void check_graphs(int* memory) {
  void *graph = nullptr, *first = nullptr, *second = nullptr, *third = nullptr, *executable = nullptr;
  require(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddEmptyNode(&first, graph, nullptr, 0) == 0,
          "a graph");
  MemsetNode node{.target = memory, .pitch = 0, .value = 7, .element_bytes = 4, .width = 4, .height = 1};
  require(cudaGraphAddNode(&second, graph, &first, 1, &node) == 0, "a node behind another one");
  node.value = 9;
  require(cudaGraphAddNode_v2(&third, graph, nullptr, nullptr, 0, &node) == 0, "a node by itself");
  require(cudaGraphAddDependencies(graph, &second, &third, 1) == 0, "an edge");
  void *from[4] = {}, *to[4] = {};
  size_t count = 4;
  require(cudaGraphGetEdges(graph, from, to, &count) == 0 && count == 2, "two edges");
  count = 4;
  require(cudaGraphNodeGetDependencies(third, from, &count) == 0 && count == 1 && from[0] == second,
          "before it");
  count = 4;
  require(cudaGraphNodeGetDependentNodes(first, to, &count) == 0 && count == 1 && to[0] == second,
          "behind it");
  require(cudaGraphRemoveDependencies(graph, &second, &third, 1) == 0, "an edge less");
  require(cudaGraphAddDependencies_v2(graph, &second, &third, nullptr, 1) == 0, "and again");
  require(cudaGraphInstantiate(&executable, graph, 0) == 0 && cudaGraphLaunch(executable, nullptr) == 0,
          "it runs");
  int value = 0;
  require(cudaMemcpy(&value, memory, sizeof value, 2) == 0 && value == 9, "in this order");
  require(cudaGraphDestroy(graph) == 0, "the graph goes");
}

void check_capture() {
  void *stream = nullptr, *graph = nullptr, *captured = nullptr, *node = nullptr;
  require(cudaStreamCreateWithFlags(&stream, 1) == 0 && cudaStreamBeginCapture(stream, 0) == 0, "a capture");
  int status = 0;
  unsigned long long id = 0, same = 0;
  require(cudaStreamGetCaptureInfo(stream, &status, &id) == 0 && status == 1 && id != 0, "it is seen");
  void** needs = nullptr;
  size_t count = 7;
  require(cudaStreamGetCaptureInfo_v2(stream, &status, &same, &graph, &needs, &count) == 0 && same == id &&
              count == 0,
          "with its graph");
  require(cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == 0, "a node");
  require(cudaStreamUpdateCaptureDependencies(stream, &node, 1, 1) == 0, "that what comes waits for");
  require(cudaStreamGetCaptureInfo_v3(stream, &status, &same, &graph, &needs, nullptr, &count) == 0 &&
              count == 1 && needs[0] == node,
          "which is seen, too");
  require(cudaStreamEndCapture(stream, &captured) == 0 && captured == graph, "it ends");
  require(cudaStreamDestroy(stream) == 0, "the stream goes");
}

void check_others(float* memory) {
  int version = 0;
  require(cudaRuntimeGetVersion(&version) == 0, "version");
  std::printf("version %d\n", version);
  size_t limit = 0, same = 1;
  require(cudaThreadSetLimit(0, 2048) == 0 && cudaThreadGetLimit(&limit, 0) == 0 && limit == 2048, "a limit");
  require(cudaDeviceGetLimit(&same, 0) == 0 && same == limit, "is the device's");
  double number = 1;
  require(cudaThreadSynchronize() == 0 && cudaSetDoubleForDevice(&number) == 0 && number == 1, "old names");
  void *begin = nullptr, *end = nullptr;
  float milliseconds = -1;
  require(cudaEventCreate(&begin) == 0 && cudaEventCreate(&end) == 0 &&
              cudaEventRecord(begin, nullptr) == 0 && cudaEventRecord(end, nullptr) == 0 &&
              cudaEventSynchronize(end) == 0,
          "events");
  require(cudaEventElapsedTime_v2(&milliseconds, begin, end) == 0 && milliseconds >= 0, "have times");

  float host[4] = {1, 2, 3, 4};
  void *targets[] = {memory}, *sources[] = {host};
  size_t sizes[] = {sizeof host}, begins[] = {0}, failed = 3;  // changed by success, too
  CopyAttributes attributes[] = {{1, {}, 0}};
  void* stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, 0) == 0, "a stream");
  require(cudaMemcpyBatchAsync(targets, sources, sizes, 1, attributes, begins, 1, &failed, stream) == 0 &&
              failed == SIZE_MAX,
          "a batch of copies");
  failed = 3;
  require(cudaMemcpyBatchAsync(targets, sources, sizes, 1, nullptr, begins, 1, &failed, stream) ==
                  invalid_value &&
              failed == SIZE_MAX,
          "one that makes no sense");
  cudaGetLastError();
  float back = 0;
  require(cudaMemcpy(&back, memory + 3, sizeof back, 2) == 0 && back == 4, "copied");

  void* of_driver = nullptr;
  int found = 0;
  host[3] = 5, failed = 3;
  require(cudaGetDriverEntryPoint("cuMemcpyBatchAsync", &of_driver, 0, &found) == 0 &&
              reinterpret_cast<decltype(&cudaMemcpyBatchAsync)>(of_driver)(
                  targets, sources, sizes, 1, attributes, begins, 1, &failed, stream) == 0 &&
              failed == SIZE_MAX,
          "the driver's batch");
  require(cudaMemcpy(&back, memory + 3, sizeof back, 2) == 0 && back == 5, "is copied");
  using Boxes = int (*)(size_t, const void*, size_t*, unsigned long long, void*);
  failed = 3;
  require(cudaGetDriverEntryPoint("cuMemcpy3DBatchAsync", &of_driver, 0, &found) == 0 &&
              reinterpret_cast<Boxes>(of_driver)(1, nullptr, &failed, 0, stream) == invalid_value &&
              failed == SIZE_MAX,
          "its batch of boxes");
  void *context = nullptr, *green = memory;
  require(cudaGetDriverEntryPoint("cuStreamGetCtx", &of_driver, 0, &found) == 0 &&
              reinterpret_cast<int (*)(void*, void**, void**)>(of_driver)(stream, &context, &green) == 0 &&
              context != nullptr && green == nullptr,
          "the stream's contexts");
  const auto stream_contexts = reinterpret_cast<int (*)(void*, void**, void**)>(of_driver);
  void *make_current = nullptr, *same_context = nullptr;
  require(cudaGetDriverEntryPoint("cuCtxSetCurrent", &make_current, 0, &found) == 0,
          "contexts are made current");
  const auto set_current = reinterpret_cast<int (*)(void*)>(make_current);
  require(set_current(nullptr) == 0 && stream_contexts(stream, &same_context, &green) == 0 &&
              same_context == context && stream_contexts(nullptr, &same_context, &green) == invalid_context &&
              set_current(context) == 0,
          "are known without a current one");
  require(cudaLaunchCooperativeKernelMultiDevice(nullptr, 1, 0) == invalid_value &&
              cudaGetLastError() == invalid_value,
          "launches of nothing");
}

/// Without a version, it is a function of CUDA 12 that is found.
void check_entry_points() {
  const auto by_version = [](const char* name, unsigned version) {
    void* function = nullptr;
    int found = 0;
    require(cudaGetDriverEntryPointByVersion(name, &function, version, 0, &found) == 0 && found == 0, name);
    return function;
  };
  void* function = nullptr;
  int found = 0;
  constexpr char changed[] = "cuMemcpyBatchAsync";
  require(cudaGetDriverEntryPoint(changed, &function, 0, &found) == 0 && found == 0, changed);
  require(function == by_version(changed, 12090) && function != by_version(changed, 13000), "entry point");
}

}  // namespace

int main() {
  check_entry_points();
  check_properties();
  void *memory = nullptr, *managed = nullptr;
  require(cudaMalloc(&memory, 4096) == 0 && cudaMallocManaged(&managed, 4096, 1) == 0, "memory");
  check_structures(static_cast<float*>(memory));
  check_advice(static_cast<float*>(managed));
  check_graphs(static_cast<int*>(memory));
  check_capture();
  check_others(static_cast<float*>(memory));
  require(cudaPeekAtLastError() == 0, "no error is left");
  std::printf("cuda12 ok\n");
  return 0;
}
