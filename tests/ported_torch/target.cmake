# The same against PyTorch's headers, where libtorch-dev is.
set(library isomer_lab isomer_emulator)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
  ISOMER_PORTED="${CMAKE_CURRENT_SOURCE_DIR}/ported_torch/candidates")
set(dependencies isomer-emulator-runner)
set(labels tier2)
