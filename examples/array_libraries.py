"""One call of attention with tensors of NumPy, PyTorch, JAX and CuPy, each where its library puts them: on the GPU if there is one.

The same numbers go to every library that is installed. Nothing is copied to Isomer, and what comes back is a tensor of the same
library on the same device. The answer in float64, which NumPy computes, says how far each is off.
"""

import importlib
import importlib.util
import os

import numpy as np

import isomer

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves the GPU's memory to the others


def to_torch(array):
    torch = importlib.import_module("torch")
    return torch.from_numpy(array).to("cuda" if torch.cuda.is_available() else "cpu")


LIBRARIES = {
    "numpy": (lambda array: array, np.asarray),
    "torch": (to_torch, lambda tensor: tensor.cpu().numpy()),
    "jax": (lambda array: importlib.import_module("jax.numpy").asarray(array), np.asarray),
    "cupy": (lambda array: importlib.import_module("cupy").asarray(array), lambda array: array.get()),
}


def in_float64(q, k, v):
    """Causal attention, aligned to the last key."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[2] // k.shape[2]
    scores = np.einsum("bqhd,bkhd->bhqk", q, k.repeat(group, 2)) / np.sqrt(q.shape[3])
    rows, keys = np.arange(q.shape[1])[:, None], np.arange(k.shape[1])
    scores[..., keys > rows + k.shape[1] - q.shape[1]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), v.repeat(group, 2))


def main():
    """What each library that is here gave: {name: (type, device, largest error)}."""
    random = np.random.default_rng(7)
    q, k, v = (random.standard_normal((2, length, heads, 64)).astype(np.float16)
               for length, heads in ((100, 8), (321, 2), (321, 2)))
    want = in_float64(q, k, v)
    found = {}
    for name, (to_library, to_numpy) in LIBRARIES.items():
        if importlib.util.find_spec(name) is None:
            continue
        try:
            tensors = [to_library(array) for array in (q, k, v)]
        except Exception as error:  # CuPy without a GPU
            print(f"{name:6} cannot hold a tensor here: {str(error).splitlines()[0]}")
            continue
        out = isomer.attention(*tensors, causal=True)
        assert type(out) is type(tensors[0])
        found[name] = (f"{type(out).__module__}.{type(out).__name__}", str(getattr(out, "device", "cpu")),
                       float(np.abs(to_numpy(out).astype(np.float64) - want).max()))
        print(f"{name:6} {found[name][0]} on {found[name][1]}: the largest error is {found[name][2]:.1e}")
    return found


if __name__ == "__main__":
    main()
