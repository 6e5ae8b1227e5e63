"""Divisions of a label's host code: a size that one leaves a remainder of is none that the label was made for."""

import ast
import operator

# Ends in underscores: a name that begins with two and does not is another inside a class.
NAME = "__isomer_divided__"
INSIDE = []


class Watched:
    """While it is entered, whether any division of whole numbers had a remainder."""

    def __init__(self):
        self.with_remainder = False

    def __enter__(self):
        INSIDE.append(self)
        return self

    def __exit__(self, *error):
        INSIDE.remove(self)


def divided(a, b, rest):
    if INSIDE and type(a) is int and type(b) is int and a > 0 and b > 1 and a % b != 0:
        INSIDE[-1].with_remainder = True
    return operator.mod(a, b) if rest else operator.floordiv(a, b)


def rounds_up(node):
    """(a + b - 1) // b and the like."""
    minus = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub))
    return isinstance(node.op, ast.FloorDiv) and minus and any(
        isinstance(each, ast.Constant) and each.value == 1 for each in ast.walk(node.left)
    )


class Told(ast.NodeTransformer):
    """Divisions outside of kernels tell what they divide."""

    def visit_FunctionDef(self, node):
        from .label_kernels import is_jit

        return node if node.decorator_list and is_jit(node) else self.generic_visit(node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, (ast.FloorDiv, ast.Mod)) or rounds_up(node):
            return node
        if isinstance(node.op, ast.Mod) and isinstance(node.left, (ast.Constant, ast.JoinedStr)):
            return node  # text
        rest = ast.Constant(isinstance(node.op, ast.Mod))
        call = ast.Call(ast.Name(NAME, ast.Load()), [node.left, node.right, rest], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def told(tree):
    """The same whose divisions are seen; its module has `divided` by NAME."""
    import copy

    return Told().visit(copy.deepcopy(tree))


def by_kernels(tree):
    """Whether a kernel divides what it is given by what it is given: heads by groups, a row by halves."""
    from .label_kernels import is_jit

    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not is_jit(function):
            continue
        given = {each.arg for each in function.args.posonlyargs + function.args.args + function.args.kwonlyargs}
        statements = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
        for node in sorted(statements, key=lambda each: each.lineno):
            if only_of(node.value, given):
                given |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)) and not rounds_up(node):
                if only_of(node, given):
                    return True
    return False


def only_of(node, given):
    """Whether an expression is made of these names and of numbers alone."""
    if any(isinstance(each, (ast.Call, ast.Subscript, ast.Attribute)) for each in ast.walk(node)):
        return False
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return bool(names) and all(each in given for each in names)
