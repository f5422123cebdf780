// Transposes of batches of small matrices without gaps: a block takes many of them as one piece of memory.
#pragma once

#include "lanescope/kernels/transpose/common.cuh"

namespace lanescope::kernels::transposing {

/// Division of numbers below 2^16 by one of them.
struct Divisor {
  unsigned value = 1, factor = 0;
  Divisor() = default;
  explicit constexpr Divisor(unsigned d) : value(d), factor(d == 1 ? 0 : 0xffffffffU / d + 1) {}
  [[nodiscard]] LANESCOPE_HD constexpr unsigned quotient(unsigned n) const {
    return value == 1 ? n : static_cast<unsigned>((uint64_t{n} * factor) >> 32);
  }
};

/// Where the elements of small matrices lie in shared memory: in their order, with `padding` elements left
/// free after each `every`.
struct Spread {
  unsigned every = 1, padding = 0;
  [[nodiscard]] LANESCOPE_HD constexpr unsigned place(unsigned e, const Divisor& by_every) const {
    return padding == 0 ? e : e + by_every.quotient(e) * padding;
  }
};

/// How to spread rows of `columns` elements so that neither rows nor columns conflict: odd rows need nothing,
/// even ones an element more; powers of two are padded where a phase ends, so that rows stay whole.
constexpr Spread spread_of(int bytes, unsigned columns) {
  const unsigned phase = 128 / static_cast<unsigned>(bytes);  // elements that are served together
  if (columns % 2 == 1) return {columns, 0};
  if (bytes >= 4 && columns < phase && (columns & (columns - 1)) == 0) return {phase, phase / columns};
  return {columns, 1};
}

/// Blocks of so many threads, the bytes they take together, about, and those of a matrix at most.
inline constexpr int small_threads = 256;
inline constexpr unsigned small_bytes = 16384, small_matrix_bytes = 24576;

/// Matrices without gaps, one behind the other: `matrices` of them to a block. `pack` elements are read and
/// written together, which must keep them aligned; their rows are padded as they are, spread.every ==
/// columns.
template <int bytes, int pack>
__global__ void __launch_bounds__(small_threads)
    transpose_small(Job<bytes> job, int64_t batch, unsigned matrices, Spread spread, Divisor by_rows,
                    Divisor by_columns, Divisor by_every) {
  using T = Word<bytes>;
  using Pack = Word<bytes * pack>;
  extern __shared__ uint4 raw[];
  T* const tile = reinterpret_cast<T*>(raw);
  const unsigned rows = by_rows.value, columns = by_columns.value, size = rows * columns;
  const int64_t first = int64_t{blockIdx.x} * matrices;
  const unsigned count = static_cast<unsigned>(min(batch - first, int64_t{matrices})) * size,
                 packs = count / pack;
  const T* const in = job.in + first * size;
  T* const out = job.out + first * size;

  constexpr unsigned ahead = 8;  // loads of a thread in flight
  for (unsigned begin = threadIdx.x; begin < packs; begin += ahead * small_threads) {
    Pack x[ahead];
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n)
      if (begin + n * small_threads < packs)
        x[n] = __ldcs(reinterpret_cast<const Pack*>(in) + begin + n * small_threads);
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      if (begin + n * small_threads >= packs) continue;
      const unsigned e = (begin + n * small_threads) * pack;
      if constexpr (pack == 1) {
        tile[spread.place(e, by_every)] = x[n];
      } else {
        unsigned gap = by_every.quotient(e), rest = e - gap * spread.every;
#pragma unroll
        for (unsigned k = 0; k < pack; ++k) {
          tile[e + k + gap * spread.padding] = static_cast<T>(x[n] >> (k * bytes * 8));
          if (++rest == spread.every) rest = 0, ++gap;
        }
      }
    }
  }
  for (unsigned e = packs * pack + threadIdx.x; e < count; e += small_threads)
    tile[spread.place(e, by_every)] = in[e];
  __syncthreads();

  // Element e of the output: which one of the input, in shared memory.
  const auto source = [&](unsigned e) {
    const unsigned column = by_rows.quotient(e),
                   row = e - column * rows;  // `column` counts on over the matrices
    const unsigned matrix = by_columns.quotient(column);
    return spread.place(matrix * size + row * columns + (column - matrix * columns), by_every);
  };
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < packs; i += small_threads) {
    if constexpr (pack == 1) {
      __stcs(out + i, tile[source(i)]);
    } else {
      unsigned column = by_rows.quotient(i * pack), row = i * pack - column * rows;
      const unsigned matrix = by_columns.quotient(column), pitch = columns + spread.padding;
      unsigned at = (matrix * rows + row) * pitch + (column - matrix * columns);
      column -= matrix * columns;
      Pack packed = 0;
#pragma unroll
      for (unsigned k = 0; k < pack; ++k) {
        packed = static_cast<Pack>(packed | static_cast<Pack>(Pack{tile[at]} << (k * bytes * 8)));
        at += pitch;
        if (++row == rows) {
          row = 0;
          at -= rows * pitch - 1;
          if (++column == columns) column = 0, at += rows * pitch - columns;
        }
      }
      __stcs(reinterpret_cast<Pack*>(out) + i, packed);
    }
  }
  for (unsigned e = packs * pack + threadIdx.x; e < count; e += small_threads) out[e] = tile[source(e)];
}

/// The same for elements of 1 and 2 bytes where rows and columns are whole words of 4 bytes: blocks of 4 x 4
/// or 2 x 2 elements are transposed in registers. `pitch`: words from one row of the output to the next in
/// shared memory.
template <int bytes>
__global__ void __launch_bounds__(small_threads)
    transpose_small_words(Job<bytes> job, int64_t batch, unsigned matrices, unsigned pitch, Divisor by_across,
                          Divisor by_down) {
  constexpr unsigned side = 4 / bytes;
  extern __shared__ uint4 raw[];
  uint32_t* const tile = reinterpret_cast<uint32_t*>(raw);
  // Blocks in a matrix' row, and in its column, which are the words of an output's row.
  const unsigned across = by_across.value, down = by_down.value, size = across * down;
  const int64_t first = int64_t{blockIdx.x} * matrices;
  const unsigned blocks = static_cast<unsigned>(min(batch - first, int64_t{matrices})) * size;
  const auto* const in = reinterpret_cast<const uint32_t*>(job.in) + first * size * side;
  auto* const out = reinterpret_cast<uint32_t*>(job.out) + first * size * side;

  constexpr unsigned ahead = 8 / side;  // blocks of a thread in flight
  for (unsigned begin = threadIdx.x; begin < blocks; begin += ahead * small_threads) {
    uint32_t x[ahead][side];
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned block = begin + n * small_threads;
      // `strip` counts the rows of blocks on over the matrices, as rows of the input follow each other.
      const unsigned strip = by_across.quotient(block), column = block - strip * across;
#pragma unroll
      for (unsigned i = 0; i < side; ++i)
        x[n][i] = block < blocks ? __ldg(in + (strip * side + i) * across + column) : 0;
    }
#pragma unroll
    for (unsigned n = 0; n < ahead; ++n) {
      const unsigned block = begin + n * small_threads;
      if (block >= blocks) continue;
      const unsigned strip = by_across.quotient(block), column = block - strip * across;
      const unsigned matrix = by_down.quotient(strip), row = strip - matrix * down;
      uint32_t y[side];
      if constexpr (bytes == 2) {
        y[0] = __byte_perm(x[n][0], x[n][1], 0x5410);
        y[1] = __byte_perm(x[n][0], x[n][1], 0x7632);
      } else {
        const uint32_t low = __byte_perm(x[n][0], x[n][1], 0x5140),
                       high = __byte_perm(x[n][0], x[n][1], 0x7362);
        const uint32_t low2 = __byte_perm(x[n][2], x[n][3], 0x5140),
                       high2 = __byte_perm(x[n][2], x[n][3], 0x7362);
        y[0] = __byte_perm(low, low2, 0x5410), y[1] = __byte_perm(low, low2, 0x7632);
        y[2] = __byte_perm(high, high2, 0x5410), y[3] = __byte_perm(high, high2, 0x7632);
      }
#pragma unroll
      for (unsigned i = 0; i < side; ++i) tile[((matrix * across + column) * side + i) * pitch + row] = y[i];
    }
  }
  __syncthreads();
#pragma unroll 4
  for (unsigned word = threadIdx.x; word < blocks * side; word += small_threads) {
    const unsigned column = by_down.quotient(word);  // counts on over the matrices
    __stcs(out + word, tile[column * pitch + (word - column * down)]);
  }
}

}  // namespace lanescope::kernels::transposing
