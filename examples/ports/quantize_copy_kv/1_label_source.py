"""Scatters a token's keys or values into an int8 cache, one scale per token and head."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantize_rows(
    K, DestLoc, Out, Out_scale,
    stride_k_token, stride_k_head, stride_k_dim,
    stride_out_row, stride_out_head, stride_out_dim,
    stride_scale_row, stride_scale_head,
    heads,
    BLOCK_DMODEL: tl.constexpr,
    BLOCK_HEAD: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.arange(0, BLOCK_HEAD)
    dim = tl.arange(0, BLOCK_DMODEL)
    row = tl.load(DestLoc + token)
    live = head[:, None] < heads
    k_at = K + token * stride_k_token + head[:, None] * stride_k_head + dim[None, :] * stride_k_dim
    k = tl.load(k_at, mask=live, other=0.0)
    scale = (tl.max(tl.abs(k), axis=1) / 127.0).to(tl.float16)[:, None]
    quotient = (k / scale).to(tl.int8)
    out_at = Out + row * stride_out_row + head[:, None] * stride_out_head + dim[None, :] * stride_out_dim
    scale_at = Out_scale + row * stride_scale_row + head[:, None] * stride_scale_head
    tl.store(out_at, quotient, mask=live)
    tl.store(scale_at, scale, mask=live)


@torch.no_grad()
def destindex_copy_quantize_kv(K, DestLoc, Out, Out_scale):
    tokens, heads, head_dim = K.shape
    assert Out.shape[1:] == K.shape[1:]
    _quantize_rows[(tokens,)](
        K, DestLoc, Out, Out_scale,
        K.stride(0), K.stride(1), K.stride(2),
        Out.stride(0), Out.stride(1), Out.stride(2),
        Out_scale.stride(0), Out_scale.stride(1),
        heads,
        BLOCK_DMODEL=head_dim,
        BLOCK_HEAD=triton.next_power_of_2(heads),
        num_warps=1,
        num_stages=1,
    )
