// Beacons over loopback, in a group that no node uses.
#include "transport_zmq/beacon.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "covey/base/random.h"
#include "e2e/transport_zmq/fixture.h"
#include "transport_zmq/clock.h"

namespace covey::transport_zmq::beacon_test {

// A UDP port of the system's choice that nobody has.
std::uint16_t FreePort() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

class BeaconTest : public testing::Test {
 protected:
  struct Station {
    std::map<PeerKey, std::string> heard;
    std::unique_ptr<Beacon> beacon;
    PeerKey key;
  };

  Station& Add(std::uint8_t number, const std::string& listens, std::uint8_t fleet = 1) {
    stations_.push_back(std::make_unique<Station>());
    Station& station = *stations_.back();
    station.key.bytes.fill(number);
    BeaconSettings settings;
    settings.group = "239.255.67.87";
    settings.port = port_;
    settings.fleet.fill(fleet);
    settings.heard = [&station](const PeerKey& key, const std::string& address) {
      station.heard[key] = address;
    };
    station.beacon =
        std::make_unique<Beacon>(settings, station.key, Stream(number, 0, Purpose::kTest));
    const Status opened = station.beacon->Open(listens);
    EXPECT_TRUE(opened) << opened.error().Format();
    return station;
  }
  bool Until(const std::function<bool()>& done) {
    const Time end = Now() + kPatience;
    for (Time now = Now(); now < end; now = Now()) {
      for (const auto& station : stations_) {
        station->beacon->Tick(now);
        station->beacon->Read(now);
      }
      if (done()) return true;
      ::usleep(1000);
    }
    return false;
  }
  void Say(const std::string& bytes) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    in_addr by{};
    by.s_addr = htonl(INADDR_LOOPBACK);
    ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = ::inet_addr("239.255.67.87");
    ::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    ::close(fd);
  }

  const std::uint16_t port_ = FreePort();
  std::vector<std::unique_ptr<Station>> stations_;
};

TEST_F(BeaconTest, NodesOfOneFleetHearWhereTheOthersListen) {
  Station& a = Add(1, "tcp://0.0.0.0:7001");
  Station& b = Add(2, "tcp://0.0.0.0:7002");
  Station& other = Add(3, "tcp://0.0.0.0:7003", 9);
  Station& quiet = Add(4, "");
  ASSERT_TRUE(
      Until([&] { return a.heard.size() == 1 && b.heard.size() == 1 && quiet.heard.size() == 2; }));
  EXPECT_TRUE(a.heard.at(b.key).ends_with(":7002")) << a.heard.at(b.key);
  EXPECT_TRUE(b.heard.at(a.key).ends_with(":7001")) << b.heard.at(a.key);
  EXPECT_TRUE(other.heard.empty());
  EXPECT_GT(other.beacon->refused(), 0u);
  EXPECT_EQ(quiet.beacon->sent(), 0u);
}

TEST_F(BeaconTest, NobodyIsToldWhereTheNodeDoesNotListen) {
  Station& everywhere = Add(1, "");
  Station& here = Add(2, "tcp://127.0.0.1:7002");
  Station& elsewhere = Add(3, "tcp://192.0.2.1:7003");
  Station& in_another_world = Add(4, "tcp://[2001:db8::1]:7004");
  ASSERT_TRUE(Until([&] { return here.beacon->sent() > 1; }));
  ASSERT_TRUE(Until([&] { return everywhere.heard.size() == 1; }));
  EXPECT_EQ(everywhere.heard.at(here.key), "127.0.0.1:7002");
  EXPECT_EQ(elsewhere.beacon->sent(), 0u);
  EXPECT_EQ(in_another_world.beacon->sent(), 0u);
}

TEST_F(BeaconTest, WhatIsNoBeaconIsCountedAndLeftAlone) {
  Station& a = Add(1, "");
  ASSERT_TRUE(Until([] { return true; }));  // joins the group
  std::string good("CVYB\x01\x39\x1b", 7);
  good += std::string(16, '\x01') + std::string(32, '\x05');
  ASSERT_EQ(good.size(), Beacon::kSize);
  std::string version = good;
  version[4] = 2;
  for (const std::string& wrong :
       {good.substr(1), good + "x", std::string(), std::string("CVYB"), version}) {
    Say(wrong);
  }
  std::string own = good;
  own.replace(23, 32, std::string(32, '\x01'));
  Say(own);
  std::string nowhere = good;
  nowhere[5] = nowhere[6] = 0;
  Say(nowhere);
  Say(good);
  ASSERT_TRUE(Until([&] { return !a.heard.empty(); }));
  EXPECT_EQ(a.beacon->refused(), 5u);
  EXPECT_EQ(a.heard.size(), 1u);
  EXPECT_TRUE(a.heard.begin()->second.ends_with(":6969"));
}

}  // namespace covey::transport_zmq::beacon_test
