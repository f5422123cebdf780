// Bulk copies without tensor maps: between global and shared memory, within a cluster, and with reductions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ unsigned mapped(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ void init(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar),
               "r"(count)
               : "memory");
}

__device__ void expect(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra WAIT; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}

__device__ void load(unsigned to, const void* from, unsigned bytes, unsigned bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(bar)
      : "memory");
}

__device__ void finish_stores() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void meet() { asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory"); }

}  // namespace

extern "C" {
/// Three tiles of 1024 bytes come in, are changed, and go out again: out[i] = 3 in[i] + tile.
__global__ void bulk_round_trip(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ alignas(8) unsigned long long bar;
  const int t = threadIdx.x;
  const unsigned at = shared_address(&bar), s = shared_address(tile);
  if (t == 0) init(at, 1);
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    if (t == 0) {
      expect(at, 1024);
      load(s, in + 256 * i, 768, at);
      load(s + 768, in + 256 * i + 192, 256, at);
    }
    wait(at, i & 1);
    tile[t] = 3 * tile[t] + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out + 256 * i),
                   "r"(s)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(in) : "memory");
    finish_stores();
  }
}

/// Each of four blocks gets its quarter of the data in every block of its cluster by multicast, and then
/// passes its own first words on to the next block's.
__global__ void __cluster_dims__(4) bulk_multicast(const int* in, int* out) {
  __shared__ alignas(128) int tile[4][64], passed[16], spare[64];
  __shared__ alignas(8) unsigned long long bar, pass;
  const int t = threadIdx.x;
  const unsigned rank = cluster_rank(), at = shared_address(&bar), next = (rank + 1) % 4;
  if (t == 0) {
    init(at, 1);
    init(shared_address(&pass), 1);
    expect(at, 256 * (4 + rank % 2));
    expect(shared_address(&pass), 64);
  }
  meet();
  if (t == 0) {
    // The quarters 0 to 2 go everywhere, the last one to the blocks 1 and 3. Those load their own quarter
    // once more, to another place, the others the last one.
    const unsigned short blocks = rank == 3 ? 0b1010 : 0b1111;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
        "256, [%2], "
        "%3;" ::"r"(shared_address(tile[rank])),
        "l"(in + 64 * rank), "r"(at), "h"(blocks)
        : "memory");
    load(shared_address(rank % 2 == 0 ? tile[3] : spare), in + 64 * (rank % 2 == 0 ? 3 : rank), 256, at);
  }
  wait(at, 0);
  if (t == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::"r"(
            mapped(shared_address(passed), next)),
        "r"(shared_address(tile[rank])), "r"(mapped(shared_address(&pass), next))
        : "memory");
  wait(shared_address(&pass), 0);
  for (int i = t; i < 256; i += blockDim.x) out[272 * blockIdx.x + i] = tile[i / 64][i % 64];
  if (t < 16) out[272 * blockIdx.x + 256 + t] = passed[t];
  meet();
}

#define REDUCE(TO, FROM, BYTES, OPERATION)                                                                   \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." OPERATION " [%0], [%1], %2;" ::"l"(TO), \
               "r"(FROM), "r"(BYTES)                                                                         \
               : "memory")

/// Reductions of 32 words or 16 long words each into global memory.
__global__ void bulk_reductions(unsigned* out) {
  __shared__ alignas(128) unsigned s[32];
  const unsigned t = threadIdx.x, at = shared_address(s);
  s[t] = (t * 0x9e3779b9u) ^ (t << 27);
  for (int i = 0; i < 15; ++i) out[32 * i + t] = (t * t * 0x85ebca6bu) >> (i % 5);
  __threadfence();
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp();
  if (t == 0) {
    REDUCE(out, at, 128, "add.u32");
    REDUCE(out + 32, at, 128, "add.s32");
    REDUCE(out + 64, at, 128, "add.u64");
    REDUCE(out + 96, at, 128, "min.u32");
    REDUCE(out + 128, at, 128, "max.s32");
    REDUCE(out + 160, at, 128, "min.s64");
    REDUCE(out + 192, at, 128, "max.u64");
    REDUCE(out + 224, at, 128, "inc.u32");
    REDUCE(out + 256, at, 128, "dec.u32");
    REDUCE(out + 288, at, 128, "and.b32");
    REDUCE(out + 320, at, 128, "or.b64");
    REDUCE(out + 352, at, 128, "xor.b32");
    REDUCE(out + 384, at, 128, "and.b64");
    REDUCE(out + 416, at, 128, "xor.b64");
    REDUCE(out + 448, at, 128, "max.u32");
    finish_stores();
  }
}

/// The same in floating point: sums with subnormal parts, and the least and greatest halves.
__global__ void bulk_float_reductions(unsigned* out) {
  __shared__ alignas(128) unsigned s[32];
  __shared__ alignas(128) double d[16];
  const unsigned t = threadIdx.x;
  const float x = t < 16 ? 1.5f * t : __uint_as_float(0x00400000u + t * 1000);
  __half2 h = __floats2half2_rn(0.25f * t - 3, t < 16 ? 1e-7f * t : 100.0f * t);
  __nv_bfloat162 b = __floats2bfloat162_rn(0.3f * t - 4, t < 16 ? 1e-39f * t : 1e3f * t);
  if (t < 16) d[t] = 0.1 * t;
  float* f = reinterpret_cast<float*>(out);
  __half2* oh = reinterpret_cast<__half2*>(out);
  __nv_bfloat162* ob = reinterpret_cast<__nv_bfloat162*>(out);
  f[t] = t < 16 ? 0.1f * t : __uint_as_float(0x00300000u + t);
  if (t < 16) reinterpret_cast<double*>(out + 32)[t] = 1.0 / (t + 1);
  for (int i = 2; i < 5; ++i) oh[32 * i + t] = __floats2half2_rn(0.7f * t - 9, t < 16 ? 2e-7f * t : -0.0f);
  for (int i = 5; i < 8; ++i)
    ob[32 * i + t] = __floats2bfloat162_rn(0.7f * t - 9, t < 16 ? 2e-39f * t : -0.0f);
  __threadfence();
  const unsigned at = shared_address(s);
  const auto ready = [&] {
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncwarp();
  };
  s[t] = __float_as_uint(x);
  ready();
  if (t == 0) {
    REDUCE(f, at, 128, "add.f32");
    REDUCE(out + 32, shared_address(d), 128, "add.f64");
    finish_stores();
  }
  __syncwarp();
  s[t] = *reinterpret_cast<unsigned*>(&h);
  ready();
  if (t == 0) {
    REDUCE(oh + 64, at, 128, "add.noftz.f16");
    REDUCE(oh + 96, at, 128, "min.f16");
    REDUCE(oh + 128, at, 128, "max.f16");
    finish_stores();
  }
  __syncwarp();
  s[t] = *reinterpret_cast<unsigned*>(&b);
  ready();
  if (t == 0) {
    REDUCE(ob + 160, at, 128, "add.noftz.bf16");
    REDUCE(ob + 192, at, 128, "min.bf16");
    REDUCE(ob + 224, at, 128, "max.bf16");
    finish_stores();
  }
}

#define REDUCE_SHARED(TO, FROM, BAR, OPERATION)                                                           \
  asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." OPERATION \
               " [%0], [%1], 64, [%2];" ::"r"(TO),                                                        \
               "r"(FROM), "r"(BAR)                                                                        \
               : "memory")

/// Both blocks of a cluster add to and combine with what the other one has.
__global__ void __cluster_dims__(2) bulk_shared_reductions(unsigned* out) {
  __shared__ alignas(128) unsigned mine[16], there[6][16];
  __shared__ alignas(8) unsigned long long bar;
  const unsigned t = threadIdx.x, rank = cluster_rank(), at = shared_address(mine);
  mine[t] = t * 3 + rank * 1000;
  for (int i = 0; i < 6; ++i) there[i][t] = 700 + t * t + rank;
  if (t == 0) {
    init(shared_address(&bar), 1);
    expect(shared_address(&bar), 6 * 64);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  meet();
  if (t == 0) {
    const unsigned other = rank ^ 1, b = mapped(shared_address(&bar), other);
    REDUCE_SHARED(mapped(shared_address(there[0]), other), at, b, "add.u32");
    REDUCE_SHARED(mapped(shared_address(there[1]), other), at, b, "min.s32");
    REDUCE_SHARED(mapped(shared_address(there[2]), other), at, b, "max.u32");
    REDUCE_SHARED(mapped(shared_address(there[3]), other), at, b, "and.b32");
    REDUCE_SHARED(mapped(shared_address(there[4]), other), at, b, "add.u64");
    REDUCE_SHARED(mapped(shared_address(there[5]), other), at, b, "inc.u32");
  }
  wait(shared_address(&bar), 0);
  for (int i = 0; i < 6; ++i) out[96 * blockIdx.x + 16 * i + t] = there[i][t];
  meet();
}
}
