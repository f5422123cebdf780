// How the source text changes when an array of structs becomes a struct of arrays: s[i].x → s.x[i], an
// element that is assigned or read as a whole field by field, references and pointers to one into references
// to its fields.
#pragma once

#include "advise/array_text.hpp"
#include "advise/layout.hpp"
#include "advise/rewrite.hpp"

namespace lanescope::advise {

/// The edits, and the new declaration. Throws Refused where the text cannot be changed surely.
[[nodiscard]] Rewrite make_struct_of_arrays(const ArrayText& array, const StructOfArrays& arrays);

}  // namespace lanescope::advise
