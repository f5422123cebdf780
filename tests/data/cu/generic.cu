// Generic addresses: one instruction whose lanes reach different memories. One warp.

__device__ int in_global[32];
__constant__ int in_constant[4] = {5, 6, 7, 8};

__device__ __noinline__ int read(const int* p) { return *p; }
__device__ __noinline__ void write(int* p, int v) { *p = v; }
__device__ __noinline__ void add(int* p, int v) { atomicAdd(p, v); }

extern "C" {
/// Lanes write and read shared, global and local memory through one pointer: out[t] = 10t + t % 3
__global__ void generic_mixed(int* out) {
  __shared__ int in_shared[32];
  int in_local[2] = {0, 0};
  const int t = threadIdx.x;
  int* p = t % 3 == 0 ? &in_shared[t] : t % 3 == 1 ? &in_global[t] : &in_local[t % 2];
  write(p, 10 * t + t % 3);
  out[t] = read(p);
}

/// Bits: 1 shared, 2 global, 4 local, 8 constant. out[t] = 1, 2, 4, 8 for t % 4 = 0, 1, 2, 3; out[32 + t] =
/// what is there
__global__ void generic_space(int* out) {
  __shared__ int in_shared[32];
  int in_local[2] = {0, 0};
  const int t = threadIdx.x;
  in_shared[t] = 100 + t;
  in_global[t] = 200 + t;
  in_local[t % 2] = 300 + t;
  const int* p = t % 4 == 0   ? &in_shared[t]
                 : t % 4 == 1 ? &in_global[t]
                 : t % 4 == 2 ? &in_local[t % 2]
                              : &in_constant[t / 8];
  out[t] =
      (__isShared(p) ? 1 : 0) + (__isGlobal(p) ? 2 : 0) + (__isLocal(p) ? 4 : 0) + (__isConstant(p) ? 8 : 0);
  out[32 + t] = read(p);
}

/// Atomic additions through generic addresses: out[t] = 16 t of shared (even t), 3t of global (odd t).
__global__ void generic_atomic(int* out) {
  __shared__ int in_shared[32];
  const int t = threadIdx.x;
  in_shared[t] = 15 * t;
  in_global[t] = 2 * t;
  __syncwarp();
  int* p = t % 2 == 0 ? &in_shared[t] : &in_global[t];
  add(p, t);
  out[t] = *p;
}

/// 32-bit addresses of shared memory: out[t] = 7(31 - t)
__global__ void generic_shared_address(int* out) {
  __shared__ int in_shared[32];
  const int t = threadIdx.x;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&in_shared[t]));
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(address), "r"(7 * t) : "memory");
  __syncwarp();
  const unsigned other = static_cast<unsigned>(__cvta_generic_to_shared(&in_shared[0])) + 4 * (31 - t);
  int v;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(other) : "memory");
  out[t] = v;
}
}
