# What measures configurations runs each twice, once to compile it: Triton's functions, and Inductor's, as packages of those
# names have them. One is imported before, the other after.
import pathlib
import sys
import tempfile

packages = pathlib.Path(tempfile.mkdtemp())
for name, text in {
    "triton/testing.py": """
def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    return [fn() for _ in range(warmup + rep)]
def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return [fn() for _ in range(rep)]
""",
    "torch/_inductor/runtime/benchmarking.py": """
class InductorBenchmarker:
    def benchmark_gpu(self, run, estimation_iters=5, memory_warmup_iters=100, benchmark_iters=100, **kwargs):
        for _ in range(1 + estimation_iters + benchmark_iters):
            run()
        return memory_warmup_iters, kwargs
""",
}.items():
    (packages / name).parent.mkdir(parents=True)
    (packages / name).write_text(text)
sys.path.insert(0, str(packages))

import ctypes  # noqa: E402

import triton.testing  # noqa: E402

import lanescope_torch  # noqa: E402

runtime = ctypes.CDLL(None)
lanescope_torch.measure_once(runtime)
from torch._inductor.runtime.benchmarking import InductorBenchmarker  # noqa: E402

runs = 0


def count():
    global runs
    runs += 1
    return runs


class Tensor:
    grad = 1


def runs_of(measure, *args, **kwargs):
    global runs
    runs = 0
    return measure(count, *args, **kwargs), runs


tensor = Tensor()
for result, times in (
    runs_of(triton.testing.do_bench, 25, 100, grad_to_none=[tensor]),
    runs_of(triton.testing.do_bench, quantiles=(0.5, 0.2, 0.8)),
    runs_of(triton.testing.do_bench, quantiles=[0.5]),
    runs_of(triton.testing.do_bench_cudagraph, return_mode="all"),
):
    print(times, f"{len(result)} times" if isinstance(result, list) else type(result).__name__, end=", ")
print(tensor.grad, *runs_of(InductorBenchmarker().benchmark_gpu, benchmark_iters=50, return_mode="min"))
