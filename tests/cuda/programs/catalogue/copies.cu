// Bulk copies: shared memory that is read, written or given up before they are done (_bad), and what waits as
// it must (_ok).
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include "cases.hpp"
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Mbarrier = uint64_t;

__device__ void wait_for(Mbarrier* object, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(object, parity)) {
  }
}
__device__ unsigned offset_of(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }
__device__ void arrive(Mbarrier* object) { ptx::mbarrier_arrive(object); }
/// One arrival that announces the bytes of a copy.
__device__ void expect(Mbarrier* object, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, object, bytes);
}
#define LOAD(to, from, bytes, object) \
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, object)
#define STORE(to, from, bytes) ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, from, bytes)

// A load, read without a wait; with a wait by one thread alone, which tells nobody.
template <bool WAIT, bool ALL>
__global__ void k_load(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&full, 1);
  __syncthreads();
  if (t == 0) {
    expect(&full, sizeof s);
    LOAD(s, p, sizeof s, &full);  // BUG load_no_wait,load_one_waits race
  }
  if (WAIT && (ALL || t == 0)) wait_for(&full, 0);
  o[t] = s[63 - t];  // BUG load_no_wait,load_one_waits race|uninitialised-read
  __syncthreads();
  wait_for(&full, 0);
}
CASE(load_no_wait_bad) { k_load<false, false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(load_one_waits_bad) { k_load<true, false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(load_ok) { k_load<true, true><<<1, 64>>>(device<int>(64), device<int>(64)); }

// A barrier of the block does not wait for copies, but hands on what one thread has waited for.
template <bool OK>
__global__ void k_load_barrier(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&full, 1);
  __syncthreads();
  if (t == 0) {
    expect(&full, sizeof s);
    LOAD(s, p, sizeof s, &full);  // BUG load_barrier race
    if (OK) wait_for(&full, 0);
  }
  __syncthreads();
  o[t] = s[63 - t];  // BUG load_barrier race
  __syncthreads();
  wait_for(&full, 0);
}
CASE(load_barrier_bad) { k_load_barrier<false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(load_barrier_ok) { k_load_barrier<true><<<1, 64>>>(device<int>(64), device<int>(64)); }

// Two stages, and the wait is for the other one.
template <bool OK>
__global__ void k_wrong_stage(const int* p, int* o) {
  __shared__ __align__(128) int s[2][64];
  __shared__ Mbarrier full[2];
  const int t = threadIdx.x;
  if (t < 2) ptx::mbarrier_init(&full[t], 1);
  __syncthreads();
  if (t == 0)
    for (int i = 0; i < 2; ++i) {
      expect(&full[i], sizeof s[i]);
      LOAD(s[i], p + 64 * i, sizeof s[i], &full[i]);  // BUG wrong_stage race
    }
  wait_for(&full[OK ? 0 : 1], 0);
  o[t] = s[0][63 - t];  // BUG wrong_stage race
  __syncthreads();
  wait_for(&full[0], 0);
  wait_for(&full[1], 0);
}
CASE(wrong_stage_bad) { k_wrong_stage<false><<<1, 64>>>(device<int>(128), device<int>(64)); }
CASE(wrong_stage_ok) { k_wrong_stage<true><<<1, 64>>>(device<int>(128), device<int>(64)); }

// The next load into a buffer that others still read.
template <int SAFE>
__global__ void k_reuse(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full[2], empty;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], 1);
    ptx::mbarrier_init(&empty, 64);
  }
  __syncthreads();
  if (t == 0) {
    expect(&full[0], sizeof s);
    LOAD(s, p, sizeof s, &full[0]);
  }
  wait_for(&full[0], 0);
  int x = s[63 - t];  // BUG reuse race
  arrive(&empty);
  if (SAFE == 1) __syncthreads();
  if (t == 0) {
    if (SAFE == 2) wait_for(&empty, 0);
    expect(&full[1], sizeof s);
    LOAD(s, p + 64, sizeof s, &full[1]);  // BUG reuse race
  }
  wait_for(&full[1], 0);
  o[t] = x + s[t];
}
CASE(reuse_bad) { k_reuse<0><<<1, 64>>>(device<int>(128), device<int>(64)); }
CASE(reuse_barrier_ok) { k_reuse<1><<<1, 64>>>(device<int>(128), device<int>(64)); }
CASE(reuse_mbarrier_ok) { k_reuse<2><<<1, 64>>>(device<int>(128), device<int>(64)); }

// Two loads to one place at a time.
template <bool OK>
__global__ void k_twice(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full[2];
  const int t = threadIdx.x;
  if (t < 2) ptx::mbarrier_init(&full[t], 1);
  __syncthreads();
  if (t == 0) {
    expect(&full[0], sizeof s);
    LOAD(s, p, sizeof s, &full[0]);  // BUG twice race
    if (OK) wait_for(&full[0], 0);
    expect(&full[1], sizeof s);
    LOAD(s, p + 64, sizeof s, &full[1]);  // BUG twice race
  }
  wait_for(&full[0], 0);
  wait_for(&full[1], 0);
  o[t] = s[t];
}
CASE(twice_bad) { k_twice<false><<<1, 64>>>(device<int>(128), device<int>(64)); }
CASE(twice_ok) { k_twice<true><<<1, 64>>>(device<int>(128), device<int>(64)); }

// A ring of buffers between a producing warp and consuming ones, whose slots are given back or are not.
template <bool OK>
__global__ void k_ring(const int* p, int* o) {
  constexpr int slots = 2, rounds = 6;
  __shared__ __align__(128) int s[slots][64];
  __shared__ Mbarrier full[slots], empty[slots];
  const int t = threadIdx.x;
  if (t < slots) {
    ptx::mbarrier_init(&full[t], 1);
    ptx::mbarrier_init(&empty[t], 64);
  }
  __syncthreads();
  if (t >= 64) {
    if (t == 64)
      for (int i = 0; i < rounds; ++i) {
        const int slot = i % slots;
        if (i >= slots) wait_for(&empty[slot], (i / slots - 1) & 1);
        expect(&full[slot], sizeof s[slot]);
        LOAD(s[slot], p + 64 * i, sizeof s[slot], &full[slot]);  // BUG ring race
      }
  } else {
    int x = 0;
    for (int i = 0; i < rounds; ++i) {
      const int slot = i % slots;
      wait_for(&full[slot], i / slots & 1);
      if (!OK) arrive(&empty[slot]);
      x += s[slot][63 - t];  // BUG ring race
      if (OK) arrive(&empty[slot]);
    }
    o[t] = x;
  }
}
CASE(ring_bad) { k_ring<false><<<1, 96>>>(device<int>(384), device<int>(64)); }
CASE(ring_ok) { k_ring<true><<<1, 96>>>(device<int>(384), device<int>(64)); }

// A store: the source is written without a proxy fence, before the fence, or while the copy still reads it.
template <bool FENCE, bool BEFORE, bool WAIT>
__global__ void k_store(int* o) {
  __shared__ __align__(128) int s[64];
  const int t = threadIdx.x;
  if (FENCE && BEFORE) ptx::fence_proxy_async(ptx::space_shared);
  s[t] = t;  // BUG store_no_fence,store_fence_too_soon race
  if (FENCE && !BEFORE) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    STORE(o, s, sizeof s);  // BUG store_no_fence,store_fence_too_soon,store_no_wait race
    ptx::cp_async_bulk_commit_group();
    if (WAIT) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  s[t] = 2 * t;  // BUG store_no_wait race
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
CASE(store_no_fence_bad) { k_store<false, false, true><<<1, 64>>>(device<int>(64)); }
CASE(store_fence_too_soon_bad) { k_store<true, true, true><<<1, 64>>>(device<int>(64)); }
CASE(store_no_wait_bad) { k_store<true, false, false><<<1, 64>>>(device<int>(64)); }
CASE(store_ok) { k_store<true, false, true><<<1, 64>>>(device<int>(64)); }

// The fence of the thread that begins the copy serves all, if it comes after the barrier.
template <bool OK>
__global__ void k_one_fence(int* o) {
  __shared__ __align__(128) int s[64];
  const int t = threadIdx.x;
  s[t] = t;  // BUG one_fence race
  if (!OK && t == 0) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    if (OK) ptx::fence_proxy_async(ptx::space_shared);
    STORE(o, s, sizeof s);  // BUG one_fence race
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
CASE(one_fence_bad) { k_one_fence<false><<<1, 64>>>(device<int>(64)); }
CASE(one_fence_ok) { k_one_fence<true><<<1, 64>>>(device<int>(64)); }

// Stores in groups: all but the last one are waited for before their buffer is used again.
template <bool OK>
__global__ void k_groups(int* o) {
  __shared__ __align__(128) int s[2][64];
  const int t = threadIdx.x;
  for (int i = 0; i < 6; ++i) {
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t < OK ? 1 : 2 > ());
    __syncthreads();
    s[i & 1][t] = t + i;  // BUG groups race
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      STORE(o + 64 * i, s[i & 1], sizeof s[0]);  // BUG groups race
      ptx::cp_async_bulk_commit_group();
    }
  }
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
CASE(groups_bad) { k_groups<false><<<1, 64>>>(device<int>(384)); }
CASE(groups_ok) { k_groups<true><<<1, 64>>>(device<int>(384)); }

// A group that was never closed is waited for by nobody.
template <bool OK>
__global__ void k_open_group(int* o) {
  __shared__ __align__(128) int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    STORE(o, s, sizeof s);  // BUG open_group race
    if (OK) ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    s[0] = 1;  // BUG open_group race
    if (!OK) ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
CASE(open_group_bad) { k_open_group<false><<<1, 64>>>(device<int>(64)); }
CASE(open_group_ok) { k_open_group<true><<<1, 64>>>(device<int>(64)); }

// A load to where a thread has written itself takes a proxy fence as well.
template <bool OK>
__global__ void k_load_over(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&full, 1);
  s[t] = 0;  // BUG load_over race
  if (OK) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    expect(&full, sizeof s);
    LOAD(s, p, sizeof s, &full);  // BUG load_over race
  }
  wait_for(&full, 0);
  o[t] = s[63 - t];
}
CASE(load_over_bad) { k_load_over<false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(load_over_ok) { k_load_over<true><<<1, 64>>>(device<int>(64), device<int>(64)); }

// The block ends, and its memory is given to another one, while a copy still writes to it.
template <bool OK>
__global__ void k_forgotten(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    expect(&full, sizeof s);
    LOAD(s, p, sizeof s, &full);  // BUG forgotten race
    if (OK) wait_for(&full, 0);
  }
  o[t] = t;
}
CASE(forgotten_bad) { k_forgotten<false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(forgotten_ok) { k_forgotten<true><<<1, 64>>>(device<int>(64), device<int>(64)); }

// A thread that lets an mbarrier wait for its cp.async has not waited itself.
template <bool OK>
__global__ void k_noinc(const int* p, int* o) {
  __shared__ __align__(16) int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  __pipeline_memcpy_async(s + t, p + t, 4);  // BUG noinc race
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                   offset_of(cuda::device::barrier_native_handle(bar)))
               : "memory");
  if (OK) wait_for(cuda::device::barrier_native_handle(bar), 0);
  o[t] = s[63 - t];  // BUG noinc race|uninitialised-read
}
CASE(noinc_bad) { k_noinc<false><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(noinc_ok) { k_noinc<true><<<1, 64>>>(device<int>(64), device<int>(64)); }

// One load for both blocks of a cluster; the second block does not wait.
template <bool OK>
__global__ void __cluster_dims__(2) k_multicast(const int* p, int* o) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    expect(&full, sizeof s);
  }
  c.sync();
  if (t == 0 && c.block_rank() == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(offset_of(s)),
        "l"(p), "r"((unsigned)sizeof s), "r"(offset_of(&full)), "h"((short)3)  // BUG multicast race
        : "memory");
  if (OK || c.block_rank() == 0) wait_for(&full, 0);
  o[blockIdx.x * 64 + t] = s[63 - t];  // BUG multicast race|uninitialised-read
  __syncthreads();
  wait_for(&full, 0);
  c.sync();
}
CASE(multicast_bad) { k_multicast<false><<<2, 64>>>(device<int>(64), device<int>(128)); }
CASE(multicast_ok) { k_multicast<true><<<2, 64>>>(device<int>(64), device<int>(128)); }

// The library's ways of the same.
__global__ void k_memcpy_async_tx(const int* p, int* o) {
  __shared__ __align__(128) int s[2][64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (t == 0) {
      cuda::device::memcpy_async_tx(s[i & 1], p + 64 * i, cuda::aligned_size_t<16>(sizeof s[0]), bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, sizeof s[0]);
    } else {
      token = bar.arrive();
    }
    bar.wait(std::move(token));
    o[64 * i + t] = s[i & 1][63 - t];
  }
}
CASE(memcpy_async_tx_ok) { k_memcpy_async_tx<<<1, 64>>>(device<int>(256), device<int>(256)); }
__global__ void k_in_place(int* p) {
  __shared__ __align__(128) int s[64];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&full, 1);
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (t == 0) {
      expect(&full, sizeof s);
      LOAD(s, p + 64 * i, sizeof s, &full);
    }
    wait_for(&full, i & 1);
    s[t] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      STORE(p + 64 * i, s, sizeof s);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
  }
}
CASE(in_place_ok) { k_in_place<<<1, 64>>>(device<int>(256)); }
// A reduction into global memory, and values of several threads into one place of the cluster's first block.
__global__ void __cluster_dims__(2) k_reduce_async(int* o) {
  __shared__ __align__(128) int s[32], sum[32];
  __shared__ Mbarrier full;
  auto c = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    expect(&full, 2 * sizeof sum);
  }
  s[t] = t;
  ptx::fence_proxy_async(ptx::space_shared);
  sum[t] = 0;
  c.sync();
  ptx::red_async(ptx::op_add, c.map_shared_rank(sum, 0) + t, t, c.map_shared_rank(&full, 0));
  if (c.block_rank() == 0) {
    wait_for(&full, 0);
    o[32 + t] = sum[31 - t];
  }
  if (t == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, o, s, sizeof s);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  c.sync();
}
CASE(reduce_async_ok) { k_reduce_async<<<2, 32>>>(device<int>(64)); }
