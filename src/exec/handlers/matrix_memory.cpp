// ldmatrix and stmatrix: rows of eight 16-bit elements between shared memory and the registers of a warp. PTX
// ISA 9.0, chapter 9.7.14.5.15 and on. Lane i gives the address of row i % 8 of matrix i / 8; its registers
// hold elements 2 (i % 4) and the next of row i / 4 of each matrix, with .trans of column i / 4.
//
// Inst::a: 64-bit addresses, Inst::b: the number of matrices, Inst::c: the first of their registers in
// Kernel::side, Inst::imm as any memory instruction has it.
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
  void read(uint32_t matrix, uint16_t (&element)[rows][rows]) const {
    for (uint32_t row = 0; row < rows; ++row)
      if (lane_of(access_.mask, matrix * rows + row))
        std::memcpy(element[row], access_.at(matrix * rows + row), row_bytes);
      else
        std::memset(element[row], 0, row_bytes);
  }
  void write(uint32_t matrix, const uint16_t (&element)[rows][rows]) const {
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

}  // namespace

template <bool Observed>
Handler select_matrix_memory(const HandlerKey& key) {
  const bool transposed = key.has(Mod::trans);
  if (key.op == ptx::Op::ldmatrix) return transposed ? load_rows<Observed, true> : load_rows<Observed, false>;
  if (key.op == ptx::Op::stmatrix)
    return transposed ? store_rows<Observed, true> : store_rows<Observed, false>;
  return nullptr;
}
template Handler select_matrix_memory<false>(const HandlerKey&);
template Handler select_matrix_memory<true>(const HandlerKey&);

}  // namespace lanescope::exec::LANESCOPE_ISA
