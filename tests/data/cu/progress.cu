// Programs that end only if every lane, warp and block makes progress.

extern "C" {
/// Lanes of a warp take one lock, one after the other: out[0] = number of threads, out[1] = 0 (the lock is
/// free).
__global__ void progress_lock(int* out) {
  volatile int* counter = out;
  int* lock = out + 1;
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *counter = *counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

/// The same as people write it first: a lane that has the lock must get past the others that spin.
__global__ void progress_spin(int* out) {
  int* lock = out + 1;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  volatile int* counter = out;
  *counter = *counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

/// Lane 0 waits for what lane 31 writes after it: out[0] = 42, out[1] = 42
__global__ void progress_lanes(volatile int* out) {
  if (threadIdx.x == 0) {
    while (out[1] == 0) {
    }
    out[0] = out[1];
  }
  if (threadIdx.x == 31) out[1] = 42;
}

/// Warp 0 waits for warp 1: out[t] = 7 for t < 32. Blocks of 64.
__global__ void progress_warps(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (flag == 0) {
    }
    out[threadIdx.x] = flag;
  } else if (threadIdx.x == 40) {
    flag = 7;
  }
}

/// Each block waits for the next one, the last for none: out[b] = gridDim.x - b. One thread a block.
__global__ void progress_blocks(volatile int* out) {
  if (blockIdx.x + 1 < gridDim.x)
    while (out[blockIdx.x + 1] == 0) {
    }
  const int next = blockIdx.x + 1 < gridDim.x ? out[blockIdx.x + 1] : 0;
  __threadfence();
  out[blockIdx.x] = next + 1;
}

/// A barrier of the whole grid, made of an atomic counter in out[0]: out[1 + b] = gridDim.x, as all have
/// arrived.
__global__ void progress_grid(int* out) {
  if (threadIdx.x == 0) {
    atomicAdd(&out[0], 1);
    while (atomicAdd(&out[0], 0) < static_cast<int>(gridDim.x)) {
    }
    out[1 + blockIdx.x] = atomicAdd(&out[0], 0);
  }
  __syncthreads();
}
}
