"""The Triton sine kernel, as TritonBench has it twice: with its own output tensor and with the caller's."""

import numpy
import torch

from .bundle import Recording
from .regimes import neighbours, normal, tensor, transposed

SMALLEST_NORMAL = 2.0**-126


def sine(name, make, *, caller_owns_output=False, compare=None, **rest):
    def with_output(random):
        inputs = make(random)
        if caller_owns_output and "y_before" not in inputs:
            inputs["y_before"] = torch.full(inputs["x"].shape, 7.0)
        return inputs

    def own(originals, t):
        return {"y": originals.module("tritonbench_sin").call_kernel(t["x"])}

    def callers(originals, t):
        originals.module("tritonbench_sin_out").sin_triton(t["x"], t["y"])
        return {"y": t["y"]}

    return Recording(
        name=f"sin-f32-{name}",
        op="sin",
        source="tritonbench_sin_out" if caller_owns_output else "tritonbench_sin",
        entry="sin_triton" if caller_owns_output else "call_kernel",
        make=with_output,
        call=callers if caller_owns_output else own,
        compare={"y": compare or {"rule": "ulp", "max": 2}},
        **rest,
    )


def everywhere(random):
    """All magnitudes, and the neighbours of the multiples of π/2, where sin or its slope is near 0."""
    multiples = neighbours(
        numpy.concatenate([numpy.arange(1, 40), [1e3, 12345, 67108, 1e6]]) * (numpy.pi / 2), 2
    ).ravel()
    linear = numpy.linspace(-10, 10, 401, dtype=numpy.float32)
    magnitudes = (2.0 ** random.uniform(-126, 127.99, 500) * random.choice([-1.0, 1.0], 500)).astype(
        numpy.float32
    )
    edge = neighbours([105615.0, 39.48, SMALLEST_NORMAL * 2, 3.4028e38, 0.7853982], 3).ravel()
    special = numpy.array([0.0, -0.0, SMALLEST_NORMAL, -SMALLEST_NORMAL, 16367173 * 2.0**72], numpy.float32)
    return {"x": tensor(numpy.concatenate([multiples, -multiples, linear, magnitudes, edge, special]))}


def recordings():
    grid = lambda random: tensor(normal(random, (9, 14), 30.0))
    subnormal = numpy.array([2.0**-127, -(2.0**-130), 2.0**-149, -(2.0**-149), 2.0**-126 - 2.0**-149])
    return [
        sine("everywhere", everywhere),
        sine("transposed", lambda random: {"x": transposed(grid(random), [1, 0])}),
        sine(
            "not-finite", lambda random: {"x": tensor(numpy.array([numpy.inf, -numpy.inf, numpy.nan, 1.0]))}
        ),
        sine(
            "subnormal",
            lambda random: {"x": tensor(subnormal)},
            variations=["subnormals=flushed"],
            compare={"rule": "exact"},
            note="a subnormal argument gives a zero of its sign; its sine is the argument itself",
        ),
        sine("one", lambda random: {"x": tensor(numpy.array([2.5]))}, caller_owns_output=True),
        sine("ragged", lambda random: {"x": tensor(normal(random, (1027,), 6.0))}, caller_owns_output=True),
        sine(
            "flat-indexing",
            lambda random: {"x": transposed(grid(random), [1, 0])},
            caller_owns_output=True,
            variations=["indexing=flat"],
            note="x is transposed and y row-major: the original walks both buffers and ignores their strides",
        ),
    ]
