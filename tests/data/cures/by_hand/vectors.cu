// Accesses of two elements that the compiler makes of two of one, which padding takes apart again, and such
// that the program asks for, which have to stay whole. Rows of 16 words are read by columns. One block of 256
// threads each.
#include <lanescope/tile.cuh>

constexpr int elements = 512;

extern "C" {
__global__ void pairs(float* out, const float* in) {
  __shared__ float s[elements];
  const int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  out[t] = s[t % 32 * 16 + t / 32];
}

__global__ void pairs_cured(float* out, const float* in) {
  __shared__ lanescope::PaddedArray<float, elements, 32, 1> s;
  const int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  out[t] = s[t % 32 * 16 + t / 32];
}

// The launch decides how large it is; its elements are known all the same.
__global__ void pairs_of_launch(float* out, const float* in) {
  extern __shared__ float s[];
  const int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  out[t] = s[t % 32 * 16 + t / 32];
}

__global__ void vectors(float* out, const float2* in) {
  __shared__ float s[elements];
  const int t = threadIdx.x;
  reinterpret_cast<float2&>(s[2 * t]) = in[t];
  __syncthreads();
  out[t] = s[t % 32 * 16 + t / 32];
}

__global__ void vectors_by_address(float* out, const float2* in) {
  __shared__ float s[elements];
  const int t = threadIdx.x;
  *reinterpret_cast<float2*>(&s[2 * t]) = in[t];
  __syncthreads();
  out[t] = s[t % 32 * 16 + t / 32];
}
}
