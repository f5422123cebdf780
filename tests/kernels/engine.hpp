// Runs cases on the engine, with counts.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "exec/tensor_map.hpp"
#include "kernels/case.hpp"
#include "lanescope/model/archs.hpp"
#include "merge/plan.hpp"
#include "profile/collector.hpp"
#include "profile/profile.hpp"
#include "ptx/module.hpp"

namespace lanescope::kernels {

[[nodiscard]] inline const model::Arch& sm_90() { return *model::find_arch("sm_90"); }

/// One PTX file, loaded: `path` is relative to the source tree.
class Program {
 public:
  explicit Program(const std::string& path) {
    auto module = std::make_shared<ptx::Module>(ptx::parse(read_file(LANESCOPE_SOURCE_DIR "/" + path), path));
    image_ = std::make_unique<exec::Image>(std::move(module), memory_);
  }

  [[nodiscard]] exec::Image& image() { return *image_; }
  [[nodiscard]] exec::Memory& memory() { return memory_; }
  /// The address of memory with these contents, which stays.
  template <class T>
  [[nodiscard]] uint64_t resident(const std::vector<T>& contents) {
    const uint64_t address = memory_.allocate(contents.size() * sizeof(T));
    std::memcpy(reinterpret_cast<void*>(address), contents.data(), contents.size() * sizeof(T));
    return address;
  }

 private:
  exec::Memory memory_;
  std::unique_ptr<exec::Image> image_;
};

[[nodiscard]] inline exec::TensorMap map_of(const Tensor& tensor, uint64_t address) {
  exec::TensorMap map;
  map.address = address;
  map.dimensions = static_cast<uint8_t>(tensor.dimensions);
  map.type = static_cast<exec::TensorMap::Type>(tensor.type);
  map.swizzle = static_cast<exec::TensorMap::Swizzle>(tensor.swizzle);
  map.fills_nan = tensor.fills_nan;
  for (uint32_t d = 0; d < tensor.dimensions; ++d) {
    map.last[d] = static_cast<uint32_t>(tensor.size[d] - 1);
    map.box[d] = static_cast<uint16_t>(tensor.box[d]);
    map.steps[d] = static_cast<uint8_t>(tensor.steps[d]);
    if (d + 1 < tensor.dimensions) map.strides[d] = tensor.strides[d];
  }
  return map;
}

struct Outcome {
  std::vector<Bytes> buffers;  ///< contents after the launch of each buffer that is no scratch
  exec::LaunchResult result;
  profile::Profile profile;  ///< empty if not observed
};

/// Runs one case. `arch`: counts as this architecture does; null: counts nothing. `threads`: of the host, 0 =
/// all. `record`: of which blocks accesses are kept, for advice. `merge`: counts accesses to shared memory as
/// the assembler merges them.
[[nodiscard]] inline Outcome run_kernel(Program& program, const Case& c, const model::Arch* arch,
                                        uint32_t threads = 0,
                                        profile::RecordBlocks record = profile::RecordBlocks::none,
                                        const exec::Checks& checks = {}, bool merge = false) {
  const exec::Kernel& kernel = program.image().kernel(c.kernel);
  if (kernel.params.size() != c.arguments.size())
    throw Error(c.kernel + " takes " + std::to_string(kernel.params.size()) + " arguments");

  exec::LaunchConfig config;
  config.grid = {c.grid.x, c.grid.y, c.grid.z};
  config.block = {c.block.x, c.block.y, c.block.z};
  config.dynamic_shared = c.dynamic_shared;
  config.threads = threads;
  config.checks = checks;
  config.params.resize(kernel.param_bytes);
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument& a = c.arguments[i];
    const exec::Kernel::Parameter& p = kernel.params[i];
    if (a.is_buffer) {
      const uint64_t address = program.memory().allocate(a.scratch != 0 ? a.scratch : a.value.size());
      std::copy(a.value.begin(), a.value.end(), reinterpret_cast<std::byte*>(address));
      if (a.tensor) {
        const exec::TensorMap map = map_of(*a.tensor, address);
        std::memcpy(config.params.data() + p.offset, &map, sizeof map);
      } else {
        std::memcpy(config.params.data() + p.offset, &address, sizeof address);
      }
      addresses.push_back(address);
    } else {
      if (a.value.size() != p.size) throw Error(c.kernel + ": size of argument " + std::to_string(i));
      std::memcpy(config.params.data() + p.offset, a.value.data(), p.size);
    }
  }

  std::unique_ptr<profile::Collectors> collectors;
  if (arch != nullptr) {
    std::shared_ptr<const merge::Plan> plan;
    if (merge)
      plan = std::make_shared<const merge::Plan>(merge::predict(program.image().module(), kernel, *arch));
    collectors = std::make_unique<profile::Collectors>(*arch, static_cast<uint32_t>(kernel.accesses.size()),
                                                       record, plan);
    config.observer = [&](uint32_t host_thread) { return collectors->of(host_thread); };
  }

  Outcome run;
  run.result = program.image().launch(kernel, config);
  if (collectors) run.profile = collectors->merged();
  size_t next = 0;
  for (const Argument& a : c.arguments) {
    if (!a.is_buffer) continue;
    const uint64_t address = addresses[next++];
    const auto* data = reinterpret_cast<const std::byte*>(address);
    if (a.scratch == 0) run.buffers.emplace_back(data, data + a.value.size());
    program.memory().release(address);
  }
  return run;
}

/// The costs of shared memory, whole launch.
[[nodiscard]] inline BlockCost cost_of(const profile::Profile& profile) {
  const profile::Totals totals = profile::totals(profile);
  const auto of = [](const profile::Counters& c) { return SharedCost{c.requests, c.wavefronts, c.ideal}; };
  profile::Counters stores = totals.shared_store;
  stores.add(totals.shared_copy);
  return {of(totals.shared_load), of(stores)};
}

inline void PrintTo(const BlockCost& cost, std::ostream* out) {
  const auto print = [&](const char* name, const SharedCost& c) {
    *out << name << ' ' << c.requests << " requests, " << c.wavefronts << " wavefronts, " << c.ideal
         << " ideal";
  };
  print("loads: ", cost.load);
  print("; stores: ", cost.store);
}

}  // namespace lanescope::kernels
