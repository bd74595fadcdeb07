# Compiler flags that the whole product shares, as one interface target.
add_library(covey_options INTERFACE)

target_compile_options(covey_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2
  -Wimplicit-fallthrough -Werror
  # The same expression gives the same bits whether or not the target has FMA.
  -ffp-contract=off)
# With less than -O3 g++ 12 takes the memory of a std::vector for null.
set(covey_inlined "$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:COVEY_QUICK>>>>")
target_compile_options(covey_options INTERFACE
  $<$<OR:$<CXX_COMPILER_ID:Clang>,${covey_inlined}>:-Wnull-dereference>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wrestrict of g++ 12 reports `"text" + std::string` (GCC bug 105651).
  target_compile_options(covey_options INTERFACE -Wdouble-promotion -Wno-restrict)
endif()

# Default builds run on any x86-64-v2 or arm64 machine; faster kernels are chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(covey_options INTERFACE -march=x86-64-v2)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Highway's NEON functions are declared so; constructors that the compiler writes must match them.
  # No such instruction is ever used.
  target_compile_options(covey_options INTERFACE -march=armv8-a+crypto)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
# Eigen's own asserts halve the training speed; Covey's checks (COVEY_CHECK) stay on in every build.
target_compile_definitions(covey_options INTERFACE $<$<CONFIG:Release>:EIGEN_NO_DEBUG>)

# Compiles the sources of a target in groups: most of the seconds go into reading headers and
# instantiating their templates, and a group does that once. So helpers in an anonymous namespace
# need names that are unique in their folder, or their file a namespace of its own.
function(covey_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${COVEY_UNITY} UNITY_BUILD_BATCH_SIZE 64)
  get_target_property(sources ${target} SOURCES)
  set(kernels)
  foreach(source ${sources})
    file(STRINGS ${source} found REGEX "define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
    if(found)
      list(APPEND kernels ${source})
    endif()
  endforeach()
  set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(COVEY_UNITY AND kernels)
    covey_unite_kernels(${target} ${kernels})
  endif()
endfunction()

# Highway compiles a kernel file once for each level by including it again, with all of its own
# operations: a group of such files is a file of that kind that includes them.
function(covey_unite_kernels target)
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  set(size 5)
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  foreach(begin RANGE 0 ${last} ${size})
    list(SUBLIST ARGN ${begin} ${size} sources)
    list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n")
    set(group ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels_${begin}.cc)
    string(CONCAT text
      "#define COVEY_KERNEL_GROUP\n"
      "#include \"tensor/simd.h\"\n"
      "#undef HWY_TARGET_INCLUDE\n"
      "#define HWY_TARGET_INCLUDE \"${group}\"\n"
      "#include \"hwy/foreach_target.h\"\n"
      "#include \"hwy/highway.h\"\n"
      ${sources})
    file(CONFIGURE OUTPUT ${group} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${group})
    set_source_files_properties(${group} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

# For code whose speed nobody notices: compiles it with less optimisation in release, -O1 or -O0.
function(covey_quick target level)
  set_target_properties(${target} PROPERTIES COVEY_QUICK ON)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# Seventy programs are linked; gold, a part of binutils, takes a third of the time of the default.
find_program(COVEY_GOLD ld.gold)
if(COVEY_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT COVEY_SANITIZE)
  add_link_options(-fuse-ld=gold)
endif()

if(COVEY_SANITIZE)
  # vptr checks need RTTI, which portable modules are built without.
  add_compile_options(-fsanitize=${COVEY_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${COVEY_SANITIZE})
  if(COVEY_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr)
    add_link_options(-fno-sanitize=vptr)
  endif()
endif()
if(COVEY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
