# covey-sim with real daemons and on the virtual clock, on a tiny synthetic data set.
foreach(what process stop virtual families threads paper sweep mpi swarm swarm_seeds
        straggler real_data)
  set(labels e2e)
  if(NOT what MATCHES "^(process|swarm_seeds)$")  # they need the speed of a release build
    list(APPEND labels sanitizer)
  endif()
  add_test(NAME e2e_harness_${what}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/harness/${what}.py)
  set_tests_properties(e2e_harness_${what} PROPERTIES
    LABELS "${labels}" TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
endforeach()
set_tests_properties(e2e_harness_swarm_seeds PROPERTIES TIMEOUT 1800 PROCESSORS 2)
