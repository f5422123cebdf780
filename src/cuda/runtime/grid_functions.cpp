// See grid_functions.hpp.
#include "cuda/runtime/grid_functions.hpp"

#include <algorithm>

namespace lanescope::cuda {
namespace {

/// The handle is the place of the grid's barrier, which a cooperative launch has: the second word counts
/// blocks; its uppermost bit changes when all have come.
constexpr char grid_functions[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %low, %high;
  .reg .b64 %both;
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %both, {%low, %high};
  st.param.b64 [handle], %both;
  ret;
}
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %none, %other, %waits;
  .reg .b32 %x, %y, %z, %n, %blocks, %add, %before, %now;
  .reg .b64 %barrier;
  ld.param.b64 %barrier, [handle];
  setp.eq.u64 %none, %barrier, 0;
  @%none bra invalid;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %other, %x, 0;
  @%other bra together;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %n, %nctaid.y;
  mul.lo.u32 %blocks, %blocks, %n;
  mov.u32 %n, %nctaid.z;
  mul.lo.u32 %blocks, %blocks, %n;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %other, %x, 0;
  sub.u32 %add, 0x80000001, %blocks;
  @%other mov.u32 %add, 1;
  membar.gl;
  atom.add.u32 %before, [%barrier+4], %add;
wait:
  ld.volatile.u32 %now, [%barrier+4];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %waits, %now, 0;
  @%waits bra wait;
  membar.gl;
together:
  bar.sync 0;
  st.param.b32 [error], 0;
  ret;
invalid:
  st.param.b32 [error], 1;
  ret;
}
)";

bool uses_grid_functions(const std::string& unit) {
  return unit.find("cudaCGGetIntrinsicHandle") != std::string::npos ||
         unit.find("cudaCGSynchronize") != std::string::npos;
}

}  // namespace

bool add_grid_functions(std::vector<std::string>& units) {
  if (std::none_of(units.begin(), units.end(), uses_grid_functions)) return false;
  units.emplace_back(grid_functions);
  return true;
}

}  // namespace lanescope::cuda
