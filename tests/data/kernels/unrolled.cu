// Loops that the assembler unrolls, with as many iterations as each lane is told. `a` holds 512 numbers from
// 0 to 127, blocks have 64 threads. Compiled by scripts/ptx; counted on an H200 (ways_test.cpp).

/// A number from 0 to `most` for this thread.
__device__ int some(const int* a, int most) { return a[threadIdx.x * 5 & 511] % (most + 1); }

extern "C" __global__ void sum_of_own_row(const int* a, int* out) {
  const int n = some(a, 40);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += a[(threadIdx.x + i * 3) & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void sparse_row(const int* a, int* out) {
  int begin = threadIdx.x * 3 & 127, sum = 0;
  const int end = begin + some(a, 23);
  for (; begin < end; ++begin) sum += a[begin] * a[a[begin]];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void not_unrolled_by_the_compiler(const int* a, int* out) {
  const int n = some(a, 21);
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += a[(threadIdx.x + i) & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void one_third(const int* a, int* out) {
  const int n = some(a, 25);
  int sum = 0;
#pragma unroll 3
  for (int i = 0; i < n; ++i) sum += a[(threadIdx.x + i) & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void two(const int* a, int* out) {
  const int n = some(a, 31);
  int sum = 0;
#pragma unroll 2
  for (int i = 0; i < n; ++i) sum += a[(threadIdx.x * 2 + i) & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void stride_of_block(const int* a, int* out) {
  const int n = 100 + some(a, 127);
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) sum += a[i];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void stride_of_block_as_told(const int* a, int* out) {
  const int n = 100 + some(a, 127);
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[i];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void down(const int* a, int* out) {
  int sum = 0;
  for (int i = some(a, 60); i > 0; --i) sum += a[i + threadIdx.x];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void down_by_seven(const int* a, int* out) {
  int sum = 0;
  for (int i = 100 + some(a, 127); i >= 30; i -= 7) sum += a[i] ^ i;
  out[threadIdx.x] = sum;
}

extern "C" __global__ void without_sign(const int* a, int* out) {
  const unsigned n = static_cast<unsigned>(some(a, 33));
  unsigned sum = 0;
  for (unsigned i = threadIdx.x & 7; i < n; i += 2) sum += static_cast<unsigned>(a[i * 4]);
  out[threadIdx.x] = static_cast<int>(sum);
}

extern "C" __global__ void of_64_bits(const int* a, int* out) {
  const long long n = some(a, 37);
  long long sum = 0;
  for (long long i = 0; i < n; ++i) sum += a[i * 2 + threadIdx.x];
  out[threadIdx.x] = static_cast<int>(sum);
}

extern "C" __global__ void pointer(const int* a, int* out) {
  const int* p = a + threadIdx.x;
  const int* const end = p + some(a, 29);
  int sum = 0;
  while (p != end) sum += *p++;
  out[threadIdx.x] = sum;
}

extern "C" __global__ void largest(const int* a, int* out) {
  const int n = 64 + some(a, 90);
  int largest = -1, at = 0;
  for (int i = threadIdx.x & 15; i < n; i += 16)
    if (a[i] > largest) {
      largest = a[i];
      at = i;
    }
  out[threadIdx.x] = at;
}

extern "C" __global__ void inner(const int* a, int* out) {
  int sum = 0;
  for (int row = 0; row < 5; ++row) {
    const int n = a[(threadIdx.x + row * 64) & 511] & 15;
    for (int i = 0; i < n; ++i) sum += a[(row * 31 + i) & 511] * i;
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void triangle(const int* a, int* out) {
  int sum = 0;
  for (int i = 0; i <= static_cast<int>(threadIdx.x); ++i) sum += a[i * 2];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void behind_a_branch(const int* a, int* out) {
  const int n = some(a, 30);
  int sum = 0;
  if (threadIdx.x & 1) {
    for (int i = 0; i < n; ++i) sum += a[i + threadIdx.x];
  } else {
    for (int i = n; i < 40; ++i) sum -= a[i * 2 + threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void stores(const int* a, int* out) {
  const int n = some(a, 18);
#pragma unroll 1
  for (int i = 0; i < n; ++i) out[threadIdx.x] = a[(i + threadIdx.x) & 511];
}

extern "C" __global__ void of_shared_memory(const int* a, int* out) {
  __shared__ int s[512];
  for (int i = threadIdx.x; i < 512; i += 64) s[i] = a[i];
  __syncthreads();
  const int n = some(a, 50);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += s[(threadIdx.x * 3 + i) & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void of_shared_memory_one_by_one(const int* a, int* out) {
  __shared__ int s[512];
  for (int i = threadIdx.x; i < 512; i += 64) s[i] = a[i];
  __syncthreads();
  const int n = some(a, 50);
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += s[threadIdx.x + i * 8 & 511];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void with_a_choice(const int* a, int* out) {
  const int n = some(a, 44);
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const int x = a[(threadIdx.x * 7 + i) & 511];
    if (x & 1)
      sum += a[x];
    else
      sum -= x;
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void long_body(const int* a, int* out) {
  const int n = some(a, 26);
  int x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    x ^= a[(x + i) & 511];
#pragma unroll
    for (int k = 0; k < 30; ++k) x = (x << 1 ^ x >> 3) + k;
  }
  out[threadIdx.x] = x;
}

extern "C" __global__ void left_by_break(const int* a, int* out) {
  const int n = some(a, 60);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const int x = a[(threadIdx.x * 11 + i) & 511];
    if (x == 77) break;
    sum += x;
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void divided(const int* a, int* out) {
  const int n = some(a, 26);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += a[(threadIdx.x + i) & 511] / (i + 1);
  out[threadIdx.x] = sum;
}

extern "C" __global__ void two_in_a_row(const int* a, int* out) {
  const int n = some(a, 20), m = a[threadIdx.x] & 31;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += a[(i + threadIdx.x) & 511];
#pragma unroll 1
  for (int i = 0; i < m; ++i) sum ^= a[(i * 2 + threadIdx.x) & 511];
  out[threadIdx.x] = sum;
}
