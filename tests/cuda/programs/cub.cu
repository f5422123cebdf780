// Sorts, scans and reductions of the library that comes with CUDA (CCCL: cub and thrust), against the host's.
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"

int main() {
  const int n = 20000;
  std::vector<uint32_t> keys(n);
  uint32_t state = 1;
  for (uint32_t& key : keys) key = state = state * 1664525u + 1013904223u;

  thrust::device_vector<uint32_t> device(keys.begin(), keys.end());
  thrust::sort(device.begin(), device.end());
  std::vector<uint32_t> sorted = keys, result(n);
  std::sort(sorted.begin(), sorted.end());
  thrust::copy(device.begin(), device.end(), result.begin());
  CHECK(result == sorted);
  std::printf("thrust sort ok\n");

  thrust::device_vector<uint32_t> sums(n);
  thrust::inclusive_scan(device.begin(), device.end(), sums.begin());
  std::vector<uint32_t> expected(n);
  std::partial_sum(sorted.begin(), sorted.end(), expected.begin());
  thrust::copy(sums.begin(), sums.end(), result.begin());
  CHECK(result == expected);
  std::printf("thrust scan ok\n");

  uint32_t *in = nullptr, *out = nullptr, *values = nullptr, *values_out = nullptr;
  CHECK_CUDA(cudaMalloc(&in, n * 4));
  CHECK_CUDA(cudaMalloc(&out, n * 4));
  CHECK_CUDA(cudaMalloc(&values, n * 4));
  CHECK_CUDA(cudaMalloc(&values_out, n * 4));
  std::vector<uint32_t> index(n);
  std::iota(index.begin(), index.end(), 0u);
  CHECK_CUDA(cudaMemcpy(in, keys.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(values, index.data(), n * 4, cudaMemcpyHostToDevice));
  void* room = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(cub::DeviceRadixSort::SortPairsDescending(room, bytes, in, out, values, values_out, n));
  CHECK_CUDA(cudaMalloc(&room, bytes));
  CHECK_CUDA(cub::DeviceRadixSort::SortPairsDescending(room, bytes, in, out, values, values_out, n));
  CHECK_CUDA(cudaMemcpy(result.data(), values_out, n * 4, cudaMemcpyDeviceToHost));
  std::stable_sort(index.begin(), index.end(), [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
  CHECK(result == index);
  CHECK_CUDA(cudaFree(room));
  std::printf("cub sort ok\n");

  room = nullptr;
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n));
  CHECK_CUDA(cudaMalloc(&room, bytes));
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n));
  CHECK_CUDA(cudaMemcpy(result.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::exclusive_scan(keys.begin(), keys.end(), expected.begin(), 0u);
  CHECK(result == expected);
  CHECK_CUDA(cudaFree(room));

  room = nullptr;
  CHECK_CUDA(cub::DeviceReduce::Max(room, bytes, in, out, n));
  CHECK_CUDA(cudaMalloc(&room, bytes));
  CHECK_CUDA(cub::DeviceReduce::Max(room, bytes, in, out, n));
  uint32_t most = 0;
  CHECK_CUDA(cudaMemcpy(&most, out, 4, cudaMemcpyDeviceToHost));
  CHECK(most == *std::max_element(keys.begin(), keys.end()));

  room = nullptr;
  int* counts = nullptr;
  CHECK_CUDA(cudaMalloc(&counts, 17 * sizeof(int)));
  CHECK_CUDA(cub::DeviceHistogram::HistogramEven(room, bytes, in, counts, 17, 0.0, 4294967296.0, n));
  CHECK_CUDA(cudaMalloc(&room, bytes));
  CHECK_CUDA(cub::DeviceHistogram::HistogramEven(room, bytes, in, counts, 17, 0.0, 4294967296.0, n));
  std::vector<int> histogram(16), host(16);
  CHECK_CUDA(cudaMemcpy(histogram.data(), counts, 64, cudaMemcpyDeviceToHost));
  for (const uint32_t key : keys) ++host[key >> 28];
  CHECK(histogram == host);
  std::printf("cub ok\n");
}
