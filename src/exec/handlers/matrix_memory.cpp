// ldmatrix and stmatrix: rows of 16 bytes between shared memory and the registers of a warp. PTX ISA 9.0,
// chapter 9.7.14.5.15 and on. Lane i gives the address of row i, eight of which make a matrix. The registers
// of lane i hold, with g = i / 4 and t = i % 4,
//   .m8n8    16-bit elements 2 t and the next of row g of each matrix, with .trans of column g
//   .m8n16   bytes 4 t to 4 t + 3 of row g of each matrix
//   .m16n16  (.trans; 16 rows) bytes g, then g + 8, of rows 4 t to 4 t + 3; as an sm_120a was measured to
//            do, and as CUTLASS says of what it loads so
//   .m16n8   (.trans; stores) bytes g and then g + 8 of rows 2 t and 2 t + 1, which are those of two rows of
//            an accumulator of mma
// Elements of 6 and 4 bits come packed at the beginning of their row, and take the lower bits of a byte each.
//
// Inst::a: 64-bit addresses, Inst::b: the number of matrices of eight rows, Inst::c: the first of their
// registers in Kernel::side, Inst::imm as any memory instruction has it.
#include "exec/handlers/matrix.hpp"
#include "exec/handlers/memory.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

constexpr uint32_t row_bytes = 16, rows = 8;

/// The rows of all matrices, and which of them may be accessed.
template <bool Observed>
class Rows {
 public:
  Rows(Warp& w, const Inst* in) : lanes_(w, in), access_(w, in, row_bytes) { w.mask = lanes_.all; }
  template <class Element>
  void read(uint32_t matrix, Element (&element)[rows][row_bytes / sizeof(Element)]) const {
    for (uint32_t row = 0; row < rows; ++row)
      if (lane_of(access_.mask, matrix * rows + row))
        std::memcpy(element[row], access_.at(matrix * rows + row), row_bytes);
      else
        std::memset(element[row], 0, row_bytes);
  }
  template <class Element>
  void write(uint32_t matrix, const Element (&element)[rows][row_bytes / sizeof(Element)]) const {
    for (uint32_t row = 0; row < rows; ++row)
      if (lane_of(access_.mask, matrix * rows + row))
        std::memcpy(access_.at(matrix * rows + row), element[row], row_bytes);
  }

 private:
  /// Leaves those lanes in w.mask whose addresses count.
  struct Lanes {
    uint32_t all;
    Lanes(Warp& w, const Inst* in) : all(w.mask) { w.mask &= full_mask >> (warp_lanes - rows * in->b); }
  };
  Lanes lanes_;
  SharedAccess<uint64_t, Observed> access_;
};

template <bool Observed, bool Transposed>
const Inst* load_rows(Warp& w, const Inst* in) {
  const Rows<Observed> memory(w, in);
  for (uint32_t matrix = 0; matrix < in->b; ++matrix) {
    uint16_t element[rows][rows];
    memory.read(matrix, element);
    for_lanes(w.mask, reg<uint32_t>(w, w.side[in->c + matrix]), [&](uint32_t i) {
      const uint32_t a = i / 4, b = i % 4 * 2;
      return Transposed ? element[b][a] | uint32_t{element[b + 1][a]} << 16
                        : element[a][b] | uint32_t{element[a][b + 1]} << 16;
    });
  }
  return in + 1;
}

template <bool Observed, bool Transposed>
const Inst* store_rows(Warp& w, const Inst* in) {
  const Rows<Observed> memory(w, in);
  for (uint32_t matrix = 0; matrix < in->b; ++matrix) {
    const uint32_t* r = reg<uint32_t>(w, w.side[in->c + matrix]);
    uint16_t element[rows][rows];
    for (uint32_t i = 0; i < warp_lanes; ++i) {
      const uint32_t a = i / 4, b = i % 4 * 2;
      (Transposed ? element[b][a] : element[a][b]) = static_cast<uint16_t>(r[i]);
      (Transposed ? element[b + 1][a] : element[a][b + 1]) = static_cast<uint16_t>(r[i] >> 16);
    }
    memory.write(matrix, element);
  }
  return in + 1;
}

/// Eight rows of 16 elements of `Bits` bits, a byte each.
template <bool Observed, uint32_t Bits>
void read_bytes(const Rows<Observed>& memory, uint32_t matrix, uint8_t (&byte)[rows][row_bytes]) {
  memory.read(matrix, byte);
  if constexpr (Bits != 8)
    for (auto& row : byte) {
      uint8_t packed[row_bytes + 1] = {};
      std::memcpy(packed, row, row_bytes);
      for (uint32_t i = 0; i < row_bytes; ++i) {
        const uint32_t at = i * Bits, two = packed[at / 8] | uint32_t{packed[at / 8 + 1]} << 8;
        row[i] = static_cast<uint8_t>(two >> at % 8 & ((1u << Bits) - 1));
      }
    }
}

template <bool Observed, uint32_t Bits>
const Inst* load_wide(Warp& w, const Inst* in) {
  const Rows<Observed> memory(w, in);
  for (uint32_t matrix = 0; matrix < in->b; ++matrix) {
    uint8_t byte[rows][row_bytes];
    read_bytes<Observed, Bits>(memory, matrix, byte);
    for_lanes(w.mask, reg<uint32_t>(w, w.side[in->c + matrix]), [&](uint32_t i) {
      uint32_t word;
      std::memcpy(&word, &byte[i / 4][i % 4 * 4], sizeof word);
      return word;
    });
  }
  return in + 1;
}

template <bool Observed, uint32_t Bits>
const Inst* load_square(Warp& w, const Inst* in) {
  const Rows<Observed> memory(w, in);
  for (uint32_t matrix = 0; matrix < in->b; matrix += 2) {
    uint8_t byte[2][rows][row_bytes];
    for (uint32_t half : {0u, 1u}) read_bytes<Observed, Bits>(memory, matrix + half, byte[half]);
    for (uint32_t half : {0u, 1u})
      for_lanes(w.mask, reg<uint32_t>(w, w.side[in->c + matrix + half]), [&](uint32_t i) {
        uint32_t word = 0;
        for (uint32_t e = 0; e < 4; ++e) {
          const uint32_t row = i % 4 * 4 + e;
          word |= uint32_t{byte[row / rows][row % rows][i / 4 + 8 * half]} << 8 * e;
        }
        return word;
      });
  }
  return in + 1;
}

template <bool Observed>
const Inst* store_tall(Warp& w, const Inst* in) {
  const Rows<Observed> memory(w, in);
  for (uint32_t matrix = 0; matrix < in->b; ++matrix) {
    const uint32_t* r = reg<uint32_t>(w, w.side[in->c + matrix]);
    uint8_t byte[rows][row_bytes];
    for (uint32_t i = 0; i < warp_lanes; ++i)
      for (uint32_t e = 0; e < 4; ++e)
        byte[i % 4 * 2 + e % 2][i / 4 + e / 2 * 8] = static_cast<uint8_t>(r[i] >> 8 * e);
    memory.write(matrix, byte);
  }
  return in + 1;
}

template <bool Observed, uint32_t Bits>
Handler select_bytes(bool square) {
  return square ? load_square<Observed, Bits> : load_wide<Observed, Bits>;
}

}  // namespace

template <bool Observed>
Handler select_matrix_memory(const HandlerKey& key) {
  const bool transposed = key.has(Mod::trans), bytes = key.types[0] == ptx::Type::b8;
  if (key.op == ptx::Op::ldmatrix && key.has(Mod::b6x16_p32)) return select_bytes<Observed, 6>(transposed);
  if (key.op == ptx::Op::ldmatrix && key.has(Mod::b4x16_p64)) return select_bytes<Observed, 4>(transposed);
  if (key.op == ptx::Op::ldmatrix && bytes) return select_bytes<Observed, 8>(transposed);
  if (key.op == ptx::Op::stmatrix && bytes) return store_tall<Observed>;
  if (key.op == ptx::Op::ldmatrix) return transposed ? load_rows<Observed, true> : load_rows<Observed, false>;
  if (key.op == ptx::Op::stmatrix)
    return transposed ? store_rows<Observed, true> : store_rows<Observed, false>;
  return nullptr;
}
template Handler select_matrix_memory<false>(const HandlerKey&);
template Handler select_matrix_memory<true>(const HandlerKey&);

}  // namespace lanescope::exec::LANESCOPE_ISA
