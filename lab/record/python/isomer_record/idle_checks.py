"""Checks of a test that hold whatever its calls give: what they say is thrown away, or they look at no value."""

import ast

PREDICATES = {"allclose", "equal", "isclose", "array_equal", "array_equiv"}
ASSERTS = {"assert_close", "assert_allclose", "assert_equal", "assert_array_equal", "assert_array_almost_equal"}
ASSERTS |= {"assert_almost_equal", "assertEqual", "assertTrue", "assertAlmostEqual"}
# What tensors are besides their values, and the modules that such things are compared with.
KINDS = {"shape", "dtype", "ndim", "device", "size", "dim", "is_cuda", "is_contiguous", "numel", "stride", "layout"}
KINDS |= {"isinstance", "len", "type", "hasattr", "callable", "nelement", "requires_grad"}
MODULES = {"torch", "np", "numpy", "math", "triton"}
CATCHES = {"Exception", "BaseException", "AssertionError"}


def called(node):
    """The last name of what is called; empty where the node is no call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def is_kind(node):
    """x.shape, x.size(0), x.shape[-1], len(x): nothing of the values."""
    if isinstance(node, ast.Subscript):
        return is_kind(node.value)
    return isinstance(node, ast.Attribute) and node.attr in KINDS or called(node) in KINDS


def compares_with_itself(node):
    if called(node) not in PREDICATES | ASSERTS:
        return False
    operands = node.args
    if called(node) in PREDICATES and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        operands = [node.func.value] + node.args  # a.allclose(b)
    return len(operands) > 1 and ast.dump(operands[0]) == ast.dump(operands[1])


def looks_at_values(node):
    if isinstance(node, ast.Constant) or is_kind(node) or compares_with_itself(node):
        return False
    if isinstance(node, ast.Name):
        return node.id not in MODULES
    if isinstance(node, ast.Compare):
        operands = [node.left] + node.comparators
        if any(is_kind(each) for each in operands):
            return False
        if any(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops):
            return False
    return any(looks_at_values(child) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context))


def checks(node):
    """Assertions and comparisons within a node."""
    return [n for n in ast.walk(node) if isinstance(n, ast.Assert) or called(n) in PREDICATES | ASSERTS]


def swallows(handler):
    """except that lets a failed assertion pass: nobody is told but who reads."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in kinds if each is not None}
    if handler.type is not None and not names & CATCHES:
        return False
    told = (ast.Raise, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Yield)
    for node in (inner for statement in handler.body for inner in ast.walk(statement)):
        if isinstance(node, told) or isinstance(node, ast.Call) and called(node) != "print" and "format" not in called(node):
            return False
    return True


class IdleChecks:
    """`found`: [{"line", "text", "why"}], in the order of their lines; `nodes`: what observes nothing."""

    def __init__(self, tree, label):
        self.found, self.nodes = [], set()
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and called(node.value) in PREDICATES | {"all"}:
                self.add(node.value, "its answer is thrown away")
            elif isinstance(node, ast.Assign) and called(node.value) in PREDICATES:
                names = [each.id for each in node.targets if isinstance(each, ast.Name)]
                if len(names) == len(node.targets) and not any(n in read or n.startswith("result") for n in names):
                    self.add(node.value, "its answer is never read")
            elif compares_with_itself(node):
                self.add(node, "it compares a value with itself")
            elif isinstance(node, ast.Try) and any(swallows(each) for each in node.handlers):
                inside = [each for statement in node.body for each in checks(statement)]
                if inside:
                    self.add(inside[0], "the except below it lets a failure pass")
                    self.nodes |= {id(n) for s in node.body for n in ast.walk(s)}
                    self.nodes |= {id(n) for each in node.handlers for n in ast.walk(each)}
            elif isinstance(node, ast.Assert) and not looks_at_values(node.test):
                for each in (n for n in ast.walk(node.test) if compares_with_itself(n)):
                    self.add(each, "it compares a value with itself")
                self.nodes |= {id(n) for n in ast.walk(node)}
        scopes = [tree] + [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        for scope in scopes:
            self.against_itself(scope, label)
        self.found.sort(key=lambda each: each["line"])

    def add(self, node, why):
        if id(node) not in self.nodes:
            self.found.append({"line": node.lineno, "text": ast.unparse(node)[:120], "why": why})
        self.nodes |= {id(n) for n in ast.walk(node)}

    def against_itself(self, scope, label):
        """y = f(x), again = f(x), assert_close(y, again): whatever f is, it agrees with itself."""
        made, alias = {}, {}
        stored = [n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        stored += [n.arg for n in ast.walk(scope) if isinstance(n, ast.arg)]
        for statement in scope.body:
            # Another name of the same tensor, for good.
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and stored.count(target.id) == 1 and stored.count(statement.value.id) <= 1:
                        alias[target.id] = alias.get(statement.value.id, statement.value.id)
            if isinstance(statement, ast.Assign) and called(statement.value) in label:
                for target in statement.targets:
                    made[ast.unparse(target)] = ast.unparse(statement.value)
        for node in (n for statement in scope.body for n in ast.walk(statement)):
            if called(node) in PREDICATES | ASSERTS and len(node.args) > 1:
                both = [ast.unparse(each) for each in node.args[:2]]
                if both[0] != both[1] and alias.get(both[0], both[0]) == alias.get(both[1], both[1]):
                    self.add(node, "it compares a value with itself")
                if both[0] != both[1] and both[0] in made and made[both[0]] == made.get(both[1]):
                    self.add(node, f"both are {made[both[0]]}")
