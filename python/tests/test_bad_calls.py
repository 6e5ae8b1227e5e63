"""Bad calls: each is a Python exception with one sentence, and nothing is written."""

import itertools

import numpy as np
import pytest

import isomer
from calls import tensors_of

OPS = {op.name: op for op in isomer.ops()}


class Failing:
    """Looks like a tensor and fails when it is read."""

    def __dlpack__(self, **_):
        raise RuntimeError("no memory behind it")


class Interface:
    def __init__(self, **entries):
        self.__array_interface__ = entries


def released():
    view = memoryview(bytearray(16))
    view.release()
    return view


NOT_TENSORS = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.ravel().tolist()),
    "number": lambda x: 3.5,
    "string": lambda x: "tensor",
    "type": lambda x: np.ndarray,
    "module": lambda x: np,
    "failing": lambda x: Failing(),
    "released": lambda x: released(),
    "no shape": lambda x: Interface(typestr="<f4", data=(8, False)),
    "bad address": lambda x: Interface(typestr="<f4", data=("here", False), shape=(1,)),
    "negative address": lambda x: Interface(typestr="<f4", data=(-1, False), shape=(1,)),
    "bad stride": lambda x: Interface(typestr="<f4", data=(8, False), shape=(4,), strides=(6,)),
}
BAD_TENSORS = {
    "object array": lambda x: x.astype(object),
    "complex": lambda x: x.astype(np.float32).astype(np.complex64),
    "bool": lambda x: x.astype(bool),
    "float64": lambda x: x.astype(np.float64),
    "big-endian": lambda x: np.zeros(x.shape, ">f4"),
    "uint64": lambda x: np.zeros(x.shape, np.uint64),
    "dates": lambda x: np.zeros(x.shape, "M8[s]"),
    "strings": lambda x: np.zeros(x.shape, "U3"),
    "structured": lambda x: np.zeros(x.shape, [("a", "f4"), ("b", "f4")]),
    "long double": lambda x: np.zeros(x.shape, np.longdouble),
    "nine dimensions": lambda x: x.reshape((1,) * (9 - x.ndim) + x.shape),
    "part of a structure": lambda x: np.zeros(x.shape, [("a", "f4"), ("b", "i1")])["a"],
}
PLACES = [(op, name) for op in OPS for name in tensors_of(op)[0]]


def call_with(op, name, value):
    tensors, options = tensors_of(op)
    before = {key: tensor.tobytes() for key, tensor in tensors.items() if key != name}
    tensors[name] = value(tensors[name])

    def call():
        try:
            getattr(isomer, op)(**tensors, **options)
        finally:
            for key, data in before.items():
                assert tensors[key].tobytes() == data

    return call


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(place))
@pytest.mark.parametrize("kind", NOT_TENSORS)
def test_what_is_no_tensor_is_named(refuses, place, kind):
    refuses(call_with(*place, NOT_TENSORS[kind]), f"{place[0]}: {place[1]} ")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(place))
@pytest.mark.parametrize("kind", BAD_TENSORS)
def test_elements_and_ranks_that_isomer_has_not_are_named(refuses, place, kind):
    refuses(call_with(*place, BAD_TENSORS[kind]), f"{place[0]}: {place[1]} ")


@pytest.mark.parametrize("op", OPS)
def test_a_required_tensor_that_is_none_is_named(refuses, op):
    tensors, options = tensors_of(op)
    for argument in OPS[op].arguments:
        if argument.optional or argument.name not in tensors:
            continue
        given = {**tensors, argument.name: None}
        refuses(lambda: getattr(isomer, op)(**given, **options), op + ": ", argument.name + " is required")


@pytest.mark.parametrize("op", OPS)
def test_an_unknown_keyword_too_many_arguments_and_too_few_are_type_errors(refuses, op):
    tensors, options = tensors_of(op)
    function = getattr(isomer, op)
    refuses(lambda: function(**tensors, **options, colour=1), op + "()", "colour", of=TypeError)
    refuses(lambda: function(*[next(iter(tensors.values()))] * 60), op + "()", "positional argument", of=TypeError)
    refuses(lambda: function(), op + "()", "missing", of=TypeError)


OPTIONS = [(op["name"], name, members) for op in isomer._described for name, members in op["parameters"]]
BAD_VALUES = {
    "int": ["3", 1.5, True, 2**80, -2**63, np.zeros(3, np.int64), [1], {}],
    "f32": ["1", True, [1.0], float("nan"), float("inf"), -1.0, 1j, object(), "nan"],
    "bool": ["yes", 1, 0, 1.0, [True], np.zeros(2, bool)],
    "choice": ["none of them", 0, True, b"plan", ("always",)],
    "pair": [3, (1,), (1, 2, 3), ("a", "b"), (1.0, 2.0), (True, False), "12", {0: 1}, (-5, -1), (2**70, 0)],
}


def kind_of(members):
    return "pair" if len(members) == 2 else "choice" if members[0]["choices"] else members[0]["type"]


@pytest.mark.parametrize("op, name, members", OPTIONS, ids=lambda x: x if isinstance(x, str) else "")
def test_an_option_of_another_kind_or_out_of_range_is_named(refuses, op, name, members):
    tensors, options = tensors_of(op)
    for value in BAD_VALUES[kind_of(members)]:
        if op.startswith("flash_decode") and type(value) is float:
            continue  # any number scales there
        refuses(lambda: getattr(isomer, op)(**tensors, **{**options, name: value}), op + ": ", name.split("_")[0])


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("queue", ["cpu", 0, True, object(), isomer.Queue], ids=str)
def test_what_is_no_queue_is_named(refuses, op, queue):
    tensors, options = tensors_of(op)
    refuses(lambda: getattr(isomer, op)(**tensors, **options, queue=queue), op + ": queue is ", "isomer.Queue")


@pytest.mark.parametrize("op", OPS)
def test_a_closed_queue_is_named(refuses, op):
    queue = isomer.Queue("cpu")
    queue.close()
    queue.close()
    tensors, options = tensors_of(op)
    refuses(lambda: getattr(isomer, op)(**tensors, **options, queue=queue), op + ": the queue is closed")
    refuses(queue.synchronize, "closed")
    refuses(queue.preparing, "closed")
    refuses(lambda: queue.device, "closed")


@pytest.mark.parametrize("given, words", [
    ({"device": "tpu"}, "tpu"), ({"device": "cuda:x"}, "cuda:x"), ({"device": "cuda:-1"}, "cuda:-1"), ({"device": 3}, "device is 3"),
    ({"device": "cpu", "stream": 5}, "stream"), ({"device": "cpu", "stream": "s"}, "stream"),
    ({"device": "cpu", "stream": -1}, "stream"), ({"stream": 5}, "stream"), ({"device": "cpu", "threads": 0}, "threads is 0"),
    ({"device": "cpu", "threads": -1}, "threads"), ({"device": "cpu", "threads": 10**6}, "threads"),
    ({"device": "cpu", "threads": "two"}, "threads"), ({"device": "cpu", "threads": 2**70}, "threads"),
    ({"device": "cpu", "implementation": "cpu/none"}, "cpu/none"), ({"device": "cpu", "implementation": 3}, "implementation"),
    ({"device": "cpu", "checked": 1}, "checked"), ({"device": "\udcff"}, "device")])
def test_a_queue_that_cannot_be_is_refused(refuses, given, words):
    refuses(lambda: isomer.Queue(**given), "queue: ", words)


@pytest.mark.parametrize("dtype", ["complex64", "f8", 3, np.int32, object, [], "int4"], ids=str)
@pytest.mark.parametrize("op", [op["name"] for op in isomer._described if op["chooses_dtype"]])
def test_a_dtype_that_the_output_cannot_have_is_named(refuses, op, dtype):
    tensors, options = tensors_of(op)
    if op == "quantize_copy_kv":
        del tensors["out_scale"]
        call = lambda: isomer.quantize_copy_kv(**tensors, out_scale=None, dtype=dtype)
    else:
        call = lambda: getattr(isomer, op)(**tensors, **options, dtype=dtype)
    refuses(call, op + ": ")


def outputs_of(op):
    tensors, options = tensors_of(op)
    outputs = getattr(isomer, op)(**tensors, **options)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    names = [a.name for a in OPS[op].arguments if a.role == "out" and not a.optional]
    return tensors, options, dict(zip(names, outputs))


@pytest.mark.parametrize("op", OPS)
def test_an_output_that_cannot_be_written_is_named(refuses, op):
    tensors, options, outputs = outputs_of(op)
    for name, out in outputs.items():
        frozen, short = out.copy(), out[:0] if out.ndim else out
        frozen.flags.writeable = False
        wide = np.broadcast_to(out[:1], out.shape)
        for bad, words in ((frozen, "read-only"), (wide, "read-only"), (out[None], "expected"), (short, "shape")):
            if op in ("quantize_copy_kv", "flash_decode_stage1") and words != "read-only":
                continue  # the other output follows it
            before = frozen.tobytes()
            refuses(lambda: getattr(isomer, op)(**{**tensors, **outputs, name: bad}, **options), f"{op}: ", words)
            assert frozen.tobytes() == before


def test_sizes_that_follow_from_nothing_are_asked_for(refuses):
    tensors, _ = tensors_of("quantize_copy_kv")
    refuses(lambda: isomer.quantize_copy_kv(tensors["k"], tensors["dest"], None, None), "out is required")
    tensors, _ = tensors_of("flash_decode_stage1")
    refuses(lambda: isomer.flash_decode_stage1(**{**tensors, "mid_out": None, "mid_lse": None}), "mid_out is required")


def test_shapes_that_disagree_are_refused_before_anything_is_allocated(refuses):
    q = np.zeros((2, 3, 4, 16), np.float32)
    refuses(lambda: isomer.attention(q, q[:1], q), "attention: ")
    refuses(lambda: isomer.attention(q, q[..., :8], q), "attention: k has shape")
    refuses(lambda: isomer.attention(q, q[:, :, :3], q[:, :, :3]), "3 kv heads")
    refuses(lambda: isomer.attention(q[..., ::-1], q, q), "q has stride -1")
    refuses(lambda: isomer.attention(q, q, q, lse=np.zeros(3, np.float32)), "lse has shape")
    refuses(lambda: isomer.attention(q, q, q, out=q), "overlaps")
    refuses(lambda: isomer.attention(q, q, q, return_lse="yes"), "return_lse")
    refuses(lambda: isomer.attention(np.lib.stride_tricks.as_strided(q, (2**20, 2**20, 2**12, 16), (0, 0, 0, 4)), q, q),
            of=MemoryError)


def test_device_data_that_breaks_a_clause_is_named(refuses):
    tensors, _ = tensors_of("quantize_copy_kv")
    for dest in ([5, 0], [-1, 0], [2**31 - 1, 0]):
        refuses(lambda: isomer.quantize_copy_kv(**{**tensors, "dest": np.array(dest, np.int32)}), "dest")
    tensors, _ = tensors_of("flash_decode")
    for name in ("b_req_idx", "b_seqlen"):
        for value in (-1, 99, 2**31 - 1):
            refuses(lambda: isomer.flash_decode(**{**tensors, name: np.full(2, value, np.int32)}), name)
    refuses(lambda: isomer.flash_decode(**{**tensors, "req_to_tokens": np.full((2, 4), 9, np.int32)}), "req_to_tokens")


def test_a_plan_refuses_tensors_that_it_was_not_made_for(refuses):
    x = np.zeros((3, 4), np.float32)
    plan = isomer.Plan(isomer.sin, x)
    for bad in (x[:2], x.T, x.astype(np.float16), x.ravel(), [1.0], None):
        refuses(lambda: plan(bad), "sin: ")
    refuses(lambda: plan(x, queue=None), "queue was decided")
    refuses(lambda: plan(x, causal=True), "causal was decided")
    refuses(lambda: plan(x, x, x), of=TypeError)
    refuses(lambda: isomer.Plan(isomer.sin, [1.0]), "sin: x is a list")
    for op in (3, "sine", None, print, np.sin):
        refuses(lambda: isomer.Plan(op, x), "no op")
        refuses(lambda: isomer.explain(op, x), "no op")
    other = isomer.Plan(isomer.attention, *[np.zeros((1, 1, 1, 8), np.float32)] * 3)
    refuses(lambda: isomer.sin(x, queue=other._running), "plan is one of attention")


def test_an_implementation_that_does_not_take_the_call_is_named(refuses):
    queue = isomer.Queue("cpu", implementation="cpu/scalar")
    assert isomer.explain(isomer.sin, np.zeros(1, np.float32), queue=queue).implementation == "cpu/scalar"
    if len(isomer.devices()) == 1:
        refuses(lambda: isomer.Queue("cuda:0"), code="device")
    refuses(lambda: isomer.Queue("cpu:3"), "index 3", code="device")


def test_there_are_at_least_300_bad_calls():
    assert len(list(itertools.product(PLACES, [*NOT_TENSORS, *BAD_TENSORS]))) >= 300
