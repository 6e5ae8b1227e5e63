# The installed tree: library, headers, find_package(isomer), pkg-config; and the command line as a component of its own.
include(CMakePackageConfigHelpers)
set(isomer_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isomer)

# Whoever installs may run it elsewhere.
if(ISOMER_CPU_NATIVE)
  install(CODE "message(FATAL_ERROR \"this build has vector kernels for machines like this one alone: configure it with -DISOMER_CPU_TARGETS=all to install it\")"
          ALL_COMPONENTS)
endif()
install(TARGETS isomer isomer_static EXPORT isomerTargets COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/isomer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT isomerTargets NAMESPACE isomer:: DESTINATION ${isomer_package_dir} COMPONENT library)

configure_package_config_file(cmake/isomerConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/isomerConfig.cmake
                              INSTALL_DESTINATION ${isomer_package_dir})
# The C++ API is only promised within one minor version; see src/isomer.map.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/isomerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/isomerConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/isomerConfigVersion.cmake
        DESTINATION ${isomer_package_dir} COMPONENT library)

# The prefix follows from where isomer.pc lies, so that the tree may be moved.
file(RELATIVE_PATH isomer_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/isomer.pc.in isomer.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/isomer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

if(ISOMER_LAB)
  install(TARGETS isomer_cli COMPONENT command_line)
endif()
