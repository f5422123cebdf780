// Floating-point arithmetic on awkward operands: each pair of the 16 numbers below, as bits. 256 threads: a =
// number t / 16, b = number t % 16. Result k of thread t is out[k * 256 + t]; NaN is written as one fixed
// pattern, because which NaN an operation gives is no promise of PTX.

__device__ unsigned table_32[16] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x3eaaaaab,
                                    0x4b800001, 0xc2f6e979, 0x33800000, 0x5f000000};
__device__ unsigned long long table_64[16] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x0000000000000001,
    0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x3fd5555555555555,
    0x4340000000000001, 0xc05edd2f1a9fbe77, 0x3ca0000000000000, 0x43e0000000000000};

__device__ __forceinline__ unsigned bits(float x) { return x != x ? 0x7fffffffu : __float_as_uint(x); }
__device__ __forceinline__ unsigned long long bits(double x) {
  return x != x ? 0x7fffffffffffffffull : static_cast<unsigned long long>(__double_as_longlong(x));
}

extern "C" {
__global__ void floats_32(unsigned* out) {
  const unsigned t = threadIdx.x;
  const float a = __uint_as_float(table_32[t / 16]), b = __uint_as_float(table_32[t % 16]);
  out += t;
  out[0 * 256] = bits(__fadd_rn(a, b));
  out[1 * 256] = bits(__fadd_rz(a, b));
  out[2 * 256] = bits(__fadd_ru(a, b));
  out[3 * 256] = bits(__fadd_rd(a, b));
  out[4 * 256] = bits(__fmul_rn(a, b));
  out[5 * 256] = bits(__fmul_rz(a, b));
  out[6 * 256] = bits(__fmul_ru(a, b));
  out[7 * 256] = bits(__fmul_rd(a, b));
  out[8 * 256] = bits(__fmaf_rn(a, b, 0.333f));
  out[9 * 256] = bits(__fmaf_rz(a, b, 0.333f));
  out[10 * 256] = bits(__fmaf_ru(a, b, b));
  out[11 * 256] = bits(__fmaf_rd(a, b, a));
  out[12 * 256] = bits(__fdiv_rn(a, b));
  out[13 * 256] = bits(__fdiv_rz(a, b));
  out[14 * 256] = bits(__fsqrt_rn(a));
  out[15 * 256] = bits(__fsqrt_ru(b));
  out[16 * 256] = bits(__frcp_rn(b));
  out[17 * 256] = bits(__saturatef(a + b));
  out[18 * 256] = bits(fminf(a, b));
  out[19 * 256] = bits(fmaxf(a, b));
  out[20 * 256] = bits(fabsf(a) - -b);
  out[21 * 256] = bits(copysignf(a, b));
  out[22 * 256] = bits(truncf(a) + floorf(b));
  out[23 * 256] = bits(rintf(a) - ceilf(b));
}

/// The same with denormal numbers taken as 0 (.ftz).
__global__ void floats_ftz(unsigned* out) {
  const unsigned t = threadIdx.x;
  const float a = __uint_as_float(table_32[t / 16]), b = __uint_as_float(table_32[t % 16]);
  float r;
  out += t;
  asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  out[0 * 256] = bits(r);
  asm("mul.rz.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  out[1 * 256] = bits(r);
  asm("fma.rn.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(r) : "f"(a), "f"(b));
  out[2 * 256] = bits(r);
  asm("min.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  out[3 * 256] = bits(r);
  asm("abs.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  out[4 * 256] = bits(r);
  asm("div.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  out[5 * 256] = bits(r);
  asm("{.reg .pred p;\n\tsetp.lt.ftz.f32 p, %1, %2;\n\tselp.f32 %0, 0f3f800000, 0f40000000, p;}"
      : "=f"(r)
      : "f"(a), "f"(b));
  out[6 * 256] = bits(r);
}

__global__ void floats_64(unsigned long long* out) {
  const unsigned t = threadIdx.x;
  const double a = __longlong_as_double(static_cast<long long>(table_64[t / 16]));
  const double b = __longlong_as_double(static_cast<long long>(table_64[t % 16]));
  out += t;
  out[0 * 256] = bits(__dadd_rn(a, b));
  out[1 * 256] = bits(__dadd_rz(a, b));
  out[2 * 256] = bits(__dadd_ru(a, b));
  out[3 * 256] = bits(__dadd_rd(a, b));
  out[4 * 256] = bits(__dmul_rn(a, b));
  out[5 * 256] = bits(__dmul_rz(a, b));
  out[6 * 256] = bits(__fma_rn(a, b, 0.333));
  out[7 * 256] = bits(__fma_ru(a, b, b));
  out[8 * 256] = bits(__ddiv_rn(a, b));
  out[9 * 256] = bits(__ddiv_rd(a, b));
  out[10 * 256] = bits(__dsqrt_rn(a));
  out[11 * 256] = bits(__drcp_rn(b));
  out[12 * 256] = bits(fmin(a, b));
  out[13 * 256] = bits(fmax(a, b));
  out[14 * 256] = bits(trunc(a) + floor(b));
  out[15 * 256] = bits(rint(a) - ceil(b));
}

/// All comparisons, ordered and unordered: bit i of out[t] is comparison i of a and b; out[256 + t] the same
/// of doubles.
__global__ void floats_compare(unsigned* out) {
  const unsigned t = threadIdx.x;
  const float a = __uint_as_float(table_32[t / 16]), b = __uint_as_float(table_32[t % 16]);
  const double c = a, d = b;
  unsigned r = 0, q = 0;
#define LANESCOPE_COMPARE(bit, op)                                      \
  {                                                                     \
    unsigned one;                                                       \
    asm("set." op ".u32.f32 %0, %1, %2;" : "=r"(one) : "f"(a), "f"(b)); \
    r |= (one & 1u) << bit;                                             \
    asm("set." op ".u32.f64 %0, %1, %2;" : "=r"(one) : "d"(c), "d"(d)); \
    q |= (one & 1u) << bit;                                             \
  }
  LANESCOPE_COMPARE(0, "eq")
  LANESCOPE_COMPARE(1, "ne")
  LANESCOPE_COMPARE(2, "lt")
  LANESCOPE_COMPARE(3, "le")
  LANESCOPE_COMPARE(4, "gt")
  LANESCOPE_COMPARE(5, "ge")
  LANESCOPE_COMPARE(6, "equ")
  LANESCOPE_COMPARE(7, "neu")
  LANESCOPE_COMPARE(8, "ltu")
  LANESCOPE_COMPARE(9, "leu")
  LANESCOPE_COMPARE(10, "gtu")
  LANESCOPE_COMPARE(11, "geu")
  LANESCOPE_COMPARE(12, "num")
  LANESCOPE_COMPARE(13, "nan")
#undef LANESCOPE_COMPARE
  out[t] = r;
  out[256 + t] = q;
}

/// Functions that hardware approximates, as floats; results are equal up to a relative error of 2^-20.
__global__ void floats_approximate(float* out) {
  const unsigned t = threadIdx.x;
  const float x = 0.013f + 0.11f * t;
  out += t;
  out[0 * 256] = __expf(0.2f * x);
  out[1 * 256] = __logf(x + 3.0f);
  out[2 * 256] = __fdividef(x, x + 1.0f);
  out[3 * 256] = rsqrtf(x);
  out[4 * 256] = __powf(x, 1.7f);
  out[5 * 256] = expf(-0.1f * x);
  out[6 * 256] = logf(x);
  out[7 * 256] = sqrtf(x) + 1.0f / x;
  out[8 * 256] = tanhf(0.02f * x);
  out[9 * 256] = cbrtf(x) + erff(0.05f * x);
}

/// Sine and cosine, whose error is absolute: 2^-20.
__global__ void floats_trigonometric(float* out) {
  const unsigned t = threadIdx.x;
  const float x = -3.0f + 6.0f * t / 256;
  out += t;
  out[0 * 256] = __sinf(x);
  out[1 * 256] = __cosf(x);
  out[2 * 256] = sinf(40.0f * x);
  out[3 * 256] = cosf(40.0f * x);
}

/// Functions of doubles, which are long sequences of exact instructions: equal to the last bit.
__global__ void floats_functions_64(double* out) {
  const unsigned t = threadIdx.x;
  const double x = 0.013 + 0.11 * t;
  out += t;
  out[0 * 256] = exp(0.2 * x);
  out[1 * 256] = log(x);
  out[2 * 256] = sin(x);
  out[3 * 256] = pow(x, 1.7);
  out[4 * 256] = x / (x + 7.0) + sqrt(x);
  out[5 * 256] = fmod(x, 0.3);
}
}
