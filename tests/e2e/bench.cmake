# The command line and the arithmetic of the benchmark against other frameworks; it runs none.
add_test(NAME e2e_bench_peers
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench/peers.py)
set_tests_properties(e2e_bench_peers PROPERTIES
  LABELS e2e TIMEOUT 60 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
