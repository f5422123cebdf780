// Products by wgmma: shared memory that it reads before it is written, waited for or fenced, or that is
// overwritten before the product has read it (_bad), and the same done right (_ok).
#include <cuda/ptx>
#include "cases.hpp"
namespace ptx = cuda::ptx;
using Mbarrier = uint64_t;

/// Halves of A (64 x 16) and of B (16 x 8), in core matrices of eight rows of 16 bytes: `words` of each K
/// half follow each other.
constexpr int a_words = 64 * 16 / 2, b_words = 16 * 8 / 2;

__device__ unsigned offset_of(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }
__device__ uint64_t matrix(const void* shared, int words) {
  return offset_of(shared) >> 4 | uint64_t(words * 4 / 2 >> 4) << 16 | uint64_t{128 >> 4} << 32;
}
#define PRODUCT(d, a, b)                                                                                    \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                             \
               : "l"(matrix(a, a_words)), "l"(matrix(b, b_words))                                           \
               : "memory")
__device__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int STILL>
__device__ void wait(float (&d)[4]) {
  asm volatile("wgmma.wait_group.sync.aligned %4;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "n"(STILL)
               : "memory");
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void put(float* out, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}
__device__ void wait_for(Mbarrier* object, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(object, parity)) {
  }
}
__device__ void expect(Mbarrier* object, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, object, bytes);
}
#define LOAD(to, from, object) \
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, sizeof to, object)
constexpr int in_words = 4 * a_words;

// Written by the threads themselves: that takes a proxy fence of each, and then a barrier.
enum class Fence { none, all, one, after };
template <Fence FENCE, bool BARRIER>
__global__ void k_written(float* out) {
  __shared__ alignas(128) int a[a_words], b[b_words];
  const int t = threadIdx.x;
  for (int i = t; i < a_words; i += 128) a[i] = i;  // BUG unfenced,one_fences,unordered race
  if (t < b_words) b[t] = t;                        // BUG unfenced,one_fences,unordered race
  if (FENCE == Fence::all || (FENCE == Fence::one && t == 0)) proxy_fence();
  if (BARRIER) __syncthreads();
  if (FENCE == Fence::after) proxy_fence();
  float d[4] = {};
  begin();
  // One warp runs ahead of what the others write.
  PRODUCT(d, a, b);  // BUG unfenced,one_fences,unordered race|uninitialised-read
  commit();
  wait<0>(d);
  put(out, d);
}
CASE(unfenced_bad) { k_written<Fence::none, true><<<1, 128>>>(device<float>(512)); }
CASE(one_fences_bad) { k_written<Fence::one, true><<<1, 128>>>(device<float>(512)); }
CASE(unordered_bad) { k_written<Fence::all, false><<<1, 128>>>(device<float>(512)); }
CASE(written_ok) { k_written<Fence::all, true><<<1, 128>>>(device<float>(512)); }
CASE(fenced_after_ok) { k_written<Fence::after, true><<<1, 128>>>(device<float>(512)); }

// Copied by the threads: each waits for its own copies, which tells the other warps nothing.
template <bool BARRIER, bool FENCE>
__global__ void k_copied(const int* in, float* out) {
  __shared__ alignas(128) int a[a_words], b[b_words];
  const int t = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(offset_of(a + 4 * t)),
               "l"(in + 4 * t));  // BUG copied,copied_unfenced race
  if (t < b_words) b[t] = t;      // BUG copied,copied_unfenced race
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (FENCE) proxy_fence();
  if (BARRIER) __syncthreads();
  float d[4] = {};
  begin();
  PRODUCT(d, a, b);  // BUG copied,copied_unfenced race|uninitialised-read
  commit();
  wait<0>(d);
  put(out, d);
}
CASE(copied_bad) { k_copied<false, true><<<1, 128>>>(device<int>(in_words), device<float>(512)); }
CASE(copied_unfenced_bad) { k_copied<true, false><<<1, 128>>>(device<int>(in_words), device<float>(512)); }
CASE(copied_ok) { k_copied<true, true><<<1, 128>>>(device<int>(in_words), device<float>(512)); }

// Overwritten while a product may still read it: a barrier does not wait for products. Or nobody waits at
// all.
enum class Wait { first, late, never };
template <Wait WAIT, bool OVERWRITES>
__global__ void k_reused(float* out) {
  __shared__ alignas(128) int a[a_words], b[b_words];
  const int t = threadIdx.x;
  for (int i = t; i < a_words; i += 128) a[i] = i;
  if (t < b_words) b[t] = t;
  proxy_fence();
  __syncthreads();
  float d[4] = {};
  begin();
  PRODUCT(d, a, b);  // BUG reused,abandoned race
  commit();
  if (WAIT == Wait::first) wait<0>(d);
  if (OVERWRITES) {
    __syncthreads();
    b[t % b_words] = 1;  // BUG reused race
  }
  if (WAIT == Wait::late) wait<0>(d);
  put(out, d);
}
CASE(reused_bad) { k_reused<Wait::late, true><<<1, 128>>>(device<float>(512)); }
CASE(reused_ok) { k_reused<Wait::first, true><<<1, 128>>>(device<float>(512)); }
CASE(abandoned_bad) { k_reused<Wait::never, false><<<1, 128>>>(device<float>(512)); }
CASE(abandoned_ok) { k_reused<Wait::first, false><<<1, 128>>>(device<float>(512)); }

// Of two groups of products the first one alone is waited for.
template <int WHICH>
__global__ void k_groups(float* out) {
  __shared__ alignas(128) int a[2][a_words], b[b_words];
  const int t = threadIdx.x;
  for (int i = t; i < 2 * a_words; i += 128) a[0][i] = i;
  if (t < b_words) b[t] = t;
  proxy_fence();
  __syncthreads();
  float d[4] = {}, e[4] = {};
  begin();
  PRODUCT(d, a[0], b);
  commit();
  PRODUCT(e, a[1], b);  // BUG groups race
  commit();
  wait<1>(d);
  __syncthreads();
  a[WHICH][t] = 1;  // BUG groups race
  wait<0>(e);
  put(out, e);
}
CASE(groups_bad) { k_groups<1><<<1, 128>>>(device<float>(512)); }
CASE(groups_ok) { k_groups<0><<<1, 128>>>(device<float>(512)); }

// A warp of its own loads one stage again and again; the others give it back when their product has read it.
enum class Give { early, late };
template <Give GIVE, bool ALL>
__global__ void k_ring(const int* in, float* out) {
  __shared__ alignas(128) int a[a_words];
  __shared__ alignas(128) int b[b_words];
  __shared__ Mbarrier full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, 1);
  }
  __syncthreads();
  if (t >= 128) {
    for (int round = 0; t == 128 && round < 3; ++round) {
      if (round > 0) wait_for(&empty, (round - 1) % 2);
      expect(&full, sizeof a + sizeof b);
      LOAD(a, in, &full);  // BUG given_early,one_warp_waits race
      LOAD(b, in, &full);  // BUG given_early,one_warp_waits race
    }
    return;
  }
  float d[4] = {};
  for (int round = 0; round < 3; ++round) {
    if (ALL || t < 32) wait_for(&full, round % 2);
    begin();
    PRODUCT(d, a, b);  // BUG given_early,one_warp_waits race|uninitialised-read
    commit();
    if (GIVE == Give::early && t == 0) ptx::mbarrier_arrive(&empty);
    wait<0>(d);
    if (GIVE == Give::late && t == 0) ptx::mbarrier_arrive(&empty);
  }
  put(out, d);
}
CASE(given_early_bad) { k_ring<Give::early, true><<<1, 160>>>(device<int>(in_words), device<float>(512)); }
CASE(one_warp_waits_bad) { k_ring<Give::late, false><<<1, 160>>>(device<int>(in_words), device<float>(512)); }
CASE(ring_ok) { k_ring<Give::late, true><<<1, 160>>>(device<int>(in_words), device<float>(512)); }

// Two groups of four warps read the same B; each says when it has.
template <bool BOTH>
__global__ void k_two_readers(const int* in, float* out) {
  __shared__ alignas(128) int a[2][a_words];
  __shared__ alignas(128) int b[b_words];
  __shared__ Mbarrier full, empty;
  const int t = threadIdx.x, group = t / 128;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, BOTH ? 2 : 1);
  }
  for (int i = t; i < 2 * a_words; i += blockDim.x) a[0][i] = i;
  proxy_fence();
  __syncthreads();
  if (t >= 256) {
    for (int round = 0; t == 256 && round < 2; ++round) {
      if (round > 0) wait_for(&empty, (round - 1) % 2);
      expect(&full, sizeof b);
      LOAD(b, in, &full);  // BUG two_readers race
    }
    return;
  }
  float d[4] = {};
  for (int round = 0; round < 2; ++round) {
    wait_for(&full, round % 2);
    begin();
    PRODUCT(d, a[group], b);  // BUG two_readers race
    commit();
    wait<0>(d);
    if (t % 128 == 0 && (BOTH || group == 0)) ptx::mbarrier_arrive(&empty);
  }
  put(out, d);
}
CASE(two_readers_bad) { k_two_readers<false><<<1, 288>>>(device<int>(in_words), device<float>(1024)); }
CASE(two_readers_ok) { k_two_readers<true><<<1, 288>>>(device<int>(in_words), device<float>(1024)); }

// Part of B has never been written.
template <bool WHOLE>
__global__ void k_unwritten(float* out) {
  __shared__ alignas(128) int a[a_words], b[b_words];
  const int t = threadIdx.x;
  for (int i = t; i < a_words; i += 128) a[i] = i;
  if (t < (WHOLE ? b_words : b_words / 2)) b[t] = t;
  proxy_fence();
  __syncthreads();
  float d[4] = {};
  begin();
  PRODUCT(d, a, b);  // BUG unwritten uninitialised-read
  commit();
  wait<0>(d);
  put(out, d);
}
CASE(unwritten_bad) { k_unwritten<false><<<1, 128>>>(device<float>(512)); }
CASE(unwritten_ok) { k_unwritten<true><<<1, 128>>>(device<float>(512)); }
