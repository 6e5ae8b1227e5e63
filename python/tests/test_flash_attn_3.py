"""isomer.compat.flash_attn_3 against attention as FlashAttention-3 defines it, in float64 of NumPy."""

import itertools

import numpy as np
import pytest

import isomer
from isomer.compat import flash_attn_3 as fa3


def attention(q, k, v, causal=False, window=(-1, -1), softcap=0.0, scale=None, leftpad=0):
    """One sequence: [Sq, Hq, D], [Sk, Hkv, D], [Sk, Hkv, Dv] → [Sq, Hq, Dv], [Hq, Sq]. Keys before leftpad do not count."""
    q, k, v = (x.astype(np.float64) for x in (q, k[leftpad:], v[leftpad:]))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = np.einsum("qhd,khd->hqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        s = softcap * np.tanh(s / softcap)
    diagonal = np.arange(q.shape[0])[:, None] + k.shape[0] - q.shape[0] if q.shape[0] else np.zeros((0, 1))
    left, right = window[0], 0 if causal else window[1]
    key = np.arange(k.shape[0])[None, :]
    seen = (key >= diagonal - left if left >= 0 else True) & (key <= diagonal + right if right >= 0 else True)
    s = np.where(seen, s, -np.inf)
    if s.shape[2] == 0:
        return np.zeros((q.shape[0], q.shape[1], v.shape[-1])), np.full(s.shape[:2], -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.where(np.isfinite(top), top, 0) + np.log(total))[..., 0]
    return np.einsum("hqk,khd->qhd", p / np.where(total == 0, 1, total), v), lse


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


MASKS = [(False, (-1, -1)), (True, (-1, -1)), (False, (5, 2)), (True, (3, -1)), (False, (-1, 0)), (False, (0, -1))]
HEADS = [(4, 4), (6, 2), (4, 1)]
LENGTHS = [(1, 1), (1, 33), (17, 33), (33, 17), (64, 65)]


def close(out, want, dtype=np.float32):
    np.testing.assert_allclose(np.asarray(out, np.float64), want, atol=2e-5 if dtype == np.float32 else 1e-2)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("heads", HEADS, ids=str)
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_flash_attn_func(lengths, heads, mask):
    sizes = itertools.cycle([(32, 32), (64, 48)])
    for softcap, num_splits, pack_gqa, dtype in itertools.product((0.0, 15.0), (1, 3), (None, True, False),
                                                                  (np.float32, np.float16)):
        d, dv = next(sizes)
        q, k, v = (random(2, n, h, size, seed=i, dtype=dtype)
                   for i, (n, h, size) in enumerate(zip((lengths[0], lengths[1], lengths[1]), (heads[0], heads[1], heads[1]),
                                                        (d, d, dv))))
        out, lse = fa3.flash_attn_func(q, k, v, causal=mask[0], window_size=mask[1], softcap=softcap, num_splits=num_splits,
                                       pack_gqa=pack_gqa, return_attn_probs=True)
        for b in range(2):
            want, want_lse = attention(q[b], k[b], v[b], mask[0], mask[1], softcap)
            close(out[b], want, dtype)
            np.testing.assert_allclose(lse[b], want_lse, atol=1e-4)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("heads", HEADS, ids=str)
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_flash_attn_varlen_func(heads, mask, index_dtype):
    q_lengths, k_lengths = [5, 0, 17, 1], [9, 3, 17, 0]
    cu_q, cu_k = (np.cumsum([0, *n]).astype(index_dtype) for n in (q_lengths, k_lengths))
    q, k, v = random(23, heads[0], 32), random(29, heads[1], 32, seed=1), random(29, heads[1], 32, seed=2)
    out, lse = fa3.flash_attn_varlen_func(q, k, v, cu_q, cu_k, max(q_lengths), max(k_lengths), causal=mask[0],
                                          window_size=mask[1], return_attn_probs=True)
    for b in range(4):
        rows, keys = slice(cu_q[b], cu_q[b + 1]), slice(cu_k[b], cu_k[b + 1])
        want, want_lse = attention(q[rows], k[keys], v[keys], *mask)
        close(out[rows], want)
        np.testing.assert_allclose(lse[:, rows], want_lse, atol=1e-4)
    used_q, used_k = np.array([3, 0, 17, 1], index_dtype), np.array([4, 3, 9, 0], index_dtype)
    out = fa3.flash_attn_varlen_func(q, k, v, cu_q, cu_k, 17, 17, seqused_q=used_q, seqused_k=used_k, causal=mask[0],
                                     window_size=mask[1])
    for b in range(4):
        want, _ = attention(q[cu_q[b] : cu_q[b] + used_q[b]], k[cu_k[b] : cu_k[b] + used_k[b]],
                            v[cu_k[b] : cu_k[b] + used_k[b]], *mask)
        close(out[cu_q[b] : cu_q[b] + used_q[b]], want)


def rotate(x, cos, sin, positions, interleaved):
    n = cos.shape[-1]
    c, s = (t[positions][:, None, :].astype(np.float64) for t in (cos, sin))
    y = x.astype(np.float64).copy()
    first, second = (slice(0, 2 * n, 2), slice(1, 2 * n, 2)) if interleaved else (slice(0, n), slice(n, 2 * n))
    a, b = y[..., first].copy(), y[..., second].copy()
    y[..., first], y[..., second] = a * c - b * s, a * s + b * c
    return y


@pytest.mark.parametrize("paged", [None, 1, 4, 16])
@pytest.mark.parametrize("new", [0, 1, 3])
@pytest.mark.parametrize("rotary", [None, "interleaved", "halves", "own positions"])
@pytest.mark.parametrize("mask", MASKS[:4], ids=str)
def test_flash_attn_with_kvcache(paged, new, rotary, mask):
    for heads, leftpad, index_dtype, varlen_q in (((4, 4), False, np.int32, False), ((6, 2), True, np.int64, False),
                                                  ((4, 1), False, np.int64, True)):
        batch, slots, seqlen_q, d = 3, 32, 5, 32
        lengths = np.array([7, 20, 29], index_dtype)
        pads = np.array([0, 4, 9], index_dtype) if leftpad else None
        q = random(batch, seqlen_q, heads[0], d)
        k_cache, v_cache = (random(batch, slots, heads[1], d, seed=s) for s in (1, 2))
        k_new, v_new = (random(batch, new, heads[1], d, seed=s) if new else None for s in (3, 4))
        table, order = None, np.arange(batch)
        words = {"cache_batch_idx": None}
        if paged:
            pages = batch * slots // paged
            table = np.random.default_rng(5).permutation(pages).astype(np.int32).reshape(batch, -1)
            k_given, v_given = (np.empty((pages, paged, heads[1], d), np.float32) for _ in range(2))
            for given, cache in ((k_given, k_cache), (v_given, v_cache)):
                given[table] = cache.reshape(batch, -1, paged, heads[1], d)
        else:
            order = np.array([2, 0, 1])
            words["cache_batch_idx"] = order.astype(index_dtype)
            k_given, v_given = k_cache.copy(), v_cache.copy()
        starts = lengths.copy()
        if rotary and new:
            angles = np.random.default_rng(6).uniform(0, 6, (64, 8))
            words |= {"rotary_cos": np.cos(angles).astype(np.float32), "rotary_sin": np.sin(angles).astype(np.float32),
                      "rotary_interleaved": rotary == "interleaved"}
            if rotary == "own positions":
                starts = lengths - (pads if leftpad else 0)
                words["rotary_seqlens"] = starts
        given_q = q
        if varlen_q:
            given_q = q.reshape(-1, heads[0], d)
            words |= {"cu_seqlens_q": np.arange(batch + 1, dtype=index_dtype) * seqlen_q, "max_seqlen_q": seqlen_q}
        out, lse = fa3.flash_attn_with_kvcache(given_q, k_given, v_given, k_new, v_new, cache_seqlens=lengths,
                                               cache_leftpad=pads, page_table=table, causal=mask[0], window_size=mask[1],
                                               return_softmax_lse=True, **words)
        out = out.reshape(q.shape)
        for b in range(batch):
            row, n = order[b], int(lengths[b])
            k_row, v_row = k_cache[row].astype(np.float64), v_cache[row].astype(np.float64)
            queries = q[b].astype(np.float64)
            if new:
                added = k_new[b].astype(np.float64)
                if "rotary_cos" in words:
                    table_words = (words["rotary_cos"], words["rotary_sin"])
                    added = rotate(added, *table_words, starts[b] + np.arange(new), rotary == "interleaved")
                    local = mask[0] or mask[1] != (-1, -1)
                    queries = rotate(queries, *table_words, starts[b] + np.arange(seqlen_q) * local, rotary == "interleaved")
                k_row[n : n + new], v_row[n : n + new] = added, v_new[b]
                if paged:
                    kept = k_given[table[b]].reshape(slots, heads[1], d), v_given[table[b]].reshape(slots, heads[1], d)
                else:
                    kept = k_given[row], v_given[row]
                np.testing.assert_allclose(kept[0], k_row, atol=1e-6)
                np.testing.assert_array_equal(kept[1], v_row.astype(np.float32))
            want, _ = attention(queries, k_row[: n + new], v_row[: n + new], *mask, leftpad=int(pads[b]) if leftpad else 0)
            close(out[b], want)


def test_a_cache_length_may_be_an_int_or_none():
    q, k, v = random(2, 1, 4, 32), random(2, 16, 2, 32, seed=1), random(2, 16, 2, 32, seed=2)
    np.testing.assert_array_equal(fa3.flash_attn_with_kvcache(q, k, v, cache_seqlens=16), fa3.flash_attn_with_kvcache(q, k, v))
    close(fa3.flash_attn_with_kvcache(q, k, v, cache_seqlens=5)[0], attention(q[0], k[0, :5], v[0, :5])[0])


def test_rotary_interleaved_without_cosines_is_ignored():
    q, k = random(2, 1, 4, 32), random(2, 16, 2, 32, seed=1)
    np.testing.assert_array_equal(fa3.flash_attn_with_kvcache(q, k, k, rotary_interleaved=True),
                                  fa3.flash_attn_with_kvcache(q, k, k, rotary_interleaved=False))


@pytest.mark.parametrize("splits", [1, 2, 5])
@pytest.mark.parametrize("out_dtype", [None, "f16"])
def test_flash_attn_combine(splits, out_dtype):
    parts, lse = random(splits, 2, 7, 3, 64), random(splits, 2, 3, 7, seed=1).transpose(0, 1, 3, 2)
    lse[0, 0, 0] = -np.inf
    lse[:, 1, 1] = -np.inf
    out, total = fa3.flash_attn_combine(parts, lse, out_dtype=out_dtype)
    top = np.where(np.isfinite(lse.max(0)), lse.max(0), 0).astype(np.float64)
    weights = np.exp(lse - top)
    whole = weights.sum(0)
    want = (weights[..., None] * parts).sum(0) / np.where(whole == 0, 1, whole)[..., None]
    assert out.dtype == (np.float16 if out_dtype else np.float32)
    np.testing.assert_allclose(out.astype(np.float64), want, atol=2e-3 if out_dtype else 1e-5)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(total, top + np.log(whole), atol=1e-5)
    given = np.empty_like(out)
    assert fa3.flash_attn_combine(parts, lse, out=given)[0] is given
    np.testing.assert_array_equal(given, out)


def test_a_scale_of_zero_is_one():
    q, k, v = random(1, 3, 2, 32), random(1, 5, 2, 32, seed=1), random(1, 5, 2, 32, seed=2)
    close(fa3.flash_attn_func(q, k, v, softmax_scale=0.0)[0], attention(q[0], k[0], v[0], scale=0.0)[0])
    close(fa3.flash_attn_func(q, k, v, softmax_scale=0.3)[0], attention(q[0], k[0], v[0], scale=0.3)[0])


def test_tensors_whose_last_dimension_is_strided_are_copied():
    q, k = random(1, 32, 2, 7).transpose(0, 3, 2, 1), random(1, 7, 2, 32, seed=1)
    close(fa3.flash_attn_func(q, k, k)[0], attention(q[0], k[0], k[0])[0])


def test_float8_is_descaled_and_answered_in_bf16():
    import ml_dtypes

    q, k, v = (random(2, 9, h, 32, seed=i).astype(ml_dtypes.float8_e4m3fn) for i, h in enumerate((4, 2, 2)))
    descale = {name: np.random.default_rng(i).uniform(0.5, 2, (2, 2)).astype(np.float32)
               for i, name in enumerate(("q_descale", "k_descale", "v_descale"))}
    out = fa3.flash_attn_func(q, k, v, **descale)
    assert out.dtype == ml_dtypes.bfloat16
    columns = np.ascontiguousarray(v.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)  # the keys contiguous
    np.testing.assert_allclose(fa3.flash_attn_func(q, k, columns, **descale).astype(np.float32), out.astype(np.float32), atol=2e-2)
    for b in range(2):
        f = [x[b].astype(np.float64) * np.repeat(descale[n][b], x.shape[2] // 2)[None, :, None]
             for x, n in zip((q, k, v), descale)]
        np.testing.assert_allclose(out[b].astype(np.float64), attention(*f)[0], atol=0.12)


def test_what_is_not_supported_is_said(refuses):
    q = random(1, 3, 2, 32)
    refuses(lambda: fa3.flash_attn_func(q, q, q, qv=q), "qv", code="unsupported")
    refuses(lambda: fa3.flash_attn_func(q, q, q, attention_chunk=4), "attention_chunk", code="unsupported")
    refuses(lambda: fa3.flash_attn_combine(q[:0], q[:0, :, :, 0]), "no parts", code="unsupported")
    refuses(lambda: fa3.flash_attn_with_kvcache(q, q.copy(), q.copy(), q[:, :1], q[:, :1]), "cache_seqlens")


def test_there_is_no_scheduler_metadata():
    assert fa3.get_scheduler_metadata(2, 1, 128, 4, 2, 64, None) is None
