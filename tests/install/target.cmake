# Runs nothing of the library itself: it installs it and builds two small projects against what was installed.
set(library isomer)
set(labels install)
set(definitions
  ISOMER_BUILD="${CMAKE_BINARY_DIR}" ISOMER_VERSION="${PROJECT_VERSION}" ISOMER_CMAKE="${CMAKE_COMMAND}"
  ISOMER_GENERATOR="${CMAKE_GENERATOR}" ISOMER_MAKE_PROGRAM="${CMAKE_MAKE_PROGRAM}"
  ISOMER_C_COMPILER="${CMAKE_C_COMPILER}" ISOMER_CXX_COMPILER="${CMAKE_CXX_COMPILER}")
