"""Attention through PyTorch: scaled_dot_product_attention held to one backend, and the flash kernel below it.

PyTorch's causal mask is top-left: key j is visible to query i iff j <= i. Its flash kernel alone is
bottom-right.
"""

import numpy
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from .bundle import Recording
from .regimes import normal, strided, tensor

NAMES = {torch.float16: "f16", torch.bfloat16: "bf16"}
TOLERANCE = {"out": {"rule": "tolerance", "factor": 1.0}, "lse": {"rule": "scaled", "max": 2.0**-19}}
SDPA = "torch.nn.functional.scaled_dot_product_attention, sdpa_kernel({})"
FLASH = "torch.ops.aten._flash_attention_forward"


def heads_of_kinds(random, q_shape, k_shape, v_shape):
    """q heads of four kinds: plain, with nearly all weight on one key, with all scores equal, and small.

    Among the keys two are twins, and some values are a hundred times larger than the rest.
    """
    q, k, v = normal(random, q_shape), normal(random, k_shape), normal(random, v_shape)
    q[..., 1::4, :] *= 14.0
    q[..., 2::4, :] = 0.0
    q[..., 3::4, :] *= 0.01
    if k.shape[-3] > 4:
        k[..., 3, :, :] = k[..., 1, :, :]
    v[..., ::5, :, :] *= 100.0
    return q, k, v


def inputs(dtype, batch, seqlen_q, seqlen_k, heads, kv_heads, dim, dim_v, layout):
    def make(random):
        q, k, v = heads_of_kinds(
            random,
            (batch, seqlen_q, heads, dim),
            (batch, seqlen_k, kv_heads, dim),
            (batch, seqlen_k, kv_heads, dim_v),
        )
        made = {"q": tensor(q, dtype), "k": tensor(k, dtype), "v": tensor(v, dtype)}
        if layout == "packed":  # q, k and v of a token side by side
            pitch = (heads + 2 * kv_heads) * dim
            made = {name: strided(t, [t.shape[1] * pitch, pitch, dim, 1]) for name, t in made.items()}
        if layout == "heads-first":  # [B, H, S, D] in memory, as PyTorch's own callers have it
            made = {name: t.transpose(1, 2).contiguous().transpose(1, 2) for name, t in made.items()}
        return made

    return make


def attention(
    name,
    backend,
    dtype,
    batch,
    seqlen_q,
    seqlen_k,
    heads,
    kv_heads,
    dim,
    *,
    dim_v=None,
    causal=False,
    scale=None,
    layout=None,
    **rest,
):
    kind = {
        "math": SDPBackend.MATH,
        "flash": SDPBackend.FLASH_ATTENTION,
        "cudnn": SDPBackend.CUDNN_ATTENTION,
    }[backend]

    def call(originals, t):
        q, k, v = (t[name].transpose(1, 2) for name in "qkv")
        with sdpa_kernel([kind]):
            out = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal, scale=scale, enable_gqa=heads != kv_heads
            )
        outputs = {"out": out.transpose(1, 2)}
        if (lse := lse_of(backend, q, k, v, causal, scale, out)) is not None:
            outputs["lse"] = lse
        return outputs

    options = {"causal": causal} | ({"scale": scale} if scale is not None else {})
    return Recording(
        name=f"attention-{backend}-{NAMES[dtype]}-{name}",
        op="attention",
        source="torch",
        entry=SDPA.format(kind.name),
        make=inputs(dtype, batch, seqlen_q, seqlen_k, heads, kv_heads, dim, dim_v or dim, layout),
        call=call,
        options=options,
        compare=rest.pop("compare", TOLERANCE),
        variations=["causal=top-left"] if causal and seqlen_q != seqlen_k else [],
        **rest,
    )


def lse_of(backend, q, k, v, causal, scale, out):
    """The lse of the same call from the operator below it, where that gives the same bits of out."""
    if backend == "math":
        return None
    aten = torch.ops.aten
    try:
        if backend == "flash":
            below = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)
        else:
            below = aten._scaled_dot_product_cudnn_attention(
                q, k, v, None, True, 0.0, causal, False, scale=scale
            )
    except RuntimeError as refusal:
        print(f"no lse from the {backend} operator: {refusal}")
        return None
    return below[1].reshape(out.shape[:3]).float() if torch.equal(below[0], out) else None


def flash_forward(
    name, dtype, batch, seqlen_q, seqlen_k, heads, kv_heads, dim, *, causal=False, window=(-1, -1), **rest
):
    """The flash kernel itself, which has windows and a bottom-right causal mask."""

    def call(originals, t):
        out, lse = torch.ops.aten._flash_attention_forward(
            t["q"],
            t["k"],
            t["v"],
            None,
            None,
            seqlen_q,
            seqlen_k,
            0.0,
            causal,
            False,
            window_size_left=window[0] if window[0] >= 0 else None,
            window_size_right=window[1] if window[1] >= 0 else None,
        )[:2]
        return {"out": out, "lse": lse}

    options = {"causal": causal} | (
        {"window_left": window[0], "window_right": window[1]} if window != (-1, -1) else {}
    )
    return Recording(
        name=f"attention-flash-{NAMES[dtype]}-{name}",
        op="attention",
        source="torch",
        entry=FLASH,
        make=inputs(dtype, batch, seqlen_q, seqlen_k, heads, kv_heads, dim, dim, None),
        call=call,
        options=options,
        compare=TOLERANCE,
        **rest,
    )


def flash_varlen(name, dtype, lengths_q, lengths_k, heads, kv_heads, dim, *, causal=False, used=None, **rest):
    """used: how many keys of each sequence count, where they are not all."""

    def make(random):
        q, k, v = heads_of_kinds(random, (sum(lengths_q), heads, dim), *[(sum(lengths_k), kv_heads, dim)] * 2)
        ends = lambda lengths: torch.tensor(
            numpy.concatenate([[0], numpy.cumsum(lengths)]), dtype=torch.int32
        )
        made = {
            "q": tensor(q, dtype),
            "k": tensor(k, dtype),
            "v": tensor(v, dtype),
            "cu_seqlens_q": ends(lengths_q),
            "cu_seqlens_k": ends(lengths_k),
        }
        return made | ({"seqused_k": torch.tensor(used, dtype=torch.int32)} if used else {})

    def call(originals, t):
        out, lse = torch.ops.aten._flash_attention_forward(
            t["q"],
            t["k"],
            t["v"],
            t["cu_seqlens_q"],
            t["cu_seqlens_k"],
            max(lengths_q),
            max(lengths_k),
            0.0,
            causal,
            False,
            seqused_k=t.get("seqused_k"),
        )[:2]
        return {"out": out, "lse": lse}

    return Recording(
        name=f"attention-flash-{NAMES[dtype]}-{name}",
        op="attention",
        source="torch",
        entry=FLASH,
        make=make,
        call=call,
        options={"causal": causal, "max_seqlen_q": max(lengths_q), "max_seqlen_k": max(lengths_k)},
        compare=TOLERANCE,
        **rest,
    )


def recordings():
    f16, bf16 = torch.float16, torch.bfloat16
    underflow = dict(note="some weights round among the subnormals of f16")
    empty = dict(variations=["empty_lse=+inf"], note="the first queries see no key: out 0 and lse +inf")
    return [
        attention("plain", "math", f16, 1, 37, 53, 4, 2, 64),
        attention("causal", "math", bf16, 2, 33, 33, 4, 4, 32, causal=True),
        attention("causal-short-q", "math", f16, 1, 7, 40, 4, 2, 64, causal=True),
        attention("causal-long-q", "math", bf16, 1, 40, 7, 4, 1, 64, causal=True),
        attention("wide-k", "math", f16, 1, 17, 35, 4, 4, 192, dim_v=128),
        attention("scale", "math", bf16, 1, 20, 31, 4, 1, 40, scale=0.3, layout="packed"),
        attention("one-key", "math", f16, 2, 5, 1, 4, 4, 16),
        attention("plain", "flash", f16, 1, 37, 53, 4, 2, 64),
        attention("causal", "flash", bf16, 1, 45, 45, 4, 2, 128, causal=True, layout="heads-first"),
        attention(
            "causal-packed", "flash", f16, 2, 33, 33, 4, 2, 64, causal=True, layout="packed", **underflow
        ),
        attention("decode", "flash", f16, 2, 1, 130, 8, 1, 64),
        attention("96", "flash", bf16, 1, 19, 67, 4, 4, 96, scale=0.05),
        attention("256", "flash", f16, 1, 9, 35, 4, 1, 256),
        attention("40", "flash", bf16, 1, 20, 20, 4, 2, 40, causal=True),
        flash_forward("bottom-right", f16, 1, 7, 150, 4, 2, 32, causal=True),
        flash_forward("empty-rows", f16, 1, 40, 9, 4, 2, 32, causal=True, **empty),
        flash_forward("window", bf16, 1, 60, 75, 4, 2, 32, window=(9, 4)),
        flash_forward("window-causal", f16, 1, 33, 140, 4, 1, 32, causal=True, window=(20, 0)),
        flash_varlen("varlen", f16, [5, 1, 40, 17], [30, 21, 40, 3], 4, 2, 32),
        flash_varlen("varlen-causal", bf16, [5, 1, 40, 0, 17], [30, 21, 40, 9, 20], 4, 2, 32, causal=True),
        flash_varlen("seqused-k", f16, [5, 1, 17], [30, 21, 40], 4, 2, 32, used=[12, 21, 1]),
        attention("plain", "cudnn", f16, 1, 37, 53, 4, 2, 64),
        attention("causal", "cudnn", bf16, 1, 45, 45, 4, 2, 128, causal=True, layout="heads-first"),
        attention("causal-packed", "cudnn", f16, 2, 33, 33, 4, 2, 64, causal=True, layout="packed"),
        attention("causal-short-q", "cudnn", f16, 1, 7, 40, 4, 2, 64, causal=True),
        attention("causal-long-q", "cudnn", bf16, 1, 40, 7, 4, 1, 64, causal=True),
        attention("decode", "cudnn", f16, 2, 1, 130, 8, 1, 64),
        attention("96", "cudnn", bf16, 1, 19, 67, 4, 4, 96, scale=0.05),
        attention("wide-k", "cudnn", f16, 1, 17, 35, 4, 4, 192, dim_v=128),
        attention("256", "cudnn", f16, 1, 9, 35, 4, 1, 256),
    ]
