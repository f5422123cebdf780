// Prefix sums of 32 rows of 32 numbers: the tile is moved by rows, and lane t scans row t. Blocks of 32
// threads.
enum { lanes = 32 };

extern "C" __global__ void scan(int* out, const int* in) {
  __shared__ int tile[lanes][lanes + 1];
  const int first = blockIdx.x * lanes * lanes, t = threadIdx.x;
  for (int r = 0; r < lanes; ++r) tile[r][t] = in[first + r * lanes + t];
  __syncwarp();
  int sum = 0;
  for (int c = 0; c < lanes; ++c) {
    sum += tile[t][c];
    tile[t][c] = sum;
  }
  __syncwarp();
  for (int r = 0; r < lanes; ++r) out[first + r * lanes + t] = tile[r][t];
}
