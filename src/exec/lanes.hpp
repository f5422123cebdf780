// Lifts scalar functions over the 32 lanes of a warp. Included only by the sources that are compiled once for
// each host instruction set (see CMakeLists.txt): everything here lives in the namespace of that instruction
// set.
//
// A scalar function is a struct with a constexpr or inline call operator on plain values; lift<F, D, S…>
// makes the handler: d[i] = F()(a[i], b[i], c[i]) for the active lanes. The compiler turns each loop into
// vector code.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "exec/program.hpp"
#include "exec/warp.hpp"

#if defined(__clang__)
// Not unrolled: clang unrolls short loops before it vectorises, and then finds less. Loops that cannot be
// vectorised (calls of the mathematical library) are no reason to warn.
#define LANESCOPE_LANE_LOOP _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define LANESCOPE_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace lanescope::exec::LANESCOPE_ISA {

template <class T>
inline T* reg(Warp& w, uint32_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(w.regs + offset, 64));
}
inline uint32_t& pred(Warp& w, uint32_t offset) { return *reinterpret_cast<uint32_t*>(w.regs + offset); }

inline bool lane_of(uint32_t mask, uint32_t i) { return ((mask >> i) & 1u) != 0; }

/// Unsigned integer of T's size, for moving values about without looking at them.
template <size_t bytes>
struct WordOf;
template <>
struct WordOf<2> {
  using type = uint16_t;
};
template <>
struct WordOf<4> {
  using type = uint32_t;
};
template <>
struct WordOf<8> {
  using type = uint64_t;
};

/// Bit i of a word, for every lane that a word has a bit for: what a mask is tested with, as vector loads.
template <class Word>
struct LaneBits {
  static constexpr uint32_t count = sizeof(Word) == 2 ? 16 : warp_lanes;
  alignas(64) Word bit[count];
  constexpr LaneBits() : bit{} {
    for (uint32_t i = 0; i < count; ++i) bit[i] = static_cast<Word>(Word{1} << i);
  }
};
template <class Word>
inline constexpr LaneBits<Word> lane_bits{};

/// d[i] = a[i] in the lanes of `mask`, b[i] in the others, all 32 written. d may be a or b.
template <class T>
inline void choose(uint32_t mask, T* d, const T* a, const T* b) {
  if constexpr (sizeof(T) == 16) {
    for (uint32_t i = 0; i < warp_lanes; ++i) d[i] = lane_of(mask, i) ? a[i] : b[i];
  } else {
    using Word = typename WordOf<sizeof(T)>::type;
    constexpr uint32_t step = LaneBits<Word>::count;
    for (uint32_t first = 0; first < warp_lanes; first += step) {
      const Word part = static_cast<Word>(mask >> first);
      LANESCOPE_LANE_LOOP
      for (uint32_t i = 0; i < step; ++i) {
        const bool one = static_cast<Word>(part & lane_bits<Word>.bit[i]) == lane_bits<Word>.bit[i];
        const T x = a[first + i], y = b[first + i];
        d[first + i] = one ? x : y;
      }
    }
  }
}

/// d[i] = f(i) for the lanes of `mask`.
template <class D, class F>
inline void for_lanes(uint32_t mask, D* d, F f) {
  if (mask == full_mask) {
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) d[i] = f(i);
  } else {
    // Through a buffer: were both in one loop, compilers would branch on each lane instead of blending.
    alignas(64) D t[warp_lanes];
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) t[i] = f(i);
    choose(mask, d, t, d);
  }
}

/// The mask of lanes for which f(i) holds, all 32 asked.
template <class F>
inline uint32_t ballot(F f) {
  alignas(64) int32_t t[warp_lanes];
  LANESCOPE_LANE_LOOP
  for (uint32_t i = 0; i < warp_lanes; ++i) t[i] = f(i) ? -1 : 0;
#if defined(__AVX512F__)
  const __m512i zero = _mm512_setzero_si512();
  return _mm512_cmplt_epi32_mask(_mm512_load_si512(t), zero) |
         uint32_t{_mm512_cmplt_epi32_mask(_mm512_load_si512(t + 16), zero)} << 16;
#elif defined(__AVX2__)
  uint32_t m = 0;
  for (int g = 0; g < 4; ++g)
    m |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(t + 8 * g))))
         << (8 * g);
  return m;
#else
  uint32_t m = 0;
  for (int g = 0; g < 8; ++g)
    m |= static_cast<uint32_t>(_mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float*>(t + 4 * g))))
         << (4 * g);
  return m;
#endif
}

/// Writes a predicate for the active lanes only.
inline void set_pred(Warp& w, uint32_t offset, uint32_t value) {
  uint32_t& p = pred(w, offset);
  p = (p & ~w.mask) | (value & w.mask);
}

template <class F, class D, class A>
const Inst* lift1(Warp& w, const Inst* in) {
  const A* a = reg<A>(w, in->a);
  for_lanes(w.mask, reg<D>(w, in->d), [&](uint32_t i) { return static_cast<D>(F()(a[i])); });
  return in + 1;
}
template <class F, class D, class A, class B = A>
const Inst* lift2(Warp& w, const Inst* in) {
  const A* a = reg<A>(w, in->a);
  const B* b = reg<B>(w, in->b);
  for_lanes(w.mask, reg<D>(w, in->d), [&](uint32_t i) { return static_cast<D>(F()(a[i], b[i])); });
  return in + 1;
}
template <class F, class D, class A, class B = A, class C = A>
const Inst* lift3(Warp& w, const Inst* in) {
  const A* a = reg<A>(w, in->a);
  const B* b = reg<B>(w, in->b);
  const C* c = reg<C>(w, in->c);
  for_lanes(w.mask, reg<D>(w, in->d), [&](uint32_t i) { return static_cast<D>(F()(a[i], b[i], c[i])); });
  return in + 1;
}
/// The handler that lifts F over lanes of T, for `count` sources.
template <int count, class F, class T>
constexpr Handler lifted() {
  if constexpr (count == 1)
    return lift1<F, T, T>;
  else if constexpr (count == 2)
    return lift2<F, T, T>;
  else
    return lift3<F, T, T>;
}
/// As lift3 with a fourth source at in->aux.
template <class F, class D, class A, class B, class C, class E>
const Inst* lift4(Warp& w, const Inst* in) {
  const A* a = reg<A>(w, in->a);
  const B* b = reg<B>(w, in->b);
  const C* c = reg<C>(w, in->c);
  const E* e = reg<E>(w, in->aux);
  for_lanes(w.mask, reg<D>(w, in->d),
            [&](uint32_t i) { return static_cast<D>(F()(a[i], b[i], c[i], e[i])); });
  return in + 1;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
