#include "harness/daemon_process.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <string_view>

#include "covey/base/check.h"
#include "covey/config/load.h"
#include "covey/harness/runner.h"
#include "covey/store/file_system.h"

namespace covey::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kKeyPatience = seconds(30);
constexpr Duration kApiPatience = seconds(2);
constexpr std::streamoff kLogTail = 1500;

Status WriteText(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return store::WriteAtomically(path, bytes);
}

// The first word of 64 hex digits in a line.
std::optional<PeerKey> FindKey(std::string_view line) {
  constexpr std::size_t kDigits = 64;
  for (std::size_t begin = 0; begin + kDigits <= line.size(); ++begin) {
    const Result<PeerKey> key = PeerKey::FromHex(line.substr(begin, kDigits));
    if (key) return *key;
  }
  return std::nullopt;
}

std::optional<Score> ToScore(const std::optional<double>& loss,
                             const std::optional<double>& accuracy, const api::Metrics& metrics) {
  if (!loss) return std::nullopt;
  return Score{.loss = *loss,
               .accuracy = accuracy,
               .r2 = metrics.r2,
               .mean_absolute_error = metrics.mean_absolute_error};
}

std::optional<Selected> Select(const api::Score& score) {
  const Selected selected{
      .epoch = score.epoch,
      .validation =
          ToScore(score.validation_loss, score.validation_accuracy, score.validation_metrics),
      .test = ToScore(score.test_loss, score.test_accuracy, score.test_metrics)};
  if (!selected.validation && !selected.test) return std::nullopt;
  return selected;
}

Traffic Convert(const api::Traffic& traffic) {
  return {.weights_sent = traffic.weights_sent + traffic.weights_dropped,
          .weights_dropped = traffic.weights_dropped,
          .weights_received = traffic.weights_received,
          .deltas_sent = traffic.deltas_sent + traffic.deltas_dropped,
          .deltas_dropped = traffic.deltas_dropped,
          .deltas_received = traffic.deltas_received,
          .bytes_sent = traffic.bytes_sent};
}

// What is known of a node that gave no final results: its evaluations on the validation set.
std::optional<Selected> BestOf(const std::vector<Point>& curve) {
  if (curve.empty()) return std::nullopt;
  const auto best = std::max_element(
      curve.begin(), curve.end(),
      [](const Point& a, const Point& b) { return IsBetter(b.validation, a.validation); });
  return Selected{.epoch = best->epoch, .validation = best->validation, .test = std::nullopt};
}

}  // namespace

std::uint64_t MonotonicNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

DaemonProcess::DaemonProcess(std::uint32_t index, config::NodeConfig config, Place place)
    : index_(index),
      config_(std::move(config)),
      place_(std::move(place)),
      file_(place_.folder + "/node.yaml"),
      log_(place_.folder + "/log") {
  config_.node.state_dir = place_.folder;
  config_.node.start_paused = true;
  config_.network.listen = {place_.listen, 0};
  config_.security.key_file = place_.folder + "/identity.key";
  config_.api.listen = place_.socket;
  config_.network.alone = true;  // a fleet of one is no mistake here
  // The harness tells it when to go, once all others are done as well.
  config_.train.linger = config::Linger{};
}

Status DaemonProcess::WriteConfig(const config::NodeConfig& config) const {
  return WriteText(file_, config::WriteYaml(config));
}

Result<PeerKey> DaemonProcess::Prepare() {
  if (Status made = store::MakeFolder(place_.folder); !made) return tl::unexpected(made.error());
  if (Status written = WriteConfig(config_); !written) return tl::unexpected(written.error());
  Result<Child> child =
      Child::Start({.arguments = {place_.program, "--config", file_, "--init"}, .log = log_});
  if (!child) return tl::unexpected(child.error());
  std::optional<PeerKey> key;
  while (const std::optional<std::string> line = child->ReadLine(kKeyPatience)) {
    if (!key) key = FindKey(*line);
  }
  const std::optional<ExitStatus> status = child->Wait(seconds(5));
  if (!status || !status->ok()) {
    return tl::unexpected(EndedEarly(status.value_or(ExitStatus{.signaled = true, .number = 9})));
  }
  if (!key) return Fail(ErrorCode::kSoftware, place_.program, "--init printed no key");
  key_ = *key;
  return key_;
}

Status DaemonProcess::Launch(const std::vector<config::Seed>& seeds,
                             const std::vector<PeerKey>& authorized) {
  config_.network.seeds = seeds;
  config_.security.authorized_keys = authorized;
  // Everybody has a link to everybody: those that are ready are dialled by those that come later.
  const auto everybody = static_cast<std::uint32_t>(2 * authorized.size());
  config_.network.peers.active = std::clamp<std::uint32_t>(everybody, 16, 4096);
  if (Status written = WriteConfig(config_); !written) return written;
  Result<Child> child =
      Child::Start({.arguments = {place_.program, "--config", file_}, .log = log_});
  if (!child) return tl::unexpected(child.error());
  child_.emplace(std::move(*child));
  return {};
}

Result<bool> DaemonProcess::PollReady() {
  COVEY_CHECK(launched());
  if (const std::optional<ExitStatus> status = child_->Poll()) {
    reason_ = status->Text();
    return tl::unexpected(EndedEarly(*status));
  }
  const std::optional<std::string> line = child_->ReadLine(milliseconds(5));
  if (!line || line->find("ready") == std::string::npos) return false;
  Result<api::Client> client = api::Client::Connect(place_.socket, kApiPatience);
  if (!client) return tl::unexpected(client.error());
  if (Status subscribed = client->Subscribe(); !subscribed) {
    return tl::unexpected(subscribed.error());
  }
  Result<api::NodeStatus> status = client->GetStatus();
  if (!status) return tl::unexpected(status.error());
  status_ = std::move(*status);
  if (!status_.endpoints.empty()) {
    address_ = status_.endpoints.front();
    if (const std::size_t scheme = address_.find("://"); scheme != std::string::npos) {
      address_.erase(0, scheme + 3);
    }
  }
  const Result<config::HostPort> bound = config::ParseHostPort(address_);
  if (!bound) return tl::unexpected(bound.error());
  // A restart by hand binds the same port and goes on by itself.
  config::NodeConfig restart = config_;
  restart.network.listen = *bound;
  restart.node.start_paused = false;
  if (Status written = WriteConfig(restart); !written) return tl::unexpected(written.error());
  client_.emplace(std::move(*client));
  SamplePss();
  return true;
}

config::Seed DaemonProcess::AsSeed() const {
  const Result<config::HostPort> bound = config::ParseHostPort(address_);
  COVEY_CHECK(bound.has_value(), address_);
  return {.key = key_, .address = *bound};
}

void DaemonProcess::Follow(Observer& observer, bool ask) {
  if (!client_ || died()) return;
  constexpr int kMostEvents = 256;  // the rest comes next time
  for (int i = 0; i < kMostEvents; ++i) {
    const Result<std::optional<api::Event>> event = client_->NextEvent(Duration::zero());
    if (!event || !*event) break;
    Take(**event, observer);
  }
  const std::optional<ExitStatus> ended = child_->Poll();
  if (ended && !leaving_) reason_ = ended->Text();
  if (!ended && ask && MonotonicNow() >= ask_again_) {
    Result<api::NodeStatus> status = client_->GetStatus();
    if (status) {
      status_ = std::move(*status);
    } else {
      // Stopped or overloaded: the others must not wait for it each time.
      ask_again_ = MonotonicNow() + 5'000'000'000U;
    }
  }
  Report(observer);
}

void DaemonProcess::HearOut(Observer& observer) {
  const std::optional<ExitStatus> ended = child_ ? child_->Poll() : std::nullopt;
  if (!client_ || !ended || !ended->ok()) return;
  while (!final_results_) {
    const Result<std::optional<api::Event>> event = client_->NextEvent(milliseconds(1));
    if (!event || !*event) return;
    Take(**event, observer);
  }
}

void DaemonProcess::Take(const api::Event& event, Observer& observer) {
  switch (event.kind) {
    case api::Event::Kind::kEvaluated: {
      const api::Evaluation& evaluation = event.evaluation;
      const std::uint64_t time = std::max(evaluation.time_ns, clock_start_);
      const Point point{
          .epoch = evaluation.epoch,
          .seconds = static_cast<double>(time - clock_start_) * 1e-9,
          .validation = *ToScore(evaluation.loss, evaluation.accuracy, evaluation.metrics)};
      curve_.push_back(point);
      observer.Evaluated(Group::kConsensus, index_, point);
      break;
    }
    case api::Event::Kind::kStateChanged:
      status_.state = event.state;
      status_.paused = event.paused;
      break;
    case api::Event::Kind::kFinished:
      final_results_ = event.final_results;
      break;
  }
}

void DaemonProcess::Report(Observer& observer) const {
  NodeProgress progress;
  progress.group = Group::kConsensus;
  progress.index = index_;
  progress.state = died() ? "died" : status_.paused ? "paused" : std::string(Name(status_.state));
  progress.epochs = status_.epochs;
  progress.fraction = done() ? 1 : TrainedFraction(config_, status_.epochs, status_.batches);
  progress.samples = status_.samples;
  progress.traffic = Convert(status_.traffic);
  observer.Progress(progress);
}

void DaemonProcess::Tell(api::Command command) {
  if (!client_ || died() || child_->Poll()) return;
  Result<api::NodeStatus> status = client_->Do(command);
  if (status) status_ = std::move(*status);
}

void DaemonProcess::SamplePss() {
  if (child_) pss_ = std::max(pss_, child_->PssBytes());
}

void DaemonProcess::Signal(int signal) {
  if (child_) child_->Signal(signal);
}

bool DaemonProcess::Ended(Duration at_most) { return !child_ || child_->Wait(at_most).has_value(); }

bool DaemonProcess::done() const {
  return status_.state == api::State::kDone || status_.state == api::State::kLeaving;
}

std::size_t DaemonProcess::peers_up() const {
  return static_cast<std::size_t>(
      std::count_if(status_.peers.begin(), status_.peers.end(),
                    [](const api::Peer& peer) { return peer.state == "up"; }));
}

Error DaemonProcess::EndedEarly(const ExitStatus& status) const {
  std::string what = "ended with " + status.Text() + " before it was ready";
  if (const std::string tail = LogTail(); !tail.empty()) what += ":\n" + tail;
  // Data are opened by the node, and what is wrong with them is wrong with the experiment.
  ErrorCode code = ErrorCode::kUnavailable;
  for (const ErrorCode own : {ErrorCode::kData, ErrorCode::kNoInput}) {
    if (!status.signaled && status.number == static_cast<int>(own)) code = own;
  }
  return Error{code, "node " + std::to_string(index_), what, "its log is " + log_};
}

std::string DaemonProcess::LogTail() const {
  std::ifstream file(log_, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return "";
  const std::streamoff length = std::min<std::streamoff>(size, kLogTail);
  std::string text(static_cast<std::size_t>(length), '\0');
  file.seekg(size - length);
  file.read(text.data(), length);
  if (length < size) text.erase(0, text.find('\n') + 1);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

NodeOutcome DaemonProcess::Describe() const {
  NodeOutcome node;
  node.group = Group::kConsensus;
  node.index = index_;
  node.end = died() ? End::kDied : done() ? End::kDone : End::kInterrupted;
  node.reason = reason_;
  node.curve = curve_;
  std::optional<api::FinalResults> results = final_results_;
  if (!results) results = status_.final_results;
  if (results) {
    node.best = Select(results->best);
    node.last = Select(results->last);
  } else if (!curve_.empty()) {
    node.best = BestOf(curve_);
    node.last = Selected{
        .epoch = curve_.back().epoch, .validation = curve_.back().validation, .test = std::nullopt};
  }
  node.samples = status_.samples;
  node.epochs = status_.epochs;
  if (status_.last_batch_ns > status_.first_batch_ns) {
    const auto took = static_cast<double>(status_.last_batch_ns - status_.first_batch_ns);
    node.samples_per_second = static_cast<double>(status_.samples) / (took * 1e-9);
  }
  if (node.epochs > 0) {
    node.shard = static_cast<std::uint64_t>(static_cast<double>(node.samples) / node.epochs + 0.5);
  }
  node.rounds = status_.rounds;
  node.traffic = Convert(status_.traffic);
  node.pss_bytes = std::max(pss_, status_.peak_pss_bytes);
  return node;
}

}  // namespace covey::harness
