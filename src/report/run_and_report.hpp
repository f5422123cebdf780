// A kernel of a PTX file: run here, counted, and reported on. (Launches of programs:
// cuda/runtime/recorder.hpp.)
#pragma once

#include "advise/sources.hpp"
#include "exec/launch.hpp"
#include "lanescope/model/arch.hpp"
#include "ptx/assembler.hpp"
#include "report/report.hpp"

namespace lanescope::report {

struct Counting {
  model::Arch arch;      ///< whose rules count
  bool accesses = true;  ///< false: the kernel only runs
  bool merge = true;     ///< as the assembler merges accesses, where that is known of `arch`
  const ptx::MachineNeeds* needs = nullptr;  ///< of a thread, as the assembler says; null: unknown
};

/// `config`: without an observer. Throws lanescope::Error for a launch that cannot be.
[[nodiscard]] Launch run_and_report(exec::Image& image, const exec::Kernel& kernel, exec::LaunchConfig config,
                                    const Counting& counting, advise::Sources& sources);

}  // namespace lanescope::report
