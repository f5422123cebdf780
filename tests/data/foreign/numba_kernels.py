"""Kernels in Python, and their PTX for sm_80 by Numba: `python3 numba_kernels.py` (pip install numba-cuda, and libnvvm of
the CUDA toolkit; no GPU is needed)."""
from numba import cuda, float32, int32


def sum_blocks(x, out):
    tile = cuda.shared.array(256, dtype=float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    s = 1
    while s < 256:
        k = 2 * s * t
        if k + s < 256:
            tile[k] += tile[k + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def mandelbrot(out, width, height, iterations):
    x, y = cuda.grid(2)
    if x < width and y < height:
        c = complex(3.0 * x / width - 2.0, 2.0 * y / height - 1.0)
        z = 0j
        n = 0
        while n < iterations and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            n += 1
        out[y, x] = n


if __name__ == "__main__":
    for kernel, types in ((sum_blocks, (float32[:], float32[:])), (mandelbrot, (int32[:, :], int32, int32, int32))):
        ptx, _ = cuda.compile_ptx(kernel, types, cc=(8, 0))
        with open(f"numba_{kernel.__name__}.ptx", "w") as file:
            file.write(ptx)
