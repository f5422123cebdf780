// Tensor maps. What a map holds is in exec/tensor_map.hpp.
#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/runtime/message.hpp"
#include "cuda/runtime/runtime.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::cuda {
namespace {

Status refuse(Status status, const std::string& why) {
  say("cuTensorMapEncodeTiled: " + why);
  return status;
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;
namespace exec = lanescope::exec;

LANESCOPE_CUDA_API Status cuTensorMapEncodeTiled(void* to, int type, uint32_t dimensions, void* address,
                                                 const uint64_t* size, const uint64_t* strides,
                                                 const uint32_t* box, const uint32_t* steps, int interleave,
                                                 int swizzle, int promotion, int fill) {
  using exec::TensorMap;
  constexpr int last_type = static_cast<int>(TensorMap::Type::u6_wide),
                last_swizzle = static_cast<int>(TensorMap::Swizzle::by_128_of_64), last_interleave = 2,
                last_promotion = 3;
  constexpr uint64_t largest = uint64_t{1} << 32;
  constexpr uint32_t most = TensorMap::most_dimensions;
  if (to == nullptr || reinterpret_cast<uintptr_t>(to) % exec::tensor_map_align != 0 || size == nullptr ||
      box == nullptr || steps == nullptr || (strides == nullptr && dimensions > 1) || dimensions == 0 ||
      dimensions > most || type < 0 || swizzle < 0 || interleave < 0 || interleave > last_interleave ||
      promotion < 0 || promotion > last_promotion || fill < 0 || fill > 1 || type > last_type ||
      swizzle > last_swizzle)
    return Status::invalid_value;
  if (swizzle == static_cast<int>(TensorMap::Swizzle::by_128_of_32_flipped))
    return refuse(Status::not_supported, "the swizzle that exchanges 8 bytes");
  if (interleave != 0) return refuse(Status::not_supported, "interleaved layouts");
  TensorMap map;
  map.address = reinterpret_cast<uint64_t>(address);
  map.dimensions = static_cast<uint8_t>(dimensions);
  map.type = static_cast<TensorMap::Type>(type);
  map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
  map.fills_nan = fill == 1;
  map.promotion = static_cast<uint8_t>(promotion);
  for (uint32_t d = 0; d < dimensions; ++d) {
    if (size[d] == 0 || size[d] > largest)
      return refuse(Status::invalid_value,
                    "dimension " + std::to_string(d) + " has " + std::to_string(size[d]) + " elements");
    map.last[d] = static_cast<uint32_t>(size[d] - 1);
    map.box[d] = static_cast<uint16_t>(std::min(box[d], 0xffffu));
    map.steps[d] = static_cast<uint8_t>(std::min(steps[d], 0xffu));
    if (d + 1 < dimensions) map.strides[d] = strides[d];
  }
  if (const std::string defect = defect_of(map); !defect.empty())
    return refuse(Status::invalid_value, defect);
  std::memset(to, 0, exec::tensor_map_bytes);
  std::memcpy(to, &map, sizeof map);
  return Status::success;
}

LANESCOPE_CUDA_API Status cuTensorMapReplaceAddress(void* to, void* address) {
  const auto map = to != nullptr ? exec::TensorMap::load(to) : std::nullopt;
  if (!map) return Status::invalid_value;
  exec::TensorMap changed = *map;
  changed.address = reinterpret_cast<uint64_t>(address);
  if (!defect_of(changed).empty()) return Status::invalid_value;
  std::memcpy(to, &changed, sizeof changed);
  return Status::success;
}
