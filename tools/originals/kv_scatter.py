"""destindex_copy_quantize_kv: lightllm's kernel, TritonBench's two versions, and both group variants."""

import numpy
import torch

from .bundle import Recording
from .regimes import neighbours, normal, strided, tensor, transposed

NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
SENTINEL = -86  # what out holds before the call, so that a byte that is not written shows


def head_rows(random, count, width, k_type):
    """`count` rows of `width` elements, each of its own kind; none is †."""
    whole = numpy.arange(width) % 127
    signs = numpy.where(numpy.arange(width) % 2, -1.0, 1.0)
    place = lambda values, amax: numpy.concatenate([[amax], values])[:width]

    def kind(index):
        noise = normal(random, width).astype(numpy.float64)
        turn = random.permutation(width)
        return [
            noise,
            place((whole[turn] + 0.5)[1:] * signs[1:], 127.0)[:width],  # scale 1, quotients k + 0.5
            place(whole[turn][1:] * signs[1:], -127.0) * 0.125,  # scale 1/8, quotients whole
            numpy.concatenate([[127.0], neighbours(whole[1:] + 1.0, 1)[:, index % 3] * signs[1:]])[:width],
            place(noise[1:], 40.0),  # one outlier
            numpy.full(width, 3.3),
            noise * 2.0**-6 - 1.0,
            noise * {torch.float16: 1e4, torch.bfloat16: 1e30, torch.float32: 1e30}[k_type],
            whole[turn] * signs * 2.0**-14
            + 127 * 2.0**-14 * (numpy.arange(width) == 0),  # the smallest normal f16 scale
            place(noise[1:] * 1e-4, 100.0),  # quotients that all truncate to 0
        ][index % 10]

    return numpy.stack([kind(index) for index in range(count)])


def scatter(
    name,
    source,
    k_type,
    scale_type,
    shape,
    slots,
    *,
    dest_type=torch.int32,
    fill=head_rows,
    group=0,
    k_layout=None,
    out_layout=None,
    scale_layout=None,
    **rest,
):
    """shape: (tokens, heads, head_dim). A layout makes the strided form of a tensor; none is contiguous."""
    tokens, heads, width = shape
    keep = lambda values: values

    def make(random):
        rows = fill(random, tokens * heads * (width // group if group else 1), group or width, k_type)
        k = tensor(rows.reshape(shape), k_type)
        dest = tensor(random.permutation(slots)[:tokens].astype(numpy.int64), dest_type)
        out = torch.full((slots, heads, width), SENTINEL, dtype=torch.int8)
        scale = torch.full((slots, heads, width // group if group else 1), -2.5, dtype=scale_type)
        return {
            "k": (k_layout or keep)(k),
            "dest": dest,
            "out_before": (out_layout or keep)(out),
            "out_scale_before": (scale_layout or keep)(scale),
        }

    def call(originals, t):
        originals.module(source).destindex_copy_quantize_kv(t["k"], t["dest"], t["out"], t["out_scale"])
        return {"out": t["out"], "out_scale": t["out_scale"]}

    compare = {
        "out": {"rule": "step", "ulp": 4},
        "out_scale": {"rule": "ulp", "max": 2} if scale_type is torch.float32 else {"rule": "exact"},
    }
    # Triton divides f32 by PTX's div.full, which multiplies by a reciprocal: a scale that is kept in f32
    # shows it.
    exact_under = {"out_scale": ["scale=amax*(1/127)"]} if scale_type is torch.float32 else {}
    return Recording(
        name=f"quantize_copy_kv-{NAMES[k_type]}-{NAMES[scale_type]}-{name}",
        op="quantize_copy_kv",
        source=source,
        entry="destindex_copy_quantize_kv",
        make=make,
        call=call,
        options={"group": group} if group else {},
        compare=rest.pop("compare", compare),
        exact_under=exact_under,
        **rest,
    )


def zero_rows(random, count, width, k_type):
    rows = normal(random, (count, width))
    rows[::3] = 0.0
    rows[1::3, ::2] = -0.0
    return rows


def subnormal_scale_rows(random, count, width, k_type):
    """amax/127 rounds to an f16 subnormal or to zero: quotients run past int8, and over zero to infinity."""
    rows = random.uniform(-1.0, 1.0, (count, width))
    rows[:, 1] = 1.0
    amax = 2.0**-24 * numpy.resize(
        [63.0, 64.0, 180.0, 190.0, 191.0, 300.0, 317.0, 700.0, 1000.0, 3000.0, 40.0, 1.0], count
    )
    return rows * amax[:, None]


def not_finite_rows(random, count, width, k_type):
    rows = normal(random, (count, width))
    nan, inf = numpy.nan, numpy.inf
    rows[0, 5] = nan
    rows[1, :] = nan
    rows[2, 7] = inf
    rows[3, [0, 9]] = -inf, inf
    rows[4, [1, 2]] = nan, inf
    return rows


def scale_overflow_rows(random, count, width, k_type):
    """f32 rows whose scale is infinite in f16: amax/127 from just under 65520 to far over it."""
    rows = normal(random, (count, width))
    rows /= numpy.abs(rows).max(axis=1, keepdims=True)
    return rows * (127.0 * numpy.resize([65519.0, 65521.0, 7e4, 1e10, 1e36], count))[:, None]


def large_recordings():
    """Enough elements to count how often an approximate division shows."""
    plain = lambda random, count, width, k_type: normal(random, (count, width))
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    return [
        scatter("large", "lightllm_scatter", k_type, scale_type, (16384, 4, 64), 16384, fill=plain)
        for k_type, scale_type in ((f16, f16), (bf16, bf16), (f32, f32), (f32, f16))
    ]


def recordings():
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    light, bench, any_d = "lightllm_scatter", "tritonbench_scatter", "tritonbench_scatter_any_d"
    group, bench_group = "lightllm_scatter_group", "tritonbench_scatter_group"
    padded = lambda values: strided(
        values, [values.shape[1] * (values.shape[2] + 3) + 5, values.shape[2] + 3, 1]
    )
    spread = lambda values: strided(values, [values.shape[1] * values.shape[2] * 2, values.shape[2] * 2, 2])
    heads_first = lambda values: transposed(values, [1, 0, 2])
    width_first = lambda values: transposed(values, [2, 0, 1])
    one_head = lambda values: strided(values[:, :1].expand_as(values), [values.shape[2], 0, 1])
    wraps = ["saturation=wrap"]
    ignored = ["nan=ignored"]
    return [
        scatter("mixed", light, f16, f16, (10, 3, 64), 16),
        scatter("mixed", light, bf16, bf16, (10, 3, 64), 16, dest_type=torch.int64),
        scatter("mixed", light, f32, f32, (10, 3, 64), 16),
        scatter("mixed", light, f16, f32, (10, 2, 128), 13),
        scatter("mixed", light, bf16, f32, (10, 1, 256), 11, dest_type=torch.int64),
        scatter("one-element", light, f16, f16, (20, 5, 1), 32),
        scatter("k-heads-first", light, f16, f16, (10, 4, 32), 12, k_layout=heads_first),
        scatter(
            "k-inner-stride",
            light,
            f32,
            f16,
            (10, 2, 32),
            12,
            k_layout=spread,
            fill=lambda r, c, w, t: head_rows(r, c, w, f16),
        ),
        scatter("k-one-head", light, bf16, f32, (10, 4, 16), 12, k_layout=one_head),
        scatter(
            "all-strided",
            light,
            f16,
            f16,
            (10, 3, 32),
            14,
            k_layout=padded,
            out_layout=heads_first,
            scale_layout=lambda values: strided(values, [7, 2, 1]),
            dest_type=torch.int64,
        ),
        scatter(
            "out-width-first",
            light,
            f16,
            bf16,
            (10, 3, 16),
            14,
            out_layout=width_first,
            scale_layout=lambda values: transposed(values, [1, 0, 2]),
        ),
        scatter("bench-mixed", bench, f16, f16, (10, 5, 32), 12),
        scatter(
            "bench-scale-f16",
            bench,
            f16,
            f32,
            (10, 3, 64),
            12,
            variations=["scale=f16"],
            compare={"out": {"rule": "step", "ulp": 4}, "out_scale": {"rule": "exact"}},
            note="the scale is rounded to f16 although out_scale is f32",
        ),
        scatter(
            "bench-scale-f16",
            bench,
            bf16,
            bf16,
            (10, 3, 64),
            12,
            variations=["scale=f16"],
            fill=lambda r, c, w, t: head_rows(r, c, w, f16),
            note="the scale is rounded to f16 and then to bf16",
        ),
        scatter("any-d-96", any_d, f16, f16, (10, 3, 96), 12),
        scatter("any-d-80", any_d, f32, f32, (10, 2, 80), 12, out_layout=padded),
        scatter("any-d-7", any_d, bf16, bf16, (30, 3, 7), 31),
        scatter("group", group, f16, f16, (5, 2, 64), 8, group=8),
        scatter("group-96", group, bf16, f32, (5, 2, 96), 8, group=8, k_layout=padded),
        scatter("bench-group", bench_group, f32, f32, (5, 2, 48), 8, group=8, out_layout=heads_first),
        scatter(
            "zero-rows",
            light,
            f16,
            f16,
            (6, 2, 32),
            8,
            fill=zero_rows,
            dagger=True,
            note="0/0 converted to int8: 0, as the op has it",
        ),
        scatter("zero-rows", light, f32, f32, (6, 2, 32), 8, fill=zero_rows, dagger=True),
        scatter(
            "subnormal-scale",
            light,
            f16,
            f16,
            (6, 2, 64),
            8,
            fill=subnormal_scale_rows,
            dagger=True,
            variations=wraps,
            note="a quotient past int8 goes to int16, saturating, and keeps its low byte",
        ),
        scatter(
            "subnormal-scale",
            light,
            f32,
            f16,
            (6, 2, 64),
            8,
            fill=subnormal_scale_rows,
            dagger=True,
            variations=wraps,
            note="a quotient past int8 goes to int16, saturating, and keeps its low byte",
        ),
        scatter(
            "not-finite",
            light,
            f16,
            f16,
            (4, 2, 32),
            8,
            fill=not_finite_rows,
            dagger=True,
            variations=ignored,
        ),
        scatter(
            "not-finite",
            light,
            f32,
            f32,
            (4, 2, 32),
            8,
            fill=not_finite_rows,
            dagger=True,
            variations=ignored,
        ),
        scatter(
            "scale-overflow",
            light,
            f32,
            f16,
            (5, 2, 32),
            8,
            fill=scale_overflow_rows,
            dagger=True,
            note="a scale that overflows f16 is inf and its row 0",
        ),
    ]
