// Barriers, member masks and mbarriers, as synccheck and memcheck find their misuse.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include "cases.hpp"
namespace cg = cooperative_groups;
__global__ void k_div_warp(int* o, int n) {
  if (threadIdx.x % 32 < n) __syncthreads();  // BUG div_warp barrier-divergence
  o[threadIdx.x] = 1;
  __syncthreads();  // BUG div_warp barrier-divergence
  o[threadIdx.x] += 1;
}
CASE(div_warp_bad) { k_div_warp<<<1, 64>>>(device<int>(64), 16); }
CASE(div_warp_ok) { k_div_warp<<<1, 64>>>(device<int>(64), 32); }

__global__ void k_div_else(int* o, int n) {
  if (threadIdx.x < n) {
    o[threadIdx.x] = 1;
    __syncthreads();  // BUG div_else,div_block barrier-divergence
  } else {
    o[threadIdx.x] = 2;
    __syncthreads();  // BUG div_else,div_block barrier-divergence
  }
  o[threadIdx.x] += 1;
}
CASE(div_else_bad) { k_div_else<<<1, 64>>>(device<int>(64), 16); }
CASE(div_block_bad) { k_div_else<<<1, 64>>>(device<int>(64), 32); }
CASE(div_else_ok) { k_div_else<<<1, 64>>>(device<int>(64), 64); }

__global__ void k_exit_early(int* o, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  o[threadIdx.x] = 1;
}
CASE(exit_early_ok) { k_exit_early<<<1, 64>>>(device<int>(64), 64); }
__global__ void k_mask(int* o, unsigned m) {
  if (threadIdx.x < 16) __syncwarp(m);  // BUG mask_syncwarp member-mask
  o[threadIdx.x] = 1;
}
CASE(mask_syncwarp_bad) { k_mask<<<1, 32>>>(device<int>(64), 0xff); }
CASE(mask_syncwarp_ok) { k_mask<<<1, 32>>>(device<int>(64), 0xffff); }
__global__ void k_mask_others(int* o, unsigned m) {
  if (threadIdx.x < 16)
    __syncwarp(m);  // BUG mask_others deadlock
  else
    __syncthreads();  // BUG mask_others deadlock
  o[threadIdx.x] = 1;
}
CASE(mask_others_bad) { k_mask_others<<<1, 32>>>(device<int>(64), 0xffffffff); }
__global__ void k_mask_vote(int* o, unsigned m) {
  o[threadIdx.x] = __any_sync(m, threadIdx.x == 3);  // BUG mask_vote member-mask
}
CASE(mask_vote_bad) { k_mask_vote<<<1, 32>>>(device<int>(64), 0xff); }
CASE(mask_vote_ok) { k_mask_vote<<<1, 32>>>(device<int>(64), 0xffffffff); }
__global__ void k_mask_shfl(int* o, unsigned m) {
  o[threadIdx.x] = __shfl_xor_sync(m, threadIdx.x, 1);  // BUG mask_shfl member-mask|shuffle-source
}
CASE(mask_shfl_bad) { k_mask_shfl<<<1, 32>>>(device<int>(64), 0xfffffffe); }
CASE(mask_shfl_ok) { k_mask_shfl<<<1, 32>>>(device<int>(64), 0xffffffff); }
__global__ void k_mask_match(int* o, unsigned m) {
  o[threadIdx.x] = __match_any_sync(m, threadIdx.x & 3);  // BUG mask_match member-mask
}
CASE(mask_match_bad) { k_mask_match<<<1, 32>>>(device<int>(64), 0x7fffffff); }
CASE(mask_match_ok) { k_mask_match<<<1, 32>>>(device<int>(64), 0xffffffff); }
__global__ void k_mask_redux(int* o, unsigned m) {
  o[threadIdx.x] = __reduce_add_sync(m, threadIdx.x);  // BUG mask_redux member-mask
}
CASE(mask_redux_bad) { k_mask_redux<<<1, 32>>>(device<int>(64), 0x7fffffff); }
CASE(mask_redux_ok) { k_mask_redux<<<1, 32>>>(device<int>(64), 0xffffffff); }
__global__ void k_mask_diff(int* o) {
  unsigned m = threadIdx.x < 16 ? 0xffffu : 0xffffffffu;
  o[threadIdx.x] = __ballot_sync(m, 1);  // BUG mask_diff member-mask|deadlock
}
CASE(mask_diff_bad) { k_mask_diff<<<1, 32>>>(device<int>(64)); }
__global__ void k_shfl_inactive(int* o, int n) {
  int v = threadIdx.x;
  if (threadIdx.x >= n) return;
  o[threadIdx.x] = __shfl_down_sync(0xffffffff, v, 1);  // BUG shfl_ended shuffle-source
}
CASE(shfl_ended_bad) { k_shfl_inactive<<<1, 32>>>(device<int>(64), 20); }
CASE(shfl_ended_ok) { k_shfl_inactive<<<1, 32>>>(device<int>(64), 32); }
__global__ void k_bar_count(int* o, int n) {
  asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");  // BUG bar_count,bar_few barrier-divergence|deadlock
  o[threadIdx.x] = 1;
}
CASE(bar_count_bad) { k_bar_count<<<1, 64>>>(device<int>(64), 48); }
CASE(bar_few_bad) { k_bar_count<<<1, 64>>>(device<int>(64), 96); }
CASE(bar_count_ok) { k_bar_count<<<1, 64>>>(device<int>(64), 64); }
__global__ void k_bar_id(int* o, int id) {
  asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");  // BUG bar_id bad-barrier
  o[threadIdx.x] = 1;
}
CASE(bar_id_bad) { k_bar_id<<<1, 64>>>(device<int>(64), 16); }
CASE(bar_id_ok) { k_bar_id<<<1, 64>>>(device<int>(64), 15); }
#define INIT(b, n)     asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory")
#define ARRIVE(b)      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory")
#define ARRIVE_N(b, n) asm volatile("mbarrier.arrive.shared.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory")
#define WAIT(b, p)                                                                                     \
  asm volatile(                                                                                        \
      "{ .reg .pred q; W%=: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra W%=; }" ::"r"(b), \
      "r"(p)                                                                                           \
      : "memory")
__global__ void k_mb_count(int* o, int n) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) INIT(b, n);  // BUG mb_count bad-barrier
  __syncthreads();
  o[threadIdx.x] = 1;
}
CASE(mb_count_bad) { k_mb_count<<<1, 64>>>(device<int>(64), 0); }
CASE(mb_count_ok) { k_mb_count<<<1, 64>>>(device<int>(64), 64); }
__global__ void k_mb_uninit(int* o, int set) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0 && set) INIT(b, 64);
  __syncthreads();
  ARRIVE(b);   // BUG mb_uninit bad-barrier
  WAIT(b, 0);  // BUG mb_uninit bad-barrier
  o[threadIdx.x] = 1;
}
CASE(mb_uninit_bad) { k_mb_uninit<<<1, 64>>>(device<int>(64), 0); }
CASE(mb_uninit_ok) { k_mb_uninit<<<1, 64>>>(device<int>(64), 1); }
__global__ void k_mb_many(int* o, int n) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) INIT(b, 32);
  __syncthreads();
  if (threadIdx.x == 0) ARRIVE_N(b, n);  // BUG mb_many bad-barrier
  o[threadIdx.x] = 1;
}
CASE(mb_many_bad) { k_mb_many<<<1, 64>>>(device<int>(64), 33); }
CASE(mb_many_ok) { k_mb_many<<<1, 64>>>(device<int>(64), 32); }
__global__ void k_mb_few(int* o, int n) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) INIT(b, n);
  __syncthreads();
  ARRIVE(b);
  WAIT(b, 0);  // BUG mb_few deadlock
  o[threadIdx.x] = 1;
}
CASE(mb_few_bad) { k_mb_few<<<1, 64>>>(device<int>(64), 65); }
CASE(mb_few_ok) { k_mb_few<<<1, 64>>>(device<int>(64), 64); }
__global__ void k_mb_inval(int* o, int early) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) INIT(b, 64);
  __syncthreads();
  if (threadIdx.x == 0 && early) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
  __syncthreads();
  ARRIVE(b);  // BUG mb_inval bad-barrier
  o[threadIdx.x] = 1;
}
CASE(mb_inval_bad) { k_mb_inval<<<1, 64>>>(device<int>(64), 1); }
CASE(mb_inval_ok) { k_mb_inval<<<1, 64>>>(device<int>(64), 0); }
__global__ void k_mb_race(int* o, int sync) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 64);  // BUG mb_race race
  if (sync) __syncthreads();
  bar.arrive_and_wait();  // BUG mb_race race
  o[threadIdx.x] = 1;
}
CASE(mb_race_bad) { k_mb_race<<<1, 64>>>(device<int>(64), 0); }
CASE(mb_race_ok) { k_mb_race<<<1, 64>>>(device<int>(64), 1); }
__global__ void k_mb_misaligned(int* o, int off) {
  __shared__ __align__(8) char raw[32];
  unsigned b = __cvta_generic_to_shared(raw) + off;
  if (threadIdx.x == 0) INIT(b, 64);  // BUG mb_misaligned misaligned
  o[threadIdx.x] = 1;
}
CASE(mb_misaligned_bad) { k_mb_misaligned<<<1, 64>>>(device<int>(64), 4); }
CASE(mb_misaligned_ok) { k_mb_misaligned<<<1, 64>>>(device<int>(64), 8); }
// an mbarrier that ordinary stores overwrite
__global__ void k_mb_over(int* o, int n) {
  __shared__ struct {
    int a[8];
    unsigned long long bar;
  } s;
  unsigned b = __cvta_generic_to_shared(&s.bar);
  int t = threadIdx.x;
  if (t == 0) INIT(b, 64);
  __syncthreads();
  if (t < n) s.a[t] = 1;
  __syncthreads();
  ARRIVE(b);  // BUG mb_over bad-barrier
  o[t] = s.a[t & 7];
}
CASE(mb_over_bad) { k_mb_over<<<1, 64>>>(device<int>(64), 10); }
CASE(mb_over_ok) { k_mb_over<<<1, 64>>>(device<int>(64), 8); }
// initialised twice while in use
__global__ void k_mb_again(int* o, int again) {
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar);
  int t = threadIdx.x;
  if (t == 0) INIT(b, 64);
  __syncthreads();
  if (t < 32) ARRIVE(b);
  __syncthreads();
  if (t == 0 && again) INIT(b, 32);  // BUG mb_again barrier-reinitialised
  __syncthreads();
  if (t >= 32) ARRIVE(b);
  WAIT(b, 0);
  o[t] = 1;
}
CASE(mb_again_bad) { k_mb_again<<<1, 64>>>(device<int>(64), 1); }
CASE(mb_again_ok) { k_mb_again<<<1, 64>>>(device<int>(64), 0); }
__global__ void __cluster_dims__(2) k_cl_wait(int* o, int arrive) {
  if (arrive) asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");  // BUG cl_wait bad-barrier
  o[threadIdx.x] = 1;
}
CASE(cl_wait_bad) { k_cl_wait<<<2, 32>>>(device<int>(64), 0); }
CASE(cl_wait_ok) { k_cl_wait<<<2, 32>>>(device<int>(64), 1); }
__global__ void __cluster_dims__(2) k_cl_twice(int* o, int twice) {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  if (twice) asm volatile("barrier.cluster.arrive;" ::: "memory");  // BUG cl_twice bad-barrier
  asm volatile("barrier.cluster.wait;" ::: "memory");
  o[threadIdx.x] = 1;
}
CASE(cl_twice_bad) { k_cl_twice<<<2, 32>>>(device<int>(64), 1); }
CASE(cl_twice_ok) { k_cl_twice<<<2, 32>>>(device<int>(64), 0); }
__global__ void __cluster_dims__(2) k_cl_some(int* o, int all) {
  if (all || cg::this_cluster().block_rank() == 0)
    cg::this_cluster().sync();  // BUG cl_some deadlock
  else {
    while (*(volatile int*)o == 0) {  // BUG cl_some deadlock
    }
  }
  o[threadIdx.x] = 1;
}
CASE(cl_some_bad) { k_cl_some<<<2, 32>>>(device<int>(64), 0); }
CASE(cl_some_ok) { k_cl_some<<<2, 32>>>(device<int>(64), 1); }

// Bulk copies.
#define bulk_copy(to, from, bytes, bar)                                                                    \
  asm volatile(                                                                                            \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), \
      "l"(from), "r"(bytes), "r"(bar)                                                                      \
      : "memory")
__global__ void k_bulk(const char* p, int* o, int off, int bytes, int expect) {
  __shared__ __align__(128) char s[512];
  __shared__ __align__(8) unsigned long long bar;
  int t = threadIdx.x;
  unsigned b = __cvta_generic_to_shared(&bar), d = __cvta_generic_to_shared(s);
  if (t == 0) INIT(b, 1);
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(expect) : "memory");
    bulk_copy(d, p + off, bytes, b);  // BUG bulk_[mosd]* misaligned|out-of-bounds
  }
  WAIT(b, 0);   // BUG bulk_[most]* deadlock
  o[t] = s[t];  // BUG bulk_dst uninitialised-read
}
CASE(bulk_misaligned_bad) { k_bulk<<<1, 64>>>(device<char>(1024), device<int>(64), 8, 256, 256); }
CASE(bulk_size_bad) { k_bulk<<<1, 64>>>(device<char>(1024), device<int>(64), 0, 248, 248); }
CASE(bulk_oob_bad) { k_bulk<<<1, 64>>>(device<char>(240), device<int>(64), 0, 256, 256); }
CASE(bulk_dst_bad) { k_bulk<<<1, 64>>>(device<char>(1024), device<int>(64), 0, 1024, 1024); }
CASE(bulk_tx_bad) { k_bulk<<<1, 64>>>(device<char>(1024), device<int>(64), 0, 256, 512); }
CASE(bulk_ok) { k_bulk<<<1, 64>>>(device<char>(1024), device<int>(64), 0, 256, 256); }
// a thread that never comes to the cooperative group's barrier
__global__ void k_tile(int* o, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x < n)
    tile.sync();  // BUG tile deadlock
  else
    __syncthreads();  // BUG tile deadlock
  o[threadIdx.x] = 1;
}
CASE(tile_bad) { k_tile<<<1, 32>>>(device<int>(64), 16); }
__global__ void k_grid_part(int* o, int n) {
  if (blockIdx.x < n) cg::this_grid().sync();  // BUG grid_part,grid_plain deadlock|trap
  o[threadIdx.x] = 1;
}
CASE(grid_part_bad) {
  int* o = device<int>(64);
  int n = 3;
  void* a[] = {&o, &n};
  cudaLaunchCooperativeKernel((void*)k_grid_part, 4, 64, a, 0, 0);
}
CASE(grid_part_ok) {
  int* o = device<int>(64);
  int n = 4;
  void* a[] = {&o, &n};
  cudaLaunchCooperativeKernel((void*)k_grid_part, 4, 64, a, 0, 0);
}
CASE(grid_plain_bad) { k_grid_part<<<4, 64>>>(device<int>(64), 4); }
