// Where a thread is: all three dimensions of blocks and grids, warps that are not full, special registers.

extern "C" {
/// Any grid and block. Thread with linear number i in the whole grid writes out[i] = threadIdx.x + 10
/// threadIdx.y + 100 threadIdx.z + 1000 blockIdx.x + 10000 blockIdx.y + 100000 blockIdx.z
__global__ void geometry_index(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx.x + 10 * threadIdx.y +
                                                               100 * threadIdx.z + 1000 * blockIdx.x +
                                                               10000 * blockIdx.y + 100000 * blockIdx.z;
}

/// out[i] = lane + 100 (lanes that are there), for blocks whose last warp is not full.
__global__ void geometry_partial(int* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[blockIdx.x * blockDim.x + threadIdx.x] = lane + 100 * __popc(__activemask());
}

/// Bounds that a kernel states; does nothing else: out[t] = t
__global__ void __launch_bounds__(128, 2) geometry_bounds(int* out) { out[threadIdx.x] = threadIdx.x; }
}
