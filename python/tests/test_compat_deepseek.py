"""isomer.compat.deepseek against the definitions in float64, with the signatures of DeepSeek's file."""

import inspect

import numpy as np
import pytest

from calls import E4M3
from isomer.compat import deepseek
from libraries import library  # noqa: F401


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def as_float8(x):
    return x.astype(np.float32).astype(E4M3)


def test_signatures_are_deepseeks():
    assert [str(inspect.signature(getattr(deepseek, name))) for name in ("act_quant", "weight_dequant", "fp8_gemm")] == [
        "(x, block_size=128)", "(x, s, block_size=128)", "(a, a_s, b, b_s)"]


@pytest.mark.parametrize("shape", [(1, 128), (3, 256), (2, 5, 384), (0, 128)], ids=str)
@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_act_quant_divides_each_block_by_its_largest_over_448(library, shape, block, dtype):
    x = normal(*shape, dtype=dtype) * dtype(3)
    y, s = (library.back(each) for each in deepseek.act_quant(library(x), block))
    blocks = x.astype(np.float32).reshape(*shape[:-1], shape[-1] // block, block)
    scales = np.maximum(np.abs(blocks).max(axis=-1), np.float32(1e-4)) / np.float32(448)
    np.testing.assert_array_equal(s, scales)
    np.testing.assert_array_equal(y.view(np.uint8), as_float8(blocks / scales[..., None]).reshape(shape).view(np.uint8))


def test_a_block_of_zeros_is_zeros_and_no_nan(library):
    y, s = (library.back(each) for each in deepseek.act_quant(library(np.zeros((2, 128), np.float32))))
    assert not y.view(np.uint8).any() and (s == np.float32(1e-4) / np.float32(448)).all()


@pytest.mark.parametrize("m, n, block", [(128, 128, 128), (130, 300, 128), (1, 1, 128), (65, 64, 64)])
def test_weight_dequant_multiplies_each_block_by_its_scale(library, m, n, block):
    x, s = as_float8(normal(m, n)), normal(-(-m // block), -(-n // block))
    y = library.back(deepseek.weight_dequant(library(x), library(s), block))
    scales = np.repeat(np.repeat(s, block, 0), block, 1)[:m, :n]
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, x.astype(np.float32) * scales)


@pytest.mark.parametrize("leading", [(1,), (7,), (2, 3)], ids=str)
@pytest.mark.parametrize("n, k", [(16, 128), (130, 256), (64, 384)])
def test_fp8_gemm_multiplies_what_the_scaled_matrices_are(library, leading, n, k):
    a, b = as_float8(normal(*leading, k)), as_float8(normal(n, k))
    a_s, b_s = np.abs(normal(*leading, k // 128)), np.abs(normal(-(-n // 128), k // 128))
    c = library.back(deepseek.fp8_gemm(*map(library, (a, a_s, b, b_s))))
    whole_a = a.astype(np.float64) * np.repeat(a_s, 128, -1)
    whole_b = b.astype(np.float64) * np.repeat(np.repeat(b_s, 128, 0), 128, 1)[:n]
    assert c.shape == (*leading, n) and c.dtype == np.float32
    bound = 2.0**-20 * (np.abs(whole_a) @ np.abs(whole_b).T) + 2.0**-24 * np.abs(whole_a @ whole_b.T)
    assert (np.abs(c - whole_a @ whole_b.T) <= bound).all()


def test_outputs_have_pytorchs_default_type_where_tensors_are_pytorchs():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        y, s = deepseek.act_quant(torch.ones(2, 128))
        assert deepseek.weight_dequant(y, torch.ones(1, 1, dtype=torch.float32)).dtype == torch.bfloat16
        assert deepseek.fp8_gemm(y, s, y, torch.ones(1, 1, dtype=torch.float32)).dtype == torch.bfloat16
    finally:
        torch.set_default_dtype(before)


def test_bad_calls_are_refused_by_name(refuses):
    x = np.ones((2, 128), np.float32)
    y, s = deepseek.act_quant(x)
    refuses(lambda: deepseek.act_quant([1.0]), "act_quant: x is a list")
    refuses(lambda: deepseek.act_quant(x, 100), "act_quant: ")
    refuses(lambda: deepseek.act_quant(x.astype(object)), "act_quant: x ")
    refuses(lambda: deepseek.act_quant(x, 128, 1), of=TypeError)
    refuses(lambda: deepseek.weight_dequant(x, s), "weight_dequant: x ")
    refuses(lambda: deepseek.weight_dequant(y, s), "weight_dequant: s ")
    refuses(lambda: deepseek.weight_dequant(None, s), "weight_dequant: ")
    refuses(lambda: deepseek.fp8_gemm(y, s, y, s.ravel()), "fp8_gemm: b_s ")
    refuses(lambda: deepseek.fp8_gemm(y, s, y, None), "fp8_gemm: b_s ")
    refuses(lambda: deepseek.fp8_gemm("y", s, y, s), "fp8_gemm: a is ")
