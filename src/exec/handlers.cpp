// Chooses the handlers for the host's instruction set.
#include "exec/handlers.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace lanescope::exec {

std::vector<const HandlerSet*> runnable_handlers() {
  __builtin_cpu_init();
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  std::vector<const HandlerSet*> sets;
#ifdef LANESCOPE_HAS_avx512
  if (avx512) sets.push_back(&avx512_handlers());
#endif
#ifdef LANESCOPE_HAS_avx2
  if (avx2) sets.push_back(&avx2_handlers());
#endif
  (void)avx512;  // where the engine is compiled for the baseline alone
  sets.push_back(&baseline_handlers());
  return sets;
}

const HandlerSet& host_handlers() {
  static const HandlerSet& chosen = []() -> const HandlerSet& {
    const char* wish = std::getenv("LANESCOPE_ISA");
    std::string names;
    for (const HandlerSet* set : runnable_handlers()) {
      if (wish == nullptr || std::string_view(wish) == set->name) return *set;
      names += (names.empty() ? "" : ", ") + std::string(set->name);
    }
    throw Error("LANESCOPE_ISA=" + std::string(wish) + ": this host runs " + names);
  }();
  return chosen;
}

}  // namespace lanescope::exec
