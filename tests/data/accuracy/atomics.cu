// Atomics on shared memory that the hardware has no instruction for, and compare-and-swap. Each warp has
// words of its own, so that no two warps meet there and the counters are the same in each launch.
#include <cuda_fp16.h>

namespace {

/// Sums of `each` inputs in 48 bins of each of four warps.
template <class T, class Add>
__device__ void bins(T* out, const unsigned* in, int each, Add add) {
  __shared__ T sums[4][48];
  const int t = threadIdx.x;
  for (int i = t; i < 192; i += 128) sums[i / 48][i % 48] = T();
  __syncthreads();
  for (int i = 0; i < each; ++i) {
    const unsigned number = in[(blockIdx.x * each + i) * 128 + t];
    add(&sums[t / 32][number % 48], number);
  }
  __syncthreads();
  for (int i = t; i < 192; i += 128) out[blockIdx.x * 192 + i] = sums[i / 48][i % 48];
}

/// Keys in a table of each warp, by open addressing.
template <class Key>
__device__ void insert(Key* out, const unsigned* in, Key* table) {
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) table[i] = 0;
  __syncthreads();
  const Key key = in[blockIdx.x * 128 + t] % 1000 + 1;
  Key* mine = table + t / 32 * 128;
  unsigned slot = static_cast<unsigned>(key) * 7 % 128;
  while (true) {
    const Key found = atomicCAS(&mine[slot], Key(0), key);
    if (found == 0 || found == key) break;
    slot = (slot + 1) % 128;
  }
  out[blockIdx.x * 128 + t] = slot;
}

}  // namespace

extern "C" {
__global__ void bins_float(float* out, const unsigned* in, int each) {
  bins(out, in, each,
       [](float* sum, unsigned number) { atomicAdd(sum, static_cast<float>(number % 100 + 1)); });
}

__global__ void bins_double(double* out, const unsigned* in, int each) {
  bins(out, in, each,
       [](double* sum, unsigned number) { atomicAdd(sum, static_cast<double>(number % 100 + 1)); });
}

__global__ void bins_long(unsigned long long* out, const unsigned* in, int each) {
  bins(out, in, each, [](unsigned long long* sum, unsigned number) { atomicAdd(sum, number * 3ull + 1); });
}

__global__ void bins_halves(__half2* out, const unsigned* in, int each) {
  bins(out, in, each, [](__half2* sum, unsigned) {
    const unsigned ones = 0x3c003c00, at = static_cast<unsigned>(__cvta_generic_to_shared(sum));
    asm volatile("red.shared.add.noftz.f16x2 [%0], %1;" ::"r"(at), "r"(ones) : "memory");
  });
}

__global__ void bins_half(__half* out, const unsigned* in, int each) {
  bins(out, in, each, [](__half* sum, unsigned number) { atomicAdd(sum, __float2half(1.0f + number % 2)); });
}

/// Toggles of bits, 64 in each word.
__global__ void bins_bits(unsigned long long* out, const unsigned* in, int each) {
  bins(out, in, each,
       [](unsigned long long* set, unsigned number) { atomicXor(set, 1ull << (number / 48 % 64)); });
}

/// Columns of a tile of 32 x 32 floats, one after the other: all lanes in one bank.
__global__ void columns_float(float* out, const float* in) {
  __shared__ float tile[4][32][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) tile[warp][i][lane] = in[i * 32 + lane];
  __syncwarp();
  for (int i = 0; i < 32; i += 8) atomicAdd(&tile[warp][lane][i], 2.0f);
  __syncwarp();
  for (int i = 0; i < 32; ++i) out[(blockIdx.x * 4 + warp) * 1024 + i * 32 + lane] = tile[warp][i][lane];
}

/// Two lanes of three, in five words of two banks apart.
__global__ void some_lanes(float* out, const unsigned* in) {
  __shared__ float sums[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  sums[warp][lane] = 0;
  __syncwarp();
  const unsigned number = in[blockIdx.x * 128 + threadIdx.x];
  if (number % 3 != 0) atomicAdd(&sums[warp][number % 5 * 6], 1.0f);
  __syncwarp();
  out[blockIdx.x * 128 + threadIdx.x] = sums[warp][lane];
}

__global__ void insert_words(unsigned* out, const unsigned* in) {
  __shared__ unsigned table[512];
  insert(out, in, table);
}

__global__ void insert_longs(unsigned long long* out, const unsigned* in) {
  __shared__ unsigned long long table[512];
  insert(out, in, table);
}

/// Each lane puts its number where another's was.
__global__ void exchange_longs(unsigned long long* out, const unsigned* in) {
  __shared__ unsigned long long slots[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  slots[warp][lane] = lane;
  __syncwarp();
  const unsigned number = in[blockIdx.x * 128 + threadIdx.x];
  atomicExch(&slots[warp][number % 20], static_cast<unsigned long long>(number));
  __syncwarp();
  out[blockIdx.x * 128 + threadIdx.x] = slots[warp][lane] != lane;
}
}
