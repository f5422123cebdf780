// Kernels whose accesses to shared memory go where data, or chance, sends them. Blocks of 256 threads.

extern "C" __global__ void histogram_of_bytes(unsigned* out, const unsigned char* in, int each) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i) atomicAdd(&bins[in[(blockIdx.x * each + i) * 256 + t]], 1u);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}

// Where table[t] says; a table of multiples of 32 asks one bank for all.
extern "C" __global__ void look_up(float* out, const float* in, const unsigned* table, int each) {
  __shared__ float values[1024];
  const int t = threadIdx.x;
  for (int i = t; i < 1024; i += 256) values[i] = in[i];
  __syncthreads();
  for (int i = 0; i < each; ++i) {
    const int at = (blockIdx.x * each + i) * 256 + t;
    out[at] = values[table[at] % 1024];
  }
}

// Columns that are read by all are not spoilt by what is looked up at random beside them.
extern "C" __global__ void columns_and_look_up(float* out, const float* in, const unsigned* table) {
  __shared__ float tile[32][32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int i = warp; i < 32; i += 8) tile[i][lane] = in[i * 32 + lane];
  __syncthreads();
  float sum = tile[lane][warp];
  const unsigned at = table[blockIdx.x * 256 + t];
  sum += tile[at / 32 % 32][at % 32];
  out[blockIdx.x * 256 + t] = sum;
}

// What all lanes load alike is no data of theirs: the pitch of the rows.
extern "C" __global__ void pitch_from_memory(float* out, const float* in, const int* pitch) {
  __shared__ float tile[1024];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int i = t; i < 1024; i += 256) tile[i] = in[i];
  __syncthreads();
  out[blockIdx.x * 256 + t] = tile[lane * *pitch + warp];
}

// Random numbers of the kernel's own.
extern "C" __global__ void random_walk(float* out, int steps) {
  __shared__ float values[2048];
  const int t = threadIdx.x;
  for (int i = t; i < 2048; i += 256) values[i] = static_cast<float>(i);
  __syncthreads();
  unsigned state = (t + 1) * 2654435761u;
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    sum += values[state % 2048];
  }
  out[t] = sum;
}
