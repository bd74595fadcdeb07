# Transports of one process against each other and against hostile clients, over real loopback
# sockets.
file(GLOB transport_zmq_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/transport_zmq/*_test.cc)
add_executable(e2e_transport_zmq_test ${transport_zmq_tests})
target_include_directories(e2e_transport_zmq_test PRIVATE
  ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(e2e_transport_zmq_test PRIVATE
  covey_options covey_transport_zmq GTest::gmock GTest::gtest_main)
covey_unite(e2e_transport_zmq_test)
covey_quick(e2e_transport_zmq_test -O1)
add_test(NAME e2e_transport_zmq COMMAND e2e_transport_zmq_test)
set_tests_properties(e2e_transport_zmq PROPERTIES
  LABELS "e2e;sanitizer" TIMEOUT 300 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
