# lanescope_reach, as lanescope_torch calls it: the order of a stream, memory that may be reached or not, the report.
import ctypes

import lanescope_torch

runtime = ctypes.CDLL(None)
lanescope_torch.declare(runtime)
memory = ctypes.c_void_p()
statuses = [runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(64))]


def reach(name, what, size, writes, goes_on=0):
    ranges = (lanescope_torch.Range * 1)(lanescope_torch.Range(what, memory.value, size, writes))
    statuses.append(runtime.lanescope_reach(None, name, goes_on, ranges, 1))


reach(b"first", b"a", 64, 0)
reach(b"first", b"a", 64, 1)
reach(b"first", b"a", 32, 1, goes_on=1)
reach(b"second", b"b", 65, 1)
reach(b"third", b"c", 64, 0)
print(*statuses)
