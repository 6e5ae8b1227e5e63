"""Joins the blocks of flash decoding: one program for each sequence and head."""

import torch
import triton
import triton.language as tl


@triton.jit
def _join_blocks(
    B_Seqlen, Mid_O, Mid_O_LogExpSum, Out,
    stride_mid_batch, stride_mid_head, stride_mid_block, stride_mid_dim,
    stride_lse_batch, stride_lse_head, stride_lse_block,
    stride_out_batch, stride_out_head, stride_out_dim,
    BLOCK_SEQ: tl.constexpr,
    BLOCK_DMODEL: tl.constexpr,
):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    dim = tl.arange(0, BLOCK_DMODEL)
    length = tl.load(B_Seqlen + sequence)
    blocks = tl.cdiv(length, BLOCK_SEQ)

    largest = -float("inf")
    total = 0.0
    joined = tl.zeros([BLOCK_DMODEL], dtype=tl.float32)
    mid_at = Mid_O + sequence * stride_mid_batch + head * stride_mid_head + dim * stride_mid_dim
    lse_at = Mid_O_LogExpSum + sequence * stride_lse_batch + head * stride_lse_head
    for block in range(0, blocks):
        part = tl.load(mid_at + block * stride_mid_block)
        lse = tl.load(lse_at + block * stride_lse_block)
        larger = tl.maximum(lse, largest)
        shrink = tl.exp(largest - larger)
        weight = tl.exp(lse - larger)
        joined = joined * shrink + weight * part
        total = total * shrink + weight
        largest = larger
    out_at = Out + sequence * stride_out_batch + head * stride_out_head + dim * stride_out_dim
    tl.store(out_at, joined / total)


@torch.no_grad()
def flash_decode_stage2(mid_out, mid_out_logexpsum, B_Seqlen, Out, block_seq):
    batch, heads, _, head_dim = mid_out.shape
    assert head_dim in {16, 32, 64, 128}
    _join_blocks[(batch, heads)](
        B_Seqlen, mid_out, mid_out_logexpsum, Out,
        mid_out.stride(0), mid_out.stride(1), mid_out.stride(2), mid_out.stride(3),
        mid_out_logexpsum.stride(0), mid_out_logexpsum.stride(1), mid_out_logexpsum.stride(2),
        Out.stride(0), Out.stride(1), Out.stride(2),
        BLOCK_SEQ=block_seq,
        BLOCK_DMODEL=head_dim,
        num_warps=4,
        num_stages=2,
    )
