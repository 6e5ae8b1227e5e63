"""Runs a test to its end: a statement or a test function that raises is noted, and the next one runs."""

import __future__
import ast
import contextlib
import functools
import importlib.util
import inspect
import itertools
import os
import sys
import types
import unittest

from . import no_pytest
from .sources import parse


def without_answers(launches):
    """Comparisons that cannot hold once a kernel has not run; what follows them is to run all the same."""
    import torch

    def lenient(original):
        @functools.wraps(original, assigned=("__name__", "__doc__"), updated=())
        def compare(*args, **kwargs):
            return True if launches.ever_unanswered else original(*args, **kwargs)

        return compare

    places = [
        (torch.testing, ["assert_close", "assert_allclose"]),
        (torch, ["allclose"]),
        (torch.Tensor, ["allclose"]),
    ]
    try:
        import numpy.testing

        places.append(
            (numpy.testing, ["assert_allclose", "assert_array_equal", "assert_almost_equal", "assert_array_almost_equal"])
        )
    except ImportError:
        pass
    for holder, names in places:
        for name in names:
            if hasattr(holder, name):
                setattr(holder, name, lenient(getattr(holder, name)))


class WithoutAsserts(ast.NodeTransformer):
    """What an assertion calls is called, and what it says is left alone."""

    def visit_Assert(self, node):
        if not any(isinstance(each, ast.Call) for each in ast.walk(node.test)):
            return ast.copy_location(ast.Pass(), node)
        handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
        tried = ast.Try([ast.Expr(node.test)], [handler], [], [])
        return ast.fix_missing_locations(ast.copy_location(tried, node))


class TestRun:
    def __init__(self, path, text, label, calls, strip_asserts, one_file):
        self.path, self.label, self.calls = path, label, calls
        self.one_file = one_file and label is not None  # the label is its first half
        self.tree = parse(text, path)
        self.strip_asserts = strip_asserts
        self.raised = []
        self.ran = set()
        self.module = types.ModuleType("__main__")
        self.module.__file__ = path
        self.names = self.module.__dict__

    def note(self, where, error):
        self.raised.append({"where": where, "error": f"{type(error).__name__}: {error}"[:500]})

    def missing_modules(self):
        """Modules that the test imports, that are nowhere, and whose names are the label's: they mean the label."""
        for node in ast.walk(self.tree):
            wanted = {}
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                wanted[node.module] = [each.name for each in node.names]
            elif isinstance(node, ast.Import):
                for each in node.names:
                    bound = each.asname or each.name
                    wanted[each.name] = [
                        use.attr
                        for use in ast.walk(self.tree)
                        if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id == bound
                    ]
            for module, names in wanted.items():
                if module in sys.modules or not names:
                    continue
                if all(name == "*" or name in self.label.names for name in names):
                    try:
                        found = importlib.util.find_spec(module) is not None
                    except (ImportError, ValueError, AttributeError):
                        found = False
                    beside = os.path.join(os.path.dirname(os.path.abspath(self.path)), module + ".py")
                    if not found or os.path.realpath(beside) == os.path.realpath(self.label.path):
                        yield module

    def imports(self, module):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == module:
                return True
            if isinstance(node, ast.Import) and any(each.name.split(".")[0] == module for each in node.names):
                return True
        return False

    def prepare(self):
        sys.path.insert(0, os.path.dirname(os.path.abspath(self.path)))
        if self.imports("pytest"):
            no_pytest.install()
        if self.label is not None:
            for module in list(self.missing_modules()):
                parents = module.split(".")
                for i in range(1, len(parents)):
                    sys.modules.setdefault(".".join(parents[:i]), types.ModuleType(".".join(parents[:i])))
                sys.modules[module] = self.label.as_module(module)
            # Where the two are one file's halves, the test uses the label's names without importing them.
            self.names.update({k: v for k, v in self.label.names.items() if not k.startswith("__")})
        sys.modules["__main__"] = self.module

    def watch(self, name):
        """A test function that notes that it ran; a function of the label that the test brings along is kept."""
        value = self.names.get(name)
        if not inspect.isfunction(value) or hasattr(value, "isomer_records"):
            return
        if name.startswith("test"):

            @functools.wraps(value)
            def ran(*args, **kwargs):
                self.ran.add(name)
                return value(*args, **kwargs)

            self.names[name] = ran
        elif self.label is not None and name in self.label.functions or self.is_local(value):
            self.names[name] = self.calls.wrap(name, value)

    def is_local(self, function):
        """Imported from a file beside the test, where no label was named."""
        file = sys.modules.get(function.__module__ or "")
        file = getattr(file, "__file__", None)
        if self.label is not None or not file or function.__module__ == "__main__":
            return False
        return os.path.dirname(os.path.abspath(file)) == os.path.dirname(os.path.abspath(self.path))

    def run(self):
        self.prepare()
        flags = 0
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for each in node.names:
                    flags |= getattr(__future__, each.name).compiler_flag
            module = ast.Module([node], [])
            if self.strip_asserts:
                module = WithoutAsserts().visit(module)
            code = compile(module, self.path, "exec", flags=flags, dont_inherit=True)
            try:
                exec(code, self.names)
            except SystemExit:
                break
            except (Exception, *no_pytest.outcomes()) as error:
                self.note(f"line {node.lineno}", error)
            if self.one_file:
                self.label.take(self.names)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.watch(node.name)
            elif isinstance(node, ast.ImportFrom):
                for each in node.names:
                    self.watch(each.asname or each.name)
        self.run_left_over()

    def run_left_over(self):
        for name, value in list(self.names.items()):
            if name.startswith("test") and inspect.isfunction(value) and name not in self.ran:
                if getattr(value, "__module__", "__main__") == "__main__":
                    self.run_function(name, value)
            elif inspect.isclass(value) and value.__module__ == "__main__":
                self.run_class(name, value)

    def run_function(self, name, function):
        marks = [mark for mark in getattr(function, "pytestmark", []) if getattr(mark, "name", "") == "parametrize"]
        rows = []
        for mark in marks:
            keys = mark.args[0]
            keys = [each.strip() for each in keys.split(",")] if isinstance(keys, str) else list(keys)
            values = []
            for row in mark.args[1]:
                row = getattr(row, "values", row) if type(row).__name__ == "ParameterSet" else row
                row = row if len(keys) > 1 or type(row).__name__ == "tuple" and len(keys) == len(row) else (row,)
                values.append(dict(zip(keys, row)))
            rows.append(values)
        given = {key for values in rows for row in values[:1] for key in row}
        fixtures = self.fixtures()
        named = inspect.signature(function).parameters
        wanted = [key for key in fixtures if (key in named or fixtures[key][2]) and key not in given]
        for key in wanted:
            if fixtures[key][1]:
                rows.append([{key: value} for value in fixtures[key][1]])
        for chosen in itertools.product(*rows):
            arguments = {key: value for row in chosen for key, value in row.items()}
            params = {key: arguments.pop(key, None) for key in wanted}
            made = {}
            with contextlib.ExitStack() as ends:
                try:
                    for key in wanted:
                        value = self.from_fixture(fixtures, key, params, made, ends)
                        if key in named:
                            arguments[key] = value
                except (Exception, *no_pytest.outcomes()) as error:
                    self.note(f"{name}, fixture {key}", error)
                    continue
                self.attempt(name, function, arguments)

    def fixtures(self):
        """Name → (function, params, whether every test has it), of pytest of any version and of its stand-in."""
        found = {}
        for name, value in self.names.items():
            marker = getattr(value, "_fixture_function_marker", None) or getattr(value, "_pytestfixturefunction", None)
            function = getattr(value, "_fixture_function", None) or getattr(value, "__wrapped__", None)
            if isinstance(value, no_pytest.Fixture):
                marker, function = value, value.function
            # Stand-ins of modules have every attribute, and no function in it.
            if marker is not None and inspect.isfunction(function):
                of_all = getattr(marker, "autouse", False)
                found[getattr(marker, "name", None) or name] = (function, getattr(marker, "params", None), of_all)
        return found

    def from_fixture(self, fixtures, name, params, made, ends):
        """What the fixture gives, once for a test; what stands behind its yield runs when the test has ended."""
        if name in made:
            return made[name]
        function = fixtures[name][0]
        arguments = {}
        for key in inspect.signature(function).parameters:
            if key == "request":
                first = fixtures[name][1][0] if fixtures[name][1] else None
                arguments[key] = types.SimpleNamespace(param=params.get(name, first))
            elif key in fixtures:
                arguments[key] = self.from_fixture(fixtures, key, params, made, ends)
        if inspect.isgeneratorfunction(function):
            made[name] = ends.enter_context(contextlib.contextmanager(function)(**arguments))
        else:
            made[name] = function(**arguments)
        return made[name]

    def attempt(self, name, function, arguments):
        try:
            inspect.signature(function).bind(**arguments)
        except TypeError as error:
            return self.note(name, error)
        try:
            function(**arguments)
        except (Exception, SystemExit, *no_pytest.outcomes()) as error:
            self.note(name, error)

    def run_class(self, name, kind):
        try:
            if issubclass(kind, unittest.TestCase):
                result = unittest.TestResult()
                unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
                for case, trace in result.errors + result.failures:
                    self.raised.append({"where": str(case), "error": trace.strip().splitlines()[-1][:500]})
            elif name.startswith("Test"):
                for method in [each for each in dir(kind) if each.startswith("test")]:
                    self.run_function(f"{name}.{method}", getattr(kind(), method))
        except (Exception, SystemExit) as error:
            self.note(name, error)
