// The tables behind value().
#include "random/values.hpp"

#include <span>

namespace lanescope::random {
namespace {

constexpr uint64_t integers[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 10,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x100,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x10000,
                                 0x7fffff,
                                 0x800000,
                                 0xffffff,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xaaaaaaaa55555555,
                                 0x8000800080008000,
                                 0x7fff7fff7fff7fff,
                                 0x8080808080808080,
                                 0x7f7f7f7f7f7f7f7f};

constexpr uint32_t amounts[] = {0,  1,  2,  7,  8,  15, 16, 17, 23,  24,  30,
                                31, 32, 33, 47, 48, 63, 64, 65, 127, 128, 255};

constexpr uint32_t singles[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff,
    0x01000000, 0x0d800000, 0x1f800000, 0x33000000, 0x33800000, 0x34000000, 0x387fc000, 0x38800000,
    0x38801000, 0x3a800000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001,
    0x3fc00000, 0x3fffffff, 0x40000000, 0x40200000, 0x40490fdb, 0x40600000, 0x42fe0000, 0x43000000,
    0x437f0000, 0x437f8000, 0x46fffe00, 0x47000000, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fff80,
    0x47800000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000,
    0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000, 0x7e800000, 0x7e800001, 0x7effffff, 0x7f000000,
    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fa00000, 0x7fc00000, 0x7fffffff};

constexpr uint64_t doubles[] = {
    0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001,
    0x001fffffffffffff, 0x1ff0000000000000, 0x369fffffffffffff, 0x36a0000000000000, 0x36a0000000000001,
    0x380fffffdfffffff, 0x380fffffffffffff, 0x3810000000000000, 0x3810000000000001, 0x3ca0000000000000,
    0x3cb0000000000000, 0x3fdfffffffffffff, 0x3fe0000000000000, 0x3fe0000000000001, 0x3fefffffffffffff,
    0x3ff0000000000000, 0x3ff0000000000001, 0x3ff0000010000000, 0x3ff0000030000000, 0x3ff8000000000000,
    0x4000000000000000, 0x4004000000000000, 0x40efffffffffffff, 0x41dfffffffc00000, 0x41dfffffffe00000,
    0x41efffffffe00000, 0x41effffffff00000, 0x433fffffffffffff, 0x4340000000000000, 0x43dfffffffffffff,
    0x43e0000000000000, 0x43efffffffffffff, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x47f0000000000000, 0x5fe0000000000000, 0x7fd0000000000000, 0x7fe0000000000000, 0x7fefffffffffffff,
    0x7ff0000000000000, 0x7ff0000000000001, 0x7ff4000000000001, 0x7ff8000000000000, 0x7ff8000000000123};

constexpr uint16_t halves[] = {0x0000, 0x0001, 0x0002, 0x0200, 0x03ff, 0x0400, 0x0401, 0x07ff, 0x0800, 0x1000,
                               0x13ff, 0x1400, 0x2400, 0x37ff, 0x3800, 0x3801, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
                               0x4000, 0x4100, 0x4248, 0x57f8, 0x5bf8, 0x5c00, 0x63ff, 0x6400, 0x67ff, 0x77ff,
                               0x7800, 0x7bff, 0x7c00, 0x7c01, 0x7d00, 0x7e00, 0x7fff};

constexpr uint16_t bfloats[] = {0x0000, 0x0001, 0x0040, 0x007f, 0x0080, 0x0081, 0x00ff, 0x0100, 0x3300,
                                0x3b80, 0x3c00, 0x3eff, 0x3f00, 0x3f01, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0,
                                0x4000, 0x4020, 0x4049, 0x437f, 0x4780, 0x4b00, 0x4eff, 0x4f00, 0x5f00,
                                0x7e80, 0x7f00, 0x7f7f, 0x7f80, 0x7f81, 0x7fa0, 0x7fc0, 0x7fff};

/// An array as pick() takes it.
template <class T, size_t N>
constexpr std::span<const T, N> all(const T (&array)[N]) {
  return std::span<const T, N>(array);
}

uint64_t integer(Random& random) {
  const uint64_t x = random.next();
  switch (random.below(8)) {
    case 0:
    case 1: {
      const uint64_t edge = random.pick(all(integers));
      switch (random.below(4)) {
        case 0: return ~edge;
        case 1: return 0 - edge;
        default: return edge;
      }
    }
    case 2: return x >> random.below(64);
    case 3: return 0 - (x >> random.below(64));
    case 4: {  // a power of two, or next to one
      const uint64_t power = uint64_t{1} << random.below(64);
      return power + (random.next() % 3) - 1;
    }
    case 5: return x % 100;
    case 6: return (x & 0xffffffff) * 0x100000001ull;
    default: return x;
  }
}

/// Fields of one floating-point format, to make values of.
struct Format {
  uint32_t bits, mantissa;
};

/// Random bits; or a number of ordinary size; or one with few or many ones in its mantissa, where rounding is
/// a tie or nearly one.
uint64_t of_format(Random& random, Format format) {
  const uint64_t x = random.next() >> (64 - format.bits);
  const uint32_t exponent_bits = format.bits - 1 - format.mantissa;
  const uint64_t bias = (uint64_t{1} << (exponent_bits - 1)) - 1;
  const uint64_t sign = x >> (format.bits - 1) << (format.bits - 1);
  uint64_t mantissa = x & ((uint64_t{1} << format.mantissa) - 1);
  switch (random.below(4)) {
    case 0: return x;
    case 1: break;
    case 2: {
      const uint32_t cut = random.below(format.mantissa + 1);
      mantissa = mantissa >> cut << cut;
      break;
    }
    default: {
      const uint32_t cut = random.below(format.mantissa + 1);
      mantissa |= (uint64_t{1} << cut) - 1;
      break;
    }
  }
  const uint64_t spread = bias < 30 ? bias - 2 : 28;
  const uint64_t exponent = bias - spread + random.below(2 * spread + 1);
  return sign | exponent << format.mantissa | mantissa;
}

template <class Edges>
uint64_t floating(Random& random, const Edges& edges, Format format) {
  if (random.chance(65)) return of_format(random, format);
  const uint64_t sign = uint64_t{random.below(2)} << (format.bits - 1);
  const uint64_t edge = random.pick(edges);
  // A neighbour of the edge now and then.
  return random.chance(25) ? (sign | edge) + random.below(3) - 1 : sign | edge;
}

template <class Edges>
uint64_t several(Random& random, const Edges& edges, Format format) {
  const uint64_t mask = format.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << format.bits) - 1;
  uint64_t all = 0;
  for (uint32_t at = 0; at < 64; at += format.bits) all |= (floating(random, edges, format) & mask) << at;
  return all;
}

}  // namespace

uint64_t value(Random& random, Kind kind) {
  switch (kind) {
    case Kind::amount: return random.chance(85) ? random.pick(all(amounts)) : integer(random);
    case Kind::f32: return several(random, all(singles), {32, 23});
    case Kind::f64: return several(random, all(doubles), {64, 52});
    case Kind::f16: return several(random, all(halves), {16, 10});
    case Kind::bf16: return several(random, all(bfloats), {16, 7});
    case Kind::integer: break;
  }
  return integer(random);
}

}  // namespace lanescope::random
