"""What the label answers to less of the same, of calls that are so large that an emulated device may not come to their end.

Sizes, the numbers that say them, and lengths that are all multiples are divided by one number, which keeps sums and ratios of
them. What the label was not made for it must not be asked: what raises, leaves its arguments' memory, or is made of memory
that nobody wrote is left out. The answers stand among those to values that no test has, as calls of "smaller" sizes.
"""

import copy
import math
import random
import time

import torch

from . import computed, modules
from .beyond import is_finite, tensors_of
from .unwritten import Filled

LARGE = 1 << 20
SLOW = 1.0
SECONDS = 5.0
FUNCTION_CALLS = 2
SMALLEST = 8
DIVISORS = (16, 10, 8, 5, 4, 3, 2)
OF_UNANSWERED = (64, 32)  # before those, where the interpreter did not come to the call's end
# What is a multiple of a block stays one.
BLOCK = 128
# Heads of queries to one of keys.
GROUP = 8


def is_whole(tensor):
    return tensor.dtype in (torch.int32, torch.int64)


def sizes_of(given, by):
    """Size → size in its place; none where one that stays divides another no more."""
    tensors = tensors_of(given)
    # A head's dimension, for which kernels are made one by one.
    fixed = {each.shape[-1] for each in tensors if each.dim() > 2}
    every = {n for each in tensors for n in each.shape} - {1}
    less = {n: n // by for n in every - fixed if n % by == 0 and n // by >= SMALLEST}
    less = {n: to for n, to in less.items() if math.gcd(to, BLOCK) == math.gcd(n, BLOCK)}
    for n in less:
        if any(m < n <= GROUP * m and n % m == 0 and less[n] % m != 0 for m in every - set(less)):
            return {}
    return less


def divided(value, less, by):
    if isinstance(value, torch.Tensor):
        part = value.detach()
        for dim, n in enumerate(value.shape):
            part = part.narrow(dim, 0, less.get(n, n))
        part = part.clone(memory_format=torch.preserve_format)
        if is_whole(part) and part.numel() > 0 and bool((part % by == 0).all()) and int(part.abs().max()) >= by:
            part //= by
        return part.requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: divided(each, less, by) for key, each in value.items()}
    if type(value) in (list, tuple, torch.Size):
        return type(value)(divided(each, less, by) for each in value)
    return less.get(value, value) if type(value) is int else value


class Smaller:
    def __init__(self, launches, asked):
        self.launches, self.asked = launches, asked
        self.functions = {}

    def copies(self, name, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be made smaller."""
        tensors = tensors_of([args, kwargs])
        if self.functions.get(name, 0) >= FUNCTION_CALLS or sum(each.numel() * each.element_size() for each in tensors) < LARGE // 4:
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def ask(self, name, function, given, group, seconds, storages, side_of, names):
        """Adds one answer, as a call, where the call itself was large or slow. `side_of` and `names` write a value and name the
        arguments as of every call."""
        from .calls import TooLarge

        if given is None:
            return
        size = sum(each.numel() * each.element_size() for each in tensors_of(list(given)))
        if size < LARGE and seconds < SLOW:
            return
        self.functions[name] = self.functions.get(name, 0) + 1
        launches, total = self.launches.__dict__.copy(), storages.total
        states = torch.get_rng_state(), random.getstate()
        begin = time.process_time()
        try:
            for by in (OF_UNANSWERED if launches["unanswered"] else ()) + DIVISORS:
                less = sizes_of(list(given), by)
                if less and time.process_time() - begin < SECONDS and seconds / by < SECONDS:
                    if self.answer(name, function, given, group, (less, by), side_of, names):
                        return
        except TooLarge:
            storages.total = total
        finally:
            self.launches.__dict__.update(launches)
            torch.set_rng_state(states[0])
            random.setstate(states[1])

    def answer(self, name, function, given, group, how, side_of, names):
        """Whether the label takes it."""
        args, kwargs = divided(copy.deepcopy(given), *how)
        before = copy.deepcopy((args, kwargs))
        self.launches.reset()
        try:
            with Filled(math.nan), computed.Computed(function, self.launches) as own:
                result = function(*args, **kwargs)
        except Exception:
            return False
        if self.launches.unanswered or self.launches.outside or not is_finite([args, kwargs, result]):
            return False
        index = len(self.asked)
        call = {"function": name, "asked": "smaller", "group": group, "before": [], "raised": ""}
        call["before"] = modules.texts(side_of(f"beyond.{index}.before"), names(*before))
        side = side_of(f"beyond.{index}.after")
        call["after"] = [side.value(value, key, key) for key, value, _ in names(args, kwargs)]
        computed.keep(call, own, side, self.launches.own_tensors.get(name, ()))
        call["returned"] = side.flattened(result, place="returned")
        self.asked.append(call)
        return True
