"""The programs of examples/ that are written in Python."""

import os
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(os.environ["ISOMER_PORTS"]).parent if "ISOMER_PORTS" in os.environ else Path("examples")
LAYER = EXAMPLES / "decoder_layer" / "decoder_layer.py"


@pytest.mark.skipif(not LAYER.exists(), reason="the wheel has no examples")
def test_a_decoder_layer_of_fp8_and_int8_operands_is_as_near_to_float64_as_they_allow():
    errors = runpy.run_path(str(LAYER))["main"]()
    assert 0.005 < errors["hidden states"] < 0.05
    assert 0.005 < errors["attention over the FP8 cache"] < 0.06
    assert 0.001 < errors["attention over the int8 cache"] < 0.06


@pytest.mark.skipif(not (EXAMPLES / "array_libraries.py").exists(), reason="the wheel has no examples")
def test_one_call_takes_the_tensors_of_every_library_that_is_here():
    found = runpy.run_path(str(EXAMPLES / "array_libraries.py"))["main"]()
    assert "numpy" in found
    for name, (kind, device, error) in found.items():
        assert name in kind.replace("jaxlib", "jax") and 0 < error < 2e-3, (name, kind, device, error)
