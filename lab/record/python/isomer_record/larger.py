"""What the label answers where one size is a larger one: a test whose sizes are all within a block shows no second one.

A size is what it is for sizes.py, and all that have it are made larger together, but for what is another number in another call
of the test. Tensors grow by their own elements in another order, of which real numbers are changed a little, so that no part of
one is like another; rows that are in order, or of one length, stay so. What the label was not made for it must not be asked:
besides what sizes.py leaves out, that is what leaves a part of an argument unread that the test's call reads.
"""

import copy
import functools
import math
import random
import time

import torch

from .beyond import tensors_of
from .last_read import LastRead
from .limits import LIMITS
from .sizes import Sizes, counts_along, integers_of, is_whole, plain

# Each a little more than usual blocks, and what they divide, are.
TARGETS = (19, 35, 67, 131, 259, 515, 1027, 4099, 16387, 65539)
PAST = 3
# The first is asked to be about so large; beyond the other one there are as many elements as there may be.
NEAR, FAR = 131, 1027
# Bytes of the arguments of one such call, of both sides of it, and of all of them.
GIVEN, BOTH, ALL = 256 << 10, 2 << 20, 2 << 20
SECONDS_OF_A_CALL = 0.3
SECONDS_OF_A_NEAR, SECONDS_OF_A_FAR = 2.5, 1.0
SECONDS_OF_ALL = 5.0
# Bytes of what calls were given, until the test is over.
GIVEN_OF_ALL = 64 << 20
# A whole number of more than this is no index.
INDICES = 1 << 16
# Of what the test's call reaches of an argument.
REACHED = 0.9


def is_data(tensor):
    """Packed numbers, which are no indices."""
    return tensor.element_size() == 1 or (tensor.numel() > 0 and int(tensor.abs().max()) >= INDICES)


def in_order(tensor, size):
    """Whether its whole numbers lie in order along that size, or are all different: ends of sequences, places of rows."""
    if is_data(tensor) or size not in tensor.shape or tensor.numel() < 2:
        return False
    for dim, n in enumerate(tensor.shape):
        if n == size:
            steps = tensor.diff(dim=dim)
            if bool((steps >= 0).all()) and bool((steps > 0).any()):
                return True
            # A column of places, beside others of another kind.
            rows = tensor.movedim(dim, 0).reshape(n, -1)
            if n > 2 and any(column.unique().numel() == n for column in rows.unbind(1)):
                return True
    return tensor.unique().numel() == tensor.numel()


def can_grow(size, tensors, integers):
    if any(is_whole(each) and (in_order(each, size) or counts_along(each, size)) for each in tensors):
        return False
    if size > 2:
        return True
    # As small a number is many things: it is a size where it stands before all others alone.
    return size == 2 and 2 not in integers and all(2 not in each.shape[1:] for each in tensors)


def in_its_place(size, target, tensors):
    """Sizes of about that many: just past it, and what keeps every ratio."""
    parts = {n for each in tensors if size not in each.shape for n in each.shape if 1 < n < size and size % n == 0}
    step = math.lcm(*parts)
    past = -(-target // step) * step
    times = -(-target // size)
    found = [past, size * (times + 1 - times % 2)]
    if size & (size - 1) == 0:
        found.append(target - PAST)
    return list(dict.fromkeys(found))


def bytes_of(tensors, size, to):
    return sum(each.element_size() * each.numel() * (to / size) ** list(each.shape).count(size) for each in tensors)


def foreseen(size, near, seconds, to):
    """How long a size will take, of seconds for two others: some power of it, and a little more."""
    power = math.log(max(seconds[1] / max(seconds[0], 1e-4), 1.0)) / math.log(near / size)
    return seconds[1] * (to / near) ** (min(power, 3.0) + 0.3)


def places(size, to, generator):
    """Which of the elements along a size stand along the larger one: all in their order, and then in others."""
    rounds = [torch.arange(size)] + [torch.randperm(size, generator=generator) for _ in range(-(-to // size))]
    return torch.cat(rounds)[:to]


SEQUENCES = (list, tuple, torch.Size)


def leaves(value, path=()):
    """Each tensor and each whole number, behind its path."""
    if isinstance(value, torch.Tensor) or type(value) is int:
        return [(path, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if type(value) in SEQUENCES else ()
    return [each for key, item in items for each in leaves(item, (*path, key))]


def extents(value):
    """Path → sizes; a number is one."""
    return {path: tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else (leaf,) for path, leaf in leaves(value)}


def classes(size, given, calls):
    """The places (path, dimension) that have a size, those together which have one number in every call; those that never
    change are left out where others do."""
    own = extents(given)
    those = {path: sizes for path, sizes in own.items() if size in sizes}
    alike = [each for each in calls if all(len(each.get(path, ())) == len(sizes) for path, sizes in those.items())]
    found = {}
    for path, sizes in those.items():
        for dim, n in enumerate(sizes):
            if n == size:
                found.setdefault(tuple(each[path][dim] for each in alike), set()).add((path, dim))
    changing = [each for each in found if len(set(each)) > 1]
    tensors = {path for path, leaf in leaves(given) if isinstance(leaf, torch.Tensor)}
    return [frozenset(found[each]) for each in changing or found if any(path in tensors for path, _ in found[each])]


# Of which dimensions a size is made larger: of the places of a class, or, where a tensor is square by chance, of one of two.
OF_SQUARES = ("first", "but first", "last", "but last")


def dimensions(tensor, size, way, path):
    places, which = way
    dims = [dim for dim, n in enumerate(tensor.shape) if n == size and (path, dim) in places]
    if not which:
        return dims
    if len(dims) < 2:
        return dims if which.startswith("but") else []
    return {"first": dims[:1], "last": dims[-1:], "but first": dims[1:], "but last": dims[:-1]}[which]


def kept_in_order(tensor, part):
    """Rows that lie in order, sum up to one, or are of length one, are so in what is made of them."""
    for dim, n in enumerate(tensor.shape):
        if n > 2:
            steps = tensor.diff(dim=dim)
            if bool((steps >= 0).all()) and bool((steps > 0).any()):
                part = part.sort(dim=dim).values
    near = 1e-5 if tensor.dtype in (torch.float32, torch.float64) else 1e-2
    if tensor.dim() > 0 and tensor.shape[-1] > 1:
        if bool((tensor >= 0).all()) and bool(((tensor.sum(-1) - 1).abs() < near).all()):
            part = part / part.sum(-1, keepdim=True)
        elif bool(((tensor.norm(dim=-1) - 1).abs() < near).all()):
            part = part / part.norm(dim=-1, keepdim=True)
    return part


def grown_tensor(tensor, dims, size, to):
    generator = torch.Generator().manual_seed(to)
    part = tensor.detach()
    real = part.is_floating_point()
    if real and part.element_size() == 1:
        part = part.view(torch.uint8)
    for dim in dims:
        part = part.index_select(dim, places(size, to, generator).to(part.device))
    part = part.contiguous()
    if real and part.dtype != torch.uint8 and bool((part.double() % 1 != 0).any()):
        factor = 1 + (torch.rand(part.shape, generator=generator) - 0.5) / 8
        own = factor
        for dim, n in enumerate(tensor.shape):
            own = own.narrow(dim, 0, n)
        own.fill_(1)  # the test's own elements
        part = kept_in_order(tensor.detach(), part * factor.to(part.dtype).to(part.device))
    elif is_whole(part) and not is_data(part) and int(part.min()) >= 0 and int(part.max()) == size:
        part = torch.where(part == size, torch.full_like(part, to), part)  # a length
    if real and part.dtype == torch.uint8:
        part = part.view(tensor.dtype)
    return part.requires_grad_(tensor.requires_grad)


def grown(value, size, to, way, path=()):
    """`way`: of which places, and which of two dimensions of a tensor."""
    if isinstance(value, torch.Tensor):
        dims = dimensions(value, size, way, path)
        return grown_tensor(value, dims, size, to) if dims and value.numel() > 0 else value
    if isinstance(value, dict):
        return {key: grown(each, size, to, way, (*path, key)) for key, each in value.items()}
    if type(value) in SEQUENCES:
        return type(value)(grown(each, size, to, way, (*path, i)) for i, each in enumerate(value))
    if type(value) is int:
        return to if (path, 0) in way[0] else value
    return value


def ways_of_squares(size, tensors, integers):
    square = any(list(each.shape).count(size) == 2 for each in tensors)
    return OF_SQUARES if square and size not in integers else ()


def reaches_as_much(first, then):
    """Whether launches reach as much of each argument as those of the test's call do."""
    if len(first) == len(then) and all(len(a) == len(b) for a, b in zip(first, then)):
        return all(b >= REACHED * a for one, other in zip(first, then) for a, b in zip(one, other))
    return min(map(min, then), default=1.0) >= REACHED * min(map(min, first), default=1.0)


class Larger(Sizes):
    KIND, STORED = "larger", "larger"

    def __init__(self, launches, sizes):
        super().__init__(launches)
        self.sizes = sizes
        self.bytes = 0
        self.calls = {}  # of each function what all its calls were given
        self.later, self.waiting = [], 0

    def wanted(self, name, args, kwargs):
        self.of_kernels = True
        return self.waiting < GIVEN_OF_ALL and super().wanted(name, args, kwargs)

    def copies(self, name, args, kwargs):
        self.calls.setdefault(name, []).append(extents((args, kwargs)))
        return super().copies(name, args, kwargs)

    def ask(self, name, function, given, group, seconds, storages, side_of, names):
        """What is to be asked once all the test's calls are known."""
        if given is None or seconds > SECONDS_OF_A_CALL:
            return
        tensors = tensors_of(list(given))
        self.functions.setdefault(name, []).append([tuple(each.shape) for each in tensors])
        if tensors and plain(tensors):
            self.waiting += sum(each.numel() * each.element_size() for each in tensors)
            self.later.append(functools.partial(self.ask_now, name, function, given, group, storages, side_of, names))

    def finish(self):
        """Adds the answers, as calls."""
        while self.later and LIMITS.may_ask():
            self.later.pop(0)()

    def ask_now(self, name, function, given, group, storages, side_of, names):
        """`side_of` and `names` write a value and name the arguments as of every call."""
        tensors = tensors_of(list(given))
        launches = self.launches.__dict__.copy()
        states = torch.get_rng_state(), random.getstate()
        begin = time.process_time()

        def asked(size, to, way):
            """Seconds of the label's answer; None where it is not to be had."""
            if self.spent + time.process_time() - begin > SECONDS_OF_ALL or self.bytes > ALL:
                return None
            start = time.process_time()
            answer = self.answer(function, lambda: grown(copy.deepcopy(given), size, to, way), states)
            if answer is None or not reaches_as_much(reached, self.launches.reached):
                return None
            if not reached and not read.as_before(grown(copy.deepcopy(given), size, to, way)):
                return None
            lasted = time.process_time() - start
            return lasted if self.kept(name, group, size, to, answer, storages, side_of, names) else None

        try:
            self.launches.reached = []
            if self.answer(function, lambda: copy.deepcopy(given), states) is None:
                return
            read = LastRead(function, given, self.launches)
            reached, own = self.launches.reached, time.process_time() - begin
            integers, near = integers_of(list(given)), []
            for size in self.all_of(given):
                for places_alike in classes(size, given, self.calls[name]):
                    whole = functools.partial(asked, way=(places_alike, ""))
                    near.append((size, whole, *self.near(size, own, tensors, whole)))
                    for which in ways_of_squares(size, tensors, integers):
                        self.near(size, own, tensors, functools.partial(asked, way=(places_alike, which)))
            for size, whole, to, lasted in near:
                if to is not None:
                    self.far(size, to, (own, lasted), tensors, whole)
        except Exception:
            return  # a type that cannot be made larger
        finally:
            self.launches.__dict__.update(launches)
            torch.set_rng_state(states[0])
            random.setstate(states[1])
            self.spent += time.process_time() - begin

    def all_of(self, given):
        """Sizes that can be others, the last of every shape first."""
        tensors, integers = tensors_of(given), integers_of(given)
        found = []
        for depth in range(1, 1 + max(each.dim() for each in tensors)):
            for tensor in tensors:
                size = tensor.shape[-depth] if depth <= tensor.dim() else 1
                if size > 1 and size not in found and can_grow(size, tensors, integers):
                    found.append(size)
        return found

    def in_its_place(self, size, target, tensors):
        """A kernel that divides what it is given is asked for multiples alone."""
        return [to for to in in_its_place(size, target, tensors) if self.sizes.of_kernels or to % size == 0]

    def near(self, size, own, tensors, asked):
        """The first of a few more, and how long the label took for it; `own` seconds for the test's own size."""
        fitting = [each for each in TARGETS if each >= 2 * size and bytes_of(tensors, size, each) <= GIVEN]
        # Nearly as many more blocks take the interpreter as much longer.
        fitting = [each for each in fitting if own * (each / size) ** 0.8 <= SECONDS_OF_A_NEAR]
        beyond = [each for each in fitting if each >= NEAR]
        for target in beyond[:1] or fitting[-1:]:
            for to in self.in_its_place(size, target, tensors):
                lasted = asked(size, to)
                if lasted is not None:
                    return to, lasted
        return None, 0.0

    def far(self, size, near, seconds, tensors, asked):
        """As many as there is room and time for; `seconds` of the test's own size, and of `near`."""
        for target in reversed(TARGETS):
            bytes_then = bytes_of(tensors, size, target)
            room = GIVEN if target <= FAR else GIVEN // 2
            if target < 2 * near or bytes_then > room or foreseen(size, near, seconds, target) > SECONDS_OF_A_FAR:
                continue
            # What is right for a ratio is so for another.
            for to in self.in_its_place(size, target, tensors):
                if (to % size == 0) == (near % size == 0) and asked(size, to) is not None:
                    return

    def kept(self, name, group, size, to, answer, storages, side_of, names):
        from .calls import TooLarge

        total = storages.total - storages.computed
        if sum(each.element_size() * each.numel() for each in tensors_of(list(answer))) > BOTH:
            return False
        try:
            self.keep(name, group, size, to, answer, side_of, names)
        except TooLarge:
            storages.total = total + storages.computed
            self.bytes = ALL + 1
            return False
        self.bytes += storages.total - storages.computed - total
        return True
