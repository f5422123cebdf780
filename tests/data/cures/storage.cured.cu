// C = A B of n x n floats by tiles, which are members of one struct; that of B is kept transposed. Blocks of
// 32x32 threads.
constexpr int tile = 32;

struct SharedStorage {
  float a[tile][tile];
  float b[tile][tile + 1];
  int passes;
};

extern "C" __global__ void storage(float* c, const float* a, const float* b, int n) {
  __shared__ SharedStorage shared;
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  if (x == 0 && y == 0) shared.passes = n / tile;
  __syncthreads();
  float sum = 0;
  for (int pass = 0; pass < shared.passes; ++pass) {
    const int k = pass * tile;
    shared.a[y][x] = a[row * n + k + x];
    shared.b[x][y] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += shared.a[y][i] * shared.b[x][i];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
