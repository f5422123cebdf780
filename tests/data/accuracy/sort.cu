// Sorts of each block's elements in shared memory.

extern "C" {
/// Bitonic sort of 512 elements by 256 threads.
__global__ void sort_bitonic(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[512];
  const unsigned t = threadIdx.x, first = blockIdx.x * 512;
  s[t] = in[first + t];
  s[t + 256] = in[first + t + 256];
  for (unsigned size = 2; size <= 512; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned i = 2 * t - (t & (stride - 1));
      const bool up = (i & size) == 0;
      const unsigned a = s[i], b = s[i + stride];
      if ((a > b) == up) {
        s[i] = b;
        s[i + stride] = a;
      }
    }
  }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + 256] = s[t + 256];
}

/// Odd-even transposition sort of 128 elements by 64 threads.
__global__ void sort_odd_even(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[128];
  const unsigned t = threadIdx.x, first = blockIdx.x * 128;
  s[2 * t] = in[first + 2 * t];
  s[2 * t + 1] = in[first + 2 * t + 1];
  for (int step = 0; step < 64; ++step) {
    __syncthreads();
    {
      const unsigned a = s[2 * t], b = s[2 * t + 1];
      s[2 * t] = min(a, b);
      s[2 * t + 1] = max(a, b);
    }
    __syncthreads();
    if (t < 63) {
      const unsigned a = s[2 * t + 1], b = s[2 * t + 2];
      s[2 * t + 1] = min(a, b);
      s[2 * t + 2] = max(a, b);
    }
  }
  __syncthreads();
  out[first + 2 * t] = s[2 * t];
  out[first + 2 * t + 1] = s[2 * t + 1];
}

/// Every element's rank by comparing it with all 256.
__global__ void sort_ranks(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[256];
  __shared__ unsigned sorted[256];
  const unsigned t = threadIdx.x, first = blockIdx.x * 256;
  const unsigned mine = in[first + t];
  s[t] = mine;
  __syncthreads();
  unsigned rank = 0;
  for (unsigned i = 0; i < 256; ++i) rank += s[i] < mine || (s[i] == mine && i < t);
  sorted[rank] = mine;
  __syncthreads();
  out[first + t] = sorted[t];
}

/// Radix sort, one bit a pass, of 256 elements of 8 bits.
__global__ void sort_radix(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[256];
  __shared__ unsigned zeros[256];
  const unsigned t = threadIdx.x, first = blockIdx.x * 256;
  s[t] = in[first + t] & 255;
  __syncthreads();
  for (unsigned bit = 0; bit < 8; ++bit) {
    const unsigned v = s[t], is_zero = ~(v >> bit) & 1;
    zeros[t] = is_zero;
    __syncthreads();
    for (unsigned d = 1; d < 256; d *= 2) {
      const unsigned u = t >= d ? zeros[t - d] : 0;
      __syncthreads();
      zeros[t] += u;
      __syncthreads();
    }
    const unsigned to = is_zero ? zeros[t] - 1 : zeros[255] + t - zeros[t];
    s[to] = v;
    __syncthreads();
  }
  out[first + t] = s[t];
}

/// Merges two sorted halves of 256 elements: each thread finds its place in the other half.
__global__ void sort_merge(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[512];
  __shared__ unsigned merged[512];
  const unsigned t = threadIdx.x, first = blockIdx.x * 512;
  s[t] = in[first + t] >> 4;
  s[t + 256] = in[first + t + 256] >> 3;
  __syncthreads();
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned mine = s[half * 256 + t];
    unsigned low = 0, high = 256;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      const unsigned other = s[(1 - half) * 256 + middle];
      if (other < mine || (half == 1 && other == mine))
        low = middle + 1;
      else
        high = middle;
    }
    merged[t + low] = mine;
  }
  __syncthreads();
  out[first + t] = merged[t];
  out[first + t + 256] = merged[t + 256];
}
}
