# The facts of seeded labels and tests are read by the recorder's own Python, which needs no PyTorch for that.
set(definitions ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports"
    ISOMER_RECORDER="${PROJECT_SOURCE_DIR}/lab/record/python")
