// Matrix products on tensor cores, as people write them: with nvcuda::wmma, and with ldmatrix and mma.sync in
// inline assembly. Every block computes one tile of 32 x 32 of C = A B, with the whole depth in shared
// memory.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

namespace wmma = nvcuda::wmma;

constexpr int tile = 32;

/// Four warps, one 16 x 16 piece each. a: n x k, b: k x n, both by rows; pitch: halves from row to row in
/// shared memory.
template <int k, int pitch_a, int pitch_b>
__device__ void stage(const __half* a, const __half* b, int n, __half* tile_a, __half* tile_b) {
  for (int i = threadIdx.x; i < tile * k; i += blockDim.x) {
    tile_a[i / k * pitch_a + i % k] = a[(blockIdx.y * tile + i / k) * k + i % k];
    tile_b[i / tile * pitch_b + i % tile] = b[i / tile * n + blockIdx.x * tile + i % tile];
  }
  __syncthreads();
}

template <int k, int pitch_a, int pitch_b>
__device__ void with_wmma(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) __half tile_a[tile * pitch_a];
  __shared__ __align__(16) __half tile_b[k * pitch_b];
  stage<k, pitch_a, pitch_b>(a, b, n, tile_a, tile_b);
  const int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, tile_a + row * pitch_a + i, pitch_a);
    wmma::load_matrix_sync(fb, tile_b + i * pitch_b + column, pitch_b);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + (blockIdx.y * tile + row) * n + blockIdx.x * tile + column, sum, n,
                          wmma::mem_row_major);
}

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

template <int k, int pitch_a, int pitch_b>
__device__ void with_mma(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) __half tile_a[tile * pitch_a];
  __shared__ __align__(16) __half tile_b[k * pitch_b];
  stage<k, pitch_a, pitch_b>(a, b, n, tile_a, tile_b);
  const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
  float sum[2][4] = {};
  for (int i = 0; i < k; i += 16) {
    uint32_t fa[4], fb[4];
    // Lane l names row l % 16 of A, its left or right half; row l % 16 of B, whose halves become columns.
    const uint32_t at_a = shared_address(tile_a + (row + lane % 16) * pitch_a + i + lane / 16 * 8);
    const uint32_t at_b = shared_address(tile_b + (i + lane % 16) * pitch_b + column + lane / 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(at_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                 : "r"(at_b));
    for (int j = 0; j < 2; ++j)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
          : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * j]), "r"(fb[2 * j + 1]));
  }
  for (int j = 0; j < 2; ++j)
    for (int e = 0; e < 4; ++e)
      c[(blockIdx.y * tile + row + lane / 4 + e / 2 * 8) * n + blockIdx.x * tile + column + j * 8 +
        lane % 4 * 2 + e % 2] = sum[j][e];
}

extern "C" {
// Lines of 128 and 64 bytes: eight rows of a matrix meet in the same banks, two by two in B.
__global__ void product_wmma(const __half* a, const __half* b, float* c, int n) {
  with_wmma<64, 64, 32>(a, b, c, n);
}
__global__ void product_wmma_padded(const __half* a, const __half* b, float* c, int n) {
  with_wmma<64, 72, 40>(a, b, c, n);
}
__global__ void product_mma(const __half* a, const __half* b, float* c, int n) {
  with_mma<64, 64, 32>(a, b, c, n);
}
__global__ void product_mma_padded(const __half* a, const __half* b, float* c, int n) {
  with_mma<64, 72, 40>(a, b, c, n);
}

/// 8-bit integers, from global memory: c = a b, 16 x 16 by 64.
__global__ void product_bytes(const signed char* a, const signed char* b, int* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int i = 0; i < 64; i += 16) {
    wmma::load_matrix_sync(fa, a + i, 64);
    wmma::load_matrix_sync(fb, b + i * 16, 16);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_col_major);
}

/// f64: c = a b + c, 8 x 8 by 4.
__global__ void product_doubles(const double* a, const double* b, double* c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::load_matrix_sync(fa, a, 4);
  wmma::load_matrix_sync(fb, b, 4);
  wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}
}
