"""Values of one sign, for a label that takes maxima or minima: with both signs nobody sees where a maximum begins."""

import ast

import torch

COMPARES = {"max", "maximum", "amax", "argmax", "cummax", "min", "minimum", "amin", "argmin", "cummin", "sort", "topk"}
FAR = 200.0


def compares(tree):
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COMPARES for node in ast.walk(tree)
    )


def wanted(tree):
    """Which of the regimes tell something of that label."""
    from .facts import subtracts_maximum

    if compares(tree):
        yield from ("negative", "positive")
    if compares(tree) or subtracts_maximum(tree):
        yield "far below zero"


def of_places(tree):
    """Which of them tell something only where places are answered: sums of such numbers cancel."""
    from .facts import subtracts_maximum

    return set() if subtracts_maximum(tree) else {"far below zero"}


def changed(args, kwargs, change, most=None):
    """The real numbers of the tensors of most elements, of the first `most` of those, made others; whether there are some."""
    floats = [each for each in list(args) + list(kwargs.values()) if isinstance(each, torch.Tensor) and each.is_floating_point()]
    floats = [each for each in floats if bool(each.count_nonzero() > 0)] or floats
    count = max((each.numel() for each in floats), default=0)
    found = [each for each in floats if each.numel() == count and count > 1 and not each.requires_grad]
    for each in found[:most]:
        each.copy_(change(each.float()))
    return bool(found)


REGIMES = {
    "negative": lambda args, kwargs: changed(args, kwargs, lambda x: -x.abs()),
    "positive": lambda args, kwargs: changed(args, kwargs, torch.abs),
    # Of a product of two such factors the terms are far above zero, and their sum keeps few digits.
    "far below zero": lambda args, kwargs: changed(args, kwargs, lambda x: x - FAR - x.abs().max(), most=1),
}
