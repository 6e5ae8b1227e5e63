"""What the shims ask of an array, whichever library it is of. No array library is imported that the caller has not."""

import importlib
import sys

NAMES_OF_E4M3 = ("float8_e4m3fn", "torch.float8_e4m3fn")


def is_torch(array):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_array(array):
    """Something with a shape; what is none is left to the op, which refuses it by name."""
    return hasattr(array, "shape") and hasattr(array, "dtype")


def strides_of(array):
    """In elements; None where the library's arrays have none."""
    if is_torch(array):
        return array.stride()
    strides = getattr(array, "strides", None)
    return None if strides is None else tuple(each // array.itemsize for each in strides)


def with_contiguous_rows(array):
    """The array, or a copy where its last dimension is not contiguous."""
    if not is_array(array):
        return array
    strides = strides_of(array)
    if not strides or strides[-1] == 1:
        return array
    return array.contiguous() if is_torch(array) else array.copy()


def widened(array):
    """The array with contiguous rows, in float32 where it is e4m3: cosines and sines of an FP8 call."""
    if not is_array(array) or not is_e4m3(array):
        return with_contiguous_rows(array)
    return array.float() if is_torch(array) else array.astype("float32")


def with_int32(array):
    """The array, or a copy in int32 of one in int64."""
    if str(getattr(array, "dtype", "")) not in ("int64", "torch.int64"):
        return array
    return array.int() if is_torch(array) else array.astype("int32")


def full(shape, value, dtype, like):
    """A new array of the library of `like`, on its device."""
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.full(shape, value, dtype=getattr(torch, dtype), device=like.device)
    library = type(like).__module__.partition(".")[0]
    name = {"jaxlib": "jax.numpy", "jax": "jax.numpy", "cupy": "cupy"}.get(library, "numpy")
    return importlib.import_module(name).full(shape, value, dtype=dtype)


def is_e4m3(array):
    return str(getattr(array, "dtype", "")) in NAMES_OF_E4M3
