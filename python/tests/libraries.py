"""Arrays of NumPy as tensors of a library that a test runs with, and back."""

import ml_dtypes
import numpy as np
import pytest

_OF_MACHINE_LEARNING = {"bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn}


class NumPy:
    name = "numpy"

    def __call__(self, array):
        return array

    def back(self, tensor):
        assert isinstance(tensor, np.ndarray)
        return tensor


class PyTorch:
    name = "torch"

    def __init__(self):
        self.torch = pytest.importorskip("torch", exc_type=ImportError)

    def __call__(self, array):
        """Over the same memory, in the same strides."""
        name = array.dtype.name
        if name not in _OF_MACHINE_LEARNING:
            return self.torch.from_numpy(array)
        bits = self.torch.from_numpy(array.view(np.int16 if array.itemsize == 2 else np.int8))
        return bits.view(getattr(self.torch, name))

    def back(self, tensor):
        assert isinstance(tensor, self.torch.Tensor)
        name = str(tensor.dtype).partition(".")[2]
        if name not in _OF_MACHINE_LEARNING:
            return tensor.numpy()
        return tensor.view(self.torch.int16 if tensor.itemsize == 2 else self.torch.int8).numpy().view(_OF_MACHINE_LEARNING[name])


@pytest.fixture(params=[NumPy, PyTorch], ids=lambda library: library.name)
def library(request):
    return request.param()
