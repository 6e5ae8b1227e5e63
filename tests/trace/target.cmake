# A Python that has pyelftools: Debian's python3-pyelftools, or whatever python3 is. Without one the script's tests fail.
set(with_elftools "")
foreach(python python3 /usr/bin/python3)
  if(NOT with_elftools)
    execute_process(COMMAND ${python} -c "import elftools" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(with_elftools ${python})
    endif()
  endif()
endforeach()
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_PYTHON_WITH_ELFTOOLS="${with_elftools}"
  ISOMER_PARAMETER_LAYOUT="${PROJECT_SOURCE_DIR}/tools/parameter_layout.py")
set(dependencies isomer_cli)
list(APPEND labels timed)
