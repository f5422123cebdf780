// Shared memory of other blocks of a cluster: what nothing orders there (_bad), and what is in order (_ok).
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include "cases.hpp"
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
using Mbarrier = uint64_t;

/// The same place in the memory of block `rank`, for instructions on shared::cluster.
template <class T>
__device__ T* in_block(T* shared, unsigned rank) {
  return cg::this_cluster().map_shared_rank(shared, rank);
}
__device__ void wait_for(Mbarrier* object, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, object, parity)) {
  }
}
/// One arrival at the mbarrier of another block. (A macro, so that the place is its user's line.)
#define ARRIVE_IN_BLOCK(object, rank) \
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, in_block(object, rank))

// Each block reads what its neighbour has written.
template <bool OK>
__global__ void __cluster_dims__(2) k_read(int* o) {
  __shared__ int s[64];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  c.sync();
  s[t] = t;  // BUG read race
  if (OK)
    c.sync();
  else
    __syncthreads();
  o[blockIdx.x * 64 + t] = in_block(s, c.block_rank() ^ 1)[63 - t];  // BUG read race|uninitialised-read
  c.sync();
}
CASE(read_bad) { k_read<false><<<2, 64>>>(device<int>(128)); }
CASE(read_ok) { k_read<true><<<4, 64>>>(device<int>(256)); }

// … and overwrites it while the neighbour may still read.
template <bool OK>
__global__ void __cluster_dims__(2) k_overwrite(int* o) {
  __shared__ int s[64];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  s[t] = t;
  c.sync();
  int x = in_block(s, c.block_rank() ^ 1)[63 - t];  // BUG overwrite race
  if (OK)
    c.sync();
  else
    __syncthreads();
  s[t] = x;  // BUG overwrite race
  c.sync();
  o[blockIdx.x * 64 + t] = s[t];
}
CASE(overwrite_bad) { k_overwrite<false><<<2, 64>>>(device<int>(128)); }
CASE(overwrite_ok) { k_overwrite<true><<<2, 64>>>(device<int>(128)); }

// All blocks store to one place of the first.
template <bool OK>
__global__ void __cluster_dims__(4) k_one_place(int* o) {
  __shared__ int s[64];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  c.sync();
  in_block(s, 0)[OK ? c.block_rank() * 16 + t : t] = t + c.block_rank();  // BUG one_place race
  c.sync();
  if (c.block_rank() == 0) o[t] = s[t];
}
CASE(one_place_bad) { k_one_place<false><<<4, 16>>>(device<int>(64)); }
CASE(one_place_ok) { k_one_place<true><<<4, 16>>>(device<int>(64)); }

// A histogram over the cluster: bins are cleared by their block, counted by all.
template <bool OK>
__global__ void __cluster_dims__(2) k_bins(int* o) {
  __shared__ int h[32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (!OK) c.sync();
  h[t] = 0;  // BUG bins race
  if (OK) c.sync();
  atomicAdd(in_block(h, t & 1) + (t * 5 & 31), 1);  // BUG bins race|uninitialised-read
  c.sync();
  o[blockIdx.x * 32 + t] = h[t];
}
CASE(bins_bad) { k_bins<false><<<2, 32>>>(device<int>(64)); }
CASE(bins_ok) { k_bins<true><<<2, 32>>>(device<int>(64)); }

// Between arrival and wait at the cluster's barrier: what is written before the arrival is told, the rest is
// not.
template <bool OK>
__global__ void __cluster_dims__(2) k_split(int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  c.sync();
  if (OK) s[t] = t;
  auto token = c.barrier_arrive();
  if (!OK) s[t] = t;  // BUG split race
  c.barrier_wait(std::move(token));
  o[blockIdx.x * 32 + t] = in_block(s, c.block_rank() ^ 1)[31 - t];  // BUG split race|uninitialised-read
  c.sync();
}
CASE(split_bad) { k_split<false><<<2, 32>>>(device<int>(64)); }
CASE(split_ok) { k_split<true><<<2, 32>>>(device<int>(64)); }

// An arrival that orders nothing.
template <bool OK>
__global__ void __cluster_dims__(2) k_relaxed(int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  c.sync();
  s[t] = t;  // BUG relaxed race
  if (OK)
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  o[blockIdx.x * 32 + t] = in_block(s, c.block_rank() ^ 1)[31 - t];  // BUG relaxed race|uninitialised-read
  c.sync();
}
CASE(relaxed_bad) { k_relaxed<false><<<2, 32>>>(device<int>(64)); }
CASE(relaxed_ok) { k_relaxed<true><<<2, 32>>>(device<int>(64)); }

// A block that ends while its neighbour reads from it.
template <bool OK>
__global__ void __cluster_dims__(2) k_end(int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  s[t] = t;
  c.sync();
  if (c.block_rank() == 1) o[t] = in_block(s, 0)[31 - t];  // BUG end race|out-of-bounds
  if (OK) c.sync();
}
CASE(end_bad) { k_end<false><<<2, 32>>>(device<int>(32)); }
CASE(end_ok) { k_end<true><<<2, 32>>>(device<int>(32)); }

// The first access comes before the other block is known to run. To know it takes a barrier, but no order.
template <bool OK>
__global__ void __cluster_dims__(2) k_begin(int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (OK) asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
  in_block(s, c.block_rank() ^ 1)[t] = t;  // BUG begin race
  c.sync();
  o[blockIdx.x * 32 + t] = s[t];
}
CASE(begin_bad) { k_begin<false><<<2, 32>>>(device<int>(64)); }
CASE(begin_ok) { k_begin<true><<<2, 32>>>(device<int>(64)); }

// Block 0 writes into block 1, which waits at its mbarrier, reads and says so at an mbarrier of block 0.
// TAIL: block 0 waits for the last arrival there before it ends.
template <bool FULL, bool EMPTY, bool TAIL>
__global__ void __cluster_dims__(2) k_remote(int* o) {
  __shared__ int s[32];
  __shared__ Mbarrier full, full_again, empty, empty_again;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0)
    for (Mbarrier* object : {&full, &full_again, &empty, &empty_again}) ptx::mbarrier_init(object, 32);
  c.sync();
  if (c.block_rank() == 0) {
    in_block(s, 1)[t] = t;  // BUG remote_full race
    ARRIVE_IN_BLOCK(&full, 1);
    if (EMPTY) wait_for(&empty, 0);
    in_block(s, 1)[t] = 2 * t;  // BUG remote_empty race
    ARRIVE_IN_BLOCK(&full_again, 1);
    if (TAIL) wait_for(&empty_again, 0);
  } else {
    if (FULL) wait_for(&full, 0);
    int x = s[31 - t];  // BUG remote_full,remote_empty race|uninitialised-read
    ARRIVE_IN_BLOCK(&empty, 0);
    wait_for(&full_again, 0);
    o[t] = x + s[31 - t];
    ARRIVE_IN_BLOCK(&empty_again, 0);  // BUG remote_tail race|out-of-bounds
  }
}
CASE(remote_full_bad) { k_remote<false, true, true><<<2, 32>>>(device<int>(32)); }
CASE(remote_empty_bad) { k_remote<true, false, true><<<2, 32>>>(device<int>(32)); }
CASE(remote_tail_bad) { k_remote<true, true, false><<<2, 32>>>(device<int>(32)); }
CASE(remote_ok) { k_remote<true, true, true><<<2, 32>>>(device<int>(32)); }

// st.async: values that an mbarrier of the other block waits for.
template <bool OK>
__global__ void __cluster_dims__(2) k_st_async(int* o) {
  __shared__ __align__(16) int s[32];
  __shared__ Mbarrier full;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &full, sizeof s);
  }
  c.sync();
  int* to = in_block(s, c.block_rank() ^ 1) + t;
  ptx::st_async(to, t, in_block(&full, c.block_rank() ^ 1));  // BUG st_async race
  if (OK) wait_for(&full, 0);
  o[blockIdx.x * 32 + t] = s[31 - t];  // BUG st_async race|uninitialised-read
  c.sync();
}
CASE(st_async_bad) { k_st_async<false><<<2, 32>>>(device<int>(64)); }
CASE(st_async_ok) { k_st_async<true><<<2, 32>>>(device<int>(64)); }

#define COPY(to, from, bytes, object) \
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, to, from, bytes, object)
// A bulk copy from shared to shared memory: its source is written again before anybody has waited for it.
template <bool OK>
__global__ void __cluster_dims__(2) k_between(int* o) {
  __shared__ __align__(16) int from[32], to[32];
  __shared__ Mbarrier full;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  const unsigned other = c.block_rank() ^ 1;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &full, sizeof to);
  }
  from[t] = t;
  ptx::fence_proxy_async(ptx::space_shared);
  c.sync();
  if (t == 0) COPY(in_block(to, other), from, sizeof to, in_block(&full, other));  // BUG between race
  wait_for(&full, 0);
  if (OK) c.sync();
  from[t] = 2 * t;  // BUG between race
  o[blockIdx.x * 32 + t] = to[31 - t];
  c.sync();
}
CASE(between_bad) { k_between<false><<<2, 32>>>(device<int>(64)); }
CASE(between_ok) { k_between<true><<<2, 32>>>(device<int>(64)); }

// cuda::barrier of another block.
template <bool OK>
__global__ void __cluster_dims__(2) k_barrier(int* o) {
  __shared__ int s[32];
  __shared__ Barrier bar;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) init(&bar, 32);
  c.sync();
  if (c.block_rank() == 0) {
    in_block(s, 1)[t] = t;  // BUG barrier race
    if (OK) ARRIVE_IN_BLOCK(cuda::device::barrier_native_handle(bar), 1);
  } else {
    if (OK) wait_for(cuda::device::barrier_native_handle(bar), 0);
    o[t] = s[31 - t];  // BUG barrier race|uninitialised-read
  }
  c.sync();
}
CASE(barrier_bad) { k_barrier<false><<<2, 32>>>(device<int>(32)); }
CASE(barrier_ok) { k_barrier<true><<<2, 32>>>(device<int>(32)); }

// Barriers of one block order nothing for the other one, but go on doing so for its own threads.
__global__ void __cluster_dims__(2) k_own_barriers(int* o) {
  __shared__ int s[64], sum;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) sum = 0;
  c.sync();
  for (int round = 0; round < 3; ++round) {
    s[t] = t + round;
    __syncthreads();
    int x = s[63 - t];
    __syncthreads();
    s[t] = x;
    __syncthreads();
    if (t % 32 == 0) atomicAdd(in_block(&sum, round & 1), s[t + 1]);
    __syncthreads();
  }
  c.sync();
  o[blockIdx.x * 64 + t] = sum;
}
CASE(own_barriers_ok) { k_own_barriers<<<4, 64>>>(device<int>(256)); }

// Barriers go on without threads that have ended, whose stores are done.
__global__ void __cluster_dims__(2) k_some_end(int* o) {
  __shared__ int s[64];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  s[t] = t;
  if (t >= 32) return;
  __syncthreads();
  o += 32 * blockIdx.x;
  o[t] = s[63 - t];
  c.sync();
  o[t] += in_block(s, c.block_rank() ^ 1)[63 - t];
  c.sync();
}
CASE(some_end_ok) { k_some_end<<<2, 64>>>(device<int>(64)); }

// A flag in another block's memory, and one in global memory, with release and acquire.
template <bool OK, bool GLOBAL>
__global__ void __cluster_dims__(2) k_flag(int* g, int* o) {
  __shared__ int data, flag;
  auto c = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  c.sync();
  cuda::atomic_ref<int, cuda::thread_scope_device> f(GLOBAL ? *g : *in_block(&flag, 1));
  constexpr auto release = OK ? cuda::memory_order_release : cuda::memory_order_relaxed;
  if (threadIdx.x == 0 && c.block_rank() == 0) {
    *in_block(&data, 1) = 7;  // BUG flag_shared,flag_global race
    f.store(1, release);
  }
  if (threadIdx.x == 0 && c.block_rank() == 1) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    *o = data;  // BUG flag_shared,flag_global race
  }
  c.sync();
}
CASE(flag_shared_bad) { k_flag<false, false><<<2, 32>>>(device<int>(1), device<int>(1)); }
CASE(flag_shared_ok) { k_flag<true, false><<<2, 32>>>(device<int>(1), device<int>(1)); }
CASE(flag_global_bad) { k_flag<false, true><<<2, 32>>>(device<int>(1), device<int>(1)); }
CASE(flag_global_ok) { k_flag<true, true><<<2, 32>>>(device<int>(1), device<int>(1)); }

// A reduction over the cluster, and one whose parts are added by the block that owns the rows (split-K).
__global__ void __cluster_dims__(4) k_reduce(const float* p, float* o) {
  __shared__ float parts[4], warp[4];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  float x = p[blockIdx.x * 128 + t];
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  if (t % 32 == 0) warp[t / 32] = x;
  c.sync();
  if (t == 0) in_block(parts, 0)[c.block_rank()] = warp[0] + warp[1] + warp[2] + warp[3];
  c.sync();
  if (c.block_rank() == 0 && t == 0) o[blockIdx.x / 4] = parts[0] + parts[1] + parts[2] + parts[3];
}
CASE(reduce_ok) { k_reduce<<<8, 128>>>(device<float>(1024), device<float>(2)); }
__global__ void __cluster_dims__(4) k_split_k(const float* p, float* o) {
  __shared__ float tile[4][32];
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  for (int row = 0; row < 4; ++row) tile[row][t] = p[(c.block_rank() * 4 + row) * 32 + t];
  c.sync();
  float sum = 0;
  for (int b = 0; b < 4; ++b) sum += in_block(&tile[c.block_rank()][t], b)[0];
  o[c.block_rank() * 32 + t] = sum;
  c.sync();
}
CASE(split_k_ok) { k_split_k<<<4, 32>>>(device<float>(512), device<float>(128)); }
