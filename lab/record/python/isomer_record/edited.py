"""What the label answers once its text has one edit, to a few of the test's calls: a port that gives just that has the same
fault. Only elements at some places are kept of it, since they tell one edit from another.

An edit may run for ever, or leave memory: a child process asks them one after the other, and where it stops another one goes on.
That needs a label which runs on the CPU. The metadata key "edited" is
  {"calls": [{"call": which of all, "outputs": [{"of": "after" or "returned", "index", "at": [places in row-major order]}]}],
   "edits": [{"line", "was", "becomes", "code": of the finding that it would be}], "storage": a list of f32}
with, for each edit, what stands at all the places of all the calls, one behind the other.
"""

import ast
import copy
import functools
import json
import math
import os
import random
import resource
import select
import signal
import struct
import sys
import time
import types

import torch

from .beyond import tensors_of
from .unwritten import flat

CALLS, FUNCTION_CALLS = 6, 3  # that are asked, in all and of one function
SECONDS_OF_A_CALL, SECONDS_OF_THE_FIRST = 0.6, 4.0  # the first one makes much ready
SECONDS_OF_ALL_CALLS = 0.3
LARGEST = 4 << 20  # bytes of a call's tensors
PLACES = 64  # of an output
PATIENCE = 1.5  # seconds for one edit, and what the calls took
CHILDREN = 8  # of a lane
LANES = 4
MORE_MEMORY = 4 << 30  # bytes that a child may map beyond what the recorder has


class Edited:
    def __init__(self):
        self.calls = []  # (index, name, given, seconds)
        self.parts = {}  # by index, of calls with modules

    def copies(self, name, args, kwargs):
        """What a call was given, before it is made; nothing where it is not to be made again."""
        known = sum(each[1] == name for each in self.calls)
        bytes_of_tensors = sum(each.numel() * each.element_size() for each in tensors_of([args, kwargs]))
        if len(self.calls) >= CALLS or known >= FUNCTION_CALLS or bytes_of_tensors > LARGEST:
            return None
        try:
            return copy.deepcopy((args, kwargs))
        except Exception:
            return None

    def keep(self, index, name, given, seconds, parts=None):
        if len(self.calls) > 1 and sum(each[-1] for each in self.calls) + seconds > SECONDS_OF_ALL_CALLS:
            return  # hundreds of edits are asked
        if given is not None and seconds < (SECONDS_OF_A_CALL if self.calls else SECONDS_OF_THE_FIRST):
            self.calls.append((index, name, given, seconds))
            self.parts[index] = parts

    def ask(self, label, launches, storages, seconds, folder):
        """The metadata; nothing where there is none. The edits have so many seconds, and their texts go into `folder`."""
        if not self.calls or not hasattr(ast, "unparse"):
            return None
        from . import label_edits

        tree = copy.deepcopy(label.tree)
        edits = label_edits.edits(tree)
        asking = Asking(label, launches, self.calls, seconds, folder, self.parts)
        # Without this answer there is nothing to compare with: it may take longer than any other.
        plain = asking.in_children(tree, [None], 4 * asking.patience)
        if not edits or not plain:
            return None
        true = plain[0]
        answers = asking.in_children(tree, edits)
        kept = []
        for number in sorted(answers):
            values = answers[number]
            if len(values) == len(true) and any(is_another(a, b) for a, b in zip(true, values)):
                kept.append((edits[number], values))
        if not kept:
            return None
        from .calls import TooLarge

        content = b"".join(struct.pack(f"<{len(true)}f", *map(narrow, values)) for _, values in kept)
        try:
            storage = storages.add("edited", "f32", content, set())
        except TooLarge:
            return None
        told = [{"line": e.line, "was": e.was, "becomes": e.becomes, "code": e.code} for e, _ in kept]
        return {"calls": asking.places, "edits": told, "storage": storage}


def call_of_parts(parts, function, *args, **kwargs):
    """Of a module's values another function, or another class of the module."""
    if isinstance(function, type) and not issubclass(function, torch.nn.Module):
        function = function.apply
    return parts.called(args, kwargs, function)


def limit_memory():
    """An edit of a size may ask for more than there is."""
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = mapped + MORE_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def is_another(a, b):
    if a != a or b != b:
        return (a != a) != (b != b)
    return a != b and not abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def narrow(value):
    if value != value or abs(value) <= 3.4e38:
        return value
    return math.copysign(math.inf, value)


def changed(before, after):
    """Which of the tensors among the arguments are others by now."""
    return [i for i, (b, a) in enumerate(zip(before, after)) if isinstance(b, torch.Tensor) and not same(b, a)]


def is_kept(tensor):
    """Whether Isomer has its dtype: numbers of others are in no recording."""
    from .calls import DTYPES

    return str(tensor.dtype).replace("torch.", "") in DTYPES


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and bool(((a == b) | (a != a) & (b != b)).all())


def places_of(tensor, before, which):
    """Some, spread over all of it, and its first and last; of an argument mostly some that the label has written."""
    count = tensor.numel()
    if count <= PLACES:
        return list(range(count))
    chosen = random.Random(which)
    places = {0, count - 1} | {i * count // PLACES + chosen.randrange(count // PLACES) for i in range(PLACES)}
    if before is not None:
        others = (before != tensor).reshape(-1).nonzero().reshape(-1).tolist()
        places |= set(chosen.sample(others, min(len(others), PLACES)))
    return sorted(places)


class Lane:
    """One child after the other, for some of the edits."""

    def __init__(self, numbers):
        self.numbers, self.at = numbers, 0  # which of them is answered next
        self.children, self.child, self.reading = 0, 0, -1
        self.text, self.heard = b"", 0.0

    def stop(self):
        if self.child:
            os.close(self.reading)
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = 0


class Asking:
    def __init__(self, label, launches, calls, seconds, folder, parts):
        self.label, self.launches, self.calls, self.folder, self.parts = label, launches, calls, folder, parts
        self.places = []
        self.patience = PATIENCE + 4 * sum(seconds for *_, seconds in calls)
        self.until = time.monotonic() + seconds

    def in_children(self, tree, edits, patience=0.0):
        """Number → what the calls give with that edit, or with none; of those that gave something in time."""
        answers = {}
        count = min(LANES, os.cpu_count() or 1, len(edits))
        lanes = [Lane(list(range(first, len(edits), count))) for first in range(count)]
        try:
            while lanes and time.monotonic() < self.until:
                for lane in lanes:
                    if not lane.child:
                        self.start(lane, tree, edits)
                ready = select.select([lane.reading for lane in lanes], [], [], 0.1)[0]
                for lane in lanes:
                    if lane.reading in ready:
                        self.listen(lane, answers)
                    elif time.monotonic() - lane.heard > (patience or self.patience):
                        lane.at += 1  # it does not end
                        lane.stop()
                lanes = [lane for lane in lanes if lane.child or (lane.at < len(lane.numbers) and lane.children < CHILDREN)]
        finally:
            for lane in lanes:
                lane.stop()
        return answers

    def start(self, lane, tree, edits):
        lane.reading, writing = os.pipe()
        lane.child = os.fork()
        if lane.child == 0:
            os.close(lane.reading)
            self.be_a_child(tree, [edits[number] for number in lane.numbers[lane.at :]], writing)
        os.close(writing)
        lane.children += 1
        lane.text, lane.heard = b"", time.monotonic()

    def listen(self, lane, answers):
        part = os.read(lane.reading, 1 << 16)
        lane.heard = time.monotonic()
        *lines, lane.text = (lane.text + part).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if told.get("values") is not None:
                answers[lane.numbers[lane.at]] = told["values"]
                self.places = told.get("places", self.places)
            lane.at += 1
        if not part or lane.at == len(lane.numbers):
            lane.at += lane.at < len(lane.numbers)  # that edit has ended the child
            lane.stop()

    def be_a_child(self, tree, edits, writing):
        """Does not return."""
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            torch.set_num_threads(1)
            limit_memory()
            for number, edit in enumerate(edits):
                told = {"values": None}
                try:
                    told = self.answer(tree, edit, os.path.join(self.folder, f"label_{os.getpid()}_{number}.py"))
                except Exception:  # MemoryError among them
                    pass
                content = json.dumps(told).encode() + b"\n"
                while content:
                    content = content[os.write(writing, content) :]
        finally:
            os._exit(0)

    def answer(self, tree, edit, path):
        from . import label_edits

        text = label_edits.text_with(tree, edit) if edit is not None else ast.unparse(tree)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        module = types.ModuleType("isomer_label")
        module.__file__ = path
        for key, value in self.label.module.__dict__.items():
            if isinstance(value, types.ModuleType):
                module.__dict__.setdefault(key, value)
        sys.modules["isomer_label"] = module
        exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
        values, places = [], []
        for index, name, given, _ in self.calls:
            function = module.__dict__[name]
            parts = self.parts[index]
            if parts is not None:
                function = functools.partial(call_of_parts, parts, function)
            elif isinstance(function, type):
                function = getattr(function, "apply", function)
            args, kwargs = copy.deepcopy(given)
            before = copy.deepcopy(list(args) + list(kwargs.values()))
            self.launches.reset()
            torch.manual_seed(0)
            random.seed(0)
            result = function(*args, **kwargs)
            if self.launches.unanswered or self.launches.outside:
                return {"values": None}
            after = list(args) + list(kwargs.values())
            of = [("after", i, after[i], before[i]) for i in self.written(index, before, after, edit)]
            of += [("returned", i, each, None) for i, each in enumerate(flat(result)) if isinstance(each, torch.Tensor)]
            of = [each for each in of if is_kept(each[2])]
            if edit is not None and not self.has_the_shapes(index, of):
                return {"values": None}
            outputs = []
            for number, (kind, i, tensor, its_before) in enumerate(of):
                at = places_of(tensor, its_before, i) if edit is None else self.places_in(index)[number]["at"]
                outputs.append({"of": kind, "index": i, "at": at, "shape": list(tensor.shape)})
                values += [float(each) for each in tensor.detach().double().reshape(-1)[at]]
            places.append({"call": index, "outputs": outputs})
        return {"values": values, "places": places} if edit is None else {"values": values}

    def written(self, index, before, after, edit):
        """Arguments that the plain label changes."""
        if edit is None:
            return changed(before, after)
        return [each["index"] for each in self.places_in(index) if each["of"] == "after"]

    def has_the_shapes(self, index, of):
        return [each["shape"] for each in self.places_in(index)] == [list(tensor.shape) for _, _, tensor, _ in of]

    def places_in(self, index):
        return [each for place in self.places if place["call"] == index for each in place["outputs"]]
