// What frameworks ask of a driver that they hand PTX to (here: Warp, PyCUDA, cuDNN and Dr.Jit), and did not
// get once.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

#include "driver_calls.hpp"
#include "require.hpp"

namespace {

/// As of a toolkit that is newer than the functions here.
constexpr char ptx[] = R"(
.version 9.4
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 out) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
})";

/// Made for a newer toolkit, PTX is handed over if the driver is not older than that.
void take_newer_ptx() {
  int version = 0;
  require(cuDriverGetVersion(&version) == 0 && version >= 13040 && version < 14000, "version of the driver");
  void *module = nullptr, *function = nullptr;
  uint64_t memory = 0;
  require(cuModuleLoadData(&module, ptx) == 0 && cuModuleGetFunction(&function, module, "copy") == 0,
          "module");
  require(cuMemAlloc_v2(&memory, 128) == 0, "memory");
  void* arguments[] = {&memory};
  require(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == 0, "launch");
  unsigned last = 0;
  require(cuMemcpyDtoH_v2(&last, memory + 124, 4) == 0 && last == 31, "result");
}

/// What nvcc makes of __block_size__: such a kernel's grid is given in clusters.
void count_grid_in_clusters() {
  constexpr char text[] = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry size(.param .u64 out) .reqntid 32 .reqnctapercluster 2, 3 .blocksareclusters {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  st.global.v2.u32 [%rd1], {%r1, %r2};
  ret;
})";
  void *module = nullptr, *function = nullptr;
  uint64_t memory = 0;
  require(cuModuleLoadData(&module, text) == 0 && cuModuleGetFunction(&function, module, "size") == 0,
          "module of clusters");
  require(cuMemAlloc_v2(&memory, 8) == 0, "memory");
  void* arguments[] = {&memory};
  require(cuLaunchKernel(function, 5, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == 0, "clusters");
  unsigned blocks[2] = {};
  require(cuMemcpyDtoH_v2(blocks, memory, 8) == 0 && blocks[0] == 10 && blocks[1] == 3, "blocks of a grid");
}

/// Machine code is refused, with what helps.
void refuse_machine_code() {
  constexpr char cubin[128] =
      "\x7f"
      "ELF\x02";
  void* module = nullptr;
  constexpr int no_binary_for_gpu = 209;
  // Those that search for the fastest kernel try many, which are refused alike: it is said once.
  for (int i = 0; i < 2; ++i) require(cuModuleLoadData(&module, cubin) == no_binary_for_gpu, "machine code");
}

/// All functions that may be needed are looked up first; one that is missing would be an error.
void look_up_graphics() {
  for (const char* name : {"cuGraphicsGLRegisterBuffer", "cuGLGetDevices"}) {
    void* function = nullptr;
    int found = -1;
    require(cuGetProcAddress_v2(name, &function, 12000, 0, &found) == 0 && found == 0, name);
    constexpr int not_supported = 801;
    require(reinterpret_cast<int (*)()>(function)() == not_supported, "result of a function for graphics");
    require(dlsym(RTLD_DEFAULT, name) != nullptr, "a function for graphics in the library");
  }
}

/// PyCUDA sets the block for itself, and takes leave of its context as one did before CUDA 4.
void launch_in_steps() {
  void *context = nullptr, *again = nullptr, *module = nullptr, *function = nullptr;
  uint64_t memory = 0;
  require(cuCtxCreate_v2(&context, 0, 0) == 0, "context");
  require(cuModuleLoadData(&module, ptx) == 0 && cuModuleGetFunction(&function, module, "copy") == 0,
          "module");
  require(cuMemAlloc_v2(&memory, 256) == 0, "memory");
  constexpr int invalid_value = 1, invalid_context = 201;
  require(cuLaunchGrid(function, 1, 1) == invalid_value, "no block is set");
  require(cuFuncSetBlockShape(function, 64, 1, 1) == 0 && cuFuncSetSharedSize(function, 0) == 0, "block");
  require(cuParamSetSize(function, 8) == 0 && cuParamSetv(function, 0, &memory, 8) == 0, "parameters");
  require(cuLaunchGrid(function, 1, 1) == 0, "launch");
  unsigned last = 0;
  require(cuMemcpyDtoH_v2(&last, memory + 252, 4) == 0 && last == 63, "result");
  require(cuCtxAttach(&again, 0) == 0 && again == context, "attach");
  require(cuCtxDetach(context) == 0 && cuCtxSynchronize() == 0, "detach once");
  require(cuCtxDetach(context) == 0 && cuCtxDetach(context) == invalid_context, "detach twice");
}

/// CUgraphNodeParams, with what is used here.
struct NodeParams {
  enum : int { of_kernel = 0, of_copy = 1, empty = 5, allocation = 10, condition = 13 } type;
  int reserved[3];
  union {
    long long room[30];
    struct {
      void* function;
      unsigned grid[3], block[3], shared;
      void **arguments, **extra, *kernel, *context;
    } kernel;
    struct {
      int flags, reserved;
      void* context;
      struct Side {
        size_t x, y, z, level;
        unsigned type;
        const void* host;
        uint64_t device;
        void *array, *reserved;
        size_t pitch, height;
      } source, target;
      size_t width, height, depth;
    } copy;
    struct {
      uint64_t handle;
      int type;
      unsigned size;
      void** graphs;
      void* context;
    } condition_of;
  };
};
static_assert(sizeof(NodeParams) == 256);

/// Nodes of any kind, and a condition with its graph.
void build_graph() {
  void *module = nullptr, *function = nullptr, *graph = nullptr, *node = nullptr, *inner = nullptr,
       *context = nullptr;
  uint64_t memory = 0, handle = 0;
  require(cuModuleLoadData(&module, ptx) == 0 && cuModuleGetFunction(&function, module, "copy") == 0,
          "module");
  require(cuCtxGetCurrent(&context) == 0 && cuMemAlloc_v2(&memory, 256) == 0, "memory");
  require(cuMemsetD8_v2(memory, 0, 256) == 0 && cuGraphCreate(&graph, 0) == 0, "graph");
  constexpr unsigned holds_at_start = 1, default_is_assigned = 1;
  require(cuGraphConditionalHandleCreate(&handle, graph, context, holds_at_start, default_is_assigned) == 0,
          "handle");
  NodeParams params{};
  params.type = NodeParams::condition;
  params.condition_of = {handle, 0, 1, nullptr, context};
  require(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &params) == 0, "condition");
  void* body = params.condition_of.graphs[0];
  void* arguments[] = {&memory};
  params = {};
  params.type = NodeParams::of_kernel;
  params.kernel = {function, {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr, nullptr, context};
  require(cuGraphAddNode_v2(&inner, body, nullptr, nullptr, 0, &params) == 0, "kernel");
  params = {};
  params.type = NodeParams::of_copy;
  constexpr unsigned device = 2;
  params.copy.source.type = params.copy.target.type = device;
  params.copy.source.device = memory;
  params.copy.target.device = memory + 128;
  params.copy.width = 128;
  params.copy.height = params.copy.depth = 1;
  require(cuGraphAddNode_v2(&node, graph, &node, nullptr, 1, &params) == 0, "copy");
  params = {};
  params.type = NodeParams::empty;
  require(cuGraphAddNode_v2(&node, graph, &node, nullptr, 1, &params) == 0, "empty node");
  void* executable = nullptr;
  require(cuGraphInstantiateWithFlags(&executable, graph, 0) == 0 && cuGraphLaunch(executable, nullptr) == 0,
          "launch");
  unsigned last = 0;
  require(cuMemcpyDtoH_v2(&last, memory + 252, 4) == 0 && last == 31, "result");
}

/// What is captured next can be put behind other nodes.
void change_capture() {
  void *stream = nullptr, *graph = nullptr, *node = nullptr, *ended = nullptr;
  require(cuStreamCreate(&stream, 1) == 0 && cuStreamBeginCapture_v2(stream, 0) == 0, "capture");
  int status = 0;
  require(cuStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr) == 0, "graph");
  require(cuGraphAddEmptyNode(&node, graph, nullptr, 0) == 0, "node");
  constexpr unsigned replace = 1;
  require(cuStreamUpdateCaptureDependencies(stream, &node, 1, replace) == 0, "dependencies");
  void* const* needs = nullptr;
  size_t count = 0;
  require(cuStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, &needs, &count) == 0 && count == 1 &&
              needs[0] == node,
          "dependencies as set");
  require(cuStreamEndCapture(stream, &ended) == 0 && ended == graph && cuStreamDestroy_v2(stream) == 0,
          "end");
}

/// cuDNN asks each stream for its green context, and takes an error for the end.
void ask_for_green_context() {
  void *stream = nullptr, *context = &stream;
  require(cuStreamCreate(&stream, 1) == 0, "stream");
  require(cuStreamGetGreenCtx(stream, &context) == 0 && context == nullptr, "no green context");
  constexpr int invalid_value = 1;
  require(cuStreamGetGreenCtx(stream, nullptr) == invalid_value, "green context to nowhere");
  require(cuStreamDestroy_v2(stream) == 0, "end");
}

/// Streams and events are used, and thrown away, while no context is current, and so is memory in the order
/// of a stream (XLA), as an H200's driver has it.
void use_without_context() {
  constexpr int invalid_context = 201;
  void *stream = nullptr, *event = nullptr, *other = nullptr;
  require(cuStreamCreate(&stream, 1) == 0 && cuEventCreate(&event, 0) == 0 && cuEventCreate(&other, 0) == 0,
          "stream and events");
  require(cuCtxSetCurrent(nullptr) == 0, "no context");
  require(cuEventRecord(event, stream) == 0 && cuEventRecord(other, stream) == 0, "record");
  require(cuStreamWaitEvent(stream, event, 0) == 0 && cuStreamQuery(stream) == 0, "stream");
  require(cuStreamSynchronize(stream) == 0 && cuEventSynchronize(event) == 0 && cuEventQuery(event) == 0,
          "synchronise");
  uint64_t memory = 0, other_memory = 0;
  unsigned char bytes[64] = {};
  require(cuMemAllocAsync(&memory, 64, stream) == 0 && cuMemAllocAsync(&other_memory, 64, stream) == 0 &&
              cuMemsetD8Async(memory, 7, 64, stream) == 0 &&
              cuMemcpyAsync(other_memory, memory, 64, stream) == 0 &&
              cuMemcpyDtoHAsync_v2(bytes, other_memory, 64, stream) == 0 && bytes[63] == 7,
          "memory in the order of a stream");
  require(cuMemAllocAsync(&memory, 64, nullptr) == invalid_context &&
              cuMemFreeAsync(memory, nullptr) == invalid_context &&
              cuMemcpyDtoH_v2(bytes, memory, 64) == invalid_context,
          "memory in the order of no stream");
  require(cuMemFreeAsync(memory, stream) == 0 && cuMemFree_v2(other_memory) == 0, "memory given back");
  float time = -1;
  require(cuEventElapsedTime(&time, event, other) == 0 && time >= 0, "time");
  require(cuEventDestroy_v2(event) == 0 && cuEventDestroy_v2(other) == 0 && cuStreamDestroy_v2(stream) == 0,
          "end");
  require(cuStreamSynchronize(nullptr) == invalid_context, "the default stream is that of a context");
}

}  // namespace

int main() {
  void* context = nullptr;
  require(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0,
          "context");
  take_newer_ptx();
  count_grid_in_clusters();
  refuse_machine_code();
  look_up_graphics();
  launch_in_steps();
  build_graph();
  change_capture();
  ask_for_green_context();
  use_without_context();
  std::printf("as frameworks do\n");
}
