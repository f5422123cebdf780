// Scores of queries and keys, in dynamic shared memory that pointers divide: every lane goes along the row of
// a key of its own. Blocks of 32x4 threads, 20,480 bytes.
#include <lanescope/tile.cuh>

constexpr int count = 32, width = 64;

extern "C" __global__ void parts(float* out, const float* q, const float* k) {
  extern __shared__ float memory[];
  float* queries = memory;
  float* keys_begin = queries + count * width;
  lanescope::SwizzledPointer<float, 64, 1, 2, 4, 8, 16> keys{keys_begin};
  float* scores = keys_begin + count * width;
  const int lane = threadIdx.x, first = threadIdx.y * 32 + lane;
  for (int i = first; i < count * width; i += 128) {
    queries[i] = q[blockIdx.x * count * width + i];
    keys[i] = k[blockIdx.x * count * width + i];
  }
  __syncthreads();
  for (int row = threadIdx.y; row < count; row += 4) {
    float sum = 0;
    for (int c = 0; c < width; ++c) sum += queries[row * width + c] * keys[lane * width + c];
    scores[row * count + lane] = sum;
  }
  __syncthreads();
  for (int i = first; i < count * count; i += 128)
    out[blockIdx.x * count * count + i] = scores[i] / (1.0f + scores[i ^ 1]);
}
