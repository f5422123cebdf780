// Transpose of a matrix of floats, and the steps that lead to it: what coalescing and bank conflicts cost.
//
//   copy                      no transpose: how fast it could be
//   copy_shared               the same through shared memory: what the detour costs
//   transpose_naive           reads rows, writes columns: each lane of a store hits another sector
//   transpose_tile32          through tile[32][32], read down a column: all lanes of a warp meet in one bank
//   transpose_tile33          through tile[32][33]: a column of padding moves each row by one bank, no
//   conflicts transpose_swizzled        through tile[32][32], column number xor row number: no conflicts and
//   no padding transpose_fine_grained    transposes inside each tile; the tiles stay where they are
//   transpose_coarse_grained  moves each tile to its transposed place; nothing is transposed inside
//
// Launch with blocks of 32x8 threads, one for each 32x32 tile: grid ceil(width/32) x ceil(height/32). The
// kernels named …_16 (and transpose_tile16, transpose_tile17) do the same with 16x16 tiles and blocks of
// 16x16 threads. `in` has `height` rows of `width` elements; neither needs to be a multiple of the tile.
// Fine- and coarse-grained write only the elements whose source lies in the matrix too: all of them, if the
// sizes are multiples.
//
// To expect on 32 banks for 8192x8192 (2,097,152 row accesses of shared memory and as many column accesses):
//   transpose_tile32  69,206,016 wavefronts: 1 for each row access, 32 for each column access
//   transpose_tile33   4,194,304 wavefronts, as copy_shared and transpose_swizzled
// and of global memory 8,388,608 sectors loaded and as many stored, but 67,108,864 stored by transpose_naive.

// The functions below take the tile's size `n` and the number of rows of the thread block: each thread works
// on every rows-th element of its column of the tile.

template <int n, int rows>
__device__ __forceinline__ void copy_direct(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) out[(y + j) * width + x] = in[(y + j) * width + x];
}

template <int n, int rows>
__device__ __forceinline__ void copy_through_tile(float* out, const float* in, int width, int height) {
  __shared__ float tile[n][n];
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) out[(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}

template <int n, int rows>
__device__ __forceinline__ void transpose_direct(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
}

/// `pitch` floats from one row of the tile to the next: n, or n + 1 for a column of padding.
template <int n, int pitch, int rows>
__device__ __forceinline__ void transpose_tile(float* out, const float* in, int width, int height) {
  __shared__ float tile[n][pitch];
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * n + threadIdx.x;
  const int out_y = blockIdx.x * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (out_x < height && out_y + j < width)
      out[(out_y + j) * height + out_x] = tile[threadIdx.x][threadIdx.y + j];
}

template <int n, int rows>
__device__ __forceinline__ void transpose_swizzle(float* out, const float* in, int width, int height) {
  __shared__ float tile[n][n];
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(y + j) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * n + threadIdx.x;
  const int out_y = blockIdx.x * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (out_x < height && out_y + j < width)
      out[(out_y + j) * height + out_x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

template <int n, int rows>
__device__ __forceinline__ void transpose_inside(float* out, const float* in, int width, int height) {
  __shared__ float tile[n][n + 1];
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int source_x = blockIdx.x * n + threadIdx.y;
  const int source_y = blockIdx.y * n + threadIdx.x;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height && source_x + j < width && source_y < height)
      out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <int n, int rows>
__device__ __forceinline__ void transpose_blocks(float* out, const float* in, int width, int height) {
  __shared__ float tile[n][n + 1];
  const int x = blockIdx.x * n + threadIdx.x;
  const int y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * n + threadIdx.x;
  const int out_y = blockIdx.x * n + threadIdx.y;
  for (int j = 0; j < n; j += rows)
    if (x < width && y + j < height && out_x < height && out_y + j < width)
      out[(out_y + j) * height + out_x] = tile[threadIdx.y + j][threadIdx.x];
}

extern "C" {
__global__ void copy(float* out, const float* in, int width, int height) {
  copy_direct<32, 8>(out, in, width, height);
}
__global__ void copy_shared(float* out, const float* in, int width, int height) {
  copy_through_tile<32, 8>(out, in, width, height);
}
__global__ void transpose_naive(float* out, const float* in, int width, int height) {
  transpose_direct<32, 8>(out, in, width, height);
}
__global__ void transpose_tile32(float* out, const float* in, int width, int height) {
  transpose_tile<32, 32, 8>(out, in, width, height);
}
__global__ void transpose_tile33(float* out, const float* in, int width, int height) {
  transpose_tile<32, 33, 8>(out, in, width, height);
}
__global__ void transpose_swizzled(float* out, const float* in, int width, int height) {
  transpose_swizzle<32, 8>(out, in, width, height);
}
__global__ void transpose_fine_grained(float* out, const float* in, int width, int height) {
  transpose_inside<32, 8>(out, in, width, height);
}
__global__ void transpose_coarse_grained(float* out, const float* in, int width, int height) {
  transpose_blocks<32, 8>(out, in, width, height);
}

__global__ void copy_16(float* out, const float* in, int width, int height) {
  copy_direct<16, 16>(out, in, width, height);
}
__global__ void copy_shared_16(float* out, const float* in, int width, int height) {
  copy_through_tile<16, 16>(out, in, width, height);
}
__global__ void transpose_naive_16(float* out, const float* in, int width, int height) {
  transpose_direct<16, 16>(out, in, width, height);
}
__global__ void transpose_tile16(float* out, const float* in, int width, int height) {
  transpose_tile<16, 16, 16>(out, in, width, height);
}
__global__ void transpose_tile17(float* out, const float* in, int width, int height) {
  transpose_tile<16, 17, 16>(out, in, width, height);
}
__global__ void transpose_swizzled_16(float* out, const float* in, int width, int height) {
  transpose_swizzle<16, 16>(out, in, width, height);
}
__global__ void transpose_fine_grained_16(float* out, const float* in, int width, int height) {
  transpose_inside<16, 16>(out, in, width, height);
}
__global__ void transpose_coarse_grained_16(float* out, const float* in, int width, int height) {
  transpose_blocks<16, 16>(out, in, width, height);
}
}
