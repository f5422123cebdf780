// Loops that lanes of a warp leave in several ways. a holds 512 words below 128; o gets a word a thread. What
// an H100 counts for one block of 64 threads is in tests/kernels/ways_test.cpp.

extern "C" __global__ void break_in_if(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int k = 0; k < 96; ++k) {
    if (k > t) {
      if (a[k] > t * 7 % 90) break;
      c += a[k + 128];
    }
    c ^= a[k + 256];
  }
  o[t] = c;
}

extern "C" __global__ void break_between(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int k = 0; k < 96; ++k) {
    c += a[k];
    if (a[(k * 5 + t) % 512] == t) break;
    c ^= a[k + 100];
  }
  o[t] = c;
}

extern "C" __global__ void two_continues(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int k = 0; k < 64; ++k) {
    if ((a[k] ^ t) & 1) continue;
    c += a[k + 64];
    if ((a[k] ^ t) & 2) continue;
    c += a[k + 128];
  }
  o[t] = c;
}

extern "C" __global__ void return_in_if(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int k = 0; k < 96; ++k) {
    if (k & 1) {
      if (a[k] + t > 100) {
        o[t] = c;
        return;
      }
      c += a[k + 7];
    }
    c += a[k + 128];
  }
  o[t] = -c;
}

extern "C" __global__ void break_on_both_ways(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int k = 0; k < 96; ++k) {
    if (t & 1) {
      if (a[k] > 3 * t) break;
      c += a[k + 64];
    } else {
      if (a[k + 9] > 2 * t + 20) break;
      c -= a[k + 65];
    }
    c ^= a[k + 200];
  }
  o[t] = c;
}

// The outer loop is unrolled: a row of loops that lanes leave for the next one, or for the end.
extern "C" __global__ void goto_behind_all(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < (t & 7) + 1; ++k) {
      if (i > 3 && a[k + i * 8] > 60 + t) goto out;
      c += a[k + i];
    }
    c ^= a[i + 300];
  }
out:
  o[t] = c;
}

extern "C" __global__ void break_of_inner(const int* a, int* o) {
  int t = threadIdx.x, c = 0;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 16; ++k) {
      if (a[k + i * 16] > 40) {
        if ((a[k] + t) % 3 == 0) break;
        c += a[k + 17];
      }
      c += 3 * k;
    }
    c ^= a[i + 300];
  }
  o[t] = c;
}

extern "C" __global__ void inner_whiles(const int* a, int* o) {
  int t = threadIdx.x, lo = 0, hi = 255, c = 0;
  while (lo <= hi) {
    while (a[lo] < t) ++lo, ++c;
    while (a[hi] > t + 20 && hi > 0) --hi, --c;
    if (lo <= hi) {
      c += a[lo] + a[hi];
      lo += 1 + (t & 1);
      --hi;
    }
  }
  o[t] = c + lo;
}

extern "C" __global__ void find_by_hash(const int* a, int* o) {
  int t = threadIdx.x;
  unsigned h = t * 2654435761u >> 24;
  int r = -1;
  for (;;) {
    int v = a[h & 511];
    if (v == t) {
      r = h;
      break;
    }
    if (v > 80) break;
    h = h + 1;
  }
  o[t] = r;
}

extern "C" __global__ void walk_with_stack(const int* a, int* o) {
  int stack[16], depth = 0, t = threadIdx.x, c = 0, n = 1;
  for (;;) {
    int v = a[n];
    if ((v + t) & 4) {
      if (depth == 0) break;
      n = stack[--depth];
      continue;
    }
    c += v;
    if (depth < 15 && n < 200) {
      stack[depth++] = 2 * n;
      n = 2 * n + 1;
    } else {
      if (depth == 0) break;
      n = stack[--depth];
    }
  }
  o[t] = c;
}

extern "C" __global__ void goto_from_switch(const int* a, int* o) {
  int t = threadIdx.x, s = t & 3, c = 0;
  for (int k = 0; k < 64; ++k) {
    switch (s) {
      case 0:
        c += a[k];
        s = (a[k + 1] + t) & 3;
        break;
      case 1:
        c ^= a[k + 40];
        s = 2;
        break;
      case 2:
        if (a[k + 3] + t > 130) goto out;
        s = (c & 1) ? 0 : 3;
        break;
      default: s = 0; c += 5;
    }
    c += a[k + 90];
  }
out:
  o[t] = c;
}

extern "C" __global__ void break_and_continue_in_shared(const int* a, int* o) {
  __shared__ int s[512];
  int t = threadIdx.x, c = 0;
  for (int i = t; i < 512; i += blockDim.x) s[i] = a[i];
  __syncthreads();
  for (int k = t & 15; k < 200; ++k) {
    if (s[k] & 1) {
      if (s[k + 1] > t + 60) break;
      c += s[k + 2];
    } else if (s[k] & 2) {
      c -= s[k + 7];
      continue;
    }
    c += s[(k * t) & 255];
  }
  o[t] = c;
}
