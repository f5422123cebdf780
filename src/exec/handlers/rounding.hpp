// Directed rounding: runs a handler under one of the host's rounding modes.
//
// The mode is set and restored by volatile assembly that clobbers memory. Operands are read from the register
// file after the first and results written before the second, so no compiler can move the arithmetic out,
// inlined or not.
#pragma once

#include <cstdint>

#include "exec/program.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// Rounding control of MXCSR: bits 13 and 14.
enum class Rounding : uint32_t { nearest = 0, down = 1, up = 2, zero = 3 };

class RoundingScope {
 public:
  explicit RoundingScope(Rounding mode) {
    asm volatile("stmxcsr %0" : "=m"(saved_) : : "memory");
    load((saved_ & ~(3u << 13)) | static_cast<uint32_t>(mode) << 13);
  }
  ~RoundingScope() { load(saved_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static void load(uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
  uint32_t saved_ = 0;
};

template <Handler handler, Rounding mode>
const Inst* rounded(Warp& w, const Inst* in) {
  const RoundingScope scope(mode);
  return handler(w, in);
}

/// The handler under the rounding that the instruction names; nearest even where it names none.
template <Handler handler>
Handler with_rounding(const HandlerKey& key) {
  if (key.has(ptx::Mod::rz)) return rounded<handler, Rounding::zero>;
  if (key.has(ptx::Mod::rm)) return rounded<handler, Rounding::down>;
  if (key.has(ptx::Mod::rp)) return rounded<handler, Rounding::up>;
  return handler;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
