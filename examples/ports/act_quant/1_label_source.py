"""Quantises activations to 8-bit floats, one scale for each block of a row."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantise_blocks(x_ptr, y_ptr, s_ptr, BLOCK_SIZE: tl.constexpr):
    block = tl.program_id(0)
    element = block * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + element).to(tl.float32)
    largest = tl.maximum(tl.max(tl.abs(x)), 1e-4)
    s = largest / 448.0
    tl.store(y_ptr + element, (x / s).to(y_ptr.dtype.element_ty))
    tl.store(s_ptr + block, s)


def act_quant(x, block_size=128):
    assert x.is_contiguous() and x.size(-1) % block_size == 0
    y = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    s = x.new_empty(*x.shape[:-1], x.size(-1) // block_size, dtype=torch.float32)
    _quantise_blocks[(s.numel(),)](x, y, s, BLOCK_SIZE=block_size)
    return y, s
