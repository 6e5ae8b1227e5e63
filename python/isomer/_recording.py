"""isomer.record: the calls of Python functions, kept as a file that the lab judges ports by."""

import inspect
import os
import platform
import sys

from ._lab import _path, _shown
from ._types import Error

_LIMIT = 256 << 20


class _NeverAgain:
    """In the place of what would call a function once more, with other values, sizes or views."""

    def __init__(self):
        self.asked = []

    def copies(self, *called):
        return None

    def ask(self, *called):
        pass


class Recording:
    """Keeps every call of the functions within its block: arguments before, arguments and answers after.

    recording.calls counts the calls by function; the file is written when the block ends, also by an exception, unless
    nothing was called.
    """

    def __init__(self, path, *functions, again=False, max_bytes=_LIMIT):
        self.path = _path("record", "path", path)
        if not functions:
            raise Error("record: expected the functions whose calls are kept, got none")
        for function in functions:
            if not inspect.isfunction(function) and not inspect.isbuiltin(function):
                raise Error(f"record: {_shown(function)} is no function")
        if not isinstance(again, bool):
            raise Error(f"record: again is {_shown(again)}, expected True or False")
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise Error(f"record: max_bytes is {_shown(max_bytes)}, expected a number of bytes")
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder) or os.path.isdir(self.path):
            raise Error(f"record: {self.path} cannot be written: " +
                        ("it is a folder" if os.path.isdir(self.path) else f"there is no folder {folder}"), "io")
        try:
            import torch
        except ImportError as error:
            raise Error(f"record: it needs PyTorch, which cannot be imported: {error}", "unsupported") from None
        self._torch, self._functions, self._again, self._limit = torch, functions, again, max_bytes
        self._made = None
        self.calls = {}

    def __enter__(self):
        from ._recorder import calls

        if self._made is not None:
            raise Error("record: it is under way or over; a recording is entered once")
        caller = sys._getframe(1).f_code.co_filename
        self._made = made = calls.Calls(caller, self._limit)
        if not self._again:
            made.beyond, made.sizes, made.views, made.smaller = (_NeverAgain() for _ in range(4))
        self._placed = []
        watched = {id(function): made.wrap(function.__name__, function) for function in self._functions}
        # Wherever a module has the function under a name, its callers find the one that keeps their calls.
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if not isinstance(names, dict) or names is globals():
                continue
            for name, value in list(names.items()):
                if id(value) in watched and getattr(value, "__name__", None) is not None:
                    names[name] = watched[id(value)]
                    self._placed.append((names, name, value))
        return self

    def __exit__(self, kind, error, trace):
        from ._recorder import bundle, calls

        for names, name, value in self._placed:
            names[name] = value
        made = self._made
        made.keep_finished()
        for call in made.made:
            self.calls[call["function"]] = self.calls.get(call["function"], 0) + 1
        if isinstance(error, calls.TooLarge):
            raise Error(f"record: {str(error).replace('--max-bytes', 'max_bytes')}") from None
        if error is not None and not made.made:
            return
        if not made.made:
            names = ", ".join(function.__name__ for function in self._functions)
            raise Error(f"record: nothing was written, because no call of {names} was made")
        unanswered = sum(not c["after"] and not c["returned"] and not c["raised"] for c in made.made)
        torch = self._torch
        metadata = {"answers": "none" if unanswered else "torch", "python": platform.python_version(),
                    "torch": torch.__version__, "triton": "none", "test_raised": [],
                    "device": torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"}
        if made.asked():
            metadata["asked"] = made.asked()
        try:
            bundle.write(self.path, made.made, made.storages, metadata)
        except OSError as failed:
            raise Error(f"record: {self.path} cannot be written: {failed}", "io") from None

    def __repr__(self):
        return f"<isomer.Recording {self.path}, {sum(self.calls.values())} calls>"


Recording.__module__ = "isomer"


def record(path, *functions, again=False, max_bytes=_LIMIT):
    """A Recording of what the functions are called with and give within a block, as `isomer record` keeps it.

        with isomer.record("ports/my_kernel/recording.safetensors", my_module.my_kernel):
            run_the_tests()
        isomer.check("ports/my_kernel")       # judges the ports in that folder by these calls

    Every module that has a function under a name calls the one that is recorded, until the block ends. With again=True
    functions are also called with other values, sizes and strides than the test's, as `isomer record` does. Tensors are
    PyTorch's or NumPy's, and more than max_bytes of them are refused. Needs PyTorch.
    """
    return Recording(path, *functions, again=again, max_bytes=max_bytes)
