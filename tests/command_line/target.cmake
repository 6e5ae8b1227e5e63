# The command line is run as its users run it.
set(library isomer_lab)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>")
if(NVRTC_LIBRARY)
  list(APPEND definitions ISOMER_HAS_NVRTC)
endif()
set(dependencies isomer_cli)
set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY};ISOMER_CACHE=${CMAKE_BINARY_DIR}/tests/kernel_cache")
