// See fatbin.hpp. The layout of an entry's header, by offset:
//   0 u16 kind (1 PTX, 2 machine code, 8 LTO-IR)   4 u32 size of this header: where the payload starts
//   8 u64 payload size, padded to 8               16 u32 compressed size; 0: not compressed
//  24 u16 minor version, 26 u16 major             28 u32 architecture
//  32 u32 offset, 36 u32 length of the source     40 u64 flags            56 u64 size of the text, if
//  compressed
#include "cuda/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.hpp"
#include "cuda/machine_code.hpp"

namespace lanescope::cuda {
namespace {

constexpr uint64_t container_header = 16, entry_header = 64;
constexpr uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_arch_specific = 0x100000,
                   flag_family = 0x200000;

/// A little-endian integer; the caller has checked that it lies inside.
template <typename T>
T load(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void damaged(const std::string& name, uint64_t offset, const std::string& what) {
  throw Error(name + ": damaged fat binary: " + what + " (at byte " + std::to_string(offset) + ")");
}

FatImage::Kind kind_of(uint16_t number) {
  switch (number) {
    case 1: return FatImage::Kind::ptx;
    case 2: return FatImage::Kind::machine_code;
    case 8: return FatImage::Kind::lto_ir;
    default: return FatImage::Kind::other;
  }
}

/// The entry at the beginning of `entry`, which reaches to the end of the container.
FatImage read_entry(std::span<const std::byte> entry, uint64_t at, const std::string& name, uint64_t& size) {
  if (entry.size() < entry_header) damaged(name, at, "an entry ends inside its header");
  const auto header = load<uint32_t>(entry, 4);
  const auto payload = load<uint64_t>(entry, 8);
  if (header < entry_header || header > entry.size())
    damaged(name, at + 4, "an entry's header has no possible size");
  if (payload > entry.size() - header) damaged(name, at + 8, "an entry is larger than what is left");

  FatImage image;
  image.kind = kind_of(load<uint16_t>(entry, 0));
  image.version_minor = load<uint16_t>(entry, 24);
  image.version_major = load<uint16_t>(entry, 26);
  image.sm = load<uint32_t>(entry, 28);
  image.flags = load<uint64_t>(entry, 40);
  image.variant = (image.flags & flag_arch_specific) != 0 ? 'a'
                  : (image.flags & flag_family) != 0      ? 'f'
                                                          : '\0';

  const auto source_at = load<uint32_t>(entry, 32), source_size = load<uint32_t>(entry, 36);
  if (source_size != 0) {
    if (source_at > header || source_size > header - source_at)
      damaged(name, at + 32, "the name of an entry's source lies outside its header");
    image.source.assign(reinterpret_cast<const char*>(entry.data()) + source_at, source_size);
  }

  const auto compressed = load<uint32_t>(entry, 16);
  uint64_t used = payload;
  if (compressed != 0) {
    if (compressed > payload) damaged(name, at + 16, "an entry's compressed text is larger than the entry");
    if ((image.flags & flag_zstd) != 0)
      image.compression = FatImage::Compression::zstd;
    else if ((image.flags & flag_lz4) != 0)
      image.compression = FatImage::Compression::lz4;
    else
      damaged(name, at + 40, "an entry is compressed in an unknown way");
    used = compressed;
    image.text_bytes = load<uint64_t>(entry, 56);
  }
  image.payload = entry.subspan(header, used);
  size = header + payload;
  return image;
}

struct Architecture {
  uint32_t sm = 0;  ///< 0: none that PTX is made for
  char variant = 0;
};
/// Of "sm_90a".
Architecture number_of(std::string_view arch) {
  Architecture out;
  if (arch.starts_with("sm_")) arch.remove_prefix(3);
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), out.sm);
  if (error != std::errc()) return {};
  if (end != arch.data() + arch.size()) out.variant = *end;
  return out;
}

}  // namespace

std::string FatImage::target() const {
  std::string text = "sm_" + std::to_string(sm);
  if (variant != 0) text += variant;
  return text;
}

uint64_t container_size(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < container_header) damaged(name, 0, "it ends inside its header");
  if (load<uint32_t>(bytes, 0) != container_magic)
    damaged(name, 0, "it does not begin with the container's mark");
  const auto version = load<uint16_t>(bytes, 4), header = load<uint16_t>(bytes, 6);
  if (version != 1) damaged(name, 4, "the container has version " + std::to_string(version) + ", known is 1");
  if (header < container_header) damaged(name, 6, "the container's header has no possible size");
  const auto content = load<uint64_t>(bytes, 8);
  if (content > UINT64_MAX - header) damaged(name, 8, "the container has no possible size");
  return header + content;
}

std::vector<FatImage> read_fat_binary(std::span<const std::byte> bytes, const std::string& name) {
  const uint64_t end = container_size(bytes, name);
  if (end > bytes.size()) damaged(name, 8, "the container is larger than the bytes given");
  std::vector<FatImage> images;
  uint64_t at = load<uint16_t>(bytes, 6);
  while (at < end) {
    uint64_t size = 0;
    images.push_back(read_entry(bytes.subspan(at, end - at), at, name, size));
    at += size;
  }
  return images;
}

std::string content_of(const FatImage& image, const std::string& name) {
  const bool is_text = image.kind == FatImage::Kind::ptx;
  const auto* data = reinterpret_cast<const char*>(image.payload.data());
  std::string content;
  if (image.compression == FatImage::Compression::none) {
    content.assign(data, image.payload.size());
  } else {
    const std::string where =
        name + (is_text ? ": the PTX for " : ": the machine code for ") + image.target();
    // Neither format makes one byte out of less than a few hundredths of a bit; what claims more is damaged,
    // and must not make us take the memory first.
    if (image.text_bytes == 0 || image.text_bytes > most_text_bytes ||
        image.text_bytes / 65536 > image.payload.size())
      throw Error(where + " claims to have " + std::to_string(image.text_bytes) + " bytes");
    content.resize(image.text_bytes);
    if (image.compression == FatImage::Compression::zstd) {
      const size_t got = ZSTD_decompress(content.data(), content.size(), data, image.payload.size());
      if (ZSTD_isError(got) != 0) throw Error(where + " does not decompress: " + ZSTD_getErrorName(got));
      if (got != content.size()) throw Error(where + " is shorter than its entry says");
    } else {
      const int got = LZ4_decompress_safe(data, content.data(), static_cast<int>(image.payload.size()),
                                          static_cast<int>(content.size()));
      if (got < 0) throw Error(where + " does not decompress: damaged LZ4 block");
      if (static_cast<size_t>(got) != content.size()) throw Error(where + " is shorter than its entry says");
    }
  }
  if (is_text) content.resize(content.find_last_not_of('\0') + 1);
  return content;
}

std::vector<const FatImage*> choose(std::span<const FatImage> images, FatImage::Kind kind,
                                    std::string_view arch) {
  const Architecture device = number_of(arch);
  std::vector<const FatImage*> all;
  for (const FatImage& image : images) {
    if (image.kind != kind || image.sm > device.sm) continue;
    // Chips are of the variant 'a'; naming it says that its instructions may be used. Without it they still
    // may: the program was compiled for this chip.
    if (image.variant == 'a' && image.sm != device.sm) continue;
    if (image.variant == 'f' && image.sm / 10 != device.sm / 10) continue;
    all.push_back(&image);
  }
  const auto rank = [&](const FatImage* i) { return i->sm * 2 + (i->variant == device.variant ? 1u : 0u); };
  std::stable_sort(all.begin(), all.end(),
                   [&](const FatImage* a, const FatImage* b) { return rank(a) > rank(b); });
  return all;
}

std::vector<std::string> ptx_for(std::span<const FatImage> images, std::string_view arch,
                                 const std::string& name) {
  const auto ptx = choose(images, FatImage::Kind::ptx, arch);
  for (const FatImage* image : choose(images, FatImage::Kind::machine_code, arch)) {
    if (!ptx.empty() && ptx.front()->sm >= image->sm) break;
    try {
      const std::string content = content_of(*image, name);
      std::vector<std::string> texts = ptx_in_machine_code(std::as_bytes(std::span(content)), name);
      if (!texts.empty()) return texts;
    } catch (const Error&) {
      if (ptx.empty()) throw;
    }
  }
  if (!ptx.empty()) return {content_of(*ptx.front(), name)};
  return {};
}

const FatImage* stand_in(std::span<const FatImage> images, std::string_view arch) {
  const uint32_t sm = number_of(arch).sm;
  const auto code = choose(images, FatImage::Kind::machine_code, arch);
  // Machine code runs on its own major generation.
  if (code.empty() || code.front()->sm / 10 != sm / 10) return nullptr;
  const bool is_for_older =
      std::ranges::any_of(images, [&](const FatImage& i) { return i.sm < code.front()->sm; });
  if (code.front()->variant == 'a' && !is_for_older) return nullptr;
  const FatImage* nearest = nullptr;
  for (const FatImage& image : images)
    if (image.kind == FatImage::Kind::ptx && image.sm > sm && (nearest == nullptr || image.sm < nearest->sm))
      nearest = &image;
  return nearest;
}

}  // namespace lanescope::cuda
