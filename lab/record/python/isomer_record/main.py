"""main() runs the job in the file argv[1]: it names label, test, arguments, limits and where the outcome goes."""

import hashlib
import json
import os
import platform
import random
import sys
import time

BEGIN = time.monotonic()


def outcome(job, **fields):
    part = job["status"] + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(fields, file)
    os.replace(part, job["status"])


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def seed(torch):
    random.seed(0)
    torch.manual_seed(0)
    try:
        import numpy

        numpy.random.seed(0)
    except ImportError:
        pass


def record(job):
    from . import facts, sources

    label_text, test_text, test_path, one_file = None, None, job["test"], False
    if job["label"]:
        label_text, test_text = sources.parts(sources.read(job["label"]))
        sources.parse(label_text, job["label"])
    if test_path:
        whole = sources.read(test_path)
        first, second = sources.parts(whole)
        if job["label"]:
            brings = second is not None and sources.brings_along(first, label_text)
            test_text = second if brings else whole
        else:
            one_file = second is not None
            label_text, test_text = (first, second) if one_file else (None, whole)
        sources.parse(test_text, test_path)
    elif test_text is not None:
        test_path, one_file = job["label"], True
    else:
        return {"error": "there is no test: 3_test_code.py is absent, and the label has none below a line of #"}
    try:
        import torch
    except ImportError as error:
        return {"error": str(error), "kind": "no torch"}

    from . import bundle, calls, no_gpu, no_triton, run_test, with_triton
    from .limits import LIMITS, OutOfTime

    LIMITS.start(job["seconds"], BEGIN)

    made = calls.Calls(test_path, job["max_bytes"])
    has_gpu = torch.cuda.is_available()
    triton = "none"
    if not has_gpu:
        os.environ.setdefault("TRITON_INTERPRET", "1")
    try:
        import triton as real

        triton = real.__version__
        if has_gpu:
            with_triton.count_launches(made.launches)
        elif os.environ["TRITON_INTERPRET"] == "1" and with_triton.install(made.launches):
            triton += " interpreter"
        else:
            raise ImportError("kernels need a GPU or the interpreter")
        no_triton.install_former(made.launches)
    except Exception as error:  # a Triton that is there may still not load
        why = no_triton.absent()
        if not isinstance(error, ModuleNotFoundError) or (error.name or "").split(".")[0] != "triton":
            why = f"the Triton that is installed does not run here: {error}".splitlines()[0][:300]
        for name in [each for each in sys.modules if each.split(".")[0] == "triton"]:
            del sys.modules[name]
        no_triton.install(made.launches, why)
        triton = "none"
    stands_in = triton == "none"
    if not has_gpu:
        no_gpu.install()
    seed(torch)
    label = None
    label_path = job["label"] or test_path
    if label_text is not None:
        try:
            label = sources.Label(label_path, label_text, made)
        except (Exception, SystemExit) as error:
            place = sources_line(error, label_path)
            return {"error": f"the label cannot be imported: {place}: {type(error).__name__}: {error}"}
    if label is not None:
        made.beyond.of_label(label.tree)
    # A label that has no kernels gives its answers all the same.
    cannot_answer = stands_in and "triton" in sys.modules
    run_test.without_answers(made.launches)
    sys.argv = [test_path] + job["arguments"]
    run = run_test.TestRun(test_path, test_text, label, made, cannot_answer, one_file)
    try:
        run.run()
        made.finish()
        LIMITS.stop()
    except OutOfTime as late:
        LIMITS.stop()
        made.out_of_time(str(late))
        run.note("the test", late)
    except calls.TooLarge as large:
        LIMITS.stop()
        made.keep_finished()
        if not made.made:
            return {"error": str(large)}
        run.note("the calls that followed", large)
    if not made.made:
        names = ", ".join(label.functions) if label and label.functions else "a function"
        first = f"; {run.raised[0]['where']} raised {run.raised[0]['error']}" if run.raised else ""
        return {"error": f"{os.path.basename(test_path)} makes no call of the label's functions ({names}){first}"}
    answers = "triton" if "triton" in made.answers else "torch" if "torch" in made.answers else "none"
    unanswered = sum(1 for call in made.made if not call["after"] and not call["returned"] and not call["raised"])
    metadata = {
        "answers": answers if answers == "triton" or unanswered == 0 else "none",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton,
        "device": torch.cuda.get_device_name(0) if has_gpu else "none",
        "seed": "0",
        "test_sha256": sha256(test_path),
        "test_raised": run.raised,
    }
    if made.outside:
        metadata["outside"] = made.outside
    # What is beyond the limit of all bytes was not kept.
    kept = made.storages.bytes
    asked = [each for each in made.asked() if all(value["storage"] in kept for value in calls.tensors(each))]
    if asked:
        metadata["asked"] = asked
    metadata["influence"] = made.influence.found
    if label is not None and unanswered == 0 and not has_gpu and job["edit_seconds"] > 0:
        left = job["seconds"] - (time.monotonic() - BEGIN)
        folder = os.path.dirname(job["status"])
        edited = made.edited.ask(label, made.launches, made.storages, min(job["edit_seconds"], left / 2), folder)
        if edited:
            metadata["edited"] = edited
    if unanswered and made.launches.why:
        metadata["unanswered"] = made.launches.why
    try:
        metadata["facts"] = facts.of(label.tree if label else None, label_path, run.tree, test_path)
    except (AttributeError, RecursionError):
        pass  # a Python before 3.9, or texts deeper than it can follow: the calls are what counts
    if job["label"]:
        metadata["label_sha256"] = sha256(job["label"])
    bundle.write(job["recording"], made.made, made.storages, metadata)
    return {"calls": len(made.made), "unanswered": unanswered, "answers": answers, "raised": run.raised, "why": made.launches.why}


def sources_line(error, path):
    """Where in the label the import stopped."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{os.path.basename(path)}:{line}" if line else os.path.basename(path)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    from .sources import NotPython

    try:
        fields = record(job)
    except NotPython as error:
        fields = {"error": str(error)}
    except MemoryError:
        fields = {"error": "memory ran out"}
    except KeyboardInterrupt:
        fields = {"error": "it was interrupted"}
    outcome(job, **fields)
    # Threads that the test left behind do not keep the recorder.
    sys.stdout.flush()
    os._exit(0)
