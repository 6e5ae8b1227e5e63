"""What the label answers where one size is another, an odd one: a test whose sizes are all multiples of a block shows no tail.

A size is a number that dimensions of several arguments, and whole numbers beside them, have in common. All of them are made
smaller together, so that every index and every length that held still holds. What the label was not made for it must not be
asked: what raises, leaves memory, divides with a remainder, or is made of memory that nobody wrote is left out.
"""

import copy
import random
import time

import torch

from . import computed, divisions, modules
from .beyond import is_finite, tensors_of
from .unwritten import Filled

LARGEST = 2 << 20
SMALLEST_SIZE = 4
FUNCTION_CALLS = 2
SECONDS_OF_A_CALL = 0.7
SECONDS_OF_ALL = 4.0
# A packed dimension, or one of a part, is this many times another one.
PARTS = 8


def integers_of(value):
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [each for item in value for each in integers_of(item)] if isinstance(value, (list, tuple)) else []


def plain(tensors):
    """Each compact, and in memory of its own."""
    storages = [each.data_ptr() for each in tensors if each.numel() > 0]
    return len(set(storages)) == len(storages) and all(
        each.layout == torch.strided and each.is_contiguous() and not each.is_conj() and not each.is_neg() for each in tensors
    )


def is_whole(tensor):
    return not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype != torch.bool


def related(size, to, tensors, integers):
    """Whether another size looks as if it followed from this one: heads and their groups, halves, a packed row, a sum."""
    every = {n for each in tensors for n in each.shape}
    for tensor in tensors:
        if size in tensor.shape:
            continue
        for other in tensor.shape:
            if 1 < other < size and size % other == 0 and to % other != 0:
                return True
            if other > size and other % size == 0:
                times = other // size
                if times <= PARTS or times in every or times in integers:
                    return True
            if other > size and other - size in every and other - size > 1:
                return True
    return False


def counts_along(tensor, size):
    """Whether whole numbers count the parts of that size, one behind the other."""
    return tensor.dim() == 1 and tensor.numel() > 0 and bool((tensor >= 0).all()) and int(tensor.sum()) == size


def pointed_at(size, to, tensors, integers):
    """Whether something may be an index, or a length, that the smaller size does not hold."""
    if any(is_whole(each) and counts_along(each, size) for each in tensors):
        return True
    if any(to <= each < size for each in integers):
        return True
    return any(bool(((each >= to) & (each <= size)).any()) for each in tensors if is_whole(each) and each.numel() > 0)


def resized(value, size, to):
    if isinstance(value, torch.Tensor):
        if size not in value.shape:
            return value
        part = value.detach()
        for dim, n in enumerate(value.shape):
            if n == size:
                part = part.narrow(dim, 0, to)
        return part.clone(memory_format=torch.contiguous_format).requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: resized(each, size, to) for key, each in value.items()}
    if type(value) in (list, tuple, torch.Size):
        return type(value)(resized(each, size, to) for each in value)
    if type(value) is int and value == size:
        return to
    return value


def halves(size, given):
    """Sizes in place of one that is two halves beside each other, of which each is odd."""
    if size % 8 != 0 or size < 16:
        return []
    tensors, integers = tensors_of(given), integers_of(given)
    return [to for to in (size - 2, size - 6, size // 2) if not pointed_at(size, to, tensors, integers)]


# Two runs: an answer that is made of memory that nobody wrote is another each time, or is NaN.
FILLS = ((float("nan"), 85), (37.0, 34))


class Sizes:
    KIND, STORED = "size", "sizes"  # what such a call is called, and where its storages lie

    def __init__(self, launches):
        self.launches = launches
        self.functions = {}
        self.asked = []
        self.spent = 0.0
        self.of_kernels = True  # False: a kernel divides what it is given

    def wanted(self, name, args, kwargs):
        known = self.functions.get(name, [])
        shapes = [tuple(each.shape) for each in tensors_of([args, kwargs])]
        size = sum(each.numel() * each.element_size() for each in tensors_of([args, kwargs]))
        return self.of_kernels and len(known) < FUNCTION_CALLS and shapes not in known and size <= LARGEST and self.spent < SECONDS_OF_ALL

    def copies(self, name, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be asked for others."""
        if not self.wanted(name, args, kwargs):
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def options(self, given):
        """(size, [sizes in its place]), the last of every shape first."""
        tensors, integers = tensors_of(given), integers_of(given)
        if not tensors or not plain(tensors):
            return []
        found = []
        for depth in range(1, 1 + max(each.dim() for each in tensors)):
            for tensor in tensors:
                size = tensor.shape[-depth] if depth <= tensor.dim() else 1
                if size < SMALLEST_SIZE or size % 2 != 0 or any(size == each for each, _ in found):
                    continue
                others = [size - 1] + ([size - 3] if size >= 8 else [])
                if related(size, size - 1, tensors, integers) or pointed_at(size, others[-1], tensors, integers):
                    continue
                # What is right for no other size at all is no matter of the end.
                even = size // 2 if size % 8 == 0 or size == 4 else size - 4 if size % 4 == 0 else size - 2
                if not related(size, even, tensors, integers) and not pointed_at(size, even, tensors, integers):
                    others.append(even)
                found.append((size, others))
        return found

    def ask(self, name, function, given, group, seconds, storages, side_of, names):
        """Adds the answers, as calls. `side_of` and `names` write a value and name the arguments as of every call."""
        from .calls import TooLarge

        if given is None or seconds > SECONDS_OF_A_CALL:
            return
        self.functions.setdefault(name, []).append([tuple(each.shape) for each in tensors_of(list(given))])
        launches = self.launches.__dict__.copy()
        states = torch.get_rng_state(), random.getstate()
        begin = time.process_time()
        try:
            for size, others in self.options(given):
                asked = list(others)
                while asked:
                    to = asked.pop(0)
                    if self.spent + time.process_time() - begin > SECONDS_OF_ALL:
                        return
                    answer = self.answer(function, lambda to=to: resized(copy.deepcopy(given), size, to), states)
                    if answer is None:
                        if to % 2 != 0:
                            asked = halves(size, given) if to == others[0] else []  # the even one says nothing alone
                        elif to % 4 != 0:
                            break
                        continue
                    total = storages.total
                    try:
                        self.keep(name, group, size, to, answer, side_of, names)
                    except TooLarge:
                        storages.total = total
                        return
        finally:
            self.launches.__dict__.update(launches)
            torch.set_rng_state(states[0])
            random.setstate(states[1])
            self.spent += time.process_time() - begin

    def answer(self, function, made, states):
        """(arguments before, arguments after, result) to what `made` gives, or None where the label does not take it."""
        from .views import same

        answers = []
        for fill in FILLS:
            args, kwargs = made()
            before = copy.deepcopy((args, kwargs))
            torch.set_rng_state(states[0])
            random.setstate(states[1])
            self.launches.reset()
            try:
                with Filled(*fill), divisions.Watched() as divided, computed.Computed(function, self.launches) as self.computed:
                    result = function(*args, **kwargs)
            except Exception:
                return None
            here = self.launches
            unseen = here.answered > 0 and not (here.watched and here.answered == here.interpreted)
            if unseen or here.unanswered or here.outside or divided.with_remainder:
                return None
            answers.append((before, (args, kwargs), result))
        first, second = answers
        if not same(first[1:], second[1:]) or not is_finite(first[1:]):
            return None
        return first

    def keep(self, name, group, size, to, answer, side_of, names):
        (args, kwargs), after, result = answer
        prefix = f"{self.STORED}.{len(self.asked)}"
        call = {"function": name, "asked": self.KIND, "size": [size, to], "group": group, "before": [], "raised": ""}
        call["before"] = modules.texts(side_of(f"{prefix}.before"), names(args, kwargs))
        side = side_of(f"{prefix}.after")
        call["after"] = [side.value(value, key, key) for key, value, _ in names(*after)]
        call["returned"] = side.flattened(result, place="returned")
        computed.keep(call, self.computed, side, self.launches.own_tensors.get(name, ()))
        self.asked.append(call)
