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

/// Blocks go down the rows of the input first: neighbours in time write neighbouring pieces of the output's
/// rows.
struct Place {
  int64_t row, column, matrix;
};
template <int tile_rows, int tile_columns>
__device__ __forceinline__ Place place_of(unsigned block, unsigned down, unsigned across) {
  const unsigned strip = block / down;
  return {int64_t{block % down} * tile_rows, int64_t{strip % across} * tile_columns, strip / across};
}

}  // namespace lanescope::kernels::transposing
