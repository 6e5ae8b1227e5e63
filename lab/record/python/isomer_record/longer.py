"""What the label answers where an argument that its kernel reads or writes beyond is as long as that takes: a test may pass
lengths of two sequences with sixteen tokens, and has no answer then. Asked of functions of which no call has one; the answers
stand among the test's calls.

Such an argument gets more rows: of one that is read they are its own again, of one that is written they are zero.
"""

import copy
import math
import random

import torch

from . import computed
from .beyond import is_finite, tensors_of
from .limits import LIMITS
from .unwritten import Filled

CALLS = 3  # of each function
LARGEST = 2 << 20  # bytes of a call's arguments
ROUNDS = 6  # what is read further on leads beyond others
TIMES = 64  # as many rows at most


def rows_for(tensor, outside):
    """How many rows hold all that was addressed; none where these are not what it lacks."""
    if tensor.dim() == 0 or tensor.numel() == 0 or not tensor.is_contiguous() or tensor.storage_offset() != 0 or tensor.requires_grad:
        return None
    row = tensor.numel() // tensor.shape[0] * tensor.element_size()
    if any(each["astray"] or each["lowest"] < 0 or each["holds"] != row * tensor.shape[0] for each in outside):
        return None
    rows = -(-max(each["highest"] for each in outside) // row)
    return rows if tensor.shape[0] < rows <= TIMES * tensor.shape[0] else None


def needed(args, kwargs, outside):
    """Place of an argument → (rows, whether it is written); none where longer arguments are not what is missing. `outside` is as
    the launches of the call with these have it: what is read beyond leads anywhere, so that comes first."""
    from .calls import untyped_storage

    reads = [each for each in outside if each["access"] == "reads"]
    found = {}
    for place, value in [*enumerate(args), *kwargs.items()]:
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            continue
        pointer = untyped_storage(value).data_ptr()
        own = [each for each in reads or outside if pointer != 0 and each["pointer"] == pointer]
        rows = rows_for(value, own) if own else None
        if rows is not None:
            found[place] = rows, any(each["access"] == "writes" for each in outside if each["pointer"] == pointer)
    return found


def lengthened(given, needs):
    def longer(place, value):
        if place not in needs:
            return value
        rows, written = needs[place]
        part = value.detach()[torch.arange(rows) % value.shape[0]].clone()
        if written:
            part[value.shape[0] :] = 0
        return part

    args, kwargs = given
    return tuple(longer(i, each) for i, each in enumerate(args)), {key: longer(key, each) for key, each in kwargs.items()}


class Longer:
    def __init__(self, launches):
        self.launches = launches
        self.later = {}

    def copies(self, name, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be asked."""
        size = sum(each.numel() * each.element_size() for each in tensors_of([args, kwargs]))
        if not self.launches.watched or size > LARGEST or len(self.later.get(name, ())) >= CALLS:
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def keep(self, name, function, given, group, names):
        """A call that had no answer since its kernels left its arguments' memory."""
        if given is not None and len(self.later.setdefault(name, [])) < CALLS:
            self.later[name].append((function, given, group, names))

    def ask(self, name, answered, side_of):
        """Calls of that function that have an answer; `answered` is how many calls there are."""
        for function, given, group, names in self.later.pop(name, []):
            if not LIMITS.may_ask():
                return
            launches = self.launches.__dict__.copy()
            states = torch.get_rng_state(), random.getstate()
            try:
                call = self.answer(name, function, given, group, names, answered, side_of)
            except Exception:
                call = None
            finally:
                self.launches.__dict__.update(launches)
                torch.set_rng_state(states[0])
                random.setstate(states[1])
            if call is not None:
                answered += 1
                yield call

    def answer(self, name, function, given, group, names, index, side_of):
        """The call, or None where the label does not take such arguments."""
        grown = {}
        for _ in range(ROUNDS):
            args, kwargs = copy.deepcopy(given)
            self.launches.reset()
            with Filled(math.nan), computed.Computed(function, self.launches) as own:
                result = function(*args, **kwargs)
            if self.launches.unanswered:
                return None
            if not self.launches.outside:
                break
            needs = needed(args, kwargs, self.launches.outside)
            if not needs:
                return None
            given = lengthened(given, needs)
            grown.update((place, rows) for place, (rows, _) in needs.items())
            if sum(each.numel() * each.element_size() for each in tensors_of(list(given))) > LARGEST:
                return None
        else:
            return None
        if not is_finite([args, kwargs, result]):
            return None
        places = [*range(len(given[0])), *given[1]]
        rows = ", ".join(f"{key} of {grown[place]} rows" for place, (key, _, _) in zip(places, names(*given)) if place in grown)
        call = {"function": name, "group": f"{group}, with {rows}", "raised": "", "before": [], "after": [], "returned": []}
        side = side_of(f"{index}.before")
        for key, value, keyword in names(*given):
            text = side.value(value, key, key)
            if keyword:
                text["keyword"] = True
            call["before"].append(text)
        side = side_of(f"{index}.after")
        call["after"] = [side.value(value, key, key) for key, value, _ in names(args, kwargs)]
        call["returned"] = side.flattened(result, place="returned")
        computed.keep(call, own, side, self.launches.own_tensors.get(name, ()))
        return call
