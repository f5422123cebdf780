// Programs that are right, though it takes a second look to see why. None may be accused.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include "cases.hpp"
namespace cg = cooperative_groups;
__global__ void k_volatile(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  s[t + 32] = 1;
  __syncwarp();
  volatile int* v = s;
  for (int d = 32; d > 0; d /= 2) {
    int x = v[t] + v[t + (d > 16 || t < d ? d : 0)];
    __syncwarp();
    v[t] = x;
    __syncwarp();
  }
  o[t] = v[0];
}
CASE(volatile_ok) { k_volatile<<<1, 32>>>(device<int>(64)); }
// decoupled look-back
struct State {
  volatile int flag;
  volatile int agg;
  volatile int prefix;
};
__global__ void k_lookback(State* st, int* tickets, int* out) {
  __shared__ int tile, pre;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(tickets, 1);
  __syncthreads();
  int b = tile;
  if (t == 0) {
    int agg = b + 1, sum = 0;
    st[b].agg = agg;
    __threadfence();
    st[b].flag = 1;
    for (int k = b - 1; k >= 0;) {
      int f;
      while ((f = st[k].flag) == 0) {
      }
      __threadfence();
      if (f == 2) {
        sum += st[k].prefix;
        break;
      }
      sum += st[k].agg;
      --k;
    }
    st[b].prefix = sum + agg;
    __threadfence();
    st[b].flag = 2;
    pre = sum;
  }
  __syncthreads();
  out[b * 64 + t] = pre + t;
}
CASE(lookback_ok) { k_lookback<<<40, 64>>>(device<State>(40), device<int>(1), device<int>(40 * 64)); }
__global__ void k_scan64(unsigned long long* st, int* ticket, int* out) {
  __shared__ int tile, pre;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  int b = tile;
  if (t == 0) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> me(st[b]);
    me.store((1ull << 32) | 1u, cuda::memory_order_relaxed);
    int sum = 0;
    for (int k = b - 1; k >= 0; --k) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> r(st[k]);
      unsigned long long v;
      while (((v = r.load(cuda::memory_order_relaxed)) >> 32) == 0) {
      }
      sum += (unsigned)v;
      if (v >> 33) break;
    }
    me.store((2ull << 32) | (unsigned)(sum + 1), cuda::memory_order_relaxed);
    pre = sum;
  }
  __syncthreads();
  out[b * 64 + t] = pre;
}
CASE(lookback64_ok) {
  k_scan64<<<40, 64>>>(device<unsigned long long>(40), device<int>(1), device<int>(40 * 64));
}
CASE(cub_scan_ok) {
  int n = 100000;
  int *a = device<int>(n), *b = device<int>(n, false);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(t, bytes, a, b, n);
  cudaMalloc(&t, bytes);
  cub::DeviceScan::InclusiveSum(t, bytes, a, b, n);
}
CASE(cub_sort_ok) {
  int n = 20000;
  int *a = device<int>(n), *b = device<int>(n, false);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(t, bytes, a, b, n);
  cudaMalloc(&t, bytes);
  cub::DeviceRadixSort::SortKeys(t, bytes, a, b, n);
}
CASE(cub_reduce_ok) {
  int n = 200000;
  int *a = device<int>(n), *b = device<int>(1, false);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(t, bytes, a, b, n);
  cudaMalloc(&t, bytes);
  cub::DeviceReduce::Sum(t, bytes, a, b, n);
}
CASE(cub_hist_ok) {
  int n = 50000;
  float* a = device<float>(n);
  int* h = device<int>(64, false);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceHistogram::HistogramEven(t, bytes, a, h, 65, 0.f, 64.f, n);
  cudaMalloc(&t, bytes);
  cub::DeviceHistogram::HistogramEven(t, bytes, a, h, 65, 0.f, 64.f, n);
}
CASE(cub_select_ok) {
  int n = 50000;
  int *a = device<int>(n), *b = device<int>(n, false), *c = device<int>(1, false);
  char* f = device<char>(n);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceSelect::Flagged(t, bytes, a, f, b, c, n);
  cudaMalloc(&t, bytes);
  cub::DeviceSelect::Flagged(t, bytes, a, f, b, c, n);
}
CASE(cub_rle_ok) {
  int n = 50000;
  int *a = device<int>(n), *b = device<int>(n, false), *d = device<int>(n, false), *c = device<int>(1, false);
  void* t = nullptr;
  size_t bytes = 0;
  cub::DeviceRunLengthEncode::Encode(t, bytes, a, b, d, c, n);
  cudaMalloc(&t, bytes);
  cub::DeviceRunLengthEncode::Encode(t, bytes, a, b, d, c, n);
}
// last block reduces
__global__ void k_last(const int* p, volatile int* part, unsigned* count, int* o) {
  __shared__ int s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = p[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    s[t] = t < gridDim.x ? part[t] : 0;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
      if (t < d) s[t] += s[t + d];
      __syncthreads();
    }
    if (t == 0) *o = s[0];
  }
}
CASE(last_ok) {
  k_last<<<40, 64>>>(device<int>(40 * 64), device<int>(40, false), device<unsigned>(1),
                     device<int>(1, false));
}
// cooperative grid
__global__ void k_grid(int* a, int* b) {
  auto g = cg::this_grid();
  int i = g.thread_rank(), n = g.size();
  for (int r = 0; r < 4; ++r) {
    a[i] = i + r;
    g.sync();
    b[i] = a[(i + 77) % n];
    g.sync();
  }
}
CASE(grid_ok) {
  int *a = device<int>(640, false), *b = device<int>(640, false);
  void* args[] = {&a, &b};
  cudaLaunchCooperativeKernel((void*)k_grid, 10, 64, args, 0, 0);
}
// atomic_ref with scopes: a flag in shared memory
template <cuda::thread_scope S>
__global__ void k_flag(int* o) {
  __shared__ int data, flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  cuda::atomic_ref<int, S> f(flag);
  if (t == 0) {
    data = o[0] + 7;
    f.store(1, cuda::memory_order_release);
  }
  if (t == 32) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    o[0] = data;
  }
}
CASE(flag_block_ok) { k_flag<cuda::thread_scope_block><<<1, 64>>>(device<int>(1)); }
CASE(flag_device_ok) { k_flag<cuda::thread_scope_device><<<1, 64>>>(device<int>(1)); }
CASE(flag_system_ok) { k_flag<cuda::thread_scope_system><<<1, 64>>>(device<int>(1)); }
__global__ void k_flag_fence(int* o) {
  __shared__ int data;
  __shared__ int flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> f(flag);
  if (t == 0) {
    data = o[0] + 7;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
    f.store(1, cuda::memory_order_relaxed);
  }
  if (t == 32) {
    while (f.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    o[0] = data;
  }
}
CASE(flag_fence_ok) { k_flag_fence<<<1, 64>>>(device<int>(1)); }
// flags in global memory between threads of a block guard shared memory
__global__ void k_flag_global(volatile int* flag, int* o) {
  __shared__ int data;
  int t = threadIdx.x;
  if (t == 0) {
    data = o[0] + 7;
    __threadfence();
    *flag = 1;
  }
  if (t == 32) {
    while (*flag == 0) {
    }
    __threadfence();
    o[0] = *(volatile int*)&data;
  }
}
CASE(flag_global_ok) { k_flag_global<<<1, 64>>>(device<int>(1), device<int>(1)); }
// warp-specialised with cuda::barrier
__global__ void k_special(const int* p, int* o) {
  constexpr int stages = 2;
  __shared__ int s[stages][32];
  int t = threadIdx.x;
  __shared__ cuda::barrier<cuda::thread_scope_block> full[stages], empty[stages];
  if (t < stages) {
    init(&full[t], 64);
    init(&empty[t], 64);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < 8; ++i) {
      int b = i % stages;
      empty[b].arrive_and_wait();
      s[b][t] = p[i * 32 + t];
      (void)full[b].arrive();
    }
  } else {
    int x = 0;
    for (int b = 0; b < stages; ++b) (void)empty[b].arrive();
    for (int i = 0; i < 8; ++i) {
      int b = i % stages;
      full[b].arrive_and_wait();
      x += s[b][63 - t];
      (void)empty[b].arrive();
    }
    o[t] = x;
  }
}
CASE(special_ok) { k_special<<<1, 64>>>(device<int>(256), device<int>(64)); }
// cuda::pipeline
__global__ void k_pipeline(const int* p, int* o) {
  constexpr int stages = 2;
  __shared__ int s[stages][64];
  int t = threadIdx.x, x = 0;
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[0], p, cuda::aligned_size_t<16>(256), pipe);
  pipe.producer_commit();
  for (int i = 1; i <= 8; ++i) {
    if (i < 8) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[i & 1], p + i * 64, cuda::aligned_size_t<16>(256), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    x += s[(i - 1) & 1][63 - t];
    pipe.consumer_release();
  }
  o[t] = x;
}
CASE(pipeline_ok) { k_pipeline<<<1, 64>>>(device<int>(512), device<int>(64)); }
__global__ void k_pipeline_roles(const int* p, int* o) {
  constexpr int stages = 2;
  __shared__ int s[stages][32];
  int t = threadIdx.x, x = 0;
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  for (int i = 0; i < 8; ++i) {
    if (t < 32) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[i & 1][t], p + i * 32 + t, 4, pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      x += s[i & 1][63 - t];
      pipe.consumer_release();
    }
  }
  o[t] = x;
}
CASE(pipeline_roles_ok) { k_pipeline_roles<<<1, 64>>>(device<int>(512), device<int>(64)); }
__global__ void k_cg_async(const int* p, int* o) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, p, 256);
  cg::wait(block);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(cg_async_ok) { k_cg_async<<<1, 64>>>(device<int>(64), device<int>(64)); }
__global__ void k_barrier_async(const int* p, int* o) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  cuda::memcpy_async(&s[t], p + t, 4, bar);
  bar.arrive_and_wait();
  o[t] = s[63 - t];
}
CASE(barrier_async_ok) { k_barrier_async<<<1, 64>>>(device<int>(64), device<int>(64)); }
// the barrier used again by others after all have gone through it
__global__ void k_reuse(int* o) {
  extern __shared__ __align__(16) char raw[];
  int t = threadIdx.x;
  int* a = (int*)raw;
  a[t] = t;
  __syncthreads();
  int x = a[63 - t];
  __syncthreads();
  float* f = (float*)raw;
  f[63 - t] = x;
  __syncthreads();
  o[t] = (int)f[t];
}
CASE(reuse_ok) { k_reuse<<<1, 64, 256>>>(device<int>(64)); }
// shuffles of part of a warp, coalesced groups, ragged blocks
__global__ void k_ragged(int* o, int n) {
  int t = threadIdx.x;
  unsigned m = __ballot_sync(__activemask(), t < n);
  if (t < n) {
    int v = t;
    for (int d = 16; d > 0; d /= 2) {
      int lane = t & 31, from = lane + d;
      bool has = from < 32 && (m >> from & 1);
      int w = __shfl_sync(m, v, has ? from : lane);
      if (has) v += w;
    }
    o[t] = v;
    auto g = cg::coalesced_threads();
    o[t] += cg::reduce(g, 1, cg::plus<int>());
  }
}
CASE(ragged_ok) { k_ragged<<<1, 50>>>(device<int>(64), 64); }
__global__ void k_exit(int* o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t >= n) return;
  o[t] = s[t];
}
CASE(exit_ok) { k_exit<<<1, 64>>>(device<int>(64), 40); }
__global__ void k_named_pair(int* o) {
  __shared__ int s[2][32];
  int t = threadIdx.x, w = t / 32;
  for (int i = 0; i < 4; ++i) {
    if (w == 0) {
      if (i >= 2) asm volatile("bar.sync %0, 64;" ::"r"(3 + (i & 1)) : "memory");
      s[i & 1][t] = t + i;
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + (i & 1)) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + (i & 1)) : "memory");
      o[t] = s[i & 1][63 - t];
      if (i < 2) asm volatile("bar.arrive %0, 64;" ::"r"(3 + (i & 1)) : "memory");
    }
  }
}
CASE(named_pair_ok) { k_named_pair<<<1, 64>>>(device<int>(64)); }
__global__ void k_arrive_token(int* o) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    s[t] = t;
    auto tok = bar.arrive();
    int y = t * i;
    bar.wait(std::move(tok));
    o[t] = s[63 - t] + y;
    bar.arrive_and_wait();
  }
}
CASE(arrive_token_ok) { k_arrive_token<<<1, 64>>>(device<int>(64)); }
__global__ void k_drop(int* o) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = t;
  if (t >= 32) {
    bar.arrive_and_drop();
    return;
  }
  for (int i = 0; i < 3; ++i) bar.arrive_and_wait();
  o[t] = s[63 - t];
}
CASE(drop_ok) { k_drop<<<1, 64>>>(device<int>(64)); }
__global__ void k_blockreduce(int* o) {
  using R = cub::BlockReduce<int, 128>;
  __shared__ typename R::TempStorage tmp;
  int x = R(tmp).Sum(threadIdx.x);
  if (threadIdx.x == 0) o[0] = x;
  __syncthreads();
  x = R(tmp).Reduce(threadIdx.x, [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x == 0) o[1] = x;
}
CASE(blockreduce_ok) { k_blockreduce<<<1, 128>>>(device<int>(2)); }
__global__ void __cluster_dims__(2) k_cluster_hist(int* o) {
  __shared__ int h[32];
  auto c = cg::this_cluster();
  int t = threadIdx.x;
  h[t] = 0;
  c.sync();
  atomicAdd(c.map_shared_rank(h, t & 1) + (t * 5 & 31), 1);
  c.sync();
  o[blockIdx.x * 32 + t] = h[t];
}
CASE(cluster_hist_ok) { k_cluster_hist<<<2, 32>>>(device<int>(64)); }
