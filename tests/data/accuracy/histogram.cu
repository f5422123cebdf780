// Histograms of bytes and small numbers in shared memory: atomics, counters of one thread, counters of a
// warp.

extern "C" {
/// 256 counters for the block.
__global__ void histogram_block(unsigned* out, const unsigned* in, int each) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) atomicAdd(&bins[in[(blockIdx.x * each + i) * 256 + t] & 255], 1u);
  __syncthreads();
  out[blockIdx.x * 256 + t] = bins[t];
}

/// 64 counters for each of eight warps, added up at the end.
__global__ void histogram_warps(unsigned* out, const unsigned* in, int each) {
  __shared__ unsigned bins[8][64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 256) bins[i / 64][i % 64] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) atomicAdd(&bins[t / 32][in[(blockIdx.x * each + i) * 256 + t] & 63], 1u);
  __syncthreads();
  if (t < 64) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += bins[w][t];
    out[blockIdx.x * 64 + t] = sum;
  }
}

/// 16 counters of a byte for each of 128 threads; no atomics.
__global__ void histogram_threads(unsigned* out, const unsigned* in, int each) {
  __shared__ unsigned char bins[128][16];
  const int t = threadIdx.x;
  for (int i = 0; i < 16; ++i) bins[t][i] = 0;
  for (int i = 0; i < each; ++i) ++bins[t][in[(blockIdx.x * each + i) * 128 + t] & 15];
  __syncthreads();
  if (t < 16) {
    unsigned sum = 0;
    for (int i = 0; i < 128; ++i) sum += bins[i][t];
    out[blockIdx.x * 16 + t] = sum;
  }
}

/// The same with 32-bit counters, those of one thread side by side.
__global__ void histogram_words(unsigned* out, const unsigned* in, int each) {
  __shared__ unsigned bins[128][8];
  const int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 8; ++i) bins[t][i] = 0;
  for (int i = 0; i < each; ++i) ++bins[t][in[(blockIdx.x * each + i) * 128 + t] & 7];
  __syncthreads();
  if (t < 32) {
#pragma unroll
    for (int i = 0; i < 8; ++i) bins[t][i] += bins[t + 32][i] + bins[t + 64][i] + bins[t + 96][i];
  }
  __syncthreads();
  if (t < 8) {
    unsigned sum = 0;
    for (int i = 0; i < 32; ++i) sum += bins[i][t];
    out[blockIdx.x * 8 + t] = sum;
  }
}
}
