"""Times PyTorch's ways to compute an op, in a process of its own. A request is a line of JSON on stdin:

  {"op": …, "device": "cuda:0", "seconds": 0.5, "tensors": {name: {"dtype", "shape", "strides"}}, "options": {name: value}}

An answer is a line of JSON on what was stdout: {"peers": [{"name", "seconds": [low, median, high], "rounds"} | {"name",
"refused"}]}. The first line tells of PyTorch: {"torch": "PyTorch 2.11.0, CUDA 13.0, cuDNN 9.19"} or {"error": …}.
"""

import json
import os
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer


def answer(value):
    answers.write(json.dumps(value) + "\n")


try:
    import torch
except Exception as failure:
    answer({"error": f"{sys.executable} has no PyTorch ({failure}): pip install torch, or name another Python with --python"})
    sys.exit(0)

DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "i8": "int8",
    "u8": "uint8",
    "i32": "int32",
    "i64": "int64",
    "bool": "bool",
}


class Refused(Exception):
    """A call that PyTorch has no operation for; the text says what it lacks."""


def tensor(given, device):
    """Random elements in the strides that were asked for."""
    dtype = getattr(torch, DTYPES[given["dtype"]])
    span = 1 + sum((n - 1) * s for n, s in zip(given["shape"], given["strides"])) if all(given["shape"]) else 0
    if dtype.is_floating_point:
        flat = torch.randn(span, device=device, dtype=torch.float32 if dtype.itemsize < 8 else dtype).to(dtype)
    else:
        flat = torch.zeros(span, device=device, dtype=dtype)
    return flat.as_strided(given["shape"], given["strides"])


def bytes_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors.values())


def only(request, names):
    """Refuses a call with a tensor beside those."""
    for name in request["tensors"]:
        if name not in names:
            raise Refused(f"PyTorch's operation has no '{name}'")


def plain(request, options):
    """Refuses a call with an option that is not as the operation has it."""
    for name, value in options.items():
        if request["options"].get(name, value) != value:
            raise Refused(f"PyTorch's operation has no '{name}'")


def attention(request):
    """Scaled dot product attention by each of its backends; q is [B, Sq, Hq, D] here and [B, Hq, Sq, D] there."""
    only(request, ["q", "k", "v", "out"])
    asked = request["options"]
    plain(request, {"window_left": -1, "window_right": -1, "softcap": 0, "attention_chunk": 0, "v_colmajor": 0})
    q, k = request["tensors"]["q"], request["tensors"]["k"]
    if len(q["shape"]) != 4:
        raise Refused("PyTorch's operation takes no packed sequences")
    if q["dtype"] not in ("f16", "bf16", "f32"):
        raise Refused(f"PyTorch's operation takes no {q['dtype']}")
    queries, keys = q["shape"][1], k["shape"][1]
    named = {"is_causal": bool(asked.get("causal"))}
    if named["is_causal"] and queries != keys:  # its own diagonal begins at the top left
        from torch.nn.attention.bias import causal_lower_right

        named = {"attn_mask": causal_lower_right(queries, keys)}
    if asked.get("scale"):
        named["scale"] = asked["scale"]
    if q["shape"][2] != k["shape"][2]:
        named["enable_gqa"] = True
    sdpa = torch.nn.functional.scaled_dot_product_attention
    swap = lambda t: t.transpose(1, 2)

    def run(backend):
        def call(t):
            with torch.nn.attention.sdpa_kernel(backend):
                return sdpa(swap(t["q"]), swap(t["k"]), swap(t["v"]), **named)

        return call

    if request["device"] == "cpu":  # it has one way, which it takes by itself
        return {"pytorch": lambda t: sdpa(swap(t["q"]), swap(t["k"]), swap(t["v"]), **named)}
    kinds = torch.nn.attention.SDPBackend
    return {
        "pytorch cudnn": run(kinds.CUDNN_ATTENTION),
        "pytorch flash": run(kinds.FLASH_ATTENTION),
        "pytorch efficient": run(kinds.EFFICIENT_ATTENTION),
    }


def fp8_gemm(request):
    """cuBLASLt's product with a scale for 1×128 of a and for 128×128 of b."""
    only(request, ["a", "a_s", "b", "b_s", "c"])
    out = getattr(torch, DTYPES[request["tensors"]["c"]["dtype"]])

    def call(t):
        # a's scales lie column by column there, b's are turned with b.
        a_s = t["a_s"] if t["a_s"].stride(0) == 1 else t["a_s"].t().contiguous().t()
        t["a_s"] = a_s
        return torch._scaled_mm(t["a"], t["b"].t(), a_s, t["b_s"].t(), out_dtype=out)

    return {"pytorch cublaslt": call}


def sin(request):
    only(request, ["x", "y"])
    return {"pytorch": lambda t: torch.sin(t["x"])}


OPS = {"attention": attention, "fp8_gemm": fp8_gemm, "sin": sin}


class Clock:
    """Seconds of a number of calls: between two events on a GPU, by the host's clock on a CPU."""

    def __init__(self, device):
        self.device = device
        if device.type == "cuda":
            free = torch.cuda.mem_get_info(device)[1] // 8
            self.block = [torch.empty(min(1 << 30, free), dtype=torch.uint8, device=device) for _ in range(2)]

    def seconds(self, call, copies, count, first):
        if self.device.type != "cuda":
            begin = time.perf_counter()
            for i in range(count):
                call(copies[(first + i) % len(copies)])
            return (time.perf_counter() - begin) / count
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for i in range(count):
            call(copies[(first + i) % len(copies)])
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / count

    def between_rounds(self):
        """A large copy, as `isomer bench` has one between its rounds."""
        if self.device.type == "cuda":
            for _ in range(4):
                self.block[1].copy_(self.block[0])


def measure(clock, call, copies, seconds):
    call(copies[0])
    first = clock.seconds(call, copies, 3, 1)
    count = max(1, min(500, int(0.002 / max(first, 1e-9))))
    clock.seconds(call, copies, count, 0)
    times, end, turn = [], time.perf_counter() + seconds, 0
    while len(times) < 7 or (time.perf_counter() < end and len(times) < 1000):
        clock.between_rounds()
        times.append(clock.seconds(call, copies, count, turn))
        turn += count
    return [min(times), statistics.median(times), max(times)], len(times)


def first_line(failure):
    lines = str(failure).strip().splitlines()
    return lines[0][:300] if lines else type(failure).__name__


def serve(request, clocks):
    device = torch.device(request["device"])
    if request["op"] not in OPS:
        return {"peers": [{"name": "pytorch", "refused": f"no operation of PyTorch's is known for {request['op']}"}]}
    try:
        contenders = OPS[request["op"]](request)
    except Refused as failure:
        return {"peers": [{"name": "pytorch", "refused": str(failure)}]}
    if device.type not in clocks:
        clocks[device.type] = Clock(device)
    make = lambda: {name: tensor(each, device) for name, each in request["tensors"].items()}
    copies = [make()]
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        wanted = 2 * properties.L2_cache_size // max(bytes_of(copies[0]), 1) + 2
        fits = properties.total_memory // 4 // max(bytes_of(copies[0]), 1)
        while len(copies) < max(1, min(wanted, fits, 64)):
            copies.append(make())
    peers = []
    for name, call in contenders.items():
        try:
            with torch.no_grad():
                seconds, rounds = measure(clocks[device.type], call, copies, request["seconds"])
            peers.append({"name": name, "seconds": seconds, "rounds": rounds})
        except Exception as failure:
            peers.append({"name": name, "refused": first_line(failure)})
    return {"peers": peers}


def about():
    words = [f"PyTorch {torch.__version__}"]
    if torch.version.cuda:
        words.append(f"CUDA {torch.version.cuda}")
    cudnn = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    if cudnn:
        words.append(f"cuDNN {cudnn // 10000}.{cudnn % 10000 // 100}")
    return ", ".join(words)


def main():
    wanted = torch.device(sys.argv[1])
    if wanted.type == "cuda" and not torch.cuda.is_available():
        answer({"error": f"PyTorch {torch.__version__} of {sys.executable} sees no GPU"})
        return
    if wanted.type == "cuda":
        torch.cuda.set_device(wanted)
        torch.cuda.set_stream(torch.cuda.Stream())  # the legacy default stream waits for every other
    answer({"torch": about()})
    clocks = {}
    for line in sys.stdin:
        answer(serve(json.loads(line), clocks))
        if wanted.type == "cuda":
            torch.cuda.empty_cache()


main()
