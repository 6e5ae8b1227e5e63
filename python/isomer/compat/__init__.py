"""The calls of other libraries over Isomer's ops: isomer.compat.flash_attn_3 and isomer.compat.deepseek.

A program changes its import and nothing else. Signatures and conventions are those of the library that is named; what
Isomer has not is refused in one sentence. Nothing here imports an array library: tensors of PyTorch, NumPy, JAX and CuPy
are taken.
"""
