#!/usr/bin/env python3
"""Times fp8_gemm beside cuBLASLt's block-scaled product of PyTorch, by two protocols, alternating in one process.

  bench_fp8_gemm_peers.py --library build/release/src/libisomer.so [--only MxNxK …] [--rounds N] [--json FILE]

The device spins while the host puts calls into the stream, so that neither has the host's time in it, and calls rotate
through copies of the inputs which together outgrow the L2 cache. `single`: the median of launches, each between two
events and after a rest. `back to back`: a rest, then many calls one behind the other, the mean of one call. With few rows
there are more contenders: act_quant of the rows in bf16 with fp8_gemm behind it, fp8_linear, which has to have the same bits, and fp8_gemm with
the promise that nothing ahead writes b. A sample of rows is compared with
float64. `--experts` times grouped_fp8_gemm instead, beside one dense product of the same work, and expert_layer.

Exit codes: 0 measured · 1 a result is wrong · 2 wrong usage.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

import torch
from torch.nn.functional import ScalingType, scaled_mm

from peers.calls import Isomer, struct

SHAPES = [(4096, 2112, 7168), (4096, 24576, 1536), (4096, 32768, 512), (4096, 7168, 16384), (4096, 4096, 7168),
          (4096, 7168, 2048), (64, 7168, 16384), (64, 24576, 1536), (64, 2112, 7168), (64, 4096, 7168), (64, 7168, 2048),
          (128, 7168, 16384), (128, 24576, 1536), (128, 2112, 7168), (128, 4096, 7168), (128, 7168, 2048)]
ROTATED, FEW_ROWS, REST = 240 << 20, 128, 0.1


def codes(*shape):
    # PyTorch's conversion makes NaN of what lies beyond 448.
    return (torch.randn(*shape, device="cuda") * 130).clamp(-448, 448).to(torch.float8_e4m3fn)


class Operands:
    def __init__(self, m, n, k):
        scales = lambda *shape: 0.005 + 0.01 * torch.rand(*shape, device="cuda")
        self.a, self.b = codes(m, k), codes(n, k)
        self.a_s, self.b_s = scales(m, k // 128), scales((n + 127) // 128, k // 128)
        self.a_s_columns = self.a_s.t().contiguous().t()
        self.c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        self.wide = torch.randn(m, k, device="cuda", dtype=torch.bfloat16) if m <= FEW_ROWS else None

    def right(self, c, rows):
        """How far rows of c are from float64, relative to the sums of magnitudes."""
        scaled = lambda t, s: (t.double().view(t.shape[0], -1, 128) * s.double()[:, :, None]).view_as(t)
        a = scaled(self.a[rows], self.a_s[rows])
        error = 0.0
        for first in range(0, self.b.shape[0], 1024):
            part = self.b[first:first + 1024]
            b = scaled(part, self.b_s.repeat_interleave(128, 0)[first:first + len(part)])
            exact = a @ b.t()
            off = (c[rows, first:first + 1024].double() - exact).abs() - exact.abs() * 2.0**-8
            error += (off / (a.abs() @ b.abs().t()) > 2.0**-9).sum().item() + (~torch.isfinite(off)).sum().item()
        return error == 0


def contenders(isomer, m, n, k):
    count = max(2, min(64, -(-ROTATED // (m * k + n * k + 2 * m * n))))
    sets = [Operands(m, n, k) for _ in range(count)]
    ours = [isomer.op("fp8_gemm", [o.a, o.a_s, o.b, o.b_s, o.c, None, None]) for o in sets]
    results = {}

    def theirs(i, o):
        def call():
            results[i] = scaled_mm(o.a, o.b.t(), o.a_s_columns, ScalingType.BlockWise1x128, o.b_s.t(),
                                   ScalingType.BlockWise128x128, output_dtype=torch.bfloat16)
        return call

    made = {"isomer": ours, "cuBLASLt": [theirs(i, o) for i, o in enumerate(sets)]}
    rows = torch.randint(0, m, (24,), device="cuda")
    for calls in made.values():
        for call in calls:
            call()
    torch.cuda.synchronize()
    good = sets[0].right(sets[0].c, rows) and sets[-1].right(results[count - 1], rows)
    if m <= FEW_ROWS:
        y = [torch.empty_like(o.a) for o in sets]
        s = [torch.empty_like(o.a_s) for o in sets]
        first = [isomer.op("act_quant", [o.wide, q, t]) for o, q, t in zip(sets, y, s)]
        second = [isomer.op("fp8_gemm", [q, t, o.b, o.b_s, o.c, None, None]) for o, q, t in zip(sets, y, s)]
        made["act_quant + isomer"] = [(lambda f=f, g=g: (f(), g())) for f, g in zip(first, second)]
        for call in made["act_quant + isomer"]:
            call()
        torch.cuda.synchronize()
        made["act_quant"] = first
        at_once = [torch.empty_like(o.c) for o in sets]
        made["fp8_linear"] = [isomer.op("fp8_linear", [o.wide, o.b, o.b_s, c, None, None]) for o, c in zip(sets, at_once)]
        made["fp8_linear"][0]()
        torch.cuda.synchronize()
        good = good and torch.equal(sets[0].c.view(torch.int16), at_once[0].view(torch.int16))
        ready = struct([("b_ready", ctypes.c_int64, 1)])
        made["isomer, b_ready"] = [isomer.op("fp8_gemm", [o.a, o.a_s, o.b, o.b_s, o.c, None, None], ready) for o in sets]
    return made, good


def timed(calls, spin):
    """µs of the calls together. The device spins until the host has put them all into the stream."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(int(spin * 2000))
    begin.record()
    for call in calls:
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def in_turn(names, turn):
    """Another one is the first in each round: who follows a contender that has heated the chip runs at a lower clock."""
    return names[turn % len(names):] + names[:turn % len(names)]


class Timed:
    """The calls of one contender."""

    def __init__(self, calls):
        self.calls = calls
        once = min(timed([call], 600) for call in calls)
        # As many as a stream takes without holding up the host.
        self.many = [calls[i % len(calls)] for i in range(max(len(calls), min(300, round(60e3 / once))))]

    def alone(self, launches):
        took = []
        for i in range(launches):
            time.sleep(0.004)
            took.append(timed([self.calls[i % len(self.calls)]], 600))
        return statistics.median(took)

    def back_to_back(self):
        time.sleep(REST)
        return timed(self.many, 20 * len(self.many)) / len(self.many)


# Layout, rows of each expert, N, K.
EXPERTS = [("contiguous", [512] * 8, 4096, 7168), ("contiguous", [256, 1024] * 3 + [512, 512], 4096, 7168),
           ("contiguous", [128] * 32, 4096, 7168), ("contiguous", [4096] * 8, 4096, 2048), ("contiguous", [64] * 256, 4096, 2048),
           ("masked", [512] * 8, 4096, 7168), ("masked", [8] * 256, 4096, 2048), ("masked", [8] * 64, 4096, 4096),
           ("masked", [0, 3, 8, 1] * 64, 4096, 2048)]
# Layout, rows of each expert, columns in, between and out.
LAYERS = [("contiguous", [512] * 8, 7168, 2048, 7168), ("masked", [8] * 64, 7168, 2048, 7168)]


class Rows:
    """The rows of all experts in a layout, and what says whose they are."""

    def __init__(self, layout, counts):
        self.masked, self.counts, self.all = layout == "masked", counts, sum(counts)
        if self.masked:
            self.shape = (len(counts), max(counts))
            self.ids, self.given = None, torch.tensor(counts, dtype=torch.int32, device="cuda")
        else:
            ids = []
            for expert, count in enumerate(counts):
                ids += [expert] * count + [-1] * (-count % 128)
            self.shape = (len(ids),)
            self.ids, self.given = torch.tensor(ids, dtype=torch.int32, device="cuda"), None

    def codes(self, k):
        return codes(*self.shape, k)

    def scales(self, blocks):
        return 0.005 + 0.01 * torch.rand(*self.shape, blocks, device="cuda")

    def empty(self, n, dtype=torch.bfloat16):
        return torch.empty(*self.shape, n, device="cuda", dtype=dtype)


def weights(experts, n, k):
    b = torch.empty(experts, n, k, device="cuda", dtype=torch.float8_e4m3fn)
    for each in b:
        each.copy_(codes(n, k))
    return b, 0.005 + 0.01 * torch.rand(experts, (n + 127) // 128, k // 128, device="cuda")


def report(name, made, work, read, rounds, launches, rows):
    """Prints both protocols of the contenders; work in FLOP, read in bytes of weights."""
    timed = {each: Timed(calls) for each, calls in made.items()}
    for protocol in ("single", "back to back"):
        text = []
        for each in timed:
            took = [timed[each].alone(launches) if protocol == "single" else timed[each].back_to_back() for _ in range(rounds)]
            rows.append({"shape": name, "contender": each, "protocol": protocol, "microseconds": took})
            text.append(f"{each} {min(took):.1f}…{max(took):.1f} ({work * 1e-6 / min(took):.0f} TFLOP/s, "
                        f"{read * 1e-6 / min(took):.2f} TB/s of weights)")
        print(name.ljust(44), protocol.ljust(13), "  ".join(text), flush=True)


def experts(isomer, given, rows):
    for layout, counts, n, k in EXPERTS:
        of, many = Rows(layout, counts), len(counts)
        a, a_s, c = of.codes(k), of.scales(k // 128), of.empty(n)
        b, b_s = weights(many, n, k)
        made = {"grouped": [isomer.op("grouped_fp8_gemm", [a, a_s, b, b_s, c, of.ids, of.given, None, None])]}
        if of.all >= 4096:
            dense = Operands(of.all, n, k)
            made["dense"] = [isomer.op("fp8_gemm", [dense.a, dense.a_s, dense.b, dense.b_s, dense.c, None, None])]
        for calls in made.values():
            calls[0]()
        torch.cuda.synchronize()
        read = sum(count > 0 for count in counts) * n * k
        name = f"{layout} {many} experts of {min(counts)} to {max(counts)}, {n}x{k}"
        report(name, made, 2 * of.all * n * k, read, given.rounds, given.launches, rows)
        del made, b, b_s
        torch.cuda.empty_cache()
    for layout, counts, into, inner, out in LAYERS:
        of, many = Rows(layout, counts), len(counts)
        a, a_s, x, y = of.codes(into), of.scales(into // 128) * 0.01, of.empty(2 * inner), of.empty(inner, torch.float8_e4m3fn)
        s, first, last = of.scales(inner // 128), of.empty(out), of.empty(out)
        up, up_s = weights(many, 2 * inner, into)
        down, down_s = weights(many, out, inner)
        one = isomer.op("expert_layer", [a, a_s, up, up_s, down, down_s, first, of.ids, of.given])
        three = [isomer.op("grouped_fp8_gemm", [a, a_s, up, up_s, x, of.ids, of.given, None, None]),
                 isomer.op("silu_mul_quant", [x, y, s, of.given]),
                 isomer.op("grouped_fp8_gemm", [y, s, down, down_s, last, of.ids, of.given, None, None])]
        made = {"expert_layer": [one], "three calls": [lambda: [call() for call in three]]}
        for calls in made.values():
            calls[0]()
        torch.cuda.synchronize()
        if not torch.isfinite(first).all():
            raise RuntimeError("expert_layer has results that are not finite")
        if not torch.equal(first.view(torch.int16), last.view(torch.int16)):
            raise RuntimeError("expert_layer has other bits than three calls")
        for call, part in zip(three, ("gate and up", "between", "down")):
            made[part] = [call]
        read = sum(count > 0 for count in counts) * 3 * inner * into
        report(f"layer, {layout} {many} experts of {max(counts)}, {into}-{inner}-{out}", made,
               2 * of.all * 3 * inner * into, read, given.rounds, given.launches, rows)
        del made, one, three, up, down
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", nargs="*", help="shapes as MxNxK")
    parser.add_argument("--experts", action="store_true")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--launches", type=int, default=30)
    parser.add_argument("--json")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("a CUDA GPU is needed")
    shapes = [tuple(map(int, s.split("x"))) for s in given.only] if given.only else SHAPES
    torch.cuda.set_stream(torch.cuda.Stream())
    isomer, rows, wrong = Isomer(given.library), [], False
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; µs, and TFLOP/s of the least")
    if given.experts:
        experts(isomer, given, rows)
        shapes = []
    for m, n, k in shapes:
        made, good = contenders(isomer, m, n, k)
        wrong |= not good
        timed = {name: Timed(calls) for name, calls in made.items()}
        seen = {name: {"single": [], "back to back": []} for name in made}
        for turn in range(given.rounds):
            for name, each in timed.items():
                seen[name]["single"].append(each.alone(given.launches))
            for name in in_turn(list(timed), turn):
                seen[name]["back to back"].append(timed[name].back_to_back())
        for protocol in ("single", "back to back"):
            text = []
            for name in made:
                took = seen[name][protocol]
                rows.append({"shape": f"{m}x{n}x{k}", "contender": name, "protocol": protocol, "microseconds": took})
                text.append(f"{name} {min(took):.1f}…{max(took):.1f} ({2e-6 * m * n * k / min(took):.0f})")
            ratio = [b / a for a, b in zip(seen["isomer"][protocol], seen["cuBLASLt"][protocol])]
            text.append(f"ratio {min(ratio):.2f}…{max(ratio):.2f}")
            print(f"{m}x{n}x{k}".ljust(17), protocol.ljust(13), "  ".join(text), "" if good else "WRONG", flush=True)
        del timed, made, seen
        torch.cuda.empty_cache()
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "rows": rows}, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
