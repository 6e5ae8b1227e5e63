"""Whose strides the label honours: it is called again with views that hold the same values, and its answer is the same or not."""

import copy
import random
import time

import torch
from torch.overrides import TorchFunctionMode

# Seconds of the processor for one recording, and how long a call may last that is made again.
SECONDS_OF_ALL = 4.0
SECONDS_OF_A_CALL = 1.0
LARGEST = 8 << 20


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in tensors_of(item)]
    if isinstance(value, dict):
        return [each for item in value.values() for each in tensors_of(item)]
    return []


def same(one, other):
    """Bit-equal answers of one shape; any NaN equals any NaN."""
    ones, others = tensors_of(one), tensors_of(other)
    if len(ones) != len(others):
        return False
    for a, b in zip(ones, others):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        unequal = a != b
        if a.is_floating_point():
            unequal &= (a == a) | (b == b)
        if bool(unequal.any()):
            return False
    return True


def spread(tensor, strides):
    """The values in a view whose first `strides` strides are others than a compact tensor's. Between them lies NaN, or in
    whole numbers the tensor's own values: an index that is read there is one all the same."""
    shape = list(tensor.shape)
    if strides == len(shape):
        shape.append(2)
    else:
        shape[strides] += 3
    room = torch.empty(shape, dtype=tensor.dtype, device=tensor.device)
    if tensor.dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        room.fill_(float("nan"))
    else:
        flat = tensor.reshape(-1).flip(0)
        room.view(-1).copy_(flat.repeat(room.numel() // flat.numel() + 1)[: room.numel()])
    view = room.select(-1, 0) if strides == tensor.dim() else room.narrow(strides, 0, tensor.shape[strides])
    view.copy_(tensor)
    return view


def memory_of(value):
    return value.data_ptr() if isinstance(value, torch.Tensor) else None


def possible(tensor):
    # A list of rows or of lengths in another order would lead a label that takes no strides anywhere.
    return (
        isinstance(tensor, torch.Tensor)
        and (tensor.is_floating_point() or tensor.dim() > 1)
        and tensor.layout == torch.strided
        and tensor.is_contiguous()
        and tensor.numel() > 1
        and tensor.dim() < 8
        and tensor.element_size() * tensor.numel() <= LARGEST
        and not tensor.requires_grad
    )


def depths(tensor, inner):
    """How many of the first strides can be made others, the most first; a dimension of one element has none to speak of.
    `inner`: the innermost as well."""
    first = tensor.dim() if inner else tensor.dim() - 1
    return [n for n in range(first, 0, -1) if max(tensor.shape[:n]) > 1 and tensor.shape[n - 1] > 1]


class Inner(TorchFunctionMode):
    """Notes of whose memory a label asks for the innermost stride, or for a compact copy. Who asks for neither may be right
    for such views, as PyTorch is for all, and still says nothing of them to its callers."""

    def __init__(self):
        super().__init__()
        self.memory = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.stride:
            strides = result if isinstance(result, tuple) else (result,)
            if 1 in strides:
                self.memory.add(args[0].data_ptr())
        elif func is torch.Tensor.contiguous:
            self.memory.add(args[0].data_ptr())
        return result


class Views:
    def __init__(self, launches):
        self.launches = launches
        self.spent = 0.0

    def copies(self, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be made again."""
        places = [(i, each) for i, each in enumerate(args)] + list(kwargs.items())
        whole = sum(each.numel() * each.element_size() for _, each in places if isinstance(each, torch.Tensor))
        if self.spent > SECONDS_OF_ALL or whole > LARGEST or not any(possible(each) for _, each in places):
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def honoured(self, function, given, args, kwargs, result, seconds):
        """Place of an argument → of how many of its first strides the answer is independent. `args`, `kwargs` and `result` are
        as the call left them, `given` as it was made, and `seconds` how long it lasted."""
        if seconds > SECONDS_OF_A_CALL:
            return {}
        kept = self.launches.__dict__.copy()
        states = torch.get_rng_state(), random.getstate()
        begin = time.process_time()
        try:
            return self.ask(function, given, (args, kwargs, result), begin)
        except Exception:
            return {}
        finally:
            self.launches.__dict__.update(kept)
            torch.set_rng_state(states[0])
            random.setstate(states[1])
            self.spent += time.process_time() - begin

    def ask(self, function, given, answer, begin):
        def holds(chosen):
            args, kwargs = copy.deepcopy(given)
            args = [spread(each, chosen[i]) if i in chosen else each for i, each in enumerate(args)]
            kwargs = {key: spread(each, chosen[key]) if key in chosen else each for key, each in kwargs.items()}
            self.launches.reset()
            try:
                with inner:
                    result = function(*args, **kwargs)
            except Exception:
                return False
            if not chosen:
                taken.update(key for key, each in [*enumerate(args), *kwargs.items()] if memory_of(each) in inner.memory)
            return self.launches.unanswered == 0 and same((args, kwargs, result), answer)

        places = dict(enumerate(given[0]))
        places.update(given[1])
        inner, taken = Inner(), set()
        if not any(possible(each) for each in places.values()) or not holds({}):
            return {}  # another answer to the same: nothing can be told
        options = {key: depths(each, key in taken) for key, each in places.items() if possible(each)}
        options = {key: each for key, each in options.items() if each}
        if not options:
            return {}
        all_of_them = {key: each[0] for key, each in options.items()}
        if holds(all_of_them):
            # A label may demand that its tensors lie alike: then a view of one alone is nobody's.
            together = set()
            for key, depth in all_of_them.items():
                if len(all_of_them) > 1 and self.spent + time.process_time() - begin < SECONDS_OF_ALL and not holds({key: depth}):
                    together.add(key)
            return {key: depth for key, depth in all_of_them.items() if key not in together}
        found = {}
        for key, each in options.items():
            for depth in each:
                if self.spent + time.process_time() - begin > SECONDS_OF_ALL:
                    return found
                if holds({key: depth}):
                    found[key] = depth
                    break
        return found
