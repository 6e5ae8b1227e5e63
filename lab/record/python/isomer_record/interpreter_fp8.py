"""8-bit floats in Triton's interpreter, whose own conversions lose ties and subnormal values: as compiled kernels have it, rounded
once, to the nearest, ties to even, and what is too large becomes the largest number."""

import numpy as np


class Narrow:
    """One of the types: its exponent's bias, bits of mantissa, the largest number's bits, and whether NaN is −0."""

    def __init__(self, mantissa, bias, largest, unsigned_zero):
        code = np.arange(largest + 1)
        exponent, fraction = code >> mantissa, (code & (1 << mantissa) - 1) / (1 << mantissa)
        self.numbers = np.where(exponent > 0, 1 + fraction, 2 * fraction) * 2.0 ** (exponent - bias)
        self.middles = (self.numbers[1:] + self.numbers[:-1]) / 2
        self.infinite = 0x7C if mantissa == 2 and not unsigned_zero else None
        self.unsigned_zero = unsigned_zero
        self.largest = largest

    def widened(self, bits):
        bits = np.asarray(bits, dtype=np.uint8)
        code = bits & 0x7F
        wide = self.numbers[np.minimum(code, self.largest)]
        if self.unsigned_zero:
            wide = np.where(bits == 0x80, np.nan, wide)
        else:
            wide = np.where(code > self.largest, np.nan, wide)
        if self.infinite is not None:
            wide = np.where(code == self.infinite, np.inf, wide)
        return np.where(bits & 0x80, -wide, wide).astype(np.float32)

    def rounded(self, numbers):
        numbers = np.asarray(numbers, dtype=np.float64)
        size = np.minimum(np.abs(numbers), self.numbers[-1])
        code = np.searchsorted(self.middles, size, side="left")
        tie = self.middles[np.minimum(code, len(self.middles) - 1)] == size
        code = code + (tie & (code % 2 == 1))
        sign = np.where(np.signbit(numbers), 0x80, 0)
        if self.unsigned_zero:
            sign = np.where(code == 0, 0, sign)
        return np.where(np.isnan(numbers), 0x80 if self.unsigned_zero else 0x7F, code | sign).astype(np.uint8)


# By Triton's name and Isomer's.
TYPES = {
    ("float8e4nv", "e4m3fn"): Narrow(3, 7, 0x7E, False),
    ("float8e5", "e5m2"): Narrow(2, 15, 0x7B, False),
    ("float8e4b8", "e4m3fnuz"): Narrow(3, 8, 0x7F, True),
    ("float8e5b16", "e5m2fnuz"): Narrow(2, 16, 0x7F, True),
}


def install(interpreter):
    """Isomer's names of the types that are as they should be from here on; none of a version that is built otherwise."""
    try:
        import triton.language as tl

        convert = interpreter._convert_float
        known = {getattr(tl, own): narrow for (own, _), narrow in TYPES.items() if hasattr(tl, own)}
        wide = {tl.float16: np.float16, tl.float32: np.float32, tl.float64: np.float64}
    except (ImportError, AttributeError):
        return set()

    def converted(numbers, source, target, rounding_mode):
        source, target = source.scalar, target.scalar
        if source in known:
            numbers = known[source].widened(numbers)
            if target in known:
                return known[target].rounded(numbers)
            if target in wide:
                return numbers.astype(wide[target]).view(f"uint{8 * np.dtype(wide[target]).itemsize}")
            return convert(numbers, tl.float32, target, rounding_mode)
        if target in known:
            if source not in wide:
                numbers = convert(numbers, source, tl.float32, None).view(np.float32)
            return known[target].rounded(numbers)
        return convert(numbers, source, target, rounding_mode)

    interpreter._convert_float = converted
    return {name for own, name in TYPES if hasattr(tl, own)}
