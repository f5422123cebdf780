// Bulk copies of boxes of tensors (the tensor memory accelerator). Maps are made by the host: see
// tests/kernels/program_cases.hpp. What a box looks like in shared memory is written out byte for byte.

// Types of parameters: not in the namespace below, whose name nvcc would put into the PTX, ever another one.

/// A CUtensorMap.
struct alignas(64) Map {
  char opaque[128];
};
struct Coordinates {
  int at[5];
};

namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void init(unsigned bar) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar)
               : "memory");
}

__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra WAIT; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}

#define LOAD       "cp.async.bulk.tensor."
#define LOAD_TO    ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
#define STORE_FROM ".global.shared::cta.tile.bulk_group [%0, "

__device__ void load(int dimensions, unsigned to, const Map& map, const Coordinates& c, unsigned bar) {
  switch (dimensions) {
    case 1:
      asm volatile(LOAD "1d" LOAD_TO "{%3}], [%2];" ::"r"(to), "l"(&map), "r"(bar), "r"(c.at[0]) : "memory");
      break;
    case 2:
      asm volatile(LOAD "2d" LOAD_TO "{%3, %4}], [%2];" ::"r"(to), "l"(&map), "r"(bar), "r"(c.at[0]),
                   "r"(c.at[1])
                   : "memory");
      break;
    case 3:
      asm volatile(LOAD "3d" LOAD_TO "{%3, %4, %5}], [%2];" ::"r"(to), "l"(&map), "r"(bar), "r"(c.at[0]),
                   "r"(c.at[1]), "r"(c.at[2])
                   : "memory");
      break;
    case 4:
      asm volatile(LOAD "4d" LOAD_TO "{%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(&map), "r"(bar), "r"(c.at[0]),
                   "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
                   : "memory");
      break;
    default:
      asm volatile(LOAD "5d" LOAD_TO "{%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(&map), "r"(bar),
                   "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
                   : "memory");
  }
}

__device__ void store(int dimensions, const Map& map, const Coordinates& c, unsigned from) {
  switch (dimensions) {
    case 1:
      asm volatile(LOAD "1d" STORE_FROM "{%2}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]) : "memory");
      break;
    case 2:
      asm volatile(LOAD "2d" STORE_FROM "{%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]), "r"(c.at[1])
                   : "memory");
      break;
    case 3:
      asm volatile(LOAD "3d" STORE_FROM "{%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                   "r"(c.at[1]), "r"(c.at[2])
                   : "memory");
      break;
    case 4:
      asm volatile(LOAD "4d" STORE_FROM "{%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                   "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
                   : "memory");
      break;
    default:
      asm volatile(LOAD "5d" STORE_FROM "{%2, %3, %4, %5, %6}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                   "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
                   : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

#define REDUCE(OPERATION)                                                     \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." OPERATION \
               ".tile.bulk_group [%0, {%2, %3}], "                            \
               "[%1];" ::"l"(&map),                                           \
               "r"(from), "r"(c.at[0]), "r"(c.at[1])                          \
               : "memory")

}  // namespace

extern "C" {
/// Loads one box of `bytes` bytes to `offset` of shared memory that is full of 0xcd, and copies bytes + 128
/// of that from 64 before the box on to out.
__global__ void tensor_load(const __grid_constant__ Map map, int dimensions, Coordinates c, int offset,
                            int bytes, int* out) {
  extern __shared__ __align__(1024) char s[];
  __shared__ alignas(8) unsigned long long bar;
  const int t = threadIdx.x, words = (offset + bytes + 1024) / 4;
  for (int i = t; i < words; i += blockDim.x) reinterpret_cast<int*>(s)[i] = 0xcdcdcdcd;
  const unsigned at = shared_address(&bar);
  if (t == 0) {
    init(at);
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
    load(dimensions, shared_address(s) + 512 + offset, map, c, at);
  }
  wait(at, 0);
  for (int i = t; i < (bytes + 128) / 4; i += blockDim.x)
    out[i] = reinterpret_cast<int*>(s + 512 + offset - 64)[i];
}

/// Stores one box of words that count from 1 on, from `offset` of shared memory.
__global__ void tensor_store(const __grid_constant__ Map map, int dimensions, Coordinates c, int offset,
                             int bytes) {
  extern __shared__ __align__(1024) char s[];
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    reinterpret_cast<int*>(s + offset)[i] = 0x01000193 * (i + 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) store(dimensions, map, c, shared_address(s) + offset);
}

/// Combines a box of two dimensions with the tensor. Elements come from `in`, `bytes` of them.
__global__ void tensor_reduce(const __grid_constant__ Map map, int operation, Coordinates c, const int* in,
                              int bytes) {
  extern __shared__ __align__(1024) char s[];
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) reinterpret_cast<int*>(s)[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned from = shared_address(s);
  switch (operation) {
    case 0: REDUCE("add"); break;
    case 1: REDUCE("min"); break;
    case 2: REDUCE("max"); break;
    case 3: REDUCE("inc"); break;
    case 4: REDUCE("dec"); break;
    case 5: REDUCE("and"); break;
    case 6: REDUCE("or"); break;
    default: REDUCE("xor");
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

/// Both blocks of a cluster load half of a box of 32 words by 16 rows into both of them.
__global__ void __cluster_dims__(2) tensor_multicast(const __grid_constant__ Map map, int* out) {
  __shared__ alignas(1024) int s[512];
  __shared__ alignas(8) unsigned long long bar;
  const int t = threadIdx.x;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned at = shared_address(&bar);
  if (t == 0) {
    init(at);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(at) : "memory");
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  if (t == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(s) + rank * 1024),
        "l"(&map), "r"(at), "r"(32 * static_cast<int>(blockIdx.x / 2)), "r"(8 * rank),
        "h"(static_cast<unsigned short>(3))
        : "memory");
  wait(at, 0);
  for (int i = t; i < 512; i += blockDim.x) out[512 * blockIdx.x + i] = s[i];
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

/// Transposes 32x32 tiles of words through swizzled shared memory, which are loaded and stored as boxes: word
/// (x, y) of a tile is in unit x / 4 ^ y % 8 of row y.
__global__ void tensor_transpose(const __grid_constant__ Map from, const __grid_constant__ Map to) {
  __shared__ alignas(1024) int in[32 * 32], out[32 * 32];
  __shared__ alignas(8) unsigned long long bar;
  const int t = threadIdx.x, column = threadIdx.x % 32, first = threadIdx.x / 32;
  const unsigned at = shared_address(&bar);
  const Coordinates source{{static_cast<int>(32 * blockIdx.x), static_cast<int>(32 * blockIdx.y)}},
      target{{static_cast<int>(32 * blockIdx.y), static_cast<int>(32 * blockIdx.x)}};
  if (t == 0) {
    init(at);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(at) : "memory");
    load(2, shared_address(in), from, source, at);
  }
  __syncthreads();
  wait(at, 0);
  const auto place = [](int x, int y) { return 32 * y + ((x / 4 ^ y % 8) * 4 | x % 4); };
  for (int row = first; row < 32; row += blockDim.x / 32) out[place(row, column)] = in[place(column, row)];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) store(2, to, target, shared_address(out));
}
}
