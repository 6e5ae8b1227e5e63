"""What of an input a label's answer depends on: whether it does so at all, whether the first and the last index of a dimension
matter to it in every call that was asked, and how far index 1 reaches; and which arguments do not matter to a single call of it. A port whose answer is wrong is told that it leaves something out, or addresses it by another index, only where
the label does otherwise.
"""

import copy
import random
import time

import torch

from .beyond import tensors_of
from .unwritten import Filled, flat

LARGEST = 1 << 20  # bytes of a call's tensors
MOST_DIMENSIONS = 4
SECONDS_OF_A_CALL = 0.5
SECONDS_OF_ALL = 8.0
SECONDS_OF_SINGLE = 4.0  # for calls of a kind that is known


def larger(tensor, dim, index):
    """With the elements of that index larger than they were, as a maximum sees them too."""
    other = tensor.detach().clone()
    part = other.select(dim, index)
    part.copy_(3 + 2 * part.abs())
    return other


def differs(a, b):
    """By more than rounding, where both have a number: what nobody wrote has none."""
    if not a.is_floating_point():
        return a != b
    a, b = a.double(), b.double()
    return ~((a - b).abs() <= 1e-4 * (a.abs() + b.abs()) + 1e-9) & (a == a) & (b == b)


def another(value):
    """The same argument with all of it another, as a port is asked; None where it has no other."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 1.0 if abs(value) < 1e-2 else -3 * value
    if isinstance(value, torch.Tensor) and value.numel() > 1 and not value.requires_grad:
        return value.detach().reshape(-1).flip(0).reshape(value.shape)
    return None


def with_argument(given, place, key, value):
    args, kwargs = copy.deepcopy(given)
    if place < len(args):
        return tuple(value if i == place else each for i, each in enumerate(args)), kwargs
    return args, dict(kwargs, **{key: value})


def counts(changed):
    """How many indices of each dimension have something that changed."""
    return [int(changed.transpose(0, dim).reshape(size, -1).any(1).sum()) for dim, size in enumerate(changed.shape)]


class Influence:
    def __init__(self, launches):
        self.launches = launches
        self.known = set()
        self.found = []
        self.ends = {}  # of those the ones about a dimension, by function, argument, dimension and rank
        self.spent = self.spent_singly = 0.0
        self.fresh = False  # the next call is the first of its kind
        self.keys = []  # the arguments of the call, as they are named

    def copies(self, name, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be made again."""
        tensors = tensors_of([args, kwargs])
        kind = (name, tuple(each.dim() for each in tensors))
        size = sum(each.numel() * each.element_size() for each in tensors)
        self.fresh = kind not in self.known
        if size > LARGEST or (self.spent > SECONDS_OF_ALL if self.fresh else self.spent_singly > SECONDS_OF_SINGLE):
            return None
        self.known.add(kind)
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def ask(self, name, function, given, seconds, names):
        """Adds what is found of the function. `names` names the arguments as of every call. Gives of those that were asked for
        whether they do not matter to this call."""
        idle = {}
        if given is None or seconds > SECONDS_OF_A_CALL:
            return idle
        launches = self.launches.__dict__.copy()
        states = torch.get_rng_state(), random.getstate()
        begin = time.process_time()
        try:
            self.keys = [key for key, _, _ in names(*given)]
            plain = self.outputs(function, given, states)
            again = None if plain is None else self.outputs(function, given, states)
            if again is None or any(bool(differs(plain[key], again[key]).any()) for key in plain):
                return idle
            for place, (key, value, _) in enumerate(names(*given)):
                if ("argument", key) in plain or another(value) is None:
                    continue
                idle[key] = not self.matters(function, given, states, plain, place, key, value)
            places = any(each.dtype in (torch.int32, torch.int64) for each in plain.values())
            if places:
                return idle  # what is chosen depends on those alone that win
            if not self.fresh:
                self.ends_again(name, function, given, states, plain, names, begin)
                return idle
            for key, value, _ in names(*given):
                if ("argument", key) not in plain and another(value) is not None:
                    matters = not idle.get(key, False)
                    self.found.append({"function": name, "argument": key, "dim": -1, "rank": 0, "first": matters, "last": matters})
            for place, (key, value, _) in enumerate(names(*given)):
                if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.requires_grad:
                    continue
                if ("argument", key) in plain or value.dim() > MOST_DIMENSIONS:
                    continue
                for dim, size in enumerate(value.shape):
                    if self.spent + time.process_time() - begin > SECONDS_OF_ALL:
                        return idle
                    if size >= 2:
                        self.of_dimension(name, function, given, states, plain, place, key, value, dim)
        except Exception:
            pass  # what cannot be asked is not known
        finally:
            self.launches.__dict__.update(launches)
            torch.set_rng_state(states[0])
            random.setstate(states[1])
            if self.fresh:
                self.spent += time.process_time() - begin
            else:
                self.spent_singly += time.process_time() - begin
        return idle

    def matters(self, function, given, states, plain, place, key, value):
        """Whether the answer is another with all of that argument another."""
        try:
            outputs = self.outputs(function, with_argument(given, place, key, another(value)), states)
        except Exception:
            return True
        if outputs is None or outputs.keys() != plain.keys() or any(outputs[each].shape != plain[each].shape for each in plain):
            return True
        return any(bool(differs(plain[each], outputs[each]).any()) for each in plain)

    def of_dimension(self, name, function, given, states, plain, place, key, value, dim):
        changed = {}
        for index in (0, value.shape[dim] - 1) + ((1,) if value.shape[dim] > 2 else ()):
            outputs = self.outputs(function, with_argument(given, place, key, larger(value, dim, index)), states)
            if outputs is None or outputs.keys() != plain.keys():
                return
            if any(outputs[each].shape != plain[each].shape for each in plain):
                return
            changed[index] = {each: differs(plain[each], outputs[each]) for each in plain}
        matters = {index: any(bool(each.any()) for each in of.values()) for index, of in changed.items()}
        found = {"function": name, "argument": key, "dim": dim, "rank": value.dim()}
        found["first"], found["last"] = matters[0], matters[value.shape[dim] - 1]
        if 1 in changed:
            found["reach"] = [
                {"returned": where if kind == "returned" else -1, "argument": where if kind == "argument" else "", "counts": counts(of)}
                for (kind, where), of in changed[1].items()
                if of.dim() > 0
            ]
        self.found.append(found)
        self.ends[name, key, dim, value.dim()] = found

    def ends_again(self, name, function, given, states, plain, names, begin):
        """What mattered to the first call of its kind, and does not to this one, is not known to matter."""
        for place, (key, value, _) in enumerate(names(*given)):
            if not isinstance(value, torch.Tensor) or ("argument", key) in plain:
                continue
            for dim, size in enumerate(value.shape):
                found = self.ends.get((name, key, dim, value.dim()))
                if found is None or size < 2:
                    continue
                for end, index in (("first", 0), ("last", size - 1)):
                    if self.spent_singly + time.process_time() - begin > SECONDS_OF_SINGLE:
                        return
                    if found[end]:
                        outputs = self.outputs(function, with_argument(given, place, key, larger(value, dim, index)), states)
                        if outputs is not None and outputs.keys() == plain.keys():
                            same = all(outputs[each].shape == plain[each].shape for each in plain)
                            found[end] = not same or any(bool(differs(plain[each], outputs[each]).any()) for each in plain)

    def outputs(self, function, given, states):
        """By kind and place, or None where the label does not answer."""
        args, kwargs = copy.deepcopy(given)
        before = copy.deepcopy((args, kwargs))
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        self.launches.reset()
        with Filled(float("nan")):
            result = function(*args, **kwargs)
        if self.launches.unanswered or self.launches.outside:
            return None
        found = {("returned", i): each.detach() for i, each in enumerate(flat(result)) if isinstance(each, torch.Tensor)}
        pairs = list(zip(before[0], args)) + [(before[1][key], kwargs[key]) for key in kwargs]
        for key, (old, new) in zip(self.keys, pairs):
            if isinstance(new, torch.Tensor) and old.shape == new.shape and bool(differs(old, new).any()):
                found[("argument", key)] = new.detach()
        return found
