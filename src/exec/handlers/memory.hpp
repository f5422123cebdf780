// ld, st, atom, red for one host instruction set. Every access takes the same way: addresses of all lanes,
// one check of all of them against the memory they should lie in, one comparison with the pattern last
// counted, then the data. The rare cases of each step are in access.cpp.
#pragma once

#include <bit>

#include "exec/handlers/semantics_half.hpp"
#include "exec/handlers/semantics_integer.hpp"
#include "exec/lanes.hpp"
#include "exec/state.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

using ptx::Mod;
using ptx::Space;
using ptx::Type;

struct alignas(16) Bits128 {
  uint64_t lo, hi;
};

/// What Inst::imm holds for a memory instruction: the offset in the low half, the number of vector elements
/// above it.
inline int64_t offset_of(const Inst* in) { return static_cast<int32_t>(in->imm); }
inline uint32_t elements_of(const Inst* in) { return static_cast<uint32_t>(in->imm >> 32); }
/// The register of vector element k: scalars name it in `d`, vectors list theirs in Kernel::side.
inline uint32_t data_register(const Warp& w, const Inst* in, uint32_t k) {
  return in->c == no_operand ? in->d : w.side[in->c + k];
}

inline uint32_t first_lane(uint32_t mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }

/// Calls f(lane) for each lane of `mask`, ascending.
template <class F>
inline void each_lane(uint32_t mask, F f) {
  if (mask == full_mask) {
    for (uint32_t i = 0; i < warp_lanes; ++i) f(i);
  } else {
    for (; mask != 0; mask &= mask - 1) f(first_lane(mask));
  }
}

/// Whether any lane of `mask` has bits set in value(i), asked of all lanes.
template <class T, class F>
inline bool any_bits(uint32_t mask, F value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  // Through a buffer, which stays in vector registers: left to themselves, compilers fold a sum lane by lane.
  alignas(64) T t[warp_lanes];
#if defined(__AVX512F__)
  LANESCOPE_LANE_LOOP
  for (uint32_t i = 0; i < warp_lanes; ++i) t[i] = value(i);
  const auto vector = [&](size_t n) {
    return _mm512_load_si512(reinterpret_cast<const std::byte*>(t) + 64 * n);
  };
  uint32_t lanes = 0;
  if constexpr (sizeof(T) == 4)
    for (size_t n = 0; n < 2; ++n)
      lanes |= uint32_t{_mm512_test_epi32_mask(vector(n), vector(n))} << (16 * n);
  else
    for (size_t n = 0; n < 4; ++n) lanes |= uint32_t{_mm512_test_epi64_mask(vector(n), vector(n))} << (8 * n);
  return (lanes & mask) != 0;
#else
  if (mask == full_mask) {
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) t[i] = value(i);
  } else {
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) t[i] = value(i) & (T{0} - T{(mask >> i) & 1u});
  }
#if defined(__AVX2__)
  const auto* vectors = reinterpret_cast<const __m256i*>(t);
  __m256i all = _mm256_load_si256(vectors);
  for (size_t n = 1; n < sizeof(T); ++n) all = _mm256_or_si256(all, _mm256_load_si256(vectors + n));
  return _mm256_testz_si256(all, all) == 0;
#else
  const auto* vectors = reinterpret_cast<const __m128i*>(t);
  __m128i all = _mm_load_si128(vectors);
  for (size_t n = 1; n < 2 * sizeof(T); ++n) all = _mm_or_si128(all, _mm_load_si128(vectors + n));
  return _mm_movemask_epi8(_mm_cmpeq_epi32(all, _mm_setzero_si128())) != 0xffff;
#endif
#endif
}

/// Counts an access to other memory than shared.
inline void observe(Warp& w, const Inst* in, SiteState& site, const uint64_t* address, uint32_t mask,
                    AccessSpace space, const uint32_t* destination = nullptr) {
  const uint64_t move = address[first_lane(mask)] - site.address[first_lane(mask)];
  if (site.mask == mask && (move & w.worker->global_granule_mask) == 0 &&
      site.last_space == static_cast<uint32_t>(space) + 1 &&
      !any_bits<uint64_t>(mask, [&](uint32_t i) { return (address[i] - site.address[i]) ^ move; }))
    ++site.repeats;
  else
    observe_flat(w, in, address, mask, space, destination);
}

/// The lanes of an access that go on, and where they find their bytes.
struct SharedPlaces {
  static constexpr uint32_t most_bytes = 16;  ///< of a lane
  uint32_t mask;
  bool consecutive;  ///< all lanes active and lane i's bytes follow those of lane i - 1
  std::byte* base;
  const uint32_t* offset;
  [[nodiscard]] std::byte* at(uint32_t lane) const { return base + offset[lane]; }
};
struct FlatPlaces {
  static constexpr uint32_t most_bytes = 32;
  uint32_t mask;
  bool consecutive;
  const uint64_t* address;
  [[nodiscard]] std::byte* at(uint32_t lane) const { return reinterpret_cast<std::byte*>(address[lane]); }
};

/// One access to shared memory: offsets of all lanes, checked and counted.
template <class A, bool Observed>
struct SharedAccess {
  using Places = SharedPlaces;
  alignas(64) uint32_t offset[warp_lanes];
  uint32_t mask;
  std::byte* base;
  bool consecutive = false;
  bool repeated = false;  ///< counted as the same pattern as the one before

  SharedAccess(Warp& w, const Inst* in, uint32_t element_bytes)
      : SharedAccess(w, in, element_bytes, w.worker->shared_granule_mask) {}
  SharedAccess(Warp& w, const Inst* in, uint32_t element_bytes, [[maybe_unused]] uint64_t granule_mask)
      : mask(w.mask), base(w.shared) {
    const uint32_t bytes = element_bytes * elements_of(in);
    const A* a = reg<A>(w, in->a);
    const auto add = static_cast<uint32_t>(offset_of(in));
    const uint32_t last = w.shared_bytes - bytes;
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) offset[i] = static_cast<uint32_t>(a[i]) + add;
    const bool bad = any_bits<uint32_t>(
        mask, [&](uint32_t i) { return (offset[i] & (bytes - 1)) | uint32_t{offset[i] > last}; });
    if (bad || w.shared_bytes < bytes) [[unlikely]] {
      mask = resolve_shared(w, in, offset, bytes);
      if (mask == 0) return;
    }
    consecutive = mask == full_mask && !any_bits<uint32_t>(full_mask, [&](uint32_t i) {
                    return (offset[i] - offset[0]) ^ (i * bytes);
                  });
    if constexpr (Observed) {
      SiteState& site = w.worker->sites[in->aux];
      const uint32_t at = offset[first_lane(mask)], move = at - site.offset[first_lane(mask)];
      if (site.mask == mask && at - site.variable_begin < site.variable_end - site.variable_begin &&
          (move & static_cast<uint32_t>(granule_mask)) == 0 &&
          !any_bits<uint32_t>(mask, [&](uint32_t i) { return (offset[i] - site.offset[i]) ^ move; })) {
        ++site.repeats;
        repeated = true;
      } else {
        observe_shared(w, in, offset, mask);
      }
    }
  }
  [[nodiscard]] SharedPlaces places() const { return {mask, consecutive, base, offset}; }
  [[nodiscard]] std::byte* at(uint32_t lane) const { return places().at(lane); }
};

/// One access by 64-bit addresses: global, constant, local or generic; host addresses of all lanes, checked
/// and counted.
template <Space S, bool Store, class A, bool Observed>
struct FlatAccess {
  using Places = FlatPlaces;
  alignas(64) uint64_t address[warp_lanes];
  uint32_t mask;
  bool consecutive = false;

  FlatAccess(Warp& w, const Inst* in, uint32_t element_bytes) : mask(w.mask) {
    const uint32_t bytes = element_bytes * elements_of(in);
    const A* a = reg<A>(w, in->a);
    const auto add = static_cast<uint64_t>(offset_of(in));
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i) address[i] = a[i] + add;
    SiteState& site = w.worker->sites[in->aux];
    if constexpr (S == Space::local) {
      if constexpr (Observed) observe(w, in, site, address, mask, AccessSpace::local);
      mask = resolve_local(w, in, address, bytes);
      return;
    }
    const uint64_t base = site.base, last = site.end - bytes - base;
    const bool bad = any_bits<uint64_t>(
        mask, [&](uint32_t i) { return (address[i] & (bytes - 1)) | uint64_t{address[i] - base > last}; });
    if (bad || site.end < base + bytes || (Store && !site.writable)) [[unlikely]] {
      mask = resolve_flat(w, in, address, bytes, S == Space::generic, Store, Observed);
      if constexpr (Store) ++w.worker->global_writes;
      return;  // told to the observer there: the lanes may have gone to different spaces
    }
    if (mask == full_mask)
      consecutive =
          !any_bits<uint64_t>(full_mask, [&](uint32_t i) { return (address[i] - address[0]) ^ (i * bytes); });
    if (consecutive) prefetch_next(site, bytes);
    if constexpr (Store) ++w.worker->global_writes;
    if constexpr (Observed)
      observe(w, in, site, address, mask, S == Space::constant ? AccessSpace::constant : AccessSpace::global);
  }
  /// The next warp is likely to go on as far from here as this one did from the last: its lines are asked for
  /// while the instructions between are executed. Nothing happens if there is no such address.
  void prefetch_next(SiteState& site, uint32_t bytes) const {
    const uint64_t next = 2 * address[0] - site.previous;
    site.previous = address[0];
    __builtin_prefetch(reinterpret_cast<const void*>(next), Store ? 1 : 0);
    __builtin_prefetch(reinterpret_cast<const void*>(next + (warp_lanes - 1) * bytes), Store ? 1 : 0);
  }
  [[nodiscard]] FlatPlaces places() const { return {mask, consecutive, address}; }
  [[nodiscard]] std::byte* at(uint32_t lane) const { return places().at(lane); }
};

/// What a lane loads or stores, as one access of the host: other host threads see all of a vector or nothing,
/// as on a GPU. Programs count on it that keep a state and a value beside each other. Of 32 bytes each half
/// is one: hosts have no such access that is promised to be.
template <size_t bytes>
inline void copy_at_once(void* to, const void* from) {
  if constexpr (bytes == 32) {
    copy_at_once<16>(to, from);
    copy_at_once<16>(static_cast<std::byte*>(to) + 16, static_cast<const std::byte*>(from) + 16);
  } else if constexpr (bytes == 16) {
    __m128i value = _mm_loadu_si128(static_cast<const __m128i*>(from));
    asm("" : "+x"(value));  // or compilers copy it by elements
    _mm_storeu_si128(static_cast<__m128i*>(to), value);
  } else {
    using Word = std::conditional_t<bytes == 8, uint64_t, std::conditional_t<bytes == 4, uint32_t, uint16_t>>;
    static_assert(sizeof(Word) == bytes);
    Word value;
    std::memcpy(&value, from, bytes);
    asm("" : "+r"(value));
    std::memcpy(to, &value, bytes);
  }
}

/// Vectors of n elements, 32 bytes at most.
template <uint32_t n, class M, class D, class Places>
void load_vectors(Warp& w, const Inst* in, const Places& places) {
  D* d[n];
  for (uint32_t k = 0; k < n; ++k) d[k] = reg<D>(w, data_register(w, in, k));
  each_lane(places.mask, [&](uint32_t i) {
    alignas(16) M m[n];
    copy_at_once<sizeof m>(m, places.at(i));
    for (uint32_t k = 0; k < n; ++k) {
      if constexpr (sizeof(M) == sizeof(D))
        std::memcpy(&d[k][i], &m[k], sizeof(M));
      else
        d[k][i] = static_cast<D>(m[k]);
    }
  });
}
/// Elements of 32 bytes that are left out (`_`) have no register, and what is in memory there stays.
template <uint32_t n, class M, class D, class Places>
bool stores_some(Warp& w, const Inst* in, const Places& places) {
  bool some = false;
  for (uint32_t k = 0; k < n; ++k) some = some || data_register(w, in, k) == no_operand;
  for (uint32_t k = 0; some && k < n; ++k) {
    if (data_register(w, in, k) == no_operand) continue;
    const D* d = reg<D>(w, data_register(w, in, k));
    each_lane(places.mask, [&](uint32_t i) { std::memcpy(places.at(i) + k * sizeof(M), &d[i], sizeof(M)); });
  }
  return some;
}
template <uint32_t n, class M, class D, class Places>
void store_vectors(Warp& w, const Inst* in, const Places& places) {
  if constexpr (n * sizeof(M) == 32)
    if (stores_some<n, M, D>(w, in, places)) return;
  const D* d[n];
  for (uint32_t k = 0; k < n; ++k) d[k] = reg<D>(w, data_register(w, in, k));
  each_lane(places.mask, [&](uint32_t i) {
    alignas(16) M m[n];
    for (uint32_t k = 0; k < n; ++k) std::memcpy(&m[k], &d[k][i], sizeof(M));
    copy_at_once<sizeof m>(places.at(i), m);
  });
}

/// M: type in memory, D: lane of the register (wider ones are zero- or sign-extended by M's signedness).
template <class M, class D, class Places>
[[gnu::always_inline]] inline void load_lanes(Warp& w, const Inst* in, const Places& places) {
  const uint32_t n = elements_of(in);
  if (n == 1 && places.consecutive) {
    D* d = reg<D>(w, data_register(w, in, 0));
    const std::byte* p = places.at(0);
    if constexpr (sizeof(M) == sizeof(D)) {
      std::memcpy(d, p, sizeof(M) * warp_lanes);
    } else {
      alignas(64) M m[warp_lanes];
      std::memcpy(m, p, sizeof m);
      for_lanes(full_mask, d, [&](uint32_t i) { return static_cast<D>(m[i]); });
    }
  } else if (n == 1) {
    D* d = reg<D>(w, data_register(w, in, 0));
    each_lane(places.mask, [&](uint32_t i) {
      M m;
      if constexpr (sizeof(M) == 16)
        copy_at_once<16>(&m, places.at(i));
      else
        std::memcpy(&m, places.at(i), sizeof m);
      if constexpr (sizeof(M) == sizeof(D))
        std::memcpy(&d[i], &m, sizeof m);
      else
        d[i] = static_cast<D>(m);
    });
  } else if constexpr (sizeof(M) <= 8) {
    if (n == 2) {
      load_vectors<2, M, D>(w, in, places);
    } else if constexpr (4 * sizeof(M) <= Places::most_bytes) {
      if (n == 4) load_vectors<4, M, D>(w, in, places);
      if constexpr (8 * sizeof(M) == 32 && Places::most_bytes == 32)
        if (n == 8) load_vectors<8, M, D>(w, in, places);
    }
  }
  if (places.mask != w.mask) [[unlikely]]  // lanes whose access was refused read zero
    for (uint32_t k = 0; k < n; ++k)
      each_lane(w.mask & ~places.mask, [&](uint32_t i) { reg<D>(w, data_register(w, in, k))[i] = D{}; });
}

template <class M, class D, class Places>
[[gnu::always_inline]] inline void store_lanes(Warp& w, const Inst* in, const Places& places) {
  if (places.mask == 0) return;
  const uint32_t n = elements_of(in);
  if (n == 1 && places.consecutive && sizeof(M) == sizeof(D)) {
    std::memcpy(places.at(0), reg<D>(w, in->d), sizeof(M) * warp_lanes);
    return;
  }
  if (n == 1) {
    const D* d = reg<D>(w, data_register(w, in, 0));
    each_lane(places.mask, [&](uint32_t i) {
      if constexpr (sizeof(M) == 16)
        copy_at_once<16>(places.at(i), &d[i]);
      else
        std::memcpy(places.at(i), &d[i], sizeof(M));
    });
  } else if constexpr (sizeof(M) <= 8) {
    if (n == 2) {
      store_vectors<2, M, D>(w, in, places);
    } else if constexpr (4 * sizeof(M) <= Places::most_bytes) {
      if (n == 4) store_vectors<4, M, D>(w, in, places);
      if constexpr (8 * sizeof(M) == 32 && Places::most_bytes == 32)
        if (n == 8) store_vectors<8, M, D>(w, in, places);
    }
  }
}

/// Kernel parameters: one value for all lanes, at a place known when the kernel was decoded.
template <class M, class D>
const Inst* load_param(Warp& w, const Inst* in) {
  const uint32_t n = elements_of(in);
  for (uint32_t k = 0; k < n; ++k) {
    M m;
    std::memcpy(&m, w.worker->params + offset_of(in) + k * sizeof(M), sizeof m);
    D wide;
    if constexpr (sizeof(M) == sizeof(D))
      std::memcpy(&wide, &m, sizeof m);
    else
      wide = static_cast<D>(m);
    for_lanes(w.mask, reg<D>(w, data_register(w, in, k)), [&](uint32_t) { return wide; });
  }
  return in + 1;
}

// Atomics. `Locked` is false for shared memory: a block runs on one host thread. Each function object gives
// the new value from the old one and the operands; d gets the old value.

struct AtomicAdd {
  template <class T>
  static T apply(T old, T b, T) {
    return static_cast<T>(old + b);
  }
};
struct AtomicMin {
  template <class T>
  static T apply(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct AtomicMax {
  template <class T>
  static T apply(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct AtomicInc {
  template <class T>
  static T apply(T old, T b, T) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct AtomicDec {
  template <class T>
  static T apply(T old, T b, T) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};
struct AtomicAnd {
  template <class T>
  static T apply(T old, T b, T) {
    return old & b;
  }
};
struct AtomicOr {
  template <class T>
  static T apply(T old, T b, T) {
    return old | b;
  }
};
struct AtomicXor {
  template <class T>
  static T apply(T old, T b, T) {
    return old ^ b;
  }
};
struct AtomicExchange {
  template <class T>
  static T apply(T, T b, T) {
    return b;
  }
};
struct AtomicCas {
  template <class T>
  static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};

/// f32 addition. Global memory flushes subnormals, but with .noftz, shared memory does not (PTX ISA 9.4,
/// atom).
template <bool Flushes>
struct AtomicAddF32 {
  static float flush(float x) {
    return Flushes && __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
  }
  template <class T>
  static T apply(T old, T b, T) {
    const float sum = flush(flush(std::bit_cast<float>(old)) + flush(std::bit_cast<float>(b)));
    return sum != sum ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
  }
};
/// f64 addition. Of two NaNs it gives the one that is added: global memory as it is, elsewhere as a quiet one
/// (measured on an H100 with pairs of 16 values).
template <bool Global>
struct AtomicAddF64 {
  template <class T>
  static T apply(T old, T b, T) {
    constexpr T quiet = Global ? 0 : T{1} << 51;
    const auto x = std::bit_cast<double>(old), y = std::bit_cast<double>(b);
    if (x != x || y != y) return (y != y ? b : old) | quiet;
    return std::bit_cast<uint64_t>(x + y);
  }
};

/// F on each 16-bit element of a word: Element is Half or Bfloat.
template <class Element, class F>
struct AtomicHalf {
  template <class T>
  static T apply(T old, T b, T) {
    T result = 0;
    for (uint32_t shift = 0; shift < 8 * sizeof(T); shift += 16)
      result |= static_cast<T>(T{F::template apply<Element, false>(static_cast<uint16_t>(old >> shift),
                                                                   static_cast<uint16_t>(b >> shift))}
                               << shift);
    return result;
  }
};

/// Replaces *p by F of it and the operands; returns what was there.
template <class F, bool Locked, class T>
T replace(T* p, T b, T c, bool& changed) {
  T old;
  T next;
  if constexpr (Locked && sizeof(T) == 16) {
    // The first guess need not be right; a read of 16 bytes might be torn.
    T seen = 0;
    do {
      old = seen;
      next = F::apply(old, b, c);
      seen = __sync_val_compare_and_swap(p, old, next);
    } while (seen != old);
  } else if constexpr (Locked) {
    old = __atomic_load_n(p, __ATOMIC_RELAXED);
    do {
      next = F::apply(old, b, c);
    } while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  } else {
    old = *p;
    next = F::apply(old, b, c);
    *p = next;
  }
  changed |= next != old;
  return old;
}

template <class F, class T, bool Locked, class Places>
void change_lanes(Warp& w, const Inst* in, const Places& places) {
  const T* b = reg<T>(w, in->b);
  const T* c = in->c == no_operand ? b : reg<T>(w, in->c);
  T* d = in->d == no_operand ? nullptr : reg<T>(w, in->d);
  bool changed = false;
  each_lane(places.mask, [&](uint32_t i) {
    const T old = replace<F, Locked>(reinterpret_cast<T*>(places.at(i)), b[i], c[i], changed);
    if (d != nullptr) d[i] = old;
  });
  // A lock that was not taken is no progress: see the search for deadlocks in schedule.cpp.
  if (Locked && !changed) --w.worker->global_writes;
  if (d != nullptr) each_lane(w.mask & ~places.mask, [&](uint32_t i) { d[i] = 0; });
}

/// Addition by generic addresses: what it makes of subnormals and NaNs depends on what memory a lane's
/// address is in.
template <template <bool Global> class Add, class T, class Places>
void add_lanes(Warp& w, const Inst* in, const Places& places) {
  const T* b = reg<T>(w, in->b);
  T* d = in->d == no_operand ? nullptr : reg<T>(w, in->d);
  const auto shared = reinterpret_cast<uintptr_t>(w.shared);
  bool changed = false;
  each_lane(places.mask, [&](uint32_t i) {
    auto* p = reinterpret_cast<T*>(places.at(i));
    const bool in_shared = reinterpret_cast<uintptr_t>(p) - shared < w.shared_bytes;
    const T old = in_shared ? replace<Add<false>, false>(p, b[i], b[i], changed)
                            : replace<Add<true>, true>(p, b[i], b[i], changed);
    if (d != nullptr) d[i] = old;
  });
  if (!changed) --w.worker->global_writes;
  if (d != nullptr) each_lane(w.mask & ~places.mask, [&](uint32_t i) { d[i] = 0; });
}

/// Vectors, in global memory only: each element by itself is atomic. Kernel::side holds the n sources from c
/// on and, from d on, the n destinations, of which any may be no_operand; so may d.
template <class F, class T, class Places>
void change_vectors(Warp& w, const Inst* in, const Places& places) {
  const uint32_t n = elements_of(in);
  const uint32_t* side = w.worker->kernel->side.data();
  bool changed = false;
  // Lane by lane: a destination may be a source of the same instruction.
  each_lane(w.mask, [&](uint32_t i) {
    T b[8], old[8] = {};
    for (uint32_t k = 0; k < n; ++k) b[k] = reg<T>(w, side[in->c + k])[i];
    if (lane_of(places.mask, i))
      for (uint32_t k = 0; k < n; ++k)
        old[k] = replace<F, true>(reinterpret_cast<T*>(places.at(i)) + k, b[k], b[k], changed);
    for (uint32_t k = 0; in->d != no_operand && k < n; ++k)
      if (side[in->d + k] != no_operand) reg<T>(w, side[in->d + k])[i] = old[k];
  });
  if (!changed) --w.worker->global_writes;
}

// Selection.

/// A handler: the lanes find their places, and do there what `lanes` does.
template <class Way, class T, void (*lanes)(Warp&, const Inst*, const typename Way::Places&)>
const Inst* access(Warp& w, const Inst* in) {
  const Way way(w, in, sizeof(T));
  lanes(w, in, way.places());
  return in + 1;
}
template <class Way, class F, class T, bool Locked>
constexpr Handler atomic = access<Way, T, change_lanes<F, T, Locked, typename Way::Places>>;
template <class Way, template <bool Global> class Add, class T>
constexpr Handler generic_add = access<Way, T, add_lanes<Add, T, typename Way::Places>>;
template <class Way, class F, class T>
constexpr Handler atomic_vector = access<Way, T, change_vectors<F, T, typename Way::Places>>;

/// One function for the handlers of all ways, which compile in a third of the time then.
template <class Places, void (*lanes)(Warp&, const Inst*, const Places&)>
[[gnu::noinline]] void apart(Warp& w, const Inst* in, const Places& places) {
  lanes(w, in, places);
}
/// What is not converted, of 4 bytes and more, moves inside of the handler: 7% faster.
template <class Way, class M, class D, void (*lanes)(Warp&, const Inst*, const typename Way::Places&)>
constexpr Handler move =
    access<Way, M, sizeof(M) >= 4 && sizeof(M) == sizeof(D) ? lanes : apart<typename Way::Places, lanes>>;

template <class Way>
struct LoadFor {
  static constexpr bool extends = true;
  template <class M, class D>
  static constexpr Handler handler = move<Way, M, D, load_lanes<M, D, typename Way::Places>>;
};
template <class Way>
struct StoreFor {
  static constexpr bool extends = false;
  template <class M, class D>
  static constexpr Handler handler = move<Way, M, D, store_lanes<M, D, typename Way::Places>>;
};
struct LoadParamFor {
  static constexpr bool extends = true;
  template <class M, class D>
  static constexpr Handler handler = load_param<M, D>;
};

/// Use::handler<M, D> for the type in memory and the width of the register. The sign matters for what is
/// extended on the way.
template <class Use>
Handler with_types(Type type, uint32_t data_bytes) {
  const uint32_t bytes = ptx::size_of(type);
  const bool sign = ptx::is_signed(type);
  const auto into = [&]<class U, class S, class UnsignedLane, class SignedLane>() -> Handler {
    if constexpr (sizeof(U) > sizeof(UnsignedLane))
      return nullptr;
    else if constexpr (Use::extends && sizeof(U) < sizeof(UnsignedLane))
      return sign ? Use::template handler<S, SignedLane> : Use::template handler<U, UnsignedLane>;
    else
      return Use::template handler<U, UnsignedLane>;
  };
  const auto widen = [&]<class U, class S>() -> Handler {
    switch (data_bytes) {
      case 2: return into.template operator()<U, S, uint16_t, int16_t>();
      case 4: return into.template operator()<U, S, uint32_t, int32_t>();
      case 8: return into.template operator()<U, S, uint64_t, int64_t>();
      default: return nullptr;
    }
  };
  switch (bytes) {
    case 1: return widen.template operator()<uint8_t, int8_t>();
    case 2: return widen.template operator()<uint16_t, int16_t>();
    case 4: return widen.template operator()<uint32_t, int32_t>();
    case 8: return widen.template operator()<uint64_t, int64_t>();
    case 16: return data_bytes == 16 ? Use::template handler<Bits128, Bits128> : nullptr;
    default: return nullptr;
  }
}

template <bool Observed>
Handler select_load(const HandlerKey& k) {
  const bool wide = k.address_bytes == 8;
  switch (k.space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return wide ? with_types<LoadFor<SharedAccess<uint64_t, Observed>>>(k.types[0], k.data_bytes)
                  : with_types<LoadFor<SharedAccess<uint32_t, Observed>>>(k.types[0], k.data_bytes);
    case Space::param:
    case Space::param_entry:
      return k.address_bytes == 0
                 ? with_types<LoadParamFor>(k.types[0], k.data_bytes)
                 : with_types<LoadFor<FlatAccess<Space::constant, false, uint64_t, Observed>>>(k.types[0],
                                                                                               k.data_bytes);
    case Space::constant:
      return with_types<LoadFor<FlatAccess<Space::constant, false, uint64_t, Observed>>>(k.types[0],
                                                                                         k.data_bytes);
    case Space::global:
      return with_types<LoadFor<FlatAccess<Space::global, false, uint64_t, Observed>>>(k.types[0],
                                                                                       k.data_bytes);
    case Space::local:
    case Space::param_func:
      return wide ? with_types<LoadFor<FlatAccess<Space::local, false, uint64_t, Observed>>>(k.types[0],
                                                                                             k.data_bytes)
                  : with_types<LoadFor<FlatAccess<Space::local, false, uint32_t, Observed>>>(k.types[0],
                                                                                             k.data_bytes);
    case Space::generic:
      return with_types<LoadFor<FlatAccess<Space::generic, false, uint64_t, Observed>>>(k.types[0],
                                                                                        k.data_bytes);
  }
  return nullptr;
}

template <bool Observed>
Handler select_store(const HandlerKey& k) {
  const bool wide = k.address_bytes == 8;
  switch (k.space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return wide ? with_types<StoreFor<SharedAccess<uint64_t, Observed>>>(k.types[0], k.data_bytes)
                  : with_types<StoreFor<SharedAccess<uint32_t, Observed>>>(k.types[0], k.data_bytes);
    case Space::global:
      return with_types<StoreFor<FlatAccess<Space::global, true, uint64_t, Observed>>>(k.types[0],
                                                                                       k.data_bytes);
    case Space::local:
    case Space::param:
    case Space::param_func:
      return wide ? with_types<StoreFor<FlatAccess<Space::local, true, uint64_t, Observed>>>(k.types[0],
                                                                                             k.data_bytes)
                  : with_types<StoreFor<FlatAccess<Space::local, true, uint32_t, Observed>>>(k.types[0],
                                                                                             k.data_bytes);
    case Space::generic:
      return with_types<StoreFor<FlatAccess<Space::generic, true, uint64_t, Observed>>>(k.types[0],
                                                                                        k.data_bytes);
    default: return nullptr;
  }
}

/// .f16 .bf16, pairs and vectors of them.
template <class Way, class Element, bool Locked, bool Shared>
Handler select_half_atomic(const HandlerKey& k) {
  const bool pairs = ptx::size_of(k.types[0]) == 4;
  auto of = [&]<class F>() -> Handler {
    using Operation = AtomicHalf<Element, F>;
    if (k.vector == 1)
      return pairs ? atomic<Way, Operation, uint32_t, Locked> : atomic<Way, Operation, uint16_t, Locked>;
    if constexpr (!Shared)
      return pairs ? atomic_vector<Way, Operation, uint32_t> : atomic_vector<Way, Operation, uint16_t>;
    return nullptr;
  };
  if (k.has(Mod::add)) return of.template operator()<HalfAdd>();
  if constexpr (!Shared) {
    if (k.vector == 1) return nullptr;
    if (k.has(Mod::min)) return of.template operator()<HalfMinMax<false, false, false>>();
    if (k.has(Mod::max)) return of.template operator()<HalfMinMax<true, false, false>>();
  }
  return nullptr;
}

template <class Way, bool Locked, bool Shared>
Handler select_atomic_operation(const HandlerKey& k) {
  const Type t = k.types[0];
  const uint32_t bytes = ptx::size_of(t);
  const bool sign = ptx::is_signed(t);
  if (t == Type::f16 || t == Type::f16x2) return select_half_atomic<Way, Half, Locked, Shared>(k);
  if (t == Type::bf16 || t == Type::bf16x2) return select_half_atomic<Way, Bfloat, Locked, Shared>(k);
  if (k.vector != 1) {
    if constexpr (!Shared)
      if (k.has(Mod::add) && t == Type::f32)
        return k.has(Mod::noftz) ? atomic_vector<Way, AtomicAddF32<false>, uint32_t>
                                 : atomic_vector<Way, AtomicAddF32<true>, uint32_t>;
    return nullptr;
  }
  auto bits = [&]<class F>() -> Handler {
    if (bytes == 4) return atomic<Way, F, uint32_t, Locked>;
    if (bytes == 8) return atomic<Way, F, uint64_t, Locked>;
    return nullptr;
  };
  auto ordered = [&]<class F>() -> Handler {
    if (ptx::is_float(t)) return nullptr;
    if (bytes == 4) return sign ? atomic<Way, F, int32_t, Locked> : atomic<Way, F, uint32_t, Locked>;
    if (bytes == 8) return sign ? atomic<Way, F, int64_t, Locked> : atomic<Way, F, uint64_t, Locked>;
    return nullptr;
  };
  if (k.has(Mod::add)) {
    if constexpr (!Shared) {
      if (t == Type::f32 && k.has(Mod::noftz)) return atomic<Way, AtomicAddF32<false>, uint32_t, Locked>;
      if (k.space == Space::generic && t == Type::f32) return generic_add<Way, AtomicAddF32, uint32_t>;
      if (k.space == Space::generic && t == Type::f64) return generic_add<Way, AtomicAddF64, uint64_t>;
    }
    if (t == Type::f32) return atomic<Way, AtomicAddF32<!Shared>, uint32_t, Locked>;
    if (t == Type::f64) return atomic<Way, AtomicAddF64<!Shared>, uint64_t, Locked>;
    return ptx::is_float(t) ? nullptr : bits.template operator()<AtomicAdd>();
  }
  if (k.has(Mod::min)) return ordered.template operator()<AtomicMin>();
  if (k.has(Mod::max)) return ordered.template operator()<AtomicMax>();
  if (k.has(Mod::inc)) return t == Type::u32 ? atomic<Way, AtomicInc, uint32_t, Locked> : nullptr;
  if (k.has(Mod::dec)) return t == Type::u32 ? atomic<Way, AtomicDec, uint32_t, Locked> : nullptr;
  if (k.has(Mod::and_)) return bits.template operator()<AtomicAnd>();
  if (k.has(Mod::or_)) return bits.template operator()<AtomicOr>();
  if (k.has(Mod::xor_)) return bits.template operator()<AtomicXor>();
  if (bytes == 16) {
    if (k.has(Mod::exch)) return atomic<Way, AtomicExchange, Uint128, Locked>;
    return k.has(Mod::cas) ? atomic<Way, AtomicCas, Uint128, Locked> : nullptr;
  }
  if (k.has(Mod::exch)) return bits.template operator()<AtomicExchange>();
  if (k.has(Mod::cas)) {
    if (bytes == 2) return atomic<Way, AtomicCas, uint16_t, Locked>;
    return bits.template operator()<AtomicCas>();
  }
  return nullptr;
}

template <bool Observed>
Handler select_atomic(const HandlerKey& k) {
  switch (k.space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return k.address_bytes == 8 ? select_atomic_operation<SharedAccess<uint64_t, Observed>, false, true>(k)
                                  : select_atomic_operation<SharedAccess<uint32_t, Observed>, false, true>(k);
    case Space::global:
      return select_atomic_operation<FlatAccess<Space::global, true, uint64_t, Observed>, true, false>(k);
    case Space::generic:
      return select_atomic_operation<FlatAccess<Space::generic, true, uint64_t, Observed>, true, false>(k);
    default: return nullptr;
  }
}

/// nullptr if it is no memory instruction, or not a supported one.
template <bool Observed>
Handler select_memory(const HandlerKey& k) {
  switch (k.op) {
    case ptx::Op::ld:
    case ptx::Op::ldu: return select_load<Observed>(k);
    case ptx::Op::st: return select_store<Observed>(k);
    case ptx::Op::atom:
    case ptx::Op::red: return select_atomic<Observed>(k);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
