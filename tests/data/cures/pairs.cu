// The least value of each block and where it is, as pairs of a double and an int, which leave 4 bytes free
// after each. Blocks of 256 threads.
struct Least {
  double value;
  int at;
};
constexpr int count = 256;

__device__ bool is_less(const Least& a, const Least& b) {
  return a.value < b.value || (a.value == b.value && a.at < b.at);
}

extern "C" __global__ void pairs(double* values, int* places, const double* in) {
  __shared__ Least s[count];
  const int t = threadIdx.x;
  s[t] = {in[blockIdx.x * count + t], t};
  __syncthreads();
  for (int half = count / 2; half > 0; half /= 2) {
    if (t < half && is_less(s[t + half], s[t])) s[t] = s[t + half];
    __syncthreads();
  }
  if (t == 0) {
    values[blockIdx.x] = s[0].value;
    places[blockIdx.x] = s[0].at;
  }
}
