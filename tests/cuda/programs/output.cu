// What kernels do besides computing: printf, malloc and free, and an assertion that fails.
#include <cassert>

#include "check.hpp"

struct Item {
  int value;
  Item* next;
};

__global__ void say(int n) {
  if (threadIdx.x < n)
    printf("thread %d of block %d: %s %.2f %c%%\n", threadIdx.x, blockIdx.x, "text", 1.5, 'x');
}

/// A list on the device's heap, built by one kernel and taken apart by the next.
__device__ Item* list;
__global__ void build(int n) {
  for (int i = 0; i < n; ++i) {
    auto* item = static_cast<Item*>(malloc(sizeof(Item)));
    if (item == nullptr) return;
    *item = {i, list};
    list = item;
  }
}
__global__ void sum(int* out) {
  while (list != nullptr) {
    Item* next = list->next;
    *out += list->value;
    free(list);
    list = next;
  }
}

__global__ void check(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

/// As on an H200: of 8 MiB two pieces of 6 MiB are too many, and one is there again when it was freed.
__global__ void take(int* out) {
  void *first = malloc(6 << 20), *second = malloc(6 << 20);
  free(first);
  void* third = malloc(6 << 20);
  *out = (first != nullptr ? 1 : 0) + (second != nullptr ? 2 : 0) + (third != nullptr ? 4 : 0);
  free(second);
  free(third);
}

int main() {
  say<<<2, 32>>>(2);
  CHECK_CUDA(cudaDeviceSynchronize());
  int* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, sizeof *out));
  build<<<1, 1>>>(100);
  sum<<<1, 1>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(*out == 4950);
  take<<<1, 1>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(*out == 5);
  check<<<1, 32>>>(32);
  CHECK_CUDA(cudaDeviceSynchronize());
  check<<<1, 32>>>(30);
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  std::printf("output ok\n");
}
