"""The label and the test as sources: which text is which, and what the label offers."""

import ast
import re
import sys
import types

from . import divisions

# TritonBench keeps kernel and test in one file, apart by a line of these.
SEPARATOR = re.compile(r"^#{60,}\s*$", re.MULTILINE)


class NotPython(Exception):
    """A file that Python cannot read, told in one sentence."""


def read(path):
    try:
        with open(path, "rb") as file:
            text = file.read()
        return text.decode("utf-8-sig")
    except OSError as error:
        raise NotPython(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NotPython(f"{path} is not a text in UTF-8") from None


def parse(text, path):
    try:
        return ast.parse(text, path)
    except SyntaxError as error:
        raise NotPython(f"{path}:{error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotPython(f"{path} is no Python: {error}") from None


def parts(text):
    """(label, test): the two halves of a file that holds both, the second with its line numbers kept."""
    found = SEPARATOR.search(text)
    if not found:
        return text, None
    return text[: found.start()], "\n" * text.count("\n", 0, found.end()) + text[found.end() :]


def is_kernel(value):
    return hasattr(value, "isomer_kernel") or type(value).__module__.startswith("triton.")


class LaunchedByTest:
    """A kernel of the label that the test launches itself."""

    def __init__(self, kernel, name, calls):
        self.kernel, self.name, self.calls = kernel, name, calls

    def __getitem__(self, grid):
        return self.calls.wrap(self.name, self.kernel[grid], signature=self.written())

    def written(self):
        """The function that the kernel was written as, beneath tuning and the like; none where that is not to be had."""
        function = self.kernel
        while function is not None and not isinstance(function, types.FunctionType):
            function = getattr(function, "fn", None)
        return function

    def __getattr__(self, name):
        return getattr(self.kernel, name)


def assigned(tree):
    """Names that top-level statements of a module give, without imports."""
    names = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    return names


def watched_class(kind, name, calls):
    """An autograd Function whose apply is kept, or a module whose calls are; None where it is another class."""
    import torch

    if issubclass(kind, torch.autograd.Function):
        apply = calls.wrap(name, kind.apply, signature=forward_of(kind))
        # Some call forward itself, with whatever as its context.
        forward = calls.wrap(name, kind.forward, context=True)
        return type(name, (kind,), {"apply": staticmethod(apply), "forward": staticmethod(forward)})
    if issubclass(kind, torch.nn.Module):
        call = calls.wrap(name, kind.__call__, signature=kind.forward)
        return type(name, (kind,), {"__call__": call})
    return None


def forward_of(kind):
    """A function with the parameters of an autograd Function's apply: those of forward without its context."""
    import inspect

    import torch

    forward = kind.forward
    plain = getattr(torch.autograd.Function, "setup_context", None)
    if getattr(kind, "setup_context", plain) is not plain:
        return forward  # it has none
    signature = inspect.signature(forward)

    def apply():
        pass

    apply.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return apply


def brings_along(text, label):
    """Whether a test's first half is the label itself, as where the one is appended to the other."""
    try:
        return set(assigned(ast.parse(label))) <= set(assigned(ast.parse(text)))
    except SyntaxError:
        return False


class Label:
    """The label, imported: its own functions wrapped, everything else as it is."""

    def __init__(self, path, text, calls):
        self.path = path
        self.tree = parse(text, path)
        self.module = types.ModuleType("isomer_label")
        self.module.__file__ = path
        # Triton reads a kernel's source from its module's file.
        sys.modules["isomer_label"] = self.module
        self.module.__dict__[divisions.NAME] = divisions.divided
        exec(compile(divisions.told(self.tree), path, "exec", dont_inherit=True), self.module.__dict__)
        calls.sizes.of_kernels = not divisions.by_kernels(self.tree)
        self.names = dict(self.module.__dict__)
        self.functions = []
        for name in assigned(self.tree):
            value = self.module.__dict__.get(name)
            if isinstance(value, type):
                watched = watched_class(value, name, calls) if value.__module__ == "isomer_label" else None
                if watched is not None:
                    self.names[name] = watched
                    self.functions.append(name)
                continue
            if not callable(value) and not is_kernel(value):
                continue
            if is_kernel(value):
                self.names[name] = LaunchedByTest(value, name, calls)
                calls.kernels.append((self.module.__dict__, name, value, self.names[name]))
            else:
                self.names[name] = calls.wrap(name, value)
                self.functions.append(name)

    def take(self, names):
        """What the second half of its file defines is there for its functions, too: modules that only it imports."""
        for name, value in names.items():
            if not name.startswith("__"):
                self.module.__dict__.setdefault(name, value)

    def as_module(self, name):
        module = types.ModuleType(name)
        module.__dict__.update({key: value for key, value in self.names.items() if not key.startswith("__")})
        module.__file__ = self.path
        return module
