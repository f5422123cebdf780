// Which rows of a tensor a box is made of: one row, along dimension 0, after the other. Source: PTX
// ISA 9.0, 5.5.3 "Tiled Mode" and 5.5.4 "im2col mode".
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "exec/tensor_map.hpp"

namespace lanescope::exec {

using Coordinates = std::array<int64_t, TensorMap::most_dimensions>;

/// What an instruction says of its box.
struct BoxPlace {
  Coordinates first{};
  std::array<uint32_t, TensorMap::most_dimensions - 2>
      offsets{};                               ///< of im2col: added to the pixels' coordinates
  std::optional<std::array<int64_t, 4>> rows;  ///< of a tile, wherever they lie
};

/// Rows of a tile along dimension 1, then 2 and so on, or those that are listed; of im2col a pixel each, from
/// the first one on through the map's bounding box of all images that follow.
class BoxRows {
 public:
  BoxRows(const TensorMap& map, const BoxPlace& place) : map_(map), place_(place), at_(place.first) {}

  /// The coordinates of the row's first element, in the tensor or not.
  [[nodiscard]] Coordinates at() const {
    Coordinates at = at_;
    for (uint32_t d = 0; d < place_.offsets.size(); ++d) at[d + 1] += place_.offsets[d];
    if (place_.rows) at[1] = (*place_.rows)[index_[1]];
    return at;
  }

  void next() {
    if (map_.mode == TensorMap::Mode::im2col) return next_pixel();
    for (uint32_t d = 1; d < map_.dimensions; ++d) {
      at_[d] += map_.steps[d];
      if (++index_[d] < map_.extent(d)) return;
      index_[d] = 0;
      at_[d] = place_.first[d];
    }
  }

 private:
  const TensorMap& map_;
  const BoxPlace& place_;
  Coordinates at_;
  std::array<uint32_t, TensorMap::most_dimensions> index_{};  ///< of a tile

  void next_pixel() {
    const uint32_t images = map_.dimensions - 1u;
    for (uint32_t d = 1; d < images; ++d) {
      at_[d] += map_.steps[d];
      if (at_[d] <= map_.last_in_box(d)) return;
      at_[d] = map_.first_in_box(d);
    }
    at_[images] += map_.steps[images];
  }
};

}  // namespace lanescope::exec
