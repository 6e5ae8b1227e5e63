"""The lab from Python: reports are data, a trace sees what ran, a recording judges a port, and nonsense gets a sentence."""

import os
import pathlib
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import isomer

PORTS = pathlib.Path(os.environ.get("ISOMER_PORTS", pathlib.Path(__file__).parents[2] / "examples" / "ports"))
X = np.linspace(-3, 3, 64, dtype=np.float32)

GOOD = """
// launch: grid(ceil(n/256)) block(256)
extern "C" __global__ void my_sin(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
"""


def command():
    from isomer import _command

    try:
        return _command.path()
    except isomer.Error:
        pytest.skip("this package has no command line")


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    """A folder with a port that holds and one that is wrong."""
    command()
    folder = tmp_path_factory.mktemp("ports")
    for name, text in (("good", GOOD), ("bad", GOOD.replace("sinf", "cosf"))):
        (folder / name).mkdir()
        (folder / name / "candidate.cu").write_text('#include <hip/hip_runtime.h>\n' + text)
        (folder / name / "case.toml").write_text('op = "sin"\n')
    return folder


@pytest.fixture(scope="module")
def bad_report(ports):
    return isomer.check(ports / "bad")


def test_a_port_that_holds_gives_a_report_that_is_true(ports):
    report = isomer.check(str(ports / "good"))
    assert report and report.passed and not report.failures
    (candidate,) = report.candidates
    assert candidate.op == "sin" and candidate.verdict == "pass" and candidate.calls > 0
    assert (candidate.compile, candidate.call, candidate.exec) == ("passed", "passed", "passed")


def test_a_port_that_is_wrong_gives_its_findings(bad_report):
    assert not bad_report
    (candidate,) = bad_report.candidates
    assert candidate.verdict == "fail" and candidate.exec == "failed" and candidate.findings
    assert all(finding.code and finding.evidence for finding in candidate.findings)
    assert candidate.findings[0].code in str(bad_report)


def test_a_report_shows_itself_as_a_page_with_pictures(bad_report):
    shown = bad_report._repr_html_()
    assert shown.startswith("<iframe sandbox") and "&lt;svg" in shown and bad_report.candidates[0].findings[0].code in shown
    assert "<script" not in bad_report.html


def test_a_folder_of_folders_is_one_report(ports):
    report = isomer.check(ports, jobs=2)
    assert sorted(candidate.verdict for candidate in report.candidates) == ["fail", "pass"] and not report


def test_ops_are_checked_by_function_by_name_and_by_case():
    command()
    report = isomer.check(isomer.sin, implementation="cpu/scalar", sample=3, seed=5)
    assert report and report.seed == 5 and {r.op for r in report.results} == {"sin"}
    assert {r.implementation for r in report.results} == {"cpu/scalar"}
    line = report.results[0].case
    again = isomer.check(case=line, implementation="cpu/scalar")
    assert again and [r.case for r in again.results] == [line]
    assert "cpu/scalar" in report._repr_html_() and "0 failed" in str(report)


def test_nothing_checked_is_not_true():
    assert not isomer.Report()
    refused = isomer.CaseResult("sin", "cpu/avx2", "sin n=1", "refused", "no AVX2", 0.0, 0.0, 0.0, 0.0)
    assert not isomer.Report(results=(refused,)) and "nothing was checked" in str(isomer.Report(results=(refused,)))


def test_two_files_of_tensors_differ_where_they_do(tmp_path):
    command()
    import json
    import struct

    def write(path, values):
        data = np.asarray(values, np.float32)
        head = json.dumps({"x": {"dtype": "F32", "shape": list(data.shape), "data_offsets": [0, data.nbytes]}}).encode()
        path.write_bytes(struct.pack("<Q", len(head)) + head + data.tobytes())
        return path

    a, b = write(tmp_path / "a.safetensors", [1, 2, 3]), write(tmp_path / "b.safetensors", [1, 2, 3.5])
    assert isomer.diff(a, a).same
    difference = isomer.diff(a, b)
    assert not difference.same and difference.tensors[0].beyond == 1 and "x: 1 of 3" in str(difference)
    assert isomer.diff(a, b, tolerance=1).same and "<table>" in difference._repr_html_()


def test_a_trace_sees_every_call_of_every_thread_and_no_other():
    isomer.sin(X)
    with isomer.trace() as trace:
        assert len(trace) == 0
        isomer.sin(X)
        assert len(trace) == 1  # while it runs too
        thread = threading.Thread(target=lambda: isomer.attention(*[np.ones((1, 3, 2, 16), np.float32)] * 3))
        thread.start()
        thread.join()
    isomer.sin(X)
    assert [record.op for record in trace] == ["sin", "attention"]
    assert all(record.implementation.startswith("cpu/") and record.seconds == 0 for record in trace)
    assert trace.records[1].parameters or trace.records[1].variant
    assert "attention" in trace._repr_html_()
    with isomer.trace(timed=True) as timed:
        isomer.sin(X)
    assert timed.records[0].seconds > 0


def test_two_traces_are_compared(tmp_path):
    command()

    def traced(call):
        with isomer.trace() as trace:
            call()
        return trace

    q = np.ones((1, 5, 2, 16), np.float32)
    one, same, other = (traced(lambda c=c: isomer.attention(q, q, q, causal=c)) for c in (False, False, True))
    if not any(record.launches for record in one):
        pytest.skip("this implementation makes no launches")
    assert isomer.diff(one, same).same
    difference = isomer.diff(one, other)
    assert not difference.same and difference.sentences and "<iframe" in difference._repr_html_()


def test_only_kernels_that_are_asked_for_are_compared(tmp_path):
    command()

    def capture(name, kernels):
        lines = ['{"isomer_trace":1}']
        for number, kernel in enumerate(kernels, 1):
            lines += [f'{{"kernel":{number},"name":"{kernel}"}}', f'{{"launch":{number},"kernel":{number}}}']
        (tmp_path / name).write_text("\n".join([*lines, '{"end":{}}', ""]))
        return tmp_path / name

    a, b = capture("a.jsonl", ["attend"]), capture("b.jsonl", ["fill", "attend"])
    assert not isomer.diff(a, b).same and isomer.diff(a, b, kernel="^att").same


PLUGIN = """
    import isomer

    @isomer.case_folder("good")
    def test_good(report):
        assert report.candidates[0].calls > 0

    @isomer.case_folder("good", "bad")
    def test_both():
        pass

    @isomer.case_folder("absent")
    def test_absent():
        pass

    @isomer.case_folder("good")
    def test_own_assertion(report):
        assert report.candidates[0].calls == 0
"""


def _plugins():
    from importlib.metadata import entry_points

    found = entry_points()
    return found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", ())


def test_the_pytest_plugin_checks_case_folders_and_fails_with_the_findings(ports):
    (ports / "test_ports.py").write_text(textwrap.dedent(PLUGIN))
    installed = any(each.name == "isomer" for each in list(_plugins()))
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(ports / "test_ports.py"),
                           *([] if installed else ["-p", "isomer.pytest_plugin"])], capture_output=True, text=True, cwd=ports)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 2 passed, 1 error" in done.stdout, done.stdout
    assert "FAILED test_ports.py::test_both[bad]" in done.stdout and "fix:" in done.stdout
    assert "ERROR test_ports.py::test_absent[absent]" in done.stdout and "no such" in done.stdout.lower(), done.stdout


def test_bad_words_get_a_sentence(refuses, tmp_path):
    command()
    refuses(lambda: isomer.check("nonsense"), "expected an op", "'nonsense'")
    refuses(lambda: isomer.check(tmp_path / "none"), "none")
    refuses(lambda: isomer.check(3), "a path is 3")
    refuses(lambda: isomer.check(None), "a path is None")
    refuses(lambda: isomer.check(""), "empty")
    refuses(lambda: isomer.check("a\0b"), "a path is")
    refuses(lambda: isomer.check(print), "is no op")
    refuses(lambda: isomer.check([1]), "a path is [1]")
    refuses(lambda: isomer.check("sin", sample="x"), "sample is 'x'")
    refuses(lambda: isomer.check("sin", sample=-1))
    refuses(lambda: isomer.check("sin", seed=True), "seed is True")
    refuses(lambda: isomer.check("sin", jobs=0))
    refuses(lambda: isomer.check("sin", backend="abacus"), "abacus")
    refuses(lambda: isomer.check("sin", backend=1), "backend is 1")
    refuses(lambda: isomer.check("sin", implementation=[None]), "implementation is None")
    refuses(lambda: isomer.check(case="sin n=ten"), "ten")
    refuses(lambda: isomer.check(case="sin", sample=2.5), "sample is 2.5")
    refuses(lambda: isomer.check("--help"), "--help")
    refuses(lambda: isomer.check(PORTS / "sin" / "1_label_source.py"))
    refuses(lambda: isomer.check("sin", entry="x"), "entry")
    refuses(lambda: isomer.check(op=7), "op is 7")
    refuses(lambda: isomer.check("sin", surprise=1), "surprise", of=TypeError)
    refuses(lambda: isomer.diff("nowhere", "nowhere"), "no such file", code="io")
    refuses(lambda: isomer.diff(1, 2), "a is 1")
    refuses(lambda: isomer.diff(__file__, __file__, tolerance="x"), "tolerance")
    refuses(lambda: isomer.diff(__file__, __file__, tolerance=-1))
    refuses(lambda: isomer.diff(__file__, __file__, kernel=3), "kernel is 3")
    refuses(lambda: isomer.diff(__file__, tmp_path))
    refuses(lambda: isomer.diff(__file__, __file__))
    refuses(lambda: isomer.trace(timed=1), "timed is 1")
    refuses(lambda: isomer.trace("python3"), of=TypeError)
    refuses(lambda: isomer.case_folder(), "got none")
    refuses(lambda: isomer.case_folder(3), "a path is 3")
    refuses(lambda: isomer.case_folder("x", colour="red"), "colour")
    with isomer.trace() as trace:
        refuses(trace.__enter__, "entered once")
    refuses(lambda: trace.save(tmp_path / "no" / "folder"), "cannot be written", code="io")
    refuses(lambda: trace.save(None), "path is None")


def test_recording_refuses_what_it_cannot_keep(refuses, tmp_path):
    file = tmp_path / "r.safetensors"
    refuses(lambda: isomer.record(file), "got none")
    refuses(lambda: isomer.record(3, len), "path is 3")
    refuses(lambda: isomer.record(file, 3), "is no function")
    refuses(lambda: isomer.record(file, len, again=1), "again is 1")
    refuses(lambda: isomer.record(file, len, max_bytes=0), "max_bytes is 0")
    refuses(lambda: isomer.record(tmp_path, len), "it is a folder", code="io")
    refuses(lambda: isomer.record(tmp_path / "no" / "r", len), "there is no folder", code="io")


def test_a_recording_keeps_the_calls_and_judges_the_port(tmp_path, ports, refuses):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    import types

    label, user = types.ModuleType("label_of_test"), types.ModuleType("user_of_test")
    exec("import torch\ndef my_sin(x):\n    return torch.sin(x)\n", label.__dict__)
    user.my_sin = label.my_sin
    sys.modules.update({"label_of_test": label, "user_of_test": user})
    original = label.my_sin
    try:
        file = tmp_path / "recording.safetensors"
        with isomer.record(file, label.my_sin) as recording:
            assert label.my_sin is not original and user.my_sin is label.my_sin
            y = user.my_sin(torch.linspace(-3, 3, 300))
            label.my_sin(torch.zeros(5))
        assert label.my_sin is original and user.my_sin is original and recording.calls == {"my_sin": 2}
        assert torch.equal(y, torch.sin(torch.linspace(-3, 3, 300))) and file.stat().st_size > 1200
        for name in ("good", "bad"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "candidate.cu").write_text((ports / name / "candidate.cu").read_text())
            (folder / "recording.safetensors").write_bytes(file.read_bytes())
            report = isomer.check(folder)
            assert bool(report) == (name == "good"), report
        with pytest.raises(ZeroDivisionError):
            with isomer.record(file, label.my_sin):
                1 / 0
        assert label.my_sin is original

        def nothing():
            with isomer.record(tmp_path / "none.safetensors", label.my_sin):
                pass

        def too_much():
            with isomer.record(tmp_path / "large.safetensors", label.my_sin, max_bytes=100):
                label.my_sin(torch.zeros(500))

        refuses(nothing, "no call of my_sin")
        refuses(too_much, "max_bytes")
        refuses(recording.__enter__, "entered once")
    finally:
        del sys.modules["label_of_test"], sys.modules["user_of_test"]


def test_without_a_compiler_the_command_names_it(ports):
    done = subprocess.run([command(), "check", str(ports / "good")], capture_output=True, text=True,
                          env={"PATH": "/nonexistent", "HOME": str(ports)})
    assert done.returncode == 2 and "install g++ or clang++" in done.stdout
    for words in (["--version"], ["ops"], ["explain", "sin n=5", "--backend", "cpu"], ["doctor"],
                  ["check", "sin", "--sample", "2", "--backend", "cpu"]):
        done = subprocess.run([command(), *words], capture_output=True, text=True,
                              env={"PATH": "/nonexistent", "HOME": str(ports)})
        assert done.returncode == 0, (words, done.stdout, done.stderr)
