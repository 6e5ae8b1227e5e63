"""Arrays of JAX, by DLPack or their address; outputs are arrays of JAX's."""

import numpy as np
import pytest

import isomer

jax = pytest.importorskip("jax", exc_type=ImportError)
import jax.numpy as jnp  # noqa: E402


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_attention_is_jaxs(dtype):
    q, k, v = (jax.random.normal(jax.random.key(i), (2, n, h, 64)).astype(dtype)
               for i, (n, h) in enumerate(((33, 8), (65, 2), (65, 2))))
    out, lse = isomer.attention(q, k, v, return_lse=True)
    with jax.default_matmul_precision("highest"):  # a GPU would take tf32
        want = jax.nn.dot_product_attention(*(x.astype("float32") for x in (q, k, v)))
    assert isinstance(out, jax.Array) and out.dtype == dtype and lse.shape == (2, 8, 33)
    np.testing.assert_allclose(np.asarray(out, np.float32), np.asarray(want), atol=2e-5 if dtype == "float32" else 2e-2)


def test_float8_is_read_and_allocated():
    x = jax.random.normal(jax.random.key(0), (4, 256))
    y, s = isomer.act_quant(x)
    assert y.dtype == jnp.float8_e4m3fn and s.shape == (4, 2)
    weights = isomer.weight_dequant(y, s[:1], dtype="f32")
    np.testing.assert_allclose(np.asarray(weights), np.asarray(y).astype(np.float32) * np.asarray(s[:1]).repeat(128, 1))


def test_a_traced_array_is_named(refuses):
    refuses(lambda: jax.jit(lambda x: isomer.sin(x))(jnp.ones(3)), "sin: x")
    refuses(lambda: jax.grad(lambda x: isomer.sin(x).sum())(jnp.ones(3)), "sin: x")


def test_dtypes_that_isomer_has_not_are_named(refuses):
    refuses(lambda: isomer.sin(jnp.ones(3, jnp.complex64)), "sin: x")
    refuses(lambda: isomer.sin(jnp.ones(3, jnp.bool)), "sin: x")
