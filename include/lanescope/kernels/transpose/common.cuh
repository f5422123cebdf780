// What the kernels of transpose.cuh share: the words they move, a shape without defaults, and the order of
// the blocks.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

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

/// The tiles of a matrix, and how blocks go through them: down `in_turn` strips of tiles at a time, one tile
/// of each strip after the other; the strips lie `across / in_turn` apart. 1: down first, so that neighbours
/// in time write neighbouring pieces of the output's rows; `across`: across first. `across` is a multiple of
/// it.
struct Order {
  unsigned down, across, in_turn;
};

/// Where the tile of a block begins.
struct Place {
  int64_t row, column, matrix;
};
template <int tile_rows, int tile_columns>
__device__ __forceinline__ Place place_of(const Order& order) {
  unsigned tile = blockIdx.x, matrix = 0, first = 0;
  if (const unsigned tiles = order.down * order.across; tile >= tiles) matrix = tile / tiles, tile %= tiles;
  // Small batches would notice divisions by 1.
  if (order.in_turn != 1) {
    first = tile % order.in_turn * (order.across / order.in_turn);
    tile /= order.in_turn;
  }
  const unsigned strip = first + tile / order.down;
  return {int64_t{tile % order.down} * tile_rows, int64_t{strip} * tile_columns, matrix};
}

}  // namespace lanescope::kernels::transposing
