// A chip that exists in the model only: its latencies are what the model counts, on a straight line, with the
// faults of measurements.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "lanescope/model/global.hpp"
#include "lanescope/model/shared.hpp"
#include "probe/measure.hpp"

namespace lanescope::probe {

/// What goes wrong while measuring.
struct Faults {
  double noise = 0;        ///< cycles, standard deviation
  double outliers = 0;     ///< share of measurements that take far longer
  double drift = 0;        ///< cycles that each measurement takes longer than the one before
  bool no_matrix = false;  ///< no ldmatrix, stmatrix
  bool no_async = false;   ///< no cp.async
  double cycles_per_wavefront = 2;
};

class Simulated final : public Timer {
 public:
  explicit Simulated(const model::Arch& arch, const Faults& faults = {}) : arch_(arch), faults_(faults) {}

  [[nodiscard]] int lanes() const override { return arch_.warp_lanes; }

  [[nodiscard]] std::vector<std::vector<double>> cycles(const Access& access,
                                                        std::span<const Offsets> patterns) override {
    const bool matrix = access.op == model::Op::ldmatrix || access.op == model::Op::stmatrix;
    if ((matrix && faults_.no_matrix) || (is_copy(access.op) && faults_.no_async)) return {};
    std::vector<double> exact;
    for (const Offsets& pattern : patterns)
      exact.push_back(access.space == Access::Space::global ? global(pattern) : shared(access, pattern));
    std::vector<std::vector<double>> result(patterns.size());
    for (int round = 0; round < 9; ++round)
      for (size_t i = 0; i < patterns.size(); ++i) {
        double value = exact[i];
        value += faults_.noise * normal_(random_) + faults_.drift * measured_++;
        if (std::uniform_real_distribution<>()(random_) < faults_.outliers) value *= 5;
        result[i].push_back(value);
      }
    return result;
  }

 private:
  [[nodiscard]] double shared(const Access& access, const Offsets& offsets) const {
    const double first = 20.0 + 3 * access.width + 5 * static_cast<double>(access.op);
    return first +
           faults_.cycles_per_wavefront * model::shared_cost(arch_, request_of(access, offsets)).wavefronts;
  }

  /// Two loads by one lane, of which the first brings its block.
  [[nodiscard]] double global(const Offsets& pair) const {
    constexpr double hit = 35, miss = 300, same_line_miss = 340;
    const bool cached =
        arch_.global == model::GlobalRule::sectors || arch_.global == model::GlobalRule::lines;
    const uint32_t block = arch_.global == model::GlobalRule::sectors ? 32 : 128;
    if (cached && pair[0] / block == pair[1] / block) return miss + hit;
    return miss + (cached && pair[0] / 128 == pair[1] / 128 ? same_line_miss : miss);
  }

  model::Arch arch_;
  Faults faults_;
  std::minstd_rand random_{1};
  std::normal_distribution<> normal_;
  int measured_ = 0;
};

}  // namespace lanescope::probe
