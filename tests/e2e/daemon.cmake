# coveyd and covey as their users meet them.
foreach(test life_test.py cli_test.py model_test.py bad_input_test.py data_test.py predict_test.py)
  string(REPLACE "_test.py" "" what ${test})
  add_test(NAME e2e_daemon_${what}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/${test})
  set_tests_properties(e2e_daemon_${what} PROPERTIES
    LABELS "e2e;sanitizer" TIMEOUT 300 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
endforeach()
