# coveyd and covey as their users meet them.
foreach(test life_test.py cli_test.py model_test.py bad_input_test.py data_test.py predict_test.py
    check_test.py first_minutes_test.py live_test.py malformed_test.py
    membership_test.py admission_test.py doctor_test.py)
  string(REPLACE "_test.py" "" what ${test})
  add_test(NAME e2e_daemon_${what}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/${test})
  set_tests_properties(e2e_daemon_${what} PROPERTIES
    LABELS "e2e;sanitizer" TIMEOUT 300 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
endforeach()

# Bad networks and crowds of strangers, whose time-outs are too short for sanitizers.
foreach(test link_test.py crowd_test.py)
  string(REPLACE "_test.py" "" what ${test})
  add_test(NAME e2e_daemon_${what}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/${test})
  set_tests_properties(e2e_daemon_${what} PROPERTIES
    LABELS e2e TIMEOUT 300 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
endforeach()

# A disk that answers late: a library before the C library, which is a sanitizer's own place.
add_library(slow_disk MODULE ${CMAKE_CURRENT_SOURCE_DIR}/daemon/slow_disk.cc)
set_target_properties(slow_disk PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
add_test(NAME e2e_daemon_slow_disk
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/slow_disk_test.py)
set_tests_properties(e2e_daemon_slow_disk PROPERTIES
  LABELS e2e TIMEOUT 60 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")

# Network namespaces, which need root.
add_test(NAME e2e_daemon_namespace
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/namespace_test.py)
set_tests_properties(e2e_daemon_namespace PROPERTIES LABELS e2e TIMEOUT 300
  SKIP_REGULAR_EXPRESSION "skipped:" ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")

# The examples: Debian's Python has the modules that the Python ones need.
find_program(COVEY_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT COVEY_DEBIAN_PYTHON)
  set(COVEY_DEBIAN_PYTHON ${Python3_EXECUTABLE})
endif()
foreach(test examples_test.py client_library_test.py)
  string(REPLACE "_test.py" "" what ${test})
  add_test(NAME e2e_daemon_${what}
    COMMAND ${COVEY_DEBIAN_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/daemon/${test})
  set_tests_properties(e2e_daemon_${what} PROPERTIES LABELS e2e TIMEOUT 300
    SKIP_REGULAR_EXPRESSION "skipped:" ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
endforeach()
