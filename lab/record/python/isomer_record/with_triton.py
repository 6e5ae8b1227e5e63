"""Triton's own interpreter where there is no GPU: its launches are counted, and one that fails or lasts too long is no answer."""

import signal
import threading

from . import calls

# Of the time that the whole test has.
SHARE_OF_A_LAUNCH = 0.35
SHARE_OF_ALL = 0.7


class TooLong(BaseException):
    """No Exception: the interpreter makes its own error of those."""


def install(launches, seconds):
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
    spent = [0.0]
    longest, all_of_them = SHARE_OF_A_LAUNCH * seconds, SHARE_OF_ALL * seconds

    def call(self, *args, **kwargs):
        import time

        if spent[0] > all_of_them:
            launches.refuse(f"Triton's interpreter took more than {all_of_them:g} s; --timeout allows more")
            return None
        alarms = threading.current_thread() is threading.main_thread()

        def stop(number, frame):
            raise TooLong()

        launches.begin()
        begin = time.monotonic()
        before = signal.signal(signal.SIGALRM, stop) if alarms else None
        if alarms:
            signal.setitimer(signal.ITIMER_REAL, min(longest, all_of_them - spent[0] + 1))
        try:
            result = original(self, *args, **kwargs)
            launches.answered += 1
            launches.interpreted += 1
            return result
        except TooLong:
            launches.refuse(f"a launch took Triton's interpreter more than {min(longest, all_of_them - spent[0] + 1):.3g} s; --timeout allows more")
            return None
        except Exception as error:
            launches.refuse(f"Triton's interpreter: {type(error).__name__}: {error}".splitlines()[0][:300])
            return None
        finally:
            if alarms:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            spent[0] += time.monotonic() - begin

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
        launches.begin()
        result = original(self, *args, **kwargs)
        launches.answered += 1
        return result

    JITFunction.run = run
