"""The ops' definitions once more, plainly, in numpy f64: how far is a recording from what the op says?

Written from the ops' semantics alone. Each definition takes the recorded inputs, options and variations and
gives, per output, an Answer. Variations are the named departures from the op; with them on, the definition is
the original's.
"""

from dataclasses import dataclass
from typing import Optional

import numpy
import torch

from .regimes import E4M3_POSITIVE

UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}
E4M3 = numpy.concatenate([E4M3_POSITIVE, [numpy.nan], -E4M3_POSITIVE, [numpy.nan]])


@dataclass
class Answer:
    value: numpy.ndarray  # f64, or the int8 values
    allowed: Optional[numpy.ndarray] = None  # the op's tolerance, where it has one
    quotient: Optional[numpy.ndarray] = None  # f32, where a division decides a rounding
    spread: Optional[numpy.ndarray] = None  # fp8_gemm: Σ_kb |a_s·b_s| · Σ|a·b|
    floor: Optional[numpy.ndarray] = None  # fp8_gemm: u_out·|value|


def f64(t):
    return t.double().numpy()


def kind_of(dtype):
    return str(dtype).removeprefix("torch.")


def kind(t):
    return kind_of(t.dtype)


def rounded(values, dtype):
    """Values in that dtype, rounded once, to nearest even; as f64."""
    values = numpy.asarray(values, numpy.float64)
    if dtype is not torch.bfloat16:
        return values.astype(kind_of(dtype)).astype(numpy.float64)
    # torch would round f64 to f32 first, and numpy has no bf16: to a multiple of the step of the value's binade.
    _, exponent = numpy.frexp(values)
    step = numpy.ldexp(1.0, numpy.maximum(exponent, -125) - 8)
    nearest = numpy.rint(values / step) * step
    return numpy.where(numpy.abs(nearest) >= 2.0**128, numpy.copysign(numpy.inf, values), nearest)


def decode_e4m3(t):
    return E4M3[t.contiguous().view(torch.uint8).numpy()]


def encode_e4m3(values):
    """Nearest e4m3 value, ties to the even code, saturating; as f64."""
    size = numpy.minimum(numpy.abs(values), 448.0)
    above = numpy.clip(numpy.searchsorted(E4M3_POSITIVE, size, side="left"), 1, len(E4M3_POSITIVE) - 1)
    low, high = E4M3_POSITIVE[above - 1], E4M3_POSITIVE[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    return numpy.where(numpy.isnan(values), numpy.nan, numpy.copysign(numpy.where(up, high, low), values))


def maximum(values, axis, nan_ignored):
    size = numpy.abs(values)
    if nan_ignored:  # as fmax: a NaN counts for nothing, unless there is nothing else
        found = numpy.where(numpy.isnan(size), -numpy.inf, size).max(axis=axis)
        return numpy.where(numpy.isneginf(found), numpy.nan, found)
    return size.max(axis=axis)


def act_quant(t, options, variations):
    block = options["block_size"]
    x = t["x"].float().numpy()
    grouped = x.reshape(*x.shape[:-1], -1, block)
    amax = maximum(grouped, -1, "nan=ignored" in variations).astype(numpy.float32)
    floor = numpy.float32(options["amax_floor"])
    if "nan=ignored" in variations and floor > 0:
        amax = numpy.fmax(amax, floor)
    elif floor > 0:
        amax = numpy.maximum(amax, floor)
    one = numpy.float32(1)
    s = amax * (one / numpy.float32(448)) if "scale=amax*(1/448)" in variations else amax / numpy.float32(448)
    if options["scale_format"] == "ue8m0":
        if "ue8m0=log2" in variations:
            power = numpy.ceil(numpy.log2(s.astype(numpy.float64)).astype(numpy.float32))
        else:
            mantissa, exponent = numpy.frexp(s.astype(numpy.float64))
            power = exponent - (mantissa == 0.5)
        s = numpy.ldexp(1.0, power.astype(int)).astype(numpy.float32)
    quotient = grouped * (one / s)[..., None] if "quotient=x*(1/s)" in variations else grouped / s[..., None]
    return {
        "y": Answer(encode_e4m3(quotient).reshape(x.shape), quotient=quotient.reshape(x.shape)),
        "s": Answer(s.astype(numpy.float64)),
    }


def weight_dequant(t, options, variations):
    block = options["block_size"]
    x = decode_e4m3(t["x"]).astype(numpy.float32)
    s = t["s"].numpy()
    rows, columns = (numpy.arange(size) // block for size in x.shape)
    return {"y": Answer(x * s[rows[:, None], columns[None, :]])}


def fp8_gemm(t, options, variations):
    a, b = decode_e4m3(t["a"]), decode_e4m3(t["b"])
    a = a.reshape(-1, a.shape[-1])
    a_s, b_s = f64(t["a_s"]).reshape(a.shape[0], -1), f64(t["b_s"])
    column = numpy.arange(b.shape[0]) // 128
    c = numpy.zeros((a.shape[0], b.shape[0]))
    spread = numpy.zeros_like(c)
    for kb in range(a_s.shape[1]):
        part = slice(kb * 128, min((kb + 1) * 128, a.shape[1]))
        scale = a_s[:, kb, None] * b_s[column, kb][None, :]
        c += a[:, part] @ b[:, part].T * scale
        spread += numpy.abs(a[:, part]) @ numpy.abs(b[:, part]).T * numpy.abs(scale)
    shape = (*t["a"].shape[:-1], b.shape[0])
    unit = UNIT[kind(t["c"])]
    return {
        "c": Answer(c.reshape(shape), spread=spread.reshape(shape), floor=unit * numpy.abs(c).reshape(shape))
    }


def quantize_copy_kv(t, options, variations):
    k = t["k"].float().numpy()
    group = options.get("group", 0) or k.shape[-1]
    rows = k.reshape(*k.shape[:-1], -1, group)
    scale_type = t["out_scale_before"].dtype
    amax = maximum(rows, -1, "nan=ignored" in variations).astype(numpy.float32)
    reciprocal = numpy.float32(1) / numpy.float32(127)
    wide = amax * reciprocal if "scale=amax*(1/127)" in variations else amax / numpy.float32(127)
    if "scale=f16" in variations:
        scale = rounded(wide, torch.float16).astype(numpy.float32)
        stored = rounded(scale, scale_type)
    else:
        stored = rounded(wide, scale_type)
        scale = stored.astype(numpy.float32)
    quotient = (rows / scale[..., None]).reshape(k.shape)
    whole = numpy.trunc(quotient.astype(numpy.float64))
    if "saturation=wrap" in variations:
        narrow = numpy.clip(numpy.nan_to_num(whole, nan=0.0), -32768, 32767).astype(numpy.int16)
        q = narrow.astype(numpy.uint8).view(numpy.int8)
    else:
        q = numpy.nan_to_num(numpy.clip(whole, -128, 127), nan=0.0).astype(numpy.int8)
    dest = t["dest"].long().numpy()
    out, out_scale = t["out_before"].numpy().copy(), f64(t["out_scale_before"]).copy()
    quotients = numpy.full(out.shape, numpy.nan, numpy.float32)
    out[dest], out_scale[dest], quotients[dest] = q, stored, quotient
    return {"out": Answer(out, quotient=quotients), "out_scale": Answer(out_scale)}


def sin(t, options, variations):
    x = t["x"].numpy()
    if "indexing=flat" in variations:
        x = torch.as_strided(t["x"], t["x"].shape, t["x"].contiguous().stride()).numpy()
    if "subnormals=flushed" in variations:
        x = numpy.where(numpy.abs(x) < 2.0**-126, numpy.copysign(numpy.float32(0), x), x)
    return {"y": Answer(numpy.sin(x.astype(numpy.float64)))}


def softmax_tolerance(value, p, v, scores, type_out, type_p):
    """attention's and flash_decode's. p, scores [..., keys], v [keys, d]; a masked score is -inf."""
    weight = p @ numpy.abs(v)
    top = max(1.0, numpy.abs(scores[numpy.isfinite(scores)]).max(initial=0.0))
    # p relative to the largest of its row is 1 / total there.
    largest = p.max(axis=-1, keepdims=True, initial=0.0)
    lost = numpy.minimum(p, (2.0**-25 if type_p == "float16" else 2.0**-126) * largest)
    return (
        UNIT[type_out] * numpy.abs(value)
        + numpy.minimum(UNIT[type_p] * weight, 6 * UNIT[type_p] * numpy.sqrt(p**2 @ v**2))
        + 2.0**-20 * top * weight
        + lost @ numpy.abs(v)
    )


def softmax(scores):
    """(weights, lse) over the last axis; a row with nothing visible weighs 0 and has lse -inf."""
    top = scores.max(axis=-1, keepdims=True, initial=-numpy.inf)
    top = numpy.where(numpy.isneginf(top), 0.0, top)
    e = numpy.exp(scores - top)
    total = e.sum(axis=-1, keepdims=True)
    with numpy.errstate(divide="ignore"):
        lse = (top + numpy.log(total))[..., 0]
    return e / numpy.where(total == 0, 1.0, total), lse


def flash_decode(t, options, variations):
    answers = {}
    if options["stage"] != "2":
        answers |= decode_blocks(t, options, variations)
    answers["out"] = merged(t, options, variations, answers.get("out"))
    return answers


def sum_in(products, dtype):
    """Exact products summed in that dtype, as the original's code on an H200 has it.

    Lanes of eight products, each a chain of fused multiply-adds that begins with the second product (the first
    addition is fused with the first), then the lanes by halves.
    """
    keys, dim = products.shape
    lanes = 1 << max(0, (dim - 1) // 8).bit_length()
    padded = numpy.zeros((keys, lanes, 8))
    padded.reshape(keys, -1)[:, :dim] = products
    total = numpy.zeros((keys, lanes))
    for turn in (1, 0, 2, 3, 4, 5, 6, 7):
        total = rounded(total + padded[:, :, turn], dtype)
    while total.shape[1] > 1:
        half = total.shape[1] // 2
        total = rounded(total[:, :half] + total[:, half:], dtype)
    return total[:, 0]


def decode_blocks(t, options, variations):
    """Stage 1 block by block, and the whole sequence at once for out's value and tolerance."""
    q, k, v = f64(t["q"]), f64(t["k"]), f64(t["v"])
    if "strides=v-as-k" in variations:
        v = f64(torch.as_strided(t["v"], t["v"].shape, t["k"].stride()))
    step, (batch, heads, dim) = options["block_seq"], q.shape
    input_type = kind(t["q"])
    mid = Answer(f64(t["mid_out_before"]).copy(), numpy.zeros(t["mid_out_before"].shape))
    lse = Answer(f64(t["mid_lse_before"]).copy())
    out = Answer(numpy.zeros(q.shape), numpy.zeros(q.shape))
    for b in range(batch):
        length = int(t["b_seqlen"][b])
        slots = t["req_to_tokens"][int(t["b_req_idx"][b]), :length].long().numpy()
        for h in range(heads):
            keys, values = k[slots, h // (heads // k.shape[1])], v[slots, h // (heads // k.shape[1])]
            dots = keys @ q[b, h]
            if "logits=input-type" in variations:
                dots = sum_in(keys * q[b, h], t["q"].dtype)
            scores = dots * dim**-0.5
            for block, start in enumerate(range(0, length, step)):
                part = slice(start, start + step)
                p, lse.value[b, h, block] = softmax(scores[part])
                mid.value[b, h, block] = p @ values[part]
                mid.allowed[b, h, block] = softmax_tolerance(
                    mid.value[b, h, block], p, values[part], scores[part], "float32", input_type
                )
            p, _ = softmax(scores)
            out.value[b, h] = p @ values
            out.allowed[b, h] = softmax_tolerance(
                out.value[b, h], p, values, scores, kind(t["out_before"]), input_type
            )
    return {"mid_out": mid, "mid_lse": lse, "out": out}


def merged(t, options, variations, whole):
    if whole:
        return whole
    mid, lse = f64(t["mid_out"]), f64(t["mid_lse"])
    out = Answer(numpy.zeros(t["out_before"].shape), numpy.zeros(t["out_before"].shape))
    for b in range(mid.shape[0]):
        blocks = -(-int(t["b_seqlen"][b]) // options["block_seq"])
        for h in range(mid.shape[1]):
            t_of = lse[b, h, :blocks]
            p, _ = softmax(t_of)
            out.value[b, h] = p @ mid[b, h, :blocks]
            out.allowed[b, h] = softmax_tolerance(
                out.value[b, h], p, mid[b, h, :blocks], t_of, kind(t["out_before"]), "float32"
            )
            if (blocks == 0 and "empty=nan" in variations) or (
                blocks and numpy.isneginf(t_of[0]) and "infinity=unguarded" in variations
            ):
                out.value[b, h] = numpy.nan
    return out


def attention(t, options, variations):
    q, k, v = f64(t["q"]), f64(t["k"]), f64(t["v"])
    input_type = kind(t["q"])
    if "cu_seqlens_q" in t:
        out, allowed = numpy.zeros((*q.shape[:-1], v.shape[-1])), numpy.zeros((*q.shape[:-1], v.shape[-1]))
        lse = numpy.zeros(q.shape[1::-1])
        ends_q, ends_k = t["cu_seqlens_q"].tolist(), t["cu_seqlens_k"].tolist()
        for b in range(len(ends_q) - 1):
            used = int(t["seqused_k"][b]) if "seqused_k" in t else ends_k[b + 1] - ends_k[b]
            rows, keys = slice(ends_q[b], ends_q[b + 1]), slice(ends_k[b], ends_k[b] + used)
            out[rows], allowed[rows], lse[:, rows] = attend(
                q[rows], k[keys], v[keys], options, variations, input_type
            )
    else:
        parts = [attend(*entry, options, variations, input_type) for entry in zip(q, k, v)]
        out, allowed, lse = (numpy.stack(part) for part in zip(*parts))
    return {"out": Answer(out, allowed), "lse": Answer(lse)}


def attend(q, k, v, options, variations, input_type):
    """One sequence: q [Sq, Hq, D], k [Sk, Hkv, D], v [Sk, Hkv, Dv] → out, its tolerance, lse [Hq, Sq]."""
    (rows, heads, dim), keys = q.shape, k.shape[0]
    scale = float(numpy.float32(options["scale"])) if "scale" in options else dim**-0.5
    diagonal = numpy.arange(rows)[:, None] + (0 if "causal=top-left" in variations else keys - rows)
    key = numpy.arange(keys)[None, :]
    left, right = options.get("window_left", -1), options.get("window_right", -1)
    if options["causal"]:
        right = 0
    visible = numpy.ones((rows, keys), bool)
    if right >= 0:
        visible &= key <= diagonal + right
    if left >= 0:
        visible &= key >= diagonal - left
    out, allowed = numpy.zeros((rows, heads, v.shape[-1])), numpy.zeros((rows, heads, v.shape[-1]))
    lse = numpy.zeros((heads, rows))
    for h in range(heads):
        shared = h // (heads // k.shape[1])
        scores = numpy.where(visible, q[:, h] @ k[:, shared].T * scale, -numpy.inf)
        p, lse[h] = softmax(scores)
        out[:, h] = p @ v[:, shared]
        allowed[:, h] = softmax_tolerance(out[:, h], p, v[:, shared], scores, input_type, input_type)
    if "empty_lse=+inf" in variations:
        lse = numpy.where(numpy.isneginf(lse), numpy.inf, lse)
    return out, allowed, lse


OPS = {
    "act_quant": act_quant,
    "weight_dequant": weight_dequant,
    "fp8_gemm": fp8_gemm,
    "quantize_copy_kv": quantize_copy_kv,
    "flash_decode": flash_decode,
    "sin": sin,
    "attention": attention,
}


def answers(op, tensors, options, variations):
    with numpy.errstate(all="ignore"):
        return OPS[op](tensors, options, variations)
