"""Writes __init__.pyi: python -m isomer._stub > python/isomer/__init__.pyi"""

from . import _isomer
from ._functions import Signature

_STUB_HEAD = '''\
# Made from the contracts by `python -m isomer._stub`; tests/test_stub.py fails where it is not current.
from collections.abc import Callable
from typing import Any, Literal

from ._lab import LaunchRecord as LaunchRecord, Trace as Trace, case_folder as case_folder, check as check
from ._lab import diff as diff, trace as trace
from ._recording import Recording as Recording, record as record
from ._reports import Candidate as Candidate, CaseResult as CaseResult, Difference as Difference, Finding as Finding
from ._reports import Pair as Pair, Report as Report, TensorDifference as TensorDifference
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
