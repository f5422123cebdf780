// Directed rounding and flushed subnormals: runs a handler under the host's floating-point modes.
//
// The mode is set and restored by volatile assembly that clobbers memory. Operands are read from the register
// file after the first and results written before the second, so no compiler can move the arithmetic out,
// inlined or not.
//
// .ftz is the host's flushing too (FTZ for results, DAZ for operands), because both call a result tiny by the
// value rounded as if exponents had no bound: measured on an H200, where a flush of the rounded result was
// wrong by the smallest normal number for results that round up to it.
#pragma once

#include <cstdint>

#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// Rounding control of MXCSR: bits 13 and 14.
enum class Rounding : uint32_t { nearest = 0, down = 1, up = 2, zero = 3 };

/// What a handler runs under: rounding control, and .ftz.
struct FloatMode {
  Rounding rounding = Rounding::nearest;
  bool ftz = false;
  [[nodiscard]] constexpr uint32_t bits() const {
    return static_cast<uint32_t>(rounding) << 13 | (ftz ? 1u << 15 | 1u << 6 : 0u);
  }
  static constexpr uint32_t mask = 3u << 13 | 1u << 15 | 1u << 6;
};

class FloatModeScope {
 public:
  explicit FloatModeScope(FloatMode mode) {
    asm volatile("stmxcsr %0" : "=m"(saved_) : : "memory");
    load((saved_ & ~FloatMode::mask) | mode.bits());
  }
  ~FloatModeScope() { load(saved_); }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  static void load(uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
  uint32_t saved_ = 0;
};

template <Handler handler, FloatMode mode>
const Inst* under(Warp& w, const Inst* in) {
  const FloatModeScope scope(mode);
  return handler(w, in);
}

template <Handler handler, bool ftz>
Handler with_rounding(const HandlerKey& key) {
  if (key.has(ptx::Mod::rz)) return under<handler, FloatMode{Rounding::zero, ftz}>;
  if (key.has(ptx::Mod::rm)) return under<handler, FloatMode{Rounding::down, ftz}>;
  if (key.has(ptx::Mod::rp)) return under<handler, FloatMode{Rounding::up, ftz}>;
  if constexpr (ftz) return under<handler, FloatMode{Rounding::nearest, true}>;
  return handler;
}
/// The handler under the rounding and flushing that the instruction names; nearest even where it names none.
template <Handler handler>
Handler with_float_mode(const HandlerKey& key) {
  return key.has(ptx::Mod::ftz) ? with_rounding<handler, true>(key) : with_rounding<handler, false>(key);
}

}  // namespace lanescope::exec::LANESCOPE_ISA
