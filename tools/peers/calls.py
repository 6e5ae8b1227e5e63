"""Calls of libisomer.so over PyTorch's tensors, and the cases that are timed."""

import ctypes

import torch

CODES = {
    torch.float32: (2, 32),
    torch.float16: (2, 16),
    torch.bfloat16: (4, 16),
    torch.float8_e4m3fn: (10, 8),
    torch.int8: (0, 8),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
}


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def struct(fields):
    """A struct of isomer.h: its size, then fields of (name, ctype, value)."""
    kind = type("Struct", (ctypes.Structure,), {"_fields_": [("size", ctypes.c_uint64)] + [f[:2] for f in fields]})
    made = kind(ctypes.sizeof(kind), *[f[2] for f in fields])
    return made


class Isomer:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.isomer_last_error.restype = ctypes.c_char_p
        self.library.isomer_queue_on.argtypes = [Device, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.queue = ctypes.c_void_p()
        stream = torch.cuda.current_stream().cuda_stream
        self.must(self.library.isomer_queue_on(Device(2, 0), stream or None, None, ctypes.byref(self.queue)))

    def must(self, status):
        if status != 0:
            raise RuntimeError(self.library.isomer_last_error().decode())

    def tensor(self, given, keep):
        if given is None:
            return None
        rank = given.dim()
        shape, strides = (ctypes.c_int64 * rank)(*given.shape), (ctypes.c_int64 * rank)(*given.stride())
        code, bits = CODES[given.dtype]
        made = Tensor(given.data_ptr(), Device(2, 0), rank, DataType(code, bits, 1), shape, strides, 0)
        keep += [shape, strides, made, given]
        return ctypes.cast(ctypes.pointer(made), ctypes.c_void_p).value

    def op(self, name, tensors, options=None):
        """A call of the C function with its structs made once: what is timed is the library, not ctypes' packing."""
        keep = []
        args = struct([(f"t{i}", ctypes.c_void_p, self.tensor(t, keep)) for i, t in enumerate(tensors)])
        function = getattr(self.library, f"isomer_{name}")
        function.argtypes = [ctypes.c_void_p] * 3
        a = ctypes.addressof(args)
        o = ctypes.addressof(options) if options is not None else None
        queue = self.queue

        def call():
            self.must(function(queue, a, o))

        call.keep = (keep, args, options)
        return call


def copies(bytes_of_one):
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return max(1, min(64, 2 * l2 // max(bytes_of_one, 1) + 2))


class Case:
    """bytes: moved at least, each way once. contenders: name → list of calls, one for each copy of the inputs."""

    def __init__(self, name, bytes, contenders, flops=0, check=None):
        self.name, self.bytes, self.contenders, self.flops, self.check = name, bytes, contenders, flops, check


def size(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)
