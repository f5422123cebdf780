// Functions in which lanes try again or look at what others write, called in loops, on some ways only, by
// pointers and by each other: what lanes do behind the calls. Measured in tests/kernels/yields_test.cpp.

struct State {
  int lock, count, flag, pad;
};
#define ARGUMENTS State *s, int *a, int *o

__device__ void bump(State* s, int v) {
  volatile int* c = &s->count;
  *c = *c + v;
}

__device__ __noinline__ bool try_lock(State* s) { return atomicCAS(&s->lock, 0, 1) == 0; }

__device__ __noinline__ void unlock(State* s) { atomicExch(&s->lock, 0); }

__device__ __noinline__ int read_flag(State* s) { return *(volatile int*)&s->flag; }

__device__ __noinline__ int next(State* s) { return atomicAdd(&s->count, 1); }

__device__ __noinline__ void lock(State* s) {
  while (atomicCAS(&s->lock, 0, 1) != 0) {
  }
}

__device__ __noinline__ void add_locked(State* s, int v) {
  while (atomicCAS(&s->lock, 0, 1) != 0) {
  }
  bump(s, v);
  __threadfence();
  atomicExch(&s->lock, 0);
}

__device__ __noinline__ void add_nested(State* s, int v) {
  lock(s);
  bump(s, v);
  __threadfence();
  atomicExch(&s->lock, 0);
}

__device__ __noinline__ void add_tried(State* s, int v) {
  bool done = false;
  while (!done) {
    if (try_lock(s)) {
      bump(s, v);
      __threadfence();
      unlock(s);
      done = true;
    }
  }
}

__device__ __noinline__ void wait_flag(State* s) {
  while (*(volatile int*)&s->flag == 0) {
  }
}

__device__ __noinline__ bool try_shared(int* l) { return atomicCAS(l, 0, 1) == 0; }

__device__ __noinline__ void count(State* s) { atomicAdd(&s->count, 1); }

__device__ __noinline__ void raise(State* s) { *(volatile int*)&s->flag = 1; }

__device__ __noinline__ void fence_it(State* s) {
  s->pad = 2;
  __threadfence();
}

__device__ __noinline__ bool try_nested(State* s) { return try_lock(s); }

__device__ __noinline__ void backoff(int n) { __nanosleep(n); }

__device__ __noinline__ void backoff_if(int n) {
  if (n > 100) __nanosleep(n);
}

__device__ __noinline__ int load_it(State* s) { return s->flag; }

__device__ __noinline__ int some(State* s, int x) {
  if (x > 40) return s->pad;
  return atomicAdd(&s->count, 1);
}

__device__ __noinline__ int own_loop(State* s, int x) {
  int v = 0;
  for (int i = 0; i < x; ++i) v += atomicAdd(&s->count, 1);
  return v;
}

__device__ __noinline__ int sync_it(int x) {
  __syncwarp();
  return x + 1;
}

__device__ __noinline__ int vote_it(int x) { return __ballot_sync(~0u, x > 3); }

__device__ __noinline__ int sometimes(State* s, int x) {
  if (x & 2) return atomicAdd(&s->count, 1);
  return x * 3;
}

__device__ __noinline__ int rec(State* s, int n) {
  if (n <= 0) return atomicAdd(&s->count, 1);
  return rec(s, n - 1) + rec(s, n - 2);
}

__device__ __noinline__ void lock_or_sleep(State* s) {
  while (atomicCAS(&s->lock, 0, 1) != 0) backoff(50);
}

__device__ __noinline__ int shared_add(int* p) { return atomicAdd(p, 1); }

typedef bool (*Try)(State*);
__device__ Try pointer = try_lock;

extern "C" __global__ void try_then(ARGUMENTS) {
  while (!try_lock(s)) {
  }
  bump(s, 1);
  __threadfence();
  unlock(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void try_count(ARGUMENTS) {
  int t = 0;
  while (!try_lock(s))
    if (++t > 1000) __trap();
  bump(s, 1);
  __threadfence();
  unlock(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void flag_then(ARGUMENTS) {
  if (threadIdx.x % 32 == 5) {
    a[200] = 1;
    __threadfence();
    *(volatile int*)&s->flag = 1;
  }
  while (read_flag(s) == 0) {
  }
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void flag_if(ARGUMENTS) {
  if (threadIdx.x % 32 != 5) {
    while (read_flag(s) == 0) {
    }
  } else {
    a[200] = 1;
    __threadfence();
    *(volatile int*)&s->flag = 1;
  }
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void lock_then(ARGUMENTS) {
  lock(s);
  bump(s, 1);
  __threadfence();
  unlock(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_then(ARGUMENTS) {
  add_locked(s, 1);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) add_locked(s, 1);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void nested_then(ARGUMENTS) {
  add_nested(s, 1);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void tried_then(ARGUMENTS) {
  add_tried(s, 1);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void wait_then(ARGUMENTS) {
  if (threadIdx.x % 32 == 5) *(volatile int*)&s->flag = 1;
  wait_flag(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void indirect(ARGUMENTS) {
  Try f = pointer;
  while (!f(s)) {
  }
  bump(s, 1);
  __threadfence();
  unlock(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void worklist(ARGUMENTS) {
  int i;
  while ((i = next(s)) < 300) {
    int v = 0;
    for (int k = 0; k < i % 7; ++k) v += a[k];
    o[i] = v + a[i];
  }
  o[threadIdx.x + 400] = a[threadIdx.x];
}

extern "C" __global__ void worklist_for(ARGUMENTS) {
  for (int i = next(s); i < 300; i = next(s)) {
    if (i & 1)
      o[i] = a[i];
    else
      o[i] = a[i + 1];
  }
  o[threadIdx.x + 400] = a[threadIdx.x];
}

extern "C" __global__ void counted(ARGUMENTS) {
  int v = 0;
  for (int i = 0; i < (threadIdx.x & 3); ++i) v += next(s);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void done_then(ARGUMENTS) {
  bool done = false;
  while (!done) {
    if (try_lock(s)) {
      bump(s, 1);
      __threadfence();
      unlock(s);
      done = true;
    }
  }
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void shared_lock(ARGUMENTS) {
  __shared__ int l;
  if (threadIdx.x == 0) l = 0;
  __syncthreads();
  while (!try_shared(&l)) {
  }
  bump(s, 1);
  __threadfence();
  atomicExch(&l, 0);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_barrier(ARGUMENTS) {
  add_locked(s, 1);
  __syncthreads();
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_loop(ARGUMENTS) {
  for (int i = 0; i < 4; ++i) {
    add_locked(s, 1);
    o[threadIdx.x + i * 64] = a[threadIdx.x];
  }
}

extern "C" __global__ void try_loop(ARGUMENTS) {
  for (int i = 0; i < 4; ++i) {
    while (!try_lock(s)) {
    }
    bump(s, 1);
    __threadfence();
    unlock(s);
    o[threadIdx.x + i * 64] = a[threadIdx.x];
  }
}

extern "C" __global__ void once(ARGUMENTS) {
  int v = try_lock(s);
  if (v) o[500] = 1;
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_in_for(ARGUMENTS) {
  for (int i = 0; i < (threadIdx.x & 3); ++i) add_locked(s, 1);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void work_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) o[next(s) + 100] = a[threadIdx.x + 64];
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void lock_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) {
    lock(s);
    bump(s, 1);
    __threadfence();
    unlock(s);
    o[threadIdx.x + 64] = a[threadIdx.x + 64];
  }
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void add_shuffle(ARGUMENTS) {
  add_locked(s, 1);
  o[threadIdx.x] = __shfl_xor_sync(~0u, a[threadIdx.x], 1);
}

extern "C" __global__ void red_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) count(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void raise_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) raise(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void fence_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) fence_it(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void nested_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) o[100] = try_nested(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void sleep_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) backoff(a[0]);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void sleep_if_in_if(ARGUMENTS) {
  if (threadIdx.x & 1) backoff_if(a[0] + threadIdx.x * 10);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void load_in_if(ARGUMENTS) {
  int v = 0;
  if (threadIdx.x & 1) v = load_it(s);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void some_in_if(ARGUMENTS) {
  int v = 0;
  if (threadIdx.x & 1) v = some(s, threadIdx.x);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void loop_in_if(ARGUMENTS) {
  int v = 0;
  if (threadIdx.x & 1) v = own_loop(s, threadIdx.x % 5);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void loop_plain(ARGUMENTS) {
  int v = own_loop(s, threadIdx.x % 5);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void sub_plain(ARGUMENTS) {
  int v = sometimes(s, threadIdx.x);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void sub_twice(ARGUMENTS) {
  int v = sometimes(s, threadIdx.x);
  v += sometimes(s, threadIdx.x + 1);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void recursive(ARGUMENTS) {
  int v = rec(s, threadIdx.x % 4);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void lock_sleep(ARGUMENTS) {
  lock_or_sleep(s);
  bump(s, 1);
  __threadfence();
  atomicExch(&s->lock, 0);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void if_then_barrier(ARGUMENTS) {
  if (threadIdx.x & 1) count(s);
  o[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x + 64] = a[threadIdx.x + 64];
}

extern "C" __global__ void if_then_sync(ARGUMENTS) {
  if (threadIdx.x & 1) count(s);
  o[threadIdx.x] = a[threadIdx.x];
  __syncwarp();
  o[threadIdx.x + 64] = a[threadIdx.x + 64];
}

extern "C" __global__ void if_then_call_sync(ARGUMENTS) {
  if (threadIdx.x & 1) count(s);
  o[threadIdx.x] = a[threadIdx.x];
  o[threadIdx.x + 64] = sync_it(a[threadIdx.x + 64]);
  o[threadIdx.x + 128] = a[threadIdx.x + 128];
}

extern "C" __global__ void if_then_vote(ARGUMENTS) {
  if (threadIdx.x & 1) count(s);
  o[threadIdx.x] = a[threadIdx.x];
  o[threadIdx.x + 64] = vote_it(a[threadIdx.x + 64]);
  o[threadIdx.x + 128] = a[threadIdx.x + 128];
}

extern "C" __global__ void if_else(ARGUMENTS) {
  int v;
  if (threadIdx.x & 1)
    v = some(s, 5);
  else
    v = sometimes(s, threadIdx.x);
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void if_in_loop(ARGUMENTS) {
  for (int i = 0; i < 4; ++i) {
    if ((threadIdx.x >> i) & 1) count(s);
    o[threadIdx.x + i * 64] = a[threadIdx.x];
  }
}

extern "C" __global__ void loop_uniform(ARGUMENTS) {
  int n = a[0] + 3, v = 0;
  for (int i = 0; i < n; ++i) {
    v += some(s, i);
  }
  o[threadIdx.x] = a[threadIdx.x] + v;
}

extern "C" __global__ void if_uniform(ARGUMENTS) {
  if (a[0] == 0) count(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void if_block(ARGUMENTS) {
  if (blockIdx.x == 0) count(s);
  if (threadIdx.x < 32) count(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void after_return(ARGUMENTS) {
  if (threadIdx.x % 4 == 3) return;
  count(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void if_then_red(ARGUMENTS) {
  if (threadIdx.x & 1) o[threadIdx.x + 64] = some(s, 1);
  count(s);
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void shared_in_if(ARGUMENTS) {
  __shared__ int h[4];
  if (threadIdx.x < 4) h[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x & 1) o[64 + shared_add(h)] = 3;
  o[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x + 128] = h[threadIdx.x & 3];
}

extern "C" __global__ void switch_calls(ARGUMENTS) {
  int v = 0;
  switch (threadIdx.x & 3) {
    case 0: v = some(s, 1); break;
    case 1: v = sometimes(s, 2); break;
    case 2: count(s); break;
    default: v = load_it(s);
  }
  o[threadIdx.x] = a[threadIdx.x] + v;
}
