import types

import numpy as np


class constexpr(int):
    pass


class tensor:
    """A scalar, kept as an array of one element, or an address for each element."""

    def __init__(self, data, dtype=None):
        self.handle, self.dtype = types.SimpleNamespace(data=data), dtype

    def __add__(self, offsets):
        return tensor(self.handle.data + np.uint64(self.dtype.itemsize) * np.asarray(offsets).astype(np.uint64), self.dtype)


def converted(value):
    if hasattr(value, "data_ptr"):
        return tensor(np.array([value.data_ptr()], dtype=np.uint64), np.dtype(str(value.dtype).replace("torch.", "")))
    return tensor(np.array([value])) if isinstance(value, int) else value


def program_id(axis):
    from triton.runtime import interpreter

    return interpreter.PROGRAM[axis]


def arange(begin, end):
    if not isinstance(begin, int) or not isinstance(end, int):
        raise ValueError("arange's arguments must be of type tl.constexpr")
    return np.arange(begin, end)


def load(pointers, mask=True, other=0):
    from triton.runtime import interpreter

    at = pointers.handle.data
    return interpreter._interpreter.load(at, np.broadcast_to(mask, at.shape), np.full(at.shape, other), pointers.dtype)


def store(pointers, value, mask=True):
    from triton.runtime import interpreter

    at = pointers.handle.data
    value = np.broadcast_to(np.asarray(value, dtype=pointers.dtype), at.shape)
    interpreter._interpreter.store(at, value, np.broadcast_to(mask, at.shape))
