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
}
