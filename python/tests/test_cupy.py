"""Arrays of CuPy, by __cuda_array_interface__, on its current stream."""

import pytest

import isomer

cupy = pytest.importorskip("cupy", exc_type=ImportError)
if len(isomer.devices()) == 1:
    pytest.skip("no GPU", allow_module_level=True)


def test_calls_run_on_the_current_stream():
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.linspace(0, 1, 1000, dtype=cupy.float32)
        y = isomer.sin(x)
        assert isinstance(y, cupy.ndarray)
        stream.synchronize()
        cupy.testing.assert_allclose(y, cupy.sin(x), rtol=1e-6)


def test_strided_arrays_are_read_where_they_lie():
    x = cupy.random.rand(6, 8).astype(cupy.float32)
    for view in (x[::2], x.T, x[:, 3:]):
        cupy.testing.assert_allclose(isomer.sin(view), cupy.sin(view), rtol=1e-6)
