// Loops in which lanes try again or wait for others, and what comes after them. The words of l are 0, p has
// 4096 below 64, o gets what a thread knows. What an H100 counts for one block of 64 threads is in
// tests/kernels/yields_test.cpp.

#define ARGUMENTS int *l, volatile int *x, int *o, const int *p, int m
#define ADD_BY_CAS(w)                         \
  {                                           \
    int old = p[0], seen;                     \
    do {                                      \
      seen = old;                             \
      old = atomicCAS(w, seen, seen + t + 1); \
    } while (old != seen);                    \
  }

extern "C" __global__ void atomic_in_for(ARGUMENTS) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < m; ++i) c += atomicAdd(l + i, t);
  o[t] = c;
}

extern "C" __global__ void red_in_for(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < m; ++i) atomicAdd(l + i, t);
  o[t] = t;
}

extern "C" __global__ void exit_by_add(ARGUMENTS) {
  int t = threadIdx.x, c;
  while ((c = atomicAdd(l, 1)) < m) x[c] = t;
  o[t] = t;
}

extern "C" __global__ void exit_by_volatile(ARGUMENTS) {
  int t = threadIdx.x;
  while (x[t] == 0) {
  }
  o[t] = t;
}

extern "C" __global__ void cas_loop(ARGUMENTS) {
  int t = threadIdx.x;
  int old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(l, seen, seen + t);
  } while (old != seen);
  o[t] = t;
}

extern "C" __global__ void cas_shared(ARGUMENTS) {
  __shared__ int s;
  int t = threadIdx.x;
  s = 0;
  __syncthreads();
  int old = s, seen;
  do {
    seen = old;
    old = atomicCAS(&s, seen, seen + t);
  } while (old != seen);
  o[t] = old;
}

extern "C" __global__ void volatile_in_for(ARGUMENTS) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < m; ++i) {
    c += x[i * t];
    if (c > 100) break;
    x[i] = c;
  }
  o[t] = c;
}

extern "C" __global__ void max_with_check(ARGUMENTS) {
  int t = threadIdx.x;
  int v = p[t], old = *l;
  while (v > old) {
    int seen = old;
    old = atomicCAS(l, seen, v);
    if (old == seen) break;
  }
  o[t] = v;
}

extern "C" __global__ void hash_insert(ARGUMENTS) {
  int t = threadIdx.x;
  int k = p[t], h = k & 255;
  for (;;) {
    int old = atomicCAS(l + h, 0, k);
    if (old == 0 || old == k) break;
    h = (h + 1) & 255;
  }
  o[t] = h;
}

extern "C" __global__ void hash_insert_for(ARGUMENTS) {
  int t = threadIdx.x;
  int k = p[t], h = k & 255;
  for (int i = 0; i < 256; ++i) {
    int old = atomicCAS(l + h, 0, k);
    if (old == 0 || old == k) break;
    h = (h + 1) & 255;
  }
  o[t] = h;
}

extern "C" __global__ void worklist(ARGUMENTS) {
  int t = threadIdx.x, c = 0;
  for (;;) {
    int i = atomicAdd(l, 1);
    if (i >= m) break;
    c += p[i];
  }
  o[t] = c;
}

extern "C" __global__ void cas_then_if(ARGUMENTS) {
  int t = threadIdx.x;
  int old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(l, seen, seen + t + 1);
  } while (old != seen);
  if (t & 1)
    o[t] = t;
  else
    o[t + 64] = p[t];
  o[t + 128] = t;
}

extern "C" __global__ void if_cas(ARGUMENTS) {
  int t = threadIdx.x;
  if (p[t] & 1) {
    int old = *p, seen;
    do {
      seen = old;
      old = atomicCAS(l, seen, seen + t + 1);
    } while (old != seen);
  } else {
    o[t + 64] = t;
  }
  o[t] = t;
}

extern "C" __global__ void cas_own_words(ARGUMENTS) {
  int t = threadIdx.x;
  int old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(l + t, seen, seen + t + 1);
  } while (old != seen);
  o[t] = t;
}

extern "C" __global__ void cas_warp_words(ARGUMENTS) {
  int t = threadIdx.x;
  int old = 0, seen;
  do {
    seen = old;
    old = atomicCAS(l + (t & 7), seen, seen + t + 1);
  } while (old != seen);
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void sleep_lock(ARGUMENTS) {
  int t = threadIdx.x;
  while (atomicCAS(l, 0, 1) != 0) __nanosleep(20);
  x[100] = x[100] + 1;
  __threadfence();
  atomicExch(l, 0);
  o[t] = t;
}

extern "C" __global__ void sleep_flag(ARGUMENTS) {
  int t = threadIdx.x;
  if (t == 63) {
    __threadfence();
    x[101] = 1;
  } else if (t & 1) {
    while (x[101] == 0) __nanosleep(20);
  }
  o[t] = t;
}

extern "C" __global__ void cas_sync(ARGUMENTS) {
  int t = threadIdx.x;
  int old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(l, seen, seen + t + 1);
  } while (old != seen);
  __syncwarp();
  o[t] = t;
}

extern "C" __global__ void cas_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  int old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(l, seen, seen + t + 1);
  } while (old != seen);
  o[t + 64] = t;
  __syncthreads();
  o[t] = t;
}

extern "C" __global__ void shared_float_max(ARGUMENTS) {
  __shared__ int s;
  int t = threadIdx.x;
  if (t == 0) s = 0;
  __syncthreads();
  int v = p[t];
  int old = s;
  while (v > old) {
    int seen = old;
    old = atomicCAS(&s, seen, v);
    if (old == seen) break;
  }
  o[t + 64] = t;
  __syncthreads();
  o[t] = s;
}

extern "C" __global__ void cas_in_for_const(ARGUMENTS) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < 3; ++i) {
    int old = p[i], seen;
    do {
      seen = old;
      old = atomicCAS(l + i, seen, seen + t);
    } while (old != seen);
    c += p[(old + i) & 63];
  }
  o[t] = c;
}

extern "C" __global__ void cas_then_barrier_if(ARGUMENTS) {
  int t = threadIdx.x;
  ADD_BY_CAS(l) o[t] = t;
  if (m > 3) __syncthreads();
  o[t + 64] = t;
}

extern "C" __global__ void cas_then_shuffle(ARGUMENTS) {
  int t = threadIdx.x;
  ADD_BY_CAS(l) o[t] = t;
  int v = __shfl_sync(~0u, t, t ^ 1);
  o[t + 64] = v;
}

extern "C" __global__ void if_cas_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  if (p[t] & 1) {
    ADD_BY_CAS(l) o[t] = t;
  }
  o[t + 64] = t;
  __syncthreads();
  o[t + 128] = t;
}

extern "C" __global__ void ifs_cas_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  if (p[t] & 1) {
    ADD_BY_CAS(l) o[t] = t;
    if (p[t] & 2) o[t + 200] = t;
    o[t + 300] = t;
  }
  o[t + 64] = t;
  __syncthreads();
  o[t + 128] = t;
}

extern "C" __global__ void for_cas_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < m; ++i) {
    ADD_BY_CAS(l + i) o[t + 64 * i] = t;
    __syncthreads();
    o[t + 64 * i + 512] = t;
  }
  o[t + 1024] = t;
}

extern "C" __global__ void for_barrier_cas(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < m; ++i) {
    __syncthreads();
    ADD_BY_CAS(l + i) o[t + 64 * i] = t;
  }
  o[t + 1024] = t;
}

extern "C" __global__ void for_if_cas_sync(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < m; ++i) {
    if (p[t + i] & 1) {
      ADD_BY_CAS(l + i) o[t + 64 * i] = t;
    }
    o[t + 64 * i + 512] = t;
    __syncwarp();
    o[t + 64 * i + 1024] = t;
  }
  o[t + 2048] = t;
}

extern "C" __global__ void if_sleep(ARGUMENTS) {
  int t = threadIdx.x;
  if (p[t] & 1) __nanosleep(100);
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void for_sleep(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < (t & 7); ++i) __nanosleep(100);
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void if_sleep_if(ARGUMENTS) {
  int t = threadIdx.x;
  if (p[t] & 1) {
    __nanosleep(100);
    o[t] = t;
    if (p[t] & 2) o[t + 200] = t;
    o[t + 300] = t;
  }
  o[t + 64] = t;
}

extern "C" __global__ void cas_then_ways(ARGUMENTS) {
  int t = threadIdx.x;
  ADD_BY_CAS(l) o[t] = t;
  if (p[t] & 1)
    o[t + 64] = t;
  else
    o[t + 128] = p[t + 1];
  o[t + 192] = t;
  for (int i = 0; i < (t & 3); ++i) o[t + 256 + i * 64] = i;
  o[t + 1024] = t;
}

extern "C" __global__ void read_until(ARGUMENTS) {
  int t = threadIdx.x;
  while (atomicAdd(l, 0) < m - 4) {
  }
  o[t] = t;
  if (t & 1) o[t + 64] = t;
  o[t + 128] = t;
}

extern "C" __global__ void lock_or_sleep(ARGUMENTS) {
  int t = threadIdx.x;
  bool go = true;
  while (go) {
    if (atomicExch(l, 1) == 0) {
      x[1] = x[1] + t;
      __threadfence();
      atomicExch(l, 0);
      go = false;
    } else {
      __nanosleep(50);
    }
  }
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void hash_put(ARGUMENTS) {
  int t = threadIdx.x;
  int h = p[t] & 63;
  for (;;) {
    int old = atomicCAS(l + h, 0, t + 1);
    if (old == 0) break;
    h = (h + 1) & 127;
  }
  o[t] = h;
  o[t + 64] = t;
}

extern "C" __global__ void union_find(ARGUMENTS) {
  int t = threadIdx.x;
  int a = t, r = p[t] & 63;
  while (a != r) {
    if (a < r) {
      int s = a;
      a = r;
      r = s;
    }
    int old = atomicCAS(l + a, 0, r);
    if (old == 0) break;
    a = old;
    if (a > 63) a = 63;
  }
  o[t] = a;
}

extern "C" __global__ void look_sync(ARGUMENTS) {
  int t = threadIdx.x;
  if (t < 32) {
    if (t == 0) {
      while (x[3] != 0) {
      }
    }
    __syncwarp();
    o[t] = t;
  }
  o[t + 64] = t;
}

extern "C" __global__ void shared_cas_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  __shared__ int s[64];
  s[t] = 0;
  __syncthreads();
  {
    int k = p[t] & 7;
    int old = s[k], seen;
    do {
      seen = old;
      old = atomicCAS(&s[k], seen, seen + t);
    } while (old != seen);
  }
  o[t + 64] = s[t & 7];
  __syncthreads();
  o[t] = s[t];
}

extern "C" __global__ void histogram_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  __shared__ int s[64];
  s[t] = 0;
  __syncthreads();
  for (int i = t; i < m * 32; i += 64) {
    int k = p[i] & 15;
    int old = s[k], seen;
    do {
      seen = old;
      old = atomicCAS(&s[k], seen, seen + t + 1);
    } while (old != seen);
  }
  __syncthreads();
  o[t] = s[t];
}

extern "C" __global__ void histogram_cas(ARGUMENTS) {
  int t = threadIdx.x;
  __shared__ int s[64];
  s[t] = 0;
  __syncthreads();
  for (int i = t; i < m * 32; i += 64) {
    int k = p[i] & 15;
    int old = s[k], seen;
    do {
      seen = old;
      old = atomicCAS(&s[k], seen, seen + t + 1);
    } while (old != seen);
    o[i + 512] = k;
  }
  o[t] = s[t];
}

extern "C" __global__ void look_or_break(ARGUMENTS) {
  int t = threadIdx.x;
  int v;
  do {
    v = *(volatile int*)(l + t);
    if (v == 5) break;
    o[t + 64] = v;
  } while (v != 0);
  o[t] = t;
}

extern "C" __global__ void float_max(ARGUMENTS) {
  int t = threadIdx.x;
  float* f = (float*)(l + 8);
  float old = *f, seen;
  do {
    seen = old;
    old = __int_as_float(
        atomicCAS((int*)f, __float_as_int(seen), __float_as_int(fmaxf(seen, (float)(p[t] + t)))));
  } while (old != seen);
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void first_waits_barrier(ARGUMENTS) {
  int t = threadIdx.x;
  if (t == 0) {
    int n = atomicAdd(l, 1);
    while (atomicAdd(l, 0) < m - 3) {
    }
    o[n + 100] = n;
  }
  o[t + 64] = t;
  __syncthreads();
  o[t] = t;
}

extern "C" __global__ void first_waits(ARGUMENTS) {
  int t = threadIdx.x;
  if (t == 0) {
    atomicAdd(l, 1);
    while (atomicAdd(l, 0) < m - 3) {
    }
  }
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void add_then_if(ARGUMENTS) {
  int t = threadIdx.x;
  for (int i = 0; i < m; ++i) {
    if (atomicAdd(l + 10 + i, 1) & 1) {
      o[t + i * 64] = t;
    } else {
      o[t + 600 + i * 64] = p[t];
    }
  }
  o[t + 1200] = t;
}

extern "C" __global__ void look_counts(ARGUMENTS) {
  int t = threadIdx.x;
  int c = 0;
  while (x[200 + c] < m * 8) {
    c += 1 + (p[t] & 3);
    if (c & 1) o[t] = c;
  }
  o[t + 64] = c;
}

extern "C" __global__ void add_until(ARGUMENTS) {
  int t = threadIdx.x;
  int c = p[t] & 3;
  do {
    if (c & 1) o[t] = c;
    c = (atomicAdd(l + t, 1) + c) & 3;
  } while (c != 0);
  o[t + 64] = c;
  if (t & 4) o[t + 128] = t;
}

extern "C" __global__ void odd_lock(ARGUMENTS) {
  int t = threadIdx.x;
  if (t & 1) {
    while (atomicCAS(l, 0, 1) != 0) {
    }
    __threadfence();
    x[0] = x[0] + 1;
    __threadfence();
    atomicExch(l, 0);
  }
  o[t] = t;
}

extern "C" __global__ void all_lock(ARGUMENTS) {
  int t = threadIdx.x;
  while (atomicCAS(l, 0, 1) != 0) {
  }
  __threadfence();
  x[0] = x[0] + 1;
  __threadfence();
  atomicExch(l, 0);
  o[t] = t;
}

extern "C" __global__ void done_lock(ARGUMENTS) {
  int t = threadIdx.x;
  bool done = false;
  while (!done) {
    if (atomicCAS(l, 0, 1) == 0) {
      __threadfence();
      x[0] = x[0] + 1;
      __threadfence();
      atomicExch(l, 0);
      done = true;
    }
  }
  o[t] = t;
}

extern "C" __global__ void sh_done(ARGUMENTS) {
  __shared__ int lock;
  int t = threadIdx.x;
  if (t == 0) lock = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      x[0] = x[0] + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  o[t] = t;
}

extern "C" __global__ void sh_break(ARGUMENTS) {
  __shared__ int lock;
  int t = threadIdx.x;
  if (t == 0) lock = 0;
  __syncthreads();
  for (;;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      x[0] = x[0] + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      break;
    }
  }
  o[t] = t;
}

extern "C" __global__ void gl_break(ARGUMENTS) {
  int t = threadIdx.x;
  for (;;) {
    if (atomicCAS(l, 0, 1) == 0) {
      x[0] = x[0] + 1;
      __threadfence();
      atomicExch(l, 0);
      break;
    }
  }
  o[t] = t;
}

extern "C" __global__ void gl_nofence(ARGUMENTS) {
  int t = threadIdx.x;
  bool done = false;
  while (!done) {
    if (atomicExch(l, 1) == 0) {
      x[0] = x[0] + 1;
      atomicExch(l, 0);
      done = true;
    }
  }
  o[t] = t;
}

extern "C" __global__ void odd_done(ARGUMENTS) {
  int t = threadIdx.x;
  if (t & 1) {
    bool done = false;
    while (!done) {
      if (atomicCAS(l, 0, 1) == 0) {
        x[0] = x[0] + 1;
        __threadfence();
        atomicExch(l, 0);
        done = true;
      }
    }
  }
  o[t] = t;
}

extern "C" __global__ void many_locks(ARGUMENTS) {
  int t = threadIdx.x;
  int k = (t * 7) & 31;
  while (atomicCAS(l + k, 0, 1) != 0) {
  }
  x[0] = x[0] + 1;
  __threadfence();
  atomicExch(l + k, 0);
  o[t] = t;
}

extern "C" __global__ void few_locks(ARGUMENTS) {
  int t = threadIdx.x;
  int k = t & 15;
  while (atomicCAS(l + k, 0, 1) != 0) {
  }
  x[0] = x[0] + 1;
  __threadfence();
  atomicExch(l + k, 0);
  o[t] = t;
}

extern "C" __global__ void few_done(ARGUMENTS) {
  int t = threadIdx.x;
  int k = t & 15;
  bool done = false;
  while (!done) {
    if (atomicCAS(l + k, 0, 1) == 0) {
      x[0] = x[0] + 1;
      __threadfence();
      atomicExch(l + k, 0);
      done = true;
    }
  }
  o[t] = t;
}

extern "C" __global__ void elect(ARGUMENTS) {
  int t = threadIdx.x;
  if (t % 32 == 0) {
    while (atomicCAS(l, 0, 1) != 0) {
    }
    x[0] = x[0] + 1;
    __threadfence();
    atomicExch(l, 0);
  }
  o[t] = t;
}

extern "C" __global__ void elect_sync(ARGUMENTS) {
  int t = threadIdx.x;
  if (t % 32 == 0) {
    while (atomicCAS(l, 0, 1) != 0) {
    }
    x[0] = x[0] + 1;
    __threadfence();
    atomicExch(l, 0);
  }
  __syncwarp();
  o[t] = t;
}

extern "C" __global__ void odd_lock2(ARGUMENTS) {
  int t = threadIdx.x;
  if (t & 1) {
    while (atomicCAS(l, 0, 1) != 0) {
    }
    x[0] = x[0] + 1;
    __threadfence();
    atomicExch(l, 0);
  }
  o[t] = t;
  o[t + 64] = t;
}

extern "C" __global__ void flag_wait(ARGUMENTS) {
  int t = threadIdx.x;
  volatile int* v = l;
  if (t == 63) {
    *v = 1;
  } else if (t & 1) {
    while (*v == 0) {
    }
  }
  o[t] = t;
}

extern "C" __global__ void cas_max(ARGUMENTS) {
  int t = threadIdx.x;
  int old = x[5], seen;
  do {
    seen = old;
    old = atomicCAS(l + 9, seen, seen + t + 1);
  } while (old != seen);
  o[t] = t;
}
