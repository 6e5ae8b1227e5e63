"""Kernels of LLM inference for CPU, NVIDIA and AMD, with tensors of NumPy, PyTorch, JAX and CuPy.

    import isomer, numpy
    q = numpy.random.rand(1, 128, 8, 64).astype("float32")
    out = isomer.attention(q, q, q, causal=True)

Every op is a function: help(isomer.attention) prints its contract. isomer.torch registers the ops with PyTorch,
isomer.compat has the calls of FlashAttention-3 and of DeepSeek's kernels.

    isomer.check("ports/my_kernel")       # is it the kernel that it was ported from?

isomer.check, diff, trace and record are the lab: what judges kernels, ours or yours.
"""

import atexit as _atexit

from . import _functions, _isomer, _types
from ._types import (Argument, Clause, Device, Error, Explanation, Implementation, KernelLaunch, Op, Option, Plan,
                     Queue)

__version__ = _isomer.version()

_described = _isomer.describe()
_types.functions.update(_functions.make(_described, _isomer.functions))
_types.arguments_of.update({op["name"]: {a["name"] for a in op["arguments"]} for op in _described})
globals().update(_types.functions)

from ._lab import LaunchRecord, Trace, case_folder, check, diff, trace  # noqa: E402  (they know the functions)
from ._recording import Recording, record  # noqa: E402
from ._reports import Candidate, CaseResult, Difference, Finding, Pair, Report, TensorDifference  # noqa: E402

# A thread that works without the interpreter's lock when the interpreter goes would never come back.
_atexit.register(_isomer.close)


def devices():
    """The devices of this machine, the CPU first. A vendor without a driver has none; `isomer doctor` says why."""
    return [Device(*each) for each in _isomer.devices()]


def ops():
    """Every op, with its contract and its implementations."""
    return [_types.op_of(each) for each in _isomer.describe()]


def explain(op, /, *tensors, queue=None, **given):
    """What a call would run, with everything that was decided for it; nothing runs and nothing is written.

        isomer.explain(isomer.attention, q, k, v, causal=True).implementation
    """
    function = _types.function_of(op)
    return _types.explanation_of(function(*tensors, queue=_isomer.explaining(queue), **given))


__all__ = ["Argument", "Candidate", "CaseResult", "Clause", "Device", "Difference", "Error", "Explanation", "Finding",
           "Implementation", "KernelLaunch", "LaunchRecord", "Op", "Option", "Pair", "Plan", "Queue", "Recording", "Report",
           "TensorDifference", "Trace", "case_folder", "check", "devices", "diff", "explain", "ops", "record", "trace",
           *_types.functions]
