// A matrix in shared memory as the descriptors of wgmma and tcgen05 tell of it. Source: PTX
// ISA 9.0, 9.7.15.5.1 and 9.7.16.4.1 (matrix descriptors), 9.7.15.5 and 9.7.16.4 (canonical layouts).
//
// Bits 0 to 13: where it begins, 16 to 29 and 32 to 45 the two strides, all in units of 16 bytes; 49 to 51
// the line of the swizzle's pattern at which it begins; 52 (tcgen05) another meaning of the first stride; 61
// to 63 the swizzle. Rows are those of A or columns of B, K is the other dimension. Sixteen bytes follow each
// other always; eight such pieces, one below the other, are a core matrix.
#pragma once

#include <cstdint>

namespace lanescope::exec {

class MatrixDescriptor {
 public:
  explicit constexpr MatrixDescriptor(uint64_t bits)
      : start_((bits & 0x3fff) << 4),
        leading_((bits >> 16 & 0x3fff) << 4),
        stride_((bits >> 32 & 0x3fff) << 4),
        base_(bits >> 49 & 7),
        pair_swizzle_(bits >> 61 == 1),
        pieces_(bits >> 61 == 1 ? 8 : 16u >> (bits >> 62)),
        is_known_((bits >> 61 == 1 || (bits >> 61 & 1) == 0) && (bits >> 52 & 1) == 0) {}

  [[nodiscard]] constexpr uint64_t start() const { return start_; }
  /// False: a mode that is not modelled, or none at all.
  [[nodiscard]] constexpr bool is_known() const { return is_known_; }

  /// Where piece `piece` of row `row` lies, if pieces run along K.
  [[nodiscard]] constexpr uint64_t address(uint64_t row, uint64_t piece) const {
    const uint64_t eights = row / 8 * stride_;
    if (pieces_ == none) return start_ + eights + row % 8 * 16 + piece * leading_;
    return swizzled(start_ + eights + row % 8 * line() + piece % pieces_ * 16 + piece / pieces_ * leading_);
  }
  /// Where the 16 bytes of rows from `unit` times as many as they hold lie, at place k, if pieces run along
  /// the rows.
  [[nodiscard]] constexpr uint64_t transposed(uint64_t unit, uint64_t k) const {
    if (pieces_ == none) return start_ + unit * stride_ + k % 8 * 16 + k / 8 * leading_;
    const uint64_t lines = pair_swizzle_ ? 4 : 8;
    return swizzled(start_ + unit % pieces_ * 16 + unit / pieces_ * leading_ + k % lines * line() +
                    k / lines * stride_);
  }

 private:
  static constexpr uint64_t none = 16;
  uint64_t start_, leading_, stride_, base_;
  bool pair_swizzle_;  ///< exchanges 32 bytes at a time
  uint64_t pieces_;    ///< of a line; `none` without a swizzle
  bool is_known_;

  [[nodiscard]] constexpr uint64_t line() const { return pieces_ * 16; }
  /// Swizzles exchange pieces inside a line by its place among eight lines of 128 bytes.
  [[nodiscard]] constexpr uint64_t swizzled(uint64_t address) const {
    const uint64_t place = (address >> 7) - base_;
    return pair_swizzle_ ? address ^ (place & 3) << 5 : address ^ (place & (pieces_ - 1)) << 4;
  }
};

}  // namespace lanescope::exec
