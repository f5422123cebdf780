// Fourier transforms of 256 complex numbers, one a block of 128 threads: radix-2 stages on bit-reversed
// input, whose partners stand 1, 2, 4, … apart.
#include <lanescope/tile.cuh>

constexpr int points = 256, threads = points / 2;

extern "C" __global__ void fourier(float2* out, const float2* in) {
  __shared__ lanescope::SwizzledArray<float2, points, 16, 15, 2, 4, 8> s;
  const int t = threadIdx.x, first = blockIdx.x * points;
  s[__brev(t) >> 24] = in[first + t];
  s[__brev(t + threads) >> 24] = in[first + t + threads];
  for (int half = 1; half < points; half *= 2) {
    __syncthreads();
    const int k = t & (half - 1), i = 2 * t - k;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / half, &sine, &cosine);
    const float2 a = s[i], b = s[i + half];
    const float2 p = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[i] = make_float2(a.x + p.x, a.y + p.y);
    s[i + half] = make_float2(a.x - p.x, a.y - p.y);
  }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + threads] = s[t + threads];
}
