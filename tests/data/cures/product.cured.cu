// C = A B^T: both tiles are loaded by rows, and each thread of a warp goes along another row of the tile of
// B. Blocks of 32x32 threads.
#define TILE 32

template <typename T>
__device__ __forceinline__ void multiply(T* c, const T* a, const T* b, int n) {
  __shared__ T as[TILE][TILE];
  __shared__ T bs[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  T sum = 0;
  for (int k = 0; k < n; k += TILE) {
    as[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(blockIdx.x * TILE + threadIdx.y) * n + k + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[threadIdx.x][i];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void product(float* c, const float* a, const float* b, int n) { multiply(c, a, b, n); }
