# What lanescope_torch does to PyTorch: programs for CUDA run as on the CPU. Without a PyTorch for CUDA it is skipped.
import os
import sys
import tempfile

from torch_or_skip import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

if not torch.cuda.is_available():
    sys.exit("PyTorch finds no device")
torch.manual_seed(1)


def difference(a, b):
    return (a.detach().cpu().double() - b.detach().cpu().double()).abs().max().item()


def same(what, function, *tensors):
    """Of the values and, where asked for, the gradients."""
    here = [t.detach().clone().requires_grad_(t.requires_grad) for t in tensors]
    there = [t.detach().cuda().requires_grad_(t.requires_grad) for t in tensors]
    a, b = function(*here), function(*there)
    assert b.is_cuda and a.shape == b.shape and a.dtype == b.dtype, what
    worst = difference(a, b)
    if a.requires_grad:
        a.square().sum().backward()
        b.square().sum().backward()
        worst = max([worst] + [difference(x.grad, y.grad) for x, y in zip(here, there) if x.requires_grad])
    assert worst < 1e-4, f"{what}: {worst}"


def refused(what, error, message, function):
    try:
        function()
    except error as e:
        assert message in str(e), f"{what}: {e}"
    else:
        raise AssertionError(what)


x = torch.randn(6, 5, requires_grad=True)
numbers = torch.arange(20).reshape(4, 5)
same("elements", lambda a: (a * 2 + 1).exp() / 3, x)
same("numbers as tensors", lambda a: a.remainder(3) % 2, numbers)
same("products", lambda a: a @ a.T, x)
same("masks", lambda a: a[a > 7], numbers)
same("sorted", lambda a: a.sort(descending=True)[1], numbers)
same("views", lambda a: a[::2, 1:].t().cumsum(0), x)
same("in place", lambda a: a.clone()[1:].mul_(3).add_(a[1:]), x)
same("halves", lambda a: a.half().softmax(1).float(), x)
same("complex numbers", lambda a: torch.fft.fft(a).conj().abs(), x)
same("a singular value", lambda a: torch.linalg.svdvals(a), x)
same("rows without gaps", lambda a: F.layer_norm(a, (5,)) + F.rms_norm(a, (5,)), x)
same("attention", lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), torch.randn(2, 2, 8, 16, requires_grad=True))


def attention_by(backend, dtype, **how):
    """Asked for by name, where that is one of CUDA's."""

    def attend(q, k, v):
        with sdpa_kernel(backend if q.is_cuda else SDPBackend.MATH):
            return F.scaled_dot_product_attention(*(t.to(dtype) for t in (q, k, v)), **how).float()

    return attend


rows = [torch.randn(2, 2, n, 16, requires_grad=True) for n in (24, 40, 40)]
few = [(torch.randn(2, 2, 24, 16) / 8).requires_grad_() for _ in range(3)]
same("efficient attention", attention_by(SDPBackend.EFFICIENT_ATTENTION, torch.float, scale=0.3), *rows)
same("one that looks back", attention_by(SDPBackend.EFFICIENT_ATTENTION, torch.float, is_causal=True), *few)
same("flash attention", attention_by(SDPBackend.FLASH_ATTENTION, torch.half, is_causal=True), *few)


def of_sequences(q):
    """Two sequences end to end, as xFormers calls it: rows look back from the last one of each."""
    if q.is_cuda:
        starts = torch.tensor([0, 9, 24], dtype=torch.int32, device="cuda")
        operator = torch.ops.aten._efficient_attention_forward
        out, sums, *_ = operator(q, q, q, None, starts, starts, 15, 15, 0.0, 2, True)
        assert sums.shape == (2, 2, 32) and sums[0, :, 9:].isinf().all()
        return out
    parts = [part.transpose(1, 2) for part in (q[:, :9], q[:, 9:])]
    return torch.cat([F.scaled_dot_product_attention(p, p, p, is_causal=True) for p in parts], 2).transpose(1, 2)


same("attention of sequences", of_sequences, torch.randn(1, 24, 2, 16, requires_grad=True))
shared = [(torch.randn(2, heads, 24, 16) / 8).requires_grad_() for heads in (6, 2, 2)]
same("heads that share keys", attention_by(SDPBackend.FLASH_ATTENTION, torch.half, enable_gqa=True), *shared)


def with_dropout(*tensors):
    """Weights are left out, the same ones on the way back, and again when one begins with the same seed."""
    given = [t.detach().cuda().requires_grad_() for t in tensors]

    def loss(*given, dropout_p=0.25):
        torch.cuda.manual_seed(7)
        return attention_by(SDPBackend.EFFICIENT_ATTENTION, torch.float, dropout_p=dropout_p)(*given).square().sum()

    here = loss(*given)
    here.backward()
    assert difference(here, loss(*given)) == 0 and difference(here, loss(*given, dropout_p=0.0)) > 1e-3
    for i, tensor in enumerate(given):
        step = torch.randn(tensor.shape).cuda() / 64
        ahead, back = (loss(*given[:i], tensor.detach() + sign * step, *given[i + 1 :]).item() for sign in (1, -1))
        slope = (tensor.grad * step).sum().item()
        assert abs((ahead - back) / 2 - slope) < 0.02 * abs(slope) + 1e-3, (i, ahead - back, slope)


with_dropout(*rows)
same("convolution", lambda a, w: F.conv2d(a, w, padding=1), torch.randn(2, 3, 8, 8, requires_grad=True), torch.randn(4, 3, 3, 3, requires_grad=True))
for layers in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
    cpu, cuda = layers(5, 7, 2), layers(5, 7, 2).cuda()
    cuda.load_state_dict(cpu.state_dict())
    given = torch.randn(4, 3, 5)
    a, b = cpu(given)[0], cuda(given.cuda())[0]
    a.square().sum().backward()
    b.square().sum().backward()
    pairs = [(a, b)] + [(p.grad, q.grad) for p, q in zip(cpu.parameters(), cuda.parameters())]
    assert max(difference(*pair) for pair in pairs) < 1e-4, layers

# Training: loss by loss what the CPU gives.
cpu = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3))
cuda = torch.nn.Sequential(*[type(m)(*a) for m, a in zip(cpu, [(1, 4, 3), (4,), (), (), (144, 3)])]).cuda()
cuda.load_state_dict(cpu.state_dict())
images, labels = torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,))
losses = []
for model in (cpu, cuda):
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for step in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
assert all(abs(a - b) < 1e-3 for a, b in zip(losses[:5], losses[5:])) and losses[4] < losses[0], losses

# Random numbers hang on the device's seed and state, and leave the host's alone.
torch.manual_seed(5)
host = torch.rand(3)
torch.manual_seed(5)
a = torch.randn(1000, device="cuda")
assert torch.equal(host, torch.rand(3))
state = torch.cuda.get_rng_state()
b = torch.randn(1000, device="cuda")
torch.cuda.set_rng_state(state)
assert torch.equal(b, torch.randn(1000, device="cuda")) and not torch.equal(a, b)
torch.cuda.manual_seed(5)
assert torch.equal(a, torch.randn(1000, device="cuda")) and abs(a.mean().item()) < 0.2 and abs(a.std().item() - 1) < 0.2

out = torch.empty(0, device="cuda")
assert torch.add(numbers.cuda(), 1, out=out) is out and torch.equal(out.cpu(), numbers + 1.0)
pinned = torch.ones(100).pin_memory()
assert pinned.to("cuda", non_blocking=True).sum().item() == 100
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    c = torch.ones(100, device="cuda") * 3
stream.synchronize()
assert c.sum().item() == 300
refused("two devices", RuntimeError, "same device", lambda: numbers.cuda() + numbers)
refused("sparse", NotImplementedError, "lanescope", lambda: numbers.cuda().to_sparse())


# A graph computes when it runs, not when it is made.
given, total = torch.zeros(4, device="cuda"), torch.zeros((), device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    doubled = given * 2
    total += doubled.sum()
    noise = torch.rand(4, device="cuda")
assert total.item() == 0
seen = []
for value in (1, 10):
    given.fill_(value)
    graph.replay()
    assert torch.equal(doubled.cpu(), torch.full((4,), 2.0 * value))
    seen.append(noise.cpu())
assert total.item() == 88 and not torch.equal(*seen)
# A package whose kernels are machine code, too: as torchvision loads it, with one that cannot run here.
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "torchvision"))
    for name, text in {
        "__init__": "",
        "extension": """
import torch
library = torch.library.Library("torchvision", "DEF")
library.define("nearest_pairs(Tensor a) -> Tensor")
library.impl("nearest_pairs", lambda a: (a[:, None] - a).abs().fill_diagonal_(9).argmin(1), "CPU")
def no_kernel_image(a):
    raise RuntimeError("no kernel image")
library.impl("nearest_pairs", no_kernel_image, "CUDA")
""",
    }.items():
        with open(os.path.join(folder, "torchvision", name + ".py"), "w") as file:
            file.write(text)
    sys.path.insert(0, folder)
    import torchvision.extension

    same("torchvision's", torch.ops.torchvision.nearest_pairs, torch.tensor([1.0, 5.0, 1.5, 4.0]))

print("as on the CPU")
