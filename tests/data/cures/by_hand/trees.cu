// Kernels that go through an array at strides that double, as a reduction does, but need more of it than one
// sum: to combine others there would change what they compute. One block of 256 threads each.
constexpr int threads = 256, elements = 2 * threads;

__device__ __forceinline__ void fill(float* s, const float* in) {
  s[threadIdx.x] = in[threadIdx.x];
  s[threadIdx.x + threads] = in[threadIdx.x + threads];
}
// A tree of sums: the last element of each half of a branch to that of the branch.
__device__ __forceinline__ void add_up(float* s) {
  for (int distance = 1; distance < elements; distance *= 2) {
    __syncthreads();
    const int far = (threadIdx.x + 1) * 2 * distance - 1;
    if (far < elements) s[far] += s[far - distance];
  }
}
__device__ __forceinline__ void give(float* out, const float* s) {
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
  out[threadIdx.x + threads] = s[threadIdx.x + threads];
}

extern "C" {
// After Blelloch: up a tree of sums, and down it again.
__global__ void scan_exclusive(float* out, const float* in) {
  __shared__ float s[elements];
  const int t = threadIdx.x;
  fill(s, in);
  for (int distance = 1; distance < elements; distance *= 2) {
    __syncthreads();
    const int near = distance * (2 * t + 1) - 1, far = near + distance;
    if (far < elements) s[far] += s[near];
  }
  if (t == 0) s[elements - 1] = 0;
  for (int distance = elements / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const int near = distance * (2 * t + 1) - 1, far = near + distance;
    if (far >= elements) continue;
    const float left = s[near];
    s[near] = s[far];
    s[far] += left;
  }
  give(out, s);
}

// After Brent and Kung: up the same tree, then down to what lies between.
__global__ void scan_inclusive(float* out, const float* in) {
  __shared__ float s[elements];
  fill(s, in);
  add_up(s);
  for (int distance = elements / 4; distance > 0; distance /= 2) {
    __syncthreads();
    const int near = (threadIdx.x + 1) * 2 * distance - 1;
    if (near + distance < elements) s[near + distance] += s[near];
  }
  give(out, s);
}

// Means to the left, differences to the right.
__global__ void haar(float* out, const float* in) {
  __shared__ float s[elements];
  fill(s, in);
  for (int distance = 1; distance < elements; distance *= 2) {
    __syncthreads();
    const int left = 2 * distance * threadIdx.x;
    if (left >= elements) continue;
    const float a = s[left], b = s[left + distance];
    s[left] = 0.5f * (a + b);
    s[left + distance] = 0.5f * (a - b);
  }
  give(out, s);
}

// The sums of all the tree's branches are asked for.
__global__ void branches(float* out, const float* in) {
  __shared__ float s[elements];
  fill(s, in);
  add_up(s);
  give(out, s);
}

// Systems of equations with three diagonals: each step takes every other unknown out of the others'
// equations, and on the way back the same places give them.
__global__ void cyclic_reduction(float* out, const float* in) {
  __shared__ float a[elements], b[elements], c[elements], d[elements];
  const int t = threadIdx.x;
  fill(d, in);
  for (int i = t; i < elements; i += threads) {
    a[i] = i == 0 ? 0.0f : 1.0f;
    b[i] = 4.0f;
    c[i] = i == elements - 1 ? 0.0f : 1.0f;
  }
  for (int distance = 1; distance < elements; distance *= 2) {
    __syncthreads();
    const int i = (t + 1) * 2 * distance - 1, left = i - distance;
    if (i >= elements) continue;
    const int right = i + distance < elements ? i + distance : i;
    const float by_left = a[i] / b[left], by_right = right == i ? 0.0f : c[i] / b[right];
    b[i] -= c[left] * by_left + a[right] * by_right;
    d[i] -= d[left] * by_left + d[right] * by_right;
    a[i] = -a[left] * by_left;
    c[i] = -c[right] * by_right;
  }
  __syncthreads();
  if (t == 0) d[elements - 1] /= b[elements - 1];
  for (int distance = elements / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const int i = distance * (2 * t + 1) - 1;
    if (i >= elements) continue;
    const float before = i < distance ? 0.0f : a[i] * d[i - distance];
    d[i] = (d[i] - before - c[i] * d[i + distance]) / b[i];
  }
  give(out, d);
}

// A reduction after all: of the sum, which lies in the last element, every thread makes something.
__global__ void share_of_sum(float* out, const float* in) {
  __shared__ float s[elements];
  fill(s, in);
  add_up(s);
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] / s[elements - 1];
}
}
