// The other translation unit: see first.cu.
using Operation = int (*)(int);

extern __device__ int calls;
extern __device__ int twice(int x);

__device__ int offsets[4] = {1, 2, 3, 4};
__constant__ int factors[4] = {100, 200, 300, 400};
static __device__ int hidden = 50;

static __device__ __noinline__ int local_part(int x) { return x - hidden; }
__device__ int times_ten(int x) {
  atomicAdd(&calls, 1);
  return 10 * x + local_part(x);
}
__device__ Operation operations[2] = {times_ten, twice};

template <class T>
__device__ __noinline__ T numbered(T x) {
  static __device__ int number;
  return x + atomicAdd(&number, 1);
}

/// out[i] = one number of 0, 1, 2, … for each thread
__global__ void number(int* out) { out[threadIdx.x] = numbered(0); }
