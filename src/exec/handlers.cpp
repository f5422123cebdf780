// Chooses the handlers for the host's instruction set.
#include "exec/handlers.hpp"

#include <cstdlib>
#include <string_view>

#include "base/error.hpp"

namespace lanescope::exec {

const HandlerSet& host_handlers() {
  static const HandlerSet& chosen = []() -> const HandlerSet& {
    __builtin_cpu_init();
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd");
    const char* wish = std::getenv("LANESCOPE_ISA");
    const std::string_view name = wish != nullptr ? wish : avx512 ? "avx512" : avx2 ? "avx2" : "baseline";
    if (name == "baseline") return baseline_handlers();
    if (name == "avx2" && avx2) return avx2_handlers();
    if (name == "avx512" && avx512) return avx512_handlers();
    throw Error("LANESCOPE_ISA=" + std::string(name) + ": this host has no such instruction set (baseline" +
                (avx2 ? ", avx2" : "") + (avx512 ? ", avx512" : "") + ")");
  }();
  return chosen;
}

}  // namespace lanescope::exec
