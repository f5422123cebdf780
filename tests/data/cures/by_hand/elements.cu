// Each thread works on four elements of its own: four neighbours, and four that are a block apart, as advice
// has it. Blocks of 64 threads.
constexpr int threads = 64, each = 4;

__device__ __forceinline__ float smooth(float before, float value) { return 0.75f * value + 0.25f * before; }

extern "C" {
__global__ void blocked(float* out, const float* in) {
  __shared__ float s[threads * each];
  const int t = threadIdx.x, first = blockIdx.x * threads * each;
  for (int i = 0; i < each; ++i) s[each * t + i] = in[first + each * t + i];
  for (int step = 0; step < 3; ++step)
    for (int i = 0; i < each; ++i) s[each * t + i] = smooth(s[each * t + i], in[first + each * t + i]);
  for (int i = 0; i < each; ++i) out[first + each * t + i] = s[each * t + i];
}

__global__ void strided(float* out, const float* in) {
  __shared__ float s[threads * each];
  const int t = threadIdx.x, first = blockIdx.x * threads * each;
  for (int i = 0; i < each; ++i) s[t + i * threads] = in[first + t + i * threads];
  for (int step = 0; step < 3; ++step)
    for (int i = 0; i < each; ++i)
      s[t + i * threads] = smooth(s[t + i * threads], in[first + t + i * threads]);
  for (int i = 0; i < each; ++i) out[first + t + i * threads] = s[t + i * threads];
}

// Eight elements of its own for each thread, which the assembler accesses as vectors.
__global__ void blocked_vectors(float* out, const float* in) {
  __shared__ float s[threads * 8];
  const int t = threadIdx.x, first = blockIdx.x * threads * 8;
  for (int i = 0; i < 8; ++i) s[8 * t + i] = in[first + i * threads + t];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s[8 * t + i] * s[8 * t];
  out[first + t] = sum;
}

// The four elements of the thread behind. Blocks of 32x2 threads.
__global__ void neighbours_elements(float* out, const float* in) {
  __shared__ float s[threads * each + each];
  const int t = threadIdx.y * 32 + threadIdx.x;
  for (int i = 0; i < each; ++i) s[each * t + i] = in[each * t + i];
  __syncthreads();
  for (int i = 0; i < each; ++i) out[each * t + i] = s[each * (t + 1) + i];
}

// No elements of its own: columns of a tile. Blocks of 32x32 threads.
__global__ void columns_of_flat_tile(float* out, const float* in) {
  __shared__ float s[32 * 32];
  const int x = threadIdx.x, y = threadIdx.y;
  s[x * 32 + y] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = s[x * 32 + 31 - y];
}
}
