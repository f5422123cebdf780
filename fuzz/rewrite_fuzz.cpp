// The reader of declarations, and the changes of source text for other layouts, against foreign text:
// whatever it is, there is a change that can be made or a reason why not, and the diff of a change can be
// written.
#include <cstddef>
#include <cstdint>
#include <string>

#include "advise/rewrite.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lanescope::advise;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"s", "tile", "counters", "as"})
    for (const uint32_t bytes : {4096u, 8192u, 2048u}) {
      const auto found = find_declaration(text, name, bytes, UINT32_MAX, "k<32, float>");
      const auto* declaration = std::get_if<Declaration>(&found);
      if (declaration == nullptr) continue;
      const bool has_rows = declaration->row_bytes() != 0;
      const Shape shape{.bytes = bytes,
                        .row_bytes = has_rows ? declaration->row_bytes() : 128,
                        .element_bytes = declaration->element_bytes,
                        .has_rows = has_rows};
      for (const Layout& layout :
           {Layout(RowPadding{1}), Layout(RowPadding{2}), Layout(Swizzle{4, {1, 2, 4, 8, 16}}),
            Layout(StructOfArrays{4}), Layout(Transposed{}), Layout(PlanePadding{1})})
        if (const auto change = rewrite(text, *declaration, shape, layout);
            std::holds_alternative<Rewrite>(change))
          (void)unified_diff(text, std::get<Rewrite>(change).edits, "fuzz");
    }
  return 0;
}
