// How lanes go through an array: by columns, in trees of strides that double, by pieces of neighbours, in a
// reduction's last steps.
#pragma once

#include <cstdint>
#include <optional>

#include "advise/array.hpp"

namespace lanescope::advise {

/// Whether the kernel goes through the array in a tree of strides that double, and all that this is for is
/// one element. Scans, wavelets and cyclic reductions of equations go through such trees, too, but then need
/// what lies where; a reduction combines two elements of each stride and stores to one of these places, and
/// nothing but the result is read elsewhere.
[[nodiscard]] bool is_reduction(const Launch& launch, const Array& array);
/// How many consecutive elements each thread works on, if threads do: lanes stand n elements apart, accesses
/// at every one of the n places between two lanes happen, and every warp has elements of its own (down the
/// columns of a tile, warps go through the same rows). 0: they do not.
[[nodiscard]] uint32_t consecutive_elements(const Launch& launch, const Array& array);
/// The distance of the lanes in the accesses that conflict most of all; 0: no one distance. Of several, that
/// which costs most. Lanes that are neighbours conflict because of others, which are elsewhere.
[[nodiscard]] int64_t worst_stride(const Array& array);
/// Whether lanes go down columns of the array wherever several take part (and on in the next column, where a
/// warp is longer than one), and never along a row.
[[nodiscard]] bool only_columns(const Array& array);

/// What a reduction's last steps within one warp cost: lanes 0 … s-1 add the elements s further on, for s =
/// 16, 8, 4, 2, 1, all with the same first element.
struct LastSteps {
  uint64_t wavefronts = 0;  ///< of the launch, that registers would save
  uint32_t site = 0;        ///< the first of these loads
};
[[nodiscard]] std::optional<LastSteps> last_steps_of(const Array& array);

}  // namespace lanescope::advise
