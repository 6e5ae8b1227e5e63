"""The calls of FlashAttention-3's flash_attn_interface, forward only.

FlashAttention-3's conventions hold here: rotary_interleaved is True unless said otherwise and means nothing without
rotary_cos; cache_seqlens without new keys is the length of the cache; lengths may be int32 or int64; inputs whose last
dimension is not contiguous are copied, caches never. An empty row gives 0 and an lse of -inf.

deterministic, sm_margin and scheduler_metadata change nothing: results are the same for the same plan, and the plan is made
in the call. rotary_seqlens that are not cache_seqlens, which Isomer has not, are refused.
"""

import isomer

from . import _arrays
from ._arrays import with_contiguous_rows, with_int32


def _refuse(name):
    raise isomer.Error(f"flash_attn_3: {name} is given, which Isomer's attention has not; leave it at its default", "unsupported")


def _shown(value):
    """A value as part of a sentence: an array by its type, anything else on one line."""
    text = repr(value)
    return text if "\n" not in text and len(text) < 80 else f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"


def _flag(name, value):
    try:
        return bool(value)
    except Exception:  # an array of more than one element says so in its own way
        raise isomer.Error(f"flash_attn_3: {name} is {_shown(value)}, expected True or False") from None


def _length(name, value):
    try:
        length = int(value)
    except Exception:
        length = None
    if length is None or not -2 ** 31 <= length < 2 ** 31:
        raise isomer.Error(f"flash_attn_3: {name} is {_shown(value)}, expected an integer of 32 bits")
    return length


def _window(window_size, causal, queries, keys):
    """FlashAttention-3's reading: a side that no query reaches is unbounded, and causal means no key to the right."""
    try:
        left, right = (int(side) for side in window_size)
    except Exception:
        raise isomer.Error(f"flash_attn_3: window_size is {_shown(window_size)}, expected two integers (left, right)") from None
    if keys is not None and left >= keys - 1:
        left = -1
    if queries is not None and right >= queries - 1:
        right = -1
    return left, 0 if causal else right


def _pack(pack_gqa):
    return "plan" if pack_gqa is None else "always" if _flag("pack_gqa", pack_gqa) else "never"


def _size(array, dimension):
    shape = getattr(array, "shape", ())
    return int(shape[dimension]) if len(shape) > dimension else None


def _values(v):
    """v, and whether it is column-major: in FP8 it may be contiguous along the keys."""
    strides = _arrays.strides_of(v) if _arrays.is_array(v) else None
    if _arrays.is_e4m3(v) and strides and len(strides) == 4 and strides[-1] != 1 and strides[-3] == 1:
        return v.swapaxes(-3, -2).swapaxes(-2, -1), True
    return with_contiguous_rows(v), False


def _attend(q, k, v, *, qv, attention_chunk, window_size, queries, keys, causal, softmax_scale, pack_gqa, **given):
    causal = _flag("causal", causal)
    v, v_colmajor = _values(v)
    return isomer.attention(
        with_contiguous_rows(q), k, v, qv=with_contiguous_rows(qv), scale=softmax_scale, causal=causal, v_colmajor=v_colmajor,
        window=_window(window_size, causal, queries, keys), attention_chunk=attention_chunk, pack_gqa=_pack(pack_gqa), return_lse=True, **given)


def flash_attn_func(q, k, v, softmax_scale=None, causal=False, qv=None, q_descale=None, k_descale=None, v_descale=None,
                    window_size=(-1, -1), attention_chunk=0, softcap=0.0, num_splits=1, pack_gqa=None,
                    deterministic=False, sm_margin=0, return_attn_probs=False):
    """out [B, Sq, Hq, Dv] of q [B, Sq, Hq, D], k and v [B, Sk, Hkv, D]; with return_attn_probs (out, lse [B, Hq, Sq])."""
    with_lse = _flag("return_attn_probs", return_attn_probs)
    out, lse = _attend(q, with_contiguous_rows(k), v, qv=qv, attention_chunk=attention_chunk, window_size=window_size,
                       queries=_size(q, 1), keys=_size(k, 1), causal=causal, softmax_scale=softmax_scale,
                       pack_gqa=pack_gqa, q_descale=q_descale, k_descale=k_descale, v_descale=v_descale,
                       softcap=softcap, num_splits=num_splits)
    return (out, lse) if with_lse else out


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, seqused_q=None,
                           seqused_k=None, softmax_scale=None, causal=False, qv=None, q_descale=None, k_descale=None,
                           v_descale=None, window_size=(-1, -1), attention_chunk=0, softcap=0.0, num_splits=1,
                           pack_gqa=None, deterministic=False, sm_margin=0, return_attn_probs=False):
    """out [total_q, Hq, Dv] of sequences that lie one after the other; with return_attn_probs (out, lse [Hq, total_q]).

    cu_seqlens_q or cu_seqlens_k may be None: that side is then padded, [B, S, H, D].
    """
    with_lse = _flag("return_attn_probs", return_attn_probs)
    queries = _size(q, 1) if cu_seqlens_q is None else _length("max_seqlen_q", max_seqlen_q)
    keys = _size(k, 1) if cu_seqlens_k is None else _length("max_seqlen_k", max_seqlen_k)
    out, lse = _attend(q, with_contiguous_rows(k), v, qv=qv, attention_chunk=attention_chunk, window_size=window_size,
                       queries=queries, keys=keys, causal=causal, softmax_scale=softmax_scale, pack_gqa=pack_gqa,
                       cu_seqlens_q=with_int32(cu_seqlens_q), cu_seqlens_k=with_int32(cu_seqlens_k),
                       max_seqlen_q=0 if cu_seqlens_q is None else queries,
                       max_seqlen_k=0 if cu_seqlens_k is None else keys,
                       seqused_q=with_int32(seqused_q), seqused_k=with_int32(seqused_k), q_descale=q_descale,
                       k_descale=k_descale, v_descale=v_descale, softcap=softcap, num_splits=num_splits)
    return (out, lse) if with_lse else out


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, qv=None, rotary_cos=None, rotary_sin=None,
                            cache_seqlens=None, cache_batch_idx=None, cache_leftpad=None, page_table=None,
                            cu_seqlens_q=None, cu_seqlens_k_new=None, max_seqlen_q=None, rotary_seqlens=None,
                            q_descale=None, k_descale=None, v_descale=None, softmax_scale=None, causal=False,
                            window_size=(-1, -1), attention_chunk=0, softcap=0.0, rotary_interleaved=True,
                            scheduler_metadata=None, num_splits=0, pack_gqa=None, sm_margin=0,
                            return_softmax_lse=False):
    """Appends k and v, where given, to the caches in place, and attends to the caches; out, or with return_softmax_lse
    (out, lse, out_accum, lse_accum), of which the last two are empty: Isomer keeps no parts of a split."""
    with_lse = _flag("return_softmax_lse", return_softmax_lse)
    if rotary_seqlens is not None and rotary_cos is not None and rotary_seqlens is not cache_seqlens:
        _refuse("rotary_seqlens")
    if isinstance(cache_seqlens, int) and not isinstance(cache_seqlens, bool):
        batch = _size(q, 0) if cu_seqlens_q is None else _size(cu_seqlens_q, 0) - 1
        cache_seqlens = _arrays.full((batch or 0,), _length("cache_seqlens", cache_seqlens), "int32", like=k_cache)
    lengths = with_int32(cache_seqlens)
    appends = k is not None or v is not None
    queries = _size(q, 1) if cu_seqlens_q is None else None if max_seqlen_q is None else _length("max_seqlen_q", max_seqlen_q)
    keys = _size(k_cache, 1)
    if page_table is not None and keys is not None:
        keys *= _size(page_table, 1) or 1
    strides = _arrays.strides_of(v_cache) if _arrays.is_array(v_cache) else None
    if strides and strides[-1] != 1:
        raise isomer.Error(f"flash_attn_3: v_cache has stride {strides[-1]} in its last dimension, expected 1")
    out, lse = _attend(q, k_cache, v_cache, qv=qv, attention_chunk=attention_chunk, window_size=window_size,
                       queries=queries, keys=keys, causal=causal, softmax_scale=softmax_scale, pack_gqa=pack_gqa,
                       k_new=with_contiguous_rows(k), v_new=with_contiguous_rows(v),
                       cache_seqlens=lengths if appends else None, seqused_k=None if appends else lengths,
                       kv_batch_idx=with_int32(cache_batch_idx), leftpad_k=with_int32(cache_leftpad),
                       page_table=with_int32(page_table), cu_seqlens_q=with_int32(cu_seqlens_q),
                       cu_seqlens_k_new=with_int32(cu_seqlens_k_new),
                       max_seqlen_q=0 if cu_seqlens_q is None or queries is None else queries,
                       rotary_cos=_arrays.widened(rotary_cos), rotary_sin=_arrays.widened(rotary_sin),
                       rotary_interleaved=rotary_cos is not None and _flag("rotary_interleaved", rotary_interleaved),
                       q_descale=q_descale, k_descale=k_descale, v_descale=v_descale, softcap=softcap,
                       num_splits=num_splits)
    if not with_lse:
        return out
    return out, lse, _arrays.full((0,), 0, "float32", like=out), _arrays.full((0,), 0, "float32", like=out)


def flash_attn_combine(out_partial, lse_partial, out=None, out_dtype=None):
    """(out [B, S, H, Dv], lse [B, S, H]) of parts over disjoint keys: out_partial [parts, B, S, H, Dv], lse_partial
    [parts, B, S, H]. A part whose lse is -inf weighs nothing. out_dtype is that of the parts unless it or out is given."""
    parts = _size(out_partial, 0)
    if not parts or _size(lse_partial, 0) != parts:
        raise isomer.Error(f"flash_attn_3: out_partial and lse_partial have {parts} and {_size(lse_partial, 0)} parts, "
                           "expected the same number, at least 1")
    total, lse = out_partial[0], lse_partial[0]
    if parts == 1:  # merged with what weighs nothing: a copy in the dtype that is asked for
        nothing = _arrays.full(tuple(lse.shape), float("-inf"), "float32", like=lse)
        return isomer.merge_attention(total, lse, total, nothing, out=out, dtype=out_dtype, return_lse=True)
    for part in range(1, parts - 1):
        total, lse = isomer.merge_attention(total, lse, out_partial[part], lse_partial[part], dtype="f32", return_lse=True)
    return isomer.merge_attention(total, lse, out_partial[parts - 1], lse_partial[parts - 1], out=out,
                                  dtype=str(out_partial.dtype) if out_dtype is None and out is None else out_dtype,
                                  return_lse=True)


def get_scheduler_metadata(batch_size, max_seqlen_q, max_seqlen_k, num_heads_q, num_heads_kv, headdim, cache_seqlens,
                           qkv_dtype=None, headdim_v=None, cu_seqlens_q=None, cu_seqlens_k_new=None,
                           cache_leftpad=None, page_size=None, max_seqlen_k_new=0, causal=False, window_size=(-1, -1),
                           attention_chunk=0, has_softcap=False, num_splits=0, pack_gqa=None, sm_margin=0):
    """An empty int32 tensor beside cache_seqlens: Isomer's plan is made in the call, so there is nothing to hand on.

    isomer.Plan decides once for many calls; flash_attn_with_kvcache takes this tensor and looks at nothing in it.
    """
    return _arrays.full((0,), 0, "int32", like=cache_seqlens)


__all__ = ["flash_attn_combine", "flash_attn_func", "flash_attn_varlen_func", "flash_attn_with_kvcache",
           "get_scheduler_metadata"]
