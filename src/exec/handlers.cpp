// Chooses the handlers for the host's instruction set.
#include "exec/handlers.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace lanescope::exec {

const HandlerSet& host_handlers() {
  static const HandlerSet& chosen = []() -> const HandlerSet& {
    __builtin_cpu_init();
    [[maybe_unused]] const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    [[maybe_unused]] const bool avx512 =
        avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd");
    struct Choice {
      std::string_view name;
      bool runs;
      const HandlerSet& (*handlers)();
    };
    const Choice choices[] = {
#ifdef LANESCOPE_HAS_avx512
        {"avx512", avx512, avx512_handlers},
#endif
#ifdef LANESCOPE_HAS_avx2
        {"avx2", avx2, avx2_handlers},
#endif
        {"baseline", true, baseline_handlers},
    };
    const char* wish = std::getenv("LANESCOPE_ISA");
    std::string others;
    for (const Choice& choice : choices) {
      if (!choice.runs) continue;
      if (wish == nullptr || wish == choice.name) return choice.handlers();
      others += (others.empty() ? "" : ", ") + std::string(choice.name);
    }
    throw Error("LANESCOPE_ISA=" + std::string(wish) + ": this host runs " + others);
  }();
  return chosen;
}

}  // namespace lanescope::exec
