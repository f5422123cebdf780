// Matrix products through tiles in shared memory, from the one of every text book to tiles of registers: what
// the assembler makes of many loads of neighbouring words by one thread. C = A B, n x n, n a multiple of the
// tile.

/// One element a thread: tile x tile threads. `pad` words after each row of B's tile.
template <int tile, int pad, class T>
__device__ __forceinline__ void one_each(T* c, const T* a, const T* b, int n) {
  __shared__ T as[tile][tile];
  __shared__ T bs[tile][tile + pad];
  const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  T sum = 0;
  for (int k = 0; k < n; k += tile) {
    as[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

/// each x each elements a thread, tiles of `tile` x `tile` x `depth`; (tile / each)^2 threads in a row.
template <int tile, int depth, int each>
__device__ __forceinline__ void many_each(float* c, const float* a, const float* b, int n) {
  constexpr int side = tile / each;
  __shared__ float as[depth][tile];
  __shared__ float bs[depth][tile];
  const int tx = threadIdx.x % side, ty = threadIdx.x / side;
  const int x = blockIdx.x * tile, y = blockIdx.y * tile;
  float sum[each][each] = {};
  for (int k = 0; k < n; k += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += side * side) {
      as[i % depth][i / depth] = a[(y + i / depth) * n + k + i % depth];
      bs[i / tile][i % tile] = b[(k + i / tile) * n + x + i % tile];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      float left[each], right[each];
#pragma unroll
      for (int i = 0; i < each; ++i) left[i] = as[d][ty * each + i];
#pragma unroll
      for (int j = 0; j < each; ++j) right[j] = bs[d][tx * each + j];
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int j = 0; j < each; ++j) c[(y + ty * each + i) * n + x + tx * each + j] = sum[i][j];
}

extern "C" {
__global__ void matmul_16(float* c, const float* a, const float* b, int n) { one_each<16, 0>(c, a, b, n); }
__global__ void matmul_32(float* c, const float* a, const float* b, int n) { one_each<32, 0>(c, a, b, n); }
__global__ void matmul_32_padded(float* c, const float* a, const float* b, int n) {
  one_each<32, 1>(c, a, b, n);
}
__global__ void matmul_16_double(double* c, const double* a, const double* b, int n) {
  one_each<16, 0>(c, a, b, n);
}
__global__ void matmul_32_int(int* c, const int* a, const int* b, int n) { one_each<32, 0>(c, a, b, n); }
__global__ void matmul_each2(float* c, const float* a, const float* b, int n) {
  many_each<32, 16, 2>(c, a, b, n);
}
__global__ void matmul_each4(float* c, const float* a, const float* b, int n) {
  many_each<64, 8, 4>(c, a, b, n);
}
__global__ void matmul_each8(float* c, const float* a, const float* b, int n) {
  many_each<128, 8, 8>(c, a, b, n);
}
/// The tile of A is kept as it lies: each thread reads a row of it, stride `depth`.
__global__ void matmul_rows(float* c, const float* a, const float* b, int n) {
  __shared__ float as[64][8];
  __shared__ float bs[8][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int x = blockIdx.x * 64, y = blockIdx.y * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 8) {
    for (int i = threadIdx.x; i < 512; i += 256) {
      as[i / 8][i % 8] = a[(y + i / 8) * n + k + i % 8];
      bs[i / 64][i % 64] = b[(k + i / 64) * n + x + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 8; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += as[ty + 16 * i][d] * bs[d][tx + 16 * j];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(y + ty + 16 * i) * n + x + tx + 16 * j] = sum[i][j];
}
}
