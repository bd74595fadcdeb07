// Some network interfaces are to be used, and no others.
#include "fixture.h"

namespace covey::transport_zmq {
namespace {

TEST(Interfaces, LinksComeUpByThoseThatMayBeUsed) {
  for (const bool listener_limits : {true, false}) {
    auto nodes = MakeNodes(2, true);
    Node& a = *nodes[0];
    Node& b = *nodes[1];
    (listener_limits ? a : b).settings.interfaces = {"nosuch0"};
    a.Open();
    b.settings.listen.clear();
    b.settings.dial = {{a.key(), a.transport->endpoint()}};
    b.Open();
    ASSERT_TRUE(Drive({&a, &b}, [&] {
      return (listener_limits ? a : b).transport->counters().cut_interface >= 2;
    }));
    EXPECT_TRUE(a.sink.up.empty() && b.sink.up.empty());
    if (!listener_limits) {
      ASSERT_TRUE(Drive({&a, &b}, [&] {
        return b.transport->dials()[0].problem.find("network.interfaces") != std::string::npos;
      }));
    }
  }
  auto nodes = MakeNodes(2, true);
  for (const auto& node : nodes) node->settings.interfaces = {"lo"};
  nodes[0]->Open();
  nodes[1]->settings.dial = {{nodes[0]->key(), nodes[0]->transport->endpoint()}};
  nodes[1]->Open();
  EXPECT_TRUE(Drive({nodes[0].get(), nodes[1].get()}, [&] { return !nodes[1]->sink.up.empty(); }));
}

}  // namespace
}  // namespace covey::transport_zmq
