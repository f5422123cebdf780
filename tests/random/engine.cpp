// Loads, launches, hashes.
#include "random/engine.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/module.hpp"

namespace lanescope::random {

EngineModule::EngineModule(std::string text) {
  auto module = std::make_shared<ptx::Module>(ptx::parse(std::move(text), "random.ptx"));
  image_ = std::make_unique<exec::Image>(std::move(module), memory_);
}
EngineModule::~EngineModule() = default;

EngineModule::Outcome EngineModule::run(const Program& program) {
  const exec::Kernel& kernel = image_->kernel(program.name);
  const std::vector<uint64_t> words = inputs_of(program);
  const std::vector<uint8_t> data = data_of(program);
  const uint64_t in = memory_.allocate(std::max<uint64_t>(words.size() * 8, 8));
  const uint64_t out = memory_.allocate(std::max<uint64_t>(program.output_bytes, 8));
  std::copy(words.begin(), words.end(), reinterpret_cast<uint64_t*>(in));

  exec::LaunchConfig config;
  config.grid = {program.blocks, 1, 1};
  config.block = {program.threads, 1, 1};
  config.threads = 1;
  config.params.resize(kernel.param_bytes);
  std::memcpy(&config.params[kernel.params[0].offset], &in, sizeof in);
  std::memcpy(&config.params[kernel.params[1].offset], &out, sizeof out);
  std::memcpy(&config.params[kernel.params[2].offset], data.data(), data.size());
  const exec::LaunchResult result = image_->launch(kernel, config);

  Outcome outcome;
  const auto* bytes = reinterpret_cast<const uint8_t*>(out);
  outcome.output.assign(bytes, bytes + program.output_bytes);
  if (!result.findings.empty()) outcome.finding = result.findings.front().message;
  memory_.release(in);
  memory_.release(out);
  return outcome;
}

uint64_t hash_of(const std::vector<uint8_t>& output) {
  uint64_t hash = output.size();
  for (size_t at = 0; at < output.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &output[at], std::min<size_t>(8, output.size() - at));
    hash = mix(hash * 0x9e3779b97f4a7c15ull + word);
  }
  return hash;
}

}  // namespace lanescope::random
