// See grids.hpp.
#include "report/grids.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "profile/sums.hpp"
#include "report/findings.hpp"

namespace lanescope::report {
namespace {

exec::Dim3 larger(const exec::Dim3& a, const exec::Dim3& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

/// The index that a block of one grid has in a larger one.
uint64_t moved(uint64_t block, const exec::Dim3& from, const exec::Dim3& to) {
  const exec::Dim3 at = coordinates(block, from);
  return at.x + uint64_t{to.x} * (at.y + uint64_t{to.y} * at.z);
}

bool differ_in_grid_alone(const Launch& a, const Launch& b) {
  return a.kernel == b.kernel && a.file == b.file && a.line == b.line && a.block == b.block &&
         a.shared_bytes == b.shared_bytes && a.counted == b.counted;
}

bool is_same_line(const Line& a, const Line& b) {
  return a.line == b.line && a.space == b.space && a.kind == b.kind && a.file == b.file && a.op == b.op &&
         a.variable == b.variable;
}

bool is_same_branch(const Branch& a, const Branch& b) {
  return a.line == b.line && a.backward == b.backward && a.file == b.file;
}

bool is_same_change(const advise::Advice& a, const advise::Advice& b) {
  return a.variable == b.variable && a.line == b.line && a.file == b.file && a.change == b.change;
}

/// What a reader would look at first: conflicts, then sectors over the ideal, then work.
auto cost_of(const Launch& launch) {
  const profile::Counters shared = profile::shared_of(launch.totals),
                          global = profile::global_of(launch.totals);
  return std::tuple(shared.wavefronts - shared.ideal, global.sectors - global.ideal_sectors,
                    launch.warp_instructions);
}

/// Adds up launches that differ in their grids.
class Sum {
 public:
  /// The examples are those of the first launch that has a line.
  explicit Sum(const Grids& grids) : sum_(*grids.front()) {
    sum_.metrics.clear();
    sum_.advised.clear();
    for (const Launch* launch : grids) sum_.grid = larger(sum_.grid, launch->grid);
    number_blocks(sum_, grids.front()->grid);
    for (auto launch = std::next(grids.begin()); launch != grids.end(); ++launch) add(**launch);
  }

  Launch result() && {
    sum_.totals = totals_of(sum_.lines);
    order_lines(sum_);
    std::stable_sort(sum_.branches.begin(), sum_.branches.end(),
                     [](const Branch& a, const Branch& b) { return a.counts.idle > b.counts.idle; });
    for (advise::Advice& advice : sum_.advice)
      advice.launch_wavefronts = profile::shared_of(sum_.totals).wavefronts;
    const auto gain = [](const advise::Advice& a) { return a.wavefronts_before - a.wavefronts_after; };
    std::stable_sort(sum_.advice.begin(), sum_.advice.end(),
                     [&](const advise::Advice& a, const advise::Advice& b) { return gain(a) > gain(b); });
    return std::move(sum_);
  }

 private:
  Launch sum_;

  /// As in the sum's grid, from those in the launch's own.
  void number_blocks(Launch& launch, const exec::Dim3& grid) const {
    for (Line& line : launch.lines) {
      line.worst.block = moved(line.worst.block, grid, sum_.grid);
      line.typical.block = moved(line.typical.block, grid, sum_.grid);
    }
    for (Branch& branch : launch.branches) branch.counts.block = moved(branch.counts.block, grid, sum_.grid);
  }

  void add(Launch launch) {
    number_blocks(launch, launch.grid);
    sum_.launches += launch.launches;
    sum_.warp_instructions += launch.warp_instructions;
    sum_.lane_instructions += launch.lane_instructions;
    sum_.shuffles += launch.shuffles;
    sum_.failed |= launch.failed;
    if (sum_.sample_every != launch.sample_every) sum_.sample_every = 0;
    for (Line& line : launch.lines) add(std::move(line));
    for (Branch& branch : launch.branches) add(std::move(branch));
    for (Variable& variable : launch.variables) add(std::move(variable));
    for (advise::Advice& advice : launch.advice) add(std::move(advice));
    for (Finding& finding : launch.findings) add_finding(sum_.findings, std::move(finding));
  }

  void add(Line line) {
    const auto known = std::find_if(sum_.lines.begin(), sum_.lines.end(),
                                    [&](const Line& l) { return is_same_line(l, line); });
    if (known == sum_.lines.end()) {
      sum_.lines.push_back(std::move(line));
      return;
    }
    if (line.counters.max_way > known->counters.max_way) {
      known->worst = line.worst;
      known->why = std::move(line.why);
    }
    known->counters.add(line.counters);
  }

  void add(Branch branch) {
    const auto known = std::find_if(sum_.branches.begin(), sum_.branches.end(),
                                    [&](const Branch& b) { return is_same_branch(b, branch); });
    if (known == sum_.branches.end()) {
      sum_.branches.push_back(std::move(branch));
    } else {
      known->counts.add(branch.counts);
      known->unrolled = known->unrolled || branch.unrolled;
    }
  }

  void add(Variable variable) {
    const auto known = std::find_if(sum_.variables.begin(), sum_.variables.end(),
                                    [&](const Variable& v) { return v.name == variable.name; });
    if (known == sum_.variables.end())
      sum_.variables.push_back(std::move(variable));
    else
      known->counters.add(variable.counters);
  }

  void add(advise::Advice advice) {
    const auto known = std::find_if(sum_.advice.begin(), sum_.advice.end(),
                                    [&](const advise::Advice& a) { return is_same_change(a, advice); });
    if (known == sum_.advice.end()) {
      sum_.advice.push_back(std::move(advice));
      return;
    }
    known->wavefronts_before += advice.wavefronts_before;
    known->wavefronts_after += advice.wavefronts_after;
    known->estimate |= advice.estimate;
    known->proven_best &= advice.proven_best;
  }
};

}  // namespace

std::vector<Shown> with_sums(const Report& report, size_t most) {
  std::vector<Grids> kernels;
  std::vector<size_t> kernel_of;  // each launch
  for (const Launch& launch : report.launches) {
    const auto known = std::find_if(kernels.begin(), kernels.end(), [&](const Grids& grids) {
      return differ_in_grid_alone(*grids.front(), launch);
    });
    kernel_of.push_back(static_cast<size_t>(known - kernels.begin()));
    if (known == kernels.end())
      kernels.push_back({&launch});
    else
      known->push_back(&launch);
  }
  std::vector<Shown> shown;
  for (size_t i = 0; i < kernel_of.size(); ++i) {
    const Launch& launch = report.launches[i];
    const Grids& kernel = kernels[kernel_of[i]];
    if (kernel.size() <= most) {
      shown.push_back({launch, {}});
    } else if (kernel.front() == &launch) {
      Grids grids = kernel;
      std::stable_sort(grids.begin(), grids.end(),
                       [](const Launch* a, const Launch* b) { return cost_of(*a) > cost_of(*b); });
      shown.push_back({Sum(grids).result(), std::move(grids)});
    }
  }
  return shown;
}

Report with_grids_summed(const Report& report) {
  Report summed = report;
  summed.launches.clear();
  for (Shown& shown : with_sums(report, 1)) summed.launches.push_back(std::move(shown.launch));
  return summed;
}

}  // namespace lanescope::report
