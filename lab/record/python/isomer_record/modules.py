"""What a module brings along to a call, by its names: a port is given that instead of the module."""

import copy
import functools

import torch


KEYWORD, HELD = "keyword", "held"  # how an argument is given that has no place


def texts(side, arguments):
    """What the file has of arguments: (name, value, how it is given)."""
    found = []
    for key, value, how in arguments:
        text = side.value(value, key, key)
        if how:
            text[KEYWORD] = True
        if how == HELD:
            text[HELD] = True
        found.append(text)
    return found


def is_plain(value):
    """A number, or a few of them."""
    return type(value) in (int, float, bool) or (type(value) is tuple and 0 < len(value) < 4 and all(type(each) is int for each in value))


def state_of(module):
    """Its tensors, whether it keeps them or not, and its numbers: {name: value}."""
    # Buffers that are not saved are no part of its state_dict.
    tensors = {
        f"{where}.{name}" if where else name: each
        for where, inner in module.named_modules()
        for kept in (inner._parameters, inner._buffers)
        for name, each in kept.items()
        if each is not None
    }
    own = {name: each for name, each in vars(module).items() if name[0] != "_" and name != "training"}
    tensors.update({name: each for name, each in own.items() if isinstance(each, torch.Tensor)})
    found = {name: each.detach() for name, each in tensors.items()}
    found.update({name: each for name, each in own.items() if is_plain(each)})
    return found


def with_state(module, state):
    """The same module with other values of those names, which no other module shares."""
    made = copy.copy(module)
    for kind in ("__dict__", "_parameters", "_buffers", "_modules"):
        if kind != "__dict__":
            made.__dict__[kind] = dict(made.__dict__[kind])
    inner = {}
    for name, value in state.items():
        first, dot, rest = name.partition(".")
        if dot:
            inner.setdefault(first, {})[rest] = value
            continue
        holder = next((each for each in (made._parameters, made._buffers) if first in each), made.__dict__)
        holder[first] = value
    for name, values in inner.items():
        made._modules[name] = with_state(made._modules[name], values)
    return made


class Apart:
    """A call some of whose arguments are modules: `function` takes `args` and `kwargs`, of which those in `held` are what the
    modules hold, and is what the call is."""

    def __init__(self, function, args, kwargs, name_of, code):
        self.modules = {i: each for i, each in enumerate(args) if isinstance(each, torch.nn.Module)}
        self.modules.update({key: each for key, each in kwargs.items() if isinstance(each, torch.nn.Module)})
        self.args = tuple(each for i, each in enumerate(args) if i not in self.modules)
        self.places = [i for i in range(len(args)) if i not in self.modules]
        self.kwargs = {key: each for key, each in kwargs.items() if key not in self.modules}
        self.count = len(args)
        self.held = {}  # (place or name of a module, name in it) by the name of the argument
        for place, module in self.modules.items():
            for name, value in state_of(module).items():
                # Two modules, or a module and an argument, may have one name.
                short = name if name not in self.kwargs and name not in map(name_of, self.places) else f"{name_of(place)}.{name}"
                self.held[short] = (place, name)
                self.kwargs[short] = value
        self.plain = function

        @functools.wraps(code, assigned=("__name__", "__doc__"), updated=())
        def call(*args, **kwargs):
            return self.called(args, kwargs)

        self.function = call

    def called(self, args, kwargs, plain=None):
        """`plain`: another function than the one that was called, or a class like the first module's."""
        states = {place: {} for place in self.modules}
        for short, (place, name) in self.held.items():
            states[place][name] = kwargs[short]
        made = {place: with_state(module, states[place]) for place, module in self.modules.items()}
        others = dict(zip(self.places, args))
        positional = [made[i] if i in made else others[i] for i in range(self.count)]
        named = {key: each for key, each in kwargs.items() if key not in self.held}
        named.update({key: each for key, each in made.items() if isinstance(key, str)})
        if isinstance(plain, type):
            positional[0].__class__ = plain
            plain = plain.__call__
        return (plain or self.plain)(*positional, **named)


def apart(function, args, kwargs, name_of, code):
    """Of a call with a module the same without; None of every other. `name_of` names an argument by its place; `code` is the
    function whose text answers the call."""
    if not any(isinstance(each, torch.nn.Module) for each in (*args, *kwargs.values())):
        return None
    try:
        return Apart(function, args, kwargs, name_of, code)
    except Exception:
        return None  # a module of no usual kind
