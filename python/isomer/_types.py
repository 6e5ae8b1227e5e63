"""Queues, plans, and what the library says about itself, as data."""

from dataclasses import dataclass, field

from . import _isomer


class Error(Exception):
    """What the library refuses, in one sentence that names op, argument, expected and got.

    code is "bad_argument" (nothing was written), "unsupported" (no implementation here takes the call),
    "out_of_memory", "device", "io" or "internal".
    """

    def __init__(self, sentence, code="bad_argument"):
        super().__init__(sentence)
        self.code = code

    def __str__(self):
        return self.args[0]

    def __reduce__(self):
        return Error, (self.args[0], self.code)


Error.__module__ = "isomer"
_isomer.set_error(Error)


class Queue(_isomer.Queue):
    """Where ops run, in order. Several threads may use one queue.

    Queue() is the first GPU, or the CPU where there is none; Queue("cpu"); Queue("cuda:0"), which makes a stream, or
    Queue("cuda:0", stream=s) for a stream of PyTorch or CuPy or its handle, which must outlive the queue.

    implementation names the one implementation that is taken ("cpu/avx2"); threads is the size of a CPU pool of the
    queue's own; checked validates data on a GPU (lengths, tables, indices) before each op, which it waits for.
    """

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        if not self.closed:
            if reason[0] is None:
                self.synchronize()
            self.close()

    def __repr__(self):
        return "isomer.Queue(closed)" if self.closed else f"isomer.Queue({self.device!r})"


Queue.__module__ = "isomer"


@dataclass(frozen=True)
class Device:
    """A device that a queue may be made on."""

    name: str  #: "cpu", "cuda:0"
    title: str  #: "NVIDIA H200"
    architecture: str  #: "sm_90a"; of the CPU the best instruction set, "avx512"
    memory_bytes: int  #: 0 for the CPU


@dataclass(frozen=True)
class Argument:
    """A tensor of an op, as its contract has it."""

    name: str
    role: str  #: "in", "out", or "inout"
    optional: bool
    dtypes: tuple[str, ...]
    shapes: tuple[str, ...]
    strides: str
    meaning: str


@dataclass(frozen=True)
class Option:
    """An option of an op."""

    name: str
    type: str
    default: str
    meaning: str


@dataclass(frozen=True)
class Implementation:
    """One way to compute an op."""

    name: str  #: "cpu/avx2"
    available: bool
    reason: str  #: why it is not available


Clause = str


@dataclass(frozen=True)
class Op:
    """An op's contract, and who implements it."""

    name: str
    summary: str
    source: str
    tolerance: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    clauses: tuple[Clause, ...]
    implementations: tuple[Implementation, ...]


@dataclass(frozen=True)
class KernelLaunch:
    """One launch of a kernel."""

    kernel: str
    grid: tuple[int, int, int]  #: on the CPU: tasks
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    registers: int  #: of a thread; -1 where the kernel is not loaded


@dataclass(frozen=True)
class Explanation:
    """What a call would run: decided before anything runs."""

    op: str
    implementation: str  #: empty where none takes the call
    refusals: tuple[tuple[str, str], ...]  #: who was asked before it, and why not
    variant: dict[str, str] = field(repr=False)
    parameters: dict[str, str] = field(repr=False)
    constants: dict[str, str] = field(repr=False)
    launches: tuple[KernelLaunch, ...] = ()
    workspace_bytes: int = 0


def explanation_of(described):
    launches = tuple(KernelLaunch(**launch) for launch in described["launches"])
    return Explanation(**{**described, "launches": launches})


def op_of(described):
    return Op(
        name=described["name"], summary=described["summary"], source=described["source"],
        tolerance=described["tolerance"],
        arguments=tuple(Argument(**{key: a[key] for key in Argument.__dataclass_fields__})
                        for a in described["arguments"]),
        options=tuple(Option(o["name"], o["type"], o["default_text"], o["meaning"]) for o in described["options"]),
        clauses=described["clauses"],
        implementations=tuple(Implementation(name, not reason, reason)
                              for name, reason in described["implementations"]))


class Plan:
    """A call that is validated and planned once and runs many times with its tensors elsewhere.

        plan = isomer.Plan(isomer.attention, q, k, v, causal=True)
        out = plan(q, k, v)            # nothing is decided anew
        plan(q, k, v, out=out)         # and nothing allocated

    Every tensor of a run must have the dtype, shape, strides and device that it had then. A plan may be used from
    several threads at once.
    """

    def __init__(self, op, /, *tensors, queue=None, **given):
        self._function = function_of(op)
        self._plan = self._function(*tensors, queue=_isomer.planning(queue), **given)
        self._running = _isomer.running(self._plan)

    def __call__(self, *tensors, **outputs):
        """Runs the op with these tensors, by position or by name, and returns its outputs."""
        for name in outputs:
            if name not in arguments_of[self._plan.op]:
                raise Error(f"{self._plan.op}: {name} was decided when the plan was made; a run takes tensors alone")
        return self._function(*tensors, queue=self._running, **outputs)

    @property
    def op(self):
        """The name of its op: "attention"."""
        return self._plan.op

    @property
    def implementation(self):
        """The implementation that runs: "cpu/avx2"."""
        return self._plan.implementation

    @property
    def workspace_bytes(self):
        """Bytes that a run works in, of the device."""
        return self._plan.workspace_bytes

    @property
    def device(self):
        """Where it runs: "cpu", "cuda:0"."""
        return self._plan.device

    def prepare(self):
        """Does ahead what the first run would do beside computing: compiles, loads, and allocates workspace."""
        self._plan.prepare()

    def explain(self):
        """What runs, as isomer.explain() gives it."""
        return explanation_of(self._plan.explain())

    def __repr__(self):
        return f"isomer.Plan({self.op}, {self.implementation!r})"


Plan.__module__ = "isomer"

functions = {}
arguments_of = {}


def function_of(op):
    """The function of an op that is given by itself or by its name."""
    name = getattr(op, "__name__", op)
    if isinstance(name, str) and functions.get(name) is not None and (op is functions[name] or op == name):
        return functions[name]
    raise Error(f"isomer: {op!r} is no op, expected one of {', '.join(functions)}")
