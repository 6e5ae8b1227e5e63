# The cases of examples/ports that are PyTorch extensions: the second tier, where libtorch-dev is.
set(library isomer_lab isomer_emulator)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR}/ports)
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
    ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports")
set(dependencies isomer-emulator-runner)
set(labels tier2)
