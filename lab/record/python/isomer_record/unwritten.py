"""Memory that is made without values, given some: an answer that is made of it is NaN, or another one each time. And where
an answer is such memory: elements that the label leaves unset."""

import copy
import time

import torch
from torch.overrides import TorchFunctionMode

from .again import called_again
from .own_tensors import storage_at


MADE = (torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty)


class Filled(TorchFunctionMode):
    """While it is entered, real numbers are `real` and whole ones `whole`; without that, whole ones and 8-bit floats are left."""

    def __init__(self, real, whole=None):
        super().__init__()
        self.real, self.whole = real, whole

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func in MADE and isinstance(made, torch.Tensor) and made.numel() > 0:
            if made.is_floating_point() and (self.whole is not None or made.element_size() > 1):
                made.fill_(self.real)
            elif not made.is_floating_point() and self.whole is not None:
                made.fill_(bool(self.whole % 2) if made.dtype == torch.bool else self.whole)
        return made


class WithoutValues(TorchFunctionMode):
    """While it is entered, where memory lies that was made without values. `filled`: it is given a number, as a label that is
    not called again needs it."""

    def __init__(self, filled=False):
        super().__init__()
        self.memory = set()
        self.filled = filled

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func in MADE and isinstance(made, torch.Tensor) and made.layout == torch.strided:
            self.memory.add(storage_at(made))
            if self.filled and made.dtype != torch.bool and made.numel() > 0:
                made.fill_(REAL if made.is_floating_point() else WHOLE)
        return made

    def still_filled(self, results):
        """Of each result a tensor of booleans, true where that number is still there, or None."""
        return [
            mask_of(torch.zeros_like(each), each)
            if isinstance(each, torch.Tensor) and each.layout == torch.strided and storage_at(each) in self.memory
            else None
            for each in results
        ]

    def holds_any(self, results):
        """Whether a result lies there; what does not was all written."""
        return any(isinstance(each, torch.Tensor) and each.layout == torch.strided and storage_at(each) in self.memory for each in results)


# Numbers that every dtype has, and an answer seldom; seconds of the processor for one recording, and of a call.
REAL, WHOLE = 37.0, 37
SECONDS_OF_ALL = 24.0
SECONDS_OF_A_CALL = 12.0
LARGEST = 32 << 20


class Unset:
    """Finds what a call's results hold that nobody wrote: the label is called again, and the number is there that memory was
    given."""

    def __init__(self, launches):
        self.launches = launches
        self.spent = 0.0
        self.known = {}  # by function, and by what the results are, what another call left unset

    def copies(self, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be made again."""
        if self.spent > SECONDS_OF_ALL:
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def masks(self, function, given, results, seconds, empties):
        """Of each result a tensor of booleans, true where it is unset, or None. `results` are flat, as the call gave them;
        `empties` was entered while it was made."""
        key = (function, *((each.shape, each.dtype) if isinstance(each, torch.Tensor) else None for each in results))
        none = self.known.get(key, [None] * len(results)) if empties.holds_any(results) else [None] * len(results)
        size = sum(each.numel() * each.element_size() for each in results if isinstance(each, torch.Tensor))
        if given is None or not empties.holds_any(results) or seconds > SECONDS_OF_A_CALL or size > LARGEST:
            return none
        begin = time.process_time()
        try:
            args, kwargs = given
            with called_again(self.launches) as rewind, Filled(REAL, WHOLE):
                rewind()
                again = flat(function(*args, **kwargs))
                if self.launches.unanswered or len(again) != len(results):
                    return none
            self.known[key] = [mask_of(one, other) for one, other in zip(results, again)]
            return self.known[key]
        except Exception:
            return none
        finally:
            self.spent += time.process_time() - begin


def flat(value):
    if value is None:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    return [each for item in value for each in flat(item)] if isinstance(value, (list, tuple)) else [value]


def mask_of(first, again):
    """True where it is the number that memory was given, and was not in the first call."""
    if not isinstance(first, torch.Tensor) or not isinstance(again, torch.Tensor):
        return None
    if first.shape != again.shape or first.dtype != again.dtype or first.dtype == torch.bool or first.layout != torch.strided:
        return None
    mask = (again.detach().to(torch.float64) == REAL) & (first.detach().to(torch.float64) != REAL)
    return mask.contiguous() if bool(mask.any()) else None
