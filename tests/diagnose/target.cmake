# Candidates are compiled and called on the emulated device.
set(library isomer_lab isomer_emulator)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
  ISOMER_CANDIDATES="${CMAKE_CURRENT_SOURCE_DIR}/diagnose/candidates"
  ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_DOCS="${PROJECT_SOURCE_DIR}/docs")
set(dependencies isomer-emulator-runner isomer_cli)
list(APPEND labels timed)
set(single test_device.cpp test_diagnose.cpp test_measured.cpp)
# Every stranger, where the first tier asks every twelfth of those that do not take long, and those that are not judged for the same reason.
add_test(NAME Strangers.More COMMAND test_diagnose --gtest_filter=*/Strangers.*:More/WhatIsNotJudged.*)
set_tests_properties(Strangers.More PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
# Every variation of every form of a port, where the first tier asks one form for every eighteenth; and eight times as many pairs of them.
add_test(NAME Variations.InEveryForm COMMAND test_diagnose --gtest_filter=Of/EveryVariation*:Of/EveryOp.*)
set_tests_properties(Variations.InEveryForm PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
# Long searches: for the pages of a call of attention, and for a size past a limit that the source names.
set(second_tier Of/WhatIsNotJudged.GetsASentenceAndNoFinding/finds_its_keys_in_pages Sizes.PastALimitOfTheSourceAreTried)
