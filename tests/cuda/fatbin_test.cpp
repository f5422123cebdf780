// The reader of fat binaries: what it finds in committed ones, which PTX it chooses, and that damaged ones
// give errors.
#include "cuda/fatbin.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lanescope::cuda {
namespace {

using Bytes = std::vector<std::byte>;

Bytes read(const std::string& name) {
  const std::string text = read_file(LANESCOPE_SOURCE_DIR "/tests/data/fatbin/" + name);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

template <typename T>
void put(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string error_of(const Bytes& bytes) {
  try {
    for (const FatImage& image : read_fat_binary(bytes, "app"))
      if (image.kind == FatImage::Kind::ptx) (void)content_of(image, "app");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FatBinary, EveryCompressionGivesTheSameText) {
  const Bytes plain = read("ptx_plain.fatbin"), lz4 = read("ptx_lz4.fatbin"), zstd = read("ptx_zstd.fatbin");
  const auto text = [](const Bytes& bytes, FatImage::Compression compression) {
    const auto images = read_fat_binary(bytes, "app");
    EXPECT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].kind, FatImage::Kind::ptx);
    EXPECT_EQ(images[0].compression, compression);
    EXPECT_EQ(images[0].sm, 75u);
    EXPECT_EQ(images[0].target(), "sm_75");
    EXPECT_EQ(images[0].version_major, 9);
    return content_of(images[0], "app");
  };
  const std::string expected = text(plain, FatImage::Compression::none);
  EXPECT_NE(expected.find(".visible .entry scale("), std::string::npos);
  EXPECT_EQ(expected.find('\0'), std::string::npos);
  EXPECT_EQ(text(lz4, FatImage::Compression::lz4), expected);
  EXPECT_EQ(text(zstd, FatImage::Compression::zstd), expected);
}

TEST(FatBinary, MachineCodeIsSeen) {
  const Bytes bytes = read("machine_code.fatbin");
  const auto images = read_fat_binary(bytes, "app");
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].kind, FatImage::Kind::machine_code);
  EXPECT_EQ(images[0].sm, 90u);
  EXPECT_TRUE(choose(images, FatImage::Kind::ptx, "sm_90").empty());
  EXPECT_EQ(choose(images, FatImage::Kind::machine_code, "sm_90").size(), 1u);
  EXPECT_TRUE(content_of(images[0], "app").starts_with("\177ELF"));
}

TEST(FatBinary, TheHighestTargetThatTheDeviceRunsIsChosen) {
  const Bytes bytes = read("targets.fatbin");
  const auto images = read_fat_binary(bytes, "app");
  ASSERT_EQ(images.size(), 4u);
  const auto chosen = [&](const char* arch) {
    const auto best = choose(images, FatImage::Kind::ptx, arch);
    return best.empty() ? std::string("none") : best.front()->target();
  };
  EXPECT_EQ(chosen("sm_70"), "none");
  EXPECT_EQ(chosen("sm_75"), "sm_75");
  EXPECT_EQ(chosen("sm_89"), "sm_75");
  EXPECT_EQ(chosen("sm_90"), "sm_90");
  EXPECT_EQ(chosen("sm_90a"), "sm_90a");
  EXPECT_EQ(chosen("sm_100"), "sm_100f");
  EXPECT_EQ(chosen("sm_103"), "sm_100f");
  EXPECT_EQ(chosen("sm_107"), "sm_100f");
  EXPECT_EQ(chosen("sm_120"), "sm_90");
  EXPECT_EQ(chosen("gfx942"), "none");
}

TEST(FatBinary, AnyPartOfItIsAnError) {
  for (const char* name :
       {"ptx_plain.fatbin", "ptx_lz4.fatbin", "ptx_zstd.fatbin", "machine_code.fatbin", "targets.fatbin"}) {
    const Bytes whole = read(name);
    ASSERT_EQ(error_of(whole), "");
    for (size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(error_of(part), "") << name << ", " << size << " bytes";
    }
  }
}

TEST(FatBinary, AnyChangedByteIsReadOrRefused) {
  for (const char* name : {"ptx_lz4.fatbin", "ptx_zstd.fatbin", "targets.fatbin"}) {
    const Bytes whole = read(name);
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        Bytes changed = whole;
        changed[at] ^= static_cast<std::byte>(flip);
        (void)error_of(changed);
      }
    }
  }
}

struct Damage {
  const char* what;
  size_t offset;
  uint64_t value;
  size_t width;
  const char* message;
};

TEST(FatBinary, DamageIsNamed) {
  const Damage list[] = {
      {"mark", 0, 0x12345678, 4, "does not begin with the container's mark"},
      {"version", 4, 9, 2, "version 9"},
      {"header size", 6, 3, 2, "no possible size"},
      {"content size", 8, 1u << 20, 8, "larger than the bytes given"},
      {"content size that wraps", 8, UINT64_MAX - 3, 8, "no possible size"},
      {"entry header of nothing", 16 + 4, 0, 4, "header has no possible size"},
      {"entry header beyond the end", 16 + 4, 1u << 30, 4, "header has no possible size"},
      {"payload", 16 + 8, UINT64_MAX, 8, "larger than what is left"},
      {"compressed size", 16 + 16, 0x7fffffff, 4, "compressed text is larger"},
      {"compression", 16 + 40, 0x11, 8, "compressed in an unknown way"},
      {"source offset", 16 + 32, 0xffffffff, 4, "source lies outside"},
      {"text size too large", 16 + 56, uint64_t{1} << 62, 8, "claims to have"},
      {"text size larger than can be", 16 + 56, uint64_t{1} << 29, 8, "claims to have"},
      {"text size of nothing", 16 + 56, 0, 8, "claims to have"},
      {"text size too small", 16 + 56, 100, 8, "does not decompress"},
      {"text size a little too large", 16 + 56, 5000, 8, "shorter than its entry says"},
  };
  for (const Damage& damage : list) {
    Bytes bytes = read("ptx_zstd.fatbin");
    std::memcpy(bytes.data() + damage.offset, &damage.value, damage.width);
    EXPECT_NE(error_of(bytes).find(damage.message), std::string::npos)
        << damage.what << ": " << error_of(bytes);
    EXPECT_EQ(error_of(bytes).find("app: "), 0u);
  }
}

/// A container with the entries of two.
Bytes both(const std::string& first, const std::string& second) {
  Bytes bytes = read(first);
  const Bytes more = read(second);
  bytes.insert(bytes.end(), more.begin() + 16, more.end());
  put(bytes, 8, static_cast<uint64_t>(bytes.size() - 16));
  return bytes;
}

/// As a GPU prefers machine code for itself to older PTX; only PTX of it is of use here.
TEST(FatBinary, MachineCodeForTheDeviceGivesThePtx) {
  const auto target = [](const std::string& first, const std::string& second, const char* arch) {
    const Bytes bytes = both(first, second);
    const std::vector<std::string> texts = ptx_for(read_fat_binary(bytes, "app"), arch, "app");
    if (texts.size() != 1) return std::string("none");
    const size_t at = texts.front().find(".target ") + 8;
    return texts.front().substr(at, texts.front().find('\n', at) - at);
  };
  EXPECT_EQ(target("ptx_lz4.fatbin", "lineinfo.fatbin", "sm_90"), "sm_90");
  EXPECT_EQ(target("lineinfo.fatbin", "ptx_lz4.fatbin", "sm_120"), "sm_90");
  EXPECT_EQ(target("lineinfo.fatbin", "ptx_lz4.fatbin", "sm_89"), "sm_75");
  EXPECT_EQ(target("machine_code.fatbin", "ptx_lz4.fatbin", "sm_90"), "sm_75");
  EXPECT_EQ(target("lineinfo.fatbin", "targets.fatbin", "sm_100"), "sm_100f");
  EXPECT_EQ(target("lineinfo.fatbin", "machine_code.fatbin", "sm_80"), "none");
}

/// A program that runs on the device, but by machine code: PTX of the same source is there, for a newer one.
TEST(FatBinary, PtxForANewerChipStandsInForMachineCode) {
  const auto stands_in = [](const Bytes& bytes, const char* arch) {
    const std::vector<FatImage> images = read_fat_binary(bytes, "app");
    const FatImage* image = stand_in(images, arch);
    return image == nullptr ? std::string("none") : image->target();
  };
  EXPECT_TRUE(ptx_for(read_fat_binary(read("stand_in.fatbin"), "app"), "sm_90", "app").empty());
  EXPECT_EQ(stands_in(read("stand_in.fatbin"), "sm_90"), "sm_120");
  EXPECT_EQ(stands_in(read("stand_in.fatbin"), "sm_89"), "none");   // runs none of it
  EXPECT_EQ(stands_in(read("stand_in.fatbin"), "sm_100"), "none");  // machine code is for one generation
  EXPECT_EQ(stands_in(read("stand_in.fatbin"), "sm_120"), "none");  // runs that PTX
  // What is for its chip alone may be empty for others; not what is compiled for older ones, too.
  EXPECT_EQ(stands_in(read("stand_in_90a.fatbin"), "sm_90"), "none");
  EXPECT_EQ(stands_in(both("stand_in_90a.fatbin", "ptx_lz4.fatbin"), "sm_90"), "sm_120");
  EXPECT_EQ(stands_in(read("machine_code.fatbin"), "sm_90"), "none");
  EXPECT_EQ(stands_in(read("ptx_lz4.fatbin"), "sm_70"), "none");
  EXPECT_EQ(stands_in(both("stand_in.fatbin", "targets.fatbin"), "sm_90"), "sm_100f");  // the nearest
}

TEST(FatBinary, ACopyOfTwoEntriesHasBoth) {
  const Bytes bytes = both("ptx_lz4.fatbin", "machine_code.fatbin");
  const auto images = read_fat_binary(bytes, "app");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].kind, FatImage::Kind::ptx);
  EXPECT_EQ(images[1].kind, FatImage::Kind::machine_code);
}

}  // namespace
}  // namespace lanescope::cuda
