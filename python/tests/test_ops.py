"""The functions of the package with arrays of NumPy, against the definitions in float64."""

import inspect

import ml_dtypes
import numpy as np
import pytest

import isomer
from calls import E4M3, tensors_of

NAMES = [op.name for op in isomer.ops()]


@pytest.mark.parametrize("name", NAMES)
def test_every_op_of_the_registry_is_a_function_that_runs(name):
    tensors, options = tensors_of(name)
    outputs = getattr(isomer, name)(**tensors, **options)
    assert isinstance(outputs, (np.ndarray, tuple))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_that_are_given_are_the_ones_returned_and_hold_what_an_allocated_one_holds(name):
    tensors, options = tensors_of(name)
    function = getattr(isomer, name)
    names = [a.name for op in isomer.ops() if op.name == name for a in op.arguments if a.role == "out" and not a.optional]
    allocated = function(**tensors, **options)
    allocated = allocated if isinstance(allocated, tuple) else (allocated,)
    assert len(names) == len(allocated)
    given = {key: tensors.get(key, np.zeros_like(value)) for key, value in zip(names, allocated)}
    returned = function(**{**tensors, **given}, **options)
    returned = returned if isinstance(returned, tuple) else (returned,)
    for key, first, second in zip(names, allocated, returned):
        assert second is given[key]
        if name not in ("grouped_fp8_gemm", "expert_layer"):  # their rows past a count stay as they are
            np.testing.assert_array_equal(first.astype(np.float32), second.astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_gives_what_the_call_gives(name):
    tensors, options = tensors_of(name)
    function = getattr(isomer, name)
    plan = isomer.Plan(function, **tensors, **options)
    assert plan.op == name and plan.implementation.startswith("cpu/")
    plan.prepare()
    first, second = function(**tensors, **options), plan(**tensors)
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (first, second)]):
        rows = np.s_[:1, :3] if name in ("grouped_fp8_gemm", "expert_layer") else np.s_[:]
        np.testing.assert_array_equal(a[rows].astype(np.float32), b[rows].astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_explain_says_what_would_run_and_runs_nothing(name):
    tensors, options = tensors_of(name)
    before = {key: value.tobytes() for key, value in tensors.items()}
    explanation = isomer.explain(name, **tensors, **options)
    assert explanation.op == name and explanation.implementation.startswith("cpu/") and explanation.launches
    assert before == {key: value.tobytes() for key, value in tensors.items()}


@pytest.mark.parametrize("name", NAMES)
def test_help_and_the_signature_have_every_argument_and_option(name):
    function = getattr(isomer, name)
    op = next(op for op in isomer.ops() if op.name == name)
    parameters = inspect.signature(function).parameters
    for argument in op.arguments:
        assert argument.name in parameters and argument.name + ": " in function.__doc__
    for option in op.options:
        assert option.name in parameters or option.name.rsplit("_", 1)[0] in parameters
    for clause in op.clauses:
        assert " ".join(clause.split()) in " ".join(function.__doc__.split())


def attention(q, k, v, causal=False, window=(-1, -1), scale=None):
    """By the definition, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, group, axis=2), np.repeat(v, group, axis=2)
    s = np.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    i, j = np.arange(s.shape[2])[:, None] + s.shape[3] - s.shape[2], np.arange(s.shape[3])[None, :]
    seen = np.ones((s.shape[2], s.shape[3]), bool)
    if causal:
        seen &= j <= i
    if window[0] >= 0:
        seen &= j >= i - window[0]
    if window[1] >= 0 and not causal:
        seen &= j <= i + window[1]
    s = np.where(seen, s, -np.inf)
    m = np.where(np.isfinite(s.max(-1, keepdims=True)), s.max(-1, keepdims=True), 0)
    p = np.exp(s - m)
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (m + np.log(total))[..., 0]
    return np.einsum("bhqk,bkhd->bqhd", p / np.where(total == 0, 1, total), v), lse


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [(-1, -1), (2, 1), (0, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_attention_is_its_definition(causal, window, dtype):
    random = np.random.default_rng(3)
    q = random.standard_normal((2, 7, 4, 16)).astype(dtype)
    k, v = (random.standard_normal((2, 9, 2, size)).astype(dtype) for size in (16, 24))
    out, lse = isomer.attention(q, k, v, causal=causal, window=window, return_lse=True)
    want, want_lse = attention(q, k, v, causal, window)
    assert out.dtype == dtype and out.shape == (2, 7, 4, 24)
    np.testing.assert_allclose(out.astype(np.float64), want, atol={4: 1e-5, 2: 3e-2}[np.dtype(dtype).itemsize])
    np.testing.assert_allclose(lse, want_lse, atol=1e-4)


def test_act_quant_and_weight_dequant_go_there_and_back():
    x = np.random.default_rng(5).standard_normal((4, 256)).astype(np.float32)
    y, s = isomer.act_quant(x)
    assert y.dtype == E4M3 and s.shape == (4, 2)
    np.testing.assert_array_equal(s, np.abs(x.reshape(4, 2, 128)).max(-1) / np.float32(448))
    np.testing.assert_allclose(y.astype(np.float32) * s.repeat(128, 1), x, rtol=0.07, atol=0.01)
    weights = isomer.weight_dequant(y, s[:1], dtype="f32")
    np.testing.assert_array_equal(weights, y.astype(np.float32) * s[:1].repeat(128, 1))


def test_scales_in_columns_are_allocated_as_the_layout_says():
    y, s = isomer.act_quant(np.ones((5, 256), np.float32), scale_layout="column_major")
    assert s.shape == (5, 2) and s.strides == (4, 32)
    np.testing.assert_allclose(s, 1 / 448)


@pytest.mark.parametrize("dtype, name", [("f32", "float32"), (np.float16, "float16"), (ml_dtypes.bfloat16, "bfloat16"),
                                         (np.dtype("float32"), "float32"), ("bfloat16", "bfloat16")])
def test_the_dtype_of_an_allocated_output_may_be_named_in_many_ways(dtype, name):
    tensors, options = tensors_of("fp8_gemm")
    assert isomer.fp8_gemm(**tensors, dtype=dtype).dtype.name == name


def test_an_output_that_may_not_have_the_dtype_of_the_input_is_bf16():
    assert isomer.fp8_gemm(**tensors_of("fp8_gemm")[0]).dtype == ml_dtypes.bfloat16


def test_strides_of_any_sign_are_honoured_where_the_contract_has_any_strides():
    x = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    for view in (x[::-1], x[:, ::-2], x.T, np.broadcast_to(x[0], (3, 6))):
        np.testing.assert_allclose(isomer.sin(view), np.sin(view), rtol=1e-6)


def test_read_only_inputs_memoryviews_and_scalars_are_tensors():
    x = np.linspace(0, 1, 5, dtype=np.float32)
    want = isomer.sin(x)
    x.flags.writeable = False
    np.testing.assert_array_equal(isomer.sin(x), want)
    np.testing.assert_array_equal(isomer.sin(memoryview(x)), want)
    assert isomer.sin(np.float32(0.5)).shape == ()
    assert isomer.sin(np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_any_object_with_dlpack_or_an_array_interface_is_a_tensor():
    x = np.linspace(0, 1, 5, dtype=np.float32)

    class ByDlpack:
        def __dlpack__(self):
            return x.__dlpack__()

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    class ByInterface:
        __array_interface__ = x.__array_interface__

    for object_ in (ByDlpack(), ByInterface()):
        np.testing.assert_array_equal(isomer.sin(object_), isomer.sin(x))


def test_memory_of_a_gpu_is_read_as_that_though_its_type_has_buffers_too(refuses):
    class Array(bytearray):  # an array of CuPy has both, and refuses the buffer
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}

    refuses(lambda: isomer.sin(Array(16)), "y is required", code="unsupported")


def test_a_queue_of_the_callers_takes_the_implementation_that_it_names():
    x = np.ones(3, np.float32)
    with isomer.Queue("cpu", implementation="cpu/scalar", threads=1) as queue:
        assert (queue.device, queue.implementation, queue.threads, queue.stream) == ("cpu", "cpu/scalar", 1, 0)
        assert isomer.explain(isomer.sin, x, queue=queue).implementation == "cpu/scalar"
        np.testing.assert_allclose(isomer.sin(x, queue=queue), np.sin(x), rtol=1e-6)
    assert queue.closed


def test_a_preparing_queue_computes_nothing():
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    isomer.sin(x, y=y, queue=isomer.Queue("cpu").preparing())
    assert not y.any()


def test_the_devices_begin_with_the_cpu():
    assert isomer.devices()[0].name == "cpu" and isomer.devices()[0].architecture


def test_errors_can_be_pickled():
    import pickle

    with pytest.raises(isomer.Error) as raised:
        isomer.sin([1.0])
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.code == "bad_argument"
