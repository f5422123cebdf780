// A random program: what the generator makes, and what engine, GPU and minimiser work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/instruction_set.hpp"
#include "random/values.hpp"

namespace lanescope::random {

/// A piece of a body that can be taken out without making the program invalid: lines and bodies by turns
/// (lines[0], bodies[0], lines[1], …), beginning and ending with lines. An `if` has its test and branch in
/// lines[0], the lanes that take it in bodies[0], and so on.
struct Node {
  std::vector<std::string> lines;
  std::vector<std::vector<Node>> bodies{};
};
using Body = std::vector<Node>;

/// One 64-bit word a thread that a program reads.
struct Input {
  Kind kind{};
};

/// Values that a program writes, one a thread.
struct Slot {
  uint32_t sequence = 0;
  uint32_t offset = 0;      ///< bytes from the start of the output; thread t's value lies t * width behind
  uint32_t width = 0;       ///< bytes
  uint32_t count = 0;       ///< values: one for each thread, or words that all threads update
  ptx::Type type{};         ///< what was computed; none if unknown
  std::string instruction;  ///< whose result it is, as written; empty for a value at the end of a sequence
};

/// Instructions with registers, inputs and results of their own; sequences do not depend on each other.
struct Sequence {
  std::string functions;  ///< device functions that it calls
  std::string registers;  ///< declarations
  std::string before;     ///< loads its inputs
  Body body;
  std::string after;  ///< stores its results
};

/// One kernel: `entry(.param .u64 in, .param .u64 out, .param .align 16 .b8 data[64])`, to be launched once.
struct Program {
  std::string name;
  uint64_t seed = 0;
  uint32_t blocks = 1, threads = 32;  ///< threads of a block
  std::vector<Sequence> sequences;
  std::vector<Input> inputs;
  std::vector<Slot> slots;
  uint32_t output_bytes = 0;
  bool constants = false;  ///< uses the table of constants
  uint32_t instructions = 0;

  [[nodiscard]] uint32_t total_threads() const { return blocks * threads; }
};

inline constexpr uint32_t data_bytes = 64;       ///< of the kernel's third parameter
inline constexpr uint32_t constant_bytes = 256;  ///< of the table of constants
inline constexpr uint32_t private_bytes = 64;  ///< of shared memory and of output that each thread has alone
inline constexpr uint32_t exchange_bytes =
    16;                                    ///< of shared memory, a thread, in which threads exchange values
inline constexpr uint32_t warp_bytes = 4;  ///< and so many in which those of a warp do
inline constexpr uint32_t contended_words = 8;  ///< of shared memory and of output that all threads update

/// What every module begins with.
[[nodiscard]] std::string header();
/// The kernel and what belongs to it, without header.
[[nodiscard]] std::string text_of(const Program& program);
/// The contents of the input buffer (for each input, the word of each thread) and of the data parameter.
[[nodiscard]] std::vector<uint64_t> inputs_of(const Program& program);
[[nodiscard]] std::vector<uint8_t> data_of(const Program& program);

}  // namespace lanescope::random
