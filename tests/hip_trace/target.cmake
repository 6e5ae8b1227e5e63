# The recorder for HIP programs as it is loaded, built with declarations of the tests' own in place of the profiler's, and
# a profiler and a program that speak them.
find_package(nlohmann_json REQUIRED)
set(stand_in ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace/stand_in)
isomer_injected_library(isomer_stand_in_trace_hip ${ISOMER_HIP_RECORDER_MAP} ${ISOMER_HIP_RECORDER_SOURCES})
target_compile_options(isomer_stand_in_trace_hip PRIVATE -O0)
add_library(isomer_stand_in_rocprofiler SHARED ${stand_in}/sdk.cpp)
add_executable(isomer_stand_in_hip_program ${stand_in}/program.cpp)
set_target_properties(isomer_stand_in_trace_hip isomer_stand_in_rocprofiler PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand_in)
set_target_properties(isomer_stand_in_rocprofiler PROPERTIES CXX_VISIBILITY_PRESET default)
foreach(target IN ITEMS isomer_stand_in_trace_hip isomer_stand_in_rocprofiler isomer_stand_in_hip_program)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${stand_in}/include)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -O0)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endforeach()
# What translates the profiler's records, by itself.
file(GLOB translation CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lab/launches/inject/*.cpp)
list(APPEND translation ${PROJECT_SOURCE_DIR}/lab/launches/inject/hip/recorder.cpp
  ${PROJECT_SOURCE_DIR}/lab/launches/inject/hip/image.cpp)
add_library(isomer_hip_translation STATIC ${translation})
target_link_libraries(isomer_hip_translation PRIVATE isomer_lab isomer_options)
target_compile_options(isomer_hip_translation PRIVATE -O0)
isomer_unity(isomer_hip_translation)
set(library isomer_hip_translation isomer_lab)
set(dependencies isomer_cli isomer_stand_in_trace_hip isomer_stand_in_rocprofiler isomer_stand_in_hip_program)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_TRACE_HIP="$<TARGET_FILE:isomer_stand_in_trace_hip>"
  ISOMER_ROCPROFILER="$<TARGET_FILE:isomer_stand_in_rocprofiler>"
  ISOMER_HIP_PROGRAM="$<TARGET_FILE:isomer_stand_in_hip_program>")
list(APPEND labels timed)
