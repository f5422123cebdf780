// Functions and attributes that came with CUDA 13.1 to 13.5: what they do, and from which version on they are
// found.
#include <array>
#include <cstdio>
#include <cstring>

#include "driver_calls.hpp"
#include "require.hpp"
#include "runtime_calls.hpp"

extern "C" {
int cudaDeviceGetExecutionCtx(void**, int);
int cudaExecutionCtxGetDevice(int*, void*);
int cudaExecutionCtxGetId(void*, uint64_t*);
int cudaExecutionCtxStreamCreate(void**, void*, unsigned, int);
int cudaExecutionCtxSynchronize(void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncGetParamCount(const void*, size_t*);
int cudaGraphAddHostNode(void**, void*, void* const*, size_t, const void*);
int cudaGraphAddChildGraphNode(void**, void*, void* const*, size_t, void*);
int cudaGraphAddMemcpyNode1D(void**, void*, void* const*, size_t, void*, const void*, size_t, int);
int cudaGraphChildGraphNodeGetGraph(void*, void**);
int cudaGraphConditionalHandleCreate_v2(uint64_t*, void*, void*, unsigned, unsigned);
int cudaGraphCreate(void**, unsigned);
int cudaGraphExecGetId(void*, unsigned*);
int cudaGraphGetId(void*, unsigned*);
int cudaGraphInstantiate(void**, void*, uint64_t);
int cudaGraphLaunch(void*, void*);
int cudaGraphNodeGetContainingGraph(void*, void**);
int cudaGraphNodeGetLocalId(void*, unsigned*);
int cudaGraphNodeGetParams(void*, void*);
int cudaGraphNodeGetToolsId(void*, uint64_t*);
const char* cudaGetErrorName(int);
int cudaLaunchHostFunc_v2(void*, void (*)(void*), void*, unsigned);
int cudaLaunchKernelExC(const void*, const void*, void**);
int cudaMemcpyWithAttributesAsync(void*, const void*, size_t, const void*, void*);
int cudaMemcpy3DWithAttributesAsync(const void*, uint64_t, void*);
int cudaMemPoolGetAttribute(void*, int, void*);
int cudaDeviceGetDefaultMemPool(void**, int);
int cuFuncGetParamCount(void*, size_t*);
int cuGraphAddNode_v3(void**, void*, void* const*, const void*, size_t, void*);
int cuGraphNodeGetParams(void*, void*);
int cuGraphNodeSetParams_v2(void*, void*);
int cuGraphExecNodeSetParams(void*, void*, void*);
int cuKernelGetParamCount(void*, size_t*);
int cuLaunchHostFunc_v2(void*, void (*)(void*), void*, unsigned);
}

namespace {

constexpr int ok = 0, invalid_value = 1, invalid_cluster_size = 912;

/// Two parameters; as much shared memory as the launch gives, which it says.
constexpr char ptx[] = R"(
.version 9.0
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 words[];
.visible .entry fill(.param .u64 out, .param .u32 value) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
})";

void add_one(void* number) { ++*static_cast<int*>(number); }

/// Each function is found from the version on that brought it; before that there is the one before, or none.
void find_by_version() {
  const auto found = [](const char* name, int version) {
    void* function = nullptr;
    int result = 0;
    require(cuGetProcAddress_v2(name, &function, version, 0, &result) == ok, name);
    return function;
  };
  require(found("cuGraphGetId", 13000) == nullptr && found("cuGraphGetId", 13010) != nullptr,
          "version of a new one");
  require(found("cuLaunchHostFunc", 13000) == reinterpret_cast<void*>(&cuLaunchHostFunc) &&
              found("cuLaunchHostFunc", 13010) == reinterpret_cast<void*>(&cuLaunchHostFunc_v2),
          "version 2");
  require(found("cuGraphAddNode", 13030) == reinterpret_cast<void*>(&cuGraphAddNode_v2) &&
              found("cuGraphAddNode", 13090) == reinterpret_cast<void*>(&cuGraphAddNode_v3),
          "version 3");
  int version = 0;
  require(cudaRuntimeGetVersion(&version) == ok && version == 13050, "version of the runtime");
  const char* name = nullptr;
  require(cuGetErrorName(918, &name) == ok && std::strcmp(name, "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE") == 0 &&
              std::strcmp(cudaGetErrorName(917), "cudaErrorStreamDetached") == 0,
          "names of errors");
}

void count_parameters(void* function) {
  size_t runtime = 0, driver = 0, kernel = 0;
  require(cudaFuncGetParamCount(function, &runtime) == ok && cuFuncGetParamCount(function, &driver) == ok &&
              cuKernelGetParamCount(function, &kernel) == ok,
          "parameters");
  require(runtime == 2 && driver == 2 && kernel == 2, "2 parameters");
  require(cudaFuncGetParamCount(function, nullptr) == invalid_value, "nowhere to put the count");
}

/// cudaMemcpyAttributes and cudaMemcpy3DBatchOp.
struct CopyAttributes {
  int order, hints[4];
  unsigned flags;
};
struct Operand {
  int type;
  void* pointer;
  size_t row, layer;
  int hint[2];
};
struct Box {
  Operand source, target;
  size_t width, height, depth;
  int order;
  unsigned flags;
};

void copy_with_attributes() {
  std::array<int, 8> from{1, 2, 3, 4, 5, 6, 7, 8}, to{};
  void* memory = nullptr;
  require(cudaMalloc(&memory, sizeof from) == ok, "memory");
  CopyAttributes attributes{1, {}, 0};
  require(cudaMemcpyWithAttributesAsync(memory, from.data(), sizeof from, &attributes, nullptr) == ok,
          "copy");
  const Box box{{1, memory, 16, 2, {}}, {1, to.data(), 16, 2, {}}, 8, 2, 1, 1, 0};
  require(cudaMemcpy3DWithAttributesAsync(&box, 0, nullptr) == ok && cudaDeviceSynchronize() == ok, "box");
  require(to == std::array<int, 8>{1, 2, 0, 0, 5, 6, 0, 0}, "two halves of rows");
  attributes.order = 0;
  require(cudaMemcpyWithAttributesAsync(memory, from.data(), 4, &attributes, nullptr) == invalid_value &&
              cudaMemcpyWithAttributesAsync(memory, from.data(), 4, nullptr, nullptr) == invalid_value &&
              cudaMemcpy3DWithAttributesAsync(&box, 1, nullptr) == invalid_value,
          "attributes that are none");
}

/// cudaGraphNodeParams, as far as they are looked at; of the driver's a kernel differs.
struct NodeParams {
  int type, reserved[3];
  union {
    long long room[30];
    struct {
      void* function;
      dim3 grid, block;
      unsigned shared;
      void **arguments, **extra;
      void* kernel_or_context;
      int handle;
    } kernel;
    struct {
      void (*function)(void*);
      void* data;
    } host;
    struct {
      void* graph;
      int ownership;
    } child;
  };
};
static_assert(sizeof(NodeParams) == 256);
enum NodeType { kernel_node, copy_node, set_node, host_node, child_node, empty_node };

void tell_of_graphs(void* function, void* memory) {
  void *graph = nullptr, *empty = nullptr, *host = nullptr, *child = nullptr, *inner = nullptr;
  int runs = 0;
  struct {
    void (*function)(void*);
    void* data;
  } params{add_one, &runs};
  require(cudaGraphCreate(&graph, 0) == ok && cudaGraphCreate(&inner, 0) == ok &&
              cuGraphAddEmptyNode(&empty, inner, nullptr, 0) == ok &&
              cudaGraphAddHostNode(&host, graph, nullptr, 0, &params) == ok &&
              cudaGraphAddChildGraphNode(&child, graph, &host, 1, inner) == ok,
          "graph");
  unsigned id = 0, inner_id = 0, executable_id = 0, first = 0, second = 0;
  uint64_t tools = 0;
  void *of_host = nullptr, *part = nullptr, *executable = nullptr;
  require(cudaGraphGetId(graph, &id) == ok && cudaGraphGetId(inner, &inner_id) == ok && id != inner_id,
          "ids");
  require(cudaGraphNodeGetLocalId(host, &first) == ok && cudaGraphNodeGetLocalId(child, &second) == ok &&
              first != second,
          "numbers of nodes");
  require(cudaGraphNodeGetToolsId(host, &tools) == ok && tools == (uint64_t{id} << 32 | first),
          "id for tools");
  require(cudaGraphNodeGetContainingGraph(host, &of_host) == ok && of_host == graph, "graph of a node");
  require(cudaGraphInstantiate(&executable, graph, 0) == ok &&
              cudaGraphExecGetId(executable, &executable_id) == ok && executable_id != id &&
              executable_id != inner_id,
          "id of an executable");

  NodeParams got{};
  require(cudaGraphNodeGetParams(host, &got) == ok && got.type == host_node && got.host.function == add_one &&
              got.host.data == &runs,
          "a host function's parameters");
  require(cudaGraphChildGraphNodeGetGraph(child, &part) == ok && cudaGraphNodeGetParams(child, &got) == ok &&
              got.child.graph == part && got.child.ownership == -1,
          "a graph's");

  NodeParams wanted{};
  unsigned value = 11;
  void* arguments[] = {&memory, &value};
  wanted.type = kernel_node;
  wanted.kernel.function = function;
  wanted.kernel.grid = wanted.kernel.block = {1, 1, 1};
  wanted.kernel.arguments = arguments;
  void* kernel = nullptr;
  require(cuGraphAddNode_v3(&kernel, graph, &child, nullptr, 1, &wanted) == ok, "kernel");
  require(cudaGraphNodeGetParams(kernel, &got) == ok && got.type == kernel_node &&
              got.kernel.function == function && got.kernel.handle == 2 &&
              *static_cast<unsigned*>(got.kernel.arguments[1]) == 11,
          "a kernel's");
  require(cuGraphNodeGetParams(kernel, &got) == ok && got.type == kernel_node && got.kernel.block.x == 1,
          "by the driver");
  const auto result = [&] {
    unsigned word = 0;
    require(cudaGraphLaunch(executable, nullptr) == ok &&
                cuMemcpyDtoH_v2(&word, reinterpret_cast<uint64_t>(memory), 4) == ok,
            "launch of the graph");
    return word;
  };
  value = 12;
  require(cuGraphNodeSetParams_v2(kernel, &wanted) == ok, "other parameters");
  require(cudaGraphInstantiate(&executable, graph, 0) == ok && result() == 12 && runs == 1, "12");
  value = 13;
  require(cuGraphExecNodeSetParams(executable, kernel, &wanted) == ok && result() == 13 && runs == 2, "13");
  wanted.type = host_node;
  require(cuGraphNodeSetParams_v2(kernel, &wanted) == invalid_value, "another kind");
  uint64_t handle = 0;
  require(cudaGraphConditionalHandleCreate_v2(&handle, graph, nullptr, 1, 1) == ok && handle != 0,
          "condition");
}

/// cudaLaunchConfig_t with one attribute.
struct Attribute {
  int id, padding;
  union {
    char room[64];
    int number;
    dim3 dimension;
  };
};
struct Launch {
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  size_t shared = 0;
  void* stream = nullptr;
  const Attribute* attributes = nullptr;
  unsigned count = 0;
};

/// What only some chips give is had by a launch that asks for it, whatever the function may have.
void ask_for_more(void* function, void* memory) {
  constexpr int cluster = 4, cluster_mode = 17, shared_mode = 18;
  unsigned value = 14;
  void* arguments[] = {&memory, &value};
  const auto launch = [&](size_t shared, std::initializer_list<Attribute> attributes) {
    Launch description;
    description.grid.x = 16;
    description.shared = shared;
    description.attributes = attributes.begin();
    description.count = static_cast<unsigned>(attributes.size());
    return cudaLaunchKernelExC(&description, function, arguments);
  };
  const auto number = [](int id, int value) {
    Attribute attribute{};
    attribute.id = id;
    attribute.number = value;
    return attribute;
  };
  Attribute sixteen{};
  sixteen.id = cluster;
  sixteen.dimension = {16, 1, 1};
  require(launch(0, {sixteen}) == invalid_cluster_size &&
              launch(0, {sixteen, number(cluster_mode, 2)}) == ok &&
              launch(0, {sixteen, number(cluster_mode, 1)}) == invalid_cluster_size &&
              launch(0, {number(cluster_mode, 3)}) == invalid_value,
          "clusters");
  constexpr size_t more = 100 * 1024;
  require(launch(more, {}) == invalid_value && launch(more, {number(shared_mode, 2)}) == ok &&
              launch(more, {number(shared_mode, 5)}) == invalid_value,
          "shared memory of a launch");
  constexpr int by_runtime = 16, by_driver = 17;
  int mode = -1;
  require(cudaFuncSetAttribute(function, by_runtime, 2) == ok &&
              cuFuncGetAttribute(&mode, by_driver, function) == ok && mode == 2 && launch(more, {}) == ok &&
              launch(more, {number(shared_mode, 1)}) == invalid_value,
          "shared memory of a function");
  require(cuFuncSetAttribute(function, by_driver, 0) == ok && launch(more, {}) == invalid_value &&
              cuFuncSetAttribute(function, by_driver - 1, 0) == invalid_value,
          "as it was");
  require(cudaDeviceSynchronize() == ok, "launches");
}

void ask_the_device(void* memory) {
  const auto attribute = [](int number) {
    int value = -2;
    require(cuDeviceGetAttribute(&value, number, 0) == ok, "attribute of the device");
    return value;
  };
  constexpr int multiprocessors = 16, shared_optin = 97, oversized = 150, of_domain = 157, last = 161;
  require(attribute(of_domain) == attribute(multiprocessors) &&
              attribute(oversized) == attribute(shared_optin) && attribute(last) == 0,
          "attributes of the device");
  int value = 0;
  require(cuDeviceGetAttribute(&value, last + 1, 0) == invalid_value, "no attribute");
  constexpr int locality_domain = 22;
  require(
      cuPointerGetAttribute(&value, locality_domain, reinterpret_cast<uint64_t>(memory)) == ok && value == -1,
      "attribute of a pointer");
  void* pool = nullptr;
  constexpr int location_type = 12, on_device = 1;
  require(cudaDeviceGetDefaultMemPool(&pool, 0) == ok &&
              cudaMemPoolGetAttribute(pool, location_type, &value) == ok && value == on_device,
          "attribute of a pool");
}

void use_execution_context() {
  void *context = nullptr, *stream = nullptr;
  int device = -1, runs = 0;
  uint64_t id = 0;
  require(cudaDeviceGetExecutionCtx(&context, 0) == ok && cudaExecutionCtxGetDevice(&device, context) == ok &&
              device == 0 && cudaExecutionCtxGetId(context, &id) == ok && id != 0,
          "execution context");
  require(cudaExecutionCtxStreamCreate(&stream, context, 1, 0) == ok &&
              cudaLaunchHostFunc_v2(stream, add_one, &runs, 1) == ok &&
              cuLaunchHostFunc_v2(stream, add_one, &runs, 0) == ok &&
              cudaExecutionCtxSynchronize(context) == ok && runs == 2,
          "its stream");
  require(cudaExecutionCtxSynchronize(nullptr) == invalid_value, "none");
}

}  // namespace

int main() {
  void *memory = nullptr, *module = nullptr, *function = nullptr;
  find_by_version();
  require(cudaMalloc(&memory, 4) == ok && cuModuleLoadData(&module, ptx) == ok &&
              cuModuleGetFunction(&function, module, "fill") == ok,
          "module");
  count_parameters(function);
  copy_with_attributes();
  tell_of_graphs(function, memory);
  ask_for_more(function, memory);
  ask_the_device(memory);
  use_execution_context();
  std::puts("newest ok");
}
