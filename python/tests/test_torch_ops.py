"""torch.ops.isomer.*: what they give, that their fakes agree, and that torch.compile and torch.export see them whole."""

import numpy as np
import pytest

import isomer

torch = pytest.importorskip("torch", exc_type=ImportError)
if not hasattr(torch.library, "register_fake"):
    pytest.skip("this PyTorch has no register_fake", allow_module_level=True)
import isomer.torch  # noqa: E402,F401

from calls import tensors_of  # noqa: E402

NAMES = [op.name for op in isomer.ops()]
WRITING = {"quantize_copy_kv", "flash_decode_stage1"}


def to_torch(array):
    if array.dtype.name == "float8_e4m3fn":
        return torch.from_numpy(array.view(np.uint8)).view(torch.float8_e4m3fn)
    return torch.from_numpy(array)


def call_of(name):
    tensors, options = tensors_of(name)
    return {key: to_torch(value) for key, value in tensors.items()}, options


@pytest.mark.parametrize("name", NAMES)
def test_every_op_is_an_operator_that_gives_what_the_function_gives(name):
    tensors, options = call_of(name)
    function = getattr(isomer, name)
    want = function(**{k: v.clone() for k, v in tensors.items()}, **options)
    got = getattr(torch.ops.isomer, name)(**tensors, **options)
    if name in WRITING:
        assert got is None
        got = tuple(tensors[a.name] for op in isomer.ops() if op.name == name for a in op.arguments if a.role == "out")
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (want, got)]):
        rows = np.s_[:1, :3] if name in ("grouped_fp8_gemm", "expert_layer") else np.s_[:]
        torch.testing.assert_close(a[rows].float(), b[rows].float(), rtol=0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_pytorch_finds_no_fault_with_the_operator(name):
    tensors, options = call_of(name)
    # PyTorch's check of a schema multiplies the tensors, and it cannot multiply float8.
    float8 = any(tensor.dtype == torch.float8_e4m3fn for tensor in tensors.values())
    tests = ("test_faketensor",) if float8 else ("test_schema", "test_faketensor")
    torch.library.opcheck(getattr(torch.ops.isomer, name).default, (), {**tensors, **options}, test_utils=tests)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_compiled_function_is_one_graph_with_the_operators_in_it(dynamic):
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    def layer(q, k, v):
        out, lse = torch.ops.isomer.attention_with_lse(q * 2, k, v, causal=True, window=[7, 0])
        return out.sum(-1) + lse.transpose(1, 2)

    compiled = torch.compile(layer, backend=backend, fullgraph=True, dynamic=dynamic)
    for length in (9, 17):
        q, k = torch.randn(2, length, 4, 32), torch.randn(2, length, 2, 32)
        torch.testing.assert_close(compiled(q, k, k), layer(q, k, k))
    assert all("isomer.attention_with_lse" in graph.code for graph in graphs)


def test_a_cache_that_is_appended_to_inside_a_compiled_function_is_written():
    def step(q, k, v, k_new, v_new, lengths):
        return torch.ops.isomer.attention_append(q, k, v, k_new, v_new=v_new, cache_seqlens=lengths, causal=True)

    def tensors():
        torch.manual_seed(0)
        return (torch.randn(2, 1, 4, 32), torch.randn(2, 16, 2, 32), torch.randn(2, 16, 2, 32), torch.randn(2, 1, 2, 32),
                torch.randn(2, 1, 2, 32), torch.tensor([3, 15], dtype=torch.int32))

    plain, compiled = tensors(), tensors()
    torch.testing.assert_close(torch.compile(step, backend="aot_eager", fullgraph=True)(*compiled), step(*plain))
    for a, b, before in zip(plain, compiled, tensors()):
        torch.testing.assert_close(a, b)
    assert not torch.equal(plain[1], tensors()[1])


def test_a_model_with_quantised_products_is_exported():
    class Mlp(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", torch.randn(64, 256).to(torch.float8_e4m3fn))
            self.register_buffer("w_s", torch.rand(1, 2))

        def forward(self, x):
            y, s = torch.ops.isomer.act_quant(x)
            return torch.ops.isomer.fp8_gemm(y, s, self.w, self.w_s, dtype=torch.float32)

    model, x = Mlp(), torch.randn(3, 256)
    program = torch.export.export(model, (x,))
    assert "isomer.fp8_gemm" in str(program.graph_module.code)
    torch.testing.assert_close(program.module()(x), model(x))


def test_a_gradient_is_refused(refuses):
    q = torch.zeros(1, 1, 1, 8, requires_grad=True)
    refuses(lambda: torch.ops.isomer.attention(q, q, q), "forward only")
