# Runs every program of examples/.
set(library GTest::gtest)
file(GLOB example_sources RELATIVE ${PROJECT_SOURCE_DIR}/examples CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/examples/*.c ${PROJECT_SOURCE_DIR}/examples/*/*.cpp)
list(TRANSFORM example_sources REPLACE "^(.*/)?([a-z0-9_]+)\\.c(pp)?$" "example_\\2" OUTPUT_VARIABLE dependencies)
set(definitions ISOMER_EXAMPLES="${CMAKE_BINARY_DIR}/examples" ISOMER_EXAMPLE_SOURCES="${PROJECT_SOURCE_DIR}/examples")
