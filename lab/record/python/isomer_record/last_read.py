"""Whether a label of operators reads what a larger size adds to its arguments: one that takes sixteen coefficients of a row reads
no more where there are seventeen, and a port that does otherwise is not wrong."""

import copy

import torch

from .again import called_again
from .beyond import tensors_of
from .influence import differs, larger
from .sizes import is_whole
from .unwritten import flat

MOST_TENSORS = 6


def answers(function, given, launches):
    """All tensors that it returns or was given, or None where it does not answer."""
    args, kwargs = copy.deepcopy(given)
    with called_again(launches) as rewind:
        rewind()
        try:
            result = function(*args, **kwargs)
        except Exception:
            return None
    return [each.detach() for each in flat(result) if isinstance(each, torch.Tensor)] + [
        each.detach() for each in tensors_of([args, kwargs])
    ]


def with_last(given, place, dim):
    """The same, with the last index along that dimension of one of its tensors larger than it was."""
    other = copy.deepcopy(given)
    tensor = tensors_of(list(other))[place]
    with torch.no_grad():
        tensor.copy_(larger(tensor, dim, tensor.shape[dim] - 1))
    return other


def matters(function, given, launches, place, dim):
    """Whether the last index of that dimension changes another tensor of the answer; None where that is not to be had."""
    one, other = answers(function, given, launches), answers(function, with_last(given, place, dim), launches)
    if one is None or other is None or len(one) != len(other):
        return None
    own = len(one) - len(tensors_of(list(given))) + place
    for i, (a, b) in enumerate(zip(one, other)):
        if i != own and (a.shape != b.shape or bool(differs(a, b).any())):
            return True
    return False


class LastRead:
    """Of one call: what is found of the test's own size is kept."""

    def __init__(self, function, given, launches):
        self.function, self.given, self.launches = function, given, launches
        self.own = {}

    def as_before(self, larger_one):
        """False where the last index of a dimension that is larger there matters in the test's own call and no more."""
        before, then = tensors_of(list(self.given)), tensors_of(list(larger_one))
        if any(is_whole(each) for each in before):
            return True  # what is read is where indices point
        asked = 0
        for place, (one, other) in enumerate(zip(before, then)):
            if not other.is_floating_point() or other.element_size() == 1:
                continue
            for dim, (size, to) in enumerate(zip(one.shape, other.shape)):
                if size == to or asked >= MOST_TENSORS:
                    continue
                asked += 1
                if matters(self.function, larger_one, self.launches, place, dim) is not False:
                    continue
                if (place, dim) not in self.own:
                    self.own[place, dim] = matters(self.function, self.given, self.launches, place, dim)
                if self.own[place, dim]:
                    return False
        return True
