// Reductions and exchanges through the arrays of lanescope/tile.cuh, and the same with the places computed by
// hand: the compiler makes the same PTX of both. Blocks of 256 threads.
#include <lanescope/tile.cuh>

constexpr unsigned block = 256;

template <class Array>
__device__ __forceinline__ void sum_up(Array& d, float* out, const float* in) {
  const unsigned t = threadIdx.x;
  d[t] = in[blockIdx.x * block + t];
  __syncthreads();
  for (unsigned s = 1; s < block; s *= 2) {
    const unsigned i = 2 * s * t;
    if (i < block) d[i] += d[i + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}

extern "C" {
__global__ void with_gaps(float* out, const float* in) {
  __shared__ lanescope::PaddedArray<float, block> d;
  sum_up(d, out, in);
}
__global__ void with_gaps_by_hand(float* out, const float* in) {
  __shared__ __align__(16) float d[block + block / 32];
  const unsigned t = threadIdx.x;
  d[t + t / 32] = in[blockIdx.x * block + t];
  __syncthreads();
  for (unsigned s = 1; s < block; s *= 2) {
    const unsigned i = 2 * s * t;
    if (i < block) d[i + i / 32] += d[i + s + (i + s) / 32];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}

__global__ void turned_around(int* out, const int* in) {
  __shared__ lanescope::SwizzledArray<int, 2 * block, 32, 31> s;
  const unsigned t = threadIdx.x, first = blockIdx.x * 2 * block;
  s[t] = in[first + t];
  s[t + block] = in[first + t + block];
  __syncthreads();
  out[first + t] = s[2 * t] - s[2 * t + 1];
}
__global__ void turned_around_by_hand(int* out, const int* in) {
  __shared__ __align__(16) int s[2 * block];
  const unsigned t = threadIdx.x, first = blockIdx.x * 2 * block;
  s[t ^ ((int)(t << 26) >> 31 & 31)] = in[first + t];
  const int other = in[first + t + block];
  const unsigned second = t + block;
  s[second ^ ((int)(second << 26) >> 31 & 31)] = other;
  __syncthreads();
  const unsigned even = 2 * t;
  const int left = s[even ^ ((int)(even << 26) >> 31 & 31)];
  const unsigned odd = 2 * t + 1;
  out[first + t] = left - s[odd ^ ((int)(odd << 26) >> 31 & 31)];
}
}
