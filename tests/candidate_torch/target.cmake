# PyTorch extensions, against the real headers: the second tier, where libtorch-dev is.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}")
set(dependencies isomer-emulator-runner)
set(labels tier2)
