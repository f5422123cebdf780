# PyTorch, for the scripts that test it; without one for CUDA they are skipped.
import sys

try:
    import torch
except ImportError:
    torch = None
if torch is None or torch.version.cuda is None:
    print("there is no PyTorch for CUDA here (LANESCOPE_TORCH_PYTHON: a Python that has it): skipped")
    sys.exit(0)
