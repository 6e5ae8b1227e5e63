# A Python that has PyTorch: Debian's python3-torch, or whatever python3 is.
set(definitions ISOMER_PYTHON="${PYTHON_WITH_TORCH}" ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports")
set(labels tier2)
