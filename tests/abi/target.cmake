# The public ABI is tested as a program sees it: through the shared library.
set(library isomer)
find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h HINTS ${CMAKE_BINARY_DIR}/dlpack/tvm_ffi/include)
if(NOT DLPACK_INCLUDE_DIR)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch_dlpack ${CMAKE_BINARY_DIR}/dlpack RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "tests/abi needs dlpack/dlpack.h: tools/fetch_dlpack failed; set DLPACK_INCLUDE_DIR, or build "
                        "without tests (ISOMER_TESTS=OFF)")
  endif()
  find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h HINTS ${CMAKE_BINARY_DIR}/dlpack/tvm_ffi/include REQUIRED)
endif()
set(include_directories ${DLPACK_INCLUDE_DIR})
set(definitions ISOMER_LIBRARY_FILE="$<TARGET_FILE:isomer>" ISOMER_INCLUDE_DIR="${PROJECT_SOURCE_DIR}/include"
                ISOMER_SANITIZED=$<BOOL:${ISOMER_SANITIZE}> ISOMER_NM="${CMAKE_NM}" ISOMER_READELF="${CMAKE_READELF}")
