# As a C program sees it: through the shared library, the header compiled as strict C99.
set(library isomer)
set(definitions ISOMER_VERSION="${PROJECT_VERSION}")
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/c_api/calls.c PROPERTIES
  COMPILE_OPTIONS "-std=c99;-pedantic-errors;-Wall;-Wextra;-Werror")
