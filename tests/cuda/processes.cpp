// Memory and events that processes share (cudaIpc…): the program starts itself, which opens what it is given.
// What the calls return was compared with an H200's runtime (CUDA 13.0).
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "require.hpp"
#include "runtime_calls.hpp"

struct Handle {
  char bytes[64];
};
extern "C" {
int cudaIpcCloseMemHandle(void*);
int cudaIpcGetEventHandle(Handle*, void*);
int cudaIpcGetMemHandle(Handle*, void*);
int cudaIpcOpenEventHandle(void**, Handle);
int cudaIpcOpenMemHandle(void**, Handle, unsigned);
int cudaEventCreateWithFlags(void**, unsigned);
int cudaMallocAsync(void**, size_t, void*);
int cudaMallocHost(void**, size_t);
int cudaDeviceReset();
int cuMemGetAddressRange_v2(uint64_t*, size_t*, uint64_t);
}

namespace {

constexpr int invalid_value = 1, uninitialized = 201, map_failed = 205, invalid_handle = 400;
constexpr unsigned lazy = 1;
constexpr size_t large = size_t{5} << 20;

struct Given {
  Handle numbers, beside, large, event;
};

bool same(const Handle& a, const Handle& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <typename T>
T* opened(const Handle& handle) {
  void* memory = nullptr;
  require(cudaIpcOpenMemHandle(&memory, handle, lazy) == 0, "open");
  return static_cast<T*>(memory);
}

int first_of(const int* memory) {
  int value = 0;
  require(cudaMemcpy(&value, memory, sizeof value, 2) == 0, "copy from it");
  return value;
}

/// Starts this program once more, with what it is given in its standard input, and waits for it.
void start(const char* mode, const Given& given) {
  int ends[2];
  require(pipe(ends) == 0 && write(ends[1], &given, sizeof given) == sizeof given, "pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], 0);
    execl("/proc/self/exe", "processes", mode, nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(ends[0]);
  close(ends[1]);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process");
}

int other_process(const Given& given) {
  void* memory = nullptr;
  require(cudaIpcOpenMemHandle(&memory, given.numbers, 0) == invalid_value, "no flags");
  require(cudaIpcOpenMemHandle(&memory, given.numbers, 2) == invalid_value, "other flags");
  int* numbers = opened<int>(given.numbers);
  require(first_of(numbers) == 10, "what the first process wrote");
  require(first_of(opened<int>(given.beside)) == 300, "what lies on the same page");
  uint64_t base = 0;
  size_t size = 0;
  const auto address = reinterpret_cast<uint64_t>(numbers);
  require(cuMemGetAddressRange_v2(&base, &size, address) == 0 && base == address && size == 4096, "its size");
  require(opened<int>(given.numbers) == numbers, "opened twice");
  Handle again{};
  require(cudaIpcGetMemHandle(&again, numbers) == invalid_value, "it cannot be given on");
  require(cudaFree(numbers) == invalid_value, "nor freed");
  cudaGetLastError();
  const int value = 50;
  require(cudaMemcpy(numbers, &value, sizeof value, 1) == 0, "copy to it");

  void* event = nullptr;
  float milliseconds = 0;
  require(cudaIpcOpenEventHandle(&event, given.event) == 0, "event");
  require(cudaEventQuery(event) == 0 && cudaStreamWaitEvent(nullptr, event, 0) == 0, "what was recorded");
  require(cudaEventRecord(event, nullptr) == 0 && cudaEventSynchronize(event) == 0, "record");
  require(cudaEventElapsedTime(&milliseconds, event, event) == invalid_handle, "it has no time");
  require(cudaIpcGetEventHandle(&again, event) == invalid_handle, "nor can it be given on");
  require(cudaEventDestroy(event) == 0, "destroy");

  require(cudaIpcCloseMemHandle(numbers + 1) == invalid_value, "not where it begins");
  require(cudaIpcCloseMemHandle(numbers) == 0 && first_of(numbers) == 50, "still open");
  require(cudaIpcCloseMemHandle(numbers) == 0, "closed as often as opened");
  require(cudaIpcCloseMemHandle(numbers) == invalid_value, "once too often");
  require(cudaMemset(opened<char>(given.large), 9, large) == 0, "set");
  std::printf("the other process ends\n");
  return 0;
}

int late_process(const Given& given) {
  void* out = nullptr;
  Handle none{};
  require(cudaIpcOpenMemHandle(&out, none, lazy) == invalid_value, "no handle");
  // Of a process that is gone.
  Handle gone = given.numbers, event = given.event;
  const uint64_t process = 0x7fffffff;
  std::memcpy(gone.bytes + 8, &process, sizeof process);
  std::memcpy(event.bytes + 8, &process, sizeof process);
  require(cudaIpcOpenMemHandle(&out, gone, lazy) == invalid_value, "memory of nobody");
  require(cudaIpcOpenEventHandle(&out, event) == map_failed, "event of nobody");
  return 0;
}

template <typename T>
T* memory_of(size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes) == 0, "memory");
  return static_cast<T*>(memory);
}

}  // namespace

int main(int argc, char**) {
  Given given{};
  if (argc > 1) {
    require(read(0, &given, sizeof given) == sizeof given, "what it is given");
    return late_process(given) + other_process(given);
  }
  int *numbers = memory_of<int>(4096), *beside = memory_of<int>(64);
  char* bytes = memory_of<char>(large);
  std::vector<int> values(1024, 10);
  require(cudaMemcpy(numbers, values.data(), 4096, 1) == 0, "copy");
  values[0] = 300;
  require(cudaMemcpy(beside, values.data(), 64, 1) == 0, "copy");
  Handle other{};
  require(cudaIpcGetMemHandle(&given.numbers, numbers) == 0, "memory");
  require(cudaIpcGetMemHandle(&other, numbers + 2) == 0 && same(other, given.numbers), "from inside");
  require(cudaIpcGetMemHandle(&given.beside, beside) == 0, "beside");
  require(cudaIpcGetMemHandle(&given.large, bytes) == 0, "large");
  void *managed = nullptr, *pinned = nullptr, *of_pool = nullptr, *out = nullptr;
  require(cudaMallocManaged(&managed, 64, 1) == 0 && cudaMallocHost(&pinned, 64) == 0, "memory of others");
  require(cudaMallocAsync(&of_pool, 64, nullptr) == 0, "of a pool");
  for (void* const no : {managed, pinned, of_pool, static_cast<void*>(nullptr), static_cast<void*>(&other)})
    require(cudaIpcGetMemHandle(&other, no) == invalid_value, "only what cudaMalloc gives");
  require(cudaIpcOpenMemHandle(&out, given.numbers, lazy) == uninitialized, "its own");
  void *event = nullptr, *plain = nullptr;
  require(cudaEventCreateWithFlags(&event, 4) == invalid_value, "an event of processes has no time");
  require(cudaEventCreateWithFlags(&event, 6) == 0 && cudaEventCreate(&plain) == 0, "events");
  require(cudaIpcGetEventHandle(&given.event, plain) == invalid_handle, "event of this process");
  require(cudaIpcGetEventHandle(&given.event, nullptr) == invalid_value, "no event");
  require(cudaIpcGetEventHandle(&given.event, event) == 0, "event");
  require(cudaIpcOpenEventHandle(&out, given.event) == uninitialized, "its own");
  require(cudaEventRecord(event, nullptr) == 0, "record");
  start("other", given);
  require(first_of(numbers) == 50 && first_of(numbers + 1) == 10, "what the other process wrote");
  require(first_of(beside) == 300, "what it did not");
  require(first_of(reinterpret_cast<int*>(bytes + large) - 1) == 0x09090909, "all of it");

  // What is freed reads as zeros when it is given again, and can be shared again.
  require(cudaFree(bytes) == 0 && cudaDeviceReset() == 0, "free");
  std::vector<char*> pieces;
  for (int i = 0; i < 3; ++i) pieces.push_back(memory_of<char>(large));
  for (char* const piece : pieces) {
    require(first_of(reinterpret_cast<int*>(piece)) == 0, "zeros");
    require(cudaIpcGetMemHandle(&other, piece) == 0, "shared again");
  }
  std::printf("shared\n");
}
