// See run_and_report.hpp.
#include "report/run_and_report.hpp"

#include <optional>

#include "advise/division.hpp"
#include "merge/plan.hpp"
#include "profile/collector.hpp"

namespace lanescope::report {

Launch run_and_report(exec::Image& image, const exec::Kernel& kernel, exec::LaunchConfig config,
                      const Counting& counting, advise::Sources& sources) {
  std::shared_ptr<const merge::Plan> plan;
  if (counting.merge && merge::knows(counting.arch))
    plan = std::make_shared<const merge::Plan>(merge::predict(image.module(), kernel, counting.arch));
  profile::Collectors collectors(counting.arch, static_cast<uint32_t>(kernel.accesses.size()),
                                 profile::RecordBlocks::some, plan);
  if (counting.accesses) {
    config.shared = advise::Division(kernel, sources).variables(config);
    config.observer = [&](uint32_t host_thread) { return collectors.of(host_thread); };
  }
  const exec::LaunchResult result = image.launch(kernel, config);
  return make_launch(counting.arch, image.module(), kernel, config, result,
                     counting.accesses ? std::optional(collectors.merged()) : std::nullopt, sources,
                     counting.needs, plan.get());
}

}  // namespace lanescope::report
