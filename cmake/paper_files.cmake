# The settings and the table of configs/paper, built into covey-sim: `covey-sim paper` works from
# any folder and wherever it is installed.
foreach(file mnist.yaml fashion-mnist.yaml cifar-10.yaml table1.csv)
  set(path ${CMAKE_SOURCE_DIR}/configs/paper/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  get_filename_component(name ${file} NAME_WE)
  string(TOUPPER ${name} name)
  string(REPLACE "-" "_" name ${name})
  file(READ ${path} COVEY_PAPER_${name})
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/cmake/paper_files.h.in
  ${CMAKE_BINARY_DIR}/generated/covey_paper_files.h @ONLY)
target_include_directories(covey_harness PRIVATE ${CMAKE_BINARY_DIR}/generated)
