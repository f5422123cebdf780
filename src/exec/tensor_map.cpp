// See tensor_map.hpp.
#include "exec/tensor_map.hpp"

#include <algorithm>
#include <cstring>

namespace lanescope::exec {

uint32_t TensorMap::element_bytes() const {
  switch (type) {
    case Type::u8: return 1;
    case Type::u16:
    case Type::f16:
    case Type::bf16: return 2;
    case Type::u64:
    case Type::s64:
    case Type::f64:
    case Type::u4_dense:
    case Type::u4_wide: return 8;
    case Type::u6_wide: return 12;
    default: return 4;
  }
}

uint32_t TensorMap::extent(uint32_t dimension) const {
  if (dimension == 0) return box[0] / numbers_of_element();
  return (box[dimension] + steps[dimension] - 1u) / steps[dimension];
}

uint32_t TensorMap::rows() const {
  if (mode == Mode::im2col) return box[1];
  uint32_t rows = 1;
  for (uint32_t d = 1; d < dimensions; ++d) rows *= extent(d);
  return rows;
}

uint32_t TensorMap::swizzled(uint32_t offset) const {
  // Units of 16 bytes change places (of 32, of 64): the lowest one, two or three bits of their number are
  // combined with those of the number of their 128 bytes.
  const uint32_t line = offset >> 7;
  if (swizzle == Swizzle::by_128_of_32) return offset ^ (line & 3) << 5;
  if (swizzle == Swizzle::by_128_of_64) return offset ^ (line & 1) << 6;
  const uint32_t mask = (1u << static_cast<uint32_t>(swizzle)) - 1;
  return offset ^ (line & mask) << 4;
}

uint32_t TensorMap::row_pitch() const {
  return swizzle == Swizzle::none ? row_bytes() : std::max(row_bytes(), span());
}

uint32_t TensorMap::span() const {
  constexpr uint32_t least_span = 32;
  return least_span >> 1 << static_cast<uint32_t>(std::min(swizzle, Swizzle::by_128));
}

uint32_t TensorMap::converted(uint32_t bits) {
  constexpr uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000, nan = 0x7fffe000, dropped = 13;
  if ((bits & magnitude) > infinity) return nan;
  const uint32_t odd = bits >> dropped & 1;
  return (bits + ((1u << (dropped - 1)) - 1) + odd) & ~((1u << dropped) - 1);
}

namespace {

/// Reads a map as the chips have it. By bits of its 32 words: 0 and 1 the address; 2 what it is; 3 to 6 the
/// strides in units of 16 bytes, of which 7 has four bits more each; 8 to 12 the sizes less one; 13 the
/// element strides less one, three bits each, and from bit 24 on the box less one, which goes on in 14. What
/// a driver encodes has in 16 and 18 what follows from these; the lowest bit of 2 says that the map is one of
/// images, and the next one that there are no more than 16 words, as CuTe's compiler for Python and cuDNN
/// make them. That has the channels less one where the box begins, in 14 the corners, the lower ones first,
/// each in 16, 8 or 5 bits, and in 15 the pixels less one. (tests/data/tensor_maps.txt: what the driver of an
/// H200 encoded. The types and swizzles that came with sm_100 are not among them.)
std::optional<TensorMap> read_encoded(const void* at) {
  using Type = TensorMap::Type;
  std::array<uint32_t, tensor_map_bytes / sizeof(uint32_t)> words{};
  std::memcpy(words.data(), at, sizeof words);
  const auto bits = [&](size_t word, unsigned first, unsigned count) {
    return words[word] >> first & ((1u << count) - 1);
  };
  static constexpr Type types[] = {Type::u8,  Type::u16, Type::u32,     Type::s32, Type::u64, Type::s64,
                                   Type::f16, Type::f32, Type::f32_ftz, Type::f64, Type::bf16};
  TensorMap map;
  map.address = words[0] | uint64_t{words[1]} << 32;
  map.dimensions = static_cast<uint8_t>(bits(2, 4, 3) + 1);
  const uint32_t type = bits(2, 7, 4), interleaved = bits(2, 11, 2);
  const bool is_tf32 = bits(2, 16, 1) != 0;
  const bool has_columns = bits(2, 0, 1) != 0, is_half = bits(2, 1, 1) != 0;
  const auto is_set = [](uint32_t word) { return word != 0; };
  // The compiler sets bit 21 in maps of what is stored; their boxes go where those of others do.
  const uint32_t of_stores = is_half ? 1u << 21 : 0;
  const bool has_rest =
      ((words[2] & ~of_stores) >> 19) != 0 || bits(2, 2, 2) != 0 || bits(7, 16, 16) != 0 ||
      (has_columns ? words[15] >> 10 : words[15]) != 0 ||
      (!is_half && (words[17] != 0 || std::any_of(words.begin() + 19, words.end(), is_set)));
  if (has_rest || map.address == 0 || interleaved != 0 || type >= std::size(types) ||
      map.dimensions > TensorMap::most_dimensions)
    return std::nullopt;
  map.type = types[type];
  if (is_tf32 && map.type == Type::f32)
    map.type = Type::tf32;
  else if (is_tf32 && map.type == Type::f32_ftz)
    map.type = Type::tf32_ftz;
  else if (is_tf32)
    return std::nullopt;
  map.swizzle = static_cast<TensorMap::Swizzle>(bits(2, 13, 2));
  map.fills_nan = bits(2, 15, 1) != 0;
  map.promotion = static_cast<uint8_t>(bits(2, 17, 2));
  for (unsigned d = 0; d < map.dimensions; ++d) {
    if (d + 1 < map.dimensions) map.strides[d] = (words[3 + d] | uint64_t{bits(7, 4 * d, 4)} << 32) << 4;
    map.last[d] = words[8 + d];
    map.steps[d] = static_cast<uint8_t>(bits(13, 3 * d, 3) + 1);
    if (d == 0 || !has_columns)
      map.box[d] = static_cast<uint16_t>((d == 0 ? bits(13, 24, 8) : bits(14, 8 * (d - 1), 8)) + 1);
  }
  if (!has_columns) return map;
  map.mode = TensorMap::Mode::im2col;
  map.box[1] = static_cast<uint16_t>(words[15] + 1);
  static constexpr unsigned corner_bits[] = {16, 16, 16, 16, 8, 5};
  const unsigned width = corner_bits[map.dimensions];
  for (unsigned d = 0; d + 2 < map.dimensions; ++d) {
    // Shifted to the top and back, so that the sign goes along.
    const auto corner = [&](unsigned first) {
      const auto top = static_cast<int32_t>(bits(14, first + width * d, width) << (32 - width));
      return static_cast<int16_t>(top >> (32 - width));
    };
    map.lower[d] = corner(0);
    map.upper[d] = corner(16);
  }
  return map;
}

}  // namespace

std::optional<TensorMap> TensorMap::load(const void* at) {
  const auto own = load_own(at);
  return own ? own : read_encoded(at);
}

std::optional<TensorMap> TensorMap::load_own(const void* at) {
  TensorMap map;
  std::memcpy(&map, at, sizeof map);
  if (map.mark != valid) return std::nullopt;
  return map;
}

namespace {

constexpr uint32_t largest_step = 8;

std::string defect_of_tile(const TensorMap& map) {
  constexpr uint32_t largest = 256;
  for (uint32_t d = 0; d < map.dimensions; ++d)
    if (map.box[d] == 0 || map.box[d] > largest)
      return "the box has " + std::to_string(map.box[d]) + " elements in dimension " + std::to_string(d) +
             ": 1 to 256 are possible";
  return "";
}

std::string defect_of_columns(const TensorMap& map) {
  constexpr uint64_t largest_image = uint64_t{1} << 31;
  constexpr uint32_t most_channels = 256, most_pixels = 1024, fewest_dimensions = 3;
  if (map.dimensions < fewest_dimensions)
    return "a tensor of images has 3 to 5 dimensions, not " + std::to_string(map.dimensions);
  if (map.box[0] == 0 || map.box[0] > most_channels)
    return "a pixel has " + std::to_string(map.box[0]) + " channels: 1 to 256 are possible";
  if (map.box[1] == 0 || map.box[1] > most_pixels)
    return "a column has " + std::to_string(map.box[1]) + " pixels: 1 to 1024 are possible";
  for (uint32_t d = 0; d < map.dimensions; ++d)
    if (map.size(d) > largest_image)
      return "dimension " + std::to_string(d) + " has " + std::to_string(map.size(d)) +
             " elements: 2^31 are possible";
  if (map.steps[0] == 0 || map.steps[0] > largest_step)
    return "the element stride of dimension 0 is " + std::to_string(map.steps[0]) + ": 1 to 8 are possible";
  // Corners share 16 bits.
  static constexpr int corner_limits[] = {1 << 15, 1 << 7, 1 << 4};
  const int limit = corner_limits[map.dimensions - fewest_dimensions];
  for (uint32_t d = 1; d + 1u < map.dimensions; ++d) {
    for (const int corner : {map.lower[d - 1], map.upper[d - 1]})
      if (corner < -limit || corner >= limit)
        return "a corner of the bounding box lies at " + std::to_string(corner) + " in dimension " +
               std::to_string(d) + ": " + std::to_string(-limit) + " to " + std::to_string(limit - 1) +
               " are possible";
    if (map.last_in_box(d) < map.first_in_box(d))
      return "the bounding box is empty in dimension " + std::to_string(d);
  }
  return "";
}

}  // namespace

std::string defect_of(const TensorMap& map) {
  constexpr uint64_t align = 16, stride_limit = uint64_t{1} << 40;
  if (map.mark != TensorMap::valid) return "it is no tensor map";
  if (map.dimensions == 0 || map.dimensions > TensorMap::most_dimensions)
    return "a tensor has 1 to 5 dimensions, not " + std::to_string(map.dimensions);
  if (map.address % align != 0) return "the tensor's address is no multiple of 16";
  if (std::string defect = map.mode == TensorMap::Mode::im2col ? defect_of_columns(map) : defect_of_tile(map);
      !defect.empty())
    return defect;
  for (uint32_t d = 0; d < map.dimensions; ++d) {
    const std::string name = std::to_string(d);
    if (d != 0 && (map.steps[d] == 0 || map.steps[d] > largest_step))
      return "the element stride of dimension " + name + " is " + std::to_string(map.steps[d]) +
             ": 1 to 8 are possible";
    if (d + 1 < map.dimensions && (map.strides[d] % align != 0 || map.strides[d] >= stride_limit))
      return "the stride of dimension " + std::to_string(d + 1) + " is " + std::to_string(map.strides[d]) +
             " bytes: it must be a multiple of 16 below 2^40";
  }
  if (map.numbers_of_element() != 1) {
    // CUDA Driver API 13.0, cuTensorMapEncodeTiled: 16U4_ALIGN16B and 16U6_ALIGN16B.
    const bool wide = map.type != TensorMap::Type::u4_dense;
    if (map.size(0) % (wide ? 128 : 16) != 0 || (wide ? map.box[0] != 128 : map.box[0] % 16 != 0))
      return "rows of numbers of less than a byte: the tensor's and the box's do not fit the type";
    if (wide &&
        (map.address % 32 != 0 || std::any_of(map.strides.begin(), map.strides.begin() + map.dimensions - 1,
                                              [](uint64_t stride) { return stride % 32 != 0; })))
      return "the tensor's address and strides are no multiples of 32";
    if (map.swizzle == TensorMap::Swizzle::by_32 && wide) return "this swizzle does not go with the type";
  }
  const uint32_t row = map.row_bytes();
  if (row % align != 0)
    return "the box is " + std::to_string(row) + " bytes wide, which is no multiple of 16";
  if (map.swizzle != TensorMap::Swizzle::none && row > map.span())
    return "the box is " + std::to_string(row) + " bytes wide, wider than what its swizzle spans";
  return "";
}

}  // namespace lanescope::exec
