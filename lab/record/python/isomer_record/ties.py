"""Equal elements, for a label that answers with places: one of several equal values has to be chosen.

Elements are made equal by copying others along each dimension, so that whatever is computed of two copies is equal to the last
bit, in whatever order a port computes it.
"""

import ast

import torch

PLACES = (torch.int32, torch.int64)
# Which of several equal values these choose is not defined, unless they are told to be stable.
OPEN = {"topk", "sort", "argsort", "kthvalue", "median", "mode", "unique", "multinomial"}
LEFT = {"tie_break_left", "return_indices_tie_break_left"}


def is_open(tree):
    """Whether a label leaves open which of several equal values it chooses."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
        if any(given.get(name, True) is not True for name in LEFT):
            return True
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in OPEN and given.get("stable") is not True:
            return True
    return False


def in_pairs(size):
    """Neighbours are equal, and so are the halves."""
    half = (size + 1) // 2
    half += half % 2
    return [(i - i % 2) % half for i in range(size)]


def mostly(size):
    """The first two thirds are equal."""
    return [0 if 3 * i < 2 * size else i for i in range(size)]


def copied(args, kwargs, places):
    """Real numbers of every tensor made copies of others; whether there are some."""
    found = False
    for each in list(args) + list(kwargs.values()):
        if not isinstance(each, torch.Tensor) or not each.is_floating_point() or each.requires_grad or each.numel() < 2:
            continue
        if not each.is_contiguous():
            continue
        same = each
        for dim, size in enumerate(each.shape):
            same = same.index_select(dim, torch.tensor(places(size), dtype=torch.int64, device=each.device))
        each.copy_(same)
        found = True
    return found


REGIMES = {
    "pairwise equal": lambda args, kwargs: copied(args, kwargs, in_pairs),
    "mostly equal": lambda args, kwargs: copied(args, kwargs, mostly),
}


def gives_places(before, after, result):
    """Whether whole numbers are returned, or written into an argument."""
    from .beyond import tensors_of

    if any(each.dtype in PLACES and each.numel() > 0 for each in tensors_of([result])):
        return True
    pairs = zip(tensors_of(list(before)), tensors_of(list(after)))
    return any(b.dtype in PLACES and b.shape == a.shape and not torch.equal(b, a) for b, a in pairs)
