# Every test runs with stand-ins for the drivers and run-time compilers in front of the loader's path (main.cpp).
add_subdirectory(vendors/stand_in)
set(dependencies isomer_stand_in_cuda isomer_stand_in_nvrtc isomer_stand_in_hip isomer_stand_in_hiprtc)
set(definitions ISOMER_STAND_INS="${CMAKE_BINARY_DIR}/stand_in")
if(TARGET isomer_emulator)
  set(library isomer_lab isomer_emulated_vendor)
  list(APPEND dependencies isomer_cli)
  list(APPEND definitions ISOMER_HAS_EMULATOR ISOMER_CLI="$<TARGET_FILE:isomer_cli>"
       ISOMER_STAND_IN_CACHE="${CMAKE_BINARY_DIR}/stand_in/cache")
  # A sample runs every kernel.
  add_test(NAME StandIns.AllOps COMMAND test_vendors --gtest_filter=Of/Check.*)
  set_tests_properties(StandIns.AllOps PROPERTIES LABELS tier2 PROCESSORS 2 ENVIRONMENT "ISOMER_STAND_IN_CHECK=--sample 28")
  add_test(NAME StandIns.EveryCase COMMAND test_vendors --gtest_filter=Of/Check.*)
  set_tests_properties(StandIns.EveryCase PROPERTIES LABELS tier2 PROCESSORS 2 ENVIRONMENT "ISOMER_STAND_IN_CHECK=sin act_quant")
endif()
add_test(NAME CacheRace.Of100Rounds COMMAND test_vendors --gtest_filter=CacheRace.*)
set_tests_properties(CacheRace.Of100Rounds PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_CACHE_RACE_ROUNDS=100)
# What a call costs the host: tools/call_cost runs it under valgrind.
add_executable(call_cost EXCLUDE_FROM_ALL vendors/call_cost/main.cpp vendors/call_cost/calls.cpp)
target_link_libraries(call_cost PRIVATE isomer_static isomer_options)
# The same beside bare launches, on a machine with an NVIDIA GPU: no argument, prints a table.
add_executable(bare_launch EXCLUDE_FROM_ALL vendors/call_cost/bare_launch.cpp vendors/call_cost/calls.cpp)
target_link_libraries(bare_launch PRIVATE isomer_static isomer_options)
add_dependencies(call_cost isomer_stand_in_cuda isomer_stand_in_nvrtc)
list(APPEND labels timed)
# Processes that meet in an empty cache; emulator.module and CacheRace show the same of fewer.
set(second_tier EmulatedFault.ProcessesThatBeginAtOnceOnAnEmptyCacheHarmNobody)
