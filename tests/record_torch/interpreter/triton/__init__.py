"""As much of Triton and its interpreter as the recorder touches, for its tests: programs run one after another on NumPy."""

from .runtime.autotuner import Autotuner, Config
from .runtime.interpreter import InterpretedFunction as jit

__version__ = "3.0.0"


def autotune(configs, key):
    return lambda kernel: Autotuner(kernel, configs)


def cdiv(a, b):
    return -(-a // b)
