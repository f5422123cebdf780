// A sum that all threads of a block need, through shared memory to the end, and with the last warp's
// shuffles: the sum itself goes through shared memory in both. Blocks of 256 threads.
constexpr int threads = 256;

extern "C" {
__global__ void share_by_memory(float* out, const float* in) {
  __shared__ float s[threads];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    if (t < distance) s[t] += s[t + distance];
    __syncthreads();
  }
  out[t] = in[t] / s[0];
}

__global__ void share_by_shuffles(float* out, const float* in) {
  __shared__ float s[threads];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int distance = threads / 2; distance > 32; distance /= 2) {
    if (t < distance) s[t] += s[t + distance];
    __syncthreads();
  }
  if (t < 32) {
    float sum = s[t] + s[t + 32];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (t == 0) s[0] = sum;
  }
  __syncthreads();
  out[t] = in[t] / s[0];
}
}
