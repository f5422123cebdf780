// What the integer, logic and shift instructions do to one lane: pure functions on plain values, total for
// every input (PTX leaves division by zero open; here it never traps). PTX ISA 9.0, chapters 9.7.1, 9.7.2
// and 9.7.8.
//
// T is the unsigned type of the width where the sign does not matter, else the type itself. Arithmetic wraps.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lanescope::exec::LANESCOPE_ISA {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
inline constexpr int bits_of = static_cast<int>(sizeof(T) * 8);

/// The type of twice the width, of the same signedness.
template <class T>
struct WiderOf;
template <>
struct WiderOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WiderOf<int16_t> {
  using type = int32_t;
};
template <>
struct WiderOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WiderOf<int32_t> {
  using type = int64_t;
};
template <>
struct WiderOf<uint64_t> {
  using type = Uint128;
};
template <>
struct WiderOf<int64_t> {
  using type = Int128;
};
template <class T>
using Wider = typename WiderOf<T>::type;

/// Unsigned type to compute in: at least 32 bits wide, so that promotion to int never overflows.
template <class T>
using Modular = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
}
template <class T>
constexpr T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
}
template <class T>
constexpr T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
}

struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return wrapping_add(a, b);
  }
};
struct Sub {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return wrapping_sub(a, b);
  }
};
struct MulLo {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return wrapping_mul(a, b);
  }
};
struct MulHi {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> bits_of<T>);
  }
};
struct MulWide {
  template <class T>
  constexpr Wider<T> operator()(T a, T b) const {
    return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
  }
};
struct MadLo {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return wrapping_add(wrapping_mul(a, b), c);
  }
};
struct MadHi {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return wrapping_add(MulHi()(a, b), c);
  }
};
struct MadWide {
  template <class T>
  constexpr Wider<T> operator()(T a, T b, Wider<T> c) const {
    return wrapping_add(MulWide()(a, b), c);
  }
};

/// Of 8, 16 or 32 bits.
template <class T>
constexpr T saturated(int64_t x) {
  constexpr int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(x < low ? low : x > high ? high : x);
}
struct AddSat {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return saturated<T>(int64_t{a} + b);
  }
};
struct SubSat {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return saturated<T>(int64_t{a} - b);
  }
};
struct MadHiSat {
  constexpr int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturated<int32_t>(int64_t{MulHi()(a, b)} + c);
  }
};
/// The product of polynomials whose coefficients are bits, and a sum without carries.
template <bool high>
struct CarrylessMad {
  constexpr uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    Uint128 product = 0;
    for (uint32_t i = 0; i < 64; ++i)
      if ((a >> i & 1) != 0) product ^= Uint128{b} << i;
    return static_cast<uint64_t>(high ? product >> 64 : product) ^ c;
  }
};

/// The low 24 bits of a, extended to 32.
template <class T>
constexpr T low24(T a) {
  return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << 8) >> 8);
}
/// Bits 0…31 of the 48-bit product of two 24-bit numbers; the high form takes bits 16…47.
struct Mul24Lo {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return wrapping_mul(low24(a), low24(b));
  }
};
struct Mul24Hi {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(MulWide()(low24(a), low24(b)) >> 16);
  }
};
struct Mad24Lo {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return wrapping_add(Mul24Lo()(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return wrapping_add(Mul24Hi()(a, b), c);
  }
};
struct Mad24HiSat {
  constexpr int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturated<int32_t>(int64_t{Mul24Hi()(a, b)} + c);
  }
};

struct Sad {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return wrapping_add(c, a < b ? wrapping_sub(b, a) : wrapping_sub(a, b));
  }
};

/// dp4a: the sum of the products of four bytes. dp2a: of a's two halves and b's lower or upper two bytes.
template <class A, class B>
struct Dp4a {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    uint32_t sum = c;
    for (uint32_t i = 0; i < 32; i += 8)
      sum += static_cast<uint32_t>(int32_t{static_cast<A>(a >> i)} * int32_t{static_cast<B>(b >> i)});
    return sum;
  }
};
template <class A, class B, bool high>
struct Dp2a {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t bytes = high ? b >> 16 : b;
    return c + static_cast<uint32_t>(int32_t{static_cast<A>(a)} * int32_t{static_cast<B>(bytes)}) +
           static_cast<uint32_t>(int32_t{static_cast<A>(a >> 16)} * int32_t{static_cast<B>(bytes >> 8)});
  }
};

/// Applies F to both halves of a word, or to its bytes.
template <class F, class T>
struct Partwise {
  constexpr uint32_t operator()(uint32_t a, uint32_t b) const {
    uint32_t result = 0;
    for (uint32_t at = 0; at < 32; at += 8 * sizeof(T)) {
      const T part = F()(static_cast<T>(a >> at), static_cast<T>(b >> at));
      result |= uint32_t{static_cast<std::make_unsigned_t<T>>(part)} << at;
    }
    return result;
  }
};
struct NegatedBytes {
  constexpr uint32_t operator()(uint32_t a) const { return Partwise<Sub, uint8_t>()(0, a); }
};
/// .relu: negative results become zero.
template <class F>
struct Relu {
  template <class T>
  constexpr T operator()(T a, T b) const {
    const T r = F()(a, b);
    return r < 0 ? T{0} : r;
  }
};

/// a / b for b other than 0 (and -1 for signed T). A quotient of 32-bit numbers is exact when a correctly
/// rounded 53-bit quotient is cut: it lies at least 1/b from the next integer. So is one of 16-bit numbers
/// with 24 bits.
template <class T>
constexpr T plain_quotient(T a, T b) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b)));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
  } else {
    return a / b;
  }
}
/// By zero: all ones, as an H200 gives. MIN / -1 wraps to MIN.
struct Div {
  template <class T>
  constexpr T operator()(T a, T b) const {
    const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
    const T q = plain_quotient(a, static_cast<T>(b == 0 || minus_one ? 1 : b));
    return b == 0 ? static_cast<T>(-1) : minus_one ? wrapping_sub(T{0}, a) : q;
  }
};
/// By zero: all ones, as above. The sign is the dividend's; MIN % -1 is 0.
struct Rem {
  template <class T>
  constexpr T operator()(T a, T b) const {
    const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
    const T divisor = static_cast<T>(b == 0 || minus_one ? 1 : b);
    const T r = wrapping_sub(a, wrapping_mul(plain_quotient(a, divisor), divisor));
    return b == 0 ? static_cast<T>(-1) : r;
  }
};

struct Neg {
  template <class T>
  constexpr T operator()(T a) const {
    return wrapping_sub(T{0}, a);
  }
};
struct Abs {
  template <class T>
  constexpr T operator()(T a) const {
    return a < 0 ? wrapping_sub(T{0}, a) : a;
  }
};
struct Min {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Popc {
  template <class T>
  constexpr uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  constexpr uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
/// Position of the most significant bit that is not the sign's; all ones if there is none.
struct Bfind {
  template <class T>
  constexpr uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a < 0 ? ~a : a);
    return static_cast<uint32_t>(bits_of<T> - 1 - std::countl_zero(x));
  }
};
/// How far to shift left until that bit is the most significant one; all ones if there is none.
struct BfindShift {
  template <class T>
  constexpr uint32_t operator()(T a) const {
    const uint32_t p = Bfind()(a);
    return p == 0xffffffffu ? p : static_cast<uint32_t>(bits_of<T> - 1) - p;
  }
};
struct Brev {
  constexpr uint32_t operator()(uint32_t x) const {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
  }
  constexpr uint64_t operator()(uint64_t x) const {
    return uint64_t{(*this)(static_cast<uint32_t>(x))} << 32 | (*this)(static_cast<uint32_t>(x >> 32));
  }
};

/// `length` ones from bit 0 on; everything from the width on counts as the width.
template <class T>
constexpr T ones(uint32_t length) {
  return length >= bits_of<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
}

/// Positions and lengths of bit fields: modulo 256 with 32-bit fields, as they are with 64-bit ones.
template <class T>
constexpr uint32_t field_amount(uint32_t x) {
  if constexpr (sizeof(T) == 4) return x & 0xff;
  return x > 128 ? 128 : x;
}
/// Takes `c` bits of a from position b on; beyond the field: zero, or the field's top bit.
struct Bfe {
  template <class T>
  constexpr T operator()(T a, uint32_t b, uint32_t c) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t top = bits_of<T> - 1;
    const uint32_t pos = field_amount<T>(b), len = field_amount<T>(c);
    const uint32_t last = pos + len > top + 1 ? top : pos + len - 1;
    const uint32_t shift = pos > top ? top : pos;
    const U bits = pos > top ? U{0} : static_cast<U>(static_cast<U>(a) >> shift);
    const U field = ones<U>(pos + len > top ? (pos > top ? 0 : top + 1 - pos) : len);
    const bool sign = std::is_signed_v<T> && len != 0 && ((static_cast<U>(a) >> (last & top)) & 1) != 0;
    return static_cast<T>((bits & field) | (sign ? static_cast<U>(~field) : U{0}));
  }
};
/// Puts the low d bits of a into b from position c on.
struct Bfi {
  template <class T>
  constexpr T operator()(T a, T b, uint32_t c, uint32_t d) const {
    const uint32_t pos = field_amount<T>(c), shift = pos & (bits_of<T> - 1);
    const T field = pos >= bits_of<T> ? T{0} : static_cast<T>(ones<T>(field_amount<T>(d)) << shift);
    return (static_cast<T>(a << shift) & field) | (b & ~field);
  }
};
/// b ones from bit a on. .clamp: nothing from bit 32 on; .wrap: a and b modulo 32.
template <bool wrap>
struct Bmsk {
  constexpr uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t length = wrap ? b & 31 : b;
    return !wrap && a > 31 ? 0 : ones<uint32_t>(length) << (a & 31);
  }
};
/// The low b bits of a, extended by their sign or by zeros. .clamp: all of it if b > 31; .wrap: b modulo 32.
template <bool wrap>
struct Szext {
  template <class T>
  constexpr T operator()(T a, uint32_t b) const {
    const uint32_t length = wrap ? b & 31 : b;
    if (length > 31) return a;
    const uint32_t low = static_cast<uint32_t>(a) & ones<uint32_t>(length);
    const bool minus = std::is_signed_v<T> && length != 0 && (low >> (length - 1) & 1) != 0;
    return static_cast<T>(minus ? low | ~ones<uint32_t>(length) : low);
  }
};
/// fns: the position of the n-th set bit at or above `base` (n > 0), or at or below it (n < 0); of bit `base`
/// itself for n = 0. All ones if there is none.
struct FindNthSet {
  constexpr uint32_t operator()(uint32_t mask, uint32_t base, uint32_t n) const {
    const bool down = static_cast<int32_t>(n) < 0;
    uint32_t left = n == 0 ? 1 : down ? 0 - n : n;
    const int32_t step = down ? -1 : 1;
    for (int64_t at = base; at >= 0 && at < 32; at += step) {
      if ((mask >> at & 1) != 0 && --left == 0) return static_cast<uint32_t>(at);
      if (n == 0) break;
    }
    return 0xffffffffu;
  }
};
/// Byte `nibble & 7` of the eight bytes b:a, or its sign in every bit where the nibble's top bit is set.
constexpr uint32_t permuted_byte(uint64_t ba, uint32_t nibble) {
  const uint32_t byte = static_cast<uint32_t>(ba >> (nibble & 7) * 8) & 0xff;
  return (nibble & 8) != 0 ? ((byte & 0x80) != 0 ? 0xffu : 0u) : byte;
}
constexpr uint32_t permute(uint32_t a, uint32_t b, uint32_t nibbles) {
  const uint64_t ba = uint64_t{b} << 32 | a;
  return permuted_byte(ba, nibbles) | permuted_byte(ba, nibbles >> 4) << 8 |
         permuted_byte(ba, nibbles >> 8) << 16 | permuted_byte(ba, nibbles >> 12) << 24;
}
struct Prmt {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const { return permute(a, b, c); }
};
/// The modes of prmt: the low two bits of c choose one of four selections, written as nibbles.
template <uint32_t s0, uint32_t s1, uint32_t s2, uint32_t s3>
struct PrmtMode {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t k = c & 3;
    return permute(a, b, k == 0 ? s0 : k == 1 ? s1 : k == 2 ? s2 : s3);
  }
};
using PrmtF4e = PrmtMode<0x3210, 0x4321, 0x5432, 0x6543>;
using PrmtB4e = PrmtMode<0x5670, 0x6701, 0x7012, 0x0123>;
using PrmtRc8 = PrmtMode<0x0000, 0x1111, 0x2222, 0x3333>;
using PrmtEcl = PrmtMode<0x3210, 0x3211, 0x3222, 0x3333>;
using PrmtEcr = PrmtMode<0x0000, 0x1110, 0x2210, 0x3210>;
using PrmtRc16 = PrmtMode<0x1010, 0x3232, 0x1010, 0x3232>;

struct And {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  constexpr T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  constexpr T operator()(T a) const {
    return a == 0 ? T{1} : T{0};
  }
};

/// All 256 functions of three bits; bit (4a + 2b + c) of the table is the answer.
constexpr uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  const auto bit = [table](uint32_t i) { return 0u - (table >> i & 1u); };
  const auto choose = [](uint32_t s, uint32_t one, uint32_t zero) { return zero ^ (s & (one ^ zero)); };
  return choose(a, choose(b, choose(c, bit(7), bit(6)), choose(c, bit(5), bit(4))),
                choose(b, choose(c, bit(3), bit(2)), choose(c, bit(1), bit(0))));
}

/// Shift amounts from the width on shift everything out.
struct Shl {
  template <class T>
  constexpr T operator()(T a, uint32_t b) const {
    return b >= bits_of<T> ? T{0} : static_cast<T>(static_cast<Modular<T>>(a) << (b & (bits_of<T> - 1)));
  }
};
struct Shr {
  template <class T>
  constexpr T operator()(T a, uint32_t b) const {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (b >= bits_of<T> ? bits_of<T> - 1 : b));
    } else {
      return b >= bits_of<T> ? T{0} : static_cast<T>(a >> (b & (bits_of<T> - 1)));
    }
  }
};
/// Funnel shifts of b:a; the left one keeps the upper half, the right one the lower.
template <bool wrap>
constexpr uint32_t funnel_amount(uint32_t c) {
  return wrap ? c & 31 : (c > 32 ? 32 : c);
}
template <bool wrap>
struct ShfLeft {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return static_cast<uint32_t>((uint64_t{b} << 32 | a) << funnel_amount<wrap>(c) >> 32);
  }
};
template <bool wrap>
struct ShfRight {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> funnel_amount<wrap>(c));
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
