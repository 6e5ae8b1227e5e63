"""What the texts of label and test say, for the audit: no code runs here.

label: {"functions": [{"name", "line", "parameters": [{"name", "default"}], "returns": count of values,
        "hands_on": [parameter or ""] that it returns, by place,
        "writes": [parameter], "indexes": [{"index", "tensor", "dim", "access": "read"|"write"}],
        "constants": [{"name", "values", "line"}]}], "has_kernels": of its own, "subtracts_maximum": bool}
test:  {"file", "functions": [{"name", "line", "observes": bool, "calls": [{"function", "line",
        "open": bool, "arguments": [{"name", "text", "observed"}], "returned": [{"name", "observed"}]}]}], "observes": bool,
        "draws": line of the first random input or 0, "seeds": bool,
        "idle": [{"line", "text", "why"}]: checks that hold whatever the calls give}
"returned" is null where the answer is part of a larger expression, and empty where nothing takes it.
A call that is "open" passes *args or **kwargs: what becomes of its arguments cannot be read from the text.
"""

import ast
import os

from .idle_checks import IdleChecks
from .label_kernels import Kernel, is_jit

COMPARES = ("allclose", "assert", "equal", "isclose", "compare", "check", "verify", "expect")

DRAWS = {"randn", "rand", "randint", "randn_like", "rand_like", "randint_like", "randperm", "normal", "normal_"}
DRAWS |= {"uniform_", "random_", "bernoulli", "standard_normal", "uniform", "random", "integers"}


def name_of(function):
    """f, module.f or kernel of kernel[grid]: the last name of what is called."""
    if isinstance(function, ast.Subscript):
        return name_of(function.value)
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def constant(node, known):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return known.get(node.id) if isinstance(node, ast.Name) else None


def integers(body):
    """NAME = 128 among these statements."""
    return {
        target.id: node.value.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int
        for target in node.targets
        if isinstance(target, ast.Name)
    }


# Methods that give a tensor's values as they are, or some of them.
VALUES = {"item", "tolist", "long", "int", "to", "cpu", "numpy", "view", "reshape", "flatten", "contiguous", "clone"}


class HostFunction:
    def __init__(self, node, kernels, constants, of=None):
        self.node, self.kernels = node, kernels
        self.name = of or node.name
        arguments = node.args
        plain = arguments.posonlyargs + arguments.args
        defaults = [False] * (len(plain) - len(arguments.defaults)) + [True] * len(arguments.defaults)
        self.parameters = [{"name": a.arg, "default": d} for a, d in zip(plain, defaults)]
        self.parameters += [
            {"name": a.arg, "default": d is not None} for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)
        ]
        # The context of an autograd Function's forward is not its caller's.
        self.parameters = self.parameters[1 if of else 0 :]
        self.names = {each["name"] for each in self.parameters}
        self.known = {**constants, **integers(ast.walk(node))}
        self.writes, self.indexes, self.constants, self.strides = [], [], [], []
        self.added = {id(each.target) for each in ast.walk(node) if isinstance(each, ast.AugAssign)}
        # Variables that hold values of a parameter: slot = int(slots[t]), for slot in slots.tolist().
        self.derived = {}
        for each in ast.walk(node):
            target = each.targets[0] if isinstance(each, ast.Assign) else each.target if isinstance(each, ast.For) else None
            value = each.value if isinstance(each, ast.Assign) else each.iter if isinstance(each, ast.For) else None
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                pairs = list(zip(target.elts, value.elts))
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call) and name_of(value.func) == "enumerate":
                pairs = [(target.elts[-1], value.args[0])] if value.args else []
            else:
                pairs = [(target, value)]
            for name, source in pairs:
                if isinstance(name, ast.Name) and name.id not in self.names and self.source(source):
                    self.derived.setdefault(name.id, self.source(source))

    def source(self, node):
        """The parameter whose values an expression is made of; None where it is none, or only its shape."""
        if isinstance(node, ast.Name):
            return node.id if node.id in self.names else self.derived.get(node.id)
        if isinstance(node, ast.Subscript):
            return self.source(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VALUES:
            return self.source(node.func.value)
        if isinstance(node, ast.Call) and name_of(node.func) == "int" and node.args:
            return self.source(node.args[0])
        if isinstance(node, ast.BinOp):
            return self.source(node.left) or self.source(node.right)
        return None

    def facts(self):
        returned, handed = 0, []
        for node in ast.walk(self.node):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
                if name_of(node.func) in self.kernels:
                    self.launch(node, self.kernels[name_of(node.func)])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self.method(node)
                for each in node.keywords:
                    if each.arg == "out":  # torch.clamp(x, 0, 1, out=y)
                        self.wrote(self.parameter(each.value))
            elif isinstance(node, ast.Subscript):
                self.subscript(node)
            elif isinstance(node, ast.Return) and node.value is not None:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                handed = [each.id if self.given(each) else "" for each in values]
                # An argument that is returned as well is no output of its own.
                if not (isinstance(node.value, ast.Constant) and node.value.value is None) and not self.given(node.value):
                    returned = len(node.value.elts) if isinstance(node.value, ast.Tuple) else 1
        return {
            "name": self.name,
            "line": self.node.lineno,
            "parameters": self.parameters,
            "returns": returned,
            **({"hands_on": handed} if any(handed) else {}),
            "writes": self.writes,
            "indexes": self.indexes,
            "constants": self.constants,
            **({"strides": self.strides} if self.strides else {}),
        }

    def parameter(self, node):
        return node.id if isinstance(node, ast.Name) and node.id in self.names else None

    def given(self, node):
        """Whether it is a parameter that still is what was passed."""
        stored = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return self.parameter(node) is not None and node.id not in stored

    def wrote(self, name):
        if name is not None and name not in self.writes:
            self.writes.append(name)

    def index(self, index, tensor, dim, access):
        fact = {"index": index, "tensor": tensor, "dim": dim, "access": access}
        if index is not None and tensor is not None and index != tensor and fact not in self.indexes:
            self.indexes.append(fact)

    def launch(self, call, kernel):
        passed = dict(zip(kernel.parameters, call.args))
        passed.update({each.arg: each.value for each in call.keywords if each.arg})
        for name in kernel.writes:
            self.wrote(self.parameter(passed.get(name)))
        for use in kernel.indexes:
            dim = 0 if use["alone"] else None
            stride = passed.get(use["stride"]) if use["stride"] else None
            if use["stride"]:
                # Only Out.stride(0) says of which dimension it is.
                dim = None
                if isinstance(stride, ast.Call) and isinstance(stride.func, ast.Attribute) and stride.args:
                    if stride.func.attr == "stride" and self.parameter(stride.func.value):
                        dim = constant(stride.args[0], self.known)
            if use["guarded"]:
                dim = None
            self.index(self.parameter(passed.get(use["index"])), self.parameter(passed.get(use["tensor"])), dim, use["access"])
        for name, node in passed.items():
            value = constant(node, self.known)
            if value is not None and name.isupper():
                self.constants.append({"name": name, "values": [value], "line": node.lineno})
        for name, node in passed.items():
            # kernel[grid](x, x.stride(0)): what the kernel calls that number.
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "stride" and node.args:
                dim = constant(node.args[0], self.known)
                if dim is not None and self.given(node.func.value):
                    self.strides.append({"name": name, "tensor": node.func.value.id, "dim": dim})
        self.constants += kernel.tuned

    def method(self, call):
        base = self.parameter(call.func.value)
        name = call.func.attr
        if base is not None and name.endswith("_") and not name.startswith("_"):
            self.wrote(base)
        # What is added to a row twice is a sum, however often.
        indexed = {"index_copy_": "write", "index_add_": "read", "index_fill_": "write", "index_select": "read"}
        if base is not None and name in indexed and len(call.args) > 1:
            self.index(self.parameter(call.args[1]), base, constant(call.args[0], self.known), indexed[name])

    def subscript(self, node):
        base = self.parameter(node.value)
        if base is None:
            return
        access = "write" if isinstance(node.ctx, ast.Store) else "read"
        if access == "write":
            self.wrote(base)
        if id(node) in self.added:
            access = "read"
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for dim, part in enumerate(parts):
            while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                part = part.func.value  # DestLoc.long()
            if self.parameter(part) is not None:
                self.index(self.parameter(part), base, dim, access)
                continue
            sliced = isinstance(part, ast.Slice)
            if sliced:
                part = part.lower
            # slot // size is no row of its own, and where a slice begins or ends may lie behind the last row.
            loose = sliced or isinstance(part, ast.BinOp)
            self.index(self.source(part), base, None if loose else dim, access)


EXPONENTIALS = {"exp", "exp2"}
MAXIMA = {"max", "maximum", "amax"}
BOTH = {"softmax", "log_softmax", "logsumexp", "scaled_dot_product_attention"}


def subtracts_maximum(tree):
    """Whether it has exponentials and maxima: of a softmax, whose exponentials then cannot overflow."""
    called = {name_of(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    if called & BOTH:
        return True
    if not (called & EXPONENTIALS and called & MAXIMA):
        return False
    # A maximum of two terms of a loss bounds no exponential: something is subtracted that is called so, or is one.
    largest = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and any(isinstance(c, ast.Call) and name_of(c.func) in MAXIMA for c in ast.walk(node.value))
        for each in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(each)
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            right = list(ast.walk(node.right))
            if any(isinstance(c, ast.Call) and name_of(c.func) in MAXIMA for c in right) or any(isinstance(c, ast.Name) and c.id in largest for c in right):
                return True
        if isinstance(node, ast.Call) and name_of(node.func) in ("sub", "sub_", "subtract"):
            return True
    return False


def label_facts(tree):
    constants = integers(tree.body)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    kernels = {node.name: Kernel(node) for node in functions if is_jit(node)}
    hosts = [HostFunction(node, kernels, constants) for node in functions if node.name not in kernels]
    hosts += [HostFunction(forward, kernels, constants, of=name) for name, forward in autograd_functions(tree)]
    return {
        "functions": [host.facts() for host in hosts],
        "has_kernels": bool(kernels),
        "subtracts_maximum": subtracts_maximum(tree),
    }


def autograd_functions(tree):
    """(class, its forward) of each class whose forward has no self: what is called is Class.apply."""
    for node in tree.body:
        for method in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(method, ast.FunctionDef) and method.name == "forward":
                if any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list):
                    yield node.name, method


def called_of(call, label):
    """Of the label's functions the one that is called; "" where it is none."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "apply" and name_of(function.value) in label:
        return name_of(function.value)
    return name_of(function) if name_of(function) in label else ""


class Scope:
    """A function of the test, or its top level."""

    def __init__(self, name, line, body, label, parameters, handed):
        self.name, self.line, self.label, self.parameters, self.handed = name, line, label, parameters, handed
        self.nodes = [node for statement in body for node in walk_scope(statement)]
        self.calls = [n for n in self.nodes if isinstance(n, ast.Call) and called_of(n, label)]
        inside = {id(each) for call in self.calls for argument in passed(call) for each in ast.walk(argument)}
        # What is read, as far as its name reaches: data["Out"][0], and of a method's call what has the method.
        bases = {id(n.value) for n in self.nodes if isinstance(n, (ast.Subscript, ast.Attribute))}
        methods = {id(n.func) for n in self.nodes if isinstance(n, ast.Call)}
        self.read = []
        for n in self.nodes:
            if not isinstance(n, (ast.Name, ast.Subscript, ast.Attribute)) or not isinstance(n.ctx, ast.Load):
                continue
            if id(n) in bases or id(n) in inside:
                continue
            if id(n) in methods and isinstance(n, ast.Attribute):
                n = n.value
            self.read.append((n.lineno, ast.unparse(n)))

    def observed(self, text, line):
        """Read at or behind that line: it, a part of it, or what it is a part of."""

        def is_part(part, whole):
            return part == whole or part.startswith((whole + "[", whole + "."))

        return any(at >= line and (is_part(each, text) or is_part(text, each)) for at, each in self.read)

    def targets(self, call):
        for node in self.nodes:
            if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
                target = node.targets[0]
                return target.elts if isinstance(target, ast.Tuple) else [target]
            if isinstance(node, ast.Expr) and node.value is call:
                return []
        return None

    def call(self, node):
        name = called_of(node, self.label)
        names = self.parameters.get(name, [])
        arguments = []
        for i, each in enumerate(node.args):
            text = ast.unparse(each)
            key = names[i] if i < len(names) else f"argument{i}"
            arguments.append({"name": key, "text": text, "observed": self.observed(text, node.end_lineno)})
        for each in node.keywords:
            text = ast.unparse(each.value)
            arguments.append({"name": each.arg or "", "text": text, "observed": self.observed(text, node.end_lineno)})
        targets = self.targets(node)
        # Who looks at what it gives back looks at the argument that this is.
        for i, given in enumerate(self.handed.get(name, [])):
            taken = targets if targets is None or len(targets) == 1 else targets[i : i + 1]
            looked = taken is None or any(self.observed(ast.unparse(each), node.end_lineno) for each in taken)
            for argument in arguments:
                argument["observed"] = argument["observed"] or (looked and argument["name"] == given)
        returned = None
        if targets is not None:
            returned = []
            for each in targets:
                text = ast.unparse(each)
                kept = not isinstance(each, ast.Name) or self.observed(text, node.end_lineno)
                returned.append({"name": text, "observed": kept})
        opened = any(isinstance(each, ast.Starred) for each in node.args) or any(k.arg is None for k in node.keywords)
        return {
            "function": name,
            "line": node.lineno,
            "open": opened,
            "arguments": arguments,
            "returned": returned,
        }

    def observes(self, idle):
        for node in self.nodes:
            if id(node) in idle.nodes:
                continue
            if isinstance(node, (ast.Assert, ast.Raise)):
                return True
            if isinstance(node, ast.Return) and getattr(node.value, "value", node.value) is not None:
                return True
            # What whoever runs the test compares.
            if not self.name and isinstance(node, ast.Assign):
                if any(isinstance(t, ast.Name) and t.id.lower().startswith("result") for t in node.targets):
                    return True
            if isinstance(node, ast.Call):
                name = name_of(node.func).lower()
                if name == "print" and any(isinstance(n, ast.Name) for each in passed(node) for n in ast.walk(each)):
                    return True
                if any(word in name for word in COMPARES):
                    return True
                if name in ("exit", "_exit") and not all(isinstance(each, ast.Constant) for each in node.args):
                    return True
        return False

    def facts(self, idle):
        return {
            "name": self.name,
            "line": self.line,
            "observes": self.observes(idle),
            "calls": [self.call(node) for node in sorted(self.calls, key=lambda n: (n.lineno, n.col_offset))],
        }


def passed(call):
    return call.args + [each.value for each in call.keywords]


def walk_scope(node):
    """The node and what is in it, without the bodies of further functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from walk_scope(child)


# Of NumPy and of Python's random, with their seed.
GENERATORS = {"default_rng", "RandomState", "Random", "PCG64", "Philox", "MT19937"}


def seeds(call):
    name = name_of(call.func)
    return "seed" in name or name == "Generator" or name in GENERATORS and bool(call.args or call.keywords)


def test_facts(tree, path, label):
    parameters = {each["name"]: [p["name"] for p in each["parameters"]] for each in label["functions"]}
    handed = {each["name"]: each.get("hands_on", []) for each in label["functions"]}
    names = set(parameters)
    top = [n for n in tree.body if not isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    scopes = [Scope("", 1, top, names, parameters, handed)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scopes.append(Scope(node.name, node.lineno, node.body, names, parameters, handed))
    idle = IdleChecks(tree, names)
    functions = [scope.facts(idle) for scope in scopes]
    called = [(name_of(node.func), node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    draws = [line for name, line in called if name in DRAWS]
    return {
        "file": os.path.basename(path),
        "functions": [each for each in functions if each["calls"] or each["name"].startswith("test")],
        "observes": any(each["observes"] for each in functions),
        "draws": min(draws, default=0),
        "seeds": any(seeds(node) for node in ast.walk(tree) if isinstance(node, ast.Call)),
        **({"idle": idle.found} if idle.found else {}),
    }


def of(label_tree, label_path, test_tree, test_path):
    label = label_facts(label_tree) if label_tree is not None else {"functions": []}
    label["file"] = os.path.basename(label_path)
    return {"label": label, "test": test_facts(test_tree, test_path, label)}
