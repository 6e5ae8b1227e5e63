# A Python that has PyTorch: Debian's python3-torch, or whatever python3 is.
set(definitions ISOMER_PYTHON="${PYTHON_WITH_TORCH}" ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports"
  ISOMER_RECORDER="${PROJECT_SOURCE_DIR}/lab/record/python")
set(labels tier2)
