// What compute capability 9.0 moves past the lanes' addresses: products by wgmma of tiles that bulk copies
// bring, bulk copies whose ends lie otherwise than sectors, and shared memory of other blocks. Results are
// checked; what is counted is compared with an H200's counters (hopper.csv).
#include <cuda.h>
#include <cuda_fp16.h>

#include <cooperative_groups.h>

#include <cstdint>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

namespace {

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void init(uint64_t* bar) {
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(
        shared_address(bar)));
  __syncthreads();
}
__device__ void expect(uint64_t* bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
               : "memory");
}
__device__ void wait(uint64_t* bar, int parity) {
  asm volatile(
      "{.reg .pred p;\nlook: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra look;}" ::"r"(
          shared_address(bar)),
      "r"(parity)
      : "memory");
}
__device__ void load_box(void* to, const CUtensorMap* map, int x, int y, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
      : "memory");
}
__device__ void flush() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
/// Of shared memory: rows of 128 bytes with the swizzle of 128, or core matrices 128 bytes apart.
__device__ uint64_t descriptor(const void* p, bool swizzled) {
  const uint64_t begin = shared_address(p) >> 4 & 0x3fff;
  return swizzled ? begin | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62
                  : begin | uint64_t{8} << 16 | uint64_t{16} << 32;
}

constexpr int size = 128, tile = 64;  // halves

/// C = A times B, of which columns follow each other: a block makes 64 x 64 of it.
__global__ void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        float* c) {
  __shared__ alignas(1024) __half tile_a[tile * tile], tile_b[tile * tile];
  __shared__ uint64_t bar;
  init(&bar);
  float d[32] = {};
  for (int k = 0; k < size; k += tile) {
    if (threadIdx.x == 0) {
      expect(&bar, sizeof tile_a + sizeof tile_b);
      load_box(tile_a, &a, k, blockIdx.y * tile, &bar);
      load_box(tile_b, &b, k, blockIdx.x * tile, &bar);
    }
    wait(&bar, k / tile % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < tile; step += 16)
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
          "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
          "%30, %31}, %32, %33, 1, 1, 1, 0, 0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
            "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
            "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
            "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
            "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(descriptor(tile_a + step, true)), "l"(descriptor(tile_b + step, true)));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int row = blockIdx.y * tile + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4,
            column = blockIdx.x * tile + threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i) c[(row + i / 2 % 2 * 8) * size + column + i / 4 * 8 + i % 2] = d[i];
}

/// 64 rows of A times 8 columns of B, both written by the threads.
__global__ void narrow_product(const __half* a, const __half* b, float* c) {
  __shared__ alignas(128) __half tile_a[64 * 16], tile_b[8 * 16];
  // Element (row, k): core matrix row / 8, k / 8; in it row % 8 lines of eight.
  const auto place = [](int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; };
  for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) tile_a[place(i / 16, i % 16)] = a[i];
  if (threadIdx.x < 8 * 16) tile_b[place(threadIdx.x / 16, threadIdx.x % 16)] = b[threadIdx.x];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(tile_a, false)), "l"(descriptor(tile_b, false))
      : "memory");
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * 8 + column + i % 2] = d[i];
}

/// 1,008 bytes that begin 16 bytes into a sector come in and go out where one begins; then they are added.
__global__ void shifted(const int* in, int* out, int* sum) {
  __shared__ alignas(128) int buffer[252];
  __shared__ uint64_t bar;
  init(&bar);
  if (threadIdx.x != 0) return;
  expect(&bar, sizeof buffer);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(buffer)),
      "l"(in + 256 * blockIdx.x + 4), "r"(1008), "r"(shared_address(&bar))
      : "memory");
  wait(&bar, 0);
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 256 * blockIdx.x),
               "r"(shared_address(buffer)), "r"(1008)
               : "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sum + 12),
               "r"(shared_address(buffer)), "r"(1008)
               : "memory");
  flush();
}

/// Boxes of 8 rows of 160 bytes, of rows that are 1,040 bytes apart.
__global__ void boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int box[8 * 40];
  __shared__ uint64_t bar;
  init(&bar);
  if (threadIdx.x != 0) return;
  expect(&bar, sizeof box);
  load_box(box, &from, 40 * blockIdx.x, 8 * blockIdx.y, &bar);
  wait(&bar, 0);
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to),
               "r"(40 * static_cast<int>(blockIdx.x)), "r"(8 * static_cast<int>(blockIdx.y)),
               "r"(shared_address(box))
               : "memory");
  flush();
}

/// Bins that lie in the shared memory of all blocks of a cluster.
__global__ void __cluster_dims__(4) histogram(const uint32_t* in, int n, uint32_t* out) {
  __shared__ uint32_t bins[64];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(cluster.map_shared_rank(bins, in[i] / 64 % 4) + in[i] % 64, 1);
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(out + cluster.block_rank() * 64 + i, bins[i]);
}

/// Each block reads its neighbour's rows, then columns, and writes single words there.
__global__ void __cluster_dims__(2) neighbours(float* out) {
  __shared__ float rows[32][32], mailbox[32][5];
  const auto cluster = cg::this_cluster();
  const unsigned other = cluster.block_rank() ^ 1;
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    rows[y][threadIdx.x] = static_cast<float>(cluster.block_rank() * 1024 + y * 32 + threadIdx.x);
  cluster.sync();
  auto* there = cluster.map_shared_rank(&rows, other);
  auto* mail = cluster.map_shared_rank(&mailbox, other);
  float sum = 0;
  for (int y = threadIdx.y; y < 32; y += blockDim.y) sum += (*there)[y][threadIdx.x];
  for (int y = threadIdx.y; y < 32; y += blockDim.y) sum -= 2 * (*there)[threadIdx.x][y];
  (*mail)[threadIdx.x][threadIdx.y] = sum;
  cluster.sync();
  if (threadIdx.y == 0) {
    float all = 0;
    for (int i = 0; i < 4; ++i) all += mailbox[threadIdx.x][i];
    out[blockIdx.x * 32 + threadIdx.x] = all;
  }
}

/// Values that go to the next block with word to its mbarrier: by st.async, red.async and a bulk copy.
__global__ void __cluster_dims__(2) send(uint32_t* out) {
  __shared__ alignas(128) uint32_t got[32], sums[8], copied[96], mine[96];
  __shared__ uint64_t bar;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x < 8) sums[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < 96; i += 32) mine[i] = cluster.block_rank() * 1000 + i;
  asm volatile("fence.proxy.async;" ::: "memory");
  init(&bar);
  if (threadIdx.x == 0) expect(&bar, 32 * 4 + 32 * 4 + 384);
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  const auto there = [&](const void* p) {
    uint32_t at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(other));
    return at;
  };
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                   there(got + threadIdx.x)),
               "r"(cluster.block_rank() * 100 + threadIdx.x), "r"(there(&bar))
               : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
          there(sums + threadIdx.x % 8)),
      "r"(threadIdx.x), "r"(there(&bar))
      : "memory");
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            there(copied)),
        "r"(shared_address(mine)), "r"(384), "r"(there(&bar))
        : "memory");
  wait(&bar, 0);
  uint32_t sum = got[threadIdx.x] + sums[threadIdx.x % 8];
  for (int i = threadIdx.x; i < 96; i += 32) sum += copied[i];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  cluster.sync();
}

CUtensorMap map_of(void* memory, CUtensorMapDataType type, uint64_t columns, uint64_t rows, uint64_t pitch,
                   uint32_t box_columns, uint32_t box_rows, CUtensorMapSwizzle swizzle) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK_CUDA(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
  CUtensorMap map;
  const cuuint64_t extent[2] = {columns, rows}, strides[1] = {pitch};
  const cuuint32_t box[2] = {box_columns, box_rows}, steps[2] = {1, 1};
  CHECK(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
            &map, type, 2, memory, extent, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

template <class T>
T* device(const std::vector<T>& values) {
  T* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <class T>
std::vector<T> host(const T* memory, size_t count) {
  std::vector<T> values(count);
  CHECK_CUDA(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace

int main() {
  std::vector<__half> a(size * size), b(size * size);
  for (int i = 0; i < size * size; ++i) {
    a[i] = __float2half(static_cast<float>(i * 7 % 13 - 6));
    b[i] = __float2half(static_cast<float>(i * 5 % 11 - 5));
  }
  const auto dot = [&](int row, int column, int k) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[column * k + i]);
    return sum;
  };
  __half *device_a = device(a), *device_b = device(b);
  float* c = device(std::vector<float>(size * size));
  const auto square = [&](void* memory) {
    return map_of(memory, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, size, size, size * 2, tile, tile,
                  CU_TENSOR_MAP_SWIZZLE_128B);
  };
  product<<<dim3(2, 2), 128>>>(square(device_a), square(device_b), c);
  std::vector<float> products = host(c, size * size);
  for (int i = 0; i < size * size; ++i) CHECK(products[i] == dot(i / size, i % size, size));
  narrow_product<<<1, 128>>>(device_a, device_b, c);
  products = host(c, 64 * 8);
  for (int i = 0; i < 64 * 8; ++i) CHECK(products[i] == dot(i / 8, i % 8, 16));

  std::vector<int> numbers(260 * 16);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * i % 1009);
  int *in = device(numbers), *out = device(std::vector<int>(numbers.size())),
      *sum = device(std::vector<int>(264));
  shifted<<<3, 32>>>(in, out, sum);
  const std::vector<int> moved = host(out, numbers.size()), added = host(sum, 264);
  for (int i = 0; i < 252; ++i) {
    for (int block = 0; block < 3; ++block) CHECK(moved[256 * block + i] == numbers[256 * block + 4 + i]);
    CHECK(added[12 + i] == numbers[4 + i] + numbers[260 + i] + numbers[516 + i]);
  }
  const auto wide = [&](void* memory) {
    return map_of(memory, CU_TENSOR_MAP_DATA_TYPE_INT32, 260, 16, 1040, 40, 8, CU_TENSOR_MAP_SWIZZLE_NONE);
  };
  CHECK_CUDA(cudaMemset(out, 0, numbers.size() * 4));
  boxes<<<dim3(6, 2), 32>>>(wide(in), wide(out));
  const std::vector<int> boxed = host(out, numbers.size());
  for (int i = 0; i < 260 * 16; ++i) CHECK(boxed[i] == (i % 260 < 240 ? numbers[i] : 0));

  std::vector<uint32_t> values(4096), expected(256);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<uint32_t>(i * i * 31 % 251);
    ++expected[values[i]];
  }
  uint32_t *device_values = device(values), *bins = device(std::vector<uint32_t>(256));
  histogram<<<4, 128>>>(device_values, 4096, bins);
  CHECK(host(bins, 256) == expected);
  neighbours<<<2, dim3(32, 4)>>>(c);
  const std::vector<float> sums = host(c, 64);
  for (int i = 0; i < 64; ++i) {
    float want = 0;
    for (int y = 0; y < 32; ++y)
      want += static_cast<float>(i / 32 * -1024 + y * 32 + i % 32 - 2 * (i % 32 * 32 + y));
    CHECK(sums[i] == want);
  }
  send<<<2, 32>>>(bins);
  const std::vector<uint32_t> got = host(bins, 64);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t lane = i % 32, from = 1 - i / 32;
    uint32_t want = from * 100 + lane;
    for (uint32_t j = lane % 8; j < 32; j += 8) want += j;
    for (uint32_t j = lane; j < 96; j += 32) want += from * 1000 + j;
    CHECK(got[i] == want);
  }
  std::puts("hopper ok");
}
