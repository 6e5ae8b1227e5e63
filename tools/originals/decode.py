"""flash decoding: lightllm's three stage-1 kernels and the stage-2 kernels of lightllm and TritonBench."""

import numpy
import torch

from .bundle import Recording
from .regimes import normal, strided, tensor, transposed

NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
UNUSED_SLOT = -123457  # in req_to_tokens past a sequence's end: following it would leave the cache
TOLERANCE = {"rule": "tolerance", "factor": 1.0}
LSE = {"rule": "scaled", "max": 2.0**-19}


def noise(random, q, k, v):
    """Heads of three kinds: plain, with nearly all weight on one key, and with all scores equal."""
    q, k, v = (normal(random, shape) for shape in (q, k, v))
    q[:, 1::4] *= 12.0
    q[:, 2::4] = 0.0
    v[::5] *= 100.0
    return q, k, v


def integers(random, q, k, v):
    """Scores that a kernel which multiplies and adds in f16 has exactly, if head_dim is a power of 4."""
    draw = lambda shape, top: random.integers(-top, top + 1, shape).astype(numpy.float32)
    return draw(q, 2), draw(k, 2), draw(v, 8)


def decode(
    name,
    stage1,
    stage2,
    dtype,
    heads,
    kv_heads,
    dim,
    block_seq,
    lengths,
    *,
    fill=noise,
    kv_layout=None,
    compare=None,
    requests=5,
    **rest,
):
    batch, longest = len(lengths), max(lengths)
    blocks = longest // block_seq + 1  # as the original's caller allocates
    slots = sum(lengths) + 7

    def make(random):
        q, k, v = fill(random, (batch, heads, dim), (slots, kv_heads, dim), (slots, kv_heads, dim))
        k, v = tensor(k, dtype), tensor(v, dtype)
        if kv_layout:
            k, v = kv_layout(k, v)
        b_req_idx = random.permutation(requests)[:batch].astype(numpy.int32)
        table = numpy.full((requests, longest + 3), UNUSED_SLOT, numpy.int32)
        free = random.permutation(slots)
        for request, length in zip(b_req_idx, lengths):
            table[request, :length], free = free[:length], free[length:]
        return {
            "q": tensor(q, dtype),
            "k": k,
            "v": v,
            "req_to_tokens": tensor(table, torch.int32),
            "b_req_idx": tensor(b_req_idx, torch.int32),
            "b_seqlen": torch.tensor(lengths, dtype=torch.int32),
            "mid_out_before": torch.full((batch, heads, blocks, dim), -7.0),
            "mid_lse_before": torch.full((batch, heads, blocks), 99.0),
            "out_before": torch.full((batch, heads, dim), -5.0, dtype=dtype),
        }

    def call(originals, t):
        originals.module(stage1).flash_decode_stage1(
            t["q"],
            t["k"],
            t["v"],
            t["req_to_tokens"],
            t["b_req_idx"],
            t["b_seqlen"],
            longest,
            t["mid_out"],
            t["mid_lse"],
            block_seq,
        )
        originals.module(stage2).flash_decode_stage2(
            t["mid_out"], t["mid_lse"], t["b_seqlen"], t["out"], block_seq
        )
        return {"mid_out": t["mid_out"], "mid_lse": t["mid_lse"], "out": t["out"]}

    return Recording(
        name=f"flash_decode-{NAMES[dtype]}-{name}",
        op="flash_decode",
        source=stage1,
        entry=f"flash_decode_stage1, then flash_decode_stage2 of {stage2}",
        make=make,
        call=call,
        options={"stage": "both", "block_seq": block_seq, "max_len": longest},
        compare=compare or {"mid_out": TOLERANCE, "mid_lse": LSE, "out": TOLERANCE},
        **rest,
    )


def merge(
    name,
    stage2,
    out_type,
    shape,
    block_seq,
    lengths,
    *,
    fill=None,
    mid_layout=None,
    lse_layout=None,
    out_layout=None,
    **rest,
):
    """Stage 2 alone. shape: (heads, blocks, head_dim)."""
    heads, blocks, dim = shape
    batch = len(lengths)
    assert all(-(-length // block_seq) <= blocks for length in lengths), (
        "the original would read past mid_out"
    )
    keep = lambda values: values

    def make(random):
        mid_out, mid_lse = (
            normal(random, (batch, heads, blocks, dim)),
            normal(random, (batch, heads, blocks), 3.0),
        )
        if fill:
            fill(random, mid_out, mid_lse)
        return {
            "mid_out": (mid_layout or keep)(tensor(mid_out)),
            "mid_lse": (lse_layout or keep)(tensor(mid_lse)),
            "b_seqlen": torch.tensor(lengths, dtype=torch.int32),
            "out_before": (out_layout or keep)(torch.full((batch, heads, dim), -5.0, dtype=out_type)),
        }

    def call(originals, t):
        originals.module(stage2).flash_decode_stage2(
            t["mid_out"], t["mid_lse"], t["b_seqlen"], t["out"], block_seq
        )
        return {"out": t["out"]}

    return Recording(
        name=f"flash_decode-merge-{NAMES[out_type]}-{name}",
        op="flash_decode",
        source=stage2,
        entry="flash_decode_stage2",
        make=make,
        call=call,
        options={"stage": "2", "block_seq": block_seq},
        compare={"out": TOLERANCE},
        **rest,
    )


def far_apart(random, mid_out, mid_lse):
    """Blocks whose weights rise and fall by e^20000, or are equal; and weightless blocks after the first."""
    mid_lse[:, 0] = numpy.linspace(-1e4, 1e4, mid_lse.shape[2])
    mid_lse[:, 1] = numpy.linspace(1e4, -1e4, mid_lse.shape[2])
    mid_lse[:, 2] = 88.75
    mid_lse[:, 3, 1::2] = -numpy.inf


def weightless(random, mid_out, mid_lse):
    mid_lse[0, 0] = -numpy.inf
    mid_lse[0, 1, 0] = -numpy.inf
    mid_lse[1, 0, :2] = -numpy.inf


def one_buffer(k, v):
    """k and v as lightllm keeps them: halves of one buffer of 2·kv_heads heads."""
    pitch = 2 * k.shape[1] * k.shape[2]
    return strided(k, [pitch, k.shape[2], 1]), strided(v, [pitch, v.shape[2], 1])


def heads_first_v(k, v):
    return k, transposed(v, [1, 0, 2])


def recordings():
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    mha, gqa, phi = "lightllm_stage1", "lightllm_stage1_gqa", "lightllm_phi_stage1"
    two, phi_two, bench, bench_phi = (
        "lightllm_stage2",
        "lightllm_phi_stage2",
        "tritonbench_stage2",
        "tritonbench_stage2_phi",
    )
    narrow = dict(
        variations=["logits=input-type"],
        note="the kernel multiplies and adds q·k in the input's type",
    )
    return [
        decode("mha", mha, two, f32, 4, 4, 64, 16, [1, 32, 43]),
        decode("mha-heads-shared", mha, two, f32, 6, 2, 16, 16, [33, 15, 17, 16]),
        decode("mha-integers", mha, two, f16, 4, 2, 64, 32, [40, 31, 65], fill=integers),
        decode("mha", mha, two, f16, 4, 4, 64, 16, [20, 50], **narrow),
        decode("mha", mha, two, bf16, 4, 4, 32, 16, [20, 50], **narrow),
        decode("gqa", gqa, two, f16, 8, 2, 64, 32, [1, 64, 75]),
        decode("gqa", gqa, two, bf16, 6, 2, 128, 128, [130, 5]),
        decode("gqa-long-block", gqa, two, f16, 4, 1, 32, 256, [300, 256, 255]),
        decode("gqa-one-buffer", gqa, two, f16, 4, 2, 16, 16, [30, 48], kv_layout=one_buffer),
        decode("phi-80", phi, phi_two, f32, 4, 2, 80, 48, [50, 48, 2]),
        decode("phi-96", phi, phi_two, f32, 2, 2, 96, 32, [45, 32]),
        decode("phi-integers", phi, phi_two, f16, 3, 1, 16, 16, [45, 32], fill=integers),
        decode("phi-8", phi, phi_two, f32, 2, 2, 8, 16, [49, 16]),
        decode(
            "v-by-strides-of-k",
            mha,
            two,
            f32,
            4,
            4,
            32,
            32,
            [40, 9],
            kv_layout=heads_first_v,
            variations=["strides=v-as-k"],
            note="v lies heads first, k tokens first; the original walks v with k's strides",
        ),
        merge("llama", bench, f32, (4, 3, 32), 8, [24, 16, 8, 1]),
        merge("llama-128", bench, f16, (3, 5, 128), 32, [130, 33]),
        merge("llama-16", two, bf16, (4, 6, 16), 16, [96, 81, 80]),
        merge("phi", bench_phi, f32, (4, 3, 64), 17, [51, 18, 17]),
        merge("phi-80", bench_phi, bf16, (3, 4, 80), 16, [64, 49]),
        merge("far-apart", bench, f32, (4, 6, 32), 16, [96, 70], fill=far_apart),
        merge(
            "strided",
            bench_phi,
            f32,
            (3, 4, 40),
            16,
            [64, 30],
            mid_layout=lambda values: strided(values, [1000, 47, 180, 1]),
            lse_layout=lambda values: strided(values, [5, 11, 1]),
            out_layout=lambda values: transposed(values, [1, 0, 2]),
        ),
        merge(
            "length-0",
            bench,
            f32,
            (2, 3, 16),
            16,
            [0, 20, 0],
            dagger=True,
            variations=["empty=nan"],
            note="a length of 0 is 0/0: NaN",
        ),
        merge(
            "weightless-first",
            bench,
            f32,
            (2, 3, 16),
            16,
            [48, 48],
            fill=weightless,
            dagger=True,
            variations=["infinity=unguarded"],
            note="a first block of lse -inf is exp(-inf + inf): NaN from there on",
        ),
    ]
