// The handlers of one host instruction set, chosen by what the instruction is. The decoder asks `select`; everything
// behind it is compiled once for each instruction set.
#pragma once

#include "exec/program.hpp"

namespace lanescope::exec {

/// One set of handlers. All functions return nullptr for what is not supported.
struct HandlerSet {
  const char* name;                              ///< "avx512", "avx2", "baseline"
  Handler (*select)(const HandlerKey&);          ///< the instruction itself
  Handler (*resize)(uint32_t to_bytes, uint32_t from_bytes, bool sign);  ///< widens or narrows a register
  void (*run)(Warp&, const Inst*);               ///< executes until an event
};

[[nodiscard]] const HandlerSet& baseline_handlers();
[[nodiscard]] const HandlerSet& avx2_handlers();
[[nodiscard]] const HandlerSet& avx512_handlers();
/// The best set this host runs; `LANESCOPE_ISA=baseline|avx2|avx512` in the environment chooses a lesser one.
[[nodiscard]] const HandlerSet& host_handlers();

}  // namespace lanescope::exec
