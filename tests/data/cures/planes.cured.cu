// The first and the last dimension of bricks of 16x4x16 change places: a warp reads one element of each of
// sixteen planes, in two rows. Blocks of 16x4x16 threads.
#include <lanescope/tile.cuh>

constexpr int depth = 16, height = 4, width = 16;

extern "C" __global__ void planes(float* out, const float* in) {
  __shared__ lanescope::PaddedPlanes<float, depth, height, width, 1> brick;
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = ((blockIdx.x * depth + z) * height + y) * width + x;
  brick[z][y][x] = in[i];
  __syncthreads();
  out[i] = brick[x][y][z];
}
