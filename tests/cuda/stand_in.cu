// As tests/cuda/stub_kernels.cu, for what holds machine code for one chip and PTX for a newer one:
// tests/data/fatbin/stand_in.fatbin is made of it. One of its kernels is for the former chip alone.
__constant__ int factor = 3;
__device__ int calls;

extern "C" __global__ void scale(const int* in, int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x] * factor;
  if (threadIdx.x == 0) atomicAdd(&calls, 1);
}

extern "C" __global__ void store_at(int* out, long index) {
#if __CUDA_ARCH__ < 1000
  out[index] = 1;
#endif
}
