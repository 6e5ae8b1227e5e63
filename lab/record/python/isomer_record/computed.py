"""Numbers that a function computes on its way, by the names that it gives them: a port may take them as sizes, or as the factor
that callers leave to it."""

import ast
import inspect
import sys
import textwrap

MOST = 32


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


class Numbers:
    """`with Numbers(function) as numbers`: of the function's first call inside, once it returns, numbers.found has its variables."""

    def __init__(self, function):
        self.code = code_of(function)
        self.found = {}
        self.function = function

    def __enter__(self):
        self.before = sys.gettrace()
        # A debugger's or a coverage tool's trace stays.
        self.traces = self.code is not None and self.before is None
        if self.traces:
            sys.settrace(self.called)
        return self

    def __exit__(self, *_):
        if self.traces and sys.gettrace() is not None:
            sys.settrace(None)

    def called(self, frame, event, _):
        if frame.f_code is not self.code:
            return None
        sys.settrace(ignored)  # other functions are no matter
        frame.f_trace_lines = False
        return self.inside

    def inside(self, frame, event, _):
        if event == "return":
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
        return self.inside


def values(numbers, side):
    """As a call keeps them."""
    return [side.value(value, name, name) for name, value in sorted(numbers.found.items())]
