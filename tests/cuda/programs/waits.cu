// How kernels wait for each other with the CUDA C++ library, and with loops of their own that pause longer
// and longer: barriers, latches, semaphores, atomics, locks, a scan that looks back. The argument names one
// that never ends, by its kernel.
#include <cooperative_groups.h>

#include <cstring>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <new>
#include <vector>

#include "check.hpp"

constexpr int blocks = 32, threads = 64, rounds = 3;

/// What the kernels wait at, and what they count.
struct Shared {
  cuda::barrier<cuda::thread_scope_device> barrier;
  cuda::latch<cuda::thread_scope_device> latch;
  cuda::counting_semaphore<cuda::thread_scope_device> semaphore;
  cuda::binary_semaphore<cuda::thread_scope_device> binary;
  cuda::atomic<int, cuda::thread_scope_device> flag;
  int lock, ticket, now_serving, sum;
};

__global__ void prepare(Shared* s) { new (s) Shared{blocks, blocks, 2, 1, 0, 0, 0, 0, 0}; }

__device__ void add(int& sum) {
  __threadfence();
  volatile int* const at = &sum;
  *at = *at + 1;
  __threadfence();
}

__global__ void at_barrier(Shared* s) {
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {
      atomicAdd(&s->sum, 1);
      s->barrier.arrive_and_wait();
    }
    __syncthreads();
    if (atomicAdd(&s->sum, 0) < (i + 1) * blocks) __trap();
  }
}

__global__ void at_latch(Shared* s) {
  if (threadIdx.x != 0) return;
  atomicAdd(&s->sum, 1);
  s->latch.arrive_and_wait();
  if (atomicAdd(&s->sum, 0) != blocks) __trap();
}

__global__ void at_semaphore(Shared* s) {
  if (threadIdx.x != 0) return;
  s->semaphore.acquire();
  atomicAdd(&s->sum, 1);
  s->semaphore.release();
}

__global__ void at_binary_semaphore(Shared* s) {
  if (threadIdx.x != 0) return;
  s->binary.acquire();
  add(s->sum);
  s->binary.release();
}

/// Block n waits for block n + 1; the last one begins.
__global__ void at_atomic(Shared* s) {
  if (threadIdx.x != 0) return;
  const int before = gridDim.x - 1 - blockIdx.x;
  for (int seen = 0; (seen = s->flag.load()) != before;) s->flag.wait(seen);
  add(s->sum);
  s->flag.store(before + 1);
  s->flag.notify_all();
}

/// Warps of a block, one after another.
__global__ void at_barrier_of_block(Shared* s) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 32 * (i % 2)) atomicAdd(&s->sum, 1);
    barrier.arrive_and_wait();
  }
}

/// Every thread takes a lock, after a look at it and with a pause that grows.
__global__ void at_lock(Shared* s) {
  for (unsigned pause = 8; *static_cast<volatile int*>(&s->lock) != 0 || atomicCAS(&s->lock, 0, 1) != 0;) {
    __nanosleep(pause);
    if (pause < 256) pause *= 2;
  }
  add(s->sum);
  atomicExch(&s->lock, 0);
}

/// Tickets: the pause depends on how many are before.
__global__ void at_tickets(Shared* s) {
  if (threadIdx.x != 0) return;
  const int mine = atomicAdd(&s->ticket, 1);
  for (;;) {
    const int now = *static_cast<volatile int*>(&s->now_serving);
    if (now == mine) break;
    __nanosleep(20 * (mine - now));
  }
  add(s->sum);
  *static_cast<volatile int*>(&s->now_serving) = mine + 1;
}

/// Blocks wait for the last one, most of them for no longer than 50 looks.
__global__ void for_a_while(Shared* s) {
  if (threadIdx.x != 0) return;
  volatile int* const lock = &s->lock;
  int looks = 0;
  if (blockIdx.x == gridDim.x - 1) *lock = 1;
  while (looks < 50 && *lock == 0) {
    __nanosleep(10);
    ++looks;
  }
  atomicAdd(&s->sum, *lock != 0 || looks == 50);
}

__global__ void never_at_barrier(Shared* s) {
  if (blockIdx.x != 0 && threadIdx.x == 0) s->barrier.arrive_and_wait();
}
__global__ void never_at_latch(Shared* s) {
  if (blockIdx.x != 0 && threadIdx.x == 0) s->latch.arrive_and_wait();
}
__global__ void never_at_semaphore(Shared* s) {
  if (threadIdx.x == 0) s->semaphore.acquire();
}
__global__ void never_at_atomic(Shared* s) {
  if (threadIdx.x == 0) s->flag.wait(0);
}
__global__ void never_at_barrier_of_block(Shared*) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();
}

using Kernel = void (*)(Shared*);
const struct {
  const char* name;
  Kernel kernel;
} endless[] = {{"barrier", never_at_barrier},
               {"latch", never_at_latch},
               {"semaphore", never_at_semaphore},
               {"atomic", never_at_atomic},
               {"block", never_at_barrier_of_block}};

void run(Shared* s, Kernel kernel, int sum) {
  prepare<<<1, 1>>>(s);
  kernel<<<blocks, threads>>>(s);
  CHECK_CUDA(cudaGetLastError());
  int found = 0;
  CHECK_CUDA(cudaMemcpy(&found, &s->sum, sizeof found, cudaMemcpyDeviceToHost));
  CHECK(found == sum);
}

void scan() {
  constexpr int n = 100000;
  std::vector<int> out(n);
  int* values = nullptr;
  void* scratch = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(cudaMalloc(&values, n * sizeof(int)));
  for (int& value : out) value = 1;
  CHECK_CUDA(cudaMemcpy(values, out.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, values, values, n));
  CHECK_CUDA(cudaMalloc(&scratch, bytes));
  CHECK_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, values, values, n));
  CHECK_CUDA(cudaMemcpy(out.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(out[i] == i + 1);
}

int main(int argc, char** argv) {
  Shared* s = nullptr;
  CHECK_CUDA(cudaMalloc(&s, sizeof *s));
  for (const auto& [name, kernel] : endless) {
    if (argc < 2 || std::strcmp(argv[1], name) != 0) continue;
    prepare<<<1, 1>>>(s);
    kernel<<<blocks, threads>>>(s);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  run(s, at_barrier, rounds * blocks);
  run(s, at_latch, blocks);
  run(s, at_semaphore, blocks);
  run(s, at_binary_semaphore, blocks);
  run(s, at_atomic, blocks);
  run(s, at_barrier_of_block, rounds * blocks);
  run(s, at_lock, blocks * threads);
  run(s, at_tickets, blocks);
  run(s, for_a_while, blocks);
  scan();
  std::printf("waits ok\n");
}
