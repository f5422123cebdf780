// Sums over trees in an array whose index has a padding, for 16 banks and for 32. Blocks of 256 threads.

template <int log_banks>
__device__ int padded(int i) {
  return i + (i >> log_banks);
}

template <int log_banks>
__device__ void sums(float* out, const float* in) {
  __shared__ float tree[512 + 32];
  const int t = threadIdx.x;
  tree[padded<log_banks>(t)] = in[t];
  tree[padded<log_banks>(t + 256)] = in[t + 256];
  for (int step = 1; step < 512; step *= 2) {
    __syncthreads();
    if (t < 256 / step) tree[padded<log_banks>(2 * step * t)] += tree[padded<log_banks>(2 * step * t + step)];
  }
  __syncthreads();
  out[t] = tree[padded<log_banks>(t)] + tree[padded<log_banks>(t + 256)];
}

extern "C" __global__ void sums_for_16_banks(float* out, const float* in) { sums<4>(out, in); }
extern "C" __global__ void sums_for_32_banks(float* out, const float* in) { sums<5>(out, in); }
