"""On a machine with no GPU, tensors that ask for `cuda` lie on the CPU and torch.cuda answers as if there were a device."""

import contextlib
import types

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
TO = torch.Tensor.to
GENERATOR = torch.Generator


def names_cuda(value):
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


def on_cpu(value):
    """The same with torch.device("cuda") replaced wherever it stands."""
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "cuda" else value
    if type(value) in (list, tuple):
        return type(value)(on_cpu(each) for each in value)
    return value


class OnCpu(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        # Each access of a getter makes a new object of it.
        if func == torch.Tensor.is_cuda.__get__:
            return True
        if func == torch.Tensor.device.__get__:
            return DEVICE
        if func is torch.Tensor.get_device:
            return 0
        if func is torch.Tensor.cuda:
            return args[0].clone()
        if func is torch.Tensor.pin_memory:
            return args[0]
        kwargs.pop("pin_memory", None)
        moves = names_cuda(kwargs.get("device"))
        if moves or isinstance(kwargs.get("device"), int):
            kwargs["device"] = "cpu"
        if func is TO:
            moves = moves or any(names_cuda(each) for each in args[1:])
            args = (args[0],) + tuple(
                "cpu" if names_cuda(each) or type(each) is int else each for each in args[1:]
            )
        args = tuple(on_cpu(each) for each in args)
        kwargs = {key: on_cpu(each) for key, each in kwargs.items()}
        result = func(*args, **kwargs)
        # A tensor that goes to a device is a copy there.
        if func is TO and moves and result is args[0]:
            return result.clone()
        return result


class Event:
    """A CUDA event that is always over."""

    def __init__(self, *args, **kwargs):
        pass

    def elapsed_time(self, other):
        return 0.0

    def query(self):
        return True

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


class Stream(Event):
    cuda_stream = 0
    stream_id = 0
    device = DEVICE

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Properties(types.SimpleNamespace):
    """What a kernel's host function asks of a device, with an H100's values."""


PROPERTIES = Properties(
    name="no GPU",
    major=9,
    minor=0,
    warp_size=32,
    total_memory=80 << 30,
    multi_processor_count=132,
    max_threads_per_multi_processor=2048,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    L2_cache_size=50 << 20,
    gcnArchName="",
)


class DeviceGenerator:
    """torch.cuda.default_generators[0], as far as kernels draw from it: a seed and an offset, 16 bytes."""

    def __init__(self):
        self.state = torch.zeros(16, dtype=torch.uint8)

    def get_state(self):
        return self.state.clone()

    def set_state(self, state):
        self.state = state.clone()

    def initial_seed(self):
        return 0


class CpuGenerator(GENERATOR):
    """torch.Generator(device="cuda") that draws on the CPU."""

    def __new__(cls, device="cpu"):
        return GENERATOR.__new__(GENERATOR, "cpu")


def install():
    """Replaces what needs a GPU, for the rest of this process."""
    cuda = torch.cuda
    answers = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": PROPERTIES.name,
        "get_device_capability": (9, 0),
        "get_device_properties": PROPERTIES,
        "is_bf16_supported": True,
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_reserved": 0,
        "mem_get_info": (80 << 30, 80 << 30),
        "get_arch_list": ["sm_90"],
        "is_current_stream_capturing": False,
    }
    for name, answer in answers.items():
        setattr(cuda, name, lambda *args, answer=answer, **kwargs: answer)
    for name in (
        "synchronize empty_cache init set_device manual_seed manual_seed_all reset_peak_memory_stats "
        "reset_max_memory_allocated set_stream _lazy_init ipc_collect set_per_process_memory_fraction"
    ).split():
        # Each its own: PyTorch's compiler keeps a table of functions.
        setattr(cuda, name, lambda *args, **kwargs: None)
    cuda.Event, cuda.Stream = Event, Stream
    cuda.current_stream = cuda.default_stream = lambda *args, **kwargs: Stream()
    cuda.default_generators = (DeviceGenerator(),)
    cuda.device = cuda.stream = cuda.device_of = cuda._DeviceGuard = lambda *args, **kwargs: contextlib.nullcontext()
    # What PyTorch's own compiler writes into the code that it makes.
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if hasattr(guards, "_empty_strided_cuda"):
        guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype)
    torch.Generator = CpuGenerator
    if hasattr(torch, "set_default_device"):
        original = torch.set_default_device
        torch.set_default_device = lambda device: None if names_cuda(device) else original(device)
    default_type = torch.set_default_tensor_type
    torch.set_default_tensor_type = lambda kind: default_type(
        kind.replace("torch.cuda.", "torch.") if isinstance(kind, str) else kind
    )
    mode = OnCpu()
    mode.__enter__()
    return mode
