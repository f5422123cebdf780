// What clang makes without optimising: everything goes through local memory by generic addresses, and
// functions are called with structs.
struct Matrix {
  float* data;
  int pitch;
};

__attribute__((device, noinline)) float* at(Matrix m, int row, int column) {
  return m.data + row * m.pitch + column;
}

__attribute__((global)) void clang_transpose(Matrix out, Matrix in) {
  static __attribute__((shared)) float tile[32][32];
  const int x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
  tile[y][x] = *at(in, y, x);
  __syncthreads();
  *at(out, y, x) = tile[x][y];
}
