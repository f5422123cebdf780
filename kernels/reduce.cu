// Sum of an array, one partial sum a block: the reduction that everyone learns shared memory from, in five
// steps.
//
//   reduce_divergent    thread t works where t % 2s == 0: a few lanes of every warp work, all others wait for
//   them reduce_interleaved  thread t works on element 2st: whole warps work, but on words 2s apart: bank
//   conflicts reduce_sequential   thread t works on elements t and t+s: whole warps on neighbouring words: no
//   conflicts reduce_first_add    as sequential, but each thread adds two elements while loading: no thread
//   only loads reduce_shuffle      as first_add, but the last warp adds through registers instead of shared
//   memory
//
// Launch with blocks of 256 threads; the kernels named …_512 are the same for blocks of 512. A block sums as
// many elements as it has threads (twice as many from first_add on) and writes one float of out[]; elements
// of in[] from n on count as 0.
//
// To expect from shared memory on 32 banks, for each block of 256 (README.md has all counts):
//   reduce_interleaved  45 requests, 150 wavefronts: 35 conflicts of stores, 70 of loads
//   reduce_sequential   45 requests, 45 wavefronts, no conflicts
// For 2^25 elements (131,072 blocks) reduce_interleaved has 4,587,520 store conflicts.

template <unsigned block>
__device__ __forceinline__ void divergent(const float* in, float* out, unsigned n) {
  __shared__ float d[block];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * block + tid;
  d[tid] = first < n ? in[first] : 0.0f;
  __syncthreads();
  for (unsigned s = 1; s < block; s *= 2) {
    if (tid % (2 * s) == 0) d[tid] += d[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = d[0];
}

template <unsigned block>
__device__ __forceinline__ void interleaved(const float* in, float* out, unsigned n) {
  __shared__ float d[block];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * block + tid;
  d[tid] = first < n ? in[first] : 0.0f;
  __syncthreads();
  for (unsigned s = 1; s < block; s *= 2) {
    const unsigned i = 2 * s * tid;
    if (i < block) d[i] += d[i + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = d[0];
}

template <unsigned block>
__device__ __forceinline__ void sequential(const float* in, float* out, unsigned n) {
  __shared__ float d[block];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * block + tid;
  d[tid] = first < n ? in[first] : 0.0f;
  __syncthreads();
  for (unsigned s = block / 2; s > 0; s >>= 1) {
    if (tid < s) d[tid] += d[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = d[0];
}

template <unsigned block>
__device__ __forceinline__ void first_add(const float* in, float* out, unsigned n) {
  __shared__ float d[block];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * (2 * block) + tid;
  const unsigned second = first + block;
  d[tid] = (first < n ? in[first] : 0.0f) + (second < n ? in[second] : 0.0f);
  __syncthreads();
  for (unsigned s = block / 2; s > 0; s >>= 1) {
    if (tid < s) d[tid] += d[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = d[0];
}

template <unsigned block>
__device__ __forceinline__ void shuffle(const float* in, float* out, unsigned n) {
  __shared__ float d[block];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * (2 * block) + tid;
  const unsigned second = first + block;
  d[tid] = (first < n ? in[first] : 0.0f) + (second < n ? in[second] : 0.0f);
  __syncthreads();
  for (unsigned s = block / 2; s > 32; s >>= 1) {
    if (tid < s) d[tid] += d[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    float sum = d[tid] + d[tid + 32];
    for (unsigned s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}

extern "C" {
__global__ void reduce_divergent(const float* in, float* out, unsigned n) { divergent<256>(in, out, n); }
__global__ void reduce_interleaved(const float* in, float* out, unsigned n) { interleaved<256>(in, out, n); }
__global__ void reduce_sequential(const float* in, float* out, unsigned n) { sequential<256>(in, out, n); }
__global__ void reduce_first_add(const float* in, float* out, unsigned n) { first_add<256>(in, out, n); }
__global__ void reduce_shuffle(const float* in, float* out, unsigned n) { shuffle<256>(in, out, n); }

__global__ void reduce_divergent_512(const float* in, float* out, unsigned n) { divergent<512>(in, out, n); }
__global__ void reduce_interleaved_512(const float* in, float* out, unsigned n) {
  interleaved<512>(in, out, n);
}
__global__ void reduce_sequential_512(const float* in, float* out, unsigned n) {
  sequential<512>(in, out, n);
}
__global__ void reduce_first_add_512(const float* in, float* out, unsigned n) { first_add<512>(in, out, n); }
__global__ void reduce_shuffle_512(const float* in, float* out, unsigned n) { shuffle<512>(in, out, n); }
}
