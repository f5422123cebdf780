// Latencies of warp-wide accesses: who measures them, what was measured, and what they say in wavefronts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probe/kernels.hpp"

namespace lanescope::probe {

/// One warp-wide access: the byte offset of each lane, `inactive` for lanes that do not take part.
using Offsets = std::vector<uint32_t>;

/// What the model is asked for this access, by as many lanes as there are offsets.
[[nodiscard]] model::Request request_of(const Access& access, const Offsets& offsets);

/// Something that can tell how long accesses take: a GPU, a record, or a simulation.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Lanes of a warp.
  [[nodiscard]] virtual int lanes() const = 0;
  /// Mean cycles of one access for each pattern (outer) and round (inner). Rounds go over all patterns, so
  /// that a slow change is the same for all. Empty when the chip has no such access.
  [[nodiscard]] virtual std::vector<std::vector<double>> cycles(const Access& access,
                                                                std::span<const Offsets> patterns) = 0;
};

/// One pattern and the cycles of its rounds.
struct Measurement {
  Access access;
  Offsets offsets;
  std::vector<double> cycles;

  [[nodiscard]] double median() const;
  /// Median distance of the rounds from the median.
  [[nodiscard]] double spread() const;
};

/// Measures and keeps what was measured.
class Bench {
 public:
  explicit Bench(Timer& timer) : timer_(timer) {}

  [[nodiscard]] int lanes() const { return timer_.lanes(); }
  /// Places of the measurements in all(), in the order of the patterns; empty when there is no such access.
  std::vector<size_t> measure(const Access& access, std::span<const Offsets> patterns);
  [[nodiscard]] const std::vector<Measurement>& all() const { return measured_; }

 private:
  Timer& timer_;
  std::vector<Measurement> measured_;
};

/// Answers from measurements made earlier. Throws lanescope::Error for a pattern that is not among them.
class Recorded final : public Timer {
 public:
  Recorded(int lanes, std::vector<Measurement> measurements);
  [[nodiscard]] int lanes() const override { return lanes_; }
  [[nodiscard]] std::vector<std::vector<double>> cycles(const Access& access,
                                                        std::span<const Offsets> patterns) override;

 private:
  int lanes_;
  std::vector<Measurement> measurements_;
};

/// "7 0x3 0+128x24 -x4": lane by lane; equal neighbours and even steps taken together, `-` for inactive
/// lanes. And back (throws lanescope::Error).
[[nodiscard]] std::string to_text(const Offsets& offsets);
[[nodiscard]] Offsets offsets_from_text(const std::string& text);

}  // namespace lanescope::probe
