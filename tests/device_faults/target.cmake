set(optimised ON)
# Faulty GPU kernels, run on the emulator and compiled for a GPU that is not here. The program embeds them beside the
# library's device sources: its own table takes the place of the library's.
set(planted_sources ${CMAKE_CURRENT_BINARY_DIR}/planted_sources.cpp)
file(GLOB planted CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/device_faults/planted/*.cu)
file(GLOB library_device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/device/*
     ${PROJECT_SOURCE_DIR}/src/gpu/device/*/* ${PROJECT_SOURCE_DIR}/src/ops/*/kernels/* ${PROJECT_SOURCE_DIR}/src/ops/*/kernels/*/*)
add_custom_command(OUTPUT ${planted_sources}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${planted_sources} -DHEADER=planted.hpp -DFUNCTION=isomer::planted::embedded
    -DTYPE=isomer::gpu::Source -DROOT=${PROJECT_SOURCE_DIR}/src
    -DPATTERNS=gpu/device/*.cuh,gpu/device/*.h,ops/*/kernels/*
    -DBESIDE=${CMAKE_CURRENT_SOURCE_DIR}/device_faults/planted -DBESIDE_PATTERN=*.cu
    -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
  DEPENDS ${planted} ${library_device_sources} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
list(APPEND sources ${planted_sources})
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/device_faults)
set(library isomer_lab isomer_emulated_vendor)
set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY};ISOMER_CACHE=${test_cache}")
set(single device_faults/)
# The faults of a kind that another shows, all of attention's kernels, and every case in which a kernel without one is right.
add_test(NAME Planted.OfEveryKindAgain COMMAND test_device_faults --gtest_filter=Others/*:OfEachKind/Attention*:*.AreNoneInTheKernel*:All/Fp8GemmCleanTwin.*:All/Fp8GemmTile.*)
set_tests_properties(Planted.OfEveryKindAgain PROPERTIES LABELS tier2 ENVIRONMENT "ISOMER_NVRTC=${NVRTC_LIBRARY};ISOMER_CACHE=${test_cache};ISOMER_EVERY_CASE=1")
