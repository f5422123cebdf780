// Handlers of the matrix products (mma, wmma.mma, wgmma.mma_async) and of movmatrix. Where the elements lie
// in the registers of a warp: exec/matrix.hpp; what is done to them: semantics_tensor.hpp. PTX ISA 9.0,
// chapters 9.7.14 and 9.7.15.
#include "exec/handlers/matrix.hpp"

#include <bit>

#include "base/per_thread.hpp"
#include "exec/checks.hpp"
#include "exec/handlers/semantics_tensor.hpp"
#include "exec/matrix_descriptor.hpp"
#include "exec/state.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

/// What one product works on; too large for the stack of a handler that the host calls deeply, so one for
/// each host thread.
struct Bench : ProductMatrices {
  alignas(64) double a_value[most_rows * most_k], a_power[most_rows * most_k];
  alignas(64) double b_value[most_k * most_columns], b_power[most_k * most_columns];
  alignas(64) double line_value[most_k], line_power[most_k];
  alignas(64) int32_t a_integer[most_rows * most_k], b_integer[most_k * most_columns];
  uint16_t order[most_k];          ///< places along K of `first` in the order in which they are summed
  uint16_t at[most_rows][most_k];  ///< the place along K of `second` that each belongs to
};
Bench& bench() { return per_thread<Bench>(); }

constexpr uint32_t columns_of(const ProductForm& f) { return uint32_t{f.column_tiles} * 8; }
/// Elements along K in `second`, and in `first`.
constexpr uint32_t k_of(const ProductForm& f) { return f.parts * 128u / element_bits(f.second); }
constexpr uint32_t first_k_of(const ProductForm& f) { return k_of(f) / (f.sparse != 0 ? 2 : 1); }

// ---- Between registers and matrices.

template <class Word>
void gather_first(Warp& w, const ProductForm& f, const uint32_t* list, Word* first) {
  const uint32_t parts = f.sparse != 0 ? f.parts / 2u : f.parts, halves = halves_of(f.rows);
  for (uint32_t tile = 0; tile < row_tiles_of(f.rows); ++tile)
    for (uint32_t part = 0; part < parts; ++part)
      for (uint32_t half = 0; half < halves; ++half) {
        const Word* r = reg<Word>(w, *list++);
        Word* to = first + (tile * 16 + half * 8) * parts * 4 + part * 4;
        for (uint32_t i = 0; i < warp_lanes; ++i) to[i / 4 * parts * 4 + i % 4] = r[i];
      }
}
template <class Word>
void gather_second(Warp& w, const ProductForm& f, const uint32_t* list, Word* second) {
  for (uint32_t tile = 0; tile < f.column_tiles; ++tile)
    for (uint32_t part = 0; part < f.parts; ++part) {
      const Word* r = reg<Word>(w, *list++);
      Word* to = second + tile * 8 * f.parts * 4 + part * 4;
      for (uint32_t i = 0; i < warp_lanes; ++i) to[i / 4 * f.parts * 4 + i % 4] = r[i];
    }
}

/// Calls visit(row, column, register) for the register that holds columns `column` (and the next, of f16) of
/// rows row … row + 7, one lane's g each.
template <class F>
void each_accumulator(const ProductForm& f, const F& visit) {
  for (uint32_t tile = 0; tile < row_tiles_of(f.rows); ++tile)
    for (uint32_t column = 0; column < columns_of(f); column += 8)
      for (uint32_t half = 0; half < halves_of(f.rows); ++half) visit(tile * 16 + half * 8, column);
}
template <class Word>
void gather_accumulators(Warp& w, const ProductForm& f, const uint32_t* list, Word* c) {
  const uint32_t pitch = columns_of(f);
  each_accumulator(f, [&](uint32_t row, uint32_t column) {
    for (uint32_t pair = 0; pair < 2; ++pair) {
      const Word* r = reg<Word>(w, *list++);
      for (uint32_t i = 0; i < warp_lanes; ++i) c[(row + i / 4) * pitch + column + i % 4 * 2 + pair] = r[i];
    }
  });
}
template <class Word>
void scatter_accumulators(Warp& w, const ProductForm& f, const uint32_t* list, const Word* d) {
  const uint32_t pitch = columns_of(f);
  each_accumulator(f, [&](uint32_t row, uint32_t column) {
    for (uint32_t pair = 0; pair < 2; ++pair)
      for_lanes(w.mask, reg<Word>(w, *list++),
                [&](uint32_t i) { return d[(row + i / 4) * pitch + column + i % 4 * 2 + pair]; });
  });
}
/// f16 accumulators: one 32-bit word holds two; unpacked words hold one.
void gather_halves(Warp& w, const ProductForm& f, const uint32_t* list, uint32_t* c) {
  const uint32_t pitch = columns_of(f);
  each_accumulator(f, [&](uint32_t row, uint32_t column) {
    const uint32_t* r = reg<uint32_t>(w, *list++);
    for (uint32_t i = 0; i < warp_lanes; ++i) {
      uint32_t* to = c + (row + i / 4) * pitch + column + i % 4 * 2;
      to[0] = r[i] & 0xffff;
      to[1] = r[i] >> 16;
    }
  });
}
void scatter_halves(Warp& w, const ProductForm& f, const uint32_t* list, const uint32_t* d) {
  const uint32_t pitch = columns_of(f);
  each_accumulator(f, [&](uint32_t row, uint32_t column) {
    for_lanes(w.mask, reg<uint32_t>(w, *list++), [&](uint32_t i) {
      const uint32_t* from = d + (row + i / 4) * pitch + column + i % 4 * 2;
      return from[0] | from[1] << 16;
    });
  });
}

// ---- Sparse products: of each four elements of `first` (of two tf32, of four pairs of 4-bit integers) two
// are stored, and four bits of metadata say which.

/// The four bits of a row's group.
uint32_t metadata_of(const Bench& b, const ProductForm& f, uint32_t row, uint32_t group, uint32_t groups) {
  if (f.metadata_by_row != 0) return b.row_metadata[row][group / 8] >> (4 * (group % 8)) & 15;
  const uint32_t g = row % 8, half = row / 8;
  // Of 16 bits and more, a lane's word holds four groups of row g and then four of row g + 8; below, eight of
  // row g in one lane, and of row g + 8 in the next. Lanes of a quad follow each other along K.
  if (element_bits(f.first) >= 16) {
    const uint32_t lane = 4 * g + (groups == 4 ? f.selector : 2u * f.selector + group / 4);
    return b.metadata[lane] >> (16 * half + 4 * (group % 4)) & 15;
  }
  const uint32_t lane = 4 * g + (groups == 8 ? 2u * f.selector : 2 * (group / 8)) + half;
  return b.metadata[lane] >> (4 * (group % 8)) & 15;
}

/// Fills Bench::order and Bench::at. `halved`: elements of which 4 make a word go as 2 and 2, the lower ones
/// of all words first.
void place_elements(Bench& b, const ProductForm& f, bool halved) {
  const uint32_t k = first_k_of(f);
  uint32_t next = 0;
  for (uint32_t upper = 0; upper < (halved ? 2u : 1u); ++upper)
    for (uint32_t i = 0; i < k; ++i)
      if (!halved || i % 4 / 2 == upper) b.order[next++] = static_cast<uint16_t>(i);
  if (f.sparse == 0) {
    for (uint32_t i = 0; i < k; ++i) b.at[0][i] = static_cast<uint16_t>(i);
    return;
  }
  const uint32_t bits = element_bits(f.first);
  const uint32_t stored = bits == 32 ? 1 : bits == 4 ? 4 : 2, groups = k / stored;
  for (uint32_t row = 0; row < f.rows; ++row)
    for (uint32_t i = 0; i < k; ++i) {
      const uint32_t group = i / stored, code = metadata_of(b, f, row, group, groups);
      uint32_t place;
      if (stored == 1)
        place = 2 * group + (code == 14 ? 1 : 0);
      else if (stored == 2)
        place = 4 * group + (code >> (i % 2 * 2) & 3);
      else
        place = 8 * group + 2 * (code >> (i % 4 / 2 * 2) & 3) + i % 2;
      b.at[row][i] = static_cast<uint16_t>(place);
    }
}

// ---- Floating point.

bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }

/// Multiplies the `k` elements of a row by the scale factors of its blocks.
void scale(const double* factors, uint32_t blocks, uint32_t k, Values row) {
  for (uint32_t i = 0; i < k; ++i) {
    const double factor = factors[i * blocks / k];
    row.value[i] *= factor;
    row.power[i] = row.value[i] == 0 || row.value[i] != row.value[i] ? 0 : row.power[i] * power_of(factor, 0);
  }
}

/// Reads `first` and `second`; the latter by K, so that the columns lie side by side.
void read_operands(Bench& b, const ProductForm& f) {
  const uint32_t k = k_of(f), first_k = first_k_of(f), columns = columns_of(f);
  const bool unpacked = f.unit == ProductUnit::mma;
  read_elements(f.first, b.first, f.rows * first_k, unpacked, {b.a_value, b.a_power});
  if (f.first_negated != f.second_negated)
    for (uint32_t i = 0; i < f.rows * first_k; ++i) b.a_value[i] = -b.a_value[i];
  for (uint32_t s = 0; s < columns; ++s) {
    read_elements(f.second, b.second + size_t{s} * f.parts * 4, k, unpacked, {b.line_value, b.line_power});
    if (f.scale_blocks != 0) scale(b.second_scale[s], f.scale_blocks, k, {b.line_value, b.line_power});
    for (uint32_t i = 0; i < k; ++i) {
      b.b_value[i * columns + s] = b.line_value[i];
      b.b_power[i * columns + s] = b.line_power[i];
    }
  }
  for (uint32_t row = 0; row < f.rows && f.scale_blocks != 0; ++row)
    scale(b.first_scale[row], f.scale_blocks, first_k,
          {b.a_value + size_t{row} * first_k, b.a_power + size_t{row} * first_k});
}

void read_accumulator(Element e, const uint32_t* words, uint32_t count, Values out) {
  const bool half = e == Element::f16;
  for (uint32_t i = 0; i < count; ++i) {
    const float x = half ? float_from(static_cast<uint16_t>(words[i])) : from_bits(words[i]);
    out.value[i] = static_cast<double>(x);
    out.power[i] = power_of(out.value[i], half ? 0x1p-14 : 0x1p-126);
  }
}
/// Accumulators of one type where wmma has two: f32, into which ptxas converts f16, and from it.
void convert_accumulators(uint32_t* words, uint32_t count, bool to_half) {
  for (uint32_t i = 0; i < count; ++i)
    words[i] = to_half ? rounded_from<Half, Rounding::nearest>(from_bits(words[i]))
                       : bits(float_from(static_cast<uint16_t>(words[i])));
}
uint32_t rounded(Element e, double x, uint32_t cut_mask) {
  return e == Element::f16 ? sum_to_f16(x) : bits(sum_to_f32(x, cut_mask));
}

/// Bench::result = first x second + accumulators (in Bench::result, too), all of Bench.
void multiply_floats(Bench& b, const ProductForm& f) {
  const uint32_t first_k = first_k_of(f), columns = columns_of(f);
  // mma.sync of fp8 is no instruction of an H100: ptxas unpacks to f16, the lower two of each word first,
  // sums from zero, and adds the accumulator at the end.
  const bool unpacked = is_fp8(f.first) && f.unit == ProductUnit::mma;
  const uint32_t steps = unpacked || f.half_steps != 0 ? 2 : 1, step = first_k / steps;
  // fp8 of wgmma has an accumulator of 13 bits.
  const bool narrow = is_fp8(f.first) && f.unit == ProductUnit::wgmma;
  const Fusion fusion{narrow ? 13 : 25, narrow ? 0x3ffu : 0u};
  read_operands(b, f);
  place_elements(b, f, unpacked);
  const uint32_t all = f.rows * columns;
  if (f.c == Element::f16 && f.d != f.c) convert_accumulators(b.result, all, false);
  const bool half = f.d == Element::f16 && f.c == f.d;
  const Element accumulator = half ? Element::f16 : Element::f32;
  for (uint32_t row = 0; row < f.rows; ++row) {
    const uint16_t* at = b.at[f.sparse != 0 ? row : 0];
    const double* a = b.a_value + row * first_k;
    const double* a_power = b.a_power + row * first_k;
    for (uint32_t column = 0; column < columns; column += column_step) {
      uint32_t* c = b.result + row * columns + column;
      alignas(64) uint32_t word[column_step];
      alignas(64) double value[column_step], power[column_step], sum[column_step];
      for (uint32_t s = 0; s < column_step; ++s) word[s] = unpacked ? 0 : c[s];
      for (uint32_t n = 0; n < steps; ++n) {
        read_accumulator(accumulator, word, column_step, {value, power});
        fused_step(a, a_power, b.order + n * step, at, step, {b.b_value + column, b.b_power + column},
                   columns, value, power, fusion.kept_bits, sum);
        for (uint32_t s = 0; s < column_step; ++s) word[s] = rounded(accumulator, sum[s], fusion.cut_mask);
      }
      for (uint32_t s = 0; s < column_step; ++s)
        if (!unpacked)
          c[s] = word[s];
        else if (half)
          c[s] = rounded_from<Half, Rounding::nearest>(float_from(static_cast<uint16_t>(word[s])) +
                                                       float_from(static_cast<uint16_t>(c[s])));
        else
          c[s] = bits(canonical(from_bits(word[s]) + from_bits(c[s])));
    }
  }
  if (f.d == Element::f16 && !half) convert_accumulators(b.result, all, true);
}

// ---- Integers.

void read_integers(Element e, const uint32_t* words, uint32_t count, int32_t* out) {
  switch (e) {
    case Element::s8:
      for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<int8_t>(words[i / 4] >> (8 * (i % 4)));
      break;
    case Element::u8:
      for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
      break;
    case Element::s4:
      for (uint32_t i = 0; i < count; ++i)
        out[i] = static_cast<int32_t>(words[i / 8] << (28 - 4 * (i % 8))) >> 28;
      break;
    default:
      for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<int32_t>(words[i / 8] >> (4 * (i % 8)) & 15);
  }
}

uint32_t add_integers(uint32_t c, int32_t sum, bool saturate) {
  if (!saturate) return c + static_cast<uint32_t>(sum);
  const int64_t exact = int64_t{static_cast<int32_t>(c)} + sum;
  return static_cast<uint32_t>(static_cast<int32_t>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)));
}

void multiply_integers(Bench& b, const ProductForm& f) {
  const uint32_t k = k_of(f), first_k = first_k_of(f), columns = columns_of(f);
  read_integers(f.first, b.first, f.rows * first_k, b.a_integer);
  alignas(64) int32_t line[most_k];
  for (uint32_t s = 0; s < columns; ++s) {
    read_integers(f.second, b.second + size_t{s} * f.parts * 4, k, line);
    for (uint32_t i = 0; i < k; ++i) b.b_integer[i * columns + s] = line[i];
  }
  place_elements(b, f, false);
  for (uint32_t row = 0; row < f.rows; ++row) {
    const uint16_t* at = b.at[f.sparse != 0 ? row : 0];
    const int32_t* a = b.a_integer + row * first_k;
    for (uint32_t column = 0; column < columns; column += column_step) {
      int32_t sum[column_step] = {};
      for (uint32_t i = 0; i < first_k; ++i) {
        const int32_t* y = b.b_integer + at[i] * columns + column;
        for (uint32_t s = 0; s < column_step; ++s) sum[s] += a[i] * y[s];
      }
      uint32_t* c = b.result + row * columns + column;
      for (uint32_t s = 0; s < column_step; ++s) c[s] = add_integers(c[s], sum[s], f.saturate != 0);
    }
  }
}

void multiply_bits(Bench& b, const ProductForm& f) {
  const uint32_t columns = columns_of(f), words = f.parts * 4u;
  for (uint32_t row = 0; row < f.rows; ++row)
    for (uint32_t s = 0; s < columns; ++s) {
      uint32_t count = 0;
      for (uint32_t i = 0; i < words; ++i) {
        const uint32_t x = b.first[row * words + i], y = b.second[s * words + i];
        count += static_cast<uint32_t>(std::popcount(f.exclusive != 0 ? x ^ y : x & y));
      }
      b.result[row * columns + s] += count;
    }
}

void multiply(Bench& b, const ProductForm& f) {
  switch (f.first) {
    case Element::s8:
    case Element::u8:
    case Element::s4:
    case Element::u4: multiply_integers(b, f); break;
    case Element::b1: multiply_bits(b, f); break;
    default: multiply_floats(b, f);
  }
}

// ---- The handlers.

void gather_result(Warp& w, const ProductForm& f, const uint32_t* list, Bench& b) {
  if (f.c == Element::f16)
    gather_halves(w, f, list, b.result);
  else
    gather_accumulators(w, f, list, b.result);
}
void scatter_result(Warp& w, const ProductForm& f, const uint32_t* list, const Bench& b) {
  if (f.d == Element::f16)
    scatter_halves(w, f, list, b.result);
  else
    scatter_accumulators(w, f, list, b.result);
}

const Inst* product(Warp& w, const Inst* in) {
  const auto f = std::bit_cast<ProductForm>(in->imm);
  Bench& b = bench();
  const uint32_t* d = w.side + in->b;
  const uint32_t* first = d + accumulator_registers(f, f.d);
  const uint32_t* second = first + first_registers(f);
  const uint32_t* c = second + second_registers(f);
  gather_first(w, f, first, b.first);
  gather_second(w, f, second, b.second);
  gather_result(w, f, c, b);
  if (f.sparse != 0)
    std::memcpy(b.metadata, reg<uint32_t>(w, c[accumulator_registers(f, f.c)]), sizeof b.metadata);
  multiply(b, f);
  scatter_result(w, f, d, b);
  return in + 1;
}

/// What the lanes hold of numbers of less than 8 bits → a byte each: of 4 bits two in a byte, or (`shifted`)
/// one in bits 2 to 5. `count` words become twice as many, or as many.
void spread_numbers(uint32_t* words, uint32_t count, bool halved, bool shifted) {
  for (uint32_t i = count; halved && i-- > 0;) {
    const uint32_t word = words[i];
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t four = word >> (16 * half) & 0xffffu;
      words[2 * i + half] =
          (four & 0xfu) | (four & 0xf0u) << 4 | (four & 0xf00u) << 8 | (four & 0xf000u) << 12;
    }
  }
  for (uint32_t i = 0; i < count && shifted; ++i) words[i] = words[i] >> 2 & 0x0f0f0f0fu;
}

/// mma with .kind. After the registers of D, A, B and C: whether scale factors are powers of two; then of A
/// and of B the register with them, the byte that counts, and who has it. Of each four lanes two have those
/// of rows g and g + 8 of A, one those of column g of B.
const Inst* product_small(Warp& w, const Inst* in) {
  const auto f = std::bit_cast<ProductForm>(in->imm);
  ProductForm held = f;
  const bool halved = f.first == Element::e2m1 && f.parts == 4;  // 64 numbers in 32 bytes
  if (halved) held.parts = 2;
  Bench& b = bench();
  const uint32_t* d = w.side + in->b;
  const uint32_t* first = d + accumulator_registers(f, f.d);
  const uint32_t* second = first + first_registers(held);
  const uint32_t* c = second + second_registers(held);
  const uint32_t* scales = c + accumulator_registers(f, f.c);
  gather_first(w, held, first, b.first);
  gather_second(w, held, second, b.second);
  gather_result(w, f, c, b);
  spread_numbers(b.first, f.rows * held.parts * 4u, halved, !halved && f.first == Element::e2m1);
  spread_numbers(b.second, columns_of(f) * held.parts * 4u, halved, !halved && f.second == Element::e2m1);
  const auto read_scales = [&](const uint32_t* list, uint32_t lines, double(*to)[most_scale_blocks]) {
    for (uint32_t i = 0; i < lines; ++i) {
      const uint32_t quad = i % 8 * 4, thread = reg<uint16_t>(w, list[2])[quad],
                     byte = reg<uint16_t>(w, list[1])[quad],
                     lane = quad + (lines == 16 ? thread % 2 * 2 + i / 8 : thread % 4);
      for (uint32_t block = 0; block < f.scale_blocks; ++block)
        to[i][block] = scale_factor(reg<uint32_t>(w, list[0])[lane] >> (8 * ((byte + block) % 4)) & 0xff,
                                    scales[0] != 0);
    }
  };
  if (f.scale_blocks != 0) {
    read_scales(scales + 1, f.rows, b.first_scale);
    read_scales(scales + 4, columns_of(f), b.second_scale);
  }
  multiply(b, f);
  scatter_result(w, f, d, b);
  return in + 1;
}

/// f64: multiplications and additions one after the other along K, each rounded once.
const Inst* product_f64(Warp& w, const Inst* in) {
  const auto f = std::bit_cast<ProductForm>(in->imm);
  constexpr uint32_t k_most = 16;
  alignas(64) double first[16 * k_most], second[8 * k_most], c[16 * 8];
  const uint32_t k = f.parts * 4u;
  const uint32_t* d = w.side + in->b;
  const uint32_t* a_list = d + accumulator_registers(f, f.d);
  const uint32_t* b_list = a_list + first_registers(f);
  gather_first(w, f, a_list, first);
  gather_second(w, f, b_list, second);
  gather_accumulators(w, f, b_list + second_registers(f), c);
  for (uint32_t row = 0; row < f.rows; ++row)
    for (uint32_t s = 0; s < 8; ++s) {
      double sum = c[row * 8 + s];
      for (uint32_t i = 0; i < k; ++i) sum = F64<FloatFma>()(first[row * k + i], second[s * k + i], sum);
      c[row * 8 + s] = sum;
    }
  scatter_accumulators(w, f, d, c);
  return in + 1;
}

/// mma.m8n8k4 with f16: four products of 8 x 8 by 4 at once, one for lanes 4q … 4q + 3 and 4q + 16 … 4q + 19.
/// No instruction of chips since 8.0: ptxas makes f32 arithmetic of it. With f32 results, a chain of fused
/// multiply-adds from zero, to which the accumulator is added; with f16 results, two shorter chains, added to
/// it one after the other. Inst::imm: see decode_matrix.cpp.
const Inst* product_quads(Warp& w, const Inst* in) {
  const bool a_column = (in->imm & 1) != 0, b_column = (in->imm & 2) != 0, d_half = (in->imm & 4) != 0,
             c_half = (in->imm & 8) != 0;
  const uint32_t* d = w.side + in->b;
  const uint32_t* a_list = d + (d_half ? 4 : 8);
  const uint32_t* b_list = a_list + 2;
  const uint32_t* c_list = b_list + 2;
  alignas(64) float a[4][8][4], b[4][4][8];
  alignas(64) float c[4][8][8];
  const auto row_of_half = [](uint32_t lane) { return lane % 4 + (lane >= 16 ? 4 : 0); };
  // Where element e of a lane lies in an f32 accumulator.
  const auto row_of = [](uint32_t lane, uint32_t e) { return lane % 2 + (e & 2) + (lane >= 16 ? 4 : 0); };
  const auto column_of = [](uint32_t lane, uint32_t e) { return (e & 4) + (lane & 2) + (e & 1); };
  for (uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const uint32_t quad = lane / 4 % 4, high = lane >= 16 ? 4 : 0;
    for (uint32_t e = 0; e < 4; ++e) {
      const float x =
          float_from(static_cast<uint16_t>(reg<uint32_t>(w, a_list[e / 2])[lane] >> (16 * (e % 2))));
      const float y =
          float_from(static_cast<uint16_t>(reg<uint32_t>(w, b_list[e / 2])[lane] >> (16 * (e % 2))));
      (a_column ? a[quad][e + high][lane % 4] : a[quad][lane % 4 + high][e]) = x;
      (b_column ? b[quad][e][lane % 4 + high] : b[quad][lane % 4][e + high]) = y;
    }
    for (uint32_t e = 0; e < 8; ++e)
      if (c_half)
        c[quad][row_of_half(lane)][e] =
            float_from(static_cast<uint16_t>(reg<uint32_t>(w, c_list[e / 2])[lane] >> (16 * (e % 2))));
      else
        c[quad][row_of(lane, e)][column_of(lane, e)] = reg<float>(w, c_list[e])[lane];
  }
  for (uint32_t quad = 0; quad < 4; ++quad)
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t s = 0; s < 8; ++s) {
        const float* x = a[quad][row];
        const auto chain = [&](uint32_t from, float sum) {
          return __builtin_fmaf(x[from + 1], b[quad][from + 1][s],
                                __builtin_fmaf(x[from], b[quad][from][s], sum));
        };
        float& sum = c[quad][row][s];
        const auto pair = [&](uint32_t i) {
          return __builtin_fmaf(x[i + 1], b[quad][i + 1][s], x[i] * b[quad][i][s]);
        };
        sum = canonical(d_half ? sum + pair(0) + pair(2) : sum + chain(2, chain(0, 0.0f)));
      }
  for (uint32_t e = 0; e < 8; ++e)
    if (d_half) {
      if (e % 2 == 0)
        for_lanes(w.mask, reg<uint32_t>(w, d[e / 2]), [&](uint32_t lane) {
          const float* from = &c[lane / 4 % 4][row_of_half(lane)][e];
          return uint32_t{rounded_from<Half, Rounding::nearest>(from[0])} |
                 uint32_t{rounded_from<Half, Rounding::nearest>(from[1])} << 16;
        });
    } else {
      for_lanes(w.mask, reg<float>(w, d[e]),
                [&](uint32_t lane) { return c[lane / 4 % 4][row_of(lane, e)][column_of(lane, e)]; });
    }
  return in + 1;
}

/// movmatrix: lane i holds elements 2 (i % 4) and the next of row i / 4.
const Inst* transpose(Warp& w, const Inst* in) {
  const uint32_t* a = reg<uint32_t>(w, in->a);
  alignas(64) uint32_t result[warp_lanes];
  for (uint32_t i = 0; i < warp_lanes; ++i) {
    const uint32_t row = i / 4, column = i % 4 * 2;
    const auto element = [&](uint32_t r, uint32_t c) { return a[r * 4 + c / 2] >> (16 * (c % 2)) & 0xffff; };
    result[i] = element(column, row) | element(column + 1, row) << 16;
  }
  for_lanes(w.mask, reg<uint32_t>(w, in->d), [&](uint32_t i) { return result[i]; });
  return in + 1;
}

// ---- wgmma.

/// A matrix in shared memory, of which a warp reads its share.
class SharedMatrix {
 public:
  /// `access`: index of Kernel::checks, if the kernel is checked. `shared`: all four warps read it.
  SharedMatrix(Warp& w, const Inst* in, uint64_t descriptor, bool transposed, uint32_t access, bool shared)
      : w_(w), in_(in), place_(descriptor), transposed_(transposed), access_(access), shared_(shared) {}

  /// Tells the observer what this warp's share of the reads is.
  void observe(uint32_t rows, uint32_t row_bytes, bool is_more) const {
    if (w_.worker->observer == nullptr) return;
    BulkAccess access;
    access.space = AccessSpace::shared;
    access.rows = rows;
    access.row_bytes = row_bytes;
    access.is_more = is_more;
    observe_bulk(w_, in_, static_cast<uint32_t>(place_.start()), access);
  }

  /// Rows first … first + count - 1 as packed words, `words` of each.
  void read(uint32_t first, uint32_t count, uint32_t words, uint32_t* out) {
    if (transposed_) {
      read_transposed(first, count, words, out);
      return;
    }
    for (uint32_t row = 0; row < count; ++row)
      for (uint32_t piece = 0; piece < words / 4; ++piece)
        copy(place_.address(first + row, piece), out + row * words + piece * 4);
    report_all(words / 4);
  }

 private:
  Warp& w_;
  const Inst* in_;
  MatrixDescriptor place_;
  bool transposed_;
  uint32_t access_;
  bool shared_;
  uint64_t bad_ = 0;  ///< an address outside the block's shared memory, plus one
  uint32_t read_count_ = 0;
  /// Where 16 bytes were read, if the kernel is checked. At most 256 columns of four pieces.
  uint32_t read_[1024];

  void read_transposed(uint32_t first, uint32_t count, uint32_t words, uint32_t* out) {
    for (uint32_t k = 0; k < words * 2; ++k)
      for (uint32_t eights = 0; eights < count / 8; ++eights) {
        uint16_t element[8];
        copy(place_.transposed(first / 8 + eights, k), element);
        for (uint32_t i = 0; i < 8; ++i) {
          uint32_t& word = out[(eights * 8 + i) * words + k / 2];
          word = k % 2 == 0 ? element[i] : word | uint32_t{element[i]} << 16;
        }
      }
    report_all(count / 8);
  }

  void copy(uint64_t address, void* to) {
    if (address + 16 > w_.shared_bytes) {
      bad_ = address + 1;
      std::memset(to, 0, 16);
    } else {
      std::memcpy(to, w_.shared + address, 16);
      if (access_ != no_operand) read_[read_count_++] = static_cast<uint32_t>(address);
    }
  }
  /// `pieces`: see MatrixRead.
  void report_all(uint32_t pieces) const {
    if (access_ != no_operand)
      check_product(w_, access_, {std::span(read_, read_count_), shared_, pieces, transposed_});
    if (bad_ == 0) return;
    report_matrix_outside(w_, in_, w_.mask & (0 - w_.mask), bad_ - 1, w_.shared_bytes);
  }
};

/// wgmma.mma_async: each warp computes its 16 rows at once. a, c: descriptors of A (unless in registers) and
/// B; d: metadata; b: in Kernel::side the index of Kernel::checks (no_operand: unchecked), scale-d, a
/// predicate, and the registers; aux: index of Kernel::accesses.
const Inst* group_product(Warp& w, const Inst* in) {
  auto f = std::bit_cast<ProductForm>(in->imm);
  Bench& b = bench();
  const uint32_t check = w.side[in->b], scale = w.side[in->b + 1];
  const uint32_t* d = w.side + in->b + 2;
  const uint32_t lane = static_cast<uint32_t>(std::countr_zero(w.mask));
  const uint32_t words = f.parts * 4u, in_group = w.index % warps_of_group;
  SharedMatrix second(w, in, reg<uint64_t>(w, in->c)[lane], f.second_transposed != 0, check, true);
  second.observe(in_group == 0 ? columns_of(f) : 0, words * 4, false);
  second.read(0, columns_of(f), words, b.second);
  if (f.in_registers != 0) {
    gather_first(w, f, d + accumulator_registers(f, f.d), b.first);
  } else {
    const uint32_t of_first = f.sparse != 0 ? words / 2 : words;
    SharedMatrix first(w, in, reg<uint64_t>(w, in->a)[lane], f.first_transposed != 0, check, false);
    first.observe(f.rows, of_first * 4, true);
    first.read(in_group * f.rows, f.rows, of_first, b.first);
  }
  if (lane_of(pred(w, scale), lane) != (f.scale_negated != 0))
    gather_result(w, f, d, b);
  else
    std::memset(b.result, 0, size_t{f.rows} * columns_of(f) * sizeof b.result[0]);
  if (f.sparse != 0) std::memcpy(b.metadata, reg<uint32_t>(w, in->d), sizeof b.metadata);
  multiply(b, f);
  scatter_result(w, f, d, b);
  return in + 1;
}

// ---- wmma.load and wmma.store: see FragmentMemory in decode_matrix.cpp.

const Inst* fragment_addresses(Warp& w, const Inst* in) {
  FragmentAddress f;
  std::memcpy(static_cast<void*>(&f), w.side + in->c, sizeof f);
  const uint64_t* base = reg<uint64_t>(w, in->a);
  const uint32_t* stride = reg<uint32_t>(w, in->b);
  const auto place = [&](uint32_t i, uint64_t line, uint64_t at) {
    return base[i] + (line * stride[i] + at) * f.bits / 8;
  };
  uint64_t* d = reg<uint64_t>(w, in->d);
  switch (f.way) {
    case FragmentAddress::Way::across:
      for_lanes(w.mask, d,
                [&](uint32_t i) { return place(i, f.line[0] + i / 4, f.place[0] + i % 4 * f.step); });
      break;
    case FragmentAddress::Way::along:
      for_lanes(w.mask, d,
                [&](uint32_t i) { return place(i, f.line[0] + i % 4 * f.step, f.place[0] + i / 4); });
      break;
    case FragmentAddress::Way::rows:
      for_lanes(w.mask, d, [&](uint32_t i) { return place(i, f.line[i / 8] + i % 8, f.place[i / 8]); });
      break;
  }
  return in + 1;
}

const Inst* pack_bytes(Warp& w, const Inst* in) {
  const uint32_t* a = reg<uint32_t>(w, in->a);
  const uint32_t* b = reg<uint32_t>(w, in->b);
  const uint32_t* c = reg<uint32_t>(w, in->c);
  const uint32_t* e = reg<uint32_t>(w, in->aux);
  for_lanes(w.mask, reg<uint32_t>(w, in->d),
            [&](uint32_t i) { return a[i] | b[i] << 8 | c[i] << 16 | e[i] << 24; });
  return in + 1;
}

}  // namespace

ProductMatrices& product_matrices() { return bench(); }
void multiply_matrices(const ProductForm& form) { multiply(bench(), form); }

Handler select_matrix(const HandlerKey& key) {
  if (key.op == ptx::Op::movmatrix) return transpose;
  if (key.op == ptx::Op::wgmma) return group_product;
  if (key.op != ptx::Op::mma && key.op != ptx::Op::wmma) return nullptr;
  // key.data_bytes: 1 and 4 ask for parts of wmma.load and .store, 2 for the quads of m8n8k4, 8 for f64, 16
  // for products with .kind.
  if (key.data_bytes == 1) return pack_bytes;
  if (key.data_bytes == 4) return fragment_addresses;
  if (key.data_bytes == 2) return product_quads;
  if (key.data_bytes == 16) return product_small;
  if (key.data_bytes == 8) return with_rounding<product_f64, false>(key);
  return product;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
