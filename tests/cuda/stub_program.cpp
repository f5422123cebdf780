// A CUDA program without nvcc: what nvcc would generate around the kernels of stub_kernels.cu, written by
// hand and compiled by the host compiler. It registers a committed fat binary before main and launches
// through the runtime's functions. LANESCOPE_FATBIN is the file it holds. The first argument says what it
// does (see main).
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "fat_binary.hpp"
#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

// The variables' host shadows.
char factor[4], calls[4];

void launch(const void* stub, void** arguments) {
  dim3 grid, block;
  size_t shared = 0;
  void* stream = nullptr;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != 0) return;
#if LANESCOPE_STANDS_FOR == 11
  cudaLaunchKernel(stub, grid, block, arguments, shared, stream);
#else
  void* kernel = nullptr;
  __cudaGetKernel(&kernel, stub);
  __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
#endif
}

void scale(const int* in, int* out, int n) {
  void* arguments[] = {&in, &out, &n};
  launch(reinterpret_cast<const void*>(&scale), arguments);
}

void store_at(int* out, long index) {
  void* arguments[] = {&out, &index};
  launch(reinterpret_cast<const void*>(&store_at), arguments);
}

/// Stands for a kernel of NCCL's, which is only asked about.
const char of_nccl = 0;

void** handle = nullptr;
void unregister() { __cudaUnregisterFatBinary(handle); }

__attribute__((constructor)) void register_all() {
  handle = __cudaRegisterFatBinary(&wrapper);
  const auto add = [](auto* stub, const char* name) {
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(stub), const_cast<char*>(name), name, -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  add(&scale, "scale");
  add(&store_at, "store_at");
  add(&of_nccl, "ncclDevKernel_Generic_4");
  char name_of_factor[] = "factor", name_of_calls[] = "calls";
  __cudaRegisterVar(handle, factor, name_of_factor, "factor", 0, 4, 1, 0);
  __cudaRegisterVar(handle, calls, name_of_calls, "calls", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  std::atexit(unregister);
}

/// Where a runtime inside is looked for by the names of its functions, this one is no function of it.
const char* const failed_call = "cudaMalloc";

constexpr int n = 1024;
int *in = nullptr, *out = nullptr;

void run_scale(int times) {
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i) host[static_cast<size_t>(i)] = i;
  const int status = cudaMalloc(reinterpret_cast<void**>(&in), n * sizeof(int));
  if (status != 0) std::printf("%s: error %d\n", failed_call, status);
  require(status == 0, "memory for the input");
  require(cudaMalloc(reinterpret_cast<void**>(&out), n * sizeof(int)) == 0, "memory for the output");
  require(cudaMemcpy(in, host.data(), n * sizeof(int), 1) == 0, "copy to the device");
  for (int i = 0; i < times; ++i)
    if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
  const int error = cudaGetLastError();
  if (error != 0) std::printf("launch: error %d\n", error);
  require(error == 0, "launch");
  require(cudaMemcpy(back.data(), out, n * sizeof(int), 2) == 0, "copy from the device");
  for (int i = 0; i < n; ++i) require(back[static_cast<size_t>(i)] == 3 * i, "result");
  int count = 0;
  require(cudaMemcpyFromSymbol(&count, calls, sizeof count, 0, 2) == 0 && count == 2 * times,
          "count of blocks");
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* mode) { return argc > 1 && std::strcmp(argv[1], mode) == 0; };
  if (is("asks") || is("asks_of_nccl")) {  // about a kernel, which it then does not launch
    std::byte attributes[512];
    const void* const stub = is("asks") ? reinterpret_cast<const void*>(&scale) : &of_nccl;
    std::printf("attributes: error %d\n", cudaFuncGetAttributes(attributes, stub));
    return 0;
  }
  if (is("careless")) {  // bytes that are no PTX, a block of too many threads, copies and a set that do not
                         // fit, and no look at what comes of it
    void* library = nullptr;
    cudaLibraryLoadData(&library, "garbage", nullptr, nullptr, 0, nullptr, nullptr, 0);
    __cudaPushCallConfiguration({1, 1, 1}, {2048, 1, 1}, 0, nullptr);
    store_at(nullptr, 0);
    char line[128] = "";
    cudaMalloc(reinterpret_cast<void**>(&in), 64);
    for (int i = 0; i < 2; ++i) cudaMemcpy(in, line, sizeof line, 1);
    cudaMemcpy(line, in, 64, 1);
    cudaMemset(in + 16, 0, 4);
    std::printf("went on\n");
    return 0;
  }
  run_scale(2);
  std::printf("scaled\n");
  std::fflush(stdout);
  if (is("read")) {  // what it was given on standard input
    char line[64] = "";
    require(std::fgets(line, sizeof line, stdin) != nullptr, "a line to read");
    std::printf("read %s", line);
  }
  if (is("version")) {
    int version = 0;
    require(cudaRuntimeGetVersion(&version) == 0, "version of the runtime");
    std::printf("version %d\n", version);
  }
  if (is("status")) return std::atoi(argv[2]);
  if (is("copies")) {  // two copies that bring nothing new, one that does, one of what was there by chance,
                       // to memory that no kernel was given, and one when the kernel has been waited for
    const auto launch = [] {
      if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
    };
    std::vector<int> host(n, 7), zeros(n, 0);
    for (int i = 0; i < 3; ++i) require(cudaMemcpy(in, host.data(), n * sizeof(int), 1) == 0, "copy");
    host[9] = 8;
    require(cudaMemcpy(in, host.data(), n * sizeof(int), 1) == 0, "copy of changed data");
    int* fresh = nullptr;
    require(cudaMalloc(reinterpret_cast<void**>(&fresh), n * sizeof(int)) == 0, "fresh memory");
    launch();
    require(cudaMemcpy(fresh, zeros.data(), n * sizeof(int), 1) == 0, "copy to fresh memory");
    launch();
    require(cudaDeviceSynchronize() == 0, "synchronize");
    require(cudaMemcpy(fresh, host.data(), n * sizeof(int), 1) == 0, "copy to it again");
  }
  if (is("bounds")) {
    __cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr);
    store_at(out, n);
    require(cudaGetLastError() == 0, "the launch succeeds");
    require(cudaDeviceSynchronize() == 700, "cudaErrorIllegalAddress");
    std::printf("illegal address\n");
  }
  if (is("freed")) {
    require(cudaFree(out) == 0, "free");
    __cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr);
    store_at(out, 0);
    require(cudaDeviceSynchronize() == 700, "cudaErrorIllegalAddress");
    std::printf("illegal address\n");
  }
  if (is("abort")) std::abort();
  if (is("crash")) raise(SIGSEGV);
  if (is("interrupt")) {
    kill(getpid(), SIGTERM);
    std::printf("went on\n");
    std::fflush(stdout);
  }
  if (is("exit-now")) quick_exit(4);
  if (is("exit-bare")) _exit(5);
  if (is("exec")) {  // the first one fails
    execl("/no/such/program", argv[0], nullptr);
    if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
    require(cudaDeviceSynchronize() == 0, "synchronize");
    std::fflush(stdout);
    execl("/proc/self/exe", argv[0], argc > 2 ? argv[2] : "status", "0", nullptr);
  }
  if (is("exit-thread")) {  // the process ends with the other thread
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::printf("the other thread ends\n");
    }).detach();
    pthread_exit(nullptr);
  }
  if (is("exit-launches")) {  // where the main thread's own objects are gone, as in destructors of statics
    std::atexit([] {
      for (int i = 0; i < 2; ++i)
        if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
      std::printf("at exit: %d\n", cudaDeviceSynchronize());
    });
    return 0;
  }
  if (is("vfork")) {  // a child that ends by _exit has nothing to report
    const pid_t child = vfork();
    if (child == 0) _exit(6);
    int status = 0;
    waitpid(child, &status, 0);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 6, "the child ends");
    if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
  }
  if (is("fork")) {
    const pid_t child = fork();
    if (child == 0) execl("/proc/self/exe", argv[0], "status", "0", nullptr);
    int status = 0;
    waitpid(child, &status, 0);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child runs");
  }
  if (is("fork-ends")) {  // a child ends at once by a signal that it sends itself, or that its parent sends
    alarm(8);
    for (const bool is_own : {false, true}) {
      const pid_t child = fork();
      if (child == 0) {
        if (is_own) raise(SIGTERM);
        sleep(20);
        _exit(3);
      }
      if (!is_own) kill(child, SIGTERM);
      int status = 0;
      waitpid(child, &status, 0);
      require(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "the child ends by its signal");
    }
    alarm(0);
  }
  if (is("forked")) {  // what an H200 gives: only what needs no device is known
    constexpr int initialization_error = 3;
    const pid_t child = fork();
    if (child == 0) {
      void* memory = nullptr;
      int back = 0, version = 0;
      require(cudaRuntimeGetVersion(&version) == 0, "the version");
      require(cudaMalloc(&memory, 64) == initialization_error, "memory");
      require(cudaMemcpy(&back, out, sizeof back, 2) == initialization_error, "copy");
      if (__cudaPushCallConfiguration({2, 1, 1}, {1024, 1, 1}, 0, nullptr) == 0) scale(in, out, n);
      require(cudaGetLastError() == initialization_error, "launch");
      require(cudaDeviceSynchronize() == initialization_error, "wait");
      std::printf("lost in the child\n");
      exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child runs");
    require(cudaDeviceSynchronize() == 0, "the parent goes on");
  }
  if (is("many")) {  // one thread each: what a launch costs
    const auto start = std::chrono::steady_clock::now();
    constexpr int times = 100000;
    for (int i = 0; i < times; ++i) {
      __cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr);
      store_at(out, i % n);
    }
    require(cudaDeviceSynchronize() == 0, "all launches");
    const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - start;
    std::printf("%s 20 microseconds a launch: %.2f\n", all.count() / times < 20 ? "below" : "above",
                all.count() / times);
  }
  if (is("occupancy")) {  // prints the kernel's registers and how many of its blocks are resident
    struct {
      size_t shared, constant, local;
      int threads, registers, rest[29];
    } attributes{};
    int blocks = -1;
    const auto* stub = reinterpret_cast<const void*>(&scale);
    require(cudaFuncGetAttributes(&attributes, stub) == 0, "attributes");
    require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub, 256, 0) == 0, "occupancy");
    std::printf("%d registers, %d threads at most, %d blocks of 256\n", attributes.registers,
                attributes.threads, blocks);
  }
  if (is("host-function")) {  // may not call CUDA, and what it does wrong is not the calling thread's error
    int status = 0;
    const auto allocate = [](void* data) {
      void* memory = nullptr;
      *static_cast<int*>(data) = cudaMalloc(&memory, 4);
    };
    require(cudaLaunchHostFunc(nullptr, allocate, &status) == 0, "host function");
    require(status == 800, "cudaErrorNotPermitted");
    require(cudaGetLastError() == 0 && cudaDeviceSynchronize() == 0, "no error outside");
  }
  if (is("capture")) {  // memory may not be taken meanwhile
    constexpr int global = 0, of_thread = 1, relaxed = 2;
    void *stream = nullptr, *graph = nullptr, *memory = nullptr;
    require(cudaStreamCreateWithFlags(&stream, 1) == 0, "stream");
    const auto captured = [&](int mode) {
      require(cudaStreamBeginCapture(stream, mode) == 0, "capture");
      const int allocated = cudaMalloc(&memory, 4), ended = cudaStreamEndCapture(stream, &graph);
      cudaGetLastError();
      require(allocated == 0 || allocated == 900, "success or cudaErrorStreamCaptureUnsupported");
      require(ended == (allocated == 0 ? 0 : 901), "success or cudaErrorStreamCaptureInvalidated");
      return allocated == 0;
    };
    require(!captured(global) && !captured(of_thread) && captured(relaxed), "modes of captures");
    int mode = relaxed;
    require(cudaThreadExchangeStreamCaptureMode(&mode) == 0 && mode == global, "mode of the thread");
    require(captured(global), "a thread that allows itself what is unsafe");
    std::printf("captured\n");
  }
  if (is("unknown")) {
    require(cudaDestroyExternalMemory(in) == 801 && cudaDestroyExternalMemory(in) == 801,
            "cudaErrorNotSupported");
  }
  if (is("all-unknown")) {  // the arguments are functions that are not implemented
    for (int i = 2; i < argc; ++i) {
      const auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, argv[i]));
      require(function != nullptr, argv[i]);
      // The driver's functions know no last error.
      const int last = std::strncmp(argv[i], "cuda", 4) == 0 || argv[i][0] == '_' ? 801 : 0;
      require(function() == 801 && function() == 801 && cudaGetLastError() == last, argv[i]);
    }
    std::printf("%d functions\n", argc - 2);
  }
  cudaFree(in);
  cudaFree(out);
  return 0;
}
