"""Memory that is made without values, given some: an answer that is made of it is NaN, or another one each time."""

import torch
from torch.overrides import TorchFunctionMode


class Filled(TorchFunctionMode):
    """While it is entered, real numbers are `real` and whole ones `whole`; without that, whole ones and 8-bit floats are left."""

    MADE = (torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty)

    def __init__(self, real, whole=None):
        super().__init__()
        self.real, self.whole = real, whole

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func in self.MADE and isinstance(made, torch.Tensor) and made.numel() > 0:
            if made.is_floating_point() and (self.whole is not None or made.element_size() > 1):
                made.fill_(self.real)
            elif not made.is_floating_point() and self.whole is not None:
                made.fill_(bool(self.whole % 2) if made.dtype == torch.bool else self.whole)
        return made
