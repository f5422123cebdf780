// Finds, shows and shrinks differences.
#include "random/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

namespace lanescope::random {
namespace {

uint64_t at(const Output& output, size_t offset, uint32_t width) {
  uint64_t value = 0;
  if (offset + width <= output.size()) std::memcpy(&value, &output[offset], width);
  return value;
}

bool is_nan(uint64_t bits, ptx::Type type) {
  const auto beyond = [](uint64_t x, uint32_t width, uint32_t mantissa) {
    const uint64_t magnitude = x & ((uint64_t{1} << (width - 1)) - 1);
    return magnitude > ((uint64_t{1} << (width - 1)) - (uint64_t{1} << mantissa));
  };
  switch (type) {
    case ptx::Type::f32: return beyond(bits & 0xffffffff, 32, 23);
    case ptx::Type::f64: return beyond(bits, 64, 52);
    case ptx::Type::f16: return beyond(bits & 0xffff, 16, 10);
    case ptx::Type::bf16: return beyond(bits & 0xffff, 16, 7);
    default: return false;
  }
}

/// Every node of a body, so that one can be taken out by its number.
void collect(Body& body, std::vector<std::pair<Body*, size_t>>& places) {
  for (size_t i = 0; i < body.size(); ++i) {
    places.emplace_back(&body, i);
    for (Body& inner : body[i].bodies) collect(inner, places);
  }
}

}  // namespace

std::vector<Difference> differences(const Program& program, const Output& engine, const Output& gpu) {
  std::vector<Difference> found;
  std::set<uint32_t> seen;
  for (uint32_t s = 0; s < program.slots.size(); ++s) {
    const Slot& slot = program.slots[s];
    if (seen.contains(slot.sequence)) continue;
    for (uint32_t t = 0; t < slot.count; ++t) {
      const size_t offset = slot.offset + size_t{t} * slot.width;
      const uint64_t a = at(engine, offset, slot.width), b = at(gpu, offset, slot.width);
      if (a == b) continue;
      std::string key = slot.instruction.empty() ? "value at the end of a sequence" : slot.instruction;
      if (key.starts_with('@')) key = key.substr(key.find(' ') + 1);
      const size_t blank = key.find(' ');
      if (!slot.instruction.empty() && key.back() == ';') key = key.substr(0, blank);
      if (is_nan(a, slot.type) && is_nan(b, slot.type)) key += " (both NaN)";
      found.push_back({slot.sequence, s, t, a, b, key});
      seen.insert(slot.sequence);
      break;
    }
  }
  // The bytes that threads have alone come before all slots.
  const size_t first = program.slots.empty() ? program.output_bytes : program.slots.front().offset;
  for (size_t offset = 0; seen.empty() && offset + 8 <= std::min(first, engine.size()); offset += 8) {
    const uint64_t a = at(engine, offset, 8), b = at(gpu, offset, 8);
    if (a == b) continue;
    const auto thread = static_cast<uint32_t>(offset / (first / program.total_threads()));
    found.push_back({0, 0, thread, a, b, "global memory a thread has alone"});
    break;
  }
  return found;
}

std::string annotated(const Program& program, const Difference& difference, const Output& engine,
                      const Output& gpu) {
  const auto inputs = inputs_of(program);
  const uint32_t t = difference.thread;
  Program one = program;
  one.sequences = {program.sequences[difference.sequence]};
  const std::string whole = text_of(one);
  std::istringstream lines(one.sequences[0].functions + whole.substr(whole.rfind("{\n.reg")));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += "  " + line;
    const size_t plus = line.find('+');
    if (line.starts_with("ld.global.b") && line.find("[%in+") != std::string::npos) {
      const size_t slot = std::stoull(line.substr(plus + 1)) / (8 * program.total_threads());
      const uint64_t bits = std::stoull(line.substr(std::strlen("ld.global.b")));
      const uint64_t word = inputs[slot * program.total_threads() + t];
      text += fmt::format("  // 0x{:x}", bits == 64 ? word : word & ((uint64_t{1} << bits) - 1));
    } else if (line.starts_with("st.global.b") && line.find("[%o") != std::string::npos) {
      const size_t offset = std::stoull(line.substr(plus + 1));
      const uint32_t width = static_cast<uint32_t>(line[line.find("[%o") + 3] - '0');
      const uint64_t a = at(engine, offset + size_t{t} * width, width);
      const uint64_t b = at(gpu, offset + size_t{t} * width, width);
      text += a == b ? fmt::format("  // 0x{:x}", a) : fmt::format("  // engine 0x{:x}, GPU 0x{:x}", a, b);
    }
    text += "\n";
  }
  return text;
}

Program minimised(const Program& program, uint32_t sequence,
                  const std::function<bool(const Program&)>& differs) {
  Program smallest = program;
  smallest.sequences = {program.sequences[sequence]};
  if (!differs(smallest)) return program;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t n = 0;; ++n) {
      Program candidate = smallest;
      std::vector<std::pair<Body*, size_t>> places;
      collect(candidate.sequences[0].body, places);
      if (n >= places.size()) break;
      auto [body, index] = places[n];
      body->erase(body->begin() + static_cast<std::ptrdiff_t>(index));
      if (!differs(candidate)) continue;
      smallest = std::move(candidate);
      smaller = true;
      --n;
    }
  }
  return smallest;
}

}  // namespace lanescope::random
