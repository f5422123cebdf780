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
  __shared__ struct {
    double value[count];
    int at[count];
  } s;
  const int t = threadIdx.x;
  {
    const Least element = {in[blockIdx.x * count + t], t};
    s.value[t] = element.value;
    s.at[t] = element.at;
  }
  __syncthreads();
  for (int half = count / 2; half > 0; half /= 2) {
    if (t < half && is_less(Least{s.value[t + half], s.at[t + half]}, Least{s.value[t], s.at[t]})) {
      const Least element = Least{s.value[t + half], s.at[t + half]};
      s.value[t] = element.value;
      s.at[t] = element.at;
    }
    __syncthreads();
  }
  if (t == 0) {
    values[blockIdx.x] = s.value[0];
    places[blockIdx.x] = s.at[0];
  }
}
