// Tensor maps made by the driver's function, which the program asks the runtime for, and clusters made by a
// launch attribute: a tile comes in with a 128-byte swizzle, whose documented pattern is checked.
#include <cuda.h>

#include <vector>

#include <cooperative_groups.h>
#include <cuda/barrier>

#include "check.hpp"

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

namespace {

constexpr int columns = 96, rows = 40, box_columns = 32, box_rows = 16;

__global__ void load_tile(const __grid_constant__ CUtensorMap map, int x, int y, int* out) {
  __shared__ alignas(1024) int tile[box_rows * box_columns];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(static_cast<Barrier::arrival_token&&>(token));
  for (int i = threadIdx.x; i < box_rows * box_columns; i += blockDim.x) out[i] = tile[i];
}

__global__ void pass_on(int* out) {
  __shared__ int mine;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = 100 * blockIdx.x;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *cluster.map_shared_rank(&mine, next) + static_cast<int>(cluster.num_blocks());
  cluster.sync();
}

template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK_CUDA(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  CHECK(result == cudaDriverEntryPointSuccess && found != nullptr);
  return reinterpret_cast<Function>(found);
}

}  // namespace

int main() {
  std::vector<int> tensor(columns * rows);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<int>(i) + 1;
  int *device = nullptr, *out = nullptr;
  CHECK_CUDA(cudaMalloc(&device, tensor.size() * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&out, box_rows * box_columns * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(device, tensor.data(), tensor.size() * sizeof(int), cudaMemcpyHostToDevice));

  const auto encode = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  CUtensorMap map;
  const cuuint64_t size[] = {columns, rows}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  const auto make = [&](CUtensorMapSwizzle swizzle) {
    return encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, device, size, strides, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CHECK(make(CU_TENSOR_MAP_SWIZZLE_64B) == CUDA_ERROR_INVALID_VALUE);  // narrower than the box
  CHECK(make(CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);

  std::vector<int> tile(box_rows * box_columns);
  for (const int y : {3, 30, -5}) {
    const int x = 80;
    load_tile<<<1, 64>>>(map, x, y, out);
    CHECK_CUDA(cudaMemcpy(tile.data(), out, tile.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int r = 0; r < box_rows; ++r)
      for (int c = 0; c < box_columns; ++c) {
        const bool inside = x + c < columns && y + r >= 0 && y + r < rows;
        const int place = r * box_columns + ((c / 4 ^ r % 8) * 4 + c % 4);
        CHECK(tile[place] == (inside ? tensor[(y + r) * columns + x + c] : 0));
      }
  }

  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = 8;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK_CUDA(cudaLaunchKernelEx(&config, pass_on, out));
  CHECK_CUDA(cudaMemcpy(tile.data(), out, 8 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int b = 0; b < 8; ++b) CHECK(tile[b] == 100 * (b / 4 * 4 + (b + 1) % 4) + 4);
  attribute.val.clusterDim = {3, 1, 1};
  CHECK(cudaLaunchKernelEx(&config, pass_on, out) != cudaSuccess);
  CHECK(cudaGetLastError() != cudaSuccess);
  std::puts("tensors ok");
}
