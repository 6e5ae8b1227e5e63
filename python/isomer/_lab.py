"""The lab from Python: check, diff, trace and record."""

import contextlib
import json
import os
import pathlib
import tempfile
from dataclasses import dataclass, field

from . import _command, _isomer
from ._reports import Report, difference_of, report_of
from ._types import Error, KernelLaunch, functions


def _word(verb, name, value, kinds, expected):
    """The value as a word of the command line. A bool is no number."""
    if isinstance(value, bool) or not isinstance(value, kinds) or (isinstance(value, str) and "\0" in value):
        raise Error(f"{verb}: {name} is {_shown(value)}, expected {expected}")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _shown(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _path(verb, name, value):
    text = _word(verb, name, value, (str, os.PathLike), "a path")
    if not text:
        raise Error(f"{verb}: {name} is empty, expected a path")
    # A word that begins with a dash would be an option.
    return text if not text.startswith("-") else "./" + text


def _words(verb, option, value, expected):
    """--option VALUE, once for each of several."""
    if value is None:
        return []
    several = value if isinstance(value, (list, tuple)) else [value]
    return [f"--{option}=" + _word(verb, option, each, str, expected) for each in several]


def _number(verb, option, value, kinds=(int,), expected="a whole number"):
    return [] if value is None else [f"--{option}=" + _word(verb, option, value, kinds, expected)]


@contextlib.contextmanager
def _page():
    """A file for the command's HTML, read when the command has written it."""
    with tempfile.TemporaryDirectory(prefix="isomer-") as folder:
        yield pathlib.Path(folder) / "page.html"


def check(*what, op=None, entry=None, backend=None, implementation=None, case=None, sample=None, seed=None, jobs=None):
    """Checks candidates, given as paths, or ops, given by function or name, and returns a Report.

        isomer.check("ports/my_kernel")                  # a case folder, a file, or a folder of folders
        isomer.check("kernel.hip.cpp", op="sin", entry="my_sin")
        isomer.check(isomer.attention, sample=20)        # our own implementations against the reference
        assert isomer.check(case="sin n=1000 f16 seed=7")

    The options are those of `isomer check`: op and entry of candidates; backend "cpu", "cuda", "hip" or "emulated";
    implementation, case, sample and seed of ops. A report is true where something was checked and all of it holds.
    It shows itself as a page with pictures in a notebook. Raises isomer.Error where nothing could be started.
    """
    words, paths = [], []
    for each in what if op is None else (*what, op):
        if callable(each) and not isinstance(each, os.PathLike):
            name = getattr(each, "__name__", None)
            if not isinstance(name, str) or functions.get(name) is not each:
                raise Error(f"check: {_shown(each)} is no op, expected a path or one of {', '.join(functions)}")
            words.append(f"--op={name}")  # never a path, where one of that name exists
        elif op is not None and each is op:
            words.append("--op=" + _word("check", "op", op, str, "an op or its name"))
        else:
            paths.append(_path("check", "a path", each))
    words += _words("check", "entry", entry, "the name of a function")
    words += _words("check", "backend", backend, "'cpu', 'cuda', 'hip' or 'emulated'")
    words += _words("check", "implementation", implementation, "a name as 'cpu/avx2'")
    words += _words("check", "case", case, "a case line as 'sin n=1000 f16 seed=7'")
    for option, value in (("sample", sample), ("seed", seed), ("jobs", jobs)):
        words += _number("check", option, value)
    with _page() as page:
        # A word that is no path is an op, or is refused with the list of ops.
        if any(os.path.exists(path) or "/" in path for path in paths):
            words.append(f"--html={page}")
        said = _command.json_of(["check", *words, "--", *paths])
        return report_of(said, page.read_text(encoding="utf-8") if page.exists() else "")


def diff(a, b, *, kernel=None, tolerance=None, names=None):
    """What differs between two records of launches, two binaries with GPU kernels, or two files of tensors.

        isomer.diff("a.jsonl", "b.jsonl")                # captures of isomer trace, Nsight Systems and Kineto exports
        isomer.diff("a.safetensors", "b.safetensors", tolerance=1e-3)
        isomer.diff(trace_a, trace_b)                    # what two `with isomer.trace()` saw

    kernel, a regular expression, leaves only the kernels that have it in their name; tolerance is of tensors' elements;
    names is a file of template parameter names. Returns a Difference.
    """
    words = _number("diff", "tolerance", tolerance, (int, float), "a number")
    if kernel is not None:
        if not isinstance(kernel, str):
            raise Error(f"diff: kernel is {_shown(kernel)}, expected a regular expression")
        words.append(f"--kernel={kernel}")
    if names is not None:
        words.append("--names=" + _path("diff", "names", names))
    with tempfile.TemporaryDirectory(prefix="isomer-") as folder:
        files = []
        for name, side in (("a", a), ("b", b)):
            if isinstance(side, Trace):
                file = os.path.join(folder, f"{name}.jsonl")
                side.save(file)
                files.append(file)
            else:
                files.append(_path("diff", name, side))
                if not os.path.exists(files[-1]):
                    raise Error(f"diff: {name} is {_shown(side)}, and there is no such file", "io")
        page = pathlib.Path(folder) / "page.html"
        captures = not any(_is_safetensors_or_binary(file) for file in files)
        if captures:
            words.append(f"--html={page}")
        said = _command.json_of(["diff", *words, "--", *files])
        return difference_of(said, page.read_text(encoding="utf-8") if page.exists() else "")


def _is_safetensors_or_binary(file):
    """Files of which `isomer diff` writes no page: whatever is no text of launches."""
    if file.endswith((".safetensors", ".so", ".o", ".cubin", ".fatbin", ".hsaco")) or ".so." in os.path.basename(file):
        return True
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"
    return False


@dataclass(frozen=True)
class LaunchRecord:
    """What one call ran."""

    op: str
    implementation: str
    variant: dict = field(repr=False)
    parameters: dict = field(repr=False)
    constants: dict = field(repr=False)
    launches: tuple[KernelLaunch, ...]
    seconds: float  #: 0 where the trace is not timed


class Trace:
    """What Isomer's ops ran, in any thread of this process, between `with isomer.trace() as trace:` and its end.

    trace.records holds a LaunchRecord for each call, also while the block runs; timed waits for each call's end, so that
    seconds are known. Launches of other libraries are recorded by `isomer trace -- COMMAND`.
    """

    def __init__(self, *, timed=False):
        if not isinstance(timed, bool):
            raise Error(f"trace: timed is {_shown(timed)}, expected True or False")
        self._timed = timed
        self._listening = None
        self._records = ()

    def __enter__(self):
        if self._listening is not None:
            raise Error("trace: it is under way; a trace is entered once")
        self._listening = _isomer.Listening(self._timed)
        return self

    def __exit__(self, *reason):
        self._listening.stop()
        self.records

    @property
    def records(self):
        """A LaunchRecord for each call so far, in their order."""
        if self._listening is not None:
            for said in self._listening.take():
                launches = tuple(KernelLaunch(**launch) for launch in said["launches"])
                self._records += (LaunchRecord(**{**said, "launches": launches}),)
        return self._records

    def __len__(self):
        return len(self.records)

    def __iter__(self):
        return iter(self.records)

    def __repr__(self):
        return f"<isomer.Trace of {len(self)} calls>"

    def _repr_html_(self):
        from ._reports import _table

        rows = [(r.op, r.implementation, launch.kernel, launch.grid, launch.block, f"{r.seconds * 1e6:.1f}" if r.seconds else "")
                for r in self.records for launch in (r.launches or (KernelLaunch("", (), (), (), 0, -1),))]
        return _table(("op", "implementation", "kernel", "grid", "block", "microseconds"), rows)

    def save(self, path):
        """Writes the launches as a capture, which `isomer diff` and `isomer show` read."""
        text = [{"isomer_trace": 1, "tool": "isomer's own launches", "command": "", "process": os.getpid(), "facts": {}}]
        kernels, count = {}, 0
        for record in self.records:
            for launch in record.launches:
                kernel = {"name": launch.kernel, "variant": {"op": record.op, "implementation": record.implementation,
                                                             **record.variant}}
                if launch.registers >= 0:
                    kernel["registers"] = launch.registers
                key = json.dumps(kernel)
                if key not in kernels:
                    kernels[key] = len(kernels) + 1
                    text.append({"kernel": kernels[key], **kernel})
                count += 1
                text.append({"launch": count, "kernel": kernels[key], "grid": launch.grid, "block": launch.block,
                             "cluster": launch.cluster, "shared_dynamic": launch.shared_bytes,
                             "parameters": {**record.parameters,
                                            **{f"constant {name}": value for name, value in record.constants.items()}}})
        text.append({"end": {"launches": count, "dropped": 0}})
        path = _path("trace", "path", path)
        try:
            pathlib.Path(path).write_text("".join(json.dumps(line) + "\n" for line in text), encoding="utf-8")
        except (OSError, ValueError) as error:
            raise Error(f"trace: {path} cannot be written: {error}", "io") from None


def trace(*, timed=False):
    """A Trace: `with isomer.trace() as trace: …` records which implementation and kernels every call of an op ran."""
    return Trace(timed=timed)


def case_folder(*paths, **options):
    """Makes a test of pytest check candidates: the test fails with the findings unless every candidate passes.

        @isomer.case_folder("ports/sin", "ports/act_quant")
        def test_the_ports(report):
            assert report.candidates[0].calls > 10

    Each path is a test of its own; one that is not absolute starts from the test's file. The options are those of
    isomer.check. The test may take `report`, and then runs after the check.
    """
    import inspect

    if not paths:
        raise Error("case_folder: expected one path or more, got none")
    paths = [_path("case_folder", "a path", path) for path in paths]
    unknown = set(options) - set(inspect.signature(check).parameters)
    if unknown:
        raise Error(f"case_folder: {sorted(unknown)[0]} is no option of isomer.check")
    try:
        import pytest
    except ImportError:
        raise Error("case_folder: it decorates tests of pytest, which is not installed: python -m pip install pytest",
                    "unsupported") from None
    # A test that does not take the report is checked all the same.
    return lambda test: pytest.mark.usefixtures("report")(pytest.mark.isomer_case_folder(*paths, **options)(test))


for _each in (LaunchRecord, Trace):
    _each.__module__ = "isomer"
