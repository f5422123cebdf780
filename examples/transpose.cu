// Transposes a square matrix through a tile in shared memory, twice: as it is first written, and with one
// more column in the tile. Checks the results and times both. See README.md.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                   \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(EXIT_FAILURE);                                                             \
    }                                                                                      \
  } while (false)

constexpr int tile_size = 32, rows = 8;

template <int padding>
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[tile_size][tile_size + padding];
  int x = blockIdx.x * tile_size + threadIdx.x;
  int y = blockIdx.y * tile_size + threadIdx.y;
  for (int i = 0; i < tile_size; i += rows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * tile_size + threadIdx.x;
  y = blockIdx.x * tile_size + threadIdx.y;
  for (int i = 0; i < tile_size; i += rows) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

template <int padding>
void run(const char* name, float* out, const float* in, const std::vector<float>& matrix, int n) {
  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  CHECK_CUDA(cudaEventRecord(start));
  transpose<padding><<<dim3(n / tile_size, n / tile_size), dim3(tile_size, rows)>>>(out, in, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_CUDA(cudaEventDestroy(stop));

  std::vector<float> result(matrix.size());
  CHECK_CUDA(cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      if (result[y * n + x] == matrix[x * n + y]) continue;
      std::fprintf(stderr, "%s: wrong at row %d, column %d\n", name, y, x);
      std::exit(EXIT_FAILURE);
    }
  }
  std::printf("%s: correct, %.3f ms\n", name, milliseconds);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
  if (n <= 0 || n % tile_size != 0) {
    std::fprintf(stderr, "usage: transpose [N], N a multiple of %d\n", tile_size);
    return EXIT_FAILURE;
  }
  std::vector<float> matrix(static_cast<size_t>(n) * n);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr;
  CHECK_CUDA(cudaMalloc(&in, matrix.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&out, matrix.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(in, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
  run<0>("plain tile", out, in, matrix, n);
  run<1>("padded tile", out, in, matrix, n);
  CHECK_CUDA(cudaFree(in));
  CHECK_CUDA(cudaFree(out));
}
