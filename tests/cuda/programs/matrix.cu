// Matrix products of half-precision numbers: through shared memory with half2 arithmetic, and by tensor cores
// (the wmma API), against the host's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int n = 64, tile = 16;

/// c = a b with sums in half precision, two columns a thread.
__global__ void in_halves(const __half* a, const __half2* b, __half2* c) {
  __shared__ __half left[tile][tile];
  __shared__ __half2 right[tile][tile];
  const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  __half2 sum = __float2half2_rn(0);
  for (int k = 0; k < n; k += tile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * (n / 2) + x];
    __syncthreads();
    for (int i = 0; i < tile; ++i)
      sum = __hfma2(__half2half2(left[threadIdx.y][i]), right[i][threadIdx.x], sum);
    __syncthreads();
  }
  c[y * (n / 2) + x] = sum;
}

/// One warp for each 16 x 16 of c; sums in single precision.
template <class Input>
__global__ void by_tensor_cores(const Input* a, const Input* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, Input, row_major> left;
  fragment<matrix_b, 16, 16, 16, Input, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(right, b + blockIdx.x * 16 * n + k, n);  // of b's columns
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class Input>
void test_tensor_cores(const std::vector<float>& a, const std::vector<float>& b,
                       const std::vector<float>& product) {
  std::vector<Input> left(n * n), right(n * n);
  for (int i = 0; i < n * n; ++i) {
    left[i] = Input(a[i]);
    right[i % n * n + i / n] = Input(b[i]);  // column by column
  }
  float* out = nullptr;
  CHECK_CUDA(cudaMalloc(&out, n * n * sizeof(float)));
  by_tensor_cores<<<dim3(n / 16, n / 16), 32>>>(upload(left), upload(right), out);
  CHECK_CUDA(cudaGetLastError());
  std::vector<float> result(n * n);
  CHECK_CUDA(cudaMemcpy(result.data(), out, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * n; ++i) CHECK(result[i] == product[i]);
}

int main() {
  // Small whole numbers: every sum is exact in all formats used here.
  std::vector<float> a(n * n), b(n * n), product(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i * 5 % 7 - 3);
    b[i] = static_cast<float>(i * 3 % 5 - 2);
  }
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      for (int k = 0; k < n; ++k) product[y * n + x] += a[y * n + k] * b[k * n + x];

  std::vector<__half> left(n * n), right(n * n), result(n * n);
  for (int i = 0; i < n * n; ++i) {
    left[i] = __float2half(a[i]);
    right[i] = __float2half(b[i]);
  }
  __half *device_a = upload(left), *device_b = upload(right), *device_c = upload(result);
  in_halves<<<dim3(n / 2 / tile, n / tile), dim3(tile, tile)>>>(
      device_a, reinterpret_cast<__half2*>(device_b), reinterpret_cast<__half2*>(device_c));
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(result.data(), device_c, n * n * sizeof(__half), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * n; ++i) CHECK(__half2float(result[i]) == product[i]);
  std::printf("halves ok\n");
  test_tensor_cores<__half>(a, b, product);
  test_tensor_cores<__nv_bfloat16>(a, b, product);
  std::printf("tensor cores ok\n");
}
