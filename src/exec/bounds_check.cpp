// See bounds_check.hpp.
#include "exec/bounds_check.hpp"

#include <algorithm>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/memory_words.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

void report_overrun(const WarpAccess& now, uint32_t lane, const Kernel& kernel) {
  Finding* const example = add_finding(now.w, now.finding(Finding::Kind::array_overrun, lane));
  if (example == nullptr) return;
  const auto of = std::find_if(kernel.shared.begin(), kernel.shared.end(), [&](const SharedVariable& v) {
    return v.offset == now.access.variable_begin;
  });
  const uint64_t offset = now.offset[lane];
  const uint32_t width = now.access.width;
  example->message = std::to_string(width) + " bytes at offset " +
                     std::to_string(static_cast<int64_t>(offset) - static_cast<int64_t>(of->offset)) +
                     " of " + of->name +
                     (of->dynamic ? "" : ", which has " + std::to_string(of->size) + " bytes") +
                     ": that is " + describe_shared(kernel, offset, width);
}

}  // namespace

void check_bounds(const WarpAccess& now, const Kernel& kernel) {
  const CheckedAccess& access = now.access;
  each_lane(now.shared, [&](uint32_t lane) {
    const uint64_t offset = now.offset[lane];
    if (offset < access.variable_begin || offset + access.width > access.variable_end)
      report_overrun(now, lane, kernel);
  });
}

}  // namespace lanescope::exec
