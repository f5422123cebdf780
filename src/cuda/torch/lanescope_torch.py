"""PyTorch's own operators on CUDA tensors, done by the host.

PyTorch's kernels are machine code, which cannot run here. `lanescope run` puts this module into the program's
PYTHONPATH, and PyTorch (2.5 and newer) calls `install` at the end of its import, because the package says that it
extends it (entry_points.txt). Each operator that has a kernel for CUDA is done by the one for the CPU then, on
tensors that lie where the CUDA tensors do: the device's memory is the process's own. What a program brings itself
(Triton, extensions, torch.compile) stays as it is, and is counted.
"""

import ctypes
import functools
import importlib.machinery
import inspect
import itertools
import os
import sys
import time
import traceback
import warnings


HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # cudaHostFn_t
MIXER = 0x9E3779B97F4A7C15  # of seeds and offsets: far apart, whatever they are
_nodes = []  # of graphs, which may run as long as the process does
_libraries = []  # their operators live as long as they do


class Range(ctypes.Structure):
    """lanescope::cuda::HostRange (src/cuda/runtime/library_call.hpp)."""

    _fields_ = [
        ("what", ctypes.c_char_p),
        ("first", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("writes", ctypes.c_int),
    ]


# They launch no kernel: new and resized storage, the number in a tensor, questions.
KEPT = {
    "_efficientzerotensor",
    "_local_scalar_dense",
    "_use_cudnn_ctc_loss",
    "_use_miopen_ctc_loss",
    "empty",
    "empty_strided",
    "record_stream",
    "resize_",
    "set_",
}
# They have no kernel for CUDA, and would choose one of cuDNN's.
COMPOSITE = {"aten::convolution", "aten::convolution_overrideable"}
# Packages of PyTorch's makers whose kernels are machine code, too, and which have each for the CPU as well: the module that
# loads them, and the namespace of their operators.
COMPANIONS = {"torchaudio._extension": "torchaudio", "torchvision.extension": "torchvision"}
# With those of single elements, operators that refuse tensors of the host beside those of the device. (Others take
# some, lengths for one.)
ONE_DEVICE = {
    "addmm",
    "addmv",
    "baddbmm",
    "bmm",
    "cat",
    "convolution",
    "dot",
    "embedding",
    "gather",
    "index_select",
    "mm",
    "mv",
    "native_batch_norm",
    "native_layer_norm",
    "nll_loss_forward",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
}


def install():
    """Called by PyTorch."""
    runtime = ctypes.CDLL(None)
    if not hasattr(runtime, "lanescope_reach"):  # not under lanescope
        return
    declare(runtime)
    measure_once(runtime)
    import torch

    if torch.version.cuda is None:
        return
    # One way for each operator, of which the CPU has the parts: no cuDNN, and attention by plain products.
    torch.backends.cudnn.enabled = False
    for choose in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, choose, bool)(False)
    try_to_register(torch, runtime, "aten")
    companions = {name: functools.partial(try_to_register, torch, runtime, space) for name, space in COMPANIONS.items()}
    sys.meta_path.insert(0, Changer(companions))
    if "LANESCOPE_CHECK" in os.environ and torch.cuda.get_allocator_backend() == "native":
        runtime.lanescope_say(
            b"PyTorch gives tensors pieces of larger allocations, of which the checks know nothing; with "
            b"PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync each has an allocation of its own"
        )


def declare(runtime):
    """The types of the functions that are called."""
    runtime.lanescope_reach.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.POINTER(Range),
        ctypes.c_int,
    ]
    runtime.cudaMemcpyAsync.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    runtime.cudaLaunchHostFunc.argtypes = [ctypes.c_void_p, HOST_FUNCTION, ctypes.c_void_p]
    runtime.cudaStreamSynchronize.argtypes = [ctypes.c_void_p]


def try_to_register(torch, runtime, namespace, _module=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that operators are replaced
        try:
            register(torch, runtime, namespace)
        except Exception as error:  # what brings them would not be imported
            text = f"PyTorch {torch.__version__} is not known well enough to do the operators of {namespace}: {error!r}"
            runtime.lanescope_say(text.encode())


def register(torch, runtime, namespace):
    library = torch.library.Library(namespace, "IMPL")
    _libraries.append(library)
    parameters = inspect.signature(library.impl).parameters
    allowed = {"allow_override": True} if "allow_override" in parameters else {}  # PyTorch 2.8 asks for it
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith(namespace + "::"):
            continue
        if not torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA") and name not in COMPOSITE:
            continue
        own = name[len(namespace + "::") :]
        base, _, overload = own.partition(".")
        operator = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
        gives_view = any(r.alias_info and not r.alias_info.is_write for r in operator._schema.returns)
        if base in KEPT or gives_view:
            continue
        library.impl(own, OnHost(torch, runtime, operator), "CUDA", **allowed)
    if namespace == "aten":
        library.impl("copy_", Copy(torch, runtime), "CUDA", **allowed)


def measure_once(runtime):
    """Autotuners run each configuration for a tenth of a second or a hundred times, and clear a GPU's cache before
    each run. Here that takes minutes, and times say nothing about a GPU: one run to compile, one to measure."""

    def of_triton(testing):
        for name in ("do_bench", "do_bench_cudagraph"):
            if hasattr(testing, name):
                setattr(testing, name, one_run(runtime, getattr(testing, name)))

    def of_inductor(benchmarking):
        of_class = getattr(benchmarking, "InductorBenchmarker", None)
        if hasattr(of_class, "benchmark_gpu"):
            of_class.benchmark_gpu = one_iteration(runtime, of_class.benchmark_gpu)

    changes = {"triton.testing": of_triton, "torch._inductor.runtime.benchmarking": of_inductor}
    for name in changes.keys() & sys.modules.keys():
        changes.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, Changer(changes))


class Changer:
    """Finds the modules named in `changes` where they are, and changes them once they are imported."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        if name not in self.changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_change(module):
            execute(module)
            self.changes[name](module)

        spec.loader.exec_module = execute_and_change
        return spec


def say_measured(runtime):
    runtime.lanescope_say(
        b"an autotuner's configurations are run once to be measured, on this machine: which one it chooses says nothing "
        b"about a GPU, and the report has them all"
    )


def one_run(runtime, measure):
    """Instead of `measure`, which is triton.testing.do_bench or its like."""
    signature = inspect.signature(measure)

    @functools.wraps(measure)
    def measured(*args, **kwargs):
        say_measured(runtime)
        given = signature.bind(*args, **kwargs).arguments
        for _ in ("compile", "measure"):
            for tensor in given.get("grad_to_none") or ():
                tensor.grad = None
            runtime.cudaDeviceSynchronize()
            start = time.perf_counter()
            given["fn"]()
            runtime.cudaDeviceSynchronize()
            milliseconds = (time.perf_counter() - start) * 1000
        wanted = len(given.get("quantiles") or ())
        if wanted > 1 or (wanted == 0 and given.get("return_mode") == "all"):
            return [milliseconds] * max(wanted, 1)
        return milliseconds

    return measured


def one_iteration(runtime, measure):
    """Inductor's own, which is told how often."""

    @functools.wraps(measure)
    def measured(self, run, **kwargs):
        say_measured(runtime)
        return measure(self, run, **kwargs | {"estimation_iters": 1, "memory_warmup_iters": 0, "benchmark_iters": 1})

    return measured


class Copy:
    """aten::copy_. Between host and device it is a copy of CUDA, and done at once."""

    TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind

    def __init__(self, torch, runtime):
        self.torch = torch
        self.runtime = runtime
        self.on_host = OnHost(torch, runtime, torch.ops.aten.copy_.default)

    def __call__(self, target, source, non_blocking=False):
        torch = self.torch
        if target.is_cuda and source.is_cuda:
            return self.on_host(target, source)
        if source.is_cuda:
            there = source.contiguous()
            here = torch.empty_like(there, device="cpu")
            self.move(here, there, self.TO_HOST, source.device)
            target.copy_(here)
        else:
            here = source.to(target.dtype).expand(target.size()).contiguous()
            there = target if target.is_contiguous() else torch.empty_like(here, device=target.device)
            self.move(there, here, self.TO_DEVICE, target.device)
            if there is not target:
                self.on_host(target, there)
        return target

    def move(self, target, source, direction, device):
        size = source.numel() * source.element_size()
        stream = self.torch.cuda.current_stream(device).cuda_stream
        status = self.runtime.cudaMemcpyAsync(target.data_ptr(), source.data_ptr(), size, direction, stream)
        if self.torch.cuda.is_current_stream_capturing():
            _nodes.append((target, source))
        elif status == 0:
            status = self.runtime.cudaStreamSynchronize(stream)
        if status != 0:
            self.torch.cuda.synchronize()  # says what it is
            raise RuntimeError(f"CUDA error {status}")


class OnHost:
    """One operator."""

    def __init__(self, torch, runtime, operator):
        self.torch = torch
        self.runtime = runtime
        self.operator = operator
        self.name = operator.name().encode()
        base = operator.name().split("::")[1].split(".")[0]
        self.arguments = {argument.name: argument for argument in operator._schema.arguments}
        self.has_one_device = torch.Tag.pointwise in operator.tags or base in ONE_DEVICE
        self.is_random = torch.Tag.nondeterministic_seeded in operator.tags or "generator" in self.arguments

    def __call__(self, *arguments, **named):
        call = Call(self)
        arguments = [call.to_host(a, of) for a, of in zip(arguments, self.arguments.values())]
        named = {name: call.to_host(a, self.arguments[name]) for name, a in named.items()}
        if self.torch.cuda.is_current_stream_capturing():
            return self.capture(call, arguments, named)
        call.reach()
        result = call.to_device(self.compute(arguments, named, call.seed))
        call.reach(goes_on=True)
        return result

    def capture(self, call, arguments, named):
        """As a node of the CUDA graph that is made: computed when that runs. Now nothing may be; copies of the
        arguments show what comes out."""
        torch = self.torch
        copies = {}  # id of a tensor -> its copy

        def copied(value):
            if isinstance(value, torch.Tensor):
                return copies.setdefault(id(value), value.clone())
            return [copied(v) for v in value] if isinstance(value, (list, tuple)) else value

        # A node cannot ask the device's generator, which asks CUDA: of seed and graph it counts on by itself.
        seeds = itertools.count(call.initial_seed() + len(_nodes) * MIXER if self.is_random else 0)
        seed = lambda: next(seeds) % 2**63
        trial = self.compute(copied(arguments), {name: copied(a) for name, a in named.items()}, seed)
        call.given = {id(copies[key]): pair for key, pair in call.given.items()}
        call.fresh = [(tensor, copies[id(host)]) for tensor, host in call.fresh]
        result = call.to_device(trial)
        targets = [call.stand_in(t) if t.is_cuda else None for t in tensors(torch, result)]

        def run(_):
            try:
                for target, computed in zip(targets, tensors(torch, self.compute(arguments, named, seed))):
                    if target is not None and target.data_ptr() != computed.data_ptr():
                        target.copy_(computed)
            except Exception:  # a graph cannot raise it
                traceback.print_exc()
                os._exit(1)

        work = HOST_FUNCTION(run)
        _nodes.append(work)
        stream = torch.cuda.current_stream(call.device).cuda_stream
        status = self.runtime.cudaLaunchHostFunc(stream, work, None)
        if status != 0:
            raise RuntimeError(f"CUDA error {status}")
        return result

    def compute(self, arguments, named, seed):
        """`seed()` of random numbers: what the device's generator has next."""
        if not self.is_random:
            return self.compute_plainly(arguments, named)
        with self.torch.random.fork_rng(devices=[]):
            self.torch.default_generator.manual_seed(seed())
            return self.compute_plainly(arguments, named)

    def compute_plainly(self, arguments, named):
        try:
            return self.host_function(*arguments, **named)
        except RuntimeError as error:  # NotImplementedError is one
            narrow = self.torch.half, self.torch.bfloat16
            if "not implemented for" not in str(error) or not holds(arguments, named, narrow):
                raise
        return self.compute_in_float(arguments, named)

    @functools.cached_property
    def host_function(self):
        """The operator itself where the CPU has it; else what it consists of, as PyTorch says or COMPOSITIONS."""
        torch = self.torch
        if torch._C._dispatch_has_computed_kernel_for_dispatch_key(self.operator.name(), "CPU"):
            return self.operator
        from torch._decomp import decomposition_table

        if self.operator in decomposition_table:
            return decomposition_table[self.operator]
        if self.operator.name() in COMPOSITIONS:
            return functools.partial(COMPOSITIONS[self.operator.name()], torch)
        raise NotImplementedError(
            f"lanescope: {self.operator.name()} is one of PyTorch's own kernels, which are machine code, and "
            "PyTorch has none for the CPU that could be run in its place"
        )

    def compute_in_float(self, arguments, named):
        """Of halves, where the CPU has the operator for floats only."""
        torch = self.torch
        narrow = torch.half, torch.bfloat16
        wide = {}  # of each tensor of halves its floats

        def widen(value):
            if isinstance(value, torch.Tensor) and value.dtype in narrow:
                return wide.setdefault(id(value), (value, value.float()))[1]
            if isinstance(value, torch.dtype) and value in narrow:
                return torch.float
            return [widen(v) for v in value] if isinstance(value, (list, tuple)) else value

        result = self.host_function(*widen(arguments), **{name: widen(a) for name, a in named.items()})
        dtype = next(iter(wide.values()))[0].dtype
        originals = {id(floats): value for value, floats in wide.values()}
        written = [(argument, a) for argument, a in zip(self.arguments.values(), arguments)]
        written += [(self.arguments[name], a) for name, a in named.items()]
        for argument, value in written:
            if argument.alias_info and argument.alias_info.is_write:
                for one in value if isinstance(value, (list, tuple)) else [value]:
                    if id(one) in wide:
                        one.copy_(wide[id(one)][1])

        def narrowed(value):
            if isinstance(value, torch.Tensor) and value.dtype == torch.float:
                return originals[id(value)] if id(value) in originals else value.to(dtype)
            return type(value)(narrowed(v) for v in value) if isinstance(value, (list, tuple)) else value

        return narrowed(result)


def tensors(torch, value):
    """Those in a result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(torch, v)] if isinstance(value, (list, tuple)) else []


def holds(arguments, named, dtypes):
    """Whether a tensor of one of these types is among the arguments."""

    def is_one(value):
        if isinstance(value, (list, tuple)):
            return any(is_one(v) for v in value)
        return getattr(value, "dtype", None) in dtypes

    return is_one(arguments) or is_one(list(named.values()))


class Call:
    """One call: what is on the device and what stands for it here."""

    def __init__(self, operator):
        self.torch = operator.torch
        self.operator = operator
        self.device = None
        self.generator = None
        self.storages = {}  # address -> the host's storage there, a tensor that lies in it on the device
        self.given = {}  # id of the host's tensor -> it, the device's
        self.fresh = []  # the device's tensors without elements, into which results are to go
        self.ranges = []
        self.on_cpu = []  # tensors of the host among the arguments

    def to_host(self, value, argument):
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if not value.is_cuda:
                self.on_cpu.append(value)
                return value
            return self.tensor_to_host(value, argument)
        if isinstance(value, (list, tuple)):
            return [self.to_host(v, argument) for v in value]
        if isinstance(value, (bool, int, float, complex)) and str(argument.type) in ("Tensor", "Optional[Tensor]"):
            return torch.tensor(value, device="cpu")  # was one, of a number in an expression
        if isinstance(value, torch.device) and value.type == "cuda":
            self.device = self.device or value
            return torch.device("cpu")
        if isinstance(value, torch.Generator):
            self.generator = value
            return None
        return value

    def tensor_to_host(self, tensor, argument):
        if tensor.layout != self.torch.strided:
            raise NotImplementedError(f"lanescope: {self.operator.operator.name()} of sparse tensors is not done")
        self.device = self.device or tensor.device
        writes = bool(argument.alias_info and argument.alias_info.is_write)
        if writes and argument.is_out and tensor.numel() == 0:  # takes the size of the result
            host = self.torch.empty(0, dtype=tensor.dtype, device="cpu")
            self.fresh.append((tensor, host))
        else:
            host = self.stand_in(tensor)
            self.note(tensor, argument.name, writes)
        self.given[id(host)] = host, tensor
        return host

    def stand_in(self, tensor):
        """A tensor of the host in the same place."""
        torch = self.torch
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        if address not in self.storages:
            if size == 0:
                bytes_here = torch.empty(0, dtype=torch.uint8, device="cpu")
            else:
                bytes_here = torch.frombuffer((ctypes.c_ubyte * size).from_address(address), dtype=torch.uint8)
            self.storages[address] = bytes_here.untyped_storage(), tensor
        host = torch.empty(0, dtype=tensor.dtype, device="cpu")
        host.set_(self.storages[address][0], tensor.storage_offset(), tensor.size(), tensor.stride())
        if tensor.is_conj():
            torch._C._set_conj(host, True)
        if tensor.is_neg():
            torch._C._set_neg(host, True)
        return host

    def note(self, tensor, what, writes):
        if tensor.numel() != 0:
            elements = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
            size = elements * tensor.element_size()
            self.ranges.append(Range(what.encode(), tensor.data_ptr(), size, writes))

    def reach(self, goes_on=False):
        """Waits for the stream, and has the memory looked at that was noted; `goes_on`: of the same operator."""
        torch = self.torch
        if not goes_on and self.device is not None and self.operator.has_one_device:
            for tensor in self.on_cpu:
                if tensor.dim() != 0:
                    raise RuntimeError(
                        f"Expected all tensors to be on the same device, but found at least two devices, "
                        f"{self.device} and cpu! ({self.operator.operator.name()})"
                    )
        self.device = self.device or torch.device("cuda", torch.cuda.current_device())
        if goes_on and not self.ranges:
            return
        ranges = (Range * len(self.ranges))(*self.ranges)
        stream = torch.cuda.current_stream(self.device).cuda_stream
        status = self.operator.runtime.lanescope_reach(stream, self.operator.name, goes_on, ranges, len(ranges))
        self.ranges = []
        if status != 0:
            torch.cuda.synchronize()  # says what it is
            raise RuntimeError(f"CUDA error {status}")

    def seed(self):
        """What the device's generator has next."""
        generator = self.generator_used()
        offset = generator.get_offset()
        generator.set_offset(offset + 4)
        return (generator.initial_seed() + offset * MIXER) % 2**63

    def initial_seed(self):
        try:
            return self.generator_used().initial_seed()
        except RuntimeError:  # older PyTorch does not tell it while a graph is captured
            return 0

    def generator_used(self):
        generator = self.generator
        if generator is None:
            index = self.torch.cuda.current_device() if self.device.index is None else self.device.index
            generator = self.torch.cuda.default_generators[index]
        if generator.device.type != "cuda":
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
        return generator

    def to_device(self, value):
        if isinstance(value, self.torch.Tensor):
            return self.tensor_to_device(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self.to_device(v) for v in value)
        return value

    def tensor_to_device(self, host):
        torch = self.torch
        if host.layout != torch.strided:
            raise NotImplementedError(f"lanescope: {self.operator.operator.name()} gives a sparse tensor, which is not done")
        for tensor, result in self.fresh:
            if result is host:
                tensor.resize_(host.size())
                self.fill(tensor, host)
                return tensor
        if id(host) in self.given:
            return self.given[id(host)][1]
        address = host.untyped_storage().data_ptr()
        if host.numel() != 0 and address in self.storages:
            tensor = self.storages[address][1]
            return tensor.as_strided(host.size(), host.stride(), host.storage_offset())
        if 0 in host.stride():
            host = host.contiguous()
        tensor = torch.empty_strided(host.size(), host.stride(), dtype=host.dtype, device=self.device)
        self.fill(tensor, host)
        return tensor

    def fill(self, tensor, host):
        if host.numel() != 0:
            self.stand_in(tensor).copy_(host)
            self.note(tensor, "the result", True)


def lstm_cell(torch, input_gates, hidden_gates, cell, input_bias=None, hidden_bias=None):
    gates = input_gates + hidden_gates
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    next_cell = f * cell + i * g
    return o * next_cell.tanh(), next_cell, torch.cat((i, f, g, o), 1)


def lstm_cell_backward(torch, grad_hidden, grad_next, cell, next_cell, gates, has_bias):
    i, f, g, o = gates.chunk(4, 1)
    through = next_cell.tanh()
    grad_hidden = torch.zeros_like(cell) if grad_hidden is None else grad_hidden
    grad_cell = grad_hidden * o * (1 - through * through)
    if grad_next is not None:
        grad_cell = grad_cell + grad_next
    grads = grad_cell * g * i * (1 - i), grad_cell * cell * f * (1 - f), grad_cell * i * (1 - g * g)
    grad_gates = torch.cat((*grads, grad_hidden * through * o * (1 - o)), 1)
    return grad_gates, grad_cell * f, grad_gates.sum(0) if has_bias else None


def gru_cell(torch, input_gates, hidden_gates, hidden, input_bias=None, hidden_bias=None):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    (ir, iz, new), (hr, hz, h) = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (new + r * h).tanh()
    return new + z * (hidden - new), torch.cat((r, z, new, hidden, h), 1)


def gru_cell_backward(torch, grad, gates, has_bias):
    r, z, new, hidden, h = gates.chunk(5, 1)
    grad_new = grad * (1 - z) * (1 - new * new)
    grad_z = grad * (hidden - new) * z * (1 - z)
    grad_r = grad_new * h * r * (1 - r)
    grad_input = torch.cat((grad_r, grad_z, grad_new), 1)
    grad_hidden = torch.cat((grad_r, grad_z, grad_new * r), 1)
    biases = (grad_input.sum(0), grad_hidden.sum(0)) if has_bias else (None, None)
    return grad_input, grad_hidden, grad * z, *biases


class Attention:
    """Attention of tensors [batch, row, head, element] by plain products, for those who ask for one of PyTorch's
    kernels by name. Rows may be those of several sequences, which begin at the numbers in `starts_q` and `starts_k`;
    of a sequence `used_k` are the keys that count. `mask`: 1 or 2, a row sees no keys behind its own, counted from
    the first or from the last one of both. Of fewer heads of keys and values each is that of several of the queries,
    which follow each other. `seed`: of the numbers by which `dropout` leaves weights out; new ones without it."""

    def __init__(
        self, torch, query, key, mask, scale, dropout, bias=None, starts_q=None, starts_k=None, used_k=None, seed=None
    ):
        self.torch = torch
        self.dropout = dropout
        self.seed = torch.randint(2**62, ()) if seed is None and dropout != 0 else seed
        self.wide = torch.double if query.dtype == torch.double else torch.float
        self.query, self.key, self.bias, self.mask = query, key, bias, mask
        self.scale = query.shape[-1] ** -0.5 if scale is None else scale
        self.parts = [(slice(None), slice(None))]  # rows and keys that belong together
        if starts_q is not None:
            starts_q, starts_k = starts_q.tolist(), starts_k.tolist()
            ends_k = starts_k[1:] if used_k is None else [s + n for s, n in zip(starts_k, used_k.tolist())]
            self.parts = [
                (slice(a, b), slice(c, d)) for a, b, c, d in zip(starts_q, starts_q[1:], starts_k, ends_k)
            ]

    def heads(self, tensor, rows):
        heads = tensor[:, rows].transpose(1, 2).to(self.wide)
        return heads.repeat_interleave(self.query.shape[2] // heads.shape[1], 1)

    def state_of_numbers(self):
        """What PyTorch keeps for the way back: a seed and an offset."""
        nothing = self.torch.zeros((), dtype=self.torch.long)
        return nothing if self.seed is None else self.seed, nothing

    def random_numbers(self):
        return None if self.dropout == 0 else self.torch.Generator().manual_seed(int(self.seed))

    def kept(self, weights, numbers):
        """What the weights are multiplied with."""
        if numbers is None:
            return 1
        drawn = self.torch.rand(weights.shape, generator=numbers, dtype=self.wide)
        return (drawn >= self.dropout) / (1 - self.dropout) if self.dropout < 1 else 0

    def scores(self, rows, keys):
        torch = self.torch
        scores = self.heads(self.query, rows) @ self.heads(self.key, keys).transpose(-1, -2) * self.scale
        if self.bias is not None:
            scores = scores + self.bias
        if self.mask != 0:
            count, of = scores.shape[-2:]
            last = torch.arange(count)[:, None] + (of - count if self.mask == 2 else 0)
            scores = scores.masked_fill(torch.arange(of) > last, -torch.inf)
        return scores

    def forward(self, value):
        """The result, and of each part the logarithms of its sums [batch, head, row]."""
        out = value.new_zeros((*self.query.shape[:3], value.shape[-1]), dtype=self.query.dtype)
        sums, numbers = [], self.random_numbers()
        for rows, keys in self.parts:
            scores = self.scores(rows, keys)
            sums.append(scores.logsumexp(-1))
            weights = (scores - sums[-1][..., None]).exp().nan_to_num(0)  # a row without keys has none
            weights = weights * self.kept(weights, numbers)
            out[:, rows] = (weights @ self.heads(value, keys)).transpose(1, 2).to(out.dtype)
        return out, sums

    def backward(self, grad, value, out):
        """Gradients of query, key, value and bias."""
        torch = self.torch
        grads = [torch.zeros_like(tensor) for tensor in (self.query, self.key, value)]
        numbers = self.random_numbers()
        for rows, keys in self.parts:
            weights = self.scores(rows, keys).softmax(-1).nan_to_num(0)
            grad_out, values = self.heads(grad, rows), self.heads(value, keys)
            inner = (grad_out * self.heads(out, rows)).sum(-1, keepdim=True)
            kept = self.kept(weights, numbers)
            grad_scores = weights * (kept * (grad_out @ values.transpose(-1, -2)) - inner)
            of_query = grad_scores @ self.heads(self.key, keys) * self.scale
            of_key = grad_scores.transpose(-1, -2) @ self.heads(self.query, rows) * self.scale
            of_value = (weights * kept).transpose(-1, -2) @ grad_out
            for whole, place, part in zip(grads, (rows, keys, keys), (of_query, of_key, of_value)):
                part = part.unflatten(1, (whole.shape[2], -1)).sum(2)  # over the heads that share one
                whole[:, place] = part.transpose(1, 2).to(whole.dtype)
        return *grads, None if self.bias is None else grad_scores.to(self.bias.dtype)


def efficient_attention(
    torch, query, key, value, bias, starts_q, starts_k, max_q, max_k, dropout, mask, with_sums=False, *, scale=None,
    seqlen_k=None, window_size=None,
):
    refuse_window(window_size)
    attention = Attention(torch, query, key, mask, scale, dropout, bias, starts_q, starts_k, seqlen_k)
    out, sums = attention.forward(value)
    max_q, max_k = (query.shape[1], key.shape[1]) if starts_q is None else (max_q, max_k)
    padded = -(-max_q // 32) * 32 if with_sums else 0  # as the kernel's rows come
    logarithms = [torch.nn.functional.pad(s, (0, padded - s.shape[-1]), value=torch.inf) for s in sums]
    return out, torch.cat(logarithms).float(), *attention.state_of_numbers(), max_q, max_k


def efficient_attention_backward(
    torch, grad, query, key, value, bias, out, starts_q, starts_k, max_q, max_k, sums, dropout, seed, offset, mask,
    bias_requires_grad, *, scale=None, num_splits_key=None, window_size=None, shared_storage_dqdkdv=False,
):
    refuse_window(window_size)
    attention = Attention(torch, query, key, mask, scale, dropout, bias, starts_q, starts_k, seed=seed)
    return attention.backward(grad, value, out)


def refuse_window(size):
    if size is not None and size > 0:
        raise NotImplementedError("lanescope: attention in a window by one of PyTorch's own kernels")


def by_rows(*tensors):
    """[batch, head, row, element], as torch.nn.functional has it, for Attention; and back."""
    return [tensor.transpose(1, 2) for tensor in tensors]


def scaled_dot_product_efficient(
    torch, query, key, value, bias, with_sums, dropout=0.0, is_causal=False, *, scale=None
):
    out, sums, seed, offset, *_ = efficient_attention(
        torch, *by_rows(query, key, value), bias, None, None, None, None, dropout, int(is_causal), with_sums, scale=scale
    )
    return *by_rows(out), sums, seed, offset


def scaled_dot_product_efficient_backward(
    torch, grad, query, key, value, bias, out, sums, seed, offset, dropout, needs, is_causal=False, *, scale=None
):
    query, key, value, grad, out = by_rows(query, key, value, grad, out)
    attention = Attention(torch, query, key, int(is_causal), scale, dropout, bias, seed=seed)
    *grads, of_bias = attention.backward(grad, value, out)
    return *by_rows(*grads), of_bias


def scaled_dot_product_flash(
    torch, query, key, value, dropout=0.0, is_causal=False, return_debug_mask=False, *, scale=None
):
    query, key, value = by_rows(query, key, value)
    attention = Attention(torch, query, key, int(is_causal), scale, dropout)
    out, (sums,) = attention.forward(value)
    of_debugging = torch.empty(0, dtype=query.dtype)
    rows = query.shape[1], key.shape[1]
    return *by_rows(out), sums.float(), None, None, *rows, *attention.state_of_numbers(), of_debugging


def scaled_dot_product_flash_backward(
    torch, grad, query, key, value, out, sums, starts_q, starts_k, max_q, max_k, dropout, is_causal, seed, offset, *,
    scale=None,
):
    query, key, value, grad, out = by_rows(query, key, value, grad, out)
    attention = Attention(torch, query, key, int(is_causal), scale, dropout, seed=seed)
    return tuple(by_rows(*attention.backward(grad, value, out)[:3]))


# Of operators that only CUDA has and PyTorch does not take apart: what they compute, on tensors of the host.
COMPOSITIONS = {
    "aten::_efficient_attention_forward": efficient_attention,
    "aten::_efficient_attention_backward": efficient_attention_backward,
    "aten::_scaled_dot_product_efficient_attention": scaled_dot_product_efficient,
    "aten::_scaled_dot_product_efficient_attention_backward": scaled_dot_product_efficient_backward,
    "aten::_scaled_dot_product_flash_attention": scaled_dot_product_flash,
    "aten::_scaled_dot_product_flash_attention_backward": scaled_dot_product_flash_backward,
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": gru_cell,
    "aten::_thnn_fused_gru_cell_backward": gru_cell_backward,
    "aten::mm.dtype": lambda torch, a, b, dtype: torch.mm(a.to(dtype), b.to(dtype)),
    "aten::bmm.dtype": lambda torch, a, b, dtype: torch.bmm(a.to(dtype), b.to(dtype)),
}
