#!/usr/bin/env python3
"""Times Isomer's GPU ops beside the original Triton kernels and PyTorch, alternating in one process.

  bench_peers.py --library build/release/src/libisomer.so [--sources DIR] [--only NAME …] [--json FILE]

Every round of a case times a device copy, then each contender, between two CUDA events over a batch of calls that rotate
through copies of the inputs which together outgrow the L2 cache. A batch is enqueued behind a wait of the stream, so that the
device never waits for the host. Printed: the medians, the share of the copy rate of the same round, and what one call
costs the host. `--sources` is the folder of the originals that record_originals.py names; without it they are left out, and
the table says so.

Exit codes: 0 measured · 1 an output of Isomer's is far from its peer's · 2 wrong usage.
"""

import argparse
import ctypes
import json
import statistics
import sys
import tempfile
import time

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


def sin_case(isomer, _, n, dtype):
    count = copies(2 * n * dtype.itemsize)
    x = [torch.randn(n, device="cuda", dtype=torch.float32).to(dtype) for _ in range(count)]
    y = [torch.empty_like(x[0]) for _ in range(count)]
    z = torch.empty_like(x[0])
    return Case(
        f"sin n={n} {dtype}",
        size(x[0], y[0]),
        {
            "isomer": [isomer.op("sin", [a, b]) for a, b in zip(x, y)],
            "pytorch": [(lambda a=a: torch.sin(a, out=z)) for a in x],
        },
        check=lambda: (y[0].float() - torch.sin(x[0].float())).abs().max().item() < 0.02,
    )


def act_quant_case(isomer, originals, m, k, dtype):
    count = copies(m * k * (dtype.itemsize + 1))
    x = [torch.randn(m, k, device="cuda", dtype=torch.float32).to(dtype) for _ in range(count)]
    y = [torch.empty(m, k, device="cuda", dtype=torch.float8_e4m3fn) for _ in range(count)]
    s = [torch.empty(m, k // 128, device="cuda") for _ in range(count)]
    contenders = {"isomer": [isomer.op("act_quant", list(t)) for t in zip(x, y, s)]}
    check = None
    if originals:
        module = originals.module("deepseek")
        contenders["triton original"] = [(lambda a=a: module.act_quant(a, 128)) for a in x]
        check = lambda: (module.act_quant(x[0], 128)[0].float() - y[0].float()).abs().max().item() <= 32
    return Case(f"act_quant {m}x{k} {dtype}", size(x[0], y[0], s[0]), contenders, check=check)


def weight_dequant_case(isomer, originals, m, n, dtype):
    count = copies(m * n * (dtype.itemsize + 1))
    x = [(torch.randn(m, n, device="cuda") * 8).to(torch.float8_e4m3fn) for _ in range(count)]
    s = [torch.rand((m + 127) // 128, (n + 127) // 128, device="cuda") for _ in range(count)]
    y = [torch.empty(m, n, device="cuda", dtype=dtype) for _ in range(count)]
    contenders = {"isomer": [isomer.op("weight_dequant", list(t)) for t in zip(x, s, y)]}
    check = None
    if originals:
        module = originals.module("deepseek")

        def original(a, b):
            before = torch.get_default_dtype()
            torch.set_default_dtype(dtype)
            try:
                return module.weight_dequant(a, b)
            finally:
                torch.set_default_dtype(before)

        contenders["triton original"] = [(lambda a=a, b=b: original(a, b)) for a, b in zip(x, s)]
        check = lambda: torch.equal(original(x[0], s[0]), y[0])
    return Case(f"weight_dequant {m}x{n} {dtype}", size(x[0], s[0], y[0]), contenders, check=check)


def scatter_case(isomer, originals, tokens, heads, width):
    slots = tokens + 4096
    count = copies(tokens * heads * width * 3)
    k = [torch.randn(tokens, heads, width, device="cuda", dtype=torch.float16) for _ in range(count)]
    dest = [torch.randperm(slots, device="cuda")[:tokens].to(torch.int32) for _ in range(count)]
    out = [torch.empty(slots, heads, width, device="cuda", dtype=torch.int8) for _ in range(count)]
    scale = [torch.empty(slots, heads, 1, device="cuda", dtype=torch.float16) for _ in range(count)]
    contenders = {"isomer": [isomer.op("quantize_copy_kv", list(t)) for t in zip(k, dest, out, scale)]}
    check = None
    if originals:
        module = originals.module("lightllm_scatter")
        contenders["triton original"] = [
            (lambda t=t: module.destindex_copy_quantize_kv(*t)) for t in zip(k, dest, out, scale)
        ]
    moved = size(k[0], dest[0]) + tokens * heads * (width + 2)
    return Case(f"quantize_copy_kv {tokens}x{heads}x{width} f16", moved, contenders, check=check)


def attention_case(isomer, _, b, s, hq, hkv, d, dtype, causal):
    count = copies(2 * b * s * (hq + hkv) * d * dtype.itemsize)
    make = lambda h: [torch.randn(b, s, h, d, device="cuda", dtype=torch.float32).to(dtype) for _ in range(count)]
    q, k, v, out = make(hq), make(hkv), make(hkv), [torch.empty(b, s, hq, d, device="cuda", dtype=dtype) for _ in range(count)]
    options = None
    if causal:
        options = attention_options(causal)
    names = attention_arguments()
    calls = []
    for tensors in zip(q, k, v, out):
        given = dict(zip(["q", "k", "v", "out"], tensors))
        calls.append(isomer.op("attention", [given.get(name) for name in names], options))
    swap = lambda t: t.transpose(1, 2)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    contenders = {"isomer": calls}

    def backend(which):
        def call(t):
            with torch.nn.attention.sdpa_kernel(which):
                return sdpa(swap(t[0]), swap(t[1]), swap(t[2]), is_causal=causal, enable_gqa=hq != hkv)

        return call

    for name, which in {
        "pytorch cudnn": torch.nn.attention.SDPBackend.CUDNN_ATTENTION,
        "pytorch flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION,
    }.items():
        run = backend(which)
        contenders[name] = [(lambda t=t, run=run: run(t)) for t in zip(q, k, v)]
    check = lambda: (swap(backend(torch.nn.attention.SDPBackend.MATH)((q[0], k[0], v[0]))).float() - out[0].float()).abs().max().item() < 0.05
    return Case(
        f"attention b={b} s={s} hq={hq} hkv={hkv} d={d} {dtype}{' causal' if causal else ''}",
        size(q[0], k[0], v[0], out[0]),
        contenders,
        flops=4 * b * hq * s * s * d / (2 if causal else 1),
        check=check,
    )


def cudnn_of_bytes(q, k, v, causal):
    """A call of cuDNN's attention of e4m3 (PyPI: nvidia-cudnn-frontend) over these tensors, and its out of f16 or, where it
    writes none, of e4m3. Scales of 1."""
    import cudnn

    b, s, hq, d = q.shape
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    one = torch.ones(1, 1, 1, 1, device="cuda")
    failure = None
    for kind, dtype in ((cudnn.data_type.HALF, torch.float16), (cudnn.data_type.FP8_E4M3, torch.float8_e4m3fn)):
        out = torch.empty(b, s, hq, d, device="cuda", dtype=dtype)
        graph = cudnn.pygraph(
            io_data_type=cudnn.data_type.FP8_E4M3,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            handle=handle,
        )

        def rows(t):
            t = t.transpose(1, 2)
            return graph.tensor(dim=list(t.shape), stride=list(t.stride()), data_type=cudnn.data_type.FP8_E4M3)

        def scalar():
            return graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT)

        inputs = [rows(t) for t in (q, k, v)]
        factors = {name: scalar() for name in ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")}
        try:
            made = graph.sdpa_fp8(
                q=inputs[0],
                k=inputs[1],
                v=inputs[2],
                **factors,
                generate_stats=False,
                attn_scale=d**-0.5,
                use_causal_mask=causal,
            )
            out_rows = out.transpose(1, 2)
            made[0].set_output(True).set_dim(list(out_rows.shape)).set_stride(list(out_rows.stride())).set_data_type(kind)
            most = [torch.zeros(1, 1, 1, 1, device="cuda") for _ in range(2)]
            for of in made[-2:]:
                of.set_output(True).set_dim([1, 1, 1, 1]).set_stride([1, 1, 1, 1]).set_data_type(cudnn.data_type.FLOAT)
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A])
            graph.check_support()
            graph.build_plans()
        except Exception as refused:  # of the frontend's own kind
            failure = refused
            continue
        workspace = torch.empty(max(graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)

        def call(q, k, v):
            tensors = dict(zip(inputs, (t.transpose(1, 2) for t in (q, k, v))))
            tensors.update({factor: one for factor in factors.values()})
            tensors.update({made[0]: out_rows, made[-2]: most[0], made[-1]: most[1]})
            graph.execute(tensors, workspace, handle=handle)

        return call, out
    raise RuntimeError(f"cuDNN takes no such call: {failure}")


def attention_of_bytes_case(isomer, _, b, s, hq, hkv, d, causal):
    count = copies(b * s * 2 * (hq + hkv) * d)
    make = lambda h: [torch.randn(b, s, h, d, device="cuda").to(torch.float8_e4m3fn) for _ in range(count)]
    q, k, v = make(hq), make(hkv), make(hkv)
    out = [torch.empty(b, s, hq, d, device="cuda", dtype=torch.float16) for _ in range(count)]
    names = attention_arguments()
    options = attention_options(causal) if causal else None
    calls = []
    for tensors in zip(q, k, v, out):
        given = dict(zip(["q", "k", "v", "out"], tensors))
        calls.append(isomer.op("attention", [given.get(name) for name in names], options))
    peer, its_out = cudnn_of_bytes(q[0], k[0], v[0], causal)

    def check():
        calls[0]()
        peer(q[0], k[0], v[0])
        return (its_out.float() - out[0].float()).abs().max().item() < 0.15

    return Case(
        f"attention b={b} s={s} hq={hq} hkv={hkv} d={d} e4m3{' causal' if causal else ''}, cuDNN's out {its_out.dtype}",
        size(q[0], k[0], v[0], out[0]),
        {"isomer": calls, "cudnn": [(lambda t=t: peer(*t)) for t in zip(q, k, v)]},
        flops=4 * b * hq * s * s * d / (2 if causal else 1),
        check=check,
    )


def header():
    """isomer.h beside the library's sources: the order of a struct's members."""
    from pathlib import Path

    return (Path(__file__).resolve().parent.parent / "include/isomer/isomer.h").read_text()


def members(name):
    body = header().split(f"typedef struct {name} {{")[1].split(f"}} {name};")[0]
    found = []
    for line in body.splitlines():
        line = line.split("/*")[0].strip().rstrip(";")
        if line and not line.startswith("*"):
            kind, _, member = line.rpartition(" ")
            found.append((kind, member))
    return found[1:]  # without its size


def attention_arguments():
    return [member for _, member in members("isomer_attention_args")]


def attention_options(causal):
    kinds = {"isomer_int64": ctypes.c_int64, "double": ctypes.c_double, "int": ctypes.c_int, "float": ctypes.c_float}
    begin = header().split("#define ISOMER_ATTENTION_OPTIONS_INIT")[1].split("}")[0]
    values = [v.strip() for v in begin.split("{")[1].replace("\\", " ").split(",")][1:]
    fields = []
    for (kind, member), value in zip(members("isomer_attention_options"), values):
        number = kinds[kind]
        fields.append((member, number, number(1 if member == "causal" and causal else eval(value)).value))
    return struct(fields)


CASES = {
    "sin": lambda i, o: [sin_case(i, o, 1 << 28, torch.float32), sin_case(i, o, 1 << 28, torch.bfloat16), sin_case(i, o, 65536, torch.float32)],
    "act_quant": lambda i, o: [act_quant_case(i, o, 16384, 7168, torch.bfloat16), act_quant_case(i, o, 128, 7168, torch.bfloat16)],
    "weight_dequant": lambda i, o: [weight_dequant_case(i, o, 24576, 7168, torch.bfloat16)],
    "quantize_copy_kv": lambda i, o: [scatter_case(i, o, 65536, 8, 128), scatter_case(i, o, 4096, 8, 128)],
    "attention": lambda i, o: [
        attention_case(i, o, 1, 1285, 16, 2, 128, torch.float16, True),
        attention_case(i, o, 4, 4096, 16, 16, 128, torch.bfloat16, False),
        attention_case(i, o, 4, 4096, 16, 16, 128, torch.bfloat16, True),
    ],
    "attention_rows": lambda i, o: [
        attention_case(i, o, 16384 // s, s, 2048 // d, 2048 // d, d, torch.bfloat16, causal)
        for d, s in ((128, 512), (128, 1024), (128, 2048), (128, 4096), (128, 16384), (64, 1024), (64, 4096), (64, 16384), (256, 4096), (256, 16384))
        for causal in (False, True)
    ],
    "attention_e4m3": lambda i, o: [
        attention_of_bytes_case(i, o, b, s, hq, hkv, d, causal)
        for b, s, hq, hkv, d in ((4, 4096, 16, 16, 128), (1, 16384, 16, 16, 128), (1, 16384, 64, 8, 128), (1, 16384, 8, 8, 256))
        for causal in (False, True)
    ],
}


def timed(calls, count, start, host_seconds=0.0):
    """Seconds a call takes on the device and on the host. The stream waits for as long as the host may need to enqueue
    all of them, so that the device's time has none of the host's in it."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    if host_seconds:
        torch.cuda._sleep(int(1.5 * host_seconds * count * 2e9))
    begin.record()
    clock = time.perf_counter()
    for i in range(count):
        calls[(start + i) % len(calls)]()
    host = (time.perf_counter() - clock) / count
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / count, host


def measure(case, copy, seconds):
    for calls in case.contenders.values():
        for call in calls[:3]:
            call()
    torch.cuda.synchronize()
    good = case.check is None or case.check()
    batch, host_seconds = {}, {}
    for name, calls in case.contenders.items():
        _, host_seconds[name] = timed(calls, 10, 0)
        once, _ = timed(calls, 10, 0, host_seconds[name])
        batch[name] = max(1, min(300, int(0.002 / max(once, 1e-9))))
    rows = {name: [] for name in case.contenders}
    end = time.perf_counter() + seconds
    turn = 0
    while turn < 7 or (time.perf_counter() < end and turn < 300):
        rate = copy()
        for name, calls in case.contenders.items():
            took, host = timed(calls, batch[name], turn * 7, host_seconds[name])
            rows[name].append((took, host, case.bytes / took / rate))
        turn += 1
    results = []
    for name, values in rows.items():
        took = statistics.median(v[0] for v in values)
        results.append(
            {
                "case": case.name,
                "contender": name,
                "microseconds": took * 1e6,
                "low": min(v[0] for v in values) * 1e6,
                "high": max(v[0] for v in values) * 1e6,
                "host_microseconds": statistics.median(v[1] for v in values) * 1e6,
                "gigabytes_per_second": case.bytes / took * 1e-9,
                "share_of_copy_rate": statistics.median(v[2] for v in values),
                "tflops": case.flops / took * 1e-12,
                "rounds": turn,
                "output": "agrees" if good else "DIFFERS",
            }
        )
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--sources")
    parser.add_argument("--only", nargs="*", choices=sorted(CASES))
    parser.add_argument("--seconds", type=float, default=0.5, help="for each case")
    parser.add_argument("--json")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("a CUDA GPU is needed")
    # A stream of our own: the legacy default stream waits for every other.
    torch.cuda.set_stream(torch.cuda.Stream())
    isomer, originals = Isomer(given.library), None
    if given.sources:
        from originals.sources import Originals

        originals = Originals(given.sources, __import__("pathlib").Path(tempfile.mkdtemp()))
    block = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(2)]

    def copy():
        took, _ = timed([lambda: block[1].copy_(block[0])], 4, 0)
        return 2 * block[0].numel() / took

    results = []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {copy() * 1e-9:.0f} GB/s")
    print(f"{'case':58} {'contender':16} {'µs':>9} {'min … max':>19} {'GB/s':>7} {'of copy':>7} {'TFLOP/s':>8} {'host µs':>8}")
    for name, make in CASES.items():
        if given.only and name not in given.only:
            continue
        try:
            cases = make(isomer, originals)
        except RuntimeError as failure:
            print(f"{name}: not measured: {failure}")
            continue
        for case in cases:
            try:
                rows = measure(case, copy, given.seconds)
            except RuntimeError as failure:
                print(f"{case.name:58} not measured: {failure}")
                continue
            for r in rows:
                results.append(r)
                print(
                    f"{r['case']:58} {r['contender']:16} {r['microseconds']:9.2f} "
                    f"{r['low']:9.2f}…{r['high']:9.2f} {r['gigabytes_per_second']:7.0f} {r['share_of_copy_rate']:7.2f} "
                    f"{r['tflops']:8.1f} {r['host_microseconds']:8.2f} {'' if r['output'] == 'agrees' else r['output']}"
                )
        torch.cuda.empty_cache()
    if not originals:
        print("the Triton originals are left out: --sources is not given")
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "results": results}, file, indent=1)
    return 1 if any(r["output"] != "agrees" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
