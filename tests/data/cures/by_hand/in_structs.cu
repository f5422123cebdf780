// Rows of arrays in structs. Blocks of 16x16x2 threads.
struct Work {
  double m[16][32];
};

extern "C" {
// Of several structs: no variable of which the rows could be told.
__global__ void several_structs(double* out, const double* in) {
  __shared__ Work work[2];
  Work& w = work[threadIdx.z];
  const int row = threadIdx.x, column = threadIdx.y, at = (threadIdx.z * 16 + row) * 16 + column;
  w.m[row][column] = in[at];
  w.m[row][column + 16] = 2 * in[at];
  __syncthreads();
  out[at] = w.m[row][15 - column] + w.m[15 - row][column + 16];
}
}
