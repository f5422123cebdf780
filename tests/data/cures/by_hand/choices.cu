// Kernels where several changes are good, and which one is best takes more than wavefronts to tell.

// A tile of a product, stored by columns and loaded by vectors: two words of padding leave pairs that are
// aligned, four words vectors, but conflicts.
extern "C" __global__ void product_tile(float* out, const float* a) {
  __shared__ float as[16][64];
  const int t = threadIdx.x, ty = t / 16;
  for (int i = t; i < 1024; i += 256) as[i % 16][i / 16] = a[i];
  __syncthreads();
  float sums[4] = {};
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 4; ++i) sums[i] += as[k][ty * 4 + i];
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = sums[i];
}

extern "C" __global__ void product_tile_cured(float* out, const float* a) {
  __shared__ float as[16][64 + 2];
  const int t = threadIdx.x, ty = t / 16;
  for (int i = t; i < 1024; i += 256) as[i % 16][i / 16] = a[i];
  __syncthreads();
  float sums[4] = {};
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 4; ++i) sums[i] += as[k][ty * 4 + i];
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = sums[i];
}

// A store that costs more than each of the eight loads of the line below, but less than all of them.
extern "C" __global__ void unrolled(float* out, const float* in) {
  __shared__ float tile[32][32];
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) tile[lane][i] = in[i * 32 + lane];
  __syncwarp();
  float sum = 0;
  for (int i = 0; i < 16; i += 2) sum += tile[lane][i];
  out[lane] = sum;
}

// Half warps in two rows of a tile with a halo: rows of 48 words have no conflicts, but then only one block
// fits on a multiprocessor in place of four. Blocks of 16x16 threads.
constexpr int halo_rows = 642;

__device__ void through_halo(float (*tile)[18], float* out, const float* in) {
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = y * 16 + x; i < halo_rows * 18; i += 256) tile[i / 18][i % 18] = in[i];
  __syncthreads();
  for (int i = y; i < halo_rows - 2; i += 16)
    out[i * 16 + x] = tile[i][x] + tile[i + 1][x + 2] + tile[i + 2][x + 1];
}

extern "C" __global__ void halo_declared(float* out, const float* in) {
  __shared__ float tile[halo_rows][18];
  through_halo(tile, out, in);
}

extern "C" __global__ void halo_of_launch(float* out, const float* in) {
  extern __shared__ float launched[][18];
  through_halo(launched, out, in);
}
