// What advice says of a layout: the change, why, and what has to change along with it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "advise/array.hpp"
#include "advise/rewrite.hpp"

namespace lanescope::advise {

/// `rewritten`: the change of the source, or why there is none.
[[nodiscard]] std::string change_of(const Array& array, const Shape& shape, const Layout& layout,
                                    const std::variant<Rewrite, Unclear>& rewritten);
/// What has to change along with the layout: what lies behind the array, and what goes through it by rules of
/// its own. Empty where nothing has.
[[nodiscard]] std::string along_with(const Launch& launch, const Array& array, uint32_t more_bytes,
                                     uint32_t size_multiple);
/// Why lanes meet. `fitted_to_data`: only accesses conflict that go where data sends them.
[[nodiscard]] std::string reason_of(const Array& array, bool fitted_to_data);
/// What to say of rows at the array's end that nothing accesses: extents that were padded in the wrong
/// dimension leave them, and they are of no use beside rows that are padded. Empty where there are none.
[[nodiscard]] std::string unused_rows(const Array& array, const Layout& layout);

}  // namespace lanescope::advise
