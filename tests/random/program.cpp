// The text of a program, and the data it starts from.
#include "random/program.hpp"

#include <fmt/format.h>

namespace lanescope::random {
namespace {

void put(std::string& text, const Body& body) {
  for (const Node& node : body) {
    for (size_t i = 0; i < node.lines.size(); ++i) {
      text += node.lines[i];
      if (i < node.bodies.size()) put(text, node.bodies[i]);
    }
  }
}

uint64_t word_of(uint64_t seed, uint64_t stream, uint64_t index) {
  return mix(mix(seed ^ mix(stream)) + index);
}

}  // namespace

std::string header() { return ".version 9.0\n.target sm_90\n.address_size 64\n\n"; }

std::string text_of(const Program& program) {
  const std::string& name = program.name;
  const uint32_t threads = program.threads;
  std::string text;
  for (const Sequence& sequence : program.sequences) text += sequence.functions;
  if (program.constants) {
    text += fmt::format(".const .align 16 .b64 {}_table[{}] = {{", name, constant_bytes / 8);
    for (uint32_t i = 0; i < constant_bytes / 8; ++i)
      text += fmt::format("{}0x{:016x}", i == 0 ? "" : ", ", word_of(program.seed, 2, i));
    text += "};\n";
  }
  text += fmt::format(
      ".visible .entry {0}(.param .u64 {0}_in, .param .u64 {0}_out, .param .align 16 .b8 {0}_data[{1}])\n"
      ".reqntid {2}, 1, 1\n{{\n"
      ".reg .b32 %t, %g, %shb, %shp;\n"
      ".reg .b64 %in, %out, %o1, %o2, %o4, %o8, %scr, %loc;\n"
      ".shared .align 16 .b8 {0}_sh[{3}];\n"
      ".local .align 16 .b8 {0}_loc[{4}];\n"
      "mov.u32 %t, %tid.x;\n"
      "mov.u32 %g, %ctaid.x;\n"
      "mad.lo.u32 %g, %g, {2}, %t;\n"
      "mov.u32 %shb, {0}_sh;\n"
      "mad.lo.u32 %shp, %t, {4}, %shb;\n"
      "mov.u64 %loc, {0}_loc;\n"
      "ld.param.u64 %in, [{0}_in];\n"
      "cvta.to.global.u64 %in, %in;\n"
      "mad.wide.u32 %in, %g, 8, %in;\n"
      "ld.param.u64 %out, [{0}_out];\n"
      "cvta.to.global.u64 %out, %out;\n"
      "mad.wide.u32 %o1, %g, 1, %out;\n"
      "mad.wide.u32 %o2, %g, 2, %out;\n"
      "mad.wide.u32 %o4, %g, 4, %out;\n"
      "mad.wide.u32 %o8, %g, 8, %out;\n"
      "mad.wide.u32 %scr, %g, {4}, %out;\n",
      name, data_bytes, threads,
      threads * (private_bytes + exchange_bytes + warp_bytes) + 8 * contended_words, private_bytes);
  for (const Sequence& sequence : program.sequences) {
    text += "{\n" + sequence.registers + sequence.before;
    put(text, sequence.body);
    text += sequence.after + "}\n";
  }
  return text + "ret;\n}\n\n";
}

std::vector<uint64_t> inputs_of(const Program& program) {
  std::vector<uint64_t> words;
  words.reserve(program.inputs.size() * program.total_threads());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    Random random(word_of(program.seed, 1, i));
    for (uint32_t t = 0; t < program.total_threads(); ++t)
      words.push_back(value(random, program.inputs[i].kind));
  }
  return words;
}

std::vector<uint8_t> data_of(const Program& program) {
  std::vector<uint8_t> data;
  for (uint32_t i = 0; i < data_bytes; ++i) data.push_back(static_cast<uint8_t>(word_of(program.seed, 3, i)));
  return data;
}

}  // namespace lanescope::random
