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

// A reduction after all: of the sum, which lies in the last element, every thread makes something.
__global__ void share_of_sum(float* out, const float* in) {
  __shared__ float s[elements];
  fill(s, in);
  add_up(s);
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] / s[elements - 1];
}
}
