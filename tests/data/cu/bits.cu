// Instructions on bits. One block of 64 threads; the operand of thread t is hash(t) (and a few special ones),
// the results of thread t are out[k * 64 + t] for k = 0, 1, ….

__device__ __forceinline__ unsigned hash(unsigned t) {
  if (t == 0) return 0;
  if (t == 1) return 0xffffffffu;
  if (t == 2) return 0x80000000u;
  if (t == 3) return 1;
  t = (t ^ (t >> 16)) * 0x7feb352du;
  t = (t ^ (t >> 15)) * 0x846ca68bu;
  return t ^ (t >> 16);
}

extern "C" {
__global__ void bits_count(unsigned* out) {
  const unsigned t = threadIdx.x, x = hash(t);
  const unsigned long long l =
      static_cast<unsigned long long>(hash(t + 64)) << (t & 31) | (t % 5 == 0 ? 0 : x);
  out[t] = __popc(x);
  out[64 + t] = __clz(x);
  out[128 + t] = __ffs(x);
  out[192 + t] = __brev(x);
  out[256 + t] = __popcll(l);
  out[320 + t] = __clzll(l);
  out[384 + t] = __ffsll(l);
  out[448 + t] = static_cast<unsigned>(__brevll(l) >> 32);
}

__global__ void bits_move(unsigned* out) {
  const unsigned t = threadIdx.x, x = hash(t), y = hash(t + 100), s = hash(t + 200);
  out[t] = __byte_perm(x, y, s);
  out[64 + t] = __byte_perm(x, y, 0x0123);
  out[128 + t] = __funnelshift_l(x, y, t);
  out[192 + t] = __funnelshift_r(x, y, t);
  out[256 + t] = __funnelshift_lc(x, y, t);
  out[320 + t] = __funnelshift_rc(x, y, t);
}

/// PTX shifts clamp the amount at the width; C++ leaves larger amounts undefined, so these are written as
/// PTX.
__global__ void bits_shift(unsigned* out) {
  const unsigned t = threadIdx.x, x = hash(t);
  const unsigned long long l = static_cast<unsigned long long>(x) << 32 | hash(t + 300);
  unsigned r;
  unsigned long long q;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(t));
  out[t] = r;
  asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(t));
  out[64 + t] = r;
  asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(t));
  out[128 + t] = r;
  asm("shl.b64 %0, %1, %2;" : "=l"(q) : "l"(l), "r"(2 * t));
  out[192 + t] = static_cast<unsigned>(q >> 32) ^ static_cast<unsigned>(q);
  asm("shr.u64 %0, %1, %2;" : "=l"(q) : "l"(l), "r"(2 * t));
  out[256 + t] = static_cast<unsigned>(q >> 32) ^ static_cast<unsigned>(q);
  asm("shr.s64 %0, %1, %2;" : "=l"(q) : "l"(l), "r"(2 * t));
  out[320 + t] = static_cast<unsigned>(q >> 32) ^ static_cast<unsigned>(q);
}

__global__ void bits_field(unsigned* out) {
  const unsigned t = threadIdx.x, x = hash(t), y = hash(t + 400), position = t % 40, length = (7 * t) % 37;
  const unsigned long long l = static_cast<unsigned long long>(x) << 32 | y;
  unsigned r;
  unsigned long long q;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(position), "r"(length));
  out[t] = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(position), "r"(length));
  out[64 + t] = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(position), "r"(length));
  out[128 + t] = r;
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(q) : "l"(l), "r"(position + 20), "r"(length));
  out[192 + t] = static_cast<unsigned>(q >> 32) ^ static_cast<unsigned>(q);
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(q) : "l"(l), "l"(~l >> 3), "r"(position + 20), "r"(length));
  out[256 + t] = static_cast<unsigned>(q >> 32) ^ static_cast<unsigned>(q);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x));
  out[320 + t] = r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x));
  out[384 + t] = r;
  asm("bfind.shiftamt.u64 %0, %1;" : "=r"(r) : "l"(l >> (t % 50)));
  out[448 + t] = r;
}

__global__ void bits_logic(unsigned* out) {
  const unsigned t = threadIdx.x, x = hash(t), y = hash(t + 500), z = hash(t + 600);
  unsigned r;
  out[t] = (x & y) | (~x & z);
  out[64 + t] = (x ^ y ^ z) & ~(x | y);
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
  out[128 + t] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
  out[192 + t] = r;
  asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(x));
  out[256 + t] = r;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(t));
  out[320 + t] = r;
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(t));
  out[384 + t] = r;
}
}
