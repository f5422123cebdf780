// Conversions among all number types, with every rounding, from numbers that do not fit and NaN. 32 threads:
// thread t converts number t of the tables; result k of thread t is out[k * 32 + t].
#include <cuda_fp16.h>

__device__ float table_32[32] = {0.0f,   -0.0f,       0.5f,          -0.5f,   1.5f,     2.5f,    -1.5f,
                                 -2.5f,  0.4999f,     0.5001f,       127.5f,  128.5f,   -129.f,  255.5f,
                                 256.5f, 32767.5f,    -32769.f,      65535.f, 65520.0f, 1e-8f,   6e-8f,
                                 1e-5f,  16777217.0f, 2147483648.0f, -2.2e9f, 4.3e9f,   9.3e18f, -9.4e18f,
                                 2e19f,  1e30f,       1.0f / 3,      -1e-45f};
__device__ double table_64[32] = {
    0.0,           -0.0,         0.5,     -0.5,    1.5,    2.5,   -1.5,    -2.5,
    0.4999,        0.5001,       127.5,   128.5,   -129.,  255.5, 256.5,   32767.5,
    -32769.,       65535.,       65520.0, 1e-8,    6e-8,   1e-40, 1e-50,   2147483648.5,
    -2147483649.5, 4294967295.5, 9.3e18,  -9.4e18, 1.9e19, 1e39,  1.0 / 3, 3.4028235677973366e38};
__device__ unsigned special_32[4] = {0x7f800000, 0xff800000, 0x7fc00000, 0x00000001};

__device__ __forceinline__ unsigned bits(float x) { return x != x ? 0x7fffffffu : __float_as_uint(x); }

/// Number t of the table; threads 28 to 31 take infinities, NaN and the smallest denormal number if
/// `special`.
__device__ __forceinline__ float number_32(unsigned t, bool special) {
  return special && t >= 28 ? __uint_as_float(special_32[t - 28]) : table_32[t];
}

extern "C" {
__global__ void conversions_to_integers(unsigned long long* out, int special) {
  const unsigned t = threadIdx.x;
  const float x = number_32(t, special != 0);
  const double d = table_64[t];
  out += t;
  out[0 * 32] = static_cast<unsigned>(__float2int_rn(x));
  out[1 * 32] = static_cast<unsigned>(__float2int_rz(x));
  out[2 * 32] = static_cast<unsigned>(__float2int_ru(x));
  out[3 * 32] = static_cast<unsigned>(__float2int_rd(x));
  out[4 * 32] = __float2uint_rn(x);
  out[5 * 32] = __float2uint_rz(x);
  out[6 * 32] = static_cast<unsigned long long>(__float2ll_rz(x));
  out[7 * 32] = __float2ull_rn(x);
  out[8 * 32] = static_cast<unsigned>(__double2int_rn(d));
  out[9 * 32] = __double2uint_ru(d);
  out[10 * 32] = static_cast<unsigned long long>(__double2ll_rd(d));
  out[11 * 32] = __double2ull_rz(d);
}

/// To 8 and 16 bits, where PTX saturates on demand; results as the low bits of the register.
__global__ void conversions_to_narrow(unsigned* out) {
  const unsigned t = threadIdx.x;
  const float x = table_32[t];
  const int i = static_cast<int>(fminf(fmaxf(x, -2e9f), 2e9f));
  unsigned short h;
  unsigned r;
  out += t;
  asm("cvt.rni.s16.f32 %0, %1;" : "=h"(h) : "f"(x));
  out[0 * 32] = h;
  asm("cvt.rzi.u16.f32 %0, %1;" : "=h"(h) : "f"(x));
  out[1 * 32] = h;
  asm("{.reg .b32 q;\n\tcvt.sat.s8.s32 q, %1;\n\tcvt.s32.s8 %0, q;}" : "=r"(r) : "r"(i));
  out[2 * 32] = r;
  asm("{.reg .b32 q;\n\tcvt.sat.u8.s32 q, %1;\n\tcvt.u32.u8 %0, q;}" : "=r"(r) : "r"(i));
  out[3 * 32] = r;
  asm("cvt.sat.s16.s32 %0, %1;" : "=h"(h) : "r"(i));
  out[4 * 32] = h;
  asm("cvt.sat.u16.u32 %0, %1;" : "=h"(h) : "r"(i));
  out[5 * 32] = h;
  out[6 * 32] = static_cast<unsigned>(static_cast<signed char>(i));
  out[7 * 32] = static_cast<unsigned char>(i);
  out[8 * 32] = static_cast<unsigned>(static_cast<short>(i));
  out[9 * 32] = static_cast<unsigned short>(i);
}

__global__ void conversions_from_integers(unsigned* out) {
  const unsigned t = threadIdx.x;
  const unsigned long long u = 0x8000004000000001ull >> t | static_cast<unsigned long long>(t) << 3;
  const long long s = static_cast<long long>(0x8000004000000001ull) >> t;
  const unsigned v = static_cast<unsigned>(u ^ u >> 31);
  out += t;
  out[0 * 32] = bits(__uint2float_rn(v));
  out[1 * 32] = bits(__uint2float_rz(v));
  out[2 * 32] = bits(__int2float_ru(static_cast<int>(v)));
  out[3 * 32] = bits(__int2float_rd(static_cast<int>(v)));
  out[4 * 32] = bits(__ull2float_rn(u));
  out[5 * 32] = bits(__ull2float_ru(u));
  out[6 * 32] = bits(__ll2float_rn(s));
  out[7 * 32] = bits(__ll2float_rz(s));
  const unsigned long long d[5] = {
      static_cast<unsigned long long>(__double_as_longlong(__ull2double_rn(u))),
      static_cast<unsigned long long>(__double_as_longlong(__ull2double_rz(u))),
      static_cast<unsigned long long>(__double_as_longlong(__ll2double_ru(s))),
      static_cast<unsigned long long>(__double_as_longlong(__uint2double_rn(v))),
      static_cast<unsigned long long>(__double_as_longlong(__int2double_rn(static_cast<int>(v))))};
  for (int i = 0; i < 5; ++i) {
    out[(8 + 2 * i) * 32] = static_cast<unsigned>(d[i]);
    out[(9 + 2 * i) * 32] = static_cast<unsigned>(d[i] >> 32);
  }
}

__global__ void conversions_among_floats(unsigned* out, int special) {
  const unsigned t = threadIdx.x;
  const float x = number_32(t, special != 0);
  const double d = table_64[t];
  out += t;
  out[0 * 32] = bits(__double2float_rn(d));
  out[1 * 32] = bits(__double2float_rz(d));
  out[2 * 32] = bits(__double2float_ru(d));
  out[3 * 32] = bits(__double2float_rd(d));
  const unsigned long long w = x != x ? 0 : static_cast<unsigned long long>(__double_as_longlong(x));
  out[4 * 32] = static_cast<unsigned>(w);
  out[5 * 32] = static_cast<unsigned>(w >> 32);
  out[6 * 32] = bits(rintf(x));
  out[7 * 32] = bits(truncf(x));
  out[8 * 32] = bits(ceilf(x));
  out[9 * 32] = bits(floorf(x));
}

/// Half precision: to, from, and as pairs.
__global__ void conversions_half(unsigned* out, int special) {
  const unsigned t = threadIdx.x;
  const float x = number_32(t, special != 0);
  out += t;
  const bool number = x == x;
  out[0 * 32] = number ? __half_as_ushort(__float2half_rn(x)) : 0;
  out[1 * 32] = number ? __half_as_ushort(__float2half_rz(x)) : 0;
  out[2 * 32] = number ? __half_as_ushort(__float2half_ru(x)) : 0;
  out[3 * 32] = number ? __half_as_ushort(__float2half_rd(x)) : 0;
  out[4 * 32] = bits(__half2float(__ushort_as_half(static_cast<unsigned short>(t * 2113))));
  out[5 * 32] = static_cast<unsigned>(__half2int_rn(__float2half(fminf(fmaxf(table_32[t], -6e4f), 6e4f))));
  const __half2 pair = __floats2half2_rn(table_32[t] * 0.5f, 3.0f);
  out[6 * 32] = bits(__low2float(pair));
  out[7 * 32] = bits(__high2float(pair));
  out[8 * 32] = __half_as_ushort(__int2half_rn(static_cast<int>(t) * 4097 - 60000));
  out[9 * 32] = __half_as_ushort(__double2half(table_64[t]));
}
}
