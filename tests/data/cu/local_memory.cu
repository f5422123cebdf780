// Arrays of a thread that must be in memory, because their index is known only when running. One block; each
// thread writes its own piece of out[].

__device__ __noinline__ void fill(int* values, int n, unsigned seed) {
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = static_cast<int>(seed >> 24);
  }
}

extern "C" {
/// Thread t sorts 8 numbers: out[8t … 8t+7] ascending, from the generator above seeded with t.
__global__ void local_sort(int* out) {
  int v[8];
  fill(v, 8, threadIdx.x);
  for (int i = 1; i < 8; ++i) {
    const int x = v[i];
    int j = i;
    for (; j > 0 && v[j - 1] > x; --j) v[j] = v[j - 1];
    v[j] = x;
  }
  for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + i] = v[i];
}

/// Bytes, shorts and doubles in local memory: out[t] = sum over i < 10 of (t + i) % 256 + 3(t + i) + (t + i)
/// / 2
__global__ void local_types(int* out) {
  unsigned char c[10];
  short s[10];
  double d[10];
  const int t = threadIdx.x;
  for (int i = 0; i < 10; ++i) {
    c[(i + t) % 10] = static_cast<unsigned char>(t + i);
    s[(i * 3 + t) % 10] = static_cast<short>(3 * (t + i));
    d[(i * 7 + t) % 10] = 0.5 * (t + i);
  }
  double sum = 0;
  for (int i = 0; i < 10; ++i) sum += c[i] + s[i] + d[i];
  out[t] = static_cast<int>(sum);
}
}
