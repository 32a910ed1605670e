# What `cmake --install` and the Debian package hold: the program, its configurations, and what modules and firmware out
# of tree are built with.
include(GNUInstallDirs)

install(TARGETS attnvp attnvp-serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/attnvp)
if(TARGET attnvp_firmware_elf)
  install(FILES ${PROJECT_BINARY_DIR}/firmware/riscv/attnvp.elf ${PROJECT_BINARY_DIR}/firmware/riscv/attnvp-heterogeneous.elf
    DESTINATION ${CMAKE_INSTALL_DATADIR}/attnvp/firmware)
endif()
# What firmware out of tree is built with (attnvp new firmware).
install(DIRECTORY firmware DESTINATION ${CMAKE_INSTALL_DATADIR}/attnvp)
install(DIRECTORY traces/views DESTINATION ${CMAKE_INSTALL_DATADIR}/attnvp/traces)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

# Written by the program itself, so that they are true.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  file(MAKE_DIRECTORY \"\${share}/man/man1\" \"\${share}/bash-completion/completions\")
  execute_process(COMMAND \"$<TARGET_FILE:attnvp>\" man OUTPUT_FILE \"\${share}/man/man1/attnvp.1\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"$<TARGET_FILE:attnvp>\" completion OUTPUT_FILE \"\${share}/bash-completion/completions/attnvp\"
    COMMAND_ERROR_IS_FATAL ANY)
")

# Headers under their own paths, archives together: whoever links with them needs all.
install(DIRECTORY models firmware platform rtl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attnvp FILES_MATCHING PATTERN "*.h")
set(archives attnvp_stream attnvp_check attnvp_platform attnvp_schedule attnvp_firmware attnvp_workload attnvp_tensors attnvp_energy attnvp_config attnvp_files attnvp_text
  attnvp_rtl attnvp_models attnvp_riscv attnvp_arith)
if(ATTNVP_RTL)
  list(APPEND archives attnvp_verilated)
endif()
set(ATTNVP_ARCHIVES "")
set(ATTNVP_LIBS "")
foreach(archive IN LISTS archives)
  install(FILES $<TARGET_FILE:${archive}> DESTINATION ${CMAKE_INSTALL_LIBDIR}/attnvp)
  list(APPEND ATTNVP_ARCHIVES ${archive})
  string(APPEND ATTNVP_LIBS " -l${archive}")
endforeach()

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/attnvp)
set(PATHS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR)
configure_package_config_file(cmake/attnvpConfig.cmake.in generated/attnvpConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS ${PATHS})
write_basic_package_version_file(generated/attnvpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/attnvpConfig.cmake ${PROJECT_BINARY_DIR}/generated/attnvpConfigVersion.cmake
  DESTINATION ${package})
file(RELATIVE_PATH ATTNVP_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/attnvp.pc.in generated/attnvp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/attnvp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attnvp)
set(CPACK_PACKAGE_VENDOR AttnVP)
set(CPACK_PACKAGE_CONTACT "The AttnVP project <attnvp@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Virtual platform for attention accelerators")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gtkwave)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libsystemc-dev, libyaml-cpp-dev, libfmt-dev, nlohmann-json3-dev, libboost-dev")
include(CPack)
