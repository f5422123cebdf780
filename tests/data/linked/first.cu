// One of two translation units (-rdc=true): kernels that use functions, variables and a table of function
// pointers which second.cu defines, and statics named like those of second.cu.
using Operation = int (*)(int);

extern __device__ int times_ten(int x);
extern __device__ int offsets[4];
extern __constant__ int factors[4];
extern __device__ Operation operations[2];

__device__ int calls = 3;
static __device__ int hidden = 5;
static __device__ int* where = &hidden;

static __device__ __noinline__ int local_part(int x) { return x + hidden + *where; }
__device__ __noinline__ int twice(int x) { return 2 * x + local_part(1); }

template <class T>
__device__ __noinline__ T numbered(T x) {
  static __device__ int number;
  return x + atomicAdd(&number, 1);
}

/// out[i] = times_ten(i) + offsets[i % 4] * factors[i % 4] + operations[i % 2](i) + local_part(i), for one
/// warp
__global__ void combine(int* out) {
  const int i = threadIdx.x;
  out[i] = times_ten(i) + offsets[i & 3] * factors[i & 3] + operations[i & 1](i) + local_part(i);
}

/// out[0] = how often times_ten and numbered were called in all
__global__ void count(int* out) {
  out[0] = calls;
  out[1] = numbered(0);
}
