// Races on global memory: between the blocks of a grid, and between the threads of a block.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include "cases.hpp"
namespace cg = cooperative_groups;
__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void k_smooth(const int* from, int* to, int n) {
  int i = place();
  if (i > 0 && i < n - 1) to[i] = (from[i - 1] + from[i + 1]) / 2;  // BUG smooth,one_block race
}
CASE(smooth_bad) {
  int* a = device<int>(256);
  k_smooth<<<4, 64>>>(a, a, 256);
}
CASE(smooth_ok) { k_smooth<<<4, 64>>>(device<int>(256), device<int>(256), 256); }
CASE(one_block_bad) {
  int* a = device<int>(64);
  k_smooth<<<1, 64>>>(a, a, 64);
}

__global__ void k_count(int* count) {
  if (threadIdx.x == 0) *count += 1;  // BUG count race
}
CASE(count_bad) { k_count<<<4, 64>>>(device<int>(1)); }
__global__ void k_count_atomic(int* count) { atomicAdd(count, 1); }
CASE(count_ok) { k_count_atomic<<<4, 64>>>(device<int>(1)); }

__global__ void k_overlap(int* out, int width) {
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * 64 + i] = blockIdx.x;  // BUG overlap race
}
CASE(overlap_bad) { k_overlap<<<4, 64>>>(device<int>(257), 65); }
CASE(overlap_ok) { k_overlap<<<4, 64>>>(device<int>(256), 64); }
__global__ void k_bytes(unsigned char* out) { out[place()] = threadIdx.x; }
CASE(bytes_ok) { k_bytes<<<7, 33>>>(device<unsigned char>(7 * 33)); }
__global__ void k_same(int* found) { *found = 1; }
CASE(same_ok) { k_same<<<4, 64>>>(device<int>(1)); }

// The last block adds what the others have left.
enum class Fence { none, block, device };
template <Fence fence>
__device__ void add_up(int* parts, unsigned* done, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;  // BUG last,last_block_fence race
    if (fence == Fence::block) __threadfence_block();
    if (fence == Fence::device) __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  atomicAdd(sum, parts[threadIdx.x % gridDim.x]);  // BUG last,last_block_fence race
  if (threadIdx.x == 0) *done = 0;
}
template <Fence fence>
__global__ void k_last(int* parts, unsigned* done, int* sum) {
  add_up<fence>(parts, done, sum);
}
CASE(last_bad) { k_last<Fence::none><<<4, 64>>>(device<int>(4), device<unsigned>(1), device<int>(1)); }
CASE(last_block_fence_bad) {
  k_last<Fence::block><<<4, 64>>>(device<int>(4), device<unsigned>(1), device<int>(1));
}
CASE(last_ok) { k_last<Fence::device><<<4, 64>>>(device<int>(4), device<unsigned>(1), device<int>(1)); }

template <bool sync>
__global__ void k_steps(int* a, int* b) {
  int i = place(), n = gridDim.x * blockDim.x;
  for (int step = 0; step < 3; ++step) {
    b[i] = a[(i + 1) % n];  // BUG steps race
    if (sync) cg::this_grid().sync();
    int* other = a;
    a = b, b = other;
  }
}
template <bool sync>
void steps() {
  int *a = device<int>(256), *b = device<int>(256);
  void* arguments[] = {&a, &b};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(k_steps<sync>), 4, 64, arguments);
}
CASE(steps_bad) { steps<false>(); }
CASE(steps_ok) { steps<true>(); }

template <bool fence>
__global__ void k_lock(int* lock, int* value) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (fence) __threadfence();
  *value += 1;  // BUG lock race
  if (fence) __threadfence();
  atomicExch(lock, 0);
}
CASE(lock_bad) { k_lock<false><<<4, 32>>>(device<int>(1), device<int>(1)); }
CASE(lock_ok) { k_lock<true><<<4, 32>>>(device<int>(1), device<int>(1)); }

__global__ void k_maximum(const int* in, int* most) {
  int x = in[place()];
  if (*most < x) atomicMax(most, x);  // BUG maximum race
}
CASE(maximum_bad) {
  int* in = device<int>(256);
  cudaMemset(in, 1, 256 * sizeof(int));
  k_maximum<<<4, 64>>>(in, device<int>(1));
}
__global__ void k_maximum_volatile(const int* in, int* most) {
  int x = in[place()];
  if (*static_cast<volatile int*>(most) < x) atomicMax(most, x);
}
CASE(maximum_ok) {
  int* in = device<int>(256);
  cudaMemset(in, 1, 256 * sizeof(int));
  k_maximum_volatile<<<4, 64>>>(in, device<int>(1));
}

// One block hands on to the next.
template <bool release>
__global__ void k_chain(int* data, int* flags) {
  using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
  constexpr auto set = release ? cuda::memory_order_release : cuda::memory_order_relaxed;
  int b = blockIdx.x;
  if (threadIdx.x == 0) {
    while (b > 0 && Flag(flags[b - 1]).load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
  data[threadIdx.x] += b;  // BUG chain race
  __syncthreads();
  if (threadIdx.x == 0) Flag(flags[b]).store(1, set);
}
CASE(chain_bad) { k_chain<false><<<4, 64>>>(device<int>(64), device<int>(4)); }
CASE(chain_ok) { k_chain<true><<<4, 64>>>(device<int>(64), device<int>(4)); }

__global__ void __cluster_dims__(2) k_cluster(int* data) {
  data[place()] = threadIdx.x;
  cg::this_cluster().sync();
  int other = data[(blockIdx.x ^ 1) * blockDim.x + threadIdx.x];
  cg::this_cluster().sync();
  data[place()] += other;
}
CASE(cluster_ok) { k_cluster<<<4, 64>>>(device<int>(256)); }
__global__ void __cluster_dims__(2) k_clusters(int* data) {
  data[place()] = threadIdx.x;  // BUG clusters race
  cg::this_cluster().sync();
  atomicAdd(data + 256, data[(blockIdx.x + 1) % 4 * blockDim.x + threadIdx.x]);  // BUG clusters race
}
CASE(clusters_bad) { k_clusters<<<4, 64>>>(device<int>(257)); }

// Memory that a block gives back is another one's afterwards.
__global__ void k_heap(int* out) {
  int* mine = static_cast<int*>(malloc(64));
  for (int i = 0; i < 16; ++i) mine[i] = i;
  out[place()] = mine[threadIdx.x % 16];
  free(mine);
}
CASE(heap_ok) { k_heap<<<40, 32>>>(device<int>(40 * 32)); }

// Threads of one block, and lanes of one warp, by way of global memory.
template <bool sync>
__global__ void k_scratch(int* scratch, int* out) {
  int* mine = scratch + blockIdx.x * blockDim.x;
  mine[threadIdx.x] = threadIdx.x;  // BUG scratch race
  if (sync) __syncthreads();
  out[place()] = mine[blockDim.x - 1 - threadIdx.x];  // BUG scratch race
}
CASE(scratch_bad) { k_scratch<false><<<4, 64>>>(device<int>(256), device<int>(256)); }
CASE(scratch_ok) { k_scratch<true><<<4, 64>>>(device<int>(256), device<int>(256)); }

template <bool sync>
__global__ void k_sum(float* sums) {
  float* mine = sums + place() / 32 * 32;
  int lane = threadIdx.x % 32;
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) mine[lane] += mine[lane + step];  // BUG lanes race
    if (sync) __syncwarp();
  }
}
CASE(lanes_bad) { k_sum<false><<<2, 64>>>(device<float>(128)); }
CASE(lanes_ok) { k_sum<true><<<2, 64>>>(device<float>(128)); }

// A list that grows: who has taken a place writes to it.
template <bool fence>
__global__ void k_list(int* list, int* length) {
  if (threadIdx.x % 3 == 0) list[atomicAdd(length, 1)] = threadIdx.x;  // BUG list race
  if (fence) __syncthreads();
  int last = *static_cast<volatile int*>(length) - 1;
  if (last >= 0 && list[last] < 0) __trap();  // BUG list race
}
CASE(list_bad) { k_list<false><<<1, 64>>>(device<int>(64), device<int>(1)); }
CASE(list_ok) { k_list<true><<<1, 64>>>(device<int>(64), device<int>(1)); }

// A flag for another warp of the block.
template <bool fence>
__global__ void k_handed(int* data, int* flag) {
  volatile int* seen = flag;
  if (threadIdx.x == 0) {
    *data = 5;  // BUG handed race
    if (fence) __threadfence_block();
    *seen = 1;
  }
  if (threadIdx.x == 32) {
    while (*seen == 0) {
    }
    if (fence) __threadfence_block();
    if (*data != 5) __trap();  // BUG handed race
  }
}
CASE(handed_bad) { k_handed<false><<<1, 64>>>(device<int>(1), device<int>(1)); }
CASE(handed_ok) { k_handed<true><<<1, 64>>>(device<int>(1), device<int>(1)); }
