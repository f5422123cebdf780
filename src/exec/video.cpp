// See video.hpp.
#include "exec/video.hpp"

namespace lanescope::exec {
namespace {

using ptx::Mod;
using ptx::Selector;

uint16_t one_part(const Selector& s) {
  if (s.unit == Selector::Unit::none) return 32 << 8;
  const uint32_t bits = s.unit == Selector::Unit::byte ? 8 : 16;
  return static_cast<uint16_t>(bits << 8 | s.digits[0] * bits);
}
uint16_t part_of_each_lane(const Selector& s, uint32_t lanes, uint32_t first) {
  uint32_t parts = 0;
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t part = s.unit == Selector::Unit::none ? first + i : s.digits[lanes - 1 - i];
    parts |= part << (3 * i);
  }
  return static_cast<uint16_t>(parts);
}
uint16_t lanes_to_write(const Selector& s) {
  uint32_t mask = s.unit == Selector::Unit::none ? 15 : 0;
  for (uint32_t i = 0; i < s.count; ++i) mask |= 1u << s.digits[i];
  return static_cast<uint16_t>(mask);
}

}  // namespace

VideoControl video_control(const ptx::Instruction& in) {
  VideoControl control;
  const auto& o = in.operands;
  const char last = ptx::name_of(in.op).back();
  if (last == '2' || last == '4') {
    const uint32_t lanes = last == '2' ? 2 : 4;
    control.a = part_of_each_lane(o[1].selector, lanes, 0);
    control.b = part_of_each_lane(o[2].selector, lanes, lanes);
    control.d = lanes_to_write(o[0].selector);
  } else {
    control.a = one_part(o[1].selector);
    control.b = one_part(o[2].selector);
    control.d = o[0].selector.unit == Selector::Unit::none ? uint16_t{0} : one_part(o[0].selector);
  }
  const auto set = [&](bool condition, uint32_t flag) {
    if (condition) control.flags = static_cast<uint16_t>(control.flags | flag);
  };
  // vset has no type for its result; the assembler takes that of a.
  const size_t a = in.types.size() - 2;
  set(in.types[a] == ptx::Type::s32, VideoControl::signed_a);
  set(in.types[a + 1] == ptx::Type::s32, VideoControl::signed_b);
  set(in.types[0] == ptx::Type::s32, VideoControl::signed_d);
  set(in.has(Mod::sat), VideoControl::saturate);
  set(in.has(Mod::wrap), VideoControl::wrap);
  set(o[1].negated != o[2].negated, VideoControl::minus_product);
  set(o.size() > 3 && o[3].negated, VideoControl::minus_c);
  set(in.has(Mod::po), VideoControl::plus_one);
  set(in.has(Mod::add), VideoControl::add);
  set(in.has(Mod::min), VideoControl::min);
  set(in.has(Mod::max), VideoControl::max);
  set(in.has(Mod::shr7), 1u << VideoControl::shift_bit);
  set(in.has(Mod::shr15), 2u << VideoControl::shift_bit);
  return control;
}

}  // namespace lanescope::exec
