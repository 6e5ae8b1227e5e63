"""A decoder layer on NumPy arrays, CPU: FP8 weights, a paged FP8 cache, an FP8 MLP; prefill, then one token at a time.

Each projection is act_quant and fp8_gemm with weights of weight_quant. attention appends the new keys and values into the pages,
rotated and divided by the cache's descales, and attends. silu_mul_quant makes the MLP's second operand in one pass. A second
cache holds the same tokens as int8: quantize_copy_kv writes it and flash_decode reads it with its scales.

The same layer in float64, with the weights as weight_dequant gives them back, says how far the whole is off.
"""

import ml_dtypes
import numpy as np

import isomer

HIDDEN, HEADS, HEADS_KV, DIM, MLP = 256, 8, 2, 64, 384
PROMPT, STEPS, PAGE, PAGES = 21, 4, 8, 6
BF16, E4M3 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
DESCALE = {"k": 0.02, "v": 0.01}


def rms_norm(x):
    wide = x.astype(np.float64)
    return wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)


class Layer:
    """The weights [N, K] as FP8 with a scale for each 128 × 128 block, and the caches of one sequence."""

    def __init__(self, random):
        def weight(n, k):
            return isomer.weight_quant((random.standard_normal((n, k)) / np.sqrt(k)).astype(np.float32))

        self.qkv = weight((HEADS + 2 * HEADS_KV) * DIM, HIDDEN)
        self.o = weight(HIDDEN, HEADS * DIM)
        self.gate_up, self.down = weight(2 * MLP, HIDDEN), weight(HIDDEN, MLP)
        angle = np.arange(PAGES * PAGE)[:, None] * 10000.0 ** (-np.arange(DIM // 2) * 2 / DIM)
        self.cos, self.sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        self.pages = random.permutation(PAGES).astype(np.int32)[None]
        self.k, self.v = (np.zeros((PAGES, PAGE, HEADS_KV, DIM), E4M3) for _ in "kv")
        self.descales = {f"{x}_descale": np.full((1, HEADS_KV), DESCALE[x], np.float32) for x in "kv"}
        self.int8 = {x: np.zeros((PAGES * PAGE, HEADS_KV, DIM), np.int8) for x in "kv"}
        self.scale = {x: np.zeros((PAGES * PAGE, HEADS_KV, 1), np.float32) for x in "kv"}
        self.length = 0

    def linear(self, x, weight):
        return isomer.fp8_gemm(*isomer.act_quant(x), *weight, dtype="bf16")

    def attend(self, x):
        """x [T, HIDDEN]: the next T tokens; they join the cache."""
        parts = self.linear(x, self.qkv).reshape(1, len(x), -1, DIM)
        q, k, v = np.split(parts, [HEADS, HEADS + HEADS_KV], axis=2)
        lengths = np.array([self.length], np.int32)
        out = isomer.attention(q, self.k, self.v, k_new=k, v_new=v, cache_seqlens=lengths, page_table=self.pages, causal=True,
                               rotary_cos=self.cos, rotary_sin=self.sin, **self.descales)
        self.length += len(x)
        return out, (q, k, v)

    def attend_int8(self, q, k, v, first):
        """The last query over the int8 cache, which takes the tokens from `first` on: rotated before they are quantised."""
        rows = np.arange(first, first + k.shape[1], dtype=np.int32)
        for name, new in (("k", rotated(k[0].astype(np.float64), rows, self).astype(BF16)), ("v", v[0])):
            isomer.quantize_copy_kv(new, rows, self.int8[name], self.scale[name])
        last = rotated(q[0, -1:].astype(np.float64), rows[-1:], self).astype(BF16)
        length = np.array([rows[-1] + 1], np.int32)
        table = np.arange(PAGES * PAGE, dtype=np.int32)[None]
        return isomer.flash_decode(last, self.int8["k"], self.int8["v"], table, np.zeros(1, np.int32), length,
                                   k_scale=self.scale["k"], v_scale=self.scale["v"])

    def forward(self, x):
        first = self.length
        attended, new = self.attend(rms_norm(x).astype(BF16))
        by_int8 = self.attend_int8(*new, first)
        h = x + self.linear(attended.reshape(len(x), -1), self.o).astype(np.float32)
        gated = isomer.silu_mul_quant(self.linear(rms_norm(h).astype(BF16), self.gate_up))
        return h + isomer.fp8_gemm(*gated, *self.down, dtype="bf16").astype(np.float32), attended, by_int8


def rotated(x, positions, layer):
    half = DIM // 2
    cos, sin = (t[positions].astype(np.float64)[:, None] for t in (layer.cos, layer.sin))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def layer_in_f64(layer, x):
    """All tokens at once, nothing rounded: (hidden states, attention before its projection)."""
    def linear(y, weight):
        return y @ isomer.weight_dequant(*weight, dtype="f32").astype(np.float64).T

    tokens = len(x)
    parts = linear(rms_norm(x), layer.qkv).reshape(tokens, -1, DIM)
    q, k, v = np.split(parts, [HEADS, HEADS + HEADS_KV], axis=1)
    q, k = (rotated(t, np.arange(tokens), layer) for t in (q, k))
    k, v = (np.repeat(t, HEADS // HEADS_KV, axis=1) for t in (k, v))
    logits = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(DIM)
    logits[:, ~np.tri(tokens, dtype=bool)] = -np.inf
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    attended = np.einsum("hij,jhd->ihd", weights / weights.sum(-1, keepdims=True), v)
    h = x + linear(attended.reshape(tokens, -1), layer.o)
    gate, up = np.split(linear(rms_norm(h), layer.gate_up), 2, axis=-1)
    return h + linear(gate / (1 + np.exp(-gate)) * up, layer.down), attended


def error(got, want):
    """Of the whole, relative to its size."""
    return np.linalg.norm(np.asarray(got, np.float64) - want) / np.linalg.norm(want)


def main():
    random = np.random.default_rng(7)
    layer = Layer(random)
    x = random.standard_normal((PROMPT + STEPS, HIDDEN)).astype(np.float32)
    out, attended, by_int8 = layer.forward(x[:PROMPT])
    outs, attentions, int8s = [out], [attended[0]], [by_int8[0]]
    for token in range(PROMPT, PROMPT + STEPS):
        out, attended, by_int8 = layer.forward(x[token:token + 1])
        outs.append(out), attentions.append(attended[0]), int8s.append(by_int8[0])
    want, want_attended = layer_in_f64(layer, x.astype(np.float64))
    errors = {
        "hidden states": error(np.concatenate(outs), want),
        "attention over the FP8 cache": error(np.concatenate(attentions), want_attended),
        "attention over the int8 cache": error(np.stack(int8s), want_attended[PROMPT - 1:]),
    }
    for name, value in errors.items():
        print(f"{name}: {100 * value:.2f} % off the layer in float64")
    return errors


if __name__ == "__main__":
    if max(main().values()) > 0.06:  # e4m3 rounds by up to 6 %
        raise SystemExit("the layer is further off than its FP8 operands explain")
