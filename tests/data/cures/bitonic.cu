// Bitonic sort of 512 keys a block, 256 threads: each compares and exchanges two keys that stand `step`
// apart.
constexpr int keys = 512;

extern "C" __global__ void bitonic(int* out, const int* in) {
  __shared__ int s[keys];
  const int t = threadIdx.x, first = blockIdx.x * keys;
  s[t] = in[first + t];
  s[t + keys / 2] = in[first + t + keys / 2];
  for (int size = 2; size <= keys; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (step - 1));
      const int a = s[i], b = s[i + step];
      if ((a > b) == ((i & size) == 0)) {
        s[i] = b;
        s[i + step] = a;
      }
    }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + keys / 2] = s[t + keys / 2];
}
