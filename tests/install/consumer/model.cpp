// Asks the installed model while compiling, as a kernel's own source may: no library is linked.
#include <lanescope/model/model.hpp>

namespace model = lanescope::model;

constexpr int wavefronts(uint64_t stride_bytes) {
  return model::shared_cost(*model::find_arch("sm_90"), model::strided(model::Op::load, 4, 0, stride_bytes))
      .wavefronts;
}

static_assert(wavefronts(4) == 1, "consecutive words");
static_assert(wavefronts(32 * 4) == 32, "a column of tile[32][32]");
static_assert(wavefronts(33 * 4) == 1, "a column of tile[32][33]");

int main() { return 0; }
