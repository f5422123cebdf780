# The checks look at allocations, of which PyTorch's tensors are parts: `--check` says so. Without a PyTorch for CUDA it is
# skipped.
from torch_or_skip import torch

a = torch.ones(3, device="cuda") + 1
print("tensors", a.untyped_storage().nbytes(), torch.cuda.get_allocator_backend())
