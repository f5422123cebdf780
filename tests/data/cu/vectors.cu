// Loads and stores of all widths and vectors, in global, shared and local memory, with the qualifiers that
// programs use. Blocks of 64 threads.

extern "C" {
/// Doubles each float, 16 bytes a thread.
__global__ void vectors_float4(float4* data) {
  float4 v = data[threadIdx.x];
  v.x += v.x;
  v.y += v.y;
  v.z += v.z;
  v.w += v.w;
  data[threadIdx.x] = v;
}

/// Every vector type through shared memory, reversed. out[] in bytes: thread t writes its numbers at 64t.
__global__ void vectors_shared(char* out) {
  __shared__ uchar4 c4[64];
  __shared__ ushort2 s2[64];
  __shared__ short4 s4[64];
  __shared__ int2 i2[64];
  __shared__ float2 f2[64];
  __shared__ double2 d2[64];
  __shared__ ulonglong2 l2[64];
  __shared__ uchar2 c2[64];
  const unsigned t = threadIdx.x;
  const int i = static_cast<int>(t);
  c4[t] = make_uchar4(t, t + 1, t + 2, 255 - t);
  s2[t] = make_ushort2(t * 1000, t);
  s4[t] = make_short4(i, -i, 3 * i, i * i);
  i2[t] = make_int2(i, -5 * i);
  f2[t] = make_float2(0.5f * i, 2.0f);
  d2[t] = make_double2(i, 1.0 / (i + 1));
  l2[t] = make_ulonglong2(t, 1ull << t);
  c2[t] = make_uchar2(2 * t, 3);
  __syncthreads();
  const unsigned o = 63 - t;
  char* mine = out + 64 * t;
  *reinterpret_cast<double2*>(mine) = d2[o];
  *reinterpret_cast<ulonglong2*>(mine + 16) = l2[o];
  *reinterpret_cast<short4*>(mine + 32) = s4[o];
  *reinterpret_cast<int2*>(mine + 40) = i2[o];
  *reinterpret_cast<float2*>(mine + 48) = f2[o];
  *reinterpret_cast<uchar4*>(mine + 56) = c4[o];
  *reinterpret_cast<ushort2*>(mine + 60) = s2[o];
  __syncthreads();
  *reinterpret_cast<uchar2*>(mine + 62) = c2[o];
}

/// Loads through the read-only cache and stores with cache hints: out[t] = 4 in[t] + in[q] + in[q + 3], q = t
/// - t % 4; out[64 + t], out[128 + t] 1 and 2 more; out[192 + t] = in[63 - t]
__global__ void vectors_hints(const int* __restrict__ in, int* __restrict__ out) {
  const int t = threadIdx.x;
  int v = __ldg(&in[t]) + __ldcs(&in[t]) + __ldca(&in[t]) + __ldcg(&in[t]);
  const int4 q = __ldg(reinterpret_cast<const int4*>(in) + t / 4);
  v += q.x + q.w;
  __stcs(&out[t], v);
  __stcg(&out[64 + t], v + 1);
  __stwt(&out[128 + t], v + 2);
  out[192 + t] = in[63 - t];
}

/// Volatile accesses must happen, each time: out[t] = t + (t + 1) + (t + 2); out[64 + t] = 3
__global__ void vectors_volatile(volatile int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  int sum = 0;
  out[64 + t] = 0;
  for (int i = 0; i < 3; ++i) {
    s[t] = t + i;
    sum += s[t];
    out[64 + t] = out[64 + t] + 1;
  }
  out[t] = sum;
}

/// Signed and unsigned bytes and shorts are extended as their type says: out[k * 64 + t].
__global__ void vectors_narrow(int* out) {
  __shared__ signed char c[64];
  __shared__ short s[64];
  __shared__ bool b[64];
  const int t = threadIdx.x;
  c[t] = static_cast<signed char>(5 * t);
  s[t] = static_cast<short>(1500 * t);
  b[t] = t % 3 == 0;
  __syncthreads();
  const int o = t ^ 9;
  out[t] = c[o];
  out[64 + t] = static_cast<unsigned char>(c[o]);
  out[128 + t] = s[o];
  out[192 + t] = static_cast<unsigned short>(s[o]);
  out[256 + t] = b[o] ? 10 : 20;
}
}
