// A translation unit of which a program has machine code for its chip, and PTX for a newer one alone.
extern __device__ int times_ten(int x);

/// out[i] = 10 * i + i - 50 + n, for one warp (times_ten of second.cu)
__global__ void newer(int* out, int n) { out[threadIdx.x] = times_ten(threadIdx.x) + n; }

/// Nothing, on any chip.
__global__ void nothing(int* out, int n) {}
