// Access patterns of shared memory, one a kernel: which lanes meet in which bank, for every way to lay out
// data that programmers ask about.
//
//   stride                         thread t owns word S*t, for any S: gcd(S, 32) wavefronts each access
//   broadcast                      all threads read one word: one wavefront
//   permutation_gather, _scatter   reads, writes through an index: as bad as the index
//   elements_char … _double        element t of an array of 1, 2, 4, 8 bytes
//   struct_2, _3, _4               thread t owns a struct of 2, 3, 4 words, moved word by word: stride 2, 3,
//   4 vector_2, _4                   the same 2, 4 words moved by one instruction of 64, 128 bits
//   doubles_split                  doubles as two arrays of 32-bit halves, the trick of the 16-bank days
//   two_interleaved, two_blocked   two elements a thread: 2t and 2t+1; t and t+256
//   rows_16, _32, columns_16, _32  a square array row by row, column by column
//   particles_aos, particles_soa   an array of structs of 4 words, a struct of 4 arrays
//
// Launch with blocks of 256 threads (stride: any; rows and columns: 16x16 and 32x32). Each block works on its
// own piece of in[] and out[], as large as the block has threads. Most kernels reverse the order of the
// block's elements, so that each value goes through shared memory from one thread to another.
//
// To expect on 32 banks: README.md has the counts of every kernel. On 16 banks (sm_13): elements_char 4-way,
// elements_short 2-way, elements_double 2-way, struct_3 no conflicts, struct_2 2-way.

constexpr unsigned block = 256;

struct Words2 {
  float x, y;
};
struct Words3 {
  float x, y, z;
};
struct Words4 {
  float x, y, z, w;
};

/// out[t] = in[255 - t], through an array of T in shared memory.
template <class T>
__device__ __forceinline__ void reverse(T* out, const T* in) {
  __shared__ T s[block];
  const unsigned first = blockIdx.x * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[block - 1 - threadIdx.x];
}

/// Turns an n x n array upside down, each warp working on rows.
template <unsigned n>
__device__ __forceinline__ void rows(float* out, const float* in) {
  __shared__ float s[n][n];
  const unsigned x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * n * n;
  s[y][x] = in[first + y * n + x];
  __syncthreads();
  out[first + y * n + x] = s[n - 1 - y][x];
}

/// The same, kept transposed in shared memory, so that each warp works on columns.
template <unsigned n>
__device__ __forceinline__ void columns(float* out, const float* in) {
  __shared__ float s[n][n];
  const unsigned x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * n * n;
  s[x][y] = in[first + y * n + x];
  __syncthreads();
  out[first + y * n + x] = s[x][n - 1 - y];
}

extern "C" {
/// Reverses each block's elements, which lie `stride` words apart: stride * blockDim.x floats of dynamic
/// shared memory.
__global__ void stride(float* out, const float* in, unsigned stride) {
  extern __shared__ float s[];
  const unsigned first = blockIdx.x * blockDim.x;
  s[stride * threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[stride * (blockDim.x - 1 - threadIdx.x)];
}

/// Sets each element of the block to its element `source` (below 256).
__global__ void broadcast(float* out, const float* in, unsigned source) {
  __shared__ float s[block];
  const unsigned first = blockIdx.x * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[source];
}

/// Element t of each block becomes its element index[t]; index holds 256 numbers below 256.
__global__ void permutation_gather(float* out, const float* in, const unsigned* index) {
  __shared__ float s[block];
  const unsigned first = blockIdx.x * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[index[threadIdx.x]];
}

/// Element index[t] of each block becomes its element t; index holds each number below 256 once.
__global__ void permutation_scatter(float* out, const float* in, const unsigned* index) {
  __shared__ float s[block];
  const unsigned first = blockIdx.x * block;
  s[index[threadIdx.x]] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[threadIdx.x];
}

__global__ void elements_char(char* out, const char* in) { reverse(out, in); }
__global__ void elements_short(short* out, const short* in) { reverse(out, in); }
__global__ void elements_int(int* out, const int* in) { reverse(out, in); }
__global__ void elements_float(float* out, const float* in) { reverse(out, in); }
__global__ void elements_double(double* out, const double* in) { reverse(out, in); }

__global__ void struct_2(Words2* out, const Words2* in) { reverse(out, in); }
__global__ void struct_3(Words3* out, const Words3* in) { reverse(out, in); }
__global__ void struct_4(Words4* out, const Words4* in) { reverse(out, in); }
__global__ void vector_2(float2* out, const float2* in) { reverse(out, in); }
__global__ void vector_4(float4* out, const float4* in) { reverse(out, in); }

__global__ void doubles_split(double* out, const double* in) {
  __shared__ int low[block], high[block];
  const unsigned first = blockIdx.x * block;
  const double value = in[first + threadIdx.x];
  low[threadIdx.x] = __double2loint(value);
  high[threadIdx.x] = __double2hiint(value);
  __syncthreads();
  const unsigned source = block - 1 - threadIdx.x;
  out[first + threadIdx.x] = __hiloint2double(high[source], low[source]);
}

/// Differences of neighbours: out[t] = in[2t+1] - in[2t]. A block reads 512 elements and writes 256.
__global__ void two_interleaved(float* out, const float* in) {
  __shared__ float s[2 * block];
  const unsigned first = blockIdx.x * 2 * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  s[threadIdx.x + block] = in[first + threadIdx.x + block];
  __syncthreads();
  out[blockIdx.x * block + threadIdx.x] = s[2 * threadIdx.x + 1] - s[2 * threadIdx.x];
}

/// Differences of halves: out[t] = in[t+256] - in[t]. A block reads 512 elements and writes 256.
__global__ void two_blocked(float* out, const float* in) {
  __shared__ float s[2 * block];
  const unsigned first = blockIdx.x * 2 * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  s[threadIdx.x + block] = in[first + threadIdx.x + block];
  __syncthreads();
  out[blockIdx.x * block + threadIdx.x] = s[threadIdx.x + block] - s[threadIdx.x];
}

__global__ void rows_16(float* out, const float* in) { rows<16>(out, in); }
__global__ void rows_32(float* out, const float* in) { rows<32>(out, in); }
__global__ void columns_16(float* out, const float* in) { columns<16>(out, in); }
__global__ void columns_32(float* out, const float* in) { columns<32>(out, in); }

/// out[t] = w * (x + y + z) of particle 255 - t; in[] holds the particles one after the other.
__global__ void particles_aos(float* out, const Words4* in) {
  __shared__ Words4 s[block];
  const unsigned first = blockIdx.x * block;
  s[threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  const Words4& p = s[block - 1 - threadIdx.x];
  out[first + threadIdx.x] = p.w * (p.x + p.y + p.z);
}

/// The same; in[] holds for each block 256 x, then 256 y, z and w.
__global__ void particles_soa(float* out, const float* in) {
  __shared__ float x[block], y[block], z[block], w[block];
  const unsigned first = blockIdx.x * 4 * block;
  x[threadIdx.x] = in[first + threadIdx.x];
  y[threadIdx.x] = in[first + block + threadIdx.x];
  z[threadIdx.x] = in[first + 2 * block + threadIdx.x];
  w[threadIdx.x] = in[first + 3 * block + threadIdx.x];
  __syncthreads();
  const unsigned source = block - 1 - threadIdx.x;
  out[blockIdx.x * block + threadIdx.x] = w[source] * (x[source] + y[source] + z[source]);
}
}
