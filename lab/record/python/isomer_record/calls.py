"""Calls of the label's functions: every argument before, every answer after."""

import ctypes
import functools
import hashlib
import inspect
import math
import random
import sys
import time

import torch

from . import beyond, computed, device_time, edited, influence, modules, sizes, views
from .larger import Larger
from .launches import Launches
from .limits import LIMITS, OutOfTime
from .longer import Longer
from .rounding import Rounding
from .smaller import Smaller
from .unwritten import Unset, WithoutValues, flat

# Whole storages are kept, of larger ones only what the view spans.
LARGE_STORAGE = 64 << 20

DTYPES = {
    name: short
    for name, short in (
        ("float64", "f64"),
        ("float32", "f32"),
        ("float16", "f16"),
        ("bfloat16", "bf16"),
        ("float8_e4m3fn", "e4m3fn"),
        ("float8_e5m2", "e5m2"),
        ("float8_e4m3fnuz", "e4m3fnuz"),
        ("float8_e5m2fnuz", "e5m2fnuz"),
        ("int8", "i8"),
        ("int32", "i32"),
        ("int64", "i64"),
        ("uint8", "u8"),
        ("int16", "i16"),
        ("bool", "u8"),
    )
    if hasattr(torch, name)
}


def dtype_name(dtype):
    """Isomer's name of a dtype; PyTorch's where Isomer has none."""
    name = str(dtype).replace("torch.", "")
    return DTYPES.get(name, name)


# Triton's interpreter does not round to these as its compiler does.
NOT_INTERPRETED = {"bf16", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"}


# A call that is made once more to keep what it launches.
SECONDS_OF_LAUNCHES = 5.0


class TooLarge(BaseException):
    """The calls hold more bytes than the limit."""


class Storages:
    """The bytes of the storages, by the name that they have in the file."""

    def __init__(self, limit):
        self.limit = limit
        self.bytes = {}
        self.types = {}
        self.same = {}
        self.total = 0
        self.computed = 0  # of these bytes those of tensors that the label computes on its way

    def add(self, name, type_name, content, taken):
        """The name of a storage with that content, of those that are not `taken`: what a call leaves as it is is kept once."""
        same = self.same.setdefault((type_name, hashlib.sha256(content).digest()), [])
        for each in same:
            if each not in taken:
                return each
        self.total += len(content)
        if self.total > self.limit:
            raise TooLarge(f"the calls hold more than {self.limit} bytes; --max-bytes allows more")
        unique, again = name, 2
        while unique in self.bytes:
            unique, again = f"{name}#{again}", again + 1
        self.bytes[unique] = content
        self.types[unique] = type_name
        same.append(unique)
        return unique

    def keep(self, names):
        """Drops every other."""
        self.bytes = {name: content for name, content in self.bytes.items() if name in names}


def untyped_storage(tensor):
    """Under a PyTorch before 2.0 as well."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    storage = tensor.storage()
    return storage.untyped() if hasattr(storage, "untyped") else storage


def storage_of(tensor):
    """The tensor's storage as a list of bytes on the CPU, and which storage it is."""
    untyped = untyped_storage(tensor)
    identity = (untyped.data_ptr(), untyped.nbytes())
    if untyped.nbytes() == 0:
        return b"", identity, tensor.storage_offset() * tensor.element_size()
    element = tensor.element_size()
    first = tensor.storage_offset() * element
    span = 0
    if tensor.numel() > 0:
        span = (1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))) * element
    begin, length = 0, untyped.nbytes()
    if length > LARGE_STORAGE:
        begin, length = first, span
        identity += (begin, length)
    if tensor.is_cuda and torch.version.cuda is not None and torch._C._cuda_getDeviceCount() > 0:
        whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(untyped)
        content = bytes(whole[begin : begin + length].cpu().numpy())
    else:
        content = ctypes.string_at(untyped.data_ptr() + begin, length)
    return content, identity, first - begin


def names_in(value):
    """The storages that values name."""
    if isinstance(value, dict):
        if "storage" in value:
            yield value["storage"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from names_in(each)


def tensors(call):
    """Those among a call's values."""
    values = call["before"] + call["after"] + call["returned"] + call.get("computed", [])
    while values:
        value = values.pop()
        values += value.get("items", [])
        if "storage" in value:
            yield value


class Side:
    """The arguments of a call, or its answers: what shares a storage here shares it in the file."""

    def __init__(self, storages, prefix):
        self.storages = storages
        self.prefix = prefix
        self.known = {}
        self.taken = set()

    def value(self, value, name, place, depth=0):
        text = {"kind": "none", "name": name}
        if isinstance(value, torch.Tensor):
            self.tensor(value, place, text)
        elif value is None:
            pass
        elif isinstance(value, bool):
            text.update(kind="boolean", value=value)
        elif isinstance(value, int):
            if -(2**63) <= value < 2**63:
                text.update(kind="integer", value=value)
            else:
                text.update(kind="text", value=str(value))
        elif isinstance(value, float):
            finite = math.isfinite(value)
            text.update(kind="real", value=value if finite else "nan" if value != value else "inf" if value > 0 else "-inf")
        elif isinstance(value, torch.dtype):
            text.update(kind="dtype", value=dtype_name(value))
        elif isinstance(value, torch.nn.Module):
            items = [self.value(each, key, f"{place}.{key}", depth + 1) for key, each in modules.state_of(value).items()]
            text.update(kind="list", items=items)
        elif isinstance(value, (list, tuple)) and depth < 15:
            items = [self.value(each, "", f"{place}.{i}", depth + 1) for i, each in enumerate(value)]
            text.update(kind="list", items=items)
        elif type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            if getattr(value, "shape", ()) == () and hasattr(value, "item"):
                return self.value(value.item(), name, place, depth + 1)
            try:
                self.tensor(torch.from_numpy(value), place, text)
            except TypeError:
                text.update(kind="text", value=repr(value)[:200])
        else:
            text.update(kind="text", value=value if isinstance(value, str) else repr(value)[:200])
        return text

    def tensor(self, tensor, place, text):
        tensor = tensor.detach()
        type_name = str(tensor.dtype).replace("torch.", "")
        if type_name not in DTYPES or tensor.layout != torch.strided or tensor.dim() > 8:
            text.update(kind="text", value=f"a {type_name} tensor of shape {tuple(tensor.shape)}, which Isomer does not have")
            return
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        content, identity, offset = storage_of(tensor)
        name = self.known.get(identity) if identity[0] != 0 else None
        if name is None:
            name = self.storages.add(f"{self.prefix}.{place}", DTYPES[type_name], content, self.taken)
            self.taken.add(name)
            self.known[identity] = name
        text.update(
            kind="tensor",
            dtype=DTYPES[type_name],
            shape=list(tensor.shape),
            strides=list(tensor.stride()),
            offset=offset,
            storage=name,
        )
        if type_name == "bool":
            text["boolean"] = True

    def flattened(self, value, name="", place="0"):
        if value is None:
            return []
        if isinstance(value, dict):
            return [each for key, item in value.items() for each in self.flattened(item, str(key), f"{place}.{key}")]
        if isinstance(value, (list, tuple)):
            return [each for i, item in enumerate(value) for each in self.flattened(item, name, f"{place}.{i}")]
        return [self.value(value, name, place)]


def misrounded(before, result):
    """Whether the interpreter may have rounded to a type that it rounds to in its own way."""
    results = result if isinstance(result, (tuple, list)) else [result]
    types = {each.get("dtype") for each in before}
    types |= {DTYPES.get(str(each.dtype).replace("torch.", "")) for each in results if isinstance(each, torch.Tensor)}
    return bool(types & NOT_INTERPRETED)


def is_number_or_word(default):
    return type(default) in (int, float, bool, str) or (type(default) is tuple and all(type(each) in (int, float) for each in default))


class Calls:
    """Every call so far. `launches` is told of each kernel launch."""

    def __init__(self, test_path, limit):
        self.test_path = test_path
        self.storages = Storages(limit)
        self.launches = Launches()
        self.beyond = beyond.Beyond(self.launches)
        self.sizes = sizes.Sizes(self.launches)
        self.larger = Larger(self.launches, self.sizes)
        self.views = views.Views(self.launches)
        self.unset = Unset(self.launches)
        self.written = computed.Written(self.launches)
        self.rounding = Rounding(self.launches)
        self.made = []
        self.kernels = []  # of the label: where each has its name, the name, the kernel, and one whose launches are kept
        self.outside = []
        self.unfinished = False
        self.answered = False  # the unfinished one has an answer
        self.answers = set()
        self.inside = False
        self.smaller = Smaller(self.launches, self.beyond.asked)
        self.longer = Longer(self.launches)
        self.edited = edited.Edited()
        self.influence = influence.Influence(self.launches)

    def place(self):
        """test_sin:12, the line of the test that makes the call."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.test_path:
                return f"{frame.f_code.co_name}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

    def left(self, index, arguments):
        """Where the call's kernels addressed what none of their arguments holds; an answer made of that is none."""
        storages = {}
        for key, value, _ in arguments:
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                storages.setdefault(untyped_storage(value).data_ptr(), key)
        for each in self.launches.outside:
            argument = "" if each.pop("astray") else storages.get(each["pointer"], "")
            each.update(call=index, argument=argument, matters=self.launches.outside_matters)
            self.outside.append({key: value for key, value in each.items() if key not in ("pointer", "lowest", "highest")})
        if self.launches.outside_matters:
            self.launches.refuse("the label's kernel leaves the memory of its arguments")

    def keep_finished(self):
        """Drops a call that was not kept to its end."""
        if self.unfinished:
            self.made.pop()
        self.storages.keep(set(names_in(self.made + self.asked())))

    def out_of_time(self, why):
        """The call that was being made has no answer; one that was being asked about has."""
        if self.unfinished and not self.answered:
            self.launches.refuse(why)
        self.unfinished = self.inside = False
        self.stand_in()

    def finish(self):
        """What is asked of the label once the test is over."""
        self.inside = True
        LIMITS.begin_asking()
        self.larger.finish()
        side_of = functools.partial(Side, self.storages)
        for name in {each["function"] for each in self.made} - self.answering():
            self.made.extend(self.longer.ask(name, len(self.made), side_of))
        LIMITS.end_asking()
        self.inside = False
        self.stand_in()

    def answering(self):
        """Functions of which a call has an answer."""
        return {each["function"] for each in self.made if each["after"] or each["returned"]}

    def stand_in(self):
        """Where no call of a function could be answered, those of smaller sizes that were are its calls."""
        known, left = self.answering(), []
        for call in self.beyond.asked:
            if call["asked"] == "smaller" and call["function"] not in known:
                del call["asked"]
                call["group"] += ", with smaller sizes"
                self.made.append(call)
            else:
                left.append(call)
        self.beyond.asked[:] = left

    def asked(self):
        """Calls that no test made."""
        return self.beyond.asked + self.sizes.asked + self.larger.asked

    def of_launches(self, call, function, args, kwargs, drawn):
        """In place of a call that was given no tensor, and gave none or drew those that it needs: the launches of the label's kernels in it, as calls of
        them. It is made once more, with the random numbers `drawn` before it."""
        self.made.remove(call)
        torch.set_rng_state(drawn[0])
        random.setstate(drawn[1])
        for names, name, _, watched in self.kernels:
            names[name] = watched
        try:
            function(*args, **kwargs)
        except Exception:
            pass  # it has been made without
        finally:
            for names, name, kernel, _ in self.kernels:
                names[name] = kernel

    def wrap(self, name, plain, signature=None, context=False):
        """The function, each of whose calls is kept. Calls inside a call are the function's own business. `signature` is of
        another function that names the parameters; a `context` is a first argument that is left out."""
        try:
            parameters = list(inspect.signature(signature or plain).parameters.values())
        except (TypeError, ValueError):
            parameters = []

        def name_of(place):
            known = isinstance(place, int) and place < len(parameters) and parameters[place].kind in (0, 1)
            return parameters[place].name if known else f"argument{place}" if isinstance(place, int) else place

        def all_names(places, held, args, kwargs):
            named = [(name_of(place), each, "") for place, each in zip(places, args)]
            return named + [(key, value, modules.HELD if key in held else modules.KEYWORD) for key, value in kwargs.items()]

        @functools.wraps(plain, assigned=("__name__", "__doc__"), updated=())
        def recorded(*all_args, **all_kwargs):
            if self.inside:
                return plain(*all_args, **all_kwargs)
            # With a module's tensors and numbers in its place the call is one like every other.
            parts = None if context else modules.apart(plain, all_args, all_kwargs, name_of, signature or plain)
            function, args, kwargs = (parts.function, parts.args, parts.kwargs) if parts else (plain, all_args, all_kwargs)
            names = functools.partial(all_names, parts.places if parts else range(len(args)), parts.held if parts else ())
            index = len(self.made)
            LIMITS.begin_asking()
            asks = LIMITS.may_ask()
            # A kernel that the test launches has a grid of the test's.
            asks_others = asks and not context and not hasattr(plain, "grid")
            spare = self.beyond.copies(name, args, kwargs) if asks and not context else None
            resizable = self.sizes.copies(name, args, kwargs) if asks_others else None
            growable = self.larger.copies(name, args, kwargs) if asks_others else None
            call = {"function": name, "group": self.place(), "raised": "", "before": [], "after": [], "returned": []}
            arguments = names(args, kwargs)
            if context:
                arguments = arguments[1:]
            side = Side(self.storages, f"{index}.before")
            call["before"] = modules.texts(side, arguments)
            named = {key for key, _, _ in arguments}
            defaults = [each for each in parameters if is_number_or_word(each.default) and each.name not in named]
            if defaults:
                call["left_out"] = [side.value(each.default, each.name, each.name) for each in defaults]
            sizes_of_test = computed.around(sys._getframe(1))
            if sizes_of_test:
                call["around"] = [side.value(each, key, key) for key, each in sorted(sizes_of_test.items())]
            self.made.append(call)
            self.unfinished, self.answered = True, False
            given = device_time.copies(args, kwargs)
            again = self.views.copies(args, kwargs) if asks else None
            refilled = None if context else self.unset.copies(args, kwargs)
            whole = self.smaller.copies(name, args, kwargs) if asks_others else None
            short = self.longer.copies(name, args, kwargs) if asks_others else None
            depends = self.influence.copies(name, args, kwargs) if asks_others else None
            editable = self.edited.copies(name, args, kwargs) if asks_others else None
            LIMITS.end_asking()
            self.launches.reset()
            without = bool(self.kernels) and not beyond.tensors_of([args, kwargs])
            drawn = (torch.get_rng_state(), random.getstate()) if without else None
            self.inside = True
            begin = time.process_time()
            try:
                with computed.Computed(function, self.launches) as own, WithoutValues(filled=context) as empties:
                    result = plain(*all_args, **all_kwargs)
            except OutOfTime:
                raise
            except BaseException as error:
                call["raised"] = f"{type(error).__name__}: {error}"[:2000]
                self.unfinished = False
                raise
            finally:
                self.inside = False
                self.left(index, arguments)
            lasted = time.process_time() - begin
            # Without tensors nothing is asked of it; what it draws for its kernels nobody else draws.
            unasked = without and (not beyond.tensors_of([result]) or not torch.equal(drawn[0], torch.get_rng_state()))
            if unasked and self.launches.answered and lasted < SECONDS_OF_LAUNCHES:
                self.unfinished = False
                self.of_launches(call, function, args, kwargs, drawn)
                return result
            side = Side(self.storages, f"{index}.after")
            if self.launches.interpreted and misrounded(call["before"], result):
                self.launches.refuse("Triton's interpreter rounds to bf16 and to 8-bit floats in its own way")
            if self.launches.unanswered == 0:
                call["after"] = [side.value(value, key, key) for key, value, _ in arguments]
                call["returned"] = side.flattened(result, place="returned")
                if len(own.results) == len(call["returned"]):
                    for text, called in zip(call["returned"], own.results):
                        text["name"] = text["name"] or called
                self.answered = True
                self.inside = True
                LIMITS.begin_asking()
                written = self.written.names(function, refilled, own, lasted)
                self.launches.own_tensors.setdefault(name, set()).update(written)
                computed.keep(call, own, side, written)
                noise = self.rounding.noise(function, refilled, flat(result), lasted)
                if self.rounding.full and self.launches.answered == 0:
                    call["full"] = True
                if any(each is not None for each in noise) and len(noise) == len(call["returned"]):
                    call["noise"] = [side.value(each, "", f"noise.{i}") for i, each in enumerate(noise)]
                masks = (
                    empties.still_filled(flat(result))
                    if context
                    else self.unset.masks(function, refilled, flat(result), lasted, empties)
                )
                if any(each is not None for each in masks) and len(masks) == len(call["returned"]):
                    call["unset"] = [side.value(each, "", f"unset.{i}") for i, each in enumerate(masks)]
                side_of = functools.partial(Side, self.storages)
                self.beyond.ask(name, function, spare, call["group"], lasted, self.storages, side_of, names)
                self.sizes.ask(name, function, resizable, call["group"], lasted, self.storages, side_of, names)
                self.larger.ask(name, function, growable, call["group"], lasted, self.storages, side_of, names)
                idle = self.influence.ask(name, function, depends, lasted, names)
                for text, (key, _, _) in zip(call["before"], arguments):
                    if key in idle:
                        text["idle"] = idle[key]
                self.inside = False
                self.answers.add("triton" if self.launches.answered else "torch")
                self.edited.keep(index, name, editable, lasted, parts)
                if again is not None and LIMITS.may_ask():
                    self.inside = True
                    strided = self.views.honoured(function, again, args, kwargs, result, lasted)
                    self.inside = False
                    for i, (key, _, keyword) in enumerate(arguments):
                        # What Isomer has no type for is a text in the recording.
                        if strided.get(key if keyword else i) and call["before"][i]["kind"] == "tensor":
                            call["before"][i]["strided"] = strided[key if keyword else i]
                if given is not None:
                    self.inside = True
                    times = device_time.seconds(function, given)
                    self.inside = False
                    if times:
                        call["seconds"] = times
                LIMITS.end_asking()
            if whole is not None:
                self.inside = True
                LIMITS.begin_asking()
                self.smaller.ask(name, function, whole, call["group"], lasted, self.storages, functools.partial(Side, self.storages), names)
                LIMITS.end_asking()
                self.inside = False
            if self.launches.unanswered and self.launches.outside:
                self.longer.keep(name, function, short, call["group"], names)
            self.unfinished = False
            return result

        recorded.isomer_records = plain
        return recorded
