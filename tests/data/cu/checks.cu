// Pairs of kernels for the checks: racy_, unset_ and split_ ones have one defect each, their clean_ partners
// do not. One block of 64 threads where nothing else is said; `out` has room for 64 ints.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" {

// Threads of different warps.

__global__ void racy_missing_barrier(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = t;
  out[t] = values[63 - t];
}
__global__ void clean_barrier(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = t;
  __syncthreads();
  out[t] = values[63 - t];
}

/// The loop reads what the next round overwrites.
__global__ void racy_loop(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    values[t] = t + round;
    __syncthreads();
    sum += values[63 - t];
  }
  out[t] = sum;
}
__global__ void clean_loop(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    values[t] = t + round;
    __syncthreads();
    sum += values[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}

/// Dynamic shared memory, read as 16 bytes and written as 4.
__global__ void racy_vector(int* out) {
  extern __shared__ int dynamic[];
  const int t = threadIdx.x;
  dynamic[t] = t;
  const int4 four = reinterpret_cast<const int4*>(dynamic)[15 - t / 4];
  out[t] = four.x + four.y + four.z + four.w;
}

// Several stores to one place.

__global__ void racy_different_values(int* out) {
  __shared__ int last;
  last = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = last;
}
/// A note: who writes last does not matter.
__global__ void clean_same_value(int* out) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (out[threadIdx.x] >= 0) any = 1;
  __syncthreads();
  out[threadIdx.x] = any;
}

// Bytes and halves of one word.

__global__ void clean_bytes(int* out) {
  __shared__ char bytes[64];
  const int t = threadIdx.x;
  bytes[t] = t;
  out[t] = bytes[t];
}
__global__ void racy_bytes(int* out) {
  __shared__ short halves[64];
  const int t = threadIdx.x;
  halves[t] = t;
  out[t] = reinterpret_cast<char*>(halves)[2 * t ^ 3];
}

// Lanes of one warp. One warp each.

__global__ void racy_warp(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  values[t] = t;
  out[t] = values[31 - t];
}
__global__ void clean_warp(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  values[t] = t;
  __syncwarp();
  out[t] = values[31 - t];
}
/// A shuffle makes lanes meet but orders no memory.
__global__ void racy_shuffle(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  values[t] = t;
  const int other = __shfl_xor_sync(0xffffffff, t, 1);
  out[t] = values[31 - t] + other;
}
__global__ void clean_shuffle(int* out) {
  int sum = threadIdx.x;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
  out[threadIdx.x] = sum;
}
/// The last steps of a reduction as they were written before compute capability 7.0.
__global__ void racy_volatile(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = t;
  values[t + 32] = t;
  __syncwarp();
  volatile int* v = values;
  v[t] += v[t + 32];
  v[t] += v[t + 16];
  v[t] += v[t + 8];
  out[t] = v[t];
}
/// Lanes that part are not ordered with each other.
__global__ void racy_divergent(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  if (t < 16)
    values[t] = t;
  else
    out[t] = values[t - 16];
}
/// Half a warp synchronises; the other half has nothing to do with it.
__global__ void clean_tile(int* out) {
  __shared__ int values[32];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  values[t] = t;
  tile.sync();
  out[t] = values[t ^ 15];
}
__global__ void racy_tile(int* out) {
  __shared__ int values[32];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  values[t] = t;
  tile.sync();
  out[t] = values[t ^ 16];
}
/// Step by step through the warp: what lane 0 wrote comes to lane 2 by way of lane 1.
__global__ void clean_chain(int* out) {
  __shared__ int value;
  const int t = threadIdx.x;
  if (t == 0) value = 7;
  if (t < 2) __syncwarp(0x3);
  if (t == 1 || t == 2) __syncwarp(0x6);
  if (t == 2) out[t] = value;
}

// Atomic operations.

__global__ void clean_atomics(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sum;
}
__global__ void racy_atomics(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  if (threadIdx.x == 63) out[0] = sum;
}
/// A lock of shared memory, with the fences that it needs. One thread of each warp takes it.
__global__ void clean_lock(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += threadIdx.x;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
__global__ void racy_lock(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    sum += threadIdx.x;
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
/// Thread 32 waits for a flag that thread 0 sets. Dynamic shared memory: what the flag guards, then the flag.
__global__ void clean_flag(int* out) {
  extern __shared__ int dynamic[];
  volatile int* flag = dynamic + 1;
  if (threadIdx.x == 0) *flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    dynamic[0] = 7;
    __threadfence_block();
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    __threadfence_block();
    out[0] = dynamic[0];
  }
}
__global__ void racy_flag(int* out) {
  extern __shared__ int dynamic[];
  volatile int* flag = dynamic + 1;
  if (threadIdx.x == 0) *flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    dynamic[0] = 7;
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    out[0] = dynamic[0];
  }
}

// Named barriers: warp 0 makes, warp 1 takes.

__global__ void clean_arrive(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  if (t < 32) {
    values[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = values[63 - t];
  }
}
/// The maker goes on and writes again what the taker may still read.
__global__ void racy_arrive(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  if (t < 32) {
    values[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    values[t] = 2 * t;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = values[63 - t];
  }
}
/// 96 threads: the barrier is for two warps, the third one is not ordered with them.
__global__ void racy_part_of_block(int* out) {
  __shared__ int values[96];
  const int t = threadIdx.x;
  values[t] = t;
  if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  if (t < 32) out[t] = values[t + 32] + values[t + 64];
}

// What nobody has written.

__global__ void unset_shared(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  if (t != 5) values[t] = t;
  __syncthreads();
  out[t] = values[t];
}
/// Written, but too late.
__global__ void unset_until_later(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  out[t] = values[t];
  __syncthreads();
  values[t] = t;
  __syncthreads();
  out[t] += values[63 - t];
}
__global__ void unset_part(int* out) {
  __shared__ __align__(8) short halves[128];
  const int t = threadIdx.x;
  halves[2 * t] = t;
  __syncthreads();
  out[t] = reinterpret_cast<const int*>(halves)[t];
}
__global__ void unset_local(int* out) {
  int values[16];
  const int t = threadIdx.x;
  for (int i = 0; i < (t & 15); ++i) values[(i * 5) & 15] = out[i];
  out[t] = values[out[t] & 15];
}
__device__ __noinline__ int pick(int n, int set) {
  int values[8];
  for (int i = 0; i < set; ++i) values[(n + i) & 7] = i;
  return values[n & 7];
}
/// The second call finds its array empty again.
__global__ void unset_second_call(int* out) {
  const int t = threadIdx.x;
  out[t] = pick(t, 8);
  out[t] += pick(t, 0);
}
__global__ void clean_local(int* out) {
  const int t = threadIdx.x;
  out[t] = pick(t, 8) + pick(t + 1, 8);
}

// Barriers that threads reach by halves.

__global__ void split_warp(int* out) {
  const int t = threadIdx.x;
  if (t % 32 < 16) {
    out[t] = 1;
    __syncthreads();
    out[t] += 1;
  } else {
    out[t] = 2;
    __syncthreads();
    out[t] += 3;
  }
}
/// A warning: whole warps, at two places.
__global__ void split_block(int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    out[t] = 1;
    __syncthreads();
    out[t] += 1;
  } else {
    out[t] = 2;
    __syncthreads();
    out[t] += 3;
  }
}
/// A note: threads have ended.
__global__ void split_exit(int* out) {
  const int t = threadIdx.x;
  if (t >= 48) return;
  __syncthreads();
  out[t] = 1;
}
/// Half of each warp passes a barrier of its own, for as many threads.
__global__ void split_count(int* out) {
  const int t = threadIdx.x;
  if (t % 32 < 16) asm volatile("bar.sync 1, 32;" ::: "memory");
  out[t] = 1;
}
/// Two opinions of how many threads meet.
__global__ void split_opinion(int* out) {
  const int t = threadIdx.x;
  if (t < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1;" ::: "memory");
  out[t] = 1;
}
/// Lane 3 is not in its own member mask.
__global__ void split_mask(int* out) {
  const int t = threadIdx.x;
  if (t == 3) asm volatile("bar.warp.sync 0x7;" ::: "memory");
  out[t] = 1;
}
__global__ void clean_split(int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  }
  out[t] = 1;
}

// Asynchronous copies.

/// Each thread copies a word, waits for it and reads that of another one.
__global__ void clean_copy(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&values[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(out + t) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = values[63 - t];
}
/// A barrier does not wait for copies.
__global__ void racy_copy(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&values[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(out + t) : "memory");
  __syncthreads();
  const int read = values[63 - t];
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = read;
}
/// Waited for, but by each thread for its own copy alone.
__global__ void racy_wait(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&values[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(out + t) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = values[63 - t];
}
/// Two groups under way, the older one waited for.
__global__ void clean_groups(int* out) {
  __shared__ int values[2][64];
  const int t = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&values[round][t]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(out + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  int sum = values[0][63 - t];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  sum += values[1][63 - t];
  out[t] = sum;
}
/// An mbarrier in the place of __syncthreads(): all arrive, all wait.
__global__ void clean_mbarrier(int* out) {
  __shared__ int values[64];
  __shared__ unsigned long long barrier;
  const int t = threadIdx.x;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();
  values[t] = t;
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  int done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at), "l"(state)
                 : "memory");
  out[t] = values[63 - t];
}
/// It does not wait.
__global__ void racy_mbarrier(int* out) {
  __shared__ int values[64];
  __shared__ unsigned long long barrier;
  const int t = threadIdx.x;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();
  values[t] = t;
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
  out[t] = values[63 - t];
}

// Matrix instructions, of one warp.

/// Products of what the warp has stored, stored for the warp: with a barrier between each and the next.
__global__ void clean_fragments(int* out) {
  __shared__ alignas(32) unsigned factors[128];
  __shared__ alignas(32) int sums[256];
  const int t = threadIdx.x;
  const auto a = static_cast<unsigned>(__cvta_generic_to_shared(factors));
  const auto d = static_cast<unsigned>(__cvta_generic_to_shared(sums));
  for (int i = t; i < 128; i += 32) factors[i] = 0;
  for (int i = t; i < 256; i += 32) sums[i] = 0;
  __syncwarp();
  asm volatile(
      "{ .reg .b32 a<8>, c<8>;"
      " wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a0, a1, a2, a3, a4, a5, a6, a7}, [%0], 16;"
      " wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, [%1], 16;"
      " bar.warp.sync 0xffffffff;"
      " wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%1], {c0, c1, c2, c3, c4, c5, c6, c7}, 16; }" ::
          "r"(a),
      "r"(d)
      : "memory");
  __syncwarp();
  out[t] = sums[255 - t];
}
/// Nobody has written the accumulators; they are stored where others still read them, and read too early.
__global__ void racy_fragments(int* out) {
  __shared__ alignas(32) int sums[256];
  const int t = threadIdx.x;
  const auto d = static_cast<unsigned>(__cvta_generic_to_shared(sums));
  asm volatile(
      "{ .reg .b32 c<8>;"
      " wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, [%0], 16;"
      " wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%0], {c0, c1, c2, c3, c4, c5, c6, c7}, 16; }" ::
          "r"(d)
      : "memory");
  out[t] = sums[255 - t];
}
/// Two 8x8 matrices: lanes 0 to 15 give the addresses of rows.
__global__ void clean_rows(int* out) {
  __shared__ alignas(16) int rows[64];
  const int t = threadIdx.x;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(rows)) + 16 * (t & 15);
  unsigned a, b;
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %1};" ::"r"(at), "r"(t) : "memory");
  __syncwarp();
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "r"(at)
               : "memory");
  __syncwarp();
  rows[t] = t;
  out[t] = a + b + rows[t];
}
__global__ void racy_rows(int* out) {
  __shared__ alignas(16) int rows[64];
  const int t = threadIdx.x;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(rows)) + 16 * (t & 15);
  unsigned a, b;
  rows[t] = t;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "r"(at)
               : "memory");
  out[t] = a + b;
}

// Shuffles.

/// Takes the values of lanes that have ended.
__global__ void split_ended(int* out) {
  const int t = threadIdx.x;
  if (t >= 52) return;
  int sum = t;
  for (int i = 16; i > 0; i /= 2) sum += __shfl_down_sync(0xffffffff, sum, i);
  out[t] = sum;
}
/// Of lanes that are not in the member mask.
__global__ void split_members(int* out) {
  const int t = threadIdx.x;
  const unsigned members = __ballot_sync(0xffffffff, t % 32 < 20);
  if (t % 32 >= 20) return;
  out[t] = __shfl_sync(members, t, t % 32 + 1);
}
/// Lanes that have ended vote no more, and nobody waits for them; up and xor stay among those that are left.
__global__ void clean_ended(int* out) {
  const int t = threadIdx.x;
  if (t >= 48) return;
  int sum = __popc(__ballot_sync(0xffffffff, t & 1)) + __reduce_add_sync(0xffffffff, t);
  __syncwarp();
  for (int i = 1; i < 16; i *= 2) sum += __shfl_xor_sync(0xffffffff, sum, i);
  out[t] = sum + __shfl_up_sync(0xffffffff, sum, 3);
}
/// Lanes that happen to be together agree on one, and on segments of eight.
__global__ void clean_members(int* out) {
  const int t = threadIdx.x;
  if (t % 32 < 24) {
    const unsigned together = __activemask();
    const int first = __shfl_sync(together, t, __ffs(static_cast<int>(together)) - 1);
    out[t] = first + __shfl_down_sync(together, t, 4, 8);
  }
}
/// Half of the warp waits for the other one, which is at another instruction.
__global__ void stuck_lanes(int* out) {
  const int t = threadIdx.x;
  int other;
  if (t < 16) {
    other = __shfl_xor_sync(0xffffffff, t, 1);
  } else {
    out[t] = 1;
    other = __shfl_xor_sync(0xffffffff, t + 1, 3);
  }
  out[t] = other;
}

// Variables of shared memory that lie beside each other.

/// The last step of a loop that goes one too far reads the next array; `out` begins with a zero.
__global__ void overrun_next(int* out) {
  __shared__ int values[64], others[64];
  const int t = threadIdx.x;
  values[t] = others[t] = t;
  __syncthreads();
  out[t] = values[t + 1] + others[out[0] + t / 2];
}
/// The other way: dynamic memory lies behind that which is declared.
__global__ void overrun_dynamic(int* out) {
  extern __shared__ int dynamic[];
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = dynamic[t] = t;
  __syncthreads();
  out[t] = dynamic[t - 1] + values[63 - t];
}
/// Which array is not known from the computation, and each is kept to.
__global__ void clean_either(int* out) {
  __shared__ int values[64], others[64];
  const int t = threadIdx.x;
  values[t] = others[t] = t;
  __syncthreads();
  const int* from = t % 3 == 0 ? values : others;
  const int* end = from + 64;
  int sum = 0;
  for (const int* p = from + t; p < end; p += 16) sum += *p;
  for (const int* p = others + 63; p >= others + t; --p) sum += *p;
  out[t] = sum + from[(others + t) - others];
}

// Member masks that are not the same.

__global__ void split_masks(int* out) {
  const int t = threadIdx.x;
  out[t] = __ballot_sync(t % 32 < 16 ? 0xffff : 0xffffffff, t & 1);
}
/// Parts of the warp that have nothing to do with each other.
__global__ void clean_masks(int* out) {
  const int t = threadIdx.x;
  out[t] = __ballot_sync(t % 32 < 16 ? 0xffff : 0xffff0000, t & 1);
}

// mbarriers: initialised while they are used, and by nobody who is waited for.

__device__ void make_mbarrier(unsigned object, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(object), "r"(count) : "memory");
}
__device__ void meet_at(unsigned object, int phase) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b64 s;\n"
      "mbarrier.arrive.shared.b64 s, [%0];\n"
      "again: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra again;\n"
      "}" ::"r"(object),
      "r"(phase)
      : "memory");
}
__global__ void racy_init(int* out) {
  __shared__ unsigned long long object;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) make_mbarrier(at, 64);
  meet_at(at, 0);
  out[threadIdx.x] = 1;
}
__global__ void clean_init(int* out) {
  __shared__ unsigned long long object;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) make_mbarrier(at, 64);
  __syncthreads();
  meet_at(at, 0);
  out[threadIdx.x] = 1;
}
__global__ void split_init(int* out) {
  __shared__ unsigned long long object;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) make_mbarrier(at, 64);
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) make_mbarrier(at, 64);
  __syncthreads();
  meet_at(at, 0);
  out[threadIdx.x] = 1;
}

// A flag in global memory between threads of a block; `out` begins with a zero.

__global__ void clean_global_flag(int* out) {
  extern __shared__ int dynamic[];
  volatile int* flag = out;
  if (threadIdx.x == 0) {
    dynamic[0] = 7;
    __threadfence();
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    __threadfence();
    out[1] = dynamic[0];
  }
}
__global__ void racy_global_flag(int* out) {
  extern __shared__ int dynamic[];
  volatile int* flag = out;
  if (threadIdx.x == 0) {
    dynamic[0] = 7;
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    out[1] = dynamic[0];
  }
}

// Lanes that meet at a shuffle between the two accesses, which orders nothing but is counted on.

/// The member mask is a number in the PTX.
__global__ void racy_met(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  values[t] = t;
  int other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(other) : "r"(t));
  out[t] = values[31 - t] + other;
}
/// The other warp's flag is seen by lane 0 alone.
__global__ void racy_met_by_way(int* out) {
  __shared__ int value, flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t >= 32) {
    if (t == 40) value = static_cast<int>(blockDim.x);
    __syncwarp();
    if (t == 32) {
      __threadfence_block();
      atomicExch(&flag, 1);
    }
  } else {
    if (t == 0) {
      while (atomicAdd(&flag, 0) == 0) {
      }
      __threadfence_block();
    }
    const int lane = __shfl_sync(0xffffffff, t, 1);
    if (t == lane) out[t] = value;
  }
}
/// They met too early.
__global__ void racy_met_before(int* out) {
  __shared__ int values[32];
  const int t = threadIdx.x;
  const int other = __shfl_xor_sync(0xffffffff, t, 1);
  values[t] = t;
  out[t] = values[31 - t] + other;
}

// What a compare-and-swap expects.

__global__ void clean_guess(int* out) {
  __shared__ int product;
  const int t = threadIdx.x;
  if (t == 0) product = 1;
  __syncthreads();
  if (t % 8 == 0) {
    int old = product, expected;
    do {
      expected = old;
      old = atomicCAS(&product, expected, 3 * expected);
    } while (old != expected);
  }
  __syncthreads();
  out[t] = product;
}
/// What is read is stored, and compared with another variable.
__global__ void racy_guess(int* out) {
  __shared__ int sum, other;
  const int t = threadIdx.x;
  if (t == 0) sum = other = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  out[t] = atomicCAS(&other, sum, t);
}

// Values that nobody has written: what drops them does no harm, what depends on them does.

__device__ int load(const int* at) { return *const_cast<const volatile int*>(at); }
__device__ void store(int* at, int value) { *const_cast<volatile int*>(at) = value; }

/// The last thread loads a key behind the last one.
__global__ void clean_dropped(int* out) {
  __shared__ int keys[65];
  const int t = threadIdx.x;
  keys[t] = t;
  __syncthreads();
  const int next = load(&keys[t + 1]);
  out[t] = t < 63 && next > 5 ? 1 : 2;
}
/// Eight bits of a word that holds nothing else are set, and read.
__global__ void clean_bits(int* out) {
  __shared__ int words[64];
  const int t = threadIdx.x;
  store(&words[t], (load(&words[t]) & ~0xff) | t);
  out[t] = load(&words[t]) & 0xff;
}
__global__ void unset_bits(int* out) {
  __shared__ int words[64];
  const int t = threadIdx.x;
  store(&words[t], (load(&words[t]) & ~0xff) | t);
  out[t] = load(&words[t]) & 0x1ff;
}
__global__ void unset_branch(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  const int value = load(&values[t]);
  if (value == 77) store(&out[t], t);
}
__global__ void unset_address(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  const int value = load(&values[t]);
  out[value & 63] = t;
}
/// All but the lane that drops it take a value that has been written.
__global__ void clean_taken_value(int* out) {
  __shared__ int values[65];
  const int t = threadIdx.x;
  values[t + 1] = t;
  __syncthreads();
  const int before = __shfl_up_sync(0xffffffff, load(&values[t]), 1);
  out[t] = t % 32 < 2 ? 0 : before;
}
__global__ void unset_taken_value(int* out) {
  __shared__ int values[65];
  const int t = threadIdx.x;
  values[t + 1] = t;
  __syncthreads();
  out[t] = __shfl_sync(0xffffffff, load(&values[t]), 0);
}
__global__ void unset_vote(int* out) {
  __shared__ int values[65];
  const int t = threadIdx.x;
  values[t + 1] = t;
  __syncthreads();
  out[t] = __any_sync(0xffffffff, load(&values[t]) > 100);
}
__device__ __noinline__ int twice(int value) { return 2 * load(&value); }
__global__ void unset_argument(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  out[t] = twice(load(&values[t]));
}
/// What is stored comes from where nobody has written, and another thread depends on it.
__global__ void unset_passed_on(int* out) {
  __shared__ int from[64], to[64];
  const int t = threadIdx.x;
  store(&to[t], load(&from[t]) + 1);
  __syncthreads();
  out[t] = load(&to[63 - t]) * 3;
}
__global__ void unset_float(int* out) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  const float value = *const_cast<volatile float*>(&values[t]);
  out[t] = value > 0.5f ? 1 : 2;
}
/// … or nobody does.
__global__ void clean_passed_on(int* out) {
  __shared__ int from[64], to[64];
  const int t = threadIdx.x;
  store(&to[t], load(&from[t]) + 1);
  __syncthreads();
  out[t] = (load(&to[63 - t]) & 0) + t;
}
__global__ void unset_printed(int*) {
  __shared__ int values[64];
  if (threadIdx.x == 0) printf("%d", load(&values[3]));
}
// Shuffles whose values are dropped, and used.

/// Sums of 16 lanes: half of them takes values from outside of the mask, of which nothing comes to lane 0.
__global__ void clean_upper_half(int* out) {
  const int t = threadIdx.x;
  if (t % 32 >= 16) return;
  int sum = t;
  for (int i = 8; i > 0; i /= 2) sum += __shfl_down_sync(0xffff, sum, i);
  if (t % 32 == 0) out[t / 32] = sum;
}
/// All lanes store theirs, and only the first one is read.
__global__ void clean_stored_half(int* out) {
  __shared__ int sums[64];
  const int t = threadIdx.x;
  if (t % 32 < 16) store(&sums[t], t + __shfl_down_sync(0xffff, t, 8));
  __syncthreads();
  if (t % 32 < 8) out[t] = load(&sums[t]);
}
__global__ void split_stored(int* out) {
  __shared__ int sums[64];
  const int t = threadIdx.x;
  if (t % 32 < 16) store(&sums[t], t + __shfl_down_sync(0xffff, t, 8));
  __syncthreads();
  if (t % 32 < 9) out[t] = load(&sums[t]);
}
__global__ void split_compared(int* out) {
  const int t = threadIdx.x;
  if (t % 32 >= 16) return;
  const int other = __shfl_down_sync(0xffff, t, 8);
  if (other > 3) out[t] = 1;
}
}
