"""Edits of a label's text, one at a time, as somebody who ports it may get it wrong: a term left out, another comparison, an
option that is ignored. Each with the code of the finding that it would be."""

import ast
import copy
from collections import namedtuple

# Where and what in the label's text; `place` is (node, field, index or None), `new` what stands there instead.
Edit = namedtuple("Edit", "line was becomes code place new")

LONGEST = 72
PARAMETERS = 8  # of a function, that are exchanged
SMALL = 1e-3  # what is added to a divisor is smaller than that

OPERATORS = {ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult], ast.FloorDiv: [ast.Mod], ast.Mod: [ast.FloorDiv]}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
REDUCTIONS = ("sum", "mean", "max", "min", "amax", "amin", "prod")
FUNCTIONS = {
    "exp": (["exp2"], "log-base"),
    "exp2": (["exp"], "log-base"),
    "log": (["log2"], "log-base"),
    "log2": (["log"], "log-base"),
    "sum": (["mean", "max"], "other-reduction"),
    "mean": (["sum"], "other-reduction"),
    "max": (["min", "sum"], "other-reduction"),
    "min": (["max", "sum"], "other-reduction"),
    "amax": (["amin"], "other-reduction"),
    "amin": (["amax"], "other-reduction"),
    "argmax": (["argmin"], "other-reduction"),
    "argmin": (["argmax"], "other-reduction"),
    "maximum": (["minimum"], "clamp"),
    "minimum": (["maximum"], "clamp"),
    "sqrt": (["rsqrt"], "wrong-expression"),
    "rsqrt": (["sqrt"], "wrong-expression"),
    "floor": (["round", "ceil", "trunc"], "rounding-mode"),
    "ceil": (["floor", "round"], "rounding-mode"),
    "round": (["floor", "trunc"], "rounding-mode"),
    "trunc": (["round", "floor"], "rounding-mode"),
    "sigmoid": (["tanh"], "wrong-expression"),
    "tanh": (["sigmoid"], "wrong-expression"),
    "sin": (["cos"], "wrong-expression"),
    "cos": (["sin"], "wrong-expression"),
    "relu": (["gelu", "sigmoid"], "wrong-expression"),
    "silu": (["sigmoid", "gelu"], "wrong-expression"),
    "softplus": (["relu", "exp"], "wrong-expression"),
    "gelu": (["silu", "relu"], "approximation"),
    "softmax": (["sigmoid", "log_softmax"], "wrong-expression"),
    "log_softmax": (["softmax"], "missing-term"),
    "cumsum": (["cumprod"], "other-reduction"),
    "zeros": (["ones"], "missing-term"),
    "ones": (["zeros"], "missing-term"),
}
# What a call of one of these gives is what it was given, if a port leaves it out.
LEFT_OUT = {
    "abs": "missing-absolute",
    "to": "intermediate-precision",
    "float": "intermediate-precision",
    "half": "intermediate-precision",
    "type_as": "intermediate-precision",
    "transpose": "layout-convention",
    "permute": "layout-convention",
    "t": "layout-convention",
    "flip": "layout-convention",
    "roll": "layout-convention",
    "clamp": "clamp",
    "clip": "clamp",
    "maximum": "clamp",
    "minimum": "clamp",
    "relu": "clamp",
    "masked_fill": "missing-term",
    "round": "rounding-mode",
    "floor": "rounding-mode",
    "cumsum": "missing-term",
}
KEPT = {"empty", "empty_like", "zeros_like", "range", "len", "program_id", "num_programs", "cdiv", "next_power_of_2", "load", "arange"}
# Keywords that say how a kernel is launched or where memory is, and nothing of what is computed.
NO_OPTIONS = {"dtype", "device", "num_warps", "num_stages", "out", "mask", "other", "layout", "memory_format", "requires_grad"}


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def name_of_call(holder):
    return name_of(holder) if isinstance(holder, ast.Call) else ""


def is_small(node):
    named = getattr(node, "id", getattr(node, "attr", getattr(node, "arg", "")))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0 < node.value < SMALL
    return "eps" in named.lower()


def is_address(node):
    """Whether it is a place in memory, and no number."""
    return any(isinstance(each, ast.Name) and (each.id.lower().endswith("ptr") or "offs" in each.id.lower()) for each in ast.walk(node))


def is_maximum(node):
    return any(isinstance(each, ast.Call) and name_of(each) in ("max", "amax") for each in ast.walk(node)) or (
        "max" in getattr(node, "id", "").lower()
    )


def additive_products(node):
    """Whether it is a * x + b * y, of different x and y."""
    products = [isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult) for each in (node.left, node.right)]
    return isinstance(node.op, (ast.Add, ast.Sub)) and all(products) and ast.dump(node.left.right) != ast.dump(node.right.right)


def is_alignment(node):
    """Whether it is how many more keys there are than queries: Sk - Sq."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    one, other = (getattr(each, "id", "").lower() for each in (node.left, node.right))
    return "k" in one and "q" in other and one.replace("k", "q") == other


def is_factor_of(node, product):
    """Whether a product has this factor, or is it."""
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        return is_factor_of(node, product.left) or is_factor_of(node, product.right)
    return ast.dump(node) == ast.dump(product)


def is_exponent(node, holder):
    return isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.Pow) and holder.right is node


def of_operands(node):
    """A term, a factor or a divisor left out, and another operator."""
    additive = isinstance(node.op, (ast.Add, ast.Sub))
    for kept, left in ((node.left, node.right), (node.right, node.left)):
        if is_small(left) and additive:
            code = "epsilon"
        elif isinstance(node.op, ast.Sub) and left is node.right and is_maximum(left):
            code = "missing-max-subtraction"
        elif additive and isinstance(left, ast.Constant) and type(left.value) is int and left.value == 1:
            code = "off-by-one"
        elif additive and is_alignment(left):
            code = "mask-alignment"
        elif additive:
            code = "wrong-expression" if is_address(node) else "missing-term"
        elif isinstance(node.op, ast.Mult) and getattr(left, "id", "").startswith("stride"):
            code = "layout-convention"
        elif isinstance(node.op, ast.Mult) and is_factor_of(left, kept):
            code = "wrong-expression"  # x * x as x is another power
        elif isinstance(node.op, (ast.Mult, ast.Div)):
            code = "missing-scale"
        elif left is node.right:
            code = "wrong-expression"
        else:
            continue
        yield kept, code
    for other in OPERATORS.get(type(node.op), []):
        yield ast.BinOp(node.left, other(), node.right), "wrong-expression"
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
        yield ast.BinOp(node.right, node.op, node.left), "wrong-expression"
    # Of two products each has the other's factor.
    if additive_products(node):
        left, right = copy.deepcopy(node.left), copy.deepcopy(node.right)
        left.right, right.right = right.right, left.right
        yield ast.BinOp(left, node.op, right), "argument-order"
    # The constant inside of a root, outside of it, and the other way round.
    if isinstance(node.op, ast.Add) and is_small(node.right) and isinstance(node.left, ast.Call) and node.left.args:
        inner = copy.deepcopy(node.left)
        inner.args[0] = ast.BinOp(inner.args[0], ast.Add(), node.right)
        yield inner, "epsilon"


def in_front(node):
    """f(a) + b as f(a + b)."""
    for call, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(call, ast.Call) and len(call.args) == 1 and name_of(call) in FUNCTIONS and not is_small(other):
            inner = ast.BinOp(call.args[0], node.op, other)
            yield ast.Call(call.func, [inner], call.keywords), "missing-term" if isinstance(node.op, ast.Add) else "missing-scale"


def of_comparison(node):
    if len(node.ops) != 1:
        return
    kind = type(node.ops[0])
    if kind in COMPARISONS:
        code = "inverted-condition" if kind in (ast.Eq, ast.NotEq) else "off-by-one"
        yield ast.Compare(node.left, [COMPARISONS[kind]()], node.comparators), code
    if kind in TURNED:
        yield ast.Compare(node.left, [TURNED[kind]()], node.comparators), "inverted-condition"
    for by in (1, -1):
        moved = ast.BinOp(node.comparators[0], ast.Add(), ast.Constant(by)) if by > 0 else ast.BinOp(node.comparators[0], ast.Sub(), ast.Constant(1))
        yield ast.Compare(node.left, node.ops, [moved]), "off-by-one"


def renamed(call, name):
    new = copy.copy(call)
    if isinstance(call.func, ast.Attribute):
        new.func = ast.Attribute(call.func.value, name, ast.Load())
    else:
        new.func = ast.Name(name, ast.Load())
    return new


def of_call(node):
    name = name_of(node)
    if name == "float" and node.args and isinstance(node.args[0], ast.Constant):
        yield ast.Constant(0.0), "clamp"
        return
    of_module = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, (ast.Name, ast.Attribute)) and node.args
    subject = node.args[0] if node.args and (of_module or isinstance(node.func, ast.Name)) else getattr(node.func, "value", None)
    if name == "where" and len(node.args) == 3:
        condition, yes, no = node.args
        yield ast.Call(node.func, [condition, no, yes], node.keywords), "inverted-condition"
        yield yes, "missing-term"
        yield no, "missing-term"
    if name in ("maximum", "minimum") and len(node.args) == 2:
        yield node.args[0], "clamp"
        yield node.args[1], "clamp"
    elif subject is not None and name not in KEPT and name not in REDUCTIONS:
        if name in LEFT_OUT:
            yield subject, LEFT_OUT[name]
        elif len(node.args) == (1 if subject in node.args else 0) and not node.keywords and name in FUNCTIONS:
            yield subject, "missing-term"
    # A term or a factor applied behind the function, not in front of it.
    if len(node.args) == 1 and node.args[0] is subject and isinstance(subject, ast.BinOp) and name in FUNCTIONS:
        for inner, outer in ((subject.left, subject.right), (subject.right, subject.left)):
            if isinstance(subject.op, (ast.Add, ast.Mult)) or inner is subject.left:
                moved = ast.Call(node.func, [inner], node.keywords)
                yield ast.BinOp(moved, subject.op, outer), "missing-term" if isinstance(subject.op, (ast.Add, ast.Sub)) else "missing-scale"
    others, code = FUNCTIONS.get(name, ([], ""))
    for other in others:
        yield renamed(node, other), code
    if isinstance(node.func, ast.Subscript):
        return  # a launch
    for i, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in NO_OPTIONS and name not in KEPT:
            without = ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])
            yield without, "epsilon" if "eps" in keyword.arg else "ignores-argument"
    if name not in KEPT and len(node.args) in (2, 3) and name not in ("where", "store"):
        first = 1 if len(node.args) == 3 else 0
        swapped = list(node.args)
        swapped[first], swapped[first + 1] = swapped[first + 1], swapped[first]
        yield ast.Call(node.func, swapped, node.keywords), "wrong-expression"


def of_constant(node, chosen):
    """Another number; `chosen`: it is no count that may be one off, but an axis or an exponent."""
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value), "ignores-argument"
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            yield ast.Constant(other), "wrong-expression" if chosen else "off-by-one"
    elif isinstance(value, float):
        if 0 < value < SMALL:
            yield ast.Constant(0.0), "epsilon"
            return
        others = [0.0, 1.0, -value, 2 * value, value / 2] if value not in (0.0, float("inf")) else [1.0] if value == 0.0 else [0.0]
        for other in others:
            if other != value:
                yield ast.Constant(other), "wrong-expression"


def of_node(node, holder=None):
    if isinstance(node, ast.BinOp):
        yield from of_operands(node)
        if isinstance(node.op, (ast.Add, ast.Mult)):
            yield from in_front(node)
    elif isinstance(node, ast.Compare):
        yield from of_comparison(node)
    elif isinstance(node, ast.Call):
        yield from of_call(node)
    elif isinstance(node, ast.Constant):
        axis = isinstance(holder, (ast.Call, ast.keyword)) and name_of_call(holder) not in ("range", "arange")
        yield from of_constant(node, axis or is_exponent(node, holder))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        if isinstance(node.operand.value, int):
            for other in (node.operand.value - 2, node.operand.value - 1):
                yield ast.Constant(other), "layout-convention"
        elif node.operand.value == float("inf") or node.operand.value > 1e30:
            yield ast.Constant(0.0), "missing-max-subtraction"
        else:
            yield node.operand, "wrong-expression"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand, "wrong-expression"
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, "inverted-condition"
    elif isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), "missing-term"
    elif isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        sizes = all(isinstance(each, (ast.Constant, ast.Subscript, ast.UnaryOp)) or len(getattr(each, "id", "long")) == 1 for each in node.elts)
        yield type(node)(node.elts[::-1], ast.Load()), "layout-convention" if sizes else "argument-order"
    elif isinstance(node, ast.IfExp):
        yield node.body, "inverted-condition"
        yield node.orelse, "inverted-condition"
    elif isinstance(node, ast.AugAssign):
        code = "missing-scale" if isinstance(node.op, (ast.Mult, ast.Div)) else "missing-term"
        yield ast.Assign([node.target], node.value, lineno=node.lineno), code
        yield ast.Pass(), code
        for other in OPERATORS.get(type(node.op), [])[:1]:
            yield ast.AugAssign(node.target, other(), node.value), "wrong-expression"
    elif isinstance(node, ast.If):
        taken = ast.copy_location(ast.If(ast.Constant(True), node.body, node.orelse), node)
        left = ast.copy_location(ast.If(ast.Constant(False), node.body, node.orelse or [ast.Pass()]), node)
        # An option that is asked alone is ignored where it is taken always, or never.
        option = isinstance(node.test, ast.Name)
        yield left, "ignores-argument" if option and not node.orelse else "missing-term"
        yield taken, "ignores-argument" if option else "inverted-condition"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        # A step of a value that has one before it.
        if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.value)):
            yield ast.Pass(), "wrong-expression" if is_address(node) else "missing-term"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not isinstance(node.value.func, ast.Subscript):
        if name_of(node.value) not in ("manual_seed", "print"):
            yield ast.Pass(), "missing-term"


def of_parameters(function):
    """Two of them exchanged, and one whose value is ignored: statements in front of the body, as (new, was, becomes, code)."""
    names = [each.arg for each in function.args.args + function.args.kwonlyargs if each.arg not in ("self", "ctx")][:PARAMETERS]
    read = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    names = [name for name in names if name in read]
    first = function.body[0]

    def before(text):
        return ast.copy_location(ast.If(ast.Constant(True), [ast.parse(text).body[0], first], []), first)

    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            yield before(f"{a}, {b} = {b}, {a}"), f"{a}, {b}", f"{b}, {a}", "argument-order"
    defaults = function.args.defaults
    optional = {each.arg for each in function.args.args[len(function.args.args) - len(defaults) :]} if defaults else set()
    for name in names:
        for value in ("None", "False", "True") if name in optional else ():
            yield before(f"{name} = {value}"), name, value, "ignores-argument"
        for value in ("0", "1"):
            yield before(f"{name} = {value}"), name, value, "ignores-argument"


def gives(statement, name):
    """Whether a statement, or one inside of it, gives that name."""
    return any(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in ast.walk(statement))


def in_another_order(body):
    """A step that is made behind the one that follows it: (where, new statements, was, becomes, code)."""
    for i in range(len(body) - 1):
        first, second = body[i : i + 2]
        if not isinstance(first, ast.Assign) or len(first.targets) != 1 or not isinstance(first.targets[0], ast.Name):
            continue
        name = first.targets[0].id
        if not gives(second, name) or isinstance(second, (ast.FunctionDef, ast.ClassDef)):
            continue
        text = text_of(second)
        if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(first.value)):
            yield i, [second, first], f"{text_of(first)}; {text}", f"{text}; {text_of(first)}", "missing-term"
        elif isinstance(first.value, ast.BinOp) and isinstance(first.value.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            left, op, right = first.value.left, first.value.op, first.value.right
            begins = ast.Assign(first.targets, left)
            ends = ast.Assign(first.targets, ast.BinOp(ast.Name(name, ast.Load()), op, right))
            for each in (begins, ends):
                ast.fix_missing_locations(ast.copy_location(each, first))
            code = "missing-term" if isinstance(op, (ast.Add, ast.Sub)) else "missing-scale"
            yield i, [begins, second, ends], f"{text_of(first)}; {text}", f"{text_of(begins)}; {text}; {text_of(ends)}", code


def reads(statement):
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def renewed(statement):
    """The name of which a statement makes the next value from its last one; "" where it does not."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id if statement.targets[0].id in reads(statement.value) else ""
    return ""


def renewed_too_early(body):
    """A state that is made the next one before what still needs the last: (where, new statements, was, becomes)."""
    known = set()
    for i, first in enumerate(body):
        if not isinstance(first, ast.Assign) or renewed(first):
            continue
        for name in sorted(reads(first.value) - known):
            later = [k for k in range(i + 1, len(body)) if renewed(body[k]) == name]
            if not later:
                continue
            known.add(name)
            between = [body[k] for k in range(i, later[-1] + 1) if k not in later]
            renewing = [body[k] for k in later]
            if any(gives(each, other) for each in between for step in renewing for other in reads(step)):
                continue
            steps = renewing + between
            yield (i, later[-1] + 1), steps, f"{text_of(first)}; {text_of(renewing[0])}", f"{text_of(renewing[0])}; {text_of(first)}"


def text_of(node):
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def with_its_surroundings(node, place, new):
    """What is told: the edited expression, or a constant with what it stands in."""
    holder, field, index = place
    if not isinstance(node, (ast.Constant, ast.UnaryOp)) or not isinstance(holder, ast.expr):
        return text_of(node), text_of(new)
    was = text_of(holder)
    put(place, new)
    becomes = text_of(holder)
    put(place, node)
    return was, becomes


def size_of(node):
    return sum(1 for _ in ast.walk(node))


def put(place, node):
    """Puts it there, or the list of them."""
    holder, field, index = place
    if isinstance(index, tuple):
        getattr(holder, field)[slice(*index)] = node
    elif index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node


def places_in(function):
    """Every node of a function's body with its place, outer ones first."""

    def walk(holder):
        for field, value in ast.iter_fields(holder):
            if field in ("decorator_list", "annotation", "returns", "targets", "target", "ctx", "defaults", "kw_defaults", "msg"):
                continue
            if isinstance(value, list):
                for index, each in enumerate(value):
                    if isinstance(each, ast.AST):
                        yield from at(each, (holder, field, index))
            elif isinstance(value, ast.AST):
                yield from at(value, (holder, field, None))

    def at(node, place):
        if isinstance(node, (ast.Assert, ast.Raise, ast.JoinedStr)):
            return
        yield node, place
        yield from walk(node)

    body = ast.Module(function.body, [])
    for node, place in walk(body):
        # The list is the function's own.
        yield node, (function, *place[1:]) if place[0] is body else place


ADDRESSING = ("arange", "program_id", "stride", "mask", "grid", "BLOCK", "cdiv", "num_warps", "num_stages", "ptr", "offs", "META")


def addressing(function):
    """The nodes of statements that say where things lie, or how a kernel is launched: a port has its own way to do that."""
    found = set()
    for statement in ast.walk(function):
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) or isinstance(statement.value, ast.Lambda):
            continue
        names = [getattr(each, "id", getattr(each, "attr", getattr(each, "arg", ""))) or "" for each in ast.walk(statement)]
        loads = any(name in ("load", "store", "dot", "atomic_add") for name in names)
        if not loads and any(part in name for name in names for part in ADDRESSING):
            found |= {id(each) for each in ast.walk(statement)}
    return found


def edits(tree):
    """The likeliest first: what is left out, then comparisons and functions, then constants, then statements."""
    order = [ast.BinOp, ast.Compare, ast.Call, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.AugAssign, ast.Constant, ast.List, ast.Tuple, ast.Assign, ast.If, ast.Expr]
    found = []
    functions = [each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for function in functions:
        for new, was, becomes, code in of_parameters(function):
            found.append(((1, len(order)), Edit(function.lineno, was, becomes, code, (function, "body", 0), ast.fix_missing_locations(new))))
        for holder in ast.walk(function):
            body = getattr(holder, "body", None)
            if not isinstance(holder, (ast.FunctionDef, ast.For, ast.While, ast.If, ast.With)) or not isinstance(body, list):
                continue
            for i, steps, was, becomes, code in in_another_order(body):
                found.append(((1, 0), Edit(body[i].lineno, was, becomes, code, (holder, "body", (i, i + 2)), steps)))
            for where, steps, was, becomes in renewed_too_early(body):
                found.append(((0, 2), Edit(body[where[0]].lineno, was, becomes, "wrong-expression", (holder, "body", where), steps)))
        addresses = addressing(function)
        for node, place in places_in(function):
            if type(node) not in order or isinstance(place[0], ast.Expr) and isinstance(node, ast.Constant):
                continue
            for new, code in of_node(node, place[0]):
                line = getattr(node, "lineno", function.lineno)
                try:
                    ast.fix_missing_locations(ast.copy_location(new, node) if not hasattr(new, "lineno") else new)
                    was, becomes = with_its_surroundings(node, place, new)
                except (ValueError, AttributeError, TypeError, RecursionError):
                    continue
                if was != becomes:
                    # What leaves something out is likelier than what puts another thing there.
                    rank = (int(size_of(new) >= size_of(node)) + 2 * (id(node) in addresses), order.index(type(node)))
                    found.append((rank, Edit(line, was, becomes, code, place, new)))
    seen, unique = set(), []
    for _, edit in sorted(found, key=lambda each: each[0]):  # stable: in the order of the text
        key = (id(edit.place[0]), edit.place[1:], edit.becomes if isinstance(edit.new, list) else ast.dump(edit.new))
        if key not in seen:
            seen.add(key)
            unique.append(edit)
    return unique


def text_with(tree, edit):
    """The whole label with it."""
    holder, field, index = edit.place
    before = getattr(holder, field)
    if isinstance(before, list):
        before = list(before)
    put(edit.place, edit.new)
    try:
        return ast.unparse(tree)
    finally:
        setattr(holder, field, before)
