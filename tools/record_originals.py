#!/usr/bin/env python3
"""Records what the original GPU kernels answer, and checks recordings.

  --sources DIR --out DIR       record every bundle (or those that --only names) into DIR; needs a CUDA GPU
  --sources DIR --compare DIR   run the originals again on the inputs of the bundles in DIR and compare
  --sources DIR --count         run larger inputs, keep nothing, print how many elements leave the ops
  --verify DIR                  compare the bundles in DIR with the definitions of the ops; needs no GPU
  --annotate DIR                write this script's rules, variations and notes into the bundles in DIR
  --table DIR                   the bundles in DIR as the table of tests/recordings/README.md
  --list                        the bundles, and the originals' files with their sha256; with --sources DIR
                                also which of them are missing there

Needs Python 3.10, torch, triton, safetensors and numpy. `TRITON_INTERPRET=1` with --device cpu tries the
Triton originals without a GPU, for their logic only.

Exit codes: 0 all holds · 1 a recording is outside its bound, or could not be made · 2 wrong usage or a
missing source · 3 nothing was done.
"""

import argparse
import fnmatch
import json
import platform
import sys
import tempfile
import traceback
from pathlib import Path

import torch
import triton

from originals import bundle, deepseek, decode, judge, kv_scatter, sdpa, sine
from originals.sources import SOURCES, Originals, sha256_of


def large_recordings():
    return deepseek.large_recordings() + kv_scatter.large_recordings()


def all_recordings():
    return [r for module in (deepseek, kv_scatter, decode, sine, sdpa) for r in module.recordings()]


def needed_sources(recordings):
    """An entry may name a second file: flash decoding's stages are two."""
    return sorted({key for key in SOURCES for r in recordings if key == r.source or key in r.entry.split()})


def driver_version():
    try:
        first = Path("/proc/driver/nvidia/version").read_text().split("\n")[0]
        return next(word for word in first.split() if word.count(".") >= 1 and word[0].isdigit())
    except (OSError, StopIteration):
        pass
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except Exception:
        return "unknown"


def machine(device):
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
        "driver": driver_version(),
        "cudnn": str(torch.backends.cudnn.version()) if device == "cuda" else "none",
    }
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu (Triton's interpreter)"
    return {"versions": json.dumps(versions), "device": name, "command": bundle.COMMAND}


def torch_origin():
    """PyTorch's attention is compiled: its origin is the library that holds it."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    return {
        "original": "pytorch/pytorch",
        "commit": torch.version.git_version,
        "path": "torch/lib/libtorch_cuda.so",
        "sha256": sha256_of(library),
    }


def origin_of(recording, of_torch):
    if recording.source == "torch":
        return of_torch
    sources = [SOURCES[key] for key in needed_sources([recording])]
    sources.sort(key=lambda source: source is not SOURCES[recording.source])
    return {
        "original": sources[0].repository,
        "commit": sources[0].commit,
        "path": " ".join(source.path for source in sources),
        "sha256": " ".join(source.sha256 for source in sources),
    }


def print_list(recordings, folder):
    for r in recordings:
        marks = ("† " if r.dagger else "") + " ".join(r.variations)
        print(f"{r.name:46} {r.op:17} {r.source:26} {json.dumps(r.options)} {marks}")
    print(
        f"\n{len(recordings)} bundles, {sum(r.dagger for r in recordings)} of them with † inputs. "
        "Files of the originals:"
    )
    faults = Originals(folder, ".").faults(needed_sources(recordings)) if folder else []
    for key in needed_sources(recordings):
        print(f"{SOURCES[key].sha256}  {SOURCES[key].place}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 2 if faults else 0


def print_verdicts(name, found):
    for v in found:
        state = "ok" if v.outside == 0 else f"OUTSIDE {v.outside}"
        print(
            f"{name:46} {v.output:10} {v.rule:9} {v.elements:7} {v.from_op:7} {v.different:7} "
            f"{v.worst:11.4g} {v.unit:21} {state}"
        )
    return sum(v.outside for v in found)


# from op: elements that differ from the op as defined; differ: from the op under the bundle's variations, and
# on lines marked * under those of its exact_under too.
HEADING = (
    f"{'bundle':46} {'output':10} {'rule':9} {'values':>7} {'from op':>7} {'differ':>7} {'worst':>11} "
    f"{'unit':21} verdict"
)


def record(recordings, originals, out, device):
    out.mkdir(parents=True, exist_ok=True)
    about = machine(device)
    of_torch = torch_origin() if any(r.source == "torch" for r in recordings) else {}
    failed = 0
    print(HEADING)
    for r in recordings:
        try:
            inputs = r.inputs()
            outputs = bundle.run(r, originals, inputs, device)
            again = bundle.run(r, originals, inputs, device)
            if not all(bundle.same_bits(outputs[name][0], again[name][0]) for name in outputs):
                raise RuntimeError("two calls gave different bits")
            path = out / f"{r.name}.safetensors"
            bundle.write(path, r, about | origin_of(r, of_torch), inputs, outputs)
            annotate_file(r, path)
            failed += print_verdicts(r.name, judge.verdicts(*bundle.read(path))) > 0
        except Exception as fault:
            failed += 1
            print(f"{r.name:46} not recorded: {type(fault).__name__}: {fault}")
            traceback.print_exc()
    print(f"{len(recordings)} recordings, {failed} failed")
    return 1 if failed else 0


def compare(recordings, originals, folder, device):
    failed = 0
    for r in recordings:
        try:
            metadata, inputs, before = bundle.read(folder / f"{r.name}.safetensors")
            now = {name: values for name, (values, _) in bundle.run(r, originals, inputs, device).items()}
            verdicts = judge.verdicts(metadata, inputs, {name: now[name] for name in before if name in now})
        except Exception as fault:
            failed += 1
            print(f"{r.name}: not compared: {type(fault).__name__}: {fault}")
            continue
        for name in before:
            if name not in now:
                failed += 1
                print(f"{r.name} {name}: no longer there")
            elif bundle.same_bits(before[name], now[name]):
                print(f"{r.name} {name}: bit-equal, {before[name].numel()} elements")
            else:
                left, right = judge.as_f64(before[name]), judge.as_f64(now[name])
                apart = ~judge.equal(left, right)
                print(
                    f"{r.name} {name}: {int(apart.sum())} of {left.size} elements differ, by up to "
                    f"{abs(left - right)[apart].max(initial=0):.4g}"
                )
        # Bits may move with another compiler or chip; the bound that the bundle states may not be left.
        failed += print_verdicts(r.name, verdicts) > 0
    print(f"{len(recordings)} bundles compared, {failed} outside their bounds or not comparable")
    return 1 if failed else 0


def count(recordings, originals, device):
    failed = 0
    print(HEADING)
    for r in recordings:
        inputs = r.inputs()
        outputs = {name: values for name, (values, _) in bundle.run(r, originals, inputs, device).items()}
        failed += print_verdicts(r.name, judge.verdicts(r.annotations() | {"op": r.op}, inputs, outputs)) > 0
    print(f"{len(recordings)} calls, {failed} outside their bounds")
    return 1 if failed else 0


def verify(folder, only):
    failed = done = 0
    print(HEADING)
    for path in sorted(folder.glob("*.safetensors")):
        if any(fnmatch.fnmatch(path.stem, pattern) for pattern in only):
            done += 1
            failed += print_verdicts(path.stem, judge.verdicts(*bundle.read(path))) > 0
    print(f"{done} bundles, {failed} outside their bounds")
    return 3 if not done else 1 if failed else 0


def table(folder, only):
    rows = 0
    print(
        "| bundle | original | options | variations "
        "| outputs: values / differ from the op / differ under the variations |"
    )
    print("|---|---|---|---|---|")
    for path in sorted(folder.glob("*.safetensors")):
        if not any(fnmatch.fnmatch(path.stem, pattern) for pattern in only):
            continue
        rows += 1
        metadata, inputs, outputs = bundle.read(path)
        counts = "; ".join(
            f"{v.output} {v.elements} / {v.from_op} / {v.different}"
            for v in judge.verdicts(metadata, inputs, outputs)
        )
        options = " ".join(f"{name}={value}" for name, value in json.loads(metadata["options"]).items())
        dagger = "† " if metadata["dagger"] == "yes" else ""
        place = metadata["original"] + " " + Path(metadata["path"].split()[0]).name
        print(
            f"| {dagger}{path.stem} | {place} | {options} "
            f"| {' '.join(json.loads(metadata['variations']))} | {counts} |"
        )
    return 0 if rows else 3


def annotate_file(recording, path):
    metadata, inputs, outputs = bundle.read(path)
    metadata |= recording.annotations()
    metadata["departures"] = json.dumps(judge.departures(metadata, inputs, outputs))
    tensors = {name: tensor.contiguous() for name, tensor in (inputs | outputs).items()}
    bundle.write_sorted(path, tensors, metadata)


def annotate(recordings, folder):
    done = 0
    for r in recordings:
        path = folder / f"{r.name}.safetensors"
        if not path.is_file():
            continue
        annotate_file(r, path)
        done += 1
    print(f"{done} bundles annotated")
    return 0 if done else 3


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, help="folder with the originals, OWNER/NAME@COMMIT/PATH each")
    parser.add_argument("--out", type=Path, help="record into this folder")
    parser.add_argument(
        "--compare", type=Path, help="record again and compare with the bundles in this folder"
    )
    parser.add_argument("--count", action="store_true", help="count differences over larger inputs")
    parser.add_argument("--verify", type=Path, help="compare the bundles in this folder with the definitions")
    parser.add_argument(
        "--annotate", type=Path, help="rewrite what the bundles in this folder say of themselves"
    )
    parser.add_argument("--table", type=Path, help="the bundles in this folder as a table")
    parser.add_argument("--list", action="store_true", help="list bundles and source files")
    parser.add_argument(
        "--only",
        action="append",
        metavar="PATTERN",
        help="only bundles whose name matches, as in act_quant-*",
    )
    parser.add_argument("--device", default="cuda", help="cuda, or cpu under Triton's interpreter")
    args = parser.parse_args()
    only = args.only or ["*"]
    known = large_recordings() if args.count else all_recordings()
    recordings = [r for r in known if any(fnmatch.fnmatch(r.name, pattern) for pattern in only)]
    if args.list:
        return print_list(recordings, args.sources)
    if args.verify:
        return verify(args.verify, only)
    if args.table:
        return table(args.table, only)
    if args.annotate:
        return annotate(recordings, args.annotate)
    if not args.sources or not (args.out or args.compare or args.count):
        parser.error(
            "say --sources DIR with --out DIR, --compare DIR or --count; or --verify DIR, --table DIR, "
            "--annotate DIR or --list"
        )
    if not recordings:
        print("no recording has such a name", file=sys.stderr)
        return 3
    if args.device == "cuda" and not torch.cuda.is_available():
        print("recording needs a CUDA GPU, and torch sees none", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        originals = Originals(args.sources, scratch)
        if faults := originals.faults(needed_sources(recordings)):
            print("\n".join(faults), file=sys.stderr)
            return 2
        if args.count:
            return count(recordings, originals, args.device)
        if args.out:
            return record(recordings, originals, args.out, args.device)
        return compare(recordings, originals, args.compare, args.device)


if __name__ == "__main__":
    sys.exit(main())
