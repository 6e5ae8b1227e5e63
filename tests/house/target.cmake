# What holds of the tree itself needs nothing of it.
set(library isomer_options)
set(definitions ISOMER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ISOMER_CXX="${CMAKE_CXX_COMPILER}"
                ISOMER_CC="${CMAKE_C_COMPILER}")
