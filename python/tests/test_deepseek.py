"""isomer.compat.deepseek against the definitions of the original's functions, in NumPy."""

import inspect

import ml_dtypes
import numpy as np
import pytest

from isomer.compat import deepseek

E4M3 = ml_dtypes.float8_e4m3fn


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def test_the_signatures_are_the_originals():
    assert [str(inspect.signature(f)) for f in (deepseek.act_quant, deepseek.weight_dequant, deepseek.fp8_gemm)] == [
        "(x, block_size: int = 128)", "(x, s, block_size: int = 128)", "(a, a_s, b, b_s)"]


@pytest.mark.parametrize("shape", [(1, 128), (3, 256), (2, 5, 384)])
@pytest.mark.parametrize("block_size", [64, 128])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_act_quant(shape, block_size, dtype):
    x = random(*shape, dtype=dtype)
    y, s = deepseek.act_quant(x, block_size)
    blocks = x.astype(np.float32).reshape(*shape[:-1], -1, block_size)
    scale = np.abs(blocks).max(-1) / np.float32(448)
    np.testing.assert_array_equal(s, scale)
    np.testing.assert_array_equal(y.view(np.uint8), (blocks / scale[..., None]).astype(E4M3).reshape(shape).view(np.uint8))


def test_a_block_of_zeros_is_nan_with_scale_0_as_in_the_original():
    y, s = deepseek.act_quant(np.zeros((1, 128), np.float32))
    assert s[0, 0] == 0 and np.isnan(y.astype(np.float32)).all()


@pytest.mark.parametrize("shape", [(128, 128), (130, 257), (1, 1)])
def test_weight_dequant(shape):
    x = random(*shape).astype(E4M3)
    s = random(-(-shape[0] // 128), -(-shape[1] // 128), seed=1)
    want = x.astype(np.float32) * s.repeat(128, 0).repeat(128, 1)[: shape[0], : shape[1]]
    np.testing.assert_array_equal(deepseek.weight_dequant(x, s), want)


@pytest.mark.parametrize("m, n, k", [(1, 16, 128), (5, 130, 384), (64, 256, 256)])
def test_fp8_gemm(m, n, k):
    a, a_s = deepseek.act_quant(random(m, k))
    b, b_s = random(n, k, seed=1).astype(E4M3), np.abs(random(-(-n // 128), k // 128, seed=2))
    want = (a.astype(np.float64) * a_s.repeat(128, 1)) @ (b.astype(np.float64) * b_s.repeat(128, 0)[:n].repeat(128, 1)).T
    np.testing.assert_allclose(deepseek.fp8_gemm(a, a_s, b, b_s), want, rtol=1e-5, atol=1e-4)
