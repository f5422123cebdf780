// Kernel arguments as they are written on the command line: read, checked against the kernel's parameters,
// and turned into parameter bytes and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec/memory.hpp"
#include "exec/program.hpp"
#include "ptx/instruction_set.hpp"

namespace lanescope::cli {

/// One `--arg`:
///   TYPE:VALUE               a number; TYPE is u8 … u64, s8 … s64, b8 … b64, f32 or f64
///   hex:BYTES                the bytes of a struct, two hexadecimal digits each, lowest address first
///   buf:SIZE[=FILL]          a pointer to SIZE bytes of f32 elements; SIZE may end in K, M or G (powers of
///   1024) buf:TYPE:COUNT[=FILL]    a pointer to COUNT elements of TYPE; COUNT may end in K, M or G
/// FILL is zero (when not given), iota (element i is i), random (f32, f64: from [0, 1); integers: any), or
/// @FILE.
struct KernelArgument {
  enum class Kind : uint8_t { number, bytes, buffer };
  enum class Fill : uint8_t { zero, iota, random, file };
  std::string text;  ///< as given
  Kind kind{};
  ptx::Type type{};              ///< number; buffer: of the elements
  std::vector<std::byte> bytes;  ///< number, bytes: as they lie in memory
  uint64_t size = 0;             ///< buffer: bytes
  Fill fill{};
  std::string file;
};

/// Throws lanescope::Error that names the argument by `index` (from 0) and says what is wrong.
[[nodiscard]] KernelArgument parse_kernel_argument(size_t index, const std::string& text);

/// Throws lanescope::Error if the arguments do not fit the kernel's parameters: their number, sizes, or
/// kinds.
void check_kernel_arguments(const exec::Kernel& kernel, const std::vector<KernelArgument>& arguments);

/// The buffers of one launch; given back to the memory at the end.
class KernelBuffers {
 public:
  /// Allocates and fills the buffers; the arguments have passed check_kernel_arguments. `seed`: of random
  /// fills. Throws lanescope::Error if a file cannot be read or is larger than its buffer.
  KernelBuffers(exec::Memory& memory, const std::vector<KernelArgument>& arguments, uint64_t seed);
  KernelBuffers(const KernelBuffers&) = delete;
  KernelBuffers& operator=(const KernelBuffers&) = delete;
  ~KernelBuffers();

  /// Where the buffer of argument `index` lies; 0 for what is no buffer.
  [[nodiscard]] uint64_t address(size_t index) const { return address_[index]; }
  /// The bytes of the kernel's parameters.
  [[nodiscard]] std::vector<std::byte> parameters(const exec::Kernel& kernel) const;
  /// What the buffer of argument `index` holds.
  [[nodiscard]] std::string_view bytes(size_t index) const;

 private:
  void release();

  exec::Memory& memory_;
  const std::vector<KernelArgument>& arguments_;
  std::vector<uint64_t> address_;  ///< by argument; 0 for what is no buffer
};

/// A number of bytes or elements, with K, M or G for powers of 1024. Throws lanescope::Error that begins with
/// `what`.
[[nodiscard]] uint64_t parse_size(std::string_view text, const std::string& what);

}  // namespace lanescope::cli
