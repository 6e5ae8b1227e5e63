# A driver that launches nothing, programs that find its calls in each of their ways, and what stands between them.
set(stand_in ${CMAKE_CURRENT_SOURCE_DIR}/driver_trace/stand_in)
add_library(isomer_stand_in_driver SHARED ${stand_in}/driver.cpp)
set_target_properties(isomer_stand_in_driver PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1)
# Wraps a call of the C library's as other preloaded tools do.
add_library(isomer_stand_in_wrapper SHARED ${stand_in}/wrapper.cpp)
set_target_properties(isomer_stand_in_driver isomer_stand_in_wrapper PROPERTIES CXX_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand_in_driver)
add_executable(isomer_stand_in_linked_program ${stand_in}/linked_program.cpp)
target_link_libraries(isomer_stand_in_linked_program PRIVATE isomer_stand_in_driver)
add_executable(isomer_stand_in_looking_program ${stand_in}/looking_program.cpp)
target_link_options(isomer_stand_in_looking_program PRIVATE LINKER:--no-as-needed)
target_link_libraries(isomer_stand_in_looking_program PRIVATE isomer_stand_in_wrapper)
foreach(target IN ITEMS isomer_stand_in_driver isomer_stand_in_wrapper isomer_stand_in_linked_program
        isomer_stand_in_looking_program)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${CUPTI_INCLUDE_DIR} /usr/local/cuda/include)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -O0)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endforeach()
set(library isomer_lab)
set(dependencies isomer_cli isomer_trace_driver isomer_stand_in_linked_program isomer_stand_in_looking_program)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_TRACE_DRIVER="$<TARGET_FILE:isomer_trace_driver>"
  ISOMER_DRIVER_FOLDER="${CMAKE_BINARY_DIR}/stand_in_driver"
  ISOMER_LINKED_PROGRAM="$<TARGET_FILE:isomer_stand_in_linked_program>"
  ISOMER_LOOKING_PROGRAM="$<TARGET_FILE:isomer_stand_in_looking_program>")
list(APPEND labels timed)
