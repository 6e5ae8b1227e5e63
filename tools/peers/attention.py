"""Attention beside cuDNN's and PyTorch's."""

import ctypes
from pathlib import Path

import torch

from peers.calls import Case, copies, size, struct


def attention_case(isomer, _, b, s, hq, hkv, d, dtype, causal):
    count = copies(2 * b * s * (hq + hkv) * d * dtype.itemsize)
    make = lambda h: [torch.randn(b, s, h, d, device="cuda", dtype=torch.float32).to(dtype) for _ in range(count)]
    q, k, v, out = make(hq), make(hkv), make(hkv), [torch.empty(b, s, hq, d, device="cuda", dtype=dtype) for _ in range(count)]
    options = None
    if causal:
        options = attention_options(causal)
    names = attention_arguments()
    calls = []
    for tensors in zip(q, k, v, out):
        given = dict(zip(["q", "k", "v", "out"], tensors))
        calls.append(isomer.op("attention", [given.get(name) for name in names], options))
    swap = lambda t: t.transpose(1, 2)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    contenders = {"isomer": calls}

    def backend(which):
        def call(t):
            with torch.nn.attention.sdpa_kernel(which):
                return sdpa(swap(t[0]), swap(t[1]), swap(t[2]), is_causal=causal, enable_gqa=hq != hkv)

        return call

    for name, which in {
        "pytorch cudnn": torch.nn.attention.SDPBackend.CUDNN_ATTENTION,
        "pytorch flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION,
    }.items():
        run = backend(which)
        contenders[name] = [(lambda t=t, run=run: run(t)) for t in zip(q, k, v)]
    check = lambda: (swap(backend(torch.nn.attention.SDPBackend.MATH)((q[0], k[0], v[0]))).float() - out[0].float()).abs().max().item() < 0.05
    return Case(
        f"attention b={b} s={s} hq={hq} hkv={hkv} d={d} {dtype}{' causal' if causal else ''}",
        size(q[0], k[0], v[0], out[0]),
        contenders,
        flops=4 * b * hq * s * s * d / (2 if causal else 1),
        check=check,
    )


def cudnn_of_bytes(q, k, v, causal):
    """A call of cuDNN's attention of e4m3 (PyPI: nvidia-cudnn-frontend) over these tensors, and its out of f16 or, where it
    writes none, of e4m3. Scales of 1."""
    import cudnn

    b, s, hq, d = q.shape
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    one = torch.ones(1, 1, 1, 1, device="cuda")
    failure = None
    for kind, dtype in ((cudnn.data_type.HALF, torch.float16), (cudnn.data_type.FP8_E4M3, torch.float8_e4m3fn)):
        out = torch.empty(b, s, hq, d, device="cuda", dtype=dtype)
        graph = cudnn.pygraph(
            io_data_type=cudnn.data_type.FP8_E4M3,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            handle=handle,
        )

        def rows(t):
            t = t.transpose(1, 2)
            return graph.tensor(dim=list(t.shape), stride=list(t.stride()), data_type=cudnn.data_type.FP8_E4M3)

        def scalar():
            return graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT)

        inputs = [rows(t) for t in (q, k, v)]
        factors = {name: scalar() for name in ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")}
        try:
            made = graph.sdpa_fp8(
                q=inputs[0],
                k=inputs[1],
                v=inputs[2],
                **factors,
                generate_stats=False,
                attn_scale=d**-0.5,
                use_causal_mask=causal,
            )
            out_rows = out.transpose(1, 2)
            made[0].set_output(True).set_dim(list(out_rows.shape)).set_stride(list(out_rows.stride())).set_data_type(kind)
            most = [torch.zeros(1, 1, 1, 1, device="cuda") for _ in range(2)]
            for of in made[-2:]:
                of.set_output(True).set_dim([1, 1, 1, 1]).set_stride([1, 1, 1, 1]).set_data_type(cudnn.data_type.FLOAT)
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A])
            graph.check_support()
            graph.build_plans()
        except Exception as refused:  # of the frontend's own kind
            failure = refused
            continue
        workspace = torch.empty(max(graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)

        def call(q, k, v):
            tensors = dict(zip(inputs, (t.transpose(1, 2) for t in (q, k, v))))
            tensors.update({factor: one for factor in factors.values()})
            tensors.update({made[0]: out_rows, made[-2]: most[0], made[-1]: most[1]})
            graph.execute(tensors, workspace, handle=handle)

        return call, out
    raise RuntimeError(f"cuDNN takes no such call: {failure}")


def attention_of_bytes_case(isomer, _, b, s, hq, hkv, d, causal):
    count = copies(b * s * 2 * (hq + hkv) * d)
    make = lambda h: [torch.randn(b, s, h, d, device="cuda").to(torch.float8_e4m3fn) for _ in range(count)]
    q, k, v = make(hq), make(hkv), make(hkv)
    out = [torch.empty(b, s, hq, d, device="cuda", dtype=torch.float16) for _ in range(count)]
    names = attention_arguments()
    options = attention_options(causal) if causal else None
    calls = []
    for tensors in zip(q, k, v, out):
        given = dict(zip(["q", "k", "v", "out"], tensors))
        calls.append(isomer.op("attention", [given.get(name) for name in names], options))
    peer, its_out = cudnn_of_bytes(q[0], k[0], v[0], causal)

    def check():
        calls[0]()
        peer(q[0], k[0], v[0])
        return (its_out.float() - out[0].float()).abs().max().item() < 0.15

    return Case(
        f"attention b={b} s={s} hq={hq} hkv={hkv} d={d} e4m3{' causal' if causal else ''}, cuDNN's out {its_out.dtype}",
        size(q[0], k[0], v[0], out[0]),
        {"isomer": calls, "cudnn": [(lambda t=t: peer(*t)) for t in zip(q, k, v)]},
        flops=4 * b * hq * s * s * d / (2 if causal else 1),
        check=check,
    )


def header():
    """isomer.h beside the library's sources: the order of a struct's members."""
    return (Path(__file__).resolve().parents[2] / "include/isomer/isomer.h").read_text()


def members(name):
    body = header().split(f"typedef struct {name} {{")[1].split(f"}} {name};")[0]
    found = []
    for line in body.splitlines():
        line = line.split("/*")[0].strip().rstrip(";")
        if line and not line.startswith("*"):
            kind, _, member = line.rpartition(" ")
            found.append((kind, member))
    return found[1:]  # without its size


def attention_arguments():
    return [member for _, member in members("isomer_attention_args")]


def attention_options(causal):
    kinds = {"isomer_int64": ctypes.c_int64, "double": ctypes.c_double, "int": ctypes.c_int, "float": ctypes.c_float}
    begin = header().split("#define ISOMER_ATTENTION_OPTIONS_INIT")[1].split("}")[0]
    values = [v.strip() for v in begin.split("{")[1].replace("\\", " ").split(",")][1:]
    fields = []
    for (kind, member), value in zip(members("isomer_attention_options"), values):
        number = kinds[kind]
        fields.append((member, number, number(1 if member == "causal" and causal else eval(value)).value))
    return struct(fields)
