// Counters that data picks. Blocks of 256 threads.

extern "C" __global__ void counters(unsigned* out, const unsigned char* in, int each) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) atomicAdd(&bins[in[(blockIdx.x * each + i) * 256 + t]], 1u);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}

// The same with counters for each lane of a warp.
extern "C" __global__ void counters_of_lanes(unsigned* out, const unsigned char* in, int each) {
  __shared__ unsigned bins[256 * 32];
  const int t = threadIdx.x, lane = t % 32;
  for (int i = t; i < 256 * 32; i += 256) bins[i] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) atomicAdd(&bins[in[(blockIdx.x * each + i) * 256 + t] * 32 + lane], 1u);
  __syncthreads();
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < 32; ++i) sum += bins[t * 32 + (i + lane) % 32];
  atomicAdd(&out[t], sum);
}

// Places in lists: what a counter was before is needed, so that there can be but one.
extern "C" __global__ void places(unsigned* out, const unsigned char* in, int each) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) {
    const int at = (blockIdx.x * each + i) * 256 + t;
    out[at] = atomicAdd(&bins[in[at]], 1u);
  }
}

// Two kinds of counters, which share a block's memory.
extern "C" __global__ void two_counters(unsigned* out, const unsigned char* in, int each) {
  __shared__ unsigned low[256], high[256];
  const int t = threadIdx.x;
  low[t] = high[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) {
    const unsigned value = in[(blockIdx.x * each + i) * 256 + t];
    atomicAdd(&low[value], 1u);
    atomicAdd(&high[value * 7 % 256], 1u);
  }
  __syncthreads();
  atomicAdd(&out[t], low[t]);
  atomicAdd(&out[256 + t], high[t]);
}
