"""Things that are no argument of anything, in the place of each argument of each function: one sentence, always."""

import inspect

import numpy as np
import pytest

import isomer
from calls import tensors_of
from isomer.compat import deepseek, flash_attn_3

NONSENSE = [3, -1, 1.5, float("nan"), "x", [1, 2], (), {}, object(), np.array(3), np.zeros(0), np.array(["a"]), np.zeros((2, 2), object),
            np.zeros((1,) * 9, np.float16), b"abc", True, 1 << 70, np.zeros((2, 3, 4, 16), np.complex64), lambda: 1, np.ma.array([1.0]), type]


def half(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float16)


def functions_of_the_shims():
    single = np.float32
    x, s = isomer.weight_quant(half(128, 128).astype(single))
    k, v = half(2, 5, 2, 16), half(2, 5, 2, 16)
    whole = {"q": half(6, 4, 16), "k": half(10, 2, 16), "v": half(10, 2, 16), "cu_seqlens_q": np.array([0, 3, 6], np.int32),
             "cu_seqlens_k": np.array([0, 5, 10], np.int32), "max_seqlen_q": 3, "max_seqlen_k": 5}
    return [
        (flash_attn_3.flash_attn_func, {"q": half(2, 3, 4, 16), "k": k, "v": v}),
        (flash_attn_3.flash_attn_with_kvcache, {"q": half(2, 3, 4, 16), "k_cache": k, "v_cache": v}),
        (flash_attn_3.flash_attn_varlen_func, whole),
        (flash_attn_3.flash_attn_combine, {"out_partial": half(3, 2, 3, 4, 16).astype(single), "lse_partial": half(3, 2, 3, 4).astype(single)}),
        (deepseek.act_quant, {"x": half(2, 128).astype(single)}),
        (deepseek.weight_dequant, {"x": x, "s": s}),
    ]


def functions_of_the_ops():
    for op in isomer.ops():
        tensors, options = tensors_of(op.name)
        yield getattr(isomer, op.name), {**tensors, **options}


CALLS = [*functions_of_the_shims(), *functions_of_the_ops()]


@pytest.mark.parametrize("function, given", CALLS, ids=[function.__name__ for function, _ in CALLS])
def test_nonsense_in_the_place_of_any_argument_is_one_sentence_or_is_taken(function, given):
    refused = 0
    for name in inspect.signature(function).parameters:
        for value in NONSENSE:
            try:
                function(**{**given, name: value})  # some of it means something: True is 1, a NumPy scalar a number
            except (isomer.Error, TypeError) as error:
                sentence = str(error)
                assert "\n" not in sentence and len(sentence) > 15, (name, sentence)
                refused += 1
    assert refused > 10
