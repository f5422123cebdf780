// Tensor maps that a program has encoded by itself, as the chips have them, against what a GPU's driver made.
#include "exec/tensor_map.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace lanescope::exec {
namespace {

using Words = std::array<uint32_t, tensor_map_bytes / sizeof(uint32_t)>;

/// A line of tests/data/tensor_maps.txt.
struct Encoded {
  TensorMap map;
  unsigned interleaved = 0;
  Words words{};
};

std::vector<Encoded> encoded_maps() {
  std::istringstream lines(read_file(LANESCOPE_SOURCE_DIR "/tests/data/tensor_maps.txt"));
  std::vector<Encoded> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    Encoded e;
    unsigned type = 0, dimensions = 0, swizzle = 0, promotion = 0, fill = 0;
    in >> type >> dimensions >> std::hex >> e.map.address >> std::dec;
    std::array<uint64_t, 19> fields{};
    for (uint64_t& field : fields) in >> field;
    in >> e.interleaved >> swizzle >> promotion >> fill;
    e.map.type = static_cast<TensorMap::Type>(type);
    e.map.dimensions = static_cast<uint8_t>(dimensions);
    e.map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
    e.map.promotion = static_cast<uint8_t>(promotion);
    e.map.fills_nan = fill != 0;
    for (size_t d = 0; d < dimensions; ++d) {
      e.map.last[d] = static_cast<uint32_t>(fields[d] - 1);
      if (d + 1 < dimensions) e.map.strides[d] = fields[5 + d];
      e.map.box[d] = static_cast<uint16_t>(fields[9 + d]);
      e.map.steps[d] = static_cast<uint8_t>(fields[14 + d]);
    }
    std::string colon;
    in >> colon >> std::hex;
    for (uint32_t& word : e.words) in >> word;
    EXPECT_TRUE(in && colon == ":") << line;
    all.push_back(e);
  }
  return all;
}

TEST(TensorMap, IsReadAsTheDriverOfAGpuEncodesIt) {
  const std::vector<Encoded> all = encoded_maps();
  EXPECT_GE(all.size(), 100u);
  for (const Encoded& e : all) {
    const auto read = TensorMap::load(e.words.data());
    EXPECT_FALSE(TensorMap::load_own(e.words.data()).has_value());
    ASSERT_EQ(read.has_value(), e.interleaved == 0);
    if (!read) continue;
    EXPECT_EQ(read->address, e.map.address);
    EXPECT_EQ(read->dimensions, e.map.dimensions);
    EXPECT_EQ(read->type, e.map.type);
    EXPECT_EQ(read->swizzle, e.map.swizzle);
    EXPECT_EQ(read->promotion, e.map.promotion);
    EXPECT_EQ(read->fills_nan, e.map.fills_nan);
    EXPECT_EQ(read->last, e.map.last);
    EXPECT_EQ(read->strides, e.map.strides);
    EXPECT_EQ(read->box, e.map.box);
    EXPECT_EQ(read->steps, e.map.steps);
  }
}

TEST(TensorMap, OfImagesIsReadAsTheDriverOfAGpuEncodesIt) {
  std::istringstream lines(read_file(LANESCOPE_SOURCE_DIR "/tests/data/im2col_maps.txt"));
  size_t maps = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    ++maps;
    std::istringstream in(line);
    unsigned type = 0, dimensions = 0;
    uint64_t address = 0;
    in >> type >> dimensions >> std::hex >> address >> std::dec;
    std::vector<int64_t> size(dimensions), strides(dimensions - 1), lower(dimensions - 2),
        upper(dimensions - 2), steps(dimensions);
    const auto read_list = [&](std::vector<int64_t>& list) {
      for (int64_t& value : list) in >> value;
    };
    unsigned channels = 0, pixels = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
    read_list(size);
    read_list(strides);
    read_list(lower);
    read_list(upper);
    in >> channels >> pixels;
    read_list(steps);
    std::string colon;
    in >> interleave >> swizzle >> promotion >> fill >> colon >> std::hex;
    Words words{};
    for (uint32_t& word : words) in >> word;
    ASSERT_TRUE(in && colon == ":") << line;
    const auto map = TensorMap::load(words.data());
    ASSERT_EQ(map.has_value(), interleave == 0) << line;
    if (!map) continue;
    EXPECT_EQ(map->mode, TensorMap::Mode::im2col);
    EXPECT_EQ(map->address, address);
    EXPECT_EQ(map->dimensions, dimensions);
    EXPECT_EQ(map->type, static_cast<TensorMap::Type>(type));
    EXPECT_EQ(map->swizzle, static_cast<TensorMap::Swizzle>(swizzle));
    EXPECT_EQ(map->promotion, promotion);
    EXPECT_EQ(map->fills_nan, fill != 0);
    EXPECT_EQ(map->box[0], channels);
    EXPECT_EQ(map->box[1], pixels);
    EXPECT_EQ(defect_of(*map), "");
    for (size_t d = 0; d < dimensions; ++d) {
      EXPECT_EQ(map->size(static_cast<uint32_t>(d)), static_cast<uint64_t>(size[d]));
      EXPECT_EQ(map->steps[d], steps[d]);
      if (d + 1 < dimensions) {
        EXPECT_EQ(map->strides[d], static_cast<uint64_t>(strides[d]));
      }
      if (d + 2 >= dimensions) continue;
      EXPECT_EQ(map->lower[d], lower[d]) << line;
      EXPECT_EQ(map->upper[d], upper[d]) << line;
    }
    words[15] |= 1u << 10;
    EXPECT_FALSE(TensorMap::load(words.data()).has_value());
  }
  EXPECT_GT(maps, 30u);
}

/// As CuTe's compiler for Python makes them: 64 bytes, behind which there is something else.
TEST(TensorMap, IsReadWithoutItsSecondHalf) {
  Words words{0x00010000, 0x00002000, 0x00046512, 0x20, 0, 0, 0, 0, 0xff, 0x7f, 0, 0, 0, 0x3f000000, 0x1f, 0};
  for (size_t i = 16; i < words.size(); ++i) words[i] = 0x55555555;
  const auto map = TensorMap::load(words.data());
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->address, 0x200000010000u);
  EXPECT_EQ(map->dimensions, 2);
  EXPECT_EQ(map->type, TensorMap::Type::bf16);
  EXPECT_EQ(map->swizzle, TensorMap::Swizzle::by_128);
  EXPECT_EQ(map->strides[0], 512u);
  EXPECT_EQ(map->size(0), 256u);
  EXPECT_EQ(map->size(1), 128u);
  EXPECT_EQ(map->box[0], 64);
  EXPECT_EQ(map->box[1], 32);
  words[2] |= 1u << 21;
  EXPECT_TRUE(TensorMap::load(words.data()).has_value());
  words[2] += 4;
  EXPECT_FALSE(TensorMap::load(words.data()).has_value());
}

/// The same of images, as cuDNN makes them: 2 images of 16 x 16 pixels of 16 channels, and windows of 3 x 3.
TEST(TensorMap, OfImagesIsReadWithoutItsSecondHalf) {
  Words words{0x5700, 0x2000, 0x000163c3, 0,   4, 0x40,       0x400,      0,
              0xf,    0,      0xf,        0xf, 1, 0x1f000000, 0x7fe07fe0, 0x7f};
  for (size_t i = 16; i < words.size(); ++i) words[i] = 0x55555555;
  const auto map = TensorMap::load(words.data());
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->mode, TensorMap::Mode::im2col);
  EXPECT_EQ(map->type, TensorMap::Type::tf32);
  EXPECT_EQ(map->dimensions, 5);
  EXPECT_EQ(map->strides[3], 16384u);
  EXPECT_EQ(map->box[0], 32);
  EXPECT_EQ(map->box[1], 128);
  for (uint32_t d = 0; d < 3; ++d) {
    EXPECT_EQ(map->lower[d], d == 0 ? 0 : -1);
    EXPECT_EQ(map->upper[d], d == 0 ? 0 : -1);
  }
}

TEST(TensorMap, OtherBytesAreNone) {
  Words words{};
  EXPECT_FALSE(TensorMap::load(words.data()).has_value());
  words.fill(~0u);
  EXPECT_FALSE(TensorMap::load(words.data()).has_value());
  for (const Encoded& e : encoded_maps())
    for (const size_t unused : {2u, 7u, 15u, 17u, 19u, 31u}) {
      Words changed = e.words;
      changed[unused] |= 0x80000000u;
      EXPECT_FALSE(TensorMap::load(changed.data()).has_value());
    }
}

}  // namespace
}  // namespace lanescope::exec
