# cmake -DSOURCE=... -DOUTPUT=... -DVERSION=... -P write_build_info.cmake
#
# Writes the header that --version reads, and only when it changes, so that nothing is compiled
# again without need.
find_program(git git)
set(commit "unknown")
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=10 HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND ${git} -C ${SOURCE} diff --quiet HEAD --
      RESULT_VARIABLE changed ERROR_QUIET)
    set(commit ${head})
    if(changed)
      string(APPEND commit "+")
    endif()
  endif()
endif()
set(text "#pragma once\n")
string(APPEND text "#define COVEY_BUILD_VERSION \"${VERSION}\"\n")
string(APPEND text "#define COVEY_BUILD_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUTPUT} "${text}")
endif()
