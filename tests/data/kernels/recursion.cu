// Functions that call themselves and each other, in which lanes try again or look at what others write: what
// their callers had is theirs when they come back, one by one. Run by tests/kernels/yields_test.cpp.

struct State {
  int calls, lock, guarded;
};

__device__ __noinline__ int fibonacci(State* s, int n) {
  const int mine = n * 7;
  atomicAdd(&s->calls, 1);
  if (n < 2) return n;
  const int sum = fibonacci(s, n - 1) + fibonacci(s, n - 2);
  return mine == n * 7 ? sum : -1;
}

__device__ __noinline__ int lock_times(State* s, int n) {
  const int keep = n * 3 + 1;
  while (atomicCAS(&s->lock, 0, 1) != 0) {
  }
  *(volatile int*)&s->guarded = *(volatile int*)&s->guarded + 1;
  __threadfence();
  atomicExch(&s->lock, 0);
  const int below = n == 0 ? 0 : 1 + lock_times(s, n - 1);
  return keep == n * 3 + 1 ? below : -1;
}

__device__ __noinline__ int is_even(State* s, int n);

__device__ __noinline__ int is_odd(State* s, int n) {
  atomicAdd(&s->calls, 1);
  return n == 0 ? 0 : is_even(s, n - 1);
}

__device__ __noinline__ int is_even(State* s, int n) {
  atomicAdd(&s->calls, 1);
  return n == 0 ? 1 : is_odd(s, n - 1);
}

typedef int (*Function)(State*, int);
__device__ Function table[3] = {fibonacci, is_odd, is_even};

extern "C" __global__ void recursion(State* s, int* o) {
  const int t = threadIdx.x;
  int result = fibonacci(s, t % 9);
  if (t & 1)
    result += 1000 * lock_times(s, t % 4);
  else if (t % 5 == 0)
    result += 1000 * fibonacci(s, t % 3);
  o[t] = result + 100000 * table[t % 3](s, t % 6);
}
