// Reductions of arrays in memory, as bulk copies do them: each element by itself.
#pragma once

#include <cstring>

#include "exec/handlers.hpp"
#include "exec/handlers/memory.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

template <class F, class T>
void reduce(std::byte* to, const std::byte* from, size_t bytes) {
  bool changed = false;
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, from + at, sizeof value);
    replace<F, true>(reinterpret_cast<T*>(to + at), value, value, changed);
  }
}

inline Reduction select_reduction(Mod operation, Type type) {
  const auto halves = [&]<class Element>() -> Reduction {
    switch (operation) {
      case Mod::add: return reduce<AtomicHalf<Element, HalfAdd>, uint16_t>;
      case Mod::min: return reduce<AtomicHalf<Element, HalfMinMax<false, false, false>>, uint16_t>;
      case Mod::max: return reduce<AtomicHalf<Element, HalfMinMax<true, false, false>>, uint16_t>;
      default: return nullptr;
    }
  };
  const auto integers = [&]<class U, class S>() -> Reduction {
    const bool sign = ptx::is_signed(type);
    switch (operation) {
      case Mod::add: return reduce<AtomicAdd, U>;
      case Mod::min: return sign ? reduce<AtomicMin, S> : reduce<AtomicMin, U>;
      case Mod::max: return sign ? reduce<AtomicMax, S> : reduce<AtomicMax, U>;
      case Mod::inc: return reduce<AtomicInc, U>;
      case Mod::dec: return reduce<AtomicDec, U>;
      case Mod::and_: return reduce<AtomicAnd, U>;
      case Mod::or_: return reduce<AtomicOr, U>;
      case Mod::xor_: return reduce<AtomicXor, U>;
      default: return nullptr;
    }
  };
  switch (type) {
    case Type::f16: return halves.template operator()<Half>();
    case Type::bf16: return halves.template operator()<Bfloat>();
    // Subnormals are kept, unlike by red (measured on an H100).
    case Type::f32: return operation == Mod::add ? reduce<AtomicAddF32<false>, uint32_t> : nullptr;
    case Type::f64: return operation == Mod::add ? reduce<AtomicAddF64<false>, uint64_t> : nullptr;
    case Type::u32:
    case Type::s32:
    case Type::b32: return integers.template operator()<uint32_t, int32_t>();
    case Type::u64:
    case Type::s64:
    case Type::b64: return integers.template operator()<uint64_t, int64_t>();
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
