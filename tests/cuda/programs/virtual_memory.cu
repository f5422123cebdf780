// Virtual memory management: segments that grow, as allocators of frameworks make them, one memory at two
// places, and what is refused. With an argument it ends with an access where nothing is mapped.
#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "check.hpp"

__global__ void fill(int* out, size_t count, int value) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = static_cast<int>(i) + value;
}

#define EXPECT(call, result)                                                     \
  do {                                                                           \
    const CUresult r = call;                                                     \
    if (r != (result)) std::printf("line %d: " #call " gave %d\n", __LINE__, r); \
  } while (false)

int main(int argc, char** argv) {
  CHECK_CUDA(cudaFree(nullptr));
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t piece = 0;
  EXPECT(cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  std::printf("granularity %zu\n", piece);
  int supported = 0;
  EXPECT(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0),
         CUDA_SUCCESS);
  size_t free_before = 0, free_now = 0, total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_before, &total));

  // A segment that grows by two pieces.
  CUdeviceptr base = 0, other = 0;
  EXPECT(cuMemAddressReserve(&base, 8 * piece, 0, 0, 0), CUDA_SUCCESS);
  EXPECT(cuMemAddressReserve(&other, piece, 0, 0, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle memory[2];
  const CUmemAccessDesc writable = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUmemAccessDesc readable = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
  for (int i = 0; i < 2; ++i) {
    EXPECT(cuMemCreate(&memory[i], piece, &prop, 0), CUDA_SUCCESS);
    EXPECT(cuMemMap(base + i * piece, piece, 0, memory[i], 0), CUDA_SUCCESS);
  }
  EXPECT(cuMemSetAccess(base, 2 * piece, &writable, 1), CUDA_SUCCESS);
  CHECK_CUDA(cudaMemGetInfo(&free_now, &total));
  std::printf("taken %d pieces\n", static_cast<int>((free_before - free_now) / piece));
  const size_t count = 2 * piece / sizeof(int);
  int* const out = reinterpret_cast<int*>(base);
  fill<<<16, 256>>>(out, count, 5);
  CHECK_CUDA(cudaDeviceSynchronize());
  int across[2] = {};
  CHECK_CUDA(cudaMemcpy(across, out + count / 2 - 1, sizeof across, cudaMemcpyDeviceToHost));
  std::printf("across %d\n", across[1] - across[0]);

  // The second piece at another place as well.
  EXPECT(cuMemMap(other, piece, 0, memory[1], 0), CUDA_SUCCESS);
  EXPECT(cuMemSetAccess(other, piece, &readable, 1), CUDA_SUCCESS);
  CHECK_CUDA(cudaMemset(out + count / 2, 7, 4));
  int seen = 0;
  CHECK_CUDA(cudaMemcpy(&seen, reinterpret_cast<void*>(other), sizeof seen, cudaMemcpyDeviceToHost));
  std::printf("alias %x\n", seen);
  unsigned long long flags = 9;
  EXPECT(cuMemGetAccess(&flags, &readable.location, other + 100), CUDA_SUCCESS);
  std::printf("access %llu, set %d\n", flags, cudaMemset(reinterpret_cast<void*>(other), 1, 4));
  cudaGetLastError();
  int* ordinary = nullptr;
  CHECK_CUDA(cudaMalloc(&ordinary, 4));
  EXPECT(cuMemGetAccess(&flags, &readable.location, reinterpret_cast<CUdeviceptr>(ordinary)), CUDA_SUCCESS);
  std::printf("access to memory of cudaMalloc %llu\n", flags);
  CHECK_CUDA(cudaFree(ordinary));
  CUmemGenericAllocationHandle again = 0;
  EXPECT(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(other)), CUDA_SUCCESS);
  CUmemAllocationProp told = {};
  EXPECT(cuMemGetAllocationPropertiesFromHandle(&told, again), CUDA_SUCCESS);
  std::printf("same memory %d, properties %d\n", again == memory[1], std::memcmp(&told, &prop, sizeof told));
  EXPECT(cuMemRelease(again), CUDA_SUCCESS);

  // What makes no sense.
  CUmemGenericAllocationHandle none = 0;
  EXPECT(cuMemCreate(&none, piece / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemCreate(&none, piece, &prop, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemMap(base + piece, piece, 0, memory[0], 0), CUDA_ERROR_INVALID_VALUE);      // taken
  EXPECT(cuMemMap(base + 8 * piece, piece, 0, memory[0], 0), CUDA_ERROR_INVALID_VALUE);  // not reserved
  EXPECT(cuMemMap(base + 3 * piece, piece, piece, memory[0], 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cuMemMap(base + 3 * piece, 2 * piece, 0, memory[0], 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cuMemSetAccess(base, 3 * piece, &writable, 1), CUDA_ERROR_INVALID_VALUE);  // not all mapped
  EXPECT(cuMemUnmap(base, piece / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemUnmap(base + 4 * piece, 2 * piece), CUDA_SUCCESS);        // nothing is there
  EXPECT(cuMemAddressFree(base, 8 * piece), CUDA_ERROR_INVALID_VALUE);  // still mapped
  EXPECT(cuMemAddressReserve(&other, piece / 2, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemAddressReserve(&other, piece, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  std::printf("freed by cudaFree: %d\n", cudaFree(out));
  cudaGetLastError();
  std::printf("copied beyond: %d\n", cudaMemset(out + count - 1, 0, 8));
  cudaGetLastError();

  if (argc > 1) {
    // Read-only, without access, and unmapped memory.
    if (std::strcmp(argv[1], "beyond") == 0) fill<<<1, 1>>>(out + count, 1, 0);
    if (std::strcmp(argv[1], "read_only") == 0) fill<<<1, 1>>>(reinterpret_cast<int*>(other), 1, 0);
    std::printf("kernel: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }

  // Memory lives as long as a mapping of it.
  EXPECT(cuMemRelease(memory[1]), CUDA_SUCCESS);
  EXPECT(cuMemRelease(memory[1]), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemUnmap(base, 2 * piece), CUDA_SUCCESS);
  CHECK_CUDA(cudaMemcpy(&seen, reinterpret_cast<void*>(other), sizeof seen, cudaMemcpyDeviceToHost));
  std::printf("still %x\n", seen);
  EXPECT(cuMemMap(base, piece, 0, memory[0], 0), CUDA_SUCCESS);  // what was in it is there, access is not
  EXPECT(cuMemSetAccess(base, piece, &readable, 1), CUDA_SUCCESS);
  CHECK_CUDA(cudaMemcpy(&seen, out + 9, sizeof seen, cudaMemcpyDeviceToHost));
  std::printf("kept %d\n", seen);
  EXPECT(cuMemUnmap(base, 8 * piece), CUDA_SUCCESS);
  EXPECT(cuMemUnmap(other, piece), CUDA_SUCCESS);
  EXPECT(cuMemRelease(memory[0]), CUDA_SUCCESS);
  EXPECT(cuMemAddressFree(base, piece), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemAddressFree(base, 8 * piece), CUDA_SUCCESS);
  EXPECT(cuMemAddressFree(other, piece), CUDA_SUCCESS);
  CHECK_CUDA(cudaMemGetInfo(&free_now, &total));
  std::printf("left %d\n", static_cast<int>(free_before - free_now));
  std::printf("virtual memory ok\n");
}
