# Candidates are compiled and called on the emulated device.
set(library isomer_lab isomer_emulator)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
  ISOMER_CANDIDATES="${CMAKE_CURRENT_SOURCE_DIR}/diagnose/candidates"
  ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_DOCS="${PROJECT_SOURCE_DIR}/docs")
set(dependencies isomer-emulator-runner isomer_cli)
list(APPEND labels timed)
set(single test_device.cpp test_diagnose.cpp test_measured.cpp)
# Long searches for causes.
add_test(NAME Strangers.SearchedLong COMMAND test_diagnose --gtest_also_run_disabled_tests --gtest_filter=DISABLED_SearchedLong/*)
set_tests_properties(Strangers.SearchedLong PROPERTIES LABELS tier2)
