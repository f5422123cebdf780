// Must compile, where nvcc is found: the same model in device code, at compile time and at run time. An
// architecture is looked up outside of the kernel (find_arch is a host function) and copied in.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

constexpr Arch sm_90 = *find_arch("sm_90");

__global__ void count(int* wavefronts, int* sectors, int* words, unsigned stride) {
  constexpr Arch arch = sm_90;
  static_assert(shared_cost(arch, strided(Op::load, 4, 0, 32 * 4)).wavefronts == 32);
  static_assert(shared_cost(arch, strided(Op::load, 4, 0, 33 * 4)).wavefronts == 1);
  static_assert(global_cost(arch, strided(Op::load, 4, 0, 4)).sectors == 4);
  const Request request = strided(Op::load, 4, 0, stride);
  *wavefronts = shared_cost(arch, request).wavefronts;
  *sectors = global_cost(arch, request).sectors;
  *words = shared_detail(arch, request).entry_count;
}
