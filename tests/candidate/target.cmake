# Candidates are compiled and called on the emulated device.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CANDIDATE_CACHE="${CMAKE_CURRENT_BINARY_DIR}/candidate-cache")
set(dependencies isomer-emulator-runner)
