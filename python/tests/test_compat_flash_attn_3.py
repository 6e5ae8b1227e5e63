"""isomer.compat.flash_attn_3 against the definition in float64, over a grid of the parameters of FlashAttention-3's own tests."""

import inspect

import ml_dtypes
import numpy as np
import pytest

import definitions
from calls import E4M3
from isomer.compat import flash_attn_3 as fa3
from libraries import library  # noqa: F401

ROUNDING = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}
MASKS = {"none": {}, "causal": {"causal": True}, "local": {"window_size": (3, 2)},
         "causal local": {"causal": True, "window_size": (4, 7)}, "wide": {"window_size": (1000, 1000)},
         "chunk": {"attention_chunk": 6}, "causal chunk": {"causal": True, "attention_chunk": 4}}


def normal(random, *shape, dtype="float32"):
    return random.standard_normal(shape).astype({"bfloat16": ml_dtypes.bfloat16}.get(dtype, dtype))


def close(got, want, dtype):
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=ROUNDING[dtype], atol=ROUNDING[dtype] * 2)


def of_definition(mask):
    return {"window": mask.get("window_size", (-1, -1)), "causal": mask.get("causal", False),
            "chunk": mask.get("attention_chunk", 0)}


def test_signatures_are_those_of_flash_attention_3():
    names = {name: list(inspect.signature(getattr(fa3, name)).parameters) for name in fa3.__all__}
    assert names["flash_attn_func"][:6] == ["q", "k", "v", "softmax_scale", "causal", "qv"]
    assert names["flash_attn_func"][-1] == "return_attn_probs" and len(names["flash_attn_func"]) == 17
    assert names["flash_attn_varlen_func"][3:9] == ["cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k",
                                                    "seqused_q", "seqused_k"]
    assert names["flash_attn_with_kvcache"][:9] == ["q", "k_cache", "v_cache", "k", "v", "qv", "rotary_cos", "rotary_sin",
                                                    "cache_seqlens"]
    assert inspect.signature(fa3.flash_attn_with_kvcache).parameters["rotary_interleaved"].default is True
    assert names["flash_attn_combine"] == ["out_partial", "lse_partial", "out", "out_dtype"]


@pytest.mark.parametrize("sq, sk", [(1, 1), (1, 33), (7, 20), (20, 7), (5, 0)])
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (4, 1)], ids=["mha", "gqa", "mqa"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_flash_attn_func_is_the_definition(library, sq, sk, heads, mask, dtype):
    random = np.random.default_rng(sq + sk)
    q, k, v = (normal(random, 2, n, h, d, dtype=dtype) for n, h, d in ((sq, heads[0], 16), (sk, heads[1], 16), (sk, heads[1], 24)))
    softcap = 15.0 if sq == 7 else 0.0
    pack = {1: None, 7: True}.get(sq, False)
    out, lse = fa3.flash_attn_func(*map(library, (q, k, v)), **MASKS[mask], softcap=softcap, softmax_scale=0.3, pack_gqa=pack,
                                   num_splits=3 if sk == 33 else 1, deterministic=True, sm_margin=2, return_attn_probs=True)
    for b in range(2):
        want, want_lse = definitions.attention(q[b], k[b], v[b], 0.3, softcap=softcap, **of_definition(MASKS[mask]))
        close(library.back(out)[b], want, dtype)
        close(library.back(lse)[b], want_lse, "float32")
    assert library.back(out).dtype == q.dtype


def test_values_may_have_512_dimensions(library):
    random = np.random.default_rng(2)
    q, k, v = (normal(random, 1, n, h, d) for n, h, d in ((5, 4, 64), (9, 2, 64), (9, 2, 512)))
    out = library.back(fa3.flash_attn_func(*map(library, (q, k, v)), causal=True))
    close(out[0], definitions.attention(q[0], k[0], v[0], causal=True)[0], "float32")


def test_rotary_seqlens_that_are_cache_seqlens_change_nothing(library):
    random = np.random.default_rng(4)
    q, k = normal(random, 2, 1, 4, 16), normal(random, 2, 1, 2, 16)
    cos, sin = (library(normal(random, 9, 8)) for _ in range(2))
    lengths, outs = library(np.array([3, 5], np.int32)), []
    for given in ({}, {"rotary_seqlens": lengths}):
        k_cache, v_cache = (library(np.ones((2, 8, 2, 16), np.float32)) for _ in range(2))
        outs.append(library.back(fa3.flash_attn_with_kvcache(library(q), k_cache, v_cache, library(k), library(k), cache_seqlens=lengths,
                                                             rotary_cos=cos, rotary_sin=sin, **given)))
    np.testing.assert_array_equal(*outs)


@pytest.mark.parametrize("lengths", [np.int32, np.int64])
@pytest.mark.parametrize("padded", [False, True], ids=["ragged keys", "padded keys"])
@pytest.mark.parametrize("mask", ["none", "causal", "local"])
def test_flash_attn_varlen_func_is_the_definition_per_sequence(library, lengths, padded, mask):
    random = np.random.default_rng(3)
    q_lengths, k_lengths = [5, 0, 1, 9], [7, 4, 0, 9]
    cu_q, cu_k = (np.cumsum([0, *each]).astype(lengths) for each in (q_lengths, k_lengths))
    q = normal(random, sum(q_lengths), 4, 16)
    k, v = (normal(random, *((4, 12) if padded else (sum(k_lengths),)), 2, 16) for _ in range(2))
    used = library(np.array(k_lengths, lengths)) if padded else None
    out, lse = fa3.flash_attn_varlen_func(*map(library, (q, k, v, cu_q)), None if padded else library(cu_k), 9, 12,
                                          seqused_k=used, **MASKS[mask], return_attn_probs=True)
    for b in range(4):
        rows, keys = slice(cu_q[b], cu_q[b + 1]), (b, slice(k_lengths[b])) if padded else slice(cu_k[b], cu_k[b + 1])
        want, want_lse = definitions.attention(q[rows], k[keys], v[keys], **of_definition(MASKS[mask]))
        close(library.back(out)[rows], want, "float32")
        close(library.back(lse)[:, rows], want_lse, "float32")


def cache_of(random, page, lengths, capacity, heads):
    """Caches of NaN but for what the lengths fill, and by each entry the rows where its keys lie: (page, row) or (entry, row)."""
    batch, slots = len(lengths), np.arange(capacity)
    if page:
        per_entry = -(-capacity // page)
        table = random.permutation(batch * per_entry + 2)[:batch * per_entry].reshape(batch, per_entry).astype(np.int32)
        shape, places = (batch * per_entry + 2, page), [(table[b][slots // page], slots % page) for b in range(batch)]
    else:
        table, shape, places = None, (batch, capacity), [(np.full(capacity, b), slots) for b in range(batch)]
    caches = [np.full((*shape, heads, 16), np.nan, np.float32) for _ in range(2)]
    for cache in caches:
        for (blocks, rows), length in zip(places, lengths):
            cache[blocks[:length], rows[:length]] = random.standard_normal((length, heads, 16))
    return *caches, table, places


@pytest.mark.parametrize("page", [0, 1, 4, 128])
@pytest.mark.parametrize("new, rotary", [(0, None), (1, None), (3, None), (1, False), (3, False), (1, True), (3, True)])
@pytest.mark.parametrize("mask", ["none", "causal", "local"])
@pytest.mark.parametrize("leftpad", [False, True])
def test_flash_attn_with_kvcache_appends_turns_and_attends(library, page, new, rotary, mask, leftpad):
    random = np.random.default_rng(page + new)
    lengths, queries, capacity = [9, 0 if new and not leftpad else 4, 13], max(new, 1), 20
    pads = [2, 1, 0] if leftpad else [0, 0, 0]
    k_cache, v_cache, table, places = cache_of(random, page, lengths, capacity, 2)
    q, k, v = (normal(random, 3, queries, heads, 16) for heads in (4, 2, 2))
    angles = random.uniform(0, 6, (capacity, 8))
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    before = k_cache.copy(), v_cache.copy()
    given = {"k": library(k), "v": library(v)} if new else {}
    if rotary is not None:
        given.update(rotary_cos=library(cos), rotary_sin=library(sin), rotary_interleaved=rotary)
    if leftpad:
        given["cache_leftpad"] = library(np.array(pads, np.int32))
    if page:
        given["page_table"] = library(table)
    out, lse, *parts = fa3.flash_attn_with_kvcache(library(q), library(k_cache), library(v_cache), **given, **MASKS[mask],
                                                   cache_seqlens=library(np.array(lengths, np.int32)), return_softmax_lse=True,
                                                   num_splits=3 if page == 4 else 0)
    assert [library.back(part).size for part in parts] == [0, 0]
    for b, (blocks, rows) in enumerate(places):
        length, query = lengths[b], q[b]
        want_k, want_v = (old[blocks[:length], rows[:length]] for old in before)
        if new:
            key = k[b]
            if rotary is not None:
                positions = length + np.arange(queries)
                key = definitions.rotate(k[b], cos, sin, positions, rotary)
                query = definitions.rotate(query, cos, sin, np.full(queries, length) if mask == "none" else positions, rotary)
            added = slice(length, length + new)
            np.testing.assert_allclose(k_cache[blocks[added], rows[added]], key, rtol=1e-6, atol=1e-6)
            np.testing.assert_array_equal(v_cache[blocks[added], rows[added]], v[b])
            want_k, want_v = np.concatenate([want_k, key]), np.concatenate([want_v, v[b]])
        want, want_lse = definitions.attention(query, want_k[pads[b]:], want_v[pads[b]:], **of_definition(MASKS[mask]))
        close(library.back(out)[b], want, "float32")
        close(library.back(lse)[b], want_lse, "float32")
    touched = np.zeros(k_cache.shape[:2], bool)
    for (blocks, rows), length in zip(places, lengths):
        touched[blocks[length:length + new], rows[length:length + new]] = True
    for cache, old in zip((k_cache, v_cache), before):
        np.testing.assert_array_equal(cache[~touched], old[~touched])


def test_a_number_is_the_length_of_every_sequence_and_rows_may_be_chosen(library):
    random = np.random.default_rng(5)
    q, k, v = (normal(random, n, s, h, 16) for n, s, h in ((2, 1, 4), (5, 8, 2), (5, 8, 2)))
    rows = np.array([4, 1], np.int64)
    out = library.back(fa3.flash_attn_with_kvcache(*map(library, (q, k, v)), cache_seqlens=6, cache_batch_idx=library(rows)))
    for b, row in enumerate(rows):
        close(out[b], definitions.attention(q[b], k[row, :6], v[row, :6])[0], "float32")
    whole = library.back(fa3.flash_attn_with_kvcache(*map(library, (q, k[:2].copy(), v[:2].copy()))))
    close(whole[0], definitions.attention(q[0], k[0], v[0])[0], "float32")


def test_ragged_queries_attend_to_a_cache(library):
    random = np.random.default_rng(6)
    q, k, v = normal(random, 5, 4, 16), normal(random, 2, 8, 2, 16), normal(random, 2, 8, 2, 16)
    cu = np.array([0, 2, 5], np.int32)
    out = library.back(fa3.flash_attn_with_kvcache(*map(library, (q, k, v)), cache_seqlens=7, cu_seqlens_q=library(cu),
                                                   max_seqlen_q=3, causal=True))
    for b in range(2):
        rows = slice(cu[b], cu[b + 1])
        close(out[rows], definitions.attention(q[rows], k[b, :7], v[b, :7], causal=True)[0], "float32")


@pytest.mark.parametrize("column_major", [False, True])
def test_float8_takes_descales_and_gives_bfloat16_in_either_order_of_the_values(library, column_major):
    random = np.random.default_rng(7)
    q, k, v = (normal(random, 2, n, h, 32).astype(E4M3) for n, h in ((4, 4), (16, 2), (16, 2)))
    descales = [random.uniform(0.5, 2, (2, 2)).astype(np.float32) for _ in range(3)]
    # The same elements, contiguous along the keys.
    given_v = library(v)
    if column_major:
        given_v = library(np.ascontiguousarray(v.transpose(0, 2, 3, 1)))
        given_v = given_v.permute(0, 3, 1, 2) if library.name == "torch" else given_v.transpose(0, 3, 1, 2)
    out = library.back(fa3.flash_attn_func(library(q), library(k), given_v, causal=True, **dict(
        zip(("q_descale", "k_descale", "v_descale"), map(library, descales)))))
    assert out.dtype == ml_dtypes.bfloat16
    for b in range(2):
        heads = [np.repeat(descale[b], 2)[:, None] for descale in descales]
        want, _ = definitions.attention(q[b].astype(np.float64) * heads[0] * heads[1], k[b], v[b], 32**-0.5, causal=True)
        np.testing.assert_allclose(out[b].astype(np.float64), want * heads[2], atol=0.15)
        assert np.abs(out[b].astype(np.float64) - want * heads[2]).mean() < 0.03


def test_inputs_in_other_strides_are_copied_and_caches_are_not(library, refuses):
    random = np.random.default_rng(8)
    q, k, v = (np.asfortranarray(normal(random, 1, 6, 2, 16)) for _ in range(3))
    close(library.back(fa3.flash_attn_func(*map(library, (q, k, v))))[0], definitions.attention(q[0], k[0], v[0])[0], "float32")
    dense = np.ascontiguousarray(q)
    refuses(lambda: fa3.flash_attn_with_kvcache(library(dense), library(k), library(dense)), "attention: k has stride")
    refuses(lambda: fa3.flash_attn_with_kvcache(library(dense), library(dense), library(v)), "v_cache has stride")


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("ragged", [False, True])
def test_flash_attn_combine_gives_attention_over_all_keys(library, parts, ragged):
    random = np.random.default_rng(parts)
    shape = (parts, 6, 3) if ragged else (parts, 2, 6, 3)
    outs, lses = normal(random, *shape, 16), normal(random, *shape) * 4
    lses[0, ..., 0] = -np.inf
    lses[..., 1, 1] = -np.inf
    outs[np.isneginf(lses)] = 0
    top = np.maximum(lses.max(axis=0), -1e30)
    weights = np.exp(lses.astype(np.float64) - top)
    total = weights.sum(axis=0)
    want = (weights[..., None] * outs).sum(axis=0) / np.where(total == 0, 1, total)[..., None]
    with np.errstate(divide="ignore"):
        want_lse = np.where(total == 0, -np.inf, np.log(total) + top)
    out, lse = fa3.flash_attn_combine(library(outs), library(lses))
    close(library.back(out), want, "float32")
    close(library.back(lse), want_lse, "float32")
    half, _ = fa3.flash_attn_combine(library(outs), library(lses), out_dtype="float16")
    assert library.back(half).dtype == np.float16
    close(library.back(half), want, "float16")
    given = np.zeros(want.shape, np.float16)
    tensor = library(given)
    assert fa3.flash_attn_combine(library(outs), library(lses), out=tensor)[0] is tensor
    np.testing.assert_array_equal(given, library.back(half))


def test_the_metadata_is_empty_and_is_taken(library):
    lengths = library(np.array([3, 5], np.int32))
    metadata = fa3.get_scheduler_metadata(2, 1, 8, 4, 2, 16, lengths, causal=True)
    assert library.back(metadata).shape == (0,) and library.back(metadata).dtype == np.int32
    q, cache = library(np.ones((2, 1, 4, 16), np.float32)), library(np.ones((2, 8, 2, 16), np.float32))
    out = fa3.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=lengths, scheduler_metadata=metadata)
    np.testing.assert_allclose(library.back(out), 1, rtol=1e-6)


def test_queries_of_values_join_the_logits():
    random = np.random.default_rng(11)
    q, qv = random.standard_normal((2, 3, 4, 16)), random.standard_normal((2, 3, 4, 32))
    k, v = random.standard_normal((2, 8, 1, 16)), random.standard_normal((2, 8, 1, 32))
    logits = (np.einsum("bihd,bjd->bhij", q, k[:, :, 0]) + np.einsum("bihd,bjd->bhij", qv, v[:, :, 0])) / np.sqrt(16 + 32)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    expected = np.einsum("bhij,bjd->bihd", weights / weights.sum(-1, keepdims=True), v[:, :, 0])
    given = [array.astype(np.float32) for array in (q, k, v, qv)]
    out = fa3.flash_attn_func(*given[:3], qv=given[3])
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    lengths = np.array([8, 8], np.int32)
    np.testing.assert_array_equal(fa3.flash_attn_with_kvcache(*given[:3], qv=given[3], cache_seqlens=lengths), out)


def test_what_isomer_has_not_and_what_is_wrong_is_refused_in_a_sentence(refuses):
    q, cache = np.ones((2, 1, 4, 16), np.float32), np.ones((2, 8, 2, 16), np.float32)
    table, one = np.ones((8, 8), np.float32), np.array([3, 5], np.int32)
    refuses(lambda: fa3.flash_attn_with_kvcache(q, cache, cache, rotary_cos=table, rotary_sin=table, cache_seqlens=one,
                                                rotary_seqlens=one - 1), "rotary_seqlens", code="unsupported")
    for call in (fa3.flash_attn_func, fa3.flash_attn_with_kvcache):
        for chunk in (-1, "4", 2.5, [1], 2**70):
            refuses(lambda: call(q, cache, cache, attention_chunk=chunk), "attention_chunk is ")
        for window in (3, "ab", (1, 2, 3), None, (None, 1)):
            refuses(lambda: call(q, cache, cache, window_size=window), "window_size is ")
        for bad in ([1.0], None, 3, "q", q.astype(object), q.astype(np.float64), q[0, 0]):
            for at in range(3):
                tensors = [q, cache, cache]
                tensors[at] = bad
                refuses(lambda: call(*tensors), "attention: ")
        refuses(lambda: call(q, cache, cache, colour=1), "colour", of=TypeError)
    for lengths in (9, -1, np.array([3], np.int32), np.array([3, 9], np.int32), "3", np.array([1.0, 2.0])):
        refuses(lambda: fa3.flash_attn_with_kvcache(q, cache, cache, cache_seqlens=lengths), "attention: ", "seqused_k")
    refuses(lambda: fa3.flash_attn_with_kvcache(q, cache, cache.copy(), k=cache[:, :1].copy(), cache_seqlens=3), "attention: ", "v_new")
    refuses(lambda: fa3.flash_attn_with_kvcache(q, cache, cache, rotary_cos=np.ones((8, 8), np.float32)), "attention: ", "rotary")
    refuses(lambda: fa3.flash_attn_combine(np.zeros((0, 1, 1, 1, 8), np.float32), np.zeros((0, 1, 1, 1), np.float32)), "parts")
    refuses(lambda: fa3.flash_attn_combine([q], [q]), "parts")


def test_cosines_and_sines_of_an_fp8_call_may_be_fp8():
    random = np.random.default_rng(3)
    eight = [normal(random, 2, s, 2, 32).astype(E4M3) for s in (3, 9, 9, 3, 3)]
    angle = random.uniform(0, 6, (9, 8))
    cos, sin = np.cos(angle).astype(E4M3), np.sin(angle).astype(E4M3)

    def call(c, s):
        q, k_cache, v_cache, k, v = (x.copy() for x in eight)
        return fa3.flash_attn_with_kvcache(q, k_cache, v_cache, k, v, rotary_cos=c, rotary_sin=s, causal=True,
                                           cache_seqlens=np.array([4, 6], np.int32)).astype(np.float32)

    np.testing.assert_array_equal(call(cos, sin), call(cos.astype(np.float32), sin.astype(np.float32)))
