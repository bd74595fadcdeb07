#include "covey/control/local_api.h"

#include <unistd.h>

#include <utility>

#include "control/convert.h"
#include "covey/api/version.h"
#include "covey/node/process.h"

namespace covey::control {
namespace {

constexpr Duration kLongestPoll = std::chrono::seconds(10);

api::Event MakeEvent(api::Event::Kind kind, const node::Progress& progress) {
  api::Event event;
  event.kind = kind;
  event.state = ToState(progress.stage);
  event.paused = progress.paused;
  event.epochs = progress.epochs;
  event.batches = progress.core.batches;
  return event;
}

}  // namespace

Result<std::unique_ptr<LocalApi>> LocalApi::Open(const std::string& path, Identity identity) {
  auto server = api::Server::Open(path);
  if (!server) return tl::unexpected(server.error());
  return std::unique_ptr<LocalApi>(new LocalApi(std::move(*server), std::move(identity)));
}

LocalApi::LocalApi(api::Server server, Identity identity)
    : server_(std::move(server)), identity_(std::move(identity)) {}

LocalApi::~LocalApi() { Stop(); }

void LocalApi::Serve(node::Daemon& daemon) {
  daemon_ = &daemon;
  thread_ = std::thread([this] {
    node::NameThread("control");
    while (!stopping_) server_.Poll(*this, kLongestPoll);
    server_.Poll(*this, Duration::zero());
  });
}

void LocalApi::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  server_.Wake();
  thread_.join();
}

api::NodeStatus LocalApi::GetStatus() {
  node::Daemon& daemon = *daemon_.load();
  static const api::BuildInfo build = api::GetBuildInfo();
  api::NodeStatus status;
  status.name = identity_.name;
  status.key = identity_.key;
  status.fleet = identity_.fleet;
  status.pid = static_cast<std::uint32_t>(::getpid());
  status.version = build.version;
  status.build = build.commit;
  status.kernel_level = build.kernel_level;
  status.protocol = build.protocol;
  status.api_socket = server_.endpoint();
  Fill(
      daemon.GetReport(), daemon.assembly(),
      [&daemon](Time time) { return daemon.Monotonic(time); }, status);
  return status;
}

Result<void> LocalApi::Do(api::Command command) {
  node::Daemon& daemon = *daemon_.load();
  switch (command) {
    case api::Command::kPause:
      return daemon.Pause();
    case api::Command::kResume:
      return daemon.Resume();
    case api::Command::kSettle:
      return daemon.Settle();
    case api::Command::kLeave:
      break;
  }
  return daemon.Leave();
}

Result<void> LocalApi::Ping(const std::string& peer) {
  const Result<PeerKey> key = PeerKey::FromHex(peer);
  if (!key) return tl::unexpected(key.error());
  return daemon_.load()->Ping(*key);
}

Result<void> LocalApi::TakeRecord(const std::string& record) {
  const auto* bytes = reinterpret_cast<const std::byte*>(record.data());
  return daemon_.load()->TakeRecord({bytes, bytes + record.size()});
}

Result<api::Predictions> LocalApi::Predict(const api::Question& question) {
  return AnswerFrom(*daemon_.load(), question);
}

api::InputForm LocalApi::GetInputForm() {
  const data::InputForm& form = daemon_.load()->input_form();
  return {form.shape, form.features, form.image_fit == data::ImageFit::kResize};
}

Result<api::Pushed> LocalApi::Push(const api::Samples& samples) {
  return PushTo(*daemon_.load(), samples);
}

void LocalApi::OnEvaluated(const learner::Score& score, const node::Progress& progress, Time now) {
  api::Event event = MakeEvent(api::Event::Kind::kEvaluated, progress);
  // Events may come before Serve; their time is not known to anybody then.
  const node::Daemon* daemon = daemon_;
  event.evaluation = ToEvaluation(score, daemon == nullptr ? 0 : daemon->Monotonic(now));
  server_.Publish(event);
}

void LocalApi::OnStage(const node::Progress& progress) {
  server_.Publish(MakeEvent(api::Event::Kind::kStateChanged, progress));
}

void LocalApi::OnFinished(const learner::FinalScores& scores, const node::Progress& progress) {
  api::Event event = MakeEvent(api::Event::Kind::kFinished, progress);
  event.final_results = ToFinal(scores);
  server_.Publish(event);
}

}  // namespace covey::control
