"""The device's time of a call of the label, on a machine with a GPU: a few more such calls, on copies of what it was given."""

import copy

import torch

WARM_UPS = 3
RUNS = 30
# A call that takes longer is not made thirty times over.
LONGEST = 0.2
LARGEST = 1 << 30
# Holds what follows it on the device until the host has launched all of it: about half a millisecond.
HELD_CYCLES = 1_000_000


# Asked before anything stands in for a device that is not there.
POSSIBLE = torch.cuda.is_available() and torch.cuda.device_count() > 0


def bytes_of(value):
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().nbytes() if value.layout == torch.strided else LARGEST + 1
    if isinstance(value, (list, tuple)):
        return sum(bytes_of(each) for each in value)
    if isinstance(value, dict):
        return sum(bytes_of(each) for each in value.values())
    return 0


def copies(args, kwargs):
    """As given, with strides, offsets and shared storages kept; nothing where no copy can be made."""
    if not POSSIBLE:
        return None
    try:
        return copy.deepcopy((args, kwargs)) if bytes_of((args, kwargs)) <= LARGEST else None
    except Exception:
        return None


def seconds(function, given):
    """Seconds of each call, or an empty list."""
    args, kwargs = given
    states = torch.get_rng_state(), torch.cuda.get_rng_state()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    try:
        for run in range(WARM_UPS + RUNS):
            torch.cuda._sleep(HELD_CYCLES)
            begin.record()
            function(*args, **kwargs)
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
            if run >= WARM_UPS and times[-1] > LONGEST:
                return []
    except Exception:
        return []
    finally:
        torch.set_rng_state(states[0])
        torch.cuda.set_rng_state(states[1])
    return times[WARM_UPS:]
