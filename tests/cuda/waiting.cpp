// Kernels that wait, in a loop, for what happens after their launch: the host's writes, copies and kernels in
// other streams; what is queued behind them; and one that waits for ever. Kernels are loaded as PTX, so that
// no nvcc is needed. The first argument: "deadlock" (nothing comes), "joined" (nor in a program whose other
// threads wait for the one that waits), "queued" (what comes is queued behind the kernel), "leave" (the
// program ends first), "briefly" (without the loops that would give up).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>

#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

constexpr int not_ready = 600, launch_timeout = 702;

// wait: until *flag == value; then *sum += 1, by each thread. count: the same, but it would give up after
// 2^32 looks. meet: the same, and all threads of the block meet in the loop. store: *target = value.
constexpr char ptx[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry wait(.param .u64 flag, .param .u64 sum, .param .u32 value)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [sum];
  ld.param.u32 %r1, [value];
again:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p, %r1, %r2;
  @%p bra again;
  red.global.add.u32 [%rd2], 1;
  ret;
}
.visible .entry count(.param .u64 flag, .param .u64 sum, .param .u32 value)
{
  .reg .pred %p, %q; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [sum];
  ld.param.u32 %r1, [value];
  mov.u32 %r3, 0;
again:
  add.u32 %r3, %r3, 1;
  setp.eq.u32 %q, %r3, 0;
  @%q ret;
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p, %r1, %r2;
  @%p bra again;
  red.global.add.u32 [%rd2], 1;
  ret;
}
.visible .entry meet(.param .u64 flag, .param .u64 sum, .param .u32 value)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [sum];
  ld.param.u32 %r1, [value];
again:
  bar.sync 0;
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p, %r1, %r2;
  bar.red.and.pred %p, 0, %p;
  @%p bra again;
  red.global.add.u32 [%rd2], 1;
  ret;
}
.visible .entry store(.param .u64 target, .param .u64 sum, .param .u32 value)
{
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [sum];
  ld.param.u32 %r1, [value];
  st.volatile.global.u32 [%rd1], %r1;
  red.global.add.u32 [%rd2], 1;
  ret;
}
)";

void check(int status, const char* what) {
  if (status != 0) std::printf("error %d: ", status);
  require(status == 0, what);
}
#define CHECK(call) check(call, #call)

void *wait_kernel, *count_kernel, *meet_kernel, *store_kernel;
unsigned *flag, *sum;  // managed

void launch(void* kernel, unsigned* where, unsigned value, void* stream, unsigned blocks = 4,
            unsigned threads = 64) {
  void* arguments[] = {&where, &sum, &value};
  CHECK(cudaLaunchKernel(kernel, {blocks, 1, 1}, {threads, 1, 1}, arguments, 0, stream));
}

unsigned load(const unsigned* at) { return std::atomic_ref<const unsigned>(*at).load(); }
void set(unsigned* at, unsigned value) { std::atomic_ref<unsigned>(*at).store(value); }

void* new_stream() {
  void* stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, 1));  // does not wait for the legacy stream
  return stream;
}

/// The host sets the flag after the launch; for loops that repeat themselves, those that do not, and those
/// that never run for long without meeting others.
void host_sets_flag() {
  for (void* kernel : {wait_kernel, count_kernel, meet_kernel}) {
    set(flag, 0);
    set(sum, 0);
    launch(kernel, flag, 1, nullptr);
    require(load(sum) == 0, "nothing is counted yet");
    require(cudaStreamQuery(nullptr) == not_ready, "the stream is not ready");
    set(flag, 1);
    CHECK(cudaDeviceSynchronize());
    require(load(sum) == 256, "all threads got through");
    CHECK(cudaStreamQuery(nullptr));
  }
}

/// Another thread sets it while this one waits.
void other_thread_sets_flag() {
  set(flag, 0);
  set(sum, 0);
  launch(wait_kernel, flag, 7, nullptr);
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    set(flag, 7);
  });
  CHECK(cudaStreamSynchronize(nullptr));
  require(load(sum) == 256, "all threads got through");
  other.join();
}

/// A copy, and a kernel, in another stream.
void other_stream_sets_flag() {
  void *waits = new_stream(), *frees = new_stream();
  unsigned* word = nullptr;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&word), sizeof *word));
  CHECK(cudaMemset(word, 0, sizeof *word));
  set(sum, 0);
  set(flag, 5);
  launch(wait_kernel, word, 5, waits);
  CHECK(cudaMemcpyAsync(word, flag, sizeof *word, 4, frees));
  CHECK(cudaStreamSynchronize(waits));
  require(load(sum) == 256, "freed by a copy");
  launch(wait_kernel, word, 6, waits);
  launch(store_kernel, word, 6, frees, 1, 1);
  CHECK(cudaStreamSynchronize(waits));
  require(load(sum) == 2 * 256 + 1, "freed by a kernel");
  CHECK(cudaFree(word));
  CHECK(cudaStreamDestroy(waits));
  CHECK(cudaStreamDestroy(frees));
}

/// What is queued behind: kernels, copies, events, callbacks, other streams by event and by the legacy
/// stream.
void queue_behind() {
  void *first = new_stream(), *second = new_stream(), *blocking = nullptr, *start = nullptr, *event = nullptr;
  CHECK(cudaStreamCreateWithFlags(&blocking, 0));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&event));
  static unsigned seen_by_host = 0;
  unsigned* words = nullptr;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&words), 4 * sizeof *words, 1));
  set(flag, 0);
  set(sum, 0);
  std::memset(words, 0, 4 * sizeof *words);
  CHECK(cudaEventRecord(start, first));
  launch(wait_kernel, flag, 9, first);
  CHECK(cudaMemcpyAsync(&words[0], sum, sizeof *words, 4, first));  // 256
  CHECK(cudaLaunchHostFunc(
      first, [](void*) { seen_by_host = load(sum); }, nullptr));
  launch(store_kernel, &words[1], 3, first, 1, 1);
  CHECK(cudaEventRecord(event, first));
  CHECK(cudaStreamWaitEvent(second, event, 0));
  CHECK(cudaMemcpyAsync(&words[2], &words[1], sizeof *words, 4, second));  // 3
  launch(wait_kernel, flag, 10, blocking, 1, 1);                           // and the legacy stream after it
  launch(store_kernel, &words[3], 4, nullptr, 1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  require(load(&words[0]) == 0 && load(&words[1]) == 0 && load(&words[2]) == 0 && load(&words[3]) == 0 &&
              seen_by_host == 0 && load(sum) == 0,
          "nothing has been done yet");
  float milliseconds = 0;
  require(cudaEventQuery(event) == not_ready && cudaStreamQuery(second) == not_ready &&
              cudaEventElapsedTime(&milliseconds, start, event) == not_ready,
          "not ready");
  void* free_stream = new_stream();  // has nothing to wait for
  CHECK(cudaStreamSynchronize(free_stream));
  set(flag, 9);
  CHECK(cudaEventSynchronize(event));
  require(load(&words[0]) == 256 && load(&words[1]) == 3 && seen_by_host == 256,
          "in the order of the stream");
  CHECK(cudaEventElapsedTime(&milliseconds, start, event));
  require(milliseconds >= 50, "the time waited");
  CHECK(cudaStreamSynchronize(second));
  require(load(&words[2]) == 3, "after the event");
  CHECK(cudaStreamDestroy(first));
  require(load(&words[3]) == 0 && cudaStreamQuery(nullptr) == not_ready, "the legacy stream waits");
  set(flag, 10);
  CHECK(cudaDeviceSynchronize());
  require(load(&words[3]) == 4 && load(sum) == 256 + 1 + 1 + 1, "after the legacy stream");
  CHECK(cudaEventDestroy(event));
  CHECK(cudaFree(words));
}

void waits_in_vain() {
  launch(wait_kernel, flag, 1, nullptr);
  const int status = cudaDeviceSynchronize();
  require(status == launch_timeout && cudaMemcpy(sum, flag, 4, 4) == launch_timeout,
          "cudaErrorLaunchTimeout");
  std::printf("timeout\n");
}

/// One thread waits for the device; the others for it, in the ways that programs have.
void threads_wait_in_vain() {
  for (int i = 0; i < 3; ++i)
    launch(store_kernel, sum, 0, nullptr, 512);  // by all host threads of the engine
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::thread pooled([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_over; });
  });
  auto waits = std::async(std::launch::async, waits_in_vain);
  std::thread(&std::future<void>::get, &waits).join();
  {
    const std::lock_guard lock(mutex);
    is_over = true;
    changed.notify_all();
  }
  pooled.join();
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* mode) { return argc > 1 && std::strcmp(argv[1], mode) == 0; };
  void* library = nullptr;
  CHECK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&wait_kernel, library, "wait"));
  CHECK(cudaLibraryGetKernel(&count_kernel, library, "count"));
  CHECK(cudaLibraryGetKernel(&meet_kernel, library, "meet"));
  CHECK(cudaLibraryGetKernel(&store_kernel, library, "store"));
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&flag), sizeof *flag, 1));
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&sum), sizeof *sum, 1));
  if (is("leave")) {
    launch(wait_kernel, flag, 1, nullptr);
    return 0;
  }
  if (is("deadlock")) {
    waits_in_vain();
    return 0;
  }
  if (is("queued")) {
    launch(wait_kernel, flag, 1, nullptr);
    launch(store_kernel, flag, 1, nullptr, 1, 1);
    require(cudaDeviceSynchronize() == launch_timeout, "cudaErrorLaunchTimeout");
    return 0;
  }
  if (is("joined")) {
    threads_wait_in_vain();
    return 0;
  }
  if (!is("briefly")) host_sets_flag();
  other_thread_sets_flag();
  other_stream_sets_flag();
  queue_behind();
  std::printf("waited\n");
}
