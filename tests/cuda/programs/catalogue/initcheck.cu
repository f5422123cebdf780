// Reads of memory that nobody has written, as initcheck finds them.
#include <cuda_pipeline.h>
#include "cases.hpp"
__global__ void k_copy(const int* p, int* o) {
  o[threadIdx.x] = p[threadIdx.x];  // BUG global,global_part,global_async,global_pool uninitialised-read
}
CASE(global_bad) { k_copy<<<1, 64>>>(device<int>(64, false), device<int>(64)); }
CASE(global_ok) { k_copy<<<1, 64>>>(device<int>(64), device<int>(64)); }
CASE(global_part_bad) {
  int* p = device<int>(64, false);
  cudaMemset(p, 0, 128);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_part_ok) {
  int* p = device<int>(64, false);
  cudaMemset(p, 0, 128);
  k_copy<<<1, 32>>>(p, device<int>(64));
}
CASE(global_async_bad) {
  int* p;
  cudaMallocAsync(&p, 256, 0);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_memcpy_ok) {
  int h[64] = {};
  int* p = device<int>(64, false);
  cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_d2d_ok) {
  int* q = device<int>(64);
  int* p = device<int>(64, false);
  cudaMemcpy(p, q, 256, cudaMemcpyDeviceToDevice);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_2d_ok) {
  int h[64] = {};
  int* p = device<int>(64, false);
  cudaMemcpy2D(p, 32, h, 32, 32, 8, cudaMemcpyHostToDevice);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_kernel_ok) {
  int* q = device<int>(64);
  int* p = device<int>(64, false);
  k_copy<<<1, 64>>>(q, p);
  k_copy<<<1, 64>>>(p, device<int>(64));
}
CASE(global_managed_ok) {
  int* p;
  cudaMallocManaged(&p, 256);
  for (int i = 0; i < 64; ++i) p[i] = 0;
  k_copy<<<1, 64>>>(p, device<int>(64));
}
__global__ void k_copy_atomic(int* p) {
  atomicAdd(p + threadIdx.x, 1);  // BUG global_atomic uninitialised-read
}
CASE(global_atomic_bad) { k_copy_atomic<<<1, 64>>>(device<int>(64, false)); }
CASE(global_atomic_ok) { k_copy_atomic<<<1, 64>>>(device<int>(64)); }
__global__ void k_cp(const int* p, int* o) {
  __shared__ __align__(16) int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(s + t, p + t, 4);  // BUG global_cp uninitialised-read
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  o[t] = s[63 - t];
}
CASE(global_cp_bad) { k_cp<<<1, 64>>>(device<int>(64, false), device<int>(64)); }
CASE(global_cp_ok) { k_cp<<<1, 64>>>(device<int>(64), device<int>(64)); }
__global__ void k_heap(int* o, int set) {
  int* p = (int*)malloc(64);
  for (int i = 0; i < set; ++i) p[i] = i;
  o[0] = p[o[1] + 3];  // BUG heap uninitialised-read
  free(p);
}
CASE(heap_bad) { k_heap<<<1, 1>>>(device<int>(2), 2); }
CASE(heap_ok) { k_heap<<<1, 1>>>(device<int>(2), 4); }
__global__ void k_shared(int* o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) s[t] = t;
  __syncthreads();
  o[t] = s[t];  // BUG shared uninitialised-read
}
CASE(shared_bad) { k_shared<<<1, 64>>>(device<int>(64), 60); }
CASE(shared_ok) { k_shared<<<1, 64>>>(device<int>(64), 64); }
__global__ void k_local(int* o, int n) {
  int a[16];
  for (int i = 0; i < n; ++i) a[(i * 5 + o[0]) & 15] = i;
  o[2 + threadIdx.x] = a[(o[1] + 3) & 15];  // BUG local uninitialised-read
}
CASE(local_bad) { k_local<<<1, 32>>>(device<int>(64), 4); }
CASE(local_ok) { k_local<<<1, 32>>>(device<int>(64), 16); }
__global__ void k_sum(int* sums, int n) {
  __shared__ int acc;
  int t = threadIdx.x;
  atomicAdd(&acc, t);  // BUG shared_atomic uninitialised-read
  __syncthreads();
  sums[t] = acc;
}
CASE(shared_atomic_bad) { k_sum<<<1, 64>>>(device<int>(64), 0); }
struct Padded {
  char c;
  int i;
};
__global__ void k_struct(Padded* p, Padded* q) { q[threadIdx.x] = p[threadIdx.x]; }
__global__ void k_struct_fill(Padded* p) {
  p[threadIdx.x].c = 1;
  p[threadIdx.x].i = 2;
}
CASE(struct_ok) {
  Padded *a = device<Padded>(32, false), *b = device<Padded>(32, false);
  k_struct_fill<<<1, 32>>>(a);
  k_struct<<<1, 32>>>(a, b);
}
// memory that is never written, or not to its end
__global__ void k_fill(int* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] = 0;
}
void use_part(int written, bool free) {
  int* p = device<int>(64, false);
  k_fill<<<1, 64>>>(p, written);
  cudaDeviceSynchronize();
  if (free) cudaFree(p);
}
// SAYS unused Never written: device memory #1 .256 bytes.
CASE(unused_bad) { use_part(0, true); }
CASE(unused_ok) { use_part(64, true); }
// SAYS unused_part Never written: 96 of the 256 bytes of device memory #1
CASE(unused_part_bad) { use_part(40, true); }
// Those that are alike are one note.
// SAYS unused_alike Never written: 96 of the 256 bytes of each of 2 allocations: device memory #1, device
// memory #2
CASE(unused_alike_bad) {
  use_part(40, true);
  use_part(40, true);
}
// SAYS unused_unfreed Never written: device memory #1 .256 bytes.
CASE(unused_unfreed_bad) { use_part(0, false); }
