"""Tensors of PyTorch: read by their attributes, allocated by PyTorch; on a GPU on its current stream."""

import numpy as np
import pytest

import isomer

torch = pytest.importorskip("torch", exc_type=ImportError)

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() and len(isomer.devices()) > 1 else [])


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_attention_is_pytorchs(device, dtype):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, n, h, 64, dtype=dtype, device=device) for n, h in ((33, 8), (65, 2), (65, 2)))
    out, lse = isomer.attention(q, k, v, return_lse=True)
    want = torch.nn.functional.scaled_dot_product_attention(
        *(x.double().transpose(1, 2) for x in (q, k.repeat_interleave(4, 2), v.repeat_interleave(4, 2)))).transpose(1, 2)
    assert isinstance(out, torch.Tensor) and out.dtype == dtype and out.device == q.device and lse.shape == (2, 8, 33)
    torch.testing.assert_close(out.double(), want, atol={4: 1e-5, 2: 2e-2}[dtype.itemsize], rtol=0)


def test_float8_goes_both_ways(device):
    x = torch.randn(4, 256, device=device)
    y, s = isomer.act_quant(x)
    assert y.dtype == torch.float8_e4m3fn and s.shape == (4, 2)
    want = (x.view(4, 2, 128) / s[..., None]).to(torch.float8_e4m3fn).view(4, 256)
    assert torch.equal(y.view(torch.uint8), want.view(torch.uint8))
    c = isomer.fp8_gemm(y, s, y, torch.ones(1, 2, device=device), dtype=torch.float32)
    torch.testing.assert_close(c, (y.float().view(4, 2, 128) * s[..., None]).view(4, 256) @ y.float().T, rtol=2e-3, atol=1e-3)


def test_scales_in_columns_have_the_strides_of_the_layout(device):
    _, s = isomer.act_quant(torch.ones(5, 256, device=device), scale_layout="column_major")
    assert s.stride() == (1, 8) and s.shape == (5, 2)


def test_strided_and_sliced_tensors_are_read_where_they_lie(device):
    x = torch.randn(6, 8, device=device)
    for view in (x[::2], x.t(), x[:, 3:], x[0].expand(3, 8)):
        torch.testing.assert_close(isomer.sin(view), view.sin(), rtol=1e-5, atol=1e-6)
    y = torch.zeros(8, 6, device=device)
    assert isomer.sin(x, y=y.t()).data_ptr() == y.data_ptr()
    torch.testing.assert_close(y.t(), x.sin())


def test_outputs_are_made_where_the_inputs_are_whatever_the_default_device_is():
    with torch.device("meta"):
        assert isomer.sin(torch.ones(3, device="cpu")).device.type == "cpu"


def test_arrays_of_numpy_and_tensors_may_be_mixed():
    x = torch.linspace(0, 1, 5)
    out = np.zeros(5, np.float32)
    assert isomer.sin(x, y=out) is out
    np.testing.assert_allclose(out, x.sin(), rtol=1e-6)


def test_a_tensor_that_requires_a_gradient_is_told_that_isomer_computes_forward_only(refuses):
    x = torch.ones(3, requires_grad=True)
    refuses(lambda: isomer.sin(x), "sin: x requires a gradient", "forward only")
    refuses(lambda: isomer.sin(torch.ones(3), y=x), "sin: y requires a gradient")
    for name in ("q", "k", "v"):
        given = {n: torch.zeros(1, 1, 1, 8, requires_grad=n == name) for n in "qkv"}
        refuses(lambda: isomer.attention(**given), f"attention: {name} requires a gradient")
    with torch.no_grad():
        torch.testing.assert_close(isomer.sin(x), x.detach().sin())
    with torch.inference_mode():
        isomer.sin(torch.ones(3))
    isomer.sin(torch.nn.Parameter(torch.ones(3), requires_grad=False))


@pytest.mark.parametrize("make, words", [
    (lambda: torch.ones(3, device="meta"), "meta"),
    (lambda: torch.eye(3).to_sparse(), "cannot be read"),
    (lambda: torch.ones(3, dtype=torch.complex64), "torch.complex64"),
    (lambda: torch.ones(3, dtype=torch.bool), "torch.bool"),
    (lambda: torch.ones(3, dtype=torch.int16), "i16"),
    (lambda: torch.ones(3, dtype=torch.float64), "f64"),
    (lambda: torch.ones(3, dtype=torch.complex64).conj().imag, "negated"),
    (lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "torch.qint8"),
    (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "x "),
    (lambda: torch.ones((1,) * 9), "9 dimensions"),
    (lambda: torch.ones, "x is a"),
    (lambda: torch.float32, "x is a"),
    (lambda: [torch.ones(3)], "x is a list"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_tensors_that_have_no_memory_to_read_are_named(refuses, make, words):
    refuses(lambda: isomer.sin(make()), "sin: x", words)


def test_a_tensor_whose_storage_was_freed_is_named(refuses):
    x = torch.ones(8)
    x.untyped_storage().resize_(0)
    refuses(lambda: isomer.sin(x), "sin: x")


def test_fake_tensors_are_named(refuses):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.ones(3)
    refuses(lambda: isomer.sin(x), "sin: x")


@pytest.mark.skipif(len(DEVICES) < 2, reason="no GPU")
def test_calls_run_on_the_current_stream_and_devices_are_not_mixed(refuses):
    x = torch.zeros(1 << 20, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        x += 1
        y = isomer.sin(x)
    stream.synchronize()
    torch.testing.assert_close(y, torch.ones_like(x).sin())
    refuses(lambda: isomer.sin(x, y=torch.zeros(1 << 20)), "sin: y is on cpu")
    refuses(lambda: isomer.sin(torch.ones(3), y=x[:3]), "sin: y is on cuda:0")
    refuses(lambda: isomer.sin(x, queue=isomer.Queue("cpu")), "sin: x is on cuda:0")
