// Tensor maps. What a map holds is in exec/tensor_map.hpp.
#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/runtime/message.hpp"
#include "cuda/runtime/runtime.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::cuda {
namespace {

using exec::TensorMap;

Status refuse(const char* function, Status status, const std::string& why) {
  say(std::string(function) + ": " + why);
  return status;
}

/// What both ways to encode a map are told of a tensor.
struct Tensor {
  int type;
  uint32_t dimensions;
  void* address;
  const uint64_t *size, *strides;
  const uint32_t* steps;
  int interleave, swizzle, promotion, fill;
};

/// Encodes `map`, which knows its box, at `to`.
Status encode(const char* function, TensorMap map, void* to, const Tensor& t) {
  constexpr int last_type = static_cast<int>(TensorMap::Type::u6_wide),
                last_swizzle = static_cast<int>(TensorMap::Swizzle::by_128_of_64), last_interleave = 2,
                last_promotion = 3;
  constexpr uint64_t largest = uint64_t{1} << 32;
  if (to == nullptr || t.size == nullptr || t.steps == nullptr ||
      (t.strides == nullptr && t.dimensions > 1) || t.dimensions == 0 ||
      t.dimensions > TensorMap::most_dimensions || t.type < 0 || t.swizzle < 0 || t.interleave < 0 ||
      t.interleave > last_interleave || t.promotion < 0 || t.promotion > last_promotion || t.fill < 0 ||
      t.fill > 1 || t.type > last_type || t.swizzle > last_swizzle)
    return Status::invalid_value;
  if (t.swizzle == static_cast<int>(TensorMap::Swizzle::by_128_of_32_flipped))
    return refuse(function, Status::not_supported, "the swizzle that exchanges 8 bytes");
  if (t.fill != 0 && (t.type < static_cast<int>(TensorMap::Type::f16) ||
                      t.type > static_cast<int>(TensorMap::Type::tf32_ftz)))
    return refuse(function, Status::invalid_value, "only floating-point numbers can be filled with NaNs");
  if (t.interleave != 0) return refuse(function, Status::not_supported, "interleaved layouts");
  map.address = reinterpret_cast<uint64_t>(t.address);
  map.dimensions = static_cast<uint8_t>(t.dimensions);
  map.type = static_cast<TensorMap::Type>(t.type);
  map.swizzle = static_cast<TensorMap::Swizzle>(t.swizzle);
  if (map.swizzle == TensorMap::Swizzle::by_128_of_32) map.atomicity = 1;
  if (map.swizzle == TensorMap::Swizzle::by_128_of_64) map.atomicity = 3;
  map.fills_nan = t.fill == 1;
  map.promotion = static_cast<uint8_t>(t.promotion);
  for (uint32_t d = 0; d < t.dimensions; ++d) {
    if (t.size[d] == 0 || t.size[d] > largest)
      return refuse(function, Status::invalid_value,
                    "dimension " + std::to_string(d) + " has " + std::to_string(t.size[d]) + " elements");
    map.last[d] = static_cast<uint32_t>(t.size[d] - 1);
    map.steps[d] = static_cast<uint8_t>(std::min(t.steps[d], 0xffu));
    if (d + 1 < t.dimensions) map.strides[d] = t.strides[d];
  }
  if (const std::string defect = defect_of(map); !defect.empty())
    return refuse(function, Status::invalid_value, defect);
  std::memset(to, 0, exec::tensor_map_bytes);
  std::memcpy(to, &map, sizeof map);
  return Status::success;
}

/// A number that fits 16 bits, or one that no map may have.
uint16_t short_of(uint32_t number) { return static_cast<uint16_t>(std::min(number, 0xffffu)); }

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuTensorMapEncodeTiled(void* to, int type, uint32_t dimensions, void* address,
                                                 const uint64_t* size, const uint64_t* strides,
                                                 const uint32_t* box, const uint32_t* steps, int interleave,
                                                 int swizzle, int promotion, int fill) {
  // An H100's driver takes any place for a map of images.
  if (box == nullptr || reinterpret_cast<uintptr_t>(to) % lanescope::exec::tensor_map_align != 0)
    return Status::invalid_value;
  TensorMap map;
  for (uint32_t d = 0; d < std::min(dimensions, TensorMap::most_dimensions); ++d)
    map.box[d] = short_of(box[d]);
  return encode("cuTensorMapEncodeTiled", map, to,
                {type, dimensions, address, size, strides, steps, interleave, swizzle, promotion, fill});
}

LANESCOPE_CUDA_API Status cuTensorMapEncodeIm2col(void* to, int type, uint32_t dimensions, void* address,
                                                  const uint64_t* size, const uint64_t* strides,
                                                  const int* lower, const int* upper, uint32_t channels,
                                                  uint32_t pixels, const uint32_t* steps, int interleave,
                                                  int swizzle, int promotion, int fill) {
  if (lower == nullptr || upper == nullptr) return Status::invalid_value;
  TensorMap map;
  map.mode = TensorMap::Mode::im2col;
  map.box[0] = short_of(channels);
  map.box[1] = short_of(pixels);
  for (uint32_t d = 0; d + 2 < std::min(dimensions, TensorMap::most_dimensions); ++d) {
    constexpr int least = INT16_MIN, most = INT16_MAX;
    if (std::min(lower[d], upper[d]) < least || std::max(lower[d], upper[d]) > most)
      return refuse("cuTensorMapEncodeIm2col", Status::invalid_value,
                    "a corner of the bounding box does not fit 16 bits");
    map.lower[d] = static_cast<int16_t>(lower[d]);
    map.upper[d] = static_cast<int16_t>(upper[d]);
  }
  return encode("cuTensorMapEncodeIm2col", map, to,
                {type, dimensions, address, size, strides, steps, interleave, swizzle, promotion, fill});
}

LANESCOPE_CUDA_API Status cuTensorMapReplaceAddress(void* to, void* address) {
  const auto map = to != nullptr ? TensorMap::load(to) : std::nullopt;
  if (!map) return Status::invalid_value;
  TensorMap changed = *map;
  changed.address = reinterpret_cast<uint64_t>(address);
  if (!defect_of(changed).empty()) return Status::invalid_value;
  std::memcpy(to, &changed, sizeof changed);
  return Status::success;
}
