# Each test leaves the number of bad calls that it saw refused in a file here; `isomer test` prints their sum.
set(library isomer_oracle)
set(definitions ISOMER_TALLY="${CMAKE_BINARY_DIR}/tests/bad_calls")
# attention's table of bad calls lies with its other tests; here they are made in C too.
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/attention/bad_form.cpp ${CMAKE_CURRENT_SOURCE_DIR}/attention/bad_content.cpp)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
# What C and plans give in every case.
add_test(NAME EveryFunction.InEveryCase COMMAND test_bad_input --gtest_filter=Ops/*.Gives*:Ops/*.ExplainsEveryGoodCall*)
set_tests_properties(EveryFunction.InEveryCase PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
