// Runs tests/scenario/consensus/*.txt: commands to one consensus::Node (lines that begin with '>')
// and what it answered. `scenario_consensus_test --rewrite` writes the answers anew; read the
// difference before committing it.
//
//   > node KEY=VALUE...    a new node with a vector of two zeros (settings.h has the keys)
//   > peer-up P | peer-down P | start | trained N | drained | deadline | wait SECONDS
//   > weights P EXCHANGE A B [gamma_max=G] [copy] [no_reply] [training]
//   > deltas P EXCHANGE A B [training]
//   > nack P EXCHANGE | join-asked P | pause | resume | settle | stop
//
// P is a peer, 1 to 9; A and B are the numbers of its vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "covey/consensus/names.h"
#include "covey/consensus/node.h"

namespace covey::consensus {
namespace {

PeerKey Key(int id) {
  PeerKey key;
  key.bytes[0] = static_cast<std::uint8_t>(id);
  return key;
}

class Scenario {
 public:
  // Returns: the answer to one command, a line for each thing that happened.
  std::string Do(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "node") return Make(words);
    int peer = 0;
    if (command == "peer-up" && words >> peer) return Post(PeerUp{Key(peer)});
    if (command == "peer-down" && words >> peer) return Post(PeerDown{Key(peer)});
    if (command == "join-asked" && words >> peer) return Post(JoinAsked{Key(peer)});
    if (command == "start") return Post(Started{});
    if (command == "drained") return Post(Drained{});
    if (command == "deadline") return Post(DeadlineReached{});
    if (command == "weights") return Receive(MessageKind::kWeights, words);
    if (command == "deltas") return Receive(MessageKind::kDeltas, words);
    std::uint64_t number = 0;
    if (command == "nack" && words >> peer >> number)
      return Post(Nacked{Key(peer), ExchangeId{number}});
    if (command == "trained" && words >> number)
      return Post(Trained{static_cast<std::uint32_t>(number)});
    double seconds = 0;
    if (command == "wait" && words >> seconds) {
      now_ += FromSeconds(seconds);
      return "";
    }
    if (command == "pause") return Post(Commanded{Command::kPause});
    if (command == "resume") return Post(Commanded{Command::kResume});
    if (command == "settle") return Post(Commanded{Command::kSettle});
    if (command == "stop") return Post(Commanded{Command::kStop});
    return "no such command\n";
  }

 private:
  std::string Make(std::istringstream& words) {
    Settings settings;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const double value = std::strtod(word.c_str() + equals + 1, nullptr);
      const auto count = static_cast<std::uint32_t>(value);
      if (name == "batches")
        settings.batches = count;
      else if (name == "sends")
        settings.sends = count;
      else if (name == "gamma")
        settings.gamma = static_cast<float>(value);
      else if (name == "reply")
        settings.reply = value != 0;
      else if (name == "join")
        settings.join = value != 0;
      else if (name == "until")
        settings.until_batches = count;
      else if (name == "settle_rounds")
        settings.settle_rounds = count;
      else if (name == "pending_for")
        settings.pending_for = FromSeconds(value);
      else
        return "no such setting: " + name + "\n";
    }
    node_ = std::make_unique<Node>(settings, Stream(1, 0, Purpose::kPeers), ExchangeId{1});
    x_ = tensor::FlatVector(2);
    return "";
  }

  std::string Receive(MessageKind kind, std::istringstream& words) {
    Message message;
    message.kind = kind;
    int peer = 0;
    float values[2];
    words >> peer >> message.exchange.value >> values[0] >> values[1];
    message.peer = Key(peer);
    for (std::string word; words >> word;) {
      if (word == "copy") message.copy = message.no_reply = true;
      if (word == "no_reply") message.no_reply = true;
      if (word == "training") message.training = true;
      if (word.rfind("gamma_max=", 0) == 0)
        message.gamma_max = std::strtof(word.c_str() + 10, nullptr);
    }
    auto payload = std::make_shared<AlignedBuffer>(sizeof values);
    std::memcpy(payload->data(), values, sizeof values);
    message.payload = payload;
    const Counters before = node_->counters();
    std::string text =
        Post(Received{&message, x_.view(), {tensor::Encoding::kFloat32, reply_.view()}});
    for (std::size_t i = 0; i < static_cast<std::size_t>(DropReason::kCount); ++i) {
      if (node_->counters().dropped[i] != before.dropped[i]) {
        text = "dropped " + std::string(Name(static_cast<DropReason>(i))) + "\n" + text;
      }
    }
    std::ostringstream x;
    x << "x = " << x_[0] << " " << x_[1] << "\n";
    return text + x.str();
  }

  std::string Post(const Event& event) {
    const State before = node_->state();
    std::vector<Action> actions;
    node_->Handle(now_, event, actions);
    std::ostringstream text;
    for (const Action& action : actions) Print(action, text);
    if (node_->state() != before) text << "now " << Name(node_->state()) << "\n";
    return text.str();
  }

  void Print(const Action& action, std::ostringstream& text) {
    if (const auto* train = std::get_if<Train>(&action)) text << "train " << train->batches;
    if (std::holds_alternative<Drain>(action)) text << "drain";
    if (std::holds_alternative<Publish>(action)) text << "publish";
    if (const auto* ask = std::get_if<AskToJoin>(&action))
      text << "ask-to-join " << int(ask->peer.bytes[0]);
    if (const auto* wait = std::get_if<Wait>(&action)) {
      text << "wait";
      if (wait->until != kNever) text << " until " << FormatDuration(wait->until);
    }
    if (const auto* send = std::get_if<SendWeights>(&action)) {
      text << (send->copy ? "send-copy " : "send-weights ") << int(send->peer.bytes[0]) << " "
           << send->exchange.value;
      if (!send->copy) text << " gamma_max=" << send->gamma_max;
    }
    if (const auto* send = std::get_if<SendDeltas>(&action)) {
      float d[2];
      std::memcpy(d, reply_.data(), sizeof d);
      text << "send-deltas " << int(send->peer.bytes[0]) << " " << send->exchange.value << " "
           << d[0] << " " << d[1];
    }
    text << "\n";
  }

  Time now_{};
  tensor::FlatVector x_{2};
  AlignedBuffer reply_{2 * sizeof(float)};
  std::unique_ptr<Node> node_;
};

std::string Regenerate(const std::filesystem::path& path) {
  std::ifstream file(path);
  Scenario scenario;
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') text += line + "\n";
    if (line.rfind("> ", 0) == 0) text += line + "\n" + scenario.Do(line.substr(2));
  }
  return text;
}

TEST(Scenario, TracesAreAsRecorded) {
  const char* source = std::getenv("COVEY_SOURCE");
  ASSERT_NE(source, nullptr)
      << "run it through ctest, or set COVEY_SOURCE to the root of the source tree";
  const auto arguments = testing::internal::GetArgvs();
  const bool rewrite =
      std::find(arguments.begin(), arguments.end(), "--rewrite") != arguments.end();
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/tests/scenario/consensus")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    const std::string now = Regenerate(entry.path());
    if (rewrite) {
      std::ofstream(entry.path()) << now;
      continue;
    }
    std::ostringstream recorded;
    recorded << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(recorded.str(), now) << entry.path();
  }
  EXPECT_GE(files, 5u);
}

}  // namespace
}  // namespace covey::consensus
