// Runs random programs on the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "random/program.hpp"

namespace lanescope::random {

/// A module of random programs, loaded. Throws lanescope::Error for what the engine refuses.
class EngineModule {
 public:
  explicit EngineModule(std::string text);
  ~EngineModule();

  struct Outcome {
    std::vector<uint8_t> output;
    std::string finding;  ///< what went wrong while it ran; empty if nothing did
  };
  [[nodiscard]] Outcome run(const Program& program);

 private:
  exec::Memory memory_;
  std::unique_ptr<exec::Image> image_;
};

/// 64 bits that stand for an output in the recorded data.
[[nodiscard]] uint64_t hash_of(const std::vector<uint8_t>& output);

}  // namespace lanescope::random
