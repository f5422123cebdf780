// See lanescope/run.hpp.
#include "lanescope/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "advise/sources.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "exec/launch.hpp"
#include "lanescope/model/limits.hpp"
#include "profile/arch_by_name.hpp"
#include "profile/checks.hpp"
#include "profile/sums.hpp"
#include "ptx/module.hpp"
#include "report/hazards.hpp"
#include "report/json.hpp"
#include "report/metrics.hpp"
#include "report/read.hpp"
#include "report/report.hpp"
#include "report/run_and_report.hpp"
#include "report/text.hpp"

namespace lanescope {

struct Profile::Data {
  report::Report report;  ///< of one launch
  std::vector<ProfileLine> lines;
  std::vector<std::string> findings;
  std::vector<std::string> advice;

  [[nodiscard]] const report::Launch& launch() const { return report.launches.front(); }
};

namespace {

Profile make_profile(report::Report report) {
  auto data = std::make_shared<Profile::Data>();
  data->report = std::move(report);
  for (const report::Line& line : data->launch().lines) {
    const profile::Counters& c = line.counters;
    data->lines.push_back({line.file, line.line, line.op, line.variable, c.requests, c.wavefronts, c.ideal,
                           c.max_way, c.sectors, c.ideal_sectors, line.source, line.why});
  }
  for (const report::Finding& finding : data->launch().findings)
    data->findings.push_back(
        fmt::format("{}:{}: {}: {}", finding.file, finding.line, finding.kind, finding.message));
  for (const advise::Advice& advice : data->launch().advice)
    data->advice.push_back(fmt::format("{}:{}: {}", advice.file, advice.line, report::in_words(advice)));
  return Profile(std::move(data));
}

/// Memory of the device for the arguments, written back and released at the end.
class DeviceArguments {
 public:
  DeviceArguments(exec::Memory& memory, const exec::Kernel& kernel, const std::vector<Argument>& arguments)
      : memory_(memory), arguments_(arguments) {
    if (arguments.size() != kernel.params.size())
      throw Error(fmt::format("{} takes {} arguments, {} are given", kernel.display_name,
                              kernel.params.size(), arguments.size()));
    params_.resize(kernel.param_bytes);
    for (size_t i = 0; i < arguments.size(); ++i) add(i, kernel);
  }
  ~DeviceArguments() {
    for (const auto& [address, argument] : buffers_) {
      if (argument->write_back != nullptr)
        std::memcpy(argument->write_back, reinterpret_cast<const void*>(address), argument->size);
      memory_.release(address);
    }
  }
  DeviceArguments(const DeviceArguments&) = delete;
  DeviceArguments& operator=(const DeviceArguments&) = delete;

  [[nodiscard]] const std::vector<std::byte>& params() const { return params_; }

 private:
  void add(size_t i, const exec::Kernel& kernel) {
    const Argument& argument = arguments_[i];
    const exec::Kernel::Parameter& parameter = kernel.params[i];
    uint64_t address = 0;
    const void* bytes = argument.bytes;
    size_t size = argument.size;
    if (argument.is_memory) {
      address = memory_.allocate(std::max<size_t>(argument.size, 1));
      buffers_.emplace_back(address, &argument);
      if (argument.size != 0) std::memcpy(reinterpret_cast<void*>(address), argument.bytes, argument.size);
      bytes = &address;
      size = sizeof address;
    }
    if (size != parameter.size)
      throw Error(fmt::format("{}: argument {} (from 0) has {} bytes, the parameter has {}",
                              kernel.display_name, i, size, parameter.size));
    std::memcpy(params_.data() + parameter.offset, bytes, size);
  }

  exec::Memory& memory_;
  const std::vector<Argument>& arguments_;
  std::vector<std::byte> params_;
  std::vector<std::pair<uint64_t, const Argument*>> buffers_;
};

exec::Dim3 dim(const Size& size) { return {size.x, size.y, size.z}; }

}  // namespace

Profile run_with(const KernelLaunch& launch, const std::vector<Argument>& arguments) {
  const model::Arch arch = profile::arch_by_name(launch.arch);
  const auto module = std::make_shared<const ptx::Module>(ptx::parse(read_file(launch.ptx), launch.ptx));
  exec::Memory memory;
  exec::Image image(module, memory);
  const exec::Kernel& kernel = image.kernel(launch.kernel);
  const DeviceArguments device(memory, kernel, arguments);
  exec::LaunchConfig config;
  config.grid = dim(launch.grid);
  config.block = dim(launch.block);
  config.cluster = dim(launch.cluster);
  config.dynamic_shared = launch.shared_bytes;
  config.shared_limit = static_cast<uint32_t>(model::limits_of(arch.name).shared_per_block);
  config.threads = launch.threads;
  config.checks = profile::parse_checks(launch.checks, arch);
  config.params = device.params();
  advise::Sources sources(launch.ptx);
  report::Report report = report::make_report(arch);
  report.launches.push_back(report::run_and_report(image, kernel, std::move(config),
                                                   {.arch = arch, .merge = launch.merge}, sources));
  return make_profile(std::move(report));
}

std::vector<Profile> read_profiles(const std::string& path) {
  const report::Report whole = report::from_json(read_file(path), path);
  std::vector<Profile> profiles;
  for (const report::Launch& launch : whole.launches) {
    report::Report one = whole;
    one.launches = {launch};
    one.copies.clear();
    profiles.push_back(make_profile(std::move(one)));
  }
  return profiles;
}

const std::string& Profile::kernel() const { return data_->launch().kernel; }
bool Profile::ok() const { return !data_->launch().failed; }
const std::vector<std::string>& Profile::findings() const { return data_->findings; }
const std::vector<std::string>& Profile::advice() const { return data_->advice; }
const std::vector<ProfileLine>& Profile::lines() const { return data_->lines; }
std::string Profile::text() const { return report::to_text(data_->report, {}); }
std::string Profile::json() const { return report::to_json(data_->report); }
double Profile::warp_efficiency() const { return report::warp_efficiency(data_->launch()); }
double Profile::branch_efficiency() const { return report::branch_efficiency(data_->launch()); }

std::string Profile::not_counted() const {
  return report::not_looked_for(report::Basis::shared_counts, data_->launch());
}
bool Profile::conflict_free() const { return not_counted().empty() && wavefronts() == ideal_wavefronts(); }
bool Profile::coalesced() const {
  return report::not_looked_for(report::Basis::counts, data_->launch()).empty() &&
         sectors() == ideal_sectors();
}
bool Profile::uniform() const {
  return report::not_looked_for(report::Basis::counts, data_->launch()).empty() && branch_efficiency() == 1.0;
}

uint64_t Profile::wavefronts() const { return profile::shared_of(data_->launch().totals).wavefronts; }
uint64_t Profile::ideal_wavefronts() const { return profile::shared_of(data_->launch().totals).ideal; }
uint32_t Profile::max_way() const { return profile::shared_of(data_->launch().totals).max_way; }
uint64_t Profile::sectors() const { return profile::global_of(data_->launch().totals).sectors; }
uint64_t Profile::ideal_sectors() const { return profile::global_of(data_->launch().totals).ideal_sectors; }

double Profile::metric(const std::string& name) const {
  using Tool = report::Metric::Tool;
  constexpr std::array tools{Tool::ncu, Tool::nvprof_event, Tool::nvprof_metric};
  const auto value = report::find_metrics(name, tools).front()->value(data_->launch());
  if (!value) throw Error(fmt::format("'{}' is not known of this launch", name));
  return *value;
}

}  // namespace lanescope
