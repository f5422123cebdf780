// Ways that lanes of a warp take apart, without loops and with them. a holds 512 words below 128; o gets a
// word a thread. What an H100 counts for one block of 64 threads is in tests/kernels/ways_test.cpp.

extern "C" __global__ void return_early(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  if (a[t] & 1) {
    c = a[t + 64];
    if (c > 90) {
      o[t] = c;
      return;
    }
    c += a[t + 128];
  }
  c += a[t + 192];
  c += a[(c & 63) + 3];
  o[t] = -c;
}

__device__ __forceinline__ int f(const int* a, int t) {
  int c = 0;
  if (a[t] & 1) {
    c = a[t + 64];
    if (c > 90) return a[t + 9];
    c += a[t + 128];
  }
  c += a[t + 192];
  c ^= a[(c & 63) + 3];
  return c;
}

extern "C" __global__ void inlined_returns(const int* a, int* o) {
  int t = threadIdx.x;
  int c = f(a, t);
  c += a[(c & 127) + 5];
  o[t] = c;
}

extern "C" __global__ void goto_over(const int* a, int* o) {
  int t = threadIdx.x, c = a[t];
  if (c & 1) {
    c += a[t + 64];
    if (c & 2) goto out;
    c += a[t + 128];
  } else {
    c -= a[t + 70];
    if (c & 4) goto out;
  }
  c += a[(c & 63) + 192];
  c ^= a[(c & 63) + 200];
out:
  o[t] = c;
}

extern "C" __global__ void and_or(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  if ((a[t] & 1) && (a[(a[t + 64] & 63) + 9] & 1)) {
    c = a[t + 1] + a[(a[t + 2] & 63) + 70];
    for (int i = 0; i < (t & 3); ++i) c += a[c & 511];
  } else {
    c = a[t + 3] - a[(a[t + 4] & 63) + 80];
    for (int i = 0; i < (t & 1); ++i) c += a[c & 511];
  }
  o[t] = c;
}

extern "C" __global__ void fall_through(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  switch (a[t] & 3) {
    case 0: c += a[t + 64]; c += a[(c & 63) + 1];
    case 1:
      c += a[t + 128];
      c += a[(c & 63) + 2];
      break;
    case 2:
      if (a[t + 7] & 1) break;
      c += a[(a[t + 8] & 63) + 3];
    default: c += a[t + 192]; c += a[(c & 63) + 4];
  }
  o[t] = c + a[(c & 63) + 5];
}

extern "C" __global__ void else_ifs(const int* a, int* o) {
  int t = threadIdx.x, v = a[t], c;
  if (v < 20)
    c = a[(a[t + 1] & 63) + 6];
  else if (v < 50) {
    c = a[(a[t + 2] & 63) + 7];
    if (c < 30) {
      o[t] = a[(c & 63) + 8];
      return;
    }
  } else if (v < 90)
    c = a[(a[t + 3] & 63) + 9] + a[t + 10];
  else {
    o[t] = 7;
    return;
  }
  o[t] = c + a[(c & 63) + 11];
}

extern "C" __global__ void loop_then_ways(const int* a, int* o) {
  int t = threadIdx.x, c = 0, k;
  for (k = 0; k < 40; ++k) {
    c += a[k];
    if (a[k + 100] == (t & 31)) {
      c += a[k + 7];
      goto found;
    }
  }
  c ^= a[300 + (c & 63)];
  c += a[310 + (c & 63)];
  o[t] = c;
  return;
found:
  o[t] = -c - a[(c & 63)];
}

extern "C" __global__ void for_with_found(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  bool found = false;
  for (int k = 0; k < 40 + (t & 7); ++k) {
    c += a[k];
    if (a[k + 100] == (t & 31)) {
      found = true;
      break;
    }
  }
  if (!found) c ^= a[300 + (c & 63)];
  c += a[310 + (c & 63)];
  o[t] = c;
}

extern "C" __global__ void while_two_exits(const int* a, int* o) {
  int t = threadIdx.x, n = t, c = 0;
  while (n > 0 && a[n] > 8) {
    c += a[n + 1];
    if ((c & 31) == 3) {
      c = a[(c & 63) + 17];
      break;
    }
    n -= 1 + (a[n] & 1);
  }
  c += a[(c & 63) + 19];
  o[t] = c;
}

extern "C" __global__ void do_in_for(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < 9; ++i) {
    int k = i;
    do {
      c += a[k];
      k += 1 + (t & 1);
      if (a[k + 40] == i) goto next;
    } while (a[k] > t + i * 3 && k < 60);
    c ^= a[i + 90];
  next:
    c += a[i + 130];
  }
  o[t] = c;
}

__device__ __noinline__ int g(const int* a, int t) {
  for (int k = 0; k < 30; ++k) {
    if (a[k] == t) return a[k + 60];
    if (a[k + 1] > 100) {
      if (t & 1) return k;
    }
  }
  return a[t + 200];
}

extern "C" __global__ void calls(const int* a, int* o) {
  int t = threadIdx.x;
  int c = g(a, t & 15);
  c += a[(c & 63) + 44];
  if (c & 1) c += g(a, c & 31);
  c ^= a[(c & 63) + 45];
  o[t] = c;
}
