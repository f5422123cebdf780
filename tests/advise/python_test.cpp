// Shared arrays in the Python source of Numba kernels: what is found, what is changed, what is left alone.
#include "advise/python.hpp"

#include <gtest/gtest.h>

#include "advise/patch.hpp"

namespace lanescope::advise {
namespace {

constexpr char source[] = R"(import numpy as np
from numba import cuda
ROWS = 16  # of a tile
WIDE = 2 * ROWS

@cuda.jit
def first(a):
    tile = cuda.shared.array((ROWS, 16), dtype=np.float32)
    other = cuda.shared.array(shape=(16, ROWS), dtype='int32')  # as large
    line = cuda.shared.array(256, numba.float64)
    if a.size > 0:
        tile[0, 0] = other[0, 0]
        tile[1, 1] = 0

        other[cuda.threadIdx.x, 0] = 1

def second(a):
    tile = numba.cuda.shared.array(
        (8, 4, 8),
        dtype=numba.uint8,
    )
    wide = shared.array((WIDE, 8), dtype=numba.int64)
    kept = cuda.shared.array((2, 8), numba.complex64)
    tile[0, 0, 0] = 1
    helper(kept)
)";

std::string found(uint64_t bytes, uint32_t line) {
  const auto result = find_python_declaration(source, bytes, line);
  if (const auto* why = std::get_if<Unclear>(&result)) return why->reason;
  const auto& d = std::get<Declaration>(result);
  std::string text = d.name + " " + std::to_string(d.line) + " " + std::to_string(d.element_bytes);
  for (const Extent& e : d.extents) text += " " + std::to_string(e.value);
  return text;
}

TEST(Python, FindsTheArrayOfItsSizeInTheFunction) {
  EXPECT_EQ(found(1024, 13), "tile 8 4 16 16");  // of two as large the one that the line mentions
  EXPECT_EQ(found(1024, 15), "other 9 4 16 16");
  EXPECT_EQ(found(1024, 12), "the function around line 12 declares more than one shared array of 1024 bytes");
  EXPECT_EQ(found(2048, 13), "line 10 8 256");
  EXPECT_EQ(found(256, 24), "tile 18 1 8 4 8");
  EXPECT_EQ(found(128, 25), "kept 23 8 2 8");
}

TEST(Python, SaysWhatIsNotClear) {
  EXPECT_EQ(found(4, 13), "the function around line 13 declares no shared array of 4 bytes");
  EXPECT_EQ(found(2048, 24),
            "line 22: the shape of 'wide' is not clear: an extent is neither a number nor a name "
            "that this file gives a number");
  EXPECT_EQ(found(1024, 3), "line 3 is in no function");
  EXPECT_EQ(found(1024, 1000), "line 1000 is in no function");
  for (size_t length = 0; length < sizeof source; ++length)  // texts that end anywhere
    for (const uint32_t line : {8u, 13u, 24u})
      (void)find_python_declaration(std::string_view(source).substr(0, length), 1024, line);
}

std::string changed(uint64_t bytes, uint32_t line, const Layout& layout) {
  const auto declaration = std::get<Declaration>(find_python_declaration(source, bytes, line));
  const Shape shape{.bytes = static_cast<uint32_t>(bytes),
                    .row_bytes = declaration.row_bytes(),
                    .element_bytes = declaration.element_bytes,
                    .has_rows = declaration.row_bytes() != 0};
  const auto result = rewrite_python(source, declaration, shape, layout);
  if (const auto* why = std::get_if<Unclear>(&result)) return why->reason;
  const auto& rewrite = std::get<Rewrite>(result);
  const std::string after = patched(source, rewrite.edits, "f");
  size_t begin = 0;
  for (uint32_t i = 1; i < declaration.line; ++i) begin = after.find('\n', begin) + 1;
  return rewrite.what + " |" + after.substr(begin, after.find('\n', begin) - begin);
}

TEST(Python, LengthensRowsByANumber) {
  EXPECT_EQ(changed(1024, 13, RowPadding{1}),
            "tile of shape (ROWS, 17) |    tile = cuda.shared.array((ROWS, 17), dtype=np.float32)");
  EXPECT_EQ(
      changed(1024, 15, RowPadding{2}),
      "other of shape (16, 18) |    other = cuda.shared.array(shape=(16, 18), dtype='int32')  # as large");
  EXPECT_EQ(changed(256, 24, RowPadding{1}), "tile of shape (8, 4, 12) |    tile = numba.cuda.shared.array(");
}

TEST(Python, LeavesAloneWhatItCannotChangeSurely) {
  EXPECT_EQ(changed(2048, 13, RowPadding{1}),
            "in Python rows of arrays of two and more dimensions are padded, nothing else");
  EXPECT_EQ(changed(1024, 13, Transposed{}),
            "in Python rows of arrays of two and more dimensions are padded, nothing else");
  EXPECT_EQ(changed(128, 25, RowPadding{1}), "the padding is no whole number of elements");
  EXPECT_EQ(changed(128, 25, RowPadding{2}), "line 25 uses 'kept' other than by subscripts");
}

}  // namespace
}  // namespace lanescope::advise
