# covey_module(NAME [PORTABLE] [COLD] [USES module...] [THIRD_PARTY target...])
#
# One module = headers in include/covey/NAME, sources and private headers in src/NAME, target
# covey_NAME. USES is the module's row in the table of docs/architecture.md; tests/tidy reads these
# calls and holds every include against them. PORTABLE modules compile without exceptions and RTTI.
# COLD modules have no loop over elements of their own in a step or a message: -O1 is enough.
function(covey_module name)
  cmake_parse_arguments(arg "PORTABLE;COLD" "" "USES;THIRD_PARTY" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  set(target covey_${name})
  list(TRANSFORM arg_USES PREPEND covey_)
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${target} INTERFACE ${arg_USES} ${arg_THIRD_PARTY})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target}
    PUBLIC ${CMAKE_SOURCE_DIR}/include
    PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${arg_USES} ${arg_THIRD_PARTY} PRIVATE covey_options)
  if(arg_PORTABLE)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  endif()
  if(arg_COLD)
    covey_quick(${target} -O1)
  endif()
  covey_unite(${target})
endfunction()
