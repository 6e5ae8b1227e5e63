"""Values that separate a right kernel from a nearly right one, made in numpy and rounded once by torch."""

import numpy
import torch


def normal(random, shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(numpy.float32)


def neighbours(values, steps):
    """Each f32 value and those up to `steps` ulps to both sides of it."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.int32)
    return (
        (bits[:, None] + numpy.arange(-steps, steps + 1, dtype=numpy.int32)[None, :])
        .astype(numpy.int32)
        .view(numpy.float32)
    )


def tensor(values, dtype=torch.float32):
    return torch.from_numpy(numpy.ascontiguousarray(values)).to(dtype)


def strided(values, strides):
    """The same values, in memory with these strides."""
    from .bundle import place

    return place(values, strides, "cpu")


def transposed(values, order):
    """The same values, contiguous in memory when their dimensions are taken in this order."""
    back = [order.index(dim) for dim in range(values.dim())]
    return values.permute(order).contiguous().permute(back)


E4M3_POSITIVE = numpy.array(
    [code * 2.0**-9 for code in range(8)]
    + [(8 + mantissa) * 2.0 ** (exponent - 10) for exponent in range(1, 16) for mantissa in range(8)][:-1]
)


def e4m3_midpoints():
    """Every value halfway between two neighbouring e4m3 codes, positive; exact in f16, bf16 and f32."""
    return (E4M3_POSITIVE[1:] + E4M3_POSITIVE[:-1]) / 2


def act_quant_rows(random, width, block):
    """Rows of x for act_quant, each of its own kind in all its blocks; finite, and no block all zero."""

    def row(values, amax):
        """Repeats values over the row and puts ±amax into every block, at a place that moves."""
        out = numpy.resize(numpy.asarray(values, numpy.float64), width)
        for index, start in enumerate(range(0, width, block)):
            out[start + (7 * index + 3) % block] = amax if index % 2 == 0 else -amax
        return out

    signs = numpy.where(numpy.arange(width) % 2, -1.0, 1.0)
    ties = numpy.resize(random.permutation(e4m3_midpoints()), width) * signs
    near = neighbours(e4m3_midpoints(), 1)[:, ::2].ravel()
    near = numpy.resize(random.permutation(near), width) * -signs
    codes = numpy.resize(random.permutation(E4M3_POSITIVE), width) * signs
    noise = normal(random, (8, width)).astype(numpy.float64)
    return numpy.stack(
        [
            noise[0],
            row(ties, 448.0),  # s = 1: every quotient is a tie
            row(ties * 2.0**-6, 7.0),  # s = 2^-6, the same ties
            row(near, 448.0),  # one f32 ulp beside each tie
            row(codes, 448.0),  # quotients that are codes
            row(noise[1], 1000.0),  # one outlier a block
            row(noise[2] * 2.0**-12, 3.0),  # quotients among and below the e4m3 subnormals
            noise[3] * 0.125 + 2.0,  # all of one size
            numpy.full(width, -0.3125),  # constant and negative
            noise[4] * 1e4,
            noise[5] * 2.0**-10,
            row(0 * noise[6], 5.0),  # one element, the rest zero (of both signs)
        ]
    )
