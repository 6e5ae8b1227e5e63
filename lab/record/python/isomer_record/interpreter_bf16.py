"""bf16 in Triton's interpreter, which keeps its bits in whole numbers: as compiled kernels have it, every operation in f32 and
rounded once, to the nearest, ties to even."""

import numpy as np


def widened(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def rounded(numbers):
    bits = np.asarray(numbers, dtype=np.float32).view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(numbers), bits >> 16 | 0x40, nearest).astype(np.uint16)


def install(interpreter):
    """True where bf16 is as it should be from here on; False of a version that is built otherwise."""
    try:
        import triton.language as tl

        handle, builder = interpreter.TensorHandle, interpreter.InterpreterBuilder
        methods = {name: getattr(builder, name) for name in ("binary_op", "unary_op", "ternary_op", "create_fma", "create_dot")}
        convert, cast = interpreter._convert_float, builder.cast_impl
    except (ImportError, AttributeError):
        return False

    def is_bf16(value):
        return isinstance(value, handle) and value.dtype.scalar == tl.bfloat16

    def converted(numbers, source, target, rounding_mode):
        if source.scalar == tl.bfloat16 and target.scalar == tl.float32:
            return widened(numbers).view(np.uint32)
        if source.scalar == tl.float32 and target.scalar == tl.bfloat16:
            return rounded(numbers)
        return convert(numbers, source, target, rounding_mode)

    def cast_in_two(self, source, target):
        if is_bf16(source) and target.scalar != tl.bfloat16:
            source = handle(widened(source.data), tl.float32)
        elif target.scalar == tl.bfloat16 and not is_bf16(source):
            return handle(rounded(source.data.astype(np.float32)), tl.bfloat16)
        return cast(self, source, target)

    def in_f32(original):
        def operation(self, *arguments):
            if not any(is_bf16(each) for each in arguments):
                return original(self, *arguments)
            wide = [handle(widened(each.data), tl.float32) if is_bf16(each) else each for each in arguments]
            result = original(self, *wide)
            # A dot's sum has the type of what it is added to; a comparison gives no number.
            if result.data.dtype != np.float32 or original is methods["create_dot"] and not is_bf16(arguments[2]):
                return result
            return handle(rounded(result.data), tl.bfloat16)

        return operation

    interpreter._convert_float = converted
    builder.cast_impl = cast_in_two
    for name, original in methods.items():
        setattr(builder, name, in_f32(original))
    return True
