// Wrong programs, each with one defect to be found: where it is, is said in its comment. One block of 64
// threads; `out` has room for 64 ints.

extern "C" {
/// Thread 63 stores behind the end of out[].
__global__ void defect_out_of_bounds(int* out) { out[threadIdx.x + 1] = 1; }

/// Thread 0 loads before the start of out[].
__global__ void defect_before_start(int* out) {
  const int t = threadIdx.x;
  out[t] = out[t - 1];
}

/// Every thread stores 4 bytes at an address that is no multiple of 4.
__global__ void defect_misaligned(char* out) {
  *reinterpret_cast<int*>(out + 4 * (threadIdx.x % 32) + 2) = 1;
}

/// Every thread loads through a null pointer.
__global__ void defect_null(int* out) {
  const int* const* table = reinterpret_cast<const int* const*>(out);
  out[threadIdx.x] = *table[threadIdx.x % 4];
}

/// Threads 32 to 63 store behind the end of the block's shared memory (32 ints).
__global__ void defect_shared_bounds(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 32];
}

/// Threads 0 to 31 wait at barrier 1, the others at barrier 2, for 64 threads each: a deadlock.
__global__ void defect_barrier(int* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

/// Waits for a flag that nobody sets.
__global__ void defect_spin(volatile int* out) {
  while (out[0] == 0) {
  }
  out[threadIdx.x] = 1;
}

/// Stores to constant memory's neighbour: a pointer made from a number.
__global__ void defect_unknown_pointer(int* out) {
  int* p = reinterpret_cast<int*>(0x1234560ull);
  if (threadIdx.x == 7) *p = 1;
  out[threadIdx.x] = 1;
}

/// Thread t reads what thread t + 1 writes, without a barrier between: a race on s[].
__global__ void defect_race(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}

/// Reads shared memory that nobody wrote.
__global__ void defect_uninitialised(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
}
