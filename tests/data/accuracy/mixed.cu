// What else programs keep in shared memory: points, small matrices, signals, rows to be normalised.

constexpr int block = 128;

struct Point {
  float x, y, z, mass;
};
struct Triple {
  float x, y, z;
};

extern "C" {
/// All pairs of points, a tile of them at a time.
__global__ void bodies(Point* out, const Point* in, int n) {
  __shared__ Point tile[block];
  const int i = blockIdx.x * block + threadIdx.x;
  const Point me = in[i];
  Point force = {0, 0, 0, me.mass};
  for (int first = 0; first < n; first += block) {
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < block; ++j) {
      const Point p = tile[j];
      const float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
      const float w = p.mass / (dx * dx + dy * dy + dz * dz + 1.0f);
      force.x += dx * w;
      force.y += dy * w;
      force.z += dz * w;
    }
    __syncthreads();
  }
  out[i] = force;
}

/// The same for structs of three words, which no alignment is known of.
__global__ void triples(Triple* out, const Triple* in, int n) {
  __shared__ Triple tile[block];
  const int i = blockIdx.x * block + threadIdx.x;
  const Triple me = in[i];
  Triple sum = {0, 0, 0};
  for (int first = 0; first < n; first += block) {
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < block; ++j) {
      sum.x += tile[j].x * me.y;
      sum.y += tile[j].y * me.z;
      sum.z += tile[j].z * me.x;
    }
    __syncthreads();
  }
  out[i] = sum;
}

/// One 4x4 matrix a thread, squared in shared memory.
__global__ void small_matrices(float* out, const float* in) {
  __shared__ float m[64][16];
  const int t = threadIdx.x, first = blockIdx.x * 64 * 16;
  for (int i = 0; i < 16; ++i) (&m[0][0])[i * 64 + t] = in[first + i * 64 + t];
  __syncthreads();
  float r[16];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += m[t][4 * i + k] * m[t][4 * k + j];
      r[4 * i + j] = sum;
    }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) m[t][i] = r[i];
  __syncthreads();
  for (int i = 0; i < 16; ++i) out[first + i * 64 + t] = (&m[0][0])[i * 64 + t];
}

/// The same with a word of padding.
__global__ void small_matrices_padded(float* out, const float* in) {
  __shared__ float m[64][17];
  const int t = threadIdx.x, first = blockIdx.x * 64 * 16;
  for (int i = 0; i < 16; ++i) m[(i * 64 + t) / 16][(i * 64 + t) % 16] = in[first + i * 64 + t];
  __syncthreads();
  float r[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) r[i] = m[t][i] * m[t][(i * 5) % 16];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) m[t][i] = r[i];
  __syncthreads();
  for (int i = 0; i < 16; ++i) out[first + i * 64 + t] = m[(i * 64 + t) / 16][(i * 64 + t) % 16];
}

/// A radix-2 transform of 256 complex numbers by 128 threads.
__global__ void fourier(float2* out, const float2* in) {
  __shared__ float2 s[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  s[__brev(t) >> 24] = in[first + t];
  s[__brev(t + 128) >> 24] = in[first + t + 128];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    const int k = t & (half - 1), i = 2 * t - k;
    const float2 a = s[i], b = s[i + half];
    const float c = 1.0f - k * 0.5f / half, d = k * 0.75f / half;
    const float2 p = {b.x * c + b.y * d, b.y * c - b.x * d};
    s[i] = {a.x + p.x, a.y + p.y};
    s[i + half] = {a.x - p.x, a.y - p.y};
  }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + 128] = s[t + 128];
}

/// Rows of 256 floats: the largest, the sum of what is left over, divided; eight warps, one row a block.
__global__ void normalise(float* out, const float* in) {
  __shared__ float part[8];
  __shared__ float row[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  row[t] = in[first + t];
  __syncthreads();
  float most = row[t];
  for (int s = 16; s > 0; s /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
  if (t % 32 == 0) part[t / 32] = most;
  __syncthreads();
  most = part[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) most = fmaxf(most, part[i]);
  __syncthreads();
  float sum = most - row[t];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += part[i];
  out[first + t] = (most - row[t]) / (sum + 1.0f);
}

/// All shortest paths inside a tile of 16x16.
__global__ void paths(int* out, const int* in) {
  __shared__ int d[16][16];
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * 256;
  d[y][x] = in[first + y * 16 + x];
  __syncthreads();
  for (int k = 0; k < 16; ++k) {
    const int via = d[y][k] + d[k][x];
    __syncthreads();
    d[y][x] = min(d[y][x], via);
    __syncthreads();
  }
  out[first + y * 16 + x] = d[y][x];
}

/// Looks 16-bit values up in a table of 1024 and adds four of them.
__global__ void table(unsigned* out, const unsigned short* values, const uint4* index) {
  __shared__ unsigned short s[1024];
  const int t = threadIdx.x;
  for (int i = t; i < 1024; i += block) s[i] = values[i];
  __syncthreads();
  const uint4 i = index[blockIdx.x * block + t];
  out[blockIdx.x * block + t] = s[i.x & 1023] + s[i.y & 1023] + s[i.z & 1023] + s[i.w & 1023];
}

/// Sum of 2048 elements: eight a thread, then a tree whose last steps are written out.
__global__ void dot(float* out, const float* a, const float* b) {
  __shared__ float s[block];
  const int t = threadIdx.x, first = blockIdx.x * 8 * block;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += a[first + i * block + t] * b[first + i * block + t];
  s[t] = sum;
  __syncthreads();
  for (int n = block / 2; n >= 32; n /= 2) {
    if (t < n) s[t] += s[t + n];
    __syncthreads();
  }
  if (t == 0) {
    sum = 0;
    for (int i = 0; i < 32; ++i) sum += s[i];
    out[blockIdx.x] = sum;
  }
}

/// Turns 4x4 words of each thread around through shared memory, four words in a row at a time.
__global__ void exchange(float4* out, const float4* in) {
  __shared__ float s[block * 4];
  const int t = threadIdx.x, first = blockIdx.x * block;
  const float4 v = in[first + t];
  s[4 * t] = v.x;
  s[4 * t + 1] = v.y;
  s[4 * t + 2] = v.z;
  s[4 * t + 3] = v.w;
  __syncthreads();
  out[first + t] = {s[t], s[t + block], s[t + 2 * block], s[t + 3 * block]};
}
}
