// Kernels that speak: printf, assert, trap.
#include <cassert>
#include <cstdio>

extern "C" {
/// One thread: prints every kind of argument.
__global__ void output_printf(int* out) {
  printf("thread %d of %u: %s %c %5.2f %lld %#x%%\n", threadIdx.x, blockDim.x, "text", 'c', 1.5, -7ll, 255);
  out[threadIdx.x] = printf("no arguments\n");
}

/// Fails in thread 5 with the text "threadIdx.x != 5".
__global__ void output_assert(int* out) {
  assert(threadIdx.x != 5);
  out[threadIdx.x] = 1;
}

/// Traps in thread 3 of the second block.
__global__ void output_trap(int* out) {
  if (blockIdx.x == 1 && threadIdx.x == 3) __trap();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
}
