// A histogram of small numbers without atomics: 64 counters for each of 32 threads, those of one thread side
// by side, so that lanes with the same number meet in one bank. Blocks of 32 threads.
constexpr int threads = 32, bins = 64;

extern "C" __global__ void histogram(unsigned* out, const unsigned* in, int each) {
  __shared__ unsigned counters[bins][threads];
  const int t = threadIdx.x;
  for (int b = 0; b < bins; ++b) counters[b][t] = 0;
  for (int i = 0; i < each; ++i) ++counters[in[(blockIdx.x * each + i) * threads + t] % bins][t];
  __syncwarp();
  for (int b = t; b < bins; b += threads) {
    unsigned sum = 0;
    for (int other = 0; other < threads; ++other) sum += counters[b][(t + other) % threads];
    out[blockIdx.x * bins + b] = sum;
  }
}
