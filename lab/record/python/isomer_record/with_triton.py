"""Triton's own interpreter where there is no GPU: its launches are counted, and one that fails or lasts too long is no answer."""

import signal
import threading

SECONDS_OF_A_LAUNCH = 20
SECONDS_OF_ALL = 60


class TooLong(Exception):
    pass


def take_bounds_of_loops(interpreter):
    """Scalars in the interpreter are arrays of one element, which NumPy 2.4 takes for no index: range(0, n) would fail."""
    patch = getattr(interpreter, "_patch_lang_tensor", None)
    if patch is None:
        return

    def patch_and_index(tensor, *args, **kwargs):
        result = patch(tensor, *args, **kwargs)
        tensor.__index__ = lambda self: int(self.handle.data.item())
        return result

    interpreter._patch_lang_tensor = patch_and_index


def install(launches):
    """True where launches run in the interpreter."""
    try:
        from triton.runtime import interpreter
    except ImportError:
        return False
    take_bounds_of_loops(interpreter)
    original = interpreter.GridExecutor.__call__
    spent = [0.0]

    def call(self, *args, **kwargs):
        import time

        if spent[0] > SECONDS_OF_ALL:
            launches.refuse(f"Triton's interpreter took more than {SECONDS_OF_ALL} s")
            return None
        alarms = threading.current_thread() is threading.main_thread()

        def stop(number, frame):
            raise TooLong()

        begin = time.monotonic()
        before = signal.signal(signal.SIGALRM, stop) if alarms else None
        if alarms:
            signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_A_LAUNCH)
        try:
            result = original(self, *args, **kwargs)
            launches.answered += 1
            launches.interpreted += 1
            return result
        except TooLong:
            launches.refuse(f"a launch took Triton's interpreter more than {SECONDS_OF_A_LAUNCH} s")
            return None
        except Exception as error:
            launches.refuse(f"Triton's interpreter: {type(error).__name__}: {error}".splitlines()[0][:300])
            return None
        finally:
            if alarms:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            spent[0] += time.monotonic() - begin

    interpreter.GridExecutor.__call__ = call
    return True


def count_launches(launches):
    """On a GPU: every launch of Triton's is an answer."""
    from triton.runtime.jit import JITFunction

    original = JITFunction.run

    def run(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        launches.answered += 1
        return result

    JITFunction.run = run
