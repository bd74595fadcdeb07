# The module table (docs/architecture.md). A module may include what its row names and what those
# rows allow.
covey_module(base PORTABLE)
covey_module(log COLD USES base THIRD_PARTY spdlog::spdlog)
covey_module(tensor PORTABLE USES base THIRD_PARTY Eigen3::Eigen covey_hwy)
covey_module(nn PORTABLE USES tensor THIRD_PARTY Eigen3::Eigen)
covey_module(optim PORTABLE USES tensor)
covey_module(data USES tensor THIRD_PARTY ZLIB::ZLIB PNG::PNG JPEG::JPEG)
covey_module(consensus PORTABLE USES tensor)
covey_module(wire PORTABLE USES consensus)
covey_module(wire_pb USES wire THIRD_PARTY covey_proto)
covey_module(membership COLD USES wire wire_pb THIRD_PARTY PkgConfig::SODIUM)
covey_module(transport PORTABLE USES base)
covey_module(session PORTABLE USES wire transport)
covey_module(faults PORTABLE USES session transport)
covey_module(gradient USES nn optim data THIRD_PARTY Threads::Threads)
covey_module(metrics COLD USES base)
covey_module(learner USES consensus session wire_pb gradient faults metrics)
covey_module(store COLD USES nn optim data consensus
  THIRD_PARTY covey_proto nlohmann_json::nlohmann_json)
covey_module(config COLD USES base nn optim data consensus THIRD_PARTY yaml-cpp)
covey_module(command_line COLD USES config THIRD_PARTY CLI11::CLI11)
covey_module(setup COLD USES learner config)
covey_module(node COLD USES setup learner membership store config log THIRD_PARTY Threads::Threads)
covey_module(transport_zmq COLD USES transport log THIRD_PARTY PkgConfig::ZMQ Threads::Threads)
covey_module(api COLD USES wire_pb THIRD_PARTY PkgConfig::ZMQ covey_proto)
covey_module(control COLD USES api node
  THIRD_PARTY Boost::headers nlohmann_json::nlohmann_json Threads::Threads)
# Boost.Beast takes many seconds to compile: nothing else is compiled with it.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/control/http_server.cc PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON)
covey_module(simulate USES setup learner store config THIRD_PARTY Threads::Threads)
# Their inner loops are in kernels, or gain nothing from what -O3 adds to -O2, which is a quarter of
# their time of compilation.
covey_quick(covey_data -O2)
covey_quick(covey_simulate -O2)
covey_module(harness COLD USES simulate api metrics
  THIRD_PARTY nlohmann_json::nlohmann_json Threads::Threads)
