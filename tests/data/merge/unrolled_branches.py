#!/usr/bin/env python3
"""Makes CUDA C++ with loops that have branches and are unrolled: what the assembler merges between their iterations, and
what is left from the iteration before. nvcc makes unrolled_branches.ptx of it, scripts/sass the answers.
  python3 unrolled_branches.py >u.cu && nvcc -O3 -arch=sm_90 -ptx -o unrolled_branches.ptx u.cu
  ../../../scripts/sass unrolled_branches.ptx >unrolled_branches.txt"""
MORE = "s += a[(threadIdx.x + i) & 511];"
BRANCHES = {
    "none": "", "select": "if (s > 5) s += 3.f;", "if": f"if (s > 5) {MORE}",
    "or": f"if (s > 5 || a[(threadIdx.x + i * 7) & 511] > 60) {MORE}",
    "and": f"if (s > 5 && a[(threadIdx.x + i * 7) & 511] > 60) {MORE}",
    "else": f"if (s > 5) {MORE} else s -= a[(threadIdx.x + i * 3) & 511];",
}
OFFSETS = {"01": (0, 1), "m13": (-1, 3), "m134": (-1, 3, 4)}

for branch, text in BRANCHES.items():
    for name, offsets in OFFSETS.items():
        for step in (1, 2):
            loads = " ".join(f"s += t[p + i * {step} + {o}] * {n + 1};" for n, o in enumerate(offsets))
            for where, body in {"before": f"{loads} {text}", "behind": f"{text} {loads}"}.items():
                print(f"""extern "C" __global__ void {branch}_{name}_{step}_{where}(const int* a, float* out) {{
  __shared__ float t[4096];
  t[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  const int m = a[threadIdx.x] % 10, p = threadIdx.x * 16 + 8;
  float s = 0;
  for (int i = 0; i < m; ++i) {{ {body} }}
  __syncthreads();
  out[threadIdx.x] = s;
}}""")
