// Doubles squares of 32 x 32 numbers, a row by each thread, from one part of dynamic shared memory to
// another. Its accesses to both are merged; of one alone whose rows lie otherwise nothing is merged any more.
#include <lanescope/tile.cuh>

extern "C" __global__ void together(float* out, const float* in) {
  extern __shared__ float parts[];
  float* a_begin = parts;
  lanescope::SwizzledPointer<float, 32, 1, 2, 4, 8, 16> a{a_begin};
  float* b = parts + 32 * 32;
  const int t = threadIdx.x, first = blockIdx.x * 32 * 32;
  for (int r = 0; r < 32; ++r) a[r * 32 + t] = in[first + r * 32 + t];
  __syncthreads();
  for (int r = 0; r < 32; ++r) b[t * 32 + r] = a[t * 32 + r] * 2;
  __syncthreads();
  for (int r = 0; r < 32; ++r) out[first + r * 32 + t] = b[r * 32 + t];
}
