"""One recording and its safetensors bundle, whose format tests/recordings/README.md describes."""

import hashlib
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy
import torch
from safetensors import safe_open
from safetensors.torch import save

FORMAT = "isomer-recording 1"
COMMAND = "python3 tools/record_originals.py --sources SOURCES --out tests/recordings"


@dataclass
class Recording:
    """One call of one original.

    make(random) gives the inputs by name, as CPU tensors with the strides the original is to see. A buffer
    that the original writes into is an input `NAME_before`. call(originals, tensors) gets them on the device,
    with each NAME_before also as a fresh copy NAME, and gives the outputs by name. exact_under: output →
    further variations with which it is bit-equal.
    """

    name: str
    op: str
    source: str
    entry: str
    make: Callable
    call: Callable
    options: dict = field(default_factory=dict)
    compare: dict = field(default_factory=dict)
    variations: list = field(default_factory=list)
    exact_under: dict = field(default_factory=dict)
    dagger: bool = False
    launch: dict = field(default_factory=dict)
    note: str = ""

    @property
    def seed(self):
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")

    def inputs(self):
        return self.make(numpy.random.Generator(numpy.random.PCG64(self.seed)))

    def annotations(self):
        """The part of the metadata that says how to read the recording; the rest says where it comes from."""
        return {
            "options": json.dumps(self.options),
            "compare": json.dumps(self.compare),
            "variations": json.dumps(self.variations),
            "exact_under": json.dumps(self.exact_under),
            "dagger": "yes" if self.dagger else "no",
            "note": self.note,
        }


def span(shape, strides):
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if all(shape) else 0


def place(values, strides, device):
    """A tensor with these values and strides; what lies between its elements is NaN, or 77 in integers."""
    shape = list(values.shape)
    gap = float("nan") if values.dtype.is_floating_point else 77
    storage = torch.full((span(shape, strides),), gap, dtype=torch.float32, device=device).to(values.dtype)
    view = storage.as_strided(shape, strides)
    once = view
    for dim, (size, stride) in enumerate(zip(shape, strides)):
        if stride == 0 and size > 1:
            once, values = once.narrow(dim, 0, 1), values.narrow(dim, 0, 1)
    once.copy_(values)
    return view


def run(recording, originals, inputs, device):
    """Calls the original; the outputs by name, on the CPU, with the strides that it saw or made."""
    tensors = {name: place(tensor, tensor.stride(), device) for name, tensor in inputs.items()}
    for name, tensor in inputs.items():
        if name.endswith("_before"):
            tensors[name.removesuffix("_before")] = place(tensor, tensor.stride(), device)
    kept = {name: tensors[name].cpu().contiguous() for name in inputs}
    outputs = recording.call(originals, tensors)
    if device == "cuda":
        torch.cuda.synchronize()
    for name in inputs:
        if not same_bits(tensors[name].cpu(), kept[name]):
            raise RuntimeError(f"the original wrote into its input {name}")
    return {name: (tensor.cpu(), list(tensor.stride())) for name, tensor in outputs.items()}


def bits(tensor):
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.dtype.itemsize])


def same_bits(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and torch.equal(bits(left), bits(right))


def write(path, recording, origin, inputs, outputs):
    """origin: the metadata that says where the recording comes from. outputs: name → (values, strides)."""
    strides = {name: list(tensor.stride()) for name, tensor in inputs.items()}
    strides |= {name: taken for name, (_, taken) in outputs.items()}
    metadata = {
        "format": FORMAT,
        "op": recording.op,
        "entry": recording.entry,
        "seed": str(recording.seed),
        "launch": json.dumps(recording.launch),
        "strides": json.dumps(strides),
        "inputs": json.dumps(list(inputs)),
        "outputs": json.dumps(list(outputs)),
    }
    tensors = {name: tensor.contiguous() for name, tensor in inputs.items()}
    tensors |= {name: values.contiguous() for name, (values, _) in outputs.items()}
    write_sorted(path, tensors, metadata | origin | recording.annotations())


def write_sorted(path, tensors, metadata):
    # The library writes the metadata in an order that changes from run to run; sorted, the same recording is
    # the same bytes.
    raw = save(tensors, metadata)
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])


def read(path):
    """(metadata, inputs, outputs): CPU tensors by name, the inputs with their strides, outputs row-major."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    strides = json.loads(metadata["strides"])
    inputs = {name: place(tensors[name], strides[name], "cpu") for name in json.loads(metadata["inputs"])}
    return metadata, inputs, {name: tensors[name] for name in json.loads(metadata["outputs"])}
