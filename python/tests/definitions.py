"""The definitions of the ops in float64 with NumPy: what tests compare with."""

import numpy as np


def attention(q, k, v, scale=None, causal=False, window=(-1, -1), softcap=0.0, chunk=0):
    """(out [Sq, Hq, Dv], lse [Hq, Sq]) of one sequence: q [Sq, Hq, D], k and v [Sk, Hkv, D]."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    queries, heads, depth = q.shape
    keys, groups = len(k), heads // k.shape[1]
    scores = np.einsum("qhd,khd->hqk", q, np.repeat(k, groups, axis=1)) * (depth**-0.5 if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    diagonal = np.arange(queries)[:, None] + keys - queries
    key = np.arange(keys)[None]
    left, right = window[0], 0 if causal else window[1]
    hidden = np.zeros((queries, keys), bool)
    if left >= 0:
        hidden |= key < diagonal - left
    if right >= 0:
        hidden |= key > diagonal + right
    if chunk:
        hidden |= key // chunk != diagonal // chunk
    scores = np.where(hidden, -np.inf, scores)
    top = scores.max(axis=-1, initial=-np.inf, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + np.where(np.isfinite(top), top, 0))[..., 0]
    out = np.einsum("hqk,khd->qhd", weights / np.where(total == 0, 1, total), np.repeat(v, groups, axis=1))
    return out, lse


def rotate(x, cos, sin, positions, interleaved):
    """x [S, H, D] with its first 2·pairs dimensions turned by the angles of its positions."""
    x = np.array(x, np.float64)
    pairs = cos.shape[1]
    c, s = (np.asarray(table, np.float64)[positions][:, None] for table in (cos, sin))
    first, second = (np.s_[..., 0:2 * pairs:2], np.s_[..., 1:2 * pairs:2]) if interleaved else (
        np.s_[..., :pairs], np.s_[..., pairs:2 * pairs])
    a, b = x[first].copy(), x[second].copy()
    x[first], x[second] = a * c - b * s, a * s + b * c
    return x
