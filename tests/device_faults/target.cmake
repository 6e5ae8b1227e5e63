# Faulty GPU kernels, run on the emulator and compiled for a GPU that is not here. The program embeds them beside the
# library's device sources: its own table takes the place of the library's.
set(planted_sources ${CMAKE_CURRENT_BINARY_DIR}/planted_sources.cpp)
file(GLOB planted CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/device_faults/planted/*.cu)
file(GLOB library_device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/device/*
     ${PROJECT_SOURCE_DIR}/src/ops/*/kernels/*)
add_custom_command(OUTPUT ${planted_sources}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/src -DPLANTED=${CMAKE_CURRENT_SOURCE_DIR}/device_faults/planted
          -DOUTPUT=${planted_sources} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSources.cmake
  DEPENDS ${planted} ${library_device_sources} ${PROJECT_SOURCE_DIR}/cmake/EmbedSources.cmake VERBATIM)
list(APPEND sources ${planted_sources})
set(library isomer_lab isomer_emulated_vendor)
set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY};ISOMER_CACHE=${CMAKE_BINARY_DIR}/tests/kernel_cache")
