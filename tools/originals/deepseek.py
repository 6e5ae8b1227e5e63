"""DeepSeek-V3's three Triton kernels: act_quant, weight_dequant, fp8_gemm."""

import numpy
import torch
from triton import Config

from .bundle import Recording
from .regimes import E4M3_POSITIVE, act_quant_rows, neighbours, normal, tensor

FLOOR = 1e-4
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
QUOTIENT = {"y": {"rule": "step", "ulp": 4}, "s": {"rule": "ulp", "max": 2}}
# Triton divides f32 by PTX's div.full, which multiplies by a reciprocal.
RECIPROCAL = {"s": ["scale=amax*(1/448)"], "y": ["scale=amax*(1/448)", "quotient=x*(1/s)"]}


def with_default_dtype(dtype, call):
    """The originals take their output's type from torch's default."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return call()
    finally:
        torch.set_default_dtype(before)


# ---- act_quant
# -------------------------------------------------------------------------------------------------------


def act_quant(name, source, make, dtype, block_size=128, ue8m0=False, **rest):
    floored = source == "deepseek"

    def call(originals, t):
        module = originals.module(source)
        fmt = {"scale_fmt": "ue8m0"} if ue8m0 else {}
        y, s = module.act_quant(t["x"], block_size, **fmt)
        return {"y": y, "s": s}

    options = {
        "block_size": block_size,
        "amax_floor": FLOOR if floored else 0.0,
        "scale_format": "ue8m0" if ue8m0 else "f32",
    }
    return Recording(
        name=f"act_quant-{'floor' if floored else 'nofloor'}-{NAMES[dtype]}-{name}",
        op="act_quant",
        source=source,
        entry="act_quant",
        make=lambda random: {"x": tensor(make(random), dtype)},
        call=call,
        options=options,
        compare=QUOTIENT,
        exact_under=rest.pop("exact_under", RECIPROCAL),
        **rest,
    )


def under_the_floor(random):
    """Blocks whose amax lies about 1e-4, at it, far below it, and at 0, which the floor makes harmless."""
    x = normal(random, (8, 256))
    x /= numpy.abs(x).reshape(8, 2, 128).max(axis=2).repeat(128, axis=1)
    amax = numpy.array([1e-4, 1.0001e-4, 0.9999e-4, 1e-6, 1e-20, 1e-38, 0.0, 2e-4])
    return x * amax[:, None]


def near_powers(random):
    """Blocks whose amax is 448·2^k and f32 ulps beside it: where the ue8m0 scale takes its step.

    Only powers k where log2 in f32 sees one ulp of the scale plainly or hardly at all: between them its
    rounding would hang on the last bit of the division.
    """
    amax = neighbours(448.0 * 2.0 ** numpy.array([-20, -1, 0, 1, 17, 24, 40, 100], numpy.float64), 6).ravel()
    x = numpy.clip(normal(random, (amax.size, 32), 0.2), -0.9, 0.9) * amax[:, None]
    x[:, 5] = amax
    return x


def subnormal_scales(random):
    """f32 blocks without zeros whose scale is subnormal, or so small that it is zero."""
    amax = 2.0 ** numpy.array([-118, -119, -122, -126, -130, -135, -139, -140, -141, -143], numpy.float64)
    x = random.uniform(0.3, 1.0, (amax.size, 128)) * numpy.where(random.random((amax.size, 128)) < 0.5, -1, 1)
    x[:, 9] = 1.0
    return (x * amax[:, None]).astype(numpy.float32)


def huge(random, top):
    x = random.uniform(-1.0, 1.0, (6, 256)) * top
    x[:, ::64] = top
    x[3:] *= -1 / numpy.array([2.0, 3.0, 7.0])[:, None]
    return x


def not_finite(random):
    x = normal(random, (8, 256))
    nan, inf = numpy.nan, numpy.inf
    x[0, 3] = nan
    x[1, 200] = -nan
    x[2, :128] = nan
    x[3, 17] = inf
    x[4, 128] = -inf
    x[5, [4, 5]] = inf, -inf
    x[6, [4, 5]] = inf, nan
    x[7, 128:] = inf
    return x


def zero_blocks(random):
    x = normal(random, (4, 384))
    x[0, :128] = 0
    x[1, 128:] = 0
    x[2, 256:] = -0.0
    return x


def act_quant_recordings():
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    mixed = lambda width, block, *outer: (
        lambda random: act_quant_rows(random, width, block).reshape(*outer, width)
    )
    undefined = dict(dagger=True, variations=["nan=ignored"])
    return [
        act_quant("mixed", "deepseek", mixed(384, 128, 12), f32),
        act_quant("mixed", "deepseek", mixed(256, 128, 3, 4), f16),
        act_quant("mixed", "deepseek", mixed(384, 128, 2, 6), bf16),
        act_quant("block32", "deepseek", mixed(96, 32, 12), f32, 32),
        act_quant("block64", "deepseek", mixed(192, 64, 12), bf16, 64),
        act_quant("block256", "deepseek", mixed(512, 256, 12), f16, 256),
        act_quant("under-floor", "deepseek", under_the_floor, f32),
        act_quant("huge", "deepseek", lambda random: huge(random, 3.4e38), f32),
        act_quant("huge", "deepseek", lambda random: huge(random, 65504.0), f16),
        act_quant("ue8m0", "deepseek", mixed(384, 128, 12), f32, ue8m0=True),
        act_quant("ue8m0", "deepseek", mixed(256, 64, 12), bf16, 64, ue8m0=True),
        act_quant(
            "ue8m0-near-powers",
            "deepseek",
            near_powers,
            f32,
            32,
            ue8m0=True,
            variations=["ue8m0=log2"],
            note="log2 is taken in f32: a scale a few ulps above a power of two stays at that power",
        ),
        act_quant("not-finite", "deepseek", not_finite, f32, **undefined),
        act_quant("mixed", "deepseek_first", mixed(384, 128, 12), f32),
        act_quant("mixed", "deepseek_first", mixed(256, 128, 12), f16),
        act_quant("mixed", "deepseek_first", mixed(256, 128, 12), bf16),
        act_quant(
            "subnormal-scale", "deepseek_first", subnormal_scales, f32, exact_under={"s": RECIPROCAL["s"]}
        ),
        act_quant(
            "zero-blocks",
            "deepseek_first",
            zero_blocks,
            f32,
            dagger=True,
            note="a block of zeros is 0/0: every y NaN, s zero; amax_floor = 0 defines the same",
        ),
        act_quant("not-finite", "deepseek_first", not_finite, bf16, **undefined),
    ]


# ---- weight_dequant
# --------------------------------------------------------------------------------------------------


def weight_dequant(name, shape, dtype, block_size=128, scales=None, codes=None, **rest):
    rows, columns = shape

    def make(random):
        grid = (-(-rows // block_size), -(-columns // block_size))
        code = random.permutation(numpy.resize(finite_codes() if codes is None else codes, rows * columns))
        s = (
            normal(random, grid, 0.02)
            if scales is None
            else numpy.resize(numpy.asarray(scales, numpy.float32), grid)
        )
        x = torch.from_numpy(code.astype(numpy.uint8).reshape(shape)).view(torch.float8_e4m3fn)
        return {"x": x, "s": tensor(s)}

    def call(originals, t):
        module = originals.module("deepseek")
        return {"y": with_default_dtype(dtype, lambda: module.weight_dequant(t["x"], t["s"], block_size))}

    return Recording(
        name=f"weight_dequant-{NAMES[dtype]}-{name}",
        op="weight_dequant",
        source="deepseek",
        entry="weight_dequant",
        make=make,
        call=call,
        options={"block_size": block_size},
        compare={"y": {"rule": "exact"}},
        **rest,
    )


def finite_codes():
    return numpy.array([code for code in range(256) if code & 0x7F != 0x7F])


def weight_dequant_recordings():
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    # Products that overflow f16 and bf16, round among their subnormals, or fall on f16 and bf16 ties.
    edges = [
        1.0,
        -3.0,
        146.25,
        3.0e38,
        2.0**-15,
        2.0**-20 * 1.0625,
        1e-38,
        0.0,
        -0.0,
        1.00390625,
        1.00048828125,
        1e-45,
    ]
    return [
        weight_dequant("whole", (128, 128), f32),
        weight_dequant("ragged", (129, 257), bf16),
        weight_dequant("ragged", (130, 131), f16),
        weight_dequant("one-row", (1, 300), f32),
        weight_dequant("one-column", (300, 1), bf16),
        weight_dequant("edges", (33, 47), f32, 16, edges),
        weight_dequant("edges", (33, 47), f16, 16, edges),
        weight_dequant("edges", (33, 47), bf16, 16, edges),
        weight_dequant(
            "nan-codes",
            (32, 32),
            f16,
            16,
            [2.0, numpy.inf, numpy.nan, -0.0],
            numpy.arange(256),
            note="both NaN codes, and infinite and NaN scales",
        ),
    ]


# ---- fp8_gemm
# --------------------------------------------------------------------------------------------------------


def fp8_gemm(name, m, n, k, dtype, tile, make, compare, shape=None):
    """tile: (BLOCK_SIZE_M, BLOCK_SIZE_N, num_stages), one of the original's own configurations.

    Pinned, so that the tuner does not choose: the order of the sum depends on it.
    """

    def inputs(random):
        a, b, a_s, b_s = make(random, m, n, k)
        codes = lambda values: tensor(values).to(torch.float8_e4m3fn)
        lead = shape or (m,)
        return {
            "a": codes(a).reshape(*lead, k),
            "a_s": tensor(a_s).reshape(*lead, -1),
            "b": codes(b),
            "b_s": tensor(b_s),
        }

    def call(originals, t):
        module = originals.module("deepseek")
        kernel = module.fp8_gemm_kernel
        if hasattr(kernel, "configs"):
            kernel.configs = [
                Config(
                    {"BLOCK_SIZE_M": tile[0], "BLOCK_SIZE_N": tile[1], "BLOCK_SIZE_K": 128},
                    num_stages=tile[2],
                    num_warps=8,
                )
            ]
        return {"c": with_default_dtype(dtype, lambda: module.fp8_gemm(t["a"], t["a_s"], t["b"], t["b_s"]))}

    launch = {
        "BLOCK_SIZE_M": tile[0],
        "BLOCK_SIZE_N": tile[1],
        "BLOCK_SIZE_K": 128,
        "num_stages": tile[2],
        "num_warps": 8,
    }
    return Recording(
        name=f"fp8_gemm-{NAMES[dtype]}-{name}",
        op="fp8_gemm",
        source="deepseek",
        entry="fp8_gemm",
        make=inputs,
        call=call,
        compare={"c": compare},
        launch=launch,
    )


def accuracy(tile):
    """On Hopper 64 rows are a wgmma of e4m3, whose sum keeps few bits; fewer are an mma of f16 in f32."""
    return {"rule": "tolerance", "c": 2.0**-12 if tile[0] >= 64 else 2.0**-20}


def blocks(n):
    return -(-n // 128)


def integers(random, m, n, k):
    """Small integers and power-of-two scales: every partial sum is exact, in any order."""
    draw = lambda *shape: random.integers(-4, 5, shape).astype(numpy.float32)
    powers = lambda *shape: 2.0 ** random.integers(-2, 3, shape).astype(numpy.float32)
    return draw(m, k), draw(n, k), powers(m, blocks(k)), powers(blocks(n), blocks(k))


def random_scales(random, m, n, k):
    return (
        numpy.abs(normal(random, (m, blocks(k)), 0.01)) + 1e-3,
        numpy.abs(normal(random, (blocks(n), blocks(k)), 0.01)) + 1e-3,
    )


def quantised(random, m, n, k):
    """What act_quant makes of normal data: codes up to 448, scales of about 0.01."""
    draw = lambda *shape: numpy.clip(normal(random, shape, 120.0), -448, 448)
    return draw(m, k), draw(n, k), *random_scales(random, m, n, k)


def cancelling(random, m, n, k):
    """Large products that cancel beside small ones that do not, which a short accumulator drops."""
    a, b = normal(random, (m, k)), normal(random, (n, k))
    large = random.choice(k // 2, size=max(1, k // 16), replace=False) * 2
    a[:, large], b[:, large] = 448.0, 256.0
    a[:, large + 1], b[:, large + 1] = 448.0, -256.0
    return a, b, *random_scales(random, m, n, k)


def tiny(random, m, n, k):
    """Codes among the e4m3 subnormals."""
    draw = lambda *shape: E4M3_POSITIVE[random.integers(0, 12, shape)] * random.choice([-1.0, 1.0], shape)
    return draw(m, k), draw(n, k), *random_scales(random, m, n, k)


def fp8_gemm_recordings():
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    exact = {"rule": "exact"}
    large, small, middle = (64, 128, 3), (16, 32, 4), (32, 64, 5)
    return [
        fp8_gemm("integers", 65, 130, 384, f32, large, integers, exact),
        fp8_gemm("integers-ragged-k", 17, 70, 200, f32, small, integers, exact),
        fp8_gemm("integers-one-row", 1, 257, 128, bf16, middle, integers, exact),
        fp8_gemm("quantised", 66, 150, 512, f32, large, quantised, accuracy(large)),
        fp8_gemm("quantised-small-tile", 33, 70, 512, f32, small, quantised, accuracy(small)),
        fp8_gemm("quantised", 48, 129, 336, bf16, large, quantised, accuracy(large), (3, 16)),
        fp8_gemm("quantised", 5, 64, 256, f16, middle, quantised, accuracy(middle)),
        fp8_gemm("cancelling", 64, 64, 256, f32, large, cancelling, accuracy(large)),
        fp8_gemm("cancelling-small-tile", 16, 64, 256, f32, small, cancelling, accuracy(small)),
        fp8_gemm("tiny", 20, 40, 128, f32, large, tiny, accuracy(large)),
    ]


def large_recordings():
    """Enough elements to count how often the division shows, and how exact the tensor core's sum is."""
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    rows = lambda random: normal(random, (4096, 1024))
    scales = {"s": RECIPROCAL["s"]}
    return [act_quant("large", "deepseek", rows, dtype, exact_under=scales) for dtype in (f32, f16, bf16)] + [
        fp8_gemm(f"large-{tile[0]}x{tile[1]}", 512, 512, 2048, f32, tile, quantised, accuracy(tile))
        for tile in ((64, 128, 3), (32, 64, 5), (16, 32, 4))
    ]


def recordings():
    return act_quant_recordings() + weight_dequant_recordings() + fp8_gemm_recordings()
