// Fat binaries: what nvcc puts into a program in place of device code. A container holds entries, one for
// each target: PTX text, machine code, or the link-time compiler's intermediate form; a text is plain, or
// compressed with LZ4 or zstd. The format is not documented by its vendor; what is read here was found by
// trying (docs/cuda-programs.md). All of it is foreign input: every offset, size and count is checked against
// the bytes given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::cuda {

/// `word` of the structure that a program registers, and of a container.
inline constexpr uint32_t wrapper_magic = 0x466243b1;
inline constexpr uint32_t container_magic = 0xba55ed50;

/// PTX texts larger than this are refused, so that a few corrupt bytes cannot ask for all of the memory.
inline constexpr uint64_t most_text_bytes = uint64_t{1} << 30;

struct FatImage {
  enum class Kind : uint8_t { ptx, machine_code, lto_ir, other };
  enum class Compression : uint8_t { none, lz4, zstd };
  Kind kind{};
  Compression compression{};
  uint32_t sm = 0;   ///< 90: compute capability 9.0
  char variant = 0;  ///< 'a' (this architecture only), 'f' (its family), 0
  uint16_t version_major = 0, version_minor = 0;
  uint64_t flags = 0;
  uint64_t text_bytes = 0;  ///< of the text, when it is compressed
  std::string source;       ///< the file it was compiled from, as the compiler wrote it; mostly empty
  std::span<const std::byte> payload;  ///< in the container

  /// "sm_90a".
  [[nodiscard]] std::string target() const;
};

/// The entries of one container, in its order. Throws lanescope::Error that begins with `name` when the bytes
/// are no container or are damaged. The images point into `bytes`.
[[nodiscard]] std::vector<FatImage> read_fat_binary(std::span<const std::byte> bytes,
                                                    const std::string& name);

/// How many bytes the container at the beginning of `bytes` takes, from its header alone. Throws
/// lanescope::Error.
[[nodiscard]] uint64_t container_size(std::span<const std::byte> bytes, const std::string& name);

/// What an image holds, decompressed: the text of PTX, or an ELF file. Throws lanescope::Error that begins
/// with `name` when it does not decompress to what the entry promises.
[[nodiscard]] std::string content_of(const FatImage& image, const std::string& name);

/// The images of one kind that were made of PTX which a device of this architecture ("sm_90", "sm_90a") runs,
/// best first: those with the highest target that is not above it; of two for one target the one made for
/// exactly this variant. Targets with 'a' run on their own architecture only, those with 'f' on the same
/// major generation.
[[nodiscard]] std::vector<const FatImage*> choose(std::span<const FatImage> images, FatImage::Kind kind,
                                                  std::string_view arch);

/// The PTX that a device of this architecture runs, a text for each translation unit: that of the best image,
/// of PTX or of machine code that has its PTX inside (machine_code.hpp); of two with one target that of PTX.
/// Empty when there is none. Throws lanescope::Error.
[[nodiscard]] std::vector<std::string> ptx_for(std::span<const FatImage> images, std::string_view arch,
                                               const std::string& name);

/// Where machine code for a device of this architecture has no PTX, and all PTX beside it is for newer ones:
/// the nearest of that, which was made of the same source. Null where there is none, or where the code is for
/// this chip alone (variant 'a', and none for older chips), for what uses its own instructions is mostly left
/// out for others.
[[nodiscard]] const FatImage* stand_in(std::span<const FatImage> images, std::string_view arch);

}  // namespace lanescope::cuda
