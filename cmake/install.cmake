# `cmake --install` gives headers, libraries, the binary, and find_package(holdfast).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS holdfast holdfast_core holdfast_io EXPORT holdfast
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET holdfast_bin)
  install(TARGETS holdfast_bin RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT holdfast NAMESPACE holdfast:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast
  FILE holdfast-targets.cmake)
configure_package_config_file(cmake/holdfast-config.cmake.in
  ${PROJECT_BINARY_DIR}/holdfast-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfast-config.cmake
  ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
