"""Judges a recorded output against the definition by the rule its bundle names, and counts what differs."""

import json
from dataclasses import dataclass

import numpy
import torch

from . import definitions
from .definitions import decode_e4m3, f64


@dataclass
class Verdict:
    output: str
    rule: str
    elements: int
    from_op: int  # elements that are not the op's correctly rounded answer
    different: int  # elements that are not the correctly rounded answer under the bundle's variations
    outside: int  # elements outside the rule
    worst: float  # in the rule's unit
    unit: str


def as_f64(tensor):
    if tensor.dtype is torch.float8_e4m3fn:
        return decode_e4m3(tensor)
    return tensor.numpy().astype(numpy.float64) if tensor.dtype is torch.int8 else f64(tensor)


def equal(left, right):
    return (left == right) | (numpy.isnan(left) & numpy.isnan(right))


def f32_position(values):
    """f32 values numbered in order, so that neighbours differ by one; both zeros are 0."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.int32).astype(numpy.int64)
    return numpy.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def step_position(values, int8):
    """int8 values or e4m3 values numbered in order."""
    if int8:
        return values
    return numpy.sign(values) * numpy.searchsorted(definitions.E4M3_POSITIVE, numpy.abs(values))


def boundary_distance(quotient, wanted, got, int8):
    """How many f32 ulps the quotient lies from the boundary between the two neighbouring results."""
    boundary = numpy.where(numpy.abs(wanted) > numpy.abs(got), wanted, got) if int8 else (wanted + got) / 2
    return numpy.abs(f32_position(quotient) - f32_position(boundary))


def correctly_rounded(recorded, answer):
    exact = answer.value.astype(numpy.float64)
    return (
        exact
        if recorded.dtype in (torch.int8, torch.float8_e4m3fn)
        else definitions.rounded(exact, recorded.dtype)
    )


def judge(name, recorded, answer, of_op, rule):
    got, exact, wanted = (
        as_f64(recorded),
        answer.value.astype(numpy.float64),
        correctly_rounded(recorded, answer),
    )
    different = ~equal(got, wanted)
    from_op = ~equal(got, correctly_rounded(recorded, of_op))
    verdict = lambda outside, worst, unit: Verdict(
        name,
        rule["rule"],
        got.size,
        int(from_op.sum()),
        int(different.sum()),
        int(outside.sum()),
        float(worst),
        unit,
    )
    if rule["rule"] == "exact":
        return verdict(different, 0, "")
    if rule["rule"] == "ulp":
        both = numpy.isfinite(got) & numpy.isfinite(wanted)
        apart = numpy.where(
            both, numpy.abs(f32_position(got) - f32_position(wanted)), numpy.where(different, 1 << 31, 0)
        )
        return verdict(apart > rule["max"], apart.max(), "ulp")
    if rule["rule"] == "step":
        int8 = recorded.dtype is torch.int8
        steps = numpy.where(different, numpy.abs(step_position(got, int8) - step_position(wanted, int8)), 0)
        ulps = numpy.where(different, boundary_distance(answer.quotient, wanted, got, int8), 0)
        return verdict(
            different & ~((steps == 1) & (ulps <= rule["ulp"])), ulps.max(), "ulp from the boundary"
        )
    gap = numpy.where(equal(got, exact), 0.0, numpy.abs(got - exact))
    if rule["rule"] == "scaled":
        worst = gap / numpy.maximum(1.0, numpy.abs(exact))
        return verdict(~(worst <= rule["max"]), numpy.max(worst), "× max(1, |ref|)")
    if "c" in rule:
        c = numpy.where(gap > answer.floor, (gap - answer.floor) / answer.spread, 0.0)
        return verdict(~(c <= rule["c"]), numpy.max(c), "= c")
    ratio = numpy.where(gap == 0, 0.0, gap / answer.allowed)
    return verdict(~(ratio <= rule["factor"]), numpy.max(ratio), "× tolerance")


def departures(metadata, inputs, outputs):
    """Output → how many of its elements are not the op's correctly rounded answer."""
    found = verdicts(metadata, inputs, outputs)
    return {verdict.output: verdict.from_op for verdict in found if verdict.output in outputs}


def verdicts(metadata, inputs, outputs):
    options, variations = json.loads(metadata["options"]), json.loads(metadata["variations"])
    rules = json.loads(metadata["compare"])
    tensors = inputs | outputs
    answers = definitions.answers(metadata["op"], tensors, options, variations)
    of_op = definitions.answers(metadata["op"], tensors, options, []) if variations else answers
    with numpy.errstate(all="ignore"):
        found = [
            judge(name, recorded, answers[name], of_op[name], rules[name])
            for name, recorded in outputs.items()
        ]
        for name, further in json.loads(metadata.get("exact_under", "{}")).items():
            closer = definitions.answers(metadata["op"], tensors, options, variations + further)
            found.append(judge(name + "*", outputs[name], closer[name], of_op[name], {"rule": "exact"}))
        return found
