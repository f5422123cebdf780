// Atomic operations on shared and global memory: results that do not depend on the order. Launch with blocks
// of 64 threads and out[] zero, unless said.

extern "C" {
/// Every integer operation on words that all T threads of the grid share, g = a thread's number in the grid.
/// out: 0 sum of g; 1 least of 0 and g - 100; 2 greatest of 0 and g - 100; 3 or of 1 << g % 32; 5 xor of g; 6
/// T counted up modulo 11; 7 T counted down modulo 13; 8 greatest 3g; 9 77.
__global__ void atomics_global(int* out) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[0], g);
  atomicMin(&out[1], g - 100);
  atomicMax(&out[2], g - 100);
  atomicOr(&out[3], 1 << (g % 32));
  atomicXor(&out[5], g);
  atomicInc(reinterpret_cast<unsigned*>(&out[6]), 10u);
  atomicDec(reinterpret_cast<unsigned*>(&out[7]), 12u);
  atomicMax(reinterpret_cast<unsigned*>(&out[8]), static_cast<unsigned>(g) * 3u);
  atomicExch(&out[9], 77);
}

/// The same in shared memory, and what the operations return: out[0 … 5] final values; out[8] is the sum over
/// all threads of what atomicAdd(…, 1) gave: 0 + 1 + … + 63.
__global__ void atomics_shared(int* out) {
  __shared__ int s[8];
  const int t = threadIdx.x;
  if (t < 8) s[t] = t == 3 ? -1 : 0;
  __syncthreads();
  atomicAdd(&s[0], t);
  atomicMin(&s[1], -t);
  atomicMax(&s[2], t * t);
  atomicAnd(&s[3], ~(1 << (t % 16)));
  atomicXor(&s[4], t * 5);
  atomicSub(&s[5], 2);
  const int before = atomicAdd(&s[6], 1);
  atomicAdd(&s[7], before);
  __syncthreads();
  if (t < 8) out[t] = s[t];
  if (t == 0) out[8] = s[7];
}

/// 64-bit integers, floats and doubles whose sums are exact. out as 64-bit numbers: 0 sum of g^2; 1 max of
/// g << 33; 2 or of 1 << g % 64; 3 float sum of g (bits); 4 double sum of g / 4 (bits); 5, 6 the same in
/// shared memory.
__global__ void atomics_wide(unsigned long long* out) {
  __shared__ float f;
  __shared__ double d;
  const unsigned long long g = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    f = 0;
    d = 0;
  }
  __syncthreads();
  atomicAdd(&out[0], g * g);
  atomicMax(&out[1], g << 33);
  atomicOr(&out[2], 1ull << (g % 64));
  atomicAdd(reinterpret_cast<float*>(&out[3]), static_cast<float>(g));
  atomicAdd(reinterpret_cast<double*>(&out[4]), 0.25 * static_cast<double>(g));
  atomicAdd(&f, static_cast<float>(threadIdx.x));
  atomicAdd(&d, 0.5 * threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[5] = __float_as_uint(f);
    out[6] = static_cast<unsigned long long>(__double_as_longlong(d));
  }
}

/// Loops around compare-and-swap, as programs build their own operations: out[0] product of 3s modulo 2^32,
/// one 3 for each thread; out[1] float maximum (bits) of g - 20; out[2], out[3] 64-bit: sum of 2^33 + g.
__global__ void atomics_loops(unsigned* out) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned old = out[0], assumed;
  do {
    assumed = old;
    old = atomicCAS(&out[0], assumed, (assumed == 0 ? 1 : assumed) * 3);
  } while (old != assumed);
  const float mine = static_cast<float>(g) - 20.0f;
  old = out[1];
  do {
    assumed = old;
    if (__uint_as_float(assumed) >= mine) break;
    old = atomicCAS(&out[1], assumed, __float_as_uint(mine));
  } while (old != assumed);
  unsigned long long* wide = reinterpret_cast<unsigned long long*>(out + 2);
  unsigned long long was = *wide, expected;
  do {
    expected = was;
    was = atomicCAS(wide, expected, expected + (1ull << 33) + g);
  } while (was != expected);
}

/// Histogram of 16 bins, in shared memory first: out[k] = number of global thread numbers g with g * g % 16
/// == k.
__global__ void atomics_histogram(unsigned* out) {
  __shared__ unsigned bins[16];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[g * g % 16], 1u);
  __syncthreads();
  if (t < 16) atomicAdd(&out[t], bins[t]);
}
}
