# Debian packages by CPack (`make package`): holdfast, which is the program and its service, and
# holdfast-dev, which is what C++ programs are built with. What belongs to a package alone is left
# out of a plain `cmake --install`, whose prefix may be anywhere.
set(package_doc ${CMAKE_INSTALL_DATADIR}/doc/holdfast)
set(for_package COMPONENT server EXCLUDE_FROM_ALL)
set(CPACK_PACKAGE_CONTACT "The Holdfast project <holdfast@example.org>"
  CACHE STRING "who answers for the package: set it when you hand it on")

install(FILES packaging/systemd/holdfast.service DESTINATION /lib/systemd/system ${for_package})
install(FILES packaging/holdfast.toml DESTINATION /etc/holdfast ${for_package})
install(FILES README.md packaging/debian/copyright DESTINATION ${package_doc} ${for_package})
install(DIRECTORY docs DESTINATION ${package_doc} ${for_package})
install(DIRECTORY examples DESTINATION ${package_doc} USE_SOURCE_PERMISSIONS ${for_package}
  PATTERN __pycache__ EXCLUDE)

# Debian wants these two compressed, and the same for the same source.
function(package_compressed from to)
  configure_file(${from} ${PROJECT_BINARY_DIR}/package/${to} @ONLY)
  execute_process(COMMAND gzip -9nfk ${PROJECT_BINARY_DIR}/package/${to} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
string(TIMESTAMP HOLDFAST_PACKAGE_DATE "%a, %d %b %Y 00:00:00 +0000" UTC)  # SOURCE_DATE_EPOCH, if set
package_compressed(packaging/debian/changelog.in changelog)
package_compressed(packaging/holdfast.1 holdfast.1)
install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${package_doc} ${for_package})
install(FILES ${PROJECT_BINARY_DIR}/package/holdfast.1.gz
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${for_package})
install(FILES packaging/debian/copyright ${PROJECT_BINARY_DIR}/package/changelog.gz
  DESTINATION ${package_doc}-dev COMPONENT dev EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "work that must not get lost")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_COMPONENTS_ALL server dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_SET_DESTDIR ON)  # or /etc of this machine would be meant
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
# Loaded, not linked; and packed relocations, which nobody looks for either.
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "libcurl4 (>= 7.88), libc6 (>= 2.36)")
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "holdfast-dev, jq, curl")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles
  ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
  ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_DEBIAN_SERVER_DESCRIPTION "Holdfast retries what can recover, gives up at once on what cannot,
parks the rest where people can see it, and brings it back without losing any
of it. This is the program, with a server for tasks of any language.")

# What find_package(holdfast) looks for at the user's, as Debian's packages.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME holdfast-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libboost1.81-dev, libfmt-dev, libre2-dev, libsqlite3-dev, \
libcurl4 (>= 7.88), libssl-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION "Holdfast retries what can recover, gives up at once on what cannot,
parks the rest where people can see it, and brings it back without losing any
of it. This is its C++23 library, static, with its headers and CMake package.")

include(CPack)
