// Arrays for shared memory whose bank conflicts are checked while the kernel compiles: a tile with padded
// rows, a tile with swizzled columns, an array with gaps, a struct of arrays; and the check itself, for
// these, for plain arrays and for accesses of one's own.
//
//   using Tile = lanescope::PaddedTile<float, 32, 32>;
//   static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::row));
//   static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column));
//
//   __shared__ Tile tile;
//   tile[threadIdx.y][threadIdx.x] = in[i];
//   __syncthreads();
//   out[j] = tile[threadIdx.x][threadIdx.y];
//
// The tiles cost what indexing by hand costs: the same PTX (tests/kernels/tile_ptx_test.cpp). The check costs
// compile time only; it asks the model (lanescope/model), whose rules and their sources docs/model.md lists.
// C++20; a host compiler takes this header too, so the checks need no CUDA. docs/tile.md has more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lanescope/model/model.hpp"

namespace lanescope {

namespace detail {

/// The name of an architecture as a template argument: conflict_free<"sm_90", …>.
template <size_t n>
struct ArchName {
  char text[n] = {};
  consteval ArchName(const char (&name)[n]) {  // NOLINT(google-explicit-constructor): to be written as a text
    for (size_t i = 0; i < n; ++i) text[i] = name[i];
  }
};

LANESCOPE_HD constexpr bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }
LANESCOPE_HD constexpr int log2_of(int value) { return value <= 1 ? 0 : 1 + log2_of(value / 2); }
using model::detail::larger;
using model::detail::smaller;
/// How many pieces of `size` hold `count`.
LANESCOPE_HD constexpr int pieces(int count, int size) { return (count + size - 1) / size; }

/// The bytes of all banks in a row: 32 banks of 4 bytes, on every NVIDIA chip since 2.x and most of AMD's.
inline constexpr int bank_row_bytes = 128;

/// Where the element of this index lies if of each `every` elements those change places that bits of the
/// index above say: bit b flips the bits `flips[b]` of the place.
template <int every, unsigned... flips>
LANESCOPE_HD constexpr unsigned swizzled(unsigned index) {
  // Each bit in the place of the sign, and from there over the word: so compilers see what several bits can
  // do in one instruction (1, 2, 4, 8, 16 are one shift and one mask; a product with each bit was five).
  static_assert(log2_of(every) + sizeof...(flips) <= 32, "an index has no so many bits");
  unsigned flip = 0;
  int left = 31 - log2_of(every);
  ((flip ^= static_cast<unsigned>(static_cast<int>(index << left) >> 31) & flips, --left), ...);
  return index ^ flip;
}

template <int index, class First, class... Rest>
struct TypeAt {
  using Type = typename TypeAt<index - 1, Rest...>::Type;
};
template <class First, class... Rest>
struct TypeAt<0, First, Rest...> {
  using Type = First;
};

}  // namespace detail

/// A tile of `rows` x `columns` elements whose rows are `padding` elements longer than they need to be, so
/// that the elements of a column lie in different banks: tile[r][c] as of `T tile[rows][columns + padding]`.
///
/// One element of padding is right where a warp reads a whole column of 4-byte elements (32 rows); tiles of
/// 16 rows and wide elements have cases of their own: docs/tile.md. Aligned to 16 bytes; vector accesses need
/// a padding that keeps every row aligned, which conflict_free checks.
template <class T, int rows_, int columns_, int padding_ = 1>
struct PaddedTile {
  static_assert(rows_ > 0 && columns_ > 0 && padding_ >= 0);

  using value_type = T;
  static constexpr int rows = rows_;
  static constexpr int columns = columns_;
  /// Elements from one row to the next.
  static constexpr int pitch = columns_ + padding_;

  alignas(16) T elements[rows_][pitch];

  /// Byte of an element in the tile.
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return (row * pitch + column) * static_cast<int>(sizeof(T));
  }

  LANESCOPE_HD constexpr T (&operator[](int row))[pitch] { return elements[row]; }
  LANESCOPE_HD constexpr const T (&operator[](int row) const)[pitch] { return elements[row]; }
};

/// `planes` planes of `rows` x `columns` elements with `padding` elements left free after each, so that
/// planes begin in different banks while rows follow each other as in a plain array: t[p][r][c].
template <class T, int planes_, int rows_, int columns_, int padding_ = 1>
struct PaddedPlanes {
  static_assert(planes_ > 0 && rows_ > 0 && columns_ > 0 && padding_ > 0);

  using value_type = T;
  static constexpr int planes = planes_;
  struct Plane {
    T elements[rows_][columns_];
    T gap[padding_];
  };

  alignas(16) Plane elements[planes_];

  LANESCOPE_HD constexpr T (&operator[](int plane))[rows_][columns_] { return elements[plane].elements; }
  LANESCOPE_HD constexpr const T (&operator[](int plane) const)[rows_][columns_] {
    return elements[plane].elements;
  }
};

/// A tile of `rows` x `columns` elements without padding, in which the columns of each row change places by
/// an XOR with bits of the row: rows and columns are free of conflicts, and no byte is lost.
///
/// `unit` neighbouring elements stay together and aligned: 1 for elements of 4 bytes and more, 4 for float4
/// accesses to a tile of floats, 8 for ldmatrix on a tile of halves. columns / unit must be a power of two.
///
/// The map: unit u of row r lies at u ^ ((r >> right) & mask) << left. `right` leaves rows alone that lie
/// beside each other in one row of the banks; `left` makes room for the neighbouring columns that a warp
/// reads together where the tile has fewer rows than a phase has lanes.
template <class T, int rows_, int columns_, int unit_ = detail::larger(1, 4 / static_cast<int>(sizeof(T)))>
struct SwizzledTile {
  static constexpr int units = columns_ / unit_;
  static constexpr int unit_bytes = unit_ * static_cast<int>(sizeof(T));
  static_assert(rows_ > 0 && columns_ % unit_ == 0 && detail::is_power_of_two(units),
                "a row of a swizzled tile is a power of two of units");
  static_assert(detail::is_power_of_two(unit_bytes) && unit_bytes >= 4 && unit_bytes <= 16,
                "a unit of a swizzled tile has 4, 8 or 16 bytes");

  using value_type = T;
  static constexpr int rows = rows_;
  static constexpr int columns = columns_;

  /// Units in a row of the banks, which are as many as the lanes of a phase.
  static constexpr int bank_units = detail::bank_row_bytes / unit_bytes;
  static constexpr int right = detail::log2_of(detail::larger(1, bank_units / units));
  static constexpr int left = detail::log2_of(detail::larger(1, bank_units / rows_));
  static constexpr int mask = detail::larger(1, detail::smaller(units, bank_units) >> left) - 1;

  alignas(16) T elements[rows_][columns_];

  /// What the column of an element of row `row` is XORed with.
  LANESCOPE_HD static constexpr int flip(int row) { return (((row >> right) & mask) << left) * unit_; }
  /// Byte of an element in the tile.
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    return (row * columns_ + (column ^ flip(row))) * static_cast<int>(sizeof(T));
  }

  /// A row: only its operator[] is of use.
  template <class Element>
  struct Row {
    Element* begin;
    int flip;
    LANESCOPE_HD constexpr Element& operator[](int column) const { return begin[column ^ flip]; }
  };
  LANESCOPE_HD constexpr Row<T> operator[](int row) { return {elements[row], flip(row)}; }
  LANESCOPE_HD constexpr Row<const T> operator[](int row) const { return {elements[row], flip(row)}; }
};

/// `count` elements with `padding` elements left free after every `every`: element i lies at
/// i + i / every * padding, so that elements at strides of powers of two (trees, butterflies, sorting
/// networks) lie in different banks. Without being told otherwise a word is left free after each row of the
/// banks.
template <class T, int count_,
          int every_ = detail::larger(1, detail::bank_row_bytes / static_cast<int>(sizeof(T))),
          int padding_ = detail::larger(1, 4 / static_cast<int>(sizeof(T)))>
struct PaddedArray {
  static_assert(count_ > 0 && every_ > 0 && padding_ >= 0);

  using value_type = T;
  static constexpr int rows = 1;
  static constexpr int columns = count_;
  static constexpr int size = count_ + (count_ + every_ - 1) / every_ * padding_;

  alignas(16) T elements[size];

  LANESCOPE_HD static constexpr unsigned place(unsigned index) {
    return index + index / static_cast<unsigned>(every_) * static_cast<unsigned>(padding_);
  }
  /// Byte of an element in the array; the row is 0.
  LANESCOPE_HD static constexpr int byte_offset(int /*row*/, int column) {
    return static_cast<int>(place(static_cast<unsigned>(column)) * sizeof(T));
  }

  LANESCOPE_HD constexpr T& operator[](unsigned index) { return elements[place(index)]; }
  LANESCOPE_HD constexpr const T& operator[](unsigned index) const { return elements[place(index)]; }
};

/// `count` elements in which those of each `every` change places by an XOR with bits of the index above them:
/// of element i, `flips[b]` is XORed into the place if bit b of i / every is set. No byte is lost where
/// `every` divides `count`; `every` is a power of two, larger than all flips. `lanescope run` says which
/// flips take the conflicts away (docs/advice.md).
template <class T, int count_, int every_, unsigned... flips>
struct SwizzledArray {
  static_assert(count_ > 0 && detail::is_power_of_two(every_));
  static_assert(((flips < static_cast<unsigned>(every_)) && ...), "a flip leaves its row");

  using value_type = T;
  static constexpr int rows = 1;
  static constexpr int columns = count_;
  static constexpr int size = (count_ + every_ - 1) / every_ * every_;

  alignas(16) T elements[size];

  LANESCOPE_HD static constexpr unsigned place(unsigned index) {
    return detail::swizzled<every_, flips...>(index);
  }
  /// Byte of an element in the array; the row is 0.
  LANESCOPE_HD static constexpr int byte_offset(int /*row*/, int column) {
    return static_cast<int>(place(static_cast<unsigned>(column)) * sizeof(T));
  }

  LANESCOPE_HD constexpr T& operator[](unsigned index) { return elements[place(index)]; }
  LANESCOPE_HD constexpr const T& operator[](unsigned index) const { return elements[place(index)]; }
};

/// A pointer to elements that lie as those of a SwizzledArray: for parts of dynamic shared memory.
///
///   extern __shared__ float smem[];
///   lanescope::SwizzledPointer<float, 32, 1, 2, 4, 8, 16> a{smem}, b{smem + 1024};
///
/// Each part holds a multiple of `every` elements, or the last ones would leave it.
template <class T, int every_, unsigned... flips>
struct SwizzledPointer {
  static_assert(detail::is_power_of_two(every_));
  static_assert(((flips < static_cast<unsigned>(every_)) && ...), "a flip leaves its row");

  T* elements;

  LANESCOPE_HD constexpr T& operator[](unsigned index) const {
    return elements[detail::swizzled<every_, flips...>(index)];
  }
};

/// `count` records whose fields lie in arrays of their own, one behind the other: where an array of structs
/// puts the fields of neighbouring lanes sizeof(struct) bytes apart, here they are neighbours.
///
///   using Particles = lanescope::StructOfArrays<256, float, float, float, float>;
///   enum { x, y, z, mass };
///   __shared__ Particles p;
///   p.get<x>(threadIdx.x) = …;
///
/// For the check, field f of record i is the element (row f, column i).
template <int count_, class... Fields>
struct StructOfArrays {
  static_assert(count_ > 0 && sizeof...(Fields) > 0);
  static constexpr int rows = sizeof...(Fields);
  static constexpr int columns = count_;
  template <int field>
  using Field = typename detail::TypeAt<field, Fields...>::Type;

  /// Bytes of an element of field `row`.
  LANESCOPE_HD static constexpr int width(int row) {
    const int sizes[] = {static_cast<int>(sizeof(Fields))...};
    return sizes[row];
  }
  LANESCOPE_HD static constexpr int byte_offset(int row, int column) {
    const int sizes[] = {static_cast<int>(sizeof(Fields))...};
    int begin = 0;
    for (int field = 0; field < row; ++field) begin += array_bytes(sizes[field]);
    return begin + column * sizes[row];
  }

  static constexpr int bytes = (((static_cast<int>(sizeof(Fields)) * count_ + 15) / 16 * 16) + ... + 0);
  alignas(16) unsigned char storage[bytes];

  template <int field>
  LANESCOPE_HD Field<field>& get(int index) {
    constexpr int begin = byte_offset(field, 0);
    return reinterpret_cast<Field<field>*>(storage + begin)[index];
  }
  template <int field>
  LANESCOPE_HD const Field<field>& get(int index) const {
    constexpr int begin = byte_offset(field, 0);
    return reinterpret_cast<const Field<field>*>(storage + begin)[index];
  }

 private:
  /// Every array begins at a multiple of 16 bytes.
  LANESCOPE_HD static constexpr int array_bytes(int size) { return (size * count_ + 15) / 16 * 16; }
};

/// `count` elements of `V` (a vector type such as float4) that begin at an element of a tile. The elements
/// must be neighbours there: column a multiple of the vector's size, and of a swizzled tile's unit.
template <class V, class Tile>
LANESCOPE_HD V& vector_at(Tile& tile, int row, int column) {
  return reinterpret_cast<V&>(tile[row][column]);
}

#if defined(__CUDACC__)
/// The address of an element for instructions that take one in shared memory (ldmatrix, cp.async).
template <class Tile>
__device__ uint32_t shared_address(const Tile& tile, int row, int column) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(&tile[row][column]));
}
#endif

// ---- The check.

/// Where a lane goes.
struct Position {
  int row = 0;
  int column = 0;
  friend constexpr bool operator==(const Position&, const Position&) = default;
};
/// The lane does not take part.
inline constexpr Position inactive{-1, -1};

namespace detail {
/// The bytes of an element that one instruction moves.
template <class T>
constexpr int element_bytes() {
  static_assert(is_power_of_two(sizeof(T)) && sizeof(T) <= 16 && alignof(T) == sizeof(T),
                "an element is what one instruction moves: 1, 2, 4, 8 or 16 bytes, aligned to its size; the "
                "fields of a struct are elements of their own, as in float[count][fields]");
  return static_cast<int>(sizeof(T));
}
}  // namespace detail

/// How a layout is seen by the check: plain arrays T[rows][columns] and T[columns], and every type with
/// `rows`, `columns`, `byte_offset(row, column)` and `value_type` or `width(row)`.
template <class Tile>
struct TileTraits {
  static constexpr int rows = Tile::rows;
  static constexpr int columns = Tile::columns;
  static constexpr int byte_offset(int row, int column) { return Tile::byte_offset(row, column); }
  static constexpr int width([[maybe_unused]] int row) {
    if constexpr (requires { Tile::width(row); })
      return Tile::width(row);
    else
      return detail::element_bytes<typename Tile::value_type>();
  }
};
template <class T, size_t columns_>
struct TileTraits<T[columns_]> {
  static constexpr int rows = 1;
  static constexpr int columns = static_cast<int>(columns_);
  static constexpr int byte_offset(int /*row*/, int column) { return column * static_cast<int>(sizeof(T)); }
  static constexpr int width(int /*row*/) { return detail::element_bytes<T>(); }
};
template <class T, size_t rows_, size_t columns_>
struct TileTraits<T[rows_][columns_]> {
  static constexpr int rows = static_cast<int>(rows_);
  static constexpr int columns = static_cast<int>(columns_);
  static constexpr int byte_offset(int row, int column) {
    return (row * columns + column) * static_cast<int>(sizeof(T));
  }
  static constexpr int width(int /*row*/) { return detail::element_bytes<T>(); }
};

/// Ways through a tile. Each stands for all warp accesses of its kind: access::column for every column. An
/// access of one's own is a function of the lane that gives a Position (of the lane's first element), or one
/// of lane and instance together with a number of instances: access::each.
namespace access {

/// Lane l at row l and column l + d, for every d, columns wrapping around; lanes beyond the last row rest.
struct Diagonal {
  static constexpr int elements = 1;
  template <class Traits>
  static constexpr int instances(int /*lanes*/) {
    return Traits::columns;
  }
  template <class Traits>
  static constexpr Position at(int lane, int instance, int /*lanes*/) {
    return lane < Traits::rows ? Position{lane, (lane + instance) % Traits::columns} : inactive;
  }
};
inline constexpr Diagonal diagonal;

/// Lanes go through the rows, `n` neighbouring elements each (float4: 4); a warp that is longer than a row
/// goes on in the next one.
template <int n>
struct VectorRow {
  static constexpr int elements = n;
  template <class Traits>
  static constexpr int instances(int lanes) {
    return detail::pieces(Traits::rows * Traits::columns, n * lanes);
  }
  template <class Traits>
  static constexpr Position at(int lane, int instance, int lanes) {
    const int element = (instance * lanes + lane) * n;
    return element < Traits::rows * Traits::columns
               ? Position{element / Traits::columns, element % Traits::columns}
               : inactive;
  }
};
template <int n>
inline constexpr VectorRow<n> vector_row;
inline constexpr VectorRow<1> row;

/// Lanes go down the columns, `n` neighbouring elements of the row each; a warp that is longer than a column
/// goes on in the next one.
template <int n>
struct VectorColumn {
  static constexpr int elements = n;
  template <class Traits>
  static constexpr int instances(int lanes) {
    return detail::pieces(Traits::rows * (Traits::columns / n), lanes);
  }
  template <class Traits>
  static constexpr Position at(int lane, int instance, int lanes) {
    const int vector = instance * lanes + lane;
    return vector < Traits::rows * (Traits::columns / n)
               ? Position{vector % Traits::rows, vector / Traits::rows * n}
               : inactive;
  }
};
template <int n>
inline constexpr VectorColumn<n> vector_column;
inline constexpr VectorColumn<1> column;

/// ldmatrix (and stmatrix) of `matrices` 8x8 matrices of 16-byte rows: lane l gives the row l % 16 of a block
/// of 16 rows, its columns 0-7 for the lanes 0-15 and 8-15 (of 2-byte elements) for the others; x1 takes 8
/// rows. For every such block of the tile.
template <int matrices_>
struct Matrix {
  static_assert(matrices_ == 1 || matrices_ == 2 || matrices_ == 4);
  static constexpr int matrices = matrices_;
  static constexpr int block_rows = matrices_ == 1 ? 8 : 16;
  static constexpr int block_parts = matrices_ == 4 ? 2 : 1;  ///< of 16 bytes
  template <class Traits>
  static constexpr int part() {
    return 16 / Traits::width(0);
  }
  template <class Traits>
  static constexpr int instances(int /*lanes*/) {
    return (Traits::rows / block_rows) * (Traits::columns / (part<Traits>() * block_parts));
  }
  template <class Traits>
  static constexpr Position at(int lane, int instance, int /*lanes*/) {
    if (lane >= 8 * matrices_) return inactive;
    const int across = Traits::columns / (part<Traits>() * block_parts);
    return {instance / across * block_rows + lane % block_rows,
            (instance % across * block_parts + lane / block_rows) * part<Traits>()};
  }
};
template <int matrices>
inline constexpr Matrix<matrices> ldmatrix;

template <class Where>
struct Each {
  int count;
  Where where;
};
/// An access of one's own in several instances: `where(lane, instance)` for instance 0 … count-1.
template <class Where>
consteval Each<Where> each(int count, Where where) {
  return {count, where};
}

template <int n, class Where>
struct VectorOf {
  static constexpr int elements = n;
  Where where;
};
/// An access of one's own with `n` neighbouring elements for each lane.
template <int n, class Where>
consteval VectorOf<n, Where> vector(Where where) {
  return {where};
}

}  // namespace access

namespace detail {

/// Not by find_arch and a null pointer: GCC's sanitizers make comparing pointers no constant.
constexpr bool is_name_of_arch(std::string_view name) {
  for (const model::Arch& arch : model::archs)
    if (name == arch.name) return true;
  return false;
}

template <ArchName name>
constexpr model::Arch arch_named() {
  static_assert(is_name_of_arch(name.text),
                "no architecture has this name: archs.hpp and docs/model.md list them");
  return *model::find_arch(name.text);
}

template <class Access>
constexpr int elements_of() {
  if constexpr (requires { Access::elements; })
    return Access::elements;
  else
    return 1;
}
template <class Traits, class Access>
constexpr int instances_of(const Access& access, int lanes) {
  if constexpr (requires { access.template instances<Traits>(lanes); })
    return access.template instances<Traits>(lanes);
  else if constexpr (requires { access.count; })
    return access.count;
  else
    return 1;
}
template <class Traits, class Access>
constexpr Position position_of(const Access& access, int lane, int instance, int lanes) {
  if constexpr (requires { access.template at<Traits>(lane, instance, lanes); })
    return access.template at<Traits>(lane, instance, lanes);
  else if constexpr (requires { access.where(lane, instance); })
    return access.where(lane, instance);
  else if constexpr (requires { access.where(lane); })
    return access.where(lane);
  else
    return access(lane);
}

/// No constant expression: a compiler names it where an access leaves its tile.
inline void position_outside_of_the_tile() {}
/// The same for elements that are to be moved together and do not lie together, aligned.
inline void elements_are_no_aligned_vector() {}

/// The request of one instance.
template <class Traits, class Access>
constexpr model::Request request_of(const Access& access, model::Op op, int instance, int lanes) {
  model::Request request;
  request.op = op;
  request.lanes = lanes;
  const bool matrix = op == model::Op::ldmatrix || op == model::Op::stmatrix;
  if constexpr (requires { Access::matrices; }) request.matrices = Access::matrices;
  for (int lane = 0; lane < lanes; ++lane) {
    const Position at = position_of<Traits>(access, lane, instance, lanes);
    if (at == inactive) continue;
    if (at.row < 0 || at.row >= Traits::rows || at.column < 0 || at.column >= Traits::columns)
      position_outside_of_the_tile();
    const int element = Traits::width(at.row);
    const int elements = matrix ? 16 / element : elements_of<Access>();
    const int first = Traits::byte_offset(at.row, at.column);
    request.width = element * elements;
    bool whole = is_power_of_two(request.width) && request.width <= 16 && first % request.width == 0 &&
                 at.column + elements <= Traits::columns;
    for (int i = 1; i < elements && whole; ++i)
      whole = Traits::byte_offset(at.row, at.column + i) == first + i * element;
    if (!whole) elements_are_no_aligned_vector();
    request.mask |= uint64_t{1} << lane;
    request.address[lane] = static_cast<uint64_t>(first);
  }
  return request;
}

/// Do all lanes of two instances of an access stand equally far apart, by a multiple of `granule`?
constexpr bool is_shifted(const model::Request& a, const model::Request& b, uint32_t granule) {
  if (a.mask != b.mask || a.width != b.width || a.mask == 0) return false;
  const int first = model::detail::lowest_bit(a.mask);
  const uint64_t shift = b.address[first] - a.address[first];
  for (uint64_t left = a.mask; left != 0; left &= left - 1) {
    const int lane = model::detail::lowest_bit(left);
    if (b.address[lane] - a.address[lane] != shift) return false;
  }
  return shift % granule == 0;
}

/// Of the worst instance, by each of the instructions, which give the same request but for their `op`.
template <ArchName name, class Tile, class Access, size_t n>
constexpr int most_conflicts(const Access& access, const model::Op (&ops)[n]) {
  const model::Arch arch = arch_named<name>();
  using Traits = TileTraits<Tile>;
  int most = 0;
  const int count = instances_of<Traits>(access, arch.warp_lanes);
  model::Request counted;
  for (int instance = 0; instance < count; ++instance) {
    model::Request request = request_of<Traits>(access, ops[0], instance, arch.warp_lanes);
    // Compilers give up on long constant expressions, and looking for a shift is shorter than counting.
    if (is_shifted(counted, request, model::shared_shift_granule(arch, ops[0]))) continue;
    counted = request;
    for (const model::Op op : ops) {
      request.op = op;
      most = larger(most, model::shared_cost(arch, request).conflicts);
    }
  }
  return most;
}

template <ArchName name, class Tile, class Access>
constexpr int most_conflicts(const Access& access) {
  if constexpr (requires { Access::matrices; })
    return most_conflicts<name, Tile>(access, {model::Op::ldmatrix});
  else
    return most_conflicts<name, Tile>(access, {model::Op::load, model::Op::store});
}

}  // namespace detail

/// The bank conflicts (wavefronts over the ideal) of the worst warp access of that kind, of loads and stores
/// whichever are worse (access::ldmatrix: of matrix instructions). A position outside of the tile, and
/// elements that do not lie together as a vector needs it, do not compile.
template <detail::ArchName arch, class Tile, class Access>
consteval int conflicts(Access access) {
  return detail::most_conflicts<arch, Tile>(access);
}
/// The same for one kind of instruction, atomics and cp.async among them.
template <detail::ArchName arch, class Tile, class Access>
consteval int conflicts(Access access, model::Op op) {
  return detail::most_conflicts<arch, Tile>(access, {op});
}

/// Whether no warp access of that kind has a bank conflict, as load and as store:
///   static_assert(lanescope::conflict_free<"sm_90", Tile>(lanescope::access::column));
///   static_assert(lanescope::conflict_free<"sm_90", float[32][33]>([](int lane) { return Position{lane, 0};
///   }));
template <detail::ArchName arch, class Tile, class Access>
consteval bool conflict_free(Access access) {
  return detail::most_conflicts<arch, Tile>(access) == 0;
}
/// The same for one kind of instruction.
template <detail::ArchName arch, class Tile, class Access>
consteval bool conflict_free(Access access, model::Op op) {
  return detail::most_conflicts<arch, Tile>(access, {op}) == 0;
}

}  // namespace lanescope
