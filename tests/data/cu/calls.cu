// Functions that are really called: values, structs and pointers as parameters and results, recursion, calls
// through pointers. One warp; out[t] of thread t.

struct Pair {
  int first;
  long long second;
};
struct Row {
  float v[5];
  char tag;
};

__device__ __noinline__ int scale(int value, int factor) { return value * factor + 1; }

__device__ __noinline__ Pair make_pair(int first, long long second) { return {first + 1, second * 2}; }

__device__ __noinline__ int sum_of(Pair p, Row r) {
  return p.first + static_cast<int>(p.second) + static_cast<int>(r.v[0] + r.v[4]) + r.tag;
}

__device__ __noinline__ void bump(int* value, int by) { *value += by; }

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

__device__ int add_one(int x) { return x + 1; }
__device__ int negate(int x) { return -x; }
__device__ int square(int x) { return x * x; }
__device__ int (*operations[3])(int) = {add_one, negate, square};

extern "C" {
/// out[t] = 3t + 1
__global__ void call_scalar(int* out) { out[threadIdx.x] = scale(threadIdx.x, 3); }

/// out[t] = (t + 1) + 20t + (t + 5t) + 7
__global__ void call_structs(int* out) {
  const int t = threadIdx.x;
  Row row{};
  row.v[0] = t;
  row.v[4] = 5.0f * t;
  row.tag = 7;
  out[t] = sum_of(make_pair(t, 10 * t), row);
}

/// A callee writes through a pointer to local, shared and global memory: out[t] = 3t + 6, out[32 + t] = t + 3
__global__ void call_pointers(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  int local = t;
  s[t] = t;
  out[32 + t] = t;
  bump(&local, 1);
  bump(&s[t], 2);
  bump(&out[32 + t], 3);
  out[t] = local + s[t] + out[32 + t];
}

/// Only some lanes call: out[t] = 3t + 1 for odd t, else -t
__global__ void call_divergent(int* out) {
  const int t = threadIdx.x;
  if (t % 2 == 1)
    out[t] = scale(t, 3);
  else
    out[t] = -t;
}

/// Each lane to its own depth: out[t] = Fibonacci number t % 12
__global__ void call_recursive(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

/// out[t] = 1 if t is even, else 0
__global__ void call_mutual(int* out) { out[threadIdx.x] = is_even(threadIdx.x); }

/// Lanes of one warp call different functions: out[t] = 100 + t + 1, -(100 + t), (100 + t)^2 for t % 3 = 0,
/// 1, 2
__global__ void call_indirect(int* out) {
  out[threadIdx.x] = operations[threadIdx.x % 3](100 + static_cast<int>(threadIdx.x));
}
}
