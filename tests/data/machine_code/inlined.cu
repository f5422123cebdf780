// Functions that are inlined into each other, for the tables of lines in machine code (README.md).
__device__ __forceinline__ float element(const float* s, unsigned i) { return s[i] * 2; }

__device__ __forceinline__ float pair(const float* s, unsigned i) {
  const float first = element(s, i);
  return first + element(s, i + 7);
}

extern "C" __global__ void inlined(float* out) {
  __shared__ float s[1024];
  s[threadIdx.x * 32 % 1024] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = pair(s, threadIdx.x);
  out[threadIdx.x + 32] = element(s, threadIdx.x * 2);
}

extern "C" __global__ void inlined_again(float* out) {
  __shared__ float t[64];
  t[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = pair(t, threadIdx.x * 2 % 32);
}
