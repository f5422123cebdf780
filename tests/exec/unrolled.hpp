// Which loops of a kernel are taken for unrolled ones, as scripts/unrolled writes those that the assembler
// unrolls.
#pragma once

#include <string>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "exec/meetings.hpp"
#include "exec/unrolling.hpp"
#include "exec/wait_loop.hpp"

namespace lanescope::exec {

/// " $L__BB0_3 $L__BB0_7": the labels at which they begin, in the order of the branches back.
inline std::string unrolled_labels(const ptx::Function& f) {
  Flow flow = analyse(f, !f.is_entry);
  const Loops loops(flow);
  find_meetings(f, flow, loops, wait_loops(f, flow, loops));
  const std::vector<UnrolledLoop> unrolled = unrolled_loops(f, flow, loops);
  std::string labels;
  for (uint32_t i = 0; i < f.body.size(); ++i)
    for (const UnrolledLoop& loop : unrolled)
      if (loop.last == i) labels += " " + f.labels[f.body[i].operands[0].index].name;
  return labels;
}

}  // namespace lanescope::exec
