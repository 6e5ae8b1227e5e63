# The emulator stands in for every vendor.
set(library isomer_emulated_vendor)
set(environment "ISOMER_CACHE=${test_cache}")
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/gpu_queue/calls.c PROPERTIES
  COMPILE_OPTIONS "-std=c99;-pedantic-errors;-Wall;-Wextra;-Werror")
