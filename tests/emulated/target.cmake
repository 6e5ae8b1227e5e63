set(optimised ON)
# GPU kernels on the emulator, which ends a launch that reads or writes outside of a buffer.
set(library isomer_lab isomer_emulated_vendor)
set(definitions ISOMER_EMULATED_CACHE="${test_cache}")
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
# More cases of Hopper's kernels, every tile of Ampere's, pages in every way, and more samples.
add_test(NAME Sm90OnTheEmulator.InMoreCases COMMAND test_emulated --gtest_filter=*Sm90*:*AttentionSm80Tile*:WideValues*:Sample.*:*LostPages.*)
set_tests_properties(Sm90OnTheEmulator.InMoreCases PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
# Tiles of 192 rows have bytes in the first tier, those of 256 have 16 bits.
set(second_tier Sm90TilesOf192Rows.GiveTheReferencesResultsAndBreakNoRule
  Sm90TilesOf256Rows.OfBytesGiveTheReferencesResultsAndBreakNoRule)
