"""Attention, one program for each query."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(
    q_ptr, k_ptr, v_ptr, out_ptr,
    stride_q_batch, stride_q_row, stride_q_head,
    stride_k_batch, stride_k_row, stride_k_head,
    stride_v_batch, stride_v_row, stride_v_head,
    stride_out_batch, stride_out_row, stride_out_head,
    queries, keys, scale, group,
    CAUSAL: tl.constexpr,
    BLOCK_KEYS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
):
    query = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    kv_head = head // group
    dim = tl.arange(0, HEAD_DIM)
    key = tl.arange(0, BLOCK_KEYS)
    q = tl.load(q_ptr + batch * stride_q_batch + query * stride_q_row + head * stride_q_head + dim).to(tl.float32)
    k_at = k_ptr + batch * stride_k_batch + kv_head * stride_k_head + dim[None, :]
    v_at = v_ptr + batch * stride_v_batch + kv_head * stride_v_head + dim[None, :]
    largest = -float("inf")
    total = 0.0
    joined = tl.zeros([HEAD_DIM], dtype=tl.float32)
    end = keys
    if CAUSAL:
        # The last query sees the last key.
        end = tl.minimum(keys, query + keys - queries + 1)
    for first in range(0, end, BLOCK_KEYS):
        live = first + key < end
        k = tl.load(k_at + (first + key)[:, None] * stride_k_row, mask=live[:, None], other=0.0).to(tl.float32)
        logit = tl.sum(q[None, :] * k, axis=1) * scale
        logit = tl.where(live, logit, -float("inf"))
        larger = tl.maximum(tl.max(logit, axis=0), largest)
        shrink = tl.exp(largest - larger)
        weight = tl.exp(logit - larger)
        v = tl.load(v_at + (first + key)[:, None] * stride_v_row, mask=live[:, None], other=0.0).to(tl.float32)
        joined = joined * shrink + tl.sum(weight[:, None] * v, axis=0)
        total = total * shrink + tl.sum(weight, axis=0)
        largest = larger
    out_at = out_ptr + batch * stride_out_batch + query * stride_out_row + head * stride_out_head + dim
    tl.store(out_at, (joined / total).to(out_ptr.dtype.element_ty))


def attention(q, k, v, causal=False, scale=None):
    batch, queries, heads, head_dim = q.shape
    keys, kv_heads = k.shape[1:3]
    scale = head_dim**-0.5 if scale is None else scale
    out = torch.empty_like(q)
    _attend[(queries, heads, batch)](
        q, k, v, out,
        q.stride(0), q.stride(1), q.stride(2),
        k.stride(0), k.stride(1), k.stride(2),
        v.stride(0), v.stride(1), v.stride(2),
        out.stride(0), out.stride(1), out.stride(2),
        queries, keys, scale, heads // kv_heads,
        CAUSAL=causal,
        BLOCK_KEYS=16,
        HEAD_DIM=head_dim,
    )
    return out
