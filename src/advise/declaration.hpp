// Finds the declaration of a shared array in CUDA source text, and what its extents are: the pitch of its
// rows, and the place where a patch would go. Reads only what it can be sure of; what stays unclear it says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lanescope::advise {

/// One `[…]` of a declaration.
struct Extent {
  std::string text;           ///< as written, without brackets
  size_t begin = 0, end = 0;  ///< of `text` in the file
  uint64_t value = 0;
};

/// What is known of a pointer to a part of dynamic shared memory (division.hpp).
struct DynamicPart {
  /// Bytes of the text that say where parts begin: what is named there is not accessed.
  std::vector<std::pair<size_t, size_t>> begins;
  std::string obstacle;  ///< why other pointers may lead to the same elements; empty: none does
};

/// What all subscripts of an array of one dimension multiply the row by, s[r * pitch + c] (pitch.hpp); or the
/// length of the rows that a pointer to a part points to, where the text says it.
struct Pitch {
  std::string text;
  uint32_t elements = 0;                          ///< its value
  std::vector<std::pair<size_t, size_t>> places;  ///< bytes of the text
  std::pair<size_t, size_t> in_extent{};  ///< of a factor of the extent that is the same; none: none is
};

/// `__shared__ float tile[TILE][TILE + 1];`
struct Declaration {
  uint32_t line = 0;   ///< 1-based
  std::string file{};  ///< that the line is of; empty: the text's own
  std::string type;    ///< as written: "float", "T"
  std::string name;
  std::vector<Extent> extents;  ///< outermost first; none for a scalar
  uint32_t element_bytes = 0;
  std::string assumed;  ///< how an extent was found that the text alone does not give: "TILE = 32, from the
                        ///< array's size"
  size_t type_begin = 0, name_begin = 0;  ///< in the text
  size_t end = 0;                         ///< behind the last `]`, or the name
  bool alone = true;                      ///< no other variable in the same declaration
  bool plain = true;                      ///< the type is a name: no attribute, no volatile
  bool is_aligned = false;                ///< an alignment stands before the type, behind __shared__
  bool by_type = false;  ///< extents stand where its type is defined: `using Row = float[32]; … Row t[32]`
  std::string member_of{};  ///< the struct or class that it is a member of; empty: none
  bool open = false;        ///< `extern … t[]`: the launch decides on the first extent
  /// The bytes of `{ … }` of a struct that is defined in the declaration: `__shared__ struct { … } s[n]`;
  /// none where none is.
  std::pair<size_t, size_t> body{};

  std::optional<DynamicPart> part;
  std::optional<Pitch> pitch{};

  /// Bytes from one row (last extent) to the next; 0 for arrays of one dimension, unless their subscripts are
  /// those of rows.
  [[nodiscard]] uint32_t row_bytes() const {
    if (extents.size() < 2) return pitch ? pitch->elements * element_bytes : 0;
    return static_cast<uint32_t>(extents.back().value * element_bytes);
  }
  /// Bytes from one plane of rows to the next; 0 for arrays of other than three dimensions.
  [[nodiscard]] uint32_t plane_bytes() const {
    return extents.size() != 3 ? 0 : static_cast<uint32_t>(extents[1].value) * row_bytes();
  }
};

/// Why there is no Declaration, in words.
struct Unclear {
  std::string reason;
};

/// The declaration of `name` in `text`, of an array of `bytes` bytes that is used at line `used_at` of the
/// text's own file: the one in the body of `function` if that is known (of several those of that size, of
/// these the nearest one above that line), else the nearest one above that line. Extents are constant
/// expressions over numbers, `sizeof` of basic types, object-like macros, `const`/`constexpr` variables and
/// enumerators of the same text, and the parameters of the function template that the array is in, if
/// `function` says what they are: "transpose<32, float>". A single name that stays unknown (a macro from the
/// command line) is solved for from `bytes`. So is the first extent of `extern __shared__ float t[];`, if the
/// type has a size of its own; bytes (`char t[]`) are storage of anything, and stay unclear.
[[nodiscard]] std::variant<Declaration, Unclear> find_declaration(std::string_view text,
                                                                  std::string_view name, uint64_t bytes,
                                                                  uint32_t used_at,
                                                                  std::string_view function = "");

/// `__shared__ TYPE name;` in the function, "transpose<32>", with the template arguments' values in the type:
/// "Tile<float,32>" of `Tile<float, N>`. Nothing where that is not clear, or it is an array.
[[nodiscard]] std::optional<Declaration> struct_variable(std::string_view text, std::string_view name,
                                                         std::string_view function);

/// The function that a variable is in, of its demangled name: "transpose<32, float>" of
/// "void transpose<32, float>(float*)::tile", "transpose" of "transpose::tile". Empty where it is in none.
[[nodiscard]] std::string function_of(std::string_view demangled);

/// The text of an extent that is larger by `elements`: "TILE + 1".
[[nodiscard]] std::string padded(const Extent& extent, uint64_t elements);

/// The text of an extent without a padding of `elements`, "TILE" of "TILE + 1"; empty where the text does not
/// show it.
[[nodiscard]] std::string unpadded(const Extent& extent, uint64_t elements);

}  // namespace lanescope::advise
