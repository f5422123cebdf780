// How a video instruction reads, combines and writes its operands, decoded: one word in Inst::imm.
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/module.hpp"

namespace lanescope::exec {

/// Of vadd, vset, … one part of each register (all of it: bits 0…31). Of vadd2, vset4, … for each lane which
/// part of the eight bytes or four halves b:a, three bits a lane, and the lanes to write.
struct VideoControl {
  uint16_t a = 0, b = 0;  ///< scalar: first bit, number of bits << 8; several: three bits for each lane
  uint16_t d = 0;         ///< scalar: as a, 0 for all of it; several: a bit for each lane
  uint16_t flags = 0;

  static constexpr uint16_t signed_a = 1, signed_b = 2, signed_d = 4, saturate = 8, wrap = 16,
                            minus_product = 32, minus_c = 64, plus_one = 128, add = 256, min = 512,
                            max = 1024;
  static constexpr uint32_t shift_bit = 11;  ///< vmad: bits 11 and 12: 0, 7 or 15 bits
  [[nodiscard]] constexpr bool has(uint16_t flag) const { return (flags & flag) != 0; }
  [[nodiscard]] constexpr uint32_t scale() const {
    return (flags >> shift_bit & 1) != 0 ? 7 : (flags >> shift_bit & 2) != 0 ? 15 : 0;
  }
};
static_assert(sizeof(VideoControl) == 8);

[[nodiscard]] VideoControl video_control(const ptx::Instruction& instruction);

}  // namespace lanescope::exec
