// What lanes of a warp tell each other: votes, shuffles, matches, reductions, masks. Blocks of 64 threads;
// result k of thread t is out[k * 64 + t].

extern "C" {
__global__ void warps_vote(unsigned* out) {
  const unsigned t = threadIdx.x, lane = t % 32;
  out += t;
  out[0 * 64] = __all_sync(0xffffffffu, t < 32);
  out[1 * 64] = __any_sync(0xffffffffu, t == 40);
  out[2 * 64] = __ballot_sync(0xffffffffu, t % 3 == 0);
  out[3 * 64] = __activemask();
  unsigned r;
  asm volatile(
      "{.reg .pred p, q;\n\tsetp.lt.u32 p, %1, 32;\n\tvote.sync.uni.pred q, p, 0xffffffff;\n\tselp.u32 %0, "
      "1, 0, q;}"
      : "=r"(r)
      : "r"(t));
  out[4 * 64] = r;
  // Only a part of the warp votes.
  out[5 * 64] = 0;
  if (lane >= 8 && lane < 20) {
    out[5 * 64] = __ballot_sync(0x000fff00u, lane % 2 == 0);
    out[6 * 64] = __activemask();
  } else {
    out[6 * 64] = __popc(__activemask());
  }
}

__global__ void warps_shuffle(int* out) {
  const int t = threadIdx.x, lane = t % 32;
  const int v = t * 10 + 1;
  out += t;
  out[0 * 64] = __shfl_sync(0xffffffffu, v, 5);
  out[1 * 64] = __shfl_sync(0xffffffffu, v, 31 - lane);
  out[2 * 64] = __shfl_up_sync(0xffffffffu, v, 3);
  out[3 * 64] = __shfl_down_sync(0xffffffffu, v, 7);
  out[4 * 64] = __shfl_xor_sync(0xffffffffu, v, 0x11);
  out[5 * 64] = __shfl_sync(0xffffffffu, v, lane + 3, 8);
  out[6 * 64] = __shfl_up_sync(0xffffffffu, v, 2, 8);
  out[7 * 64] = __shfl_down_sync(0xffffffffu, v, 2, 16);
  out[8 * 64] = static_cast<int>(__shfl_xor_sync(0xffffffffu, static_cast<double>(v), 1) * 2);
  out[9 * 64] = static_cast<int>(__shfl_down_sync(0xffffffffu, static_cast<long long>(v) << 32, 1) >> 32);
  int r, p;
  asm volatile("{.reg .pred q;\n\tshfl.sync.up.b32 %0|q, %2, 4, 0, 0xffffffff;\n\tselp.s32 %1, 1, 0, q;}"
               : "=r"(r), "=r"(p)
               : "r"(v));
  out[10 * 64] = r;
  out[11 * 64] = p;
  out[12 * 64] = -1;
  if (lane % 4 == 1) out[12 * 64] = __shfl_sync(0x22222222u, v, (lane + 4) % 32);
}

/// Sums and prefix sums built on shuffles: out[t] = sum of the warp's thread numbers, out[64 + t] = sum up to
/// t.
__global__ void warps_scan(int* out) {
  const int t = threadIdx.x, lane = t % 32;
  int sum = t;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  int prefix = t;
  for (int s = 1; s < 32; s *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, prefix, s);
    if (lane >= s) prefix += before;
  }
  out[t] = sum;
  out[64 + t] = prefix;
}

__global__ void warps_match(unsigned* out) {
  const unsigned t = threadIdx.x;
  int same;
  out += t;
  out[0 * 64] = __match_any_sync(0xffffffffu, t % 5);
  out[1 * 64] = __match_any_sync(0xffffffffu, static_cast<unsigned long long>(t / 8) << 40);
  out[2 * 64] = __match_all_sync(0xffffffffu, t / 32, &same);
  out[3 * 64] = same;
  out[4 * 64] = __match_all_sync(0xffffffffu, t / 31, &same);
  out[5 * 64] = same;
}

__global__ void warps_reduce(unsigned* out) {
  const unsigned t = threadIdx.x;
  const int s = static_cast<int>(t) * 7 % 23 - 11;
  out += t;
  out[0 * 64] = __reduce_add_sync(0xffffffffu, t);
  out[1 * 64] = __reduce_min_sync(0xffffffffu, t * 5 % 37);
  out[2 * 64] = __reduce_max_sync(0xffffffffu, t * 5 % 37);
  out[3 * 64] = __reduce_and_sync(0xffffffffu, t | 8);
  out[4 * 64] = __reduce_or_sync(0xffffffffu, t);
  out[5 * 64] = __reduce_xor_sync(0xffffffffu, t * t);
  out[6 * 64] = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, s));
  out[7 * 64] = static_cast<unsigned>(__reduce_max_sync(0xffffffffu, s));
  out[8 * 64] = static_cast<unsigned>(__reduce_add_sync(0xffffffffu, s));
}

__global__ void warps_masks(unsigned* out) {
  unsigned eq, lt, le, gt, ge, lane;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out += threadIdx.x;
  out[0 * 64] = eq;
  out[1 * 64] = lt;
  out[2 * 64] = le;
  out[3 * 64] = gt;
  out[4 * 64] = ge;
  out[5 * 64] = lane;
  out[6 * 64] = warpSize;
}

/// Both sides of a branch meet in one __syncwarp-separated exchange through shared memory:
/// out[t] = value of lane t ^ 1: 2(t ^ 1) if that is even, else 100 + (t ^ 1).
__global__ void warps_syncwarp(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t % 2 == 0)
    s[t] = 2 * t;
  else
    s[t] = 100 + t;
  __syncwarp();
  out[t] = s[t ^ 1];
}
}
