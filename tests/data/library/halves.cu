// The functions of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h: conversions, arithmetic, comparisons. What they
// give is not recorded on a GPU but computed on the host, by the headers' own host code where they have some:
//   nvcc -arch=sm_90 -o halves tests/data/library/halves.cu && ./halves >tests/data/library/halves.txt
// Thread g of n works on number g and writes its result number k to out[k * n + g]. The file holds a digest
// of each n results.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#define BOTH __host__ __device__

namespace {

template <class To, class From>
BOTH To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// Bits of half number i, of either format: special values, then a spread of all.
BOTH unsigned short half_bits(unsigned i) {
  const unsigned short special[16] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x7c00, 0xfc00, 0x7e01,
                                      0x7f80, 0xff80, 0x7fc1, 0xffc1, 0x7bff, 0x3c01, 0x3f81, 0xbf80};
  return i < 16 ? special[i] : static_cast<unsigned short>(i * 40503u + (i << 5));
}
BOTH unsigned float_bits(unsigned i) {
  const unsigned special[16] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000,
                                0x7fc00001, 0xffa00000, 0x7f7fffff, 0xff7fffff, 0x477ff000, 0xc77fefff,
                                0x33000000, 0x33000001, 0x3f808000, 0xbf818000};
  return i < 16 ? special[i] : i * 2654435761u + (i << 13);
}

// What differs between the formats.

template <class H>
struct Format;
template <>
struct Format<__half> {
  using Pair = __half2;
  static constexpr unsigned short infinity = 0x7c00;
  BOTH static __half from(double x) { return __double2half(x); }
  BOTH static Pair pair(__half a, __half b) { return __halves2half2(a, b); }
};
template <>
struct Format<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  static constexpr unsigned short infinity = 0x7f80;
  BOTH static __nv_bfloat16 from(double x) { return __double2bfloat16(x); }
  BOTH static Pair pair(__nv_bfloat16 a, __nv_bfloat16 b) { return __halves2bfloat162(a, b); }
};

template <class H>
BOTH H number(unsigned i) {
  return same_bits<H>(half_bits(i));
}
BOTH double value(__half h) { return static_cast<double>(__half2float(h)); }
BOTH double value(__nv_bfloat16 h) { return static_cast<double>(__bfloat162float(h)); }

/// All NaNs are alike: the payload is nobody's promise.
template <class H>
BOTH unsigned half_word(H h) {
  const unsigned bits = same_bits<unsigned short>(h);
  return (bits & 0x7fff) > Format<H>::infinity ? 0x7fff : bits;
}
BOTH unsigned word(__half h) { return half_word(h); }
BOTH unsigned word(__nv_bfloat16 h) { return half_word(h); }
BOTH unsigned word(__half2 p) { return word(__low2half(p)) | word(__high2half(p)) << 16; }
BOTH unsigned word(__nv_bfloat162 p) { return word(__low2bfloat16(p)) | word(__high2bfloat16(p)) << 16; }
BOTH unsigned word(float f) { return f != f ? 0x7fffffff : same_bits<unsigned>(f); }
BOTH unsigned word(float2 p) { return word(p.x) * 31 + word(p.y); }
BOTH unsigned word(bool b) { return b; }
BOTH unsigned word(int i) { return static_cast<unsigned>(i); }
BOTH unsigned word(unsigned i) { return i; }
BOTH unsigned word(short i) { return static_cast<unsigned short>(i); }
BOTH unsigned word(unsigned short i) { return i; }
BOTH unsigned word(signed char i) { return static_cast<unsigned char>(i); }
BOTH unsigned word(unsigned char i) { return i; }
BOTH unsigned word(unsigned long long i) {
  return static_cast<unsigned>(i) * 31 + static_cast<unsigned>(i >> 32);
}
BOTH unsigned word(long long i) { return word(static_cast<unsigned long long>(i)); }

/// Writes results one behind the other.
struct Results {
  unsigned* out;
  unsigned n, g, k = 0;
  template <class T>
  BOTH Results& operator<<(T value) {
    out[k++ * n + g] = word(value);
    return *this;
  }
};

// The headers have these for the device alone; the host computes them from their definitions.
#ifdef __CUDA_ARCH__
template <class H>
__device__ H fused(H a, H b, H c) {
  return __hfma(a, b, c);
}
template <class H>
__device__ H fused_sat(H a, H b, H c) {
  return __hfma_sat(a, b, c);
}
template <class H>
__device__ H fused_relu(H a, H b, H c) {
  return __hfma_relu(a, b, c);
}
template <class Pair>
__device__ Pair fused_pair(Pair a, Pair b, Pair c) {
  return __hfma2(a, b, c);
}
#define UNARY(name, device, host) \
  template <class H>              \
  __device__ H name(H h) {        \
    return device(h);             \
  }
#else
/// x + y rounded so that rounding once more gives what rounding the exact sum would: to odd.
double odd_sum(double x, double y) {
  const double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
  auto bits = same_bits<long long>(sum);
  if (error != 0 && (bits & 1) == 0 && sum - sum == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return same_bits<double>(bits);
}

template <class H>
H fused(H a, H b, H c) {
  return Format<H>::from(odd_sum(value(a) * value(b), value(c)));
}
template <class H>
H fused_sat(H a, H b, H c) {
  const H r = fused(a, b, c);
  return value(r) > 1 ? Format<H>::from(1) : value(r) > 0 ? r : Format<H>::from(0);
}
template <class H>
H fused_relu(H a, H b, H c) {
  const H r = fused(a, b, c);
  return value(r) <= 0 ? Format<H>::from(0) : r;
}
__half2 fused_pair(__half2 a, __half2 b, __half2 c) {
  return __halves2half2(fused(__low2half(a), __low2half(b), __low2half(c)),
                        fused(__high2half(a), __high2half(b), __high2half(c)));
}
__nv_bfloat162 fused_pair(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __halves2bfloat162(fused(__low2bfloat16(a), __low2bfloat16(b), __low2bfloat16(c)),
                            fused(__high2bfloat16(a), __high2bfloat16(b), __high2bfloat16(c)));
}
#define UNARY(name, device, host)           \
  template <class H>                        \
  H name(H h) {                             \
    return Format<H>::from(host(value(h))); \
  }
#endif
UNARY(floor_of, hfloor, floor)
UNARY(ceiling_of, hceil, ceil)
UNARY(nearest_of, hrint, nearbyint)
UNARY(whole_of, htrunc, trunc)

template <class H>
BOTH unsigned arithmetic(Results r) {
  const H a = number<H>(r.g), b = number<H>(r.n - 1 - r.g), c = number<H>(r.g * 7 % r.n);
  r << __hadd(a, b) << __hadd_rn(a, b) << __hadd_sat(a, b) << __hsub(a, b) << __hsub_rn(a, b)
    << __hsub_sat(a, b);
  r << __hmul(a, b) << __hmul_rn(a, b) << __hmul_sat(a, b) << __hneg(a) << __habs(a);
  r << __hmin(a, b) << __hmax(a, b) << __hmin_nan(a, b) << __hmax_nan(a, b);
  r << fused(a, b, c) << fused_sat(a, b, c) << fused_relu(a, b, c);
  r << floor_of(a) << ceiling_of(a) << nearest_of(a) << whole_of(a);
  r << __heq(a, b) << __hne(a, b) << __hlt(a, b) << __hle(a, b) << __hgt(a, b) << __hge(a, b);
  r << __hequ(a, b) << __hneu(a, b) << __hltu(a, b) << __hleu(a, b) << __hgtu(a, b) << __hgeu(a, b);
  r << __hisnan(a) << __hisinf(a) << __heq(a, a) << __hequ(a, a);
  const auto p = Format<H>::pair(a, c), q = Format<H>::pair(b, a);
  r << __hadd2(p, q) << __hadd2_rn(p, q) << __hadd2_sat(p, q) << __hsub2(p, q) << __hsub2_sat(p, q);
  r << __hmul2(p, q) << __hmul2_sat(p, q) << __hneg2(p) << __habs2(p) << fused_pair(p, q, p);
  r << __hmin2(p, q) << __hmax2(p, q) << __hmin2_nan(p, q) << __hmax2_nan(p, q);
  r << __heq2(p, q) << __hne2(p, q) << __hlt2(p, q) << __hgeu2(p, q) << __hequ2(p, p) << __hisnan2(p);
  r << __heq2_mask(p, q) << __hltu2_mask(p, q) << __hge2_mask(p, q) << __hneu2_mask(p, p);
  r << __hbeq2(p, q) << __hbne2(p, q) << __hble2(p, q) << __hbgtu2(p, q) << __hbequ2(p, p);
  return r.k;
}

BOTH unsigned conversions_half(Results r) {
  const float f = same_bits<float>(float_bits(r.g)), e = same_bits<float>(float_bits(r.n - 1 - r.g));
  const __half h = number<__half>(r.g);
  const auto i = static_cast<int>(float_bits(r.g * 3));
  const long long l = static_cast<long long>(i) * float_bits(r.g + 5) >> (r.g % 60);
  r << __float2half(f) << __float2half_rn(f) << __float2half_rz(f) << __float2half_rd(f)
    << __float2half_ru(f);
  r << __double2half(static_cast<double>(f) * 1.00000001) << __floats2half2_rn(f, e) << __float2half2_rn(f);
  r << __half2float(h) << __half22float2(__halves2half2(h, __float2half(f)));
  r << __half2int_rz(h) << __half2uint_rz(h) << __half2short_rz(h) << __half2ushort_rz(h);
  r << __half2char_rz(h) << __half2uchar_rz(h) << __half2ll_rz(h) << __half2ull_rz(h);
  r << __int2half_rn(i) << __int2half_rz(i >> 13) << __int2half_rd(i >> 12) << __int2half_ru(i >> 14);
  r << __uint2half_rn(i) << __uint2half_rz(i) << __uint2half_rd(i) << __uint2half_ru(i);
  r << __short2half_rn(i) << __short2half_rz(i) << __short2half_rd(i) << __short2half_ru(i);
  r << __ushort2half_rn(i) << __ushort2half_rz(i) << __ushort2half_rd(i) << __ushort2half_ru(i);
  r << __ll2half_rn(l) << __ll2half_rz(l) << __ll2half_rd(l) << __ll2half_ru(l);
  r << __ull2half_rn(l) << __ull2half_rz(l) << __ull2half_rd(l) << __ull2half_ru(l);
  const __half2 p = __halves2half2(h, __float2half(e));
  r << __low2half(p) << __high2half(p) << __lowhigh2highlow(p) << __low2half2(p) << __high2half2(p);
  r << __lows2half2(p, p) << __highs2half2(p, p) << __low2float(p) << __high2float(p);
  r << __half_as_short(h) << __ushort_as_half(static_cast<unsigned short>(i));
  return r.k;
}

BOTH unsigned conversions_bfloat(Results r) {
  const float f = same_bits<float>(float_bits(r.g)), e = same_bits<float>(float_bits(r.n - 1 - r.g));
  const auto h = number<__nv_bfloat16>(r.g);
  const auto i = static_cast<int>(float_bits(r.g * 3));
  const long long l = static_cast<long long>(i) * float_bits(r.g + 5) >> (r.g % 60);
  r << __float2bfloat16(f) << __float2bfloat16_rn(f) << __float2bfloat16_rz(f) << __float2bfloat16_rd(f);
  r << __float2bfloat16_ru(f) << __double2bfloat16(static_cast<double>(f) * 1.00000001);
  r << __floats2bfloat162_rn(f, e) << __float2bfloat162_rn(f) << __bfloat162float(h);
  r << __bfloat1622float2(__halves2bfloat162(h, __float2bfloat16(e)));
  r << __bfloat162int_rz(h) << __bfloat162uint_rz(h) << __bfloat162short_rz(h) << __bfloat162ushort_rz(h);
  r << __bfloat162char_rz(h) << __bfloat162uchar_rz(h) << __bfloat162ll_rz(h) << __bfloat162ull_rz(h);
  r << __int2bfloat16_rn(i) << __uint2bfloat16_rn(i) << __short2bfloat16_rn(i) << __ushort2bfloat16_rn(i);
  r << __ll2bfloat16_rn(l) << __ull2bfloat16_rn(l);
  return r.k;
}

template <__nv_fp8_interpretation_t format>
BOTH unsigned conversions_fp8(Results r) {
  const float f = same_bits<float>(float_bits(r.g)), e = same_bits<float>(half_bits(r.g) << 16);
  const __half_raw h = number<__half>(r.g);
  const __nv_bfloat16_raw b = number<__nv_bfloat16>(r.g);
  for (const auto saturation : {__NV_SATFINITE, __NV_NOSAT}) {
    r << __nv_cvt_float_to_fp8(f, saturation, format) << __nv_cvt_float_to_fp8(e, saturation, format);
    r << __nv_cvt_double_to_fp8(static_cast<double>(e) * 1.01, saturation, format);
    r << __nv_cvt_halfraw_to_fp8(h, saturation, format) << __nv_cvt_bfloat16raw_to_fp8(b, saturation, format);
    r << __nv_cvt_float2_to_fp8x2({f, e}, saturation, format);
    r << __nv_cvt_halfraw2_to_fp8x2({h.x, static_cast<unsigned short>(r.g)}, saturation, format);
    r << __nv_cvt_bfloat16raw2_to_fp8x2({b.x, static_cast<unsigned short>(r.g)}, saturation, format);
  }
  const auto byte = static_cast<unsigned char>(r.g);
  r << __half(__nv_cvt_fp8_to_halfraw(byte, format));
  r << __half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(byte * 257 + 300), format));
  return r.k;
}

}  // namespace

#define KERNEL(name, body)                                                             \
  extern "C" __global__ void halves_##name(unsigned* out) {                            \
    body(Results{out, gridDim.x * blockDim.x, blockIdx.x * blockDim.x + threadIdx.x}); \
  }
KERNEL(f16, arithmetic<__half>)
KERNEL(bf16, arithmetic<__nv_bfloat16>)
KERNEL(convert_f16, conversions_half)
KERNEL(convert_bf16, conversions_bfloat)
KERNEL(e4m3, conversions_fp8<__NV_E4M3>)
KERNEL(e5m2, conversions_fp8<__NV_E5M2>)

// Functions that the headers have for the device alone and describe by their error: out[k * n + g] is whether
// function k of number g is as close to the right result as that.
namespace {

template <class H>
__device__ bool close(H got, float want, int steps) {
  const H right = Format<H>::from(static_cast<double>(want));
  const auto order = [](H h) {
    const int bits = same_bits<short>(h);
    return bits < 0 ? -(bits & 0x7fff) : bits;
  };
  return value(right) != value(right) ? value(got) != value(got) : abs(order(got) - order(right)) <= steps;
}

template <class H>
__device__ void approximate(Results r) {
  const H h = number<H>(r.g);
  const auto x = static_cast<float>(value(h)), y = static_cast<float>(value(number<H>(r.n - 1 - r.g)));
  r << close(hsqrt(h), sqrtf(x), 0) << close(hrsqrt(h), 1 / sqrtf(x), 1) << close(hrcp(h), 1 / x, 1);
  r << close(hexp(h), expf(x), 1) << close(hexp2(h), exp2f(x), 1) << close(hexp10(h), exp10f(x), 1);
  r << close(hlog(h), logf(x), 1) << close(hlog2(h), log2f(x), 1) << close(hlog10(h), log10f(x), 1);
  r << close(hsin(h), sinf(x), 1) << close(hcos(h), cosf(x), 1) << close(htanh(h), tanhf(x), 1);
  r << close(__hdiv(h, number<H>(r.n - 1 - r.g)), x / y, 1);
}

}  // namespace
KERNEL(close_f16, approximate<__half>)
KERNEL(close_bf16, approximate<__nv_bfloat16>)

#ifndef __CUDA_ARCH__
int main() {
  constexpr unsigned numbers = 4096, most_results = 128;
  static unsigned out[numbers * most_results];
  const std::pair<const char*, unsigned (*)(Results)> kernels[] = {
      {"f16", arithmetic<__half>},          {"bf16", arithmetic<__nv_bfloat16>},
      {"convert_f16", conversions_half},    {"convert_bf16", conversions_bfloat},
      {"e4m3", conversions_fp8<__NV_E4M3>}, {"e5m2", conversions_fp8<__NV_E5M2>}};
  std::printf("# Made by halves.cu: kernel, result, FNV-1a of its words for 4096 numbers\n");
  for (const auto& [name, body] : kernels) {
    unsigned results = 0;
    for (unsigned g = 0; g < numbers; ++g) results = body({out, numbers, g});
    for (unsigned k = 0; k < results; ++k) {
      unsigned long long digest = 0xcbf29ce484222325u;
      for (unsigned g = 0; g < numbers; ++g) digest = (digest ^ out[k * numbers + g]) * 0x100000001b3u;
      std::printf("%s %u %016llx\n", name, k, digest);
    }
    if (std::getenv("WORDS") != nullptr)
      for (unsigned i = 0; i < results * numbers; ++i)
        std::printf("%s %u %u %08x\n", name, i / numbers, i % numbers, out[i]);
  }
}
#endif
