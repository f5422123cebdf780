// Asynchronous copies from global to shared memory and the barriers that wait for them, as CUDA's headers
// write them and by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

// Its constructor does nothing.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace

extern "C" {
/// A pipeline of three stages through 12 tiles of 128 words, one word a thread: out[128 i + t] = in[128 i +
/// (t ^ 1)] + i.
__global__ void async_primitives(const int* in, int* out) {
  constexpr int stages = 3, tiles = 12;
  __shared__ int tile[stages][128];
  const int t = threadIdx.x;
  for (int i = 0; i < stages - 1; ++i) {
    __pipeline_memcpy_async(&tile[i][t], in + 128 * i + t, 4);
    __pipeline_commit();
  }
  for (int i = 0; i < tiles; ++i) {
    if (i + stages - 1 < tiles)
      __pipeline_memcpy_async(&tile[(i + stages - 1) % stages][t], in + 128 * (i + stages - 1) + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    out[128 * i + t] = tile[i % stages][t ^ 1] + i;
    __syncthreads();
  }
}

/// Zero fill: thread t copies 16 bytes, of which the last t % 17 are zero; then 8 and 4 bytes likewise.
__global__ void async_zero_fill(const int4* in, int* out) {
  __shared__ int4 s[64];
  __shared__ int2 s8[64];
  __shared__ int s4[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], in + t, 16, t % 17);
  __pipeline_memcpy_async(&s8[t], in + t, 8, t % 9);
  __pipeline_memcpy_async(&s4[t], in + t, 4, t % 5);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  reinterpret_cast<int4*>(out)[t] = s[t];
  reinterpret_cast<int2*>(out + 256)[t] = s8[t];
  out[384 + t] = s4[t];
}

/// Sources that are ignored read as zero, and need not exist.
__global__ void async_ignored(const int4* in, int4* out) {
  __shared__ int4 s[64];
  const int t = threadIdx.x;
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, 20; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(
                   shared_address(&s[t])),
               "l"(t < 40 ? in + t : nullptr), "r"(t)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = s[t];
}

/// cuda::pipeline of one thread: groups of different sizes.
__global__ void async_pipeline(const int* in, int* out) {
  __shared__ int s[4][64][4];
  const int t = threadIdx.x;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  for (int i = 0; i < 4; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[i][t], in + 4 * (64 * i + t), cuda::aligned_size_t<4>(4 * (i + 1)), pipe);
    pipe.producer_commit();
  }
  for (int i = 0; i < 4; ++i) {
    pipe.consumer_wait();
    for (int k = 0; k <= i; ++k) out[256 * i + 4 * t + k] = s[i][t][k];
    pipe.consumer_release();
  }
}

/// A pipeline of the block whose producers and consumers are all threads.
__global__ void async_block_pipeline(const int* in, int* out) {
  constexpr int stages = 2, tiles = 6;
  __shared__ int s[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  int next = 0;
  for (int i = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + stages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[next % stages], in + 128 * next, sizeof s[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[128 * i + t] = s[i % stages][127 - t];
    pipe.consumer_release();
  }
}

/// A pipeline with a producing warp and three consuming ones.
__global__ void async_split_pipeline(const int* in, int* out) {
  constexpr int stages = 2, tiles = 5;
  __shared__ int s[stages][96];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline(block, &state,
                                  t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int i = 0; i < tiles; ++i) {
    if (t < 32) {
      pipe.producer_acquire();
      for (int k = t; k < 96; k += 32)
        cuda::memcpy_async(&s[i % stages][k], in + 96 * i + k, cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      out[96 * i + t - 32] = s[i % stages][127 - t] + 1000 * i;
      pipe.consumer_release();
    }
  }
}

/// cooperative_groups::memcpy_async of a block, waited for in two parts.
__global__ void async_groups(const int* in, int* out) {
  __shared__ int s[2][200];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s[0], in, sizeof s[0]);
  cg::memcpy_async(block, s[1], in + 200, sizeof s[1]);
  cg::wait_prior<1>(block);
  for (int i = threadIdx.x; i < 200; i += blockDim.x) out[i] = s[0][199 - i];
  cg::wait(block);
  for (int i = threadIdx.x; i < 200; i += blockDim.x) out[200 + i] = s[1][199 - i];
}

/// memcpy_async that completes on a cuda::barrier.
__global__ void async_barrier(const int4* in, int4* out) {
  __shared__ alignas(128) int4 s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  for (int i = 0; i < 3; ++i) {
    cuda::memcpy_async(block, s, in + 128 * i, cuda::aligned_size_t<16>(sizeof s), bar);
    bar.arrive_and_wait();
    out[128 * i + threadIdx.x] = s[127 - threadIdx.x];
    bar.arrive_and_wait();
  }
}

/// cuda::barrier: arrive with its token, wait by parity, drop. out[t]: neighbours' sums.
__global__ void async_tokens(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int s[128];
  __shared__ Barrier bar, second;
  const int t = threadIdx.x;
  if (t == 0) {
    init(&bar, blockDim.x);
    init(&second, 2 * blockDim.x);
  }
  __syncthreads();
  s[t] = t * t;
  Barrier::arrival_token token = bar.arrive();
  bar.wait(static_cast<Barrier::arrival_token&&>(token));
  int sum = s[t ^ 32] + s[t ^ 1];
  (void)second.arrive(2);
  second.wait_parity(false);
  s[t] = sum;
  if (t >= 96) {
    bar.arrive_and_drop();
    out[t] = -sum;
    return;
  }
  bar.arrive_and_wait();
  sum += s[95 - t];
  bar.arrive_and_wait();
  out[t] = sum;
}

/// One thread's mbarrier: what every instruction says of it.
__global__ void async_states(unsigned* out) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned at = shared_address(&bar);
  unsigned n = 0;
  const auto tests = [&](unsigned long long state) {
    unsigned result = 0;
    asm volatile(
        "{ .reg .pred p; .reg .b32 r; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, "
        "p;\n"
        "mbarrier.test_wait.parity.shared.b64 p, [%1], 1; @p or.b32 %0, %0, 2;\n"
        "mbarrier.test_wait.shared.b64 p, [%1], %2; @p or.b32 %0, %0, 4;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], 0, 100; @p or.b32 %0, %0, 8; }"
        : "=r"(result)
        : "r"(at), "l"(state)
        : "memory");
    unsigned pending = 0;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[n++] = result;
    out[n++] = pending;
  };
  const auto arrive = [&](unsigned count) {
    unsigned long long state = 0;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(count) : "memory");
    return state;
  };
  asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(at) : "memory");
  unsigned long long state = arrive(2);
  tests(state);
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(at) : "memory");
  tests(state);
  tests(arrive(2));
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at) : "memory");
  tests(state);
  tests(arrive(3));
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 64;" : "=l"(state) : "r"(at) : "memory");
  tests(state);
  tests(arrive(2));
  asm volatile("mbarrier.complete_tx.shared.b64 [%0], 48;" ::"r"(at) : "memory");
  tests(state);
  asm volatile("mbarrier.expect_tx.shared.b64 [%0], 4;" ::"r"(at) : "memory");
  asm volatile("mbarrier.complete_tx.shared.b64 [%0], 20;" ::"r"(at) : "memory");
  tests(state);
  asm volatile("mbarrier.complete_tx.shared.b64 [%0], 20;" ::"r"(at) : "memory");  // before it is expected
  tests(arrive(2));
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 20;" : "=l"(state) : "r"(at) : "memory");
  tests(state);
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
}
}
