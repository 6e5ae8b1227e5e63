"""Triton's own interpreter where there is no GPU: its launches are counted, and one that fails or lasts too long is no answer."""

from . import calls
from .limits import LAUNCHES, LIMITS, TooLong


def install(launches):
    """True where launches run in the interpreter."""
    try:
        from triton.runtime import interpreter
    except ImportError:
        return False
    import torch

    from . import interpreter_gaps, outside

    if not hasattr(torch.Tensor, "untyped_storage"):  # a PyTorch before 2.0, which the interpreter asks for it
        torch.Tensor.untyped_storage = lambda self: self.storage().untyped()
    interpreter_gaps.install(interpreter)
    original = outside.install(interpreter, launches)

    def call(self, *args, **kwargs):
        longest = LIMITS.longest_launch()
        if longest <= 0:
            launches.refuse(f"Triton's interpreter took more than {LAUNCHES * LIMITS.seconds:g} s; --timeout allows more")
            return None
        launches.begin(getattr(self, "arg_names", ()), args, kwargs)
        begin = LIMITS.begin_launch(longest)
        try:
            result = original(self, *args, **kwargs)
            launches.answered += 1
            launches.interpreted += 1
            return result
        except TooLong:
            launches.refuse(f"a launch took Triton's interpreter more than {longest:.3g} s; --timeout allows more")
            return None
        except Exception as error:
            launches.refuse(f"Triton's interpreter: {type(error).__name__}: {error}".splitlines()[0][:300])
            return None
        finally:
            LIMITS.end_launch(begin)

    from . import interpreter_bf16, interpreter_fp8

    if interpreter_bf16.install(interpreter):
        calls.NOT_INTERPRETED.discard("bf16")
    # Outside of bf16's: what it widens comes here as f32.
    calls.NOT_INTERPRETED.difference_update(interpreter_fp8.install(interpreter))
    interpreter.GridExecutor.__call__ = call
    return True


def count_launches(launches):
    """On a GPU: every launch of Triton's is an answer."""
    from triton.runtime.jit import JITFunction

    original = JITFunction.run

    def run(self, *args, **kwargs):
        launches.begin(getattr(self, "arg_names", ()), args, kwargs)
        result = original(self, *args, **kwargs)
        launches.answered += 1
        return result

    JITFunction.run = run
