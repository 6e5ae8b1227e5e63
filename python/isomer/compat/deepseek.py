"""The calls of DeepSeek-V3's inference/kernel.py: act_quant, weight_dequant, fp8_gemm.

Where those make an output in torch.get_default_dtype(), so do these for tensors of PyTorch; the arrays of other libraries
get float32. Tensors need not be contiguous. As in DeepSeek's current source a block whose largest magnitude is below 1e-4
is scaled as if it were 1e-4, so that a block of zeros gives zeros; the earlier source gave NaN.
"""

import sys

import isomer

from . import _arrays


def _default_dtype(like):
    return sys.modules["torch"].get_default_dtype() if _arrays.is_torch(like) else "f32"


def act_quant(x, block_size=128):
    """(y, s): x [..., K] in blocks of block_size along K as float8_e4m3fn, and the scale of each block in float32."""
    return isomer.act_quant(x, block_size=block_size)


def weight_dequant(x, s, block_size=128):
    """x [M, N] in float8_e4m3fn times the scale of each block of block_size × block_size."""
    return isomer.weight_dequant(x, s, block_size=block_size, dtype=_default_dtype(x))


def fp8_gemm(a, a_s, b, b_s):
    """a [..., K] · bᵀ of b [N, K], each block of 128 along K multiplied by its scales, summed in float32."""
    return isomer.fp8_gemm(a, a_s, b, b_s, dtype=_default_dtype(a))


__all__ = ["act_quant", "fp8_gemm", "weight_dequant"]
