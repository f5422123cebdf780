// Tensor maps: what bulk tensor copies read to know how a tensor of up to five dimensions lies in global
// memory and how a box of it lies in shared memory. CUDA keeps the 128 bytes opaque (CUtensorMap); what they
// hold here is TensorMap, written by cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and tensormap.replace
// and read by the copies. Those that a program has encoded by itself, as the chips have them, are read as
// well.
//
// Sources: CUDA Driver API 13.0, "Tensor Map Object Management" (limits of every field); PTX ISA 9.0, 5.5
// "Tensors" and 9.7.9.27 (boxes, element strides, swizzles, what lies outside).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lanescope::exec {

struct TensorMap {
  /// In CUDA's order, as are the other enumerations.
  enum class Type : uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
    u4_dense,  ///< sixteen numbers of 4 bits are an element here, of 8 bytes in both memories
    u4_wide,   ///< the same, which takes 16 bytes in shared memory; what is in the second 8 is not said
    u6_wide    ///< sixteen numbers of 6 bits: 12 bytes, 16 in shared memory, likewise
  };
  /// The last three exchange 32 or 64 bytes at a time within 128; the second of them is not supported.
  enum class Swizzle : uint8_t {
    none,
    by_32,
    by_64,
    by_128,
    by_128_of_32,
    by_128_of_32_flipped,
    by_128_of_64
  };
  /// Boxes are tiles of the tensor, or columns of pixels of its images. Dimensions of images: channels,
  /// width, height and depth as far as there are any, images.
  enum class Mode : uint8_t { tiled, im2col };
  static constexpr uint32_t most_dimensions = 5;

  uint64_t address = 0;
  std::array<uint64_t, most_dimensions - 1>
      strides{};                                 ///< bytes from one index of dimension i + 1 to the next
  std::array<uint32_t, most_dimensions> last{};  ///< size of each dimension less one, in numbers
  /// Numbers covered, before element strides; of im2col channels of a pixel and pixels of a column.
  std::array<uint16_t, most_dimensions> box{};
  std::array<uint8_t, most_dimensions> steps{};  ///< element strides; that of dimension 0 has no effect
  uint8_t dimensions = 0;
  Type type{};
  Swizzle swizzle{};
  uint8_t atomicity = 0;  ///< tensormap.replace: what a swizzle within 128 bytes exchanges, by PTX's numbers
  Mode mode{};
  /// Of im2col: corners of the bounding box, width first. Those at the upper end count from the last pixel
  /// on.
  std::array<int16_t, most_dimensions - 2> lower{}, upper{};
  bool fills_nan = false;  ///< what lies outside is a NaN instead of zero
  uint8_t promotion = 0;   ///< CUtensorMapL2promotion: of no effect here, kept for lanescope measure
  uint32_t mark = valid;   ///< tells a map from other memory

  static constexpr uint32_t valid = 0x7e2504a9;

  /// Numbers that are one element here: 1, of those of less than a byte 16.
  [[nodiscard]] uint32_t numbers_of_element() const { return type >= Type::u4_dense ? 16 : 1; }
  [[nodiscard]] uint32_t element_bytes() const;
  /// What an element takes in shared memory.
  [[nodiscard]] uint32_t shared_element_bytes() const {
    return type == Type::u4_wide || type == Type::u6_wide ? 16 : element_bytes();
  }
  /// Elements of a tile in shared memory, along a dimension; along the first one, those of a pixel as well.
  [[nodiscard]] uint32_t extent(uint32_t dimension) const;
  /// Of a box.
  [[nodiscard]] uint32_t rows() const;
  [[nodiscard]] uint32_t box_bytes() const { return rows() * row_bytes(); }
  /// What an mbarrier is told of: the bytes that the box takes in the tensor.
  [[nodiscard]] uint32_t tensor_bytes() const {
    return box_bytes() / shared_element_bytes() * element_bytes();
  }
  /// Bytes of a row of the box, along dimension 0, and from one row to the next in shared memory: a row is as
  /// long as what a swizzle spans (measured on an H100).
  [[nodiscard]] uint32_t row_bytes() const { return extent(0) * shared_element_bytes(); }
  [[nodiscard]] uint32_t row_pitch() const;
  /// What the swizzle, if there is one, spans.
  [[nodiscard]] uint32_t span() const;
  /// Bytes of shared memory from the first row to the end of the last one.
  [[nodiscard]] uint32_t footprint() const { return rows() * row_pitch(); }
  /// Of im2col: the ends of the bounding box along a dimension that is neither channels nor images.
  [[nodiscard]] int64_t first_in_box(uint32_t dimension) const { return lower[dimension - 1]; }
  [[nodiscard]] int64_t last_in_box(uint32_t dimension) const {
    return int64_t{last[dimension]} + upper[dimension - 1];
  }
  [[nodiscard]] uint64_t size(uint32_t dimension) const { return uint64_t{last[dimension]} + 1; }
  /// Elements of a row of the tensor.
  [[nodiscard]] uint64_t row_elements() const { return size(0) / numbers_of_element(); }
  /// Where the byte `offset` of shared memory goes under the swizzle.
  [[nodiscard]] uint32_t swizzled(uint32_t offset) const;
  /// One element of what lies outside the tensor, in the low bytes.
  [[nodiscard]] uint64_t fill() const {
    return fills_nan ? 0x7ff7'7ff7'7ff7'7ff7 : 0;
  }  // measured on an H100
  /// What a load makes of the bits of an element, if it converts: the nearest of the 19-bit numbers,
  /// subnormal ones too. The types that are to flush subnormals keep them (all measured on an H100).
  [[nodiscard]] static uint32_t converted(uint32_t bits);
  [[nodiscard]] bool converts() const { return type == Type::tf32 || type == Type::tf32_ftz; }

  /// Nothing if the bytes are none of a map, or of one of a kind that is not supported (interleaved).
  [[nodiscard]] static std::optional<TensorMap> load(const void* at);
  /// The same, of those that were made here.
  [[nodiscard]] static std::optional<TensorMap> load_own(const void* at);
};
inline constexpr size_t tensor_map_bytes = 128, tensor_map_align = 64;
static_assert(sizeof(TensorMap) <= tensor_map_bytes);

/// What is wrong with a map by the rules of the function that encodes its mode; empty if nothing.
[[nodiscard]] std::string defect_of(const TensorMap& map);

}  // namespace lanescope::exec
