# Each test leaves the number of bad calls that it saw refused in a file here; `isomer test` prints their sum.
set(library isomer_oracle)
set(definitions ISOMER_TALLY="${CMAKE_BINARY_DIR}/tests/bad_calls")
# attention's table of bad calls lies with its other tests; here they are made in C too.
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/attention/bad_form.cpp ${CMAKE_CURRENT_SOURCE_DIR}/attention/bad_content.cpp)
