"""How far rounding alone moves what a label answers: the difference of two sums that are nearly the same, say, has few digits
that are not chance. The label is called again with the last bits of its inputs changed, and of what its operators give on the
way."""

import copy
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .again import called_again
from .unwritten import LARGEST, SECONDS_OF_A_CALL, flat

SECONDS_OF_ALL = 3.0  # of the processor, for one recording
TIMES = 4
LAST_BIT = 2.0**-23
LITTLE, MUCH = 2e-6, 1e-3  # of the typical element: what is less matters nowhere, and what is more is another answer
MOST = 0.1  # where most elements move: then the answer has few digits, and none of it jumps


class Rounding:
    """Finds the results of which rounding alone changes more than the last digits."""

    def __init__(self, launches):
        self.launches = launches
        self.spent = 0.0
        self.full = False  # of the last call: no operator that it was asked with gave numbers of fewer than 32 bits

    def noise(self, function, given, results, seconds):
        """Of each result a tensor, how far its elements move, or None where that is little. `given` is left as it is."""
        none = [None] * len(results)
        self.full = False
        wide = [isinstance(each, torch.Tensor) and each.dtype == torch.float32 and each.numel() > 0 for each in results]
        size = sum(each.numel() * each.element_size() for each in results if isinstance(each, torch.Tensor))
        if given is None or not any(wide) or self.spent > SECONDS_OF_ALL or seconds > SECONDS_OF_A_CALL or size > LARGEST:
            return none
        generator = torch.Generator().manual_seed(20)
        begin = time.process_time()
        moved = list(none)
        try:
            with called_again(self.launches) as rewind:
                for _ in range(TIMES):
                    rewind()
                    args, kwargs = changed(copy.deepcopy(given), generator)
                    with RoundedOtherwise(generator) as mode:
                        again = flat(function(*args, **kwargs))
                    full = not mode.narrow
                    if self.launches.unanswered or len(again) != len(results):
                        return none
                    for i, (one, other) in enumerate(zip(results, again)):
                        if wide[i] and isinstance(other, torch.Tensor) and other.shape == one.shape:
                            apart = (other.detach().double() - one.detach().double()).abs().cpu()
                            moved[i] = apart if moved[i] is None else torch.maximum(moved[i], apart)
            self.full = full
            return [None if each is None else what_matters(each, one) for each, one in zip(moved, results)]
        except Exception:
            return none
        finally:
            self.spent += time.process_time() - begin


# Operators of which each rounds a result of its own.
ROUND = set(
    """add sub rsub mul div reciprocal pow exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan tanh sinh cosh asin acos atan
    atan2 sigmoid silu gelu erf erfc softplus mish elu leaky_relu _softmax _log_softmax logsumexp sum mean prod cumsum cumprod var
    std norm linalg_vector_norm mm bmm addmm baddbmm addmv mv dot convolution lerp addcmul addcdiv""".split()
)


# Operators that move numbers, and compute none.
MOVE = set(
    """view _unsafe_view reshape _reshape_alias alias detach clone contiguous lift_fresh slice select narrow transpose t permute expand
    unsqueeze squeeze as_strided split split_with_sizes chunk unbind unfold index index_select gather take cat stack repeat flip roll
    movedim diagonal tril triu masked_fill where copy fill zero empty empty_like new_empty empty_strided new_empty_strided zeros
    zeros_like new_zeros constant_pad_nd""".split()
)


def is_narrow(result):
    """Whether real numbers of fewer than 32 bits are among what an operator gave."""
    return any(isinstance(each, torch.Tensor) and each.is_floating_point() and each.element_size() < 4 for each in flat(result))


class RoundedOtherwise(TorchDispatchMode):
    """The last bits of what operators give are others: a sum in another order, say, gives such."""

    def __init__(self, generator):
        super().__init__()
        self.generator = generator
        self.narrow = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        # What is stored somewhere, or is of whole numbers, is as it is.
        name = func.__name__.split(".")[0]
        self.narrow = self.narrow or (name.rstrip("_") not in MOVE and is_narrow(result))
        if name in ROUND and isinstance(result, torch.Tensor) and "out" not in (kwargs or {}):
            changed(result, self.generator)
        return result


def changed(value, generator):
    """The same with the last bits of all 32-bit real numbers changed; whole numbers in such a type are codes, and stay."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.float32 and value.numel() > 0 and bool((value % 1 != 0).any()):
            steps = torch.randint(-1, 2, value.shape, generator=generator).to(value)
            with torch.no_grad():
                value.copy_(value * (1 + LAST_BIT * steps))
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(changed(each, generator) for each in value)
    if isinstance(value, dict):
        return {key: changed(each, generator) for key, each in value.items()}
    return value


def what_matters(apart, result):
    """None where no element moves by more than its last digits. An element that becomes another one is not meant."""
    wanted = result.detach().double().cpu()
    finite = torch.isfinite(wanted) & torch.isfinite(apart)
    if not bool(finite.any()):
        return None
    typical = float(wanted[finite].abs().median())
    size = torch.clamp(wanted.abs(), min=typical)
    moves = finite & (apart > LITTLE * size)
    most = MOST if 2 * int(moves.sum()) >= int(finite.sum()) else MUCH
    apart = torch.where(finite & (apart <= most * size), apart, torch.zeros_like(apart))
    if not bool((apart > LITTLE * size).any()):
        return None
    # Elements that are made alike move alike, and some of them by chance little.
    row = apart.amax(-1, keepdim=True) if apart.dim() > 0 else apart
    return torch.maximum(apart, row / 2).to(torch.float32).contiguous()
