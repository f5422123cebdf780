// Kernels with C++ names: namespaces, templates, overloads, a lambda. One block of 32; each writes out[t] =
// its number.

namespace shapes {
struct Square {
  __device__ int area(int t) const { return t * t; }
};
struct Strip {
  __device__ int area(int t) const { return 3 * t; }
};
template <class Shape, int factor>
__global__ void area(int* out) {
  __shared__ int areas[32];
  areas[threadIdx.x] = Shape().area(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = factor * areas[threadIdx.x];
}
template __global__ void area<Square, 2>(int*);
template __global__ void area<Strip, 5>(int*);

namespace {
template <class F>
__device__ void each(int* out, F f) {
  out[threadIdx.x] = f(threadIdx.x);
}
}  // namespace
}  // namespace shapes

/// out[t] = t + 1
__global__ void overloaded(int* out) {
  shapes::each(out, [](int t) { return t + 1; });
}
/// out[t] = t + extra
__global__ void overloaded(int* out, int extra) {
  shapes::each(out, [extra](int t) { return t + extra; });
}

struct Settings {
  int factor;
  short offset[3];
  double weight;
};
/// A struct as a parameter: out[t] = factor * t + offset[t % 3] + weight
__global__ void with_settings(int* out, Settings settings) {
  const int t = threadIdx.x;
  out[t] = settings.factor * t + settings.offset[t % 3] + static_cast<int>(settings.weight);
}
