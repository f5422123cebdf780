// Each thread reads eight neighbouring elements of a row as two vectors, as matrix products do with tiles in
// registers: lanes conflict within one row, and no pitch helps. Blocks of 256 threads.
constexpr int rows = 8, columns = 128;

extern "C" {
__global__ void long_rows(float* out, const float* in) {
  __shared__ float tile[rows][columns];
  const int t = threadIdx.x;
  *reinterpret_cast<float4*>(&tile[t / 32][t % 32 * 4]) = reinterpret_cast<const float4*>(in)[t];
  __syncthreads();
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < 8; i += 4) {
      const float4 v = *reinterpret_cast<float4*>(&tile[row][t % 16 * 8 + i]);
      sum += v.x + v.y + v.z + v.w;
    }
  out[t] = sum;
}

__global__ void long_rows_cured(float* out, const float* in) {
  __shared__ float tile[rows][columns / 32 * 36];
  const int t = threadIdx.x;
  *reinterpret_cast<float4*>(&tile[t / 32][t % 32 * 4 + t % 32 / 8 * 4]) =
      reinterpret_cast<const float4*>(in)[t];
  __syncthreads();
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < 8; i += 4) {
      const float4 v = *reinterpret_cast<float4*>(&tile[row][t % 16 * 8 + t % 16 / 4 * 4 + i]);
      sum += v.x + v.y + v.z + v.w;
    }
  out[t] = sum;
}
}
