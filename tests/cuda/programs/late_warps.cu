// The four warps of a product wait for each other at wgmma.fence: one is late with B, which it writes before.
// late_warps.txt is what an H200 printed. (cuDNN's convolutions take that for granted.)
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
/// Without swizzle: core matrices of 8 rows of 16 bytes, 128 bytes apart along K, 256 along the other side.
__device__ uint64_t descriptor(const void* tile) {
  return (shared_address(tile) >> 4 & 0x3fff) | uint64_t{8} << 16 | uint64_t{16} << 32;
}

/// 64 rows of A, ones, times 8 columns of B, which are zeros until the late warp makes them ones. `out`: of
/// each warp, what its first lane has in its first element.
__global__ void product(int late, float* out) {
  __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
  constexpr uint16_t one = 0x3c00;
  for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) a[i] = one;
  b[threadIdx.x] = 0;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x / 32 == late) {
    const long long begin = clock64();
    while (clock64() - begin < 1000000) {
    }
    for (int i = threadIdx.x % 32; i < 8 * 16; i += 32) b[i] = one;
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncwarp();
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(a)), "l"(descriptor(b))
      : "memory");
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = d[0];
}

int main() {
  float *device = nullptr, out[4] = {};
  cudaMalloc(&device, sizeof out);
  for (int late = 0; late < 4; ++late) {
    product<<<1, 128>>>(late, device);
    const cudaError_t status = cudaMemcpy(out, device, sizeof out, cudaMemcpyDefault);
    std::printf("warp %d is late: %s %g %g %g %g\n", late, cudaGetErrorName(status), out[0], out[1], out[2],
                out[3]);
  }
}
