// Control flow in which the lanes of a warp part and meet again. out[t] of thread t.

extern "C" {
/// A switch with another case for each of nine neighbouring lanes.
__global__ void control_switch(int* out) {
  const int t = threadIdx.x;
  int v = t;
  switch (t % 9) {
    case 0: v = v * 3 + 1; break;
    case 1: v = v ^ 0x55; break;
    case 2: v = v << 3; break;
    case 3: v = 1000 / (v + 1);  // and on to the next case
    case 4: v = v - 77; break;
    case 5: v = v % 7; break;
    case 6: v = -v; break;
    case 7: out[t] = 12345; return;
    default: v = v * v;
  }
  out[t] = v;
}

/// A jump table, which nvcc makes of no switch; other compilers do: out[t] = 10t, t + 1000, -t, t for t % 4 =
/// 0, 1, 2, 3
__global__ void control_jump_table(int* out) {
  int v;
  asm volatile(
      "{\n\t"
      "targets: .branchtargets times, plus, minus, same;\n\t"
      "brx.idx %2, targets;\n"
      "times: mul.lo.s32 %0, %1, 10;\n\t"
      "bra done;\n"
      "plus: add.s32 %0, %1, 1000;\n\t"
      "bra done;\n"
      "minus: neg.s32 %0, %1;\n\t"
      "bra done;\n"
      "same: mov.u32 %0, %1;\n"
      "done:\n\t"
      "}"
      : "=r"(v)
      : "r"(threadIdx.x), "r"(threadIdx.x % 4));
  out[threadIdx.x] = v;
}

/// Each lane leaves the loop at another time: steps until z = z^2 + c leaves the circle of radius 2, at most
/// 200, for a grid of c: x from -2 to 0.5 over 32 columns, y from -1.25 to 1.25 over blockDim.y * gridDim.x
/// rows.
__global__ void control_mandelbrot(int* out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, rows = gridDim.x * blockDim.y;
  const float cx = -2.0f + 2.5f * threadIdx.x / 32, cy = -1.25f + 2.5f * row / rows;
  float x = 0, y = 0;
  int steps = 0;
  while (x * x + y * y <= 4.0f && steps < 200) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  out[row * 32 + threadIdx.x] = steps;
}

/// Length of the Collatz sequence of t + 1: nested conditions in a loop of unknown length.
__global__ void control_collatz(int* out) {
  unsigned n = threadIdx.x + 1;
  int steps = 0;
  while (n != 1) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
    ++steps;
  }
  out[threadIdx.x] = steps;
}

/// break, continue and a jump out of two loops.
__global__ void control_jumps(int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 20; ++i) {
    if ((i + t) % 3 == 0) continue;
    for (int j = 0; j < i; ++j) {
      sum += i * j + t;
      if (j == t % 11) break;
      if (sum > 5000 + 100 * t) goto done;
    }
  }
  sum = -sum;
done:
  out[t] = sum;
}

/// Short-circuit conditions: out[t] = 1 where (t is even and t > 10) or t % 7 == 3, counted only if
/// evaluated.
__global__ void control_conditions(int* out) {
  const unsigned t = threadIdx.x;
  volatile int evaluated = 0;
  const bool a =
      (t % 2 == 0 && (evaluated = evaluated + 1, t > 10)) || (evaluated = evaluated + 10, t % 7 == 3);
  out[t] = (a ? 1000 : 0) + evaluated;
}

/// Lanes end early, the others meet at the barrier: out[t] = -1 for t >= 40, else s[39 - t] = 2(39 - t)
__global__ void control_early_return(int* out) {
  __shared__ int s[40];
  const int t = threadIdx.x;
  if (t >= 40) {
    out[t] = -1;
    return;
  }
  s[t] = 2 * t;
  __syncthreads();
  out[t] = s[39 - t];
}
}
