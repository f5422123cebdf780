// What an image (launch.hpp) has for its module: where variables lie, and kernels decoded for running.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/decode.hpp"
#include "exec/launch.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

/// A kernel decoded for running with and without an observer, with and without checks.
struct Decoded {
  Kernel observed;
  struct Variant {
    bool is_observed;
    Checking checking;
    std::unique_ptr<Kernel> kernel;
  };
  std::array<Variant, 5> others{{{false, Checking::none, {}},
                                 {true, Checking::checked, {}},
                                 {false, Checking::checked, {}},
                                 {true, Checking::with_values, {}},
                                 {false, Checking::with_values, {}}}};
  std::mutex mutex;
  struct Pool {
    Dim3 block, cluster;
    bool explicit_cluster = false;
    uint32_t dynamic_shared = 0, stack_bytes = 0, stack_limit = 0;
    bool observed = false;
    Checks checks;
    std::vector<std::unique_ptr<BlockState>> states;
  } pool;  ///< states of the last launch, for the next one of the same shape
};

struct Image::State {
  Memory& memory;
  SymbolTable symbols;
  std::vector<uint64_t> owned;  ///< allocations to release
  std::mutex mutex;
  std::map<uint32_t, std::unique_ptr<Decoded>> kernels;  ///< by Module::functions

  explicit State(Memory& m) : memory(m) {}
};

}  // namespace lanescope::exec
