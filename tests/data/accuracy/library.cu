// Blocks of a library's making (CUB, of the CUDA toolkit): code that nobody wrote for a bank counter.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

constexpr int block = 128;

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" {
__global__ void library_reduce(int* out, const int* in) {
  using Reduce = cub::BlockReduce<int, block>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[blockIdx.x * block + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void library_scan(int* out, const int* in) {
  using Scan = cub::BlockScan<int, block>;
  __shared__ typename Scan::TempStorage storage;
  const int first = (blockIdx.x * block + threadIdx.x) * 4;
  int v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[first + i];
  Scan(storage).InclusiveSum(v, v);
  for (int i = 0; i < 4; ++i) out[first + i] = v[i];
}

__global__ void library_raking_scan(int* out, const int* in) {
  using Scan = cub::BlockScan<int, block, cub::BLOCK_SCAN_RAKING>;
  __shared__ typename Scan::TempStorage storage;
  const int at = blockIdx.x * block + threadIdx.x;
  int sum;
  Scan(storage).ExclusiveSum(in[at], sum);
  out[at] = sum;
}

__global__ void library_exchange(int* out, const int* in) {
  using Exchange = cub::BlockExchange<int, block, 8>;
  __shared__ typename Exchange::TempStorage storage;
  int v[8];
  for (int i = 0; i < 8; ++i) v[i] = in[blockIdx.x * 8 * block + i * block + threadIdx.x];
  Exchange(storage).StripedToBlocked(v, v);
  for (int i = 0; i < 8; ++i) out[(blockIdx.x * block + threadIdx.x) * 8 + i] = v[i];
}

__global__ void library_radix_sort(unsigned* out, const unsigned* in) {
  using Sort = cub::BlockRadixSort<unsigned, block, 4>;
  __shared__ typename Sort::TempStorage storage;
  const int first = (blockIdx.x * block + threadIdx.x) * 4;
  unsigned v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[first + i];
  Sort(storage).Sort(v);
  for (int i = 0; i < 4; ++i) out[first + i] = v[i];
}

__global__ void library_merge_sort(int* out, const int* in) {
  using Sort = cub::BlockMergeSort<int, block, 4>;
  __shared__ typename Sort::TempStorage storage;
  const int first = (blockIdx.x * block + threadIdx.x) * 4;
  int v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[first + i];
  Sort(storage).Sort(v, Less());
  for (int i = 0; i < 4; ++i) out[first + i] = v[i];
}
}
