# Other programs read the model files: python3-onnx's checker, OpenCV, ONNX Runtime, PyTorch. One
# that is not installed is skipped, and says so.
add_executable(model_zoo ${CMAKE_CURRENT_SOURCE_DIR}/store/zoo.cc)
target_include_directories(model_zoo PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(model_zoo PRIVATE covey_options covey_store)
covey_quick(model_zoo -O1)

# Debian's modules belong to Debian's Python, which need not be the first one.
find_program(COVEY_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT COVEY_DEBIAN_PYTHON)
  set(COVEY_DEBIAN_PYTHON ${Python3_EXECUTABLE})
endif()

foreach(reader onnx_checker_test opencv_test pytorch_test)
  string(REPLACE "_test" "" what ${reader})
  add_test(NAME e2e_store_${what}
    COMMAND ${COVEY_DEBIAN_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/store/${reader}.py)
endforeach()
find_program(COVEY_NODE NAMES node nodejs)
if(COVEY_NODE)
  add_test(NAME e2e_store_onnxruntime
    COMMAND ${COVEY_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/store/onnxruntime_test.mjs)
else()
  add_test(NAME e2e_store_onnxruntime COMMAND ${CMAKE_COMMAND} -E echo "skipped: node is missing")
endif()
set_tests_properties(
  e2e_store_onnx_checker e2e_store_opencv e2e_store_pytorch e2e_store_onnxruntime PROPERTIES
  LABELS e2e TIMEOUT 300 SKIP_REGULAR_EXPRESSION "skipped:"
  ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")
