// C = A B of n x n floats by tiles that functions load and multiply, each told otherwise how long their rows
// are; that of B is kept transposed. Blocks of 32x32 threads.
constexpr int tile = 32;

template <int rows, int columns>
__device__ void load(float (&to)[rows][columns], const float* from, int n, int row, int column) {
  to[row][column] = from[row * n + column];
}

__device__ void load_transposed(float (*to)[tile], const float* from, int n, int row, int column) {
  to[column][row] = from[row * n + column];
}

__device__ float dot(const float* a, int pitch_a, const float* b, int pitch_b, int row, int column) {
  float sum = 0;
  for (int i = 0; i < tile; ++i) sum += a[row * pitch_a + i] * b[column * pitch_b + i];
  return sum;
}

extern "C" __global__ void given(float* c, const float* a, const float* b, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    load(a_tile, a + row * n + k, n, y, x);
    load_transposed(b_tile, b + k * n + column, n, y, x);
    __syncthreads();
    sum += dot(&a_tile[0][0], tile, &b_tile[0][0], tile, y, x);
    __syncthreads();
  }
  c[(row + y) * n + column + x] = sum;
}
