"""Names and operators in a kernel that Triton's interpreter takes for Python's own."""

import ast
import sys


def install(interpreter):
    import triton.language as tl

    imported_functions(interpreter)
    logical(interpreter, tl)
    single_values(interpreter)


def imported_functions(interpreter):
    """A function that a label imports by its name, as rsqrt of triton.language.math: the interpreter's, not the compiler's."""
    original = interpreter._patch_lang

    def patched(fn):
        patches = original(fn)  # in newer versions what undoes them
        for name, value in list(fn.__globals__.items()):
            place = getattr(value, "__module__", None) or ""
            if not callable(value) or not place.startswith("triton.language") or not getattr(value, "__triton_builtin__", False):
                continue
            standing_in = getattr(sys.modules.get(place), value.__name__, value)
            if standing_in is not value:
                fn.__globals__[name] = standing_in
        return patches

    interpreter._patch_lang = patched


def logical(interpreter, tl):
    """`and` and `or` of blocks: element by element, as the compiler has them; Python's take a block for true."""

    def is_block(value):
        return isinstance(value, tl.core.tensor) and value.type.is_block()

    def both(first, second):
        if not is_block(first):
            return first and second()
        other = second()
        return (first != 0) & (other != 0) if isinstance(other, tl.core.tensor) else first if other else first & False

    def either(first, second):
        if not is_block(first):
            return first or second()
        other = second()
        return (first != 0) | (other != 0) if isinstance(other, tl.core.tensor) else first | True if other else first

    class Logical(ast.NodeTransformer):
        def visit_BoolOp(self, node):
            self.generic_visit(node)
            name = "isomer_both" if isinstance(node.op, ast.And) else "isomer_either"
            value = node.values[0]
            for each in node.values[1:]:
                nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
                later = ast.Lambda(args=nothing, body=each)
                value = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[value, later], keywords=[])
            return value

    transformer = interpreter.ASTTransformer
    visit = transformer.visit

    def visited(self, node):
        if isinstance(node, ast.Module):
            node = Logical().visit(node)
        return visit(self, node)

    transformer.visit = visited
    interpreter_of = interpreter.FunctionRewriter._compile_and_exec

    def compiled(self, tree):
        self.fn.__globals__.update(isomer_both=both, isomer_either=either)
        return interpreter_of(self, tree)

    interpreter.FunctionRewriter._compile_and_exec = compiled


def single_values(interpreter):
    """`p = (q + 4,)` makes p what stands there, as compilers had it before tuples were values, where p is used as no tuple."""

    class Single(ast.NodeTransformer):
        def __init__(self, tuples):
            self.tuples = tuples

        def visit_Assign(self, node):
            self.generic_visit(node)
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
            value = node.value
            alone = isinstance(value, ast.Tuple) and len(value.elts) == 1 and not isinstance(value.elts[0], ast.Starred)
            if alone and len(names) == len(node.targets) and not self.tuples & set(names):
                node.value = value.elts[0]
            return node

    transformer = interpreter.ASTTransformer
    visit = transformer.visit

    def visited(self, node):
        if isinstance(node, ast.Module):
            node = Single(used_as_tuples(node)).visit(node)
        return visit(self, node)

    transformer.visit = visited


def used_as_tuples(tree):
    """Names whose first, second, … item is taken, or that are taken apart, handed on or returned."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            places = [each for each in ast.walk(node.slice) if isinstance(each, ast.Constant) and type(each.value) is int]
            taken = [node.value] if places and not isinstance(node.slice, ast.Tuple) else []
        elif isinstance(node, (ast.Starred, ast.Return)):
            taken = [node.value]
        elif isinstance(node, (ast.For, ast.comprehension)):
            taken = [node.iter]
        elif isinstance(node, ast.Assign) and any(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets):
            taken = [node.value]
        else:
            continue
        found |= {each.id for each in taken if isinstance(each, ast.Name)}
    return found
