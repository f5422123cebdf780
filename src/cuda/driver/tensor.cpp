// Tensor maps, and the way to the driver's functions that make them: programs ask for cuTensorMapEncodeTiled
// by name, since it belongs to the driver API. What a map holds is in exec/tensor_map.hpp.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "cuda/runtime/message.hpp"
#include "cuda/runtime/runtime.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::cuda {
namespace {

/// CUresult, of which these are returned here.
enum class DriverStatus : int { success = 0, invalid_value = 1, not_supported = 801 };

/// cudaDriverEntryPointQueryResult.
enum class Query : int { success = 0, symbol_not_found = 1 };

DriverStatus refuse(DriverStatus status, const std::string& why) {
  say("cuTensorMapEncodeTiled: " + why);
  return status;
}

DriverStatus encode_tiled(void* to, int type, uint32_t dimensions, void* address, const uint64_t* size,
                          const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                          int swizzle, int /*promotion*/, int fill) {
  using exec::TensorMap;
  constexpr int last_type = static_cast<int>(TensorMap::Type::tf32_ftz),
                last_swizzle = static_cast<int>(TensorMap::Swizzle::by_128), last_interleave = 2;
  constexpr uint64_t largest = uint64_t{1} << 32;
  constexpr uint32_t most = TensorMap::most_dimensions;
  if (to == nullptr || reinterpret_cast<uintptr_t>(to) % exec::tensor_map_align != 0 || size == nullptr ||
      box == nullptr || steps == nullptr || (strides == nullptr && dimensions > 1) || dimensions == 0 ||
      dimensions > most || type < 0 || swizzle < 0 || interleave < 0 || interleave > last_interleave ||
      fill < 0 || fill > 1)
    return DriverStatus::invalid_value;
  if (type > last_type) return refuse(DriverStatus::not_supported, "types that only sm_100 and later know");
  if (swizzle > last_swizzle)
    return refuse(DriverStatus::not_supported, "swizzles that only sm_100 and later know");
  if (interleave != 0) return refuse(DriverStatus::not_supported, "interleaved layouts");
  TensorMap map;
  map.address = reinterpret_cast<uint64_t>(address);
  map.dimensions = static_cast<uint8_t>(dimensions);
  map.type = static_cast<TensorMap::Type>(type);
  map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
  map.fills_nan = fill == 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    if (size[d] == 0 || size[d] > largest)
      return refuse(DriverStatus::invalid_value,
                    "dimension " + std::to_string(d) + " has " + std::to_string(size[d]) + " elements");
    map.last[d] = static_cast<uint32_t>(size[d] - 1);
    map.box[d] = static_cast<uint16_t>(std::min(box[d], 0xffffu));
    map.steps[d] = static_cast<uint8_t>(std::min(steps[d], 0xffu));
    if (d + 1 < dimensions) map.strides[d] = strides[d];
  }
  if (const std::string defect = defect_of(map); !defect.empty())
    return refuse(DriverStatus::invalid_value, defect);
  std::memset(to, 0, exec::tensor_map_bytes);
  std::memcpy(to, &map, sizeof map);
  return DriverStatus::success;
}

DriverStatus replace_address(void* to, void* address) {
  const auto map = to != nullptr ? exec::TensorMap::load(to) : std::nullopt;
  if (!map) return DriverStatus::invalid_value;
  exec::TensorMap changed = *map;
  changed.address = reinterpret_cast<uint64_t>(address);
  if (!defect_of(changed).empty()) return DriverStatus::invalid_value;
  std::memcpy(to, &changed, sizeof changed);
  return DriverStatus::success;
}

Status find(const char* name, void** function, int* result) {
  if (name == nullptr || function == nullptr) return remember(Status::invalid_value);
  const std::string_view wanted = name;
  *function = nullptr;
  if (wanted == "cuTensorMapEncodeTiled") *function = reinterpret_cast<void*>(&encode_tiled);
  if (wanted == "cuTensorMapReplaceAddress") *function = reinterpret_cast<void*>(&replace_address);
  if (result != nullptr)
    *result = static_cast<int>(*function != nullptr ? Query::success : Query::symbol_not_found);
  if (*function != nullptr) return Status::success;
  say("the driver's function " + std::string(wanted) + " is not there");
  return result != nullptr ? Status::success : remember(Status::symbol_not_found);
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                                  int* result) {
  return find(name, function, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long,
                                                       int* result) {
  return find(name, function, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                           unsigned long long, int* result) {
  return find(name, function, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function, unsigned,
                                                                unsigned long long, int* result) {
  return find(name, function, result);
}
