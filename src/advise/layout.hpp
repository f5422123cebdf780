// What if an array in shared memory were laid out otherwise? From the warp accesses that a kernel made to it,
// the wavefronts that the same accesses would cost under another layout, without running the kernel again.
//
// All layouts are maps from the array's bytes to other places in it, in units of up to 4 bytes; the cost of
// the moved accesses comes from the model. Sources: row padding, NVIDIA's CUDA C++ Best Practices Guide
// (shared memory in matrix multiplication); XOR swizzles as linear maps over GF(2), e.g. Phothilimthana et
// al., "Swizzle Inventor" (ASPLOS 2019) and Zhou et al., "Linear Layouts" (2025).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"

namespace lanescope::advise {

inline constexpr uint32_t word_bytes = 4;  ///< what paddings are counted in

/// One distinct warp access to the array, and how often it came.
struct Pattern {
  model::Op op = model::Op::load;
  uint8_t width = 4;   ///< bytes a lane
  uint32_t mask = 0;   ///< active lanes, never 0
  uint64_t count = 1;  ///< warp accesses with these offsets
  uint32_t site = 0;   ///< which instruction, for those who ask; no part of the cost
  uint8_t part = 0;    ///< the assembler merged it of accesses of so many bytes; 0: it is one of its own
  /// Bytes from the array's begin; lanes outside `mask` hold 0.
  std::array<uint32_t, 32> offset{};
};

/// What an element of an array of structs holds, and may be kept in an array of its own.
struct Field {
  uint32_t offset = 0, bytes = 0;  ///< in the element
  uint32_t alignment = 1;          ///< of its array
  friend bool operator==(const Field&, const Field&) = default;
};

/// The array as it is. All in bytes.
struct Shape {
  uint32_t begin = 0;          ///< offset in the block's shared memory
  uint32_t bytes = 0;          ///< size
  uint32_t row_bytes = 0;      ///< from one row to the next; 0: unknown, or the array has no rows
  uint32_t plane_bytes = 0;    ///< from one plane of rows to the next; 0: it has no planes
  uint32_t element_bytes = 4;  ///< an element: a scalar or a struct
  /// The rows are a dimension of the array. Else padding and swizzle are computed from the index, and the
  /// assembler no longer sees which elements are neighbours: what it merges now, it then does not.
  bool has_rows = true;
  /// So many bytes stay together, at a multiple of as many: 16 where the hardware goes through the array in
  /// such pieces.
  uint32_t unit = 1;
  /// wmma goes from row to row by one pitch: nothing but the pitch may change.
  bool keeps_rows = false;
  /// The ways to take an element apart into fields, if its struct is known; those that take apart less come
  /// first.
  std::vector<std::vector<Field>> splits{};
};

/// Bytes after which the banks repeat: what arrays without rows are cut into.
[[nodiscard]] inline uint32_t bank_row_of(const model::Arch& arch) {
  return static_cast<uint32_t>(arch.banks * arch.bank_bytes);
}

/// tile[R][C] → tile[R][C + words]; of elements that are smaller than words a few bytes more.
struct RowPadding {
  uint32_t words = 1;
  uint32_t more_bytes = 0;  ///< fewer than a word's
  [[nodiscard]] uint32_t bytes() const { return words * word_bytes + more_bytes; }
  friend bool operator==(const RowPadding&, const RowPadding&) = default;
};

/// tile[P][R][C]: so many words are left free after each plane of R rows.
struct PlanePadding {
  uint32_t words = 1;
  friend bool operator==(const PlanePadding&, const PlanePadding&) = default;
};

/// Column ^= a linear map of the row: the columns of a row change places. Units of `granule` bytes; bit i of
/// the row index flips the bits `flips[i]` of the unit's index in its row. Of tile[16][17], whose padding
/// nothing accesses and where it does not help, it is taken away first.
struct Swizzle {
  static constexpr size_t most_row_bits = 16;
  uint32_t granule = 4;
  std::array<uint32_t, most_row_bits> flips{};
  uint32_t dropped = 0;  ///< bytes at the end of each row: its padding
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};

/// s[i].field → field[i]: every field of the element gets an array of its own, or, where `fields` is empty,
/// every `piece` (4 or 8 bytes) of it; an access of several becomes as many accesses. With elements of 8
/// bytes and pieces of 4: low and high halves apart.
struct StructOfArrays {
  uint32_t piece = 4;
  std::vector<Field> fields{};
  friend bool operator==(const StructOfArrays&, const StructOfArrays&) = default;
};

/// Every element grows by so many bytes.
struct ElementPadding {
  uint32_t bytes = 4;
  friend bool operator==(const ElementPadding&, const ElementPadding&) = default;
};

/// tile[R][C] → tile[C][R].
struct Transposed {
  friend bool operator==(const Transposed&, const Transposed&) = default;
};

/// std::monostate: the layout as it is. In the order of how little of the program they change.
using Layout = std::variant<std::monostate, RowPadding, PlanePadding, Swizzle, StructOfArrays, ElementPadding,
                            Transposed>;

/// "1 word", "3 bytes".
[[nodiscard]] std::string in_words(const RowPadding& padding);

/// In words for people: "each row padded by 1 word".
[[nodiscard]] std::string describe(const Layout& layout);

/// The swizzle of lanescope::SwizzledTile (tile.cuh) with units of `granule` bytes, its rows without their
/// last `dropped` bytes; nothing where there is no such tile.
[[nodiscard]] std::optional<Swizzle> tile_swizzle(const Shape& shape, uint32_t granule, uint32_t dropped = 0);

/// What all accesses together cost under a layout.
struct Outcome {
  uint64_t wavefronts = 0;
  uint64_t ideal = 0;
  uint32_t max_way = 0;
  uint32_t bytes = 0;     ///< the array's new size
  bool estimate = false;  ///< some rule is unknown
  [[nodiscard]] bool conflict_free() const { return wavefronts == ideal; }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Nothing if the layout does not fit the array (rows unknown or not whole; what Shape says that must stay)
/// or an access would no longer be one aligned piece: a vector access whose row is padded to another
/// alignment, a swizzle that tears it apart. Accesses that the assembler merged come apart then, and always
/// under a swizzle.
[[nodiscard]] std::optional<Outcome> what_if(const model::Arch& arch, const Shape& shape,
                                             std::span<const Pattern> patterns, const Layout& layout);

/// The same, one outcome for each pattern.
[[nodiscard]] std::optional<std::vector<Outcome>> what_if_each(const model::Arch& arch, const Shape& shape,
                                                               std::span<const Pattern> patterns,
                                                               const Layout& layout);

/// Where the first byte of each lane's access goes under a layout, in bytes from the array's begin; nothing
/// where what_if gives nothing, or an access becomes several.
[[nodiscard]] std::optional<std::array<uint32_t, 32>> moved(const Shape& shape, const Pattern& pattern,
                                                            const Layout& layout);

/// A layout, its outcome, and whether no layout of the same kind can cost less.
struct Candidate {
  Layout layout;
  Outcome outcome;
  bool proven_best = false;
};

/// What more memory has to bring: the share of the array's wavefronts that must be saved for it to have so
/// many bytes in place of its own.
using Price = std::function<double(uint32_t bytes)>;

/// An eighth of the bytes that an array grows by, of its own: to double it is worth while for an eighth of
/// its wavefronts. What is less than an eighth more costs nothing to speak of.
[[nodiscard]] double price_of_memory(const Shape& shape, uint32_t bytes);

/// The layouts that cost less than the one at hand, best first: fewest wavefronts and those that their memory
/// is worth, then in the order of Layout. Of each kind only the best is listed, of equals the smallest; rows
/// are padded by whole elements. Swizzles: searched over linear maps of the row's bits into the column's,
/// exhaustively where there are at most 2^14 of them, otherwise bit by bit from several beginnings;
/// `proven_best` when all were tried or the outcome is conflict-free.
[[nodiscard]] std::vector<Candidate> search(const model::Arch& arch, const Shape& shape,
                                            std::span<const Pattern> patterns, const Price& price);
/// The same where nothing but the array's own memory counts.
[[nodiscard]] std::vector<Candidate> search(const model::Arch& arch, const Shape& shape,
                                            std::span<const Pattern> patterns);

/// The pitch of the rows in bytes, as the addresses show it: the distance at which runs of lanes that are
/// neighbours in memory most often follow one another (128 for a column of float[32][32]); 0 if nothing
/// points to rows. `lanes`: runs of fewer say nothing.
[[nodiscard]] uint32_t row_pitch_of(std::span<const Pattern> patterns, size_t lanes = 1);

}  // namespace lanescope::advise
