"""Writes __init__.pyi: python -m isomer._stub > python/isomer/__init__.pyi"""

from . import _isomer
from ._functions import Signature

_STUB_HEAD = '''\
# Made from the contracts by `python -m isomer._stub`; tests/test_stub.py fails where it is not current.
from collections.abc import Callable
from typing import Any, Literal

from ._types import Argument as Argument, Clause as Clause, Device as Device, Explanation as Explanation
from ._types import Implementation as Implementation, KernelLaunch as KernelLaunch, Op as Op, Option as Option
from ._types import Error as Error, Plan as Plan, Queue as Queue

Tensor = Any
"""An array of NumPy, PyTorch, JAX or CuPy, or any object with DLPack, the buffer protocol or an array interface."""
DType = Any

__version__: str

def devices() -> list[Device]: ...
def ops() -> list[Op]: ...
def explain(op: Callable[..., Any] | str, *tensors: Tensor, queue: Queue | None = None, **given: Any) -> Explanation: ...
'''


def text(described):
    return _STUB_HEAD + "".join("\n" + Signature(op).stub() for op in described)


if __name__ == "__main__":
    print(text(_isomer.describe()), end="")
