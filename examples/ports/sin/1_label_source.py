"""The sine of every element."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel_function(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    element = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    live = element < n_elements
    x = tl.load(x_ptr + element, mask=live)
    tl.store(output_ptr + element, tl.sin(x), mask=live)


def call_kernel(x):
    output = torch.empty_like(x)
    n_elements = x.numel()

    def grid(meta):
        return (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)

    kernel_function[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output
