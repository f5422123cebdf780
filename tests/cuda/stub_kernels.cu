// The device code of tests/cuda/stub_program.cpp; tests/data/fatbin/*.fatbin are made of it.
__constant__ int factor = 3;
__device__ int calls;

extern "C" __global__ void scale(const int* in, int* out, int n) {
  __shared__ int tile[32][32];
  const int i = threadIdx.x;
  tile[i % 32][i / 32] = in[i] * factor;
  __syncthreads();
  if (i < n) out[i] = tile[i % 32][i / 32];
  if (i == 0) atomicAdd(&calls, 1);
}

extern "C" __global__ void store_at(int* out, long index) { out[index] = 1; }
