// Runs a recorded launch on a GPU: whether it writes what the engine wrote, and how long it takes, beside a
// copy of the GPU's memory in the same process.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/driver.hpp"
#include "replay/recording.hpp"

namespace lanescope::replay {

/// What a reader must know of the GPU.
struct Gpu {
  std::string name, arch, cuda;
  int multiprocessors = 0;
  double clock_hz = 0;  ///< the highest of its multiprocessors
  uint64_t l2_bytes = 0;
};
[[nodiscard]] Gpu describe(const gpu::Device& device);

struct Options {
  uint32_t runs = 100;             ///< timed ones, at most: a second is spent on them, but five are made
  double f32_tolerance = 1e-5;     ///< relative: numbers at most this far apart are close
  double f64_tolerance = 1e-12;    ///< the same
  std::chrono::seconds limit{60};  ///< for a launch to end
};

/// How a piece of memory on the GPU differs from the engine's.
struct Difference {
  std::string name;               ///< of the piece
  std::string element;            ///< as what it was compared: "f32", "4 bytes" …
  uint64_t elements = 0;          ///< of the piece
  uint64_t different = 0;         ///< of them
  uint64_t first = 0;             ///< index of the first one
  uint64_t address = 0;           ///< of the first one, in the engine
  std::string expected, found;    ///< its bytes, as a hexadecimal number
  std::optional<double> largest;  ///< relative difference, where all are numbers
  bool is_close = false;          ///< within the tolerance
};

struct Outcome {
  std::string failure;   ///< why there is nothing else, in words
  bool is_lost = false;  ///< the GPU does nothing more for this process, which had better end at once
  uint64_t bytes_compared = 0;
  std::vector<Difference> differences;
  std::vector<std::string> notes;
  std::vector<double> seconds;        ///< of each timed run
  std::vector<double> empty_seconds;  ///< of a kernel that does nothing, between the same events
  std::vector<double> copy_seconds;   ///< of a copy inside the GPU
  uint64_t copy_bytes = 0;            ///< that it reads, and as many that it writes
};

/// Loads the kernel and puts the memory at its addresses: for one launch after another, each of which finds
/// memory as it was. Throws gpu::GpuError.
class Replayed {
 public:
  Replayed(gpu::Device& device, const std::filesystem::path& folder);

  /// Puts memory back to what it was before, and launches.
  void restore();
  void launch();
  /// What memory holds now beside what the engine left. To be called after the first launch, before others:
  /// restore() puts back what the engine changed and what differs.
  void compare(const Options& options, Outcome& outcome);
  /// What a reader must know, of the recording and of how it is replayed.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Place {
    const Piece* piece;
    uint64_t address;   ///< on the GPU
    gpu::Buffer saved;  ///< what it holds before a launch; empty: nobody writes it
  };
  void save(Place& place);
  /// Bytes of a piece from `offset` on, as a GPU has them; says at which of them tensor maps lie.
  std::vector<size_t> read(const Contents& contents, const Piece& piece, uint64_t offset,
                           std::span<std::byte> to);

  gpu::Device& device_;
  std::filesystem::path folder_;
  Recording recording_;
  std::vector<std::string> notes_;
  std::vector<gpu::Buffer> memory_;
  gpu::Module module_;
  gpu::Function kernel_;
  std::vector<const void*> parameters_;  ///< where each lies in the recording
  std::vector<Place> places_;
};

/// All of it. What the GPU or the driver refuses is the outcome's failure. Where the GPU is lost, nothing is
/// given back to the driver: that could wait for a kernel that does not end.
[[nodiscard]] Outcome measure(gpu::Device& device, const std::filesystem::path& folder,
                              const Options& options);

[[nodiscard]] nlohmann::json to_json(const Gpu& gpu);
[[nodiscard]] nlohmann::json to_json(const Outcome& outcome);
/// As it stands in an outcome, and in the JSON that `lanescope measure` prints (docs/measure.md).
[[nodiscard]] nlohmann::ordered_json to_json(const Difference& difference);
/// Throw nlohmann::json::exception for what the other ones did not write.
[[nodiscard]] Gpu gpu_from_json(const nlohmann::json& json);
[[nodiscard]] Outcome outcome_from_json(const nlohmann::json& json);

}  // namespace lanescope::replay
