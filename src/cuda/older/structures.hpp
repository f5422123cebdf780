// Structures of CUDA 13 that are those of an older release with more at their end. LANESCOPE_OLDER is the
// release that a file is compiled for, 11 or 12; sizes are those of its headers (11.8, 12.9).
#pragma once

#include <cstring>

#include "cuda/runtime/api.hpp"
#include "cuda/runtime/texture.hpp"

namespace lanescope::cuda {

struct Graph;
struct Node;

/// The bytes that the older release has of one.
template <typename T>
inline constexpr size_t older_bytes = 0;
template <>
inline constexpr size_t older_bytes<PointerAttributes> = 24;
template <>
inline constexpr size_t older_bytes<ResourceDescription> = 64;
template <>
inline constexpr size_t older_bytes<ViewDescription> = 48;
template <>
inline constexpr size_t older_bytes<TextureDescription> = LANESCOPE_OLDER == 11 ? 68
                                                                                : sizeof(TextureDescription);
template <>
inline constexpr size_t older_bytes<FunctionAttributes> = LANESCOPE_OLDER == 11 ? 56
                                                                                : sizeof(FunctionAttributes);

/// What a program passes, as CUDA 13 has it; nothing stays nothing.
template <typename T>
class Longer {
 public:
  explicit Longer(const void* older) : is_there_(older != nullptr) {
    if (is_there_) std::memcpy(&value_, older, older_bytes<T>);
  }
  [[nodiscard]] const T* get() const { return is_there_ ? &value_ : nullptr; }

 private:
  bool is_there_;
  T value_{};
};

/// Calls what fills a structure of CUDA 13, and passes on as much as the older release has of it.
template <typename T, typename From>
Status fill_older(Status (*function)(T*, From), void* older, From from) {
  T value{};
  const Status status = function(older == nullptr ? nullptr : &value, from);
  if (older != nullptr && status == Status::success) std::memcpy(older, &value, older_bytes<T>);
  return status;
}

}  // namespace lanescope::cuda
