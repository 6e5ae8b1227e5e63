"""Addresses of a label's kernels in Triton's interpreter: what lies in no argument is neither read nor written, and noted.

A launch works on copies that lie far apart, so that an address behind one argument's end is not in the next. Where it reads
outside it runs once more with another value in place of what is there: answers that differ are made of that, and are none.
"""

import ctypes
import mmap

import numpy as np
import torch

from .calls import untyped_storage

# Behind and before every argument's copy; an address is counted from the nearest.
GAP = 64 << 20
NO_RESERVE = 0x4000  # Linux's MAP_NORESERVE: the gaps are never touched


def truths(mask):
    """A mask that a kernel made of whole numbers, as the compiler takes it."""
    mask = np.asarray(mask)
    return mask if mask.dtype == bool else mask != 0


class Arena:
    """The copies of one run of a launch."""

    def __init__(self, storages):
        self.copies = []  # (address, bytes, data_ptr of the original)
        total = GAP + sum(storage.nbytes() + GAP for storage in storages)
        self.memory = mmap.mmap(-1, total, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.tensors = {}
        at = base + GAP
        for storage in storages:
            size = storage.nbytes()
            buffer = (ctypes.c_ubyte * size).from_address(at)
            buffer.arena = self  # as long as a tensor of it lives
            tensor = torch.frombuffer(buffer, dtype=torch.uint8)
            ctypes.memmove(at, storage.data_ptr(), size)
            self.tensors[storage.data_ptr()] = tensor
            self.copies.append((at, size, storage.data_ptr()))
            at += (size + GAP + 255) // 256 * 256

    def contents(self):
        return [ctypes.string_at(address, size) for address, size, _ in self.copies]


class Watch:
    """In the place of the interpreter's module of memory accesses."""

    def __init__(self, real):
        self.real = real
        self.begins = self.ends = None
        self.counting = False  # whether what is reached is noted
        self.reached = None  # of each copy and byte, whether an access begins there or takes it in
        self.stop()

    def __getattr__(self, name):
        return getattr(self.real, name)

    def start(self, arena, fill):
        self.arena, self.fill, self.found = arena, fill, []
        self.reached = [np.zeros(each[1], dtype=bool) for each in arena.copies] if self.counting else None
        self.begins = np.array([each[0] for each in arena.copies], dtype=np.uint64)
        # The last is of addresses before all of them.
        self.ends = np.array([each[0] + each[1] for each in arena.copies] + [0], dtype=np.uint64)

    def stop(self):
        self.arena, self.found = None, []

    def inside(self, pointers, mask, size, access):
        """The mask without what is outside, and where that is; None where nothing is."""
        if self.arena is None:
            return mask, None
        pointers = np.asarray(pointers).astype(np.uint64, copy=False)
        which = np.searchsorted(self.begins, pointers, side="right").astype(np.int64) - 1
        bad = (pointers + np.uint64(size) > self.ends[which]) & (np.asarray(mask) != 0)
        if self.reached is not None:
            self.reach(pointers, which, (np.asarray(mask) != 0) & ~bad, size)
        if not bad.any():
            return mask, None
        self.note(pointers[bad], size, access)
        return np.asarray(mask) & ~bad, bad

    def reach(self, pointers, which, wanted, size):
        pointers, which = pointers[wanted], which[wanted]
        for copy, reached in enumerate(self.reached):
            offsets = (pointers[which == copy] - self.begins[copy]).astype(np.int64)
            for byte in range(size):
                reached[offsets + byte] = True

    def shares(self):
        """Of each copy, which part of it was reached."""
        return [float(each.mean()) if each.size else 1.0 for each in self.reached]

    def note(self, addresses, size, access):
        address = int(addresses.flat[0])

        def distance(copy):
            begin, length, _ = copy
            return begin - address if address < begin else address + size - begin - length

        nearest = min(self.arena.copies, key=distance, default=None)
        if nearest is None:
            return
        found = {"pointer": nearest[2], "access": access, "bytes": address - nearest[0], "holds": nearest[1]}
        found["astray"] = distance(nearest) > GAP
        found["lowest"] = int(addresses.min()) - nearest[0]
        found["highest"] = int(addresses.max()) + size - nearest[0]
        for each in self.found:
            if (each["pointer"], each["access"]) == (found["pointer"], access):
                each["lowest"] = min(each["lowest"], found["lowest"])
                each["highest"] = max(each["highest"], found["highest"])
                return
        self.found.append(found)

    def load(self, pointers, mask, other, dtype):
        mask = truths(mask)
        mask, bad = self.inside(pointers, mask, np.dtype(dtype).itemsize, "reads")
        if bad is not None:
            other = np.where(bad, np.array(self.fill).astype(other.dtype), other)
        return self.real.load(pointers, mask, other, dtype)

    def store(self, pointers, value, mask):
        mask = truths(mask)
        mask, _ = self.inside(pointers, mask, value.dtype.itemsize, "writes")
        return self.real.store(pointers, value, mask)

    def atomic_rmw(self, operation, pointers, value, mask, order):
        mask, _ = self.inside(pointers, mask, value.dtype.itemsize, "writes")
        return self.real.atomic_rmw(operation, pointers, value, mask, order)


def install(interpreter, launches):
    """The launch with its addresses watched; as it is in a version that copies its arguments in another way."""
    executor = interpreter.GridExecutor
    original = executor.__call__
    if not hasattr(executor, "_init_args_hst") or not hasattr(executor, "_restore_args_dev"):
        return original
    launches.watched = True
    watch = interpreter._interpreter = Watch(interpreter._interpreter)
    init, restore = executor._init_args_hst, executor._restore_args_dev
    # `first`: empty, or [contents after the first run, what it found]; [None] while the second runs.
    fill, first = [0], []

    def init_args_hst(self, args_dev, kwargs):
        storages = {}

        def remember(value):
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                storage = untyped_storage(value)
                if storage.nbytes() > 0 and storage.data_ptr() != 0:
                    storages[storage.data_ptr()] = storage
            elif isinstance(value, (tuple, list)):
                for each in value:
                    remember(each)
            elif hasattr(value, "base"):
                remember(value.base)

        for value in list(args_dev) + list(kwargs.values()):
            remember(value)
        if not storages:
            return init(self, args_dev, kwargs)
        arena = Arena(list(storages.values()))
        to_cpu = torch.UntypedStorage.cpu

        def copy(storage):
            tensor = arena.tensors.get(storage.data_ptr())
            return to_cpu(storage) if tensor is None else untyped_storage(tensor)

        torch.UntypedStorage.cpu = copy
        try:
            result = init(self, args_dev, kwargs)
        finally:
            torch.UntypedStorage.cpu = to_cpu
            # Each holds the arena, by ways that the collector of cycles does not see.
            arena.tensors.clear()
        watch.start(arena, fill[0])
        return result

    def restore_args_dev(self, *args):
        if first and first[0] is None:
            first[:] = [watch.arena.contents(), watch.found]
        elif not first and any(each["access"] == "reads" for each in watch.found):
            first[:] = [watch.arena.contents(), watch.found]
            return  # once more
        restore(self, *args)

    def call(self, *args, **kwargs):
        fill[0], first[:] = 0, []
        watch.counting = launches.reached is not None
        try:
            result = original(self, *args, **kwargs)
            if watch.counting and watch.arena is not None:
                launches.reached.append(watch.shares())
            found, contents = watch.found, None
            if first:
                contents, found = first
                fill[0], first[:] = 55, [None]
                result = original(self, *args, **kwargs)
                launches.outside_matters |= contents != first[0]
            name = getattr(self.fn, "__name__", "a kernel")
            for each in found:
                launches.outside.append(dict(each, kernel=name))
                launches.outside_matters |= each["access"] == "writes"
            return result
        finally:
            watch.stop()

    executor._init_args_hst, executor._restore_args_dev = init_args_hst, restore_args_dev
    return call
