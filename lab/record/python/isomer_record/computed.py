"""What a function computes on its way, by the names that it gives it: numbers, which a port may take as sizes or as the factor that
callers leave to it, and small tensors (own_tensors.py)."""

import ast
import copy
import inspect
import os
import sys
import textwrap
import time

import torch

from .again import called_again
from .own_tensors import Tensors
from .unwritten import REAL, WHOLE, Filled, flat

MOST = 32
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
TENSORS = 16 << 20  # bytes of all calls' tensors


def counters(function):
    """Names that loops count by, and those that a statement adds to: they say where the function has come to."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return set()
    targets = [each.target for each in ast.walk(tree) if isinstance(each, (ast.For, ast.AugAssign, ast.comprehension, ast.NamedExpr))]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def names_of_results(function, frame, result):
    """By the statement that returns: `return out, int(count.item())` returns out and count."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return []
    at = frame.f_lineno - first + 1
    results = [each for each in flat(result) if each is not None]
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None and node.lineno <= at <= (node.end_lineno or node.lineno):
            items = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
            # What is None among them is no result.
            if isinstance(result, (tuple, list)) and len(result) == len(items):
                items = [item for item, each in zip(items, result) if each is not None]
            if len(items) != len(results):
                return []
            own = frame.f_locals
            plain = [item.id if isinstance(item, ast.Name) else "" for item in items]
            inner = [
                plain[i] or next((each.id for each in ast.walk(item) if isinstance(each, ast.Name) and each.id in own and each.id not in plain), "")
                for i, item in enumerate(items)
            ]
            return [name if inner.count(name) == 1 else "" for name in inner]
    return []


def around(frame):
    """The whole numbers that a test has in variables where it makes a call: what it calls the sizes that it made tensors with."""
    # The recorder's own frames and those of decorators lie between.
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    if frame is None:
        return {}
    own = {name: each for name, each in frame.f_locals.items() if type(each) is int and each > 0 and not name.startswith("_")}
    return dict(list(own.items())[-MOST:])


def code_of(function):
    try:
        return getattr(inspect.unwrap(function), "__code__", None)
    except ValueError:
        return None


class Launched(BaseException):
    """No Exception: a label may go on behind those."""


def ignored(frame, event, _):
    return None


class Computed:
    """`with Computed(function, launches) as own`: of the function's first call inside, once it returns, own.found has its whole
    numbers, and own.tensors.found its tensors."""

    def __init__(self, function, launches, stops=False):
        self.stops = stops  # with the first launch
        self.code = code_of(function)
        self.found = {}
        self.results = []  # what it calls each of its results; empty where it has no name
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
        if self.stops:
            self.tensors.take()
            raise Launched()

    def inside(self, frame, event, result):
        if event == "return":
            sys.settrace(ignored)
            parameters = set(self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount])
            # A factor that some callers leave to the function is one in every call.
            own = {
                name: value
                for name, value in frame.f_locals.items()
                if type(value) is float or (type(value) is int and name not in parameters)
            }
            for name in counters(self.function) if own else ():
                own.pop(name, None)
            self.found = dict(list(own.items())[:MOST])
            self.results = names_of_results(self.function, frame, result)
            self.tensors.end(frame, result)
        return self.inside


class Written:
    """Finds which of the tensors hold nothing but what somebody wrote: the label is called again as far as its first kernel,
    and they are the same where memory without values is given others."""

    SECONDS_OF_ALL, SECONDS_OF_A_CALL, LARGEST = 4.0, 1.0, 32 << 20

    def __init__(self, launches):
        self.launches = launches
        self.spent = 0.0

    def names(self, function, given, own, seconds):
        """Of those of a call that lasted so long; `given` is left as it is."""
        slow = seconds > self.SECONDS_OF_A_CALL and self.launches.answered == 0
        if given is None or not own.tensors.found or slow or self.spent > self.SECONDS_OF_ALL:
            return set()
        begin = time.process_time()
        try:
            if sum(each.numel() * each.element_size() for each in flat(list(given)) if isinstance(each, torch.Tensor)) > self.LARGEST:
                return set()
            args, kwargs = copy.deepcopy(given)
            with called_again(self.launches) as rewind, Filled(REAL, WHOLE), Computed(function, self.launches, stops=True) as again:
                rewind()
                try:
                    function(*args, **kwargs)
                except Launched:
                    pass
            return own.tensors.same_in(again.tensors)
        except Exception:
            return set()
        finally:
            self.spent += time.process_time() - begin


def keep(call, own, side, names):
    """Adds to a call what was computed in it: of the tensors those of these names."""
    numbers = {**{name: flag for name, flag in own.launches.flags.items() if flag is not None}, **own.found}
    found = [side.value(value, name, name) for name, value in sorted(numbers.items())]
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
