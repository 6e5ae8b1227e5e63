"""What a function computes on its way, by the names that it gives it: whole numbers, which a port may take as sizes, and small
tensors (own_tensors.py)."""

import ast
import inspect
import sys
import textwrap

from .own_tensors import Tensors

MOST = 32
TENSORS = 16 << 20  # bytes of all calls' tensors


def counters(function):
    """Names that loops count by, and those that a statement adds to: they say where the function has come to."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return set()
    targets = [each.target for each in ast.walk(tree) if isinstance(each, (ast.For, ast.AugAssign, ast.comprehension, ast.NamedExpr))]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def code_of(function):
    try:
        return getattr(inspect.unwrap(function), "__code__", None)
    except ValueError:
        return None


def ignored(frame, event, _):
    return None


class Computed:
    """`with Computed(function, launches) as own`: of the function's first call inside, once it returns, own.found has its whole
    numbers, and own.tensors.found its tensors."""

    def __init__(self, function, launches):
        self.code = code_of(function)
        self.found = {}
        self.function = function
        self.launches = launches
        self.tensors = Tensors()

    def __enter__(self):
        self.before = sys.gettrace()
        # A debugger's or a coverage tool's trace stays.
        self.traces = self.code is not None and self.before is None
        if self.traces:
            self.launches.before = self.launched
            sys.settrace(self.called)
        return self

    def __exit__(self, *_):
        self.launches.before = None
        if self.traces and sys.gettrace() is not None:
            sys.settrace(None)
        self.tensors.forget()

    def called(self, frame, event, _):
        if frame.f_code is not self.code:
            return None
        frame.f_trace_lines = False
        self.tensors.begin(frame)
        sys.settrace(self.callee)
        return self.inside

    def callee(self, frame, event, _):
        if not self.tensors.follows(frame):
            return None
        frame.f_trace_lines = False
        return self.in_callee

    def in_callee(self, frame, event, _):
        if event == "return":
            self.tensors.note(frame)
        return self.in_callee

    def launched(self):
        """Before the launch of a kernel: what functions that are called from here on compute is no matter."""
        if sys.gettrace() is not None:
            sys.settrace(ignored)
        self.tensors.launched(sys._getframe(1))

    def inside(self, frame, event, result):
        if event == "return":
            sys.settrace(ignored)
            parameters = set(self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount])
            own = {name: value for name, value in frame.f_locals.items() if type(value) is int and name not in parameters}
            for name in counters(self.function) if own else ():
                own.pop(name, None)
            self.found = dict(list(own.items())[:MOST])
            self.tensors.end(frame, result)
        return self.inside


def keep(call, own, side, names):
    """Adds to a call what was computed in it: of the tensors those of these names."""
    found = [side.value(value, name, name) for name, value in sorted(own.found.items())]
    # Memory of its own, whatever lay there before.
    storages, apart = side.storages, type(side)(side.storages, side.prefix + ".computed")
    for name, value in sorted(own.tensors.found.items()):
        size = value.numel() * value.element_size()
        # The calls themselves come first.
        if name in names and storages.computed + size <= TENSORS and storages.total + size <= storages.limit // 2:
            total = storages.total
            text = apart.value(value, name, name)
            storages.computed += storages.total - total
            if text["kind"] == "tensor":
                found.append(text)
    if found:
        call["computed"] = found
