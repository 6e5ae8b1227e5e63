"""A label that was called is called once more: what is kept of its launches, and of random numbers, stays as it was."""

import contextlib
import random

import torch


@contextlib.contextmanager
def called_again(launches):
    """Gives what brings random numbers back to where they are now, for each of several calls."""
    kept = launches.__dict__.copy()
    states = torch.get_rng_state(), random.getstate()

    def rewind():
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        launches.reset()

    try:
        yield rewind
    finally:
        rewind()
        launches.__dict__.update(kept)
