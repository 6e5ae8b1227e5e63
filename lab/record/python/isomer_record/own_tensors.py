"""Small tensors that the label makes on its way, by the names that it gives them: a port may take `starts` that the label sums up.

They are variables of the label's function, and of functions of the same file that it calls; an argument is one where the call
passes None for it and the label makes it. A tensor counts that has its content
before the first kernel is launched and still has it in the end: what a kernel writes is a result, or room for one. What lies in
the memory of an argument or of a result is that, by whatever name. Whatever is odd is left out.
"""

import torch

from . import modules

LARGEST, ALL = 256 << 10, 1 << 20  # bytes of one, and of a call's
MOST = 32
CALLEES = 64  # calls that are followed


def storage_at(tensor):
    from .calls import untyped_storage

    return untyped_storage(tensor).data_ptr()


def memory_of(value, depth=0):
    """Where the memory of all tensors in a value begins."""
    if isinstance(value, torch.Tensor):
        return {storage_at(value)} if value.layout == torch.strided else set()
    if isinstance(value, torch.nn.Module):
        value = list(modules.state_of(value).values())
    elif isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dict__") and not callable(value) and depth < 2:
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)) and depth < 15:
        return {each for item in value for each in memory_of(item, depth + 1)}
    return set()


def copy_of(tensor):
    return tensor.detach().contiguous().clone()


def same_bytes(one, other):
    """Also where they are NaN."""
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(bits(one), bits(other))


def bits(tensor):
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def parameters_of(code):
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)])


class Tensors:
    def __init__(self):
        self.found = {}  # copies, by name
        self.frame = None
        self.given = set()  # memory of the arguments
        self.passed = set()  # the parameters that the call has a value for
        self.noted = {}  # name: (tensor, its copy), or None where two functions have that name for two things
        self.own = None  # the same of the function's own variables when the first kernel was launched
        self.bytes = 0
        self.callees = 0

    def begin(self, frame):
        try:
            self.given = memory_of(dict(frame.f_locals))
            self.passed = {name for name in parameters_of(frame.f_code) if frame.f_locals.get(name) is not None}
            self.frame = frame
        except Exception:
            self.frame = None

    def follows(self, frame):
        """Whether the variables of a function that is called are looked at."""
        if self.frame is None or frame.f_code.co_filename != self.frame.f_code.co_filename or self.callees >= CALLEES:
            return False
        self.callees += 1
        return True

    def variables(self, frame, left_out=()):
        found = {}
        for name, value in list(frame.f_locals.items()):
            if type(value) is not torch.Tensor or name in left_out or not name.isidentifier() or len(found) == MOST:
                continue
            size = value.numel() * value.element_size()
            if value.layout != torch.strided or not 0 < size <= LARGEST or self.bytes + size > ALL or storage_at(value) in self.given:
                continue
            self.bytes += size
            found[name] = (value, copy_of(value))
        return found

    def note(self, frame):
        """What a function that was called has once it returns, or when a kernel is launched."""
        if self.frame is None or self.own is not None:
            return
        try:
            for name, each in self.variables(frame).items():
                known = self.noted.get(name, each)
                self.noted[name] = each if known is not None and same_bytes(known[1], each[1]) else None
        except Exception:
            pass

    def launched(self, frame):
        """Before a kernel is launched by that frame, or by one that it has called."""
        if self.frame is None or self.own is not None:
            return
        try:
            while frame is not None and frame is not self.frame:
                if frame.f_code.co_filename == self.frame.f_code.co_filename:
                    self.note(frame)
                frame = frame.f_back
            self.own = self.variables(self.frame, self.passed)
        except Exception:
            self.own = {}

    def take(self):
        """What there is when the first kernel is launched."""
        self.found = {name: each[1] for name, each in {**self.noted, **(self.own or {})}.items() if each is not None}

    def end(self, frame, result):
        """Of the function's own, when it returns."""
        if frame is not self.frame or self.found:
            return
        try:
            left_out = self.passed
            variables = dict(frame.f_locals)
            if self.own is None:
                self.own = self.variables(frame, left_out)
            results = memory_of(result)
            for name, each in {**self.noted, **self.own}.items():
                if each is None or name in left_out or storage_at(each[0]) in results:
                    continue
                # Another by now: what is meant by the name depends on where.
                if name in variables and variables[name] is not each[0]:
                    continue
                if len(self.found) < MOST and same_bytes(*each):
                    self.found[name] = each[1]
        except Exception:
            self.found = {}

    def forget(self):
        """What is not kept."""
        self.frame, self.given, self.noted, self.own = None, set(), {}, None

    def same_in(self, other):
        """The names of those that another call, in which memory without values had others, has with the same content."""
        try:
            return {name for name, each in self.found.items() if name in other.found and same_bytes(each, other.found[name])}
        except Exception:
            return set()
