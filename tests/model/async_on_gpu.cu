// What copies from global to shared memory (cp.async) cost the banks of a real GPU: measured by the time they
// take away from other warps that keep the shared memory busy. No part of the build; by hand (needs the CUDA
// toolkit):
//   nvcc -std=c++17 -arch=sm_90 -o async_on_gpu tests/model/async_on_gpu.cu
//   ./async_on_gpu time PATTERNS.csv             # a row for each pattern and kind of source
//   ncu … ./async_on_gpu count PATTERNS.csv      # one launch for each pattern, for the profiler's counters
// A pattern is a row `op,width,mask,o0…o31` (the format of tests/data/truth); of op `store` it is written by
// ordinary stores, whose wavefronts are known: the yardstick.
//
// Method: 16 warps load conflict-free words as fast as they can, which saturates the one wavefront a cycle
// that the banks deliver. Meanwhile four warps issue copies. The cycles by which the loads take longer than
// alone, divided by the number of copies, are the cycles a copy keeps the banks from serving loads (column
// `stolen`). `alone` and `busy`: cycles a copy takes without and with those loads. Accesses are volatile, or
// the assembler would drop repeated ones.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct Pattern {
  uint32_t op;  // 0: cp.async (16 bytes: .cg), 1: store, 2: nothing, 3: cp.async.ca
  uint32_t width, mask;
  uint32_t source;  // 0: neighbouring bytes, 1: one place for all, 2: a sector each, 3: a line each
  uint32_t slot;    // bytes from one destination to the next
  uint32_t offset[32];
};

constexpr int load_warps = 16, copy_warps = 4, rounds = 512, copies = 256;
constexpr uint32_t region = 160 * 1024;  // bytes that copies write; loads read behind it
/// Every copy has a source of its own, and its destination moves on, too: copies on their way with the same
/// source and destination are served as one.
constexpr uint32_t source_bytes = 4096;

__device__ __forceinline__ void copy(uint32_t to, const char* from, uint32_t width, bool all_caches) {
  if (width == 16 && all_caches)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else if (width == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else if (width == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void store(uint32_t to, uint32_t width, uint32_t value) {
  if (width == 16)
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(to), "r"(value) : "memory");
  else if (width == 8)
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%1};" ::"r"(to), "r"(value) : "memory");
  else
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

__device__ __forceinline__ void issue(const Pattern& p, uint32_t to, const char* from, uint32_t times) {
  if ((p.mask >> (threadIdx.x % 32) & 1) == 0) return;
  const uint32_t warp = threadIdx.x / 32, slots = region / p.slot;
  from += warp * times * source_bytes;
  uint32_t slot = warp * 7 % slots;
  for (uint32_t i = 0; i < times; ++i) {
    if (p.op == 1)
      store(to + slot * p.slot, p.width, i);
    else if (p.op != 2)
      copy(to + slot * p.slot, from + i * source_bytes, p.width, p.op == 3);
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  if (p.op != 1) asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ const char* source_of(const Pattern& p, const char* in, uint32_t lane) {
  const uint32_t step[] = {p.width, 0, 32, 128};
  return in + step[p.source] * lane;
}

/// out: cycles from the first load warp's begin to the last one's end; the same of the copies.
__global__ void compete(const Pattern* pattern, const char* in, long long* out, int loads) {
  extern __shared__ char shared[];
  __shared__ long long begin[32], end[32];
  const Pattern& p = *pattern;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t to = base + p.offset[lane];
  const char* from = source_of(p, in, lane);
  __syncthreads();
  begin[warp] = clock64();
  uint32_t sum = 0;
  if (warp < load_warps) {
    if (loads != 0) {
      const uint32_t at = base + region + lane * 4 + warp * 128;
      for (int i = 0; i < rounds; ++i) {
        uint32_t v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k)
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at) : "memory");
#pragma unroll
        for (int k = 0; k < 8; ++k) sum += v[k];
      }
    }
  } else {
    issue(p, to, from, copies);
  }
  end[warp] = clock64() + (sum == 0x12345678u ? 1 : 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    long long b = begin[0], e = end[0], cb = begin[load_warps], ce = end[load_warps];
    for (int w = 0; w < load_warps; ++w) b = min(b, begin[w]), e = max(e, end[w]);
    for (int w = load_warps; w < load_warps + copy_warps; ++w) cb = min(cb, begin[w]), ce = max(ce, end[w]);
    out[0] = e - b;
    out[1] = ce - cb;
  }
}

/// 64 copies by one warp, for the counters.
__global__ void alone(const Pattern* pattern, const char* in) {
  extern __shared__ char shared[];
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  issue(*pattern, base + pattern->offset[threadIdx.x], source_of(*pattern, in, threadIdx.x), 64);
}

static void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<Pattern> patterns;
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);) {
    std::stringstream row(line);
    std::string cell;
    Pattern p{};
    std::getline(row, cell, ',');
    if (cell != "cp.async" && cell != "store" && cell != "cp.async.ca") continue;
    p.op = cell == "store" ? 1 : cell == "cp.async.ca" ? 3 : 0;
    std::getline(row, cell, ',');
    p.width = static_cast<uint32_t>(std::stoul(cell));
    std::getline(row, cell, ',');
    p.mask = static_cast<uint32_t>(std::stoul(cell, nullptr, 16));
    for (uint32_t& o : p.offset) std::getline(row, cell, ','), o = static_cast<uint32_t>(std::stoul(cell));
    p.slot = 2048;
    for (const uint32_t o : p.offset)
      while (o + 16 > p.slot) p.slot += 2048;
    patterns.push_back(p);
  }
  char* in;
  Pattern* device;
  long long* out;
  constexpr size_t in_bytes = size_t{32} * copies * source_bytes;
  must(cudaMalloc(&in, in_bytes), "memory");
  must(cudaMemset(in, 0, in_bytes), "memory");
  must(cudaMalloc(&device, sizeof(Pattern)), "memory");
  must(cudaMalloc(&out, 16), "memory");
  const int bytes = region + load_warps * 128;
  must(cudaFuncSetAttribute(compete, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  must(cudaFuncSetAttribute(alone, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  if (!std::strcmp(argv[1], "count")) {
    for (const Pattern& p : patterns) {
      must(cudaMemcpy(device, &p, sizeof p, cudaMemcpyHostToDevice), "copy");
      alone<<<1, 32, bytes>>>(device, in);
      must(cudaDeviceSynchronize(), "launch");
    }
    return 0;
  }
  const auto time = [&](Pattern p, int loads, long long* best) {
    best[0] = best[1] = 1ll << 60;
    must(cudaMemcpy(device, &p, sizeof p, cudaMemcpyHostToDevice), "copy");
    for (int i = 0; i < 7; ++i) {
      compete<<<1, 32 * (load_warps + copy_warps), bytes>>>(device, in, out, loads);
      long long now[2];
      must(cudaMemcpy(now, out, sizeof now, cudaMemcpyDeviceToHost), "copy");
      best[0] = std::min(best[0], now[0]);
      best[1] = std::min(best[1], now[1]);
    }
  };
  Pattern nothing{};
  nothing.op = 2;
  nothing.slot = region;
  long long idle[2];
  for (int i = 0; i < 20; ++i) time(nothing, 1, idle);
  std::printf("# loads alone: %lld cycles for %d warps x %d loads\n", idle[0], load_warps, rounds * 8);
  std::printf("row,op,width,source,stolen,alone,busy\n");
  for (size_t i = 0; i < patterns.size(); ++i)
    for (uint32_t source = 0; source < (patterns[i].op != 1 ? 4u : 1u); ++source) {
      patterns[i].source = source;
      long long busy[2], free[2];
      time(patterns[i], 1, busy);
      time(patterns[i], 0, free);
      constexpr double count = copy_warps * copies;
      std::printf("%zu,%s,%u,%u,%.3f,%.3f,%.3f\n", i,
                  patterns[i].op == 1   ? "store"
                  : patterns[i].op == 3 ? "cp.async.ca"
                                        : "cp.async",
                  patterns[i].width, source, static_cast<double>(busy[0] - idle[0]) / count,
                  static_cast<double>(free[1]) / count, static_cast<double>(busy[1]) / count);
    }
  return 0;
}
