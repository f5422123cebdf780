// Integer arithmetic of 8 to 64 bits on awkward operands: every pair of the table below. Block of 64 threads
// x 1, one block for each of the table's 16 numbers: thread t of block b works on a = table[b] and b =
// table[t % 16].

__device__ long long table[16] = {0,
                                  1,
                                  -1,
                                  2,
                                  -2,
                                  7,
                                  -13,
                                  100,
                                  0x7fffffffLL,
                                  -0x80000000LL,
                                  0xffffffffLL,
                                  0x100000000LL,
                                  0x7fffffffffffffffLL,
                                  -0x7fffffffffffffffLL,
                                  0x0123456789abcdefLL,
                                  -0x123456789LL};

/// The operands of a thread and where its results go.
struct Work {
  long long a = table[blockIdx.x], b = table[threadIdx.x % 16];
  unsigned place = blockIdx.x * 16 + threadIdx.x % 16;
  unsigned group = threadIdx.x / 16;
};

extern "C" {
/// Four groups of 16 threads: sums, products, quotients and remainders of 64 bits. out: 4 x 256 numbers for
/// each of two results. Division by 0 is left out (result 0), as is the one quotient that overflows.
__global__ void integers_64(long long* out) {
  const Work w;
  long long first = 0, second = 0;
  switch (w.group) {
    case 0:
      first =
          static_cast<long long>(static_cast<unsigned long long>(w.a) + static_cast<unsigned long long>(w.b));
      second =
          static_cast<long long>(static_cast<unsigned long long>(w.a) - static_cast<unsigned long long>(w.b));
      break;
    case 1:
      first =
          static_cast<long long>(static_cast<unsigned long long>(w.a) * static_cast<unsigned long long>(w.b));
      second = __mul64hi(w.a, w.b);
      break;
    case 2:
      if (w.b != 0) {
        first = w.a / w.b;
        second = w.a % w.b;
      }
      break;
    default:
      if (w.b != 0) {
        first = static_cast<long long>(static_cast<unsigned long long>(w.a) /
                                       static_cast<unsigned long long>(w.b));
        second = static_cast<long long>(static_cast<unsigned long long>(w.a) %
                                        static_cast<unsigned long long>(w.b));
      }
  }
  out[w.group * 256 + w.place] = first;
  out[1024 + w.group * 256 + w.place] = second;
}

/// The same of 32 bits, from the low halves of the operands.
__global__ void integers_32(int* out) {
  const Work w;
  const int a = static_cast<int>(w.a), b = static_cast<int>(w.b);
  const unsigned ua = a, ub = b;
  int first = 0, second = 0;
  switch (w.group) {
    case 0:
      first = static_cast<int>(ua + ub * 3u);
      second = __sad(a, b, 5u);
      break;
    case 1:
      first = __mulhi(a, b);
      second = static_cast<int>(__umulhi(ua, ub));
      break;
    case 2:
      if (b != 0 && !(b == -1 && ua == 0x80000000u)) {
        first = a / b;
        second = a % b;
      }
      break;
    default:
      if (b != 0) {
        first = static_cast<int>(ua / ub);
        second = static_cast<int>(ua % ub);
      }
  }
  out[w.group * 256 + w.place] = first;
  out[1024 + w.group * 256 + w.place] = second;
}

/// Minimum, maximum, absolute value, averages and 24-bit products.
__global__ void integers_select(int* out) {
  const Work w;
  const int a = static_cast<int>(w.a), b = static_cast<int>(w.b);
  const unsigned ua = a, ub = b;
  int first, second;
  switch (w.group) {
    case 0:
      first = min(a, b);
      second = static_cast<int>(max(ua, ub));
      break;
    case 1:
      first = static_cast<int>(min(w.a, w.b) >> 7);
      second = static_cast<int>(
          max(static_cast<unsigned long long>(w.a), static_cast<unsigned long long>(w.b)) >> 9);
      break;
    case 2:
      first = __hadd(a, b);
      second = static_cast<int>(__urhadd(ua, ub));
      break;
    default: first = __mul24(a, b); second = static_cast<int>(__umul24(ua, ub)) ^ abs(a);
  }
  out[w.group * 256 + w.place] = first;
  out[1024 + w.group * 256 + w.place] = second;
}

/// 8- and 16-bit numbers: they are computed in wider registers and must be cut off at the right place.
__global__ void integers_narrow(int* out) {
  const Work w;
  const signed char ca = static_cast<signed char>(w.a), cb = static_cast<signed char>(w.b);
  const unsigned char ua = static_cast<unsigned char>(w.a), ub = static_cast<unsigned char>(w.b);
  const short sa = static_cast<short>(w.a), sb = static_cast<short>(w.b);
  const unsigned short ta = static_cast<unsigned short>(w.a), tb = static_cast<unsigned short>(w.b);
  int first, second;
  switch (w.group) {
    case 0:
      first = static_cast<signed char>(ca + cb);
      second = static_cast<unsigned char>(ua * ub);
      break;
    case 1:
      first = static_cast<short>(sa - sb);
      second = static_cast<unsigned short>(ta + tb);
      break;
    case 2:
      first = sb != 0 ? static_cast<short>(sa / sb) : 0;
      second = tb != 0 ? ta % tb : 0;
      break;
    default:
      first = static_cast<short>(sa >> (tb & 15));
      second = static_cast<unsigned short>(ta << (tb & 15));
  }
  out[w.group * 256 + w.place] = first;
  out[1024 + w.group * 256 + w.place] = second;
}

/// Carry chains: 128-bit sums, differences and products by single PTX instructions. out: low and high halves.
__global__ void integers_carry(unsigned long long* out) {
  const Work w;
  const unsigned long long a = w.a, b = w.b;
  unsigned long long low, high;
  switch (w.group) {
    case 0:
      asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %3, %2;" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
      break;
    case 1:
      asm("sub.cc.u64 %0, %2, %3;\n\tsubc.u64 %1, %3, %2;" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
      break;
    case 2:
      low = a * b;
      high = __umul64hi(a, b);
      break;
    default: {
      const unsigned x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
      unsigned r0, r1, r2;
      asm("mad.lo.cc.u32 %0, %3, %4, %3;\n\tmadc.hi.cc.u32 %1, %3, %4, %4;\n\taddc.u32 %2, %3, 0;"
          : "=r"(r0), "=r"(r1), "=r"(r2)
          : "r"(x), "r"(y));
      low = r0 | static_cast<unsigned long long>(r1) << 32;
      high = r2;
    }
  }
  out[w.group * 256 + w.place] = low;
  out[1024 + w.group * 256 + w.place] = high;
}
}
