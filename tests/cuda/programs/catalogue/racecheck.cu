// Hazards on shared memory, as racecheck finds them: each with the barrier that is missing (_bad) and with it
// (_ok).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include "cases.hpp"
namespace cg = cooperative_groups;
template <bool OK>
__global__ void k_raw(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // BUG raw race
  if (OK) __syncthreads();
  o[t] = s[63 - t];  // BUG raw race|uninitialised-read
}
CASE(raw_bad) { k_raw<false><<<1, 64>>>(device<int>(64)); }
CASE(raw_ok) { k_raw<true><<<1, 64>>>(device<int>(64)); }
template <bool OK>
__global__ void k_war(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int x = s[63 - t];  // BUG war race
  if (OK) __syncthreads();
  s[t] = x + 1;  // BUG war race
  __syncthreads();
  o[t] = s[63 - t];
}
CASE(war_bad) { k_war<false><<<1, 64>>>(device<int>(64)); }
CASE(war_ok) { k_war<true><<<1, 64>>>(device<int>(64)); }
template <bool OK>
__global__ void k_waw(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // BUG waw race
  if (OK) __syncthreads();
  s[63 - t] = 2 * t;  // BUG waw race
  __syncthreads();
  o[t] = s[t];
}
CASE(waw_bad) { k_waw<false><<<1, 64>>>(device<int>(64)); }
CASE(waw_ok) { k_waw<true><<<1, 64>>>(device<int>(64)); }
template <bool OK>
__global__ void k_raw_warp(int* o) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;  // BUG raw_warp race
  if (OK) __syncwarp();
  o[t] = s[31 - t];  // BUG raw_warp race
}
CASE(raw_warp_bad) { k_raw_warp<false><<<1, 32>>>(device<int>(64)); }
CASE(raw_warp_ok) { k_raw_warp<true><<<1, 32>>>(device<int>(64)); }
template <bool OK>
__global__ void k_war_warp(int* o) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  int x = s[31 - t];  // BUG war_warp race
  if (OK) __syncwarp();
  s[t] = x;  // BUG war_warp race
  __syncwarp();
  o[t] = s[31 - t];
}
CASE(war_warp_bad) { k_war_warp<false><<<1, 32>>>(device<int>(64)); }
CASE(war_warp_ok) { k_war_warp<true><<<1, 32>>>(device<int>(64)); }
template <bool OK>
__global__ void k_waw_warp(int* o) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;  // BUG waw_warp race
  if (OK) __syncwarp();
  s[31 - t] = t + 5;  // BUG waw_warp race
  __syncwarp();
  o[t] = s[t];
}
CASE(waw_warp_bad) { k_waw_warp<false><<<1, 32>>>(device<int>(64)); }
CASE(waw_warp_ok) { k_waw_warp<true><<<1, 32>>>(device<int>(64)); }
// histogram: bins are cleared, counted, read
template <bool OK>
__global__ void k_hist(int* o) {
  __shared__ int h[64];
  int t = threadIdx.x;
  h[t] = 0;  // BUG hist race
  if (OK) __syncthreads();
  atomicAdd(&h[(t * 7) & 63], 1);  // BUG hist race|uninitialised-read
  __syncthreads();
  o[t] = h[t];
}
CASE(hist_bad) { k_hist<false><<<1, 64>>>(device<int>(64)); }
CASE(hist_ok) { k_hist<true><<<1, 64>>>(device<int>(64)); }
// vote with ballot and popcount, added without using the result
template <bool OK>
__global__ void k_popc(int* o) {
  __shared__ int n;
  int t = threadIdx.x;
  if (t == 0) n = 0;
  __syncthreads();
  unsigned b = __ballot_sync(0xffffffff, o[t] == 0);
  if (t % 32 == 0) atomicAdd(&n, __popc(b));  // BUG popc race
  if (OK) __syncthreads();
  o[t] = n;  // BUG popc race
}
CASE(popc_bad) { k_popc<false><<<1, 64>>>(device<int>(64)); }
CASE(popc_ok) { k_popc<true><<<1, 64>>>(device<int>(64)); }
// double buffering with a barrier too few
template <bool OK>
__global__ void k_double(int* o) {
  __shared__ int s[2][64];
  int t = threadIdx.x, x = 0;
  s[0][t] = t;
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    if (i < 7) s[OK ? (i + 1) & 1 : 0][t] = t + i;  // BUG double race
    x += s[OK ? i & 1 : 0][63 - t];                 // BUG double race
    __syncthreads();
  }
  o[t] = x;
}
CASE(double_bad) { k_double<false><<<1, 64>>>(device<int>(64)); }
CASE(double_ok) { k_double<true><<<1, 64>>>(device<int>(64)); }
// cp.async
template <int M>
__global__ void k_async(const int* p, int* o) {
  __shared__ __align__(16) int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(s + t, p + t, 4);  // BUG async_no_wait,async_no_sync race
  __pipeline_commit();
  if (M != 0) __pipeline_wait_prior(0);
  if (M != 1) __syncthreads();
  o[t] = s[63 - t];  // BUG async_no_wait,async_no_sync race|uninitialised-read
}
CASE(async_no_wait_bad) { k_async<0><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(async_no_sync_bad) { k_async<1><<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(async_ok) { k_async<2><<<1, 64>>>(device<int>(64), device<int>(64)); }
// double-buffered cp.async
template <bool OK>
__global__ void k_async_double(const int* p, int* o) {
  __shared__ __align__(16) int s[2][64];
  int t = threadIdx.x, x = 0;
  __pipeline_memcpy_async(&s[0][t], p + t, 4);  // BUG async_double race
  __pipeline_commit();
  for (int i = 0; i < 8; ++i) {
    if (i < 7) __pipeline_memcpy_async(&s[(i + 1) & 1][t], p + (i + 1) * 64 + t, 4);  // BUG async_double race
    __pipeline_commit();
    __pipeline_wait_prior(OK ? 1 : 2);
    __syncthreads();
    x += s[i & 1][63 - t];  // BUG async_double race|uninitialised-read
    __syncthreads();
  }
  o[t] = x;
}
CASE(async_double_bad) { k_async_double<false><<<1, 64>>>(device<int>(512), device<int>(64)); }
CASE(async_double_ok) { k_async_double<true><<<1, 64>>>(device<int>(512), device<int>(64)); }
// A named barrier between a producing and a consuming warp; the producer arrives before it has written.
template <bool OK>
__global__ void k_named(int* o) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    if (!OK) asm volatile("bar.arrive 1, 64;" ::: "memory");
    s[t] = t;  // BUG named race
    if (OK) asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    o[t] = s[63 - t];  // BUG named race|uninitialised-read
  }
}
CASE(named_bad) { k_named<false><<<1, 64>>>(device<int>(64)); }
CASE(named_ok) { k_named<true><<<1, 64>>>(device<int>(64)); }
// A producing and a consuming warp with mbarriers: one does not wait for "full", or the other not for
// "empty".
template <bool FULL, bool EMPTY>
__global__ void k_mbarrier(int* o) {
  __shared__ int s[32];
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  __syncthreads();
  if (t < 32) {
    s[t] = t;  // BUG mbarrier_full race
    (void)full.arrive();
    auto token = empty.arrive();
    if (EMPTY) empty.wait(std::move(token));
    s[t] = 2 * t;  // BUG mbarrier_empty race
  } else {
    auto token = full.arrive();
    if (FULL) full.wait(std::move(token));
    o[t] = s[63 - t];  // BUG mbarrier_full,mbarrier_empty race|uninitialised-read
    (void)empty.arrive();
  }
}
CASE(mbarrier_full_bad) { k_mbarrier<false, true><<<1, 64>>>(device<int>(64)); }
CASE(mbarrier_empty_bad) { k_mbarrier<true, false><<<1, 64>>>(device<int>(64)); }
CASE(mbarrier_ok) { k_mbarrier<true, true><<<1, 64>>>(device<int>(64)); }

// A lock by an atomic_ref, without the order that it needs.
template <bool OK>
__global__ void k_lock(int* o) {
  __shared__ int lock, n;
  if (threadIdx.x == 0) lock = n = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_block> l(lock);
    while (l.exchange(1, OK ? cuda::memory_order_acquire : cuda::memory_order_relaxed) != 0) {
    }
    n += 1;  // BUG lock race
    l.store(0, OK ? cuda::memory_order_release : cuda::memory_order_relaxed);
  }
  __syncthreads();
  o[threadIdx.x] = n;
}
CASE(lock_bad) { k_lock<false><<<1, 64>>>(device<int>(64)); }
CASE(lock_ok) { k_lock<true><<<1, 64>>>(device<int>(64)); }
// wmma
template <bool OK>
__global__ void k_wmma(float* o) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) half a[256], b[256];
  __shared__ __align__(32) float c[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) {
    a[i] = __float2half(1.f);  // BUG wmma race
    b[i] = __float2half(2.f);  // BUG wmma race
  }
  if (OK) __syncwarp();
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  load_matrix_sync(fa, a, 16);  // BUG wmma race
  load_matrix_sync(fb, b, 16);  // BUG wmma race
  fill_fragment(fc, 0.f);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);  // BUG wmma race
  if (OK) __syncwarp();
  o[t] = c[t];  // BUG wmma race
}
CASE(wmma_bad) { k_wmma<false><<<1, 32>>>(device<float>(64)); }
CASE(wmma_ok) { k_wmma<true><<<1, 32>>>(device<float>(64)); }
// tiles of cooperative groups
template <bool OK>
__global__ void k_cg(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  s[t] = t;  // BUG cg race
  if (OK)
    cg::this_thread_block().sync();
  else
    tile.sync();
  o[t] = s[63 - t];  // BUG cg race|uninitialised-read
}
CASE(cg_bad) { k_cg<false><<<1, 64>>>(device<int>(64)); }
CASE(cg_ok) { k_cg<true><<<1, 64>>>(device<int>(64)); }
// all-threads scan by doubling, in place without the second barrier
template <bool OK>
__global__ void k_scan(int* o) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = 1;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int x = t >= d ? s[t - d] : 0;  // BUG scan race
    if (OK) __syncthreads();
    s[t] += x;  // BUG scan race
    __syncthreads();
  }
  o[t] = s[t];
}
CASE(scan_bad) { k_scan<false><<<1, 64>>>(device<int>(64)); }
CASE(scan_ok) { k_scan<true><<<1, 64>>>(device<int>(64)); }
