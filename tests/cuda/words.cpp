// Streams that write words of memory and wait for them (cuStreamWriteValue32, cuStreamWaitValue32 and their
// like): what waits behind them, who frees them, which comparisons there are, in graphs and in batches. The
// first argument: "deadlock" (nobody writes the word).
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "require.hpp"
#include "runtime_calls.hpp"

extern "C" {
int cudaHostAlloc(void**, size_t, unsigned);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphGetNodes(void*, void**, size_t*);
int cudaGraphLaunch(void*, void*);
int cudaGraphNodeGetType(void*, int*);
}

namespace {

constexpr int invalid_value = 1, not_ready = 600, launch_timeout = 702;
constexpr unsigned at_least = 0, equal = 1, any_of = 2, none_of = 3;

// wait: until *flag == 1. add: *sum += 1.
constexpr char ptx[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry wait(.param .u64 flag)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.ne.u32 %p, %r1, 1;
  @%p bra again;
  ret;
}
.visible .entry add(.param .u64 sum)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [sum];
  red.global.add.u32 [%rd1], 1;
  ret;
}
)";

/// CUstreamBatchMemOpParams.
struct Operation {
  unsigned kind, unused;
  uint64_t address, value;
  unsigned flags;
  uint64_t rest[2];
};
static_assert(sizeof(Operation) == 48);

template <typename F>
F* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  require(found != nullptr, name);
  return reinterpret_cast<F*>(found);
}

int (*wait_32)(void*, uint64_t, uint32_t, unsigned);
int (*wait_64)(void*, uint64_t, uint64_t, unsigned);
int (*write_32)(void*, uint64_t, uint32_t, unsigned);
int (*write_64)(void*, uint64_t, uint64_t, unsigned);
int (*batch)(void*, unsigned, Operation*, unsigned);
int (*type_of_node)(void*, int*);
void *wait_kernel, *add_kernel;

void* new_stream() {
  void* stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, 1) == 0, "stream");
  return stream;
}

uint32_t* new_words() {
  uint32_t* words = nullptr;
  require(cudaHostAlloc(reinterpret_cast<void**>(&words), 64, 0) == 0, "memory");
  std::memset(words, 0, 64);
  return words;
}

uint64_t at(const void* word) { return reinterpret_cast<uint64_t>(word); }

void launch(void* kernel, uint32_t* where, void* stream) {
  void* arguments[] = {&where};
  require(cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream) == 0, "launch");
}

/// A kernel queued behind a wait runs when another stream has written the word, and no sooner.
void another_stream_writes() {
  void *waits = new_stream(), *writes = new_stream();
  uint32_t* words = new_words();
  require(wait_32(waits, at(words), 5, equal) == 0, "wait");
  launch(add_kernel, words + 1, waits);
  require(cudaStreamQuery(waits) == not_ready && words[1] == 0, "nothing has run yet");
  require(write_32(writes, at(words), 5, 0) == 0, "write");
  require(cudaStreamSynchronize(waits) == 0 && words[1] == 1, "the kernel ran behind the wait");
  // A write frees a kernel that waits; a second one queues behind it.
  launch(wait_kernel, words + 2, waits);
  require(write_64(waits, at(words + 4), 7, 0) == 0 && words[4] == 0, "the write is behind the kernel");
  require(write_32(writes, at(words + 2), 1, 0) == 0, "write");
  require(cudaStreamSynchronize(waits) == 0 && words[4] == 7, "the write was done");
  // What follows a deferred wait is itself a wait.
  require(wait_32(waits, at(words + 6), 1, equal) == 0 && wait_32(waits, at(words + 7), 1, equal) == 0,
          "waits");
  require(write_32(writes, at(words + 7), 1, 0) == 0 && cudaStreamQuery(waits) == not_ready, "one is left");
  require(write_32(writes, at(words + 6), 1, 0) == 0 && cudaStreamSynchronize(waits) == 0, "none is");
}

/// Which words end a wait at once.
void comparisons() {
  void *stream = new_stream(), *writes = new_stream();
  uint32_t* words = new_words();
  auto* wide = reinterpret_cast<uint64_t*>(words + 8);
  struct Case {
    uint64_t now, value, other;  ///< `other` ends the wait; if that is `now`, at once
    unsigned flags;
    bool is_wide;
  };
  constexpr uint64_t high = uint64_t{1} << 40;
  const Case cases[] = {
      {5, 5, 5, at_least, false},
      {5, 6, 6, at_least, false},
      {0x80000003, 0x7fffffff, 0x80000003, at_least, false},  // cyclic
      {5, 0xfffffff0, 5, at_least, false},
      {5, 4, 4, equal, false},
      {6, 2, 6, any_of, false},
      {4, 3, 1, any_of, false},
      {0xf0, 0x0f, 0xf0, none_of, false},
      {0xfffffff0, 0xf, 0, none_of, false},
      {high, high, high, equal, true},
      {1, high + 1, high + 1, equal, true},
      {high, high + 1, high + 1, at_least, true},
      {~uint64_t{0} << 32, 0xffffffff, 0, none_of, true},
  };
  for (const Case& c : cases) {
    void* const word = c.is_wide ? static_cast<void*>(wide) : words;
    std::memcpy(word, &c.now, c.is_wide ? 8 : 4);
    const auto value = static_cast<uint32_t>(c.value), other = static_cast<uint32_t>(c.other);
    require((c.is_wide ? wait_64(stream, at(word), c.value, c.flags)
                       : wait_32(stream, at(word), value, c.flags)) == 0,
            "wait");
    const bool at_once = c.now == c.other;
    require(cudaStreamQuery(stream) == (at_once ? 0 : not_ready), at_once ? "it is over" : "it waits");
    require((c.is_wide ? write_64(writes, at(word), c.other, 0) : write_32(writes, at(word), other, 0)) == 0,
            "write");
    require(cudaStreamSynchronize(stream) == 0, "it has come");
  }
}

void batches() {
  void* stream = new_stream();
  uint32_t* words = new_words();
  constexpr unsigned wait_value_32 = 1, write_value_32 = 2, write_value_64 = 5, barrier = 6;
  Operation operations[] = {{write_value_32, 0, at(words), 3, 0, {}},
                            {barrier, 0, 0, 0, 0, {}},
                            {wait_value_32, 0, at(words), 3, equal, {}},
                            {write_value_64, 0, at(words + 2), uint64_t{9} << 32, 0, {}}};
  require(batch(stream, 4, operations, 0) == 0 && words[0] == 3 && words[3] == 9, "batch");
  // Nothing of a batch with a mistake is done.
  operations[0].value = 4;
  operations[3].address += 4;
  require(batch(stream, 4, operations, 0) == invalid_value && words[0] == 3, "misaligned");
  require(
      batch(stream, 256, operations, 0) == invalid_value && batch(stream, 4, operations, 1) == invalid_value,
      "too many, and flags");
}

void errors() {
  void* stream = new_stream();
  uint32_t* words = new_words();
  uint32_t mine = 0;
  require(wait_32(stream, at(words) + 2, 0, equal) == invalid_value, "misaligned");
  require(wait_64(stream, at(words + 1), 0, equal) == invalid_value, "misaligned, 64 bits");
  require(write_32(stream, at(&mine), 0, 0) == invalid_value, "no memory of the device");
  void* managed = nullptr;
  require(
      cudaMallocManaged(&managed, 64, 1) == 0 && wait_32(stream, at(managed), 0, at_least) == invalid_value,
      "managed memory");
  require(wait_32(stream, at(words), 0, 4) == invalid_value, "no such comparison");
  require(write_32(stream, at(words), 0, 2) == invalid_value &&
              write_32(stream, at(words), 0, 1) == invalid_value,
          "no flags");
  require(cudaGetLastError() == 0, "the runtime's error is its own");
}

void graphs() {
  void *stream = new_stream(), *graph = nullptr, *executable = nullptr;
  uint32_t* words = new_words();
  require(cudaStreamBeginCapture(stream, 1) == 0, "capture");
  require(write_32(stream, at(words), 1, 0) == 0 && wait_32(stream, at(words), 1, equal) == 0, "captured");
  launch(add_kernel, words + 1, stream);
  require(cudaStreamEndCapture(stream, &graph) == 0 && words[0] == 0, "nothing is done yet");
  constexpr int empty = 5, memory_operation = 12;
  void* nodes[3]{};
  size_t count = 3;
  int type = -1;
  require(cudaGraphGetNodes(graph, nodes, &count) == 0 && count == 3, "nodes");
  require(cudaGraphNodeGetType(nodes[0], &type) == 0 && type == empty, "the runtime knows no such node");
  require(type_of_node(nodes[0], &type) == 0 && type == memory_operation, "the driver does");
  require(cudaGraphInstantiate(&executable, graph, 0) == 0 && cudaGraphLaunch(executable, stream) == 0,
          "launch");
  require(cudaStreamSynchronize(stream) == 0 && words[0] == 1 && words[1] == 1, "the graph ran");
}

}  // namespace

int main(int argc, char** argv) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *module = nullptr;
  require(library != nullptr, "libcuda.so.1");
  wait_32 = find<int(void*, uint64_t, uint32_t, unsigned)>(library, "cuStreamWaitValue32_v2");
  wait_64 = find<int(void*, uint64_t, uint64_t, unsigned)>(library, "cuStreamWaitValue64_v2");
  write_32 = find<int(void*, uint64_t, uint32_t, unsigned)>(library, "cuStreamWriteValue32_v2");
  write_64 = find<int(void*, uint64_t, uint64_t, unsigned)>(library, "cuStreamWriteValue64_v2");
  batch = find<int(void*, unsigned, Operation*, unsigned)>(library, "cuStreamBatchMemOp_v2");
  type_of_node = find<int(void*, int*)>(library, "cuGraphNodeGetType");
  require(cudaLibraryLoadData(&module, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) == 0, "load");
  require(cudaLibraryGetKernel(&wait_kernel, module, "wait") == 0, "wait");
  require(cudaLibraryGetKernel(&add_kernel, module, "add") == 0, "add");
  if (argc > 1 && std::strcmp(argv[1], "deadlock") == 0) {
    uint32_t* words = new_words();
    require(wait_64(nullptr, at(words), 1, equal) == 0, "wait");
    require(cudaDeviceSynchronize() == launch_timeout, "cudaErrorLaunchTimeout");
    std::printf("timeout\n");
    return 0;
  }
  another_stream_writes();
  comparisons();
  batches();
  errors();
  graphs();
  std::printf("words\n");
}
