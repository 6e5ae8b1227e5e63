set(single test_flash_decode.cpp)
