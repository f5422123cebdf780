// A program on the driver API, without nvcc or its headers. It prints what calls return, errors among them,
// and what kernels make; on_driver.txt is what an H200 (CUDA 13.0) printed. `bounds` ends with an access that
// is out of bounds, `nothing` calls nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "driver_calls.hpp"

namespace {

constexpr char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 calls;
.visible .const .align 4 .u32 factor = 3;

.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[4096];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 ret;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r6, [%rd4];
  ld.const.u32 %r7, [factor];
  mul.lo.u32 %r6, %r6, %r7;
  mul.wide.u32 %rd6, %r3, 4;
  mov.u64 %rd7, tile;
  add.s64 %rd6, %rd7, %rd6;
  st.shared.u32 [%rd6], %r6;
  ld.shared.u32 %r8, [%rd6];
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r8;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 ret;
  mov.u64 %rd7, calls;
  atom.global.add.u32 %r9, [%rd7], 1;
  ret;
}

.visible .entry mixed(.param .u8 small, .param .u64 out, .param .align 16 .b8 block[24], .param .u16 last)
{
  .reg .b32 %r<6>;
  .reg .b16 %h<3>;
  .reg .b64 %rd<4>;
  ld.param.u8 %h1, [small];
  cvt.u32.u16 %r1, %h1;
  ld.param.u32 %r2, [block+20];
  ld.param.u16 %h2, [last];
  cvt.u32.u16 %r3, %h2;
  add.u32 %r4, %r1, %r2;
  add.u32 %r4, %r4, %r3;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  st.global.u32 [%rd1], %r4;
  ret;
}

.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F000000;
  mov.f32 %f2, 0f3FC00000;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f2;
  ret;
}
)";

constexpr char caller[] = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .u32 r) twice(.param .u32 x);
.visible .entry use(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  { .param .u32 a; .param .u32 b;
    st.param.u32 [a], 21;
    call (b), twice, (a);
    ld.param.u32 %r1, [b]; }
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

constexpr char callee[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .u32 r) twice(.param .u32 x)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.u32 [r], %r2;
  ret;
}
)";

/// Prints what a call returned.
void show(const char* what, int result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name != nullptr ? name : "?");
}

void require(const char* what, int result) {
  if (result == 0) return;
  show(what, result);
  std::exit(1);
}

template <typename T>
void print(const char* what, const std::vector<T>& values) {
  std::printf("%s:", what);
  for (const T& value : values) std::printf(" %g", static_cast<double>(value));
  std::printf("\n");
}

struct Side3D {
  size_t x, y, z, level;
  int type;
  void* host;
  uint64_t device;
  void *array, *reserved;
  size_t pitch, height;
};
struct Copy3D {
  Side3D source, target;
  size_t width, height, depth;
};
struct Side2D {
  size_t x, y;
  int type;
  void* host;
  uint64_t device;
  void* array;
  size_t pitch;
};
struct Copy2D {
  Side2D source, target;
  size_t width, height;
};
constexpr int host = 1, device = 2, array = 3, unified = 4;

void before_initialisation() {
  int n = 0, version = 0;
  void* context = nullptr;
  uint64_t memory = 0;
  show("count before cuInit", cuDeviceGetCount(&n));
  show("context before cuInit", cuCtxGetCurrent(&context));
  show("version before cuInit", cuDriverGetVersion(&version));
  std::printf("version at least 13.0: %d\n", version >= 13000);
  show("cuInit with flags", cuInit(1));
  show("cuInit", cuInit(0));
  show("memory without context", cuMemAlloc_v2(&memory, 16));
  show("synchronise without context", cuCtxSynchronize());
  show("pop without context", cuCtxPopCurrent_v2(&context));
}

void devices() {
  int count = 0, ordinal = -1, value = 0;
  size_t bytes = 0;
  char name[8];
  show("count", cuDeviceGetCount(&count));
  show("device", cuDeviceGet(&ordinal, 0));
  show("no device", cuDeviceGet(&ordinal, count));
  show("device nowhere", cuDeviceGet(nullptr, 0));
  show("warp size", cuDeviceGetAttribute(&value, 10, 0));
  std::printf("%d\n", value);
  show("no attribute", cuDeviceGetAttribute(&value, 100000, 0));
  show("attribute of no device", cuDeviceGetAttribute(&value, 10, 77));
  show("name", cuDeviceGetName(name, sizeof name, 0));
  std::printf("%zu characters\n", std::strlen(name));
  show("total memory", cuDeviceTotalMem_v2(&bytes, 0));
  std::printf("more than a GB: %d\n", bytes > (size_t{1} << 30));
  const char* text = nullptr;
  show("text of an error", cuGetErrorString(700, &text));
  std::printf("%s\n", text);
  show("text of no error", cuGetErrorString(12345, &text));
  std::printf("none: %d\n", text == nullptr);
}

void contexts() {
  void *first = nullptr, *second = nullptr, *current = nullptr, *primary = nullptr;
  unsigned flags = 0, version = 0;
  int active = -1, ordinal = -1;
  require("cuCtxCreate", cuCtxCreate_v2(&first, 0, 0));
  require("cuCtxCreate", cuCtxCreate_v2(&second, 0, 0));
  show("current", cuCtxGetCurrent(&current));
  std::printf("the second: %d\n", current == second);
  show("version of context", cuCtxGetApiVersion(second, &version));
  std::printf("%u\n", version);
  show("pop", cuCtxPopCurrent_v2(&current));
  cuCtxGetCurrent(&current);
  std::printf("the first: %d\n", current == first);
  show("device of context", cuCtxGetDevice(&ordinal));
  show("destroy the other", cuCtxDestroy_v2(second));
  show("primary state", cuDevicePrimaryCtxGetState(0, &flags, &active));
  std::printf("active: %d\n", active);
  show("retain", cuDevicePrimaryCtxRetain(&primary, 0));
  cuDevicePrimaryCtxGetState(0, &flags, &active);
  std::printf("active: %d\n", active);
  show("push primary", cuCtxPushCurrent_v2(primary));
  cuCtxGetCurrent(&current);
  std::printf("the primary: %d\n", current == primary);
  show("destroy the first", cuCtxDestroy_v2(first));
  show("set none", cuCtxSetCurrent(nullptr));
  show("set primary", cuCtxSetCurrent(primary));
  cuCtxGetCurrent(&current);
  std::printf("the primary: %d\n", current == primary);
  size_t limit = 0;
  show("stack limit", cuCtxGetLimit(&limit, 0));
  std::printf("%zu\n", limit);
}

void* modules() {
  void *module = nullptr, *none = nullptr, *kernel = nullptr, *back = nullptr;
  unsigned count = 0;
  uint64_t address = 0;
  size_t bytes = 0, offset = 0;
  const char* name = nullptr;
  show("load", cuModuleLoadData(&module, ptx));
  show("load garbage", cuModuleLoadData(&none, "garbage"));
  show("load a defect", cuModuleLoadData(&none, ".version 7.0\n.target sm_70\n.address_size 64\nnonsense\n"));
  char log[512] = "before";
  int options[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  show("load with a log",
       cuModuleLoadDataEx(&none, ".version 7.0\n.target sm_70\nnonsense\n", 2, options, values));
  std::printf("something in the log: %d, size as said: %d\n", std::strlen(log) > 10,
              reinterpret_cast<size_t>(values[1]) >= std::strlen(log));
  show("load with a log that stays empty", cuModuleLoadDataEx(&none, callee, 2, options, values));
  show("unload", cuModuleUnload(none));
  show("load no file", cuModuleLoad(&none, "/no/such/file"));
  show("function", cuModuleGetFunction(&kernel, module, "scale"));
  show("no function", cuModuleGetFunction(&none, module, "scales"));
  show("count of functions", cuModuleGetFunctionCount(&count, module));
  std::printf("%u\n", count);
  show("global", cuModuleGetGlobal_v2(&address, &bytes, module, "calls"));
  std::printf("%zu bytes\n", bytes);
  show("no global", cuModuleGetGlobal_v2(&address, &bytes, module, "call"));
  show("name", cuFuncGetName(&name, kernel));
  std::printf("%s\n", name);
  show("module of function", cuFuncGetModule(&back, kernel));
  std::printf("the same: %d\n", back == module);
  show("parameter 2", cuFuncGetParamInfo(kernel, 2, &offset, &bytes));
  std::printf("%zu, %zu bytes\n", offset, bytes);
  show("parameter 3", cuFuncGetParamInfo(kernel, 3, &offset, &bytes));
  for (const int attribute : {0, 1, 2, 8, 9, 10}) {
    int value = -2;
    show("attribute", cuFuncGetAttribute(&value, attribute, kernel));
    std::printf("%d is %d\n", attribute, value);
  }
  int blocks = 0, threads = 0;
  show("occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
  std::printf("%d blocks of 1024\n", blocks);
  show("block size", cuOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, nullptr, 0, 0));
  std::printf("%d threads\n", threads);
  return module;
}

void memory() {
  uint64_t a = 0, base = 0, managed = 0, pitched = 0;
  size_t bytes = 0, pitch = 0, free = 0, total = 0;
  void* pinned = nullptr;
  std::vector<unsigned> back(16);
  show("no bytes", cuMemAlloc_v2(&a, 0));
  show("too many bytes", cuMemAlloc_v2(&a, size_t{1} << 60));
  show("allocate", cuMemAlloc_v2(&a, 4096));
  show("range", cuMemGetAddressRange_v2(&base, &bytes, a + 100));
  std::printf("begins there: %d, %zu bytes\n", base == a, bytes);
  show("range of nothing", cuMemGetAddressRange_v2(&base, &bytes, 64));
  show("info", cuMemGetInfo_v2(&free, &total));
  std::printf("some free: %d\n", free > 0 && free <= total);
  show("fill words", cuMemsetD32_v2(a, 0x01020304, 16));
  show("fill halves", cuMemsetD16_v2(a + 4, 0x0506, 2));
  show("fill bytes", cuMemsetD8_v2(a + 8, 7, 4));
  show("fill rows", cuMemsetD2D32_v2(a + 16, 16, 9, 2, 3));
  show("fill halves at an odd place", cuMemsetD16_v2(a + 1, 1, 2));
  show("fill too much", cuMemsetD8_v2(a, 1, 5000));
  show("copy back", cuMemcpyDtoH_v2(back.data(), a, 64));
  print("words", back);
  show("copy too much", cuMemcpyDtoH_v2(back.data(), a + 4090, 64));
  show("copy to nowhere", cuMemcpyHtoD_v2(64, back.data(), 4));
  show("copy nothing", cuMemcpyHtoD_v2(a, back.data(), 0));
  show("copy on the device", cuMemcpyDtoD_v2(a + 1024, a, 64));
  show("copy anything", cuMemcpy(reinterpret_cast<uint64_t>(back.data()), a + 1024, 64));
  print("words", back);
  show("pinned", cuMemHostAlloc(&pinned, 64, 2));
  show("its address on the device", cuMemHostGetDevicePointer_v2(&base, pinned, 0));
  show("managed", cuMemAllocManaged(&managed, 64, 1));
  show("rows", cuMemAllocPitch_v2(&pitched, &pitch, 100, 3, 4));
  std::printf("pitch %zu\n", pitch);
  show("rows of odd elements", cuMemAllocPitch_v2(&base, &pitch, 100, 3, 3));
  for (const uint64_t p : {a + 8, reinterpret_cast<uint64_t>(pinned), managed}) {
    int type = -1, is_managed = -1, ordinal = -1;
    uint64_t on_device = 0, range = 0;
    void* on_host = nullptr;
    show("type", cuPointerGetAttribute(&type, 2, p));
    show("managed", cuPointerGetAttribute(&is_managed, 8, p));
    show("ordinal", cuPointerGetAttribute(&ordinal, 9, p));
    show("device pointer", cuPointerGetAttribute(&on_device, 3, p));
    show("host pointer", cuPointerGetAttribute(&on_host, 4, p));
    show("range", cuPointerGetAttribute(&range, 12, p));
    std::printf("type %d, managed %d, device %d, as given %d, range %d\n", type, is_managed, ordinal,
                on_device == p, static_cast<int>(range));
  }
  int type = -1;
  show("type of what is not known", cuPointerGetAttribute(&type, 2, reinterpret_cast<uint64_t>(&type)));
  int attributes[] = {2, 9, 3};
  int ordinal = 5;
  uint64_t where = 5;
  void* out[] = {&type, &ordinal, &where};
  show("attributes of what is not known",
       cuPointerGetAttributes(3, attributes, out, reinterpret_cast<uint64_t>(&type)));
  std::printf("%d, %d, %d\n", type, ordinal, static_cast<int>(where));

  Copy2D rows{};
  std::vector<unsigned> from(16);
  for (unsigned i = 0; i < 16; ++i) from[i] = i;
  rows.source = {4, 0, host, from.data(), 0, nullptr, 16};
  rows.target = {8, 1, device, nullptr, pitched, nullptr, 512};
  rows.width = 8;
  rows.height = 2;
  show("copy rows", cuMemcpy2D_v2(&rows));
  rows.height = 9;
  show("copy too many rows", cuMemcpy2D_v2(&rows));
  std::vector<unsigned> row(2);
  cuMemcpyDtoH_v2(row.data(), pitched + 2 * 512 + 8, 8);
  print("second row", row);
  show("free inside", cuMemFree_v2(a + 8));
  show("free", cuMemFree_v2(a));
  show("free again", cuMemFree_v2(a));
  show("free nothing", cuMemFree_v2(0));
  show("free managed", cuMemFree_v2(managed));
  show("free rows", cuMemFree_v2(pitched));
  show("free pinned as device", cuMemFree_v2(reinterpret_cast<uint64_t>(pinned)));
  show("free pinned", cuMemFreeHost(pinned));
  show("no pinned bytes", cuMemAllocHost_v2(&pinned, 0));
}

void launches(void* module) {
  void *scale = nullptr, *mixed = nullptr;
  require("scale", cuModuleGetFunction(&scale, module, "scale"));
  require("mixed", cuModuleGetFunction(&mixed, module, "mixed"));
  uint64_t in = 0, out = 0, calls = 0;
  constexpr unsigned n = 1000;
  std::vector<unsigned> from(n), back(n);
  for (unsigned i = 0; i < n; ++i) from[i] = i;
  require("memory", cuMemAlloc_v2(&in, n * 4) | cuMemAlloc_v2(&out, n * 4));
  require("copy", cuMemcpyHtoD_v2(in, from.data(), n * 4));
  unsigned count = n;
  void* arguments[] = {&in, &out, &count};
  show("launch", cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  show("no arguments", cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr));
  show("no threads", cuLaunchKernel(scale, 4, 1, 1, 0, 1, 1, 0, nullptr, arguments, nullptr));
  show("too many threads", cuLaunchKernel(scale, 4, 1, 1, 1025, 1, 1, 0, nullptr, arguments, nullptr));
  show("no blocks", cuLaunchKernel(scale, 0, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  show("too much shared memory",
       cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 48 << 10, nullptr, arguments, nullptr));
  show("allow more", cuFuncSetAttribute(scale, 8, 64 << 10));
  show("more shared memory",
       cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 48 << 10, nullptr, arguments, nullptr));
  show("allow too much", cuFuncSetAttribute(scale, 8, 1 << 20));
  show("no kernel", cuLaunchKernel(nullptr, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  show("cooperative", cuLaunchCooperativeKernel(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments));
  show("too large to be cooperative",
       cuLaunchCooperativeKernel(scale, 1 << 20, 1, 1, 256, 1, 1, 0, nullptr, arguments));
  struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
  } config = {{4, 1, 1}, {256, 1, 1}, 0, nullptr, nullptr, 0};
  show("by configuration", cuLaunchKernelEx(&config, scale, arguments, nullptr));
  show("copy back", cuMemcpyDtoH_v2(back.data(), out, n * 4));
  bool right = true;
  for (unsigned i = 0; i < n; ++i) right = right && back[i] == 3 * i;
  std::printf("scaled: %d\n", right);
  size_t bytes = 0;
  require("calls", cuModuleGetGlobal_v2(&calls, &bytes, module, "calls"));
  cuMemcpyDtoH_v2(&count, calls, 4);
  std::printf("%u blocks\n", count);

  // All arguments in one buffer: at 0, 8, 16 to 40, 40.
  struct __attribute__((packed)) {
    unsigned char small;
    char gap[7];
    uint64_t out;
    unsigned block[6];
    unsigned short last;
  } buffer = {1, {}, out, {0, 0, 0, 0, 0, 20}, 300};
  bytes = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes, nullptr};
  show("in one buffer", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  cuMemcpyDtoH_v2(&count, out, 4);
  std::printf("%u\n", count);
  show("both ways", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, extra));
  bytes = sizeof buffer - 1;
  show("a buffer that is too small", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  bytes = sizeof buffer + 6;
  show("a larger buffer", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  unsigned char small = 2;
  unsigned block[6] = {0, 0, 0, 0, 0, 30};
  unsigned short last = 400;
  void* each[] = {&small, &out, block, &last};
  show("each by itself", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, each, nullptr));
  cuMemcpyDtoH_v2(&count, out, 4);
  std::printf("%u\n", count);
  require("free", cuMemFree_v2(in) | cuMemFree_v2(out));
}

void streams(void* module) {
  void *stream = nullptr, *other = nullptr, *first = nullptr, *second = nullptr, *untimed = nullptr,
       *scale = nullptr, *context = nullptr;
  uint64_t memory = 0;
  std::vector<unsigned> host(64, 5), back(64);
  require("scale", cuModuleGetFunction(&scale, module, "scale"));
  require("memory", cuMemAlloc_v2(&memory, 256));
  show("stream", cuStreamCreate(&stream, 0));
  show("stream that does not block", cuStreamCreate(&other, 1));
  show("stream with wrong flags", cuStreamCreate(&first, 8));
  show("context of stream", cuStreamGetCtx(stream, &context));
  show("event", cuEventCreate(&first, 0));
  show("event", cuEventCreate(&second, 0));
  show("event without time", cuEventCreate(&untimed, 2));
  float ms = -1;
  show("time of what was not recorded", cuEventElapsedTime(&ms, first, second));
  show("record", cuEventRecord(first, stream));
  show("copy", cuMemcpyHtoDAsync_v2(memory, host.data(), 256, stream));
  unsigned n = 64;
  void* arguments[] = {&memory, &memory, &n};
  show("launch", cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  show("record", cuEventRecord(second, stream));
  show("record untimed", cuEventRecord(untimed, stream));
  show("wait", cuStreamWaitEvent(other, second, 0));
  show("copy", cuMemcpyDtoHAsync_v2(back.data(), memory, 256, other));
  int called = 0;
  show("host function", cuLaunchHostFunc(
                            other, [](void* data) { ++*static_cast<int*>(data); }, &called));
  show("synchronise", cuStreamSynchronize(other));
  std::printf("%u, called %d\n", back[63], called);
  show("synchronise", cuEventSynchronize(second));
  show("query", cuEventQuery(second));
  show("query stream", cuStreamQuery(stream));
  show("time", cuEventElapsedTime(&ms, first, second));
  std::printf("some time: %d\n", ms >= 0);
  show("time of an event without", cuEventElapsedTime(&ms, first, untimed));

  // A stream as a graph, and a graph by hand: fill, copy, kernel.
  void *graph = nullptr, *executable = nullptr, *node = nullptr, *next = nullptr;
  show("capture", cuStreamBeginCapture_v2(stream, 0));
  show("launch", cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  show("end", cuStreamEndCapture(stream, &graph));
  show("instantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
  show("run", cuGraphLaunch(executable, stream));
  show("run", cuGraphLaunch(executable, stream));
  show("synchronise", cuStreamSynchronize(stream));
  cuMemcpyDtoH_v2(back.data(), memory, 256);
  std::printf("%u\n", back[1]);
  show("destroy", cuGraphExecDestroy(executable));
  show("destroy", cuGraphDestroy(graph));

  show("graph", cuGraphCreate(&graph, 0));
  struct {
    uint64_t target;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
  } fill = {memory, 0, 7, 4, 64, 1};
  require("context", cuCtxGetCurrent(&context));
  show("fill", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  Copy3D copy{};
  copy.source.type = device;
  copy.source.device = memory;
  copy.target.type = device;
  copy.target.device = memory + 128;
  copy.width = 64;
  copy.height = copy.depth = 1;
  show("copy", cuGraphAddMemcpyNode(&next, graph, &node, 1, &copy, context));
  struct {
    void* function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
  } kernel = {scale, {1, 1, 1}, {64, 1, 1}, 0, arguments, nullptr, nullptr, nullptr};
  show("kernel", cuGraphAddKernelNode_v2(&node, graph, &next, 1, &kernel));
  show("instantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
  show("run", cuGraphLaunch(executable, stream));
  show("synchronise", cuStreamSynchronize(stream));
  cuMemcpyDtoH_v2(back.data(), memory, 256);
  std::printf("%u\n", back[40]);
  require("destroy", cuGraphExecDestroy(executable) | cuGraphDestroy(graph));
  show("destroy", cuEventDestroy_v2(first));
  show("destroy", cuEventDestroy_v2(second));
  show("destroy", cuStreamDestroy_v2(stream));
  require("destroy", cuStreamDestroy_v2(other) | cuEventDestroy_v2(untimed) | cuMemFree_v2(memory));
}

void textures(void* module) {
  void *fetch = nullptr, *made = nullptr;
  require("fetch", cuModuleGetFunction(&fetch, module, "fetch"));
  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } array_of = {4, 3, 0x01, 1}, back{};  // bytes
  show("array", cuArrayCreate_v2(&made, &array_of));
  show("its description", cuArrayGetDescriptor_v2(&back, made));
  std::printf("%zu x %zu, %d, %u\n", back.width, back.height, back.format, back.channels);
  unsigned char texels[12] = {0, 1, 2, 3, 51, 102, 153, 204, 8, 9, 10, 11};
  Copy2D rows{};
  rows.source = {0, 0, host, texels, 0, nullptr, 4};
  rows.target = {0, 0, array, nullptr, 0, made, 0};
  rows.width = 4;
  rows.height = 3;
  show("copy", cuMemcpy2D_v2(&rows));
  struct {
    int type;
    union {
      void* array;
      int reserved[32];
    } of;
    unsigned flags;
  } resource = {0, {made}, 0};
  struct {
    int address[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float bias, least, most, border[4];
    int reserved[12];
  } how = {{1, 1, 1}, 0, 0, 0, 0, 0, 0, 0, {}, {}};
  uint64_t texture = 0, memory = 0;
  require("memory", cuMemAlloc_v2(&memory, 16));
  show("texture", cuTexObjectCreate(&texture, &resource, &how, nullptr));
  void* arguments[] = {&texture, &memory};
  show("fetch", cuLaunchKernel(fetch, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> values(4);
  cuMemcpyDtoH_v2(values.data(), memory, 16);
  print("normalised", values);
  show("destroy", cuTexObjectDestroy(texture));
  show("destroy", cuArrayDestroy(made));
  require("free", cuMemFree_v2(memory));
}

void linking() {
  void *linker = nullptr, *code = nullptr, *module = nullptr, *kernel = nullptr, *library = nullptr,
       *function = nullptr;
  size_t bytes = 0;
  uint64_t out = 0;
  unsigned value = 0;
  std::vector<char> a(caller, caller + sizeof caller), b(callee, callee + sizeof callee);
  show("linker", cuLinkCreate_v2(0, nullptr, nullptr, &linker));
  show("add", cuLinkAddData_v2(linker, 1, a.data(), a.size(), "caller", 0, nullptr, nullptr));
  show("add", cuLinkAddData_v2(linker, 1, b.data(), b.size(), "callee", 0, nullptr, nullptr));
  show("complete", cuLinkComplete(linker, &code, &bytes));
  show("load", cuModuleLoadData(&module, code));
  show("destroy", cuLinkDestroy(linker));
  show("kernel", cuModuleGetFunction(&kernel, module, "use"));
  require("memory", cuMemAlloc_v2(&out, 4));
  void* arguments[] = {&out};
  show("launch", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  cuMemcpyDtoH_v2(&value, out, 4);
  std::printf("%u\n", value);
  require("linker", cuLinkCreate_v2(0, nullptr, nullptr, &linker));
  require("add", cuLinkAddData_v2(linker, 1, a.data(), a.size(), "caller", 0, nullptr, nullptr));
  show("complete without the callee", cuLinkComplete(linker, &code, &bytes));
  require("destroy", cuLinkDestroy(linker));
  show("unload", cuModuleUnload(module));
  show("kernel of what is unloaded", cuModuleGetFunction(&kernel, module, "use"));

  show("library", cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  show("its kernel", cuLibraryGetKernel(&kernel, library, "mixed"));
  show("its function", cuKernelGetFunction(&function, kernel));
  unsigned char small = 1;
  unsigned block[6] = {0, 0, 0, 0, 0, 2};
  unsigned short last = 3;
  void* each[] = {&small, &out, block, &last};
  show("launch the kernel", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, each, nullptr));
  cuMemcpyDtoH_v2(&value, out, 4);
  std::printf("%u\n", value);
  show("unload", cuLibraryUnload(library));
  require("free", cuMemFree_v2(out));
}

/// What an H200 answers of a stream whose context is no more.
void destroyed_context() {
  void *context = nullptr, *stream = nullptr, *of = nullptr;
  show("context", cuCtxCreate_v2(&context, 0, 0));
  show("stream", cuStreamCreate(&stream, 0));
  show("context of stream", cuStreamGetCtx(stream, &of));
  std::printf("the same: %d\n", of == context);
  show("destroy", cuCtxDestroy_v2(context));
  show("context of stream", cuStreamGetCtx(stream, &of));
  show("ask", cuStreamQuery(stream));
  show("destroy stream", cuStreamDestroy_v2(stream));
}

void entry_points() {
  void* found = nullptr;
  int result = -1;
  for (const char* name : {"cuMemAlloc", "cuMemAlloc_v2", "cuCtxCreate", "cuNothing"})
    for (const int version : {2000, 13000}) {
      const int status = cuGetProcAddress_v2(name, &found, version, 0, &result);
      const char* text = nullptr;
      cuGetErrorName(status, &text);
      std::printf("%s %d: %s, %d, found %d\n", name, version, text, result, found != nullptr);
    }
  // Of what is not there the newer function gives null, also where nobody asks how it went.
  for (const int version : {2000, 9000}) {
    void *newer = &result, *older = &result;
    std::printf("cuFuncSetAttribute %d: %d, ", version,
                cuGetProcAddress_v2("cuFuncSetAttribute", &newer, version, 0, nullptr));
    std::printf("null %d; before CUDA 12 %d, ", newer == nullptr,
                cuGetProcAddress("cuFuncSetAttribute", &older, version, 0));
    std::printf("as it was %d\n", older == &result);
  }
  cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 0, &result);
  uint64_t memory = 0;
  show("called so", reinterpret_cast<int (*)(uint64_t*, size_t)>(found)(&memory, 64));
  show("free", cuMemFree_v2(memory));
}

/// The same code, loaded and launched once more each time.
void load_again() {
  uint64_t in = 0, out = 0;
  unsigned n = 1000;
  require("memory", cuMemAlloc_v2(&in, n * 4) | cuMemAlloc_v2(&out, n * 4));
  void* arguments[] = {&in, &out, &n};
  for (int i = 0; i < 5; ++i) {
    void *module = nullptr, *scale = nullptr;
    require("load", cuModuleLoadData(&module, ptx));
    require("scale", cuModuleGetFunction(&scale, module, "scale"));
    require("launch", cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    require("unload", cuModuleUnload(module));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* mode) { return argc > 1 && std::strcmp(argv[1], mode) == 0; };
  if (is("nothing")) return 0;
  before_initialisation();
  devices();
  contexts();
  if (is("again")) return load_again(), 0;
  void* module = modules();
  memory();
  launches(module);
  streams(module);
  textures(module);
  linking();
  entry_points();
  if (is("bounds")) {
    void* scale = nullptr;
    uint64_t in = 0, out = 0;
    require("scale", cuModuleGetFunction(&scale, module, "scale"));
    require("memory", cuMemAlloc_v2(&in, 4) | cuMemAlloc_v2(&out, 4));
    unsigned n = 4096;
    void* arguments[] = {&in, &out, &n};
    show("launch out of bounds", cuLaunchKernel(scale, 4, 1, 1, 1024, 1, 1, 0, nullptr, arguments, nullptr));
    show("synchronise", cuCtxSynchronize());
    show("memory", cuMemAlloc_v2(&in, 4));
    return 0;
  }
  show("unload", cuModuleUnload(module));
  destroyed_context();
  show("release", cuDevicePrimaryCtxRelease_v2(0));
  show("release again", cuDevicePrimaryCtxRelease_v2(0));
  std::printf("done\n");
}
