// A matrix transposed through a tile: rows are written, columns read. Blocks of 32x8 threads.
constexpr int tile_size = 32, rows = 8;

extern "C" __global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[tile_size][tile_size + 2];
  int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * tile_size + threadIdx.x;
  y = blockIdx.x * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += rows) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
