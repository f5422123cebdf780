// How the source text changes when a shared array gets another layout: a longer extent, another type of
// lanescope/tile.cuh, fields or subscripts in another order. Only where the text shows that nothing else
// leads into the array; otherwise it says what stands in the way.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/layout.hpp"
#include "advise/patch.hpp"

namespace lanescope::advise {

struct Rewrite {
  std::vector<Edit> edits;  ///< that of the declaration first
  std::string what;         ///< the new declaration: "float tile[32][32 + 1]"
  bool uses_tiles = false;  ///< lanescope/tile.cuh is included
  /// What else has to fit, in words, where the text does not show whether it does; empty: nothing.
  std::string condition{};
};

/// The edits that give the array of `declaration`, which stands in `text`, the layout. Row padding lengthens
/// the last extent of an array with rows, and the pitch that wmma is given of it, and makes a PaddedArray of
/// one without; padding of planes makes PaddedPlanes; a swizzle makes a SwizzledTile, if it is the map of
/// one; an array of structs becomes a struct of arrays (s[i].x → s.x[i]); transposed storage exchanges two
/// extents and all subscripts. A pointer to a part of dynamic shared memory becomes a SwizzledPointer, or
/// gets another pitch in its subscripts, for which room has to be made (division.hpp). Subscripts are looked
/// at up to the end of the block that the declaration stands in.
[[nodiscard]] std::variant<Rewrite, Unclear> rewrite(std::string_view text, const Declaration& declaration,
                                                     const Shape& shape, const Layout& layout);

/// Whether the text shows that the array is accessed by elements alone: every use has all subscripts, and
/// none is where it could become something else, in a cast or a call. Wider accesses are then of the
/// compiler's making.
[[nodiscard]] bool has_only_subscripts(std::string_view text, const Declaration& declaration);

/// The bytes of the largest type that the text makes of elements where it casts them, 16 of float4 in
/// `reinterpret_cast<float4*>(&s[i])` or in a macro of this file; 16 where the type is not clear; 0 where
/// there is no cast.
[[nodiscard]] uint32_t vector_bytes(std::string_view text, const Declaration& declaration);

}  // namespace lanescope::advise
