// One step of a nine-point stencil on columns of 8 points: a warp covers four rows of the tile, whose halo
// makes its rows 10 words long. Blocks of 8x32 threads; `in` has a border of one point, `out` none.
constexpr int width = 8, height = 32, halo = 1;

extern "C" __global__ void stencil(float* out, const float* in, int pitch) {
  __shared__ float tile[height + 2 * halo][width + 2 * halo + 14];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const float* from = in + blockIdx.y * height * pitch + blockIdx.x * width;
  for (int y = ty; y < height + 2 * halo; y += height)
    for (int x = tx; x < width + 2 * halo; x += width) tile[y][x] = from[y * pitch + x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int y = 0; y < 3; ++y)
#pragma unroll
    for (int x = 0; x < 3; ++x) sum += tile[ty + y][tx + x] * (x == 1 && y == 1 ? 0.5f : 0.0625f);
  out[(blockIdx.y * height + ty) * gridDim.x * width + blockIdx.x * width + tx] = sum;
}
