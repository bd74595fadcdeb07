# Third-party libraries, all from Debian 12. Their headers are system headers: our warnings stop at
# our code.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Protobuf 3.21 REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost 1.74 REQUIRED)  # headers: Asio and Beast
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq>=4.3.4)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_library(HWY_LIBRARY hwy REQUIRED)

add_library(covey_hwy INTERFACE)
target_link_libraries(covey_hwy INTERFACE ${HWY_LIBRARY})

# Generated messages: one library, compiled without our warnings.
file(GLOB COVEY_PROTOS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/covey/v1/*.proto)
set(COVEY_PROTO_OUT ${CMAKE_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${COVEY_PROTO_OUT})
set(COVEY_PROTO_SOURCES)
foreach(proto ${COVEY_PROTOS})
  get_filename_component(stem ${proto} NAME_WE)
  set(base ${COVEY_PROTO_OUT}/covey/v1/${stem}.pb)
  add_custom_command(
    OUTPUT ${base}.cc ${base}.h
    COMMAND protobuf::protoc --cpp_out=${COVEY_PROTO_OUT} -I${CMAKE_SOURCE_DIR}/proto ${proto}
    DEPENDS ${proto} VERBATIM)
  list(APPEND COVEY_PROTO_SOURCES ${base}.cc)
endforeach()
add_library(covey_proto STATIC ${COVEY_PROTO_SOURCES})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(covey_proto PRIVATE -march=x86-64-v2)
endif()
target_include_directories(covey_proto SYSTEM PUBLIC ${COVEY_PROTO_OUT})
target_link_libraries(covey_proto PUBLIC protobuf::libprotobuf)
