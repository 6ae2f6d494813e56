# `cmake --install` gives headers, libraries, the binary, and find_package(holdfast).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)  # of the packages: cmake/package.cmake

set(room_targets holdfast_core holdfast_ports holdfast_wire holdfast_io holdfast_stores_memory holdfast_stores_sqlite
  holdfast_stores_redis holdfast_handlers holdfast_engine holdfast_triage holdfast_node)  # the rooms behind the public headers

install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS holdfast ${room_targets} EXPORT holdfast
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET holdfast_bin)
  install(TARGETS holdfast_bin RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
endif()
install(EXPORT holdfast NAMESPACE holdfast:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast
  FILE holdfast-targets.cmake)

# Static libraries need at the user's link what they were linked with here, so the user's
# find_package(holdfast) looks for the same packages.
set(packages "")
foreach(room ${room_targets})
  get_target_property(libraries ${room} LINK_LIBRARIES)
  foreach(library ${libraries})
    if(library MATCHES "^([A-Za-z0-9_]+)::" AND NOT CMAKE_MATCH_1 STREQUAL "holdfast")
      list(APPEND packages ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES packages)
list(TRANSFORM packages REPLACE "^SQLite$" "SQLite3")  # the package of SQLite::SQLite3
list(TRANSFORM packages REPLACE "(.+)" "find_dependency(\\1)")
list(JOIN packages "\n" HOLDFAST_FIND_DEPENDENCIES)

configure_package_config_file(cmake/holdfast-config.cmake.in
  ${PROJECT_BINARY_DIR}/holdfast-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfast-config.cmake
  ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
