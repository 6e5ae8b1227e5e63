"""What Triton's compiler takes and its interpreter does not: made good for this process, where it can be."""

import inspect
import math


def install(interpreter):
    from . import interpreter_blocks, interpreter_names, interpreter_speed

    for mend in (numbers_of_one_element, floats, bf16_constants, constants, grids, tuning, libdevice, interpreter_blocks.install, interpreter_names.install):
        try:
            mend(interpreter)
        except (ImportError, AttributeError):
            pass  # another version, which may not need it
    interpreter_speed.install(interpreter)


def numbers_of_one_element(interpreter):
    """A scalar is an array of one element there, which NumPy no longer takes for a number."""
    original = interpreter._patch_lang_tensor

    def patched(tensor, *rest):
        patches = original(tensor, *rest)
        tensor.__index__ = lambda self: int(self.handle.data.item())
        return patches

    interpreter._patch_lang_tensor = patched


def floats(interpreter):
    """A float that a kernel is given is a scalar of 32 bits, as the compiler passes it; here it stays Python's, in double."""
    import numpy as np
    import triton.language as tl

    original = interpreter._implicit_cvt

    def converted(value):
        if type(value) is float:
            return tl.core.tensor(interpreter.TensorHandle(np.array([value], dtype=np.float32), tl.float32), tl.float32)
        return original(value)

    interpreter._implicit_cvt = converted


def bf16_constants(interpreter):
    """Numbers that are made bf16, as the one of tl.where(held, x, 1.0) is beside a bf16 x."""
    import triton.language as tl

    from .interpreter_bf16 import rounded

    builder = interpreter.InterpreterBuilder
    if not hasattr(builder, "get_bf16"):
        builder.get_bf16 = lambda self, value: interpreter.TensorHandle(rounded([value]), tl.bfloat16)


def constants(interpreter):
    """Parameters whose annotation is a text: BLOCK: "tl.constexpr"."""
    executor = interpreter.GridExecutor
    original = executor.__init__

    def init(self, fn, arg_names, grid, *rest, **kwargs):
        original(self, fn, arg_names, grid, *rest, **kwargs)
        noted = [name for name, kind in fn.__annotations__.items() if isinstance(kind, str) and "constexpr" in kind]
        self.constexprs = list(self.constexprs) + [name for name in noted if name not in self.constexprs]

    executor.__init__ = init


def grids(interpreter):
    """Lists as well as tuples, and functions that are given the arguments as they were passed."""
    executor = interpreter.GridExecutor
    original = executor.__call__

    def call(self, *args, **kwargs):
        if callable(self.grid):
            known = inspect.getfullargspec(self.fn).args
            passed = inspect.getcallargs(self.fn, *args, **{k: v for k, v in kwargs.items() if k in known})
            self.grid = self.grid(passed)
        self.grid = tuple(self.grid)
        return original(self, *args, **kwargs)

    executor.__call__ = call


def tuning(interpreter):
    """There is nothing to time: of the configurations that an autotuner offers the first is taken."""
    from triton.runtime.autotuner import Autotuner

    prune = Autotuner.prune_configs

    def all_that_may(self, kwargs):
        try:
            return prune(self, kwargs) or self.configs
        except Exception:  # it asks a device that is not there
            return self.configs

    Autotuner.prune_configs = all_that_may
    Autotuner._bench = lambda self, *args, config, **meta: [1.0, 1.0, 1.0]


def functions():
    """libdevice's, by their names, on arrays of doubles."""
    import numpy as np

    def each(function):
        return np.vectorize(function, otypes=[np.float64])

    def away_from_zero(x):
        return np.copysign(np.floor(np.abs(x) + 0.5), x)

    same = "ceil cos cosh exp exp2 expm1 fabs floor fmod hypot isnan isinf log log10 log1p log2 rint sin sinh sqrt tan tanh trunc"
    same += " cbrt copysign fmax fmin signbit"
    table = {name: getattr(np, name) for name in same.split()}
    table.update(
        abs=np.abs,
        acos=np.arccos,
        acosh=np.arccosh,
        asin=np.arcsin,
        asinh=np.arcsinh,
        atan=np.arctan,
        atan2=np.arctan2,
        atanh=np.arctanh,
        cospi=lambda x: np.cos(np.pi * np.fmod(x, 2)),
        erf=each(math.erf),
        erfc=each(math.erfc),
        exp10=lambda x: np.power(10.0, x),
        fma=lambda x, y, z: x * y + z,
        isfinited=np.isfinite,
        finitef=np.isfinite,
        llrint=np.rint,
        llround=away_from_zero,
        max=np.fmax,
        min=np.fmin,
        nearbyint=np.rint,
        pow=np.power,
        rcbrt=lambda x: 1 / np.cbrt(x),
        round=away_from_zero,
        rsqrt=lambda x: 1 / np.sqrt(x),
        saturatef=lambda x: np.clip(np.nan_to_num(x, nan=0.0, posinf=1.0, neginf=0.0), 0, 1),
        sinpi=lambda x: np.sin(np.pi * np.fmod(x, 2)),
        tgamma=each(lambda x: math.gamma(x)),
    )
    for fast, plain in (("cosf", "cos"), ("expf", "exp"), ("exp10f", "exp10"), ("logf", "log"), ("log2f", "log2")):
        table["fast_" + fast] = table[plain]
    for fast, plain in (("log10f", "log10"), ("powf", "pow"), ("sinf", "sin"), ("tanf", "tan"), ("tanhf", "tanh")):
        table["fast_" + fast] = table[plain]
    table["fast_dividef"] = np.divide
    return table


# Answers of another type than their arguments'.
TYPES = {"isnan": "int32", "isinf": "int32", "isfinited": "int32", "finitef": "int32", "signbit": "int32"}
TYPES.update(llrint="int64", llround="int64")


def libdevice(interpreter):
    """CUDA's library of mathematics is device code: the same functions of NumPy, in double and rounded once."""
    import importlib

    import numpy as np
    import triton.language as tl

    handle_of = interpreter.TensorHandle

    def standing_in(name, function):
        def apply(*arguments, **kwargs):
            plain = [getattr(each, "value", each) for each in arguments]  # of constants
            tensors = [each for each in arguments if isinstance(each, tl.core.tensor)]
            floats = [each.dtype for each in tensors if each.dtype.is_floating()]
            # Whole numbers beside a number in the kernel's text, which is one of 32 bits.
            if not floats:
                floats = [tl.float32 if any(type(each) is float for each in plain) else tensors[0].dtype]
            dtype = getattr(tl, TYPES[name]) if name in TYPES else max(floats, key=lambda each: each.primitive_bitwidth)
            data = [each.handle.data if isinstance(each, tl.core.tensor) else each for each in plain]
            with np.errstate(all="ignore"):
                result = function(*[np.asarray(each, dtype=np.float64) for each in data])
                result = np.asarray(result).astype(interpreter._get_np_dtype(dtype))
            is_block = any(each.type.is_block() for each in tensors)
            kind = tl.core.block_type(dtype, list(result.shape)) if is_block else dtype
            return tl.core.tensor(handle_of(result, dtype), kind)

        return apply

    table = functions()
    for place in ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice", "triton.language.extra.hip.libdevice"):
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue
        for name, function in table.items():
            if hasattr(module, name):
                setattr(module, name, standing_in(name, function))
