# A kernel with conflicts, for the report and for the change of its source (tests/golden/fix/python.test).
import numpy as np
from numba import cuda, float32

TILE = 32


@cuda.jit(lineinfo=True)
def transpose(out, a):
    tile = cuda.shared.array((TILE, TILE), dtype=float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


a = np.arange(1024, dtype=np.float32).reshape(32, 32)
out = cuda.device_array_like(a)
transpose[1, (32, 32)](out, cuda.to_device(a))
print(np.array_equal(out.copy_to_host(), a.T))
