// Cooperative groups: reductions and scans in tiles, coalesced and labelled groups, groups made by a
// predicate, votes and shuffles of tiles, and the barrier of the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

/// Sums of tiles of 8, prefix sums in tiles of 16, sums of those with the same value modulo 5, of odd lanes.
__global__ void in_warps(const int* in, int* sums, int* scans, int* labelled, int* odd) {
  const cg::thread_block block = cg::this_thread_block();
  const int i = cg::this_grid().thread_rank();
  const auto eight = cg::tiled_partition<8>(block);
  sums[i] = cg::reduce(eight, in[i], cg::plus<int>());
  const auto sixteen = cg::tiled_partition<16>(block);
  scans[i] = cg::inclusive_scan(sixteen, in[i]);
  const auto warp = cg::tiled_partition<32>(block);
  const auto same = cg::labeled_partition(warp, in[i] % 5);
  labelled[i] = cg::reduce(same, in[i], cg::greater<int>());
  odd[i] = 0;
  if (warp.thread_rank() % 2 == 1) {
    const cg::coalesced_group group = cg::coalesced_threads();
    odd[i] = cg::reduce(group, 1, cg::plus<int>()) * 100 + group.thread_rank();
  }
  const auto parity = cg::binary_partition(warp, in[i] % 2 == 0);
  if (parity.any(in[i] % 2 != in[i] % 2)) odd[i] = -1;
  if (eight.shfl(in[i], 0) != in[i - static_cast<int>(eight.thread_rank())]) odd[i] = -2;
}

/// All blocks together: the sum of all by a tree over the grid's barrier.
__global__ void whole_grid(int* data, int n) {
  const cg::grid_group grid = cg::this_grid();
  for (int half = n / 2; half > 0; half /= 2) {
    for (int i = grid.thread_rank(); i < half; i += grid.size()) data[i] += data[i + half];
    grid.sync();
  }
}

int main() {
  const int n = 4 * 96;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 1000;
  int* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, 5 * n * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(device, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  in_warps<<<4, 96>>>(device, device + n, device + 2 * n, device + 3 * n, device + 4 * n);
  CHECK_CUDA(cudaGetLastError());
  std::vector<int> out(4 * n);
  CHECK_CUDA(cudaMemcpy(out.data(), device + n, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    int sum = 0, scan = 0, most = 0;
    for (int j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) sum += in[j];
    for (int j = i / 16 * 16; j <= i; ++j) scan += in[j];
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
      if (in[j] % 5 == in[i] % 5) most = std::max(most, in[j]);
    CHECK(out[i] == sum);
    CHECK(out[n + i] == scan);
    CHECK(out[2 * n + i] == most);
    CHECK(out[3 * n + i] == (i % 2 == 0 ? 0 : 1600 + i % 32 / 2));
  }

  std::vector<int> numbers(4096, 1);
  int* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, numbers.size() * sizeof(int)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  CHECK_CUDA(cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice));
  int blocks = 0, count = static_cast<int>(numbers.size());
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, whole_grid, 128, 0));
  CHECK(blocks > 0);
  void* arguments[] = {&data, &count};
  CHECK_CUDA(cudaLaunchCooperativeKernel(whole_grid, dim3(8), dim3(128), arguments, 0, nullptr));
  int total = 0;
  CHECK_CUDA(cudaMemcpy(&total, data, sizeof total, cudaMemcpyDeviceToHost));
  CHECK(total == 4096 * 4095 / 2);
  std::printf("groups ok\n");
}
