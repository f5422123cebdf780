// Handlers of the instructions by which the lanes of a warp see each other: shfl, vote, match, redux, elect,
// activemask. The participants are the lanes of w.mask. PTX ISA 9.0, chapter 9.7.9 (shfl.sync) and 9.7.13.
#include <bit>

#include "exec/checks.hpp"
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_compare.hpp"
#include "exec/handlers/semantics_float.hpp"
#include "exec/handlers/semantics_integer.hpp"
#include "exec/lanes.hpp"
#include "exec/state.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

// ---- shfl. The source lane of each lane, and whether it lies in the lane's segment (else the lane reads
// itself).

/// c holds the clamp in bits 0…4 and the segment mask in bits 8…12; b the distance, the xor mask or the
/// index.
struct ShuffleUp {
  static int32_t from(int32_t lane, int32_t b, int32_t) { return lane - b; }
  static bool inside(int32_t from, int32_t last) { return from >= last; }
};
struct Upwards {
  static bool inside(int32_t from, int32_t last) { return from <= last; }
};
struct ShuffleDown : Upwards {
  static int32_t from(int32_t lane, int32_t b, int32_t) { return lane + b; }
};
struct ShuffleXor : Upwards {
  static int32_t from(int32_t lane, int32_t b, int32_t) { return lane ^ b; }
};
struct ShuffleIndex : Upwards {
  static int32_t from(int32_t lane, int32_t b, int32_t segment) { return (lane & segment) | (b & ~segment); }
};

/// Source lane of each lane as the mode has it, unbounded, and the last lane (for up: the first) of its
/// segment.
template <class Mode>
inline int32_t shuffle_from(int32_t lane, uint32_t b, uint32_t c) {
  return Mode::from(lane, static_cast<int32_t>(b & 31), static_cast<int32_t>(c >> 8 & 31));
}
inline int32_t shuffle_last(int32_t lane, uint32_t c) {
  const int32_t segment = static_cast<int32_t>(c >> 8 & 31);
  return (lane & segment) | (static_cast<int32_t>(c & 31) & ~segment);
}

/// d[i] = value[index[i]], index below 32. No overlap.
inline void permute(uint32_t* d, const uint32_t* value, const uint32_t* index) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(value), high = _mm512_load_si512(value + 16);
  for (int g = 0; g < 2; ++g)
    _mm512_store_si512(d + 16 * g, _mm512_permutex2var_epi32(low, _mm512_load_si512(index + 16 * g), high));
#elif defined(__AVX2__)
  const auto part = [](const uint32_t* p, int g) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p) + g);
  };
  const auto blend = [](__m256i zero, __m256i one, __m256i sign) {
    return _mm256_blendv_ps(_mm256_castsi256_ps(zero), _mm256_castsi256_ps(one), _mm256_castsi256_ps(sign));
  };
  for (int g = 0; g < 4; ++g) {
    const __m256i i = part(index, g);
    const auto from = [&](int k) { return _mm256_permutevar8x32_epi32(part(value, k), i); };
    const __m256i bit3 = _mm256_slli_epi32(i, 28), bit4 = _mm256_slli_epi32(i, 27);
    const __m256i low = _mm256_castps_si256(blend(from(0), from(1), bit3));
    const __m256i high = _mm256_castps_si256(blend(from(2), from(3), bit3));
    _mm256_store_ps(reinterpret_cast<float*>(d) + 8 * g, blend(low, high, bit4));
  }
#else
  for (uint32_t i = 0; i < warp_lanes; ++i) d[i] = value[index[i]];
#endif
}

/// The lane whose value each lane takes: another one, or itself.
template <class Mode>
inline void shuffle_sources(uint32_t* source, const uint32_t* b, const uint32_t* c) {
  LANESCOPE_LANE_LOOP
  for (int32_t i = 0; i < static_cast<int32_t>(warp_lanes); ++i) {
    const int32_t from = shuffle_from<Mode>(i, b[i], c[i]);
    source[i] = static_cast<uint32_t>(Mode::inside(from, shuffle_last(i, c[i])) ? from : i);
  }
}

/// A lane that does not take part gives what its register holds (PTX leaves that open).
template <class Mode>
const Inst* shuffle(Warp& w, const Inst* in) {
  const uint32_t* a = reg<uint32_t>(w, in->a);
  const uint32_t* b = reg<uint32_t>(w, in->b);
  const uint32_t* c = reg<uint32_t>(w, in->c);
  uint32_t* d = reg<uint32_t>(w, in->d);
  alignas(64) uint32_t source[warp_lanes], result[warp_lanes];
  shuffle_sources<Mode>(source, b, c);
  permute(result, a, source);
  if (in->aux != no_operand) {  // before d is written, which may be b or c
    set_pred(w, in->aux, ballot([=](uint32_t lane) {
               const int32_t i = static_cast<int32_t>(lane);
               return Mode::inside(shuffle_from<Mode>(i, b[i], c[i]), shuffle_last(i, c[i]));
             }));
  }
  choose(w.mask, d, result, d);
  ++w.worker->shuffles;
  return in + 1;
}

/// In a checked launch.
template <class Mode>
const Inst* checked_shuffle(Warp& w, const Inst* in) {
  alignas(64) uint32_t source[warp_lanes];
  shuffle_sources<Mode>(source, reg<uint32_t>(w, in->b), reg<uint32_t>(w, in->c));
  check_shuffle(w, in, source);
  return shuffle<Mode>(w, in);
}

// ---- vote and the like: one word says it for all lanes.

inline uint32_t votes(Warp& w, const Inst* in) {
  return (pred(w, in->a) ^ ((in->imm & 1) != 0 ? full_mask : 0u)) & w.mask;
}
struct VoteAll {
  bool operator()(uint32_t votes, uint32_t members) const { return votes == members; }
};
struct VoteAny {
  bool operator()(uint32_t votes, uint32_t) const { return votes != 0; }
};
struct VoteUni {
  bool operator()(uint32_t votes, uint32_t members) const { return votes == 0 || votes == members; }
};
template <class F>
const Inst* vote(Warp& w, const Inst* in) {
  set_pred(w, in->d, F()(votes(w, in), w.mask) ? full_mask : 0u);
  return in + 1;
}
inline void broadcast(Warp& w, uint32_t offset, uint32_t value) {
  for_lanes(w.mask, reg<uint32_t>(w, offset), [=](uint32_t) { return value; });
}
const Inst* vote_ballot(Warp& w, const Inst* in) {
  broadcast(w, in->d, votes(w, in));
  return in + 1;
}
const Inst* active_mask(Warp& w, const Inst* in) {
  broadcast(w, in->d, w.active);
  return in + 1;
}
/// The lowest lane is elected.
const Inst* elect(Warp& w, const Inst* in) {
  const uint32_t members = w.mask;
  if (in->d != no_operand) broadcast(w, in->d, static_cast<uint32_t>(std::countr_zero(members)));
  if (in->aux != no_operand) set_pred(w, in->aux, members & (0u - members));
  return in + 1;
}

// ---- match.

template <class T>
inline uint32_t equal_lanes(const T* a, T value) {
  return ballot([=](uint32_t i) { return a[i] == value; });
}

/// d: the members that hold the lane's value.
template <class T>
const Inst* match_any(Warp& w, const Inst* in) {
  const T* a = reg<T>(w, in->a);
  alignas(64) uint32_t same[warp_lanes] = {};
  for (uint32_t left = w.mask; left != 0;) {
    const uint32_t group = equal_lanes(a, a[std::countr_zero(left)]) & w.mask;
    LANESCOPE_LANE_LOOP
    for (uint32_t i = 0; i < warp_lanes; ++i)
      same[i] |= (group & lane_bits<uint32_t>.bit[i]) != 0 ? group : 0u;
    left &= ~group;
  }
  for_lanes(w.mask, reg<uint32_t>(w, in->d), [&same](uint32_t i) { return same[i]; });
  return in + 1;
}
/// d: all members if they hold one value, else 0; p says which.
template <class T>
const Inst* match_all(Warp& w, const Inst* in) {
  const T* a = reg<T>(w, in->a);
  const uint32_t members = w.mask;
  const bool all = members != 0 && (equal_lanes(a, a[std::countr_zero(members)]) & members) == members;
  if (in->d != no_operand) broadcast(w, in->d, all ? members : 0u);
  if (in->aux != no_operand) set_pred(w, in->aux, all ? full_mask : 0u);
  return in + 1;
}

// ---- redux.

template <class F, class T>
const Inst* redux(Warp& w, const Inst* in) {
  if (w.mask == 0) return in + 1;
  const T* a = reg<T>(w, in->a);
  uint32_t left = w.mask & (w.mask - 1);
  T r = a[std::countr_zero(w.mask)];
  for (; left != 0; left &= left - 1) r = F()(r, a[std::countr_zero(left)]);
  broadcast(w, in->d, static_cast<uint32_t>(r));
  return in + 1;
}

/// From sm_100 on. NaNs lose against numbers, or with .NaN win, as of min and max of two.
template <bool maximum, bool nan_wins, bool of_absolutes>
const Inst* redux_float(Warp& w, const Inst* in) {
  if (w.mask == 0) return in + 1;
  constexpr FloatMinMax<maximum, false, nan_wins, Compared::values> combine;
  const auto value = [&](uint32_t lanes) {
    const float a = reg<float>(w, in->a)[std::countr_zero(lanes)];
    return of_absolutes ? FloatAbs()(a) : a;
  };
  float r = combine(value(w.mask), value(w.mask));  // a NaN that is alone becomes the canonical one
  for (uint32_t left = w.mask & (w.mask - 1); left != 0; left &= left - 1) r = combine(r, value(left));
  broadcast(w, in->d, std::bit_cast<uint32_t>(r));
  return in + 1;
}

template <bool maximum>
Handler select_redux_float(const HandlerKey& key) {
  const bool nan_wins = key.has(Mod::NaN);
  if (key.has(Mod::abs))
    return nan_wins ? redux_float<maximum, true, true> : redux_float<maximum, false, true>;
  return nan_wins ? redux_float<maximum, true, false> : redux_float<maximum, false, false>;
}

Handler select_redux(const HandlerKey& key) {
  switch (key.types[0]) {
    case Type::f32:
      return key.has(Mod::min)   ? select_redux_float<false>(key)
             : key.has(Mod::max) ? select_redux_float<true>(key)
                                 : nullptr;
    case Type::b32:
      return key.has(Mod::and_)   ? redux<And, uint32_t>
             : key.has(Mod::or_)  ? redux<Or, uint32_t>
             : key.has(Mod::xor_) ? redux<Xor, uint32_t>
                                  : nullptr;
    case Type::u32:
    case Type::s32: {
      const bool is_signed = key.types[0] == Type::s32;
      if (key.has(Mod::add)) return redux<Add, uint32_t>;
      if (key.has(Mod::min)) return is_signed ? redux<Min, int32_t> : redux<Min, uint32_t>;
      if (key.has(Mod::max)) return is_signed ? redux<Max, int32_t> : redux<Max, uint32_t>;
      return nullptr;
    }
    default: return nullptr;
  }
}

template <class Mode>
Handler select_shuffle(const HandlerKey& key) {
  return key.checked ? checked_shuffle<Mode> : shuffle<Mode>;
}
Handler select_shfl(const HandlerKey& key) {
  if (key.has(Mod::up)) return select_shuffle<ShuffleUp>(key);
  if (key.has(Mod::down)) return select_shuffle<ShuffleDown>(key);
  if (key.has(Mod::bfly)) return select_shuffle<ShuffleXor>(key);
  return key.has(Mod::idx) ? select_shuffle<ShuffleIndex>(key) : nullptr;
}

Handler select_vote(const HandlerKey& key) {
  if (key.has(Mod::ballot)) return vote_ballot;
  if (key.has(Mod::all)) return vote<VoteAll>;
  if (key.has(Mod::any)) return vote<VoteAny>;
  return key.has(Mod::uni) ? vote<VoteUni> : nullptr;
}

Handler select_match(const HandlerKey& key) {
  const bool wide = key.types[0] == Type::b64;
  if (key.has(Mod::any)) return wide ? match_any<uint64_t> : match_any<uint32_t>;
  return key.has(Mod::all) ? (wide ? match_all<uint64_t> : match_all<uint32_t>) : nullptr;
}

}  // namespace

Handler select_crosslane(const HandlerKey& key) {
  switch (key.op) {
    case Op::shfl: return select_shfl(key);
    case Op::vote: return select_vote(key);
    case Op::activemask: return active_mask;
    case Op::elect: return elect;
    case Op::match: return select_match(key);
    case Op::redux: return select_redux(key);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
