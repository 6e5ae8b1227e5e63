#!/usr/bin/env python3
"""Times Isomer's GPU ops beside the original Triton kernels and PyTorch, alternating in one process.

  bench_peers.py --library build/release/src/libisomer.so [--sources DIR] [--only NAME …] [--protocol NAME …] [--json FILE]

Every round of a case times a device copy, then each contender, between two CUDA events:
  rotating   a batch of 2 ms of calls that rotate through copies of the inputs which together outgrow the L2 cache;
  single     one call behind a memset of 256 MiB, which leaves nothing in L2;
  sustained  the second of two stretches of 0.2 s of calls without a pause, under the power limit that comes with them.
What is timed is enqueued behind a wait of the stream, so that the device never waits for the host; a stretch needs none, as
its first part is ahead of it. Printed: the medians, the share of the copy rate of the same round, and what one call costs the
host. `--sources` is the folder of the originals that record_originals.py names; without it they are left out, and
the table says so.

Exit codes: 0 measured · 1 an output of Isomer's is far from its peer's · 2 wrong usage.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time

import torch

from peers.attention import attention_case, attention_of_bytes_case
from peers.calls import Case, Isomer, copies, size


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
        attention_case(i, o, 16384 // s, s, heads, heads_kv, d, torch.bfloat16, causal)
        for d, heads, heads_kv, lengths in (
            (128, 16, 16, (512, 1024, 2048, 4096, 16384)),
            (64, 32, 32, (512, 1024, 4096, 16384)),
            (256, 8, 8, (1024, 4096, 16384)),
            (192, 10, 10, (16384,)),
            (128, 64, 8, (8192,)),
        )
        for s in lengths
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


def batches_of(case, protocol):
    """Calls of a batch, and what a call costs the host, for each contender."""
    batch, host_seconds = {}, {}
    for name, calls in case.contenders.items():
        _, host_seconds[name] = timed(calls, 10, 0)
        once, _ = timed(calls, 10, 0, host_seconds[name])
        seconds = {"rotating": 0.002, "single": 0, "sustained": 0.2}[protocol]
        batch[name] = max(1, min(300 if protocol == "rotating" else 100000, int(seconds / max(once, 1e-9))))
    return batch, host_seconds


def measure(case, copy, seconds, protocol):
    for calls in case.contenders.values():
        for call in calls[:3]:
            call()
    torch.cuda.synchronize()
    good = case.check is None or case.check()
    batch, host_seconds = batches_of(case, protocol)
    rows = {name: [] for name in case.contenders}
    end = time.perf_counter() + seconds
    turn, least = 0, {"rotating": 7, "single": 15, "sustained": 1}[protocol]
    swept = torch.empty(256 << 20 if protocol == "single" else 0, dtype=torch.uint8, device="cuda")
    while turn < least or (protocol != "sustained" and time.perf_counter() < end and turn < 300):
        rate = copy()
        for name, calls in case.contenders.items():
            if protocol == "sustained":
                timed(calls, batch[name], 0)
            swept.zero_()
            wait = 0 if protocol == "sustained" else host_seconds[name]
            took, host = timed(calls, batch[name], turn * 7, wait)
            rows[name].append((took, host, case.bytes / took / rate))
        turn += 1
    results = []
    for name, values in rows.items():
        took = statistics.median(v[0] for v in values)
        results.append(
            {
                "case": case.name,
                "protocol": protocol,
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
    parser.add_argument("--protocol", nargs="*", choices=["rotating", "single", "sustained"], default=["rotating"])
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
    print(f"{'case':58} {'protocol':10} {'contender':16} {'µs':>9} {'min … max':>19} {'GB/s':>7} {'of copy':>7} {'TFLOP/s':>8} {'host µs':>8}")
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
                rows = [row for protocol in given.protocol for row in measure(case, copy, given.seconds, protocol)]
            except RuntimeError as failure:
                print(f"{case.name:58} not measured: {failure}")
                continue
            for r in rows:
                results.append(r)
                print(
                    f"{r['case']:58} {r['protocol']:10} {r['contender']:16} {r['microseconds']:9.2f} "
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
