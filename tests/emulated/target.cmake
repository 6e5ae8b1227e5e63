set(optimised ON)
# GPU kernels on the emulator, which ends a launch that reads or writes outside of a buffer.
set(library isomer_lab isomer_emulated_vendor)
set(definitions ISOMER_EMULATED_CACHE="${test_cache}")
