// Must not compile, where nvcc is found: the check inside of a kernel finds the same as outside.
#include "lanescope/tile.cuh"

__global__ void transpose(float* out, const float* in) {
  using Tile = lanescope::PaddedTile<float, 32, 32, 0>;
  static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column),
                "the column of the tile has bank conflicts");
  __shared__ Tile tile;
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
