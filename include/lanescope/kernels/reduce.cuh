// Reductions in CUDA C++: sum, minimum, maximum, where the minimum or maximum lies, and any associative
// functor, of one array or of its segments. Every result has the same bits on every run and every GPU.
//
//   using namespace lanescope::kernels;
//   const size_t bytes = reduce_workspace_bytes<float, float>(count);
//   … allocate `bytes` bytes of device memory, once, for as many calls one after the other as you like …
//   const Status status = reduce_sum(out, in, count, Workspace{memory, bytes}, stream);
//
// What is reduced (`shape`) is one of
//   count                               the elements in[0 … count-1] to out[0]
//   FixedSegments{segments, length}     in[s * length … (s + 1) * length - 1] to out[s]
//   Segments{offsets, segments, count}  in[offsets[s] … offsets[s + 1] - 1] to out[s], of `count` elements in
//                                       all; offsets are in device memory and do not decrease
// A count may exceed 2^32; an empty array or segment gives the identity.
//
// The order of operations depends on the shape and the types alone, not on the number of blocks, of
// multiprocessors, nor on where the arrays lie. Functors must be associative; elements change places only if
// the functor says that it is commutative (`static constexpr bool commutative = true`).
//
// Stream-ordered: no function waits, allocates, or needs the workspace initialised. `in` needs the alignment
// of its type only (from 16 bytes on it is read 16 bytes at a time). `out`, `in`, the offsets and the
// workspace do not overlap. Nothing outside of the arrays is read or written, also with offsets that are
// wrong. How it is done and what was tried: docs/performance.md. C++20, CUDA 12 or newer, compute
// capability 7.0 or newer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "lanescope/kernels/status.cuh"
#include "lanescope/model/model.hpp"
#include "lanescope/tile.cuh"

namespace lanescope::kernels {

/// Segments of one length, one after the other.
struct FixedSegments {
  uint64_t segments = 0;
  uint64_t length = 0;
};

/// Segments that `segments + 1` offsets in device memory separate, as in the row offsets of CSR.
template <class Offset>
struct Segments {
  const Offset* offsets = nullptr;
  uint64_t segments = 0;
  /// Elements of the array: no offset may be larger. (One that is counts as this.)
  uint64_t elements = 0;
};
template <class Offset, class A, class B>
Segments(const Offset*, A, B) -> Segments<Offset>;
template <class Offset, class A, class B>
Segments(Offset*, A, B) -> Segments<Offset>;

/// Device memory for what a call keeps in between, aligned to 16 bytes. Its contents need not be preserved
/// from call to call; calls that could run at the same time need one each.
struct Workspace {
  void* memory = nullptr;
  size_t bytes = 0;
};

/// What may be chosen; the results do not depend on it.
struct ReduceOptions {
  /// At most so many blocks run a kernel, to leave multiprocessors to others. 0: as many as there is work
  /// for.
  unsigned max_blocks = 0;
};

/// A value and where it is: the index in the array, or in the segment.
template <class T>
struct Indexed {
  T value;
  uint64_t index;
};

namespace reduce_detail {

/// Whether `a` comes before `b`: the smaller (larger) one; NaN before everything else.
template <bool smaller, class T>
LANESCOPE_HD bool before(const T& a, const T& b) {
  return !(smaller ? b <= a : a <= b) && b == b;  // NOLINT(misc-redundant-expression): b is not NaN
}

/// The value that every other one comes before.
template <bool smaller, class T>
constexpr T last_value() {
  using Limits = std::numeric_limits<T>;
  static_assert(Limits::is_specialized, "no std::numeric_limits: call reduce() with an identity of your own");
  if constexpr (Limits::has_infinity)
    return smaller ? Limits::infinity() : -Limits::infinity();
  else
    return smaller ? Limits::max() : Limits::lowest();
}

template <bool smaller>
struct Extreme {
  static constexpr bool commutative = true;
  template <class T>
  static constexpr T identity() {
    return last_value<smaller, T>();
  }
  template <class T>
  LANESCOPE_HD T operator()(const T& a, const T& b) const {
    return before<smaller>(b, a) ? b : a;
  }
};

template <bool smaller>
struct ArgExtreme {
  static constexpr bool commutative = true;
  /// The same for a value at a higher index than that of `a`, which is not the identity.
  template <class T>
  LANESCOPE_HD void add_later(Indexed<T>& a, const T& value, uint64_t index) const {
    if (before<smaller>(value, a.value)) a = {value, index};
  }
  template <class T>
  LANESCOPE_HD Indexed<T> operator()(const Indexed<T>& a, const Indexed<T>& b) const {
    return before<smaller>(b.value, a.value) || (!before<smaller>(a.value, b.value) && b.index < a.index) ? b
                                                                                                          : a;
  }
};

}  // namespace reduce_detail

/// a + b. The identity is T{}.
struct Sum {
  static constexpr bool commutative = true;
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  LANESCOPE_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
/// The smaller one; NaN if one is NaN. The identity is infinity, or the type's largest value.
using Min = reduce_detail::Extreme<true>;
/// The larger one; NaN if one is NaN. The identity is -infinity, or the type's lowest value.
using Max = reduce_detail::Extreme<false>;
/// The smaller value, of equal ones that with the lower index; NaN is smaller than everything.
using ArgMin = reduce_detail::ArgExtreme<true>;
/// The larger value, of equal ones that with the lower index; NaN is larger than everything.
using ArgMax = reduce_detail::ArgExtreme<false>;

namespace reduce_detail {

// ---- How the work is laid out. The order of operations follows from these numbers: changing one changes the
// last bits of floating-point sums.

/// Threads of a block, and vectors that a thread has in flight.
inline constexpr int threads = 512;
inline constexpr int in_flight = 4;
inline constexpr int warps = threads / 32;
/// One array is cut into at most so many pieces, one for a block at a time; they are reduced by one block.
inline constexpr uint64_t most_pieces = 4096;
/// A piece is a whole number of tiles of a block: one if there are at most so many tiles, else at least four.
inline constexpr uint64_t few_tiles = 1024;
/// Segments of at most so many vectors are reduced by one lane, by four, eight, a warp; longer ones by a
/// block.
inline constexpr uint64_t vectors_for_1 = 4, vectors_for_4 = 16, vectors_for_8 = 64, vectors_for_warp = 2048;
/// Results of pieces that a warp folds; more are folded by a block.
inline constexpr uint64_t most_results_for_warp = 128;
/// Of segments given by offsets, those with more vectors than this for each lane are cut into pieces of
/// `piece_vectors` vectors, at most `most_pieces` of them, one for a warp at a time.
inline constexpr uint64_t most_vectors_of_lane = 64;
inline constexpr uint64_t piece_vectors = 32 * most_vectors_of_lane;

/// The widest load of elements of `size` bytes with which a warp that reads neighbouring elements touches no
/// sector that it does not need whole: bytes a lane, or 0 where only the compiler knows how to load them.
constexpr int load_width(int size) {
  for (int width = 16; width >= size; width /= 2) {
    const auto cost = model::global_cost(
        *model::find_arch("sm_90"), model::strided(model::Op::load, width, 0, static_cast<uint64_t>(width)));
    if (width % size == 0 && cost.sectors * 32 == 32 * width) return width;
  }
  return 0;
}
/// Elements that a lane loads at once.
template <class In>
inline constexpr int per_load = load_width(sizeof(In)) == 0
                                    ? 1
                                    : load_width(sizeof(In)) / static_cast<int>(sizeof(In));
/// Whether these are one 16-byte load.
template <class In>
inline constexpr bool wide = load_width(sizeof(In)) == 16;

LANESCOPE_HD constexpr uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
LANESCOPE_HD constexpr uint64_t least(uint64_t a, uint64_t b) { return b < a ? b : a; }

/// Whether elements may change places.
template <class Op>
LANESCOPE_HD constexpr bool commutes() {
  if constexpr (requires { Op::commutative; })
    return Op::commutative;
  else
    return false;
}

/// Values that a thread keeps: one for each element of a load, but no more than 64 bytes of them.
template <class In, class Acc>
inline constexpr int chains = sizeof(Acc) * per_load<In> <= 64 ? per_load<In>
                              : sizeof(Acc) <= 32              ? 64 / static_cast<int>(sizeof(Acc))
                                                               : 1;

/// Blocks that a multiprocessor is to hold: three keep the memory busiest (docs/performance.md), but
/// registers for larger values are for fewer.
template <int group, bool foreign, class In, class Acc, class Op>
constexpr int resident_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
  constexpr int most = 1024 / threads;
#else
  constexpr int most = 3;
#endif
  if (sizeof(Acc) > 64) return 1;
  return sizeof(Acc) * chains<In, Acc> > 16 || !commutes<Op>() || group == 1 || !foreign ? 2 : most;
}

// ---- Values between threads: any type, as words of 4 bytes.

template <class T>
inline constexpr int words_of = (sizeof(T) + 3) / 4;

template <class T>
struct Words {
  uint32_t word[words_of<T>] = {};
  __device__ explicit Words(const T& value) { memcpy(word, &value, sizeof(T)); }
  Words() = default;
  __device__ T value() const {
    T result;
    memcpy(&result, word, sizeof(T));
    return result;
  }
};

/// The values of `lanes` neighbouring lanes, in their order, to the first of them; the others get something.
template <int lanes, class Acc, class Op>
__device__ __forceinline__ Acc fold_lanes(Acc value, unsigned mask, const Op& op) {
#pragma unroll
  for (int step = 1; step < lanes; step *= 2) {
    Words<Acc> words(value);
#pragma unroll
    for (int w = 0; w < words_of<Acc>; ++w)
      words.word[w] = __shfl_down_sync(mask, words.word[w], step, lanes);
    value = op(value, words.value());
  }
  return value;
}

/// Shared memory for one value of each warp: word w of all values lie side by side, so that a warp that reads
/// them has no conflict whatever the size of the type.
template <class Acc>
using WarpValues = uint32_t[words_of<Acc>][warps];

/// The values of a block, in the order of its threads, to thread 0. All threads take part.
template <class Acc, class Op>
__device__ __forceinline__ Acc fold_block(Acc value, const Acc& identity, const Op& op) {
  static_assert(conflict_free<"sm_90", WarpValues<Acc>>(
                    access::each(words_of<Acc>,
                                 [](int lane, int word) {
                                   return lane < warps ? Position{word, lane} : inactive;
                                 })),
                "the values of the warps are read without bank conflicts");
  __shared__ WarpValues<Acc> values;
  value = fold_lanes<32>(value, 0xffffffffu, op);
  __syncthreads();  // the values of the block's last item have been read
  if (threadIdx.x % 32 == 0) {
    const Words<Acc> words(value);
#pragma unroll
    for (int w = 0; w < words_of<Acc>; ++w) values[w][threadIdx.x / 32] = words.word[w];
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    Words<Acc> words(identity);
    if (threadIdx.x < warps) {
#pragma unroll
      for (int w = 0; w < words_of<Acc>; ++w) words.word[w] = values[w][threadIdx.x];
    }
    value = fold_lanes<32>(words.value(), 0xffffffffu, op);
  }
  return value;
}

// ---- Loading.

/// What becomes of an element: the value itself, or the value with its index.
struct AsValue {
  template <class Acc, class In>
  LANESCOPE_HD static Acc make(const In& value, uint64_t /*index*/) {
    return static_cast<Acc>(value);
  }
};
struct WithIndex {
  template <class Acc, class In>
  LANESCOPE_HD static Acc make(const In& value, uint64_t index) {
    return Acc{value, index};
  }
};

/// What a lane loads at once, as it comes: 16 bytes, or elements.
template <class In>
struct Loaded {
  std::conditional_t<wide<In>, uint4, In> raw[wide<In> ? 1 : per_load<In>];
  static_assert(sizeof raw == sizeof(In) * per_load<In>);

  __device__ __forceinline__ void take(const In (&x)[per_load<In>]) { memcpy(raw, x, sizeof raw); }
  __device__ __forceinline__ void give(In (&x)[per_load<In>]) const { memcpy(x, raw, sizeof raw); }
};

/// One 16-byte load. Inputs (`foreign`) are read once and by nobody else: past the first cache. Results of
/// the kernel before are read through it.
template <bool foreign, class In>
__device__ __forceinline__ void load_wide(Loaded<In>& to, const In* from) {
  uint4& raw = to.raw[0];
  if constexpr (foreign)
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)
                 : "l"(from));
  else
    raw = *reinterpret_cast<const uint4*>(from);
}

/// Elements in[begin … end-1], of which `first` is where indices begin.
template <class In>
struct Range {
  const In* in;
  uint64_t begin, end, first;
  bool aligned;  ///< `in` is, to 16 bytes

  __device__ uint64_t first_vector() const { return begin / per_load<In>; }
  __device__ uint64_t last_vector() const { return ceil_div(end, per_load<In>); }

  /// Loads the vectors v, v + step, …, `count` of them, which lie in the range as a whole.
  template <bool foreign, int step>
  __device__ __forceinline__ void load(Loaded<In> (&to)[in_flight], uint64_t v, uint64_t count) const {
    constexpr int n = per_load<In>;
    const In* from = in + v * n;
    if (wide<In> && aligned) {
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if constexpr (wide<In>)
          if (u < count) load_wide<foreign>(to[u], from + u * step * n);
    } else {
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        In x[n] = {};
#pragma unroll
        for (int k = 0; k < n; ++k)
          if (u < count) x[k] = from[u * step * n + k];
        to[u].take(x);
      }
    }
  }
  /// Loads vector `v`, of which only what lies in the range is read; the rest of `to` is left as it is.
  __device__ __forceinline__ void load(In (&to)[per_load<In>], uint64_t v) const {
    constexpr int n = per_load<In>;
    const uint64_t at = v * n;
    if (wide<In> && aligned && at >= begin && at + n <= end) {
      if constexpr (wide<In>) {
        Loaded<In> vector;
        load_wide<false>(vector, in + at);
        vector.give(to);
      }
    } else {
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (holds(at + k)) to[k] = in[at + k];
    }
  }
  __device__ bool holds(uint64_t i) const { return i >= begin && i < end; }
};

// ---- Reducing.

/// Whether minima and maxima are taken of two elements at a time (Pairs).
template <class Make, class In, class Acc, class Op>
inline constexpr bool in_pairs = false;
template <class T, bool smaller>
inline constexpr bool in_pairs<AsValue, T, T, Extreme<smaller>> = std::is_integral_v<T> && sizeof(T) <= 2 &&
                                                                  !std::is_same_v<T, bool>;

/// The least or largest of integers of 8 or 16 bits, two in each word as 16 bits: Hopper compares both with
/// one instruction, where one by one they take more time than the memory does.
template <class T, class Op>
struct Pairs;
template <class T, bool smaller>
struct Pairs<T, Extreme<smaller>> {
  static constexpr int loaded = 4, words = loaded * (sizeof(T) == 1 ? 2 : 1);
  uint32_t word[words];

  __device__ explicit Pairs(T all) {
    const uint32_t half = static_cast<uint16_t>(all);
#pragma unroll
    for (uint32_t& w : word) w = half << 16 | half;
  }
  __device__ __forceinline__ static uint32_t better(uint32_t a, uint32_t b) {
    if constexpr (std::is_signed_v<T>)
      return smaller ? __vmins2(a, b) : __vmaxs2(a, b);
    else
      return smaller ? __vminu2(a, b) : __vmaxu2(a, b);
  }
  /// `__byte_perm` takes no copies of signs.
  template <unsigned selector>
  __device__ __forceinline__ static uint32_t permuted(uint32_t bytes) {
    uint32_t result;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(bytes), "n"(selector));
    return result;
  }
  __device__ __forceinline__ void add(const Loaded<T>& x) {
    const uint32_t raw[] = {x.raw[0].x, x.raw[0].y, x.raw[0].z, x.raw[0].w};
#pragma unroll
    for (int i = 0; i < loaded; ++i) {
      if constexpr (sizeof(T) == 2) {
        word[i] = better(word[i], raw[i]);
      } else {
        // Bytes 0 and 2, and 1 and 3; behind each one zeros or copies of its sign.
        constexpr unsigned even = std::is_signed_v<T> ? 0xa280 : 0x4240,
                           odd = std::is_signed_v<T> ? 0xb391 : 0x4341;
        word[2 * i] = better(word[2 * i], permuted<even>(raw[i]));
        word[2 * i + 1] = better(word[2 * i + 1], permuted<odd>(raw[i]));
      }
    }
  }
  __device__ T value() const {
    uint32_t best = word[0];
#pragma unroll
    for (int i = 1; i < words; ++i) best = better(best, word[i]);
    return Extreme<smaller>{}(static_cast<T>(best & 0xffff), static_cast<T>(best >> 16));
  }
};

/// What one thread of a group of `group` makes of a range, for commutative functors: of the vectors in the
/// range rank, rank + group, …, and of the elements before the first vector and behind the last. The group's
/// values are then to be folded in the order of ranks.
template <int group, bool foreign, class Make, class In, class Acc, class Op>
__device__ __forceinline__ Acc gather(const Range<In>& range, unsigned rank, const Acc& identity,
                                      const Op& op) {
  constexpr bool paired = in_pairs<Make, In, Acc, Op>;
  constexpr int n = per_load<In>, values = paired ? 1 : chains<In, Acc>;
  constexpr uint64_t tile = uint64_t{group} * in_flight;
  const auto add = [&](Acc& to, const In& x, uint64_t i) {
    to = op(to, Make::template make<Acc>(x, i - range.first));
  };
  const uint64_t whole = ceil_div(range.begin, n), partial = range.end / n;
  const uint64_t head = least(whole * n, range.end), tail = partial * n < head ? head : partial * n;
  // Of short ranges all loads are under way before the first value is needed.
  constexpr int edges = (n - 1 + group - 1) / group;
  constexpr bool early = group < threads && edges <= 3;
  In before_first[edges + 1] = {}, behind_last[edges + 1] = {};
  if constexpr (early) {
#pragma unroll
    for (int e = 0; e < edges; ++e) {
      const uint64_t i = range.begin + e * group + rank, j = tail + e * group + rank;
      if (i < head) before_first[e] = range.in[i];
      if (j < range.end) behind_last[e] = range.in[j];
    }
  }
  Acc acc[values];
#pragma unroll
  for (int k = 0; k < values; ++k) acc[k] = identity;
  std::conditional_t<paired, Pairs<In, Op>, Acc> pairs(identity);
  // Vector `v` of the range; `later`: each of `acc` has an element already, of a lower index.
  const auto add_vector = [&](const Loaded<In>& vector, uint64_t v, bool later) {
    if constexpr (paired) {
      pairs.add(vector);
    } else {
      In x[n];
      vector.give(x);
#pragma unroll
      for (int k = 0; k < n; ++k) {
        if constexpr (requires { op.add_later(acc[0], x[k], v); }) {
          if (later || k >= values) {
            op.add_later(acc[k % values], x[k], v * n + k - range.first);
            continue;
          }
        }
        add(acc[k % values], x[k], v * n + k);
      }
    }
  };
  uint64_t at = whole;
#pragma unroll 1
  for (; at + tile <= partial; at += tile) {
    Loaded<In> vector[in_flight];
    range.template load<foreign, group>(vector, at + rank, in_flight);
#pragma unroll
    for (int u = 0; u < in_flight; ++u) add_vector(vector[u], at + u * group + rank, u > 0);
  }
  if (at + rank < partial) {
    const uint64_t left = ceil_div(partial - at - rank, group);
    Loaded<In> vector[in_flight] = {};
    range.template load<foreign, group>(vector, at + rank, left);
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (u < left) add_vector(vector[u], at + u * group + rank, u > 0);
  }
  if constexpr (early) {
#pragma unroll
    for (int e = 0; e < edges; ++e) {
      const uint64_t i = range.begin + e * group + rank, j = tail + e * group + rank;
      if (i < head) add(acc[0], before_first[e], i);
      if (j < range.end) add(acc[0], behind_last[e], j);
    }
  } else {
#pragma unroll 1
    for (uint64_t i = range.begin + rank; i < head; i += group) add(acc[0], range.in[i], i);
#pragma unroll 1
    for (uint64_t j = tail + rank; j < range.end; j += group) add(acc[0], range.in[j], j);
  }
  Acc result = acc[0];
#pragma unroll
  for (int k = 1; k < values; ++k) result = op(result, acc[k]);
  if constexpr (paired) result = op(result, pairs.value());
  return result;
}

/// The same in the order of the elements: each warp has a part of the range, of which its lanes read runs of
/// neighbouring vectors, which are folded in order at once. The first lane of each warp has the warp's value,
/// the others the identity.
template <int group, class Make, class In, class Acc, class Op>
__device__ __forceinline__ Acc gather_in_order(const Range<In>& range, unsigned rank, unsigned mask,
                                               const Acc& identity, const Op& op) {
  constexpr int n = per_load<In>, lanes = group < 32 ? group : 32, teams = group / lanes;
  constexpr uint64_t tile = uint64_t{lanes} * in_flight;
  const unsigned team = rank / lanes, lane = rank % lanes;
  const uint64_t origin = range.first_vector(), tiles = ceil_div(range.last_vector() - origin, tile);
  Acc result = identity;
#pragma unroll 1
  for (uint64_t t = tiles * team / teams, end = tiles * (team + 1) / teams; t < end; ++t) {
    const uint64_t at = origin + t * tile + lane * in_flight;
    In x[in_flight][n] = {};
#pragma unroll
    for (int u = 0; u < in_flight; ++u) range.load(x[u], at + u);
    Acc run = identity;
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const uint64_t i = (at + u) * n + k;
        if (range.holds(i)) run = op(run, Make::template make<Acc>(x[u][k], i - range.first));
      }
    }
    result = op(result, fold_lanes<lanes>(run, mask, op));
  }
  return lane == 0 ? result : identity;
}

/// A range reduced by a group of threads: lanes of a warp, or the block. The thread of rank 0 has the
/// result.
template <int group, bool foreign, class Make, class In, class Acc, class Op>
__device__ __forceinline__ Acc reduce_range(const Range<In>& range, const Acc& identity, const Op& op) {
  const unsigned rank = threadIdx.x % group;
  const unsigned mask = group >= 32 ? 0xffffffffu : ((1u << (group % 32)) - 1) << (threadIdx.x % 32 - rank);
  Acc value = identity;
  if constexpr (commutes<Op>())
    value = gather<group, foreign, Make>(range, rank, identity, op);
  else
    value = gather_in_order<group, Make>(range, rank, mask, identity, op);
  if constexpr (group == threads)
    return fold_block(value, identity, op);
  else
    return fold_lanes<group>(value, mask, op);
}

/// Programmatic dependent launch, from compute capability 9.0 on: the next kernel of this call starts while
/// this one runs, and waits for its end before it reads what this one writes.
__device__ __forceinline__ void let_the_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_the_one_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Segments of one length, each cut into pieces.
struct Pieces {
  uint64_t segments = 0, length = 0;
  uint64_t piece = 0;       ///< elements of a piece; the last one of a segment may be shorter
  uint64_t in_segment = 1;  ///< pieces of a segment, at least 1
};

/// Every group reduces pieces: out[s * in_segment + j] is piece j of segment s. `foreign`: reads the caller's
/// array; else what the kernel before has written.
template <int group, bool foreign, class Make, class In, class Acc, class Op>
__global__ void __launch_bounds__(threads, (resident_blocks<group, foreign, In, Acc, Op>()))
    reduce_pieces(Acc* out, const In* in, Pieces pieces, bool aligned, Acc identity, Op op) {
  if constexpr (foreign)
    let_the_next_start();
  else
    wait_for_the_one_before();
  const uint64_t items = pieces.segments * pieces.in_segment,
                 groups = uint64_t{gridDim.x} * (threads / group);
#pragma unroll 1
  for (uint64_t item = uint64_t{blockIdx.x} * (threads / group) + threadIdx.x / group; item < items;
       item += groups) {
    uint64_t segment = 0, j = item;
    if (pieces.segments > 1) {
      segment = pieces.in_segment > 1 ? item / pieces.in_segment : item;
      j = item - segment * pieces.in_segment;
    }
    const uint64_t first = segment * pieces.length, begin = first + j * pieces.piece;
    const Range<In> range{in, begin, least(begin + pieces.piece, first + pieces.length), first, aligned};
    const Acc value = reduce_range<group, foreign, Make>(range, identity, op);
    if (threadIdx.x % group == 0) out[item] = value;
  }
}

// ---- Segments of different lengths: short ones are reduced at once, pieces of long ones by a second kernel.

/// A piece of a long segment.
struct Task {
  uint64_t segment;
  uint64_t base;    ///< number of the task that is the segment's first piece
  uint32_t pieces;  ///< of the segment; 0: no task
  uint32_t done;    ///< in the first piece: how many are
};

/// The workspace: how many tasks there are, the tasks, and the results of each.
template <class Acc>
struct Tasks {
  unsigned long long* count = nullptr;
  Task* task = nullptr;
  Acc* result = nullptr;
  uint64_t most = 0;

  static constexpr size_t head = 16;
  static constexpr size_t up(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static size_t bytes(uint64_t most) {
    return most == 0 ? 0 : head + up(most * sizeof(Task)) + static_cast<size_t>(most) * sizeof(Acc);
  }
  static Tasks in(void* memory, uint64_t most) {
    auto* begin = static_cast<unsigned char*>(memory);
    return {reinterpret_cast<unsigned long long*>(begin), reinterpret_cast<Task*>(begin + head),
            reinterpret_cast<Acc*>(begin + head + up(most * sizeof(Task))), most};
  }
};

template <class In, class Offset>
__device__ __forceinline__ Range<In> segment_range(const In* in, const Segments<Offset>& segments, uint64_t s,
                                                   bool aligned) {
  const uint64_t end = least(static_cast<uint64_t>(segments.offsets[s + 1]), segments.elements);
  const uint64_t begin = least(static_cast<uint64_t>(segments.offsets[s]), end);
  return {in, begin, end, begin, aligned};
}

template <class In>
LANESCOPE_HD constexpr uint64_t pieces_of(uint64_t length) {
  return least(ceil_div(length, piece_vectors * per_load<In>), most_pieces);
}

/// Every group reduces segments with at most `limit` elements; the others become tasks.
template <int group, class Make, class In, class Acc, class Op, class Offset>
__global__ void __launch_bounds__(threads, (resident_blocks<group, true, In, Acc, Op>()))
    reduce_short_segments(Acc* out, const In* in, Segments<Offset> segments, uint64_t limit, Tasks<Acc> tasks,
                          bool aligned, Acc identity, Op op) {
  let_the_next_start();
  const unsigned rank = threadIdx.x % group;
  const unsigned mask = group >= 32 ? 0xffffffffu : ((1u << (group % 32)) - 1) << (threadIdx.x % 32 - rank);
  const uint64_t groups = uint64_t{gridDim.x} * (threads / group);
#pragma unroll 1
  for (uint64_t s = uint64_t{blockIdx.x} * (threads / group) + threadIdx.x / group; s < segments.segments;
       s += groups) {
    const Range<In> range = segment_range(in, segments, s, aligned);
    const uint64_t length = range.end - range.begin;
    if (length > limit && tasks.most != 0) {
      const uint64_t pieces = pieces_of<In>(length);
      uint64_t base = 0;
      if (rank == 0) base = atomicAdd(tasks.count, static_cast<unsigned long long>(pieces));
      if constexpr (group == threads) {
        __shared__ uint64_t base_of_block;
        if (rank == 0) base_of_block = base;
        __syncthreads();
        base = base_of_block;
        __syncthreads();
      } else {
        base = __shfl_sync(mask, base, 0, group);
      }
      // There is room for all tasks of offsets that do not decrease. Without it the group does the work.
      const bool room = base + pieces <= tasks.most;
      for (uint64_t t = base + rank; t < least(base + pieces, tasks.most); t += group)
        tasks.task[t] = {s, base, room ? static_cast<uint32_t>(pieces) : 0, 0};
      if (room) continue;
    }
    const Acc value = reduce_range<group, true, Make>(range, identity, op);
    if (rank == 0) out[s] = value;
  }
}

/// Every warp reduces tasks; the one that finishes a segment's last one folds the segment's pieces.
template <class Make, class In, class Acc, class Op, class Offset>
__global__ void __launch_bounds__(threads, (resident_blocks<32, false, In, Acc, Op>()))
    reduce_long_segments(Acc* out, const In* in, Segments<Offset> segments, Tasks<Acc> tasks, bool aligned,
                         Acc identity, Op op) {
  wait_for_the_one_before();
  const unsigned lane = threadIdx.x % 32;
  const uint64_t count = least(*tasks.count, tasks.most), all_warps = uint64_t{gridDim.x} * warps;
#pragma unroll 1
  for (uint64_t t = uint64_t{blockIdx.x} * warps + threadIdx.x / 32; t < count; t += all_warps) {
    Task& task = tasks.task[t];
    const uint32_t pieces = task.pieces;
    if (pieces == 0) continue;
    const uint64_t base = task.base, segment = task.segment;
    Range<In> range = segment_range(in, segments, segment, aligned);
    constexpr uint64_t step = 32 * in_flight * per_load<In>;
    const uint64_t piece = ceil_div(ceil_div(range.end - range.begin, pieces), step) * step;
    range.begin = least(range.begin + (t - base) * piece, range.end);
    range.end = least(range.begin + piece, range.end);
    const Acc value = reduce_range<32, true, Make>(range, identity, op);
    bool last = false;
    if (lane == 0) {
      tasks.result[t] = value;
      __threadfence();
      last = atomicAdd(&tasks.task[base].done, 1u) == pieces - 1;
      __threadfence();
    }
    if (!__shfl_sync(0xffffffffu, last, 0)) continue;
    const Range<Acc> results{tasks.result + base, 0, pieces, 0,
                             reinterpret_cast<uintptr_t>(tasks.result + base) % 16 == 0};
    const Acc total = reduce_range<32, false, AsValue>(results, identity, op);
    if (lane == 0) out[segment] = total;
  }
}

// ---- The host's part.

/// Sets whether `kernel`, as it was compiled for the current device, waits for the one before it
/// (wait_for_the_one_before). Code for compute capability 8.x does not, which may be what runs on 9.0, too.
template <class Kernel>
Status find_waiting(Kernel* kernel, bool& waits) {
#ifdef __CUDA_ARCH_LIST__
  constexpr int compiled_for[] = {__CUDA_ARCH_LIST__};
  constexpr auto with_wait = [](const auto& list) {
    size_t count = 0;
    for (const int arch : list) count += arch >= 900 ? 1 : 0;
    return count;
  };
  waits = with_wait(compiled_for) != 0;
  if (with_wait(compiled_for) == 0 || with_wait(compiled_for) == std::size(compiled_for)) return {};
#endif
  cudaFuncAttributes attributes = {};
  const Status status = detail::status_of(cudaFuncGetAttributes(&attributes, kernel));
  waits = attributes.ptxVersion >= 90;
  return status;
}

/// Launches; `follows`: may start before the launch before it in the stream has ended.
template <class... Params, class... Args>
Status launch(void (*kernel)(Params...), uint64_t blocks, const ReduceOptions& options, cudaStream_t stream,
              bool follows, Args... args) {
  cudaLaunchConfig_t config = {};
  if (options.max_blocks != 0) blocks = least(blocks, options.max_blocks);
  config.gridDim = dim3(static_cast<unsigned>(least(blocks, 0x7fffffff)));
  config.blockDim = dim3(threads);
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  if (follows) {
    bool waits = false;
    if (const Status status = find_waiting(kernel, waits); !status) return status;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = waits ? 1 : 0;
  }
  return detail::status_of(cudaLaunchKernelEx(&config, kernel, args...));
}

/// Threads for segments of `length` elements.
template <class In>
int group_for(uint64_t length) {
  const uint64_t vectors = ceil_div(length, per_load<In>);
  return vectors <= vectors_for_1      ? 1
         : vectors <= vectors_for_4    ? 4
         : vectors <= vectors_for_8    ? 8
         : vectors <= vectors_for_warp ? 32
                                       : threads;
}

/// How `segments` of `length` are cut: into pieces that are whole tiles of a block.
template <class In>
Pieces cut(uint64_t segments, uint64_t length) {
  constexpr uint64_t tile = uint64_t{threads} * in_flight * per_load<In>;
  Pieces pieces{segments, length, 0, 1};
  const uint64_t tiles = ceil_div(segments * length, tile), fitting = ceil_div(tiles, most_pieces);
  pieces.piece = tile * (tiles > few_tiles && fitting < 4 ? 4 : fitting == 0 ? 1 : fitting);
  if (group_for<In>(length) < threads || length <= pieces.piece)
    pieces.piece = length;
  else
    pieces.in_segment = ceil_div(length, pieces.piece);
  return pieces;
}

template <bool foreign, class Make, class In, class Acc, class Op>
Status launch_pieces(Acc* out, const In* in, const Pieces& pieces, const Acc& identity, const Op& op,
                     cudaStream_t stream, const ReduceOptions& options) {
  const bool aligned = reinterpret_cast<uintptr_t>(in) % 16 == 0;
  const auto go = [&](auto kernel, int group) {
    return launch(kernel,
                  ceil_div(pieces.segments * pieces.in_segment, static_cast<uint64_t>(threads / group)),
                  options, stream, !foreign, out, in, pieces, aligned, identity, op);
  };
  // Pieces of an array may be few: a block for each, however short they are.
  int group = foreign && pieces.in_segment > 1 ? threads : group_for<In>(pieces.piece);
  if (!foreign && pieces.piece > most_results_for_warp) group = threads;
  if constexpr (foreign) {  // a warp does for the partial results of a segment, however few
    if (group == 1) return go(reduce_pieces<1, foreign, Make, In, Acc, Op>, 1);
    if (group == 4) return go(reduce_pieces<4, foreign, Make, In, Acc, Op>, 4);
    if (group == 8) return go(reduce_pieces<8, foreign, Make, In, Acc, Op>, 8);
  }
  if (group <= 32) return go(reduce_pieces<32, foreign, Make, In, Acc, Op>, 32);
  return go(reduce_pieces<threads, foreign, Make, In, Acc, Op>, threads);
}

inline uint64_t segments_in(const FixedSegments& shape) { return shape.segments; }
template <class Offset>
uint64_t segments_in(const Segments<Offset>& shape) {
  return shape.segments;
}
inline uint64_t elements_in(const FixedSegments& shape) { return shape.segments * shape.length; }
template <class Offset>
uint64_t elements_in(const Segments<Offset>& shape) {
  return shape.elements;
}

template <class In, class Acc>
size_t workspace_bytes(const FixedSegments& shape) {
  const Pieces pieces = cut<In>(shape.segments, shape.length);
  return pieces.in_segment == 1 ? 0 : static_cast<size_t>(pieces.segments * pieces.in_segment) * sizeof(Acc);
}

/// Threads for segments whose average length is that of `shape`.
template <class In, class Offset>
int group_for_average(const Segments<Offset>& shape) {
  return group_for<In>(ceil_div(shape.elements, shape.segments));
}
template <class In, class Offset>
uint64_t limit_of(const Segments<Offset>& shape) {
  return static_cast<uint64_t>(group_for_average<In>(shape)) * most_vectors_of_lane * per_load<In>;
}
/// Every long segment is longer than the limit and has at most one piece more than whole ones fit into it.
template <class In, class Offset>
uint64_t most_tasks(const Segments<Offset>& shape) {
  if (shape.segments == 0 || shape.elements <= limit_of<In>(shape)) return 0;
  return shape.elements / limit_of<In>(shape) + shape.elements / (piece_vectors * per_load<In>);
}
template <class In, class Acc, class Offset>
size_t workspace_bytes(const Segments<Offset>& shape) {
  return Tasks<Acc>::bytes(most_tasks<In>(shape));
}

template <class Make, class In, class Acc, class Op>
Status run(Acc* out, const In* in, const FixedSegments& shape, const Acc& identity, const Op& op,
           const Workspace& workspace, cudaStream_t stream, const ReduceOptions& options) {
  const Pieces pieces = cut<In>(shape.segments, shape.length);
  if (pieces.in_segment == 1)
    return launch_pieces<true, Make>(out, in, pieces, identity, op, stream, options);
  auto* results = static_cast<Acc*>(workspace.memory);
  if (const Status status = launch_pieces<true, Make>(results, in, pieces, identity, op, stream, options);
      !status)
    return status;
  const Pieces again{pieces.segments, pieces.in_segment, pieces.in_segment, 1};
  return launch_pieces<false, AsValue>(out, static_cast<const Acc*>(results), again, identity, op, stream,
                                       options);
}

template <class Make, class In, class Acc, class Op, class Offset>
Status run(Acc* out, const In* in, const Segments<Offset>& shape, const Acc& identity, const Op& op,
           const Workspace& workspace, cudaStream_t stream, const ReduceOptions& options) {
  static_assert(std::is_integral_v<Offset>, "offsets are integers");
  if (shape.offsets == nullptr) return detail::invalid("reduce: offsets is null");
  const bool aligned = reinterpret_cast<uintptr_t>(in) % 16 == 0;
  const uint64_t limit = limit_of<In>(shape), most = most_tasks<In>(shape);
  const auto tasks = most == 0 ? Tasks<Acc>{} : Tasks<Acc>::in(workspace.memory, most);
  if (most != 0)
    if (const Status status = detail::status_of(cudaMemsetAsync(tasks.count, 0, sizeof *tasks.count, stream));
        !status)
      return status;
  const auto go = [&](auto kernel, int group) {
    return launch(kernel, ceil_div(shape.segments, static_cast<uint64_t>(threads / group)), options, stream,
                  false, out, in, shape, limit, tasks, aligned, identity, op);
  };
  Status status;
  switch (group_for_average<In>(shape)) {
    case 1: status = go(reduce_short_segments<1, Make, In, Acc, Op, Offset>, 1); break;
    case 4: status = go(reduce_short_segments<4, Make, In, Acc, Op, Offset>, 4); break;
    case 8: status = go(reduce_short_segments<8, Make, In, Acc, Op, Offset>, 8); break;
    case 32: status = go(reduce_short_segments<32, Make, In, Acc, Op, Offset>, 32); break;
    default: status = go(reduce_short_segments<threads, Make, In, Acc, Op, Offset>, threads); break;
  }
  if (!status || most == 0) return status;
  // How many tasks there are is known on the device only: as many warps as can run at once take them in turn.
  int device = 0, processors = 0;
  if (status = detail::status_of(cudaGetDevice(&device)); !status) return status;
  status = detail::status_of(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  if (!status) return status;
  const uint64_t blocks = least(ceil_div(most, warps), static_cast<uint64_t>(processors) * (2048 / threads));
  return launch(reduce_long_segments<Make, In, Acc, Op, Offset>, blocks, options, stream, true, out, in,
                shape, tasks, aligned, identity, op);
}

inline FixedSegments shape_of(uint64_t count) { return {1, count}; }
inline FixedSegments shape_of(const FixedSegments& shape) { return shape; }
template <class Offset>
Segments<Offset> shape_of(const Segments<Offset>& shape) {
  return shape;
}

/// Checks the arguments and launches.
template <class Make, class Acc, class In, class Shape, class Op>
Status checked_run(Acc* out, const In* in, const Shape& shape, const Acc& identity, const Op& op,
                   const Workspace& workspace, cudaStream_t stream, const ReduceOptions& options) {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Acc>,
                "elements and results are copied as bytes");
  static_assert(alignof(Acc) <= 16, "results are kept in the workspace, which is aligned to 16 bytes");
  if (segments_in(shape) == 0) return {};
  // More than any address space has: negative numbers become such ones.
  constexpr uint64_t most = uint64_t{1} << 62;
  if (segments_in(shape) > most / sizeof(Acc))
    return detail::invalid("reduce: so many segments exceed the address space");
  if constexpr (std::is_same_v<Shape, FixedSegments>) {
    if (shape.length > most / sizeof(In) / shape.segments)
      return detail::invalid("reduce: segments of that length exceed the address space");
  } else if (shape.elements > most / sizeof(In)) {
    return detail::invalid("reduce: so many elements exceed the address space");
  }
  if (out == nullptr) return detail::invalid("reduce: out is null");
  if (reinterpret_cast<uintptr_t>(out) % alignof(Acc) != 0)
    return detail::invalid("reduce: out is not aligned to its type");
  if (in == nullptr && elements_in(shape) != 0) return detail::invalid("reduce: in is null");
  if (reinterpret_cast<uintptr_t>(in) % alignof(In) != 0)
    return detail::invalid("reduce: in is not aligned to its type");
  const size_t needed = workspace_bytes<In, Acc>(shape);
  if (needed != 0 && workspace.memory == nullptr) return detail::invalid("reduce: the workspace is null");
  if (workspace.bytes < needed)
    return detail::invalid("reduce: the workspace is smaller than reduce_workspace_bytes() says");
  if (needed != 0 && reinterpret_cast<uintptr_t>(workspace.memory) % 16 != 0)
    return detail::invalid("reduce: the workspace is not aligned to 16 bytes");
  return run<Make>(out, in, shape, identity, op, workspace, stream, options);
}

}  // namespace reduce_detail

/// Bytes of workspace that a reduction of elements of type `In` to results of type `Acc` needs; may be 0.
template <class In, class Acc, class Shape>
size_t reduce_workspace_bytes(const Shape& shape) {
  return reduce_detail::workspace_bytes<In, Acc>(reduce_detail::shape_of(shape));
}

/// out[s] = identity op x_0 op x_1 op …, each element converted to `Acc` first. `op(a, b)` of two `Acc` is
/// callable on the device and associative; op(identity, x) = op(x, identity) = x. Both types are trivially
/// copyable and default constructible. `shape`: see the top.
template <class Acc, class In, class Shape, class Op>
Status reduce(Acc* out, const In* in, const Shape& shape, const std::type_identity_t<Acc>& identity,
              const Op& op, const Workspace& workspace, cudaStream_t stream,
              const ReduceOptions& options = {}) {
  return reduce_detail::checked_run<reduce_detail::AsValue>(out, in, reduce_detail::shape_of(shape), identity,
                                                            op, workspace, stream, options);
}

/// Sums in the type of `out`.
template <class Acc, class In, class Shape>
Status reduce_sum(Acc* out, const In* in, const Shape& shape, const Workspace& workspace, cudaStream_t stream,
                  const ReduceOptions& options = {}) {
  return reduce(out, in, shape, Sum::identity<Acc>(), Sum{}, workspace, stream, options);
}

/// Minima; of nothing, infinity or the type's largest value. NaN if an element is NaN.
template <class T, class Shape>
Status reduce_min(T* out, const T* in, const Shape& shape, const Workspace& workspace, cudaStream_t stream,
                  const ReduceOptions& options = {}) {
  return reduce(out, in, shape, Min::identity<T>(), Min{}, workspace, stream, options);
}

/// Maxima; of nothing, -infinity or the type's lowest value. NaN if an element is NaN.
template <class T, class Shape>
Status reduce_max(T* out, const T* in, const Shape& shape, const Workspace& workspace, cudaStream_t stream,
                  const ReduceOptions& options = {}) {
  return reduce(out, in, shape, Max::identity<T>(), Max{}, workspace, stream, options);
}

/// The minimum and its lowest index in the array (the segment); the first NaN if an element is NaN. Of
/// nothing: what reduce_min gives, and the index 2^64-1. The workspace: reduce_workspace_bytes<T,
/// Indexed<T>>(shape).
template <class T, class Shape>
Status reduce_argmin(Indexed<T>* out, const T* in, const Shape& shape, const Workspace& workspace,
                     cudaStream_t stream, const ReduceOptions& options = {}) {
  return reduce_detail::checked_run<reduce_detail::WithIndex>(out, in, reduce_detail::shape_of(shape),
                                                              Indexed<T>{Min::identity<T>(), ~uint64_t{0}},
                                                              ArgMin{}, workspace, stream, options);
}

/// The maximum and its lowest index; else as reduce_argmin.
template <class T, class Shape>
Status reduce_argmax(Indexed<T>* out, const T* in, const Shape& shape, const Workspace& workspace,
                     cudaStream_t stream, const ReduceOptions& options = {}) {
  return reduce_detail::checked_run<reduce_detail::WithIndex>(out, in, reduce_detail::shape_of(shape),
                                                              Indexed<T>{Max::identity<T>(), ~uint64_t{0}},
                                                              ArgMax{}, workspace, stream, options);
}

}  // namespace lanescope::kernels
