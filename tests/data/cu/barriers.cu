// Barriers of all kinds, and dynamic shared memory. out[t] of thread t, blocks of 128 threads unless said.

extern "C" {
/// out[t] = threads with t % 3 == 0: 43; out[128 + t] = 1 if all t < 200; out[256 + t] = 1 if any t == 500
/// (none).
__global__ void barriers_votes(int* out) {
  const int t = threadIdx.x;
  out[t] = __syncthreads_count(t % 3 == 0);
  out[128 + t] = __syncthreads_and(t < 200);
  out[256 + t] = __syncthreads_or(t == 500);
  out[384 + t] = __syncthreads_or(t == 77);
}

/// Pairs of warps meet at barriers 1 and 2: out[t] = thread number of the partner in the other warp of the
/// pair.
__global__ void barriers_named(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x, pair = t / 64;
  s[t] = t;
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  out[t] = s[t ^ 32];
}

/// Warp 0 makes numbers, warps 1 to 3 take them, three times: arrive does not wait. out[96r + t - 32] = 1000r
/// + t - 32
__global__ void barriers_arrive(int* out) {
  __shared__ int s[96];
  const int t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (t < 32) {
      for (int i = t; i < 96; i += 32) s[i] = 1000 * round + i;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[96 * round + t - 32] = s[t - 32];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
}

/// Two arrays in one piece of dynamic shared memory of 128 ints and 128 doubles: out[t] = (127 - t) + 2(t ^
/// 5)
__global__ void barriers_dynamic_shared(int* out) {
  extern __shared__ double d[];
  int* i = reinterpret_cast<int*>(d + blockDim.x);
  const int t = threadIdx.x;
  d[t] = 2.0 * t;
  i[t] = t;
  __syncthreads();
  out[t] = i[blockDim.x - 1 - t] + static_cast<int>(d[t ^ 5]);
}

/// Warps 2 and 3 end before the barrier, which then waits only for the others: out[t] = t ^ 63 for t < 64,
/// else -t
__global__ void barriers_after_exit(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t >= 64) {
    out[t] = -t;
    return;
  }
  s[t] = t;
  __syncthreads();
  out[t] = s[t ^ 63];
}

/// Many barriers in a loop: each thread adds its neighbour's number 20 times around a ring of 128.
__global__ void barriers_ring(int* out) {
  __shared__ int s[2][128];
  const int t = threadIdx.x;
  s[0][t] = t;
  __syncthreads();
  for (int step = 0; step < 20; ++step) {
    s[(step + 1) & 1][t] = s[step & 1][t] + s[step & 1][(t + 1) % 128];
    __syncthreads();
  }
  out[t] = s[0][t];
}
}
