// Accesses to memory that is not there, memory used after it was freed, and calls that make no sense, as
// memcheck finds them.
#include "cases.hpp"

#include <cuda_pipeline.h>
#include <thread>
#include <vector>
__global__ void k_oob_write(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) p[i] = i;  // BUG oob_write out-of-bounds
}
CASE(oob_write_bad) {
  int* p = device<int>(1000);
  k_oob_write<<<4, 256>>>(p, 1000);
}
CASE(oob_write_ok) {
  int* p = device<int>(1000);
  k_oob_write<<<4, 256>>>(p, 999);
}
__global__ void k_oob_read(const int* p, int* q, int d) {
  int i = threadIdx.x;
  q[i] = p[i - d];  // BUG oob_read out-of-bounds
}
CASE(oob_read_bad) {
  int* p = device<int>(64);
  k_oob_read<<<1, 64>>>(p, device<int>(64), 1);
}
CASE(oob_read_ok) {
  int* p = device<int>(64);
  k_oob_read<<<1, 64>>>(p, device<int>(64), 0);
}
__global__ void k_oob_atomic(int* p, int n) {
  atomicAdd(p + threadIdx.x, 1);  // BUG oob_atomic out-of-bounds
}
CASE(oob_atomic_bad) { k_oob_atomic<<<1, 64>>>(device<int>(63), 0); }
CASE(oob_atomic_ok) { k_oob_atomic<<<1, 64>>>(device<int>(64), 0); }
__global__ void k_vector(const int4* p, int4* q) {
  q[threadIdx.x] = p[threadIdx.x];  // BUG vector out-of-bounds
}
CASE(vector_bad) { k_vector<<<1, 64>>>((int4*)device<int>(254), device<int4>(64)); }
CASE(vector_ok) { k_vector<<<1, 64>>>((int4*)device<int>(256), device<int4>(64)); }
__global__ void k_misaligned(char* p, int off) {
  *(int*)(p + 4 * threadIdx.x + off) = 1;  // BUG misaligned misaligned
}
CASE(misaligned_bad) { k_misaligned<<<1, 32>>>(device<char>(256), 1); }
CASE(misaligned_ok) { k_misaligned<<<1, 32>>>(device<char>(256), 4); }
__global__ void k_shared_static(int* o, int off) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x + off];  // BUG shared_static out-of-bounds
}
CASE(shared_static_bad) { k_shared_static<<<1, 64>>>(device<int>(64), 1); }
CASE(shared_static_ok) { k_shared_static<<<1, 64>>>(device<int>(64), 0); }
__global__ void k_shared_dynamic(int* o) {
  extern __shared__ int d[];
  d[threadIdx.x] = threadIdx.x;  // BUG shared_dynamic out-of-bounds
  __syncthreads();
  o[threadIdx.x] = d[threadIdx.x & 31];
}
CASE(shared_dynamic_bad) { k_shared_dynamic<<<1, 64, 128>>>(device<int>(64)); }
CASE(shared_dynamic_ok) { k_shared_dynamic<<<1, 64, 256>>>(device<int>(64)); }
__global__ void k_shared_negative(int* o, int off) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) o[0] = s[off];  // BUG shared_negative out-of-bounds
}
CASE(shared_negative_bad) { k_shared_negative<<<1, 64>>>(device<int>(64), -1); }
CASE(shared_negative_ok) { k_shared_negative<<<1, 64>>>(device<int>(64), 1); }
__global__ void k_shared_neighbour(int* o, int n) {
  __shared__ int a[32];
  __shared__ int b[32];
  if (threadIdx.x < 32) {
    a[threadIdx.x] = 1;
    b[threadIdx.x] = 2;
  }
  __syncthreads();
  o[threadIdx.x] = b[0];
  if (threadIdx.x < n) o[threadIdx.x] = a[threadIdx.x];  // BUG shared_neighbour array-overrun
}
CASE(shared_neighbour_bad) { k_shared_neighbour<<<1, 64>>>(device<int>(64), 33); }
CASE(shared_neighbour_ok) { k_shared_neighbour<<<1, 64>>>(device<int>(64), 32); }
__global__ void k_shared_misaligned(int* o, int off) {
  __shared__ __align__(16) char s[512];
  s[threadIdx.x] = 1;
  __syncthreads();
  o[threadIdx.x] = *(int*)(s + threadIdx.x * 0 + off);  // BUG shared_misaligned misaligned
}
CASE(shared_misaligned_bad) { k_shared_misaligned<<<1, 64>>>(device<int>(64), 2); }
CASE(shared_misaligned_ok) { k_shared_misaligned<<<1, 64>>>(device<int>(64), 4); }
__global__ void k_local(int* o, int i) {
  int a[16];
  for (int k = 0; k < 16; ++k) a[k] = o[k];
  a[i] = 5;  // BUG local,local_near out-of-bounds
  int s = 0;
  for (int k = 0; k < 16; ++k) s += a[(k * o[k] + k) & 15];
  o[threadIdx.x] = s;
}
CASE(local_bad) { k_local<<<1, 1>>>(device<int>(64), 100000); }
CASE(local_ok) { k_local<<<1, 1>>>(device<int>(64), 15); }
CASE(local_near_bad) { k_local<<<1, 1>>>(device<int>(64), 16); }
__global__ void k_null(int* p) {
  if (p[0] == 0) *(int*)(size_t)p[1] = 1;  // BUG null unknown-pointer
}
CASE(null_bad) { k_null<<<1, 1>>>(device<int>(64)); }
__global__ void k_host(int* p) {
  p[threadIdx.x] = 1;  // BUG hostptr out-of-bounds
}
CASE(hostptr_bad) {
  static int h[64];
  k_host<<<1, 32>>>(h);
}
CASE(hostptr_ok) {
  int* h;
  cudaMallocHost(&h, 128);
  k_host<<<1, 32>>>(h);
}
// device heap
__global__ void k_heap_oob(int** o, int n) {
  int* p = (int*)malloc(40);
  for (int i = 0; i < n; ++i) p[i] = i;  // BUG heap_oob out-of-bounds
  o[0] = p;
  free(p);
}
CASE(heap_oob_bad) { k_heap_oob<<<1, 1>>>(device<int*>(1), 11); }
CASE(heap_oob_ok) { k_heap_oob<<<1, 1>>>(device<int*>(1), 10); }
__global__ void k_heap_uaf(int* o, int late) {
  volatile int* p = (int*)malloc(40);
  p[0] = 1;
  if (late) free((void*)p);
  o[0] = p[0];  // BUG heap_uaf out-of-bounds
  if (!late) free((void*)p);
}
CASE(heap_uaf_bad) { k_heap_uaf<<<1, 1>>>(device<int>(1), 1); }
CASE(heap_uaf_ok) { k_heap_uaf<<<1, 1>>>(device<int>(1), 0); }
__global__ void k_heap_double(int twice) {
  char* p = (char*)malloc(40);
  p[0] = 1;
  free(p);
  if (twice) free(p);  // BUG heap_double unknown-pointer
}
CASE(heap_double_bad) { k_heap_double<<<1, 1>>>(1); }
CASE(heap_double_ok) { k_heap_double<<<1, 1>>>(0); }
__global__ void k_heap_invalid(int off) {
  char* p = (char*)malloc(40);
  p[0] = 1;
  free(p + off);  // BUG heap_invalid unknown-pointer
}
CASE(heap_invalid_bad) { k_heap_invalid<<<1, 1>>>(8); }
CASE(heap_invalid_ok) { k_heap_invalid<<<1, 1>>>(0); }
__global__ void k_heap_other_thread(int* o, int order) {
  __shared__ int* s;
  if (threadIdx.x == 0) {
    s = (int*)malloc(256);
    s[0] = 7;
  }
  __syncthreads();
  if (threadIdx.x == 32 && order) free(s);
  __syncthreads();
  if (threadIdx.x == 0) o[0] = ((volatile int*)s)[0];  // BUG heap_other out-of-bounds
  __syncthreads();
  if (threadIdx.x == 32 && !order) free(s);
}
CASE(heap_other_bad) { k_heap_other_thread<<<1, 64>>>(device<int>(1), 1); }
CASE(heap_other_ok) { k_heap_other_thread<<<1, 64>>>(device<int>(1), 0); }
// host frees
__global__ void k_use(int* p) {
  p[threadIdx.x] += 1;  // BUG freed* out-of-bounds
}
CASE(freed_bad) {
  int* p = device<int>(64);
  cudaFree(p);
  k_use<<<1, 64>>>(p);
}
CASE(freed_ok) {
  int* p = device<int>(64);
  k_use<<<1, 64>>>(p);
  cudaFree(p);
}
CASE(freed_async_bad) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  int* p;
  cudaMallocAsync(&p, 256, s);
  cudaMemsetAsync(p, 0, 256, s);
  cudaFreeAsync(p, s);
  k_use<<<1, 64, 0, s>>>(p);
}
CASE(freed_async_ok) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  int* p;
  cudaMallocAsync(&p, 256, s);
  cudaMemsetAsync(p, 0, 256, s);
  k_use<<<1, 64, 0, s>>>(p);
  cudaFreeAsync(p, s);
}
CASE(freed_async_other_bad) {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  int* p;
  cudaMallocAsync(&p, 256, s);
  cudaMemsetAsync(p, 0, 256, s);
  cudaFreeAsync(p, s);
  cudaStreamSynchronize(s);
  k_use<<<1, 64, 0, t>>>(p);
}
CASE(freed_async_other_ok) {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  int* p;
  cudaMallocAsync(&p, 256, s);
  cudaMemsetAsync(p, 0, 256, s);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e);
  k_use<<<1, 64, 0, t>>>(p);
  cudaEventRecord(e, t);
  cudaStreamWaitEvent(s, e);
  cudaFreeAsync(p, s);
}
CASE(freed_thread_bad) {
  int* p = device<int>(64);
  std::thread([&] { cudaFree(p); }).join();
  k_use<<<1, 64>>>(p);
}
CASE(freed_thread_ok) {
  int* p = device<int>(64);
  std::thread([&] {
    k_use<<<1, 64>>>(p);
    cudaDeviceSynchronize();
  }).join();
  cudaFree(p);
}
CASE(freed_managed_bad) {
  int* p;
  cudaMallocManaged(&p, 256);
  for (int i = 0; i < 64; ++i) p[i] = 0;
  cudaFree(p);
  k_use<<<1, 64>>>(p);
}
CASE(freed_managed_ok) {
  int* p;
  cudaMallocManaged(&p, 256);
  for (int i = 0; i < 64; ++i) p[i] = 0;
  k_use<<<1, 64>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}
CASE(freed_host_bad) {
  int* p;
  cudaMallocHost(&p, 256);
  cudaFreeHost(p);
  k_use<<<1, 64>>>(p);
}
CASE(freed_pool_bad) {
  int* p = device<int>(64);
  int *a, *b;
  cudaMallocAsync(&a, 256, 0);
  cudaFreeAsync(a, 0);
  cudaMallocAsync(&b, 4096, 0);
  k_use<<<1, 64>>>(a);
  (void)p;
}
CASE(freed_realloc_bad) {
  int* p = device<int>(64);
  cudaFree(p);
  int* q = device<int>(64);
  k_use<<<1, 64>>>(p);
  (void)q;
}
CASE(freed_reset_bad) {
  int* p = device<int>(64);
  cudaDeviceReset();
  k_use<<<1, 64>>>(p);
}
// a kernel in another stream runs (it waits for the host) while memory is freed
__global__ void k_wait_use(volatile int* flag, int* p) {
  while (*flag == 0) {
  }
  p[threadIdx.x] += 1;  // BUG running out-of-bounds
}
CASE(running_bad) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* f;
  cudaMallocHost(&f, 4);
  *f = 0;
  int* p;
  cudaMallocAsync(&p, 256, t);
  cudaMemsetAsync(p, 0, 256, t);
  cudaStreamSynchronize(t);
  k_wait_use<<<1, 64, 0, s>>>(f, p);
  cudaFreeAsync(p, t);
  cudaStreamSynchronize(t);
  *(volatile int*)f = 1;
}
CASE(running_ok) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* f;
  cudaMallocHost(&f, 4);
  *f = 0;
  int* p;
  cudaMallocAsync(&p, 256, t);
  cudaMemsetAsync(p, 0, 256, t);
  cudaStreamSynchronize(t);
  k_wait_use<<<1, 64, 0, s>>>(f, p);
  *(volatile int*)f = 1;
  cudaStreamSynchronize(s);
  cudaFreeAsync(p, t);
}
// the kernel uses it before and after it is freed, so the access's allocation is remembered
__global__ void k_use_twice(volatile int* flag, volatile int* p, volatile int* done) {
  for (int round = 0; round < 2; ++round) {
    p[threadIdx.x] += 1;  // BUG between,between_thread out-of-bounds
    if (round == 0) {
      *done = 1;
      while (*flag == 0) {
      }
    }
  }
}
CASE(between_bad) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* f;
  cudaMallocHost(&f, 8);
  f[0] = f[1] = 0;
  int* p;
  cudaMallocAsync(&p, 256, t);
  cudaMemsetAsync(p, 0, 256, t);
  cudaStreamSynchronize(t);
  k_use_twice<<<1, 32, 0, s>>>(f, p, f + 1);
  while (((volatile int*)f)[1] == 0) {
  }
  cudaFreeAsync(p, t);
  cudaStreamSynchronize(t);
  *(volatile int*)f = 1;
}
CASE(between_ok) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* f;
  cudaMallocHost(&f, 8);
  f[0] = f[1] = 0;
  int* p;
  cudaMallocAsync(&p, 256, t);
  cudaMemsetAsync(p, 0, 256, t);
  cudaStreamSynchronize(t);
  k_use_twice<<<1, 32, 0, s>>>(f, p, f + 1);
  while (((volatile int*)f)[1] == 0) {
  }
  *(volatile int*)f = 1;
  cudaStreamSynchronize(s);
  cudaFreeAsync(p, t);
}
CASE(between_thread_bad) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* f;
  cudaMallocHost(&f, 8);
  f[0] = f[1] = 0;
  int* p;
  cudaMallocAsync(&p, 256, t);
  cudaMemsetAsync(p, 0, 256, t);
  cudaStreamSynchronize(t);
  std::thread other([&] {
    while (((volatile int*)f)[1] == 0) {
    }
    cudaFreeAsync(p, t);
    cudaStreamSynchronize(t);
    *(volatile int*)f = 1;
  });
  k_use_twice<<<1, 32, 0, s>>>(f, p, f + 1);
  other.join();
}
__global__ void k_use_twice_heap(int* o, volatile int* flag) {
  __shared__ int* s;
  __shared__ volatile int go;
  if (threadIdx.x == 0) {
    s = (int*)malloc(256);
    for (int i = 0; i < 64; ++i) s[i] = 7;
  }
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x < 32)
      o[threadIdx.x] += ((volatile int*)s)[threadIdx.x];  // BUG heap_between out-of-bounds
    __syncthreads();
    if (threadIdx.x == 32 && round == 0) free(s);
    __syncthreads();
  }
}
CASE(heap_between_bad) { k_use_twice_heap<<<1, 64>>>(device<int>(64), nullptr); }
// two blocks: one frees what the other uses
__global__ void k_heap_blocks(int** slot, volatile int* step, int* o) {
  if (blockIdx.x == 0) {
    *slot = (int*)malloc(256);
    for (int i = 0; i < 64; ++i) (*slot)[i] = 7;
    __threadfence();
    *step = 1;
    while (*step != 2) {
    }
    free(*slot);
    __threadfence();
    *step = 3;
  } else {
    while (*step != 1) {
    }
    __threadfence();
    for (int round = 0; round < 2; ++round) {
      o[round] = *(volatile int*)*(int* volatile*)slot;  // BUG heap_blocks out-of-bounds
      if (round == 0) {
        __threadfence();
        *step = 2;
        while (*step != 3) {
        }
      }
    }
  }
}
CASE(heap_blocks_bad) { k_heap_blocks<<<2, 1>>>(device<int*>(1), device<int>(1), device<int>(2)); }
// API
// SAYS api_memcpy 256 bytes are left in device memory #1 .256 bytes at 0x[0-9a-f]+., 512 are asked
CASE(api_memcpy_bad) {
  int* p = device<int>(64);
  std::vector<int> h(128);
  cudaMemcpy(p, h.data(), 512, cudaMemcpyHostToDevice);
}
// SAYS api_memset memory is not set: .*256 bytes are left
CASE(api_memset_bad) {
  int* p = device<int>(64);
  cudaMemset(p, 0, 512);
}
// SAYS api_free memory is not freed: .*it is 4 bytes into device memory #1
CASE(api_free_bad) {
  int* p = device<int>(64);
  cudaFree(p + 1);
}
// SAYS api_double_free memory is not freed: .*inside device memory #1 .*, which was freed
CASE(api_double_free_bad) {
  int* p = device<int>(64);
  cudaFree(p);
  cudaFree(p);
}
// SAYS api_double_free_async memory is not freed: .*inside device memory #1 .*, which was freed
CASE(api_double_free_async_bad) {
  int* p;
  cudaMallocAsync(&p, 256, 0);
  cudaFreeAsync(p, 0);
  cudaFreeAsync(p, 0);
}
// SAYS api_launch is not launched: its block is 2048x1x1
CASE(api_launch_bad) { k_use<<<1, 2048>>>(nullptr); }
// SAYS api_copy_freed a copy from device to host is not made: .*which was freed
CASE(api_copy_freed_bad) {
  int* p = device<int>(64);
  int h[64];
  cudaFree(p);
  cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost);
}
// SAYS leak Never freed: 1 allocation, 256 bytes: device memory #1 .256 bytes.
CASE(leak_bad) {
  int* p = device<int>(64);
  k_use<<<1, 64>>>(p);
  cudaDeviceSynchronize();
}
CASE(leak_ok) {
  int* p = device<int>(64);
  k_use<<<1, 64>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}
__global__ void k_heap_leak(int keep) {
  char* p = (char*)malloc(100);
  p[0] = 1;
  if (!keep) free(p);
}
// SAYS heap_leak Never freed: 4 allocations, 400 bytes: memory from malloc in a kernel
CASE(heap_leak_bad) { k_heap_leak<<<1, 4>>>(1); }
CASE(heap_leak_ok) { k_heap_leak<<<1, 4>>>(0); }
__constant__ int konst[4];
__global__ void k_const(int* o, int i) {
  o[0] = konst[i];  // BUG constant out-of-bounds
}
CASE(constant_bad) { k_const<<<1, 1>>>(device<int>(1), 10000); }
CASE(constant_ok) { k_const<<<1, 1>>>(device<int>(1), 3); }
__device__ int global_a[16];
__device__ int global_b[16];
__global__ void k_global_var(int i) {
  global_a[i] = global_b[0];  // BUG global_var out-of-bounds
}
CASE(global_var_bad) { k_global_var<<<1, 1>>>(16); }
CASE(global_var_ok) { k_global_var<<<1, 1>>>(15); }
__global__ void k_cp_async(const int* p, int* o, int off) {
  __shared__ __align__(16) int s[64];
  const int i = 4 * threadIdx.x;
  __pipeline_memcpy_async(s + i, p + i + off, 16);  // BUG cp_async* out-of-bounds|misaligned
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}
CASE(cp_async_bad) { k_cp_async<<<1, 16>>>(device<int>(60), device<int>(16), 0); }
CASE(cp_async_ok) { k_cp_async<<<1, 16>>>(device<int>(64), device<int>(16), 0); }
CASE(cp_async_misaligned_bad) { k_cp_async<<<1, 16>>>(device<int>(68), device<int>(16), 1); }
__device__ __noinline__ int deep(int n, volatile int* o) {  // BUG stack,stack_few out-of-bounds
  int a[64];
  for (int i = 0; i < 64; ++i) a[i] = o[0];
  return n == 0 ? a[o[0]] : deep(n - 1, o) + a[(n + o[0]) & 63];
}
__global__ void k_stack(int n, int* o) { o[1] = deep(n, o); }
CASE(stack_bad) { k_stack<<<1, 1>>>(10000, device<int>(2)); }
CASE(stack_ok) { k_stack<<<1, 1>>>(1, device<int>(2)); }
// Four frames are more than the 1,024 bytes that there are unless a program asks for more.
CASE(stack_few_bad) { k_stack<<<1, 1>>>(3, device<int>(2)); }
CASE(stack_few_ok) {
  cudaDeviceSetLimit(cudaLimitStackSize, 8192);
  k_stack<<<1, 1>>>(3, device<int>(2));
}
__global__ void k_surf(cudaSurfaceObject_t s, int x) {
  surf2Dwrite(1, s, x * 4, 0, cudaBoundaryModeTrap);  // BUG surface out-of-bounds
}
static cudaSurfaceObject_t surface() {
  cudaArray_t a;
  auto d = cudaCreateChannelDesc<int>();
  cudaMallocArray(&a, &d, 16, 16, cudaArraySurfaceLoadStore);
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  cudaCreateSurfaceObject(&s, &r);
  return s;
}
CASE(surface_bad) { k_surf<<<1, 1>>>(surface(), 16); }
CASE(surface_ok) { k_surf<<<1, 1>>>(surface(), 15); }
