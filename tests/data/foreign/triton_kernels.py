"""Kernels in Triton, and their PTX for sm_80: `python3 triton_kernels.py` (pip install triton; no GPU is needed)."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + c, e / tl.sum(e, axis=0), mask=c < n)


@triton.jit
def matmul_kernel(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


def emit(kernel, types, constants):
    signature = dict(types, **{name: "constexpr" for name in constants})
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32))
    name = kernel.fn.__name__.replace("_kernel", "")
    with open(f"triton_{name}.ptx", "w") as file:
        file.write(compiled.asm["ptx"])
    print(name, compiled.metadata.num_warps, "warps", compiled.metadata.shared, "bytes of dynamic shared memory")


if __name__ == "__main__":
    emit(add_kernel, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256})
    emit(softmax_kernel, {"out": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 512})
    emit(matmul_kernel, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "N": "i32", "K": "i32"},
         {"BM": 32, "BN": 32, "BK": 32})
