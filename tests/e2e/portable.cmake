# Portable numerics: one program, the same hashes of trained models natively at every kernel level,
# on arm64 (emulated) and in WebAssembly. The foreign builds hold all sources of the portable
# modules that take part; where their tools are missing their tests say so and are skipped.
add_executable(portable_train ${CMAKE_CURRENT_SOURCE_DIR}/portable/train.cc)
target_link_libraries(portable_train PRIVATE covey_options covey_nn covey_optim)
add_test(NAME e2e_portable_native COMMAND portable_train)
set_tests_properties(e2e_portable_native PROPERTIES
  LABELS "e2e;memory" TIMEOUT 300 ENVIRONMENT "${COVEY_TEST_ENVIRONMENT}")

set(portable_flags -std=c++20 -O2 -ffp-contract=off -fno-exceptions -fno-rtti -DNDEBUG)

# Third-party headers that the portable modules include, in a folder of their own: /usr/include
# itself would bring the headers of this machine's C library.
set(portable_include ${CMAKE_BINARY_DIR}/portable/include)
file(MAKE_DIRECTORY ${portable_include})
foreach(part hwy tl)
  find_path(portable_${part} ${part} REQUIRED)
  file(CREATE_LINK ${portable_${part}}/${part} ${portable_include}/${part} SYMBOLIC)
endforeach()

# portable_program(NAME COMPILER compiler FLAGS flag... LINK flag... RUN command...)
#
# Adds the target portable_train_NAME, which makes bin/portable_train.NAME with a foreign compiler,
# and the tests e2e_portable_NAME_build and e2e_portable_NAME, which make it and run it by RUN. It
# compiles four modules once more, so it is made by its test and not by every build.
function(portable_program name)
  cmake_parse_arguments(arg "" "COMPILER" "FLAGS;LINK;RUN" ${ARGN})
  set(objects)
  foreach(module base tensor nn optim)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.cc)
    list(APPEND all ${sources})
  endforeach()
  foreach(source ${all} ${CMAKE_CURRENT_SOURCE_DIR}/portable/train.cc)
    file(RELATIVE_PATH stem ${CMAKE_SOURCE_DIR} ${source})
    string(REPLACE "/" "_" stem ${stem})
    set(object ${CMAKE_BINARY_DIR}/portable/${name}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${arg_COMPILER} ${arg_FLAGS} ${portable_flags} -I${CMAKE_SOURCE_DIR}/include
        -I${CMAKE_SOURCE_DIR}/src -isystem ${portable_include} -MD -MF ${object}.d
        -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Compiling ${stem} for ${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/portable/${name})
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/portable_train.${name})
  # Without -O: with it the driver would run wasm-opt, which may not know SIMD.
  add_custom_command(OUTPUT ${program}
    COMMAND ${arg_COMPILER} ${arg_LINK} ${objects} -o ${program}
    DEPENDS ${objects} COMMENT "Linking portable_train.${name}" VERBATIM)
  add_custom_target(portable_train_${name} DEPENDS ${program})
  add_test(NAME e2e_portable_${name}_build
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target portable_train_${name})
  set_tests_properties(e2e_portable_${name}_build PROPERTIES
    LABELS e2e TIMEOUT 1200 FIXTURES_SETUP portable_${name} RESOURCE_LOCK build_folder)
  add_test(NAME e2e_portable_${name} COMMAND ${arg_RUN} ${program})
  set_tests_properties(e2e_portable_${name} PROPERTIES
    LABELS e2e TIMEOUT 300 FIXTURES_REQUIRED portable_${name})
endfunction()

# A test that says what is missing and counts as skipped.
function(portable_missing name what)
  add_test(NAME e2e_portable_${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${what} missing")
  set_tests_properties(e2e_portable_${name} PROPERTIES
    LABELS e2e SKIP_REGULAR_EXPRESSION "skipped:")
endfunction()

if(COVEY_SANITIZE)
  return()  # these builds have no sanitizers
endif()

find_program(COVEY_WASM_CXX clang++-14)
find_program(COVEY_NODE NAMES node nodejs)
find_file(wasi_library libc.a PATHS /usr/lib/wasm32-wasi NO_DEFAULT_PATH)
find_path(wasi_cxx_headers __config_site
  PATHS /usr/include/wasm32-wasi/c++/v1 /usr/lib/llvm-14/include/wasm32-wasi/c++/v1 NO_DEFAULT_PATH)
if(COVEY_WASM_CXX AND COVEY_NODE AND wasi_library)
  portable_program(wasm
    COMPILER ${COVEY_WASM_CXX}
    FLAGS --target=wasm32-wasi -msimd128 -Wno-defaulted-function-deleted
    LINK --target=wasm32-wasi -Wl,--strip-all -Wl,-z,stack-size=1048576
    RUN ${COVEY_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/portable/run.mjs)
else()
  portable_missing(wasm "clang++-14, wasi-libc, libc++-14-dev-wasm32 or node is")
endif()

find_program(COVEY_ARM64_CXX aarch64-linux-gnu-g++)
find_program(COVEY_ARM64_RUN qemu-aarch64)
if(COVEY_ARM64_CXX AND COVEY_ARM64_RUN)
  portable_program(arm64
    COMPILER ${COVEY_ARM64_CXX} FLAGS -march=armv8-a+crypto LINK -static RUN ${COVEY_ARM64_RUN})
else()
  portable_missing(arm64 "g++-aarch64-linux-gnu or qemu-user is")
endif()
