# The same against PyTorch's headers, where libtorch-dev is.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
  ISOMER_CANDIDATES="${CMAKE_CURRENT_SOURCE_DIR}/replayed_torch/candidates")
set(dependencies isomer-emulator-runner)
set(labels tier2)
