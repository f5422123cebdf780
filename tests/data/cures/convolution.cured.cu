// A filter of nine taps along the rows of an image, where each lane walks along a row of its own: 32 rows
// with 40 points, eight of which are the neighbours' on both sides. Blocks of 32x8 threads; `in` has rows of
// 40 points.
constexpr int taps = 9, outputs = 32, points = outputs + taps - 1;
__constant__ float weight[taps] = {0.01f, 0.05f, 0.12f, 0.2f, 0.24f, 0.2f, 0.12f, 0.05f, 0.01f};

extern "C" __global__ void convolution(float* out, const float* in) {
  __shared__ float tile[outputs][points + 1];
  const float* from = in + blockIdx.x * outputs * points;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  for (int i = thread; i < outputs * points; i += 256) tile[i / points][i % points] = from[i];
  __syncthreads();
  for (int x = threadIdx.y; x < outputs; x += 8) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += weight[k] * tile[threadIdx.x][x + k];
    out[blockIdx.x * outputs * outputs + x * outputs + threadIdx.x] = sum;  // transposed
  }
}
