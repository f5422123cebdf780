// See bytes.hpp.
#include "exec/bytes.hpp"

#include <bit>
#include <cstddef>

#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

/// Calls f(whole, byte, i) for each lane and byte register: where the whole and the byte's register lie.
template <class F>
void each_byte(Warp& w, const Inst* in, F f) {
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(rest));
    for (uint32_t i = 0; i < in->b; ++i) {
      const uint32_t reg = w.side[in->a + i];
      if (reg != no_operand) f(w.regs + in->d + lane * in->b, w.regs + reg + lane * sizeof(uint16_t), i);
    }
  }
}

}  // namespace

const Inst* join_bytes(Warp& w, const Inst* in) {
  each_byte(w, in, [](std::byte* whole, const std::byte* byte, uint32_t i) { whole[i] = byte[0]; });
  return in + 1;
}

const Inst* split_bytes(Warp& w, const Inst* in) {
  each_byte(w, in, [](const std::byte* whole, std::byte* byte, uint32_t i) {
    byte[0] = whole[i];
    byte[1] = std::byte{0};
  });
  return in + 1;
}

}  // namespace lanescope::exec
