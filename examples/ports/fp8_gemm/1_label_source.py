"""The product of two matrices of 8-bit floats with a scale for each block."""

import torch
import triton
import triton.language as tl


@triton.jit
def _scaled_product(
    a_ptr, a_s_ptr, b_ptr, b_s_ptr, c_ptr,
    M, N, K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    depths = tl.cdiv(K, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(depths):
        k = block * BLOCK_K + depth
        a = tl.load(a_ptr + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + column[None, :] * K + k[:, None], mask=(column[None, :] < N) & (k[:, None] < K), other=0.0)
        a_s = tl.load(a_s_ptr + row * depths + block, mask=row < M, other=0.0)
        b_s = tl.load(b_s_ptr + (column // 128) * depths + block, mask=column < N, other=0.0)
        total += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
    live = (row[:, None] < M) & (column[None, :] < N)
    tl.store(c_ptr + row[:, None] * N + column[None, :], total.to(c_ptr.dtype.element_ty), mask=live)


def fp8_gemm(a, a_s, b, b_s):
    assert a.is_contiguous() and b.is_contiguous() and a_s.is_contiguous() and b_s.is_contiguous()
    K, N = a.size(-1), b.size(0)
    M = a.numel() // K
    c = a.new_empty(*a.shape[:-1], N, dtype=torch.bfloat16)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 64))
    _scaled_product[grid](a, a_s, b, b_s, c, M, N, K, BLOCK_M=16, BLOCK_N=64, BLOCK_K=128)
    return c
