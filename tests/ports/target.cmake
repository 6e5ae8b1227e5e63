# The cases of examples/ports that need no PyTorch.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
    ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports")
set(dependencies isomer-emulator-runner)
