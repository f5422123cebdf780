// C = A A^T of 64x64 halves a block by wmma: rows of 128 bytes, so that the rows of a fragment begin in the
// same bank. Blocks of 128 threads; each warp makes 16 rows of C.
#include <mma.h>

constexpr int side = 64, halves_of_a_vector = 8;

extern "C" __global__ void fragments(float* c, const uint4* a) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __half as[side][side];
  const int vectors = side * side / halves_of_a_vector, t = threadIdx.x;
  for (int i = t; i < vectors; i += 128)
    *reinterpret_cast<uint4*>(
        &as[i / (side / halves_of_a_vector)][i % (side / halves_of_a_vector) * halves_of_a_vector]) =
        a[blockIdx.x * vectors + i];
  __syncthreads();
  const int first = t / 32 * 16;
  for (int n = 0; n < side; n += 16) {
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < side; k += 16) {
      fragment<matrix_a, 16, 16, 16, __half, row_major> left;
      fragment<matrix_b, 16, 16, 16, __half, col_major> right;
      load_matrix_sync(left, &as[first][k], side);
      load_matrix_sync(right, &as[n][k], 64);
      mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + (blockIdx.x * side + first) * side + n, sum, side, mem_row_major);
  }
}
