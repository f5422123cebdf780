// 16-bit floating point: conversions to pairs and to bf16, and atomics on f16, bf16, pairs, vectors of them,
// and the widths of 16 and 128 bits. Launch with blocks of 32 threads and out[] zero.

namespace {

/// Bits of float number i: special values, ties of both formats, and a spread of all exponents.
__device__ unsigned float_bits(unsigned i) {
  const unsigned special[16] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000,
                                0x7fc00001, 0xffa00000, 0x7f7fffff, 0xff7fffff, 0x477ff000, 0xc77fefff,
                                0x33000000, 0x33000001, 0x3f808000, 0xbf818000};
  return i < 16 ? special[i] : i * 2654435761u + (i << 13);
}
__device__ float float_number(unsigned i) { return __uint_as_float(float_bits(i)); }

/// Bits of half number i, of either format.
__device__ unsigned short half_bits(unsigned i) {
  const unsigned short special[16] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x7c00, 0xfc00, 0x7e01,
                                      0x7f80, 0xff80, 0x7fc1, 0xffc1, 0x7bff, 0x3c01, 0x3f81, 0xbf80};
  return i < 16 ? special[i] : static_cast<unsigned short>(i * 40503u + (i << 5));
}

/// What all threads exchange.
__device__ ulonglong2 place;

}  // namespace

#define PAIR(k, name)                                     \
  asm(name " %0, %1, %2;" : "=r"(word) : "f"(a), "f"(b)); \
  out[(k)*n + g] = word
#define NARROW(k, name)                       \
  asm(name " %0, %1;" : "=h"(half) : "f"(a)); \
  out[(k)*n + g] = half

extern "C" {
/// out[k * n + g] for conversion k and float number g; n threads in the grid.
__global__ void halves_convert(unsigned* out) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const float a = float_number(g), b = float_number(n - 1 - g);
  unsigned word;
  unsigned short half;
  PAIR(0, "cvt.rn.f16x2.f32");
  PAIR(1, "cvt.rz.f16x2.f32");
  PAIR(2, "cvt.rn.bf16x2.f32");
  PAIR(3, "cvt.rz.bf16x2.f32");
  NARROW(4, "cvt.rn.bf16.f32");
  NARROW(5, "cvt.rz.bf16.f32");
  NARROW(6, "cvt.rm.bf16.f32");
  NARROW(7, "cvt.rp.bf16.f32");
  NARROW(8, "cvt.rn.ftz.bf16.f32");
  const unsigned short h = half_bits(g);
  float f;
  asm("cvt.f32.bf16 %0, %1;" : "=f"(f) : "h"(h));
  out[9 * n + g] = __float_as_uint(f);
  asm("cvt.ftz.f32.bf16 %0, %1;" : "=f"(f) : "h"(h));
  out[10 * n + g] = __float_as_uint(f);
}

/// Each thread on words of its own: thread g puts half number g / 20 there and combines it with number g
/// % 20. Eight words a thread: f16 add; bf16 add; f16x2 add; bf16x2 add, each what was there and the result.
__global__ void halves_add(unsigned* out) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* p = out + 8 * g;
  const unsigned short x = half_bits(g / 20), y = half_bits(g % 20);
  const unsigned xx = x | static_cast<unsigned>(y) << 16, yy = y | static_cast<unsigned>(half_bits(g % 61))
                                                                       << 16;
  p[0] = p[2] = x;
  p[4] = p[6] = xx;
  unsigned short half;
  unsigned word;
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(half) : "l"(p), "h"(y) : "memory");
  p[1] = half;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(half) : "l"(p + 2), "h"(y) : "memory");
  p[3] = half;
  asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(word) : "l"(p + 4), "r"(yy) : "memory");
  p[5] = word;
  asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(word) : "l"(p + 6), "r"(yy) : "memory");
  p[7] = word;
}

/// The same with vectors of four elements: minimum and maximum of f16 and bf16, a result of two words and two
/// words of what was there for each.
__global__ void halves_least(unsigned* out) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* p = out + 16 * g;
  const unsigned short x = half_bits(g / 20), y = half_bits(g % 20), z = half_bits(g % 47);
  for (int k = 0; k < 4; ++k) {
    p[4 * k] = x | static_cast<unsigned>(y) << 16;
    p[4 * k + 1] = y | static_cast<unsigned>(z) << 16;
  }
  unsigned short a, b, c, d;
#define LEAST(k, name)                                            \
  asm volatile(name " {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"  \
               : "=h"(a), "=h"(b), "=h"(c), "=h"(d)               \
               : "l"(p + 4 * (k)), "h"(y), "h"(x), "h"(z), "h"(y) \
               : "memory");                                       \
  p[4 * (k) + 2] = a | static_cast<unsigned>(b) << 16;            \
  p[4 * (k) + 3] = c | static_cast<unsigned>(d) << 16
  LEAST(0, "atom.global.min.noftz.v4.f16");
  LEAST(1, "atom.global.max.noftz.v4.f16");
  LEAST(2, "atom.global.min.noftz.v4.bf16");
  LEAST(3, "atom.global.max.noftz.v4.bf16");
}

/// All threads add to the same places, small integers, exact in any order. out: 0, 1 f16 and bf16 sums of g %
/// 4 in words of their own; 2 f16x2 sum of 1 and g % 2; 4 … 7 .v4.f32 of g, 2g, 1, g; 8 … 11 .v8.f16 of g % 2
/// and 1 in turn; 12 .v2.bf16 maximum of g and -g; 13 .v2 minimum; 14, 15 .v2.f16x2 maximum of g, -g.
__global__ void halves_shared_places(unsigned* out) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  const auto f16 = [](float x) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
  };
  const auto bf16 = [](float x) {
    unsigned short h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
  };
  const float n = static_cast<float>(g);
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(out), "h"(f16(g % 4)) : "memory");
  asm volatile("red.add.noftz.bf16 [%0], %1;" ::"l"(out + 1), "h"(bf16(g % 4)) : "memory");
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(out + 2),
               "r"(f16(1) | static_cast<unsigned>(f16(g % 2)) << 16)
               : "memory");
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out + 4), "f"(n), "f"(2 * n), "f"(1.0f),
               "f"(n)
               : "memory");
  asm volatile("red.global.add.noftz.v8.f16 [%0], {%1, %2, %1, %2, %1, %2, %1, %2};" ::"l"(out + 8),
               "h"(f16(g % 2)), "h"(f16(1))
               : "memory");
  asm volatile("red.global.max.noftz.v2.bf16 [%0], {%1, %2};" ::"l"(out + 12), "h"(bf16(n)), "h"(bf16(-n))
               : "memory");
  asm volatile("red.global.min.noftz.v2.bf16 [%0], {%1, %2};" ::"l"(out + 13), "h"(bf16(n)), "h"(bf16(-n))
               : "memory");
  asm volatile("red.global.max.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(out + 14), "r"(unsigned{f16(n)}),
               "r"(unsigned{f16(-n)})
               : "memory");
}

/// Counters of 16 and of 128 bits: every thread adds 1 by compare and swap. out: 0 two counters of 16 bits,
/// the upper one counts in threes; 4 … 7 a counter of 128 bits that carries; 8 how often an exchange of 128
/// bits gave a torn value: never; 12 the sum of all values exchanged in shared memory; 13 an f16x2 counter
/// there.
__global__ void halves_widths(unsigned* out) {
  __shared__ __align__(16) unsigned long long s[4];
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) s[0] = s[1] = s[2] = s[3] = 0;
  __syncthreads();
  unsigned short* halves = reinterpret_cast<unsigned short*>(out);
  for (int k = 0; k < 2; ++k) {
    unsigned short seen = 0, before;
    do {
      before = seen;
      const unsigned short next = static_cast<unsigned short>(before + (k == 0 ? 1 : 3));
      asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;"
                   : "=h"(seen)
                   : "l"(halves + k), "h"(before), "h"(next)
                   : "memory");
    } while (seen != before);
  }
  unsigned long long low = 0, high = 0, seen_low = 0, seen_high = 0;
  do {
    low = seen_low;
    high = seen_high;
    const unsigned long long step = 0x4000000000000001ull, next = low + step, carry = next < low ? 1 : 0;
    asm volatile(
        "{ .reg .b128 old, next, seen; mov.b128 old, {%2, %3}; mov.b128 next, {%4, %5};\n"
        "atom.global.cas.b128 seen, [%6], old, next; mov.b128 {%0, %1}, seen; }"
        : "=l"(seen_low), "=l"(seen_high)
        : "l"(low), "l"(high), "l"(next), "l"(high + carry), "l"(out + 4)
        : "memory");
  } while (seen_low != low || seen_high != high);
  unsigned long long was_low, was_high;
  asm volatile(
      "{ .reg .b128 old, next; mov.b128 next, {%2, %3}; atom.global.exch.b128 old, [%4], next;\n"
      "mov.b128 {%0, %1}, old; }"
      : "=l"(was_low), "=l"(was_high)
      : "l"(g + 1ull), "l"(~(g + 1ull)), "l"(&place)
      : "memory");
  if (was_low != ~was_high && (was_low | was_high) != 0) atomicAdd(out + 8, 1);
  asm volatile(
      "{ .reg .b128 old, next; mov.b128 next, {%2, %3}; atom.exch.b128 old, [%4], next; mov.b128 {%0, %1}, "
      "old; }"
      : "=l"(was_low), "=l"(was_high)
      : "l"(threadIdx.x + 1ull), "l"(~(threadIdx.x + 1ull)), "l"(s)
      : "memory");
  atomicAdd(out + 12, static_cast<unsigned>(was_low));
  asm volatile(
      "red.shared.add.noftz.f16x2 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(s + 2))),
      "r"(0x3c003c00u)
      : "memory");
  __syncthreads();
  if (g == 0) out[13] = static_cast<unsigned>(s[2]);
  if (threadIdx.x == 0) atomicAdd(out + 12, static_cast<unsigned>(s[0]));
}
}
