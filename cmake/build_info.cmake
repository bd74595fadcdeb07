# The version and commit that --version prints; looked up at each build, because commits come
# between builds.
set(COVEY_GENERATED ${CMAKE_BINARY_DIR}/generated)
add_custom_target(covey_build_info
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
    -DOUTPUT=${COVEY_GENERATED}/covey_build_info.h
    -P ${CMAKE_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${COVEY_GENERATED}/covey_build_info.h
  VERBATIM)
target_include_directories(covey_api PRIVATE ${COVEY_GENERATED})
add_dependencies(covey_api covey_build_info)
