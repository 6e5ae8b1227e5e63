set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
