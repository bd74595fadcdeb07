# What `cmake --install` puts where: programs, and for the component `dev` the client library of the
# local API, which find_package(covey) gives as covey::client.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS coveyd covey covey-sim
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)

# In the order in which a linker wants them.
set(COVEY_CLIENT_LIBRARIES
  covey_api covey_wire_pb covey_wire covey_consensus covey_tensor covey_base covey_proto)
install(TARGETS ${COVEY_CLIENT_LIBRARIES}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/covey COMPONENT dev)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/covey/api ${CMAKE_SOURCE_DIR}/include/covey/base
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/covey COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_SOURCE_DIR}/proto/covey/v1/api.proto
  DESTINATION ${CMAKE_INSTALL_DATADIR}/covey/proto/covey/v1 COMPONENT dev)

set(COVEY_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/covey)
configure_package_config_file(
  ${CMAKE_SOURCE_DIR}/cmake/coveyConfig.cmake.in ${CMAKE_BINARY_DIR}/coveyConfig.cmake
  INSTALL_DESTINATION ${COVEY_PACKAGE_FOLDER}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/coveyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_BINARY_DIR}/coveyConfig.cmake ${CMAKE_BINARY_DIR}/coveyConfigVersion.cmake
  DESTINATION ${COVEY_PACKAGE_FOLDER} COMPONENT dev)
