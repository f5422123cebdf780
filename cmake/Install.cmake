# What `cmake --install` lays down: the public headers, the library, the program, and the package files behind
# find_package(lanescope), which gives lanescope::model and lanescope::lanescope.
include(CMakePackageConfigHelpers)

set_target_properties(lanescope_model PROPERTIES EXPORT_NAME model)
set(lanescope_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lanescope)

install(DIRECTORY include/lanescope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lanescope lanescope_model EXPORT lanescopeTargets)
install(TARGETS lanescope_cli)
get_target_property(manual_pages lanescope_share MANUAL_PAGES)
install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/share/lanescope.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lanescope)
install(FILES ${PROJECT_BINARY_DIR}/share/_lanescope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/share/lanescope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(EXPORT lanescopeTargets NAMESPACE lanescope:: DESTINATION ${lanescope_package_dir})

configure_package_config_file(cmake/lanescopeConfig.cmake.in lanescopeConfig.cmake
                              INSTALL_DESTINATION ${lanescope_package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(lanescopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/cmake/LanescopeTest.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/lanescopeConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/lanescopeConfigVersion.cmake
        DESTINATION ${lanescope_package_dir})

# `cpack --config build/release/CPackConfig.cmake` makes a Debian package of the same.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Lanescope developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Its own stand-ins for CUDA's libraries are in it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/lanescope)
include(CPack)
