// Loads, launches, copies.
#include "random/gpu.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace lanescope::random {

namespace {

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

uint64_t grown(gpu::Device& device, gpu::Buffer& buffer, size_t wanted) {
  if (wanted > buffer.size()) {
    buffer = gpu::Buffer();
    buffer = device.allocate(wanted * 2);
  }
  return buffer.address();
}

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Gpu::Gpu() : name_(fmt::format("{}, CUDA {}", device_.name(), device_.cuda_version())) {}

std::vector<std::vector<uint8_t>> Gpu::run(const std::string& text,
                                           const std::vector<const Program*>& programs, std::string& refusal,
                                           unsigned level) {
  const Stopwatch assembler;
  gpu::Module module;
  try {
    module = device_.load(text, level);
  } catch (const gpu::RefusedPtx& refused) {
    refusal = refused.what();
    return {};
  }
  assembling_ += assembler.seconds();

  const Stopwatch rest;
  std::vector<uint64_t> words;
  std::vector<size_t> in_offsets, out_offsets;
  size_t out_bytes = 0;
  for (const Program* program : programs) {
    words.resize(rounded(words.size() * 8) / 8);
    in_offsets.push_back(words.size() * 8);
    const auto inputs = inputs_of(*program);
    words.insert(words.end(), inputs.begin(), inputs.end());
    out_offsets.push_back(out_bytes);
    out_bytes += rounded(program->output_bytes);
  }
  const uint64_t in = grown(device_, in_, words.size() * 8 + 1);
  const uint64_t out = grown(device_, out_, out_bytes + 1);
  device_.write(in, words.data(), words.size() * 8);
  device_.fill(out, 0, out_bytes);
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& program = *programs[i];
    const uint64_t program_in = in + in_offsets[i], program_out = out + out_offsets[i];
    const std::vector<uint8_t> data = data_of(program);
    const std::array<const void*, 3> parameters{&program_in, &program_out, data.data()};
    device_.launch(module.function(program.name),
                   {.grid = {program.blocks, 1, 1}, .block = {program.threads, 1, 1}}, parameters);
  }
  device_.wait(std::chrono::seconds(10));
  std::vector<uint8_t> all(out_bytes);
  device_.read(all.data(), out, out_bytes);
  std::vector<std::vector<uint8_t>> outputs;
  for (size_t i = 0; i < programs.size(); ++i) {
    const uint8_t* first = all.data() + out_offsets[i];
    outputs.emplace_back(first, first + programs[i]->output_bytes);
  }
  running_ += rest.seconds();
  return outputs;
}

}  // namespace lanescope::random
