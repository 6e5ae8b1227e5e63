"""What the label answers to values that a test seldom has, one call of each function: so large that an exponential of them
overflows, so small that an epsilon beside their squares counts, and, where it answers with places, equal ones."""

import copy
import math
import random
import time

import torch

from . import computed, modules, signs, ties
from .unwritten import Filled

LARGEST = 4 << 20
SECONDS_OF_A_CALL = 1.0
REGIMES = {"large": 400.0, "small": 1e-3}
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [each for item in value for each in tensors_of(item)] if isinstance(value, (list, tuple)) else []


def is_finite(values):
    return all(bool(torch.isfinite(each).all()) for each in tensors_of(values) if each.dtype in FLOATS)


def scaled(args, kwargs, most):
    """The same with the tensors of most elements made that large at most; their names or places, or none."""
    places = list(enumerate(args)) + list(kwargs.items())
    floats = [(key, each) for key, each in places if isinstance(each, torch.Tensor) and each.dtype in FLOATS and each.numel() > 1]
    # Memory that is to be filled, as a cache, has no values.
    floats = [(key, each) for key, each in floats if bool(each.count_nonzero() > 0)] or floats
    count = max((each.numel() for _, each in floats), default=0)
    found = []
    for key, each in floats:
        if each.numel() == count and not each.requires_grad and float(each.abs().max()) > 0:
            each.mul_(most / float(each.abs().max()))
            found.append(key)
    return found


def regimes():
    """How each is made of the arguments: whether it could be."""
    for name, most in REGIMES.items():
        yield name, lambda args, kwargs, most=most: bool(scaled(args, kwargs, most))
    yield from signs.REGIMES.items()
    yield from ties.REGIMES.items()


class Beyond:
    def __init__(self, launches):
        self.launches = launches
        self.functions = set()
        self.asked = []
        self.takes = set()  # regimes that are asked of some labels alone
        self.of_places = set()  # of these, what is asked only of who answers with places

    def of_label(self, tree):
        """What the label's text says that it can be asked."""
        self.of_places = signs.of_places(tree)
        self.takes = set(signs.wanted(tree)) | (set() if ties.is_open(tree) else set(ties.REGIMES))

    def copies(self, function, args, kwargs):
        """What a call was given, before it is made; nothing where that function was asked, or is not to be."""
        size = sum(each.numel() * each.element_size() for each in tensors_of([args, kwargs]))
        if function in self.functions or size > LARGEST:
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def ask(self, name, function, given, group, seconds, storages, side_of, names):
        """Adds the answers, as calls. `side_of` and `names` write a value and name the arguments as of every call."""
        from .calls import TooLarge

        if given is None or name in self.functions or seconds > SECONDS_OF_A_CALL or not is_finite(given):
            return
        self.functions.add(name)
        launches, total = self.launches.__dict__.copy(), storages.total
        states = torch.get_rng_state(), random.getstate()
        try:
            for regime, change in regimes():
                if regime not in REGIMES and regime not in self.takes:
                    continue
                args, kwargs = copy.deepcopy(given)
                if not change(args, kwargs):
                    continue
                before = copy.deepcopy((args, kwargs))
                self.launches.reset()
                with Filled(math.nan), computed.Computed(function, self.launches) as own:
                    result = function(*args, **kwargs)
                if self.launches.unanswered or not is_finite([args, kwargs, result]):
                    continue
                of_places = regime in ties.REGIMES or regime in self.of_places
                if of_places and not ties.gives_places(before, (args, kwargs), result):
                    continue
                index = len(self.asked)
                call = {"function": name, "asked": regime, "group": group, "before": [], "raised": ""}
                call["before"] = modules.texts(side_of(f"beyond.{index}.before"), names(*before))
                side = side_of(f"beyond.{index}.after")
                call["after"] = [side.value(value, key, key) for key, value, _ in names(args, kwargs)]
                computed.keep(call, own, side, self.launches.own_tensors.get(name, ()))
                call["returned"] = side.flattened(result, place="returned")
                self.asked.append(call)
        except (Exception, TooLarge):
            storages.total = total  # it does not take such values, or they are too many
        finally:
            self.launches.__dict__.update(launches)
            torch.set_rng_state(states[0])
            random.setstate(states[1])
