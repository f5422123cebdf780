// Stencils and convolutions through shared memory: each thread reads neighbours of its own element, whose
// addresses differ by a few words.

constexpr int block = 256;

/// Weighted sum of 2 radius + 1 neighbours; in[] has `radius` more elements at each end of every block's
/// piece.
template <int radius>
__device__ __forceinline__ void line(float* out, const float* in, const float* weight) {
  __shared__ float s[block + 2 * radius];
  const int first = blockIdx.x * block, t = threadIdx.x;
  s[t] = in[first + t];
  if (t < 2 * radius) s[block + t] = in[first + block + t];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= 2 * radius; ++i) sum += weight[i] * s[t + i];
  out[first + t] = sum;
}

extern "C" {
__global__ void line_1(float* out, const float* in, const float* weight) { line<1>(out, in, weight); }
__global__ void line_3(float* out, const float* in, const float* weight) { line<3>(out, in, weight); }
__global__ void line_8(float* out, const float* in, const float* weight) { line<8>(out, in, weight); }

/// Four results a thread from eight neighbouring words.
__global__ void line_four(float* out, const float* in) {
  __shared__ float s[4 * block + 4];
  const int first = blockIdx.x * 4 * block, t = threadIdx.x;
  for (int i = t; i < 4 * block + 4; i += block) s[i] = in[first + i];
  __syncthreads();
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = s[4 * t + i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    out[first + 4 * t + i] = v[i] + 2 * v[i + 1] + 3 * v[i + 2] + 2 * v[i + 3] + v[i + 4];
}

/// Five-point stencil; blocks of 32 x 8, width and height multiples of them.
__global__ void plane_5(float* out, const float* in, int width, int height) {
  __shared__ float s[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  s[ty][tx] = in[y * width + x];
  if (threadIdx.x == 0) s[ty][0] = x > 0 ? in[y * width + x - 1] : 0.0f;
  if (threadIdx.x == 31) s[ty][33] = x + 1 < width ? in[y * width + x + 1] : 0.0f;
  if (threadIdx.y == 0) s[0][tx] = y > 0 ? in[(y - 1) * width + x] : 0.0f;
  if (threadIdx.y == 7) s[9][tx] = y + 1 < height ? in[(y + 1) * width + x] : 0.0f;
  __syncthreads();
  out[y * width + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]) - s[ty][tx];
}

/// Nine-point stencil over a tile with a border, which all threads load.
__global__ void plane_9(float* out, const float* in, int width) {
  __shared__ float s[18][20];
  const int x = blockIdx.x * 16, y = blockIdx.y * 16;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256)
    s[i / 18][i % 18] = in[(y + i / 18) * width + x + i % 18];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j) sum += s[threadIdx.y + i][threadIdx.x + j] * (i * 3 + j + 1);
  out[(y + threadIdx.y) * width + x + threadIdx.x] = sum;
}

/// Columns: a convolution of radius 4 along y, 16 x 16 threads.
__global__ void columns_4(float* out, const float* in, int width) {
  __shared__ float s[24][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 24; r += 16) s[r][threadIdx.x] = in[(y + r) * width + x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) sum += s[threadIdx.y + i][threadIdx.x] * (1.0f + i);
  out[(y + threadIdx.y) * width + x] = sum;
}

/// Seven-point stencil of a volume of 32 x 8 x depth, walking along z with the plane in shared memory.
__global__ void volume_7(float* out, const float* in, int depth) {
  __shared__ float s[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int plane = 32 * 8;
  const int at = blockIdx.x * plane * depth + threadIdx.y * 32 + threadIdx.x;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += plane) s[i / 34][i % 34] = 0;
  float below = 0, here = in[at];
  __syncthreads();
  for (int z = 0; z < depth; ++z) {
    const float above = z + 1 < depth ? in[at + (z + 1) * plane] : 0.0f;
    s[ty][tx] = here;
    __syncthreads();
    out[at + z * plane] =
        s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below + above - 6 * here;
    __syncthreads();
    below = here;
    here = above;
  }
}

/// One step of Jacobi's method on 16-bit numbers.
__global__ void line_short(short* out, const short* in) {
  __shared__ short s[2 * block + 2];
  const int first = blockIdx.x * 2 * block, t = threadIdx.x;
  s[2 * t] = in[first + 2 * t];
  s[2 * t + 1] = in[first + 2 * t + 1];
  if (t < 2) s[2 * block + t] = in[first + 2 * block + t];
  __syncthreads();
  out[first + 2 * t] = s[2 * t] + s[2 * t + 1];
  out[first + 2 * t + 1] = s[2 * t + 1] + s[2 * t + 2];
}
}
