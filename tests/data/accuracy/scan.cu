// Prefix sums of each block's elements (256 threads): the classical ways, with and without bank conflicts.

constexpr int block = 256;

extern "C" {
/// Every step adds the element `s` before; two buffers.
__global__ void scan_steps(float* out, const float* in) {
  __shared__ float d[2][block];
  const int t = threadIdx.x, first = blockIdx.x * block;
  int from = 0;
  d[0][t] = in[first + t];
  __syncthreads();
  for (int s = 1; s < block; s *= 2) {
    d[1 - from][t] = t >= s ? d[from][t] + d[from][t - s] : d[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[first + t] = d[from][t];
}

/// Up and down a tree: strides double, conflicts grow.
__global__ void scan_tree(float* out, const float* in) {
  __shared__ float d[2 * block];
  const int t = threadIdx.x, first = blockIdx.x * 2 * block;
  d[2 * t] = in[first + 2 * t];
  d[2 * t + 1] = in[first + 2 * t + 1];
  int offset = 1;
  for (int n = block; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) d[offset * (2 * t + 2) - 1] += d[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) d[2 * block - 1] = 0;
  for (int n = 1; n < 2 * block; n *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < n) {
      const int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
      const float left = d[i];
      d[i] = d[j];
      d[j] += left;
    }
  }
  __syncthreads();
  out[first + 2 * t] = d[2 * t];
  out[first + 2 * t + 1] = d[2 * t + 1];
}

/// The same with one word of padding after every 32.
__global__ void scan_tree_padded(float* out, const float* in) {
  __shared__ float d[2 * block + 2 * block / 32];
  const auto at = [](int i) { return i + i / 32; };
  const int t = threadIdx.x, first = blockIdx.x * 2 * block;
  d[at(t)] = in[first + t];
  d[at(t + block)] = in[first + t + block];
  int offset = 1;
  for (int n = block; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) d[at(offset * (2 * t + 2) - 1)] += d[at(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) d[at(2 * block - 1)] = 0;
  for (int n = 1; n < 2 * block; n *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < n) {
      const int i = at(offset * (2 * t + 1) - 1), j = at(offset * (2 * t + 2) - 1);
      const float left = d[i];
      d[i] = d[j];
      d[j] += left;
    }
  }
  __syncthreads();
  out[first + t] = d[at(t)];
  out[first + t + block] = d[at(t + block)];
}

/// Warps scan through registers; their sums go through shared memory.
__global__ void scan_warps(float* out, const float* in) {
  __shared__ float sums[block / 32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * block;
  float v = in[first + t];
  for (int s = 1; s < 32; s *= 2) {
    const float u = __shfl_up_sync(~0u, v, s);
    if (lane >= s) v += u;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float w = lane < block / 32 ? sums[lane] : 0.0f;
    for (int s = 1; s < block / 32; s *= 2) {
      const float u = __shfl_up_sync(~0u, w, s);
      if (lane >= s) w += u;
    }
    if (lane < block / 32) sums[lane] = w;
  }
  __syncthreads();
  out[first + t] = v + (warp > 0 ? sums[warp - 1] : 0.0f);
}

/// Eight elements a thread in a row, brought there through shared memory.
__global__ void scan_eight(int* out, const int* in) {
  __shared__ int d[8 * block];
  __shared__ int sums[block];
  const int t = threadIdx.x, first = blockIdx.x * 8 * block;
  for (int i = 0; i < 8; ++i) d[i * block + t] = in[first + i * block + t];
  __syncthreads();
  int v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = d[8 * t + i];
#pragma unroll
  for (int i = 1; i < 8; ++i) v[i] += v[i - 1];
  sums[t] = v[7];
  __syncthreads();
  for (int s = 1; s < block; s *= 2) {
    const int u = t >= s ? sums[t - s] : 0;
    __syncthreads();
    sums[t] += u;
    __syncthreads();
  }
  const int before = t > 0 ? sums[t - 1] : 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) d[8 * t + i] = v[i] + before;
  __syncthreads();
  for (int i = 0; i < 8; ++i) out[first + i * block + t] = d[i * block + t];
}
}
