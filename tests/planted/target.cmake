set(optimised ON)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
# Every case and every variation of every op.
add_test(NAME EveryOp.OfEveryCase COMMAND test_planted --gtest_filter=Of/Every*)
set_tests_properties(EveryOp.OfEveryCase PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
