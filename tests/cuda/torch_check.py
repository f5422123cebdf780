# The checks look at allocations, of which PyTorch's tensors are parts: `--check` says so. Without a PyTorch for CUDA it is
# skipped.
import sys

try:
    import torch
except ImportError:
    torch = None
if torch is None or torch.version.cuda is None:
    print("there is no PyTorch for CUDA here (LANESCOPE_TORCH_PYTHON: a Python that has it): skipped")
    sys.exit(0)
a = torch.ones(3, device="cuda") + 1
print("tensors", a.untyped_storage().nbytes(), torch.cuda.get_allocator_backend())
