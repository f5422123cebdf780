// A tile with a halo, so narrow that a warp covers two rows of it: stored transposed it has no conflicts,
// though nobody goes down its columns. Blocks of 16x16 threads.
extern "C" __global__ void halo(float* out, const float* in) {
  __shared__ float tile[18][18];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = y * 16 + x; i < 18 * 18; i += 256) tile[i / 18][i % 18] = in[i];
  __syncthreads();
  out[y * 16 + x] =
      tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] - 4 * tile[y + 1][x + 1];
}

// The same in an array of one dimension.
extern "C" __global__ void flat_halo(float* out, const float* in) {
  __shared__ float flat[18 * 18];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = y * 16 + x; i < 18 * 18; i += 256) flat[i] = in[i];
  __syncthreads();
  const float* s = &flat[y * 18 + x];
  out[y * 16 + x] = s[1] + s[37] + s[18] + s[20] - 4 * s[19];
}
