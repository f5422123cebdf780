// C = A B^T of 64x64 halves a block on tensor cores: rows of 128 bytes, so that the eight rows of a matrix
// that ldmatrix takes begin in the same bank. Blocks of 128 threads; each warp makes 16 rows of C.
#include <cuda_fp16.h>
#include <lanescope/tile.cuh>

constexpr int side = 64, halves_of_a_vector = 8;

__device__ __forceinline__ void load_4(unsigned (&r)[4], const __half* p) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void tensor_product(float* c, const uint4* a, const uint4* b) {
  __shared__ __align__(16) __half as[side][side];
  __shared__ __align__(16) lanescope::SwizzledTile<__half, side, side, 8> bs;
  const int vectors = side * side / halves_of_a_vector, t = threadIdx.x;
  for (int i = t; i < vectors; i += 128) {
    const int row = i / (side / halves_of_a_vector),
              column = i % (side / halves_of_a_vector) * halves_of_a_vector;
    *reinterpret_cast<uint4*>(&as[row][column]) = a[blockIdx.x * vectors + i];
    *reinterpret_cast<uint4*>(&bs[row][column]) = b[blockIdx.x * vectors + i];
  }
  __syncthreads();
  const int lane = t % 32, first = t / 32 * 16;
  float sum[side / 8][4] = {};
  for (int k = 0; k < side; k += 16) {
    unsigned left[4];
    load_4(left, &as[first + lane % 16][k + lane / 16 * 8]);
    for (int n = 0; n < side; n += 16) {
      unsigned right[4];
      load_4(right, &bs[n + lane % 16][k + lane / 16 * 8]);
      multiply(sum[n / 8], left, right[0], right[2]);
      multiply(sum[n / 8 + 1], left, right[1], right[3]);
    }
  }
  for (int n = 0; n < side / 8; ++n)
    for (int i = 0; i < 4; ++i) {
      const int row = first + lane / 4 + i / 2 * 8, column = n * 8 + lane % 4 * 2 + i % 2;
      c[blockIdx.x * side * side + row * side + column] = sum[n][i];
    }
}
