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
# The vendors' headers are compared where they are; a test that lacks them is skipped and says so.
find_path(CUDA_INCLUDE_DIR cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(HIP_INCLUDE_DIR hip/hip_runtime_api.h HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES include)
# Binutils', whichever compiler builds: LLVM's does not demangle names that have a version.
find_program(BINUTILS_NM nm REQUIRED)
find_program(BINUTILS_READELF readelf REQUIRED)
set(include_directories ${DLPACK_INCLUDE_DIR} ${PROJECT_SOURCE_DIR}/src)
foreach(folder IN ITEMS ${CUDA_INCLUDE_DIR} ${HIP_INCLUDE_DIR})
  if(IS_DIRECTORY ${folder} AND NOT folder STREQUAL /usr/include)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/abi/test_cuda.cpp ${CMAKE_CURRENT_SOURCE_DIR}/abi/test_hip.cpp
                 APPEND PROPERTY COMPILE_OPTIONS -isystem${folder})
  endif()
endforeach()
set(definitions ISOMER_LIBRARY_FILE="$<TARGET_FILE:isomer>" ISOMER_INCLUDE_DIR="${PROJECT_SOURCE_DIR}/include"
                ISOMER_SANITIZED=$<BOOL:${ISOMER_SANITIZE}> ISOMER_NM="${BINUTILS_NM}"
                ISOMER_READELF="${BINUTILS_READELF}")
