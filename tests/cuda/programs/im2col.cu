// Bulk copies of tensors in im2col mode against the plain loop that they stand for: random tensors, corners,
// steps, offsets, types and swizzles. A copy that differs is printed with all that describes it, and for
// tensors of words with the pixels that it took, so that what a GPU does can be read off.
//
//   im2col [COUNT [SEED]]            copies that the manuals describe: COUNT of each kind
//   im2col odd [COUNT [SEED]]        what they leave open, each kind in a process of its own: a GPU may end
//   it im2col one KIND COUNT SEED       one kind in this process im2col maps                      maps as the
//   driver encodes them im2col arguments                 what the driver's function says of bad arguments
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

constexpr int most = 5;

struct Place {
  int at[most];
  unsigned short offsets[3];
};

#define ROW   "cp.async.bulk.tensor."
#define LOAD  ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
#define STORE ".global.shared::cta.im2col_no_offs.bulk_group [%0, "
#define ADD   ".global.shared::cta.add.im2col_no_offs.bulk_group [%0, "

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void load(int dimensions, unsigned to, const CUtensorMap& map, const Place& c, unsigned bar) {
  if (dimensions == 3)
    asm volatile(ROW "3d" LOAD " [%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(to), "l"(&map), "r"(bar),
                 "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(c.offsets[0])
                 : "memory");
  else if (dimensions == 4)
    asm volatile(ROW "4d" LOAD " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to), "l"(&map),
                 "r"(bar), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "h"(c.offsets[0]),
                 "h"(c.offsets[1])
                 : "memory");
  else
    asm volatile(ROW "5d" LOAD " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(to), "l"(&map),
                 "r"(bar), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]),
                 "h"(c.offsets[0]), "h"(c.offsets[1]), "h"(c.offsets[2])
                 : "memory");
}

__device__ void load_for_both(int dimensions, unsigned to, const CUtensorMap& map, const Place& c,
                              unsigned bar) {
  const unsigned short both = 3;
  if (dimensions == 3)
    asm volatile(ROW "3d" LOAD ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(c.offsets[0]), "h"(both)
                 : "memory");
  else if (dimensions == 4)
    asm volatile(ROW "4d" LOAD
                     ".multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]),
                 "h"(c.offsets[0]), "h"(c.offsets[1]), "h"(both)
                 : "memory");
  else
    asm volatile(ROW
                 "5d" LOAD
                 ".multicast::cluster [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]),
                 "h"(c.offsets[0]), "h"(c.offsets[1]), "h"(c.offsets[2]), "h"(both)
                 : "memory");
}

__device__ void prefetch(int dimensions, const CUtensorMap& map, const Place& c) {
  if (dimensions == 3)
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %2, %3}], {%4};" ::"l"(&map),
                 "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(c.offsets[0])
                 : "memory");
  if (dimensions == 4)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1, %2, %3, %4}], {%5, %6};" ::"l"(&map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "h"(c.offsets[0]), "h"(c.offsets[1])
        : "memory");
}

__device__ void store(int dimensions, const CUtensorMap& map, const Place& c, unsigned from) {
  if (dimensions == 3)
    asm volatile(ROW "3d" STORE "{%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2])
                 : "memory");
  else if (dimensions == 4)
    asm volatile(ROW "4d" STORE "{%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2]), "r"(c.at[3])
                 : "memory");
  else
    asm volatile(ROW "5d" STORE "{%2, %3, %4, %5, %6}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
                 : "memory");
}

#define REDUCE "cp.reduce.async.bulk.tensor."
__device__ void add(int dimensions, const CUtensorMap& map, const Place& c, unsigned from) {
  if (dimensions == 3)
    asm volatile(REDUCE "3d" ADD "{%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2])
                 : "memory");
  else if (dimensions == 4)
    asm volatile(REDUCE "4d" ADD "{%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
                 : "memory");
  else
    asm volatile(REDUCE "5d" ADD "{%2, %3, %4, %5, %6}], [%1];" ::"l"(&map), "r"(from), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
                 : "memory");
}

/// Loads into `bytes` bytes of shared memory that are full of 0xcd; *pending becomes 1 if the mbarrier, which
/// expects `expected` bytes, is never done.
__device__ void load_and_wait(const CUtensorMap& map, int dimensions, const Place& c, int bytes, int expected,
                              bool for_both, unsigned char* out, int* pending) {
  extern __shared__ __align__(1024) unsigned char s[];
  __shared__ alignas(8) unsigned long long bar;
  const int t = threadIdx.x;
  for (int i = t; i < bytes / 4; i += blockDim.x) reinterpret_cast<unsigned*>(s)[i] = 0xcdcdcdcd;
  const unsigned at = shared_address(&bar);
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at)
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(expected) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (for_both)
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  else
    __syncthreads();
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0 && rank == 0) {
    prefetch(dimensions, map, c);
    if (for_both)
      load_for_both(dimensions, shared_address(s), map, c, at);
    else
      load(dimensions, shared_address(s), map, c, at);
  }
  unsigned done = 0;
  for (int i = 0; i < 20000 && done == 0; ++i)
    asm volatile(
        "{ .reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0, 100;\nselp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at)
        : "memory");
  if (done == 0) *pending = 1;
  if (for_both) asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  __syncthreads();
  for (int i = t; i < bytes; i += blockDim.x) out[static_cast<size_t>(bytes) * blockIdx.x + i] = s[i];
}

__global__ void load_columns(const __grid_constant__ CUtensorMap map, int dimensions, Place c, int bytes,
                             int expected, unsigned char* out, int* pending) {
  load_and_wait(map, dimensions, c, bytes, expected, false, out, pending);
}

__global__ void __cluster_dims__(2)
    load_columns_twice(const __grid_constant__ CUtensorMap map, int dimensions, Place c, int bytes,
                       int expected, unsigned char* out, int* pending) {
  load_and_wait(map, dimensions, c, bytes, expected, true, out, pending);
}

__global__ void store_columns(const __grid_constant__ CUtensorMap map, int dimensions, Place c, int bytes,
                              const unsigned char* in, bool adds) {
  extern __shared__ __align__(1024) unsigned char s[];
  for (int i = threadIdx.x; i < bytes; i += blockDim.x) s[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (adds)
    add(dimensions, map, c, shared_address(s));
  else
    store(dimensions, map, c, shared_address(s));
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void only_prefetch(const __grid_constant__ CUtensorMap map, int dimensions, Place c) {
  prefetch(dimensions, map, c);
}

using Encode = decltype(&cuTensorMapEncodeIm2col);

Encode encode_function() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK_CUDA(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000, cudaEnableDefault, &result));
  CHECK(result == cudaDriverEntryPointSuccess && found != nullptr);
  return reinterpret_cast<Encode>(found);
}

int bytes_of(int type) {
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[type];
}
bool is_float(int type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }

/// Dimensions in the order of memory: C, W, H, D, N, without those that are not there.
struct Copy {
  int dimensions = 3, type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  cuuint64_t size[most] = {1, 1, 1, 1, 1}, strides[most - 1] = {};
  int lower[3] = {}, upper[3] = {};
  cuuint32_t channels = 4, pixels = 1, steps[most] = {1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  Place place{};
  bool stores = false, adds = false, twice = false, only_prefetches = false;

  int spatial() const { return dimensions - 2; }
  int first(int d) const { return lower[d]; }
  int last(int d) const { return static_cast<int>(size[d + 1]) - 1 + upper[d]; }
  int row() const { return static_cast<int>(channels) * bytes_of(type); }
  int pitch() const { return swizzle == 0 ? row() : std::max(row(), 16 << std::min(swizzle, 3)); }
  size_t tensor_bytes() const { return size[dimensions - 1] * strides[dimensions - 2]; }
  CUresult encode(CUtensorMap* map, void* address) const {
    static const Encode function = encode_function();
    return function(map, static_cast<CUtensorMapDataType>(type), dimensions, address, size, strides, lower,
                    upper, channels, pixels, steps, static_cast<CUtensorMapInterleave>(interleave),
                    static_cast<CUtensorMapSwizzle>(swizzle), static_cast<CUtensorMapL2promotion>(promotion),
                    static_cast<CUtensorMapFloatOOBfill>(fill));
  }
};

template <class T>
std::string list(const T* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + std::to_string(values[i]);
  return text;
}

void print(const Copy& c) {
  std::printf(
      "  %s type %d size [%s] strides [%s] lower [%s] upper [%s] channels %u pixels %u steps [%s] swizzle %d "
      "promotion %d fill %d at [%s] offsets [%s]\n",
      c.only_prefetches ? "prefetch"
      : c.adds          ? "add"
      : c.stores        ? "store"
      : c.twice         ? "multicast"
                        : "load",
      c.type, list(c.size, c.dimensions).c_str(), list(c.strides, c.dimensions - 1).c_str(),
      list(c.lower, c.spatial()).c_str(), list(c.upper, c.spatial()).c_str(), c.channels, c.pixels,
      list(c.steps, c.dimensions).c_str(), c.swizzle, c.promotion, c.fill,
      list(c.place.at, c.dimensions).c_str(), list(c.place.offsets, c.spatial()).c_str());
}

/// Where a byte of a row lies in shared memory.
int place_in_shared(const Copy& c, int pixel, int byte) {
  const int at = pixel * c.pitch() + byte;
  if (c.swizzle == 4) return at ^ (at >> 7 & 3) << 5;
  return at ^ (at >> 7 & ((1 << c.swizzle) - 1)) << 4;
}

/// Calls visit(pixel, coordinates) for each pixel of a column: the plain loops.
template <class Visit>
void each_pixel(const Copy& c, Visit visit) {
  int base[most];
  std::copy_n(c.place.at, most, base);
  const int images = c.dimensions - 1;
  // Of larger offsets the lowest bits count; in five dimensions those above are added to the next one.
  const int bits = c.dimensions == 3 ? 16 : c.dimensions == 4 ? 8 : 5;
  int offsets[most] = {}, above = 0;
  for (int d = 0; d < c.spatial() && !c.stores; ++d) {
    const int sum = c.place.offsets[d] + above;
    offsets[d] = sum & ((1 << bits) - 1);
    above = bits == 5 ? sum >> bits : 0;
  }
  for (int pixel = 0; pixel < static_cast<int>(c.pixels); ++pixel) {
    int at[most];
    std::copy_n(base, most, at);
    for (int d = 0; d < c.spatial() && !c.stores; ++d) at[d + 1] += offsets[d];
    visit(pixel, at);
    int d = 0;
    for (; d < c.spatial(); ++d) {
      base[d + 1] += static_cast<int>(c.steps[d + 1]);
      if (base[d + 1] <= c.last(d)) break;
      base[d + 1] = c.first(d);
    }
    if (d == c.spatial()) base[images] += static_cast<int>(c.steps[images]);
  }
}

/// The place of a pixel's first channel, or -1 if it is in no image.
int64_t pixel_offset(const Copy& c, const int* at) {
  int64_t offset = 0;
  for (int d = 1; d < c.dimensions; ++d) {
    if (at[d] < 0 || at[d] >= static_cast<int>(c.size[d])) return -1;
    offset += at[d] * static_cast<int64_t>(c.strides[d - 1]);
  }
  return offset;
}

std::vector<unsigned char> tensor_of(const Copy& c) {
  std::vector<unsigned char> bytes(c.tensor_bytes());
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    unsigned word = static_cast<unsigned>(i) + 4;
    if (bytes_of(c.type) != 4) word *= 0x9e3779b1;
    // Numbers that conversions keep, and no NaNs.
    if (is_float(c.type))
      word = (word & 0x3fff3fff) << (c.type >= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 ? 13 : 0) & 0x3fffffff;
    std::memcpy(&bytes[i], &word, 4);
  }
  return bytes;
}

template <class T>
void add_in(unsigned char* to, const unsigned char* from) {
  T a, b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a = static_cast<T>(a + b);
  std::memcpy(to, &a, sizeof a);
}

struct Memory {
  unsigned char *tensor = nullptr, *other = nullptr;
  int* pending = nullptr;
  static constexpr size_t tensor_limit = 4 << 20, other_limit = 512 << 10;
  Memory() {
    CHECK_CUDA(cudaMalloc(&tensor, tensor_limit));
    CHECK_CUDA(cudaMalloc(&other, other_limit));
    CHECK_CUDA(cudaMalloc(&pending, sizeof(int)));
    for (const void* kernel :
         {reinterpret_cast<const void*>(load_columns), reinterpret_cast<const void*>(load_columns_twice),
          reinterpret_cast<const void*>(store_columns)})
      CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  }
};

/// For tensors of words: which pixels were taken, by what is in them.
void print_pixels(const Copy& c, const std::vector<unsigned char>& got) {
  if (c.type != CU_TENSOR_MAP_DATA_TYPE_UINT32 || c.stores) return;
  for (int shows_expected = 0; shows_expected < 2; ++shows_expected) {
    std::printf(shows_expected != 0 ? "    expected:" : "    got:");
    each_pixel(c, [&](int pixel, const int* at) {
      if (pixel >= 48) return;
      int64_t offset;
      if (shows_expected != 0) {
        offset = pixel_offset(c, at);
        if (offset >= 0) offset += 4 * std::max(at[0], 0);
      } else {
        unsigned word = 0;  // the first channel that is not filled
        for (unsigned i = 0; i < c.channels && word == 0; ++i)
          std::memcpy(&word, &got[place_in_shared(c, pixel, static_cast<int>(4 * i))], 4);
        offset = word == 0 ? -1 : static_cast<int64_t>(word) - 4;
        if (word == 0xcdcdcdcd) offset = -2;
      }
      if (offset < 0) {
        std::printf(offset == -1 ? " -" : " unwritten");
        return;
      }
      int found[most];
      for (int d = c.dimensions - 1; d > 0; --d) {
        found[d] = static_cast<int>(offset / static_cast<int64_t>(c.strides[d - 1]));
        offset %= static_cast<int64_t>(c.strides[d - 1]);
      }
      found[0] = static_cast<int>(offset / 4);
      std::printf(" (%s)", list(found, c.dimensions).c_str());
    });
    std::printf("\n");
  }
}

void print_bytes(const std::vector<unsigned char>& got, const std::vector<unsigned char>& expected) {
  int shown = 0;
  for (size_t i = 0; i < got.size() && shown < 12; ++i)
    if (got[i] != expected[i]) {
      std::printf("    byte %zu is %02x, not %02x\n", i, got[i], expected[i]);
      ++shown;
    }
}

/// Whether the copy does what the loops do.
bool is_as_expected(const Copy& c, Memory& memory, bool explains) {
  CUtensorMap map;
  const std::vector<unsigned char> tensor = tensor_of(c);
  CHECK(tensor.size() <= Memory::tensor_limit);
  CHECK_CUDA(cudaMemcpy(memory.tensor, tensor.data(), tensor.size(), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(memory.pending, 0, sizeof(int)));
  if (const CUresult refused = c.encode(&map, memory.tensor); refused != CUDA_SUCCESS) {
    std::printf("not encoded: error %d\n", refused);
    print(c);
    return false;
  }
  if (c.only_prefetches) {
    only_prefetch<<<1, 1>>>(map, c.dimensions, c.place);
    CHECK_CUDA(cudaDeviceSynchronize());
    return true;
  }
  const int bytes = static_cast<int>(c.pixels) * c.pitch(), element = bytes_of(c.type), row = c.row();
  const int64_t size = static_cast<int64_t>(c.size[0]);
  std::vector<unsigned char> got, expected;
  int pending = 0;
  if (c.stores) {
    std::vector<unsigned char> in(bytes);
    for (int i = 0; i + 4 <= bytes; i += 4) {
      const unsigned word = 0x01000193u * static_cast<unsigned>(i + 1) & 0x7f7f7f7f;
      std::memcpy(&in[i], &word, 4);
    }
    CHECK_CUDA(cudaMemcpy(memory.other, in.data(), in.size(), cudaMemcpyHostToDevice));
    store_columns<<<1, 128, bytes>>>(map, c.dimensions, c.place, bytes, memory.other, c.adds);
    CHECK_CUDA(cudaDeviceSynchronize());
    got.resize(tensor.size());
    CHECK_CUDA(cudaMemcpy(got.data(), memory.tensor, got.size(), cudaMemcpyDeviceToHost));
    expected = tensor;
    each_pixel(c, [&](int pixel, const int* at) {
      const int64_t offset = pixel_offset(c, at);
      for (int i = 0; i < row && offset >= 0; i += element) {
        const int64_t channel = at[0] + i / element;
        if (channel < 0 || channel >= size) continue;
        const unsigned char* from = &in[place_in_shared(c, pixel, i)];
        unsigned char* to = &expected[offset + channel * element];
        if (!c.adds)
          std::memcpy(to, from, element);
        else if (element == 8)
          add_in<uint64_t>(to, from);
        else
          add_in<uint32_t>(to, from);
      }
    });
  } else {
    const int blocks = c.twice ? 2 : 1;
    if (c.twice)
      load_columns_twice<<<2, 128, bytes>>>(map, c.dimensions, c.place, bytes,
                                            static_cast<int>(c.pixels) * row, memory.other, memory.pending);
    else
      load_columns<<<1, 128, bytes>>>(map, c.dimensions, c.place, bytes, static_cast<int>(c.pixels) * row,
                                      memory.other, memory.pending);
    CHECK_CUDA(cudaDeviceSynchronize());
    got.resize(static_cast<size_t>(bytes) * blocks);
    CHECK_CUDA(cudaMemcpy(got.data(), memory.other, got.size(), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(&pending, memory.pending, sizeof pending, cudaMemcpyDeviceToHost));
    expected.assign(bytes, 0xcd);
    each_pixel(c, [&](int pixel, const int* at) {
      const int64_t offset = pixel_offset(c, at);
      for (int i = 0; i < row; ++i) {
        const int64_t channel = at[0] + i / element;
        const uint64_t nan = 0x7ff7'7ff7'7ff7'7ff7;
        unsigned char byte = c.fill != 0 ? reinterpret_cast<const unsigned char*>(&nan)[i % element] : 0;
        if (offset >= 0 && channel >= 0 && channel < size)
          byte = tensor[offset + channel * element + i % element];
        expected[place_in_shared(c, pixel, i)] = byte;
      }
    });
    if (c.twice) expected.insert(expected.end(), expected.begin(), expected.begin() + bytes);
    // Between narrow rows a swizzle leaves room, of which nothing is said.
    if (c.pitch() > row)
      for (int pixel = 0; pixel < static_cast<int>(c.pixels) * blocks; ++pixel)
        for (int i = row; i < c.pitch(); ++i)
          got[bytes * (pixel / static_cast<int>(c.pixels)) +
              place_in_shared(c, pixel % static_cast<int>(c.pixels), i)] = 0xcd;
  }
  if (got == expected && pending == 0) return true;
  if (explains) {
    size_t differ = 0;
    for (size_t i = 0; i < got.size(); ++i) differ += got[i] != expected[i] ? 1 : 0;
    std::printf("differs: %zu of %zu bytes%s\n", differ, got.size(), pending != 0 ? ", never complete" : "");
    print(c);
    print_pixels(c, got);
    print_bytes(got, expected);
  }
  return false;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int upto(int last) { return last <= 0 ? 0 : static_cast<int>(engine_() % static_cast<unsigned>(last + 1)); }
  int between(int first, int last) { return first + upto(last - first); }
  bool once_in(int n) { return upto(n - 1) == 0; }

 private:
  std::mt19937 engine_;
};

/// A load that the manuals describe: the filter's corner lies in the box, on the grid of the steps.
Copy described(Random& r, bool plain = false) {
  constexpr int types[] = {0, 1, 2, 2, 2, 3, 4, 6, 7, 8, 9, 11};
  Copy c;
  c.dimensions = r.between(3, 5);
  c.type = plain ? 2 : types[r.upto(11)];
  const int element = bytes_of(c.type), unit = 16 / element;
  c.swizzle = plain ? 0 : r.upto(3);
  c.promotion = r.upto(3);
  c.fill = is_float(c.type) && r.once_in(2) ? 1 : 0;
  const int most_units = c.swizzle == 0 ? (plain ? 1 : r.once_in(6) ? 16 : 4) : 1 << c.swizzle;
  c.channels = static_cast<cuuint32_t>(std::min(256, unit * r.between(1, most_units)));
  c.pixels = static_cast<cuuint32_t>(r.once_in(8) && !plain ? r.between(1, 1024) : r.between(1, 90));
  while (static_cast<int>(c.pixels) * c.pitch() > 100 << 10) c.pixels /= 2;
  // Channels need not be whole units; what follows a pixel is for alignment.
  c.size[0] = static_cast<cuuint64_t>(r.once_in(3) ? unit * r.between(1, 10) : r.between(1, 10 * unit));
  c.strides[0] = (c.size[0] * element + 15) / 16 * 16 + (r.once_in(3) ? 16 : 0);
  for (int d = 1; d < c.dimensions; ++d) {
    c.size[d] = r.between(1, d == c.dimensions - 1 ? 4 : c.dimensions == 3 ? 40 : 11);
    if (d < c.dimensions - 1) c.strides[d] = c.strides[d - 1] * (c.size[d] + (r.once_in(4) ? 1 : 0));
    c.steps[d] = r.once_in(3) && d < c.dimensions - 1 ? r.between(1, r.once_in(4) ? 8 : 3) : 1;
  }
  for (int d = 0; d < c.spatial(); ++d) {
    do {
      c.lower[d] = r.between(-3, 3);
      c.upper[d] = r.between(-3, 3);
    } while (c.last(d) < c.first(d));
    const int step = static_cast<int>(c.steps[d + 1]);
    c.place.at[d + 1] = c.first(d) + step * r.upto((c.last(d) - c.first(d)) / step);
    c.place.offsets[d] = static_cast<unsigned short>(r.once_in(10) ? r.upto(31) : r.upto(4));
  }
  c.place.at[0] = unit * r.between(r.once_in(6) ? -2 : 0, static_cast<int>(c.size[0]) / unit);
  c.place.at[c.dimensions - 1] = r.upto(static_cast<int>(c.size[c.dimensions - 1]) - 1);
  return c;
}

Copy described_store(Random& r, bool adds) {
  Copy c = described(r);
  c.stores = true;
  c.adds = adds;
  if (adds) c.fill = 0;
  if (adds) c.type = bytes_of(c.type) == 8 ? CU_TENSOR_MAP_DATA_TYPE_UINT64 : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const int unit = 16 / bytes_of(c.type);
  c.channels = std::max<cuuint32_t>(unit, c.channels / unit * unit);
  while (c.swizzle != 0 && c.row() > 16 << c.swizzle) c.channels -= unit;
  while (static_cast<int>(c.pixels) * c.pitch() > 100 << 10) c.pixels /= 2;
  c.size[0] = (c.size[0] + unit - 1) / unit * unit;
  c.strides[0] = c.size[0] * bytes_of(c.type);
  c.place.at[0] = unit * r.upto(static_cast<int>(c.size[0]) / unit - 1);
  for (int d = 0; d < c.spatial(); ++d) {
    c.strides[d + 1] = c.strides[d] * c.size[d + 1];
    do {
      c.lower[d] = r.between(0, 2);
      c.upper[d] = r.between(-2, 0);
      c.size[d + 1] = std::max<cuuint64_t>(c.size[d + 1], 1);
    } while (c.last(d) < c.first(d) && ++c.size[d + 1] != 0);
    c.strides[d + 1] = c.strides[d] * c.size[d + 1];
    const int step = static_cast<int>(c.steps[d + 1]);
    c.place.at[d + 1] = c.first(d) + step * r.upto((c.last(d) - c.first(d)) / step);
    c.place.offsets[d] = 0;
  }
  return c;
}

struct Kind {
  const char* name;
  bool is_described;
  Copy (*make)(Random&);
};
const Kind kinds[] = {
    {"load", true, [](Random& r) { return described(r); }},
    {"load-words", true, [](Random& r) { return described(r, true); }},
    {"multicast", true,
     [](Random& r) {
       Copy c = described(r);
       c.twice = true;
       return c;
     }},
    {"store", true, [](Random& r) { return described_store(r, false); }},
    {"add", true, [](Random& r) { return described_store(r, true); }},
    {"before-images", true,
     [](Random& r) {
       Copy c = described(r, true);
       c.place.at[c.dimensions - 1] = r.between(-3, 6);
       return c;
     }},
    // What the manuals leave open, and an H100 does as well.
    {"off-grid", true,
     [](Random& r) {
       Copy c = described(r, true);
       for (int d = 0; d < c.spatial(); ++d) {
         c.steps[d + 1] = r.between(1, 4);
         c.place.at[d + 1] = r.between(c.first(d), c.last(d));
       }
       return c;
     }},
    {"stepped-images", true,
     [](Random& r) {
       Copy c = described(r, true);
       c.steps[c.dimensions - 1] = 2;
       return c;
     }},
    {"stepped-channels", true,
     [](Random& r) {
       Copy c = described(r, true);
       c.steps[0] = 2;
       return c;
     }},
    {"far-offsets", true,
     [](Random& r) {
       Copy c = described(r, true);
       constexpr int limits[] = {65535, 255, 31};
       const int d = r.upto(c.spatial() - 1);
       c.place.offsets[d] = static_cast<unsigned short>(
           r.once_in(2) ? limits[c.dimensions - 3] - r.upto(3) : limits[c.dimensions - 3] + 1 + r.upto(5));
       return c;
     }},
    // The rest may end a kernel.
    {"below-the-box", false,
     [](Random& r) {
       Copy c = described(r, true);
       const int d = r.upto(c.spatial() - 1);
       c.place.at[d + 1] = c.first(d) - r.between(1, 4);
       return c;
     }},
    {"above-the-box", false,
     [](Random& r) {
       Copy c = described(r, true);
       const int d = r.upto(c.spatial() - 1);
       c.place.at[d + 1] = c.last(d) + r.between(1, 4);
       return c;
     }},
    {"odd-coordinate", false,
     [](Random& r) {
       Copy c = described(r, true);
       c.place.at[0] += 1 + r.upto(2);
       return c;
     }},
    {"store-lower", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       c.lower[r.upto(c.spatial() - 1)] = -1;
       return c;
     }},
    {"store-upper", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       c.upper[r.upto(c.spatial() - 1)] = 1;
       return c;
     }},
    {"prefetch-below", false,
     [](Random& r) {
       Copy c = described(r, true);
       while (c.dimensions == 5) c = described(r, true);
       c.place.at[1] = c.first(0) - 1;
       c.only_prefetches = true;
       return c;
     }},
    {"store-images", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       c.place.at[c.dimensions - 1] = static_cast<int>(c.size[c.dimensions - 1]) + r.upto(2);
       return c;
     }},
    {"store-steps", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       c.steps[c.dimensions - 1] = r.between(2, 3);
       return c;
     }},
    {"store-below", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       c.place.at[r.upto(c.dimensions - 1)] = -4;
       return c;
     }},
    {"store-above", false,
     [](Random& r) {
       Copy c = described_store(r, false);
       const int d = r.upto(c.spatial() - 1);
       c.place.at[d + 1] = c.last(d) + r.between(1, 3);
       return c;
     }},
};

/// How many copies differ.
int try_kind(const Kind& kind, int count, unsigned seed, int shown) {
  Memory memory;
  Random r(seed);
  int differ = 0;
  for (int i = 0; i < count; ++i) {
    const Copy c = kind.make(r);
    if (!kind.is_described) {  // said before, should the GPU end it
      std::printf("%s %d:\n", kind.name, i);
      print(c);
      std::fflush(stdout);
    }
    if (!is_as_expected(c, memory, differ < shown)) ++differ;
    std::fflush(stdout);
  }
  std::printf("%s: %d of %d differ\n", kind.name, differ, count);
  CHECK_CUDA(cudaFree(memory.tensor));
  CHECK_CUDA(cudaFree(memory.other));
  CHECK_CUDA(cudaFree(memory.pending));
  return differ;
}

void print_maps() {
  CHECK_CUDA(cudaFree(nullptr));  // makes a context
  Random r(7);
  std::printf(
      "# type dimensions address size[] strides[] lower[] upper[] channels pixels steps[] interleave swizzle "
      "promotion fill : 32 words\n");
  for (int i = 0; i < 64; ++i) {
    Copy c = described(r);
    if (i >= 32) {  // each field at its limits, with more of everything
      constexpr int limits[] = {32767, 127, 15};
      const int limit = limits[c.dimensions - 3];
      c.size[1] = 40000 + r.upto(1000000);
      for (int d = 2; d < c.dimensions; ++d) c.size[d] = 300 + r.upto(100000);
      for (int d = 0; d < c.spatial(); ++d) {
        c.lower[d] = r.once_in(4) ? limit : r.once_in(4) ? -limit - 1 : r.between(-limit - 1, limit);
        c.upper[d] = r.once_in(4) ? limit : r.once_in(4) ? -limit - 1 : r.between(-limit - 1, limit);
        c.steps[d + 1] = r.between(1, 8);
      }
      c.steps[0] = r.between(1, 8);
      c.steps[c.dimensions - 1] = r.between(1, 8);
      c.pixels = r.between(1, 1024);
      for (int d = 0; d < c.spatial(); ++d) c.strides[d + 1] = 16 * (1 + r.upto(1 << 30));
      if (c.swizzle == 0) c.channels = 16 / bytes_of(c.type) * r.between(1, 16);
      if (c.channels > 256) c.channels = 256;
      if (r.once_in(4)) {
        c.interleave = r.between(1, 2);
        c.swizzle = c.interleave == 2 ? 1 : c.swizzle;
        for (auto& stride : c.strides) stride = (stride + 31) / 32 * 32;
      }
    }
    CUtensorMap map;
    std::memset(&map, 0xee, sizeof map);
    void* address = reinterpret_cast<void*>(0x123456789000 + 32 * i);
    const CUresult error = c.encode(&map, address);
    std::printf("%d %d %llx %s %s %s %s %u %u %s %d %d %d %d :", c.type, c.dimensions,
                0x123456789000ull + 32 * i, list(c.size, c.dimensions).c_str(),
                list(c.strides, c.dimensions - 1).c_str(), list(c.lower, c.spatial()).c_str(),
                list(c.upper, c.spatial()).c_str(), c.channels, c.pixels, list(c.steps, c.dimensions).c_str(),
                c.interleave, c.swizzle, c.promotion, c.fill);
    if (error != CUDA_SUCCESS) {
      std::printf(" error %d\n", error);
      continue;
    }
    unsigned words[32];
    std::memcpy(words, &map, sizeof words);
    for (const unsigned word : words) std::printf(" %x", word);
    std::printf("\n");
  }
}

/// One field at a time of a map that is good.
void print_arguments() {
  void* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, 1 << 20));
  const auto say = [&](const char* what, Copy c, void* address = nullptr, bool moves_map = false) {
    alignas(64) unsigned char place[256];
    auto* map = reinterpret_cast<CUtensorMap*>(place + (moves_map ? 32 : 0));
    std::printf("%s: %d\n", what, c.encode(map, address == nullptr ? memory : address));
  };
  Copy good;
  good.dimensions = 4;
  good.size[0] = 64, good.size[1] = 9, good.size[2] = 14, good.size[3] = 3;
  good.strides[0] = 256, good.strides[1] = 9 * 256, good.strides[2] = 14 * 9 * 256;
  good.lower[0] = good.lower[1] = good.upper[0] = good.upper[1] = -1;
  good.channels = 8, good.pixels = 64;
  const auto with = [&](auto change) {
    Copy c = good;
    change(c);
    return c;
  };
  say("good", good);
  say("map moved", good, nullptr, true);
  say("address moved by 8", good, static_cast<char*>(memory) + 8);
  say("address moved by 16", good, static_cast<char*>(memory) + 16);
  for (const int type : {-1, 12, 13, 14, 15, 16})
    say(("type " + std::to_string(type)).c_str(), with([&](Copy& c) { c.type = type; }));
  for (const int d : {0, 1, 2, 6})
    say(("dimensions " + std::to_string(d)).c_str(), with([&](Copy& c) { c.dimensions = d; }));
  say("size 0", with([](Copy& c) { c.size[2] = 0; }));
  say("size 2^32", with([](Copy& c) { c.size[2] = 1ull << 32; }));
  say("size 2^32 + 1", with([](Copy& c) { c.size[2] = (1ull << 32) + 1; }));
  say("size 2^32 of W", with([](Copy& c) { c.size[1] = 1ull << 32; }));
  say("size 2^31 of W", with([](Copy& c) { c.size[1] = 1ull << 31; }));
  say("size 2^31 + 1 of W", with([](Copy& c) { c.size[1] = (1ull << 31) + 1; }));
  say("stride 264", with([](Copy& c) { c.strides[0] = 264; }));
  say("stride 0", with([](Copy& c) { c.strides[0] = 0; }));
  say("stride 2^40", with([](Copy& c) { c.strides[2] = 1ull << 40; }));
  say("stride 2^40 - 16", with([](Copy& c) { c.strides[2] = (1ull << 40) - 16; }));
  for (const int corner : {-129, -128, 127, 128}) {
    say(("lower W " + std::to_string(corner)).c_str(),
        with([&](Copy& c) { c.lower[0] = corner, c.size[1] = 600; }));
    say(("lower H " + std::to_string(corner)).c_str(),
        with([&](Copy& c) { c.lower[1] = corner, c.size[2] = 600; }));
    say(("upper W " + std::to_string(corner)).c_str(),
        with([&](Copy& c) { c.upper[0] = corner, c.size[1] = 600; }));
    say(("upper H " + std::to_string(corner)).c_str(),
        with([&](Copy& c) { c.upper[1] = corner, c.size[2] = 600; }));
  }
  // Of W there are 9 and of H 14: which of the two corners is meant shows where the box becomes empty.
  for (const int corner : {7, 8, 9, 12, 13, 14}) {
    say(("lower[0] " + std::to_string(corner)).c_str(), with([&](Copy& c) { c.lower[0] = corner; }));
    say(("lower[1] " + std::to_string(corner)).c_str(), with([&](Copy& c) { c.lower[1] = corner; }));
  }
  say("box of nothing", with([](Copy& c) { c.lower[0] = 4, c.upper[0] = -5; }));
  for (const int n : {0, 1, 2, 4, 12, 64, 256, 257, 260})
    say(("channels " + std::to_string(n)).c_str(), with([&](Copy& c) { c.channels = n; }));
  for (const int n : {0, 1, 1024, 1025})
    say(("pixels " + std::to_string(n)).c_str(), with([&](Copy& c) { c.pixels = n; }));
  for (const int n : {0, 8, 9})
    for (const int d : {0, 1, 2, 3})
      say(("step " + std::to_string(n) + " of dimension " + std::to_string(d)).c_str(),
          with([&](Copy& c) { c.steps[d] = n; }));
  for (const int n : {-1, 1, 2, 3})
    say(("interleave " + std::to_string(n)).c_str(), with([&](Copy& c) { c.interleave = n; }));
  for (const int n : {-1, 1, 2, 3, 4, 5, 6, 7})
    for (const int channels : {8, 16, 32, 36})
      say(("swizzle " + std::to_string(n) + " channels " + std::to_string(channels)).c_str(),
          with([&](Copy& c) { c.swizzle = n, c.channels = channels; }));
  for (const int n : {-1, 3, 4})
    say(("promotion " + std::to_string(n)).c_str(), with([&](Copy& c) { c.promotion = n; }));
  for (const int n : {-1, 1, 2})
    say(("fill " + std::to_string(n)).c_str(), with([&](Copy& c) { c.fill = n; }));
  say("fill 1 of floats", with([](Copy& c) { c.fill = 1, c.type = 7; }));
  CHECK_CUDA(cudaFree(memory));
}

}  // namespace

int main(int count, char** words) {
  const auto word = [&](int i) { return std::string(i < count ? words[i] : ""); };
  const auto number = [&](int i, int otherwise) { return i < count ? std::atoi(words[i]) : otherwise; };
  if (word(1) == "maps") return print_maps(), 0;
  if (word(1) == "arguments") return print_arguments(), 0;
  if (word(1) == "one") {
    for (const Kind& kind : kinds)
      if (word(2) == kind.name) return try_kind(kind, number(3, 1), number(4, 1), 100) == 0 ? 0 : 1;
    return 2;
  }
  if (word(1) == "odd") {
    for (const Kind& kind : kinds) {
      if (kind.is_described) continue;
      // Those that may be refused by the GPU have a process each.
      const std::string name = kind.name;
      const bool alone = name.find("store") == 0 || name.find("prefetch") == 0 ||
                         name.find("-the-box") != name.npos || name == "odd-coordinate";
      for (int i = 0; i < (alone ? 8 : 1); ++i) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
          const std::string number_text = alone ? "1" : std::to_string(number(2, 12)),
                            seed = std::to_string(number(3, 1) + i);
          execl("/proc/self/exe", words[0], "one", kind.name, number_text.c_str(), seed.c_str(), nullptr);
          _exit(2);
        }
        int status = 0;
        waitpid(child, &status, 0);
      }
    }
    return 0;
  }
  int differ = 0;
  for (const Kind& kind : kinds)
    if (kind.is_described) differ += try_kind(kind, number(1, 200), number(2, 1), 10);
  if (differ == 0) std::printf("im2col ok\n");
  return differ == 0 ? 0 : 1;
}
