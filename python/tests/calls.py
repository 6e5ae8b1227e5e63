"""A small valid call of every op with arrays of NumPy: what tests vary."""

import ml_dtypes
import numpy as np

E4M3 = ml_dtypes.float8_e4m3fn


def _random(*shape, dtype=np.float32):
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def tensors_of(op):
    """Tensors by name, the outputs that may be left out not among them, and options."""
    return {
        "sin": lambda: ({"x": _random(3, 5)}, {}),
        "act_quant": lambda: ({"x": _random(3, 256)}, {}),
        "silu_mul_quant": lambda: ({"x": _random(3, 512)}, {}),
        "weight_dequant": lambda: ({"x": _random(130, 140, dtype=E4M3), "s": _random(2, 2)}, {}),
        "weight_quant": lambda: ({"x": _random(130, 140)}, {}),
        "fp8_gemm": lambda: ({"a": _random(3, 256, dtype=E4M3), "a_s": _random(3, 2), "b": _random(16, 256, dtype=E4M3),
                              "b_s": _random(1, 2)}, {}),
        "grouped_fp8_gemm": lambda: ({"a": _random(2, 4, 128, dtype=E4M3), "a_s": _random(2, 4, 1),
                                      "b": _random(2, 16, 128, dtype=E4M3), "b_s": _random(2, 1, 1),
                                      "row_counts": np.array([3, 0], np.int32)}, {}),
        "fp8_linear": lambda: ({"x": _random(3, 128), "b": _random(144, 128, dtype=E4M3), "b_s": _random(2, 1)}, {}),
        "expert_layer": lambda: ({"a": _random(2, 4, 128, dtype=E4M3), "a_s": _random(2, 4, 1),
                                  "gate_up": _random(2, 256, 128, dtype=E4M3), "gate_up_s": _random(2, 2, 1),
                                  "down": _random(2, 16, 128, dtype=E4M3), "down_s": _random(2, 1, 1),
                                  "row_counts": np.array([3, 0], np.int32)}, {}),
        "quantize_copy_kv": lambda: ({"k": _random(2, 3, 16), "dest": np.array([4, 1], np.int32),
                                      "out": np.zeros((5, 3, 16), np.int8), "out_scale": np.zeros((5, 3, 1), np.float32)},
                                     {}),
        "flash_decode": lambda: ({"q": _random(2, 4, 16), "k": _random(9, 2, 16), "v": _random(9, 2, 16),
                                  "req_to_tokens": np.arange(8, dtype=np.int32).reshape(2, 4),
                                  "b_req_idx": np.array([1, 0], np.int32), "b_seqlen": np.array([4, 2], np.int32)}, {}),
        "flash_decode_stage1": lambda: ({"q": _random(2, 4, 16), "k": _random(9, 2, 16), "v": _random(9, 2, 16),
                                         "req_to_tokens": np.arange(8, dtype=np.int32).reshape(2, 4),
                                         "b_req_idx": np.array([1, 0], np.int32),
                                         "b_seqlen": np.array([4, 2], np.int32),
                                         "mid_out": np.zeros((2, 4, 1, 16), np.float32),
                                         "mid_lse": np.zeros((2, 4, 1), np.float32)}, {"block_seq": 16}),
        "flash_decode_stage2": lambda: ({"mid_out": _random(2, 4, 1, 16), "mid_lse": _random(2, 4, 1),
                                         "b_seqlen": np.array([4, 2], np.int32)}, {"block_seq": 16}),
        "attention": lambda: ({"q": _random(2, 3, 4, 16), "k": _random(2, 5, 2, 16), "v": _random(2, 5, 2, 16)}, {}),
        "merge_attention": lambda: ({"out_a": _random(3, 4, 16), "lse_a": _random(3, 4), "out_b": _random(3, 4, 16),
                                     "lse_b": _random(3, 4)}, {}),
    }[op]()
