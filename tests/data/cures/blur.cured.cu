// The mean of nine points, two on each side along both axes. Blocks of 16x16 threads: a warp covers two rows
// of the tile, 20 words apart because of the halo. `in` has a border of two points, `out` none.
constexpr int side = 16, halo = 2;

extern "C" __global__ void blur(float* out, const float* in, int pitch) {
  __shared__ float tile[side + 2 * halo][side + 2 * halo + 28];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const float* from = in + blockIdx.y * side * pitch + blockIdx.x * side;
  for (int y = ty; y < side + 2 * halo; y += side)
    for (int x = tx; x < side + 2 * halo; x += side) tile[y][x] = from[y * pitch + x];
  __syncthreads();
  float sum = tile[ty + halo][tx + halo];
#pragma unroll
  for (int i = 1; i <= halo; ++i)
    sum += tile[ty + halo - i][tx + halo] + tile[ty + halo + i][tx + halo] + tile[ty + halo][tx + halo - i] +
           tile[ty + halo][tx + halo + i];
  out[(blockIdx.y * side + ty) * gridDim.x * side + blockIdx.x * side + tx] = sum / (4 * halo + 1);
}
