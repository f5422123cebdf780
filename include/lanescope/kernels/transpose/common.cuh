// What the kernels of transpose.cuh share: the words they move, a shape without defaults, and where the tile
// of a block lies.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/tile.cuh"

namespace lanescope::kernels::transposing {

/// What the kernels move in place of an element of so many bytes.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <int bytes>
using Word = typename WordOf<bytes>::Type;

/// A shape without defaults, and where the matrices lie.
template <int bytes>
struct Job {
  Word<bytes>* out;
  const Word<bytes>* in;
  int64_t rows, columns, in_leading, out_leading, in_stride, out_stride;
};

/// The bitwise or of where the rows of a batch begin in the input, and in the output.
template <int bytes>
uintptr_t in_begins(const Job<bytes>& job, int64_t batch) {
  return reinterpret_cast<uintptr_t>(job.in) |
         static_cast<uintptr_t>((job.in_leading | (batch == 1 ? 0 : job.in_stride)) * bytes);
}
template <int bytes>
uintptr_t out_begins(const Job<bytes>& job, int64_t batch) {
  return reinterpret_cast<uintptr_t>(job.out) |
         static_cast<uintptr_t>((job.out_leading | (batch == 1 ? 0 : job.out_stride)) * bytes);
}

/// The current device, and the bytes of shared memory of its multiprocessors; nothing: it does not say.
struct Device {
  int number, shared;
};
inline std::optional<Device> current_device() {
  Device device{};
  if (cudaGetDevice(&device.number) == cudaSuccess &&
      cudaDeviceGetAttribute(&device.shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device.number) ==
          cudaSuccess)
    return device;
  cudaGetLastError();  // nothing has failed that a caller should hear of
  return {};
}

/// Where the tile of a block begins.
struct Place {
  int64_t row, column, matrix;
};
/// Which tile it is.
struct TileOf {
  unsigned row, column, matrix;
  [[nodiscard]] __device__ Place place(int tile_rows, int tile_columns) const {
    return {int64_t{row} * tile_rows, int64_t{column} * tile_columns, matrix};
  }
};
__device__ __forceinline__ unsigned quotient(unsigned number, const Divisor& by) {
  return __umulhi(2 * number, by.factor) >> by.shift;
}
/// The row of tiles that comes as the `index`-th of a strip.
__device__ __forceinline__ unsigned row_of(const Order& order, unsigned index) {
  if (index >= order.part << order.parts) return index;
  return (index & ((1U << order.parts) - 1)) * order.part + (index >> order.parts);
}
__device__ __forceinline__ TileOf tile_of(const Order& order) {
  const unsigned matrix = quotient(blockIdx.x, order.tiles);
  const unsigned tile = blockIdx.x - matrix * order.tiles.value;
  const unsigned turn = quotient(tile, order.in_turn);
  const unsigned strip = quotient(turn, order.down);
  const unsigned first = (tile - turn * order.in_turn.value) * order.apart;
  return {row_of(order, turn - strip * order.down.value), first + strip, matrix};
}
__device__ __forceinline__ Place place_of(const Order& order, int tile_rows, int tile_columns) {
  return tile_of(order).place(tile_rows, tile_columns);
}

}  // namespace lanescope::kernels::transposing
